package present

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// The titles of the two sides of a comparison.
const (
	AskedTitle = "You asked"
	HoldsTitle = "The operation contains"
)

// Review1 is the page of review 1: what the signature lets leave and to whom, then what was asked for beside what the
// operation contains. The folds explain.
func Review1(r Review) Page {
	v := r.Call
	var p Page
	p.headline(r)
	p.warnings(r)
	p.first()
	p.outflow(r)
	p.recipients(r)
	p.account(r)
	p.seen(v.Seen)
	p.simulated(v.Simulated)
	if v.WholeConsent {
		p.prose(0, []string{"call.wholeConsent"}, strong("One signature approves everything here. There is "+
			"no second review."))
	} else {
		// the tolerance for the price of what pays for the calls: this signature asks for it
		p.row(TableMoves, 0, "Slippage", nil,
			say("the price may move by at most "+Percent(r.Intent.SlippageBps)))
	}
	if v.Delegation != nil {
		p.delegations([]delegationAt{{v.Delegation, 0, "call.delegation"}})
	}
	p.payoutList(r, r.payouts())
	p.blank()
	p.add(Block{Kind: KindPairs, Pairs: r.pairs()})
	d := r.demand()
	p.address(d)
	p.sentence(v.Phrase, "call.phrase")
	p.blank()
	p.checks(r)
	var way Page
	way.prose(0, []string{"call.callTypeWords"}, say(Clean(v.CallTypeWords, 400)))
	if !v.WholeConsent {
		way.text(say("Once " + chainName(v.Chain) + " is funded, the calls run; review 2 asks before anything is " +
			"paid. Fees are known only after this signature. " + onTopWords))
	}
	p.fold("o", "routing", way)
	p.identity(v.Fingerprint, "call.fingerprint")
	return p.Hide(d)
}

// outflow lists what can leave the account on the target chain.
func (p *Page) outflow(r Review) {
	v := r.Call
	b := Block{Kind: KindLedger, Table: TableMoves, Paths: []string{"call.chain", "call.deploys"}}
	group := "Leaves"
	if r.Quote != nil { // beside what the payments take
		group, b.Paths = "The call", nil
	}
	for i := range v.Outflow {
		e := Entry{Group: group, Label: chainName(v.Chain), Amount: &v.Outflow[i], Way: Leaves}
		if v.Deploys && r.Quote == nil {
			e.Note = []Span{say("new account")}
		}
		b.Entries = append(b.Entries, e)
		if r.Quote == nil {
			b.Paths = append(b.Paths, item("call.outflow", i))
		}
	}
	if len(v.Outflow) == 0 {
		text := "As far as the call data shows, nothing leaves your account on " + v.Chain.Name + "."
		if v.Deploys {
			text += " It is used there for the first time."
		}
		p.prose(0, b.Paths, say(text))
		return
	}
	p.add(b)
}

// recipients lists every recipient and spender, each once and in full, and the target of a call that names none.
func (p *Page) recipients(r Review) {
	first, rows := map[string]int{}, r.payouts() // the row of an address
	for i, l := range r.Call.Lines {
		if rows[i] {
			continue
		}
		if l.Recipient == "" {
			if l.Role == verify.RoleCall {
				p.row(TableMoves, 0, "Calls", nil, r.named(l.To)...)
			}
			continue
		}
		at, seen := first[l.Recipient]
		if !seen {
			label := "To"
			if l.Role != verify.RoleCall {
				label = "Spender"
			}
			at, first[l.Recipient] = len(*p), len(*p)
			p.row(TableMoves, 0, label, nil, r.named(l.Recipient)...)
		}
		row := &(*p)[at]
		path := item("call.lines", i)
		row.Paths = append(row.Paths, path+".recipient")
		// of a single payee the warning says it
		if l.FirstTime && (l.Role != verify.RoleCall || len(r.Call.Payees()) > 1) {
			row.Paths = append(row.Paths, path+".firstTime")
			if row.Spans[len(row.Spans)-1].Sign == NoSign {
				row.Spans = append(row.Spans, gap(), remark(ToneWarn, "first time"))
			}
		}
	}
}

// account names the account that acts, and for a role-based one the rights that its session key gives away.
func (p *Page) account(r Review) {
	v := r.Call
	spans := r.named(v.Sender)
	if v.AccountType != "" {
		spans = append(spans, gap(), aside(AccountType(v.AccountType)))
	}
	p.row(TableMoves, 0, "From", []string{"call.sender", "call.accountType"}, spans...)
	window := "from " + r.Clock(v.Window.From) + " until " + r.Clock(v.Window.Until) + ", once"
	if v.Window.Until.IsZero() {
		window = "once; when it expires is not known"
	}
	if v.AccountType == api.AccountRoleBased {
		p.row(TableMoves, 0, "Session", []string{"call.signer"}, address(v.Signer), gap(), aside("approves it"))
	}
	p.row(TableMoves, 0, "Can run", []string{"call.window.until"}, say(window))
	if r.GasTank != "" {
		p.row(TableMoves, 0, "Gas", nil, say("paid by your gas tank "), address(r.GasTank))
	}
}

// pairs lists everything on either side, in the order of execution. It compares both again, byte for byte, and does not
// rely on the verdict that came with the view.
func (r Review) pairs() []Pair {
	v, d := r.Call, r.Intent
	calls, allowed := make([]bool, len(d.Calls)), make([]bool, len(d.Allowances))
	var out []Pair
	rows := r.payouts()
	for n, l := range v.Lines {
		switch i := l.Asked - 1; {
		case rows[n]:
			calls[i] = true
		case l.Role != verify.RoleCall:
			out = append(out, r.allowance(n, allowed))
		case i < 0 || i >= len(calls):
			out = append(out, Pair{Holds: r.held(n, foreign)})
		default:
			how := same
			if calls[i] || !l.AsAsked || !consent.SameCall(d.Calls[i], l) {
				how = foreign
			}
			calls[i] = true
			asked := r.wanted(d.Calls[i], l, how == same)
			brief := asked
			if how == same {
				brief = repeated(d.Calls[i], l)
			}
			out = append(out, Pair{asked, brief, r.held(n, how)})
		}
	}
	for i, done := range allowed {
		if !done {
			asked := r.allowed(d.Allowances[i])
			out = append(out, Pair{asked, asked, one(dim("no approval: the contract may already take that much"))})
		}
	}
	for i, done := range calls {
		if !done {
			asked := r.wanted(d.Calls[i], verify.CallView{Asked: i + 1}, false)
			out = append(out, Pair{asked, asked,
				one(marked(ToneDanger, "your call "+strconv.Itoa(i+1)+" is missing"))})
		}
	}
	out = append(out, r.needed()...)
	nothing, more := one(say("No other calls")), one(say("No other calls "), ended(ToneGood, ""))
	if at := Assumed(d); len(at) > 0 {
		state := Page(one(marked(ToneWarn,
			"tried on an assumed state ("+Plural(len(at), "address", "addresses")+")")))
		for _, a := range at {
			var paths []string
			for i, o := range d.Overrides {
				if Checksummed(o.Address) == a {
					paths = append(paths, item("intent.overrides", i))
				}
			}
			state.prose(1, paths, r.named(a)...)
		}
		out = append(out, Pair{Asked: state, Brief: state})
		more = one(marked(ToneWarn,
			"No other calls, but tried on an assumed state: the real state decides when it runs"))
	}
	if !consent.Faithful(d, v, r.Report) {
		more = one(marked(ToneDanger, "not the same as what you asked"))
	}
	return append(out, Pair{Asked: nothing, Holds: more})
}

// one is a side that is one sentence.
func one(spans ...Span) []Block { return []Block{{Spans: spans}} }

// needed lists the tokens that the calls need: as the request has them, and what the view has beyond that.
func (r Review) needed() []Pair {
	var out []Pair
	left := slices.Clone(r.Call.Requires)
	needs := func(spans []Span, paths ...string) {
		row := []Block{{Kind: KindRow, Table: TableNeeded, Label: "needs", Spans: spans, Paths: paths}}
		out = append(out, Pair{Asked: row, Brief: row})
	}
	for i, t := range r.Intent.TokensRequired {
		var paths []string
		if i < len(left) && left[i].Amount != nil && left[i].Amount.String() == t.Amount &&
			left[i].Asset.String() == t.AssetType {
			paths, left[i].Amount = []string{item("call.requires", i)}, nil
		}
		needs(r.asked(t.AssetType, t.Amount), paths...)
	}
	for i, a := range left {
		if a.Amount != nil {
			needs(amountSpans(a), item("call.requires", i))
		}
	}
	return out
}

// allowance puts an approval, or its revocation, beside the allowance that asks for it.
func (r Review) allowance(n int, used []bool) Pair {
	l := r.Call.Lines[n]
	for i, a := range r.Intent.Allowances {
		if !consent.Allows(a, r.Intent, l) {
			continue
		}
		p := Pair{Asked: one(dim("the allowance above, taken back afterwards")), Holds: r.held(n, added)}
		if !used[i] {
			p.Asked = r.allowed(a)
			p.Brief = p.Asked
		}
		used[i] = true
		return p
	}
	return Pair{Holds: r.held(n, foreign)}
}

// allowed is a declared allowance as the intent has it.
func (r Review) allowed(a api.AllowanceRequirement) []Block {
	spender, _ := api.SpenderOf(a, consent.WireCalls(r.Intent))
	return []Block{{Spans: append([]Span{strong("allowance ")}, r.asked(a.AssetType, a.Amount)...)},
		{Kind: KindRow, Level: 1, Label: "spender", Spans: []Span{address(spender)}}}
}

// repeated is a call of the intent above its equal in the operation, which shows all of its bytes.
func repeated(c intent.Call, l verify.CallView) []Block {
	p := Page(one(strong(strconv.Itoa(l.Asked)+" "+CallName(c)), say(", byte for byte as below")))
	p.note(c)
	return p
}

// note is what the person wrote beside a call; the operation has no place for it.
func (p *Page) note(c intent.Call) {
	if c.Note != "" {
		p.row(TableOperation, 1, "note", nil, say(Clean(c.Note, intent.MaxNote)))
	}
}

// wanted is one call of the intent. Where its bytes equal those of the operation it is decoded the same way, else it
// shows the bytes.
func (r Review) wanted(c intent.Call, l verify.CallView, equal bool) []Block {
	p := Page(one(strong(strconv.Itoa(l.Asked) + " " + CallName(c))))
	p.row(TableOperation, 1, targetLabel(c.Data), nil, r.named(c.To)...)
	if v, ok := api.ParseWei(c.Value); !ok {
		p.row(TableOperation, 1, "value", nil, say(Clean(c.Value, 100)+" base units of the chain's own coin"))
	} else if v.Sign() > 0 {
		p.row(TableOperation, 1, "value", nil, say(r.coins(v)))
	}
	p.note(c)
	switch {
	case !equal:
		p.row(TableOperation, 1, "data", nil, grouped(c.Data))
	case bytesOf(c.Data) == "":
	case l.Decoded:
		for i := range l.Args {
			p.arg(i, l, nil)
		}
	default:
		p.row(TableOperation, 1, "data", nil,
			say(Plural(len(bytesOf(c.Data))/2, "byte", "bytes")+", as on the right"))
	}
	return p
}

// arg is one argument with its label: addresses in groups, the moved amount with its unit, everything else as decoded.
func (p *Page) arg(i int, l verify.CallView, paths []string) {
	a := l.Args[i]
	depth, name := Nested(a.Name)
	b := Block{Kind: KindRow, Level: 1, Depth: depth, Label: argLabel(name, i), Paths: paths}
	switch {
	case a.Type == "address":
		b.Spans = []Span{address(a.Value)}
	case movedBy(a, l):
		b.Spans = amountSpans(*l.Amount)
	case strings.HasPrefix(a.Type, "bytes") && !strings.Contains(a.Type, "["):
		b.Spans = []Span{grouped(a.Value)}
	default:
		b.Spans = []Span{say(Whole(a.Value)), gap(), dim(Clean(a.Type, 200))}
	}
	p.add(b)
}

// movedBy reports whether the argument is the amount that the call moves.
func movedBy(a verify.ArgView, l verify.CallView) bool {
	m := l.Amount
	return m != nil && m.Decimals >= 0 && m.Amount != nil && !m.Asset.IsNative() && a.Value == m.Amount.String() &&
		strings.HasPrefix(a.Type, "uint")
}

// targetLabel labels the target of a call: without data the call is a payment, whose recipient need not be a contract.
func targetLabel(data string) string {
	if bytesOf(data) == "" {
		return "to"
	}
	return "contract"
}

// target describes the target of a call of the operation: its name in the contact book, its address in full, and what
// is known about it.
func (r Review) target(l verify.CallView) []Span {
	about := nameOn(l.ToName, r.Call.Chain.Name)
	switch named, pays := r.nameOf(l.To) != "", bytesOf(l.Data) == ""; {
	case l.ToName != "":
	case named && pays:
		return r.named(l.To)
	case named, pays:
		about = "on " + r.Call.Chain.Name
	}
	return append(r.named(l.To), say(" "), aside(Clean(about, 80)))
}

func nameOn(name, chain string) string {
	if name == "" {
		return "an unknown contract, " + chain
	}
	return name + ", " + chain
}

// CallName is the function of a call as the person wrote it.
func CallName(c intent.Call) string {
	switch {
	case c.Function != "":
		return Clean(c.Function, 600)
	case bytesOf(c.Data) == "":
		return "plain transfer of the chain's own coin"
	}
	return "a call with " + Plural(len(bytesOf(c.Data))/2, "byte", "bytes") + " of data"
}

// fit says how a call of the operation relates to the intent.
type fit int

const (
	same    fit = iota // a call of the intent, byte for byte
	added              // added for a declared allowance
	foreign            // not in the intent
)

func (f fit) verdict() []Span {
	switch f {
	case same:
		return []Span{say("same "), ended(ToneGood, "")}
	case added:
		return []Span{ended(ToneWarn, "added, as you allowed")}
	}
	return []Span{ended(ToneDanger, "not what you asked")}
}

// held is one decoded call of the operation, and whether it was asked for.
func (r Review) held(n int, how fit) []Block {
	l, path := r.Call.Lines[n], item("call.lines", n)
	p := Page{{Spans: callTitle(l), Right: how.verdict(), Paths: []string{path + ".role", path + ".function"}}}
	p.row(TableOperation, 1, targetLabel(l.Data), []string{path + ".to"}, r.target(l)...)
	moves := []string{path + ".amount"} // goes with the first row that shows it
	for i, a := range l.Args {
		paths := []string{item(path+".args", i) + ".value"}
		if movedBy(a, l) {
			paths, moves = append(paths, moves...), nil
		}
		p.arg(i, l, paths)
	}
	if l.Value != nil && l.Value.Sign() > 0 {
		paths := []string{path + ".value"}
		if a := l.Amount; a != nil && a.Asset.IsNative() && a.Amount != nil && a.Amount.Cmp(l.Value) == 0 {
			paths, moves = append(paths, moves...), nil
		}
		p.row(TableOperation, 1, "value", paths, say(r.coins(l.Value)))
	}
	if a := l.Amount; a != nil && a.Amount != nil && moves != nil {
		p.row(TableOperation, 1, "amount", moves, amountSpans(*a)...)
	}
	if !l.Decoded {
		p.prose(1, nil, marked(ToneUnknown,
			"Coffer cannot decode this call: what it does depends on the contract. Its "+
				Plural(max(0, (len(l.Data)-2)/2), "byte", "bytes")+":"))
		p.prose(1, []string{path + ".data"}, grouped(l.Data))
	}
	return p
}

func callTitle(l verify.CallView) []Span {
	switch l.Role {
	case verify.RoleApprove:
		return []Span{strong("allowance"), say(" before your calls: " + shortName(l.Function))}
	case verify.RoleRevoke:
		return []Span{strong("allowance taken back"), say(": " + shortName(l.Function))}
	}
	n := strconv.Itoa(l.Asked) + " "
	switch {
	case l.Function != "":
		return []Span{strong(n + Clean(l.Function, 600))}
	case l.Decoded:
		return []Span{strong(n + "plain transfer of the chain's own coin")}
	}
	return []Span{strong(n + "unknown function " + Clean(l.Data[:min(10, len(l.Data))], 10))}
}

// shortName is the name of a function without its arguments, which follow below it.
func shortName(function string) string {
	name, _, _ := strings.Cut(function, "(")
	return Clean(name, 600)
}

// figureOf writes a figure of the same asset without its unit and trailing zeros.
func figureOf(v *big.Int, of verify.AmountView) string {
	if of.Decimals < 0 {
		return amount.Group(v.String())
	}
	return amount.Human(v, of.Decimals)
}
