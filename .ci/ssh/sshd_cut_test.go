//go:build linux

package sshci

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"
)

// Whoever is cut off from the host while an operation executes finds it again: the program ends with its keys, whatever
// the way in which the connection went; after the next login the operation is found and carried to its end, and the
// service got exactly one execute. Nothing of the passphrase, the key and the API key is in a file, and no process is
// left.
func TestSSHAConnectionThatEndsDuringExecute(t *testing.T) {
	for name, c := range map[string]struct {
		command []string // nil: the login shell, in which the program is started
		cut     func(h *host, p person)
	}{
		"ssh is killed": {[]string{"coffer"},
			func(_ *host, p person) { must(p, p.term.Process().Kill()) }},
		"ssh is killed, in a shell": {nil, func(_ *host, p person) { must(p, p.term.Process().Kill()) }},
		"the person hangs up":       {[]string{"coffer"}, func(_ *host, p person) { p.types("\r~.") }},
		"the window is closed": {[]string{"coffer"},
			func(_ *host, p person) { must(p, p.term.Process().Signal(syscall.SIGHUP)) }},
		"the network resets it":       {[]string{"coffer"}, func(h *host, _ person) { h.link.breaks() }},
		"the network goes in silence": {[]string{"coffer"}, func(h *host, _ person) { h.link.freezes() }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := hostOptions{}
			if strings.Contains(name, "silence") { // nothing but a question that is not answered tells of it
				o.Config = []string{"ClientAliveInterval 1", "ClientAliveCountMax 2"}
			}
			h := newHost(t, o)
			b, apiKey := h.team("--lifetime", "5m")
			p := h.opens(at{Cols: 120, Rows: 40}, c.command...)
			if c.command == nil {
				p.waits("the shell", func(s string) bool { return strings.ContainsAny(s, "#$") })
				p.types(h.under("bin", "coffer") + "\r")
			}
			p.sees("Passphrase of profile team")
			p.types(passphrase + "\r")
			p.sees("LAB", "Balances", "$")
			p.builds()
			p.types("y")
			pay := p.pays()
			held := b.holds(pathExecute)
			p.confirms(pay)
			<-held // the service has executed it, and nobody here knows
			c.cut(h, p)
			if name != "the network goes in silence" {
				_ = p.ends()
			}
			h.nothingRuns()
			b.goesOn()
			h.link.breaks() // what was frozen is over
			p.shows(false, passphrase, keyText, apiKey)
			h.keepsNo(passphrase, keyText, apiKey)

			again := h.unlocks(at{Cols: 120, Rows: 40})
			again.types("3")
			again.sees("COMPLETED")
			again.types("4")
			again.sees("completed", "1 record")
			again.leaves()
			if n := b.reached(pathExecute); n != 1 {
				t.Errorf("%d executes reached the service", n)
			}
			out, errs, code := h.runs(passphrase+"\n", "coffer", "history", "--json", "--passphrase-fd", "0")
			var record struct{ Status string }
			if err := json.Unmarshal([]byte(out), &record); code != 0 || err != nil || record.Status != "COMPLETED" {
				t.Errorf("code %d: %v %s%s", code, err, out, errs)
			}
			h.nothingRuns()
			h.keepsNo(passphrase, keyText, apiKey)
		})
	}
}
