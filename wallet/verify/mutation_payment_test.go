package verify_test

import (
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/op/solmsg"
)

// payments are the operations of a quote that pay; nil when it has none.
func (f *forged) payments() []*api.ChainOperation {
	if !f.funded() {
		return nil
	}
	var out []*api.ChainOperation
	list := f.list()
	for i := range *list {
		out = append(out, &(*list)[i])
	}
	return out
}

func (f *forged) aPayment(solana bool) *api.ChainOperation {
	return f.any(slices.DeleteFunc(f.payments(), func(o *api.ChainOperation) bool { return o.IsSolana() != solana }))
}

// deposit changes what an EVM payment pays into the escrow, in the approval, the deposit, the value and the operation's
// amount.
func (f *forged) deposit(o *api.ChainOperation, change func(d *escrow.Deposit, at *common.Address)) {
	f.t.Helper()
	f.bound(o, func(d *escrow.Deposit, _ *escrow.Terms, at *common.Address) { change(d, at) })
}

// bound does so for the terms of the deposit, too.
func (f *forged) bound(o *api.ChainOperation, change func(d *escrow.Deposit, t *escrow.Terms, at *common.Address)) {
	f.t.Helper()
	f.evm(o, func(e *evmForm) {
		last := &e.calls[len(e.calls)-1]
		d, terms, ok := escrow.DecodeDeposit(last.Data)
		if !ok {
			f.t.Fatalf("%s: no deposit", f.s.name)
		}
		at := last.To
		change(&d, &terms, &at)
		*last = op.Call{To: at, Value: new(big.Int), Data: escrow.DepositCalldata(d, terms)}
		if d.Token == (common.Address{}) {
			last.Value.Set(d.Amount)
		} else {
			e.calls[0] = op.Call{To: d.Token, Value: new(big.Int), Data: erc20.Approve(at, d.Amount)}
		}
		o.Amount = d.Amount.String()
	})
}

// transfer finds the instruction that pays and where its amount stands.
func transfer(s *solanaForm) (at, amount int) {
	for i, b := range s.builds {
		switch {
		case b.Program == solmsg.SystemProgram() && len(b.Data) == 12:
			return i, 4
		case b.Program == solmsg.TokenProgram() && len(b.Data) == 10:
			return i, 1
		}
	}
	return -1, 0
}

// more changes the amount of a payment everywhere: instructions or calls, operation, the sum and the worth of the
// paying token. It is false when the amount does not fit.
func (f *forged) more(o *api.ChainOperation, by *big.Int) bool {
	f.t.Helper()
	was := bigOf(o.Amount)
	sum := new(big.Int).Add(was, by)
	if sum.Sign() <= 0 || (o.IsSolana() && !sum.IsUint64()) {
		return false
	}
	if o.IsSolana() {
		if !f.solana(o, func(s *solanaForm) {
			i, k := transfer(s)
			s.builds[i].Data = slices.Clone(s.builds[i].Data)
			binary.LittleEndian.PutUint64(s.builds[i].Data[k:], sum.Uint64())
		}) {
			return false
		}
		o.Amount = sum.String()
	} else {
		f.deposit(o, func(d *escrow.Deposit, _ *common.Address) { d.Amount = sum })
	}
	f.origin().Amount = plus(f.origin().Amount, by)
	for i, v := range f.origin().FiatValue {
		if v.AssetType == o.AssetType && v.Amount != "" {
			f.origin().FiatValue[i].Amount = plus(v.Amount, by)
		}
	}
	return true
}

// much is a third and up to five times what the whole quote pays and the user requires, far beyond any bound on its
// cost.
func (f *forged) much() *big.Int {
	v := bigOf(f.origin().Amount)
	for _, r := range f.s.in.Draft().TokensRequired {
		v.Add(v, bigOf(r.Amount))
	}
	return v.Div(v.Mul(v, big.NewInt(34+f.r.Int63n(466))), big.NewInt(100))
}

// everywhere puts another EVM account into every place that names the account.
func (f *forged) everywhere(other common.Address) bool {
	o := f.anEVM()
	if o == nil {
		return false
	}
	own := f.s.in.Account()
	for _, a := range f.accounts() {
		if a.IsEVM() {
			a.AccountAddress = other.Hex()
		}
	}
	for _, o := range f.kind(false) {
		f.evm(o, func(e *evmForm) { e.user.Sender = other })
	}
	if d := f.destination(); d != nil {
		if a, err := parseAccount(d.RecipientAccount); err == nil && a == own {
			d.RecipientAccount = d.RecipientAccount[:len(d.RecipientAccount)-len(other.Hex())] + other.Hex()
		}
	}
	return true
}
