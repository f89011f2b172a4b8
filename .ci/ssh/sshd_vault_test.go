//go:build linux

package sshci

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// TH-Z2, K1, K7: over SSH a passphrase alone sets up and unlocks an encrypted file. The person types it and it never
// appears; a wrong one is an error of access.
func TestSSHZ2AnEncryptedFileIsSetUpAndUnlocked(t *testing.T) {
	t.Parallel()
	h := newHost(t, hostOptions{})
	if _, errs, code := h.runs("", "coffer", "profile", "add", "mine", "--kind", "embedded", "--vault",
		"file"); code != 0 {
		t.Fatalf("code %d: %s", code, errs)
	}
	h.setsUp("Passphrase of profile mine")
	list := h.opens(at{Cols: 160, Rows: 40}, "coffer", "keys", "list")
	if err := list.answers("Passphrase of profile mine", passphrase); err != nil ||
		!strings.Contains(strings.ToLower(list.term.Screen()), strings.ToLower(keyAddress)) {
		t.Errorf("%v\n%s", err, list.term.Screen())
	}
	wrong := h.opens(at{Cols: 160, Rows: 40}, "coffer", "keys", "list")
	if err := wrong.answers("Passphrase", "not this one", "Passphrase", "nor this", "Passphrase",
		"nor that one"); err == nil || err.Error() != "exit status 3" ||
		!strings.Contains(wrong.term.Screen(), "wrong passphrase") {
		t.Errorf("%v\n%s", err, wrong.term.Screen())
	}
	if out, errs, code := h.runs("", "coffer", "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer",
		keyAddress); code != 0 {
		t.Fatalf("code %d: %s%s", code, out, errs)
	}
	p := h.opens(at{Cols: 100, Rows: 30}, "coffer")
	p.sees("EMBEDDED", "mine", "USDC", "$")
	p.asks()
	p.sees("The keys are locked")
	p.waits("the dialog to take the passphrase", func(screen string) bool {
		p.types("\x15" + passphrase + "\r")
		return !strings.Contains(screen, "The keys are locked") || strings.Contains(screen, "opening the vault")
	})
	p.reviews()
	p.types("y")
	p.sees("Review 2 of 2", "Arrives")
	p.types("\x1b")
	p.waits("the end of the review", func(s string) bool { return !strings.Contains(s, "Arrives") })
	p.types("L")
	p.sees("locked")
	p.types("\x03")
	_ = p.ends()
	for _, one := range []person{list, wrong, p} {
		one.shows(false, passphrase, keyText)
	}
	h.keepsNo(passphrase, keyText)
}

// TH-Z2, K7: over SSH a profile with its keys in a keyring says what to do, in time, in every state of the message
// bus. It starts nothing, moves nothing and asks nothing.
func TestSSHZ2AKeyringIsNotAskedButTheWayOutIsTold(t *testing.T) {
	const advice = "This is an SSH session, which the keyring of the desktop does not serve: set the profile up with " +
		"the encrypted file"
	for name, c := range map[string]struct {
		bus  func(*testing.T) string // its address; nil: none is named
		says string
	}{
		"no bus": {nil, "there is no D-Bus session"},
		"a bus gone": {func(t *testing.T) string { return "unix:path=" + filepath.Join(t.TempDir(), "gone") },
			"has ended"},
		"no service":   {func(t *testing.T) string { return messageBus(t) }, "no program here keeps secrets"},
		"it is locked": {func(t *testing.T) string { return lockedService(t) }, "it is locked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := hostOptions{NoBus: true}
			if c.bus != nil {
				o.Env = []string{"DBUS_SESSION_BUS_ADDRESS=" + c.bus(t)}
			} else if _, err := os.Stat("/run/user/" + uid()); err == nil && exists("/run/user/"+uid()+"/bus") {
				t.Skip("this user has a message bus, which would be found")
			}
			h := newHost(t, o)
			if _, errs, code := h.runs("", "coffer", "profile", "add", "desk", "--kind", "embedded", "--vault",
				"keyring"); code != 0 {
				t.Fatalf("code %d: %s", code, errs)
			}
			for _, command := range [][]string{{"coffer", "keys", "probe"}, {"coffer", "keys", "init"},
				{"coffer", "keys", "list"}} {
				began := time.Now()
				p := h.opens(at{Cols: 400, Rows: 40}, command...)
				p.waits("an end, or a question for the passphrase of a new vault", func(s string) bool {
					return strings.Contains(s, "SSH session") || strings.Contains(s, "once more") ||
						strings.Contains(s, "New passphrase") || strings.Contains(s, "is needed")
				})
				if strings.Contains(p.term.Screen(), "New passphrase") {
					p.types(passphrase + "\r")
					p.sees("once more")
					p.types(passphrase + "\r")
				}
				if err := p.ends(); err == nil {
					t.Errorf("%v works", command)
				}
				said := strings.Join(strings.Fields(p.term.Screen()), " ")
				if !strings.Contains(said, c.says) || !strings.Contains(said, advice) {
					t.Errorf("%v says %q", command, said)
				}
				t.Logf("%v: %s", command, time.Since(began).Round(time.Millisecond))
			}
			h.keepsNo(passphrase)
		})
	}
}

// TH-Z2: a real keyring that is open in this session works over SSH as it does on a desktop; the same one locked is not
// asked.
func TestSSHZ2AnOpenKeyringOfTheSessionIsUsed(t *testing.T) {
	for name, password := range map[string]string{"open": "ci password", "locked": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := messageBus(t)
			gnomeKeyring(t, address, password)
			h := newHost(t, hostOptions{Env: []string{"DBUS_SESSION_BUS_ADDRESS=" + address}})
			if _, errs, code := h.runs("", "coffer", "profile", "add", "desk", "--kind", "embedded", "--vault",
				"keyring"); code != 0 {
				t.Fatalf("code %d: %s", code, errs)
			}
			out, errs, code := h.runs("", "coffer", "keys", "probe")
			if password == "" {
				if code == 0 || !strings.Contains(errs, "it is locked") ||
					!strings.Contains(errs, "This is an SSH session") {
					t.Errorf("code %d: %s%s", code, out, errs)
				}
				return
			}
			if code != 0 {
				t.Fatalf("code %d: %s%s", code, out, errs)
			}
			h.setsUp("Passphrase of profile desk")
			list := h.opens(at{Cols: 160, Rows: 40}, "coffer", "keys", "list")
			if err := list.answers("Passphrase of profile desk", passphrase); err != nil ||
				!strings.Contains(strings.ToLower(list.term.Screen()), strings.ToLower(keyAddress)) {
				t.Errorf("%v\n%s", err, list.term.Screen())
			}
		})
	}
}

// gnomeKeyring starts a keyring on a bus, with a home of its own; with a password it is made and opened, without one it
// has no collection that is open.
func gnomeKeyring(t *testing.T, address, password string) {
	t.Helper()
	home := t.TempDir()
	args := []string{"--components=secrets", "--foreground", "--control-directory=" + home}
	if password != "" {
		args = append(args, "--unlock")
	} else {
		args = append(args, "--start")
	}
	cmd := exec.Command("gnome-keyring-daemon", args...)
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "DBUS_SESSION_BUS_ADDRESS=" + address,
		"XDG_RUNTIME_DIR=" + home, "XDG_DATA_HOME=" + home}
	cmd.Stdin = strings.NewReader(password)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	conn, err := dbus.Connect(address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	(&host{TB: t}).comes("the keyring", func() bool {
		var owned bool
		err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.freedesktop.secrets").Store(&owned)
		return err == nil && owned
	})
}

func uid() string {
	out, _ := exec.Command("id", "-u").Output()
	return strings.TrimSpace(string(out))
}

func exists(path string) bool { _, err := os.Stat(path); return err == nil }

// messageBus starts a bus that starts nothing itself, and returns its address.
func messageBus(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bus") // the name of a socket is short
	must(t, err)
	address := "unix:path=" + filepath.Join(dir, "bus")
	config := filepath.Join(dir, "bus.conf")
	must(t, os.WriteFile(config, []byte("<busconfig><type>session</type><listen>"+address+
		"</listen><auth>EXTERNAL</auth><policy context=\"default\">"+
		"<allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow "+
		"own=\"*\"/></policy></busconfig>"), 0o600))
	cmd := exec.Command("dbus-daemon", "--config-file="+config, "--nofork", "--print-address=1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	})
	if _, err := out.Read(make([]byte, 256)); err != nil { // it prints the address once it listens
		t.Fatal(err)
	}
	return address
}

// secretService is a keyring of a desktop that is locked: unlocking it would put a question on the desktop. It notes
// what it is asked for.
type secretService struct {
	mu    sync.Mutex
	asked []string
}

func (s *secretService) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, what)
}

const prompt = dbus.ObjectPath("/org/freedesktop/secrets/prompt/1")

// Unlock answers with a question for the desktop.
func (s *secretService) Unlock(objects []dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.note("Unlock")
	return nil, prompt, nil
}

// OpenSession opens a plain session.
func (s *secretService) OpenSession(string, dbus.Variant) (dbus.Variant, dbus.ObjectPath, *dbus.Error) {
	return dbus.MakeVariant(""), "/org/freedesktop/secrets/session/1", nil
}

// Get answers for the properties of service and collection.
func (s *secretService) Get(kind, name string) (dbus.Variant, *dbus.Error) {
	s.note(name)
	if name == "Collections" {
		return dbus.MakeVariant([]dbus.ObjectPath{"/org/freedesktop/secrets/collection/login"}), nil
	}
	return dbus.MakeVariant(true), nil
}

// Prompt is the question itself.
func (s *secretService) Prompt(string) *dbus.Error {
	s.note("Prompt")
	return nil
}

// lockedService puts a locked keyring on a bus, and makes sure at the end that it was looked at and not asked to
// unlock.
func lockedService(t *testing.T) string {
	t.Helper()
	address := messageBus(t)
	conn, err := dbus.Connect(address)
	must(t, err)
	s := &secretService{}
	for path, kinds := range map[dbus.ObjectPath][]string{
		"/org/freedesktop/secrets": {"org.freedesktop.Secret.Service",
			"org.freedesktop.DBus.Properties"},
		"/org/freedesktop/secrets/collection/login": {"org.freedesktop.Secret.Collection",
			"org.freedesktop.DBus.Properties"},
		prompt: {"org.freedesktop.Secret.Prompt"},
	} {
		for _, kind := range kinds {
			must(t, conn.Export(s, path, kind))
		}
	}
	if _, err := conn.RequestName("org.freedesktop.secrets", dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		if asked := strings.Join(s.asked, " "); !strings.Contains(asked, "Locked") ||
			strings.Contains(asked, "Unlock") || strings.Contains(asked, "Prompt") {
			t.Errorf("the keyring was asked for %s", asked)
		}
	})
	return address
}
