//go:build linux

package sshci

import (
	"encoding/pem"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"coffer/api/network"
)

// on moves the keyboard to the row that begins with a text.
func (p person) on(row string) {
	p.Helper()
	here := regexp.MustCompile(`(?m)^ ›(?:\( \) |\(\*\) )?` + regexp.QuoteMeta(row))
	move := "\x1b[B" // down, and up from the button below everything
	for range 20 {
		before := p.term.Screen()
		if here.MatchString(before) {
			return
		}
		if strings.Contains(before, "›[ ") {
			move = "\x1b[A"
		}
		p.types(move)
		p.waits("the keyboard to move towards "+row, func(screen string) bool { return screen != before })
	}
	p.Fatalf("no row %q:\n%s", row, p.term.Screen())
}

// fills types into the row and goes on to the next one.
func (p person) fills(row, text string) {
	p.Helper()
	p.on(row)
	p.types("\x15" + text + "\r")
	p.waits("the row below "+row, func(screen string) bool { return !strings.Contains(screen, "\n ›"+row) })
}

func (p person) chooses(row string) {
	p.Helper()
	p.on(row)
	p.types("\r")
	p.waits(row+" to be chosen", func(screen string) bool { return strings.Contains(screen, "(*) "+row) })
}

// goesOn presses the button and waits for the next step.
func (p person) goesOn(next string) {
	p.Helper()
	p.on("[ ")
	p.types("\r")
	p.waits(next, func(screen string) bool { return strings.Contains(strings.SplitN(screen, "\n", 2)[0], next) })
}

// TH-Z2, K7: the set-up over SSH. The choice of a keyring says what to choose instead and asks nobody; the choice of
// an encrypted file goes on to the balances of a service in another process.
func TestSSHZ2TheSetUp(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{NoBus: true, Env: []string{"DBUS_SESSION_BUS_ADDRESS=" + lockedService(t)}})
	b, apiKey, networkFile := newBetween(t, h.root)
	raw, err := os.ReadFile(networkFile)
	must(t, err)
	d, err := network.Decode(raw)
	must(t, err)
	ca := filepath.Join(h.home, "between.pem")
	must(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw}),
		0o600))

	p := h.opens(at{Cols: 120, Rows: 40}, "coffer", "setup")
	p.sees("coffer set-up", "step 1 of 4")
	p.fills("name", "team")
	p.chooses("a service")
	p.goesOn("Service")
	p.fills("address", b.server.URL+"/api")
	p.fills("CA file", ca)
	p.fills("network file", networkFile)
	p.sees("8 chains")
	p.fills("fingerprint", d.Fingerprint())
	p.goesOn("API key")
	must(t, p.term.Paste(apiKey))
	p.goesOn("Where keys are kept")
	p.chooses("keyring  ")
	p.fills("passphrase", passphrase)
	p.fills("once more", passphrase)
	p.on("[ ")
	p.types("\r")
	p.sees("it is locked", "This is an SSH session")
	p.chooses("encrypted file")
	p.fills("passphrase", passphrase)
	p.fills("once more", passphrase)
	p.goesOn("Key")
	p.chooses("bring one by typing")
	p.on("key")
	must(t, p.term.Paste(keyText))
	p.goesOn("Accounts")
	p.chooses("smart account")
	p.goesOn("Check")
	p.sees("accepted", "assets held")
	p.goesOn("Summary")
	p.chooses("use it from now on")
	p.goesOn("Done")
	p.goesOn("Passphrase of profile team")
	p.types(passphrase + "\r")
	p.sees("LAB", "team", "USDC", "$")
	p.leaves()
	p.shows(false, passphrase, keyText, apiKey)
	h.keepsNo(passphrase, keyText, apiKey)
}
