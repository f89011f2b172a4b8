package journal

import (
	"math/big"
	"slices"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/wallet/verify"
)

// beside names the operation that is judged: what its next step replaces does not count. prepared keeps its prepared
// call among what counts.
type beside struct {
	op       string
	prepared bool
}

// replaces reports whether the step that is judged takes the place of a signature: of a payment that was never sent,
// and, when the call is prepared again, of the prepared one while it is open, because the next must then have its nonce
// (TH-U3).
func (j beside) replaces(op string, s Signature, now time.Time) bool {
	switch {
	case op != j.op:
		return false
	case s.QuoteID != "":
		return !s.Sent
	}
	return !j.prepared && !s.ended(now)
}

// spent sums by account and asset what was signed since a moment and counts against the caps (TH-Y5). The word of the
// service takes nothing off: a signature that was sent counts however its operation ended, for it may run in spite of
// that word, and so does what came back. Left out is what cannot happen: a payment that was never sent and that the
// same operation replaced by a later signed quote, and what lost its nonce to another operation. Of the signatures of
// one operation for one nonce only one can run, so they count with the largest amount of each asset.
func (b *book) spent(since, now time.Time, judged beside) []verify.Spend {
	var out []verify.Spend
	for _, id := range b.order {
		most := map[slot][]verify.Spend{}
		var places []slot
		for _, s := range b.ops[id].counted() {
			at := s.slot()
			taken, used := b.used[at]
			if judged.replaces(id, s, now) || s.Made.Before(since) || (used && taken != s.OpHash) {
				continue
			}
			var sum []verify.Spend
			for _, p := range s.counts() {
				sum = add(sum, p)
			}
			for i := range sum {
				sum[i].Account = s.Sender
			}
			if !slices.Contains(places, at) {
				places = append(places, at)
			}
			most[at] = largest(most[at], sum)
		}
		for _, at := range places {
			for _, p := range most[at] {
				out = plus(out, p)
			}
		}
	}
	return out
}

// counts is what of a signature counts. Records from before it was written count all that could leave the account.
func (s Signature) counts() []Spend {
	if s.Kind == "" {
		return s.Spend
	}
	return s.Counts
}

// counted are the signatures of an operation that may take effect: every one that was sent, and those of the last quote
// that was signed.
func (o *Operation) counted() []Signature {
	quote := ""
	for _, s := range o.Signatures {
		if s.QuoteID != "" {
			quote = s.QuoteID
		}
	}
	var out []Signature
	for _, s := range o.Signatures {
		if s.Sent || s.QuoteID == quote {
			out = append(out, s)
		}
	}
	return out
}

// add sums an amount that was checked when its record was taken in.
func add(sums []verify.Spend, p Spend) []verify.Spend {
	asset, _ := caip.ParseAsset(p.Asset)
	v, _ := amount.ParseBase(p.Amount)
	return plus(sums, verify.Spend{Asset: asset, Amount: v})
}

func plus(sums []verify.Spend, p verify.Spend) []verify.Spend {
	for _, s := range sums {
		if s.Asset == p.Asset && s.Account == p.Account {
			s.Amount.Add(s.Amount, p.Amount)
			return sums
		}
	}
	p.Amount = new(big.Int).Set(p.Amount)
	return append(sums, p)
}

// largest keeps of each asset the larger amount.
func largest(a, b []verify.Spend) []verify.Spend {
	for _, p := range b {
		i := slices.IndexFunc(a, func(x verify.Spend) bool { return x.Asset == p.Asset })
		switch {
		case i < 0:
			a = append(a, p)
		case a[i].Amount.Cmp(p.Amount) < 0:
			a[i].Amount = p.Amount
		}
	}
	return a
}
