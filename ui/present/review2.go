package present

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Review2 is the page of a quote: review 2 of a call, or the only review of a swap or a transfer.
func Review2(r Review) Page {
	v := r.Quote
	var p Page
	if r.Previous != nil {
		p.changes(r)
	}
	if r.Exchange() {
		p.request(r)
		if v.Recipient != "" {
			p.recipient(r, TableAsked)
		}
		p.way(v)
	}
	p.gates(r.Report)
	p.legDelegations(r)
	p.payees(r)
	p.needs(v)
	p.legs(r)
	p.blank()
	p.messages(r)
	p.costs(r)
	if !r.Exchange() {
		p.way(v)
	}
	p.report(r)
	p.fingerprint(v.Fingerprint, "quote.fingerprint")
	if v.SameChainOnly {
		p.prose(0, []string{"quote.sameChainOnly"},
			say("Nothing more gets signed: your first signature is all it takes. Confirm to run it."))
	}
	d := r.demand()
	if d.Calls {
		p.outflow(r)
	}
	p.tail(d)
	p.sentence(v.Phrase, "quote.phrase")
	return p
}

// request repeats the intent of a swap or a transfer, from its frozen form and nothing else.
func (p *Page) request(r Review) {
	d := r.Intent
	if d.Pay == nil || d.Receive == nil {
		return
	}
	spans := append([]Span{strong(r.Noun() + " ")}, r.asked(d.Pay.Asset, d.Pay.Amount)...)
	if d.Receive.Asset != d.Pay.Asset {
		spans = append(spans, say(" for "+AssetName(r.Catalog, d.Receive.Asset)))
	}
	if d.Receive.Minimum != "" {
		spans = append(append(spans, say(", at least ")), r.asked(d.Receive.Asset, d.Receive.Minimum)...)
	}
	p.row(TableAsked, 0, "you asked", nil, spans...)
}

// recipient writes the recipient in full, and whether it is the person's own or was never paid before.
func (p *Page) recipient(r Review, t Table) {
	v, label := r.Quote, "delivered to"
	if t != TableAsked {
		label = "Delivered to"
	}
	spans := r.named(v.Recipient)
	if v.RecipientOwn {
		spans = append(spans, say(" "), remark(ToneGood, "yours"))
	}
	if v.RecipientFirstTime {
		spans = append(spans, say(" "), remark(ToneWarn, "first time"))
	}
	if r.Exchange() && !v.RecipientOwn && !v.RecipientFirstTime {
		spans = append(spans, say(" "), remark(TonePlain, "not your own, paid before"))
	}
	p.row(t, 0, label, []string{"quote.recipient", "quote.recipientOwn", "quote.recipientFirstTime"}, spans...)
}

// way explains how a quote is paid, and what follows from that.
func (p *Page) way(v *verify.QuoteView) {
	p.prose(0, []string{"quote.callTypeWords"}, say(Clean(v.CallTypeWords, 400)))
	if text := consequence(v); text != "" {
		p.text(dim(text))
	}
}

// consequence explains what a way of paying means for the calls.
func consequence(v *verify.QuoteView) string {
	const lends = "The solver lends what is missing and should get these payments only once your calls ran."
	switch v.CallType {
	case api.CallSameChainExcludeSolver:
		return "Nobody lends anything: your account uses what is there."
	case api.CallSameChainWithSolver, api.CallCrossChain, api.CallCrossChainSwaps:
		if Credits(v) {
			return lends + " " + CreditsWords
		}
		return lends
	}
	return ""
}

// legDelegations are the delegations of the payments. One that review 1 showed for the same chain is shown again,
// because it is signed again.
func (p *Page) legDelegations(r Review) {
	var all []delegationAt
	n := r.First()
	for i, l := range r.Quote.Legs {
		if l.Delegation != nil {
			all = append(all, delegationAt{l.Delegation, n + 1, item("quote.legs", i) + ".delegation"})
		}
		n += LegSignatures(l)
	}
	p.delegations(all)
}

// payees repeats the payees of the calls from review 1, so that the person need not go back for them.
func (p *Page) payees(r Review) {
	if r.Call == nil {
		return
	}
	for _, x := range r.Call.Payees() {
		spans := r.named(x.To)
		if x.Amount != nil {
			spans = append(append(spans, say(" gets ")), amountSpans(*x.Amount)...)
		}
		if x.FirstTime {
			spans = append(spans, say(" "), remark(ToneWarn, "first time"))
		}
		p.row(TableOperation, 0, "payee", nil, spans...)
	}
}

// needs compares the need of the calls on the target chain with what the service says is there.
func (p *Page) needs(v *verify.QuoteView) {
	for i, n := range v.Needs {
		spans := append([]Span{say("needs ")}, amountSpans(n.Need)...)
		if n.Have != nil { // else it counts among the unknown figures
			spans = append(spans, say(", has "), say(figureOf(n.Have, n.Need)), dim(" (the service says)"))
		}
		if n.Short != nil {
			spans = append(spans, say(", short "), say(figureOf(n.Short, n.Need)))
		}
		p.row(TableOperation, 0, Clean(n.Need.ChainName, 40), []string{item("quote.needs", i) + ".need"}, spans...)
	}
}

// legs is the funding map: one line per signature of the operation, ticked when given, where the payments are held, and
// until when they can run.
func (p *Page) legs(r Review) {
	v := r.Quote
	if len(v.Legs) == 0 {
		p.text(say("No payment on any other chain."))
		return
	}
	b := Block{Kind: KindLedger, Entries: r.given()}
	n, total := r.First(), r.Total()
	for i, l := range v.Legs {
		chain, path := chainName(l.Chain), item("quote.legs", i)
		b.Paths = append(b.Paths, path+".pays", path+".chain", path+".deploys")
		n += LegSignatures(l)
		if l.Delegation != nil {
			b.Entries = append(b.Entries, Entry{Label: chain, Note: []Span{signature(n-1, total, Pending),
				say(" delegation")}})
		}
		e := Entry{Label: chain, Amount: &v.Legs[i].Pays, Arrow: true, Note: []Span{signature(n, total, Pending)}}
		if l.Deploys {
			e.Note = append(e.Note, say(", opens account"))
		}
		b.Entries = append(b.Entries, e)
	}
	p.add(b)
	p.parts(v)
	p.escrows(r)
	p.windows(r)
}

// signature is the number of one signature, ticked off once it is given.
func signature(n, total int, given Sign) Span {
	s := Span{Text: "signature " + strconv.Itoa(n) + " of " + strconv.Itoa(total), Tone: ToneDim, Sign: given}
	if given == Given {
		s.Tone = ToneGood
	}
	return s
}

// given lists the signatures of review 1, which are given.
func (r Review) given() []Entry {
	if r.Call == nil {
		return nil
	}
	var out []Entry
	for i := range r.First() {
		note := " the call"
		if i+1 < r.First() {
			note = " delegation"
		}
		out = append(out, Entry{Label: chainName(r.Call.Chain),
			Note: []Span{signature(i+1, r.Total(), Given), say(note)}})
	}
	return out
}

// parts names every recipient of a part of a payment into a contract that is not pinned.
func (p *Page) parts(v *verify.QuoteView) {
	for i, l := range v.Legs {
		for k, x := range l.Parts {
			label, name := "goes to", "unknown contract"
			if x.Approval {
				label = "taken by"
			}
			if x.ToName != "" {
				name = Clean(x.ToName, 60)
			}
			path := item(item("quote.legs", i)+".parts", k)
			paths := []string{path + ".to", path + ".amount", path + ".shareBps", path + ".approval"}
			if x.To == l.Escrow && !partTo(l.Parts[:k], l.Escrow) {
				paths = append(paths, item("quote.legs", i)+".escrow")
			}
			spans := append([]Span{address(x.To), gap(), say(name + " on " + chainName(l.Chain) + ": ")},
				amountSpans(x.Amount)...)
			p.row(TableOperation, 0, label, paths, append(spans, say(" ("+Percent(x.ShareBps)+" of the payment)"))...)
		}
	}
}

func partTo(parts []verify.PartView, to string) bool {
	return slices.ContainsFunc(parts, func(x verify.PartView) bool { return x.To == to })
}

// escrows names each escrow in full, with the time after which its deposits can be reclaimed: once for all payments
// that go there on the same terms. parts lists what goes into contracts that are not pinned.
func (p *Page) escrows(r Review) {
	seen := map[string]int{}
	for i, l := range r.Quote.Legs {
		if l.Escrow == "" || partTo(l.Parts, l.Escrow) && l.RefundAfter.IsZero() {
			continue
		}
		back := aside("you can take it back after " + r.Clock(l.RefundAfter))
		if l.Solana != nil && l.RefundAfter.IsZero() {
			back = remark(ToneWarn, SolanaHolds)
		}
		paths := []string{item("quote.legs", i) + ".refundAfter"}
		if !partTo(l.Parts, l.Escrow) {
			paths = append(paths, item("quote.legs", i)+".escrow")
		}
		if at, again := seen[l.Escrow+back.Text]; again {
			(*p)[at].Paths = append((*p)[at].Paths, paths...)
			continue
		}
		seen[l.Escrow+back.Text] = len(*p)
		p.row(TableOperation, 0, "held in", paths, address(l.Escrow), say(" "), back)
	}
	p.promise(r)
}

// promise says what the contracts that hold payments give them out for, and who says that it happened.
func (p *Page) promise(r Review) {
	v := r.Quote.Promise
	if v == nil {
		return
	}
	paths, spans := []string{"quote.promise.fillBy"}, []Span{say("only if ")}
	for i, m := range v.Minimums {
		if i > 0 {
			spans = append(spans, say(" and "))
		}
		spans = append(spans, amountSpans(m)...)
		paths = append(paths, item("quote.promise.minimums", i))
	}
	switch verb := " arrive"; {
	case r.Exchange():
		spans = append(spans, say(verb))
	case len(v.Minimums) > 0:
		spans = append(spans, say(verb+" and your call runs,"))
	default:
		spans = append(spans, say("your call runs,"))
	}
	p.row(TableOperation, 0, "given out", paths, append(spans, say(" by "+r.Clock(v.FillBy)))...)
	p.row(TableOperation, 0, "judged by", []string{"quote.promise.attesters", "quote.promise.threshold"},
		remark(decides(*v)))
}

// decides says who decides that something was delivered.
func decides(v verify.PromiseView) (Tone, string) {
	of := strconv.Itoa(v.Threshold) + " of " + strconv.Itoa(v.Attesters)
	switch {
	case v.Threshold == 0:
		return ToneWarn, "somebody whom this wallet does not know"
	case v.Attesters == 1:
		return ToneWarn, of + ": the operator of this service alone"
	case v.Threshold == 1:
		return ToneWarn, of + " attesters: each alone"
	}
	return TonePlain, of + " attesters"
}

// windows says until when each payment can run; a Solana message says it below.
func (p *Page) windows(r Review) {
	type window struct {
		until  time.Time
		chains []string
		paths  []string
	}
	var list []window
	for i, l := range r.Quote.Legs {
		if l.Solana != nil || l.Until.IsZero() { // an unknown end counts among the unknown figures
			continue
		}
		if n := len(list); n == 0 || !list[n-1].until.Equal(l.Until) {
			list = append(list, window{until: l.Until})
		}
		w := &list[len(list)-1]
		w.chains = append(w.chains, chainName(l.Chain))
		w.paths = append(w.paths, item("quote.legs", i)+".until")
	}
	for _, w := range list {
		p.row(TableOperation, 0, "can run", w.paths, say("until "+r.Clock(w.until)+", once"), gap(),
			dim(strings.Join(w.chains, ", ")))
	}
}

// messages shows each Solana message of a quote as it will be signed: its fee payer, its instructions and its expiry.
func (p *Page) messages(r Review) {
	for i, l := range r.Quote.Legs {
		v, path := l.Solana, item("quote.legs", i)
		if v == nil {
			continue
		}
		p.text(strong("The message that your account signs on " + chainName(l.Chain)))
		p.row(TableMessage, 1, "fee paid by", []string{path + ".solana.feePayer"}, address(v.FeePayer), gap(),
			aside(r.whose(v.FeePayer)))
		switch memo := []string{path + ".solana.memo"}; v.Memo {
		case "":
		case r.Quote.ID:
			p.row(TableMessage, 1, "memo", memo, say("the id of this quote, as below"))
		default:
			p.row(TableMessage, 1, "memo", memo, grouped(v.Memo))
		}
		p.row(TableMessage, 1, "block hash", []string{path + ".solana.blockHash"}, address(v.BlockHash))
		p.row(TableMessage, 1, "can run", []string{path + ".until"},
			say("once, until this block hash is too old: at "+r.Clock(l.Until)+" at the latest"))
		for k, x := range v.Instructions {
			p.instruction(k+1, x, item(path+".solana.instructions", k))
		}
		p.blank()
	}
}

// instruction is one decoded instruction, or the program of one that cannot be decoded.
func (p *Page) instruction(n int, x verify.InstructionView, path string) {
	name, number := Clean(x.ProgramName, 60), strconv.Itoa(n)+" "
	title := []Span{strong(number + name + " " + Clean(x.Name, 60))}
	switch {
	case x.ProgramName == "":
		title = []Span{{Text: number + "unknown program ", Tone: ToneUnknown}, address(x.Program)}
	case x.Name == "":
		title = []Span{{Text: number + name + ": not decoded ", Tone: ToneUnknown}}
	}
	p.prose(0, []string{path + ".program", path + ".programName", path + ".name"}, title...)
	for i, a := range x.Args {
		value := say(Whole(a.Value))
		switch {
		case a.Type == "address":
			value = address(a.Value)
		case strings.HasPrefix(a.Type, "bytes"), strings.HasPrefix(a.Value, "0x"):
			value = grouped(a.Value)
		}
		p.row(TableMessage, 1, argLabel(a.Name, i), []string{item(path+".args", i) + ".value"}, value)
	}
}

// exchanged reports the kind of a quote.
func exchanged(v *verify.QuoteView) bool {
	return v.Kind == intent.KindSwap || v.Kind == intent.KindTransfer
}
