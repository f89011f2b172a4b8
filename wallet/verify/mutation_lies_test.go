package verify_test

import (
	"hash/crc32"
	"maps"
	"math/big"
	"math/rand"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/wallet/verify"
)

// falsehood is one lie that is told in every place: tell changes a document so that all derived values agree, and is
// false where the document has no place for it. Class Bound means that it is always refused; a lie of another class may
// be accepted, and why says what it can do.
type falsehood struct {
	about, what string
	class       verify.Class
	tell        func(f *forged) bool
	why         string
}

func falsehoods() []falsehood {
	var out []falsehood
	for _, group := range []struct {
		about string
		lies  []falsehood
	}{
		{"the chain", liesAboutChains()}, {"the account", liesAboutAccounts()}, {"the nonce", liesAboutNonces()},
		{"the calls", liesAboutCalls()},
		{"gas, sponsor and deployment", liesAboutGas()}, {"the delegation", liesAboutDelegations()},
		{"payments on EVM chains", liesAboutDeposits()}, {"the terms of payments", liesAboutTerms()},
		{"payments on Solana", liesAboutMessages()}, {"instructions of Solana", liesAboutInstructions()},
		{"the quote", liesAboutQuotes()},
	} {
		for _, l := range group.lies {
			l.about = group.about
			if l.class == "" {
				l.class = verify.Bound
			}
			out = append(out, l)
		}
	}
	return out
}

// lies tells every lie about a document, each as often as the effort says, and demands its refusal, or its declared
// class.
func (s *specimen) lies(t *testing.T, e effort, told *ledger) {
	honest := s.judge(s.base)
	if again := s.judge(forge(t, s, nil).document()); again.accepted != honest.accepted || again.signs != honest.signs {
		t.Fatalf("a document that was only written again is refused: %+v", refusals(again.report))
	}
	about := map[string]bool{}
	moved := map[string]bool{}
	for _, l := range falsehoods() {
		rng := rand.New(rand.NewSource(int64(crc32.ChecksumIEEE([]byte(s.name + l.what)))))
		f := figures{accepted: map[verify.Class]int{}}
		for range e.lies {
			s.lie(t, l, rng, honest, &f, moved)
		}
		if f.mutants > 0 {
			told.enter(l.about, f, nil, nil)
			told.enter(l.about+": "+l.what, f, nil, nil)
			about[l.about] = true
		}
	}
	told.mu.Lock()
	defer told.mu.Unlock()
	for a := range about {
		told.documents[a]++
	}
	maps.Copy(told.moved, moved)
}

// lie tells one lie once, where there is a place for it.
func (s *specimen) lie(t *testing.T, l falsehood, rng *rand.Rand, honest judgement, f *figures, moved map[string]bool) {
	forgery := forge(t, s, rng)
	if !l.tell(forgery) {
		return
	}
	d := forgery.document()
	v := s.judge(d)
	s.reasons(t, l.what, v)
	f.mutants++
	if !v.accepted {
		f.refused++
		return
	}
	f.accepted[l.class]++
	if l.class == verify.Bound {
		t.Errorf("%s (%s): accepted\n%s\n%s", l.what, l.about, v.signs, d.Raw())
	} else if l.class != verify.Bounded && v.signs != honest.signs {
		t.Errorf("%s (%s): signs %s", l.what, l.about, v.signs)
	}
	_, touched := s.classify(d)
	for _, p := range touched {
		moved[p] = true
	}
}

func liesAboutChains() []falsehood {
	return []falsehood{
		{what: "another chain in typed data and asset", tell: func(f *forged) bool {
			o := f.anEVM()
			if o == nil {
				return false
			}
			other := []uint64{1, 10, 137, 8453, 42161, 43114, 59144}[f.r.Intn(7)]
			a := f.asset(o.AssetType)
			if other == chain(o) || (a.IsNative() && f.pays(o)) {
				return false // a native coin of another chain has a lie of its own
			}
			f.evm(o, func(e *evmForm) { e.domain.ChainID = other })
			f.renameAsset(o, caip.EVM(other).String()+a.String()[len(a.Chain.String()):])
			return true
		}},
		{what: "another chain in typed data alone", tell: func(f *forged) bool {
			o := f.anEVM()
			if o == nil {
				return false
			}
			f.evm(o, func(e *evmForm) { e.domain.ChainID ^= 1 + uint64(f.r.Intn(7)) })
			return true
		}},
		{what: "the same asset of another chain", tell: func(f *forged) bool {
			o := f.anEVM()
			if o == nil {
				return false
			}
			a := f.asset(o.AssetType)
			other, ok := f.sibling(a)
			if !ok {
				return false
			}
			from, _ := a.Token()
			to, _ := other.Token()
			id, _ := other.Chain.EVMID()
			if f.funded() && f.pays(o) && f.paysFrom(other.Chain) {
				return false // that chain pays already
			}
			f.evm(o, func(e *evmForm) {
				e.domain.ChainID = id
				for i := range e.calls {
					if e.calls[i].To == from {
						e.calls[i].To = to
					}
				}
			})
			f.renameAsset(o, other.String())
			return true
		}, class: verify.Bounded, why: "a payment may come from any chain that has the asset which the user lets " +
			"pay; the amount and the asset stay the same"},
	}
}

// renameAsset puts another asset into the operation and the lists that name it.
func (f *forged) renameAsset(o *api.ChainOperation, to string) {
	was := o.AssetType
	o.AssetType = to
	w := f.origin()
	if w == nil {
		return
	}
	for i, a := range w.AssetType {
		if a == was {
			w.AssetType[i] = to
		}
	}
	for i, v := range w.FiatValue {
		if v.AssetType == was {
			w.FiatValue[i].AssetType = to
		}
	}
	if f.quote != nil && f.quote.Fees != nil {
		if v, there := f.quote.Fees.Assets[was]; there {
			delete(f.quote.Fees.Assets, was)
			f.quote.Fees.Assets[to] = v
		}
	}
}

func (f *forged) pays(o *api.ChainOperation) bool {
	for _, p := range f.payments() {
		if p == o {
			return true
		}
	}
	return false
}

func (f *forged) paysFrom(c caip.Chain) bool {
	for _, p := range f.payments() {
		if f.asset(p.AssetType).Chain == c {
			return true
		}
	}
	return false
}

func liesAboutAccounts() []falsehood {
	return []falsehood{
		{what: "another account in every place", tell: func(f *forged) bool { return f.everywhere(f.address()) }},
		{what: "the account of somebody else's key, with its factory data",
			tell: func(f *forged) bool { return f.becomes(true, true) }},
		{what: "the account of another admin key, with its factory data", tell: func(f *forged) bool {
			return f.s.in.Draft().Accounts[0].Type == api.AccountRoleBased && f.becomes(false, true)
		}},
		{what: "another account in the list of accounts", tell: func(f *forged) bool {
			a := f.accounts()[f.r.Intn(len(f.accounts()))]
			if a.IsEVM() {
				a.AccountAddress = f.address().Hex()
			} else {
				a.AccountAddress = f.key().String()
			}
			return true
		}},
		{what: "one account more", tell: func(f *forged) bool {
			more := api.Account{Type: api.AccountSolana, AccountAddress: f.key().String()}
			switch {
			case f.quote != nil:
				f.quote.Accounts = append(f.quote.Accounts, more)
			case f.prep != nil:
				f.prep.Accounts = append(f.prep.Accounts, more)
			default:
				return false
			}
			return true
		}},
		{what: "another sender", tell: func(f *forged) bool {
			o := f.anEVM()
			if o == nil {
				return false
			}
			f.evm(o, func(e *evmForm) { e.user.Sender = f.address() })
			return true
		}},
		{what: "another type of account, with its typed data", tell: func(f *forged) bool {
			o := f.anEVM()
			if o == nil {
				return false
			}
			pins := f.s.policy.Network.Pins
			all := []op.Domain{
				{Name: "ECDSAValidator", Version: "0.3.1", VerifyingContract: pins.ECDSAValidator},
				{Name: "ECDSAValidator", Version: "0.3.3", VerifyingContract: pins.ECDSAValidator},
				op.RoleBasedDomain(0, pins.RoleBasedValidator),
			}
			other := all[f.r.Intn(len(all))]
			same := false
			f.evm(o, func(e *evmForm) {
				same = e.domain.Name == other.Name && e.domain.Version == other.Version
				e.domain.Name, e.domain.Version, e.domain.VerifyingContract = other.Name, other.Version,
					other.VerifyingContract
			})
			return !same
		}},
	}
}

// becomes makes the document one of an account with other keys, derived as the service derives it.
func (f *forged) becomes(session, admin bool) bool {
	o := f.anEVM()
	if o == nil {
		return false
	}
	pins := f.s.policy.Network.Pins
	for _, a := range f.accounts() {
		if !a.IsEVM() {
			continue
		}
		var init []byte
		switch a.Type {
		case api.AccountRoleBased:
			if session {
				a.SessionAddress = f.address().Hex()
			}
			if admin {
				a.AdminAddress = f.address().Hex()
			}
			init = op.InitDataRoleBased(pins.RoleBasedValidator, common.HexToAddress(a.SessionAddress),
				common.HexToAddress(a.AdminAddress), pins.CoSigner)
		case api.AccountKernelV33:
			a.SignerAddress = f.address().Hex()
			return f.everywhere(common.HexToAddress(a.SignerAddress))
		default:
			a.SignerAddress = f.address().Hex()
			init = op.InitDataECDSA(pins.ECDSAValidator, common.HexToAddress(a.SignerAddress))
		}
		for _, o := range f.kind(false) {
			f.evm(o, func(e *evmForm) {
				if e.user.Factory != nil {
					e.user.FactoryData = op.FactoryData(pins.Factory, init, new(big.Int))
				}
			})
		}
		return f.everywhere(op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int)))
	}
	return false
}
