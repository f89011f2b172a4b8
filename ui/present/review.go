package present

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// Review is what the pages of a review are made of: the review under confirmation and what is known beside it. Previous
// is the quote before this one. Signatures is the number of all signatures as far as it is known, Person what decides
// beside the review what has to be typed. Names gives the name of an address in the person's contact book, nil:
// there is no book. Clock writes a time in the zone and form of a front end.
type Review struct {
	consent.Review
	Catalog    *catalog.Catalog
	Previous   *verify.QuoteView
	Signatures int
	Person     consent.Person
	Names      func(address string) string
	Clock      func(time.Time) string
	// GasTank is what pays for the gas of own nodes; "" where the service does.
	GasTank string
	// How a front end goes on behind the advice of a refusal; may be empty.
	AfterAdvice string
}

// GasTank is the address that pays for gas on a network of own nodes, "" of any other.
func GasTank(n network.Descriptor) string {
	if !n.OnOwnNodes() || n.Pins.Operator == (common.Address{}) {
		return ""
	}
	return n.Pins.Operator.Hex()
}

// Title is the heading of a review: of the quote where there is one, else of the prepared operation.
func (r Review) Title() string {
	switch {
	case r.Quote != nil && r.Exchange():
		return "Review of the " + r.Noun()
	case r.Quote != nil:
		return "Review 2 of 2"
	case r.Call != nil && r.Call.WholeConsent:
		return "Review of the call"
	}
	return "Review 1 of 2"
}

// Exchange reports a swap or a transfer: there is nothing to prepare, so the quote is its first review.
func (r Review) Exchange() bool { return r.Intent.Exchanges() }

// Noun names the kind of operation.
func (r Review) Noun() string {
	if r.Exchange() {
		return r.Intent.Kind
	}
	return "call"
}

// First is the number of signatures that are made before the quote: those of review 1.
func (r Review) First() int {
	switch v := r.Call; {
	case r.Exchange():
		return 0
	case v != nil && v.Signatures > 0:
		return v.Signatures
	}
	return 1
}

// Payments counts the signatures of all payments of a quote.
func Payments(v *verify.QuoteView) int {
	n := 0
	if v != nil && !v.SameChainOnly {
		for _, l := range v.Legs {
			n += LegSignatures(l)
		}
	}
	return n
}

// LegSignatures is the number of signatures of a payment: its own and one for a delegation.
func LegSignatures(l verify.LegView) int {
	if l.Delegation != nil {
		return 2
	}
	return 1
}

// Total is the number of all signatures, and at least those that the review shows.
func (r Review) Total() int { return max(r.Signatures, r.First()+Payments(r.Quote)) }

// Verb says what confirming does.
func (r Review) Verb() string {
	switch v := r.Call; {
	case r.Quote != nil:
	case v.WholeConsent:
		return "sign and run"
	case v.Delegation != nil:
		return "sign the delegation and the call"
	default:
		return "sign the call"
	}
	v := r.Quote
	if v.SameChainOnly {
		return "run it (nothing more gets signed)"
	}
	what := "sign " + Plural(len(v.Legs), "payment", "payments")
	if more := Payments(v) - len(v.Legs); more > 0 {
		what += " and " + Plural(more, "delegation", "delegations")
	}
	if r.Exchange() {
		return what + " and " + r.Noun()
	}
	return what + " and run"
}

// LiveFor says how long the first signature can be used: "until 12:11:03", or that it does not expire.
func (r Review) LiveFor() string {
	switch v := r.Call; {
	case v == nil:
		return "until its window ends"
	case v.AccountType == api.AccountRoleBased, v.Window.Until.IsZero():
		return "and never expires"
	}
	return "until " + r.Clock(r.Call.Window.Until)
}

// FirstLives is the sentence about the life of the first signature, without a final stop; it covers a delegation beside
// it.
func (r Review) FirstLives() string {
	text := "The first signature stays live " + r.LiveFor()
	if v := r.Call; v != nil && v.Delegation != nil {
		text += "; the delegation never expires"
	}
	return text
}

// StillLive says what was signed and can still be used, when a quote cannot be confirmed. paid: payments of this
// operation were signed; sent: it was sent.
func (r Review) StillLive(paid, sent bool) string {
	const listed = "; Activity lists it under outstanding signatures."
	switch {
	case r.Exchange():
		return "What you signed for an earlier quote can still be used until it ends" + listed
	case paid:
		return "The payments were signed, and nothing shows that they were accepted. Those signatures can still be " +
			"used until they end" + listed
	case sent:
		return "It was sent before, and nothing shows that it was accepted. What was signed for it can still be used " +
			"until it ends" + listed
	}
	return "No payment was signed. " + r.FirstLives() + listed
}

// demand is what confirming the review takes.
func (r Review) demand() consent.Demand { return consent.Demanded(r.Catalog, r.Review, r.Person) }

// named writes an address in full and its name in the contact book behind it.
func (r Review) named(to string) []Span {
	if name := r.nameOf(to); name != "" {
		return []Span{address(to), gap(), aside(name)}
	}
	return []Span{address(to)}
}

func (r Review) nameOf(to string) string {
	if r.Names == nil {
		return ""
	}
	return Clean(r.Names(Checksummed(to)), 60)
}

// coins writes wei of the target chain in its own coin.
func (r Review) coins(wei *big.Int) string { return Coins(r.Catalog, r.Call.Chain.ID, wei) }

// asked writes an amount of the intent: base units of an aggregated or a single asset.
func (r Review) asked(asset, text string) []Span {
	v, err := amount.ParseBase(text)
	if err != nil {
		return []Span{missing()}
	}
	if symbol, decimals, ok := Asset(r.Catalog, asset); ok {
		return amountSpans(verify.AmountView{Amount: v, Decimals: decimals, Symbol: symbol})
	}
	return []Span{say(amount.Group(v.String()) + " base units of " + Clean(asset, 120))}
}

// Asset finds the unit of an aggregated ("ob:usdc") or a single asset (CAIP-19).
func Asset(c *catalog.Catalog, id string) (symbol string, decimals int, ok bool) {
	if agg, ok := c.Aggregate(caip.AggregateID(id)); ok {
		return agg.Symbol, agg.Decimals, true
	}
	if a, err := caip.ParseAsset(id); err == nil {
		if e, ok := c.Entity(a); ok {
			return e.Symbol, e.Decimals, true
		}
	}
	return "", 0, false
}

// sums are the amounts of a quote with one figure per asset over all chains.
func (r Review) sums(list []verify.AmountView) []verify.AmountView {
	return consent.ByAsset(r.Catalog, list)
}

// address shows the address of which characters are typed, and why, where that is not because of the payee; sentence
// shows the sentence that confirms behind an open gate, exactly as it has to be typed.
func (p *Page) address(d consent.Demand) {
	if d.Address != "" && !d.Payee {
		p.text(strong("To confirm, characters of this address have to be typed, because " + Because(d) + ":"))
		p.prose(1, nil, address(d.Address))
	}
}

func (p *Page) sentence(phrase, path string) {
	if phrase != "" {
		p.text(marked(ToneDanger, "To sign anyway, type this sentence exactly:"))
		p.prose(1, []string{path}, strong(phrase))
	}
}

// identity is the fold of what identifies exactly this document and intent, as a second machine prints it.
func (p *Page) identity(v, path string) {
	p.add(Block{Kind: KindFold, Label: "bytes, hashes, nonces", Fold: Fold{Key: "i", Apart: true,
		Inside: Page{{Kind: KindRow, Table: TableAsked, Label: "review code", Paths: []string{path},
			Spans: []Span{grouped(v), gap(), aside("(coffer verify)")}}}}})
}

// delegationAt is a delegation, the number of the signature that makes it (0: the one that review 1 asks for), and its
// place.
type delegationAt struct {
	*verify.DelegationView
	signature int
	path      string
}

// together lists delegations to the same code of the same EOA together.
func together(all []delegationAt) [][]delegationAt {
	var out [][]delegationAt
	for _, d := range all {
		i := slices.IndexFunc(out, func(x []delegationAt) bool {
			return d.Authority == x[0].Authority && d.Contract == x[0].Contract && d.ContractName == x[0].ContractName
		})
		if i < 0 {
			out = append(out, []delegationAt{d})
		} else {
			out[i] = append(out[i], d)
		}
	}
	return out
}

// delegated warns in one sentence of what EIP-7702 authorizations do (TH-D6): once for each EOA and code.
func (p *Page) delegated(all []delegationAt) {
	for _, same := range together(all) {
		d := same[0]
		name, when, where := Clean(d.ContractName, 80), "this signature", chainName(d.Chain)
		if name == "" {
			name = "an unknown contract"
		}
		switch {
		case len(same) > 1:
			when, where = "these signatures", "each chain below"
		case d.signature > 0:
			when = "signature " + strconv.Itoa(d.signature)
		}
		p.prose(0, pathsOf(same, ".contractName"), marked(ToneWarn, "From "+when+" on, other code ("+name+
			") controls your EOA on "+where+", until you change it"))
	}
}

func pathsOf(all []delegationAt, field string) []string {
	var out []string
	for _, x := range all {
		out = append(out, x.path+field)
	}
	return out
}

// delegations list exactly what delegated warns of, with every chain on which it is valid.
func (p *Page) delegations(all []delegationAt) {
	for _, same := range together(all) {
		d := same[0]
		p.row(TableMoves, 0, "Your EOA", pathsOf(same, ".authority"), address(d.Authority))
		p.row(TableMoves, 0, "Code", pathsOf(same, ".contract"), address(d.Contract))
		for i, x := range same {
			label, text := "", chainName(x.Chain)+" ("+Clean(x.Chain.CAIP, 60)+") only, with account nonce "+
				strconv.FormatUint(x.Nonce, 10)
			if i == 0 {
				label = "Where"
			}
			if len(same) > 1 {
				text += ", signature " + strconv.Itoa(x.signature)
			}
			p.row(TableMoves, 0, label, []string{x.path + ".chain", x.path + ".nonce"}, say(text))
		}
		p.row(TableMoves, 0, "To undo", nil, say("coffer accounts undelegate, or a delegation to other code"))
	}
}

// argLabel is the name of an argument, or its number.
func argLabel(name string, i int) string {
	if name == "" {
		return "#" + strconv.Itoa(i)
	}
	return Clean(name, 60)
}

// item is the path of an element of a list.
func item(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

func bytesOf(data string) string { return strings.TrimPrefix(strings.ToLower(data), "0x") }
