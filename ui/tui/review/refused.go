package review

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// report is that of the answer which was judged last.
func (s *Screen) report() verify.Report {
	if s.snap.Report2.Refused() || s.phase == phaseReview2 {
		return s.snap.Report2
	}
	return s.snap.Report1
}

// refusedLines says which checks refused, what was compared, and what to do.
func (s *Screen) refusedLines(f screen.Frame) []string {
	th, w := f.Theme, f.W-1
	r := s.report()
	n := r.Count(verify.Refuse) + r.Count(verify.Gate)
	head := "The answer of the service does not pass " + kit.Plural(n, "check", "checks") + ". It cannot be signed."
	if n == 0 {
		head = "The answer of the service cannot be signed."
	}
	out := kit.Prose(w, indent, marked(th, theme.Danger, head)...)
	for _, x := range r.Reasons {
		if x.Level == verify.Refuse || x.Level == verify.Gate {
			out = append(blank(out), comparedLines(th, theme.Danger, x, w)...)
		}
	}
	if s.snap.Problem != "" {
		out = append(blank(out), kit.Prose(w, indent, kit.Plain(kit.Clean(s.snap.Problem, 800)))...)
	}
	out = append(blank(out), kit.Prose(w, indent, kit.Span{Text: "What to do  ", Style: th.Strong},
		kit.Plain("If you do not know why, do not try again with this service: its answer is not what you asked for. e changes what you ask, c lists all checks."))...)
	if s.signed {
		return append(out, kit.Prose(w, indent, marked(th, theme.Warn, s.stillLive())...)...)
	}
	return append(out, kit.Prose(w, indent, kit.Plain("Nothing was signed."))...)
}

func (s *Screen) stillLive() string {
	return "No payment was signed. The first signature stays live until " + s.until() + "; Activity lists it under outstanding signatures."
}

// comparedLines is one finding with what was expected and what was found.
func comparedLines(th theme.Theme, m theme.Meaning, x verify.Reason, w int) []string {
	out := kit.Prose(w, indent, reasonSpans(th, m, x)...)
	for _, p := range []struct{ label, text string }{{"wanted", x.Want}, {"found", x.Got}, {"at", x.Path}} {
		if p.text != "" {
			out = append(out, kit.Row(th, w, indent+2, 8, p.label, kit.Plain(kit.Clean(p.text, 600)))...)
		}
	}
	return out
}

// checkLines lists every check: what refused, what to read, what could not be checked, what passed.
func (s *Screen) checkLines(f screen.Frame) []string {
	th, w := f.Theme, f.W-1
	r := s.report()
	var out []string
	for _, g := range []struct {
		level verify.Level
		m     theme.Meaning
		title string
	}{
		{verify.Refuse, theme.Danger, "Refused"}, {verify.Gate, theme.Danger, "Refused until allowed"}, {verify.Warn, theme.Warn, "To read"},
		{verify.Unknown, theme.Unknown, "Could not be checked"}, {verify.Show, theme.None, "For your information"},
	} {
		if r.Count(g.level) == 0 {
			continue
		}
		out = append(out, " "+th.Strong.Render(g.title))
		for _, x := range r.Reasons {
			if x.Level == g.level {
				out = append(out, comparedLines(th, g.m, x, w)...)
			}
		}
		out = blank(out)
	}
	out = append(out, " "+th.Strong.Render(strconv.Itoa(len(r.Passed))+" passed"))
	for _, c := range r.Passed {
		out = append(out, kit.Prose(w, indent, kit.Span{Text: th.Sign(theme.Good) + " ", Style: th.Good}, kit.Plain(kit.Clean(c.Title, 400)), kit.Span{Text: "  " + kit.Clean(c.Code, 8), Style: th.Dim})...)
	}
	return out
}

// inspectLines shows the bytes and hashes in groups of four, for comparing with a second machine.
func (s *Screen) inspectLines(f screen.Frame) []string {
	th, w := f.Theme, f.W-1
	var out []string
	hex := func(label, v string) {
		if v != "" {
			out = append(out, kit.Row(th, w, indent, 16, label, kit.Plain(kit.Groups(v)))...)
		}
	}
	if v := s.snap.Review1; v != nil {
		out = append(out, " "+th.Strong.Render("Prepared operation on "+kit.Clean(v.Chain.Name, 40)))
		hex("fingerprint", v.Fingerprint)
		hex("what is signed", v.Digest)
		hex("userOpHash", v.OpHash)
		hex("nonce", decimalHex(v.Nonce))
		hex("account", v.Sender)
		hex("signer", v.Signer)
		hex("network", v.Network)
		for _, l := range v.Lines {
			out = append(blank(out), " "+th.Dim.Render("call "+strconv.Itoa(l.Index)+" ("+kit.Clean(l.Role, 12)+")"))
			hex("to", l.To)
			if l.Value != nil {
				out = append(out, kit.Row(th, w, indent, 16, "value", kit.Plain(l.Value.String()+" wei"))...)
			}
			hex("data", l.Data)
		}
		out = append(blank(out), sourceLines(th, v, w)...)
	}
	if v := s.snap.Review2; v != nil && s.phase == phaseReview2 {
		out = append(blank(out), " "+th.Strong.Render("Quote"))
		hex("id", v.ID)
		hex("fingerprint", v.Fingerprint)
		for i, l := range v.Legs {
			out = append(blank(out), " "+th.Dim.Render("payment "+strconv.Itoa(i+1)+" on "+kit.Clean(l.Chain.Name, 40)))
			hex("userOpHash", l.OpHash)
			hex("nonce", decimalHex(l.Nonce))
			hex("escrow", l.Escrow)
		}
	}
	return out
}

// sourceLines lists the balances that the service counts on; nothing here was checked.
func sourceLines(th theme.Theme, v *verify.PreparedView, w int) []string {
	if len(v.Sources) == 0 {
		return nil
	}
	entries := make([]kit.Entry, len(v.Sources))
	for i, a := range v.Sources {
		entries[i] = entry(th, kit.Clean(a.ChainName, 40), a)
	}
	return append([]string{" " + th.Strong.Render("Usable balances, says the service")}, kit.Ledger(th, w, indent, 16, entries)...)
}

// decimalHex writes a decimal nonce as hex, because its parts are bytes; anything else is returned as it is.
func decimalHex(s string) string {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok || v.Sign() < 0 {
		return s
	}
	return "0x" + v.Text(16)
}

// problemView says what went wrong, what it means and what can be done.
func (s *Screen) problemView(f screen.Frame) string {
	th, w := f.Theme, f.W-1
	words, rest := s.problemWords()
	out := []string{kit.Sides(" "+th.Strong.Render(s.problemTitle()), th.Warn.Render("not done ")+th.Mark(theme.Warn)+" ", f.W), ""}
	out = append(out, kit.Prose(w, indent, marked(th, theme.Warn, kit.Clean(words, 1200))...)...)
	for _, x := range rest {
		out = append(out, kit.Prose(w, indent+2, kit.Plain(kit.Clean(x.String(), 600)))...)
	}
	if advice := advice(s.failed); advice != "" {
		out = append(blank(out), kit.Prose(w, indent, kit.Plain(advice))...)
	}
	out = blank(out)
	if s.signed {
		out = append(out, kit.Prose(w, indent, kit.Plain(s.stillLive()))...)
	} else {
		out = append(out, kit.Prose(w, indent, kit.Plain("Nothing was signed."))...)
	}
	text := &s.text[pageMain]
	text.Resize(f.H - 1)
	text.Keep(out)
	return kit.Lines(text.View(f.W), " "+th.Dim.Render(text.More(th)))
}

// problemWords says what went wrong, and which of the service's failures are not said by that yet. A call that would fail is named as the person
// counts, from 1.
func (s *Screen) problemWords() (words string, rest []api.Failure) {
	rest = failures(s.failed)
	var e *api.Error
	if errors.As(s.failed, &e) && e.Name == api.ErrSimulationFailed && len(rest) == 1 {
		var i int
		if n, err := fmt.Sscanf(rest[0].Path, "calls[%d]", &i); err == nil && n == 1 && i >= 0 {
			return fmt.Sprintf("Call %d would fail: %s.", i+1, strings.TrimSuffix(rest[0].Got, ".")), nil
		}
	}
	switch {
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
	if !errors.As(err, &e) {
		return "r tries again."
	}
	switch e.Name {
	case api.ErrInsufficientBalance:
		return "There is not enough to pay for this. e changes the amount or the funding asset."
	case api.ErrNoRoute:
		return "Nobody can pay for this from the chosen asset. e changes the funding asset or the amount."
	case api.ErrSimulationFailed:
		return "The contract would refuse this call. e changes it."
	case api.ErrValidation:
		return "The service does not accept the request as it is. e goes to the fields."
	case api.ErrPrepareAgain, api.ErrQuoteExpired:
		return "It has to be asked for again: r."
	case api.ErrUnauthorized, api.ErrForbidden:
		return "The service does not accept the API key of this profile."
	case api.ErrTooManyRequests:
		return "The service asks for fewer requests. Wait a moment, then r."
	case api.ErrTamperProof, api.ErrInvalidSignature:
		return "The service does not accept what it was sent. Do not insist: leave, and build it again."
	}
	return "r tries again."
}
