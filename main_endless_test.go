//go:build unix

package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// What a hostile service says in place of an answer before it falls silent with the connection open.
const (
	switches  = "HTTP/1.1 101 Switching Protocols\r\n\r\n"
	upgrades  = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: coffer\r\n\r\n"
	half      = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{\"half\":"
	processes = "HTTP/1.1 102 Processing\r\n\r\n"
)

func (b *between) says(lie func(request) string) {
	b.with(func() { b.hijack = lie })
}

// TestK6_ACommandEndsWhateverTheServiceSays runs commands of the built program against a service that switches protocols, or says half of an answer, and falls
// silent: each ends by itself and says why.
func TestK6_ACommandEndsWhateverTheServiceSays(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, args := range []string{"balances", "chains", "status 0x" + strings.Repeat("ab", 32), "apply PLAN --yes"} {
		for lie, word := range map[string]string{switches: "answered 101", upgrades: "answered 101", processes: "answered 102"} {
			s.b.says(func(r request) string { return lie })
			_, errs := s.fails(strings.Fields(args)...)
			if !strings.Contains(errs, "coffer: ") || !strings.Contains(errs, word) {
				t.Errorf("%s, %q: %s", args, lie, errs)
			}
		}
	}
	s.b.says(func(request) string { return half })
	if _, errs := s.fails("status", "0x"+strings.Repeat("ab", 32)); !strings.Contains(errs, "no whole answer within 10s") {
		t.Errorf("half of an answer: %s", errs)
	}
}

// TestK6_AnInterruptEndsACommandAtOnce: half of an answer has arrived, and the person presses Ctrl+C.
func TestK6_AnInterruptEndsACommandAtOnce(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	for _, args := range []string{"status 0x" + strings.Repeat("ab", 32), "apply PLAN --yes"} {
		arrived := make(chan struct{}, 100)
		s.b.says(func(request) string { arrived <- struct{}{}; return half })
		cmd, out, errs := s.starts(s.filled(args)...)
		select {
		case <-arrived:
		case <-time.After(limit):
			t.Fatalf("%s: no request came", args)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 5 || !strings.Contains(errs.String(), "nothing was sent") {
			t.Errorf("%s: exit code %d\n%s%s", args, code, out, errs)
		}
	}
}

// filled puts the words of the stage into a command.
func (s *stage) filled(args string) []string {
	out := strings.Fields(args)
	for i, a := range out {
		if word, ok := s.words[a]; ok {
			out[i] = word
		}
	}
	return out
}

// fails runs a command that must end by itself without success, and before the script's own limit kills it.
func (s *stage) fails(args ...string) (out, errs string) {
	s.Helper()
	cmd, o, e := s.starts(s.filled(strings.Join(args, " "))...)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code <= 0 {
		s.Errorf("%v: exit code %d\n%s%s", args, code, o, e)
	}
	return o.String(), e.String()
}
