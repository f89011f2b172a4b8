//go:build unix

// Package crash_test kills the built program with signal 9, again and again, while a crowd of clients has quotes in
// flight and others send to the chains through JSON-RPC, and then compares the books with what the clients were told.
// It is an outside process: the service runs as `coffer serve` over TLS on one data directory, with every commit
// synced. Some settlements are made to fail, so that refunds are cut off too.
//
// Rules proved (protocol §4.3, §5.1; TH-N7): a quote whose execute was answered with 200 is never lost; one whose
// answer was cut off either never ran or ran once; every accepted quote ends; nothing is paid twice; token sums stay
// what genesis made; status, history and books agree. A transaction of others that was answered with its hash is in its
// block with its receipt in every later life, and none runs twice.
//
// With -database the server of the database is killed as well, while the program goes on: meanwhile it answers with 503
// and says why, and afterwards it serves again by itself.
//
//	go test -run TestKilled ./api/service/crash                    5 kills
//	go test -run TestKilled ./api/service/crash -timeout 2h -kills 10000 -v
package crash_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// settings are the flags of the test binary, read once before the tests run.
var settings struct {
	program    string // the program under test
	kills      int
	between    int
	seed       uint64
	checkEvery int
	dir        string
	serve      string
	spares     bool
	database   string
	outages    int
	failover   bool
}

func TestMain(m *testing.M) {
	flag.IntVar(&settings.kills, "kills", 5, "how often the service is killed")
	flag.IntVar(&settings.between, "between", 0, "quotes that end between two kills, at least")
	flag.Uint64Var(&settings.seed, "seed", 0, "seed of moments, people and amounts; 0 takes one from the clock")
	flag.IntVar(&settings.checkEvery, "check-every", 1000, "kills between two full checks of the books")
	flag.StringVar(&settings.dir, "dir", "",
		"directory to work in, kept afterwards (default: a temporary one, kept when the test fails)")
	flag.StringVar(&settings.serve, "serve", "--fault revert@6 --fault deposit-missing@9 --fault deposit-fails@11",
		"further flags of `coffer serve`, separated by blanks")
	flag.BoolVar(&settings.spares, "spares", false, "another process stands by at each kill and takes the place of "+
		"the one that dies; people come through its ports too, and it is killed as well. Needs --store and --replica "+
		"among the flags of -serve")
	flag.StringVar(&settings.database, "database", "", "script and directory of the server that -serve names, as "+
		".ci/replicas/database has them: it is called with `kill` and `start`")
	flag.IntVar(&settings.outages, "outages", 5, "with -database, how often the server is killed, between kills of "+
		"the service")
	flag.BoolVar(&settings.failover, "failover", false, "with -database, at the end the server is killed and its "+
		"standby is promoted; -serve names both")
	flag.Parse()
	os.Exit(func() int {
		if settings.program = os.Getenv("COFFER_BIN"); settings.program != "" {
			return m.Run()
		}
		dir, err := os.MkdirTemp("", "coffer-crash-program")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(dir) }()
		settings.program = filepath.Join(dir, "coffer")
		build := exec.Command("go", "build", "-o", settings.program, "coffer")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// Figures of the crowd.
const (
	crowd    = 12                    // people who pay at the same time
	inFlight = 8                     // quotes that must be under way when the service is killed
	latest   = 80 * time.Millisecond // a kill comes at most this long after so many are
	progress = 5 * time.Second       // between two lines of progress
	patience = 120 * time.Second     // bounds every wait; a quiet machine needs a small part of it
	early    = 10                    // one kill in so many comes while the service starts
	spares   = 3                     // before one kill in so many the process that stands by is killed
	pollRest = 5 * time.Millisecond  // between two questions for a status
)

func TestKilledAtAnyMomentNothingIsLostAndNothingDoubled(t *testing.T) {
	if settings.kills < 1 || settings.checkEvery < 1 {
		t.Fatal("-kills and -check-every are at least 1")
	}
	seed := settings.seed
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	dir, err := settings.dir, error(nil)
	if dir == "" {
		dir, err = os.MkdirTemp("", "coffer-crash")
	} else {
		err = os.Mkdir(dir, 0o700) // what an earlier run left has people that this one does not know
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d, directory %s", seed, dir)
	h, err := newHarness(t, dir, seed)
	if err == nil {
		err = h.run(t)
		t.Log(h.figures())
	}
	for _, s := range []*served{h.current, h.spare, h.last} {
		if s != nil {
			_ = s.cmd.Process.Kill() // when the run broke off; else it is gone
			<-s.ended
		}
	}
	for _, p := range h.problems {
		t.Error(p)
	}
	if err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.Fatalf("seed %d; the data directory %s is kept", seed, dir)
	}
	if settings.dir == "" {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	}
}

// run kills as often as was asked, then lets everything end and checks. In between it does the same now and then.
func (h *harness) run(t *testing.T) error {
	dice := rand.New(rand.NewPCG(h.seed, 1))
	told := time.Now()
	for done := 0; done < settings.kills; {
		round := min(settings.checkEvery, settings.kills-done)
		ctx, cancel := context.WithCancelCause(context.Background())
		ended := h.work(ctx, cancel)
		var err error
		for range round {
			if err = h.outagesBefore(ctx, done, dice); err != nil {
				break
			}
			if err = h.killOnce(ctx, dice); err != nil {
				break
			}
			if done++; time.Since(told) > progress {
				told = time.Now()
				t.Logf("%d kills: %s", done, h.figures())
			}
		}
		if err == nil && settings.failover && done == settings.kills {
			err = h.failOver(ctx, dice)
		}
		h.draining.Store(true)
		if err == nil {
			err = h.settle(ctx, ended)
		}
		cancel(nil)
		<-ended
		if err != nil {
			return err
		}
		if err := h.check(done == settings.kills); err != nil {
			return err
		}
		h.draining.Store(false)
		if len(h.problems) > 0 {
			return nil
		}
	}
	return nil
}

// killOnce waits until enough quotes are in flight and kills the service at a random moment after that; sometimes it
// dies before it listens.
func (h *harness) killOnce(ctx context.Context, dice *rand.Rand) error {
	begin := time.Now()
	if h.running == nil && h.starts > 0 && dice.IntN(early) == 0 {
		s, err := h.next()
		if err != nil {
			return err
		}
		if err := rest(ctx, time.Duration(dice.Int64N(int64(h.startTime/time.Duration(h.starts))))); err != nil {
			return err
		}
		h.early++
		h.kills++
		return s.kill()
	}
	s, err := h.caught(ctx, dice)
	if err == nil && h.spare != nil && settings.database == "" && dice.IntN(spares) == 0 {
		if err = h.replaceSpare(ctx, s); err == nil {
			s, err = h.caught(ctx, dice)
		}
	}
	if err != nil {
		return err
	}
	if err := s.kill(); err != nil && h.overtaken(s) {
		return h.killOnce(ctx, dice)
	} else if err != nil {
		return err
	}
	h.kills++
	h.cycles += time.Since(begin)
	h.running = nil
	return nil
}

// replaceSpare kills the process that stands by, and starts another one.
func (h *harness) replaceSpare(ctx context.Context, s *served) error {
	if err := h.spare.kill(); err != nil {
		return err
	}
	h.spareKills++
	return h.standBy(ctx, s)
}

// caught is the service with enough quotes in flight, at a random moment after that.
func (h *harness) caught(ctx context.Context, dice *rand.Rand) (*served, error) {
	for {
		s, err := h.serving(ctx)
		if err != nil {
			return nil, err
		}
		if err = h.ends(ctx, s); err == nil {
			err = s.busy(ctx, inFlight)
		}
		if err == nil {
			err = rest(ctx, time.Duration(dice.Int64N(int64(latest))))
		}
		n := s.flying()
		switch {
		case h.overtaken(s):
		case err != nil:
			return nil, err
		case n >= inFlight:
			h.sawFlying(n)
			h.mu.Lock()
			h.endsBefore = len(h.quotes) + settings.between
			h.mu.Unlock()
			return s, nil
		}
	}
}

// ends waits until enough quotes have ended since the last kill, or the process has.
func (h *harness) ends(ctx context.Context, s *served) error {
	for {
		h.mu.Lock()
		enough := len(h.quotes) >= h.endsBefore
		h.mu.Unlock()
		select {
		case <-s.ended:
			return nil
		default:
		}
		if err := rest(ctx, pollRest); err != nil || enough {
			return err
		}
	}
}

// settle has the service run once more and waits until everybody's quotes have ended.
func (h *harness) settle(ctx context.Context, ended <-chan struct{}) error {
	s, err := h.serving(ctx)
	if err != nil {
		return err
	}
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-ended:
	case <-limit.C:
		return fmt.Errorf("after %s quotes are still under way", patience)
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := errors.Join(h.checkHistory(ctx, s), h.recallAll(ctx, s)); err != nil {
		return err
	}
	if s := h.spare; s != nil {
		h.spare = nil
		if err := s.kill(); err != nil {
			return err
		}
	}
	h.running = nil
	return s.stop()
}

// rest waits, or returns why the run ended.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
