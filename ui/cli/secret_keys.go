package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"coffer/api/secret"
)

// errAgain means that the program was suspended meanwhile: the answer starts anew.
var errAgain = errors.New("suspended meanwhile")

// errLines means that a paste of several lines answered a question for one.
var errLines = errors.New("this takes one line, and several were pasted; nothing was taken")

// keySource gives the keys of a raw terminal. No bytes and no error mean that no key came for a moment.
type keySource interface {
	next(ctx context.Context, buf []byte) (int, error)
}

// readSecret reads keys up to enter. It wipes everything that it does not return.
func readSecret(ctx context.Context, in keySource, limit int, lines bool) (secret.Secret, error) {
	a := answer{line: make([]byte, 0, limit)} // never grows, so no copy stays behind
	var buf [256]byte
	defer clear(buf[:])
	for {
		n, err := in.next(ctx, buf[:])
		switch {
		case errors.Is(err, errAgain):
			a.wipe()
			continue
		case err != nil:
			a.wipe()
			return secret.Secret{}, fmt.Errorf("read from the terminal: %w", err)
		case n == 0:
			// no key came for a moment: an escape that nothing follows is the key of that name
			a.state = inText
			continue
		}
		for _, key := range buf[:n] {
			done, err := a.take(key)
			if err != nil {
				a.wipe()
				return secret.Secret{}, err
			}
			if done {
				return a.result(lines)
			}
		}
		clear(buf[:n])
	}
}

// The position of an answer in a sequence of keys.
type keyState int

const (
	inText   keyState = iota
	inEscape          // after escape
	inCSI             // after escape and [
	inSS3             // after escape and O
)

// pasteEnd ends a bracketed paste.
const pasteEnd = "\x1b[201~"

// answer is the input so far. line keeps its backing array.
type answer struct {
	line  []byte
	state keyState
	seq   [8]byte // parameters of a control sequence, as far as they fit
	seqN  int
	paste bool
	endN  int // bytes of pasteEnd seen
}

// wipe forgets everything.
func (a *answer) wipe() {
	clear(a.line[:cap(a.line)])
	*a = answer{line: a.line[:0]}
}

// result ends the answer. Line ends after a paste are no part of it.
func (a *answer) result(lines bool) (secret.Secret, error) {
	for n := len(a.line); n > 0 && (a.line[n-1] == '\r' || a.line[n-1] == '\n'); n-- {
		a.line = a.line[:n-1]
	}
	if !lines && bytes.ContainsAny(a.line, "\r\n") {
		a.wipe()
		return secret.Secret{}, errLines
	}
	return secret.New(a.line), nil
}

// take adds a key and reports whether it ended the answer.
func (a *answer) take(key byte) (done bool, err error) {
	if a.paste {
		return false, a.pasted(key)
	}
	switch a.state {
	case inEscape:
		switch key {
		case '[':
			a.state, a.seqN = inCSI, 0
			return false, nil
		case 'O':
			a.state = inSS3
			return false, nil
		}
	case inSS3:
		if key >= ' ' {
			a.state = inText
			return false, nil
		}
	case inCSI:
		if key >= ' ' {
			a.sequence(key)
			return false, nil
		}
	}
	a.state = inText
	return a.typed(key)
}

// sequence adds a byte of a control sequence. Only the beginning of a paste means something here.
func (a *answer) sequence(key byte) {
	if key < '@' {
		if a.seqN < len(a.seq) {
			a.seq[a.seqN] = key
		}
		a.seqN++
		return
	}
	a.state = inText
	if key == '~' && a.seqN == 3 && string(a.seq[:3]) == "200" {
		a.paste, a.endN = true, 0
	}
}

func (a *answer) typed(key byte) (done bool, err error) {
	switch key {
	case '\r', '\n':
		return true, nil
	case 3, 4: // ctrl+c, ctrl+d
		return false, ErrInterrupted
	case 8, 127: // backspace
		_, size := utf8.DecodeLastRune(a.line)
		a.cut(len(a.line) - size)
	case 21: // ctrl+u
		a.cut(0)
	case 27:
		a.state = inEscape
	default:
		if key >= ' ' {
			return false, a.add(key)
		}
	}
	return false, nil
}

// pasted adds a byte of a paste: line ends and tabs stay, other control bytes are dropped. ctrl+c ends the question
// here as well, so that a paste without an end cannot trap the user.
func (a *answer) pasted(key byte) error {
	if key == pasteEnd[a.endN] {
		if a.endN++; a.endN == len(pasteEnd) {
			a.paste, a.endN = false, 0
		}
		return nil
	}
	if n := a.endN; n > 0 { // it was not the end: what looked like it is text, except the escape
		a.endN = 0
		for _, c := range []byte(pasteEnd[1:n]) {
			if err := a.add(c); err != nil {
				return err
			}
		}
	}
	switch {
	case key == 3:
		return ErrInterrupted
	case key == pasteEnd[0]:
		a.endN = 1
		return nil
	case key >= ' ' && key != 127, key == '\n', key == '\r', key == '\t':
		return a.add(key)
	}
	return nil
}

func (a *answer) add(key byte) error {
	if len(a.line) == cap(a.line) {
		return fmt.Errorf("a secret has at most %d bytes here", cap(a.line))
	}
	a.line = append(a.line, key)
	return nil
}

// cut shortens the line to n bytes and wipes the others.
func (a *answer) cut(n int) {
	clear(a.line[n:])
	a.line = a.line[:n]
}
