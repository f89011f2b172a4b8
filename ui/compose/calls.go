package compose

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/wallet/intent"
)

// The minutes that calls may run, and the bounds of a text.
const (
	DefaultMinutes = 10 // the service's own window (protocol §2.2)
	MinMinutes     = 2
	MaxMinutes     = 10
	MaxText        = 300_000 // characters in one field: more than any call data
	maxFunction    = 512     // bytes of a signature that an intent keeps for display
)

// Calls is the form of contract calls.
type Calls struct {
	Chain     caip.Chain   `json:"chain"`
	Calls     []*Call      `json:"calls"`
	Own       bool         `json:"own,omitzero"`    // the needs are the person's own; else they follow the calls
	Needs     []*Need      `json:"needs,omitempty"` // used when Own
	Allow     []*Allowance `json:"allow,omitempty"`
	Fund      string       `json:"fund,omitzero"` // "" is automatic
	Slip      Choice       `json:"slip"`
	Valid     Choice       `json:"valid"`
	Start     Choice       `json:"start"`               // how long it must not run yet; 0 among the presets is at once
	After     string       `json:"after,omitzero"`      // not before these Unix seconds, of a file; "": Start counts
	Overrides []*Override  `json:"overrides,omitempty"` // the state that the service assumes in its simulation
	V1        bool         `json:"v1,omitzero"`         // it was drafted for the older interface
}

// Need is a required token: a CAIP-19 id, and an amount in whole tokens.
type Need struct {
	Asset  string `json:"asset"`
	Amount string `json:"amount,omitzero"`
}

// Allowance lets Spender take Amount (whole tokens) of Asset while the calls run.
type Allowance struct {
	Asset   string `json:"asset"`
	Spender string `json:"spender,omitzero"`
	Amount  string `json:"amount,omitzero"`
}

// Choice is a preset, or the text beside it: basis points with OwnBps for the text, or minutes with OwnMinutes.
type Choice struct {
	Preset int    `json:"preset"`
	Text   string `json:"text,omitzero"`
}

// The presets that stand for the text.
const (
	OwnBps     = 0
	OwnMinutes = -1
)

// Slippages are the presets of a tolerance, in basis points.
func Slippages() []int { return []int{10, 50, 100} }

// Validities are the presets of a validity, in minutes.
func Validities() []int { return []int{2, 5, 10} }

// Starts are the presets of a start, in minutes from now.
func Starts() []int { return []int{0, 1, 2, 5} }

// NewCalls is the empty form on a chain.
func (w *World) NewCalls(chain caip.Chain) *Calls {
	if _, ok := w.Catalog.Chain(chain); !ok {
		chain = caip.EVM(8453)
	}
	return &Calls{Chain: chain, Slip: Choice{Preset: intent.DefaultSlippageBps}, Valid: Choice{Preset: DefaultMinutes},
		Calls: []*Call{{}}}
}

// Clone is a copy that shares nothing.
func (b *Calls) Clone() *Calls {
	out := *b
	out.Calls = clones(b.Calls, (*Call).Clone)
	out.Needs, out.Allow = clones(b.Needs, shallow), clones(b.Allow, shallow)
	out.Overrides = clones(b.Overrides, func(o *Override) *Override {
		c := *o
		c.Slots = clones(o.Slots, shallow)
		return &c
	})
	return &out
}

// Tolerance is how far the price may move.
func (b *Calls) Tolerance() *Choice { return &b.Slip }

// Kind is the kind of intent that the form makes: "" for calls.
func (b *Calls) Kind() string { return "" }

// Empty reports whether the form has no typed text.
func (b *Calls) Empty() bool {
	if len(b.Calls) != 1 || len(b.Allow) > 0 || b.Own || b.After != "" || b.Start.Preset != 0 || len(b.Overrides) > 0 {
		return false
	}
	c := b.Calls[0]
	return c.To == "" && c.Signature == "" && c.Data == "" && c.Value == "" && c.Note == ""
}

// target is what call c goes to.
func (b *Calls) target(w *World, c *Call) Target { return w.Target(b.Chain, c.To) }

// Bps is the tolerance in basis points; 0 when the text cannot be read. "0.5 %" and "50" are the same.
func (t Choice) Bps() int {
	if t.Preset > OwnBps {
		return t.Preset
	}
	n, _ := Slippage(t.Text)
	return n
}

// Slippage reads a tolerance in basis points: "50", or a percentage such as "0.5 %".
func Slippage(text string) (bps int, problem string) {
	share, isShare := strings.CutSuffix(trim(text), "%")
	decimals := 0
	if isShare {
		decimals = 2
	}
	v, err := amount.Parse(trim(share), decimals)
	if err != nil || !v.IsInt64() || v.Int64() < 1 || v.Int64() > api.MaxSlippageBps {
		return 0, "basis points from 1 to 10000 (100 are 1 %), or a percentage"
	}
	return int(v.Int64()), ""
}

// Percent is Slippage in percent, with or without its sign.
func Percent(text string) (bps int, problem string) {
	if bps, problem = Slippage(strings.TrimSuffix(trim(text), "%") + "%"); problem != "" {
		problem = "that is not a percentage from 0.01 to 100 with at most two decimals"
	}
	return bps, problem
}

// ChoiceOf takes a number where it is a preset, and else writes it as text.
func ChoiceOf(n, own int, presets []int) Choice {
	if slices.Contains(presets, n) {
		return Choice{n, strconv.Itoa(n)}
	}
	return Choice{own, strconv.Itoa(n)}
}

func slippageOf(bps int) Choice {
	return ChoiceOf(cmp.Or(bps, intent.DefaultSlippageBps), OwnBps, Slippages())
}

// Minutes is the time span in minutes; problem says that the text cannot be read or is outside from…to.
func (t Choice) Minutes(from, to int) (n int, problem string) {
	n = t.Preset
	var err error
	if n == OwnMinutes {
		n, err = strconv.Atoi(trim(t.Text))
	}
	if err != nil || n < from || n > to {
		return n, "whole minutes from " + strconv.Itoa(from) + " to " + strconv.Itoa(to)
	}
	return n, ""
}

func unixText(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// Until is the end of a validity, in Unix seconds; "" for the service's own.
func Until(minutes int, now time.Time) string {
	if minutes == DefaultMinutes {
		return ""
	}
	return unixText(now.Add(time.Duration(minutes) * time.Minute))
}

// Add inserts an empty call after call i.
func (b *Calls) Add(i int) int { return b.insert(i, &Call{}) }

// Duplicate inserts a copy of call i after it.
func (b *Calls) Duplicate(i int) int { return b.insert(i, b.Calls[i].Clone()) }

func (b *Calls) insert(i int, c *Call) int {
	if len(b.Calls) >= api.MaxListed {
		return i
	}
	b.Calls = slices.Insert(b.Calls, i+1, c)
	return i + 1
}

// Remove removes call i; the only call is emptied instead.
func (b *Calls) Remove(i int) int {
	b.Calls = slices.Delete(b.Calls, i, i+1)
	if len(b.Calls) == 0 {
		b.Calls = []*Call{{}}
	}
	return min(i, len(b.Calls)-1)
}

// Move swaps the call at i with its neighbour.
func (b *Calls) Move(i, d int) int {
	j := i + d
	if j < 0 || j >= len(b.Calls) {
		return i
	}
	b.Calls[i], b.Calls[j] = b.Calls[j], b.Calls[i]
	return j
}
