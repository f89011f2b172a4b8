package api

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto/keccak"
)

// Bounds of a multicall that is looked into.
const (
	maxInnerCalls = 256 // all levels together
	maxInnerDepth = 4
	maxOffset     = 1 << 30 // more than any body has bytes
)

// approvals are the functions that give somebody rights over what the caller holds, by themselves or with a signature of the owner. They end with
// no operation, so they are no calls: what may be taken is declared as an allowance, which is reset (protocol §2.7).
func approvals() []string {
	return []string{
		// ERC-20 with what was added to it; approve is that of ERC-721, too
		"approve(address,uint256)",
		"increaseAllowance(address,uint256)",
		"increaseApproval(address,uint256)",
		"approveAndCall(address,uint256)",
		"approveAndCall(address,uint256,bytes)",
		"temporaryApprove(address,uint256)",
		"authorizeOperator(address)", // ERC-777
		// by signature: ERC-2612, its form with bytes, DAI, and tokens with authorizations
		"permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
		"permit(address,address,uint256,uint256,bytes)",
		"permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)",
		"approveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
		"increaseAllowanceWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
		// ERC-721 and ERC-1155, ERC-4494 and the forms of position tokens
		"setApprovalForAll(address,bool)",
		"permit(address,uint256,uint256,bytes)",
		"permit(address,uint256,uint256,uint8,bytes32,bytes32)",
		"permit(address,uint256,uint256,uint256,bytes)",
		"permitForAll(address,address,bool,uint256,uint256,bytes)",
		// ERC-6909, and the operators of ERC-7540 with their signatures
		"approve(address,uint256,uint256)",
		"setOperator(address,bool)",
		"authorizeOperator(address,address,bool,bytes32,uint256,bytes)",
		// Permit2
		"approve(address,address,uint160,uint48)",
		"permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)",
		"permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)",
		// routers that hand a permit on to the token
		"selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)",
		"selfPermitIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)",
		"selfPermitAllowed(address,uint256,uint256,uint8,bytes32,bytes32)",
		"selfPermitAllowedIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)",
	}
}

// multicall is a function with which a contract runs a list of its own functions for the same caller. The list is a bytes[] argument.
type multicall struct {
	signature string
	list      int // index of the argument
}

func multicalls() []multicall {
	return []multicall{
		{"multicall(bytes[])", 0},
		{"multicall(uint256,bytes[])", 1},
		{"multicall(bytes32,bytes[])", 1},
		{"batch(bytes[],bool)", 0},
	}
}

// executions are the functions with which an account makes calls (ERC-7579, ERC-4337). Only the account itself and who operates it may use them,
// so they lead somewhere only in a call to the account itself.
func executions() []string {
	return []string{
		"execute(bytes32,bytes)",
		"executeFromExecutor(bytes32,bytes)",
		"executeUserOp((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),bytes32)",
	}
}

// selector is the first four bytes of a call.
type selector [4]byte

func selectorOf(signature string) selector {
	h := keccak.NewLegacyKeccak256()
	_, _ = h.Write([]byte(signature)) // a hash takes everything
	return selector(h.Sum(nil))
}

// grants finds functions that are no calls, by their selectors.
type grants struct {
	approval  map[selector]string
	multicall map[selector]multicall
	execution map[selector]string
}

func newGrants() grants {
	g := grants{map[selector]string{}, map[selector]multicall{}, map[selector]string{}}
	for _, s := range approvals() {
		g.approval[selectorOf(s)] = s
	}
	for _, m := range multicalls() {
		g.multicall[selectorOf(m.signature)] = m
	}
	for _, s := range executions() {
		g.execution[selectorOf(s)] = s
	}
	return g
}

// FindApproval returns the signature of the function in call data that gives somebody rights over what the caller holds: the called one, or one in
// a multicall, at any level. It is "" where there is none. ok is false for a multicall that cannot be read to its end, or is larger than 256
// calls or 4 levels: it may hold an approval.
func FindApproval(data []byte) (signature string, ok bool) { return newGrants().find(data) }

// ApprovalName is what people call the function that FindApproval finds, "" where there is none: its name, with the parameters where it is not the
// approve of ERC-20, which can be declared as an allowance.
func ApprovalName(data []byte) string {
	signature, readable := FindApproval(data)
	name, _, _ := strings.Cut(signature, "(")
	switch {
	case !readable:
		return "a multicall that cannot be read"
	case name == "approve" && (signature != approvals()[0] || selector(data) != selectorOf(signature)):
		return signature
	}
	return name
}

func (g grants) find(data []byte) (signature string, ok bool) {
	left := maxInnerCalls
	return g.within(data, maxInnerDepth, &left)
}

func (g grants) within(data []byte, depth int, left *int) (string, bool) {
	if len(data) < 4 {
		return "", true
	}
	id := selector(data)
	if s := g.approval[id]; s != "" {
		return s, true
	}
	m, is := g.multicall[id]
	if !is {
		return "", true
	}
	inner, ok := listed(data[4:], m.list, *left)
	if !ok || depth == 0 {
		return "", false
	}
	*left -= len(inner)
	for _, d := range inner {
		if s, ok := g.within(d, depth-1, left); s != "" || !ok {
			return s, ok
		}
	}
	return "", true
}

// listed reads the bytes[] that is the arg-th argument, of at most most elements. A contract finds each element by its offset, wherever that
// leads, so the offsets are followed: the order in which an encoder writes would be no proof.
func listed(args []byte, arg, most int) ([][]byte, bool) {
	at, ok := wordAt(args, 32*arg)
	if !ok {
		return nil, false
	}
	n, ok := wordAt(args, at)
	if !ok || n < 0 || n > most {
		return nil, false
	}
	base := at + 32
	out := make([][]byte, n)
	for i := range out {
		offset, ok := wordAt(args, base+32*i)
		if !ok {
			return nil, false
		}
		size, ok := wordAt(args, base+offset)
		start := base + offset + 32
		if !ok || size < 0 || size > len(args)-start {
			return nil, false
		}
		out[i] = args[start : start+size]
	}
	return out, true
}

// wordAt reads the 32-byte number at a place as a signed one, as contracts add offsets; it is false outside of b and for what no offset can be.
func wordAt(b []byte, at int) (int, bool) {
	if at < 0 || at > len(b)-32 {
		return 0, false
	}
	w := b[at : at+32]
	low := int64(binary.BigEndian.Uint64(w[24:]))
	fill := byte(low >> 63)
	for _, x := range w[:24] {
		if x != fill {
			return 0, false
		}
	}
	return int(low), -maxOffset < low && low < maxOffset
}

// callData checks what a call carries. own are the accounts that make the calls.
func (g grants) callData(p place, s string, to common.Address, own map[common.Address]bool) {
	data, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(data) < 4 {
		return
	}
	if f := g.execution[selector(data)]; f != "" && own[to] {
		p.failGot("calls as they are, not inside a call to the account itself; approvals are declared in allowanceRequirements", f)
		return
	}
	switch f, ok := g.find(data); {
	case f != "":
		p.failGot("no approval in calls: declare it in allowanceRequirements", f)
	case !ok:
		p.failGot(fmt.Sprintf("a multicall that can be read to its end, of at most %d calls and %d levels, as an approval is declared in allowanceRequirements",
			maxInnerCalls, maxInnerDepth), "another one")
	}
}
