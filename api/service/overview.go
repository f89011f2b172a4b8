package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"coffer/api/service/overview"
)

var (
	// ErrOwnChains says that a service runs on chains of its own, which need no operator.
	ErrOwnChains = errors.New("the chains of this network are its own: it has no nodes, lanes or inventory to look at")
	// ErrNotRunning says that no service runs on a data directory.
	ErrNotRunning = errors.New("no service runs there")
)

// Overview looks at the chains and the book of a network on nodes. Elsewhere it is ErrOwnChains.
func (s *Service) Overview(ctx context.Context) (overview.Overview, error) {
	if s.remote == nil {
		return overview.Overview{}, ErrOwnChains
	}
	from := overview.Sources{Network: s.remote, Book: s.book, Prices: s.remote.Prices, Clock: s.opts.Clock}
	return from.Look(ctx)
}

// Looked is the last look at the network of an operator; nil before the first one, and on other networks.
func (s *Service) Looked() *overview.Overview { return s.looked.Load() }

// lookEvery is how often an operator's network is looked at for metrics and alerts.
const lookEvery = 30 * time.Second

// lookAround looks at the network of an operator until ctx ends, and tells the log of what begins and ends.
func (s *Service) lookAround(ctx context.Context) {
	var w overview.Watch
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		o, err := s.Overview(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.opts.Log.Warn("the network could not be looked at", "error", err)
		default:
			s.looked.Store(&o)
			w.Saw(o, s.opts.Log)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// overviewPath is where the local socket answers with an overview.
const overviewPath = "/admin/overview"

// sendOverview answers with one.
func (s *Service) sendOverview(w http.ResponseWriter, r *http.Request) {
	o, err := s.Overview(r.Context())
	reply(w, http.StatusOK, o, err)
}

// overviewWithin is how long another process may take for an overview, whose chains may be silent.
const overviewWithin = 30 * time.Second

// AskOverview asks the process that runs the service on a data directory. Without one it is ErrNotRunning.
func AskOverview(ctx context.Context, dir string) (o overview.Overview, err error) {
	if err := checkDir(dir); err != nil {
		return o, err
	}
	ctx, cancel := context.WithTimeout(ctx, overviewWithin)
	defer cancel()
	err = askSocket(ctx, socketTransport(filepath.Join(dir, SocketFile)), http.MethodGet, overviewPath, nil, &o)
	if errors.Is(err, errDial) {
		return o, fmt.Errorf("%w, in %s: coffer serve --networks FILE starts one, or name its directory with --data",
			ErrNotRunning, dir)
	}
	return o, err
}
