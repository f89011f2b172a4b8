package settle_test

import (
	"context"
	"errors"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// submit makes the calls of a signed operation of a quote past the service, as its owner can.
func submit(w *World, signed *api.Document, i int, deploys bool) {
	w.TB.Helper()
	o := w.Decode(signed).OriginChainsOperations[i]
	user, err := op.FromWire(*o.UserOp)
	Must(w.TB, err)
	calls, err := op.DecodeExecute(user.CallData)
	Must(w.TB, err)
	w.RunDirect(o.TypedDataToSign.Domain.ChainID, 9, deploys, calls...)
}

func seal(w *World, chainID uint64, txs ...chain.Tx) {
	w.TB.Helper()
	_, err := w.Installation.Chains[chainID].Seal(context.Background(),
		chain.SealRequest{Time: uint64(w.Clock.Now().Unix()), Txs: txs,
			Accept: chain.AllSucceed})
	Must(w.TB, err)
}

func TestADepositThatItsOwnerLandedComesBack(t *testing.T) {
	for name, c := range map[string]struct {
		ask     func(w *World) *api.Document
		deploys bool // with his own operation
		reason  string
	}{
		"on another chain": {func(w *World) *api.Document {
			w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
			return w.Quote(pay(w, Base, 100*usdcPlain), "")
		}, true, "ACCOUNT_ABSTRACTION_INVALID_NONCE"},
		"on the target chain": {func(w *World) *api.Document {
			w.FundBig(w.User.Address, w.Asset("dai", Base), wei(90))
			w.RunDirect(Base, 7, true, op.Call{To: payee(), Value: zero()})
			return w.Quote(pay(w, Base, 50*usdcPlain), "ob:dai")
		}, false, "EXECUTION_REVERTED"},
	} {
		t.Run(name, func(t *testing.T) {
			var w *World
			var signed *api.Document
			w = New(t, Options{Pause: hourly, AfterStep: func(step string) {
				if step == "accepted" {
					submit(w, signed, 0, c.deploys)
				}
			}})
			signed = w.SignQuote(c.ask(w))
			had := balances(w, w.User.Address)
			s := w.Settle(signed)
			if s.Status != api.StatusRefunded || s.FailReason != c.reason {
				t.Errorf("status %s %s", s.Status, s.FailReason)
			}
			sameBalances(t, had, balances(w, w.User.Address))
			nothingHeld(t, w)
		})
	}
}

// Blocks do not go back with the clock: what a block of the future has decided, a refund by anybody among it, stands.
func TestNothingIsFilledWhenAChainIsPastTheWindow(t *testing.T) {
	for name, future := range map[string]func(w *World, id string){
		"the target chain": func(w *World, _ string) { w.Fund(payee(), w.Asset("dai", Base), 1) },
		"a chain that was paid on, and somebody refunded": func(w *World, id string) {
			data := escrow.RefundCalldata(common.HexToHash(id), w.User.Address)
			seal(w, Arbitrum, chain.Tx{From: w.Installation.Faucet, To: w.Installation.Pins.Escrow, Data: data,
				Gas: 300_000})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var w *World
			var id string
			w = New(t, Options{Pause: hourly, AfterStep: func(step string) {
				if step == "deposit eip155:42161" {
					w.Clock.Advance(3 * time.Hour)
					future(w, id)
					w.Clock.Advance(-3 * time.Hour)
				}
			}})
			w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
			doc := w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(100 * usdcPlain), Get: "ob:usdc",
				To: payeeOn(Base)(w)})
			id = w.Decode(doc).ID
			had := balances(w, w.User.Address)
			s := w.Settle(w.SignQuote(doc))
			if s.Status != api.StatusRefunded || s.FailReason != "ORDER_EXPIRED" {
				t.Errorf("status %s %s", s.Status, s.FailReason)
			}
			sameBalances(t, had, balances(w, w.User.Address))
			wantBalance(t, w, payee(), w.Asset("usdc", Base), zero())
			nothingHeld(t, w)
		})
	}
}

// An exit that lands at the last moment, between the look at the account and the block, is noticed all the same.
func TestAnExitAnnouncedJustBeforeTheBlockStopsIt(t *testing.T) {
	t.Parallel()
	refunds := 0
	for n := int32(1); n <= 8; n++ {
		w := kindWorld(t, api.AccountRoleBased, nil)
		for _, id := range []uint64{Base, Arbitrum, Polygon} {
			w.RunDirect(id, 9, true, op.Call{To: payee(), Value: zero()})
		}
		signed := w.SignQuote(w.Quote(pay(w, Base, 200*usdcPlain), "ob:usdc"))
		var armed, before atomic.Bool
		var calls atomic.Int32
		w.Settler = settle.New(settle.Deps{
			Network: w.Installation.Network, Signers: w.Installation.Set, Book: w.Book, Prices: w.Prices, Pause: hourly,
			AfterStep: func(step string) {
				switch step {
				case "deposit eip155:137":
					armed.Store(true)
				case "target":
					armed.Store(false)
				}
			},
			Clock: func() time.Time {
				if armed.Load() && calls.Add(1) == n {
					announce(w, Base)
					before.Store(true)
				}
				return w.Clock.Now()
			},
		})
		s := w.Settle(signed)
		Must(t, w.Settler.Close())
		want := api.StatusCompleted
		if before.Load() {
			refunds++
			want = api.StatusRefunded
		}
		if s.Status != want || before.Load() && s.FailReason != "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR" {
			t.Errorf("announced at look %d (%v): %s %s", n, before.Load(), s.Status, s.FailReason)
		}
		nothingHeld(t, w)
	}
	if refunds < 3 {
		t.Errorf("only %d announcements came before the block", refunds)
	}
}

// paySolana lets keys of the test pay on Solana past the service; the sponsor pays the fee.
func paySolana(w *World, u *User, to solmsg.Key, lamports uint64) {
	w.TB.Helper()
	now := uint64(w.Clock.Now().Unix())
	hash, _, _ := w.Installation.Solana.Blockhash(context.Background(), now)
	m, err := solmsg.Compose(w.Installation.Sponsor.Key(), hash, solmsg.SystemTransfer(u.Wallet, to, lamports))
	Must(w.TB, err)
	tx, err := solana.Sign(context.Background(), m, w.Installation.Sponsor, signers.LocalSolana(u.Solana))
	Must(w.TB, err)
	_, err = w.Installation.Solana.Seal(context.Background(), solana.SealRequest{
		Time: now, Txs: []solana.Tx{tx}, Accept: solana.AllSucceed,
	})
	Must(w.TB, err)
}

func TestARefundOfLessThanTheRentArrivesInAnEmptiedAccount(t *testing.T) {
	const small = 800_000
	var w *World
	w = New(t, Options{
		Pause: hourly, Faults: &settle.Faults{Revert: func(string) bool { return true }},
		AfterStep: func(step string) {
			if step == "deposit "+caip.SolanaMainnet().String() {
				left := w.SolanaBalance(w.User.Wallet, w.Asset("sol", Solana)).Uint64()
				paySolana(w, w.User, w.Installation.SolanaFaucet.Key(), left)
			}
		},
	})
	w.User = w.AddUser(api.AccountSolana, 7)
	w.FundSolana(w.User.Wallet, w.Asset("sol", Solana), 2*sol)
	doc := w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(small), Get: "ob:usdc", To: payeeOn(Base)(w)})
	sums := w.Sums(payee())
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusRefunded {
		t.Fatalf("status %+v", s)
	}
	if got := w.SolanaBalance(w.User.Wallet, w.Asset("sol", Solana)); got.Cmp(big.NewInt(small)) < 0 {
		t.Errorf("%s lamports came back", got)
	}
	w.SameSums(sums, w.Sums(payee()))
	nothingHeld(t, w)
}

func TestASolverWithoutStockIsNotTheRecipientsFault(t *testing.T) {
	for name, get := range map[string]uint64{"dai": Base, "usdc": Solana, "sol": Solana, "eth": Base} {
		w := kindWorld(t, api.AccountKernelV31+WithSolana, func(w *World, step string) {
			if step != "accepted" {
				return
			}
			in, a := w.Installation, w.Asset(name, get)
			if get != Solana {
				token, _ := a.Token()
				seal(w, get, chain.Tx{From: in.Treasury, To: solverOf(w), Gas: 200_000,
					Data: withdraw(token, in.Faucet.Address(), w.Balance(solverOf(w), a))})
				return
			}
			have, err := in.SolanaSpendable(context.Background(), in.SolanaSolver.Key(), a)
			Must(t, err)
			sponsor := in.Sponsor.Key()
			builds, err := in.SolanaTransfer(context.Background(), in.SolanaSolver.Key(), in.SolanaFaucet.Key(),
				sponsor, a,
				have)
			Must(t, err)
			now := uint64(w.Clock.Now().Unix())
			hash, _, _ := in.Solana.Blockhash(context.Background(), now)
			m, err := solmsg.Compose(sponsor, hash, builds...)
			Must(t, err)
			tx, err := solana.Sign(t.Context(), m, in.Sponsor, in.SolanaSolver)
			Must(t, err)
			_, err = in.Solana.Seal(context.Background(),
				solana.SealRequest{Time: now, Txs: []solana.Tx{tx}, Accept: solana.AllSucceed})
			Must(t, err)
		})
		x := Exchange{From: "ob:usdc", Amount: big.NewInt(100 * usdcPlain), Get: w.Asset(name, get).String(),
			To: payeeOn(Base)(w)}
		if get == Solana {
			x.To = stranger().On(Solana)
		}
		doc := w.Swap(x)
		if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusRefunded ||
			s.FailReason != "SOLVER_CAPACITY_EXCEEDED" {
			t.Errorf("%s: %s %s", name, s.Status, s.FailReason)
		}
		nothingHeld(t, w)
	}
}

// deaf reports the next commit as failed although it happened, and then cannot be read once.
type deaf struct {
	store.Store
	next, unread atomic.Bool
}

func (d *deaf) Update(fn func(store.Tx) error) error {
	err := d.Store.Update(fn)
	if err == nil && d.next.CompareAndSwap(true, false) {
		d.unread.Store(true)
		return errDisk
	}
	return err
}

func (d *deaf) View(fn func(store.Tx) error) error {
	if d.unread.CompareAndSwap(true, false) {
		return errDisk
	}
	return d.Store.View(fn)
}

func TestAnAcceptanceThatCanNotEvenBeReadBackStillRuns(t *testing.T) {
	kept := &deaf{Store: storetest.New(t)}
	w := New(t, Options{Store: kept, Pause: func(int) time.Duration { return 0 }})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	kept.next.Store(true)
	if err := w.Execute(signed); !errors.Is(err, errDisk) {
		t.Fatalf("execute told %v", err)
	}
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	nothingHeld(t, w)
}

// refusing fails a commit for good, and then cannot be read once. After the read that follows it does something once.
type refusing struct {
	deaf
	armed *func()
	after atomic.Pointer[func()]
}

func (r *refusing) View(fn func(store.Tx) error) error {
	if r.unread.Load() {
		r.after.Store(r.armed)
		return r.deaf.View(fn)
	}
	after := r.after.Swap(nil)
	err := r.Store.View(fn)
	if after != nil {
		(*after)()
	}
	return err
}

func (r *refusing) Update(fn func(store.Tx) error) error {
	if r.next.CompareAndSwap(true, false) {
		r.unread.Store(true)
		return errDisk
	}
	return r.Store.Update(fn)
}

func TestAnAcceptanceThatNeverHappenedStartsNothing(t *testing.T) {
	kept := &refusing{deaf: deaf{Store: storetest.New(t)}}
	var steps atomic.Int32
	w := New(t, Options{Store: kept, Pause: func(int) time.Duration { return 0 },
		AfterStep: func(string) { steps.Add(1) }})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	kept.next.Store(true)
	if err := w.Execute(signed); !errors.Is(err, errDisk) {
		t.Fatalf("execute told %v", err)
	}
	Must(t, w.Settler.Idle(context.Background()))
	untouched(t, w, w.Decode(signed).ID)
	if steps.Load() != 0 {
		t.Errorf("%d steps were taken", steps.Load())
	}
	if s := w.Settle(signed); s.Status != api.StatusCompleted {
		t.Fatalf("the quote was not usable afterwards: %+v", s)
	}
}

// Between the saga's look at a record that was not accepted and its end somebody executes the quote again.
func TestAnAcceptanceDuringTheLastLookIsNotLost(t *testing.T) {
	kept := &refusing{deaf: deaf{Store: storetest.New(t)}}
	w := New(t, Options{Store: kept, Pause: func(int) time.Duration { return 0 }})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	var again error
	execute := func() { again = w.Execute(signed) }
	kept.armed = &execute
	kept.next.Store(true)
	if err := w.Execute(signed); !errors.Is(err, errDisk) {
		t.Fatalf("execute told %v", err)
	}
	Must(t, w.Settler.Idle(context.Background()))
	Must(t, again)
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestRecordsNameTheRecipientInMixedCase(t *testing.T) {
	w := New(t, Options{})
	want := "eip155:8453/" + w.User.Address.Hex()
	if s := w.Settle(w.SignQuote(w.Quote(crossChain(w), ""))); s.RecipientAccountID != want {
		t.Errorf("status tells %s", s.RecipientAccountID)
	}
	page, err := w.Book.History(context.Background(), query(w))
	Must(t, err)
	if got := page.Transactions[0].RecipientAccountID; got != want {
		t.Errorf("history tells %s", got)
	}
}

// withdraw is the owner's call that takes inventory out of the filler.
func withdraw(token, to common.Address, amount *big.Int) []byte {
	out := crypto.Keccak256([]byte("withdraw(address,address,uint256)"))[:4]
	for _, word := range [][]byte{token[:], to[:], amount.Bytes()} {
		out = append(out, common.LeftPadBytes(word, 32)...)
	}
	return out
}
