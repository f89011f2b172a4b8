package smartaccount_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/quote/smartaccount"
)

// authorizations are what the account's first operation needs on a chain.
func (w *world) authorizations(u user, chainID uint64) []op.SignedAuthorization {
	w.Helper()
	s, err := w.accountState(u.Account, chainID)
	w.must(err)
	if s.Delegation == nil {
		return nil
	}
	d := w.delegation(u, chainID)
	a, err := u.Authorized(&d, chainID)
	w.must(err)
	return []op.SignedAuthorization{a}
}

// delegation is the signed delegation of an EOA, as a wallet sends it back.
func (w *world) delegation(u user, chainID uint64) api.Delegation {
	w.Helper()
	s, err := w.accountState(u.Account, chainID)
	w.must(err)
	d := *s.Delegation
	signed, err := op.Authorization{ChainID: new(big.Int).SetUint64(chainID),
		Address: common.HexToAddress(d.ContractAddress), Nonce: d.Nonce}.Sign(u.owner)
	w.must(err)
	wire := signed.Wire()
	d.Signature = &wire
	return d
}

func TestDelegationIsAskedForUntilATypeFourTransactionBringsIt(t *testing.T) {
	w := newWorld(t)
	u := w.kernelV33()
	pins := w.in.Pins
	s, err := w.accountState(u.Account, base)
	if err != nil || s.Deployed || s.Deploys || s.Delegation == nil ||
		s.Delegation.ContractAddress != pins.KernelV33.Hex() || s.Delegation.Nonce != 0 ||
		s.Delegation.Signature != nil {
		t.Fatalf("%+v, %v", s, err)
	}
	if _, _, needed := u.Deployment(); needed {
		t.Error("an EOA is deployed by nobody")
	}
	w.submit(u, w.signed(u, w.operation(u, base, 0), base), base, w.authorizations(u, base)...)
	st := w.state(base)
	defer st.Close()
	if code := common.Bytes2Hex(st.Code(u.Address)); code != "ef0100"+strings.ToLower(pins.KernelV33.Hex()[2:]) ||
		st.Nonce(u.Address) != 1 {
		t.Errorf("code %s, nonce %d", code, st.Nonce(u.Address))
	}
	if s, err := u.State(st, base); err != nil || !s.Deployed || s.Delegation != nil {
		t.Errorf("%+v, %v", s, err)
	}
	if n, err := w.in.AccountNonce(context.Background(), base, u.Address, u.Key192(0)); err != nil ||
		!strings.HasSuffix(n.Text(16), "1") {
		t.Errorf("nonce %x, %v", n, err)
	}
	w.submit(u, w.signed(u, w.operation(u, base, 0), base), base) // the code stays
	if s, err := w.accountState(u.Account, optimism); err != nil || s.Delegation == nil {
		t.Errorf("another chain: %+v, %v", s, err)
	}
}

// A root validator in the EOA's own storage would decide about its operations, so such an EOA is not taken, delegated
// or not yet.
func TestAnEOAWithARootValidatorIsNotTaken(t *testing.T) {
	w := newWorld(t)
	u := w.kernelV33()
	root := crypto.Keccak256Hash([]byte("kernel.v3.validation")).Big()
	slot := common.BigToHash(root.Sub(root, common.Big1))
	for _, code := range [][]byte{{}, types.AddressToDelegation(w.in.Pins.KernelV33)} {
		st := w.state(base)
		defer st.Close()
		st.Apply(chain.Overlay{u.Address: {Code: code, Balance: common.Big1}})
		if _, err := u.State(st, base); err != nil {
			t.Fatal(err)
		}
		st.Apply(chain.Overlay{u.Address: {Storage: map[common.Hash]common.Hash{slot: {11: 1}}}})
		var e *api.Error
		if _, err := u.State(st, base); !errors.As(err, &e) || e.Name != api.ErrDelegation {
			t.Errorf("with code %x: %v", code, err)
		}
	}
}

// What a simulation sees after Enter is what the type-4 transaction will bring.
func TestEnterMakesTheViewOfTheDelegatedEOA(t *testing.T) {
	w := newWorld(t)
	u := w.kernelV33()
	st := w.state(base)
	defer st.Close()
	s, err := u.State(st, base)
	w.must(err)
	u.Enter(st, s)
	if again, err := u.State(st, base); err != nil || !again.Deployed {
		t.Errorf("%+v, %v", again, err)
	}
	if st.Nonce(u.Address) != 1 {
		t.Errorf("nonce %d", st.Nonce(u.Address))
	}
	other := w.kernelV31()
	before := st.Nonce(other.Address)
	other.Enter(st, smartaccount.State{Deploys: true})
	if len(st.Code(other.Address)) != 0 || st.Nonce(other.Address) != before {
		t.Error("a counterfactual account was changed")
	}
}

func delegationRefused(t *testing.T, err error, want string) {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Name != api.ErrDelegation || e.StatusCode != 400 || !strings.Contains(e.Message, want) {
		t.Errorf("%v: want DELEGATION-001 naming %s", err, want)
	}
}

func TestForeignDelegateIsRefusedByItsName(t *testing.T) {
	w := newWorld(t)
	u := w.kernelV33()
	foreign := w.in.Pins.KernelV31 // the same code, but not the delegate
	signed, err := op.Authorization{ChainID: big.NewInt(base), Address: foreign}.Sign(u.owner)
	w.must(err)
	w.seal(base, chain.Tx{To: common.Address{1}, Authorizations: []op.SignedAuthorization{signed}})
	_, err = w.accountState(u.Account, base)
	delegationRefused(t, err, foreign.Hex())
	if _, err := w.accountState(u.Account, optimism); err != nil {
		t.Errorf("the other chain: %v", err)
	}
	escrow := w.in.Pins.Escrow.Hex()
	_, err = w.accountState(w.open(api.Account{Type: api.AccountKernelV33, DeploymentType: api.DeploymentEIP7702,
		SignerAddress: escrow, AccountAddress: escrow}), base)
	delegationRefused(t, err, "is a contract of")
}

func TestDelegationNonceIsTheEOAsOwn(t *testing.T) {
	w := newWorld(t)
	u := w.kernelV33()
	zero := op.Authorization{ChainID: big.NewInt(base)} // ends a delegation; op.Sign of an authorization refuses it
	sig := sign(zero.Hash(), u.owner)
	w.seal(base, chain.Tx{To: common.Address{1}, Authorizations: []op.SignedAuthorization{
		{Authorization: zero, R: [32]byte(sig[:32]), S: [32]byte(sig[32:64]), YParity: sig[64] - 27}}})
	s, err := w.accountState(u.Account, base)
	if err != nil || s.Delegation == nil || s.Delegation.Nonce != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	w.submit(u, w.signed(u, w.operation(u, base, 0), base), base, w.authorizations(u, base)...)
}

func TestAuthorizedTakesTheEOAsOwnAuthorizationOnly(t *testing.T) {
	w := newWorld(t)
	u := w.kernelV33()
	good := w.delegation(u, base)
	if s, err := u.Authorized(&good, base); err != nil || s.Address != w.in.Pins.KernelV33 {
		t.Fatalf("%+v, %v", s, err)
	}
	thief := u
	thief.owner = key("thief")
	forged := w.delegation(thief, base)
	with := func(f func(*api.Delegation, *api.DelegationSignature)) *api.Delegation {
		d, s := good, *good.Signature
		f(&d, &s)
		d.Signature = &s
		return &d
	}
	for name, d := range map[string]*api.Delegation{
		"nothing":              nil,
		"unsigned":             {ContractAddress: good.ContractAddress, Nonce: good.Nonce},
		"another key":          &forged,
		"another nonce":        with(func(d *api.Delegation, _ *api.DelegationSignature) { d.Nonce++ }),
		"another signed nonce": with(func(_ *api.Delegation, s *api.DelegationSignature) { s.Nonce++ }),
		"both nonces":          with(func(d *api.Delegation, s *api.DelegationSignature) { d.Nonce++; s.Nonce++ }),
		"another chain":        with(func(_ *api.Delegation, s *api.DelegationSignature) { s.ChainID = optimism }),
		"every chain":          with(func(_ *api.Delegation, s *api.DelegationSignature) { s.ChainID = 0 }),
		"another contract": with(func(_ *api.Delegation,
			s *api.DelegationSignature) {
			s.ContractAddress = common.Address{5}.Hex()
		}),
		"another asked contract": with(func(d *api.Delegation,
			_ *api.DelegationSignature) {
			d.ContractAddress = common.Address{5}.Hex()
		}),
		"both contracts": with(func(d *api.Delegation, s *api.DelegationSignature) {
			d.ContractAddress, s.ContractAddress = common.Address{5}.Hex(), common.Address{5}.Hex()
		}),
		"no contract":     with(func(d *api.Delegation, _ *api.DelegationSignature) { d.ContractAddress = "" }),
		"unsigned kind":   with(func(_ *api.Delegation, s *api.DelegationSignature) { s.Type = "Unsigned" }),
		"a short r":       with(func(_ *api.Delegation, s *api.DelegationSignature) { s.R = "0x01" }),
		"the other v":     with(func(_ *api.Delegation, s *api.DelegationSignature) { s.V = "0x1d" }),
		"r and s swapped": with(func(_ *api.Delegation, s *api.DelegationSignature) { s.R, s.S = s.S, s.R }),
	} {
		_, err := u.Authorized(d, base)
		var e *api.Error
		if !errors.As(err, &e) || e.Name != api.ErrInvalidSignature {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := u.Authorized(&good, optimism); err == nil {
		t.Error("taken on another chain")
	}
	if _, err := w.kernelV31().Authorized(&good, base); err == nil {
		t.Error("taken for an account that needs none")
	}
}
