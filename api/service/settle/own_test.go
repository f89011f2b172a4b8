package settle_test

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
	"coffer/api/service/pinned"
	"coffer/api/service/quote"
	. "coffer/api/service/settle/settletest"
)

// ownKinds are the accounts that a network without a solver and without Solana serves.
func ownKinds() []string {
	return []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased}
}

func ownWorld(t *testing.T, kind string) *World {
	t.Helper()
	w := New(t, Options{OwnNodes: true, Pause: hourly})
	w.User = w.AddUser(kind, 7)
	w.Fund(w.User.Address, w.Asset("usdc", Base), 100*usdcPlain)
	w.FundBig(w.User.Address, w.Asset("eth", Base), wei(1))
	return w
}

// sending asks for a batch of a transfer of USDC and one of the coin.
func sending(w *World, to common.Address) api.PrepareRequest {
	return w.Request(w.Asset("usdc", Base), 30*usdcPlain, Transfer(w.Asset("usdc", Base), to, 30*usdcPlain),
		api.Call{To: to.Hex(), Value: "7"})
}

// TestACallIsRunByTheEntryPoint for every kind of account: its creation or delegation with the first call, and a second
// one; nothing is charged, and the operation ends.
func TestACallIsRunByTheEntryPoint(t *testing.T) {
	for _, kind := range ownKinds() {
		t.Run(kind, func(t *testing.T) {
			w, to := ownWorld(t, kind), common.HexToAddress("0x00000000000000000000000000000000000abcde")
			usdc, tank := w.Asset("usdc", Base), w.Installation.Operator.Address()
			for n := int64(1); n <= 2; n++ {
				paid := w.Balance(tank, w.Asset("eth", Base))
				doc := w.Quote(sending(w, to), "")
				q := w.Decode(doc)
				if len(q.OriginChainsOperations) != 1 || len(q.Fees.Assets) != 0 || q.Fees.CumulativeUSD != "0.00" {
					t.Errorf("it costs %+v in %d operations", q.Fees, len(q.OriginChainsOperations))
				}
				o := q.OriginChainsOperations[0].UserOp
				data := common.FromHex(o.PaymasterData)
				if !strings.EqualFold(o.Paymaster, w.Installation.Pins.Paymaster.Hex()) || len(data) != 77 ||
					new(big.Int).SetBytes(data[12:]).Sign() != 0 {
					t.Errorf("the paymaster is %s with %x", o.Paymaster, data)
				}
				s := w.Settle(w.SignQuote(doc))
				if s.Status != api.StatusCompleted || len(s.DestinationChainOperations) != 1 {
					t.Fatalf("%+v", s)
				}
				if got := w.Balance(to, usdc); got.Int64() != n*30*usdcPlain {
					t.Errorf("%s arrived", got)
				}
				if left := w.Balance(w.User.Address, usdc); left.Int64() != (100-n*30)*usdcPlain {
					t.Errorf("%s is left", left)
				}
				if w.Balance(tank, w.Asset("eth", Base)).Cmp(paid) >= 0 {
					t.Error("the tank has paid no gas")
				}
			}
		})
	}
}

func TestWhatNeedsASolverSaysWhatHelps(t *testing.T) {
	w := ownWorld(t, api.AccountKernelV31)
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 500*usdcPlain)
	usdc := w.Asset("usdc", Base)
	_, err := w.Prepare(w.Request(usdc, 112_500_000, Transfer(usdc, payee(), 112_500_000)))
	if e := Refused(t, err, api.ErrNoRoute); !strings.Contains(e.Error(),
		"this network has no solver: bring 12.5 USDC to Base, or use an operator") {
		t.Error(e)
	}
	_, err = w.TrySwap(Exchange{From: "ob:usdc", Amount: big.NewInt(usdcPlain), Get: "ob:eth"})
	if e := Refused(t, err, api.ErrNoRoute); !strings.Contains(e.Error(), "this network has no solver") {
		t.Error(e)
	}
	// What is not declared and not there fails in its call.
	_, err = w.Prepare(w.Request(usdc, 0, Transfer(usdc, payee(), 1), Transfer(usdc, payee(), 200*usdcPlain)))
	if e := Refused(t, err, api.ErrSimulationFailed); len(e.Details) != 1 || e.Details[0].Path != "calls[1]" {
		t.Error(e, e.Details)
	}
}

func TestAnAccountThatNoFactoryMakesIsRefusedByName(t *testing.T) {
	for kind, refused := range map[string]bool{api.AccountKernelV31: true, api.AccountRoleBased: true,
		api.AccountKernelV33: false} {
		w := ownWorld(t, kind)
		at, slot, err := pinned.Approval()
		Must(t, err)
		r := sending(w, payee())
		r.Overrides = []api.StateOverride{{Address: at.Hex(), StateDiff: map[string]string{
			slot.Hex(): common.Hash{}.Hex()}}}
		_, err = w.Prepare(r)
		if !refused {
			Must(t, err)
			continue
		}
		e := Refused(t, err, api.ErrNoRoute)
		if !strings.Contains(e.Error(), "no "+kind+" account can be made on Base") {
			t.Error(e)
		}
	}
}

// ops are the operations that a signed quote holds, as they go out.
func submitted(w *World, signed *api.Document) []byte {
	w.TB.Helper()
	o, err := op.FromWire(*w.Decode(signed).OriginChainsOperations[0].UserOp)
	Must(w.TB, err)
	data, err := op.HandleOpsCall(common.Address{9}, o)
	Must(w.TB, err)
	return data
}

// copycat submits the operation of a signed quote from another key.
func copycat(w *World, signed *api.Document) common.Hash {
	w.TB.Helper()
	in := w.Installation
	b, err := in.Chains[Base].Seal(context.Background(), chain.SealRequest{Time: uint64(w.Clock.Now().Unix()),
		Accept: chain.AllSucceed, Txs: []chain.Tx{{From: in.Faucet, To: in.Pins.EntryPoint,
			Data: submitted(w, signed)}}})
	Must(w.TB, err)
	return b.Receipts[0].TxHash
}

// slowWorld is one whose chains are final later; at is told what befalls a step.
func slowWorld(t *testing.T, at func(w *World, fate string)) *World {
	t.Helper()
	w := ownWorld(t, api.AccountKernelV31)
	w.Installation.Outbox = slowPorts(w, func(_, fate string) { at(w, fate) })
	return w
}

// TestACopycatDoesNotChangeTheOutcome: before the tank sends, and after; what the entry point says of the operation is
// the outcome, and the transaction that ran it is named.
func TestACopycatDoesNotChangeTheOutcome(t *testing.T) {
	for _, when := range []string{intended, mined} {
		t.Run(when, func(t *testing.T) {
			var signed *api.Document
			var by common.Hash
			w := slowWorld(t, func(w *World, fate string) {
				if fate == when {
					by = copycat(w, signed)
				}
			})
			signed = w.SignQuote(w.Quote(sending(w, payee()), ""))
			s := w.Settle(signed)
			if s.Status != api.StatusCompleted || len(s.DestinationChainOperations) != 1 ||
				s.DestinationChainOperations[0].Hash != by.Hex() {
				t.Errorf("%+v, run by %s", s, by)
			}
			if got := w.Balance(payee(), w.Asset("usdc", Base)); got.Int64() != 30*usdcPlain {
				t.Errorf("%s arrived", got)
			}
		})
	}
	t.Run("before it was sent", func(t *testing.T) {
		var signed *api.Document
		var by common.Hash
		var w *World
		w = New(t, Options{OwnNodes: true, Pause: hourly, AfterStep: func(step string) {
			if step == "accepted" {
				by = copycat(w, signed)
			}
		}})
		w.User = w.AddUser(api.AccountKernelV31, 7)
		w.Fund(w.User.Address, w.Asset("usdc", Base), 100*usdcPlain)
		w.FundBig(w.User.Address, w.Asset("eth", Base), wei(1))
		signed = w.SignQuote(w.Quote(sending(w, payee()), ""))
		if s := w.Settle(signed); s.Status != api.StatusCompleted ||
			s.DestinationChainOperations[0].Hash != by.Hex() {
			t.Errorf("%+v, run by %s", s, by)
		}
	})
}

// TestARevertBurnsTheNonceAndReadsFailed: the call fails on chain, although it did not in its simulation.
func TestARevertBurnsTheNonceAndReadsFailed(t *testing.T) {
	w := slowWorld(t, func(w *World, fate string) {
		if fate == sent { // the owner spends it elsewhere meanwhile
			usdc, _ := w.Asset("usdc", Base).Token()
			w.RunDirect(Base, op.LaneFunding, false, op.Call{To: usdc, Value: new(big.Int),
				Data: erc20.Transfer(common.Address{8}, big.NewInt(90*usdcPlain))})
		}
	})
	// deployed, so that two lanes are independent
	w.RunDirect(Base, op.LaneFunding, true, op.Call{To: payee(), Value: common.Big1})
	s := w.Settle(w.SignQuote(w.Quote(sending(w, payee()), "")))
	if s.Status != api.StatusFailed || s.FailReason != "EXECUTION_REVERTED" || len(s.DestinationChainOperations) != 1 {
		t.Errorf("%+v", s)
	}
	if n := w.Nonce(Base, op.LanePrepared); n != 1 {
		t.Errorf("the next nonce is %d", n)
	}
	if got := w.Balance(payee(), w.Asset("usdc", Base)); got.Sign() != 0 {
		t.Errorf("%s arrived", got)
	}
}

// TestWhatWasSentCanRunUntilItsWindowEnds: the tank's transaction came to nothing while the nonce is free. That is not
// called failed before nobody can submit the operation any more, whatever the clock of this machine says.
func TestWhatWasSentCanRunUntilItsWindowEnds(t *testing.T) {
	for want, then := range map[string]func(*World, *api.Document){
		api.StatusCompleted: func(w *World, signed *api.Document) { copycat(w, signed) },
		api.StatusFailed: func(w *World, signed *api.Document) {
			w.Clock.Advance(quote.Window + 2*time.Minute)
			Must(t, w.Settler.Resume(t.Context()))
			err, id := w.Settler.Idle(t.Context()), w.Decode(signed).ID
			if s := w.Status(id); err == nil || s.Status != api.StatusPending {
				t.Errorf("no block is later than its time, and it is %+v, %v", s, err)
			}
			w.FundBig(common.Address{7}, w.Asset("eth", Base), wei(1)) // a later block
		},
	} {
		t.Run(want, func(t *testing.T) {
			w := slowWorld(t, func(w *World, fate string) {
				if fate == mined { // the tank is empty
					w.Empty(w.Installation.Operator, Base)
				}
			})
			signed := w.SignQuote(w.Quote(sending(w, payee()), ""))
			Must(t, w.Execute(signed))
			err, id := w.Settler.Idle(t.Context()), w.Decode(signed).ID
			if s := w.Status(id); err == nil || s.Status != api.StatusPending {
				t.Fatalf("%+v, %v", s, err)
			}
			then(w, signed)
			Must(t, w.Settler.Resume(t.Context()))
			Must(t, w.Settler.Idle(t.Context()))
			s := w.Status(id)
			if s.Status != want || want == api.StatusFailed && s.FailReason != "ORDER_EXPIRED" {
				t.Errorf("%+v", s)
			}
		})
	}
}

// elsewhere is a chain whose nodes name a transaction that has nothing to do with what is looked for.
type elsewhere struct {
	chain.Chain
	of chain.Receipt
}

func (e elsewhere) Find(context.Context, uint64, uint64, common.Address, ...common.Hash) (chain.Receipt, bool, bool,
	error) {
	return e.of, true, true, nil
}

// TestOnlyItsOwnEventCompletesAnOperation: a transaction without it is no outcome, whatever the nodes say.
func TestOnlyItsOwnEventCompletesAnOperation(t *testing.T) {
	var signed *api.Document
	var w *World
	w = slowWorld(t, func(_ *World, fate string) {
		if fate == mined { // the tank's transaction comes second, and the event of the first is kept back
			by := copycat(w, signed)
			in := w.Installation
			r := chain.Receipt{TxHash: by, Success: true, Value: new(big.Int)}
			in.Chains[Base] = elsewhere{in.Chains[Base], r}
		}
	})
	signed = w.SignQuote(w.Quote(sending(w, payee()), ""))
	Must(t, w.Execute(signed))
	err := w.Settler.Idle(t.Context())
	if s := w.Status(w.Decode(signed).ID); err == nil || s.Status != api.StatusPending {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestANodeThatIsBehindDoesNotFailACall: a copycat has run the operation, before the tank or after it, and no log is
// told yet.
func TestANodeThatIsBehindDoesNotFailACall(t *testing.T) {
	for _, when := range []string{"accepted", sent} {
		t.Run(when, func(t *testing.T) {
			var w *World
			var signed *api.Document
			copied := func(at string) {
				if at == when {
					copycat(w, signed)
				}
			}
			w = New(t, Options{OwnNodes: true, Pause: hourly, AfterStep: copied})
			w.Installation.Outbox = slowPorts(w, func(_, fate string) { copied(fate) })
			w.User = w.AddUser(api.AccountKernelV31, 7)
			w.Fund(w.User.Address, w.Asset("usdc", Base), 100*usdcPlain)
			w.FundBig(w.User.Address, w.Asset("eth", Base), wei(1))
			w.Blind(true)
			signed = w.SignQuote(w.Quote(sending(w, payee()), ""))
			Must(t, w.Execute(signed))
			err, id := w.Settler.Idle(t.Context()), w.Decode(signed).ID
			if s := w.Status(id); err == nil || s.Status != api.StatusPending {
				t.Fatalf("%+v, %v", s, err)
			}
			w.Blind(false)
			Must(t, w.Settler.Resume(t.Context()))
			Must(t, w.Settler.Idle(t.Context()))
			if s := w.Status(id); s.Status != api.StatusCompleted {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestTheTankPaysForABoundedNumberOfOperations(t *testing.T) {
	w := ownWorld(t, api.AccountKernelV31)
	w.FundBig(w.User.Address, w.Asset("usdc", Base), big.NewInt(10_000*usdcPlain))
	for range 100 {
		if s := w.Settle(w.SignQuote(w.Quote(sending(w, payee()), ""))); s.Status != api.StatusCompleted {
			t.Fatalf("%+v", s)
		}
	}
	_, err := w.Prepare(sending(w, payee()))
	if e := Refused(t, err, api.ErrNoRoute); !strings.Contains(e.Error(), "100 operations") {
		t.Error(e)
	}
	w.Clock.Advance(24*time.Hour + time.Minute)
	if _, err := w.Prepare(sending(w, payee())); err != nil {
		t.Error(err)
	}
}
