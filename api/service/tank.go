package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/gastank"
	"coffer/api/service/netstatus"
	"coffer/api/service/quote"
)

// tankPath is where the local socket answers what the gas tank of own nodes has, resumePath where it lets a lane go on.
const (
	tankPath   = adminPath + "tank"
	resumePath = adminPath + "resume"
)

// ErrNoTank says that a network has no gas tank.
var ErrNoTank = errors.New("only a network on own nodes has a gas tank")

// Withdrawals take coins out of the gas tank of own nodes; nil on other networks.
func (s *Service) Withdrawals() gastank.Withdrawals {
	if s.remote == nil || s.remote.Withdrawals == nil {
		return nil
	}
	return s.remote.Withdrawals
}

// Tank is what is known of the gas tank of own nodes, with what it paid for these accounts.
func (s *Service) Tank(ctx context.Context, accounts ...string) (r gastank.Report, err error) {
	if s.Withdrawals() == nil {
		return r, ErrNoTank
	}
	since := s.opts.Clock().Add(-24 * time.Hour)
	paid := []gastank.Paid{}
	for _, account := range accounts {
		n, err := s.book.Accepted(ctx, account, since, quote.DailyOperations)
		if err != nil {
			return r, err
		}
		paid = append(paid, gastank.Paid{Account: account, Operations: n})
	}
	r = s.remote.Report(ctx)
	r.Paid, r.Most = paid, quote.DailyOperations
	return r, nil
}

// Tank is that of the service, in this process or behind the local socket.
func (a *Attachment) Tank(ctx context.Context, accounts ...string) (r gastank.Report, err error) {
	if s := a.Service(); s != nil {
		return s.Tank(ctx, accounts...)
	}
	body, err := json.Marshal(accounts)
	if err != nil {
		return r, err
	}
	raw, _, err := askAdmin(ctx, socketTransport(filepath.Join(a.dir, SocketFile)), http.MethodPost, tankPath, body)
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	return r, err
}

// Withdrawals are those of the service in this process; nil while attached to another one.
func (a *Attachment) Withdrawals() gastank.Withdrawals {
	if s := a.Service(); s != nil {
		return s.Withdrawals()
	}
	return nil
}

// administered are the answers of the local socket about the network, beside those about keys and copies.
func (s *Service) administered() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET " + statusPath: s.sendStatus,
		"POST " + tankPath: func(w http.ResponseWriter, r *http.Request) {
			accounts, err := bodyOf[[]string](r)
			var report gastank.Report
			if err == nil {
				report, err = s.Tank(r.Context(), accounts...)
			}
			reply(w, http.StatusOK, report, err)
		},
		"POST " + resumePath: func(w http.ResponseWriter, r *http.Request) {
			d, err := bodyOf[Decision](r)
			if err == nil {
				err = s.decide(r.Context(), d)
			}
			reply(w, http.StatusOK, d, err)
		},
	}
}

// Decision is that of an operator, who knows why a lane stopped, that it goes on.
type Decision struct {
	Chain   uint64 `json:"chain"`
	Stopped string `json:"stopped"` // what was decided about
}

func (s *Service) decide(ctx context.Context, d Decision) error {
	for _, l := range s.Lanes(ctx) {
		if l.ChainID == d.Chain && l.Stopped != d.Stopped {
			return api.NewError(api.ErrUnavailable, "it is another matter by now: %q", l.Stopped)
		}
	}
	return s.ResumeLane(ctx, d.Chain)
}

// ErrNotRunning says that no service runs in a data directory.
var ErrNotRunning = errors.New("the service does not run")

// ResumeOperated lets the lane of an operator's service go on that runs in dir.
func ResumeOperated(ctx context.Context, dir string, d Decision) error {
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	way := socketTransport(filepath.Join(dir, SocketFile))
	_, reached, err := askAdmin(ctx, way, http.MethodPost, resumePath, body)
	if err != nil && !reached {
		return fmt.Errorf("%w in %s", ErrNotRunning, dir)
	}
	return err
}

// RunningStatus is the status of an operator's service that runs in dir.
func RunningStatus(ctx context.Context, dir string) (*netstatus.Status, error) {
	s, reached, err := fetchStatus(ctx, socketTransport(filepath.Join(dir, SocketFile)))
	if err != nil && !reached {
		return nil, fmt.Errorf("%w in %s", ErrNotRunning, dir)
	}
	return s, err
}
