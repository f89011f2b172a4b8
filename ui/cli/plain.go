package cli

import (
	"io"
	"strings"
)

// Plain is w without the control sequences that ask a terminal to mark pastes, for terminals that would show them and
// for screen readers that speak the output. Then only its speed distinguishes a paste from typing.
func Plain(w io.Writer) io.Writer { return plain{w} }

type plain struct{ io.Writer }

// Write passes p on without the marks. The session writes each mark in one piece.
func (w plain) Write(p []byte) (int, error) {
	text := strings.NewReplacer(markPastes, "", plainPastes, "").Replace(string(p))
	if text != "" {
		if _, err := io.WriteString(w.Writer, text); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}
