package history

import (
	"math/big"
	"strings"
	"time"
	"unique"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
)

// word is text that many records share: it is stored once, and freed with the last record that has it.
type word = unique.Handle[string]

// record is one history line of the service, reduced to what list, details, filter, export and cache need. Its strings
// are cleaned. A record never changes: a newer answer makes a new one, so commands may read it off the event loop.
type record struct {
	id        string
	when      int64 // Unix milliseconds; noTime: unreadable
	kind      word
	status    word
	reason    word
	user      word
	recipient word

	paidOf   word   // aggregated asset of the payment
	paidFrom word   // asset ids that it was paid from, with spaces between
	paid     string // in the aggregate's base units, as the service wrote it
	paidUSD  string // its value, "" when unknown

	gotOf   word // aggregated asset of the delivery
	gotAs   word // asset id on the target chain
	got     string
	gotUSD  string
	minimum string

	legs []leg
	more int // transactions beyond maxLegs
}

// leg is one transaction. link is the address of its page, with hashMark in place of the hash.
type leg struct {
	origin bool
	chain  word
	hash   string
	link   word
}

// Bounds of what a service can make this program hold, in characters: far above every real id and address. Only longer
// text is cut, and says so.
const (
	maxID     = 512
	maxLink   = 2048
	maxAmount = 96
	maxAssets = 32
	maxLegs   = 64
)

const noTime = int64(-1 << 63)

// hashMark replaces the hash in a stored link, so that links that differ in nothing else are stored once.
const hashMark = "\x00"

func (l leg) url() string { return strings.ReplaceAll(l.link.Value(), hashMark, l.hash) }

// at is the time of the record; zero when the service's time is unreadable.
func (r *record) at() time.Time {
	if r.when == noTime {
		return time.Time{}
	}
	return time.UnixMilli(r.when)
}

// final reports whether the status can no longer change.
func (r *record) final() bool { return api.Terminal(r.status.Value()) || r.seen() }

// seen reports whether own nodes saw it and the service has no record of it, or that they could not be asked.
func (r *record) seen() bool {
	_, seen := present.SeenStatus(r.status.Value())
	return seen
}

// unread reports whether it says that own nodes could not be asked.
func (r *record) unread() bool { return r.status.Value() == present.StatusUnread }

// micro is the value of the delivery in micro USD, nil when it is unknown.
func (r *record) micro() *big.Int { return usd(r.gotUSD) }

func usd(text string) *big.Int {
	v, ok := api.Number(text).Micro()
	if !ok || v.Sign() < 0 {
		return nil
	}
	return v
}

// reader turns wire records into compact ones. It has no state, so commands use it off the event loop.
type reader struct{ pages bool }

func readerOf(c screen.Context) reader { return reader{pages: c.Pages()} }

// page reads the records of an answer, each quote id once.
func (rd reader) page(in []api.HistoryRecord) []*record {
	out := make([]*record, 0, len(in))
	seen := make(map[string]bool, len(in))
	for i := range in {
		r := rd.record(&in[i])
		if !seen[r.id] {
			seen[r.id] = true
			out = append(out, r)
		}
	}
	return out
}

func (rd reader) record(t *api.HistoryRecord) *record {
	r := &record{
		id: own(t.QuoteID, maxID), when: noTime, kind: shared(t.Type, 20), status: shared(t.Status, 40),
		reason: shared(t.FailReason, 200),
		user:   shared(t.User, maxID), recipient: shared(t.RecipientAccountID, maxID),
		paidOf: shared(t.OriginToken.AggregatedAssetID, 80), paidFrom: assetList(t.OriginToken.AssetType),
		paid: own(t.OriginToken.Amount, maxAmount), paidUSD: total(t.OriginToken.FiatValue),
		gotOf: shared(t.DestinationToken.AggregatedAssetID, 80), gotAs: shared(t.DestinationToken.AssetType, maxID),
		got: own(t.DestinationToken.Amount, maxAmount), gotUSD: own(t.DestinationToken.FiatValue, maxAmount),
		minimum: own(t.DestinationToken.MinimumAmount, maxAmount),
	}
	if when, err := time.Parse(time.RFC3339, t.Timestamp); err == nil && when.Year() > 0 && when.Year() < 10_000 {
		r.when = when.UnixMilli()
	}
	n := len(t.OriginChainOperations) + len(t.DestinationChainOperations)
	r.legs = make([]leg, 0, min(n, maxLegs))
	r.more = max(0, n-maxLegs)
	for _, o := range t.OriginChainOperations {
		r.add(rd.leg(o, true))
	}
	for _, o := range t.DestinationChainOperations {
		r.add(rd.leg(o, false))
	}
	return r
}

func (r *record) add(l leg) {
	if len(r.legs) < maxLegs {
		r.legs = append(r.legs, l)
	}
}

func (rd reader) leg(o api.OperationRef, origin bool) leg {
	l := leg{origin: origin, chain: shared(o.Chain, 80), hash: own(o.Hash, maxID)}
	link := ""
	if rd.pages {
		link = present.Clean(o.ExplorerURL, maxLink)
	}
	if l.hash != "" {
		link = strings.ReplaceAll(link, l.hash, hashMark)
	}
	l.link = unique.Make(link)
	return l
}

// own is a cleaned copy of text that other records are unlikely to have.
func own(s string, most int) string { return strings.Clone(present.Clean(s, most)) }

// shared is cleaned text that other records are likely to have too.
func shared(s string, most int) word { return unique.Make(present.Clean(s, most)) }

// assetList joins asset ids, as many as are shown.
func assetList(ids []string) word {
	parts := make([]string, 0, min(len(ids), maxAssets)+1)
	for i, id := range ids {
		if i == maxAssets {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, strings.ReplaceAll(present.Clean(id, maxID), " ", "_"))
	}
	return unique.Make(strings.Join(parts, " "))
}

// total adds up the values of the payments; "" when one is unknown or there are none.
func total(values []api.TokenFiat) string {
	if len(values) == 0 || len(values) > maxAssets {
		return ""
	}
	sum := new(big.Int)
	for _, v := range values {
		m := usd(v.FiatValue)
		if m == nil {
			return ""
		}
		sum.Add(sum, m)
	}
	return string(api.Micro(sum))
}
