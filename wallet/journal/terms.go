package journal

import (
	"cmp"
	"slices"
	"strings"
)

// Terms is what a signed quote was agreed to do, as its review said: it outlives the documents, which are not needed
// again once an operation has ended. Amounts are in base units, assets CAIP-19, which name their chain.
type Terms struct {
	// in the order of the calls; of a swap or a transfer the one recipient
	Payees []Payee `json:"payees,omitempty"`
	Paid   []Spend `json:"paid,omitempty"` // what the payments take, by asset
	// what the call used of what the service said was on its chain before; none: not known
	There []Spend `json:"there,omitempty"`
	Fees  []Spend `json:"fees,omitempty"` // by asset
	// their value in micro USD at the catalogue's prices of that time; "": not known
	FeesMicro string `json:"feesMicro,omitzero"`
	FeesNamed bool   `json:"feesNamed,omitempty"` // the quote named its fees; none named is then no fee
}

// Payee is an account that a call or a transfer pays, or a contract that is called. Asset and Amount are "" where the
// bytes do not say what it gets.
type Payee struct {
	To     string `json:"to"` // checksum form or base58
	Asset  string `json:"asset,omitzero"`
	Amount string `json:"amount,omitzero"`
}

func (t Terms) copy() Terms {
	t.Payees, t.Paid, t.There, t.Fees = slices.Clone(t.Payees), slices.Clone(t.Paid), slices.Clone(t.There),
		slices.Clone(t.Fees)
	return t
}

// Cells are the terms for a table: payees, their assets and amounts, what was there before by asset and amount, fees by
// asset and amount. Lists in one cell have spaces between their items; "unknown" is an amount that the calls do not
// say, "0" no fee, and "" what is not known. A nil t has empty cells.
func (t *Terms) Cells() []string {
	cells := make([]string, 7)
	if t == nil {
		return cells
	}
	put := func(i int, s string) { cells[i] = strings.TrimSpace(cells[i] + " " + cmp.Or(s, "unknown")) }
	for _, p := range t.Payees {
		put(0, p.To)
		put(1, p.Asset)
		put(2, p.Amount)
	}
	for _, x := range t.There {
		put(3, x.Asset)
		put(4, x.Amount)
	}
	for _, x := range t.Fees {
		put(5, x.Asset)
		put(6, x.Amount)
	}
	if t.FeesNamed && len(t.Fees) == 0 {
		put(6, "0")
	}
	return cells
}

// Terms returns what was agreed to for a quote of this journal, found by its id alone; false: none was signed here.
// Records from before terms were written have their recipients as payees, and nothing else.
func (j *Journal) Terms(quoteID string) (Terms, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	t, ok := j.book.terms[strings.ToLower(quoteID)]
	return t.copy(), ok
}

// agree takes in what a record says of the terms of its quote.
func (b *book) agree(o *Operation, r record) {
	id := strings.ToLower(r.entry.QuoteID)
	if r.entry.Terms != nil {
		b.terms[id] = *r.entry.Terms
	}
	if _, known := b.terms[id]; known || r.state != Executing {
		return
	}
	var t Terms
	for _, to := range o.Recipients {
		t.Payees = append(t.Payees, Payee{To: to})
	}
	b.terms[id] = t
}
