package api

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// Bounds of a multicall that is looked into.
const (
	maxInnerCalls = 256 // all levels together
	maxInnerDepth = 4
	maxOffset     = 1 << 30 // more than any body has bytes
)

// approvals are the functions that give somebody rights over what the caller holds, by themselves or with a signature
// of the owner. They end with no operation, so they are no calls: what may be taken is declared as an allowance, which
// is reset (protocol §2.7).
func approvals() []function {
	return []function{
		// ERC-20 with what was added to it; approve is that of ERC-721, too
		{0x095ea7b3, "approve(address,uint256)"},
		{0x39509351, "increaseAllowance(address,uint256)"},
		{0xd73dd623, "increaseApproval(address,uint256)"},
		{0x3177029f, "approveAndCall(address,uint256)"},
		{0xcae9ca51, "approveAndCall(address,uint256,bytes)"},
		{0x42232a4c, "temporaryApprove(address,uint256)"},
		{0x959b8c3f, "authorizeOperator(address)"}, // ERC-777
		// by signature: ERC-2612, its form with bytes, DAI, and tokens with authorizations
		{0xd505accf, "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)"},
		{0x9fd5a6cf, "permit(address,address,uint256,uint256,bytes)"},
		{0x8fcbaf0c, "permit(address,address,uint256,uint256,bool,uint8,bytes32,bytes32)"},
		{0xe1560fd3, "approveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"},
		{0xc237108f,
			"increaseAllowanceWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32," +
				"bytes32)"},
		// ERC-721 and ERC-1155, ERC-4494 and the forms of position tokens
		{0xa22cb465, "setApprovalForAll(address,bool)"},
		{0x745a41bc, "permit(address,uint256,uint256,bytes)"},
		{0x7ac2ff7b, "permit(address,uint256,uint256,uint8,bytes32,bytes32)"},
		{0x0f5730f1, "permit(address,uint256,uint256,uint256,bytes)"},
		{0x3aea60f0, "permitForAll(address,address,bool,uint256,uint256,bytes)"},
		// ERC-6909, and the operators of ERC-7540 with their signatures
		{0x426a8493, "approve(address,uint256,uint256)"},
		{0x558a7297, "setOperator(address,bool)"},
		{0x711b58ff, "authorizeOperator(address,address,bool,bytes32,uint256,bytes)"},
		// Permit2
		{0x87517c45, "approve(address,address,uint160,uint48)"},
		{0x2b67b570, "permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)"},
		{0x2a2d80d1, "permit(address,((address,uint160,uint48,uint48)[],address,uint256),bytes)"},
		// routers that hand a permit on to the token
		{0xf3995c67, "selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)"},
		{0xc2e3140a, "selfPermitIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)"},
		{0x4659a494, "selfPermitAllowed(address,uint256,uint256,uint8,bytes32,bytes32)"},
		{0xa4a78f0c, "selfPermitAllowedIfNecessary(address,uint256,uint256,uint8,bytes32,bytes32)"},
	}
}

// multicall is a function with which a contract runs a list of its own functions for the same caller. The list is a
// bytes[] argument.
type multicall struct {
	selector
	signature string
	list      int // index of the argument
}

func multicalls() []multicall {
	return []multicall{
		{0xac9650d8, "multicall(bytes[])", 0},
		{0x5ae401dc, "multicall(uint256,bytes[])", 1},
		{0x1f0464d1, "multicall(bytes32,bytes[])", 1},
		{0xd2423b51, "batch(bytes[],bool)", 0},
	}
}

// ownFunctions are the functions of Kernel with which an account makes calls (ERC-7579, ERC-4337) or changes its
// validator, its modules and its code. Only the account itself and who operates it may use them, so they lead somewhere
// only in a call to the account itself.
func ownFunctions() []function {
	return []function{
		{0xe9ae5c53, "execute(bytes32,bytes)"},
		{0xd691c964, "executeFromExecutor(bytes32,bytes)"},
		{0x8dd7712f, "executeUserOp((address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes),bytes32)"},
		{0x52141cd9, "changeRootValidator(bytes21,address,bytes,bytes)"},
		{0x9517e29f, "installModule(uint256,address,bytes)"},
		{0x9198bdf5, "installValidations(bytes21[],(uint32,address)[],bytes[],bytes[])"},
		{0xa71763a8, "uninstallModule(uint256,address,bytes)"},
		{0xe6f3d50a, "uninstallValidation(bytes21,bytes,bytes)"},
		{0x1f1b92e3, "invalidateNonce(uint32)"},
		{0xb9b82941, "grantAccess(bytes21,bytes4,bool)"},
		{0x3659cfe6, "upgradeTo(address)"},
	}
}

// moduleFunctions set up the caller at a module and take it away again (ERC-7579). At a validator that is who operates
// the account.
func moduleFunctions() []function {
	return []function{{0x6d61fe70, "onInstall(bytes)"}, {0x8a91b0e3, "onUninstall(bytes)"}}
}

// selector is the first four bytes of a call, big-endian.
type selector uint32

// selectorOf is that of call data with at least four bytes.
func selectorOf(data []byte) selector { return selector(binary.BigEndian.Uint32(data)) }

// function is a function by its selector.
type function struct {
	selector
	signature string
}

// named is the signature of the function with a selector, "" when it is not in the list.
func named(list []function, id selector) string {
	for _, f := range list {
		if f.selector == id {
			return f.signature
		}
	}
	return ""
}

// grants finds functions that are no calls.
type grants struct {
	approvals, own, modules []function
	multicalls              []multicall
}

func newGrants() grants { return grants{approvals(), ownFunctions(), moduleFunctions(), multicalls()} }

// FindApproval returns the signature of the function in call data that gives somebody rights over what the caller
// holds: the called one, or one in a multicall, at any level. It is "" where there is none. ok is false for a multicall
// that cannot be read to its end, or is larger than 256 calls or 4 levels: it may hold an approval.
func FindApproval(data []byte) (signature string, ok bool) { return newGrants().find(data) }

// ApprovalName is what people call the function that FindApproval finds, "" where there is none: its name, with the
// parameters where it is not the approve of ERC-20, which can be declared as an allowance.
func ApprovalName(data []byte) string {
	signature, readable := FindApproval(data)
	name, _, _ := strings.Cut(signature, "(")
	switch {
	case !readable:
		return "a multicall that cannot be read"
	case name == "approve" && (selectorOf(data) != approvals()[0].selector):
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
	id := selectorOf(data)
	if s := named(g.approvals, id); s != "" {
		return s, true
	}
	at := slices.IndexFunc(g.multicalls, func(m multicall) bool { return m.selector == id })
	if at < 0 {
		return "", true
	}
	inner, ok := listed(data[4:], g.multicalls[at].list, *left)
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

// listed reads the bytes[] that is the arg-th argument, of at most most elements. A contract finds each element by its
// offset, wherever that leads, so the offsets are followed: the order in which an encoder writes would be no proof.
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

// wordAt reads the 32-byte number at a place as a signed one, as contracts add offsets; it is false outside of b and
// for what no offset can be.
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

// callData checks what a call carries. own has the accounts that make the calls.
func (g grants) callData(p place, s string, to common.Address, own map[common.Address]bool) {
	data, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil || len(data) < 4 {
		return
	}
	if _, self := own[to]; self {
		if f := named(g.own, selectorOf(data)); f != "" {
			p.failGot("calls as they are, not inside a call to the account itself, whose keys and modules stay; "+
				"approvals are declared in allowanceRequirements", f)
			return
		}
	}
	if f := named(g.modules, selectorOf(data)); f != "" {
		p.failGot("no call that changes who operates the account", f)
		return
	}
	switch f, ok := g.find(data); {
	case f != "":
		p.failGot("no approval in calls: declare it in allowanceRequirements", f)
	case !ok:
		p.failGot(fmt.Sprintf("a multicall that can be read to its end, of at most %d calls and %d levels, as an "+
			"approval is declared in allowanceRequirements",
			maxInnerCalls, maxInnerDepth), "another one")
	}
}
