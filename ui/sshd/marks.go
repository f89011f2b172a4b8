package sshd

import (
	"bytes"
	"unicode/utf8"
)

// marks follows what a terminal sends: where pastes begin and end, and what the screen library does not read well. How
// the library reads depends on pauses that are not visible here, so marks assumes the worse case.
type marks struct {
	pasting bool
	plain   bool // only text came since the last mark, so the library sees the next one
	pasted  int  // bytes of the paste so far
	// something came that the library may keep: an escape sequence that is no mark, or bytes that are no text
	odd   bool
	begun []byte // the end of the input so far, which may be the beginning of a mark or of a character
	sequence
}

// The marks around a paste.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// look follows what is delivered next.
func (m *marks) look(b []byte) {
	text := append(m.begun, b...)
	for {
		at := nextMark(text)
		if at < 0 {
			break
		}
		m.between(text[:at])
		m.mark(string(text[at : at+len(pasteEnd)]))
		text = text[at+len(pasteEnd):]
	}
	whole := len(text) - unfinished(text)
	m.between(text[:whole])
	m.begun = bytes.Clone(text[whole:])
}

// nextMark is the position of the first mark, -1 without one.
func nextMark(b []byte) int {
	start, end := bytes.Index(b, []byte(pasteStart)), bytes.Index(b, []byte(pasteEnd))
	if start < 0 || end >= 0 && end < start {
		return end
	}
	return start
}

// mark handles a mark. The library may have missed the end of a paste with more than text in it, so the count of that
// paste continues.
func (m *marks) mark(is string) {
	switch {
	case is == pasteStart && !m.pasting:
		m.pasting, m.pasted = true, 0
	case is == pasteEnd && m.plain:
		m.pasting, m.pasted = false, 0
	}
	m.plain, m.state, m.open = true, outside, 0
}

// gap notes that nothing came for a while: the library may have taken unfinished input for finished.
func (m *marks) gap() {
	switch {
	case len(m.begun) == 0:
	case m.begun[0] != '\x1b':
		m.odd, m.near = true, utf8.UTFMax
	case m.pasting:
		m.between(m.begun)
		m.begun = nil
	}
}

// refused returns why this input must not be delivered; nil when it may be.
func (m *marks) refused() error {
	switch {
	case m.pasted > maxPaste:
		return errFlood
	case m.unsafe:
		return errUnsafe
	}
	return nil
}

// between inspects what is between marks.
func (m *marks) between(b []byte) {
	if m.pasting {
		m.pasted += len(b)
	}
	text := utf8.Valid(b)
	if !text || bytes.IndexByte(b, '\x1b') >= 0 {
		m.odd, m.plain = true, false
	}
	for _, c := range b {
		m.step(c, text)
	}
}

// unfinished is how many bytes at the end of b may be the beginning of a mark or of a character.
func unfinished(b []byte) int {
	if at := bytes.LastIndexByte(b, '\x1b'); at >= 0 {
		tail := b[at:]
		if bytes.HasPrefix([]byte(pasteStart), tail) || bytes.HasPrefix([]byte(pasteEnd), tail) {
			return len(tail)
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if tail := b[len(b)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			break
		}
	}
	return 0
}

// maxParameters is how many parameters of a control sequence the library has room for. The next one makes it panic on
// its own goroutine, which ends the whole process.
const maxParameters = 32

// sequence looks for control sequences on which the library panics. It sees one wherever the library may see one.
type sequence struct {
	state      byte
	separators int
	open       byte // what opened a string, such as an OSC, that may not have ended; 0 without one
	near       int  // how many more bytes the library may read as halves of characters
	unsafe     bool
}

// The position of the last byte in a sequence.
const (
	outside byte = iota
	escape
	parameters
	eightBit // directly after the 8-bit form of ESC [
)

// The 8-bit forms of ESC [ and ESC P.
const (
	csi8 = 0x9b
	dcs8 = 0x90
)

// step takes the next byte; text is false for a byte that is no text.
func (s *sequence) step(c byte, text bool) {
	halves := !text || s.open != 0 || s.near > 0
	s.near = max(0, s.near-1)
	s.strings(c, halves)
	switch {
	case c == '\x1b':
		s.state = escape
	case c == csi8:
		s.state, s.separators = eightBit, 0
	case c == dcs8, s.state == escape && (c == '[' || c == 'P'):
		s.state, s.separators = parameters, 0
	case s.state == escape && c >= ' ' && c <= '/':
	case s.state == eightBit && c == 'M' && halves: // an old mouse event, of which the library takes one byte too many
		s.unsafe = true
	case s.state >= parameters && c == 'M': // the same in seven bits: the next three bytes belong to it in any case
		s.state, s.near = outside, 3+utf8.UTFMax
	case s.state >= parameters && c >= '0' && c <= '?':
		s.state = parameters
		if c == ';' || c == ':' {
			s.separators++
		}
		s.unsafe = s.unsafe || s.separators >= maxParameters
	default:
		s.state = outside
	}
}

// strings follows the strings that the library reads byte by byte.
func (s *sequence) strings(c byte, halves bool) {
	switch {
	case s.state == escape && bytes.IndexByte([]byte("]P_^X"), c) >= 0:
		s.open = c
	case halves && bytes.IndexByte([]byte("\x90\x98\x9d\x9e\x9f"), c) >= 0:
		s.open = c
	case c == '\x1b' || c == 0x18 || c == 0x1a, c == 0x07 && s.open == ']':
		s.open = 0
	case c == 0x9c && s.open != 0:
		s.near = utf8.UTFMax
	}
}
