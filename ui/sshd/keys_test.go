package sshd

import (
	"bytes"
	"crypto/dsa" //nolint:staticcheck // a key that must be refused
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

func publicLine(t *testing.T, public any) string {
	t.Helper()
	key, err := gossh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return plainLine(key)
}

// A line with options admits no key: ignoring from= or expiry-time= would let in more than its author meant. The error
// names the line's number.
func TestALineWithOptionsAdmitsNobodyAndEveryBadLineIsNumbered(t *testing.T) {
	good := newSigner(t)
	key := plainLine(good.PublicKey())
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	short := &rsa.PublicKey{N: new(big.Int).SetBit(new(big.Int).SetInt64(1), 1023, 1), E: 65537}
	old := &dsa.PublicKey{Parameters: dsa.Parameters{P: new(big.Int).Lsh(big.NewInt(1), 1023), Q: big.NewInt(7),
		G: big.NewInt(2)}, Y: big.NewInt(3)}
	cert := &gossh.Certificate{Key: good.PublicKey(), CertType: gossh.UserCert, ValidBefore: gossh.CertTimeInfinity}
	if err := cert.SignCert(rand.Reader, newSigner(t)); err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"# people", "", key + " alice@laptop", `command="ls" ` + key, "cert-authority " + key, "restrict " + key,
		"ssh-ed25519 AAAA", "nonsense",
		publicLine(t, short), publicLine(t, old), plainLine(cert), publicLine(t, &p256.PublicKey),
		publicLine(t, &strong.PublicKey) + " \x1b[31mred",
	}
	got, err := parseKeys(strings.NewReader(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.names) != 3 || got.names[string(good.PublicKey().Marshal())] != "alice@laptop" {
		t.Errorf("%d keys: %q", len(got.names), got.names)
	}
	for _, name := range got.names {
		if strings.Contains(name, "\x1b") {
			t.Errorf("the name %q was not cleaned", name)
		}
	}
	var numbers []int
	for _, b := range got.bad {
		numbers = append(numbers, b.line)
		if b.why == "" {
			t.Errorf("line %d: no reason", b.line)
		}
	}
	if len(numbers) != 8 || numbers[0] != 4 || numbers[7] != 11 {
		t.Errorf("refused lines %v", got.bad)
	}
}

func TestWithoutKeysThatCanBeReliedOnNothingIsServed(t *testing.T) {
	good := line(newSigner(t), "alice")
	for name, x := range map[string]struct {
		prepare func(dir, file string) error
		says    string
	}{
		"missing": {func(_, file string) error { return os.Remove(file) }, "there is no file"},
		"empty": {func(_, file string) error {
			return os.WriteFile(file, []byte("# nobody yet\n"),
				0o600)
		}, "no key in"},
		"only bad lines": {func(_, file string) error {
			return os.WriteFile(file, []byte("\nno-pty "+good),
				0o600)
		}, "line 2: it has options"},
		"others may write": {func(_, file string) error { return os.Chmod(file, 0o622) },
			"may be written to by others"},
		"others may replace": {func(dir, _ string) error { return os.Chmod(dir, 0o777) }, "chmod go-w"},
		"a directory": {func(_, file string) error { _ = os.Remove(file); return os.Mkdir(file, 0o700) },
			"is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "ssh")
			file := writeKeys(t, dir, good)
			if err := x.prepare(dir, file); err != nil {
				t.Fatal(err)
			}
			s, err := Start(t.Context(), Options{Listen: "127.0.0.1:0", Dir: dir, Show: echo})
			if err == nil {
				t.Fatalf("it listens on %s", s.Addr)
			}
			if !strings.Contains(err.Error(), x.says) {
				t.Errorf("%v", err)
			}
			if _, err := os.Stat(filepath.Join(dir, HostKeyFile)); err == nil {
				t.Error("a host key was made all the same")
			}
		})
	}
}

func TestTheHostKeyIsPrivateAndStays(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	dir := filepath.Join(t.TempDir(), "ssh")
	key, err := OpenHostKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, HostKeyFile)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if again, err := OpenHostKey(dir); err != nil || !bytes.Equal(again, key) {
		t.Errorf("another key at the next start: %v", err)
	}
	if all, _ := os.ReadDir(dir); len(all) != 1 {
		t.Errorf("left behind: %v", all)
	}
	if all, _ := os.ReadDir(here); len(all) != 0 {
		t.Errorf("written into the working directory: %v", all)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHostKey(dir); err == nil || !strings.Contains(err.Error(), "may be read by others") {
		t.Errorf("a key that others can read: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", path); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenHostKey(dir); err == nil {
		t.Error("a link was taken for a key")
	}
}

// The signer is derived from the host key's secret, the network and the guest, and depends on all of them.
func TestAGuestsSecretIsItsOwnAndComesAgain(t *testing.T) {
	host := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{2}, 32))
	seen := map[string]bool{}
	for _, h := range []ed25519.PrivateKey{host, other} {
		for _, network := range []string{"one", "two"} {
			for _, guest := range []string{"alice", "bob"} {
				for try := range byte(2) {
					a, errA := GuestSecret(h, network, []byte(guest), try)
					b, errB := GuestSecret(h, network, []byte(guest), try)
					if errA != nil || errB != nil || !bytes.Equal(a, b) || len(a) != 32 {
						t.Fatal(errA, errB, len(a))
					}
					seen[hex.EncodeToString(a)] = true
				}
			}
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d different secrets of 16", len(seen))
	}
	// by RFC 5869 in another language; guests lose their accounts when it changes
	const want = "05f5933c1e596626a1a21471acdce01efe8b9858d65d7b581a5ce8fc4171e410"
	if got, _ := GuestSecret(host, "one", []byte("alice"), 0); hex.EncodeToString(got) != want {
		t.Errorf("the derivation changed: %x", got)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ5kVQ1a1Yl9bD0h0R1mY0l7b3f1bGZ5x1cQ7c3d4e5f alice\n"))
	f.Add([]byte("command=\"a \\\" b\" ssh-rsa AAAA\n#\n\n\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseKeys(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		for key, name := range got.names {
			k, err := gossh.ParsePublicKey([]byte(key))
			if err != nil || unfit(k) != "" {
				t.Fatalf("admitted: %x: %v", key, err)
			}
			if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Fatalf("a name with control characters: %q", name)
			}
		}
	})
}
