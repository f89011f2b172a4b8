package review

import (
	"errors"
	"fmt"
	"strings"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/flow"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// report returns the findings on the last answer that was judged.
func (s *Screen) report() verify.Report {
	if s.snap.Report2.Refused() || s.phase == phaseReview2 {
		return s.snap.Report2
	}
	return s.snap.Report1
}

// problemView says what went wrong, what it means and what can be done.
func (s *Screen) problemView(f screen.Frame) string {
	th, w := f.Theme, f.W-1
	words, rest := s.problemWords()
	out := []string{kit.Sides(" "+th.Strong.Render(s.problemTitle()),
		th.Warn.Render("not done ")+th.Mark(theme.Warn)+" ", f.W), ""}
	out = append(out, kit.Prose(w, indent, kit.Marked(th, theme.Warn, present.Clean(words, 2000))...)...)
	for _, x := range rest {
		out = append(out, kit.Prose(w, indent+2, kit.Plain(present.Clean(x.String(), 600)))...)
	}
	out = append(blank(out), kit.Prose(w, indent, kit.Plain(advice(s.failed)))...)
	out = blank(out)
	switch {
	case s.submitted(): // Activity and History show how it ended
	case s.signed:
		out = append(out, kit.Prose(w, indent, kit.Plain(s.stillLive()))...)
	default:
		out = append(out, kit.Prose(w, indent, kit.Plain("Nothing was signed."))...)
	}
	text := &s.text[pageMain]
	text.Resize(f.H - 1)
	text.Keep(out)
	return kit.Lines(text.View(f.W), " "+th.Dim.Render(text.More(th)))
}

// problemWords says what went wrong, and returns the service's failures that the words do not cover. A call that would
// fail is counted from 1.
func (s *Screen) problemWords() (words string, rest []api.Failure) {
	rest = failures(s.failed)
	var e *api.Error
	if errors.As(s.failed, &e) && e.Name == api.ErrSimulationFailed && len(rest) == 1 {
		var i int
		if n, err := fmt.Sscanf(rest[0].Path, "calls[%d]", &i); err == nil && n == 1 && i >= 0 {
			return fmt.Sprintf("Call %d would fail: %s.", i+1, strings.TrimSuffix(rest[0].Got, ".")), nil
		}
	}
	var ring *vault.KeyringError
	switch {
	case errors.As(s.failed, &ring):
		return ring.Error(), rest // complete, with what to do about it
	case s.retry == stepExecute && s.before() && errors.Is(s.failed, flow.ErrExpired):
		return "The time for this quote ended before it was sent. It was not sent.", rest
	case s.snap.Problem != "":
		return s.snap.Problem, rest
	case s.failed != nil:
		return s.failed.Error(), rest
	}
	return "The last step did not finish.", rest
}

func (s *Screen) problemTitle() string {
	switch s.retry {
	case stepSign, stepQuote:
		return "The quote"
	case stepExecute:
		return "Signing and sending"
	}
	return "The operation"
}

// advice says what to do about an error of the service.
func advice(err error) string {
	var e *api.Error
	var lost *client.Error
	switch {
	case errors.Is(err, flow.ErrSubmitted):
		return "Do not ask for the same again before you know how it ended: enter opens Activity."
	case errors.As(err, &e):
		return serviceAdvice(e)
	case errors.As(err, &lost) && (lost.Kind == client.KindTimeout || lost.Kind == client.KindNetwork):
		return "The network or the service is away. What is signed and sent does not depend on this machine; r tries " +
			"again when the network is back."
	}
	return "r tries again."
}

func serviceAdvice(e *api.Error) string {
	switch e.Name {
	case api.ErrInsufficientBalance:
		return "e changes the amount or the funding asset."
	case api.ErrNoRoute:
		return "e changes the funding asset or the amount."
	case api.ErrSimulationFailed:
		return "The contract would refuse this call. e changes it."
	case api.ErrValidation:
		return "The service does not accept the request as it is. e goes to the fields."
	case api.ErrPrepareAgain, api.ErrQuoteExpired:
		return "It has to be asked for again: r."
	case api.ErrUnauthorized, api.ErrForbidden:
		return "The key of this profile is set with: coffer keys api-key set"
	case api.ErrTooManyRequests:
		return "The service asks for fewer requests. Wait a moment, then r."
	case api.ErrTamperProof, api.ErrInvalidSignature:
		return "The service does not accept what it was sent. Do not insist: leave, and build it again."
	}
	return "r tries again."
}
