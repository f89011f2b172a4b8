//go:build unix

package liar

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"coffer/.ci/liar"
	"coffer/ui/e2e/rig"
)

// The short run makes this many sessions in batches of so many, the whole one 2 000. COFFER_TEST_SEED names the one
// batch to run again, COFFER_TEST_SESSION the one session in it that tells each step ("all": every one).
const (
	liarSessions = 60
	liarWhole    = 2000
	liarBatch    = 20
	liarSteps    = 20
)

// liarOpen are the claims that the wallet does not keep yet, with the reason. What breaks them is printed and fails
// nothing; a claim is switched on by taking its line out.
func liarOpen() map[string]string {
	return map[string]string{}
}

// TestNoLieTakesMoreThanWasConfirmed lets random persons use the wallet against a service whose owner lies at random.
func TestNoLieTakesMoreThanWasConfirmed(t *testing.T) {
	t.Parallel()
	sums := sumsProgram(t)
	seeds := make([]uint64, liarSessions/liarBatch)
	if rig.Whole() {
		seeds = make([]uint64, liarWhole/liarBatch)
	}
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	if text := os.Getenv("COFFER_TEST_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		seeds = []uint64{seed}
	}
	var all []*liar.Session
	var mu sync.Mutex
	t.Run("batches", func(t *testing.T) {
		for _, seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				b := liar.Batch{Dir: fastDir(t), Seed: seed, Sessions: liarBatch, Steps: liarSteps, Sums: sums}
				if text := os.Getenv("COFFER_TEST_SESSION"); text != "" {
					b.Trace = func(session uint64, line string) {
						if text == "all" || fmt.Sprint(session) == text {
							t.Log(session, line)
						}
					}
				}
				list, err := liar.Run(t.Context(), b)
				if err != nil {
					t.Fatalf("COFFER_TEST_SEED=%d: %v", seed, err)
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, list...)
				for _, s := range list {
					for _, p := range s.Problems {
						code, _, _ := strings.Cut(p, ":")
						if why := liarOpen()[code]; why != "" {
							t.Logf("OPEN (%s): COFFER_TEST_SEED=%d session %d (%s): %s", why, seed, s.Seed, s.Kind, p)
							continue
						}
						t.Errorf("COFFER_TEST_SEED=%d session %d (%s): %s", seed, s.Seed, s.Kind, p)
					}
				}
			})
		}
	})
	liarTable(t, all)
}

// liarTable prints the lies by the sessions in which they were told and those of them that reached a signature.
func liarTable(t *testing.T, all []*liar.Session) {
	t.Helper()
	type row struct{ told, sessions, signed int }
	rows := map[string]*row{}
	signed, signatures := 0, 0
	for _, s := range all {
		signatures += s.Signed
		if s.Signed > 0 {
			signed++
		}
		for name, n := range s.Told {
			if rows[name] == nil {
				rows[name] = &row{}
			}
			r := rows[name]
			r.told += n
			r.sessions++
			if s.Signed > 0 {
				r.signed++
			}
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		fmt.Fprintf(&b, "%-60s %6d told %5d sessions %5d signed\n", name, r.told, r.sessions, r.signed)
	}
	t.Logf("%d sessions, %d reached a signature, %d signatures\n%s", len(all), signed, signatures, b.String())
	if len(all) > 0 && signed*10 < len(all)*3 {
		t.Errorf("only %d of %d sessions reached a signature", signed, len(all))
	}
}

// sumsProgram builds the program that reads the chains.
func sumsProgram(t *testing.T) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), "sums")
	build := exec.Command("go", "build", "-o", at, "./.ci/liar/sums")
	build.Dir = rig.Root()
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return at
}

// fastDir is a directory in memory where there is one: every commit of a service and every record of a journal is
// synced.
func fastDir(t *testing.T) string {
	t.Helper()
	if dir, err := os.MkdirTemp("/dev/shm", "coffer-liar"); err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}
