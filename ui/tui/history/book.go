package history

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// record is one line of history, reduced to what the list and its details show. Strings are cleaned.
type record struct {
	id        string
	when      time.Time // zero: unreadable
	kind      string
	status    string
	reason    string
	verb      string // what was done, without its figure
	from, to  chainLabel
	micro     *big.Int
	paid      string
	received  string
	recipient string
	legs      []leg
}

// chainLabel names a chain in full and in few letters.
type chainLabel struct{ name, short string }

// leg is one transaction. The address of its page is link, with the hash in place of hashMark.
type leg struct {
	origin bool
	chain  string
	name   string
	hash   string
	link   string
	known  bool // link is the known explorer's
}

// Bounds of what a service can make this program hold, in characters: far above every real id and address. Only what is longer is cut, and says so.
const (
	maxID   = 512
	maxLink = 2048
)

// hashMark stands for the hash in a stored link, so that links that differ in nothing else are stored once.
const hashMark = "\x00"

func (l leg) url() string { return strings.ReplaceAll(l.link, hashMark, l.hash) }

// book holds the records in the order of the service. byID finds one by its quote id; words stores repeated text once.
type book struct {
	rows  []*record
	byID  map[string]*record
	words map[string]string
}

func newBook() book {
	return book{byID: map[string]*record{}, words: map[string]string{}}
}

// merge takes over the records of a page. Known ones are brought up to date where they stand; others go in at position at, which then moves
// behind them. It returns the new position, how many were put in and whether a known record was met.
func (b *book) merge(page []*record, at int) (next, added int, met bool) {
	for _, r := range page {
		old, ok := b.byID[r.id]
		if !ok {
			b.rows = slices.Insert(b.rows, min(at, len(b.rows)), r)
			b.byID[r.id] = r
			at++
			added++
			continue
		}
		met = true
		*old = *r
		if i := slices.Index(b.rows[min(at, len(b.rows)):], old); i >= 0 {
			at += i + 1
		}
	}
	return at, added, met
}

// word returns s from the store of repeated text.
func (b *book) word(s string) string {
	if w, ok := b.words[s]; ok {
		return w
	}
	s = strings.Clone(s)
	b.words[s] = s
	return s
}

// reader turns wire records into compact ones.
type reader struct {
	ctx     screen.Context
	catalog *catalog.Catalog
	book    *book
}

func (rd reader) page(in []api.HistoryRecord) []*record {
	out := make([]*record, 0, len(in))
	seen := map[string]bool{}
	for _, t := range in {
		if !seen[t.QuoteID] {
			seen[t.QuoteID] = true
			out = append(out, rd.record(t))
		}
	}
	return out
}

func (rd reader) record(t api.HistoryRecord) *record {
	r := &record{
		id: strings.Clone(kit.Clean(t.QuoteID, maxID)), kind: rd.book.word(kit.Clean(t.Type, 20)), status: rd.book.word(kit.Clean(t.Status, 30)),
		reason: rd.book.word(kit.Clean(t.FailReason, 200)), recipient: rd.book.word(kit.Clean(t.RecipientAccountID, maxID)),
	}
	if when, err := time.Parse(time.RFC3339, t.Timestamp); err == nil {
		r.when = when
	}
	r.paid = rd.book.word(rd.paid(t.OriginToken))
	r.received = rd.book.word(rd.received(t.DestinationToken))
	r.verb = rd.book.word(verb(t.Type, r.received))
	for _, o := range t.OriginChainOperations {
		r.legs = append(r.legs, rd.leg(o, true))
	}
	for _, o := range t.DestinationChainOperations {
		r.legs = append(r.legs, rd.leg(o, false))
	}
	r.from, r.to = rd.fromChains(t), rd.toChain(t)
	if v, ok := api.Number(t.DestinationToken.FiatValue).Micro(); ok && v.Sign() >= 0 {
		r.micro = v
	}
	return r
}

func (rd reader) leg(o api.OperationRef, origin bool) leg {
	l := leg{origin: origin, chain: rd.book.word(kit.Clean(o.Chain, 80)), hash: strings.Clone(kit.Clean(o.Hash, maxID))}
	l.name = rd.chain(o.Chain).name
	link := kit.Clean(o.ExplorerURL, maxLink)
	if !rd.ctx.Pages() {
		link = ""
	}
	l.known = rd.ctx.KnownPage(o.Chain, link)
	if l.hash != "" {
		link = strings.ReplaceAll(link, l.hash, hashMark)
	}
	l.link = rd.book.word(link)
	return l
}

func (rd reader) chain(id string) chainLabel {
	c, err := caip.ParseChain(id)
	if err != nil {
		return chainLabel{"unknown chain", kit.UnknownText}
	}
	if info, ok := rd.catalog.Chain(c); ok {
		return chainLabel{rd.book.word(info.Name), rd.book.word(info.Short)}
	}
	name := rd.book.word(kit.Clean(id, 40))
	return chainLabel{name, name}
}

// paid writes what was paid, in the aggregate's decimals.
func (rd reader) paid(o api.OriginToken) string {
	a, ok := rd.catalog.Aggregate(caip.AggregateID(o.AggregatedAssetID))
	if !ok {
		return rd.single(o)
	}
	return figure(o.Amount, a.Decimals, a.Symbol)
}

// single reads an origin that was asked for as one asset, not as an aggregate.
func (rd reader) single(o api.OriginToken) string {
	if len(o.AssetType) == 1 {
		if e, ok := rd.entity(o.AssetType[0]); ok {
			return figure(o.Amount, e.Decimals, e.Symbol)
		}
	}
	return kit.UnknownText + " " + kit.Clean(strings.TrimPrefix(o.AggregatedAssetID, "ob:"), 20)
}

func (rd reader) received(d api.DestinationToken) string {
	if e, ok := rd.entity(d.AssetType); ok {
		return figure(d.Amount, e.Decimals, e.Symbol)
	}
	return kit.UnknownText + " " + kit.Clean(strings.TrimPrefix(d.AggregatedAssetID, "ob:"), 20)
}

func (rd reader) entity(asset string) (catalog.Entity, bool) {
	id, err := caip.ParseAsset(asset)
	if err != nil {
		return catalog.Entity{}, false
	}
	return rd.catalog.Entity(id)
}

// figure writes "250.5 USDC"; "" for a known zero.
func figure(base string, decimals int, symbol string) string {
	v, err := amount.ParseBase(base)
	switch {
	case err != nil:
		return kit.UnknownText + " " + symbol
	case v.Sign() == 0:
		return ""
	}
	return amount.Human(v, decimals) + " " + symbol
}

// verb says in a word or two what was done to get received.
func verb(kind, received string) string {
	switch {
	case kind == api.RecordSwap && received != "":
		return "swap to"
	case kind == api.RecordTransfer && received != "":
		return "send"
	}
	return kit.Clean(strings.ToLower(kind), 20)
}

// mask writes a figure such as "250.5 USDC", or hides its number.
type mask func(figure string) string

func open(figure string) string { return figure }

// what says in one short phrase what the record is about; sentence has the whole of it.
func (r *record) what(show mask) string { return strings.TrimSpace(r.verb + " " + show(r.received)) }

func (r *record) sentence(show mask) string {
	switch {
	case r.kind == api.RecordSwap && r.paid != "" && r.received != "":
		return "Swap " + show(r.paid) + " to " + show(r.received)
	case r.kind == api.RecordTransfer && r.received != "":
		return "Send " + show(r.received)
	case r.kind == api.RecordCall && r.received != "":
		return "Call that needs " + show(r.received)
	case r.kind == api.RecordCall:
		return "Call"
	}
	return r.what(show)
}

// fromChains names one origin chain, or says how many there are.
func (rd reader) fromChains(t api.HistoryRecord) chainLabel {
	var found []chainLabel
	add := func(c chainLabel) {
		if !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	for _, o := range t.OriginChainOperations {
		add(rd.chain(o.Chain))
	}
	if len(found) == 0 {
		for _, a := range t.OriginToken.AssetType {
			if id, err := caip.ParseAsset(a); err == nil {
				add(rd.chain(id.Chain.String()))
			}
		}
	}
	switch len(found) {
	case 0:
		return chainLabel{kit.UnknownText, kit.UnknownText}
	case 1:
		return found[0]
	}
	many := rd.book.word(kit.Plural(len(found), "chain", "chains"))
	return chainLabel{many, many}
}

func (rd reader) toChain(t api.HistoryRecord) chainLabel {
	if id, err := caip.ParseAsset(t.DestinationToken.AssetType); err == nil {
		return rd.chain(id.Chain.String())
	}
	for _, o := range t.DestinationChainOperations {
		return rd.chain(o.Chain)
	}
	return chainLabel{kit.UnknownText, kit.UnknownText}
}
