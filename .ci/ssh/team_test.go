//go:build linux

package sshci

import (
	"bufio"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/ui/termtest"
)

// teamReach is the part of the line of `coffer serve --json` that is about SSH.
type teamReach struct {
	SSH struct {
		Address     string `json:"address"`
		HostKey     string `json:"hostKey"`
		Fingerprint string `json:"fingerprint"`
	} `json:"ssh"`
}

// teamServer is `coffer serve --ssh` in a process of its own.
type teamServer struct {
	testing.TB
	dir  string
	data string
	keys string
	at   teamReach
	cmd  *exec.Cmd
	log  string
}

// teamKey makes a key with ssh-keygen and admits it.
func (s *teamServer) teamKey(name string) (path string) {
	s.Helper()
	path = filepath.Join(s.dir, name)
	made := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path)
	if out, err := made.CombinedOutput(); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(path + ".pub")
	if err != nil {
		s.Fatal(err)
	}
	f, err := os.OpenFile(s.keys, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	_, err = f.Write(public)
	if err = errors.Join(err, f.Close()); err != nil {
		s.Fatal(err)
	}
	return path
}

// newTeam prepares a directory; start starts the server when its keys are there.
func newTeam(t testing.TB) *teamServer {
	t.Helper()
	dir := t.TempDir()
	return &teamServer{TB: t, dir: dir, data: filepath.Join(dir, "data"), keys: filepath.Join(dir, "authorized_keys"),
		log: filepath.Join(dir, "log")}
}

func (s *teamServer) start(more ...string) {
	s.Helper()
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", s.data, "--json", "--lifetime", "60s", "--ssh",
		"127.0.0.1:0", "--ssh-keys", s.keys}
	s.cmd = exec.Command(program, append(args, more...)...) //nolint:gosec // the program under test
	s.cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH")}
	log, err := os.Create(s.log)
	if err != nil {
		s.Fatal(err)
	}
	s.cmd.Stderr = log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
		_ = log.Close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil {
		err = json.Unmarshal([]byte(line), &s.at)
	}
	if err != nil {
		said, _ := os.ReadFile(s.log)
		s.Fatalf("%v\n%s", err, said)
	}
}

// known is a known-hosts file whose only host is the one with the printed fingerprint: ssh-keyscan asks for the key,
// ssh-keygen tells its fingerprint.
func (s *teamServer) known() string {
	s.Helper()
	path := filepath.Join(s.dir, "known_hosts")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	_, port, err := net.SplitHostPort(s.at.SSH.Address)
	if err != nil {
		s.Fatal(err)
	}
	found, err := exec.Command("ssh-keyscan", "-t", "ed25519", "-p", port, "127.0.0.1").Output()
	if err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, found, 0o600); err != nil {
		s.Fatal(err)
	}
	said, err := exec.Command("ssh-keygen", "-l", "-f", path).Output() //nolint:gosec // in a directory of the test
	if err != nil || !strings.Contains(string(said), s.at.SSH.Fingerprint) ||
		!strings.Contains(string(found), s.at.SSH.HostKey) {
		s.Fatalf("%v: %s is not the printed %s", err, said, s.at.SSH.Fingerprint)
	}
	return path
}

// client is the real ssh with a key, and nothing of the person who runs the test.
func (s *teamServer) client(key string, args ...string) *exec.Cmd {
	s.Helper()
	_, port, _ := net.SplitHostPort(s.at.SSH.Address)
	all := []string{
		"-F", "none", "-p", port, "-i", key, "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o",
		"StrictHostKeyChecking=yes",
		"-o", "UserKnownHostsFile=" + s.known(), "-o", "GlobalKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
	}
	cmd := exec.Command("ssh", append(all, args...)...) //nolint:gosec // the test's own arguments
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}
	return cmd
}

func (s *teamServer) opens(t testing.TB, key string, cols, rows int) person {
	t.Helper()
	term, err := termtest.Start(s.client(key, "127.0.0.1"), cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return person{t, term}
}

// teamReview2 walks to the second review of the trial call, read to its end.
func teamReview2(p person) (pay string) {
	p.Helper()
	p.sees("LAB", "USDC", "$")
	p.types("2")
	p.sees("trial call")
	p.types("d")
	p.finds(`needs +([0-9.,]+) USDC`) // it may wait for the balances
	p.sees("elsewhere")
	p.types("r")
	p.sees("Review 1 of 2", "No other calls", "y sign")
	p.reads(`closes in (\d+:\d\d)`)
	p.types("y")
	p.sees("Review 2 of 2", "Arrives")
	p.reads(`(?:expires|renews) in (\d+:\d\d)`)
	return p.finds(`type ([0-9.]+) and press enter`)
}

// TestTeamTwoGuestsDoTheMainJobOverSSH: with the real client, at two sizes at once, from nothing installed to
// COMPLETED.
func TestTeamTwoGuestsDoTheMainJobOverSSH(t *testing.T) {
	s := newTeam(t)
	keys := map[string]string{"alice": s.teamKey("alice"), "bob": s.teamKey("bob")}
	s.start()
	s.known()
	t.Run("guests", func(t *testing.T) {
		for name, size := range map[string][2]int{"alice": {80, 24}, "bob": {120, 40}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := s.opens(t, keys[name], size[0], size[1])
				p.sees(name)
				p.confirms(teamReview2(p))
				p.sees("COMPLETED")
				p.types("4")
				p.sees("completed", "1 record")
				p.leaves()
			})
		}
	})
	if err := errors.Join(s.cmd.Process.Signal(os.Interrupt), s.cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// TestTeamALostConnectionIsResumed: the client is killed while the operation is under way; the next visit finds the
// operation and its end.
func TestTeamALostConnectionIsResumed(t *testing.T) {
	s := newTeam(t)
	key := s.teamKey("alice")
	s.start("--fault", "slow-fill=2s")
	p := s.opens(t, key, 100, 30)
	p.confirms(teamReview2(p))
	p.sees("✓ accepted by the service")
	if err := p.term.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	again := s.opens(t, key, 80, 24)
	again.waits("the dashboard, or the question", func(screen string) bool {
		return strings.Contains(screen, "Balances") || strings.Contains(screen, "show it here")
	})
	if strings.Contains(again.term.Screen(), "show it here") {
		again.types("t")
	}
	again.sees("LAB", "USDC", "$")
	again.types("3")
	again.sees("COMPLETED")
	again.leaves()
}

// TestTeamAFrozenClientHoldsNobody: a client that is stopped takes no output and holds neither the others nor the end.
func TestTeamAFrozenClientHoldsNobody(t *testing.T) {
	s := newTeam(t)
	alice, bob := s.teamKey("alice"), s.teamKey("bob")
	s.start()
	p := s.opens(t, alice, 200, 50)
	p.sees("LAB", "USDC", "$")
	frozen := p.term.Process()
	if err := frozen.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = frozen.Signal(syscall.SIGCONT) })
	b := s.opens(t, bob, 80, 24)
	b.sees("LAB", "USDC", "$")
	b.types("4")
	b.sees("History")
	begun := time.Now()
	if err := errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait()); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("the end took %s", took)
	}
	if err := b.ends(); err == nil || !strings.Contains(b.term.Screen(), "the service is stopping") {
		t.Errorf("%v\n%s", err, b.term.Screen())
	}
}

// TestTeamNothingButADashboard: what the real client can ask for besides, and how it is answered.
func TestTeamNothingButADashboard(t *testing.T) {
	s := newTeam(t)
	key := s.teamKey("alice")
	stranger := filepath.Join(s.dir, "stranger")
	made := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", stranger)
	if out, err := made.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s.start()
	for name, x := range map[string]struct {
		cmd  *exec.Cmd
		code int
		says string
	}{
		"a command":   {s.client(key, "127.0.0.1", "cat", "/etc/passwd"), 2, "runs no commands"},
		"no terminal": {s.client(key, "-T", "127.0.0.1"), 2, "needs a terminal"},
		"a subsystem": {s.client(key, "-s", "127.0.0.1", "sftp"), 255, "subsystem request failed"},
		"another key": {s.client(stranger, "127.0.0.1"), 255, "Permission denied (publickey)"},
		"no key": {s.client(key, "-o", "PubkeyAuthentication=no", "127.0.0.1"), 255,
			"Permission denied (publickey)"},
		"a port": {s.client(key, "-o", "ExitOnForwardFailure=yes", "-N", "-R", "0:127.0.0.1:22", "127.0.0.1"),
			255, "remote port forwarding failed"},
		"through to it": {s.client(key, "-W", "127.0.0.1:22", "127.0.0.1"), 255, "forwarding failed"},
	} {
		out, err := x.cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != x.code || !strings.Contains(string(out), x.says) {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
	if said, err := os.ReadFile(s.log); err != nil || regexp.MustCompile(`dashboard opened`).Match(said) {
		t.Errorf("%v\n%s", err, said)
	}
}
