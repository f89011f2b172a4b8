package settle_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// erased demands that nothing signed is left of a quote that did not complete.
func erased(t *testing.T, w *World, id string) {
	t.Helper()
	q := record(w, id)
	for _, l := range q.Legs {
		if l.Signature != "" {
			t.Error("a funding signature is still in the book")
		}
	}
	erasedContext(t, w, id)
	for _, a := range q.Required {
		p, err := w.Book.Pledged(context.Background(), q.Owner.Hex())
		if err != nil || p.Of(a.Asset).Sign() != 0 {
			t.Errorf("%s of %s is still pledged (%v)", p.Of(a.Asset), a.Asset, err)
		}
	}
}

func TestRefusedFillRefundsEveryDepositInFull(t *testing.T) {
	yes := func(string) bool { return true }
	for reason, faults := range map[string]*settle.Faults{
		"SOLVER_CAPACITY_EXCEEDED": {NoCapacity: yes},
		"EXECUTION_REVERTED":       {Revert: yes},
		"SLIPPAGE":                 {PriceJump: func(string) int64 { return 201 }},
	} {
		t.Run(reason, func(t *testing.T) {
			w := New(t, Options{Faults: faults})
			signed := w.SignQuote(w.Quote(crossChain(w), ""))
			sums, had := w.Sums(payee()), balances(w, w.User.Address)
			s := w.Settle(signed)
			if s.Status != api.StatusRefunded || s.FailReason != reason {
				t.Fatalf("status %+v", s)
			}
			sameBalances(t, had, balances(w, w.User.Address))
			w.SameSums(sums, w.Sums(payee()))
			if n := w.Nonce(Base, op.LanePrepared); n != 0 {
				t.Errorf("the target chain's nonce is %d", n)
			}
			if w.Balance(payee(), w.Asset("usdc", Base)).Sign() != 0 {
				t.Error("the payee was paid")
			}
			if n := len(s.OriginChainOperations); n != 6 { // three deposits, three refunds
				t.Errorf("%d origin operations", n)
			}
			erased(t, w, s.QuoteID)
			Refused(t, w.Execute(signed), api.ErrAlreadyExecuted)
		})
	}
}

func TestNativeDepositIsRefundedInFull(t *testing.T) {
	w := New(t, Options{Faults: &settle.Faults{Revert: func(string) bool { return true }}})
	w.FundBig(w.User.Address, w.Asset("eth", Linea), wei(1))
	signed := w.SignQuote(w.Quote(pay(w, Base, 100*usdcPlain), "ob:eth"))
	s := w.Settle(signed)
	if s.Status != api.StatusRefunded {
		t.Fatalf("status %+v", s)
	}
	wantBalance(t, w, w.User.Address, w.Asset("eth", Linea), wei(1))
	wantBalance(t, w, w.Installation.Pins.Escrow, w.Asset("eth", Linea), zero())
}

func TestPriceOfTheWalkThatMovedTooFarIsSlippage(t *testing.T) {
	prices := &jumpy{}
	w := New(t, Options{Prices: prices})
	w.FundBig(w.User.Address, w.Asset("eth", Linea), wei(1))
	for _, c := range []struct {
		eth    int64
		status string
	}{{2_945_000_000, api.StatusCompleted}, {2_900_000_000, api.StatusRefunded}, {3_500_000_000, api.StatusCompleted}} {
		prices.eth.Store(3_000_000_000)
		signed := w.SignQuote(w.Quote(pay(w, Base, 100*usdcPlain), "ob:eth"))
		prices.eth.Store(c.eth)
		if s := w.Settle(signed); s.Status != c.status || c.status == api.StatusRefunded && s.FailReason != "SLIPPAGE" {
			t.Errorf("with ETH at %d: %+v", c.eth, s)
		}
	}
}

func TestPriceMoveWithinTheToleranceIsTheSolversRisk(t *testing.T) {
	w := New(t, Options{Faults: &settle.Faults{PriceJump: func(string) int64 { return 200 }}})
	if s := w.Settle(w.SignQuote(w.Quote(crossChain(w), ""))); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestRealRevertInTheTargetBlockThrowsItAway(t *testing.T) {
	var w *World
	usdc := func() common.Address { token, _ := w.Asset("usdc", Base).Token(); return token }
	w = New(t, Options{AfterStep: func(step string) {
		if step == "deposit eip155:42161" { // what the calls count on leaves the account
			w.RunDirect(Base, 7, false, op.Call{To: usdc(), Value: zero(),
				Data: transferData(payee(), bigOf(20*usdcPlain))})
		}
	}})
	w.Fund(w.User.Address, w.Asset("usdc", Base), 30*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	w.RunDirect(Base, 7, true, op.Call{To: payee(), Value: zero()})
	signed := w.SignQuote(w.Quote(pay(w, Base, 100*usdcPlain), ""))
	sums, solver := w.Sums(payee()), w.Balance(solverOf(w), w.Asset("usdc", Base))
	s := w.Settle(signed)
	head := w.Installation.Chains[Base].Head().Number
	if s.Status != api.StatusRefunded || s.FailReason != "EXECUTION_REVERTED" {
		t.Fatalf("status %+v", s)
	}
	if b, _, err := w.Installation.Chains[Base].Block(context.Background(), head); err != nil || len(b.Receipts) != 1 {
		t.Errorf("the last block on Base is not the direct operation: %d receipts, %v", len(b.Receipts), err)
	}
	wantBalance(t, w, w.User.Address, w.Asset("usdc", Arbitrum), bigOf(120*usdcPlain))
	wantBalance(t, w, w.User.Address, w.Asset("usdc", Base), bigOf(10*usdcPlain))
	wantBalance(t, w, solverOf(w), w.Asset("usdc", Base), solver)
	if n := w.Nonce(Base, op.LanePrepared); n != 0 {
		t.Errorf("the target chain's nonce is %d", n)
	}
	w.SameSums(sums, w.Sums(payee()))
}

func TestLateFillIsOrderExpired(t *testing.T) {
	clock := NewClock()
	w := New(t, Options{Clock: clock, Faults: &settle.Faults{BeforeFill: func(context.Context, string) error {
		clock.Advance(11 * time.Minute)
		return nil
	}}})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	had := balances(w, w.User.Address)
	s := w.Settle(signed)
	if s.Status != api.StatusRefunded || s.FailReason != "ORDER_EXPIRED" {
		t.Fatalf("status %+v", s)
	}
	sameBalances(t, had, balances(w, w.User.Address))
	erased(t, w, s.QuoteID)
}

func TestResumeAfterTheWindowRefunds(t *testing.T) {
	stop := errors.New("the process goes down")
	clock, kept := NewClock(), storetest.New(t)
	w := New(t, Options{Store: kept, Clock: clock, Faults: &settle.Faults{
		BeforeFill: func(context.Context, string) error { return stop }}})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	had := balances(w, w.User.Address)
	Must(t, w.Execute(signed))
	if err := w.Settler.Idle(context.Background()); !errors.Is(err, stop) {
		t.Fatalf("idle told %v", err)
	}
	if s := w.Status(w.Decode(signed).ID); s.Status != api.StatusInProgress || s.FailReason != "" {
		t.Fatalf("status %+v", s)
	}
	Must(t, w.Settler.Close())
	clock.Advance(time.Hour)
	again := New(t, Options{Store: kept, Clock: clock})
	Must(t, again.Settler.Resume(context.Background()))
	Must(t, again.Settler.Idle(context.Background()))
	s := again.Status(w.Decode(signed).ID)
	if s.Status != api.StatusRefunded || s.FailReason != "ORDER_EXPIRED" {
		t.Fatalf("status %+v", s)
	}
	sameBalances(t, had, balances(again, again.User.Address))
	erased(t, again, s.QuoteID)
}

func TestFailedFirstDepositIsFailedWithoutRefund(t *testing.T) {
	var w *World
	w = New(t, Options{AfterStep: func(step string) {
		if step == "accepted" { // the account uses the funding nonce elsewhere before the deposit runs
			w.RunDirect(Arbitrum, op.LaneFunding, true, op.Call{To: payee(), Value: zero()})
		}
	}})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	signed := w.SignQuote(w.Quote(pay(w, Base, 100*usdcPlain), ""))
	s := w.Settle(signed)
	if s.Status != api.StatusFailed || s.FailReason == "" || len(s.OriginChainOperations) != 0 {
		t.Fatalf("status %+v", s)
	}
	wantBalance(t, w, w.User.Address, w.Asset("usdc", Arbitrum), bigOf(120*usdcPlain))
	erased(t, w, s.QuoteID)
}

func TestFailedLaterDepositRefundsTheEarlierOnes(t *testing.T) {
	var w *World
	w = New(t, Options{AfterStep: func(step string) {
		if step == "deposit eip155:42161" {
			w.RunDirect(Polygon, op.LaneFunding, true, op.Call{To: payee(), Value: zero()})
		}
	}})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	had := balances(w, w.User.Address)
	s := w.Settle(signed)
	if s.Status != api.StatusRefunded || !strings.HasPrefix(s.FailReason, "ACCOUNT_ABSTRACTION") {
		t.Fatalf("status %+v", s)
	}
	sameBalances(t, had, balances(w, w.User.Address))
}

func TestSlowFillDoesNotHoldUpOtherQuotes(t *testing.T) {
	hold, steps := make(chan struct{}), make(chan string, 100)
	slow := ""
	w := New(t, Options{AfterStep: func(step string) { steps <- step },
		Faults: &settle.Faults{BeforeFill: func(ctx context.Context, id string) error {
			if id == slow {
				<-hold
			}
			return nil
		}}})
	first := w.SignQuote(w.Quote(crossChain(w), ""))
	slow = w.Decode(first).ID
	Must(t, w.Execute(first))
	other := NewUser(w.Installation.Pins, 2)
	mine := w.User
	w.User = other
	w.Fund(other.Address, w.Asset("usdc", Polygon), 50*usdcPlain)
	second := w.SignQuote(w.Quote(pay(w, Base, 20*usdcPlain), ""))
	Must(t, w.Execute(second))
	for w.Status(w.Decode(second).ID).Status != api.StatusCompleted {
		<-steps
	}
	if s := w.Status(slow); api.Terminal(s.Status) {
		t.Errorf("the slow quote is %s", s.Status)
	}
	close(hold)
	Must(t, w.Settler.Idle(context.Background()))
	w.User = mine
	if s := w.Status(slow); s.Status != api.StatusCompleted {
		t.Errorf("status %+v", s)
	}
}

func TestSumsStayConstantUnderRandomOperations(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	refuse := func(string) bool { return random.IntN(4) == 0 }
	w := New(t, Options{Faults: &settle.Faults{Revert: refuse}})
	users := []*User{w.User, NewUser(w.Installation.Pins, 2), NewUser(w.Installation.Pins, 3)}
	others := []common.Address{payee(), users[1].Address, users[2].Address}
	chains := []uint64{Ethereum, Optimism, Polygon, Base, Arbitrum, Avalanche}
	sums := w.Sums(others...)
	done := map[string]int{}
	for range 40 {
		w.User = users[random.IntN(len(users))]
		asset := [...]string{"usdc", "usdt", "weth"}[random.IntN(3)]
		at := chains[random.IntN(len(chains))]
		if a, ok := w.Assets[asset+"/"+number64(at)]; ok {
			v := bigOf(random.Int64N(300 * usdcPlain))
			if asset == "weth" {
				v = bigOf(random.Int64N(1e17))
			}
			w.FundBig(w.User.Address, a, v)
		}
		r := pay(w, chains[random.IntN(len(chains))], 1+random.Int64N(250*usdcPlain))
		r.FromAssetID = [...]string{"ob:usdc", "ob:usdt", "ob:weth"}[random.IntN(3)]
		prepared, err := w.Prepare(r)
		if err != nil {
			Refused(t, err, api.ErrInsufficientBalance)
			done["short"]++
			continue
		}
		doc, err := w.CallQuote(prepared, "")
		Must(t, err)
		done[w.Settle(w.SignQuote(doc)).Status]++
		w.Clock.Advance(time.Duration(random.IntN(5000)) * time.Millisecond)
	}
	w.User = users[0]
	w.SameSums(sums, w.Sums(others...))
	if done[api.StatusCompleted] < 5 || done[api.StatusRefunded]+done[api.StatusFailed] == 0 {
		t.Errorf("the mix was too thin: %v", done)
	}
	t.Logf("%v", done)
}

func TestHistoryTellsOfAnAcceptedQuoteAtOnceUnderItsAccount(t *testing.T) {
	hold, reached := make(chan struct{}), make(chan struct{})
	w := New(t, Options{Faults: &settle.Faults{BeforeFill: func(context.Context, string) error {
		close(reached)
		<-hold
		return nil
	}}})
	doc := w.Quote(crossChain(w), "")
	page, err := w.Book.History(context.Background(), quotestore.HistoryQuery{User: w.User.Account.AccountAddress})
	Must(t, err)
	if len(page.Transactions) != 0 {
		t.Fatal("an offer is in the history")
	}
	Must(t, w.Execute(w.SignQuote(doc)))
	<-reached
	for _, user := range []string{w.User.Account.AccountAddress, strings.ToLower(w.User.Account.AccountAddress),
		strings.ToUpper(w.User.Account.AccountAddress)} {
		page, err = w.Book.History(context.Background(), quotestore.HistoryQuery{User: user})
		Must(t, err)
		if len(page.Transactions) != 1 || page.Transactions[0].Status != api.StatusInProgress ||
			page.Transactions[0].Type != api.RecordCall {
			t.Fatalf("history of %s: %+v", user, page)
		}
	}
	r := page.Transactions[0]
	if r.User != w.User.Account.AccountAddress || r.OriginToken.Amount != w.Decode(doc).OriginToken.Amount ||
		r.Timestamp != "2025-10-09T08:53:20.000Z" {
		t.Errorf("record %+v", r)
	}
	close(hold)
	Must(t, w.Settler.Idle(context.Background()))
}
