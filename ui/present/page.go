package present

import (
	"math/big"
	"slices"
	"strings"

	"coffer/api/amount"
	"coffer/wallet/verify"
)

// Tone is what a piece of text means. A front end gives it a colour, a sign or a word.
type Tone int

// The tones. ToneFigure is the digits of an amount, ToneZeros its trailing zeros: front ends without colours leave them
// out. ToneGap is two blanks between two facts, or a comma.
const (
	TonePlain Tone = iota
	ToneFigure
	ToneZeros
	ToneStrong
	ToneDim
	ToneGood
	ToneWarn
	ToneDanger
	ToneUnknown
	ToneGap
)

// Sign says where the sign of the tone goes. Given and Pending tick a signature off, or not yet.
type Sign int

// The places of a sign.
const (
	NoSign Sign = iota
	Before
	After
	Given
	Pending
)

// Span is a piece of text in one tone. Whole keeps it on one line if a line can hold it. Raw is the same without the
// blanks that help reading, for copying; "" where there are none.
type Span struct {
	Text  string
	Raw   string
	Tone  Tone
	Sign  Sign
	Whole bool
}

// Kind is the form of a block.
type Kind int

// The forms.
const (
	KindProse Kind = iota
	KindRow
	KindLedger  // amounts, one below the other; those of a table share their column, also across blocks
	KindPairs   // what was asked for beside what the operation contains
	KindChanges // old figures beside new ones
	KindFold    // a part that explains and binds nothing
	KindBlank
)

// Table names the rows that share a column of labels.
type Table int

// The tables: account and times; what leaves and arrives, and to whom; the request; the figures of a quote for a call,
// and for a swap or a transfer; the tokens that the calls need; the page of bytes; a Solana message; what a check
// compared, and one of the person's policy; the sum beside a review.
const (
	TableOperation Table = iota
	TableMoves
	TableAsked
	TableCosts
	TableExchanged
	TableNeeded
	TableHashes
	TableMessage
	TableFound
	TableLimited
	TableBeside
)

// Block is one statement of a page. Paths are the facts of package consent that it shows; no other block of the page
// shows them.
type Block struct {
	Kind    Kind
	Level   int   // 0, or more below the block that it belongs to
	Depth   int   // of an argument inside another one
	Table   Table // of a Row or a Ledger
	Label   string
	Spans   []Span
	Right   []Span // a verdict at the right end of a Prose
	Entries []Entry
	Pairs   []Pair
	Changes []Change
	Fold    Fold
	Code    string // of a finding: its level and the code of its check
	// 0 is shown at once. 1 is what a finding compared and 2 a finding that asks for nothing: a screen lists both on
	// its page of checks.
	Detail int
	Paths  []string
	First  bool // a listener hears it before anything else: the headline, the warnings, the cost
}

// The letters of the folds with the arithmetic of a quote, and with its differences from the last one.
const (
	ArithmeticKey = "a"
	SinceKey      = "d"
)

// Fold is what a KindFold holds. Key is the letter that opens it. Open: something in it needs a look, so that it cannot
// be shut. Apart: a screen shows it on a page of its own.
type Fold struct {
	Key         string
	Open, Apart bool
	Inside      Page
}

// Entry is a line of a Ledger: an amount, or Text instead of one, with remarks. Of the entries with the same Group the
// first one has its name.
type Entry struct {
	Group  string
	Label  string
	Amount *verify.AmountView
	Text   string
	Tone   Tone
	Way    Way
	Note   []Span
}

// Way says whether an amount leaves the account or arrives.
type Way int

// The ways. Stays: the amount does not move.
const (
	Stays Way = iota
	Leaves
	Arrives
)

// Pair is an item of the request and its counterpart in the operation. Brief is Asked in fewer words, for front ends
// that show one below the other; each may be empty.
type Pair struct{ Asked, Brief, Holds []Block }

// Page is a text that front ends lay out. It has no colours, no keys and no width.
type Page []Block

// Paths lists the facts that a page shows.
func (p Page) Paths() []string {
	var out []string
	for _, b := range p {
		out = append(out, b.Paths...)
		for _, x := range b.Pairs {
			out = append(out, Page(slices.Concat(x.Asked, x.Holds)).Paths()...)
		}
		out = append(out, b.Fold.Inside.Paths()...)
	}
	return out
}

// Shut empties the folds that are not open; opened are the keys of those that the person opened.
func (p Page) Shut(opened map[string]bool) Page {
	out := slices.Clone(p)
	for i, b := range out {
		if b.Kind == KindFold && !b.Fold.Open && !opened[b.Fold.Key] {
			out[i].Fold.Inside = nil
		}
	}
	return out
}

// Folds are the folds of a page, in their order.
func (p Page) Folds() []Block {
	return slices.DeleteFunc(slices.Clone(p), func(b Block) bool { return b.Kind != KindFold })
}

// fold adds a part that explains. It is open and cannot be shut where a tone in it asks for a look.
func (p *Page) fold(key, name string, inside Page) {
	if len(inside) > 0 {
		p.add(Block{Kind: KindFold, Label: name, Fold: Fold{Key: key, Open: inside.alarms(), Inside: inside}})
	}
}

// alarms reports whether anything of a page is a warning or unknown.
func (p Page) alarms() bool {
	loud := func(list []Span) bool {
		return slices.ContainsFunc(list, func(s Span) bool {
			return s.Tone == ToneWarn || s.Tone == ToneDanger || s.Tone == ToneUnknown
		})
	}
	return slices.ContainsFunc(p, func(b Block) bool {
		return loud(b.Spans) || loud(b.Right) || slices.ContainsFunc(b.Entries, func(e Entry) bool {
			return loud(e.Note) || loud([]Span{{Tone: e.Tone}})
		})
	})
}

// First are the blocks that a listener hears first, Rest all others.
func (p Page) First() Page {
	return slices.DeleteFunc(slices.Clone(p), func(b Block) bool { return !b.First })
}

// Rest are the blocks that First leaves out.
func (p Page) Rest() Page {
	return slices.DeleteFunc(slices.Clone(p), func(b Block) bool { return b.First })
}

// first marks all blocks so far as those that a listener hears first.
func (p Page) first() {
	for i := range p {
		p[i].First = true
	}
}

// Without leaves the blocks out that are more detailed than level.
func (p Page) Without(level int) Page {
	return slices.DeleteFunc(slices.Clone(p), func(b Block) bool { return b.Detail > level })
}

func (p *Page) add(b Block) { *p = append(*p, b) }

func (p *Page) prose(level int, paths []string, spans ...Span) {
	p.add(Block{Level: level, Spans: spans, Paths: paths})
}

// text is a sentence that shows no fact.
func (p *Page) text(spans ...Span) { p.prose(0, nil, spans...) }

func (p *Page) row(t Table, level int, label string, paths []string, spans ...Span) {
	p.add(Block{Kind: KindRow, Table: t, Level: level, Label: label, Spans: spans, Paths: paths})
}

func (p *Page) blank() { p.add(Block{Kind: KindBlank}) }

// The pieces of text.

func say(s string) Span            { return Span{Text: s} }
func strong(s string) Span         { return Span{Text: s, Tone: ToneStrong} }
func dim(s string) Span            { return Span{Text: s, Tone: ToneDim} }
func aside(s string) Span          { return Span{Text: s, Tone: ToneDim, Whole: true} }
func gap() Span                    { return Span{Text: "  ", Tone: ToneGap} }
func marked(t Tone, s string) Span { return Span{Text: s, Tone: t, Sign: Before} }
func ended(t Tone, s string) Span  { return Span{Text: s, Tone: t, Sign: After} }

// remark is a short marked fact behind another one.
func remark(t Tone, s string) Span { return Span{Text: s, Tone: t, Sign: After, Whole: true} }

// address writes an address in full, in groups of four, kept on one line.
func address(a string) Span { return Span{Text: Address(a), Raw: Checksummed(a), Whole: true} }

// grouped writes bytes in hex in groups of four.
func grouped(hex string) Span { return Span{Text: Groups(hex), Raw: Whole(hex)} }

// missing is a figure that is not known.
func missing() Span { return Span{Text: amount.Unknown, Tone: ToneUnknown} }

// Exact writes all decimals of an amount in base units, grouped in thousands, in two parts: 250500000 with 6 decimals
// is "250.5" and "00000". nil is "?".
func Exact(v *big.Int, decimals int) (digits, zeros string) {
	if v == nil || decimals < 0 || decimals > amount.MaxDecimals {
		return UnknownText, ""
	}
	return Zeros(amount.Group(amount.Format(v, decimals)))
}

// Zeros splits a decimal figure before its trailing zeros; the point goes with the zeros when no other digit follows
// it.
func Zeros(s string) (digits, zeros string) {
	if !strings.Contains(s, ".") {
		return s, ""
	}
	digits = amount.Trim(s)
	return digits, s[len(digits):]
}

// amountSpans writes an amount with its unit: exactly, with all decimals, when the asset is known, else in base units
// with the asset's id.
func amountSpans(a verify.AmountView) []Span {
	switch {
	case a.Amount == nil:
		return []Span{missing()}
	case a.Decimals < 0:
		return []Span{say(Amount(a))}
	}
	digits, zeros := Exact(a.Amount, a.Decimals)
	return []Span{{Text: digits, Tone: ToneFigure}, {Text: zeros, Tone: ToneZeros},
		{Text: " " + Clean(a.Symbol, 60), Whole: true}}
}

// Worth is the value of an amount.
func Worth(a verify.AmountView) string { return Value(a.Micro) }
