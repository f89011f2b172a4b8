package settle_test

import (
	"context"
	"crypto/ed25519"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/service/chain"
	. "coffer/api/service/settle/settletest"
)

// kindWorld is a world with one stocked user of a kind; before runs after each step's commit.
func kindWorld(t *testing.T, kind string, before func(w *World, step string)) *World {
	t.Helper()
	var w *World
	o := Options{Pause: hourly}
	if before != nil {
		o.AfterStep = func(step string) { before(w, step) }
	}
	w = New(t, o)
	w.User = w.AddUser(kind, 7)
	stock(w, w.User)
	return w
}

// refunded settles and demands that everything came back for a reason.
func refunded(t *testing.T, w *World, signed *api.Document, status, reason string) {
	t.Helper()
	had, sums := holdings(w, w.User), w.Sums(payee())
	s := w.Settle(signed)
	if s.Status != status || s.FailReason != reason {
		t.Fatalf("status %s %s, expected %s %s", s.Status, s.FailReason, status, reason)
	}
	same(t, had, holdings(w, w.User))
	w.SameSums(sums, w.Sums(payee()))
	nothingHeld(t, w)
}

func TestSolanaDepositWhoseBlockHashIsTooOldIsRefusedAndTheOthersComeBack(t *testing.T) {
	late := func(after string) func(*World, string) {
		return func(w *World, step string) {
			if step == after {
				w.Clock.Advance(61 * time.Second)
			}
		}
	}
	const kind = api.AccountKernelV31 + WithSolana
	w := kindWorld(t, kind, late("accepted"))
	refunded(t, w, w.SignQuote(w.Quote(pay(w, Base, 300*usdcPlain), "ob:usdc")), api.StatusFailed, "ORDER_EXPIRED")
	w = kindWorld(t, kind, late("deposit eip155:42161"))
	doc := w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(300 * usdcPlain), Get: "ob:sol"})
	refunded(t, w, w.SignQuote(doc), api.StatusRefunded, "ORDER_EXPIRED")
}

func TestSolanaLegsLandBeforeEVMLegs(t *testing.T) {
	var steps []string
	w := kindWorld(t, api.AccountRoleBased+WithSolana, func(_ *World, step string) { steps = append(steps, step) })
	doc := w.Quote(pay(w, Base, 300*usdcPlain), "ob:usdc")
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	if got := strings.Join(steps[:2], ", "); got != "accepted, deposit "+caip.SolanaMainnet().String() {
		t.Errorf("steps %v", steps)
	}
}

func TestSolanaSignatureMustBeTheUsersOverExactlyTheMessage(t *testing.T) {
	w := kindWorld(t, api.AccountSolana, nil)
	doc := w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(sol), Get: usdcOnSolana})
	o := w.Decode(doc).OriginChainsOperations[0]
	other := w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(sol / 2), Get: usdcOnSolana})
	otherSigned := w.Decode(w.SignQuote(other)).OriginChainsOperations[0]
	for name, sig := range map[string]string{
		"another key":       caip.FormatSolanaSignature([64]byte(ed25519.Sign(SolanaKey(8), []byte(o.DataToSign)))),
		"the base64 text":   caip.FormatSolanaSignature([64]byte(ed25519.Sign(w.User.Solana, []byte(o.DataToSign)))),
		"another message":   otherSigned.Signature,
		"nothing at all":    caip.FormatSolanaSignature([64]byte{}),
		"not 64 bytes long": "",
		"in hex":            "0x" + strings.Repeat("11", 64),
	} {
		edit, err := api.StringEdit("/originChainsOperations/0/signature", sig)
		Must(t, err)
		changed, err := doc.Splice(edit)
		Must(t, err)
		want := api.ErrInvalidSignature
		if name == "not 64 bytes long" || name == "in hex" {
			want = api.ErrValidation
		}
		e := Refused(t, w.Execute(changed), want)
		if want == api.ErrInvalidSignature && !strings.Contains(e.Message, "originChainsOperations[0]") {
			t.Errorf("%s: %s", name, e.Message)
		}
	}
	untouched(t, w, w.Decode(doc).ID)
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("the quote was not usable afterwards: %+v", s)
	}
}

func TestDelegationMustBeTheEOAsOwn(t *testing.T) {
	w := kindWorld(t, api.AccountKernelV33, nil)
	doc := w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc")
	signed := w.SignQuote(doc)
	thief := *w.User
	thief.Key = Key(99)
	forged := w.SignOperationAs(&thief, signed, "/originChainsOperations/0")
	sig, _ := signed.At("/originChainsOperations/0/userOp/signature")
	forged, err := forged.Splice(api.Edit{Pointer: "/originChainsOperations/0/userOp/signature", Value: sig})
	Must(t, err)
	e := Refused(t, w.Execute(forged), api.ErrInvalidSignature)
	if !strings.Contains(e.Message, "another key") {
		t.Errorf("message %q", e.Message)
	}
	unsigned := w.SignOperation(doc, "/originChainsOperations/0", w.User.Key)
	Refused(t, w.Execute(unsigned), api.ErrValidation) // the second operation is not signed at all
	untouched(t, w, w.Decode(doc).ID)
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestPreparedAndSameChainDepositShareOneAuthorization(t *testing.T) {
	w := kindWorld(t, api.AccountKernelV33, nil)
	w.FundBig(w.User.Address, w.Asset("dai", Base), wei(90))
	doc := w.Quote(pay(w, Base, 50*usdcPlain), "ob:dai")
	if o := w.Decode(doc).OriginChainsOperations; len(o) != 1 {
		t.Fatalf("%d operations", len(o))
	}
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	st, err := w.Installation.Chains[Base].State(context.Background(), uint64(w.Clock.Now().Unix()))
	Must(t, err)
	defer st.Close()
	if n := st.Nonce(w.User.Address); n != 1 || len(st.Code(w.User.Address)) != 23 {
		t.Errorf("the EOA's nonce is %d, its code has %d bytes", n, len(st.Code(w.User.Address)))
	}
}

func TestOperationsRunWithoutTheAuthorizationOnceItHasLanded(t *testing.T) {
	w := kindWorld(t, api.AccountKernelV33, nil)
	signed := w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc"))
	for _, id := range []uint64{Arbitrum, Base} { // the same authorization lands with something else
		w.RunDirect(id, 9, true, op.Call{To: payee(), Value: zero()})
	}
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestForeignDelegationIsRefusedAtExecuteAndRefundedLater(t *testing.T) {
	foreign := func(w *World, chainID uint64) { w.Delegate(chainID, w.Installation.Pins.Escrow.Hex()) }
	w := kindWorld(t, api.AccountKernelV33, nil)
	signed := w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc"))
	foreign(w, Base)
	Refused(t, w.Execute(signed), api.ErrDelegation)
	untouched(t, w, w.Decode(signed).ID)
	w = kindWorld(t, api.AccountKernelV33, func(w *World, step string) {
		if step == "deposit eip155:137" {
			foreign(w, Base)
		}
	})
	refunded(t, w, w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc")), api.StatusRefunded,
		"ACCOUNT_ABSTRACTION_SIGNATURE_ERROR")
}

func TestUsedUpAuthorizationMeansPrepareAgainOrRefund(t *testing.T) {
	spoil := func(w *World, chainID uint64) { // delegated and undone: the code is gone, the nonce is not
		w.Delegate(chainID, w.Installation.Pins.Escrow.Hex())
		w.Delegate(chainID, common.Address{}.Hex())
	}
	w := kindWorld(t, api.AccountKernelV33, nil)
	signed := w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc"))
	spoil(w, Arbitrum)
	Refused(t, w.Execute(signed), api.ErrPrepareAgain)
	untouched(t, w, w.Decode(signed).ID)
	w = kindWorld(t, api.AccountKernelV33, func(w *World, step string) {
		if step == "deposit eip155:42161" {
			spoil(w, Base)
		}
	})
	refunded(t, w, w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc")), api.StatusRefunded,
		"ACCOUNT_ABSTRACTION_INVALID_NONCE")
}

// admin sends an admin message of the user's role-based account to the validator of a chain.
func admin(w *World, chainID uint64, m op.AdminMessage) {
	w.TB.Helper()
	m.Account, m.Nonce = w.User.Address, zero()
	validator := w.Installation.Pins.RoleBasedValidator
	digest, err := m.Digest(op.RoleBasedDomain(chainID, validator))
	Must(w.TB, err)
	sig, err := op.Sign(digest, w.User.Admin)
	Must(w.TB, err)
	data, err := m.Call(sig)
	Must(w.TB, err)
	_, err = w.Installation.Chains[chainID].Seal(context.Background(), chain.SealRequest{
		Time: uint64(w.Clock.Now().Unix()), Accept: chain.AllSucceed,
		Txs: []chain.Tx{{From: w.Installation.Operator, To: validator, Data: data}},
	})
	Must(w.TB, err)
}

func rotate(w *World, chainID uint64) {
	admin(w, chainID, op.AdminMessage{Action: api.AdminRotateSession,
		NewSession: crypto.PubkeyToAddress(Key(500).PublicKey)})
}

func announce(w *World, chainID uint64) {
	admin(w, chainID, op.AdminMessage{Action: api.AdminAnnounceExit})
}

func TestReplacedSessionKeyAndAnnouncedExitStopAQuoteBeforeAndAfterAcceptance(t *testing.T) {
	for name, change := range map[string]func(*World, uint64){"rotate": rotate, "announce": announce} {
		t.Run(name, func(t *testing.T) {
			w := kindWorld(t, api.AccountRoleBased, nil)
			deployed := func(w *World) {
				for _, id := range []uint64{Base, Arbitrum, Polygon} {
					w.RunDirect(id, 9, true, op.Call{To: payee(), Value: zero()})
				}
			}
			deployed(w)
			signed := w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc"))
			change(w, Arbitrum)
			Refused(t, w.Execute(signed), api.ErrPrepareAgain)
			untouched(t, w, w.Decode(signed).ID)
			w = kindWorld(t, api.AccountRoleBased, func(w *World, step string) {
				if step == "deposit eip155:137" {
					change(w, Base)
				}
			})
			deployed(w)
			refunded(t, w, w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc")), api.StatusRefunded,
				"ACCOUNT_ABSTRACTION_SIGNATURE_ERROR")
		})
	}
}

func TestRoleBasedOperationsAreStoredWithoutTheCoSignature(t *testing.T) {
	var seen int
	w := kindWorld(t, api.AccountRoleBased, func(w *World, _ string) {
		open, err := w.Book.Open(context.Background())
		Must(t, err)
		for _, id := range open {
			q, c, err := w.Book.Prepared(context.Background(), id)
			Must(t, err)
			sigs := []string{c.Signature}
			for _, l := range q.Legs {
				sigs = append(sigs, l.Signature)
			}
			want := 2 + 2*65
			if api.Terminal(q.Status) {
				want = 0 // only its deposits are open
			}
			for _, s := range sigs {
				if seen++; len(s) != want {
					t.Errorf("a signature of %d characters is stored, expected %d", len(s), want)
				}
			}
		}
	})
	if s := w.Settle(w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc"))); s.Status != api.StatusCompleted ||
		seen == 0 {
		t.Fatalf("status %+v, %d signatures seen", s, seen)
	}
}
