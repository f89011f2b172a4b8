//go:build unix

package keys

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
	"coffer/ui/e2e/rig"
)

// pastes hands over a text as a bracketed paste.
func pastes(p rig.Person, text string) {
	p.Helper()
	if err := p.Term.Paste(text); err != nil {
		p.Fatal(err)
	}
}

const (
	down = "\x1b[B"
	esc  = "\x1b"
)

// on moves the keyboard to the row that begins with a text.
func on(p rig.Person, row string) {
	p.Helper()
	here := regexp.MustCompile(`(?m)^ ›(?:\( \) |\(\*\) )?` + regexp.QuoteMeta(row))
	for range 20 {
		before := p.Term.Screen()
		if here.MatchString(before) {
			return
		}
		p.Types(down)
		p.Waits("the keyboard to move towards "+row, func(screen string) bool { return screen != before })
	}
	p.Fatalf("no row %q:\n%s", row, p.Term.Screen())
}

// fills types into the row and goes on to the next one.
func fills(p rig.Person, row, text string) {
	p.Helper()
	on(p, row)
	p.Types(text + "\r")
	p.Waits("the row below "+row, func(screen string) bool { return !strings.Contains(screen, "\n ›"+row) })
}

func chooses(p rig.Person, row string) {
	p.Helper()
	on(p, row)
	p.Types("\r")
	p.Waits(row+" to be chosen", func(screen string) bool { return strings.Contains(screen, "(*) "+row) })
}

// goesOn presses the button and waits for the next step.
func goesOn(p rig.Person, next string) {
	p.Helper()
	on(p, "[ ")
	p.Types("\r")
	p.Waits(next, func(screen string) bool { return strings.Contains(strings.SplitN(screen, "\n", 2)[0], next) })
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

// TestTerminalSetsUpARemoteProfile: from an empty home to the balances of a service in another process, by its network
// file and by its fingerprint alone. Nothing is written before the end, no secret is ever shown, and none is in the
// clear on the disk.
func TestTerminalSetsUpARemoteProfile(t *testing.T) {
	t.Parallel()
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
			dir, env := rig.Home(t)
			more := []string{}
			if !c.byFile { // the operator runs the service on this machine, where it writes its network file
				more = []string{"--data", filepath.Join(dir, "data", "coffer", "serve")}
			}
			_, _, line, _ := rig.Serve(t, env, more...)
			at, _ := rig.Where(t, line)
			mine := func() []string {
				return slices.DeleteFunc(files(t, dir),
					func(s string) bool { return strings.Contains(s, "/coffer/serve/") })
			}
			before := mine()

			p := rig.At(t, rig.Start(t, env, c.size[0], c.size[1], "setup"))
			p.Sees("coffer set-up", "step 1 of 4")
			fills(p, "name", "team")
			chooses(p, "a service")
			goesOn(p, "Service")
			fills(p, "address", at.BaseURL)
			fills(p, "CA file", at.CAFile)
			if c.byFile {
				fills(p, "network file", at.NetworkFile)
				p.Sees("8 chains")
			}
			fills(p, "fingerprint", fingerprintOf(t, at.NetworkFile))
			goesOn(p, "API key")
			pastes(p, at.APIKey)
			goesOn(p, "Where keys are kept")
			chooses(p, "encrypted file")
			fills(p, "passphrase", rig.Passphrase)
			fills(p, "once more", rig.Passphrase)
			goesOn(p, "Key")
			chooses(p, "bring one by typing")
			on(p, "key")
			pastes(p, rig.AdminKeyText)
			goesOn(p, "Accounts")
			chooses(p, c.kind)
			if !c.byFile {
				fills(p, "admin key", "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
			}
			goesOn(p, "Check")
			p.Sees("accepted", "TLS 1.3", "computes addresses as network", "assets held")
			p.Types(esc) // back and on again: nothing that was entered is lost
			p.Waits("the step before", func(s string) bool { return strings.Contains(s, "step 6 of 7") })
			goesOn(p, "Check")
			p.Sees("assets held")
			goesOn(p, "Summary")
			if after := mine(); !slices.Equal(before, after) {
				t.Errorf("something was written before the end: %.200q", after)
			}
			chooses(p, "use it from now on")
			goesOn(p, "Done")
			goesOn(p, "Passphrase of profile team")
			p.Types(rig.Passphrase + "\r")
			p.Sees("LAB", "team", "USDC", "$")
			p.Types("q")
			if err := p.Ends(); err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{at.APIKey, rig.Passphrase, rig.AdminKeyText} {
				if bytes.Contains(p.Term.Raw(), []byte(secret)) {
					t.Errorf("%.6s… was shown", secret)
				}
				for _, f := range mine() {
					if strings.Contains(f, fmt.Sprintf("%x", secret)) {
						t.Errorf("%.60s holds %.6s… in the clear", f, secret)
					}
				}
			}
			if out, errs, code := rig.Run(t, env, "accounts", "list"); code != 0 || !strings.Contains(out, "0x") {
				t.Errorf("the default profile: code %d, %s, %s", code, out, errs)
			}
		})
	}
}

// A set-up that is killed half-way, or left, leaves nothing; a wrong fingerprint goes nowhere.
func TestTerminalALeftSetUpLeavesNothing(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	_, _, line, _ := rig.Serve(t, env)
	at, _ := rig.Where(t, line)
	walk := func() rig.Person {
		p := rig.At(t, rig.Start(t, env, 80, 24, "setup"))
		p.Sees("step 1 of 4")
		fills(p, "name", "team")
		chooses(p, "a service")
		goesOn(p, "Service")
		fills(p, "address", at.BaseURL)
		fills(p, "CA file", at.CAFile)
		fills(p, "network file", at.NetworkFile)
		fills(p, "fingerprint", strings.Repeat("0", 32))
		on(p, "[ ")
		p.Types("\r")
		p.Sees("type the operator's")
		on(p, "fingerprint")
		p.Types("\x15" + fingerprintOf(t, at.NetworkFile) + "\r")
		goesOn(p, "API key")
		pastes(p, at.APIKey)
		goesOn(p, "Where keys are kept")
		chooses(p, "encrypted file")
		fills(p, "passphrase", rig.Passphrase)
		fills(p, "once more", rig.Passphrase)
		goesOn(p, "Key")
		return p
	}
	killed := walk()
	if err := killed.Term.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Ends()
	left := walk()
	left.Types("\x03")
	if err := left.Ends(); err != nil {
		t.Errorf("leaving: %v", err)
	}
	if left.Term.AltScreen() {
		t.Error("the terminal was not given back")
	}
	if found := files(t, dir); len(found) > 0 {
		t.Errorf("left behind: %.300q", found)
	}
	if _, errs, code := rig.Run(t, env, "setup"); code != 2 || !strings.Contains(errs, "needs a terminal") {
		t.Errorf("without a terminal: code %d, %s", code, errs)
	}
}

// Wrong passphrases are a matter of access (exit code 3).
func TestAWrongPassphraseIsAMatterOfAccess(t *testing.T) {
	t.Parallel()
	_, env := vaultHome(t)
	if s, err := rig.Asks(t, env, []string{"keys", "list"}, "Passphrase", "not this one", "Passphrase", "nor this",
		"Passphrase", "nor that one"); err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("%v\n%s", err, s)
	}
}

// The settings are written with the person's comments kept and used at once; the doctor looks at the profile; from the
// accounts one gets to another profile and to the set-up, and back when it is left.
func TestTerminalSettingsDoctorAndAnotherProfile(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	path := filepath.Join(dir, "config", "coffer", "config.toml")
	const text = "# mine\nversion = 1\n\n[profiles.other] # to play\nkind = \"embedded\"\nvault = \"memory\"\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	p := rig.At(t, rig.Start(t, env, 100, 30))
	p.Sees("EMBEDDED", "demo", "USDC")
	p.Types("6")
	p.Sees("Profiles", "other")
	p.Types("o")
	p.Sees("Settings", "theme", "dust")
	p.Types("\r")
	p.Sees("for a light background")
	p.Types(down)
	p.Types(down)
	p.Waits("light to be selected", func(s string) bool { return strings.Contains(s, "› light") })
	p.Types("\r")
	p.Sees("written to")
	raw, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(raw), text[:len(text)-1]) ||
		!strings.Contains(string(raw), "[ui]\ntheme = 'light'") {
		t.Errorf("%v\n%s", err, raw)
	}
	p.Types("d")
	p.Sees("Does everything work?", "not needed", "computes addresses as network", "assets held")
	p.Types(esc)
	p.Sees("hide amounts")
	p.Types(esc)
	p.Sees("Profiles")
	p.Types("p")
	p.Sees("Switch to", "you are here")
	p.Types(down)
	p.Waits("other to be selected", func(s string) bool { return strings.Contains(s, "› other") })
	p.Types("\r")
	p.Sees("EMBEDDED", "other", "USDC")
	p.Types("6")
	p.Sees("Profiles")
	p.Types("+")
	p.Sees("coffer set-up", "step 1 of 4")
	p.Types(esc)
	p.Sees("press esc again")
	p.Types(esc)
	p.Sees("EMBEDDED", "other", "USDC")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Fatal(err)
	}
}
