package builder

import (
	"fmt"
	"math/big"
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
)

// override is another state of one address, which the service assumes only while it simulates the calls. balance is
// typed in whole coins, code and slots in hexadecimal; an empty field overrides nothing.
type override struct {
	address, balance, code *kit.Field
	slots                  []*slot
}

// slot is one word of storage: key and value are 0x hex; short ones are padded with zeros on the left.
type slot struct{ key, value *kit.Field }

func newOverride(address string) *override {
	o := &override{address: kit.NewField("", 100), balance: kit.NewField("", 100), code: kit.NewField("", maxText)}
	o.address.Set(address)
	o.address.Empty, o.balance.Empty, o.code.Empty = "whose state is assumed to be another", "as it is", "as it is"
	return o
}

func newSlot(key, value string) *slot {
	x := &slot{key: kit.NewField("", 80), value: kit.NewField("", 80)}
	x.key.Set(key)
	x.value.Set(value)
	x.key.Empty, x.value.Empty = "0x and up to 64 digits, or a number", "0x and up to 64 digits, or a number"
	return x
}

// overrideOf makes the form of an override. A balance that cannot be read stays as written, and becomes a mistake.
func overrideOf(o api.StateOverride, native catalog.Entity) *override {
	out := newOverride(o.Address)
	if v, ok := api.ParseWei(o.Balance); ok && o.Balance != "" {
		out.balance.Set(amount.Trim(amount.Format(v, native.Decimals)))
	} else {
		out.balance.Set(o.Balance)
	}
	out.code.Set(o.Code)
	keys := make([]string, 0, len(o.StateDiff))
	for k := range o.StateDiff {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		out.slots = append(out.slots, newSlot(k, o.StateDiff[k]))
	}
	return out
}

// state converts the override for the interface.
func (o *override) state(native catalog.Entity) api.StateOverride {
	out := api.StateOverride{Address: trim(o.address.Value()), Code: trim(o.code.Value())}
	if text := trim(o.balance.Value()); text != "" {
		if v, err := quantity(text, native.Decimals, native.Symbol); err == nil {
			out.Balance = hexutil.EncodeBig(v)
		}
	}
	for _, x := range o.slots {
		key, okKey := wordOf(x.key.Value())
		value, okValue := wordOf(x.value.Value())
		if okKey && okValue {
			if out.StateDiff == nil {
				out.StateDiff = map[string]string{}
			}
			out.StateDiff[key] = value
		}
	}
	return out
}

// wordOf reads a word of 32 bytes: a full one stays as typed, a shorter one and a decimal number are padded.
func wordOf(text string) (string, bool) {
	text = trim(text)
	digits, isHex := strings.CutPrefix(text, "0x")
	if !isHex {
		v, err := amount.ParseBase(text)
		if err != nil {
			return "", false
		}
		return fmt.Sprintf("0x%064x", v), true
	}
	if len(digits) == 0 || len(digits) > 64 {
		return "", false
	}
	if _, ok := new(big.Int).SetString(digits, 16); !ok || strings.ContainsAny(digits, "+-_") {
		return "", false
	}
	return "0x" + strings.Repeat("0", 64-len(digits)) + digits, true
}

func (b *batch) overrides(c *catalog.Catalog) []api.StateOverride {
	var out []api.StateOverride
	for _, o := range b.over {
		out = append(out, o.state(b.native(c)))
	}
	return out
}

const idOver = "over"

func idOverRow(i int, part string) string { return fmt.Sprintf("over.%d.%s", i, part) }
func idSlot(i, k int, part string) string { return fmt.Sprintf("over.%d.slot.%d.%s", i, k, part) }
func slotPrefix(i, k int) string          { return fmt.Sprintf("over.%d.slot.%d.", i, k) }
func overPrefix(i int) string             { return fmt.Sprintf("over.%d.", i) }

// overrideRows lists the form of the assumed state.
func (s *Screen) overrideRows() []row {
	var out []row
	native := s.b.native(s.ctx.Catalog).Symbol
	for i, o := range s.b.over {
		whose, mean := s.whose(o.address.Value())
		out = append(out,
			row{id: idOverRow(i, "address"), label: "assumes", field: o.address, address: true, aside: whose,
				mean: mean, call: -1, items: s.spenderItems, take: s.setText(o.address),
				help: "another state of this address, for the trial only; ctrl+x takes it away"},
			row{id: idOverRow(i, "balance"), label: "balance", depth: 1, field: o.balance, aside: native, call: -1,
				help: "whole coins it is assumed to hold; empty: as it is"},
			row{id: idOverRow(i, "code"), label: "code", depth: 1, field: o.code, call: -1,
				help: "0x hex of the code it is assumed to have; empty: as it is"})
		for k, x := range o.slots {
			out = append(out,
				row{id: idSlot(i, k, "key"), label: "slot", depth: 1, field: x.key, call: -1,
					help: "which word of its storage; ctrl+x takes it away"},
				row{id: idSlot(i, k, "value"), label: "holds", depth: 2, field: x.value, call: -1,
					help: "the 32 bytes that it is assumed to hold"})
		}
		out = append(out, row{id: idOverRow(i, "add"), label: "", depth: 1, text: "add a storage slot", call: -1,
			press: func() tea.Cmd { s.addSlot(i); return nil }, help: "enter assumes another word of its storage"})
	}
	text, label := "assume another state", ""
	if len(out) == 0 {
		label, text = "assumes", "the chain as it is"
	}
	return append(out, row{id: idOver, label: label, text: text, call: -1,
		press: func() tea.Cmd { s.addOverride(); return nil },
		help:  "enter lets the service try the calls as if an address had another state"})
}

func (s *Screen) addOverride() {
	if len(s.b.over) >= api.MaxListed {
		return
	}
	s.touched()
	s.b.over = append(s.b.over, newOverride(""))
	s.focus = idOverRow(len(s.b.over)-1, "address")
	s.edit()
}

func (s *Screen) addSlot(i int) {
	if len(s.b.over[i].slots) >= api.MaxListed {
		return
	}
	s.touched()
	s.b.over[i].slots = append(s.b.over[i].slots, newSlot("", ""))
	s.focus = idSlot(i, len(s.b.over[i].slots)-1, "key")
	s.edit()
}

// removeOverride removes the slot or the address that has the focus; false when neither has it.
func (s *Screen) removeOverride(id string) bool {
	for i, o := range s.b.over {
		if !strings.HasPrefix(id, overPrefix(i)) {
			continue
		}
		for k := range o.slots {
			if strings.HasPrefix(id, slotPrefix(i, k)) {
				o.slots = append(o.slots[:k], o.slots[k+1:]...)
				s.focus = idOverRow(i, "add")
				return true
			}
		}
		s.b.over = append(s.b.over[:i], s.b.over[i+1:]...)
		s.focus = idOver
		return true
	}
	return false
}

// overrideMistakes checks the assumed state with the rules of the interface.
func (s *Screen) overrideMistakes(put func(id, problem string)) {
	native := s.b.native(s.ctx.Catalog)
	seen := map[string]bool{}
	for i, o := range s.b.over {
		put(idOverRow(i, "address"), s.addressMistake(o.address.Value()))
		if a := strings.ToLower(trim(o.address.Value())); a != "" {
			if seen[a] {
				put(idOverRow(i, "address"), "this address is there twice")
			}
			seen[a] = true
		}
		if text := trim(o.balance.Value()); text != "" {
			if _, err := quantity(text, native.Decimals, native.Symbol); err != nil {
				put(idOverRow(i, "balance"), plain(err))
			}
		}
		if text := trim(o.code.Value()); text != "" {
			if _, err := unhex(text); err != nil || !strings.HasPrefix(text, "0x") {
				put(idOverRow(i, "code"), "0x and an even number of hexadecimal digits")
			}
		}
		keys := map[string]bool{}
		for k, x := range o.slots {
			key := s.slotMistake(idSlot(i, k, "key"), x.key, put)
			s.slotMistake(idSlot(i, k, "value"), x.value, put)
			if key != "" && keys[strings.ToLower(key)] {
				put(idSlot(i, k, "key"), "this slot is there twice")
			}
			keys[strings.ToLower(key)] = true
		}
	}
}

func (s *Screen) slotMistake(id string, f *kit.Field, put func(id, problem string)) string {
	text := trim(f.Value())
	word, ok := wordOf(text)
	if !ok && (text != "" || s.tried) {
		put(id, "0x and up to 64 hexadecimal digits, or a whole number")
	}
	return word
}
