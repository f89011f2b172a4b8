//go:build linux

package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coffer/ui/termtest"
)

// playEnv makes the test program play a part: the program that asks, or a shell that runs it.
const playEnv = "COFFER_TEST_PLAY"

const limit = 10 * time.Second

func TestMain(m *testing.M) {
	switch os.Getenv(playEnv) {
	case "asks":
		os.Exit(playAsks())
	case "shell":
		os.Exit(playShell())
	case "again":
		os.Exit(playAgain())
	}
	os.Exit(m.Run())
}

// playAsks asks as a command does: a secret, a pause that ends with a signal, a secret, and a visible line.
func playAsks() int {
	p := Prompt{In: os.Stdin, Out: os.Stderr, Terminal: true}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, end := p.Hold(ctx)
	defer end()
	OnSuspend(ctx, func() { p.Say("vault locked") })
	goOn := make(chan os.Signal, 1)
	signal.Notify(goOn, syscall.SIGUSR1, syscall.SIGUSR2)
	for _, question := range []string{"First: ", "Second: "} {
		s, err := p.SecretText(ctx, question)
		if err != nil {
			p.Say("failed: " + err.Error())
			return 3
		}
		p.Say(fmt.Sprintf("%s%d bytes", question, len(s.Reveal())))
		if question == "First: " {
			p.Say("working")
			if <-goOn == syscall.SIGUSR2 { // a line was typed and is about to arrive
				for ready := false; !ready; {
					ready, _ = readable(0, limit)
				}
			}
		}
	}
	line, err := p.Line(ctx, "Line:")
	if err != nil {
		return 3
	}
	p.Say("<" + line + ">")
	return 0
}

// playAgain asks for a passphrase twice, in a session and then without one.
func playAgain() int {
	p := Prompt{In: os.Stdin, Out: os.Stderr, Terminal: true}
	held, end := p.Hold(context.Background())
	for _, ctx := range []context.Context{held, context.Background()} {
		if _, err := p.Secret(ctx, PassphraseQuestion("mine")); err != nil {
			return 3
		}
		if _, err := p.Secret(ctx, "Wrong passphrase, try 2 of 3.\n"+PassphraseQuestion("mine")); err != nil {
			return 3
		}
		if ctx == held {
			end()
		}
	}
	return 0
}

// playShell starts the program in the foreground, continues it after a line of input when it stops, and takes the
// remaining input of the terminal for a command.
func playShell() int {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playEnv+"=asks")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Foreground: true, Ctty: 0}
	if err := cmd.Start(); err != nil {
		return 5
	}
	signal.Ignore(syscall.SIGTTOU) // only now: the program must not inherit it
	in := bufio.NewReader(os.Stdin)
	fmt.Println("pid", cmd.Process.Pid)
	for {
		var ws syscall.WaitStatus
		if _, err := syscall.Wait4(cmd.Process.Pid, &ws, syscall.WUNTRACED, nil); err != nil &&
			!errors.Is(err, syscall.EINTR) {
			return 6
		}
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, unix.Getpgrp())
		state, err := unix.IoctlGetTermios(0, unix.TCGETS)
		if err != nil {
			return 7
		}
		fmt.Printf("shell: stopped %v, echo %v, code %d\n", ws.Stopped(), state.Lflag&unix.ECHO != 0 &&
			state.Lflag&unix.ICANON != 0, ws.ExitStatus())
		line, err := in.ReadString('\n')
		if err != nil {
			return 8
		}
		fmt.Printf("shell runs %q\n", strings.TrimSpace(line))
		if !ws.Stopped() {
			return 0
		}
		_ = unix.IoctlSetPointerInt(0, unix.TIOCSPGRP, cmd.Process.Pid)
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGCONT)
	}
}

// player is a user in front of the played shell.
type player struct {
	*testing.T
	*termtest.Terminal
}

func play(t *testing.T) player {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playEnv+"=shell", "TERM=xterm-256color")
	term, err := termtest.Start(cmd, 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return player{t, term}
}

func (p player) sees(texts ...string) {
	p.Helper()
	if err := p.WaitFor(limit, texts...); err != nil {
		p.Fatal(err)
	}
}

func (p player) types(keys string) {
	p.Helper()
	if err := p.Type(keys); err != nil {
		p.Fatal(err)
	}
}

// pid is the program under the shell.
func (p player) pid() int {
	p.Helper()
	var pid int
	p.sees("pid ")
	if _, err := fmt.Sscanf(p.Screen()[strings.Index(p.Screen(), "pid "):], "pid %d", &pid); err != nil {
		p.Fatal(err)
	}
	return pid
}

func (p player) signal(sig syscall.Signal) {
	p.Helper()
	if err := syscall.Kill(p.pid(), sig); err != nil {
		p.Fatal(err)
	}
}

// closes ends the shell, which takes one line, and checks that it is the only one.
func (p player) closes(code int) {
	p.Helper()
	p.sees(fmt.Sprintf("stopped false, echo true, code %d", code))
	p.types("mine\r")
	p.sees(`shell runs "mine"`)
	if err := p.WaitExit(limit); err != nil {
		p.Error(err)
	}
	if strings.Contains(string(p.Raw()), "leak") {
		p.Errorf("shown:\n%s", p.Screen())
	}
}

// A paste of several lines is the answer as a whole, or its rest is discarded; neither the next question nor the shell
// gets any of it.
func TestSecretPasteOfSeveralLinesGoesNowhereElse(t *testing.T) {
	p := play(t)
	p.sees("First:")
	if err := p.Paste("{\r\"leak\"\r}\r"); err != nil {
		t.Fatal(err)
	}
	p.types("\r")
	p.sees("First: 10 bytes", "working")
	p.signal(syscall.SIGUSR1)
	p.sees("Second:")
	p.types("word\rleak one\rleak two\rleak")
	p.sees("Second: 4 bytes", "Line:")
	p.types("shown\r")
	p.sees("<shown>")
	p.closes(0)
	raw := string(p.Raw())
	if strings.Count(raw, markPastes) != 2 || strings.Count(raw, plainPastes) != 2 {
		t.Errorf("pastes are marked %d times and unmarked %d times", strings.Count(raw, markPastes),
			strings.Count(raw, plainPastes))
	}
}

// Input between two questions is neither shown nor an answer.
func TestSecretTypedEarlyIsNotShown(t *testing.T) {
	p := play(t)
	p.sees("First:")
	p.types("key\r")
	p.sees("working")
	p.types("leaky\rleak")
	p.signal(syscall.SIGUSR2)
	p.sees("Second:")
	p.types("four\r")
	p.sees("Second: 4 bytes", "Line:")
	p.types("\r")
	p.closes(0)
}

// TH-K6: a suspended command locks the vault and gives the terminal back; when it continues, it shows no input.
func TestSecretQuestionIsSuspendedAndGoesOn(t *testing.T) {
	p := play(t)
	p.sees("First:")
	p.types("leak")
	p.signal(syscall.SIGTSTP)
	p.sees("vault locked", "stopped true, echo true")
	p.types("fg\r")
	if err := p.WaitUntil("the question again", limit,
		func(s string) bool { return strings.Count(s, "First:") == 2 }); err != nil {
		t.Fatal(err)
	}
	p.types("leak7\r")
	p.sees("First: 5 bytes", "working")
	p.types("\x1a") // ctrl+z, between two questions
	if err := p.WaitUntil("the second stop", limit,
		func(s string) bool { return strings.Count(s, "stopped true, echo true") == 2 }); err != nil {
		t.Fatal(err)
	}
	p.types("fg2\r")
	p.sees(`shell runs "fg2"`)
	p.signal(syscall.SIGUSR1)
	p.sees("Second:")
	p.types("leak\r")
	p.sees("Second: 4 bytes", "Line:")
	p.types("\r")
	p.closes(0)
}

// An end from outside restores the terminal and discards the input so far.
func TestSecretQuestionThatIsEndedRestoresTheTerminal(t *testing.T) {
	p := play(t)
	p.sees("First:")
	p.types("leak")
	p.signal(syscall.SIGTERM)
	p.sees("failed: ", "context canceled")
	p.closes(3)

	q := play(t)
	q.sees("First:")
	q.types("\x03")
	q.sees("failed: interrupted")
	q.closes(3)
}

// The fault of an answer is on its own line above the repeated question, and only on the terminal.
func TestWhatWasWrongStandsAboveTheQuestion(t *testing.T) {
	var out strings.Builder
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stdout = append(os.Environ(), playEnv+"=again", "TERM=xterm-256color"), &out
	term, err := termtest.Start(cmd, 100, 30)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	p := player{t, term}
	for n := 1; n <= 4; n++ {
		if err := p.WaitUntil("the question", limit,
			func(s string) bool { return strings.Count(s, "Passphrase of profile mine (not shown):") == n }); err !=
			nil {
			t.Fatal(err)
		}
		p.types("leak\r")
	}
	if err := p.WaitExit(limit); err != nil {
		t.Error(err)
	}
	const once = "Passphrase of profile mine (not shown):\nWrong passphrase, try 2 of 3.\nPassphrase of profile mine " +
		"(not shown):\n"
	var lines []string
	for line := range strings.SplitSeq(p.Screen(), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	if got := strings.Join(lines, "\n"); !strings.HasPrefix(got, once+once) ||
		strings.Contains(string(p.Raw()), "leak") || out.Len() > 0 {
		t.Errorf("on the terminal:\n%s\non standard output: %q", got, out.String())
	}
}
