package verify

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
)

// warnPartBps is the share of a payment above which a part for somebody else is warned about (TH-Q5).
const warnPartBps = 100

// maxParts bounds the calls of a payment behind the gate: more than that nobody reads.
const maxParts = 10

// part is what one call of a payment into an unknown contract moves, and to whom.
type part struct {
	to       common.Address
	amount   *big.Int
	approval bool
}

// unknownTarget judges a payment that does not end in a deposit into a pinned escrow (TH-Q4). Behind its gate only
// calls pass of which every amount can be read: what they move of the paid asset must be the named amount, and nothing
// else may move. What the contract then does with it cannot be known.
func (j *judge) unknownTarget(l *leg, id [32]byte, calls []op.Call, path string) ([]op.Call, bool) {
	if !j.must(len(calls) <= maxParts, "Q4", "a payment has few parts", path, "at most "+strconv.Itoa(maxParts),
		plural(len(calls), "call")) {
		return nil, false
	}
	target := j.target(l, calls)
	if !j.gate(GateTarget, "Q4", "A payment does not go into a pinned escrow.", path, j.Network.Pins.Escrow.Hex(),
		j.describe(l.role.chainID, calls[target])) {
		return nil, false
	}
	j.forbiddenTargets(l.userOp.Sender, calls, path)
	parts, bound, ok := j.parts(l, id, calls, target, path)
	if !ok {
		return nil, false
	}
	total := new(big.Int)
	for _, x := range parts {
		total.Add(total, x.amount)
	}
	if !j.must(total.Cmp(l.amount) == 0, "Q5", "each payment takes the named amount and nothing else", path,
		j.human(l.asset, l.amount), j.human(l.asset, total)) {
		return nil, false
	}
	if !bound {
		j.add(Unknown, "Q1", "The payment does not name this quote in a form that this program reads.", path,
			hex0x(id[:]), "")
	}
	j.add(Unknown, "Q5", "It is not known whether a payment that is not used comes back, or when.", path, "", "")
	j.shares(l, parts, path)
	again, err := op.EncodeExecute(calls)
	return calls, j.must(err == nil && bytes.Equal(again, l.userOp.CallData), "U6",
		"the call data is the one encoding of these calls", path, "a batch in canonical encoding", "")
}

// target is the call that the gate is about: the first one with data that is not for the paid token, else the last.
// There may be no second one.
func (p Policy) target(l *leg, calls []op.Call) int {
	token, isToken := l.asset.Token()
	for i, c := range calls {
		if len(c.Data) > 0 && (!isToken || c.To != token) {
			return i
		}
	}
	return len(calls) - 1
}

// parts reads what each call moves. bound reports whether one of them carries the quote's id.
func (j *judge) parts(l *leg, id [32]byte, calls []op.Call, target int, path string) (parts []part, bound,
	ok bool) {
	token, isToken := l.asset.Token()
	refuse := func(code, title string, c op.Call) ([]part, bool, bool) {
		j.add(Refuse, code, title, path, "approvals and transfers of the named amount, and calls that take it",
			j.describe(l.role.chainID, c))
		return nil, false, false
	}
	for i, c := range calls {
		if d, _, deposits := escrow.DecodeDeposit(c.Data); deposits {
			if !j.must(d.QuoteID == id, "Q1", "each payment is bound to this quote's id", path, hex0x(id[:]),
				hex0x(d.QuoteID[:])) {
				return nil, false, false
			}
			bound = true
		}
		switch {
		case isToken && c.Value.Sign() != 0:
			return refuse("Q5", "A payment in a token sends the native coin beside it.", c)
		case isToken && c.To == token:
			x, moves := tokenPart(c.Data)
			if !moves {
				return refuse("Q4", "A payment calls a token function other than approve or transfer.", c)
			}
			if x.amount.Sign() == 0 || (x.approval && x.to != calls[target].To) {
				return refuse("Q4", "A payment approves nothing, or another spender than the named contract.", c)
			}
			parts = append(parts, x)
		case j.isToken(l.role.chainID, c.To) || movesTokens(c.Data):
			return refuse("Q5", "A payment moves something else than the named asset.", c)
		case len(c.Data) > 0 && i != target:
			return refuse("Q4", "A payment calls a second contract, and Coffer cannot tell what it does.", c)
		case c.Value.Sign() > 0:
			parts = append(parts, part{to: c.To, amount: c.Value})
		case !slices.ContainsFunc(parts, func(x part) bool { return x.approval && x.to == c.To }):
			return refuse("Q4", "A payment calls a contract that takes nothing of it.", c)
		}
	}
	return parts, bound, true
}

// tokenPart reads an approval or a transfer.
func tokenPart(data []byte) (part, bool) {
	if to, v, ok := erc20.DecodeTransfer(data); ok {
		return part{to: to, amount: v}, true
	}
	spender, v, ok := erc20.DecodeApprove(data)
	return part{to: spender, amount: v, approval: true}, ok
}

// movesTokens reports whether call data is one of the functions that move tokens or give others rights to them,
// whatever contract it is for.
func movesTokens(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	switch [4]byte(data[:4]) {
	case [4]byte{0xa9, 0x05, 0x9c, 0xbb}, [4]byte{0x23, 0xb8, 0x72, 0xdd}, // transfer, transferFrom
		[4]byte{0x42, 0x84, 0x2e, 0x0e}, [4]byte{0xb8, 0x8d, 0x4f, 0xde}, // safeTransferFrom of ERC-721
		// safeTransferFrom and safeBatchTransferFrom of ERC-1155
		[4]byte{0xf2, 0x42, 0x43, 0x2a}, [4]byte{0x2e, 0xb2, 0xc2, 0xd6}:
		return true
	}
	return grantsRights(data)
}

// shares shows every part of a payment; the largest is what pays, the others are fees that the amount does not name.
func (j *judge) shares(l *leg, parts []part, path string) {
	main := 0
	for i, x := range parts {
		if x.amount.Cmp(parts[main].amount) > 0 { //nolint:gosec // main is an index of parts
			main = i
		}
	}
	l.escrow = parts[main].to
	for i, x := range parts {
		v := PartView{
			To: x.to.Hex(), ToName: j.nameOf(l.role.chainID, x.to), Amount: j.amountView(l.asset, x.amount),
			ShareBps: bpsOf(x.amount, l.amount), Approval: x.approval,
		}
		l.parts = append(l.parts, v)
		if i == main {
			continue
		}
		level := Show
		if v.ShareBps > warnPartBps {
			level = Warn
		}
		j.add(level, "Q5", "Part of the payment goes to another address.", path, "at most "+percent(warnPartBps),
			v.To+" "+j.human(l.asset, x.amount)+", "+percent(v.ShareBps))
	}
}

// depositCalls are the calls that pay an amount into an escrow for a quote (protocol §3.3).
func depositCalls(at common.Address, id [32]byte, asset caip.Asset, v *big.Int, deadline uint64,
	terms escrow.Terms) []op.Call {
	token, isToken := asset.Token()
	deposit := op.Call{To: at, Value: new(big.Int), Data: escrow.DepositCalldata(escrow.Deposit{
		QuoteID: id, Token: token, Amount: v, RefundDeadline: deadline}, terms)}
	if !isToken {
		deposit.Value.Set(v)
		return []op.Call{deposit}
	}
	return []op.Call{{To: token, Value: new(big.Int), Data: erc20.Approve(at, v)}, deposit}
}
