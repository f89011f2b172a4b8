package daemon

import (
	"context"
	"log/slog"

	"coffer/api/service"
	"coffer/api/service/metrics"
)

// figures are the metrics of a service; nil when none were asked for.
type figures struct {
	*metrics.Metrics
	address string
	url     string // where they are, once they are listened to
}

// newFigures makes figures that can be listened to; a wrong address is an *OptionError before anything is opened.
func newFigures(address string) (*figures, error) {
	if address == "" {
		return nil, nil
	}
	if err := metrics.CheckAddress(address); err != nil {
		return nil, &OptionError{Problem: "--metrics: " + err.Error()}
	}
	return &figures{Metrics: metrics.New(), address: address}, nil
}

// meter is what the service tells.
func (f *figures) meter() service.Meter {
	if f == nil {
		return nil
	}
	return f.Metrics
}

// watch adds the gauges of a service.
func (f *figures) watch(a *service.Attachment, b Beside) {
	if f == nil {
		return
	}
	s := a.Service()
	f.Watch(metrics.Gauges{OpenSagas: s.OpenQuotes, SSHOpen: b.Open, SSHBegan: b.Began, Network: s.Figures,
		StoreBytes: a.StoreBytes})
}

// listen answers with the figures until ctx ends, from the first call on, and returns where; "" when none were asked
// for.
func (f *figures) listen(ctx context.Context, log *slog.Logger) (string, error) {
	if f == nil || f.url != "" {
		return f.at(), nil
	}
	running, err := f.Listen(ctx, f.address, log)
	if err != nil {
		return "", err
	}
	go func() {
		if err := running.Wait(); err != nil {
			log.Error("the metrics listener stopped", "error", err)
		}
	}()
	f.url = running.URL
	return f.url, nil
}

// at is where they are listened to.
func (f *figures) at() string {
	if f == nil {
		return ""
	}
	return f.url
}
