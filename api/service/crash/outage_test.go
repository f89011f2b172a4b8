//go:build unix

package crash_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/service/crash/traffic"
)

// Figures of outages.
const (
	together  = 5                      // one outage in so many takes the service with it
	longest   = 400 * time.Millisecond // that the server is left dead
	leaveTime = 15 * time.Second       // of a process that finishes its requests
	awayRest  = 20 * time.Millisecond  // before a client asks again
	awayName  = "database away"        // of such answers in the figures
)

// away reports whether an answer says that the database of the service is away.
func away(err error) bool {
	if settings.database == "" {
		return false
	}
	const text = "database does not answer"
	e, answered := errors.AsType[*api.Error](err)
	r, refused := errors.AsType[*traffic.Refusal](err)
	return answered && e.Name == api.ErrUnavailable && strings.Contains(e.Message, text) ||
		refused && strings.Contains(r.Message, text)
}

// database has the script kill or start the server.
func (h *harness) database(ctx context.Context, verb string) error {
	words := strings.Fields(settings.database)
	out, err := exec.CommandContext(ctx, words[0], append([]string{verb}, words[1:]...)...).CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("%s the database: %w: %s", verb, err, out)
	}
	return nil
}

// outagesBefore spreads outages evenly between the kills of the service: those that come before a kill.
func (h *harness) outagesBefore(ctx context.Context, kill int, dice *rand.Rand) error {
	if settings.database == "" {
		return nil
	}
	for h.outages < settings.outages*(kill+1)/settings.kills {
		if err := h.outage(ctx, dice); err != nil {
			return err
		}
	}
	return nil
}

// outage kills the server of the database while quotes are in flight, and starts it a moment later. Meanwhile the
// service says what is wrong; afterwards it goes on by itself. Now and then it dies with the server.
func (h *harness) outage(ctx context.Context, dice *rand.Rand) error {
	s, err := h.caught(ctx, dice)
	if err != nil {
		return err
	}
	h.outages++
	if err := h.database(ctx, "kill"); err != nil {
		return err
	}
	gone := dice.IntN(together) == 0
	if gone {
		h.both++
		if err = s.kill(); err != nil && h.overtaken(s) {
			err = nil
		}
	} else if err = h.checkAway(ctx, s); err != nil && h.leaves(s) {
		gone, err = true, nil // it was overtaken after the outage before
	}
	if gone {
		h.running = nil
	}
	if err == nil {
		err = rest(ctx, time.Duration(dice.Int64N(int64(longest))))
	}
	if err == nil {
		err = h.database(ctx, "start")
	}
	if err != nil || gone {
		return err
	}
	return h.back(ctx, s)
}

// failOver kills the server for ever and has its standby take its place. The service goes on with that, or ends because
// commits may be missing and is started again, as a supervisor does.
func (h *harness) failOver(ctx context.Context, dice *rand.Rand) error {
	s, err := h.caught(ctx, dice)
	if err == nil {
		err = h.database(ctx, "kill")
	}
	if err == nil {
		err = h.checkAway(ctx, s)
	}
	if err == nil {
		err = h.database(ctx, "promote")
	}
	if err != nil {
		return err
	}
	since := time.Now()
	before := h.endedQuotes()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("no quotes end after a fail-over"))
	defer cancel()
	for h.endedQuotes() < before+2*crowd {
		select {
		case <-s.ended:
			log, err := os.ReadFile(filepath.Join(h.dir, "serve.log"))
			if err != nil || !strings.Contains(string(log), "the database is not the one that was opened") {
				return fmt.Errorf("the service ended by itself: %w", errors.Join(s.exit, err))
			}
			h.restarts++
			h.running = nil
			if s, err = h.serving(ctx); err != nil {
				return err
			}
		default:
		}
		if _, err := s.client(0).Status(ctx, unknown); err == nil && h.failedOver == 0 {
			h.failedOver = time.Since(since)
		}
		if err := rest(ctx, pollRest); err != nil {
			return err
		}
	}
	return nil
}

// checkAway demands that the service says what is wrong while the server is dead.
func (h *harness) checkAway(ctx context.Context, s *served) error {
	var health any
	if _, err := s.client(0).Status(ctx, unknown); !away(err) {
		return fmt.Errorf("the database is away, and a status is answered with %w", said(err))
	}
	if err := s.client(0).Get(ctx, "/healthz", nil, &health); !away(err) {
		return fmt.Errorf("the database is away, and the health is %w", said(err))
	}
	return nil
}

// unknown is an id that no quote has.
var unknown = "0x" + strings.Repeat("0", 64)

func said(err error) error {
	if err == nil {
		return errors.New("nothing of it")
	}
	return err
}

// back waits until the service serves again and a quote has ended since. One that stands by may have been quicker.
func (h *harness) back(ctx context.Context, s *served) error {
	since, ended, answered := time.Now(), h.endedQuotes(), false
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the service does not go on after an outage"))
	defer cancel()
	for h.endedQuotes() == ended {
		if h.overtaken(s) {
			return nil
		}
		_, err := s.client(0).Status(ctx, unknown)
		if err == nil && !answered {
			answered = true
			h.silences += time.Since(since)
		}
		if err != nil && !away(err) {
			if h.leaves(s) {
				return nil
			}
			return fmt.Errorf("after an outage the service answers with %w", err)
		}
		if err := rest(ctx, pollRest); err != nil {
			return err
		}
	}
	return nil
}

func (h *harness) endedQuotes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.quotes)
}

// leaves reports whether a process that answers no longer ends because it was overtaken.
func (h *harness) leaves(s *served) bool {
	select {
	case <-s.ended:
	case <-time.After(leaveTime):
	}
	return h.overtaken(s)
}

// overtaken reports whether a process has ended because the one that stood by was quicker after an outage.
func (h *harness) overtaken(s *served) bool {
	if settings.database == "" || !settings.spares || h.running != s {
		return false
	}
	select {
	case <-s.ended:
	default:
		return false
	}
	_ = s.pipe.Close()
	s.close()
	h.running = nil
	h.overtakes++
	return true
}

// outageFigures are those of the database, as a part of a line.
func (h *harness) outageFigures() string {
	if settings.database == "" {
		return ""
	}
	over := ""
	if settings.failover {
		over = fmt.Sprintf("a standby promoted, the service started %d times after it and answers after %d ms; ",
			h.restarts, h.failedOver.Milliseconds())
	}
	return over + fmt.Sprintf("database killed %d times, %d of them with the service, %d that the spare made use of, "+
		"answers again after %d ms; ", h.outages, h.both, h.overtakes,
		h.silences.Milliseconds()/int64(max(1, h.outages-h.both-h.overtakes)))
}
