package builder

import (
	"cmp"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
)

// slipLimit and spanLimit bound the text beside a preset.
const (
	slipLimit = 12
	spanLimit = 4
)

// dial is a row of presets, and the row of the text that stands for another number. words names a preset. read takes
// the number out of a text, and returns the text to keep and what it amounts to; note is "" for text that is no such
// number.
type dial struct {
	row
	own     row
	choice  *compose.Choice
	stands  int // the preset that stands for the text
	presets []int
	units   string // of the text, in a few words
	says    string // the name that the list gives to typed text
	words   func(n int) string
	read    func(text string) (n int, kept, note string)
}

// slip is how far the price may move.
func (s *Screen) slip() dial {
	t := s.shown().Tolerance()
	_, _, note := readSlip(t.Text)
	return dial{
		row: row{id: compose.IDSlip, label: "slippage", title: "Price move allowed",
			help: "how far the price may move before it is refused"},
		own: row{id: compose.IDSlipBps, limit: slipLimit, empty: "50, or 0.5 %", aside: cmp.Or(note, "basis points"),
			help: "basis points from 1 to 10000, of which 100 are 1 %, or a share such as 0.5 %"},
		choice: t, stands: compose.OwnBps, presets: compose.Slippages(), units: "basis points or percent",
		says: asShare, words: present.Percent, read: readSlip,
	}
}

// readSlip reads a typed tolerance.
func readSlip(text string) (n int, kept, note string) {
	if n, _ = compose.Slippage(text); n > 0 {
		note = "= " + present.Percent(n)
	}
	return n, text, note
}

// timeSpan is a number of minutes.
func timeSpan(r row, m *compose.Choice, presets []int, words func(n int) string) dial {
	return dial{
		row: r, own: row{id: r.id + compose.OwnText, limit: spanLimit, empty: "minutes", aside: "minutes",
			help: "whole minutes"},
		choice: m, stands: compose.OwnMinutes, presets: presets, units: "in minutes", says: asMinutes, words: words,
		read: func(text string) (n int, kept, note string) {
			kept = minutesOf(text)
			n, err := strconv.Atoi(kept)
			if err == nil && n >= 0 && n <= compose.MaxMinutes {
				note = words(n)
			}
			return n, kept, note
		},
	}
}

// dialRows are the rows of a dial, the second one only while the text counts.
func (s *Screen) dialRows(d dial) []row {
	r := d.row
	r.text, r.value = "your own", strconv.Itoa(d.choice.Preset)
	r.items, r.take, r.typed, r.reads = d.items, s.turn(d), s.typeDial(d), d.reading
	if d.choice.Preset != d.stands {
		r.text = d.words(d.choice.Preset)
		return []row{r}
	}
	d.own.depth, d.own.field = 1, &d.choice.Text
	return []row{r, d.own}
}

func (d dial) items() []kit.Item {
	var out []kit.Item
	for _, n := range d.presets {
		out = append(out, kit.Item{Value: strconv.Itoa(n), Label: d.words(n)})
	}
	return append(out, kit.Item{Value: strconv.Itoa(d.stands), Label: "your own", Note: d.units, Typed: d.says})
}

// turn takes a preset, or opens the field for another number.
func (s *Screen) turn(d dial) func(string) tea.Cmd {
	return func(v string) tea.Cmd {
		t := d.choice
		if d.stands == compose.OwnBps && t.Preset != d.stands && t.Text == "" {
			t.Text = strconv.Itoa(t.Preset)
		}
		s.endAfter(d)
		if t.Preset, _ = strconv.Atoi(v); t.Preset == d.stands {
			s.focus = d.own.id
			s.edit()
		}
		return nil
	}
}

// endAfter lets the presets of the start count again, in the place of a moment that came from a file.
func (s *Screen) endAfter(d dial) {
	if d.id == compose.IDAfter {
		s.b.After = ""
	}
}

// typeDial takes a typed number; one that cannot be read goes into the field, with its mistake.
func (s *Screen) typeDial(d dial) func(string) tea.Cmd {
	return func(text string) tea.Cmd {
		s.endAfter(d)
		n, kept, note := d.read(text)
		d.choice.Preset, d.choice.Text = d.stands, kept
		if note != "" && slices.Contains(d.presets, n) {
			d.choice.Preset = n
		} else {
			s.focus = d.own.id
		}
		return nil
	}
}

// reading interprets typed text.
func (d dial) reading(text string) kit.Reading {
	_, kept, note := d.read(text)
	out := kit.Reading{Own: numeric(text), Note: note}
	if !fits(d.own.limit, kept) {
		out.Off = tooLong
	}
	return out
}
