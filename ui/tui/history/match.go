package history

import (
	"slices"
	"strings"
	"unique"

	"coffer/api"
	"coffer/wallet/verify"
)

// match reports whether every word matches.
func (q query) match(ln *formatter, r *record) bool {
	for i := range q.terms {
		if q.terms[i].match(ln, r) == q.terms[i].not {
			return false
		}
	}
	return true
}

func (t *term) match(ln *formatter, r *record) bool {
	switch t.key {
	case "status":
		return slices.ContainsFunc(t.values, r.hasStatus)
	case "type":
		return slices.ContainsFunc(t.values, func(v string) bool { return strings.EqualFold(v, r.kind.Value()) })
	case "chain":
		return slices.ContainsFunc(t.values, func(v string) bool { return ln.touches(r, v) })
	case "asset":
		return slices.ContainsFunc(t.values, func(v string) bool { return ln.moves(r, v) })
	case "after", "before", "in":
		return r.when != noTime && r.when >= t.from && r.when < t.to
	}
	return ln.says(r, t.values[0])
}

func statusNames() []string {
	return []string{"pending", "in-progress", "executed", "completed", "refunded", "failed", "seen", "unknown",
		"unfinished"}
}

func (r *record) hasStatus(name string) bool {
	s := r.status.Value()
	switch name {
	case "unknown":
		return !verify.Status(s).Known && !r.seen()
	case "unfinished":
		return !r.final()
	}
	return s == strings.ReplaceAll(strings.ToUpper(name), "-", "_")
}

// touches reports whether the record involves a chain.
func (ln *formatter) touches(r *record, want string) bool {
	for _, l := range r.legs {
		if c := ln.chain(l.chain); isChain(c.name, c.short, l.chain.Value(), want) {
			return true
		}
	}
	for a := range strings.SplitSeq(r.paidFrom.Value()+" "+r.gotAs.Value(), " ") {
		id, _, _ := strings.Cut(a, "/")
		if id == "" {
			continue
		}
		if c := ln.chain(unique.Make(id)); isChain(c.name, c.short, id, want) {
			return true
		}
	}
	return false
}

// moves reports whether the record involves an asset.
func (ln *formatter) moves(r *record, want string) bool {
	paid, got := ln.paidUnit(r), ln.gotUnit(r)
	if strings.EqualFold(paid.symbol, want) || strings.EqualFold(got.symbol, want) ||
		strings.EqualFold(r.paidOf.Value(), want) || strings.EqualFold(r.gotOf.Value(), want) {
		return true
	}
	return strings.Contains(want, "/") && (containsFold(r.gotAs.Value(), want) ||
		containsFold(r.paidFrom.Value(), want))
}

// says reports whether the text shown of the record contains want, which is in lower case. Cheap texts come first: a
// filter examines ten thousand records between two frames.
func (ln *formatter) says(r *record, want string) bool {
	for _, s := range [...]string{r.id, r.kind.Value(), r.status.Value(), r.reason.Value(), r.recipient.Value(),
		r.user.Value(), r.gotAs.Value(),
		r.paidFrom.Value(), r.paid, r.got, ln.statusText(r.status)} {
		if containsFold(s, want) {
			return true
		}
	}
	for _, l := range r.legs {
		if containsFold(l.hash, want) || containsFold(ln.chain(l.chain).name, want) {
			return true
		}
	}
	paid, got := ln.paidUnit(r), ln.gotUnit(r)
	if containsFold(paid.symbol, want) || containsFold(got.symbol, want) || containsFold(got.chain.name, want) ||
		r.kind.Value() == api.RecordTransfer && (containsFold("send", want) || containsFold("transfer", want)) {
		return true
	}
	if strings.ContainsAny(want, " 0123456789") {
		received := figure(r.got, got)
		if containsFold(r.kind.Value()+" "+received, want) || containsFold("swap to "+received, want) ||
			containsFold(figure(r.paid, paid), want) {
			return true
		}
	}
	return containsFold(ln.whom(r), want)
}

// containsFold is strings.Contains for a lower-case want in a text of any case.
func containsFold(s, want string) bool {
	if len(want) == 0 {
		return true
	}
	for i := 0; i+len(want) <= len(s); i++ {
		if s[i] >= 0x80 {
			return strings.Contains(strings.ToLower(s), want)
		}
		if lower(s[i]) == want[0] && foldsTo(s[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

func foldsTo(s, want string) bool {
	for i := range len(want) {
		if s[i] >= 0x80 {
			return strings.Contains(strings.ToLower(s), want)
		}
		if lower(s[i]) != want[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
