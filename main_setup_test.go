//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/api/network"
)

// pastes hands over a text as a bracketed paste.
func (p person) pastes(text string) {
	p.Helper()
	if err := p.term.Paste(text); err != nil {
		p.Fatal(err)
	}
}

const (
	down = "\x1b[B"
	esc  = "\x1b"
)

// on moves the keyboard to the row that begins with a text.
func (p person) on(row string) {
	p.Helper()
	here := regexp.MustCompile(`(?m)^ ›(?:\( \) |\(\*\) )?` + regexp.QuoteMeta(row))
	for range 20 {
		before := p.term.Screen()
		if here.MatchString(before) {
			return
		}
		p.types(down)
		p.waits("the keyboard to move towards "+row, func(screen string) bool { return screen != before })
	}
	p.Fatalf("no row %q:\n%s", row, p.term.Screen())
}

// fills types into the row and goes on to the next one.
func (p person) fills(row, text string) {
	p.Helper()
	p.on(row)
	p.types(text + "\r")
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

// fingerprintOf is what the operator of a service would tell by phone.
func fingerprintOf(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	return n.Fingerprint()
}

// files lists everything below a directory, with what it holds.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var raw []byte
			raw, err = os.ReadFile(path)
			out = append(out, fmt.Sprintf("%s %x", path, raw))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTerminalSetsUpARemoteProfile: from an empty home to the balances of a service in another process, by its network file and by its fingerprint alone. Nothing
// is written before the end, no secret is ever shown, and none is in the clear on the disk.
func TestTerminalSetsUpARemoteProfile(t *testing.T) {
	for name, c := range map[string]struct {
		byFile bool
		kind   string
		size   [2]int
	}{
		"by network file": {true, "smart account", [2]int{80, 24}},
		"by fingerprint":  {false, "session and admin keys", [2]int{120, 40}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := home(t)
			more := []string{}
			if !c.byFile { // the operator runs the service on this machine, where it writes its network file
				more = []string{"--data", filepath.Join(dir, "data", "coffer", "serve")}
			}
			_, _, line, _ := served(t, env, more...)
			at, _ := where(t, line)
			mine := func() []string {
				return slices.DeleteFunc(files(t, dir), func(s string) bool { return strings.Contains(s, "/coffer/serve/") })
			}
			before := mine()

			p := person{t, start(t, env, c.size[0], c.size[1], "setup")}
			p.sees("coffer set-up", "step 1 of 7")
			p.fills("name", "team")
			p.goesOn("Service")
			p.fills("address", at.BaseURL)
			p.fills("CA file", at.CAFile)
			if c.byFile {
				p.fills("network file", at.NetworkFile)
				p.sees("7 chains")
			}
			p.fills("fingerprint", fingerprintOf(t, at.NetworkFile))
			p.goesOn("API key")
			p.pastes(at.APIKey)
			p.goesOn("Where keys are kept")
			p.chooses("encrypted file")
			p.fills("passphrase", passphrase)
			p.fills("once more", passphrase)
			p.goesOn("Key")
			p.chooses("bring one by typing")
			p.on("key")
			p.pastes(adminKeyText)
			p.goesOn("Accounts")
			p.chooses(c.kind)
			if !c.byFile {
				p.fills("admin key", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
			}
			p.goesOn("Check")
			p.sees("accepted", "TLS 1.3", "computes addresses as network", "assets held")
			p.types(esc) // back and on again: nothing that was entered is lost
			p.waits("the step before", func(s string) bool { return strings.Contains(s, "step 6 of 7") })
			p.goesOn("Check")
			p.sees("assets held")
			p.goesOn("Summary")
			if after := mine(); !slices.Equal(before, after) {
				t.Errorf("something was written before the end: %.200q", after)
			}
			p.chooses("use it from now on")
			p.goesOn("Done")
			p.goesOn("Passphrase of profile team")
			p.types(passphrase + "\r")
			p.sees("LAB", "team", "USDC", "$")
			p.types("q")
			if err := p.ends(); err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{at.APIKey, passphrase, adminKeyText} {
				if bytes.Contains(p.term.Raw(), []byte(secret)) {
					t.Errorf("%.6s… was shown", secret)
				}
				for _, f := range mine() {
					if strings.Contains(f, fmt.Sprintf("%x", secret)) {
						t.Errorf("%.60s holds %.6s… in the clear", f, secret)
					}
				}
			}
			if out, errs, code := runProgram(t, env, "accounts", "list"); code != 0 || !strings.Contains(out, "0x") {
				t.Errorf("the default profile: code %d, %s, %s", code, out, errs)
			}
		})
	}
}

// A set-up that is killed half-way, or left, leaves nothing; a wrong fingerprint goes nowhere.
func TestTerminalALeftSetUpLeavesNothing(t *testing.T) {
	t.Parallel()
	dir, env := home(t)
	_, _, line, _ := served(t, env)
	at, _ := where(t, line)
	walk := func() person {
		p := person{t, start(t, env, 80, 24, "setup")}
		p.sees("step 1 of 7")
		p.fills("name", "team")
		p.goesOn("Service")
		p.fills("address", at.BaseURL)
		p.fills("CA file", at.CAFile)
		p.fills("network file", at.NetworkFile)
		p.fills("fingerprint", strings.Repeat("0", 32))
		p.on("[ ")
		p.types("\r")
		p.sees("type the operator's")
		p.on("fingerprint")
		p.types("\x15" + fingerprintOf(t, at.NetworkFile) + "\r")
		p.goesOn("API key")
		p.pastes(at.APIKey)
		p.goesOn("Where keys are kept")
		p.chooses("encrypted file")
		p.fills("passphrase", passphrase)
		p.fills("once more", passphrase)
		p.goesOn("Key")
		return p
	}
	killed := walk()
	if err := killed.term.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.ends()
	left := walk()
	left.types("\x03")
	if err := left.ends(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	if left.term.AltScreen() {
		t.Error("the terminal was not given back")
	}
	if found := files(t, dir); len(found) > 0 {
		t.Errorf("left behind: %.300q", found)
	}
	if _, errs, code := runProgram(t, env, "setup"); code != 2 || !strings.Contains(errs, "needs a terminal") {
		t.Errorf("without a terminal: code %d, %s", code, errs)
	}
}

// Wrong passphrases are a matter of access (exit code 3).
func TestAWrongPassphraseIsAMatterOfAccess(t *testing.T) {
	t.Parallel()
	_, env := vaultHome(t)
	if s, err := asks(t, env, []string{"keys", "list"}, "Passphrase", "not this one", "Passphrase", "nor this", "Passphrase", "nor that one"); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v\n%s", err, s)
	}
}

// The settings are written with the person's comments kept and used at once; the doctor looks at the profile; from the accounts one gets to another profile and to
// the set-up, and back when it is left.
func TestTerminalSettingsDoctorAndAnotherProfile(t *testing.T) {
	t.Parallel()
	dir, env := home(t)
	path := filepath.Join(dir, "config", "coffer", "config.toml")
	const text = "# mine\nversion = 1\n\n[profiles.other] # to play\nkind = \"embedded\"\nvault = \"memory\"\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := person{t, start(t, env, 100, 30)}
	p.sees("EMBEDDED", "demo", "USDC")
	p.types("6")
	p.sees("Profiles", "other")
	p.types("o")
	p.sees("Settings", "theme", "dust")
	p.types("\r")
	p.sees("for a light background")
	p.types(down)
	p.types(down)
	p.waits("light to be selected", func(s string) bool { return strings.Contains(s, "› light") })
	p.types("\r")
	p.sees("written to")
	raw, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(raw), text[:len(text)-1]) || !strings.Contains(string(raw), "[ui]\ntheme = 'light'") {
		t.Errorf("%v\n%s", err, raw)
	}
	p.types("d")
	p.sees("Does everything work?", "not needed", "computes addresses as network", "assets held")
	p.types(esc)
	p.sees("hide amounts")
	p.types(esc)
	p.sees("Profiles")
	p.types("p")
	p.sees("Switch to", "you are here")
	p.types(down)
	p.waits("other to be selected", func(s string) bool { return strings.Contains(s, "› other") })
	p.types("\r")
	p.sees("EMBEDDED", "other", "USDC")
	p.types("6")
	p.sees("Profiles")
	p.types("+")
	p.sees("coffer set-up", "step 1 of 7")
	p.types(esc)
	p.sees("press esc again")
	p.types(esc)
	p.sees("EMBEDDED", "other", "USDC")
	p.types("q")
	if err := p.ends(); err != nil {
		t.Fatal(err)
	}
}
