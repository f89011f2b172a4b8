package builder

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/ui/tui/kit"
	"coffer/wallet/intent"
)

const (
	defaultMinutes = 10 // the service's own window (protocol §2.2)
	minMinutes     = 2
	maxMinutes     = 10
	defaultBps     = 50
	maxText        = 300_000 // characters of one field: more than any call data
	maxFunction    = 512     // bytes of a signature that an intent keeps for display
)

// batch is everything that the person typed.
type batch struct {
	chain     caip.Chain
	calls     []*call
	own       bool    // the list of required tokens is the person's own; else it follows the calls
	needs     []*need // used when own
	allow     []*allowance
	fund      string // "" is automatic
	slip      int    // a preset in basis points; 0: slipField
	slipField *kit.Field
	valid     *kit.Field
	kept      kept
}

// call is one call. With raw set, data is the call data as typed; else it is made from fn and args. fn is nil while there is no function: then the
// call only sends value.
type call struct {
	to, sig, data, value *kit.Field
	raw                  bool
	fn                   *abicall.Function
	sigErr               string
	args                 []*node
	abi                  []abicall.Function // of a pasted ABI
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

func newBatch(c *catalog.Catalog, chain caip.Chain) batch {
	if _, ok := c.Chain(chain); !ok {
		chain = caip.EVM(8453)
	}
	b := batch{chain: chain, slip: defaultBps, slipField: kit.NewField("", 5), valid: kit.NewField("", 3), calls: []*call{newCall()}}
	b.valid.Set(strconv.Itoa(defaultMinutes))
	return b
}

func newCall() *call {
	c := &call{to: kit.NewField("", 80), sig: kit.NewField("", 8192), data: kit.NewField("", maxText), value: kit.NewField("", 80)}
	c.value.Empty, c.to.Empty, c.sig.Empty = "0", "an address, or the symbol of a token", "a signature such as transfer(address to, uint256 amount)"
	c.data.Empty = "0x"
	return c
}

func newAllowance(asset, spender, amount string) *allowance {
	a := &allowance{asset: asset, spender: kit.NewField("", 80), amount: kit.NewField("", 80)}
	a.spender.Set(spender)
	a.amount.Set(amount)
	a.spender.Empty, a.amount.Empty = "who may take it", "how much"
	return a
}

func newNeed(asset, amount string) *need {
	n := &need{asset: asset, amount: kit.NewField("", 80)}
	n.amount.Set(amount)
	n.amount.Empty = "how much"
	return n
}

// empty reports that nothing was typed.
func (b *batch) empty() bool {
	if len(b.calls) != 1 || len(b.allow) > 0 || b.own || !b.kept.empty() {
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
	a, err := caip.ParseAddress(trim(address))
	id, ok := b.chain.EVMID()
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

// bps is the slippage tolerance; 0 when the custom one cannot be read.
func (b *batch) bps() int {
	if b.slip != 0 {
		return b.slip
	}
	n, err := strconv.Atoi(trim(b.slipField.Value()))
	if err != nil || n < 1 || n > api.MaxSlippageBps {
		return 0
	}
	return n
}

func (b *batch) minutes() (int, bool) {
	n, err := strconv.Atoi(trim(b.valid.Value()))
	return n, err == nil && n >= minMinutes && n <= maxMinutes
}

func unixText(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// setFunction takes a parsed function and keeps what was typed into arguments of the same type.
func (c *call) setFunction(fn abicall.Function, units bool) {
	before := c.args
	c.fn, c.sigErr, c.raw = &fn, "", false
	c.args = emptyNodes(fn.Inputs())
	for i, n := range c.args {
		if i < len(before) && before[i].param.Type == n.param.Type {
			before[i].param = n.param
			c.args[i] = before[i]
		}
	}
	if units {
		c.defaultUnits()
	}
}

// defaultUnits lets the amount of a transfer be typed in whole tokens.
func (c *call) defaultUnits() {
	if c.fn == nil {
		return
	}
	switch c.fn.Signature() {
	case "transfer(address,uint256)", "transferFrom(address,address,uint256)", "approve(address,uint256)":
		c.args[len(c.args)-1].units = true
	}
}

// readSignature parses what stands in the signature field.
func (c *call) readSignature(units bool) {
	text := trim(c.sig.Value())
	if text == "" {
		c.fn, c.args, c.sigErr = nil, nil, ""
		return
	}
	fn, err := abicall.ParseSignature(text)
	if err != nil {
		c.sigErr = kit.Clean(err.Error(), 200)
		return
	}
	if c.fn != nil && c.fn.String() == fn.String() {
		c.sigErr = ""
		return
	}
	c.setFunction(fn, units)
}

// calldata is the call's data; ok is false while something cannot be encoded.
func (c *call) calldata(decimals int) (data []byte, ok bool) {
	if c.raw {
		b, err := hex.DecodeString(strings.TrimPrefix(trim(c.data.Value()), "0x"))
		return b, err == nil
	}
	if c.fn == nil {
		return nil, c.sigErr == ""
	}
	values, bad := valuesOf(c.args, decimals)
	if len(bad) > 0 {
		return nil, false
	}
	data, err := c.fn.Encode(values)
	return data, err == nil
}

// takeData reads call data into fields when a known function fits it exactly, else it keeps it raw.
func (c *call) takeData(data []byte, decimals int) bool {
	known := append(append([]abicall.Function{}, c.abi...), abicall.Known()...)
	if c.fn != nil {
		known = append([]abicall.Function{*c.fn}, known...)
	}
	if len(data) >= 4 {
		for _, fn := range known {
			if fn.Selector() != [4]byte(data) {
				continue
			}
			if values, err := fn.Decode(data); err == nil {
				c.raw, c.sigErr = false, ""
				c.sig.Set(fn.String())
				c.fn, c.args = &fn, nodesOf(fn.Inputs(), values)
				c.defaultUnits()
				toUnits(c.args, decimals)
				if again, ok := c.calldata(decimals); ok && bytes.Equal(again, data) {
					return true
				}
			}
		}
	}
	c.raw, c.fn, c.args = true, nil, nil
	c.sig.Set("")
	c.data.Set("0x" + hex.EncodeToString(data))
	return false
}

// intentCall is the call as an intent has it; decimals are those of its target, -1 when it is no known token.
func (c *call) intentCall(native catalog.Entity, decimals int) intent.Call {
	out := intent.Call{To: trim(c.to.Value())}
	if v, err := amount.Parse(trim(c.value.Value()), native.Decimals); err == nil && v.Sign() > 0 {
		out.Value = v.String()
	}
	if data, ok := c.calldata(decimals); ok && len(data) > 0 {
		out.Data = "0x" + hex.EncodeToString(data)
	}
	if c.fn != nil && !c.raw {
		if s := c.fn.String(); len(s) <= maxFunction && kit.Clean(s, maxFunction) == s {
			out.Function = s
		}
	}
	return out
}

// decimals are those of the known token that a call goes to, -1 when it goes anywhere else.
func (b *batch) decimals(c *catalog.Catalog, x *call) int {
	if e, ok := b.tokenAt(c, x.to.Value()); ok {
		return e.Decimals
	}
	return -1
}

// moves is the amount of the known token that a transfer of this call sends, nil when it is none or not complete.
func (c *call) moves(decimals int) *big.Int {
	if c.fn == nil || c.raw || c.fn.Signature() != "transfer(address,uint256)" {
		return nil
	}
	values, _ := valuesOf(c.args, decimals)
	v, err := amount.ParseBase(values[1].Text)
	if err != nil {
		return nil
	}
	return v
}

// approval is the spender and amount of an approve(address,uint256), and the name of any function that grants rights.
func (c *call) approval(decimals int) (spender string, v *big.Int, name string) {
	data, ok := c.calldata(decimals)
	selector := ""
	switch {
	case ok && len(data) >= 4:
		selector = hex.EncodeToString(data[:4])
	case c.fn != nil && !c.raw:
		sel := c.fn.Selector()
		selector = hex.EncodeToString(sel[:])
	}
	switch selector {
	case "095ea7b3":
		name = "approve"
	case "39509351":
		name = "increaseAllowance"
	case "d505accf":
		name = "permit"
	case "a22cb465":
		name = "setApprovalForAll"
	case "87517c45":
		name = "the approve of Permit2"
	}
	if name == "approve" && ok && len(data) == 68 {
		spender, v = common.BytesToAddress(data[4:36]).Hex(), new(big.Int).SetBytes(data[36:])
	}
	return spender, v, name
}
