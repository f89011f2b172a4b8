package review

import (
	"strconv"
	"strings"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// delegationAt is a delegation and the number of the signature that makes it; 0 is the one that review 1 asks for.
type delegationAt struct {
	*verify.DelegationView
	signature int
}

// delegationCards explain in one sentence what EIP-7702 authorizations do, then list exactly what they are (TH-D6): one
// card per EOA and code, with every chain on which the delegation is valid.
func delegationCards(th theme.Theme, w int, all []delegationAt) []string {
	var out []string
	for len(all) > 0 {
		first := all[0]
		var same, rest []delegationAt
		for _, d := range all {
			if d.Authority == first.Authority && d.Contract == first.Contract {
				same = append(same, d)
			} else {
				rest = append(rest, d)
			}
		}
		out, all = append(out, delegationCard(th, w, same)...), rest
	}
	return out
}

func delegationCard(th theme.Theme, w int, all []delegationAt) []string {
	d := all[0]
	name, when, where := present.Clean(d.ContractName, 80), "this signature", present.Clean(d.Chain.Name, 40)
	if name == "" {
		name = "an unknown contract"
	}
	switch {
	case len(all) > 1:
		when, where = "these signatures", "each chain below"
	case d.signature > 0:
		when = "signature " + strconv.Itoa(d.signature)
	}
	out := kit.Prose(w, indent, marked(th, theme.Warn, "From "+when+" on, the code below ("+name+
		") controls your EOA on "+where+", until you change it.")...)
	row := func(label string, spans ...kit.Span) {
		out = append(out, kit.Row(th, w, indent+2, labelW, label, spans...)...)
	}
	row("your EOA", address(d.Authority))
	row("the code", address(d.Contract))
	for i, x := range all {
		label, text := "", present.Clean(x.Chain.Name, 40)+" ("+present.Clean(x.Chain.CAIP, 60)+
			") only, with account nonce "+
			strconv.FormatUint(x.Nonce, 10)
		if i == 0 {
			label = "where"
		}
		if len(all) > 1 {
			text += ", signature " + strconv.Itoa(x.signature)
		}
		row(label, kit.Plain(text))
	}
	row("to undo", kit.Plain("with a transaction that delegates to other code, or to none"))
	return blank(out)
}

// accountLines name the account that acts, and for a role-based one the rights that its session key gives away.
func accountLines(f screen.Frame, v *verify.PreparedView) []string {
	th, w := f.Theme, f.W-1
	spans := []kit.Span{address(v.Sender)}
	if v.AccountType != "" {
		spans = append(spans, kit.Plain("  "), kit.Span{Text: present.AccountType(v.AccountType), Style: th.Dim,
			Whole: true})
	}
	out := kit.Row(th, w, indent, labelW, "account", spans...)
	window := clockText(v.Window.From, f.Now) + " to " + clockText(v.Window.Until, f.Now) + ", once"
	if v.Window.Until.IsZero() {
		window = "once; until when is not known"
	}
	if v.AccountType != api.AccountRoleBased {
		return append(out, kit.Row(th, w, indent, labelW, "can run", kit.Plain(window))...)
	}
	out = append(out, kit.Row(th, w, indent, labelW, "session", address(v.Signer), kit.Plain("  "),
		kit.Span{Text: "approves it", Style: th.Dim, Whole: true})...)
	out = append(out, kit.Row(th, w, indent, labelW, "can run", kit.Plain(window))...)
	return append(out, kit.Prose(w, indent+2, marked(th, theme.Warn,
		"Your approval itself has no end: it stays good until another operation of this account uses its number. "+
			"Fees and sponsor are not part of it.")...)...)
}

// solanaLines shows each Solana message of a quote as it will be signed: its fee payer, its instructions and its
// expiry.
func (s *Screen) solanaLines(f screen.Frame) []string {
	th, w := f.Theme, f.W-1
	var out []string
	for _, l := range s.snap.Review2.Legs {
		v := l.Solana
		if v == nil {
			continue
		}
		out = append(out, kit.Prose(w, indent, kit.Span{Text: "The message that your account signs on " +
			present.Clean(l.Chain.Name, 40), Style: th.Strong})...)
		row := func(label string, spans ...kit.Span) {
			out = append(out, kit.Row(th, w, indent+2, solanaW, label, spans...)...)
		}
		row("fee paid by", address(v.FeePayer), kit.Plain("  "),
			kit.Span{Text: s.whose(v.FeePayer), Style: th.Dim, Whole: true})
		switch v.Memo {
		case "":
		case s.snap.Review2.ID:
			row("memo", kit.Plain("the id of this quote, as below"))
		default:
			row("memo", kit.Plain(present.Groups(v.Memo)))
		}
		row("block hash", address(v.BlockHash))
		row("can run", kit.Plain("once, until this block hash is too old: at "+clockText(l.Until, f.Now)+
			" at the latest"))
		for i, x := range v.Instructions {
			out = append(out, instructionLines(th, w, i+1, x)...)
		}
		out = blank(out)
	}
	return out
}

const solanaW = 14

// instructionLines draws one decoded instruction, or the bytes of one that cannot be decoded.
func instructionLines(th theme.Theme, w, n int, x verify.InstructionView) []string {
	name := present.Clean(x.ProgramName, 60)
	title := []kit.Span{{Text: strconv.Itoa(n) + " " + name + " " + present.Clean(x.Name, 60), Style: th.Strong}}
	switch {
	case x.ProgramName == "":
		title = []kit.Span{{Text: strconv.Itoa(n) + " unknown program ", Style: th.Unknown}, address(x.Program)}
	case x.Name == "":
		title = []kit.Span{{Text: strconv.Itoa(n) + " " + name + ": not decoded ", Style: th.Unknown}}
	}
	out := kit.Prose(w, indent, title...)
	for i, a := range x.Args {
		label := argLabel(a, i)
		switch {
		case a.Type == "address":
			out = append(out, kit.Row(th, w, indent+2, solanaW, label, address(a.Value))...)
		case strings.HasPrefix(a.Type, "bytes"), strings.HasPrefix(a.Value, "0x"):
			out = append(out, kit.Row(th, w, indent+2, solanaW, label, kit.Plain(present.Groups(a.Value)))...)
		default:
			out = append(out, kit.Row(th, w, indent+2, solanaW, label,
				kit.Plain(present.Clean(a.Value, max(1, len(a.Value)))))...)
		}
	}
	return out
}

// whose says whether an address belongs to the person.
func (s *Screen) whose(address string) string {
	for _, a := range s.snap.Intent.Accounts {
		if a.AccountAddress == address {
			return "you"
		}
	}
	return "the service"
}
