package builder

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/tui/kit"
	"coffer/wallet/intent"
)

const (
	defaultMinutes = 10 // the service's own window (protocol §2.2)
	minMinutes     = 2
	maxMinutes     = 10
	maxText        = 300_000 // characters in one field: more than any call data
	maxFunction    = 512     // bytes of a signature that an intent keeps for display
)

// batch is the content of the form of calls.
type batch struct {
	chain caip.Chain
	calls []*call
	own   bool    // the list of required tokens is the person's own; else it follows the calls
	needs []*need // used when own
	allow []*allowance
	fund  string // "" is automatic
	slip  tolerance
	valid minutes
	start minutes     // how long it must not run yet; 0 among the presets is at once
	after string      // not before this moment, in Unix seconds, from a draft of another source; "": start counts
	over  []*override // the state that the service assumes when it simulates the calls
	v1    bool        // it was drafted for the older interface
}

// need is a required token; asset is CAIP-19, amount is typed in whole tokens.
type need struct {
	asset  string
	amount *kit.Field
}

// allowance lets spender take amount (whole tokens) of asset while the calls run.
type allowance struct {
	asset           string
	spender, amount *kit.Field
}

// tolerance is how far the price may move: a preset in basis points, or with preset 0 the typed text.
type tolerance struct {
	preset int
	own    *kit.Field
}

// minutes is a time span: a preset, or with preset own the typed text.
type minutes struct {
	preset int
	field  *kit.Field
}

// ownPreset marks that the typed text counts.
const ownPreset = -1

func newBatch(c *catalog.Catalog, chain caip.Chain) batch {
	if _, ok := c.Chain(chain); !ok {
		chain = caip.EVM(8453)
	}
	return batch{chain: chain, slip: newTolerance(), valid: newMinutes(defaultMinutes), start: newMinutes(0),
		calls: []*call{newCall()}}
}

func newTolerance() tolerance {
	t := tolerance{preset: intent.DefaultSlippageBps, own: kit.NewField("", 12)}
	t.own.Empty = "50, or 0.5 %"
	return t
}

func newMinutes(preset int) minutes {
	m := minutes{preset: preset, field: kit.NewField("", 4)}
	m.field.Empty = "minutes"
	return m
}

func newAllowance(asset, spender, amount string) *allowance {
	a := &allowance{asset: asset, spender: kit.NewField("", 80), amount: kit.NewField("", 100)}
	a.spender.Set(spender)
	a.amount.Set(amount)
	a.spender.Empty, a.amount.Empty = "who may take it", "how much"
	return a
}

func newNeed(asset, amount string) *need {
	n := &need{asset: asset, amount: kit.NewField("", 100)}
	n.amount.Set(amount)
	n.amount.Empty = "how much"
	return n
}

// empty reports whether the form has no typed text.
func (b *batch) empty() bool {
	if len(b.calls) != 1 || len(b.allow) > 0 || b.own || b.after != "" || b.start.preset != 0 || len(b.over) > 0 {
		return false
	}
	c := b.calls[0]
	return c.to.Value() == "" && c.sig.Value() == "" && c.data.Value() == "" && c.value.Value() == ""
}

// native is the coin of the target chain.
func (b *batch) native(c *catalog.Catalog) catalog.Entity {
	id, _ := b.chain.EVMID()
	e, _ := c.NativeOf(id)
	return e
}

// tokenAt is the known token at an address of the target chain.
func (b *batch) tokenAt(c *catalog.Catalog, address string) (catalog.Entity, bool) {
	return tokenOf(c, b.chain, address)
}

func tokenOf(c *catalog.Catalog, chain caip.Chain, address string) (catalog.Entity, bool) {
	a, err := caip.ParseAddress(trim(address))
	id, ok := chain.EVMID()
	if err != nil || !ok {
		return catalog.Entity{}, false
	}
	return c.Entity(caip.ERC20(id, a))
}

// tokens lists the tokens of the target chain, without its coin.
func (b *batch) tokens(c *catalog.Catalog) []catalog.Entity {
	var out []catalog.Entity
	for _, a := range c.Aggregates() {
		for _, e := range a.Entities {
			if _, ok := e.Asset.Token(); ok && e.Asset.Chain == b.chain {
				out = append(out, e)
			}
		}
	}
	return out
}

// decimals are those of the known token that a call goes to, -1 for any other target.
func (b *batch) decimals(c *catalog.Catalog, x *call) int {
	if e, ok := b.tokenAt(c, x.to.Value()); ok {
		return e.Decimals
	}
	return -1
}

// bps is the tolerance in basis points; 0 when the text cannot be read. "0.5 %" and "50" are the same.
func (t tolerance) bps() int {
	if t.preset > 0 {
		return t.preset
	}
	return bpsOf(t.own.Value())
}

// bpsOf reads a typed tolerance, 0 when it cannot be read.
func bpsOf(text string) int {
	text = trim(text)
	decimals := 0
	if share, ok := strings.CutSuffix(text, "%"); ok {
		text, decimals = trim(share), 2
	}
	v, err := quantity(text, decimals, "")
	if err != nil || !v.IsInt64() || v.Int64() < 1 || v.Int64() > api.MaxSlippageBps {
		return 0
	}
	return int(v.Int64())
}

// set takes the tolerance of a draft; 0 is the default.
func (t *tolerance) set(bps int) {
	bps = cmp.Or(bps, intent.DefaultSlippageBps)
	t.preset = 0
	for _, p := range presets() {
		if p == bps {
			t.preset = bps
		}
	}
	t.own.Set(strconv.Itoa(bps))
}

// value is the time span in minutes; ok is false when the text cannot be read or is outside from…to.
func (m minutes) value(from, to int) (n int, ok bool) {
	n = m.preset
	if n == ownPreset {
		var err error
		if n, err = strconv.Atoi(trim(m.field.Value())); err != nil {
			return 0, false
		}
	}
	return n, n >= from && n <= to
}

// set takes a number of minutes.
func (m *minutes) set(n int, presets []int) {
	m.preset = ownPreset
	for _, p := range presets {
		if p == n {
			m.preset = n
		}
	}
	m.field.Set(strconv.Itoa(n))
}

func presets() []int      { return []int{10, 50, 100} }
func validPresets() []int { return []int{2, 5, 10} }
func startPresets() []int { return []int{0, 1, 2, 5} }

func unixText(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

func trim(s string) string { return strings.TrimSpace(s) }
