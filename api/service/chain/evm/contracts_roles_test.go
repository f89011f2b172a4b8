package evm_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/chain"
)

type roleKeys struct{ session, admin, cosigner *ecdsa.PrivateKey }

func testRoles() roleKeys { return roleKeys{key("session"), key("admin"), key("cosigner")} }

func (w *world) roleAccount(k roleKeys) owned {
	data := op.InitDataRoleBased(w.roles.at, addressOf(k.session), addressOf(k.admin), addressOf(k.cosigner))
	return owned{at: w.predict(data, 0), validator: w.roles.at, initData: data, sign: func(u op.UserOp) []byte {
		return append(w.approve(k.session, u), w.personal(k.cosigner)(u)...)
	}}
}

// approve signs the operation's Approve document, as a wallet does.
func (w *world) approve(session *ecdsa.PrivateKey, u op.UserOp) []byte {
	hash := op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce)
	return signDigest(session, op.Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: w.chain.ID(),
		VerifyingContract: w.roles.at}.ApproveDigest(hash))
}

func rolesData(keys []common.Address, roles []uint8) []byte {
	list := func(kind string) abi.Argument {
		t, err := abi.NewType(kind, "", nil)
		if err != nil {
			panic(err)
		}
		return abi.Argument{Type: t}
	}
	data, err := abi.Arguments{list("address[]"), list("uint8[]")}.Pack(keys, roles)
	if err != nil {
		panic(err)
	}
	return data
}

func TestRoleBasedOperationNeedsSessionAndCoSigner(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.roleAccount(k)
	w.give(a.at, 100, 0)
	to := addressOf(key("recipient"))
	u := w.unsigned(a, w.lane(a, 0), w.transfer(to, 10))
	thief := key("thief")
	approved, cosigned := w.approve(k.session, u), w.personal(k.cosigner)(u)
	hash := w.opHash(u)
	wrong := map[string][]byte{
		"admin and co-signer":     append(w.approve(k.admin, u), cosigned...),
		"session twice":           append(w.approve(k.session, u), w.personal(k.session)(u)...),
		"co-signer twice":         append(w.approve(k.cosigner, u), cosigned...),
		"admin twice":             append(w.approve(k.admin, u), w.personal(k.admin)(u)...),
		"session and admin":       append(w.approve(k.session, u), w.personal(k.admin)(u)...),
		"roles exchanged":         append(w.approve(k.cosigner, u), w.personal(k.session)(u)...),
		"order exchanged":         append(w.personal(k.cosigner)(u), approved...),
		"thief and co-signer":     append(w.approve(thief, u), cosigned...),
		"session and thief":       append(w.approve(k.session, u), w.personal(thief)(u)...),
		"session, operation hash": append(w.personal(k.session)(u), cosigned...),
		"co-signer, approve":      append(w.approve(k.session, u), w.approve(k.cosigner, u)...),
		"co-signer, plain hash":   append(w.approve(k.session, u), signDigest(k.cosigner, hash)...),
		"session alone":           w.approve(k.session, u),
		"co-signer alone":         cosigned,
		"admin without exit":      w.personal(k.admin)(u),
		"admin, plain hash":       signDigest(k.admin, hash),
		"admin, approve":          w.approve(k.admin, u),
		"three signatures":        append(append(w.approve(k.session, u), cosigned...), w.personal(k.admin)(u)...),
		"one byte more":           append(append(w.approve(k.session, u), cosigned...), 0),
		"session and empty":       append(w.approve(k.session, u), make([]byte, 65)...),
		"empty and co-signer":     append(make([]byte, 65), cosigned...),
		"empty":                   {},
		"zeros":                   make([]byte, 130),
		"zeros of an admin":       make([]byte, 65),
		"session of another chain": append(signDigest(k.session,
			op.Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: 10,
				VerifyingContract: w.roles.at}.ApproveDigest(op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce))),
			cosigned...),
		"session, ECDSA domain": append(signDigest(k.session,
			op.Domain{Name: "ECDSAValidator", Version: "0.3.1", ChainID: chainID,
				VerifyingContract: w.ecdsa.at}.ApproveDigest(op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce))),
			cosigned...),
	}
	for name, bad := range malformed(approved) {
		if len(bad) == len(approved) {
			wrong["session "+name] = append(bad, cosigned...)
		}
	}
	for name, bad := range malformed(cosigned) {
		if len(bad) == len(cosigned) {
			wrong["co-signer "+name] = append(w.approve(k.session, u), bad...)
		}
	}
	for name, sig := range wrong {
		w.run(name, func(t *testing.T) {
			u.Signature = sig
			w.refused(u, "AA24 signature error")
		})
	}
	w.runs(a.signed(u)) // deploys
	w.runs(w.operation(a, 1, w.transfer(to, 10)))
	w.holds(to, 20, 0)
}

// TH-U11 on chain. Approve does not cover the fees: a co-signer that sets them
// would be paid the account's coins for any call that the session key approved.
func TestCoSignerCannotTurnAnApprovedCallIntoFees(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	const coins = 1_000_000_000_000_000
	w.give(a.at, 10, coins)
	u := w.unsigned(a, w.lane(a, 0), w.transfer(addressOf(key("recipient")), 1))
	approved := w.approve(k.session, u)
	for name, change := range map[string]func(*op.UserOp){
		"fees of the account": func(u *op.UserOp) {
			*u = unsponsored(*u)
			u.MaxFeePerGas, u.MaxPriorityFeePerGas, u.PreVerificationGas = big.NewInt(1_000_000), big.NewInt(1_000_000),
				big.NewInt(900_000_000)
		},
		"fee cap":      func(u *op.UserOp) { *u = unsponsored(*u); u.MaxFeePerGas = big.NewInt(1) },
		"priority fee": func(u *op.UserOp) { *u = unsponsored(*u); u.MaxPriorityFeePerGas = big.NewInt(1) },
	} {
		w.run(name, func(t *testing.T) {
			changed := u
			change(&changed)
			changed.Signature = append(append([]byte{}, approved...), w.personal(k.cosigner)(changed)...)
			w.refused(changed, "AA24 signature error")
		})
	}
	w.holds(a.at, 10, coins)
	u.Signature = append(approved, w.personal(k.cosigner)(u)...)
	w.runs(u)
	w.holds(a.at, 9, coins)
}

func TestApproveIsTheContractsForAnyCallDataAndNonce(t *testing.T) {
	w := newWorld(t)
	raw, err := os.ReadFile("../../../op/testdata/vectors/eip712-approve.json")
	w.check(err)
	var vectors struct {
		Cases []struct {
			Sender          common.Address
			CallData, Nonce string
			TypedData       struct {
				Message struct{ CallDataAndNonceHash common.Hash }
			}
		}
	}
	w.check(json.Unmarshal(raw, &vectors))
	seen := 0
	for _, c := range vectors.Cases {
		if c.CallData == "" {
			continue
		}
		nonce, ok := new(big.Int).SetString(c.Nonce, 10)
		if !ok {
			t.Fatalf("nonce %q", c.Nonce)
		}
		data := common.FromHex(c.CallData)
		got := get[[32]byte](w, w.roles, "callDataAndNonceHash", c.Sender, data, nonce)
		if common.Hash(got) != c.TypedData.Message.CallDataAndNonceHash {
			t.Fatalf("contract %x, vector %s", got, c.TypedData.Message.CallDataAndNonceHash)
		}
		want := op.Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: chainID,
			VerifyingContract: w.roles.at}.ApproveDigest(common.Hash(got))
		if digest := get[[32]byte](w, w.roles, "approveDigest", c.Sender, data, nonce); common.Hash(digest) != want {
			t.Fatalf("contract %x, codec %s", digest, want)
		}
		seen++
	}
	if seen == 0 {
		t.Fatal("no vector")
	}
}

func TestRolesAreThreeDifferentKeys(t *testing.T) {
	w := newWorld(t)
	s, a, c, x, none := common.Address{1}, common.Address{2}, common.Address{3}, common.Address{4}, common.Address{}
	for name, k := range map[string]struct {
		keys  []common.Address
		roles []uint8
	}{
		"session is admin":      {[]common.Address{s, s, c}, []uint8{2, 3, 1}},
		"session is co-signer":  {[]common.Address{s, a, s}, []uint8{2, 3, 1}},
		"admin is co-signer":    {[]common.Address{s, a, a}, []uint8{2, 3, 1}},
		"no session":            {[]common.Address{none, a, c}, []uint8{2, 3, 1}},
		"no admin":              {[]common.Address{s, none, c}, []uint8{2, 3, 1}},
		"no co-signer":          {[]common.Address{s, a, none}, []uint8{2, 3, 1}},
		"session twice":         {[]common.Address{s, a, c}, []uint8{2, 2, 1}},
		"admin twice":           {[]common.Address{s, a, c}, []uint8{3, 3, 1}},
		"no role":               {[]common.Address{s, a, c}, []uint8{2, 3, 0}},
		"unknown role":          {[]common.Address{s, a, c}, []uint8{2, 3, 4}},
		"two keys":              {[]common.Address{s, a}, []uint8{2, 3}},
		"a key without role":    {[]common.Address{s, a, c}, []uint8{2, 3}},
		"a role without key":    {[]common.Address{s, a}, []uint8{2, 3, 1}},
		"four keys":             {[]common.Address{s, a, c, x}, []uint8{2, 3, 1, 2}},
		"nobody":                {nil, nil},
		"session key exchanged": {[]common.Address{s, a, c, x}, []uint8{2, 3, 1, 0}},
	} {
		if got := w.calls(x, w.roles, "onInstall", rolesData(k.keys, k.roles)); got != "InvalidRoles()" {
			t.Errorf("%s: %q", name, got)
		}
	}
	// The order of the keys does not matter, the roles do.
	if got := w.calls(x, w.roles, "onInstall", rolesData([]common.Address{c, a, s}, []uint8{1, 3, 2})); got != "" {
		t.Error(got)
	}
}

func TestRoleBasedAccountTellsWhoIsWho(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	for who, want := range map[common.Address]uint8{
		addressOf(k.session): 2, addressOf(k.admin): 3, addressOf(k.cosigner): 1, addressOf(key("thief")): 0, {}: 0,
		a.at: 0,
	} {
		if got := get[uint8](w, w.roles, "roleOf", a.at, who); got != want {
			t.Errorf("%s has role %d, want %d", who, got, want)
		}
		if got := get[uint8](w, w.roles, "roleOf", w.token.at, who); got != 0 {
			t.Errorf("%s has role %d at no account", who, got)
		}
	}
	if !get[bool](w, w.roles, "isInitialized", a.at) || get[bool](w, w.roles, "isInitialized", w.token.at) {
		t.Error("isInitialized")
	}
}

// Roles change through the admin's messages and in no other way.
func TestRolesDoNotChangeBecauseTheAccountMadeACall(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	thief := []common.Address{addressOf(key("thief")), {1}, {2}}
	for want, c := range map[string]op.Call{
		"AlreadyInstalled()": w.call(w.roles, 0, "onInstall", rolesData(thief, []uint8{2, 3, 1})),
		"CannotUninstall()":  w.call(w.roles, 0, "onUninstall", []byte{}),
		"NotAdmin()":         w.call(w.roles, 0, "rotateSession", a.at, thief[0], new(big.Int), []byte{}),
	} {
		w.fails(w.operation(a, 0, c), want)
	}
	got := w.read(w.roles, "signers", a.at)
	if got[0] != addressOf(k.session) || got[1] != addressOf(k.admin) || got[2] != addressOf(k.cosigner) {
		t.Fatalf("%v", got)
	}
}

// Kernel lets an account change its validator, its modules and its code by
// calling itself. Nobody who signs for a role-based account gets that far,
// session key and co-signer together or the admin after an exit.
func TestRoleBasedAccountNeverCallsItself(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	w.give(a.at, 100, 0)
	self := named{"KernelV31", a.at}
	thief := addressOf(key("thief"))
	change := w.pack(self, "changeRootValidator", [21]byte(byValidator(w.ecdsa.at)), common.Address{}, thief[:],
		[]byte{})
	good, err := op.EncodeExecute([]op.Call{w.transfer(thief, 0), w.transfer(thief, 0)})
	w.check(err)
	mode, batch := splitExecute(t, w, good)
	single := func(to common.Address, data []byte) []byte {
		return append(append(to.Bytes(), make([]byte, 32)...), data...)
	}
	padded := func(b []byte) []byte { return append(bytes.Clone(b), make([]byte, 32)...) }
	execute := func(mode [32]byte, data []byte) []byte { return w.pack(self, "execute", mode, data) }
	inBatch, err := op.EncodeExecute([]op.Call{w.transfer(thief, 0), {To: a.at, Value: new(big.Int), Data: change}})
	w.check(err)
	refused := map[string][]byte{
		"itself, in a batch":      inBatch,
		"itself, alone":           execute([32]byte{}, single(a.at, change)),
		"without execute":         change,
		"another function":        w.pack(self, "upgradeTo", thief),
		"executeUserOp":           append(bytes.Clone(w.abis["KernelV31"].Methods["executeUserOp"].ID), good...),
		"delegate call":           execute([32]byte{0xff}, append(thief.Bytes(), change...)),
		"try":                     execute([32]byte{1, 1}, batch),
		"another encoding":        execute(mode, padded(batch)),
		"single, too short":       execute([32]byte{}, single(thief, nil)[:51]),
		"no call data":            {},
		"half a selector":         good[:3],
		"execute without a batch": execute(mode, nil),
	}
	w.relay(k.admin, adminMessage{announce, a.at, common.Address{}, 0})
	w.now += day
	for name, sign := range map[string]func(op.UserOp) []byte{"session and co-signer": a.sign,
		"admin": w.personal(k.admin)} {
		for what, data := range refused {
			w.run(name+", "+what, func(t *testing.T) {
				u := w.unsigned(a, w.lane(a, 0), w.transfer(thief, 0))
				u.CallData = data
				u.Signature = sign(u)
				w.refused(u, "AA2")
			})
		}
		for what, data := range map[string][]byte{"batch": good, "single": execute([32]byte{}, single(thief, nil))} {
			w.run(name+", "+what, func(t *testing.T) {
				u := w.unsigned(a, w.lane(a, 0), w.transfer(thief, 0))
				u.CallData = data
				u.Signature = sign(u)
				w.runs(u)
			})
		}
	}
}

// Kernel asks its root validator, as itself, whether a module may be added to it.
func TestRoleBasedAccountSignsForNoModule(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	digest := crypto.Keccak256Hash([]byte("Enable"))
	sig := append(signDigest(k.session, digest), signDigest(k.cosigner, op.EIP191(digest))...)
	for asking, want := range map[common.Address][]byte{a.at: {0xff, 0xff, 0xff, 0xff},
		addressOf(w.relayer): {0x16, 0x26, 0xba, 0x7e}} {
		res := w.simulate(chain.Message{From: a.at, To: w.roles.at,
			Data: w.pack(w.roles, "isValidSignatureWithSender", asking, digest, sig)})
		if res.Err != nil || !bytes.HasPrefix(res.Return, want) {
			t.Errorf("asked by %s: %x %v", asking, res.Return, res.Err)
		}
	}
}

func TestRoleBasedERC1271NeedsSessionAndCoSigner(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	hash := crypto.Keccak256Hash([]byte("a document"))
	digest := w.kernelDigest(a.at, "0.3.1", hash)
	s, c := signDigest(k.session, digest), signDigest(k.cosigner, op.EIP191(digest))
	both := func(a, b []byte) []byte { return prefixed(append([]byte{0}, a...), b) }
	for name, v := range map[string]struct {
		sig  []byte
		want bool
	}{
		"both":               {both(s, c), true},
		"validator named":    {prefixed(byValidator(w.roles.at), both(s, c)[1:]), true},
		"exchanged":          {both(c, s), false},
		"session alone":      {prefixed([]byte{0}, s), false},
		"co-signer alone":    {prefixed([]byte{0}, c), false},
		"co-signer plain":    {both(s, signDigest(k.cosigner, digest)), false},
		"session personal":   {both(signDigest(k.session, op.EIP191(digest)), c), false},
		"admin and cosigner": {both(signDigest(k.admin, digest), c), false},
		"admin alone":        {prefixed([]byte{0}, signDigest(k.admin, digest)), false},
		"the hash itself":    {both(signDigest(k.session, hash), signDigest(k.cosigner, op.EIP191(hash))), false},
		"no prefix":          {both(s, c)[1:], false},
	} {
		if got := w.valid(a.at, hash, v.sig); got != v.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
