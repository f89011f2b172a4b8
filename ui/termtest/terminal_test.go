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
