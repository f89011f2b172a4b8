package daemon

import (
	"context"
	"errors"
	"log/slog"

	"coffer/api/service"
	"coffer/api/service/forward"
	"coffer/api/service/metrics"
)

// front are the ports of a process that shares its database with others, open before its service is; nil where the
// records are in a file.
type front struct {
	*service.Front
	stop      context.CancelCauseFunc
	metrics   string // where the figures are
	announced bool
}

// front opens the ports, and with them the figures.
func (o Options) front(ctx context.Context, stop context.CancelCauseFunc, f *figures, log *slog.Logger) (*front,
	error) {
	if o.Store == nil {
		return nil, nil
	}
	open, err := service.OpenFront(ctx, service.FrontOptions{
		ServeOptions: o.serving(), Advertise: o.Advertise, Alone: !o.Replica, BasePath: o.BasePath, RPC: o.RPC,
		Database: o.Store, Meter: f.meter(), Log: log,
	})
	switch {
	case errors.Is(err, service.ErrAdvertise):
		return nil, &OptionError{Problem: "--advertise: " + err.Error(),
			Hint: "processes of one database forward to the one that serves (docs/postgresql.md)"}
	case errors.Is(err, service.ErrEndpoints):
		return nil, takenBy(o.RPC.Listen, "--rpc", err)
	case err != nil:
		return nil, taken(o.Listen, err)
	}
	p := &front{Front: open, stop: stop}
	if f != nil {
		f.Watch(metrics.Gauges{Forwarding: p.To})
		if p.metrics, err = f.listen(ctx, log); err != nil {
			p.end()
			return nil, err
		}
	}
	return p, nil
}

// serving says where the service listens.
func (o Options) serving() service.ServeOptions {
	return service.ServeOptions{Listen: o.Listen, Dir: o.Dir, Host: o.Hosts, Connections: o.Connections}
}

// end closes the ports once the requests under way are finished.
func (p *front) end() {
	if p != nil {
		p.stop(nil)
		_ = p.Wait() // what it returns while a service was behind it, listen has returned
	}
}

// port is what the endpoints of the chains are opened on, nil for ports of their own.
func (p *front) port() *service.Front {
	if p == nil {
		return nil
	}
	return p.Front
}

// address is where other processes reach this one.
func (p *front) address() string {
	if p == nil {
		return ""
	}
	return p.Address
}

// Lead says which process serves.
func (p *front) Lead(to forward.Process) {
	if p != nil {
		p.Front.Lead(to)
	}
}

// serve lets a service answer, on the ports that are open or on one of its own.
func (p *front) serve(ctx context.Context, o Options, s *service.Service) (*service.Running, error) {
	if p == nil {
		return s.Serve(ctx, o.serving())
	}
	return p.Serve(s)
}

// announce tells once that this process waits for its turn and forwards.
func (p *front) announce(o Options) error {
	if p == nil || p.announced {
		return nil
	}
	p.announced = true
	if err := p.Keep(); err != nil {
		return err
	}
	return reach{Role: forwarding, BaseURL: p.BaseURL, CAFile: p.CAFile, ForwardsTo: p.To(), RPC: p.RPC(),
		MetricsURL: p.metrics}.announce(o.Out, o.JSON, "")
}
