package evm_test

import (
	"crypto/ecdsa"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"coffer/api/op"
)

const (
	announce = "announceExit"
	cancel   = "cancelExit"
	rotate   = "rotateSession"
	day      = 86_400
)

// adminMessage is a message of a role-based account's admin; session belongs
// to rotate only.
type adminMessage struct {
	kind    string
	account common.Address
	session common.Address
	nonce   int64
}

// digest makes the EIP-712 document with go-ethereum's implementation.
func (w *world) digest(m adminMessage) common.Hash {
	w.t.Helper()
	fields := []apitypes.Type{{Name: "account", Type: "address"}}
	message := apitypes.TypedDataMessage{"account": m.account.Hex(), "nonce": big.NewInt(m.nonce).String()}
	primary := map[string]string{announce: "AnnounceExit", cancel: "CancelExit", rotate: "RotateSession"}[m.kind]
	if m.kind == rotate {
		fields = append(fields, apitypes.Type{Name: "newSession", Type: "address"})
		message["newSession"] = m.session.Hex()
	}
	return w.typedDigest(apitypes.TypedDataDomain{
		Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainId: chainNumber(w), VerifyingContract: w.roles.at.Hex(),
	}, primary, append(fields, apitypes.Type{Name: "nonce", Type: "uint256"}), message)
}

func (m adminMessage) args(sig []byte) []any {
	if m.kind == rotate {
		return []any{m.account, m.session, big.NewInt(m.nonce), sig}
	}
	return []any{m.account, big.NewInt(m.nonce), sig}
}

// relay seals a signed message that must be taken; anybody is the sender.
func (w *world) relay(k *ecdsa.PrivateKey, m adminMessage) {
	w.t.Helper()
	w.send(w.relayer, w.roles, 0, m.kind, m.args(signDigest(k, w.digest(m)))...)
}

func (w *world) refuseRelay(want string, sig []byte, m adminMessage) {
	w.t.Helper()
	w.refuse(want, w.relayer, w.roles, 0, m.kind, m.args(sig)...)
}

func (w *world) nextNonce(account common.Address) int64 {
	w.t.Helper()
	return get[*big.Int](w, w.roles, "adminNonce", account).Int64()
}

func TestAdminMessagesAreEIP712(t *testing.T) {
	w := newWorld(t)
	account, session := common.Address{0xaa}, common.Address{0xbb}
	for _, m := range []adminMessage{{announce, account, common.Address{}, 7}, {cancel, account, common.Address{}, 7},
		{rotate, account, session, 7}} {
		args := m.args(nil)
		if got := get[[32]byte](w, w.roles, m.kind+"Digest", args[:len(args)-1]...); common.Hash(got) != w.digest(m) {
			t.Errorf("%s: %x", m.kind, got)
		}
	}
}

// admin is the account as the admin operates it after an exit.
func (w *world) adminOf(a owned, k roleKeys) owned {
	a.sign = w.personal(k.admin)
	return a
}

func TestAdminOperatesAloneOneDayAfterTheAnnouncement(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	admin := w.adminOf(a, k)
	w.give(a.at, 100, 0)
	to := addressOf(key("recipient"))
	// Nobody has to sponsor it and it carries no fees: anybody can submit it.
	alone := func() op.UserOp {
		return admin.signed(unsponsored(w.unsigned(admin, w.lane(a, 9), w.transfer(to, 10))))
	}
	w.refused(alone(), "AA24 signature error")
	start := w.now
	w.relay(k.admin, adminMessage{announce, a.at, common.Address{}, 0})
	if at := get[*big.Int](w, w.roles, "exitAvailableAt", a.at).Uint64(); at != start+day {
		t.Fatalf("available at %d", at)
	}
	for _, after := range []uint64{0, 1, day - 1} {
		w.now = start + after
		w.refused(alone(), "AA22 expired or not due")
		// Session and co-signer go on meanwhile.
		w.runs(w.operation(a, 0, w.transfer(to, 1)))
	}
	for _, after := range []uint64{day, 100 * day} {
		w.now = start + after
		w.runs(alone())
		w.runs(w.operation(a, 0, w.transfer(to, 1)))
	}
	w.holds(to, 25, 0)
	u := alone()
	for name, sig := range map[string][]byte{
		"session": w.personal(k.session)(u), "co-signer": w.personal(k.cosigner)(u),
		"thief":             w.personal(key("thief"))(u),
		"admin, plain hash": signDigest(k.admin, w.opHash(u)), "admin, approve": w.approve(k.admin, u),
		"admin twice": append(w.personal(k.admin)(u), w.personal(k.admin)(u)...),
	} {
		w.run(name, func(t *testing.T) {
			u.Signature = sig
			w.refused(u, "AA24 signature error")
		})
	}
	// The admin signs the whole operation, fees too, so it may carry some.
	w.give(a.at, 0, 10_000_000)
	u = unsponsored(w.unsigned(admin, w.lane(a, 9), w.transfer(to, 1)))
	u.MaxFeePerGas = big.NewInt(1)
	w.runs(admin.signed(u))
}

func TestExitGivesTheAdminMessagesAfterTheDelay(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	hash := crypto.Keccak256Hash([]byte("a document"))
	sig := prefixed([]byte{0}, signDigest(k.admin, w.kernelDigest(a.at, "0.3.1", hash)))
	is := func(want bool) {
		t.Helper()
		if got := w.valid(a.at, hash, sig); got != want {
			t.Fatalf("valid: %t", got)
		}
	}
	is(false)
	w.relay(k.admin, adminMessage{announce, a.at, common.Address{}, 0})
	is(false)
	w.now += day - 1
	is(false)
	w.now++
	is(true)
	w.relay(k.admin, adminMessage{cancel, a.at, common.Address{}, 1})
	is(false)
}

func TestOnlyTheAdminAnnouncesCancelsAndRotates(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	for _, kind := range []string{announce, cancel, rotate} {
		m := adminMessage{kind: kind, account: a.at, session: addressOf(key("next session")), nonce: w.nextNonce(a.at)}
		good := signDigest(k.admin, w.digest(m))
		for name, sig := range map[string][]byte{
			"session": signDigest(k.session, w.digest(m)), "co-signer": signDigest(k.cosigner, w.digest(m)),
			"thief":           signDigest(key("thief"), w.digest(m)),
			"both":            append(signDigest(k.session, w.digest(m)), signDigest(k.cosigner, w.digest(m))...),
			"admin, personal": signDigest(k.admin, op.EIP191(w.digest(m))),
		} {
			w.run(kind+" "+name, func(t *testing.T) { w.refuseRelay("NotAdmin()", sig, m) })
		}
		for name, sig := range malformed(good) {
			w.run(kind+" "+name, func(t *testing.T) { w.refuseRelay("NotAdmin()", sig, m) })
		}
		w.send(w.relayer, w.roles, 0, kind, m.args(good)...)
	}
}

// A message is worth one function, one account, one chain and one nonce.
func TestAdminMessageIsNotReplayed(t *testing.T) {
	w, elsewhere := newWorld(t), newWorldOn(t, 10)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	elsewhere.deployed(a)
	// A second account of the same keys.
	w.send(w.relayer, w.factory, 0, "createAccount", a.initData, common.BigToHash(big.NewInt(1)))
	second := w.predict(a.initData, 1)
	next := addressOf(key("next session"))
	kinds := []string{announce, cancel, rotate}
	for _, kind := range kinds {
		m := adminMessage{kind: kind, account: a.at, session: next, nonce: w.nextNonce(a.at)}
		sig := signDigest(k.admin, w.digest(m))
		for _, other := range kinds {
			if o := m; other != kind {
				o.kind = other
				w.refuseRelay("NotAdmin()", sig, o)
			}
		}
		o := m
		o.account, o.nonce = second, w.nextNonce(second)
		if o.nonce != m.nonce {
			t.Fatal("the test wants equal nonces")
		}
		w.refuseRelay("NotAdmin()", sig, o)
		elsewhere.refuseRelay("NotAdmin()", sig, m)
		o = m
		o.nonce++
		w.refuseRelay("WrongNonce(", signDigest(k.admin, w.digest(o)), o)
		if o = m; kind == rotate {
			o.session = addressOf(key("thief"))
			w.refuseRelay("NotAdmin()", sig, o)
		}
		w.send(w.relayer, w.roles, 0, kind, m.args(sig)...)
		w.refuseRelay("WrongNonce(", sig, m)
		// The other account and chain keep the same nonce for the next round.
		for _, side := range []struct {
			w  *world
			at common.Address
		}{{w, second}, {elsewhere, a.at}} {
			side.w.relay(k.admin, adminMessage{cancel, side.at, common.Address{}, m.nonce})
		}
	}
	w.refuseRelay("NotInstalled(", make([]byte, 65), adminMessage{kind: announce, account: common.Address{5}})
	w.refuseRelay("NotInstalled(", make([]byte, 65), adminMessage{kind: cancel, account: addressOf(k.admin)})
}

func TestExitIsAnnouncedOnceAndItsDelayNeverRestarts(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	start := w.now
	w.relay(k.admin, adminMessage{announce, a.at, common.Address{}, 0})
	w.now += 1000
	again := adminMessage{announce, a.at, common.Address{}, 1}
	sig := signDigest(k.admin, w.digest(again))
	w.refuseRelay("ExitAlreadyAnnounced(", sig, again)
	if at, n := get[*big.Int](w, w.roles, "exitAvailableAt", a.at).Uint64(), w.nextNonce(a.at); at != start+day ||
		n != 1 {
		t.Fatalf("available at %d, nonce %d", at, n)
	}
	// What was refused is not used up; after a cancellation its nonce is dead.
	w.relay(k.admin, adminMessage{cancel, a.at, common.Address{}, 1})
	w.refuseRelay("WrongNonce(", sig, again)
}

func TestCancelEndsAnExitBeforeAndAfterItsDelay(t *testing.T) {
	for name, wait := range map[string]uint64{"before": 10, "after": 2 * day} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			k := testRoles()
			a := w.deployed(w.roleAccount(k))
			admin := w.adminOf(a, k)
			w.relay(k.admin, adminMessage{announce, a.at, common.Address{}, 0})
			w.now += wait
			pending := admin.signed(unsponsored(w.unsigned(admin, w.lane(a, 9), w.transfer(a.at, 0))))
			w.relay(k.admin, adminMessage{cancel, a.at, common.Address{}, 1})
			if at := get[*big.Int](w, w.roles, "exitAvailableAt", a.at).Sign(); at != 0 {
				t.Fatal("still announced")
			}
			w.refused(pending, "AA24 signature error")
			// A new exit waits its own full day.
			w.relay(k.admin, adminMessage{announce, a.at, common.Address{}, 2})
			w.refused(pending, "AA22 expired or not due")
			w.now += day
			w.runs(pending)
		})
	}
}

// A signed message that is not wanted any more is revoked by using its nonce.
func TestCancelWithoutAnExitRevokesASignedMessage(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	unwanted := adminMessage{announce, a.at, common.Address{}, 0}
	sig := signDigest(k.admin, w.digest(unwanted))
	w.relay(k.admin, adminMessage{cancel, a.at, common.Address{}, 0})
	w.refuseRelay("WrongNonce(", sig, unwanted)
}

func TestRotationVoidsWhateverTheOldSessionKeySigned(t *testing.T) {
	w := newWorld(t)
	k := testRoles()
	a := w.deployed(w.roleAccount(k))
	w.give(a.at, 100, 0)
	to := addressOf(key("recipient"))
	pending := w.operation(a, 0, w.transfer(to, 10))
	for _, bad := range []common.Address{{}, addressOf(k.admin), addressOf(k.cosigner)} {
		m := adminMessage{rotate, a.at, bad, 0}
		w.refuseRelay("InvalidRoles()", signDigest(k.admin, w.digest(m)), m)
	}
	next := roleKeys{key("next session"), k.admin, k.cosigner}
	w.relay(k.admin, adminMessage{rotate, a.at, addressOf(next.session), 0})
	w.refused(pending, "AA24 signature error")
	w.refused(w.operation(a, 1, w.transfer(to, 10)), "AA24 signature error")
	hash := crypto.Keccak256Hash([]byte("a document"))
	digest := w.kernelDigest(a.at, "0.3.1", hash)
	cosigned := signDigest(k.cosigner, op.EIP191(digest))
	if w.valid(a.at, hash, prefixed(append([]byte{0}, signDigest(k.session, digest)...), cosigned)) {
		t.Error("the old key signs messages")
	}
	a.sign = w.roleAccount(next).sign // the address stays that of the first keys
	w.runs(w.operation(a, 0, w.transfer(to, 10)))
	w.holds(to, 10, 0)
	// Rotation neither starts nor stops an exit.
	w.relay(k.admin, adminMessage{announce, a.at, common.Address{}, 1})
	at := get[*big.Int](w, w.roles, "exitAvailableAt", a.at).Uint64()
	w.now += 10
	w.relay(k.admin, adminMessage{rotate, a.at, addressOf(k.session), 2})
	if got := get[*big.Int](w, w.roles, "exitAvailableAt", a.at).Uint64(); got != at {
		t.Errorf("the exit moved from %d to %d", at, got)
	}
}
