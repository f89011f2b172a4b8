package builder

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/wallet/intent"
)

// call is one call. With raw set, data is the call data as typed; else fn and args make it. A nil fn means no function:
// the call only sends value.
type call struct {
	to, sig, data, value *kit.Field
	raw                  bool
	why                  string // why pasted call data is raw
	fn                   *abicall.Function
	sigErr               string
	args                 []*node
	abi                  []offered // from a pasted ABI
}

func newCall() *call {
	c := &call{to: kit.NewField("", 100), sig: kit.NewField("", 8192), data: kit.NewField("", maxText),
		value: kit.NewField("", 100)}
	c.value.Empty, c.to.Empty, c.sig.Empty = "0", "an address, or the symbol of a token",
		"a signature such as transfer(address to, uint256 amount)"
	c.data.Empty = "0x"
	return c
}

// setFunction takes a parsed function and keeps the text of arguments of the same type.
func (c *call) setFunction(fn abicall.Function, units bool) {
	before := c.args
	c.fn, c.sigErr, c.raw, c.why = &fn, "", false, ""
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
	if n := c.moved(); n != nil {
		n.units = true
	}
}

// moved is the amount argument of the functions that move a token's own units.
func (c *call) moved() *node {
	if c.fn == nil {
		return nil
	}
	switch c.fn.Signature() {
	case "transfer(address,uint256)", "transferFrom(address,address,uint256)", "approve(address,uint256)",
		"withdraw(uint256)", "burn(uint256)", "mint(address,uint256)":
		return c.args[len(c.args)-1]
	}
	return nil
}

// paid is the argument that names the recipient of the token; nil when the function sends none.
func (c *call) paid() *node {
	if c.fn == nil || c.raw {
		return nil
	}
	switch c.fn.Signature() {
	case "transfer(address,uint256)":
		return c.args[0]
	case "transferFrom(address,address,uint256)", "safeTransferFrom(address,address,uint256)",
		"safeTransferFrom(address,address,uint256,bytes)":
		return c.args[1]
	}
	return nil
}

// readSignature parses the signature field.
func (c *call) readSignature(units bool) {
	text := trim(c.sig.Value())
	if text == "" {
		c.fn, c.args, c.sigErr = nil, nil, ""
		return
	}
	fn, err := abicall.ParseSignature(text)
	if err != nil {
		c.sigErr = present.Clean(err.Error(), 200)
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

// takeData decodes call data into fields when a function that it knows fits exactly, else keeps it raw and records why.
func (c *call) takeData(data []byte, decimals int) bool {
	why := "shorter than the four bytes that name a function"
	if len(data) >= 4 {
		why = "no function known here begins with " + hex0x(data[:4]) + ": paste its signature or ABI first"
		for _, fn := range c.known() {
			if fn.Selector() != [4]byte(data) {
				continue
			}
			values, err := fn.Decode(data)
			if err != nil {
				why = present.Clean("it begins like "+fn.Signature()+", but "+err.Error(), 300)
				continue
			}
			c.raw, c.sigErr, c.why = false, "", ""
			c.sig.Set(fn.String())
			c.fn, c.args = &fn, nodesOf(fn.Inputs(), values)
			c.defaultUnits()
			toUnits(c.args, decimals)
			if again, ok := c.calldata(decimals); ok && bytes.Equal(again, data) {
				return true
			}
			why = present.Clean("written again as "+fn.Signature()+" it would be other bytes", 300)
		}
	}
	c.raw, c.fn, c.args, c.why = true, nil, nil, why
	c.sig.Set("")
	c.data.Set(hex0x(data))
	return false
}

// known lists the functions to try on call data: the present one, those of the pasted ABI, and common ones.
func (c *call) known() []abicall.Function {
	var out []abicall.Function
	if c.fn != nil {
		out = append(out, *c.fn)
	}
	for _, o := range c.abi {
		out = append(out, o.fn)
	}
	return append(out, abicall.Known()...)
}

// intentCall converts the call for an intent; decimals are those of its target, -1 when that is no known token.
func (c *call) intentCall(native catalog.Entity, decimals int) intent.Call {
	out := intent.Call{To: trim(c.to.Value())}
	if v := c.wei(native); v != nil && v.Sign() > 0 {
		out.Value = v.String()
	}
	if data, ok := c.calldata(decimals); ok && len(data) > 0 {
		out.Data = "0x" + hex.EncodeToString(data)
	}
	if c.fn != nil && !c.raw {
		if s := c.fn.String(); len(s) <= maxFunction && present.Clean(s, maxFunction) == s {
			out.Function = s
		}
	}
	return out
}

// wei is the value that the call sends; 0 for an empty field, nil for one that cannot be read.
func (c *call) wei(native catalog.Entity) *big.Int {
	text := trim(c.value.Value())
	if text == "" {
		return new(big.Int)
	}
	v, err := quantity(text, native.Decimals, native.Symbol)
	if err != nil {
		return nil
	}
	return v
}

// moves is the amount that a transfer of a known token sends; nil when the call is none or is not complete.
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
	switch {
	case ok:
		name = api.ApprovalName(data)
	case c.fn != nil && !c.raw:
		sel := c.fn.Selector()
		// a multicall shows what it holds when it is complete
		if signature, _ := api.FindApproval(sel[:]); signature != "" {
			name = api.ApprovalName(sel[:])
		}
	}
	if name == "approve" && ok && len(data) == 68 {
		spender, v = common.BytesToAddress(data[4:36]).Hex(), new(big.Int).SetBytes(data[36:])
	}
	return spender, v, name
}
