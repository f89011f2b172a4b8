package history

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api/catalog"
	"coffer/ui/present"
)

// A filter is words separated by spaces; a record matches when every word does. `key:value` looks at one thing,
// `key:one,two` at either of two; any other word is searched in everything that is shown of a record. "…" keeps spaces
// together, and - before a word negates it. The keys:
//
//	status:   pending, in-progress, executed, completed, refunded, failed, seen, unknown, unfinished
//	type:     call, swap, transfer; received, sent and seen for what own nodes saw
//	chain:    name, short name or CAIP-2 id of an origin or target chain
//	asset:    symbol, ob: id or CAIP-19 id of what was paid or delivered
//	after:    2026, 2026-03, 2026-03-31 or 30d: from the first moment of it on, or from that many days ago
//	before:   up to its first moment
//	in:       within that year, month or day
//
// A word with a mistake is ignored, and the mistake is named.

// query is a parsed filter.
type query struct {
	text     string
	terms    []term
	mistakes []string
}

func (q query) active() bool { return len(q.terms) > 0 || len(q.mistakes) > 0 }

// term is one word.
type term struct {
	not      bool
	key      string
	values   []string
	from, to int64 // Unix milliseconds of a period: from ≤ t < to
}

// filterHelp is the help line.
const filterHelp = "words, and status: type: chain: asset: after: before: in:  - negates"

// maxTerms bounds the words of a filter.
const maxTerms = 32

// parser reads filters; now anchors "30d", and its location the days.
type parser struct {
	catalog *catalog.Catalog
	now     time.Time
}

func (p parser) parse(text string) query {
	text = present.Clean(text, maxFilter)
	q := query{text: text}
	for _, w := range split(text) {
		if len(q.terms)+len(q.mistakes) == maxTerms {
			q.mistakes = append(q.mistakes, "a filter has at most "+strconv.Itoa(maxTerms)+" words")
			break
		}
		t, mistake := p.term(w)
		switch {
		case mistake != "":
			q.mistakes = append(q.mistakes, mistake)
		case len(t.values) > 0 || t.key != "":
			q.terms = append(q.terms, t)
		}
	}
	return q
}

// piece is a word of a filter: literal up to colon, unless it is quoted.
type piece struct {
	text  string
	colon int // of the first colon outside quotes, -1
}

// split splits a filter into words; an unclosed quote runs to the end.
func split(text string) []piece {
	var out []piece
	var cur strings.Builder
	colon, quoted, some := -1, false, false
	end := func() {
		if cur.Len() > 0 || some {
			out = append(out, piece{cur.String(), colon})
		}
		cur.Reset()
		colon, some = -1, false
	}
	for _, r := range text {
		switch {
		case r == '"':
			quoted, some = !quoted, true
		case r == ' ' && !quoted:
			end()
		default:
			if r == ':' && !quoted && colon < 0 {
				colon = cur.Len()
			}
			cur.WriteRune(r)
		}
	}
	end()
	return out
}

func (p parser) term(w piece) (t term, mistake string) {
	if rest, ok := strings.CutPrefix(w.text, "-"); ok && rest != "" {
		t.not = true
		w.text, w.colon = rest, w.colon-1
	}
	if w.colon <= 0 || strings.HasPrefix(w.text, "ob:") || strings.HasPrefix(w.text, "eip155:") ||
		strings.HasPrefix(w.text, "solana:") {
		if w.text != "" {
			t.values = []string{strings.ToLower(w.text)}
		}
		return t, ""
	}
	t.key = strings.ToLower(w.text[:w.colon])
	value := strings.ToLower(w.text[w.colon+1:])
	if value == "" {
		return term{}, t.key + ": needs a value after the colon"
	}
	for v := range strings.SplitSeq(value, ",") {
		if v != "" {
			t.values = append(t.values, v)
		}
	}
	if len(t.values) == 0 {
		return term{}, t.key + ": needs a value after the colon"
	}
	return t, p.check(&t)
}

// check validates the values of a key and says what is wrong with them.
func (p parser) check(t *term) string {
	switch t.key {
	case "status":
		return t.among(statusNames())
	case "type":
		return t.among([]string{"call", "swap", "transfer", "received", "sent", "seen"})
	case "chain":
		for _, v := range t.values {
			if !p.chain(v) {
				return "no chain is called " + quoted(v)
			}
		}
	case "asset":
		for _, v := range t.values {
			if !strings.Contains(v, ":") && !p.asset(v) {
				return "no asset is called " + quoted(v)
			}
		}
	case "after", "before", "in":
		return p.period(t)
	default:
		return "there is no " + quoted(t.key+":") + "; write status: type: chain: asset: after: before: in:"
	}
	return ""
}

// among completes the start of a name when only one name has it.
func (t *term) among(names []string) string {
	for i, v := range t.values {
		var fits []string
		for _, n := range names {
			if n == v {
				fits = []string{n}
				break
			}
			if strings.HasPrefix(n, v) {
				fits = append(fits, n)
			}
		}
		if len(fits) != 1 {
			return quoted(v) + " is no " + t.key + "; write " + strings.Join(names, ", ")
		}
		t.values[i] = fits[0]
	}
	return ""
}

func quoted(s string) string { return "‘" + present.Clean(s, 24) + "’" }

func (p parser) chain(want string) bool {
	for _, c := range append(p.catalog.Chains(), p.catalog.Solana()) {
		if isChain(c.Name, c.Short, c.Chain.String(), want) {
			return true
		}
	}
	return false
}

// isChain accepts the start of a name.
func isChain(name, short, id, want string) bool {
	return strings.EqualFold(short, want) || strings.EqualFold(id, want) ||
		len(name) >= len(want) && strings.EqualFold(name[:len(want)], want)
}

func (p parser) asset(symbol string) bool {
	return slices.ContainsFunc(p.catalog.Aggregates(), func(a catalog.Aggregate) bool {
		return strings.EqualFold(a.Symbol, symbol) ||
			slices.ContainsFunc(a.Entities, func(e catalog.Entity) bool { return strings.EqualFold(e.Symbol, symbol) })
	})
}

// period computes the moments of a term about time.
func (p parser) period(t *term) string {
	if len(t.values) > 1 {
		return t.key + ": takes one date"
	}
	from, to, ok := p.dates(t.values[0])
	if !ok {
		return quoted(t.values[0]) + " is no date; write 2026, 2026-03, 2026-03-31 or 30d"
	}
	switch t.key {
	case "after":
		to = time.Time{}
	case "before":
		from, to = time.Time{}, from
	}
	t.from, t.to = noTime, -(noTime + 1)
	if !from.IsZero() {
		t.from = from.UnixMilli()
	}
	if !to.IsZero() {
		t.to = to.UnixMilli()
	}
	return ""
}

// dates is the time that a date covers, in the location of the clock. "30d" runs from that many days before now to now.
func (p parser) dates(s string) (from, to time.Time, ok bool) {
	if days, cut := strings.CutSuffix(s, "d"); cut {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 100_000 {
			return from, to, false
		}
		return p.now.AddDate(0, 0, -n), p.now, true
	}
	for _, f := range []struct {
		layout              string
		years, months, days int
	}{{"2006-01-02", 0, 0, 1}, {"2006-01", 0, 1, 0}, {"2006", 1, 0, 0}} {
		if t, err := time.ParseInLocation(f.layout, s, p.now.Location()); err == nil && t.Year() > 0 {
			return t, t.AddDate(f.years, f.months, f.days), true
		}
	}
	return from, to, false
}
