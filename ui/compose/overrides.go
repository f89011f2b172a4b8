package compose

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
)

// Override is another state of one address, which the service assumes only while it simulates the calls. Balance is
// typed in whole coins, Code and Slots in hexadecimal; an empty field overrides nothing.
type Override struct {
	Address string  `json:"address,omitzero"`
	Balance string  `json:"balance,omitzero"`
	Code    string  `json:"code,omitzero"`
	Slots   []*Slot `json:"slots,omitempty"`
}

// Slot is one word of storage: key and value are 0x hex; short ones are padded with zeros on the left.
type Slot struct {
	Key   string `json:"key,omitzero"`
	Value string `json:"value,omitzero"`
}

// overrideOf makes the form of an override. A balance that cannot be read stays as written, and becomes a mistake.
func overrideOf(o api.StateOverride, native catalog.Entity) *Override {
	out := &Override{Address: o.Address}
	if v, ok := api.ParseWei(o.Balance); ok && o.Balance != "" {
		out.Balance = amount.Plain(v, native.Decimals)
	} else {
		out.Balance = o.Balance
	}
	out.Code = o.Code
	for _, k := range slices.Sorted(maps.Keys(o.StateDiff)) {
		out.Slots = append(out.Slots, &Slot{k, o.StateDiff[k]})
	}
	return out
}

// state converts the override for the interface.
func (o *Override) state(native catalog.Entity) api.StateOverride {
	out := api.StateOverride{Address: trim(o.Address), Code: trim(o.Code)}
	if text := trim(o.Balance); text != "" {
		if v, problem := Amount(text, native.Decimals, native.Symbol); problem == "" {
			out.Balance = hexutil.EncodeBig(v)
		}
	}
	for _, x := range o.Slots {
		key, okKey := wordOf(x.Key)
		value, okValue := wordOf(x.Value)
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

// overrideMistakes checks the assumed state with the rules of the interface.
func (b *Calls) overrideMistakes(k *checker) {
	native := k.w.Coin(b.Chain)
	seen := map[string]bool{}
	for i, o := range b.Overrides {
		k.address(IDOverride(i, "address"), b.Chain, o.Address)
		if a := strings.ToLower(trim(o.Address)); a != "" {
			if seen[a] {
				k.put(IDOverride(i, "address"), "this address is there twice")
			}
			seen[a] = true
		}
		if text := trim(o.Balance); text != "" {
			_, problem := Amount(text, native.Decimals, native.Symbol)
			k.put(IDOverride(i, "balance"), problem)
		}
		if text := trim(o.Code); text != "" {
			_, problem := Bytes(text)
			k.put(IDOverride(i, "code"), problem)
		}
		keys := map[string]bool{}
		for n, x := range o.Slots {
			key := k.word(IDSlot(i, n, "key"), x.Key)
			k.word(IDSlot(i, n, "value"), x.Value)
			if key != "" && keys[strings.ToLower(key)] {
				k.put(IDSlot(i, n, "key"), "this slot is there twice")
			}
			keys[strings.ToLower(key)] = true
		}
	}
}

func (k *checker) word(id, text string) string {
	word, ok := wordOf(text)
	if !ok && (trim(text) != "" || k.tried) {
		k.put(id, "0x and up to 64 hexadecimal digits, or a whole number")
	}
	return word
}
