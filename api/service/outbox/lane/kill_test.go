//go:build unix

package lane

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// Environment of the process that kills itself.
const (
	killFile = "COFFER_TEST_LANE_FILE"
	killURL  = "COFFER_TEST_LANE_URL"
	killAt   = "COFFER_TEST_LANE_AT"
	killKey  = "COFFER_TEST_LANE_KEY"
)

// fatal kills its process at one of the moments that it counts.
type fatal struct {
	at, now int64
}

func (f *fatal) moment() {
	if atomic.AddInt64(&f.now, 1) == f.at {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// doomed has a moment before and after each commit.
type doomed struct {
	store.Store
	f *fatal
}

func (d doomed) Update(fn func(store.Tx) error) error {
	d.f.moment()
	defer d.f.moment()
	return d.Store.Update(fn)
}

// doomedPool has one before and after each send.
type doomedPool struct {
	Pool
	f *fatal
}

func (d doomedPool) Broadcast(ctx context.Context, raw []byte) (common.Hash, error) {
	d.f.moment()
	defer d.f.moment()
	return d.Pool.Broadcast(ctx, raw)
}

func killedIDs(number int) (out []string) {
	for n := range 3 {
		out = append(out, fmt.Sprintf("kill %d/%d", number, n))
	}
	return out
}

// live sends three steps and waits for their results, and kills its process at a moment, 0 for never.
func live(t *testing.T) {
	number, err := strconv.Atoi(os.Getenv(killKey))
	if err != nil {
		t.Fatal(err)
	}
	at, err := strconv.Atoi(os.Getenv(killAt))
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.OpenBolt(os.Getenv(killFile), store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	f := &fatal{at: int64(at)}
	key := local(100 + number)
	var log safeLog
	kept := doomed{s, f}
	o := onNodes(t, pool(t, 1, os.Getenv(killURL)), kept, &log, key)
	o.Pool, o.Patience = doomedPool{o.Pool, f}, time.Millisecond // blocks alone decide what is stuck
	first, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	var l atomic.Pointer[Lane]
	l.Store(first)
	for _, id := range killedIDs(number) {
		f.moment()
		if err := settle(t, &l, kept, counting(id, key)); err != nil {
			t.Fatalf("%v\n%s", err, log.String())
		}
	}
}

// Killed with signal 9 at every moment of its life, and then begun again, a process sends each step once.
func TestKilledAtAnyMomentEveryStepHappensOnce(t *testing.T) {
	if os.Getenv(killFile) != "" { // this is the process that is killed
		live(t)
		return
	}
	t.Parallel()
	var keys []signers.EVM
	const most = 80
	for n := range most {
		keys = append(keys, local(100+n))
	}
	url := ""
	if *anvilProgram == "" {
		node := httptest.NewServer(embedded(t, keys...))
		t.Cleanup(node.Close)
		url = node.URL
	} else {
		url = anvil(t, "--no-mining")
	}
	p := pool(t, 1, url)
	if *anvilProgram != "" {
		code := hexutil.Bytes(common.FromHex(counterCode))
		if err := p.Call(t.Context(), nil, "anvil_setCode", counter, code); err != nil {
			t.Fatal(err)
		}
		for _, k := range keys {
			if err := p.Call(t.Context(), nil, "anvil_setBalance", k.Address(), (*hexutil.Big)(wealth)); err != nil {
				t.Fatal(err)
			}
		}
		mining, stop := context.WithCancel(t.Context())
		defer stop()
		go func() { // with fees that go up to five times as high, and back
			for n := 0; mining.Err() == nil; n++ {
				fee := big.NewInt(gwei)
				if n%20 >= 10 {
					fee.SetInt64(5 * gwei)
				}
				_ = p.Call(mining, nil, "anvil_setNextBlockBaseFeePerGas", (*hexutil.Big)(fee))
				_ = p.Call(mining, nil, "evm_mine")
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	stride := 1
	if testing.Short() {
		stride = 4
	}
	kills, replaced := 0, 0
	for at, over := 1, false; !over; at += stride {
		if at >= most {
			t.Fatal("it never ends")
		}
		path := filepath.Join(t.TempDir(), "coffer.db")
		over = !run(t, path, url, at, at)
		if !over {
			kills++
			if run(t, path, url, 0, at) {
				t.Fatal("killed without being told")
			}
		}
		for _, id := range killedIDs(at) {
			if n := counted(t, p, id); n != 1 {
				t.Errorf("killed at moment %d: %s happened %d times", at, id, n)
			}
		}
		replaced += attempts(t, path, at) - len(killedIDs(at))
	}
	t.Logf("killed %d times, %d transactions replaced", kills, replaced)
	if kills < 21/stride || *anvilProgram != "" && replaced == 0 {
		t.Error("that is too few")
	}
}

// attempts counts those that a process has left in its file.
func attempts(t *testing.T, path string, key int) (n int) {
	t.Helper()
	s, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	err = s.View(func(tx store.Tx) error {
		for _, id := range killedIDs(key) {
			s, err := records{tx, chainID}.byID(id)
			if err != nil {
				return err
			}
			n += len(s.Attempts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// run is a process on a file; it reports whether it was killed.
func run(t *testing.T, path, url string, at, key int) bool {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKilledAtAnyMomentEveryStepHappensOnce$", "-test.timeout=2m")
	c.Env = append(os.Environ(), killFile+"="+path, killURL+"="+url, fmt.Sprintf("%s=%d", killAt, at),
		fmt.Sprintf("%s=%d", killKey, key))
	out, err := c.CombinedOutput()
	if err == nil {
		return false
	}
	exit, exited := errors.AsType[*exec.ExitError](err)
	if !exited || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("at %d: %v\n%s", at, err, out)
	}
	return true
}
