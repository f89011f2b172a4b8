// Package erc20 encodes and decodes the calls of the ERC-20 interface that the service
// builds and the wallet shows: approve, transfer, transferFrom and the views.
//
// Promise: decoders accept exactly the selector and the words of the call, no more and
// no fewer bytes, with zero padding in front of addresses. Amounts are base units,
// 0 … 2^256-1; encoders return nil for an amount outside, and an empty call is neither
// an approve nor a transfer. Sources: ERC-20; TH-U7, TH-U8.
package erc20

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

// Selector is the first four bytes of a call.
type Selector = [4]byte

func approveSelector() Selector      { return Selector{0x09, 0x5e, 0xa7, 0xb3} }
func transferSelector() Selector     { return Selector{0xa9, 0x05, 0x9c, 0xbb} }
func transferFromSelector() Selector { return Selector{0x23, 0xb8, 0x72, 0xdd} }

// Approve is approve(spender, amount).
func Approve(spender common.Address, amount *big.Int) []byte {
	return encode(approveSelector(), amount, spender)
}

// Transfer is transfer(to, amount).
func Transfer(to common.Address, amount *big.Int) []byte {
	return encode(transferSelector(), amount, to)
}

// TransferFrom is transferFrom(from, to, amount).
func TransferFrom(from, to common.Address, amount *big.Int) []byte {
	return encode(transferFromSelector(), amount, from, to)
}

// BalanceOf is balanceOf(owner).
func BalanceOf(owner common.Address) []byte {
	return word.Address([]byte{0x70, 0xa0, 0x82, 0x31}, owner)
}

// Allowance is allowance(owner, spender).
func Allowance(owner, spender common.Address) []byte {
	return word.Address(word.Address([]byte{0xdd, 0x62, 0xed, 0x3e}, owner), spender)
}

// Decimals is decimals().
func Decimals() []byte { return []byte{0x31, 0x3c, 0xe5, 0x67} }

// Symbol is symbol().
func Symbol() []byte { return []byte{0x95, 0xd8, 0x9b, 0x41} }

// DecodeApprove reads approve(spender, amount).
func DecodeApprove(data []byte) (spender common.Address, amount *big.Int, ok bool) {
	a, v, ok := decode(approveSelector(), data, 1)
	return a[0], v, ok
}

// DecodeTransfer reads transfer(to, amount).
func DecodeTransfer(data []byte) (to common.Address, amount *big.Int, ok bool) {
	a, v, ok := decode(transferSelector(), data, 1)
	return a[0], v, ok
}

// DecodeTransferFrom reads transferFrom(from, to, amount).
func DecodeTransferFrom(data []byte) (from, to common.Address, amount *big.Int, ok bool) {
	a, v, ok := decode(transferFromSelector(), data, 2)
	return a[0], a[1], v, ok
}

// DecodeUint reads the answer of balanceOf, allowance or totalSupply: one word.
func DecodeUint(data []byte) (*big.Int, bool) {
	if len(data) != word.Size {
		return nil, false
	}
	return new(big.Int).SetBytes(data), true
}

// Unlimited reports whether an allowance is 2^256-1, which is never accepted from a
// service (TH-U8).
func Unlimited(amount *big.Int) bool {
	return amount != nil && amount.Sign() > 0 && amount.BitLen() == 256 &&
		new(big.Int).Add(amount, big.NewInt(1)).BitLen() == 257
}

func encode(selector Selector, amount *big.Int, addresses ...common.Address) []byte {
	if !word.Fits(amount, 256) {
		return nil
	}
	out := selector[:]
	for _, a := range addresses {
		out = word.Address(out, a)
	}
	return word.Uint(out, amount)
}

// decode reads one or two addresses and an amount; what does not decode is zero.
func decode(selector Selector, data []byte, addresses int) (out [2]common.Address, v *big.Int, ok bool) {
	if len(data) != len(selector)+(addresses+1)*word.Size || Selector(data[:4]) != selector {
		return out, nil, false
	}
	r := word.NewReader(data[4:])
	for i := range addresses {
		out[i] = r.Address()
	}
	if v = r.Uint(); r.Err() != nil {
		return [2]common.Address{}, nil, false
	}
	return out, v, true
}
