package review

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
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

// refusedLines says which checks refused, which values they compared, and what to do.
func (s *Screen) refusedLines(f screen.Frame) []string {
	th, w := f.Theme, f.W-1
	r := s.report()
	out := kit.Prose(w, indent, marked(th, theme.Danger, present.Refused(r))...)
	for _, x := range r.Reasons {
		if present.Refuses(x) {
			out = append(blank(out), comparedLines(th, codedSpans(th, theme.Danger, x), x, w)...)
		}
	}
	if s.snap.Problem != "" && r.Count(verify.Refuse)+r.Count(verify.Gate) == 0 {
		out = append(blank(out), kit.Prose(w, indent, kit.Plain(present.Clean(s.snap.Problem, 800)))...)
	}
	advice := present.Advice(r) + " e changes what you ask, c lists all checks."
	out = append(blank(out), kit.Prose(w, indent, kit.Span{Text: "What to do  ", Style: th.Strong},
		kit.Plain(advice))...)
	if s.signed {
		return append(out, kit.Prose(w, indent, marked(th, theme.Warn, s.stillLive())...)...)
	}
	return append(out, kit.Prose(w, indent, kit.Plain("Nothing was signed."))...)
}

// checkLines lists every check: refused, needs attention, could not be checked, passed.
func (s *Screen) checkLines(f screen.Frame) []string {
	th, w := f.Theme, f.W-1
	r := s.report()
	var out []string
	for _, g := range []struct {
		in    func(verify.Reason) bool
		m     theme.Meaning
		title string
	}{
		{func(x verify.Reason) bool { return x.Level == verify.Refuse }, theme.Danger, "Refused"},
		{func(x verify.Reason) bool { return x.Level == verify.Gate && !x.Open }, theme.Danger,
			"Refused by a closed gate"},
		{func(x verify.Reason) bool { return x.Level == verify.Gate && x.Open }, theme.Danger, "Behind an open gate"},
		{func(x verify.Reason) bool { return x.Level == verify.Warn }, theme.Warn, "To read"},
		{func(x verify.Reason) bool { return x.Level == verify.Unknown }, theme.Unknown,
			"Could not be checked: take it neither for right nor for wrong"},
		{func(x verify.Reason) bool { return x.Level == verify.Show }, theme.None, "For your information"},
	} {
		if !slices.ContainsFunc(r.Reasons, g.in) {
			continue
		}
		out = append(out, " "+th.Strong.Render(g.title))
		for _, x := range r.Reasons {
			if g.in(x) {
				out = append(out, comparedLines(th, codedSpans(th, g.m, x), x, w)...)
			}
		}
		out = blank(out)
	}
	out = append(out, " "+th.Strong.Render(strconv.Itoa(len(r.Passed))+" passed"))
	for _, c := range r.Passed {
		out = append(out, kit.Prose(w, indent, kit.Span{Text: th.Sign(theme.Good) + " ", Style: th.Good},
			kit.Plain(present.Clean(c.Title, 400)), kit.Span{Text: "  " + present.Clean(c.Code, 8), Style: th.Dim})...)
	}
	return out
}

// inspectLines shows the bytes and hashes in groups of four, for comparing with a second machine.
func (s *Screen) inspectLines(f screen.Frame) []string {
	th, w := f.Theme, f.W-1
	var out []string
	hex := func(label, v string) {
		if v != "" {
			out = append(out, kit.Row(th, w, indent, 16, label, kit.Plain(present.Groups(v)))...)
		}
	}
	delegation := func(d *verify.DelegationView) {
		if d != nil {
			hex("delegates", d.Authority)
			hex("to the code", d.Contract)
			hex("with nonce", strconv.FormatUint(d.Nonce, 10))
		}
	}
	if v := s.snap.Review1; v != nil {
		out = append(out, " "+th.Strong.Render("Prepared operation on "+present.Clean(v.Chain.Name, 40)))
		hex("fingerprint", v.Fingerprint)
		hex("what is signed", v.Digest)
		hex("userOpHash", v.OpHash)
		hex("account type", v.AccountType)
		hex("nonce", decimalHex(v.Nonce))
		hex("account", v.Sender)
		hex("signer", v.Signer)
		hex("network", v.Network)
		delegation(v.Delegation)
		for _, l := range v.Lines {
			out = append(blank(out), " "+th.Dim.Render("call "+strconv.Itoa(l.Index)+" ("+present.Clean(l.Role, 12)+
				")"))
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
		hex("delivered to", v.Recipient)
		for i, l := range v.Legs {
			out = append(blank(out), " "+th.Dim.Render("payment "+strconv.Itoa(i+1)+" on "+
				present.Clean(l.Chain.Name, 40)))
			hex("account type", l.AccountType)
			if l.Solana != nil {
				hex("message SHA-256", l.OpHash)
				hex("block hash", l.Solana.BlockHash)
				hex("fee payer", l.Solana.FeePayer)
			} else {
				hex("userOpHash", l.OpHash)
				hex("nonce", decimalHex(l.Nonce))
			}
			hex("held in", l.Escrow)
			delegation(l.Delegation)
		}
	}
	return out
}

// sourceLines lists the balances that the service counts on; none of them is checked here.
func sourceLines(th theme.Theme, v *verify.PreparedView, w int) []string {
	if len(v.Sources) == 0 {
		return nil
	}
	entries := make([]kit.Entry, len(v.Sources))
	for i, a := range v.Sources {
		entries[i] = entry(th, present.Clean(a.ChainName, 40), a)
	}
	return append([]string{" " + th.Strong.Render("Usable balances, says the service")},
		kit.Ledger(th, w, indent, 16, entries)...)
}

// decimalHex writes a decimal nonce as hex, because its parts are bytes; anything else it returns unchanged.
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
	out := []string{kit.Sides(" "+th.Strong.Render(s.problemTitle()),
		th.Warn.Render("not done ")+th.Mark(theme.Warn)+" ", f.W), ""}
	out = append(out, kit.Prose(w, indent, marked(th, theme.Warn, present.Clean(words, 2000))...)...)
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
