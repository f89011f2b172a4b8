package smartaccount_test

import (
	"bytes"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/quote/smartaccount"
	"coffer/assets"
)

// deploy sends the account's first operation.
func (w *world) deploy(u user, chainID uint64) {
	w.Helper()
	w.submit(u, w.signed(u, w.operation(u, chainID, 0), chainID), chainID)
}

func TestCounterfactualAccountIsDeployedByItsFirstOperation(t *testing.T) {
	w := newWorld(t)
	for _, u := range []user{w.roleBased(), w.kernelV31()} {
		if s, err := w.accountState(u.Account, base); err != nil || s.Deployed || !s.Deploys || s.Delegation != nil {
			t.Errorf("%+v, %v", s, err)
		}
		w.deploy(u, base)
		if s, err := w.accountState(u.Account, base); err != nil || !s.Deployed || s.Deploys {
			t.Errorf("%+v, %v", s, err)
		}
		if s, err := w.accountState(u.Account, optimism); err != nil || s.Deployed {
			t.Errorf("another chain: %+v, %v", s, err)
		}
	}
}

func TestRotatedSessionKeyCountsOnThatChainOnly(t *testing.T) {
	w := newWorld(t)
	old := w.roleBased()
	w.deploy(old, base)
	w.deploy(old, optimism)
	wire := old.Wire()
	wire.SessionAddress = crypto.PubkeyToAddress(key("new session").PublicKey).Hex()
	fresh := user{w.open(wire), key("new session"), old.admin}
	_, err := w.accountState(fresh.Account, base)
	unserved(t, err, "sessionAddress", "replaced")
	o := w.signed(old, w.operation(old, base, 0), base)
	w.message(old, base, op.AdminMessage{Action: api.AdminRotateSession,
		NewSession: crypto.PubkeyToAddress(fresh.owner.PublicKey),
		Nonce:      new(big.Int)})

	_, err = w.accountState(old.Account, base)
	unserved(t, err, "sessionAddress", "it was replaced there by "+crypto.PubkeyToAddress(fresh.owner.PublicKey).Hex())
	o.Signature = append(o.Signature, w.coSigned(o, base)...)
	if valid, why := w.valid(fresh, o, base); valid {
		t.Errorf("the contract takes the old key: %s", why)
	}
	w.deploy(fresh, base)
	_, err = w.accountState(fresh.Account, optimism)
	unserved(t, err, "sessionAddress", crypto.PubkeyToAddress(old.owner.PublicKey).Hex())
	w.deploy(old, optimism)
	// Where it is not deployed yet its address follows from the first key alone.
	_, err = w.accountState(fresh.Account, ethereum)
	unserved(t, err, "accountAddress", "not deployed")
	if _, _, needed := fresh.Deployment(); needed {
		t.Error("other keys than its own deploy the account")
	}
	if s, err := w.accountState(old.Account, ethereum); err != nil || !s.Deploys {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestNothingIsCoSignedAfterAnAnnouncedExit(t *testing.T) {
	w := newWorld(t)
	u := w.roleBased()
	w.deploy(u, base)
	w.message(u, base, op.AdminMessage{Action: api.AdminAnnounceExit, Nonce: new(big.Int)})
	_, err := w.accountState(u.Account, base)
	unserved(t, err, "accountAddress", "announced an exit on eip155:8453")
	w.message(u, base, op.AdminMessage{Action: api.AdminCancelExit, Nonce: big.NewInt(1)})
	if s, err := w.accountState(u.Account, base); err != nil || !s.Deployed {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestKeysThatAreNotTheAccountsAreRefused(t *testing.T) {
	w := newWorld(t)
	u, kernel := w.roleBased(), w.kernelV31()
	w.deploy(u, base)
	w.deploy(kernel, base)
	admin := u.Wire()
	admin.AdminAddress = common.Address{6}.Hex()
	_, err := w.accountState(w.open(admin), base)
	unserved(t, err, "adminAddress", crypto.PubkeyToAddress(u.admin.PublicKey).Hex())
	for name, at := range map[string]common.Address{"a kernel account": kernel.Address,
		"a contract": w.in.Pins.Escrow, "the implementation": w.in.Pins.KernelV31} {
		wire := u.Wire()
		wire.AccountAddress = at.Hex()
		_, err := w.accountState(w.open(wire), base)
		if unserved(t, err, "accountAddress", "something else"); t.Failed() {
			t.Fatal(name)
		}
	}
}

// A contract that installs itself at the validator is not an account of ours, whatever roles it claims.
func TestContractThatClaimsRolesIsNoAccount(t *testing.T) {
	w := newWorld(t)
	u := w.roleBased()
	pins := w.in.Pins
	validator := w.validator()
	keys := []common.Address{crypto.PubkeyToAddress(u.owner.PublicKey), crypto.PubkeyToAddress(u.admin.PublicKey),
		pins.CoSigner}
	list, _ := abi.NewType("address[]", "", nil)
	numbers, _ := abi.NewType("uint8[]", "", nil)
	inner, err := abi.Arguments{{Type: list}, {Type: numbers}}.Pack(keys,
		[]uint8{op.RoleSession, op.RoleAdmin, op.RoleCoSigner})
	w.must(err)
	install, err := validator.Pack("onInstall", inner)
	w.must(err)
	st := w.state(base)
	defer st.Close()
	proxy := op.ProxyInitCode(pins.KernelV31)[34:]
	slot := common.HexToHash("0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc")
	ours := map[common.Hash]common.Hash{slot: common.BytesToHash(pins.KernelV31[:])}
	// Answers every call with the root validator that an account of ours would name.
	liar := common.Address{0xcc}
	root := common.RightPadBytes(append([]byte{0x01}, pins.RoleBasedValidator[:]...), 32)
	st.Apply(chain.Overlay{liar: {Code: append(append([]byte{0x7f}, root...), 0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3)}})
	theirs := map[common.Hash]common.Hash{slot: common.BytesToHash(liar[:])}
	for i, o := range []chain.Override{{Code: []byte{0x00}}, {Code: proxy}, {Code: []byte{0x00}, Storage: ours},
		{Code: proxy, Storage: ours}, {Code: proxy, Storage: theirs}} {
		at := common.Address{0xbb, byte(i)}
		st.Apply(chain.Overlay{at: o})
		if r := st.Call(chain.Message{From: at, To: pins.RoleBasedValidator, Data: install}); r.Err != nil {
			t.Fatal(r.Err)
		}
		wire := u.Wire()
		wire.AccountAddress = at.Hex()
		_, err := w.open(wire).State(st, base)
		unserved(t, err, "accountAddress", "something else")
		if r, err := smartaccount.ReadRoles(st, pins, at); err != nil || r.Deployed {
			t.Errorf("case %d: %+v, %v", i, r, err)
		}
	}
}

// Kernel lets whoever makes an account add modules to it. Such an account has the same roles and another address than
// the one that follows from them: what the modules could do, nobody here vouches for.
func TestAnAccountMadeWithMoreThanItsKeysIsNotOurs(t *testing.T) {
	w := newWorld(t)
	u := w.roleBased()
	pins := w.in.Pins
	plain := op.InitDataRoleBased(pins.RoleBasedValidator, crypto.PubkeyToAddress(u.owner.PublicKey),
		crypto.PubkeyToAddress(u.admin.PublicKey), pins.CoSigner)
	a, err := assets.Contract("KernelV31")
	w.must(err)
	kernel, err := abi.JSON(bytes.NewReader(a.ABI))
	w.must(err)
	args, err := kernel.Methods["initialize"].Inputs.Unpack(plain[4:])
	w.must(err)
	// revokes modules that never were: it does no harm, and it could be any other call
	call, err := kernel.Pack("invalidateNonce", uint32(2))
	w.must(err)
	args[4] = [][]byte{call}
	init, err := kernel.Pack("initialize", args...)
	w.must(err)
	st := w.state(base)
	defer st.Close()
	for _, c := range []struct {
		init []byte
		ours bool
	}{{plain, true}, {init, false}} {
		at := op.PredictAddress(pins.Factory, pins.KernelV31, c.init, new(big.Int))
		if r := st.Call(chain.Message{To: pins.MetaFactory,
			Data: op.FactoryData(pins.Factory, c.init, new(big.Int))}); r.Err != nil || len(st.Code(at)) == 0 {
			t.Fatal(r.Err)
		}
		r, err := smartaccount.ReadRoles(st, pins, at)
		if err != nil || r.Deployed != c.ours {
			t.Errorf("%+v, %v, want ours %t", r, err, c.ours)
		}
	}
}

func (w *world) validator() abi.ABI {
	w.Helper()
	a, err := assets.Contract("RoleBasedECDSAValidator")
	w.must(err)
	parsed, err := abi.JSON(bytes.NewReader(a.ABI))
	w.must(err)
	return parsed
}

// The digests of the admin's messages are those of the contract on its chain, and its views answer what the codec
// reads.
func TestAdminDigestsAndViewsAreTheContracts(t *testing.T) {
	w := newWorld(t)
	u := w.roleBased()
	w.deploy(u, base)
	validator, pins := w.validator(), w.in.Pins
	st := w.state(base)
	defer st.Close()
	ask := func(data []byte) []byte {
		t.Helper()
		r := st.Call(chain.Message{To: pins.RoleBasedValidator, Data: data})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		return r.Return
	}
	session := common.Address{4}
	for _, nonce := range []*big.Int{new(big.Int), big.NewInt(5), new(big.Int).Lsh(big.NewInt(1), 200)} {
		for view, c := range map[string]struct {
			m    op.AdminMessage
			args []any
		}{
			"rotateSessionDigest": {op.AdminMessage{Action: api.AdminRotateSession, NewSession: session},
				[]any{u.Address, session, nonce}},
			"announceExitDigest": {op.AdminMessage{Action: api.AdminAnnounceExit}, []any{u.Address, nonce}},
			"cancelExitDigest":   {op.AdminMessage{Action: api.AdminCancelExit}, []any{u.Address, nonce}},
		} {
			data, err := validator.Pack(view, c.args...)
			w.must(err)
			c.m.Account, c.m.Nonce = u.Address, nonce
			got, err := c.m.Digest(op.RoleBasedDomain(base, pins.RoleBasedValidator))
			if err != nil || !bytes.Equal(got[:], ask(data)) {
				t.Errorf("%s of nonce %s: %s, %v", view, nonce, got, err)
			}
		}
	}
	r, err := smartaccount.ReadRoles(st, pins, u.Address)
	if err != nil || !r.Deployed || r.Session != crypto.PubkeyToAddress(u.owner.PublicKey) ||
		r.Admin != crypto.PubkeyToAddress(u.admin.PublicKey) ||
		r.CoSigner != pins.CoSigner ||
		r.AdminNonce.Sign() != 0 || r.ExitAvailableAt != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if first, err := op.DecodeFirstSession(ask(op.FirstSessionCall(u.Address))); err != nil || first != r.Session {
		t.Errorf("first session %s, %v", first, err)
	}
	w.message(u, base, op.AdminMessage{Action: api.AdminAnnounceExit, Nonce: new(big.Int)})
	later := w.state(base)
	defer later.Close()
	if r, err := smartaccount.ReadRoles(later, pins, u.Address); err != nil || r.AdminNonce.Int64() != 1 ||
		r.ExitAvailableAt != now+86_400 {
		t.Errorf("%+v, %v", r, err)
	}
}
