package verify_test

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/wallet/verify"
)

// parseAccount is the EVM address of a CAIP-10 account.
func parseAccount(s string) (common.Address, error) {
	a, err := caip.ParseAccount(s)
	if err != nil {
		return common.Address{}, err
	}
	address, ok := a.EVM()
	if !ok {
		return common.Address{}, fmt.Errorf("%s is on no EVM chain", s)
	}
	return address, nil
}

func liesAboutGas() []falsehood {
	on := func(change func(f *forged, e *evmForm) bool) func(f *forged) bool {
		return func(f *forged) bool {
			o, done := f.anEVM(), false
			if o != nil {
				f.evm(o, func(e *evmForm) { done = change(f, e) })
			}
			return done
		}
	}
	huge := func() *big.Int { return big.NewInt(1 << 40) }
	return []falsehood{
		{what: "more gas than any operation needs", tell: on(func(f *forged, e *evmForm) bool {
			*[]**big.Int{&e.user.CallGasLimit, &e.user.VerificationGasLimit, &e.user.PaymasterVerificationGasLimit,
				&e.user.PaymasterPostOpGasLimit}[f.r.Intn(4)] = huge()
			return true
		})},
		{what: "fees for gas", tell: on(func(f *forged, e *evmForm) bool {
			e.user.MaxFeePerGas, e.user.MaxPriorityFeePerGas = big.NewInt(1+f.r.Int63n(1e12)), new(big.Int)
			return true
		})},
		{what: "gas before verification", tell: on(func(f *forged, e *evmForm) bool {
			e.user.PreVerificationGas = big.NewInt(1 + f.r.Int63n(1e6))
			return true
		})},
		{what: "another sponsor", tell: on(func(f *forged,
			e *evmForm) bool {
			a := f.address()
			e.user.Paymaster = &a
			return true
		})},
		{what: "a sponsor's window without end", tell: on(func(f *forged, e *evmForm) bool {
			w, sig, err := op.DecodePaymasterData(e.user.PaymasterData)
			if err != nil {
				return false
			}
			w.ValidUntil = []uint64{0, 1<<48 - 1, w.ValidUntil + 3600}[f.r.Intn(3)]
			e.user.PaymasterData = op.EncodePaymasterData(w, sig)
			return true
		})},
		{what: "a sponsor's window of other seconds", tell: on(func(f *forged, e *evmForm) bool {
			w, sig, err := op.DecodePaymasterData(e.user.PaymasterData)
			if err != nil {
				return false
			}
			w.ValidUntil -= uint64(1 + f.r.Intn(60))
			e.user.PaymasterData = op.EncodePaymasterData(w, sig)
			return true
		}), class: verify.Bounded, why: "the window is shown and no longer than the policy allows (U12)"},
		{what: "no sponsor", tell: on(func(f *forged, e *evmForm) bool {
			e.user.Paymaster, e.user.PaymasterData = nil, nil
			e.user.PaymasterPostOpGasLimit, e.user.PaymasterVerificationGasLimit = nil, nil
			return true
		})},
		{what: "another factory", tell: on(func(f *forged, e *evmForm) bool {
			a := f.address()
			e.user.Factory = &a
			if len(e.user.FactoryData) == 0 {
				e.user.FactoryData = []byte{1}
			}
			return true
		})},
		{what: "the deployment of somebody else's account", tell: on(func(f *forged, e *evmForm) bool {
			pins := f.s.policy.Network.Pins
			e.user.Factory, e.user.FactoryData = &pins.MetaFactory,
				op.FactoryData(pins.Factory, op.InitDataECDSA(pins.ECDSAValidator, f.address()), new(big.Int))
			return true
		})},
		{what: "no deployment", tell: on(func(f *forged, e *evmForm) bool {
			there := e.user.Factory != nil
			e.user.Factory, e.user.FactoryData = nil, nil
			return there
		}), class: verify.Bounded, why: "an operation of an account that is not there does nothing (U4)"},
	}
}

func liesAboutDelegations() []falsehood {
	with := func(change func(f *forged, d *api.Delegation)) func(f *forged) bool {
		return func(f *forged) bool {
			told := false
			for _, o := range f.kind(false) {
				if o.Delegation != nil {
					change(f, o.Delegation)
					told = true
				}
			}
			return told
		}
	}
	return []falsehood{
		{what: "another contract for every delegation", tell: func(f *forged) bool {
			other := f.address().Hex()
			return with(func(f *forged, d *api.Delegation) { d.ContractAddress = other })(f)
		}},
		{what: "one digit of the contract", tell: with(func(f *forged, d *api.Delegation) {
			a := common.HexToAddress(d.ContractAddress)
			a[f.r.Intn(20)] ^= 1 << f.r.Intn(8)
			d.ContractAddress = a.Hex()
		})},
		{what: "no contract", tell: with(func(f *forged,
			d *api.Delegation) {
			d.ContractAddress = common.Address{}.Hex()
		})},
		{what: "a contract that is pinned for something else", tell: with(func(f *forged, d *api.Delegation) {
			pins := f.s.policy.Network.Pins
			d.ContractAddress = []common.Address{pins.EntryPoint, pins.Escrow, pins.KernelV31, pins.Paymaster,
				pins.ECDSAValidator}[f.r.Intn(5)].Hex()
		})},
		{what: "a nonce far ahead", tell: with(func(f *forged, d *api.Delegation) { d.Nonce += 1 << 33 })},
		{what: "another nonce", tell: with(func(f *forged, d *api.Delegation) { d.Nonce += uint64(1 + f.r.Intn(5)) }),
			class: verify.Bounded,
			why:   "without history the EOA's nonce is not known, and the report says so (D4)"},
		{what: "a signature that was there before", tell: with(func(f *forged, d *api.Delegation) {
			d.Signature = &api.DelegationSignature{ChainID: 8453, ContractAddress: d.ContractAddress, Nonce: d.Nonce,
				R: "0x01", S: "0x01", V: "0x1b", Type: "Signed"}
		})},
		{what: "a delegation that no such account needs", tell: func(f *forged) bool {
			o := f.anEVM()
			if o == nil || f.s.in.Draft().Accounts[0].Type == api.AccountKernelV33 {
				return false
			}
			o.Delegation = &api.Delegation{ContractAddress: f.s.policy.Network.Pins.KernelV33.Hex()}
			return true
		}},
		{what: "a delegation of a chain that has none", tell: func(f *forged) bool {
			if f.s.in.Draft().Accounts[0].Type != api.AccountKernelV33 {
				return false
			}
			for _, o := range f.kind(false) {
				if o.Delegation == nil {
					o.Delegation = &api.Delegation{ContractAddress: f.s.policy.Network.Pins.KernelV33.Hex()}
					return true
				}
			}
			return false
		}, class: verify.Bounded,
			why: "it is to the pinned contract, shown, and does nothing that the account has not done (D1, D2)"},
	}
}

func liesAboutDeposits() []falsehood {
	each := func(change func(f *forged, d *escrow.Deposit, at *common.Address)) func(f *forged) bool {
		return func(f *forged) bool {
			told := false
			for _, o := range f.payments() {
				if !o.IsSolana() {
					f.deposit(o, func(d *escrow.Deposit, at *common.Address) { change(f, d, at) })
					told = true
				}
			}
			return told
		}
	}
	one := func(change func(f *forged, o *api.ChainOperation) bool) func(f *forged) bool {
		return func(f *forged) bool {
			o := f.aPayment(false)
			return o != nil && change(f, o)
		}
	}
	return []falsehood{
		{what: "another escrow", tell: func(f *forged) bool {
			other := f.address()
			return each(func(f *forged, d *escrow.Deposit, at *common.Address) { *at = other })(f)
		}},
		{what: "the deposits of another quote", tell: func(f *forged) bool {
			var other [32]byte
			f.r.Read(other[:])
			return each(func(f *forged, d *escrow.Deposit, at *common.Address) { d.QuoteID = other })(f)
		}},
		{what: "a refund after years", tell: each(func(f *forged, d *escrow.Deposit, at *common.Address) {
			d.RefundDeadline += []uint64{1 << 30, 86_400 * 2, 1<<63 - 1<<40}[f.r.Intn(3)]
		})},
		{what: "a refund before the quote ends", tell: each(func(f *forged, d *escrow.Deposit, at *common.Address) {
			d.RefundDeadline = uint64(f.r.Intn(1_760_000_000))
		})},
		{what: "a refund some minutes later", tell: each(func(f *forged, d *escrow.Deposit,
			at *common.Address) {
			d.RefundDeadline += uint64(1 + f.r.Intn(600))
		}),
			class: verify.Bounded, why: "the deadline is shown and within the policy's bound (Q5)"},
		{what: "much more than asked for", tell: one(func(f *forged,
			o *api.ChainOperation) bool {
			return f.more(o, f.much())
		})},
		{what: "one unit more, which exact input does not allow",
			tell: one(func(f *forged, o *api.ChainOperation) bool { return !f.s.call && f.more(o, big.NewInt(1)) })},
		{what: "one unit more, told as a fee", tell: one(func(f *forged, o *api.ChainOperation) bool {
			return f.quote != nil && f.s.call && f.more(o, big.NewInt(1)) && f.fee(o, big.NewInt(1))
		}), class: verify.Bounded, why: "fees are bounded by the all-in cost (Q11)"},
		{what: "much more, told as a fee", tell: one(func(f *forged, o *api.ChainOperation) bool {
			v := f.much()
			return f.more(o, v) && f.fee(o, v)
		})},
		{what: "another token", tell: one(func(f *forged, o *api.ChainOperation) bool {
			other := f.address()
			f.deposit(o, func(d *escrow.Deposit, _ *common.Address) { d.Token = other })
			return f.asset(o.AssetType).Chain.String() != "" && !f.asset(o.AssetType).IsNative()
		})},
		{what: "another payment of another asset",
			tell: one(func(f *forged, o *api.ChainOperation) bool { return f.another(o, true) })},
		{what: "another payment of the same asset",
			tell: one(func(f *forged, o *api.ChainOperation) bool { return f.another(o, false) })},
		{what: "a payment twice, with the next nonce", tell: one(func(f *forged, o *api.ChainOperation) bool {
			again := clone(o)
			f.nonce(&again, func(n *op.Nonce) { n.Sequence++ })
			f.origin().Amount = plus(f.origin().Amount, bigOf(o.Amount))
			*f.list() = append(*f.list(), again)
			return true
		})},
		{what: "a transfer to somebody instead of the escrow", tell: one(func(f *forged, o *api.ChainOperation) bool {
			token, ok := f.asset(o.AssetType).Token()
			f.evm(o, func(e *evmForm) {
				e.calls = []op.Call{{To: token, Value: new(big.Int),
					Data: erc20.Transfer(f.address(), bigOf(o.Amount))}}
			})
			return ok
		})},
		{what: "a second leg beside the deposit", tell: one(func(f *forged, o *api.ChainOperation) bool {
			token, ok := f.asset(o.AssetType).Token()
			f.evm(o, func(e *evmForm) {
				leg := op.Call{To: token, Value: new(big.Int),
					Data: erc20.Transfer(f.address(), big.NewInt(1+f.r.Int63n(1e6)))}
				if !ok {
					leg = op.Call{To: f.address(), Value: big.NewInt(1 + f.r.Int63n(1e9))}
				}
				e.calls = append(e.calls, leg)
			})
			return true
		})},
	}
}

func clone(o *api.ChainOperation) api.ChainOperation {
	c := *o
	user, typed := *o.UserOp, *o.TypedDataToSign
	c.UserOp, c.TypedDataToSign = &user, &typed
	return c
}

// fee adds to the fee of a payment's asset; false where fees are not told.
func (f *forged) fee(o *api.ChainOperation, by *big.Int) bool {
	if f.quote == nil || f.quote.Fees == nil {
		return true
	}
	was := f.quote.Fees.Assets[o.AssetType]
	if was == "" {
		was = "0"
	}
	f.quote.Fees.Assets[o.AssetType] = plus(was, by)
	return true
}

// another appends a payment on a chain that does not pay yet: of the same aggregate, or of the chain's native coin,
// which the user did not let pay.
func (f *forged) another(o *api.ChainOperation, foreign bool) bool {
	a := f.asset(o.AssetType)
	other, ok := f.sibling(a)
	if !ok || f.paysFrom(other.Chain) {
		return false
	}
	id, _ := other.Chain.EVMID()
	if foreign {
		if a.IsNative() {
			return false
		}
		other = caip.Native(id)
	}
	c := clone(o)
	token, _ := other.Token()
	v := f.much()
	f.evm(&c, func(e *evmForm) {
		e.domain.ChainID = id
		e.calls = e.calls[len(e.calls)-1:]
		if !other.IsNative() {
			e.calls = append([]op.Call{{}}, e.calls...)
			e.calls[0] = op.Call{To: token, Value: new(big.Int), Data: erc20.Approve(e.calls[1].To, v)}
		}
	})
	f.deposit(&c, func(d *escrow.Deposit, _ *common.Address) { d.Token, d.Amount = token, v })
	c.AssetType = other.String()
	*f.list() = append(*f.list(), c)
	w := f.origin()
	w.AssetType = append(w.AssetType, c.AssetType)
	if !foreign {
		w.Amount = plus(w.Amount, v)
	}
	return true
}
