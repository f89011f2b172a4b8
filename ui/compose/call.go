package compose

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/abicall"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// Call is one call as typed. With Raw set, Data is the call data; else the function and Args make it. A nil Fn means no
// function: the call only sends Value.
type Call struct {
	To        string            `json:"to,omitzero"`
	Signature string            `json:"signature,omitzero"`
	Args      []*Arg            `json:"args,omitempty"`
	Raw       bool              `json:"raw,omitzero"`
	Data      string            `json:"data,omitzero"`
	Value     string            `json:"value,omitzero"`
	ABI       []Offered         `json:"abi,omitempty"` // from a pasted ABI
	Note      string            `json:"note,omitzero"`
	Why       string            `json:"-"` // why pasted call data is raw
	Fn        *abicall.Function `json:"-"`
	SigErr    string            `json:"-"`
}

// Clone is a copy that shares nothing.
func (c *Call) Clone() *Call {
	out := shallow(c)
	out.Args, out.ABI = clones(c.Args, cloneArg), slices.Clone(c.ABI)
	return out
}

// setFunction takes a parsed function and keeps the text of arguments of the same type.
func (c *Call) setFunction(fn abicall.Function, units bool) {
	before := c.Args
	c.Fn, c.SigErr, c.Raw, c.Why = &fn, "", false, ""
	c.Args = EmptyArgs(fn.Inputs())
	for i, n := range c.Args {
		if i < len(before) && before[i].Param.Type == n.Param.Type {
			before[i].Param = n.Param
			c.Args[i] = before[i]
		}
	}
	if units {
		c.defaultUnits()
	}
}

// defaultUnits lets the amount of a transfer be typed in whole tokens.
func (c *Call) defaultUnits() {
	if n := c.Moved(); n != nil {
		n.Units = true
	}
}

// Moved is the amount argument of the functions that move a token's own units.
func (c *Call) Moved() *Arg {
	if c.Fn == nil || !Moves(*c.Fn) {
		return nil
	}
	return c.Args[len(c.Args)-1]
}

// Moves reports whether the last argument of a function is an amount of the token that is called.
func Moves(fn abicall.Function) bool {
	switch fn.Signature() {
	case transferOf, "transferFrom(address,address,uint256)", "approve(address,uint256)",
		"withdraw(uint256)", "burn(uint256)", "mint(address,uint256)":
		return true
	}
	return false
}

// Paid is the argument that names the recipient of the token; nil when the function sends none.
func (c *Call) Paid() *Arg {
	if c.Fn == nil || c.Raw {
		return nil
	}
	switch c.Fn.Signature() {
	case "transfer(address,uint256)":
		return c.Args[0]
	case "transferFrom(address,address,uint256)", "safeTransferFrom(address,address,uint256)",
		"safeTransferFrom(address,address,uint256,bytes)":
		return c.Args[1]
	}
	return nil
}

// ReadSignature parses the signature. With units, the amount of a transfer is in whole tokens.
func (c *Call) ReadSignature(units bool) {
	text := trim(c.Signature)
	if text == "" {
		c.Fn, c.Args, c.SigErr = nil, nil, ""
		return
	}
	fn, err := abicall.ParseSignature(text)
	if err != nil {
		c.SigErr = present.Clean(err.Error(), 200)
		return
	}
	if c.Fn != nil && c.Fn.String() == fn.String() {
		c.SigErr = ""
		return
	}
	c.setFunction(fn, units)
}

// Calldata is the call's data; ok is false while something cannot be encoded.
func (c *Call) Calldata(t Target) (data []byte, ok bool) {
	if c.Raw {
		b, problem := Bytes(c.Data)
		return b, problem == "" || trim(c.Data) == ""
	}
	if c.Fn == nil {
		return nil, c.SigErr == ""
	}
	values, bad := valuesOf(c.Args, t)
	if len(bad) > 0 {
		return nil, false
	}
	data, err := c.Fn.Encode(values)
	return data, err == nil
}

// TakeData decodes call data into fields when a function that it knows fits exactly, else keeps it raw and records why.
func (c *Call) TakeData(data []byte, t Target) bool {
	why := "shorter than the four bytes that name a function"
	if len(data) >= 4 {
		why = "no function known here begins with " + Hex(data[:4]) + ": paste its signature or ABI first"
		for _, fn := range c.known() {
			if fn.Selector() != [4]byte(data) {
				continue
			}
			values, err := fn.Decode(data)
			if err != nil {
				why = present.Clean("it begins like "+fn.Signature()+", but "+err.Error(), 300)
				continue
			}
			c.Raw, c.SigErr, c.Why = false, "", ""
			c.Signature = fn.String()
			c.Fn, c.Args = &fn, argsOf(fn.Inputs(), values)
			c.defaultUnits()
			toUnits(c.Args, t)
			if again, ok := c.Calldata(t); ok && bytes.Equal(again, data) {
				return true
			}
			why = present.Clean("written again as "+fn.Signature()+" it would be other bytes", 300)
		}
	}
	c.Raw, c.Fn, c.Args, c.Why = true, nil, nil, why
	c.Signature = ""
	c.Data = Hex(data)
	return false
}

// known lists the functions to try on call data: the present one, those of the pasted ABI, and common ones.
func (c *Call) known() []abicall.Function {
	var out []abicall.Function
	if c.Fn != nil {
		out = append(out, *c.Fn)
	}
	for _, o := range c.ABI {
		out = append(out, o.Fn)
	}
	return append(out, abicall.Known()...)
}

// Intent converts the call for an intent.
func (c *Call) Intent(t Target) intent.Call {
	out := intent.Call{To: trim(c.To), Note: trim(c.Note)}
	if v := c.Wei(t.Coin()); v != nil && v.Sign() > 0 {
		out.Value = v.String()
	}
	if data, ok := c.Calldata(t); ok && len(data) > 0 {
		out.Data = Hex(data)
	}
	if c.Fn != nil && !c.Raw {
		if s := c.Fn.String(); len(s) <= maxFunction && present.Clean(s, maxFunction) == s {
			out.Function = s
		}
	}
	return out
}

// Coin is the coin of the target's chain.
func (t Target) Coin() catalog.Entity { return t.w.Coin(t.Chain) }

// Wei is the value that the call sends; 0 for an empty field, nil for one that cannot be read.
func (c *Call) Wei(coin catalog.Entity) *big.Int {
	text := trim(c.Value)
	if text == "" {
		return new(big.Int)
	}
	v, _ := Amount(text, coin.Decimals, coin.Symbol)
	return v
}

// moves is the amount that a transfer sends; nil when the call is none or its amount cannot be read.
func (c *Call) moves(t Target) *big.Int {
	if c.Fn == nil || c.Raw || c.Fn.Signature() != transferOf {
		return nil
	}
	return c.Args[1].amountOf(t)
}

// transferOf is the function that pays a token.
const transferOf = "transfer(address,uint256)"

// Pay fills the call with the transfer of a token, or with a plain payment in the chain's coin.
func (c *Call) Pay(asset caip.Asset, to, whole string) {
	token, ok := asset.Token()
	if !ok {
		c.To, c.Value = to, whole
		return
	}
	c.To, c.Signature = token.Hex(), "transfer(address to, uint256 amount)"
	c.ReadSignature(true)
	c.Args[0].Text, c.Args[1].Text = to, whole
}

// Grants names the function that gives somebody rights over tokens, or may; "" for any other.
func Grants(fn abicall.Function) string {
	_, _, name := (&Call{Fn: &fn}).Approval(Target{})
	return name
}

// Hex writes bytes as 0x and hexadecimal digits.
func Hex(b []byte) string { return "0x" + hex.EncodeToString(b) }

// Bytes reads call data: 0x and an even number of hexadecimal digits.
func Bytes(text string) (b []byte, problem string) {
	digits, ok := strings.CutPrefix(trim(text), "0x")
	b, err := hex.DecodeString(digits)
	if err != nil || !ok {
		return nil, "0x and an even number of hexadecimal digits"
	}
	return b, ""
}

// Approval is the spender and amount of an approve(address,uint256), and the name of any function that grants rights.
func (c *Call) Approval(t Target) (spender string, v *big.Int, name string) {
	data, ok := c.Calldata(t)
	switch {
	case ok:
		name = api.ApprovalName(data)
	case c.Fn != nil && !c.Raw:
		sel := c.Fn.Selector()
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

// Resolve puts addresses in the place of the names and symbols of a call.
func (c *Call) Resolve(w *World, chain caip.Chain) {
	c.To, _ = w.Address(chain, c.To)
	Walk(c.Args, func(_ []int, n *Arg) {
		if n.Param.Type == "address" && n.IsLeaf() {
			n.Text, _ = w.Address(chain, n.Text)
		}
	})
}

// Usual lists the functions that a target most likely has.
func (t Target) Usual() []abicall.Function {
	list := []string{transferOf, "transferFrom(address,address,uint256)"}
	switch {
	case t.Known && t.Token.Symbol == "W"+t.Coin().Symbol:
		list = append([]string{"deposit()", "withdraw(uint256)"}, list...)
	case !t.Known:
		list = append(list, "deposit()", "withdraw(uint256)")
	}
	var out []abicall.Function
	for _, want := range list {
		for _, fn := range abicall.Known() {
			if fn.Signature() == want {
				out = append(out, fn)
			}
		}
	}
	return out
}
