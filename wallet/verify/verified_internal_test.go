package verify

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/wallet/internal/golden"
)

// TestVerifiedValuesLendCopies changes what the accessors return; what gets signed must stay as it was checked.
func TestVerifiedValuesLendCopies(t *testing.T) {
	u := VerifiedUserOp{verified: verified{network: "n", signer: common.Address{2}},
		userOp: op.UserOp{Nonce: big.NewInt(7)}, opHash: common.Hash{1}}
	paymaster, factory := common.Address{4}, common.Address{5}
	u.userOp.Paymaster, u.userOp.Factory, u.userOp.CallData = &paymaster, &factory, []byte{1}
	lent := u.UserOp()
	lent.Nonce.SetInt64(9)
	lent.Paymaster[0], lent.Factory[0], lent.CallData[0] = 9, 9, 9
	if again := u.UserOp(); again.Nonce.Int64() != 7 || *again.Paymaster != (common.Address{4}) ||
		*again.Factory != (common.Address{5}) || again.CallData[0] != 1 {
		t.Error("the operation changed")
	}
	if u.Network() != "n" || u.Signer() != (common.Address{2}) ||
		u.Digest() != op.EIP191(common.Hash{1}) {
		t.Error("the operation changed")
	}
	d := VerifiedDelegation{verified: verified{network: "n", signer: common.Address{2}},
		authorization: op.Authorization{ChainID: big.NewInt(10), Address: common.Address{3}, Nonce: 4}}
	a := d.Authorization()
	a.ChainID.SetInt64(0)
	if d.Authorization().ChainID.Int64() != 10 || d.Network() != "n" || d.Signer() != (common.Address{2}) ||
		d.IsZero() {
		t.Error("the delegation changed: it would hold on every chain")
	}
	m := VerifiedMessage{network: "n", signer: [32]byte{5}, message: []byte{1, 2}}
	m.Message()[0] = 9
	if !bytes.Equal(m.Message(), []byte{1, 2}) || m.Network() != "n" || m.Signer() != [32]byte{5} || m.IsZero() {
		t.Error("the message changed")
	}
	p := VerifiedApprove{verified: verified{network: "n", signer: common.Address{2}},
		domain: op.Domain{Name: "x", Version: "1", ChainID: 1}, hash: common.Hash{6}}
	if p.Domain().Name != "x" || p.Hash() != (common.Hash{6}) {
		t.Error("the approval changed")
	}
	if p.Network() != "n" || p.Signer() != (common.Address{2}) || p.Digest() != p.domain.ApproveDigest(p.hash) ||
		p.IsZero() {
		t.Error("the approval changed")
	}
}

// TestU14_WhatGetsSignedIsBuiltHereAndMustBeWhatCame hands rebuild an operation whose received form differs from its
// checked values.
func TestU14_WhatGetsSignedIsBuiltHereAndMustBeWhatCame(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	wire := w.PreparedOperation(w.Asked())
	u, err := op.FromWire(*wire.UserOp)
	if err != nil {
		t.Fatal(err)
	}
	acc := account{address: w.Account, signer: w.Signer, validator: p.Network.Pins.ECDSAValidator,
		initData: op.InitDataECDSA(p.Network.Pins.ECDSAValidator, w.Signer)}
	for name, change := range map[string]func(o *operation){
		"as it came":       func(*operation) {},
		"another sender":   func(o *operation) { o.userOp.Sender[0] ^= 1 },
		"another lane":     func(o *operation) { o.role.lane = op.LaneFunding },
		"another sequence": func(o *operation) { o.nonce.Sequence++ },
		"another sponsor":  func(o *operation) { o.userOp.Paymaster = &common.Address{9} },
		"a deployment": func(o *operation) {
			o.userOp.Factory, o.userOp.FactoryData = &common.Address{9},
				[]byte{1}
		},
		"no gas limit": func(o *operation) { o.userOp.CallGasLimit = nil },
	} {
		j := &judge{Policy: p}
		o := operation{role: role{name: RolePrepared, path: "/chainOperation", chainID: 8453, lane: op.LanePrepared},
			userOp: u, sponsor: p.Network.Pins.Paymaster}
		change(&o)
		v, ok := j.rebuild(acc, o, w.Asked())
		if ok != (name == "as it came") || ok == (v.Count() == 0) || ok == j.refused() {
			t.Errorf("%s: built %v, %+v", name, ok, j.report.Reasons)
		}
	}
	j := &judge{Policy: p}
	if _, ok := j.rebuild(acc, operation{userOp: u}, nil); ok || !j.refused() {
		t.Error("an operation without calls was built")
	}
}

func TestSharesRoundAgainstTheUser(t *testing.T) {
	n := big.NewInt
	for _, c := range []struct {
		part, whole *big.Int
		want        int
	}{{n(1), n(1_000_000), 1}, {n(0), n(5), 0}, {n(5), n(5), 10_000}, {n(1), n(0), -1}, {nil, n(1), -1},
		{n(1), nil, -1}, {new(big.Int).Lsh(n(1), 200), n(1), 1_000_000}} {
		if got := bpsOf(c.part, c.whole); got != c.want {
			t.Errorf("%v of %v: %d, want %d", c.part, c.whole, got, c.want)
		}
	}
}

func TestCallTypesAndAmountsThatAreUnknownAreSaidSo(t *testing.T) {
	if got := callTypeWords("shiny"); got != "unknown: shiny" {
		t.Error(got)
	}
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	unlisted := caip.ERC20(8453, common.Address{1})
	if Sum([]AmountView{p.amountView(unlisted, big.NewInt(1))}) != nil {
		t.Error("a sum with an unknown price is known")
	}
	if _, _, ok := decodeAs("", []byte{1}); ok {
		t.Error("three bytes are a function")
	}
	j := &judge{}
	j.codec(errors.New("odd"), "L3", "it can be read", "/x")
	if !j.report.Has("L3", Refuse) {
		t.Error("an error without a row refuses nothing")
	}
}

// TestQ5_WithoutAPriceAPaymentInAnotherAssetIsRefused: no catalogue price, no way to tell whether the payment is fair.
func TestQ5_WithoutAPriceAPaymentInAnotherAssetIsRefused(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	unlisted := p.amountView(caip.ERC20(8453, common.Address{1}), big.NewInt(1))
	priced := AmountView{Amount: big.NewInt(1), Micro: big.NewInt(1)}
	for name, v := range map[string]QuoteView{
		"payment":     {Pay: []AmountView{unlisted}, Needs: []NeedView{{Need: priced}}},
		"requirement": {Pay: []AmountView{priced}, Needs: []NeedView{{Need: unlisted}}},
		"fees":        {Pay: []AmountView{priced}, Needs: []NeedView{{Need: priced}}, Fees: []AmountView{unlisted}},
	} {
		j, q := &judge{Policy: p, in: w.Intent()}, &VerifiedQuote{view: v}
		j.pricedFlow(nil, q)
		if !j.report.Has("Q5", Refuse) || q.view.CostBps != -1 {
			t.Errorf("%s without a price: %+v", name, j.report.Reasons)
		}
		j.cost(q)
		if !j.report.Has("Q11", Unknown) {
			t.Errorf("%s: an unknown cost is not said", name)
		}
	}
}

// TestU1_AccountsThatNoIntentCanHoldAreRefusedHereAsWell: the rules of an intent let none of these pass, and this
// package does not rely on them.
func TestU1_AccountsThatNoIntentCanHoldAreRefusedHereAsWell(t *testing.T) {
	w := golden.NewOf(t, api.AccountKernelV33, false)
	p := DefaultPolicy(w.Network, w.Catalog)
	eoa := w.Draft.Accounts[0]
	w.Be(api.AccountRoleBased)
	roles := w.Draft.Accounts[0]
	change := func(a api.Account, f func(a *api.Account)) api.Account {
		f(&a)
		return a
	}
	same := op.InitDataRoleBased(p.Network.Pins.RoleBasedValidator, w.Signer, w.Signer, p.Network.Pins.CoSigner)
	for name, c := range map[string]struct {
		a  api.Account
		ok bool
	}{
		"an EOA":      {eoa, true},
		"three roles": {roles, true},
		"none":        {api.Account{}, false},
		"a Solana account": {api.Account{Type: api.AccountSolana,
			AccountAddress: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"}, false},
		"an unknown type": {change(eoa, func(a *api.Account) { a.Type = "kernel-v4" }), false},
		"an EOA that would be deployed": {change(eoa,
			func(a *api.Account) { a.DeploymentType = api.DeploymentERC4337 }), false},
		"an EOA of another key": {change(eoa, func(a *api.Account) { a.SignerAddress = golden.Vault }), false},
		"one key in two roles": {change(roles, func(a *api.Account) {
			a.AdminAddress = a.SessionAddress
			a.AccountAddress = op.PredictAddress(p.Network.Pins.Factory, p.Network.Pins.KernelV31, same,
				new(big.Int)).Hex()
		}), false},
	} {
		j := &judge{Policy: p}
		if _, ok := j.accountOf(c.a); ok != c.ok || j.report.Has("U1", Refuse) == c.ok {
			t.Errorf("%s: accepted %v, %+v", name, ok, j.report.Reasons)
		}
	}
}

// TestY4_WhatGoesBesideAPaymentCountsAsWell: a message whose fee the user pays spends that as well, in the paid asset
// or another.
func TestU3_ANonceThatIsNoNumberOf256BitsIsRefused(t *testing.T) {
	w := golden.New(t)
	p := DefaultPolicy(w.Network, w.Catalog)
	for _, n := range []*big.Int{nil, big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 256)} {
		j := &judge{Policy: p, h: NoHistory{}, now: golden.Clock()}
		j.nonce(account{}, &operation{userOp: op.UserOp{Nonce: n}})
		if !j.refused() {
			t.Errorf("%v was taken for a nonce", n)
		}
		if got := describeSequence([]*big.Int{n}); got != "unknown" {
			t.Error(got)
		}
	}
}

func TestU7_WhatCannotBeComparedIsRefused(t *testing.T) {
	w := golden.New(t)
	d := w.Draft
	d.Calls[0].Data = "0x1"
	if _, ok := askedCalls(d); ok {
		t.Error("half a byte was compared")
	}
	d.Allowances = []api.AllowanceRequirement{{AssetType: golden.BaseETH, Amount: "1", Spender: golden.Vault}}
	if _, ok := declaredAllowances(d); ok {
		t.Error("an allowance of the native coin")
	}
	callData, err := op.EncodeExecute(w.Asked()[1:])
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{Policy: DefaultPolicy(w.Network, w.Catalog)}
	if lines := j.preparedCalls(d, 8453, w.Account, callData,
		"/chainOperation"); lines != nil || !j.report.Has("U7", Refuse) {
		t.Errorf("%+v", j.report.Reasons)
	}
}
