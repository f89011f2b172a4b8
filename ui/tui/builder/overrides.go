package builder

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/api"
	"coffer/ui/compose"
)

const emptyWord = "0x and up to 64 digits, or a number"

// overrideRows lists the form of the assumed state.
func (s *Screen) overrideRows() []row {
	var out []row
	native := s.Coin(s.b.Chain).Symbol
	for i, o := range s.b.Overrides {
		out = append(out,
			row{id: compose.IDOverride(i, "address"), label: "assumes", field: &o.Address,
				empty: "whose state is assumed to be another", address: true, items: s.spenderItems,
				help: "another state of this address, for the trial only; ctrl+x takes it away"},
			row{id: compose.IDOverride(i, "balance"), label: "balance", depth: 1, field: &o.Balance, empty: "as it is",
				aside: native,
				help:  "whole coins it is assumed to hold; empty: as it is"},
			row{id: compose.IDOverride(i, "code"), label: "code", depth: 1, field: &o.Code, limit: compose.MaxText,
				empty: "as it is",
				help:  "0x hex of the code it is assumed to have; empty: as it is"})
		for k, x := range o.Slots {
			out = append(out,
				row{id: compose.IDSlot(i, k, "key"), label: "slot", depth: 1, field: &x.Key, limit: 80,
					empty: emptyWord,
					help:  "which word of its storage; ctrl+x takes it away"},
				row{id: compose.IDSlot(i, k, "value"), label: "holds", depth: 2, field: &x.Value, limit: 80,
					empty: emptyWord,
					help:  "the 32 bytes that it is assumed to hold"})
		}
		out = append(out, row{id: compose.IDOverride(i, "add"), label: "", depth: 1, text: "add a storage slot",
			press: func() tea.Cmd { s.addSlot(i); return nil }, help: "enter assumes another word of its storage"})
	}
	text, label := "assume another state", ""
	if len(out) == 0 {
		label, text = "overrides", "none"
	}
	return append(out, row{id: compose.IDOver, label: label, text: text,
		press: func() tea.Cmd { s.addOverride(); return nil },
		help:  "enter lets the service try the calls as if an address had another state"})
}

func (s *Screen) addOverride() {
	if len(s.b.Overrides) >= api.MaxListed {
		return
	}
	s.touched()
	s.b.Overrides = append(s.b.Overrides, &compose.Override{})
	s.focus = compose.IDOverride(len(s.b.Overrides)-1, "address")
	s.edit()
}

func (s *Screen) addSlot(i int) {
	if len(s.b.Overrides[i].Slots) >= api.MaxListed {
		return
	}
	s.touched()
	s.b.Overrides[i].Slots = append(s.b.Overrides[i].Slots, &compose.Slot{})
	s.focus = compose.IDSlot(i, len(s.b.Overrides[i].Slots)-1, "key")
	s.edit()
}

// removeOverride removes the slot or the address that has the focus; false when neither has it.
func (s *Screen) removeOverride(id string) bool {
	for i, o := range s.b.Overrides {
		if !strings.HasPrefix(id, compose.IDOverride(i, "")) {
			continue
		}
		for k := range o.Slots {
			if strings.HasPrefix(id, compose.IDSlot(i, k, "")) {
				o.Slots = append(o.Slots[:k], o.Slots[k+1:]...)
				s.focus = compose.IDOverride(i, "add")
				return true
			}
		}
		s.b.Overrides = append(s.b.Overrides[:i], s.b.Overrides[i+1:]...)
		s.focus = compose.IDOver
		return true
	}
	return false
}
