package history

import (
	"cmp"
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// field is one fact of the details, drawn in lines of a fixed width. copy is what `y` copies; "" marks a sentence or a
// heading, which cannot be selected.
type field struct {
	name  string
	copy  string
	money bool // copy reveals an amount
	lines []string
}

// gutter is the room for the mark of the selected field.
const gutter = 2

// detail collects fields of a fixed width.
type detail struct {
	th     theme.Theme
	w      int
	fields []field
}

func (d *detail) plain(lines ...string) { d.fields = append(d.fields, field{lines: lines}) }

func (d *detail) text(s string, st theme.Style) {
	d.plain(kit.Prose(d.w, 0, st.Span(s))...)
}

// fact adds a field with a label; it shows text with more behind it.
func (d *detail) fact(label, name, text, copied string, more ...kit.Span) {
	const labelW = 12
	lines := kit.Row(d.th, d.w, 0, labelW, label, append([]kit.Span{kit.Plain(text)}, more...)...)
	d.fields = append(d.fields, field{name: name, copy: copied, lines: lines})
}

func (d *detail) amount(label, name, text, copied string, more ...kit.Span) {
	d.fact(label, name, text, copied, more...)
	d.fields[len(d.fields)-1].money = true
}

// fieldsOf lists everything about a record. Nothing is cut: ids and addresses wrap between groups.
func (m *Model) fieldsOf(th theme.Theme, r *record, now time.Time, w int) []field {
	d := &detail{th: th, w: w}
	show, l := m.mask(th), m.format.line(r)
	look, word := statusLook(r.status.Value())
	d.text(m.format.sentence(r, show), th.Strong)
	d.fact("status", "status", r.sign(th, look)+" "+word, r.status.Value())
	if at := r.at(); !at.IsZero() {
		local := at.In(now.Location())
		d.fact("time", "time", local.Format("2006-01-02 15:04:05 MST"), local.Format(time.RFC3339))
	}
	d.text(present.Status(m.ctx.Network.Kind, r.status.Value()), th.Text)
	if reason := r.reason.Value(); reason != "" && r.seen() {
		d.text(reason, th.Style(look))
	} else if reason != "" {
		what, todo := present.RefundReason(reason)
		d.text(strings.TrimSpace(what+" "+todo), th.Style(look))
		d.fact("reason", "reason", reason, reason)
	}
	if c := m.book.byID[r.id]; c != nil && !c.sec.live {
		d.text("As it was kept, read "+kit.Age(now, m.keptAt)+"; not read again yet.", th.Dim)
	}
	if r.unread() {
		return d.fields
	}
	d.plain("")
	if r.seen() {
		m.seenFields(d, r, l)
		return d.fields
	}
	m.moneyFields(d, r, l)
	d.plain("")
	d.fact("quote id", "quote id", present.Groups(r.id), r.id)
	d.fact("to", "recipient", present.Address(address(r.recipient.Value())),
		present.Checksummed(address(r.recipient.Value())))
	for _, leg := range r.legs {
		m.legFields(d, leg, false)
	}
	switch {
	case r.more > 0:
		d.text("and "+present.Plural(r.more, "transaction", "transactions")+" more", th.Dim)
	case len(r.legs) == 0:
		d.plain("")
		d.text("no transaction yet", th.Dim)
	}
	d.plain("")
	d.fact("type", "type", strings.ToLower(r.kind.Value()), r.kind.Value())
	d.fact("account", "account", present.Address(r.user.Value()), present.Checksummed(r.user.Value()))
	d.fact("paid asset", "asset id", r.paidOf.Value(), r.paidOf.Value())
	for a := range strings.FieldsSeq(r.paidFrom.Value()) {
		d.fact("taken from", "asset id", a, a)
	}
	d.fact("got asset", "asset id", r.gotAs.Value(), r.gotAs.Value())
	return d.fields
}

// seenFields are what own nodes saw of a transaction.
func (m *Model) seenFields(d *detail, r *record, l line) {
	show := m.mask(d.th)
	label, figure, base, asset := "received", l.received, r.got, r.gotAs.Value()
	if r.kind.Value() == present.TypeSent {
		label, figure, base, asset = "sent", l.paid, r.paid, r.paidFrom.Value()
	}
	if base != "" {
		d.amount(label, "amount", cmp.Or(show(figure), "nothing beside the fee"), bare(figure))
		m.units(d, base)
		d.fact("asset", "asset id", asset, asset)
	} else {
		d.text("What moved is unknown.", d.th.Unknown)
	}
	for _, leg := range r.legs {
		m.legFields(d, leg, true)
	}
	d.plain("")
	d.fact("account", "account", present.Address(r.user.Value()), r.user.Value())
}

// moneyFields are the amounts: as a person writes them, in base units, with their values, and the fees.
func (m *Model) moneyFields(d *detail, r *record, l line) {
	th, show := d.th, m.mask(d.th)
	value := func(micro string) kit.Span {
		v := usd(micro)
		if m.hidden {
			return th.Dim.Span("  " + kit.Masked(th))
		}
		return th.Dim.Span("  " + present.USD(v))
	}
	paid, received := present.AmountLabels(r.kind.Value(), r.status.Value())
	d.amount(paid, "amount", orNone(show(l.paid)), bare(l.paid), value(r.paidUSD))
	m.units(d, r.paid)
	d.amount(received, "amount", orNone(show(l.received)), bare(l.received), value(r.gotUSD))
	m.units(d, r.got)
	if r.minimum != "" {
		least := figure(r.minimum, m.format.gotUnit(r))
		d.amount("at least", "amount", orNone(show(least)), bare(least))
	}
	for _, row := range m.receipts().Rows(m.format.facts(r)) {
		m.receiptField(d, row)
	}
}

// receipts is the source of the facts that the service's records leave out.
func (m *Model) receipts() present.Receipts { return m.ctx.Receipts() }

// facts are what the fees and payees of a record follow from.
func (ln *formatter) facts(r *record) present.Record {
	paid := r.paidOf.Value()
	if ln.aggregate(r.paidOf).decimals < 0 {
		paid = r.paidFrom.Value()
	}
	return present.Record{QuoteID: r.id, Kind: r.kind.Value(), Status: r.status.Value(), GotAsset: r.gotAs.Value(),
		Got: r.got, PaidAsset: paid, Paid: r.paid, PaidMicro: usd(r.paidUSD), GotMicro: r.micro()}
}

// receiptField is one fact of the journal: a payee with its full address, or a figure.
func (m *Model) receiptField(d *detail, row present.Row) {
	text := row.Text
	if row.Money && m.hidden {
		text = kit.Masked(d.th)
	}
	if row.Address == "" {
		d.amount(row.Label, cmp.Or(row.Label, "sum"), text, row.Text)
		return
	}
	var more []kit.Span
	if row.Name != "" {
		more = append(more, kit.Plain("  "+row.Name))
	}
	d.fact(row.Label, row.Label, present.Address(row.Address), present.Checksummed(row.Address),
		append(more, kit.Plain("  "+text))...)
}

// units is the exact amount as the service wrote it.
func (m *Model) units(d *detail, base string) {
	text := base
	if m.hidden {
		text = kit.Masked(d.th)
	}
	if base == "" {
		text = amount.Unknown
	}
	d.amount("", "base units", text, base, d.th.Dim.Span(" base units"))
}

func (m *Model) legFields(d *detail, l leg, seen bool) {
	side := "Transaction on "
	if l.origin && !seen {
		side = "Payment on "
	}
	d.plain("")
	d.text(side+m.format.chain(l.chain).name, d.th.Strong)
	d.fact("chain", "chain id", l.chain.Value(), l.chain.Value())
	d.fact("hash", "hash", "", l.hash,
		d.th.Link(d.th.Text, m.ctx.HashLink(l.chain.Value(), l.hash)).Span(present.Groups(l.hash)))
	url := l.url()
	if url == "" {
		return
	}
	d.fact("page", "page address", "", url, d.th.Link(d.th.Text, m.ctx.Link(l.chain.Value(), url)).Span(url))
	if !m.ctx.KnownPage(l.chain.Value(), url) {
		d.text(d.th.Signs.Warn+" not a page of the known explorer: do not trust it", d.th.Warn)
	}
}

func orNone(s string) string { return cmp.Or(s, "nothing declared") }

// bare is the number in "1,250.5 USDC" for a form: "1250.5".
func bare(figure string) string {
	n, _, _ := strings.Cut(figure, " ")
	if n == present.UnknownText {
		return ""
	}
	return strings.ReplaceAll(n, ",", "")
}

// address is the last part of "chain/address".
func address(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }
