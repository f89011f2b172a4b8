package history

import (
	"strings"
	"time"

	"coffer/api"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// mask is how figures are written now.
func (m *Model) mask(th theme.Theme) mask {
	if !m.hidden {
		return open
	}
	return func(figure string) string {
		if figure == "" {
			return ""
		}
		_, unit, _ := strings.Cut(figure, " ")
		return strings.TrimSpace(kit.Masked(th) + " " + unit)
	}
}

// detailLines is everything about the selected record, in lines of at most w cells. Nothing is cut: ids and addresses break between groups.
func (m *Model) detailLines(th theme.Theme, now time.Time, w int) []string {
	r := m.chosen
	if r == nil || w < 20 {
		return nil
	}
	show, value := m.mask(th), kit.USD(r.micro)
	if m.hidden {
		value = kit.Masked(th)
	}
	d := detail{th: th, w: w}
	look, word := statusLook(r.status)
	d.text(r.sentence(show), th.Strong)
	status := []kit.Span{{Text: sign(th, look) + " " + word, Style: th.Style(look)}}
	if !r.when.IsZero() {
		status = append(status, kit.Span{Text: "  " + r.when.In(now.Location()).Format("2006-01-02 15:04:05 MST"), Style: th.Dim})
	}
	d.add(kit.Prose(w, 0, status...)...)
	d.text(statusWords(r.status), th.Text)
	if r.reason != "" {
		words, _ := screen.ReasonWords(r.reason)
		d.text(strings.TrimSpace(words+" The service says: "+r.reason), th.Style(look))
	}
	d.add("")
	paid, received := amountLabels(r.status)
	d.fact(paid, orNone(show(r.paid)))
	d.fact(received, orNone(show(r.received)), kit.Plain("  "), kit.Span{Text: value, Style: th.Dim})
	d.fact("to", account(r.recipient))
	d.fact("quote id", kit.Groups(r.id))
	for _, l := range r.legs {
		d.leg(l)
	}
	if len(r.legs) == 0 {
		d.add("", th.Dim.Render("no transaction yet"))
	}
	return d.lines
}

// amountLabels does not call received what never arrived.
func amountLabels(status string) (paid, received string) {
	switch status {
	case api.StatusCompleted, api.StatusExecuted:
		return "paid", "received"
	case api.StatusRefunded:
		return "came back", "undelivered"
	case api.StatusFailed:
		return "not paid", "undelivered"
	}
	return "to pay", "to get"
}

func orNone(s string) string {
	if s == "" {
		return "nothing declared"
	}
	return s
}

// account writes the address of "chain/address" in groups.
func account(id string) string {
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[i+1:]
	}
	return kit.Address(id)
}

// detail collects lines of a fixed width.
type detail struct {
	th    theme.Theme
	w     int
	lines []string
}

func (d *detail) add(lines ...string) { d.lines = append(d.lines, lines...) }

func (d *detail) text(s string, st theme.Style) {
	d.add(kit.Prose(d.w, 0, kit.Span{Text: s, Style: st})...)
}

func (d *detail) fact(label, value string, more ...kit.Span) {
	const labelW = 12
	d.add(kit.Row(d.th, d.w, 0, labelW, label, append([]kit.Span{kit.Plain(value)}, more...)...)...)
}

func (d *detail) leg(l leg) {
	side := "transaction on the target chain, "
	if l.origin {
		side = "transaction on an origin chain, "
	}
	d.add("")
	d.text(side+l.name, d.th.Strong)
	d.fact("hash", kit.Groups(l.hash))
	if l.link == "" {
		return
	}
	d.fact("page", l.url())
	if !l.known {
		d.text(d.th.Signs.Warn+" not a page of the known explorer: do not trust it", d.th.Warn)
	}
}
