package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/charmbracelet/x/term"

	"coffer/api/secret"
)

// maxSecret bounds what AskSecret reads, in bytes.
const maxSecret = 1024

// ErrInterrupted says that the person ended the question with ctrl+c or ctrl+d.
var ErrInterrupted = errors.New("interrupted")

// AskSecret asks for a secret on a terminal. The terminal stops showing what is typed before the question appears, so that nothing typed early is
// shown either. Backspace and ctrl+u work; enter ends the answer. The terminal is restored whatever happens, also when ctx ends.
func AskSecret(ctx context.Context, terminal term.File, out io.Writer, question string) (secret.Secret, error) {
	before, err := term.MakeRaw(terminal.Fd())
	if err != nil {
		return secret.Secret{}, fmt.Errorf("ask on the terminal: %w", err)
	}
	defer func() {
		_ = term.Restore(terminal.Fd(), before)
		fmt.Fprintln(out)
	}()
	fmt.Fprint(out, question)
	type answer struct {
		s   secret.Secret
		err error
	}
	read := make(chan answer, 1)
	go func() {
		s, err := readSecret(terminal)
		read <- answer{s, err}
	}()
	select {
	case a := <-read:
		return a.s, a.err
	case <-ctx.Done():
		return secret.Secret{}, ctx.Err()
	}
}

// readSecret reads keys of a raw terminal up to enter.
func readSecret(in io.Reader) (secret.Secret, error) {
	line := make([]byte, 0, maxSecret) // never grows, so no copy stays behind
	var key [1]byte
	for {
		if _, err := io.ReadFull(in, key[:]); err != nil {
			clear(line[:cap(line)])
			return secret.Secret{}, fmt.Errorf("read from the terminal: %w", err)
		}
		switch key[0] {
		case '\r', '\n':
			return secret.New(line), nil
		case 3, 4: // ctrl+c, ctrl+d
			clear(line[:cap(line)])
			return secret.Secret{}, ErrInterrupted
		case 8, 127: // backspace
			line = line[:max(len(line)-1, 0)]
		case 21: // ctrl+u
			line = line[:0]
		default:
			if key[0] < ' ' {
				continue
			}
			if len(line) == maxSecret {
				clear(line[:cap(line)])
				return secret.Secret{}, fmt.Errorf("a secret has at most %d bytes", maxSecret)
			}
			line = append(line, key[0])
		}
	}
}
