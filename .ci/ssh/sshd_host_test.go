//go:build linux

// Package sshci logs in to the program over SSH: the real sshd with the program behind it (files sshd_*), and `coffer
// serve --ssh` (files team_*), both on loopback and with the real ssh client in a pseudo-terminal. What is waited for
// is what the terminal shows. Run it with .ci/ssh/run.
//
// Sources: TH-Z2, R2, K1, K6, K7; docs/ssh.md.
package sshci

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coffer/ui/termtest"
)

// limit bounds each wait; a quiet machine needs a small part of it.
const limit = 90 * time.Second

// program is the built program: the one that COFFER_BIN names, or one built for the tests.
var program string

func TestMain(m *testing.M) {
	// Under nohup a hang-up is ignored, and whatever starts here would inherit that; a signal that is caught is handed
	// on as it is by default.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(func() int {
		if program = os.Getenv("COFFER_BIN"); program == "" {
			dir, err := os.MkdirTemp("", "coffer-ssh")
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer func() { _ = os.RemoveAll(dir) }()
			program = filepath.Join(dir, "coffer")
			build := exec.Command("go", "build", "-o", program, "../..")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}

// guards are programs that ask a person on a desktop, start something that does, or reach for the clipboard of the
// host. None of them may ever be started.
func guards() []string {
	return []string{
		"dbus-launch", "dbus-daemon", "dbus-run-session", "gnome-keyring-daemon", "secret-tool", "kwalletd6",
		"ksecretd", "pinentry", "pinentry-curses", "pinentry-gtk-2",
		"pinentry-gnome3", "pinentry-qt", "gpg-agent", "ssh-askpass", "zenity", "kdialog", "xmessage", "xdg-open",
		"xclip", "xsel", "wl-copy", "wl-paste", "pbcopy",
	}
}

// host is a computer to log in to: a real sshd on loopback, with a home directory and programs of its own. Whoever logs
// in finds `coffer` in the path, behind programs that note that they were started.
type host struct {
	testing.TB
	root string // of everything below
	home string
	path string // of the program, which no other process has
	addr string
	link *link

	mu  sync.Mutex
	log []string // what sshd says
}

// hostOptions: Env is set in every session, Config are further lines for sshd.
type hostOptions struct {
	Env    []string
	Config []string
	NoBus  bool // no address of a message bus in the environment
}

// newHost starts sshd. When the test ends there must be no process of the program, no guard may have been started, and
// nobody may have come to the message bus.
func newHost(t testing.TB, o hostOptions) *host {
	t.Helper()
	h := &host{TB: t, root: t.TempDir()}
	h.home, h.path = filepath.Join(h.root, "home"), filepath.Join(h.root, "program", "coffer")
	for _, d := range []string{h.home, filepath.Dir(h.path), h.under("bin"), h.under("guards"), h.under("client")} {
		must(t, os.MkdirAll(d, 0o700))
	}
	must(t, os.Symlink(program, h.path))
	// so that it is found among the processes
	must(t, os.WriteFile(h.under("bin", "coffer"), []byte("#!/bin/sh\nexec '"+h.path+"' \"$@\"\n"), 0o700))
	for _, name := range guards() {
		must(t, os.WriteFile(h.under("guards", name),
			[]byte("#!/bin/sh\necho \"$0 $*\" >>'"+h.under("called")+"'\nexit 1\n"), 0o700))
	}
	env := []string{
		"HOME=" + h.home, "XDG_CONFIG_HOME=" + h.home + "/config", "XDG_DATA_HOME=" + h.home + "/data",
		"XDG_STATE_HOME=" + h.home + "/state",
		"PATH=" + h.under("guards") + ":" + h.under("bin") + ":/usr/local/bin:/usr/bin:/bin", "DISPLAY=localhost:10.0",
	}
	if !o.NoBus && !slices.ContainsFunc(o.Env, func(s string) bool { return strings.HasPrefix(s, "DBUS_") }) {
		env = append(env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+h.bus())
	}
	h.keys()
	h.serve(append(env, o.Env...), o.Config)
	h.link = newLink(t, h.addr)
	t.Cleanup(h.leftAlone)
	t.Cleanup(h.nothingRuns)
	return h
}

func (h *host) under(parts ...string) string {
	return filepath.Join(append([]string{h.root}, parts...)...)
}

// bus listens where the message bus of a desktop would be, and notes who comes.
func (h *host) bus() string {
	h.Helper()
	dir, err := os.MkdirTemp("", "bus") // the name of a socket is short
	must(h, err)
	l, err := net.Listen("unix", filepath.Join(dir, "bus"))
	must(h, err)
	h.Cleanup(func() { _ = errors.Join(l.Close(), os.RemoveAll(dir)) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = os.WriteFile(h.under("called"), []byte("somebody asked the message bus\n"), 0o600)
			_ = c.Close()
		}
	}()
	return filepath.Join(dir, "bus")
}

// keys makes the keys of the host and of the person.
func (h *host) keys() {
	h.Helper()
	for _, name := range []string{"host_key", "client/id"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f",
			h.under(name)).CombinedOutput(); err != nil {
			h.Fatalf("ssh-keygen: %v\n%s", err, out)
		}
	}
	public, err := os.ReadFile(h.under("host_key.pub"))
	must(h, err)
	must(h, os.WriteFile(h.under("client", "known_hosts"), append([]byte("coffer-host "), public...), 0o600))
}

// serve starts sshd on a free port. Another process may take the port before it does; then another one is tried.
func (h *host) serve(env, config []string) {
	h.Helper()
	for range 20 {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		must(h, err)
		h.addr = free.Addr().String()
		must(h, free.Close())
		if h.listens(env, config) {
			return
		}
	}
	h.Fatalf("sshd does not start:\n%s", h.said())
}

func (h *host) listens(env, config []string) bool {
	h.Helper()
	_, port, _ := net.SplitHostPort(h.addr)
	quoted := make([]string, len(env))
	for i, e := range env {
		quoted[i] = strconv.Quote(e)
	}
	lines := append([]string{
		"ListenAddress 127.0.0.1", "Port " + port, "HostKey " + h.under("host_key"), "PidFile " + h.under("sshd.pid"),
		"AuthorizedKeysFile " + h.under("client", "id.pub"),
		"UsePAM no", "StrictModes no", "PasswordAuthentication no", "KbdInteractiveAuthentication no",
		"PermitRootLogin prohibit-password", "PrintMotd no", "PrintLastLog no",
		"AcceptEnv LANG LC_* NO_COLOR", "SetEnv " + strings.Join(quoted, " "), // what Debian accepts, and NO_COLOR
	}, config...)
	must(h, os.WriteFile(h.under("sshd_config"), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	cmd := exec.Command(sshd(h), "-D", "-e", "-f", h.under("sshd_config"))
	out, err := cmd.StderrPipe()
	must(h, err)
	must(h, cmd.Start())
	heard := make(chan bool, 1)
	go func() {
		lines, told := bufio.NewScanner(out), false
		for lines.Scan() {
			h.mu.Lock()
			h.log = append(h.log, lines.Text())
			h.mu.Unlock()
			if !told && strings.Contains(lines.Text(), "Server listening on") {
				told = true
				heard <- true
			}
		}
		if !told {
			heard <- false
		}
	}()
	if !<-heard {
		_ = cmd.Wait()
		return false
	}
	h.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return true
}

// sshd finds the server, which only starts by its whole path, and makes the directory that it wants to be there.
func sshd(t testing.TB) string {
	t.Helper()
	if os.Getuid() == 0 {
		must(t, os.MkdirAll("/run/sshd", 0o755))
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin"} {
		if _, err := os.Stat(filepath.Join(dir, "sshd")); err == nil {
			return filepath.Join(dir, "sshd")
		}
	}
	t.Fatal("there is no sshd: install openssh-server")
	return ""
}

func (h *host) said() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.log, "\n")
}

// client is the command of a person elsewhere: the real ssh with a configuration that has this host only. args go
// before the host's name, command behind it.
func (h *host) client(term string, args []string, command ...string) *exec.Cmd {
	h.Helper()
	me, err := user.Current()
	must(h, err)
	name, port, _ := net.SplitHostPort(h.link.addr)
	config := []string{
		"Host host", "HostName " + name, "Port " + port, "User " + me.Username, "HostKeyAlias coffer-host",
		"IdentityFile " + h.under("client", "id"), "IdentitiesOnly yes", "IdentityAgent none",
		"UserKnownHostsFile " + h.under("client", "known_hosts"), "GlobalKnownHostsFile none",
		"StrictHostKeyChecking yes", "BatchMode yes", "LogLevel ERROR", "SendEnv LANG LC_* NO_COLOR",
	}
	must(h, os.WriteFile(h.under("client", "config"), []byte(strings.Join(config, "\n")+"\n"), 0o600))
	cmd := exec.CommandContext(context.Background(), "ssh",
		slices.Concat([]string{"-F", h.under("client", "config")}, args, []string{"host"}, command)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.under("client"), "TERM=" + term}
	return cmd
}

// at is what a person has in front of them.
type at struct {
	Term       string   // "": xterm-256color
	Env        []string // of the terminal on this side, such as LANG
	Cols, Rows int      // 0: 80 × 24
}

// opens logs in from a terminal and runs a command, or the shell when there is none.
func (h *host) opens(a at, command ...string) person {
	h.Helper()
	if a.Term == "" {
		a.Term = "xterm-256color"
	}
	if a.Cols == 0 {
		a.Cols, a.Rows = 80, 24
	}
	cmd := h.client(a.Term, []string{"-t"}, command...)
	cmd.Env = append(cmd.Env, a.Env...)
	term, err := termtest.Start(cmd, a.Cols, a.Rows)
	must(h, err)
	h.Cleanup(term.Close)
	return person{h, term}
}

// runs carries out a command without a terminal and returns its exit code. input "" is an empty one.
func (h *host) runs(input string, command ...string) (out, errs string, code int) {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := h.client("xterm-256color", nil, command...)
	var o, e strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &o, &e
	must(h, cmd.Start())
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if ctx.Err() != nil || err != nil && !errors.As(err, &exit) {
		h.Fatalf("%v: %v\n%s\n%s", command, err, o.String(), e.String())
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// running lists the processes of the program on this host.
func (h *host) running() (pids []int) {
	h.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	must(h, err)
	for _, name := range all {
		line, err := os.ReadFile(name)
		if err != nil || len(line) == 0 {
			continue
		}
		if args := strings.Split(string(line), "\x00"); args[0] == h.path {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			must(h, err)
			pids = append(pids, pid)
		}
	}
	return pids
}

// comes waits until something is so. What is waited for happens in other processes, which tell nobody.
func (h *host) comes(what string, so func() bool) {
	h.Helper()
	tick, over := time.NewTicker(10*time.Millisecond), time.After(limit)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-over:
			h.Fatalf("it never came: %s", what)
		}
	}
}

// nothingRuns waits until no process of the program is left.
func (h *host) nothingRuns() {
	h.Helper()
	if !h.Failed() {
		h.comes("the end of every process of the program", func() bool { return len(h.running()) == 0 })
	}
}

// leftAlone makes sure that nobody was asked on a desktop.
func (h *host) leftAlone() {
	h.Helper()
	if called, err := os.ReadFile(h.under("called")); !errors.Is(err, os.ErrNotExist) {
		h.Errorf("over SSH nothing may ask on a desktop: %s, %v", called, err)
	}
	if h.Failed() {
		h.Logf("sshd: %s", h.said())
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
