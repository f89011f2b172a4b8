//go:build linux

package sshci

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/ui/termtest"
)

var (
	reOSC52   = regexp.MustCompile(`\x1b\]52;([^;\x07\x1b]*);([^\x07\x1b]*)(?:\x07|\x1b\\)`)
	reAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
	reID      = regexp.MustCompile(`^0x[0-9a-f]{64}$`)
)

// copied lists what was sent to the clipboard of the terminal, in order. A program that asks for the clipboard fails
// the test (TH-R2).
func (p person) copied() (texts []string) {
	p.Helper()
	raw := string(p.term.Raw())
	all := reOSC52.FindAllStringSubmatch(raw, -1)
	if n := strings.Count(raw, "\x1b]52"); n != len(all) {
		p.Errorf("%d of %d copies were understood", len(all), n)
	}
	for _, m := range all {
		if m[1] != "c" && m[1] != "" || m[2] == "?" { // tmux leaves the first one out
			p.Errorf("clipboard %q: %q; it is written and never read", m[1], m[2])
		}
		text, err := base64.StdEncoding.DecodeString(m[2])
		must(p, err)
		texts = append(texts, string(text))
	}
	return texts
}

// copies goes through the addresses and ids of the demo and copies each of them once.
func (p person) copies() (all []string) {
	p.Helper()
	p.sees("EMBEDDED", "demo", "USDC", "$")
	if got := p.copied(); len(got) != 0 {
		p.Errorf("nobody asked for %q", got)
	}
	for i, c := range []struct {
		keys, here string
		copy, says string
		of         *regexp.Regexp
	}{
		{"r", "Receive", "y", "account address", reAddress},
		{"6", "Profiles", "y", "account address", reAddress},
		{"", "Profiles", "Y", "signer address", reAddress},
		{"", "Profiles", "n", "network id", reID},
	} {
		p.types(c.keys)
		p.sees(c.here)
		p.types(c.copy)
		(&host{TB: p}).comes("the copy at the terminal",
			func() bool { return len(reOSC52.FindAll(p.term.Raw(), -1)) > i })
		p.sees("sent to the terminal's clipboard: " + c.says)
		p.settles()
		if c.here == "Receive" {
			p.types("\x1b")
			p.waits("the end of the panel", func(s string) bool { return !strings.Contains(s, "Receive") })
		}
		if all = p.copied(); len(all) != i+1 || !c.of.MatchString(all[i]) {
			p.Fatalf("%s: copied %q", c.says, all)
		}
	}
	return all
}

// TH-R2: what a person copies over SSH is sent to the terminal that they sit at, also when it calls itself tmux;
// nothing else is, and no clipboard is read.
func TestSSHR2ACopyArrivesAtThePersonsTerminal(t *testing.T) {
	for _, term := range []string{"xterm-256color", "tmux-256color"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, hostOptions{})
			p := h.opens(at{Term: term}, "coffer")
			all := p.copies()
			p.leaves()
			out, _, _ := h.runs("", "coffer", "balances", "--json")
			if address := strings.ToLower(all[0]); all[0] != all[1] ||
				!strings.Contains(strings.ToLower(out), address) {
				t.Errorf("%s is not the account of\n%s", address, out)
			}
		})
	}
}

// TH-R2: the setting turns copies off, at once and for the next start.
func TestSSHR2TheSettingTurnsCopiesOff(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{})
	p := h.opens(at{}, "coffer")
	p.sees("EMBEDDED", "USDC", "$")
	p.types("6")
	p.sees("Profiles")
	p.types("o")
	p.sees("Settings", "copies")
	for range 20 {
		if on := p.term.Screen(); strings.Contains(on, "› copies") {
			break
		}
		before := p.term.Screen()
		p.types("\x1b[B")
		p.waits("the next row", func(s string) bool { return s != before })
	}
	p.types("\r")
	p.sees("no clipboard gets anything")
	p.types("\x1b[B")
	p.waits("no to be selected", func(s string) bool { return strings.Contains(s, "› no") })
	p.types("\r")
	p.sees("off: nothing is sent to a clipboard", "written to")
	p.types("\x1b")
	p.sees("Profiles")
	p.types("y")
	p.sees("not copied: copies are turned off")
	p.leaves()
	again := h.opens(at{}, "coffer")
	again.sees("EMBEDDED", "USDC", "$")
	again.types("6")
	again.sees("Profiles")
	again.types("y")
	again.sees("not copied: copies are turned off")
	again.leaves()
	if first, second := p.copied(), again.copied(); len(first)+len(second) != 0 {
		t.Errorf("copied %q, %q", first, second)
	}
	if text, err := os.ReadFile(filepath.Join(h.home, "config", "coffer", "config.toml")); err != nil ||
		!strings.Contains(string(text), "clipboard = false") {
		t.Errorf("%s, %v", text, err)
	}
}

// TH-R2: through a real tmux on either side of the connection, with set-clipboard on, a copy still arrives at the
// terminal of the person.
func TestSSHR2ACopyPassesTmuxOnEitherSide(t *testing.T) {
	for _, side := range []string{"here", "there"} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, hostOptions{})
			conf := h.under("tmux.conf")
			must(t, os.WriteFile(conf, []byte("set -g set-clipboard on\nset -g status off\nset -g default-terminal "+
				"tmux-256color\nset -g exit-empty on\n"), 0o600))
			tmux := []string{"tmux", "-S", h.under("t"), "-f", conf, "new-session"}
			t.Cleanup(func() { _ = exec.Command("tmux", "-S", h.under("t"), "kill-server").Run() })
			var p person
			if side == "there" {
				p = h.opens(at{Env: []string{"LANG=C.UTF-8"}}, slices.Concat(tmux, []string{"coffer"})...)
			} else {
				cmd := h.client("xterm-256color", []string{"-t"}, "coffer")
				inner := append(append([]string{}, tmux...), cmd.Args...)
				outer := exec.Command(inner[0], inner[1:]...)
				outer.Env = append(slices.Clone(cmd.Env), "LANG=C.UTF-8")
				term, err := termtest.Start(outer, 80, 24)
				must(t, err)
				t.Cleanup(term.Close)
				p = person{t, term}
			}
			p.copies()
			p.types("q")
			_ = p.ends()
		})
	}
}
