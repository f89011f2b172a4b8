//go:build unix

package flows

import (
	"bytes"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"coffer/assets"
	"coffer/ui/e2e/rig"
)

// listener is somebody who hears the lines of `coffer --linear` over a pipe and answers them.
type listener struct {
	testing.TB
	in   io.WriteCloser
	cmd  *exec.Cmd
	mu   sync.Mutex
	said bytes.Buffer
	more chan struct{} // something was said
	from int           // where the answer to the last line begins
}

// Write takes what the program says.
func (l *listener) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said.Write(b)
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (l *listener) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.said.String()
}

func listen(t *testing.T, env []string) *listener {
	t.Helper()
	l := &listener{TB: t, more: make(chan struct{}, 1), cmd: exec.Command(rig.Program(), "--linear")}
	l.cmd.Env, l.cmd.Dir, l.cmd.Stdout, l.cmd.Stderr = append(env, "TERM=dumb"), t.TempDir(), l, l
	var err error
	if l.in, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if l.cmd.ProcessState == nil {
			_ = l.cmd.Process.Kill()
			_ = l.cmd.Wait()
		}
	})
	return l
}

// hears waits until text was said in answer to the last line, whatever the line breaks, and returns that answer on one
// line.
func (l *listener) hears(text string) string {
	l.Helper()
	over := time.After(rig.Limit)
	for {
		answer := strings.Join(strings.Fields(l.all()[l.from:]), " ")
		if strings.Contains(answer, text) {
			return answer
		}
		select {
		case <-l.more:
		case <-over:
			l.Fatalf("%q was not said:\n%s", text, l.all())
		}
	}
}

// answers types a line, and waits for a text.
func (l *listener) answers(line, text string) string {
	l.Helper()
	l.from = len(l.all())
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		l.Fatal(err)
	}
	return l.hears(text)
}

// confirms types a line as often as it is dropped for coming too early; each time takes the half second that a person
// needs.
func (l *listener) confirms(line, text string) string {
	l.Helper()
	pause := time.NewTimer(600 * time.Millisecond)
	<-pause.C
	return l.answers(line, text)
}

// TestLinearMainJob walks the main job over a pipe, line by line: a transfer call that two other chains pay for, from
// an empty home to its end. The truth is then read from the store with the EVM. What is said is plain lines.
func TestLinearMainJob(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	l := listen(t, env)
	l.hears("Type a number")
	l.answers("3", "Type a number from 1 to")
	chain := regexp.MustCompile(`(\d+)\. Base`).FindStringSubmatch(l.all())
	if chain == nil {
		t.Fatalf("no Base:\n%s", l.all())
	}
	l.answers(chain[1], "Which contract")
	l.answers("usdc", "Which function")
	l.answers("transfer(address to, uint256 amount)", "Argument 1, to")
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	l.answers(demo.AddressBook[0].Name, "how much USDC")
	l.answers("1530.5", "Needs: 1,530.5 USDC") // more than Base and any other chain hold together
	l.answers("1", "Type a number from 1 to 8")
	l.hears("review 2 gives the cost.")
	l.answers("1\nyes", "was dropped")
	l.hears("The operation contains:")
	l.confirms("yes", "Review 2 of 2")
	l.hears("Type a number from 1 to 8")
	ask := l.answers("1", "because it is worth")
	amount := regexp.MustCompile(`type the amount ([0-9.]+),`).FindStringSubmatch(ask)
	if amount == nil {
		t.Fatal(ask)
	}
	l.confirms(amount[1], "Accepted by the service.")
	l.hears("COMPLETED. Your call ran, and that is final.")
	l.answers("8", "completed")
	if err := l.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, l.all())
	}
	for line := range strings.SplitSeq(l.all(), "\n") {
		if strings.ContainsFunc(line, unicode.IsControl) || len(line) > 78 && strings.Contains(line, " ") {
			t.Errorf("no plain line: %q", line)
		}
	}
	checkStore(t, rig.DataOf(dir), "1530.5")
}

// TestLinearEndsWithItsInput: the end of the input in front of the confirmation leaves nothing signed and nothing under
// way.
func TestLinearEndsWithItsInput(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	l := listen(t, env)
	if _, err := io.WriteString(l.in, "4\n1\n1\n10\n1\n0x1111111111111111111111111111111111111111\n1\n1\nyes\n"); err !=
		nil {
		t.Fatal(err)
	}
	if err := l.in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Wait(); err != nil {
		t.Fatalf("%v:\n%s", err, l.all())
	}
	if said := l.all(); strings.Contains(said, "Signing") || !strings.HasSuffix(said, "Coffer ends.\n") {
		t.Errorf("%s", said)
	}
	again := listen(t, env)
	again.hears("Type a number")
	again.answers("7", "Nothing is under way")
}

// TestTerminalLinesFitANarrowTerminal: a braille display of 40 cells gets lines that break between words.
func TestTerminalLinesFitANarrowTerminal(t *testing.T) {
	_, env := rig.Home(t)
	term := rig.Start(t, env, 40, 40, "--linear")
	if err := term.WaitFor(rig.Limit, "Type a number from 1 to 11"); err != nil {
		t.Fatal(err)
	}
	if screen := term.Screen(); !strings.Contains(screen, "  10. Other things: settings, doctor,") ||
		strings.Contains(screen, "doctor, ke") {
		t.Error(screen)
	}
}
