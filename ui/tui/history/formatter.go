package history

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// formatter puts records into words: symbols, decimals and names of chains come from the catalog. It caches its
// look-ups, up to a bound.
type formatter struct {
	catalog    *catalog.Catalog
	aggregate  func(id word) unit // of an aggregated asset
	entity     func(id word) unit // of an asset on one chain
	chain      func(id word) chainLabel
	statusText func(status word) string
	line       func(r *record) line
	receipts   present.Receipts
}

// cached is find with a memory of at most most answers.
func cached[K comparable, V any](most int, find func(K) V) func(K) V {
	made := map[K]V{}
	return func(key K) V {
		v, ok := made[key]
		if !ok {
			if len(made) >= most {
				clear(made)
			}
			v = find(key)
			made[key] = v
		}
		return v
	}
}

// unit is the unit of an asset. decimals is -1 when the catalog does not know the asset.
type unit struct {
	symbol    string
	decimals  int
	aggregate string
	chain     chainLabel
	placed    bool // the id names its chain
}

// chainLabel is the name of a chain, in full and abbreviated.
type chainLabel struct{ name, short string }

// line is what the list shows of a record.
type line struct {
	kind, whom     string
	paid, received string
	sent           string // what the payees of a call got, "": not known here
	from, to       chainLabel
	micro          *big.Int
	more           bool // it is not all that the call needed or that payees got
}

// Bounds of what a formatter caches.
const (
	maxLooked = 4096
	maxLines  = 512
)

func newFormatter(from present.Receipts) *formatter {
	ln := &formatter{catalog: from.Catalog, receipts: from}
	ln.aggregate, ln.entity = cached(maxLooked, ln.findAggregate), cached(maxLooked, ln.findEntity)
	ln.chain = cached(maxLooked, func(id word) chainLabel { return ln.findChain(id.Value()) })
	ln.statusText = cached(maxLooked, func(status word) string { _, words := statusLook(status.Value()); return words })
	ln.line = cached(maxLines, ln.makeLine)
	return ln
}

func (ln *formatter) makeLine(r *record) line {
	l := line{kind: r.kind.Value(), whom: ln.whom(r), paid: ln.paid(r), received: ln.received(r),
		from: ln.origin(r), to: ln.target(r), micro: r.micro()}
	if l.kind == api.RecordCall {
		sent, all := ln.receipts.Sent(ln.facts(r))
		if l.more = !all; sent != "" {
			l.sent = figure(sent, ln.gotUnit(r))
		}
	}
	return l
}

func (ln *formatter) whom(r *record) string {
	return ln.receipts.Whom(ln.facts(r), address(r.recipient.Value()))
}

func (ln *formatter) findChain(id string) chainLabel {
	c, err := caip.ParseChain(id)
	if err != nil {
		return chainLabel{"unknown chain", present.UnknownText}
	}
	if info, ok := ln.catalog.Chain(c); ok {
		return chainLabel{info.Name, info.Short}
	}
	name := present.Clean(id, 40)
	return chainLabel{name, name}
}

func (ln *formatter) findAggregate(id word) unit {
	u := unit{symbol: present.Clean(strings.TrimPrefix(id.Value(), "ob:"), 20), decimals: -1, aggregate: id.Value()}
	if a, ok := ln.catalog.Aggregate(caip.AggregateID(id.Value())); ok {
		u.symbol, u.decimals = a.Symbol, a.Decimals
	}
	return u
}

func (ln *formatter) findEntity(id word) unit {
	u := unit{decimals: -1}
	if a, err := caip.ParseAsset(id.Value()); err == nil {
		u.chain, u.placed = ln.findChain(a.Chain.String()), true
		if e, ok := ln.catalog.Entity(a); ok {
			u.symbol, u.decimals, u.aggregate = e.Symbol, e.Decimals, e.Aggregate.String()
		}
	}
	return u
}

// paidUnit is the unit of the payment: the aggregate's, or that of the one asset that was asked for.
func (ln *formatter) paidUnit(r *record) unit {
	u := ln.aggregate(r.paidOf)
	if u.decimals < 0 {
		if e := ln.entity(r.paidFrom); e.decimals >= 0 {
			return e
		}
	}
	return u
}

// gotUnit is the unit of the delivery.
func (ln *formatter) gotUnit(r *record) unit {
	u := ln.entity(r.gotAs)
	if u.decimals < 0 {
		u.symbol = ln.aggregate(r.gotOf).symbol
	}
	return u
}

func (ln *formatter) paid(r *record) string     { return figure(r.paid, ln.paidUnit(r)) }
func (ln *formatter) received(r *record) string { return figure(r.got, ln.gotUnit(r)) }

// figure writes "250.5 USDC"; "" for a known zero.
func figure(base string, u unit) string {
	v, err := amount.ParseBase(base)
	switch {
	case err != nil || u.decimals < 0:
		return present.UnknownText + " " + u.symbol
	case v.Sign() == 0:
		return ""
	}
	return amount.Human(v, u.decimals) + " " + u.symbol
}

// mask writes a figure such as "250.5 USDC", or hides its number.
type mask func(figure string) string

func open(figure string) string { return figure }

// brief writes a figure with the digits that a list has room for. The details have all of them.
func brief(show mask, more string) mask {
	return func(figure string) string { return show(present.Brief(figure, more)) }
}

// what describes the record in one short phrase; sentence describes it in full.
func (l line) what(show mask, arrow string) string {
	received := show(cmp.Or(l.sent, l.received))
	if l.more {
		received += " etc."
	}
	return present.Deed(l.kind, show(l.paid), received, l.whom, l.to.name, arrow)
}

func (ln *formatter) sentence(r *record, show mask) string {
	l, kind := ln.line(r), r.kind.Value()
	switch {
	case r.unread():
		return "What others did is not known"
	case kind == api.RecordSwap && l.paid != "" && l.received != "":
		return "Swap " + show(l.paid) + " to " + show(l.received)
	case kind == api.RecordTransfer && l.received != "":
		return "Send " + show(l.received)
	case kind == api.RecordCall && l.received != "":
		return "Call that needs " + show(l.received)
	case kind == api.RecordCall:
		return "Call"
	}
	return l.what(show, "→")
}

// origins names the origin chains, each once.
func (ln *formatter) origins(r *record) []chainLabel {
	var found []chainLabel
	add := func(c chainLabel) {
		if !slices.Contains(found, c) {
			found = append(found, c)
		}
	}
	for _, l := range r.legs {
		if l.origin {
			add(ln.chain(l.chain))
		}
	}
	if len(found) > 0 {
		return found
	}
	for a := range strings.SplitSeq(r.paidFrom.Value(), " ") {
		if id, err := caip.ParseAsset(a); err == nil {
			add(ln.findChain(id.Chain.String()))
		}
	}
	return found
}

// origin names one origin chain, or says how many there are.
func (ln *formatter) origin(r *record) chainLabel {
	switch found := ln.origins(r); len(found) {
	case 0:
		return chainLabel{present.UnknownText, present.UnknownText}
	case 1:
		return found[0]
	default:
		many := present.Plural(len(found), "chain", "chains")
		return chainLabel{many, many}
	}
}

func (ln *formatter) target(r *record) chainLabel {
	if u := ln.entity(r.gotAs); u.placed {
		return u.chain
	}
	for _, l := range r.legs {
		if !l.origin {
			return ln.chain(l.chain)
		}
	}
	return chainLabel{present.UnknownText, present.UnknownText}
}

// success reports COMPLETED and nothing else (TH-H4).
func (r *record) success() bool { return verify.Status(r.status.Value()).Success }
