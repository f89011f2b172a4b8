package vault

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestZ2OverSSHNoMessageBusIsStarted: the keyring library would run dbus-launch.
func TestZ2OverSSHNoMessageBusIsStarted(t *testing.T) {
	dir := t.TempDir()
	called := filepath.Join(dir, "called")
	if err := os.WriteFile(filepath.Join(dir, "dbus-launch"), []byte("#!/bin/sh\necho >'"+called+"'\nexit 1\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	ring := SystemKeyring(true)
	_, err := ring.Get("coffer:test", "nobody")
	err = errors.Join(err, ring.Set("coffer:test", "nobody", nil), ring.Delete("coffer:test", "nobody"))
	if err == nil {
		t.Error("it works without a bus")
	}
	if _, err := os.Stat(called); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("dbus-launch was started: %v", err)
	}
}

// TestZ2TheStateOfABusIsToldOverSSH: a bus that has ended, and one that hangs up.
func TestZ2TheStateOfABusIsToldOverSSH(t *testing.T) {
	dir, err := os.MkdirTemp("", "bus") // the name of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	address := filepath.Join(dir, "bus")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+address)
	if err := openKeyring("s", "u"); Classify(err, "linux") != StateStaleBus {
		t.Errorf("a bus that is gone: %v", err)
	}
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	if err := openKeyring("s", "u"); Classify(err, "linux") != StateStaleBus {
		t.Errorf("a bus that hangs up: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "nonsense")
	if err := openKeyring("s", "u"); Classify(err, "linux") != StateNoBus ||
		!strings.Contains(err.Error(), "invalid bus address") {
		t.Errorf("no address: %v", err)
	}
}
