package compose

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/pattern"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// maxQuestion bounds the text of a question, in bytes.
const maxQuestion = 64 << 10

var reData = pattern.New(`^0x([0-9a-fA-F]{2})*$`)

// ErrNoQuestion means that an order has parts which a question cannot say, such as state overrides.
var ErrNoQuestion = errors.New("this order has parts that a question cannot say; save it as a file instead")

// Question reads the text form of an order (docs/lab.md), without accounts, network and times: those are of the profile
// that asks. The text is strict: nothing is guessed, and every word has to be understood.
func (w *World) Question(text string) (d intent.Draft, problem string) {
	q := &question{w: w}
	if len(text) > maxQuestion {
		return d, "a question has at most 64 KiB"
	}
	if problem := q.split(text); problem != "" {
		return d, problem
	}
	q.d = intent.Draft{Version: intent.Version, SlippageBps: intent.DefaultSlippageBps}
	switch q.next() {
	case intent.KindSwap:
		q.exchange(intent.KindSwap)
	case intent.KindTransfer:
		q.exchange(intent.KindTransfer)
	case intent.KindCall:
		q.call()
	default:
		return d, `a question begins with "swap", "transfer" or "call"`
	}
	if q.problem != "" {
		return d, q.problem
	}
	return Timeless(q.d), ""
}

// QuestionOf writes an order as the text that Question reads back as the same order, without accounts, network and
// times. The error is ErrNoQuestion.
func (w *World) QuestionOf(d intent.Draft) (string, error) {
	d = Timeless(d)
	text := w.written(d)
	back, problem := w.Question(text)
	if problem != "" || !sameOrder(d, back) {
		return "", ErrNoQuestion
	}
	return text, nil
}

// Timeless is what a question keeps of a draft, with one spelling for everything that has several.
func Timeless(d intent.Draft) intent.Draft {
	d.Version, d.Network, d.Accounts, d.ValidAfter, d.ValidUntil = intent.Version, "", nil, "", ""
	d.Calls = slices.Clone(d.Calls)
	for i, c := range d.Calls {
		if c.Value == "0" {
			d.Calls[i].Value = ""
		}
		if c.Data == "0x" {
			d.Calls[i].Data = ""
		}
	}
	if d.SlippageBps == 0 {
		d.SlippageBps = intent.DefaultSlippageBps
	}
	if d.Kind == intent.KindCall {
		d.Kind = ""
	}
	if d.Interface == intent.InterfaceV3 {
		d.Interface = ""
	}
	return d
}

func sameOrder(a, b intent.Draft) bool {
	x, errA := api.Encode(a)
	y, errB := api.Encode(b)
	return errA == nil && errB == nil && bytes.Equal(x.Raw(), y.Raw())
}

// question reads one text. The first problem stops it: what is read afterwards does not matter.
type question struct {
	w       *World
	words   []string // a quoted one begins with a quotation mark
	d       intent.Draft
	problem string
}

// split cuts the text into words; commas and semicolons are words of their own, and quotation marks keep blanks.
func (q *question) split(text string) (problem string) {
	word := strings.Builder{}
	end := func() {
		if word.Len() > 0 {
			q.words = append(q.words, word.String())
			word.Reset()
		}
	}
	quoted := false
	for _, r := range text {
		switch {
		case r == unicode.ReplacementChar || r != ' ' && !unicode.IsPrint(r):
			return "a question is one line of printable text"
		case quoted && r == '"':
			quoted = false
			end()
		case quoted:
			word.WriteRune(r)
		case r == '"':
			if word.Len() > 0 {
				return "a blank goes before a quotation mark"
			}
			quoted = true
			word.WriteRune(r)
		case r == ' ':
			end()
		case r == ',' || r == ';':
			end()
			q.words = append(q.words, string(r))
		default:
			word.WriteRune(r)
		}
	}
	end()
	if quoted {
		return "a quotation mark is not closed"
	}
	return ""
}

func (q *question) next() string {
	if len(q.words) == 0 {
		return ""
	}
	word := q.words[0]
	q.words = q.words[1:]
	return word
}

// take takes these words if they come next.
func (q *question) take(words ...string) bool {
	if len(q.words) < len(words) || !slices.Equal(q.words[:len(words)], words) {
		return false
	}
	q.words = q.words[len(words):]
	return true
}

func (q *question) fail(format string, args ...any) {
	if q.problem == "" {
		q.problem = present.Clean(fmt.Sprintf(format, args...), 300)
	}
}

// expect takes a word that has to come next.
func (q *question) expect(word string) {
	if got := q.next(); got != word && q.problem == "" {
		q.fail("expected %q, found %q", word, got)
	}
}

func (q *question) asset(at caip.Chain) string {
	word := q.next()
	if at != (caip.Chain{}) && !strings.ContainsAny(word, "@:") {
		if e, ok := q.w.AssetOn(at, word); ok {
			return e.Asset.String()
		}
		q.fail("%s", noAsset(word))
		return ""
	}
	id, problem := q.w.Asset(word)
	if problem != "" {
		q.fail("%s", problem)
	}
	return id
}

// amount reads "5 USDC", or "5000000 base ID" for an asset whose decimals are not known; with at, a bare symbol is the
// asset of that chain. The amount is in base units.
func (q *question) amount(at caip.Chain) (asset, base string) {
	figure := q.next()
	units := q.take("base")
	asset = q.asset(at)
	side, known := q.w.Side(asset)
	switch v, err := amount.Parse(figure, side.Decimals); {
	case units:
		v, err := amount.ParseBase(figure)
		if err != nil {
			q.fail("%s", plain(err))
			return asset, ""
		}
		return asset, v.String()
	case q.problem != "":
	case !known:
		q.fail("the decimals of %q are not known: write its amount in base units, such as \"5 base\"", asset)
	case err != nil:
		q.fail("%s", plain(err))
	default:
		return asset, v.String()
	}
	return asset, ""
}

func (q *question) chain() caip.Chain {
	c, problem := q.w.Chain(q.next())
	if problem != "" {
		q.fail("%s", problem)
	}
	return c
}

func (q *question) address(at caip.Chain) string {
	word := q.next()
	if word == "" {
		q.fail("an address is missing")
	} else if problem := addressMistake(at, word); problem != "" {
		q.fail("%q: %s", word, problem)
	}
	return word
}

// exchange reads a swap or a transfer.
func (q *question) exchange(kind string) {
	d := &q.d
	d.Kind, d.Pay, d.Receive = kind, &intent.Pay{}, &intent.Receive{}
	d.Pay.Asset, d.Pay.Amount = q.amount(caip.Chain{})
	if kind == intent.KindTransfer {
		q.expect("to")
		address := q.next()
		q.expect("on")
		at := q.chain()
		if problem := addressMistake(at, address); problem != "" || address == "" {
			q.fail("%q: %s", address, problem)
			return
		}
		d.Receive.Account = AccountOn(at, address)
		if q.take("as") {
			d.Receive.Asset = q.asset(caip.Chain{})
		} else if x := (&Exchange{Pay: d.Pay.Asset}); x.ArriveOn(q.w, at) == "" {
			d.Receive.Asset = x.Receive
		} else {
			q.fail("%s", x.ArriveOn(q.w, at))
		}
	} else {
		q.expect("for")
		d.Receive.Asset = q.asset(caip.Chain{})
		if q.take("to") {
			q.recipient()
		}
	}
	q.clauses(caip.Chain{})
}

// recipient reads who gets what is swapped, and where if the asset does not say so.
func (q *question) recipient() {
	e, exact := q.w.Entity(q.d.Receive.Asset)
	address := q.next()
	at := e.Asset.Chain
	if !exact {
		q.expect("on")
		at = q.chain()
	}
	if problem := addressMistake(at, address); problem != "" || address == "" {
		q.fail("%q: %s", address, problem)
		return
	}
	q.d.Receive.Account = AccountOn(at, address)
}

// call reads calls on a chain.
func (q *question) call() {
	q.expect("on")
	at := q.chain()
	q.d.TargetChain = at.String()
	for {
		c := intent.Call{To: q.address(at)}
		if q.take("value") {
			figure, unit := q.next(), q.next()
			v, err := Quantity(figure+" "+unit, q.w.Coin(at).Decimals, q.w.Coin(at).Symbol)
			switch {
			case unit == "":
				q.fail("a value has a unit, such as %s or wei", q.w.Coin(at).Symbol)
				return
			case err != nil:
				q.fail("%s", plain(err))
				return
			}
			c.Value = v.String()
		}
		if q.take("data") {
			if c.Data = q.next(); !reData.MatchString(c.Data) {
				q.fail("data is 0x and an even number of hexadecimal digits")
			}
		}
		if q.take("function") {
			name, ok := strings.CutPrefix(q.next(), `"`)
			if !ok {
				q.fail("a function is in quotation marks")
			}
			c.Function = name
		}
		q.d.Calls = append(q.d.Calls, c)
		if q.problem != "" || !q.take(";") {
			break
		}
	}
	q.clauses(at)
}

// clauses reads what comes after the commas: at is the chain of a call, zero for a swap or a transfer.
func (q *question) clauses(at caip.Chain) {
	d, call := &q.d, at != caip.Chain{}
	none := false
	seen := map[string]bool{}
	for q.problem == "" && q.take(",") {
		word := q.next()
		if seen[word] && word != "needs" && word != "allow" {
			q.fail("%q is there twice", word)
			return
		}
		seen[word] = true
		switch {
		case word == "slippage":
			figure := q.next()
			if !strings.HasSuffix(figure, "%") {
				q.expect("%")
			}
			bps, problem := Percent(figure)
			if problem != "" {
				q.fail("%s", problem)
			}
			d.SlippageBps = bps
		case word == "interface":
			if q.expect(intent.InterfaceV1); q.problem == "" {
				d.Interface = intent.InterfaceV1
			}
		case word == "at" && !call:
			q.expect("least")
			q.minimum()
		case word == "needs" && call && q.take("nothing"):
			none = true
		case word == "needs" && call:
			asset, base := q.amount(at)
			d.TokensRequired = append(d.TokensRequired, api.TokenRequirement{AssetType: asset, Amount: base})
		case word == "allow" && call:
			asset, base := q.amount(at)
			a := api.AllowanceRequirement{AssetType: asset, Amount: base}
			if q.take("for") {
				a.Spender = q.address(at)
			}
			d.Allowances = append(d.Allowances, a)
		case word == "pay" && call:
			q.expect("with")
			d.FundWith = q.asset(caip.Chain{})
		default:
			q.fail("%q is not understood", word)
		}
	}
	switch {
	case q.problem != "":
	case len(q.words) > 0:
		q.fail("%q is not understood", q.words[0])
	case none && len(d.TokensRequired) > 0:
		q.fail("it needs nothing, and something")
	case call && !none && len(d.TokensRequired) == 0:
		d.TokensRequired = q.w.Spent(*d)
	}
}

// minimum reads the least that is taken, in the asset that arrives.
func (q *question) minimum() {
	asset, base := q.amount(caip.Chain{})
	decimals, _, ok := q.w.Delivered(q.w.ExchangeOf(q.d))
	from, known := q.w.Side(asset)
	to, _ := q.w.Side(q.d.Receive.Asset)
	v, err := amount.ParseBase(base)
	switch {
	case q.problem != "":
	case !ok || !known || err != nil || from.Agg.ID != to.Agg.ID || from.Decimals != decimals:
		q.fail("the least is an amount of what arrives")
	default:
		q.d.Receive.Minimum = v.String()
	}
}

// written writes an order, as far as a question can say it.
func (w *World) written(d intent.Draft) string {
	var b strings.Builder
	switch {
	case d.Exchanges() && d.Pay != nil && d.Receive != nil:
		w.writeExchange(&b, d)
	default:
		w.writeCalls(&b, d)
	}
	fmt.Fprintf(&b, ", slippage %s %%", amount.Trim(strings.TrimSuffix(present.Percent(d.SlippageBps), " %")))
	if d.Interface != "" {
		fmt.Fprintf(&b, ", interface %s", d.Interface)
	}
	return b.String()
}

func (w *World) writeExchange(b *strings.Builder, d intent.Draft) {
	fmt.Fprintf(b, "%s %s", d.Kind, w.writtenAmount(caip.Chain{}, d.Pay.Asset, d.Pay.Amount))
	to, err := caip.ParseAccount(d.Receive.Account)
	if err == nil {
		to, _ = caip.ParseAccount(to.Display())
	}
	_, address, _ := strings.Cut(strings.TrimPrefix(to.Display(), to.Chain.String()), ":")
	arrives := w.writtenAsset(caip.Chain{}, d.Receive.Asset)
	if d.Kind == intent.KindTransfer {
		fmt.Fprintf(b, " to %s on %s", address, w.writtenChain(to.Chain))
		if x := (&Exchange{Pay: d.Pay.Asset}); x.ArriveOn(w, to.Chain) != "" || x.Receive != d.Receive.Asset {
			fmt.Fprintf(b, " as %s", arrives)
		}
	} else {
		b.WriteString(" for " + arrives)
		if _, exact := w.Entity(d.Receive.Asset); d.Receive.Account != "" {
			fmt.Fprintf(b, " to %s", address)
			if !exact {
				fmt.Fprintf(b, " on %s", w.writtenChain(to.Chain))
			}
		}
	}
	if d.Receive.Minimum != "" {
		fmt.Fprintf(b, ", at least %s", w.writtenAmount(caip.Chain{}, d.Receive.Asset, d.Receive.Minimum))
	}
}

func (w *World) writeCalls(b *strings.Builder, d intent.Draft) {
	at, _ := caip.ParseChain(d.TargetChain)
	fmt.Fprintf(b, "call on %s", w.writtenChain(at))
	for i, c := range d.Calls {
		if i > 0 {
			b.WriteString(";")
		}
		b.WriteString(" " + c.To)
		if v, err := amount.ParseBase(c.Value); err == nil && c.Value != "" {
			coin := w.Coin(at)
			fmt.Fprintf(b, " value %s %s", amount.Plain(v, coin.Decimals), coin.Symbol)
		}
		if c.Data != "" {
			b.WriteString(" data " + c.Data)
		}
		if c.Function != "" {
			fmt.Fprintf(b, " function \"%s\"", c.Function)
		}
	}
	for _, r := range d.TokensRequired {
		fmt.Fprintf(b, ", needs %s", w.writtenAmount(at, r.AssetType, r.Amount))
	}
	if len(d.TokensRequired) == 0 && len(w.Spent(d)) > 0 {
		b.WriteString(", needs nothing")
	}
	for _, a := range d.Allowances {
		fmt.Fprintf(b, ", allow %s", w.writtenAmount(at, a.AssetType, a.Amount))
		if a.Spender != "" {
			b.WriteString(" for " + a.Spender)
		}
	}
	if d.FundWith != "" {
		b.WriteString(", pay with " + w.writtenAsset(caip.Chain{}, d.FundWith))
	}
}

// writtenAmount writes an amount with its asset; at is the chain whose assets need no chain.
func (w *World) writtenAmount(at caip.Chain, asset, base string) string {
	name := w.writtenAsset(at, asset)
	if side, ok := w.Side(asset); ok {
		return Whole(base, side.Decimals) + " " + name
	}
	return base + " base " + name
}

func (w *World) writtenAsset(at caip.Chain, asset string) string {
	side, ok := w.Side(asset)
	if !ok {
		return asset
	}
	for _, symbol := range []string{side.Symbol, side.Agg.Symbol} {
		name := symbol
		if e, known := w.AssetOn(at, symbol); side.Exact && known && e.Asset.String() == asset {
			return name
		}
		if side.Exact {
			name += "@" + w.writtenChain(side.Entity.Asset.Chain)
		}
		if id, _ := w.Asset(name); id == asset {
			return name
		}
	}
	return asset
}

// writtenChain writes a chain in one word.
func (w *World) writtenChain(c caip.Chain) string {
	if k, ok := w.Catalog.Chain(c); ok {
		for _, name := range []string{strings.ToLower(k.Name), k.Short} {
			if at, _ := w.Chain(name); at == c && !strings.ContainsAny(name, " ,;\"") {
				return name
			}
		}
	}
	return c.String()
}
