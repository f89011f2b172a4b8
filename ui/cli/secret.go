package cli

import (
	"context"
	"errors"

	"coffer/api/secret"
)

// Bounds of an answer, in bytes.
const (
	maxSecret     = 1024     // a passphrase or a key of one line
	maxSecretText = 8 * 1024 // a text of several lines, such as a keystore file
)

// ErrInterrupted means that the user ended the question with ctrl+c or ctrl+d.
var ErrInterrupted = errors.New("interrupted")

// secret answers a question with the passphrase of the command, if it is the one for it, or asks for a secret on the
// terminal, in the session of ctx or in a new one. lines allows an answer of several lines, which only a paste can
// hold.
//
// The terminal stops showing input before the question appears, and earlier input is discarded. Backspace and ctrl+u
// work; enter ends the answer. A paste is taken whole, and what follows the answer at once is discarded: none of it
// reaches another program. The terminal is restored in every case, also when ctx ends; a suspended program restores it,
// and starts the answer anew when it continues.
func (p Prompt) secret(ctx context.Context, question string, limit int, lines bool) (secret.Secret, error) {
	if pass, mine, err := given(ctx, question); mine {
		return pass, err
	}
	if !p.Terminal {
		return secret.Secret{}, Unasked(question)
	}
	said, question := above(question)
	p.Say(said...)
	if err := ctx.Err(); err != nil {
		return secret.Secret{}, err
	}
	s := sessionOf(ctx, p.In)
	if s == nil {
		var err error
		if s, err = openSession(p.In, p.Out, modeOwn); err != nil {
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
