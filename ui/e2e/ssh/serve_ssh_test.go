//go:build unix

package ssh

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	gossh "golang.org/x/crypto/ssh"

	"coffer/ui/cli"
	"coffer/ui/e2e/rig"
	"coffer/ui/sshd"
	"coffer/ui/termtest"
)

// sshKey is a guest's key.
func sshKey(t *testing.T) gossh.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gossh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sshKeys writes an authorized-keys file.
func sshKeys(t *testing.T, names []string, keys ...gossh.Signer) string {
	t.Helper()
	var content []byte
	for i, k := range keys {
		content = append(content, bytes.TrimSpace(gossh.MarshalAuthorizedKey(k.PublicKey()))...)
		content = append(content, " "+names[i]+"\n"...)
	}
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// overSSH reads the part of a served line that is about SSH.
func overSSH(t *testing.T, line string) cli.SSHReach {
	t.Helper()
	var at struct {
		SSH cli.SSHReach `json:"ssh"`
	}
	if err := json.Unmarshal([]byte(line), &at); err != nil || at.SSH.Address == "" {
		t.Fatalf("%v in %s", err, line)
	}
	return at.SSH
}

// connects opens a dashboard with a key; the host is the one of the served line or nobody. lost cuts the connection.
func connects(t *testing.T, at cli.SSHReach, key gossh.Signer, cols, rows int) (p rig.Person, lost func()) {
	t.Helper()
	host, _, _, _, err := gossh.ParseAuthorizedKey([]byte(at.HostKey))
	if err != nil || gossh.FingerprintSHA256(host) != at.Fingerprint {
		t.Fatal(err, at)
	}
	c, err := gossh.Dial("tcp", at.Address, &gossh.ClientConfig{
		User: "anybody", Auth: []gossh.AuthMethod{gossh.PublicKeys(key)}, HostKeyCallback: gossh.FixedHostKey(host),
		HostKeyAlgorithms: []string{gossh.KeyAlgoED25519}, Timeout: rig.Limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	in, errIn := s.StdinPipe()
	out, errOut := s.StdoutPipe()
	if err := errors.Join(errIn, errOut, s.RequestPty("xterm-256color", rows, cols, nil), s.Shell()); err != nil {
		t.Fatal(err)
	}
	term := termtest.Attach(termtest.Far{
		In: in, Out: out, Wait: s.Wait, Resize: func(cols, rows int) error { return s.WindowChange(rows, cols) },
		End: func(bool) { _ = c.Close() },
	}, cols, rows)
	t.Cleanup(term.Close)
	return rig.At(t, term), func() { _ = c.Close() }
}

// address opens the accounts and reads the guest's own one.
func address(p rig.Person) string {
	p.Helper()
	p.Types("6")
	return strings.ReplaceAll(p.Finds(`(0x(?: ?[0-9a-fA-F]{4}){10})`), " ", "")
}

// TestSSHTwoGuestsDoTheMainJobAtOnce: each has an account, a history and a journal of its own, finds them again at the
// next visit, and nothing that could sign for it is on disk.
func TestSSHTwoGuestsDoTheMainJobAtOnce(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	keys := []gossh.Signer{sshKey(t), sshKey(t)}
	names := []string{"alice@laptop", "bob@desk"}
	cmd, _, line, logs := rig.Serve(t, env, "--ssh", "127.0.0.1:0", "--ssh-keys", sshKeys(t, names, keys...),
		"--lifetime", "60s")
	at := overSSH(t, line)
	here, _ := rig.Where(t, line)
	data := filepath.Dir(here.NetworkFile)
	addresses := make([]string, 2)
	t.Run("at once", func(t *testing.T) {
		for i, size := range [][2]int{{80, 24}, {120, 40}} {
			t.Run(names[i], func(t *testing.T) {
				t.Parallel()
				p, _ := connects(t, at, keys[i], size[0], size[1])
				p.Sees(names[i])
				needs, pay := p.WalksToReview2("LAB")
				p.Confirms(pay)
				p.Sees("COMPLETED")
				p.Types("4")
				p.Sees(strings.TrimRight(strings.TrimRight(needs, "0"), ".")+" USDC", "completed", "1 record")
				addresses[i] = address(p)
				p.Quits()
				again, _ := connects(t, at, keys[i], size[1]*3, size[1])
				again.Sees("LAB", "USDC", "$")
				if a := address(again); a != addresses[i] {
					t.Errorf("%s at the first visit, %s at the second", addresses[i], a)
				}
				again.Types("4")
				again.Sees("completed", "1 record")
				again.Quits()
			})
		}
	})
	if addresses[0] == addresses[1] || addresses[0] == "" {
		t.Errorf("the accounts are %q", addresses)
	}
	rig.Interrupt(t, cmd)
	host, err := sshd.OpenHostKey(filepath.Join(data, "ssh"))
	if err != nil {
		t.Fatal(err)
	}
	var secrets [][]byte
	for _, k := range keys {
		b, err := sshd.GuestSecret(host, networkID(t, here.NetworkFile), k.PublicKey().Marshal(), 0)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, b, []byte(hex.EncodeToString(b)))
	}
	guests, err := os.ReadDir(filepath.Join(data, "ssh", sshd.GuestsDir))
	if err != nil || len(guests) != 2 {
		t.Errorf("%d guests, %v", len(guests), err)
	}
	err = filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		info, errInfo := e.Info()
		if err = errors.Join(err, errInfo); err != nil {
			return err
		}
		if strings.Contains(path, "/ssh/") && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		if e.IsDir() {
			return nil
		}
		b, err := os.ReadFile(path)
		for _, s := range secrets {
			if bytes.Contains(b, s) {
				t.Errorf("%s holds a guest's key", path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if s := logs.String(); !strings.Contains(s, "dashboard opened") ||
		!strings.Contains(s, gossh.FingerprintSHA256(keys[0].PublicKey())) {
		t.Errorf("the log is\n%s", s)
	}
}

// TestSSHDashboardsAreCounted: with --metrics, those that are open and those that were opened.
func TestSSHDashboardsAreCounted(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	key := sshKey(t)
	cmd, _, line, _ := rig.Serve(t, env, "--metrics", "127.0.0.1:0", "--ssh", "127.0.0.1:0", "--ssh-keys",
		sshKeys(t, []string{"alice@laptop"}, key))
	at := overSSH(t, line)
	for visits, want := range []string{"coffer_ssh_sessions 0\n", "coffer_ssh_sessions 1\n",
		"coffer_ssh_sessions 1\n"} {
		var p rig.Person
		if visits > 0 {
			p, _ = connects(t, at, key, 80, 24)
			p.Sees("LAB", "USDC", "$")
		}
		text := rig.Scrape(t, line)
		for _, want := range []string{want, fmt.Sprintf("coffer_ssh_sessions_total %d\n", visits)} {
			if !strings.Contains(text, "\n"+want) {
				t.Errorf("visit %d: %q is missing in\n%s", visits, want, text)
			}
		}
		if visits > 0 {
			p.Quits()
		}
	}
	rig.Interrupt(t, cmd)
}

func networkID(t *testing.T, file string) string {
	t.Helper()
	var n struct {
		ID string `json:"id"`
	}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &n)
	}
	if err != nil || n.ID == "" {
		t.Fatal(err, n)
	}
	return n.ID
}

// TestSSHCutDuringExecuteAndResumed cuts the connection right after the second confirmation. At the next visit the
// operation is under Activity and ends, and it ran once at most.
func TestSSHCutDuringExecuteAndResumed(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	for name, moment := range map[string]func(p rig.Person){
		"the key was just pressed": func(rig.Person) {},
		"the review has gone": func(p rig.Person) {
			p.Waits("another screen", func(s string) bool { return !strings.Contains(s, "Arrives") })
		},
		"it is under way": func(p rig.Person) { p.Sees("✓ accepted by the service") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			alice := sshKey(t)
			_, _, line, _ := rig.Serve(t, env, "--ssh", "127.0.0.1:0", "--ssh-keys",
				sshKeys(t, []string{"alice"}, alice), "--lifetime", "60s", "--fault", "slow-fill=2s")
			at := overSSH(t, line)
			p, lost := connects(t, at, alice, 120, 40)
			_, pay := p.WalksToReview2("LAB")
			p.Confirms(pay)
			moment(p)
			lost()
			again, _ := connects(t, at, alice, 80, 24)
			again.Waits("the dashboard, or the question whether to take it over", func(s string) bool {
				return strings.Contains(s, "Balances") || strings.Contains(s, "show it here")
			})
			if strings.Contains(again.Term.Screen(), "show it here") {
				again.Types("t")
			}
			again.Sees("LAB", "USDC", "$")
			again.Types("3")
			outcome := again.Outcome()
			if name == "it is under way" && outcome != "COMPLETED" {
				t.Errorf("it was accepted, and is %s", outcome)
			}
			again.Types("4")
			again.Sees("›4 History")
			if outcome == "COMPLETED" {
				again.Sees("completed", "1 record")
				return
			}
			// It was not accepted, so nothing ran.
			if err := again.Term.Still(300*time.Millisecond, rig.Limit); err != nil {
				t.Fatal(err)
			}
			if s := again.Term.Screen(); outcome == "REFUNDED" || strings.Contains(s, "completed") {
				t.Errorf("%s, and\n%s", outcome, s)
			}
		})
	}
}

// TestSSHAGuestReachesNothingOfTheServer: no file of the server is written or read for a guest, no other profile is
// opened, nothing is suspended; the screens say so.
func TestSSHAGuestReachesNothingOfTheServer(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	alice := sshKey(t)
	secretFile := filepath.Join(t.TempDir(), "batch.json")
	if err := os.WriteFile(secretFile, []byte(`{"chainId":"eip155:8453"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, line, _ := rig.Serve(t, env, "--ssh", "127.0.0.1:0", "--ssh-keys", sshKeys(t, []string{"alice"}, alice))
	p, _ := connects(t, overSSH(t, line), alice, 100, 30)
	p.Sees("LAB", "USDC", "$")
	const words = "runs on a server: no files"
	for _, press := range []string{"x", "4x", "2e", "Wx"} {
		p.Types("1")
		p.Sees("Balances by asset")
		p.Types(press)
		p.Sees(words)
		p.Escapes()
		p.Escapes()
	}
	p.Types("2")
	p.Sees("trial call")
	p.Types("o")
	p.Waits("the list or the question", func(s string) bool {
		return strings.Contains(s, "paste the document") ||
			strings.Contains(s, "file")
	})
	if !strings.Contains(p.Term.Screen(), "paste the document") {
		p.Types("\x1b[A\r")
	}
	p.Sees("paste the document")
	p.Types(secretFile + "\r")
	p.Sees("paste it: this dashboard")
	p.Escapes()
	p.Escapes()
	p.Types("1,")
	p.Sees("Settings")
	if s := p.Term.Screen(); strings.Contains(s, dir) || strings.Contains(s, "config.toml") {
		t.Errorf("the settings show the server's files\n%s", s)
	}
	p.Types("d")
	p.Sees("not yours")
	p.Escapes()
	p.Types("6p")
	p.Sees("for this profile alone")
	p.Types("y") // a copy goes to the guest's own terminal
	p.Sees("sent to the terminal's clipboard")
	if !bytes.Contains(p.Term.Raw(), []byte("\x1b]52;c;")) {
		t.Error("nothing was sent to the clipboard of the guest's terminal")
	}
	p.Types("\x1a") // ctrl+z
	p.Types("1")
	p.Sees("Balances by asset")
	p.Quits()
	if all, err := os.ReadDir(dir); err != nil || len(all) != 0 {
		t.Errorf("the operator's home has %v, %v", all, err)
	}
}

// TestSSHTheTerminalIsFollowed: a guest's window changes its size.
func TestSSHTheTerminalIsFollowed(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	alice := sshKey(t)
	_, _, line, _ := rig.Serve(t, env, "--ssh", "127.0.0.1:0", "--ssh-keys", sshKeys(t, []string{"alice"}, alice))
	p, _ := connects(t, overSSH(t, line), alice, 80, 24)
	p.Sees("LAB", "USDC", "$")
	for _, size := range [][2]int{{120, 40}, {60, 20}, {40, 12}, {100, 30}} {
		if err := p.Term.Resize(size[0], size[1]); err != nil {
			t.Fatal(err)
		}
		if size[0] < 60 {
			p.Sees("too small")
			continue
		}
		p.Waits("a rule over the whole width", func(s string) bool {
			return strings.Contains(s, strings.Repeat("─", size[0])) && strings.Contains(s, "Balances by asset")
		})
	}
	p.Quits()
}

// TestSSHARemoteProfileIsShownReadOnly: its accounts and quotes, with its API key; nothing can be signed, and the
// review says so before anybody tries.
func TestSSHARemoteProfileIsShownReadOnly(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	alice := sshKey(t)
	cmd := exec.Command(rig.Program(), "serve", "--data", t.TempDir(), "--ssh", "127.0.0.1:0", "--ssh-keys",
		sshKeys(t, []string{"alice"}, alice), "--profile", "team", "--json", "--passphrase-fd", "3")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	logs := new(bytes.Buffer)
	cmd.Env, cmd.ExtraFiles, cmd.Stderr = env, []*os.File{read}, logs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_, _ = fmt.Fprintln(write, rig.Passphrase)
	_, _ = write.Close(), read.Close()
	first := make([]byte, 4096)
	n, err := out.Read(first)
	if err != nil {
		t.Fatalf("%v\n%s", err, logs)
	}
	at := overSSH(t, string(first[:n]))
	if at.Profile != "team" {
		t.Errorf("%+v", at)
	}
	p, _ := connects(t, at, alice, 100, 30)
	p.Sees("LAB", "team, read only", "$")
	p.FillsIn()
	p.Types("r")
	p.Sees("Review 1 of 2", "Read only", "no key to sign with is loaded", "nothing can be signed here")
	p.Rests(600 * time.Millisecond)
	p.Types("y")
	p.Waits("why nothing is signed", func(s string) bool {
		return regexp.MustCompile(`(?m)^ ?! no key to sign with is loaded here`).MatchString(s)
	})
	if !strings.Contains(p.Term.Screen(), "Review 1 of 2") {
		t.Errorf("it went on\n%s", p.Term.Screen())
	}
	p.Escapes()
	p.Types("5")
	p.Sees("›5 Lab")
	for _, r := range b.Saw("/api/v3/quote/call-quote") {
		t.Errorf("something signed was sent: %s", r.Path)
	}
	p.Types("1")
	p.Sees("Balances by asset")
	p.Quits()
	if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
		t.Errorf("%v\n%s", err, logs)
	}
}

// TestSSHSaysWhyItDoesNotStart: without keys, open to others without a word, and with flags that contradict each other.
func TestSSHSaysWhyItDoesNotStart(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	keys := sshKeys(t, []string{"alice"}, sshKey(t))
	for _, x := range []struct {
		args string
		code int
		says string
	}{
		{"--ssh 127.0.0.1:0", cli.ExitFailed, "there is no file"},
		{"--ssh 0.0.0.0:0 --ssh-keys " + keys, cli.ExitUsage, "--ssh-open"},
		{"--ssh 127.0.0.1 --ssh-keys " + keys, cli.ExitUsage, "--ssh takes an address and a port"},
		{"--ssh-idle 5m", cli.ExitUsage, "--ssh-idle is about --ssh"},
		{"--ssh 127.0.0.1:0 --ssh-sessions 0", cli.ExitUsage, "--ssh-sessions takes"},
		{"--ssh 127.0.0.1:0 --ssh-idle 0", cli.ExitUsage, "--ssh-idle takes"},
		{"--profile demo", cli.ExitUsage, "a service has no profile"},
		{"--ssh 127.0.0.1:0 --profile demo --fault no-route", cli.ExitUsage,
			"--fault is about a service of this process"},
		{"--ssh 127.0.0.1:0 --profile demo --ssh-keys " + keys, cli.ExitUsage, "belong to one person"},
	} {
		args := append([]string{"serve", "--data", t.TempDir()}, strings.Fields(x.args)...)
		if !strings.Contains(x.args, "--profile") {
			args = append(args, "--listen", "127.0.0.1:0")
		}
		out, errs, code := rig.Run(t, env, args...)
		if code != x.code || !strings.Contains(errs, x.says) || out != "" {
			t.Errorf("%s: code %d, %q, %q", x.args, code, out, errs)
		}
	}
}

// TestSSHKeystrokesAreNotTraced: the variables by which the terminal library logs what is typed have no effect,
// wherever they come from.
func TestSSHKeystrokesAreNotTraced(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	alice := sshKey(t)
	trace := filepath.Join(t.TempDir(), "trace")
	_, _, line, logs := rig.Serve(t, append(env, "TEA_TRACE="+trace, "TEA_DEBUG=1"), "--ssh", "127.0.0.1:0",
		"--ssh-keys", sshKeys(t, []string{"alice"}, alice))
	p, _ := connects(t, overSSH(t, line), alice, 80, 24)
	p.Sees("LAB", "USDC", "$")
	p.Types("/usdt")
	p.Waits("the filter", func(s string) bool { return strings.Contains(s, "usdt") })
	p.Escapes()
	p.Escapes()
	p.Quits()
	if _, err := os.Stat(trace); err == nil {
		t.Error("what is typed is logged")
	}
	if regexp.MustCompile(`usdt`).MatchString(logs.String()) {
		t.Errorf("what was typed is in the log\n%s", logs)
	}
}
