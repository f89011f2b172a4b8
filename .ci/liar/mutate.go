package liar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"coffer/api"
)

var (
	reNumber  = regexp.MustCompile(`^"?[0-9]+(\.[0-9]+)?"?$`)
	reAddress = regexp.MustCompile(`0x[0-9a-fA-F]{40}`)
)

// mutated changes some leaves of a JSON text, whatever it is.
func mutated(d dice, raw []byte) []byte {
	doc, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		return raw
	}
	var leaves []api.Edit
	doc.Leaves(func(pointer string, value []byte) {
		leaves = append(leaves, api.Edit{Pointer: pointer, Value: bytes.Clone(value)})
	})
	if len(leaves) == 0 {
		return raw
	}
	var edits []api.Edit
	taken := map[string]bool{}
	for range 1 + d.IntN(3)*d.IntN(2) {
		e := pick(d, leaves)
		if !taken[e.Pointer] {
			taken[e.Pointer] = true
			edits = append(edits, api.Edit{Pointer: e.Pointer, Value: leaf(d, e.Value)})
		}
	}
	out, err := doc.Splice(edits...)
	if err != nil {
		return bytes.Replace(raw, edits[0].Value, []byte("null"), 1)
	}
	return out.Raw()
}

// leaf is another value in the place of one.
func leaf(d dice, old []byte) []byte {
	text := string(old)
	switch {
	case reNumber.MatchString(text) && d.chance(70):
		return number(d, text)
	case reAddress.MatchString(text) && d.chance(70):
		at := thief().Hex()
		if d.chance(50) {
			at = pick(d, friends()).address.Hex()
		}
		return []byte(reAddress.ReplaceAllString(text, at))
	case strings.HasPrefix(text, `"0x`) && len(text) > 6 && d.chance(80):
		return hexText(d, old)
	case strings.HasPrefix(text, `"`) && d.chance(50):
		return word(d, text)
	}
	return []byte(pick(d, []string{`null`, `""`, `"0"`, `0`, `{}`, `[]`, `true`, `"0x"`, `-1`, `1e400`,
		`"` + strings.Repeat("9", 90) + `"`, `"\u202e0"`}))
}

// number is another number, in the same quotes.
func number(d dice, text string) []byte {
	bare := strings.Trim(text, `"`)
	v, ok := new(big.Int).SetString(strings.SplitN(bare, ".", 2)[0], 10)
	if !ok {
		return []byte(text)
	}
	switch d.IntN(8) {
	case 0:
		v.Add(v, big.NewInt(1))
	case 1:
		v.Sub(v, big.NewInt(1))
	case 2:
		v.Mul(v, big.NewInt(10))
	case 3:
		v.Quo(v, big.NewInt(10))
	case 4:
		v.SetInt64(0)
	case 5:
		v.Lsh(big.NewInt(1), uint(d.IntN(300)))
	case 6:
		v.Add(v, d.part(v, 100))
	default:
		v = d.part(v, 100)
	}
	return []byte(strings.Replace(text, bare, v.String(), 1))
}

// hexText changes one digit, cuts or lengthens.
func hexText(d dice, old []byte) []byte {
	out := bytes.Clone(old)
	switch d.IntN(6) {
	case 0:
		return append(out[:len(out)-3], '"')
	case 1:
		return append(out[:len(out)-1], `00"`...)
	}
	i := 3 + d.IntN(len(out)-4)
	out[i] = "0123456789abcdef"[d.IntN(16)]
	return out
}

// word is another of the words that the interface knows, or a piece of this one.
func word(d dice, text string) []byte {
	words := []string{
		`"eip155:1"`, `"eip155:10"`, `"eip155:8453"`, `"eip155:42161"`, `"ob:usdc"`, `"ob:eth"`, `"COMPLETED"`,
		`"REFUNDED"`, `"same_chain_exclude_solver"`,
		`"cross_chain_with_solver"`, `"solana"`, `"role-based"`, `"kernel-v3.1-ecdsa"`, `"kernel-v3.3-ecdsa"`,
		`"Permit2"`, `"1"`, `"ERC4337"`, `"EIP7702"`,
	}
	if d.chance(30) && len(text) > 3 {
		return []byte(text[:len(text)-2] + `"`)
	}
	return []byte(pick(d, words))
}

// restructured changes the shape of a JSON text: members more, fewer or twice, another order, text around it.
func restructured(d dice, raw []byte) []byte {
	at := bytes.IndexByte(raw, ':')
	open := bytes.IndexByte(raw, '{')
	if at < 0 || open < 0 || open > at {
		return append(raw, ' ', '1')
	}
	first := raw[open+1 : at] // the first member's name
	switch d.IntN(8) {
	case 0:
		return insert(raw, open+1, `"extra":1,`)
	case 1:
		return insert(raw, open+1, string(first)+`:null,`)
	case 2:
		return insert(raw, open+1, `"x":"`+strings.Repeat("x", 1+d.IntN(1<<16))+`",`)
	case 3:
		return insert(raw, open+1, `"deep":`+strings.Repeat("[", 500)+strings.Repeat("]", 500)+`,`)
	case 4:
		return raw[:d.IntN(len(raw))]
	case 5:
		return append(bytes.Clone(raw), raw...)
	case 6:
		return without(d, raw)
	}
	return bytes.Replace(raw, first, bytes.ToUpper(first), 1)
}

func insert(raw []byte, at int, text string) []byte {
	return append(append(bytes.Clone(raw[:at]), text...), raw[at:]...)
}

// without leaves a member of the outer object out.
func without(d dice, raw []byte) []byte {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || len(m) == 0 {
		return raw
	}
	names := sortedNames(m)
	delete(m, pick(d, names))
	out, err := json.Marshal(m)
	if err != nil {
		return raw
	}
	return out
}

// huge is an answer beyond every bound.
func huge(d dice) []byte {
	return fmt.Appendf(nil, `{"list":[%s0]}`, strings.Repeat("0,", (1+d.IntN(3))<<20))
}
