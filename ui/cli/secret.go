package cli

import (
	"context"
	"errors"
	"io"

	"github.com/charmbracelet/x/term"

	"coffer/api/secret"
)

// Bounds of an answer, in bytes.
const (
	maxSecret     = 1024     // a passphrase or a key of one line
	maxSecretText = 8 * 1024 // a text of several lines, such as a keystore file
)

// ErrInterrupted means that the user ended the question with ctrl+c or ctrl+d.
var ErrInterrupted = errors.New("interrupted")

// AskSecret asks for a secret of one line on a terminal, at most 1024 bytes. The terminal stops showing input before
// the question appears, and earlier input is discarded. Backspace and ctrl+u work; enter ends the answer. A paste is
// taken whole, and what follows the answer at once is discarded: none of it reaches another program. The terminal is
// restored in every case, also when ctx ends; a suspended program restores it, and starts the answer anew when it
// continues.
func AskSecret(ctx context.Context, terminal term.File, out io.Writer, question string) (secret.Secret, error) {
	return askSecret(ctx, terminal, out, question, maxSecret, false)
}

// askSecret asks in the session of ctx, or in a new one. lines allows an answer of several lines, which only a paste
// can hold.
func askSecret(ctx context.Context, terminal term.File, out io.Writer, question string, limit int,
	lines bool) (secret.Secret, error) {
	if err := ctx.Err(); err != nil {
		return secret.Secret{}, err
	}
	s := sessionOf(ctx, terminal)
	if s == nil {
		var err error
		if s, err = openSession(terminal, out, modeOwn); err != nil {
			return secret.Secret{}, err
		}
		defer s.end()
	}
	if err := s.begin(modeRaw, question); err != nil {
		return secret.Secret{}, err
	}
	defer s.finish(ctx)
	return readSecret(ctx, s, limit, lines)
}
