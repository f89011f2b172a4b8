package policy

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/pelletier/go-toml/v2"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/pattern"
	"coffer/api/text"
	"coffer/wallet/verify"
)

// wire is the file as it is written.
type wire struct {
	Version           *int64              `toml:"version"`
	Chains            []string            `toml:"chains"`
	Recipients        []string            `toml:"recipients"`
	Contracts         []string            `toml:"contracts"`
	MaxSpendUSD       *string             `toml:"max_spend_usd"`
	MaxSpendPerDayUSD *string             `toml:"max_spend_per_day_usd"`
	MaxSlippageBps    *int64              `toml:"max_slippage_bps"`
	MaxCostBps        *int64              `toml:"max_cost_bps"`
	NeverDelegate     bool                `toml:"never_delegate"`
	Allow             []string            `toml:"allow"`
	Pins              map[string]wirePins `toml:"pins"`
}

type wirePins struct {
	EntryPoints    []string `toml:"entry_points"`
	Validators     []string `toml:"validators"`
	Factories      []string `toml:"factories"`
	Delegates      []string `toml:"delegates"`
	Paymasters     []string `toml:"paymasters"`
	Escrows        []string `toml:"escrows"`
	SolanaPrograms []string `toml:"solana_programs"`
}

// noCap is what max_spend_per_day_usd says to switch the daily cap of this program off.
const noCap = "none"

// What the keys expect, in words.
const (
	wantList  = `a list of texts, such as ["…", "…"]`
	wantMoney = `dollars as text with at most six decimals, such as "250.00"`
	wantBps   = "basis points from 1 to 10000 (100 are 1 %), or leave the key out"
)

var expected = map[string]string{
	"version": "the number 1", "chains": wantList, "recipients": wantList, "contracts": wantList, "allow": wantList,
	"max_spend_usd": wantMoney, "max_spend_per_day_usd": wantMoney + `, or "none"`, "max_slippage_bps": wantBps,
	"max_cost_bps": wantBps, "never_delegate": "true or false",
	"entry_points": wantList, "validators": wantList, "factories": wantList, "delegates": wantList,
	"paymasters": wantList, "escrows": wantList,
	"solana_programs": wantList, "pins": `tables such as [pins."0x…"]`,
}

// Parse reads and checks the bytes of a policy file; path only names it in errors, which are *Error.
func Parse(path string, data []byte) (File, error) {
	if len(data) > maxSize {
		return File{}, &Error{Path: path, Problem: "larger than 1 MiB"}
	}
	var w wire
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&w); err != nil {
		return File{}, decodeError(path, err)
	}
	r := &reader{path: path, data: data, places: locate(data)}
	f := r.file(w)
	if r.err != nil {
		return File{}, r.err
	}
	return f, nil
}

func decodeError(path string, err error) error {
	e := &Error{Path: path, Problem: text.Clean(strings.TrimPrefix(err.Error(), "toml: "), 200)}
	var strict *toml.StrictMissingError
	var de *toml.DecodeError
	switch {
	case errors.As(err, &strict) && len(strict.Errors) > 0:
		d := strict.Errors[0]
		e.Line, e.Column = d.Position()
		e.Key, e.Problem = keyName(d.Key()), "there is no such setting"
	case errors.As(err, &de):
		e.Line, e.Column = de.Position()
		e.Key = keyName(de.Key())
		if want, ok := expected[last(de.Key())]; ok && strings.Contains(de.Error(), "cannot") {
			e.Problem = "expected " + want
		}
	}
	return e
}

func keyName(parts []string) string { return text.Clean(strings.Join(parts, "."), 160) }

func last(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[len(parts)-1]
}

// reader turns what was decoded into limits and keeps the first fault.
type reader struct {
	path   string
	data   []byte
	places places
	err    *Error
}

// fail notes the first fault with the place of its key.
func (r *reader) fail(key, problem string) {
	if r.err != nil {
		return
	}
	r.err = &Error{Path: r.path, Key: text.Clean(key, 160), Problem: problem}
	r.err.Line, r.err.Column = r.places.of(r.data, key)
}

func (r *reader) file(w wire) File {
	if len(r.places) == 0 {
		return File{}
	}
	switch {
	case w.Version == nil:
		r.fail("", fmt.Sprintf("the file does not say its version: version = %d", Version))
	case *w.Version != Version:
		r.fail("version", fmt.Sprintf("this program reads version %d, the file has %d", Version, *w.Version))
	}
	f := File{limits: verify.Limits{
		Chains:         each(r, "chains", w.Chains, chain),
		Recipients:     each(r, "recipients", w.Recipients, recipient),
		Contracts:      each(r, "contracts", w.Contracts, address),
		MaxSpend:       r.money("max_spend_usd", w.MaxSpendUSD),
		MaxSlippageBps: r.bps("max_slippage_bps", w.MaxSlippageBps), MaxCostBps: r.bps("max_cost_bps", w.MaxCostBps),
		AllowCostBps:  r.bps("max_cost_bps", w.MaxCostBps),
		NeverDelegate: w.NeverDelegate,
		Gates:         each(r, "allow", w.Allow, gate),
	}}
	if w.MaxSpendPerDayUSD != nil && *w.MaxSpendPerDayUSD == noCap {
		f.limits.NoDayCap = true
	} else {
		f.limits.MaxSpendPerDay = r.money("max_spend_per_day_usd", w.MaxSpendPerDayUSD)
	}
	if len(w.Pins) > 0 {
		f.pins = map[string]verify.Limits{}
	}
	for _, id := range slices.Sorted(maps.Keys(w.Pins)) {
		if !reNetwork.MatchString(id) {
			r.fail("pins."+id, `expected a network id in quotes: [pins."0x…"] with 64 lower-case hex digits`)
		}
		f.pins[id] = r.pins("pins."+id+".", w.Pins[id])
	}
	return f
}

func (r *reader) pins(prefix string, w wirePins) verify.Limits {
	return verify.Limits{
		EntryPoints: each(r, prefix+"entry_points", w.EntryPoints, address),
		Validators:  each(r, prefix+"validators", w.Validators, address),
		Factories:   each(r, prefix+"factories", w.Factories, address),
		Delegates:   each(r, prefix+"delegates", w.Delegates, address),
		Paymasters:  each(r, prefix+"paymasters", w.Paymasters, address),
		Escrows:     each(r, prefix+"escrows", w.Escrows, address),
		Programs:    each(r, prefix+"solana_programs", w.SolanaPrograms, program),
	}
}

// each reads the elements of a list. A list without elements could be read as "nothing" and as "everything", so it is
// refused.
func each[T any](r *reader, key string, list []string, read func(string) (T, string)) []T {
	if len(list) == 0 {
		if _, there := r.places[key]; there {
			r.fail(key, "the list is empty: name at least one, or leave the key out")
		}
		return nil
	}
	out := make([]T, 0, len(list))
	for i, s := range list {
		v, problem := read(s)
		if problem != "" {
			r.fail(fmt.Sprintf("%s[%d]", key, i), problem)
		}
		out = append(out, v)
	}
	return out
}

var reNetwork = pattern.New(`^0x[0-9a-f]{64}$`)

const wantAddress = "0x and 40 hex digits, in lower case or with a correct checksum"

func address(s string) (common.Address, string) {
	a, err := caip.ParseAddress(s)
	switch {
	case err != nil || caip.CheckEIP55(s) != nil:
		return a, "expected " + wantAddress + ", not " + text.Clean(s, 60)
	case a == (common.Address{}):
		return a, "no one has the zero address"
	}
	return a, ""
}

func chain(s string) (caip.Chain, string) {
	c, err := caip.ParseChain(s)
	if _, evm := c.EVMID(); err != nil || !evm && !c.IsSolana() {
		return c, "expected a chain such as eip155:8453, not " + text.Clean(s, 60)
	}
	return c, ""
}

// recipient gives an EVM address its checksum; that is how verify compares recipients.
func recipient(s string) (string, string) {
	if !strings.HasPrefix(s, "0x") {
		if _, problem := program(s); problem != "" {
			return "", "expected " + wantAddress + ", or base58 of 32 bytes, not " + text.Clean(s, 60)
		}
		return s, ""
	}
	a, problem := address(s)
	return a.Hex(), problem
}

func program(s string) (solmsg.Key, string) {
	k, err := caip.ParseSolanaKey(s)
	if err != nil {
		return k, "expected base58 of 32 bytes, not " + text.Clean(s, 60)
	}
	return k, ""
}

func gate(s string) (string, string) {
	known := []string{verify.GateBlindSigning, verify.GatePaymaster, verify.GateDelegationNonce, verify.GateTarget,
		verify.GateOpenRepeat}
	if !slices.Contains(known, s) {
		return "", "there is no gate " + text.Clean(s, 60) + "; gates: " + strings.Join(known, ", ")
	}
	return s, ""
}

func (r *reader) money(key string, s *string) *big.Int {
	if s == nil {
		return nil
	}
	v, err := amount.Parse(*s, 6)
	if err != nil {
		r.fail(key, "expected "+wantMoney)
		return nil
	}
	return v
}

func (r *reader) bps(key string, v *int64) int {
	if v == nil {
		return 0
	}
	if *v < 1 || *v > 10_000 {
		r.fail(key, "expected "+wantBps)
		return 0
	}
	return int(*v)
}
