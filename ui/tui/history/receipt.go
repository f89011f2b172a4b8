package history

import (
	"cmp"
	"math/big"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
)

// receipt is one record as plain text for a person: the action, its cost as far as it is known, and where to look it
// up. Nothing is cut.
func (m *Model) receipt(r *record) string {
	ln := newFormatter(m.receipts())
	var b strings.Builder
	put := func(label, value string) {
		if value != "" {
			b.WriteString(kit.Fit(label, 14) + value + "\n")
		}
	}
	_, status := statusLook(r.status.Value())
	b.WriteString("Coffer receipt\n\n" + ln.sentence(r, open) + "\n\n")
	put("status", status)
	put("", present.Status(m.ctx.Network.Kind, r.status.Value()))
	if r.reason.Value() != "" {
		what, _ := present.RefundReason(r.reason.Value())
		put("reason", strings.TrimSpace(r.reason.Value()+"  "+what))
	}
	put("time", utc(r.at()))
	put("quote id", r.id)
	put("account", r.user.Value())
	put("recipient", r.recipient.Value())
	paid, received := present.AmountLabels(r.kind.Value(), r.status.Value())
	put(paid, amountText(ln.paid(r), r.paid, usd(r.paidUSD)))
	put(received, amountText(ln.received(r), r.got, r.micro()))
	if r.minimum != "" {
		put("at least", figure(r.minimum, ln.gotUnit(r)))
	}
	own := m.receipts()
	for _, row := range own.Rows(ln.facts(r)) {
		put(cmp.Or(row.Label, " "),
			strings.Join(strings.Fields(row.Name+" "+present.Checksummed(row.Address)+" "+row.Text), " "))
	}
	for _, l := range r.legs {
		side := "target chain"
		if l.origin {
			side = "origin chain"
		}
		b.WriteString("\n")
		put(side, ln.chain(l.chain).name+" ("+l.chain.Value()+")")
		put("transaction", l.hash)
		put("page", m.pageText(l))
	}
	if r.more > 0 {
		b.WriteString("\nand " + present.Plural(r.more, "transaction", "transactions") + " more\n")
	}
	b.WriteString("\n")
	put("service", present.Clean(m.ctx.BaseURL, maxLink))
	put("network", m.ctx.Network.ID)
	put("printed", utc(m.ctx.Clock()))
	b.WriteString("\nThe figures are the service's own; this program has not checked them again. Payees, payments " +
		"and fees are from this wallet's\n" +
		"journal: what was reviewed and signed.\n")
	return b.String()
}

func utc(t time.Time) string {
	if t.IsZero() {
		return amount.Unknown
	}
	return t.UTC().Format("2006-01-02 15:04:05 MST")
}

// amountText writes an amount with its base units and its value.
func amountText(human, base string, micro *big.Int) string {
	value := "value " + amount.Unknown
	if micro != nil {
		value = present.USD(micro)
	}
	return orNone(human) + "  (" + cmp.Or(base, amount.Unknown) + " base units, " + value + ")"
}

// pageText is the address of a page; it marks one that is not the known explorer's.
func (m *Model) pageText(l leg) string {
	url := l.url()
	if url != "" && !m.ctx.KnownPage(l.chain.Value(), url) {
		return url + "  (not a page of the known explorer: do not trust it)"
	}
	return url
}

// printReceipt writes the receipt of the selected record.
func (m *Model) printReceipt() tea.Cmd {
	text, write := m.receipt(m.chosen), m.ctx.Export
	name := "receipt-" + fileID(m.chosen.id) + ".txt"
	return func() tea.Msg {
		path, err := write(name, []byte(text))
		return exportedMsg{what: "receipt", path: path, err: err}
	}
}

// fileID is the end of an id, in letters and digits that every file system accepts.
func fileID(id string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(id) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	s := b.String()
	if s == "" {
		return "record"
	}
	return s[max(0, len(s)-12):]
}
