package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/termtest"
	"coffer/ui/tui/accounts"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// playEnv makes the test program play a part: the program itself, or a shell that starts it as a job.
const playEnv = "COFFER_TEST_PLAY"

func TestMain(m *testing.M) {
	switch os.Getenv(playEnv) {
	case "program":
		os.Exit(playProgram())
	case "shell":
		os.Exit(playShell())
	}
	os.Exit(m.Run())
}

// playProgram runs the screens. Each suspension adds a letter to the file that the environment names.
func playProgram() int {
	c, err := catalog.Load()
	if err != nil {
		return 3
	}
	note := func() {
		f, err := os.OpenFile(os.Getenv("NOTE"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, _ = f.WriteString("l")
			_ = f.Close()
		}
	}
	err = Run(context.Background(), Options{
		Env: os.Environ(), Suspended: note,
		Context: screen.Context{Profile: "demo", Catalog: c,
			Network: network.Descriptor{Kind: network.Embedded, ID: "0x12"}},
		Screens: func(c screen.Context) map[screen.ID]screen.Screen {
			return map[screen.ID]screen.Screen{screen.Accounts: accounts.New(c, accounts.Deps{})}
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 4
	}
	return 0
}

// playShell acts like a shell with job control: it starts the program in the foreground, takes the terminal when it
// stops, and continues it after a line of input.
func playShell() int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playEnv+"=program")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		return 5
	}
	signal.Ignore(syscall.SIGTTOU) // only now: the program must not inherit it
	for {
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil &&
			!errors.Is(err, syscall.EINTR) {
			return 6
		}
		if !ws.Stopped() {
			return ws.ExitStatus()
		}
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, syscall.Getpgrp()); err != nil {
			return 7
		}
		fmt.Print("the shell has the terminal\r\n")
		if _, err := os.Stdin.Read(make([]byte, 80)); err != nil {
			return 8
		}
		if err := unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, cmd.Process.Pid); err != nil {
			return 9
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGCONT)
	}
}

const suspendLimit = 20 * time.Second

// played starts a part in its own terminal and returns the file of its notes.
func played(t *testing.T, part string) (*termtest.Terminal, string) {
	t.Helper()
	note := filepath.Join(t.TempDir(), "note")
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{playEnv + "=" + part, "NOTE=" + note, "TERM=xterm-256color", "LANG=C.UTF-8",
		"PATH=" + os.Getenv("PATH")}
	term, err := termtest.Start(cmd, 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	if err := term.WaitFor(suspendLimit, "6 Accounts", "EMBEDDED"); err != nil {
		t.Fatal(err)
	}
	return term, note
}

func notes(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

// eventually waits until a condition of the system holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(suspendLimit); time.Now().Before(end); <-tick.C {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func halted(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return strings.HasPrefix(rest, "T")
}

// ends quits the program and requires a clean exit.
func ends(t *testing.T, term *termtest.Terminal) {
	t.Helper()
	if err := term.Type("q"); err != nil {
		t.Fatal(err)
	}
	if err := term.WaitExit(suspendLimit); err != nil {
		t.Fatal(err)
	}
	if term.AltScreen() {
		t.Error("the terminal was not given back")
	}
}

// TH-K6: a signal from outside locks, gives the terminal back and stops the process; continued, it shows its screen
// again and reads keys.
func TestK6AStoppedProgramIsLockedAndShowsItsScreenAgain(t *testing.T) {
	t.Parallel()
	term, note := played(t, "program")
	for round := 1; round <= 2; round++ {
		before := len(notes(t, note))
		if err := term.Process().Signal(syscall.SIGTSTP); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the process stands still", func() bool { return halted(term.Process().Pid) })
		if len(notes(t, note)) == before {
			t.Error("stopped without telling whoever keeps the keys")
		}
		if err := term.WaitUntil("the terminal given back", suspendLimit,
			func(s string) bool { return !strings.Contains(s, "EMBEDDED") }); err != nil {
			t.Fatal(err)
		}
		if err := term.Process().Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if err := term.WaitUntil("the screen again", suspendLimit,
			func(s string) bool { return strings.Contains(s, "EMBEDDED") }); err != nil {
			t.Fatal(err)
		}
		if err := term.Type("?"); err != nil {
			t.Fatal(err)
		}
		if err := term.WaitFor(suspendLimit, "Keys on Accounts"); err != nil {
			t.Fatal(err)
		}
		if err := term.Type("\x1b"); err != nil {
			t.Fatal(err)
		}
		if err := term.WaitUntil("the help is closed", suspendLimit,
			func(s string) bool { return !strings.Contains(s, "Keys on") }); err != nil {
			t.Fatal(err)
		}
	}
	ends(t, term)
}

// TH-K6: ctrl+z gives the terminal to the shell above, and the shell gives it back.
func TestK6CtrlZHandsTheTerminalToTheShellAndBack(t *testing.T) {
	t.Parallel()
	term, note := played(t, "shell")
	for range 2 {
		if err := term.Type("\x1a"); err != nil {
			t.Fatal(err)
		}
		if err := term.WaitFor(suspendLimit, "the shell has the terminal"); err != nil {
			t.Fatal(err)
		}
		if notes(t, note) == "" || term.AltScreen() {
			t.Error("not locked, or the terminal was not given back")
		}
		if err := term.Type("fg\r"); err != nil {
			t.Fatal(err)
		}
		if err := term.WaitUntil("the screen again", suspendLimit,
			func(s string) bool { return strings.Contains(s, "EMBEDDED") }); err != nil {
			t.Fatal(err)
		}
	}
	ends(t, term)
}

// Where no shell could continue it, ctrl+z locks and the program keeps running: it does not freeze the only window.
func TestCtrlZWithoutAShellLocksAndGoesOn(t *testing.T) {
	t.Parallel()
	term, note := played(t, "program")
	if err := term.Type("\x1a"); err != nil {
		t.Fatal(err)
	}
	if err := term.WaitFor(suspendLimit, "no shell here could bring Coffer back", "6 Accounts"); err != nil {
		t.Fatal(err)
	}
	if notes(t, note) == "" {
		t.Error("not locked")
	}
	ends(t, term)
}

func TestWithoutATerminalOfItsOwnCtrlZDoesNothing(t *testing.T) {
	called := false
	o := options(t, sample(t))
	o.Suspended = func() { called = true }
	m := New(o)
	defer m.Close()
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if m.press(kit.Press("ctrl+z")) != nil || called {
		t.Error("a model that nobody runs as a program was suspended")
	}
}
