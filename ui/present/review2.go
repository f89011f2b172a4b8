package present

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Review2 is the page of a quote: review 2 of a call, or the only review of a swap or a transfer. What binds comes
// first; the folds behind it explain.
func Review2(r Review) Page {
	v := r.Quote
	var p Page
	p.headline(r)
	p.renewed(r)
	p.warnings(r)
	p.first()
	p.moves(r)
	if r.Exchange() && v.Itself() == nil {
		p.payers(r)
	}
	if v.Recipient != "" && (r.Exchange() || !v.RecipientOwn) {
		p.recipient(r)
	}
	p.payees(r)
	p.add(Block{Kind: KindLedger, Table: TableMoves, Paths: []string{"quote.costMicro"}, First: true,
		Entries: append([]Entry{r.cost()}, r.dearer()...)})
	p.blank()
	p.escrows(r)
	p.windows(r)
	p.seen(v.Seen)
	p.simulated(v.Simulated)
	p.parts(v)
	if v.SameChainOnly {
		p.prose(0, []string{"quote.sameChainOnly"},
			say("No payment on any other chain. Nothing more gets signed: your "+
				"first signature is all it takes."))
	}
	p.delegations(r.legDelegations())
	p.messages(r)
	d := r.demand()
	p.address(d)
	p.sentence(v.Phrase, "quote.phrase")
	p.blank()
	p.checks(r)
	p.fold(ArithmeticKey, "arithmetic", r.arithmetic())
	p.fold("o", "routing", r.routing())
	if list, _ := r.differences(); len(list) > 0 {
		p.fold(SinceKey, "since the last quote", Page{{Kind: KindChanges, Table: TableCosts, Changes: list}})
	}
	p.identity(v.Fingerprint, "quote.fingerprint")
	return p.Hide(d)
}

// routing explains how a quote is paid, and what follows from that.
func (r Review) routing() Page {
	v := r.Quote
	var p Page
	if !r.SolverCalls() { // else it is a warning
		p.prose(0, []string{"quote.callTypeWords"}, say(Clean(v.CallTypeWords, 400)))
	}
	if text := r.consequence(); text != "" {
		p.text(dim(text))
	}
	if v.Recipient != "" && !r.Exchange() && v.RecipientOwn {
		p.row(TableMoves, 0, "First to", []string{"quote.recipient", "quote.recipientOwn"}, address(v.Recipient), gap(),
			remark(ToneGood, "yours"))
	}
	switch {
	case v.Itself() != nil:
	case r.Exchange():
		p.text(dim("If less than the minimum would arrive, you are refunded."))
	case len(v.Legs) > 0:
		p.text(dim("If less than the minimum would arrive, your call does not run and you are refunded."))
	}
	return p
}

// moves lists what leaves, signature by signature, and what arrives.
func (p *Page) moves(r Review) {
	v := r.Quote
	b := Block{Kind: KindLedger, Table: TableMoves}
	if r.worstIsSaid() && (r.Call == nil || unreadable(r.Call) == "") {
		b.Paths = append(b.Paths, worstPaths(r)...)
	}
	n, total := r.First(), r.Total()
	var before []leaving
	if r.Previous != nil {
		before = r.before().leaves()
	}
	for _, x := range r.leaves() {
		was := r.was(x.in(before), x.AmountView, Leaves)
		e := Entry{Group: "Leaves", Label: x.chain, Amount: &x.AmountView, Way: Leaves}
		if x.leg < 0 {
			e.Note = notes(was, []Span{dim("already there")})
			if x.said {
				e.Note = notes(was, []Span{dim("there (the service says)")})
			}
			b.Entries = append(b.Entries, e)
			continue
		}
		l, path := v.Legs[x.leg], item("quote.legs", x.leg)
		b.Paths = append(b.Paths, path+".pays", path+".chain", path+".deploys")
		n += LegSignatures(l)
		if l.Delegation != nil {
			b.Entries = append(b.Entries, Entry{Group: "Leaves", Label: x.chain,
				Note: []Span{signature(n-1, total, Pending), gap(), say("delegation")}})
		}
		e.Note = notes([]Span{signature(n, total, Pending)}, was)
		if l.Deploys {
			e.Note = append(e.Note, gap(), say("new account"))
		}
		b.Entries = append(b.Entries, e)
	}
	b.arrivals(r)
	p.add(b)
}

// arrivals lists the least that arrives, which is what is promised, and beside it what is expected.
func (b *Block) arrivals(r Review) {
	v, on := r.Quote, ""
	if r.Call != nil {
		on = chainName(r.Call.Chain)
	}
	if v.Minimum.ChainName != "" {
		on = Clean(v.Minimum.ChainName, 40)
	}
	b.Paths = append(b.Paths, "quote.minimum", "quote.delivered")
	e := Entry{Group: "Arrives", Label: on, Amount: &v.Minimum, Way: Arrives}
	switch {
	case v.Minimum.Amount == nil && v.Delivered.Amount == nil:
		if !exchanged(v) {
			return // nothing has to; it counts among the unknown figures
		}
	case v.Minimum.Amount == nil || v.Delivered.Amount == nil || v.Minimum.Asset != v.Delivered.Asset:
		e.Note = append(append([]Span{say("at least; expected ")}, amountSpans(v.Delivered)...),
			say(", "+Worth(v.Delivered)))
	case v.Minimum.Amount.Cmp(v.Delivered.Amount) != 0:
		e.Note = []Span{say("at least; expected " + figureOf(v.Delivered.Amount, v.Delivered) + ", " +
			Worth(v.Delivered))}
	case exchanged(v) && v.Itself() == nil:
		e.Amount, e.Note = &v.Delivered, []Span{say("at least; expected the same")}
	default:
		e.Amount, e.Note = &v.Delivered, []Span{say("exactly")}
	}
	if r.Previous != nil {
		e.Note = notes(r.was(&r.Previous.Minimum, v.Minimum, Arrives), e.Note)
	}
	b.Entries = append(b.Entries, e)
	for i, n := range v.Needs { // a document names one of the tokens that a call needs
		if n.Need.Asset != v.Delivered.Asset && n.Need.Amount != nil && n.Need.Amount.Sign() > 0 {
			b.Entries = append(b.Entries, Entry{Group: "Arrives", Label: Clean(n.Need.ChainName, 40),
				Amount: &v.Needs[i].Need, Way: Arrives, Note: []Span{say("exactly")}})
		}
	}
}

// request repeats the intent of a swap or a transfer, from its frozen form and nothing else.
func (p *Page) request(t Table, r Review) {
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
	p.row(t, 0, "You asked", nil, spans...)
}

// payers write the accounts that pay, where the person has several and they have names.
func (p *Page) payers(r Review) {
	for _, a := range r.Intent.Accounts {
		if a.IsEVM() && r.nameOf(a.AccountAddress) != "" {
			p.row(TableMoves, 0, "From", nil, r.named(a.AccountAddress)...)
		}
	}
}

// recipient writes the recipient in full, and whether it is the person's own or was paid before.
func (p *Page) recipient(r Review) {
	v := r.Quote
	spans := r.named(v.Recipient)
	paths := []string{"quote.recipient", "quote.recipientOwn"}
	switch {
	case v.RecipientOwn:
		spans = append(spans, gap(), remark(ToneGood, "yours"))
	case !r.Exchange():
		spans = append(spans, gap(), remark(ToneDanger, "not your own account"))
	default:
		if r.nameOf(v.Recipient) == "" {
			spans = append(spans, gap(), aside("not in your contacts"))
		}
		if !v.RecipientFirstTime {
			spans = append(spans, gap(), aside("paid before"))
		}
	}
	if !r.Exchange() {
		paths = append(paths, "quote.recipientFirstTime")
		if v.RecipientFirstTime {
			spans = append(spans, gap(), remark(ToneWarn, "first time"))
		}
	}
	p.row(TableMoves, 0, "To", paths, spans...)
}

// consequence explains what a way of paying means for the calls.
func (r Review) consequence() string {
	const lends = "The solver lends what is missing and should get these payments only once your calls ran."
	switch v := r.Quote; v.CallType {
	case api.CallSameChainExcludeSolver:
		return "No one advances anything: your account uses what is there."
	case api.CallSameChainWithSolver, api.CallCrossChain, api.CallCrossChainSwaps:
		if consent.Credits(v) && !r.SolverCalls() {
			return lends + " " + CreditsWords
		}
		return lends
	}
	return ""
}

// legDelegations are the delegations of the payments. One that review 1 showed for the same chain is shown again,
// because it is signed again.
func (r Review) legDelegations() []delegationAt {
	var all []delegationAt
	n := r.First()
	for i, l := range r.Quote.Legs {
		if l.Delegation != nil {
			all = append(all, delegationAt{l.Delegation, n + 1, item("quote.legs", i) + ".delegation"})
		}
		n += LegSignatures(l)
	}
	return all
}

// payees repeats the payees of the calls from review 1, so that the person need not go back for them.
func (p *Page) payees(r Review) {
	if r.Call == nil {
		return
	}
	all := r.Call.Payees()
	for _, x := range all {
		spans := r.named(x.To)
		if x.Amount != nil && len(all) > 1 {
			spans = append(append(spans, say(" gets ")), amountSpans(*x.Amount)...)
		}
		if x.FirstTime && len(all) > 1 {
			spans = append(spans, gap(), remark(ToneWarn, "first time"))
		}
		p.row(TableMoves, 0, "To", nil, spans...)
	}
}

// needs compares the need of the calls on the target chain with what the service says is there.
func (p *Page) needs(t Table, v *verify.QuoteView) {
	for i, n := range v.Needs {
		spans := append([]Span{say("needs ")}, amountSpans(n.Need)...)
		if n.Have != nil { // else it counts among the unknown figures
			spans = append(spans, say(", has "), say(figureOf(n.Have, n.Need)), dim(" (the service says)"))
		}
		if n.Short != nil {
			spans = append(spans, say(", short "), say(figureOf(n.Short, n.Need)))
		}
		p.row(t, 0, Clean(n.Need.ChainName, 40), []string{item("quote.needs", i) + ".need"}, spans...)
	}
}

// signature is the number of one signature, ticked off once it is given.
func signature(n, total int, given Sign) Span {
	s := Span{Text: "sign " + strconv.Itoa(n) + " of " + strconv.Itoa(total), Tone: ToneDim, Sign: given}
	if given == Given {
		s.Tone = ToneGood
	}
	return s
}

// parts names every recipient of a part of a payment into a contract that is not pinned.
func (p *Page) parts(v *verify.QuoteView) {
	for i, l := range v.Legs {
		for k, x := range l.Parts {
			label, name := "Goes to", "unknown contract"
			if x.Approval {
				label = "Taken by"
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
			p.row(TableMoves, 0, label, paths, append(spans, say(" ("+Percent(x.ShareBps)+" of the payment)"))...)
		}
	}
}

func partTo(parts []verify.PartView, to string) bool {
	return slices.ContainsFunc(parts, func(x verify.PartView) bool { return x.To == to })
}

// escrows names each escrow in full, what it gives the payments out for, and the time after which they can be
// reclaimed: once for all payments that go there on the same terms. parts lists what goes into contracts that are not
// pinned.
func (p *Page) escrows(r Review) {
	seen := map[string]int{}
	for i, l := range r.Quote.Legs {
		if l.Escrow == "" || partTo(l.Parts, l.Escrow) && l.RefundAfter.IsZero() {
			continue
		}
		failed := " if less would arrive"
		if !r.Exchange() {
			failed = " if your call did not run"
		}
		back := Span{Text: "refundable from " + r.Clock(l.RefundAfter) + failed, Whole: true}
		switch {
		case l.Solana != nil && l.RefundAfter.IsZero():
			back = remark(ToneWarn, SolanaHolds)
		case l.RefundAfter.IsZero():
			back = Span{Text: "when you can reclaim it is not known", Tone: ToneUnknown, Sign: After, Whole: true}
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
		p.row(TableMoves, 0, "Escrow", paths, address(l.Escrow), gap(), back)
	}
	p.promise(r)
}

// promise says what the contracts that hold payments give them out for, and who says that it happened; where that is
// one party alone it is a warning, which stands beneath the headline.
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
		spans = append(spans, say(Human(m)))
		paths = append(paths, item("quote.promise.minimums", i))
	}
	verb := " arrive"
	if len(v.Minimums) == 1 {
		verb = " arrives"
	}
	switch {
	case r.Exchange():
		spans = append(spans, say(verb))
	case len(v.Minimums) > 0:
		spans = append(spans, say(verb+" and your call runs"))
	default:
		spans = append(spans, say("your call runs"))
	}
	spans = append(spans, say(" by "+r.Clock(v.FillBy)))
	if tone, words := decides(*v); tone != ToneWarn {
		spans, paths = append(spans, gap(), aside("on the word of "+words)), append(paths, deciding()...)
	}
	p.row(TableMoves, 0, "Released", paths, spans...)
}

// decides says who decides that something was delivered.
func decides(v verify.PromiseView) (Tone, string) {
	of := strconv.Itoa(v.Threshold) + " of " + strconv.Itoa(v.Attesters)
	switch {
	case v.Threshold == 0:
		return ToneWarn, "someone this wallet does not know"
	case v.Attesters == 1:
		return ToneWarn, "one attester: the operator of this service"
	case v.Threshold == 1:
		return ToneWarn, "any one of " + strconv.Itoa(v.Attesters) + " attesters"
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
		once := ", once each"
		if len(w.chains) == 1 {
			once = ", once"
		}
		spans := []Span{say("until " + r.Clock(w.until) + once)}
		if len(list) > 1 {
			spans = append(spans, gap(), dim(strings.Join(w.chains, ", ")))
		}
		p.row(TableMoves, 0, "Can run", w.paths, spans...)
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
		p.ownSend(v.Own, path+".solana.own")
		switch memo := []string{path + ".solana.memo"}; v.Memo {
		case "":
		case r.Quote.ID:
			p.row(TableMessage, 1, "memo", memo, say("the id of this quote, as below"))
		default:
			p.row(TableMessage, 1, "memo", memo, grouped(v.Memo))
		}
		p.row(TableMessage, 1, "block hash", []string{path + ".solana.blockHash"}, address(v.BlockHash))
		p.row(TableMessage, 1, "can run", []string{path + ".until"},
			say("once, until this block hash expires, at "+r.Clock(l.Until)+" at the latest"))
		for k, x := range v.Instructions {
			p.instruction(k+1, x, item(path+".solana.instructions", k))
		}
		p.blank()
	}
}

// ownSend says what a transfer that pays its recipient itself costs beside its amount.
func (p *Page) ownSend(v *verify.OwnSendView, path string) {
	if v == nil {
		return
	}
	p.row(TableMessage, 1, "fee", []string{path + ".fee"}, append(amountSpans(v.Fee), gap(),
		dim("Solana's, with what is offered for a quick place"))...)
	if v.Rent != nil {
		p.row(TableMessage, 1, "rent", []string{path + ".rent"}, append(amountSpans(*v.Rent), gap(),
			dim("at most: the recipient has no account for this token yet, and you open it"))...)
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
