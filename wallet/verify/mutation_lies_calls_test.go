package verify_test

import (
	"math/big"

	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/wallet/verify"
)

func liesAboutNonces() []falsehood {
	on := func(change func(f *forged, n *op.Nonce)) func(f *forged) bool {
		return func(f *forged) bool {
			o := f.anEVM()
			if o != nil {
				f.nonce(o, func(n *op.Nonce) { change(f, n) })
			}
			return o != nil
		}
	}
	return []falsehood{
		{what: "the mode that enables a validator", tell: on(func(f *forged, n *op.Nonce) { n.Mode = 1 })},
		{what: "any other mode", tell: on(func(f *forged, n *op.Nonce) { n.Mode = byte(1 + f.r.Intn(255)) })},
		{what: "another type of validation", tell: on(func(f *forged,
			n *op.Nonce) {
			n.Type = byte(1 + f.r.Intn(255))
		})},
		{what: "another lane", tell: on(func(f *forged, n *op.Nonce) { n.Key ^= uint16(1 + f.r.Intn(65535)) })},
		{what: "another validator in the nonce", tell: on(func(f *forged, n *op.Nonce) { n.Validator = f.address() })},
		{what: "another validator in nonce and typed data", tell: func(f *forged) bool {
			o, other := f.anEVM(), f.address()
			if o == nil {
				return false
			}
			f.nonce(o, func(n *op.Nonce) { n.Validator = other })
			f.evm(o, func(e *evmForm) { e.domain.VerifyingContract = other })
			return true
		}},
		{what: "a sequence far ahead", tell: on(func(f *forged, n *op.Nonce) { n.Sequence += 1 << 40 })},
		{what: "another sequence", tell: on(func(f *forged, n *op.Nonce) { n.Sequence += uint64(1 + f.r.Intn(3)) }),
			class: verify.Bounded,
			why:   "a used nonce does nothing; without history the next one is not known (U3)"},
	}
}

func liesAboutCalls() []falsehood {
	on := func(change func(f *forged, e *evmForm) bool) func(f *forged) bool {
		return func(f *forged) bool {
			o, done := f.anEVM(), false
			if o != nil {
				f.evm(o, func(e *evmForm) { done = change(f, e) })
			}
			return done
		}
	}
	raw := func(change func(f *forged, e *evmForm)) func(f *forged) bool {
		return func(f *forged) bool {
			o := f.anEVM()
			if o != nil {
				f.raw(o, func(e *evmForm) { change(f, e) })
			}
			return o != nil
		}
	}
	return []falsehood{
		{what: "another recipient", tell: on(func(f *forged, e *evmForm) bool {
			for i, c := range e.calls {
				if _, v, ok := erc20.DecodeTransfer(c.Data); ok {
					e.calls[i].Data = erc20.Transfer(f.address(), v)
					return true
				}
			}
			return false
		})},
		{what: "another amount, in the operation, too", tell: func(f *forged) bool {
			o, done := f.anEVM(), false
			if o == nil {
				return false
			}
			f.evm(o, func(e *evmForm) {
				for i, c := range e.calls {
					if to, v, ok := erc20.DecodeTransfer(c.Data); ok {
						v = new(big.Int).Add(v, big.NewInt(1+f.r.Int63n(1e9)))
						e.calls[i].Data, o.Amount, done = erc20.Transfer(to, v), v.String(), true
					}
				}
			})
			return done
		}},
		{what: "another target", tell: on(func(f *forged,
			e *evmForm) bool {
			e.calls[f.r.Intn(len(e.calls))].To = f.address()
			return true
		})},
		{what: "a value", tell: on(func(f *forged, e *evmForm) bool {
			c := &e.calls[f.r.Intn(len(e.calls))]
			c.Value = new(big.Int).Add(c.Value, big.NewInt(1+f.r.Int63()))
			return true
		})},
		{what: "one byte of the data", tell: on(func(f *forged, e *evmForm) bool {
			c := &e.calls[f.r.Intn(len(e.calls))]
			n := len(c.Data)
			c.Data = append([]byte{}, c.Data...)
			at := f.r.Intn(n)
			if _, terms, ok := escrow.DecodeDeposit(c.Data); ok && isBounded(at, terms) {
				return false // what has bounds has lies of its own
			}
			c.Data[at] ^= byte(1 + f.r.Intn(255))
			return true
		})},
		{what: "a call twice", tell: on(func(f *forged, e *evmForm) bool {
			e.calls = append(e.calls, e.calls[f.r.Intn(len(e.calls))])
			return true
		})},
		{what: "a call less", tell: on(func(f *forged,
			e *evmForm) bool {
			e.calls = e.calls[1:]
			return len(e.calls) > 0 || f.refill(e)
		})},
		{what: "calls in another order", tell: on(func(f *forged, e *evmForm) bool {
			if len(e.calls) < 2 {
				return false
			}
			e.calls[0], e.calls[1] = e.calls[1], e.calls[0]
			return true
		})},
		{what: "an approval for somebody", tell: on(func(f *forged, e *evmForm) bool {
			e.calls = append(e.calls, op.Call{To: e.calls[0].To, Value: new(big.Int),
				Data: erc20.Approve(f.address(), big.NewInt(1+f.r.Int63()))})
			return true
		})},
		{what: "a transfer to somebody in front", tell: on(func(f *forged, e *evmForm) bool {
			e.calls = append([]op.Call{{To: e.calls[0].To, Value: new(big.Int),
				Data: erc20.Transfer(f.address(), big.NewInt(1))}}, e.calls...)
			return true
		})},
		{what: "a call of the account's own administration", tell: on(func(f *forged, e *evmForm) bool {
			selector := [][]byte{{0x95, 0x17, 0xe2, 0x9f}, {0xa7, 0x17, 0x63, 0xa8}, {0x36, 0x59, 0xcf, 0xe6},
				{0x52, 0x14, 0x1c, 0xd9}}[f.r.Intn(4)]
			e.calls = append(e.calls, op.Call{To: e.user.Sender, Value: new(big.Int),
				Data: append(selector, make([]byte, 64)...)})
			return true
		})},
		{what: "a delegate call, a static call, the mode that lets calls fail", tell: raw(func(f *forged, e *evmForm) {
			mode := [][2]byte{{0xff, 0}, {0xfe, 0}, {0x01, 0x01}, {0x00, 0x01}}[f.r.Intn(4)]
			e.user.CallData = append([]byte{}, e.user.CallData...)
			e.user.CallData[4], e.user.CallData[5] = mode[0], mode[1]
		})},
		{what: "another function of the account", tell: raw(func(f *forged, e *evmForm) {
			e.user.CallData = append([]byte{0x8d, 0xd7, 0x71, 0x2f}, e.user.CallData...)
			if f.r.Intn(2) == 0 {
				f.r.Read(e.user.CallData[:4])
			}
		})},
		{what: "bytes behind the calls", tell: raw(func(f *forged, e *evmForm) {
			e.user.CallData = append(append([]byte{}, e.user.CallData...), make([]byte, 32)...)
		})},
	}
}

// isBounded reports whether a byte of a deposit's call data is part of a deadline or of the amount of a minimum, which
// may be lower by the cost that is allowed when another asset pays.
func isBounded(at int, t escrow.Terms) bool {
	word := (at - 4) / 32
	return at >= 4 && (word == 3 || word == 6 || (word-10)%3 == 2 && word < 10+3*len(t.Minimums))
}

// refill puts one call that does nothing into an operation, which must have one.
func (f *forged) refill(e *evmForm) bool {
	e.calls = []op.Call{{To: e.user.Sender, Value: new(big.Int)}}
	return true
}
