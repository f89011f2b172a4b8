//go:build unix

package termtest

import (
	"errors"
	"os/exec"
	"testing"
	"time"
)

const limit = 10 * time.Second

func TestTerminalShowsWhatAPersonWouldSee(t *testing.T) {
	term, err := Start(exec.Command("sh", "-c", `printf 'one\rtwo'; read line; printf 'got %s' "$line"; exit 3`), 40, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.WaitFor(limit, "two"); err != nil {
		t.Fatal(err)
	}
	if err := term.Type("hello\r"); err != nil {
		t.Fatal(err)
	}
	if err := term.WaitFor(limit, "got hello"); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := term.WaitExit(limit); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("got %v", err)
	}
}

// A program that has not heard of a resize yet still scrolls the rows that it had.
func TestTerminalIgnoresMarginsBelowItsLastRow(t *testing.T) {
	term, err := Start(exec.Command("printf", `\033[1;9r\033[2TAfter`), 40, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.WaitFor(limit, "After"); err != nil {
		t.Fatal(err)
	}
}

func TestTerminalSaysWhatIsMissing(t *testing.T) {
	term, err := Start(exec.Command("sh", "-c", "printf shown; read line"), 40, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.WaitFor(limit, "shown"); err != nil {
		t.Fatal(err)
	}
	if err := term.WaitFor(time.Millisecond, "never"); !errors.Is(err, ErrTimeout) {
		t.Fatalf("got %v", err)
	}
}

func TestCellsTellHowTheyAreWritten(t *testing.T) {
	term, err := Start(exec.Command("printf", `\033[1;31mA\033[0;2;7;4mB\033[0m日C`), 20, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.WaitFor(limit, "C"); err != nil {
		t.Fatal(err)
	}
	line := term.Cells()[0]
	if a := line[0]; a.Text != "A" || !a.Bold || a.Fg == nil || a.Faint {
		t.Errorf("%+v", a)
	}
	if b := line[1]; b.Text != "B" || !b.Faint || !b.Reverse || !b.Line || b.Bold || b.Fg != nil {
		t.Errorf("%+v", b)
	}
	if line[2].Text != "日" || line[4].Text != "C" || line[4].Faint {
		t.Errorf("%+v", line[2:5])
	}
}

// What a program writes later does not move the moment of its first byte.
func TestTerminalKeepsTheMomentOfEachByte(t *testing.T) {
	term, err := Start(exec.Command("sh", "-c", "printf one; read line; printf two"), 40, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer term.Close()
	if err := term.WaitFor(limit, "one"); err != nil {
		t.Fatal(err)
	}
	before, one := term.Written()
	if at := term.Passed(before); !at.IsZero() {
		t.Fatalf("a byte that is not there came at %s", at)
	}
	if err := term.Type("\r"); err != nil {
		t.Fatal(err)
	}
	if err := term.WaitFor(limit, "two"); err != nil {
		t.Fatal(err)
	}
	if first, after := term.Passed(0), term.Passed(before); first.After(one) || !after.After(one) {
		t.Fatalf("the first byte came at %s, the one behind %d bytes at %s; the last of one at %s", first, before,
			after, one)
	}
}
