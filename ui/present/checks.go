package present

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// gates names every open gate of the review.
func (p *Page) gates(r verify.Report) {
	for i, x := range r.Reasons {
		if x.Level == verify.Gate && x.Open {
			p.finding(0, ToneDanger, x, false, consent.Finding(i))
			p.blank()
		}
	}
}

// finding is a reason of a check with the expected and the actual value. coded adds the code of the check, where a
// person looks codes up; a review has no room for it.
func (p *Page) finding(level int, t Tone, x verify.Reason, coded bool, path ...string) {
	b := Block{Level: level, Spans: []Span{marked(t, Clean(Title(x), 400))}, Code: cited(x), Paths: path}
	if coded {
		b.Spans = append(b.Spans, gap(), dim(Clean(x.Code, 8)))
	}
	p.add(b)
	p.compared(level+1, 0, x)
}

// cited is a finding as the documents cite it: "WARN V4".
func cited(x verify.Reason) string {
	level := strings.ToUpper(string(x.Level))
	if x.Level == verify.Gate {
		level += map[bool]string{true: " (open)", false: " (closed)"}[x.Open]
	}
	return level + " " + Clean(x.Code, 8)
}

// compared is what a check compared, and the setting of a gate.
func (p *Page) compared(level, detail int, x verify.Reason) {
	table := TableFound
	if Policy(x) {
		table = TableLimited
	}
	for _, f := range Compared(x) {
		p.add(Block{Kind: KindRow, Table: table, Level: level, Label: f.Label, Detail: detail,
			Spans: []Span{say(Clean(f.Text, 600))}})
	}
	if words := Gate(x); words != "" {
		p.add(Block{Level: level, Detail: detail, Spans: []Span{say(Clean(words, 300))}})
	}
}

// count is the number of checks with one result.
type count struct {
	n     int
	words string
	tone  Tone
}

// counts are the numbers of checks by their result.
func counts(report verify.Report) []count {
	warnings := report.Count(verify.Warn)
	out := []count{{len(report.Passed), "passed", ToneGood},
		{warnings, strings.TrimPrefix(Plural(warnings, "warning", "warnings"), strconv.Itoa(warnings)+" "), ToneWarn},
		{report.Count(verify.Refuse), "blocked", ToneDanger},
		{report.Count(verify.Unknown), "not checked", ToneUnknown}}
	if n := report.Count(verify.Gate); n > 0 {
		out = append(out, count{n, strings.TrimPrefix(Plural(n, "open gate", "open gates"), strconv.Itoa(n)+" "),
			ToneDanger})
	}
	return out
}

// tallied writes the counts in a row.
func tallied(list []count) []Span {
	var out []Span
	for i, c := range list {
		if i > 0 {
			out = append(out, gap())
		}
		if text := strconv.Itoa(c.n) + " " + c.words; c.n == 0 {
			out = append(out, aside(text))
		} else {
			out = append(out, remark(c.tone, text))
		}
	}
	return out
}

// checks is the fold of the checks: their counts, and the findings that ask for nothing. The others are warnings, which
// no fold holds.
func (p *Page) checks(r Review) {
	inside := Page{{Kind: KindRow, Table: TableMoves, Label: "checks", Spans: tallied(counts(r.Report))}}
	for i, x := range r.Report.Reasons {
		if x.Level == verify.Show {
			inside.add(Block{Level: 1, Spans: []Span{marked(TonePlain, Clean(Title(x), 400))}, Code: cited(x),
				Detail: 2,
				Paths:  []string{consent.Finding(i)}})
			inside.compared(2, 2, x)
		}
	}
	p.add(Block{Kind: KindFold, Label: "checks", Spans: []Span{ended(ToneGood, strconv.Itoa(len(r.Report.Passed)))},
		Fold: Fold{Key: "c", Apart: true, Inside: inside}})
}

// Findings are everything that the checks found, and their counts.
func Findings(r Review) Page {
	var p Page
	p.gates(r.Report)
	p.findings(r.Report)
	p.checks(r)
	return p
}

// Rejected is the page of a refusal: which checks refused, which values they compared, and what to do. problem is an
// error in words, signed what was signed and can still be used; "": nothing was signed.
func Rejected(r Review, problem, signed string) Page {
	p := Page(one(marked(ToneDanger, Refused(r.Report))))
	for _, x := range r.Report.Reasons {
		if Refuses(x) {
			p.blank()
			p.finding(0, ToneDanger, x, true)
		}
	}
	if problem != "" && r.Report.Count(verify.Refuse)+r.Report.Count(verify.Gate) == 0 {
		p.blank()
		p.text(say(Clean(problem, 800)))
	}
	p.blank()
	p.text(strong("What to do"), gap(), say(Advice(r.Report)+r.AfterAdvice))
	if signed != "" {
		p.text(marked(ToneWarn, signed))
	} else {
		p.text(say("Nothing was signed."))
	}
	return p
}

// Checks lists every check: blocked, warnings, not checked, notes, passed.
func Checks(r verify.Report) Page {
	var p Page
	for _, g := range []struct {
		level verify.Level
		open  bool // of a gate
		tone  Tone
		title string
	}{
		{verify.Refuse, false, ToneDanger, "Blocked"},
		{verify.Gate, false, ToneDanger, "Blocked by a closed gate"},
		{verify.Gate, true, ToneDanger, "Behind an open gate"},
		{verify.Warn, false, ToneWarn, "Warnings"},
		{verify.Unknown, false, ToneUnknown, "Not checked: may be right or wrong"},
		{verify.Show, false, TonePlain, "Notes"},
	} {
		in := func(x verify.Reason) bool { return x.Level == g.level && (x.Level != verify.Gate || x.Open == g.open) }
		if !slices.ContainsFunc(r.Reasons, in) {
			continue
		}
		p.text(strong(g.title))
		for _, x := range r.Reasons {
			if in(x) {
				p.finding(0, g.tone, x, true)
			}
		}
		p.blank()
	}
	p.text(strong(strconv.Itoa(len(r.Passed)) + " passed"))
	for _, c := range r.Passed {
		p.text(ended(ToneGood, ""), say(" "+Clean(c.Title, 400)), gap(), dim(Clean(c.Code, 8)))
	}
	return p
}

// Inspect shows the bytes and hashes in groups of four, for comparing with a second machine.
func Inspect(r Review) Page {
	p := Operated(r)
	if v := r.Call; v != nil {
		for _, l := range v.Lines {
			p.blank()
			p.text(dim("call " + strconv.Itoa(l.Index) + " (" + Clean(l.Role, 12) + ")"))
			p.hex("to", l.To)
			if l.Value != nil {
				value := l.Value.String() + " wei"
				if l.Value.Sign() > 0 {
					value = r.coins(l.Value) + " (" + value + ")"
				}
				p.row(TableHashes, 0, "value", nil, say(value))
			}
			p.hex("data", l.Data)
		}
		p.blank()
		p.sources(v, 0)
	}
	if r.Quote != nil {
		p.blank()
		p = append(p, Quoted(r)...)
	}
	return p
}

// Operated are the hashes of the prepared operation; none for a swap or a transfer.
func Operated(r Review) Page {
	var p Page
	if v := r.Call; v != nil {
		p.text(strong("Prepared operation on " + chainName(v.Chain)))
		p.hex("review code", v.Fingerprint)
		p.hex("what is signed", v.Digest)
		p.hex("userOpHash", v.OpHash)
		p.hex("account type", v.AccountType)
		p.hex("nonce", decimalHex(v.Nonce))
		p.hex("account", v.Sender)
		p.hex("signer", v.Signer)
		p.hex("network", v.Network)
		p.hexDelegation(v.Delegation)
		p.units("leaving", v.Outflow...)
		p.sources(v, 1)
	}
	return p
}

// sources lists the balances that the service counts on; none of them is checked here.
func (p *Page) sources(v *verify.PreparedView, detail int) {
	if len(v.Sources) == 0 {
		return
	}
	b := Block{Kind: KindLedger, Table: TableHashes, Detail: detail}
	for i, a := range v.Sources {
		b.Entries = append(b.Entries, Entry{Label: Clean(a.ChainName, 40), Amount: &v.Sources[i]})
	}
	p.add(Block{Spans: []Span{strong("Usable balances, says the service")}, Detail: detail})
	p.add(b)
}

// Quoted are the hashes of a quote.
func Quoted(r Review) Page {
	v := r.Quote
	p := Page(one(strong("Quote")))
	p.hex("id", v.ID)
	p.hex("review code", v.Fingerprint)
	p.hex("delivered to", v.Recipient)
	p.units("delivered", v.Delivered)
	p.units("minimum", v.Minimum)
	p.units("fees", v.Fees...)
	for i, l := range v.Legs {
		p.blank()
		p.text(dim("payment " + strconv.Itoa(i+1) + " on " + chainName(l.Chain)))
		p.units("paid", l.Pays)
		p.hex("account type", l.AccountType)
		if l.Solana != nil {
			p.hex("message SHA-256", l.OpHash)
			p.hex("block hash", l.Solana.BlockHash)
			p.hex("fee payer", l.Solana.FeePayer)
		} else {
			p.hex("userOpHash", l.OpHash)
			p.hex("nonce", decimalHex(l.Nonce))
		}
		p.hex("escrow", l.Escrow)
		p.hexDelegation(l.Delegation)
	}
	return p
}

// units writes amounts in base units with the ids of their assets; a screen has no room for it.
func (p *Page) units(label string, list ...verify.AmountView) {
	for _, a := range list {
		if a.Amount != nil {
			p.add(Block{Kind: KindRow, Table: TableHashes, Label: label, Detail: 1,
				Spans: []Span{say(a.Amount.String() + " base units of " + Whole(a.Asset.Display()))}})
		}
	}
}

func (p *Page) hex(label, v string) {
	if v != "" {
		p.row(TableHashes, 0, label, nil, grouped(v))
	}
}

func (p *Page) hexDelegation(d *verify.DelegationView) {
	if d != nil {
		p.hex("delegates", d.Authority)
		p.hex("to the code", d.Contract)
		p.hex("with nonce", strconv.FormatUint(d.Nonce, 10))
	}
}

// decimalHex writes a decimal nonce as hex, because its parts are bytes; anything else it returns unchanged.
func decimalHex(s string) string {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok || v.Sign() < 0 {
		return s
	}
	return "0x" + v.Text(16)
}

// whose says whether an address belongs to the person.
func (r Review) whose(address string) string {
	for _, a := range r.Intent.Accounts {
		if a.AccountAddress == address {
			return "you"
		}
	}
	return "the service"
}
