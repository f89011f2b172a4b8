package verify

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
)

// decoded is what a call's data says when it is one of the functions known here. moves is the amount that leaves the
// account or may be taken, recipient who gets it.
type decoded struct {
	function  string
	args      []ArgView
	moves     *big.Int
	recipient common.Address
	from      *common.Address
}

// decodeKnown reads the functions of tokens and of the escrow; data must be exactly one of them.
func decodeKnown(data []byte) (decoded, bool) {
	address := func(name string, a common.Address) ArgView { return ArgView{name, "address", a.Hex()} }
	number := func(name string, v *big.Int) ArgView { return ArgView{name, "uint256", v.String()} }
	if to, v, ok := erc20.DecodeTransfer(data); ok {
		return decoded{"transfer(address to, uint256 amount)", []ArgView{address("to", to), number("amount", v)}, v, to,
			nil}, true
	}
	if spender, v, ok := erc20.DecodeApprove(data); ok {
		return decoded{"approve(address spender, uint256 amount)",
			[]ArgView{address("spender", spender), number("amount", v)}, v, spender, nil}, true
	}
	if from, to, v, ok := erc20.DecodeTransferFrom(data); ok {
		args := []ArgView{address("from", from), address("to", to), number("amount", v)}
		return decoded{"transferFrom(address from, address to, uint256 amount)", args, v, to, &from}, true
	}
	if d, t, ok := escrow.DecodeDeposit(data); ok {
		return decoded{"deposit(bytes32 quoteId, address token, uint256 amount, uint64 refundDeadline, Terms terms)",
			append(depositArgs(d), termsArgs(t)...), nil, common.Address{}, nil}, true
	}
	if d, ok := escrow.DecodeEarlierDeposit(data); ok {
		return decoded{"deposit(bytes32 quoteId, address token, uint256 amount, uint64 refundDeadline)", depositArgs(d),
			nil, common.Address{}, nil}, true
	}
	return decoded{}, false
}

func depositArgs(d escrow.Deposit) []ArgView {
	return []ArgView{{"quoteId", "bytes32", hex0x(d.QuoteID[:])}, {"token", "address", d.Token.Hex()},
		{"amount", "uint256", d.Amount.String()}, timeArg("refundDeadline", d.RefundDeadline)}
}

// termsArgs shows what a deposit is released for.
func termsArgs(t escrow.Terms) []ArgView {
	out := []ArgView{{"targetChain", "uint256", strconv.FormatUint(t.TargetChain, 10)},
		timeArg("fillDeadline", t.FillDeadline)}
	for i, m := range t.Minimums {
		out = append(out, ArgView{"minimums[" + strconv.Itoa(i) + "]", "(bytes32,bytes32,uint256)",
			m.Amount.String() + " of " + hex0x(m.Token[:]) + " to " + hex0x(m.To[:])})
	}
	for i, o := range t.Operations {
		out = append(out, ArgView{"operations[" + strconv.Itoa(i) + "]", "bytes32", hex0x(o[:])})
	}
	return out
}

func timeArg(name string, at uint64) ArgView {
	return ArgView{name, "uint64", strconv.FormatUint(at, 10) + " (" + unixText(at) + ")"}
}

const maxTime = 1 << 36 // beyond any time that a screen can show

func unixText(s uint64) string {
	if s > maxTime {
		return "beyond every calendar"
	}
	return time.Unix(int64(s), 0).UTC().Format("2006-01-02 15:04:05 UTC")
}

// describe says in one line what a call does.
func (p Policy) describe(chainID uint64, c op.Call) string {
	to := c.To.Hex()
	if name := p.nameOf(chainID, c.To); name != "" {
		to = name + " " + to
	}
	what := "plain transfer to " + to
	if k, ok := decodeKnown(c.Data); ok {
		name, _, _ := strings.Cut(k.function, "(")
		var values []string
		for _, a := range k.args {
			values = append(values, a.Value)
		}
		what = to + " " + name + "(" + strings.Join(values, ", ") + ")"
	} else if len(c.Data) > 0 {
		what = to + " data 0x" + hex.EncodeToString(c.Data[:min(4, len(c.Data))])
	}
	if c.Value.Sign() > 0 {
		what += " with " + c.Value.String() + " wei"
	}
	return what
}

// callView shows one line of the prepared operation.
func (p Policy) callView(index int, chainID uint64, l line, function string, known map[common.Address]bool) CallView {
	v := CallView{
		Index: index, Asked: l.asked + 1, Role: l.role, To: l.call.To.Hex(), ToName: p.nameOf(chainID, l.call.To),
		Value: new(big.Int).Set(l.call.Value),
		Data:  "0x" + hex.EncodeToString(l.call.Data), AsAsked: true,
	}
	var recipient common.Address
	if k, ok := decodeKnown(l.call.Data); ok {
		v.Decoded, v.Function, v.Args, recipient = true, k.function, k.args, k.recipient
		if k.moves != nil && p.isToken(chainID, l.call.To) {
			a := p.amountView(caip.ERC20(chainID, l.call.To), k.moves)
			v.Amount = &a
		}
	} else if len(l.call.Data) == 0 {
		v.Decoded, v.Function, recipient = true, "", l.call.To
	} else if name, args, ok := decodeAs(function, l.call.Data); ok {
		v.Decoded, v.Function, v.Args = true, name, args
	}
	if l.call.Value.Sign() > 0 && v.Amount == nil {
		a := p.amountView(caip.Native(chainID), l.call.Value)
		v.Amount = &a
	}
	if recipient != (common.Address{}) && l.role == RoleCall {
		v.Recipient, v.FirstTime = recipient.Hex(), !known[recipient]
	}
	return v
}

func (p Policy) isToken(chainID uint64, a common.Address) bool {
	_, ok := p.Catalog.Entity(caip.ERC20(chainID, a))
	return ok
}

// outflow sums what can leave the account: native values, transfers of tokens and the declared approvals.
func (p Policy) outflow(chainID uint64, sender common.Address, lines []line) []AmountView {
	var order []caip.Asset
	sums := map[caip.Asset]*big.Int{}
	add := func(a caip.Asset, v *big.Int) {
		if v == nil || v.Sign() == 0 {
			return
		}
		if sums[a] == nil {
			sums[a] = new(big.Int)
			order = append(order, a)
		}
		sums[a].Add(sums[a], v)
	}
	for _, l := range lines {
		add(caip.Native(chainID), l.call.Value)
		k, ok := decodeKnown(l.call.Data)
		if !ok || l.role == RoleRevoke || (k.from != nil && *k.from != sender) {
			continue
		}
		add(caip.ERC20(chainID, l.call.To), k.moves)
	}
	out := make([]AmountView, 0, len(order))
	for _, a := range order {
		out = append(out, p.amountView(a, sums[a]))
	}
	return out
}
