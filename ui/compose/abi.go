package compose

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"coffer/api/op/abicall"
)

// coin says whether a function takes the chain's own coin.
type coin int

const (
	coinUnknown coin = iota
	coinTaken
	coinRefused
)

// Offered is a function of a pasted ABI. A saved form keeps its signature only.
type Offered struct {
	Fn    abicall.Function
	takes coin
}

// MarshalText writes the signature.
func (o Offered) MarshalText() ([]byte, error) { return []byte(o.Fn.String()), nil }

// UnmarshalText reads a signature; another text offers nothing.
func (o *Offered) UnmarshalText(text []byte) error {
	o.Fn, _ = abicall.ParseSignature(string(text))
	return nil
}

// abiEntry is what an entry of ABI JSON says about payments.
type abiEntry struct {
	Type       string `json:"type"`
	Mutability string `json:"stateMutability"`
	Payable    *bool  `json:"payable"`
}

// ReadABI reads the functions of ABI JSON, a whole ABI or one entry, and whether they are payable. It also takes
// compiler output with the list under "abi".
func ReadABI(text []byte) ([]Offered, error) {
	var artifact struct {
		ABI json.RawMessage `json:"abi"`
	}
	if json.Unmarshal(text, &artifact) == nil && len(artifact.ABI) > 0 {
		text = artifact.ABI
	}
	list, err := abicall.ParseJSON(text)
	if err != nil {
		return nil, err
	}
	if len(list) > maxFunctions {
		return nil, errors.New("the ABI has too many functions: paste the entries that are needed")
	}
	var entries []abiEntry
	var one abiEntry
	if json.Unmarshal(text, &entries) != nil {
		entries = nil
		if json.Unmarshal(text, &one) == nil {
			entries = []abiEntry{one}
		}
	}
	entries = slices.DeleteFunc(entries, func(e abiEntry) bool { return e.Type != "" && e.Type != "function" })
	out := make([]Offered, len(list))
	for i, fn := range list {
		out[i].Fn = fn
		if len(entries) != len(list) {
			continue
		}
		switch e := entries[i]; {
		case e.Mutability == "payable" || e.Payable != nil && *e.Payable:
			out[i].takes = coinTaken
		case e.Mutability != "" || e.Payable != nil:
			out[i].takes = coinRefused
		}
	}
	return out, nil
}

// maxFunctions bounds the functions of one ABI.
const maxFunctions = 1000

// coin says whether the function of the call takes the chain's coin: by the modifiers behind its arguments, by the
// pasted ABI, or because it is a token function that never does.
func (c *Call) coin() coin {
	if c.Fn == nil || c.Raw {
		return coinUnknown
	}
	if how := coinWords(c.Signature); how != coinUnknown {
		return how
	}
	for _, o := range c.ABI {
		if o.Fn.Signature() == c.Fn.Signature() {
			return o.takes
		}
	}
	switch c.Fn.Signature() {
	case "transfer(address,uint256)", "transferFrom(address,address,uint256)", "withdraw(uint256)",
		"balanceOf(address)", "allowance(address,address)":
		return coinRefused
	}
	return coinUnknown
}

// coinWords reads the modifiers behind the arguments of a signature.
func coinWords(sig string) coin {
	depth, end := 0, -1
	for i := range len(sig) {
		switch sig[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 && end < 0 {
				end = i + 1
			}
		}
	}
	if end < 0 {
		return coinUnknown
	}
	rest, _, _ := strings.Cut(sig[end:], "returns")
	words := strings.Fields(rest)
	for _, w := range words {
		switch w {
		case "payable":
			return coinTaken
		case "view", "pure", "nonpayable", "constant":
			return coinRefused
		}
	}
	if len(words) > 0 { // an explicit visibility without payable
		return coinRefused
	}
	return coinUnknown
}
