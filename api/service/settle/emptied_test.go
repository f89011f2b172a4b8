package settle_test

import (
	"context"
	"math/big"
	"strings"
	"sync"
	"testing"

	"coffer/api"
	"coffer/api/service/chain/solana"
	"coffer/api/service/settle"
	. "coffer/api/service/settle/settletest"
)

// lamports is what a user has of SOL.
func lamports(w *World) *big.Int { return w.SolanaBalance(w.User.Wallet, w.Asset("sol", Solana)) }

// holderOfSOL is a user with SOL and a token account for USDC, so that what arrives there costs no rent.
func holderOfSOL(t *testing.T, o Options, v int64) *World {
	t.Helper()
	w := New(t, o)
	w.User = w.AddUser(api.AccountSolana, 7)
	w.FundSolana(w.User.Wallet, w.Asset("sol", Solana), v)
	w.FundSolana(w.User.Wallet, w.Asset("usdc", Solana), usdcPlain)
	return w
}

// TestAllSOLOfAnAccountCanBeSpent: at once, or what stayed for the rent later (protocol §3.1: a chain may be emptied).
func TestAllSOLOfAnAccountCanBeSpent(t *testing.T) {
	const rest = 890_880
	for name, c := range map[string]struct {
		get, to string
		takes   []int64
	}{
		"at once, to another chain":       {"ob:eth", "linea", []int64{5 * sol}},
		"at once, on Solana":              {usdcOnSolana, "", []int64{5 * sol}},
		"at once, to a new account":       {"ob:sol", "stranger", []int64{5 * sol}},
		"but for the rent, then the rent": {usdcOnSolana, "", []int64{5*sol - rest, rest}},
	} {
		w := holderOfSOL(t, Options{}, 5*sol)
		to := map[string]string{"": "", "linea": payeeOn(Linea)(w), "stranger": strangerOnSolana(w)}[c.to]
		sums := w.Sums(payee())
		for _, v := range c.takes {
			doc := w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(v), Get: c.get, To: to})
			if q := w.Decode(doc); q.OriginToken.Amount != big.NewInt(v).String() {
				t.Errorf("%s: takes %s of %d", name, q.OriginToken.Amount, v)
			}
			if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if left := lamports(w); left.Sign() != 0 {
			t.Errorf("%s: %s lamports stay", name, left)
		}
		w.SameSums(sums, w.Sums(payee()))
		nothingHeld(t, w)
	}
}

// TestAnAmountThatLeavesLessThanTheRentIsRefusedForTheRent names the two amounts that are possible, and both are.
func TestAnAmountThatLeavesLessThanTheRentIsRefusedForTheRent(t *testing.T) {
	w := holderOfSOL(t, Options{}, 5*sol)
	ask := func(v int64) error {
		_, err := w.TrySwap(Exchange{From: "ob:sol", Amount: big.NewInt(v), Get: "ob:eth", To: payeeOn(Linea)(w)})
		return err
	}
	for _, v := range []int64{5*sol - 1, 5*sol - 890_879} {
		if e := Refused(t, ask(v), api.ErrInsufficientBalance); !strings.Contains(e.Message,
			"at most 4.99910912 SOL or all 5 SOL can be taken") {
			t.Error(e.Message)
		}
	}
	Must(t, ask(5*sol))
	Must(t, ask(5*sol-890_880))
}

// TestWhatArrivesAfterTheQuoteIsNotLeftBehind: a little that has come since would stay below the rent minimum, so the
// quote is refused and another one takes it along.
func TestWhatArrivesAfterTheQuoteIsNotLeftBehind(t *testing.T) {
	w := holderOfSOL(t, Options{}, 5*sol)
	swap := func(v int64) *api.Document {
		return w.SignQuote(w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(v), Get: "ob:eth",
			To: payeeOn(Linea)(w)}))
	}
	doc := swap(5 * sol)
	w.FundSolana(w.User.Wallet, w.Asset("sol", Solana), 1)
	if e := Refused(t, w.Execute(doc), api.ErrSimulationFailed); !strings.Contains(e.Message,
		"left with 1 lamports, its rent minimum is 890880") {
		t.Error(e.Message)
	}
	if s := w.Settle(swap(5*sol + 1)); s.Status != api.StatusCompleted || lamports(w).Sign() != 0 {
		t.Errorf("%+v, %s lamports stay", s, lamports(w))
	}
}

// TestNothingIsEmptiedWhileSomethingIsPledged: which deposit lands first is not known, so the rent stays until the
// other quote has ended.
func TestNothingIsEmptiedWhileSomethingIsPledged(t *testing.T) {
	arrived, closed := make(chan struct{}), make(chan struct{})
	w := holderOfSOL(t, Options{Faults: &settle.Faults{Wait: func(_ context.Context, at settle.Moment, _ string) error {
		if at == settle.AtDeposit {
			close(arrived)
			<-closed
		}
		return nil
	}}}, 5*sol)
	first := w.SignQuote(w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(sol), Get: "ob:eth",
		To: payeeOn(Linea)(w)}))
	all := w.SignQuote(w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(5 * sol), Get: "ob:eth",
		To: payeeOn(Linea)(w)}))
	Must(t, w.Execute(first))
	<-arrived
	Refused(t, w.Execute(all), api.ErrInsufficientBalance)
	rest := Exchange{From: "ob:sol", Amount: big.NewInt(4 * sol), Get: "ob:eth", To: payeeOn(Linea)(w)}
	_, err := w.TrySwap(rest)
	if e := Refused(t, err, api.ErrInsufficientBalance); !strings.Contains(e.Message,
		"1 SOL is pledged to quotes in execution; 0.00089088 SOL stays for rent") {
		t.Error(e.Message)
	}
	close(closed)
	Must(t, w.Settler.Idle(context.Background()))
	w.Swap(rest)
}

// TestTwoQuotesTogetherLeaveTheRent: each of them leaves enough alone, both together less than the rent, and the second
// is refused before anything of it lands.
func TestTwoQuotesTogetherLeaveTheRent(t *testing.T) {
	arrived, closed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	w := holderOfSOL(t, Options{Faults: &settle.Faults{Wait: func(_ context.Context, at settle.Moment, _ string) error {
		if at == settle.AtDeposit {
			once.Do(func() { close(arrived) })
			<-closed
		}
		return nil
	}}}, 5*sol)
	swap := func(v int64) *api.Document {
		return w.SignQuote(w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(v), Get: "ob:eth",
			To: payeeOn(Linea)(w)}))
	}
	first, dust, all, enough := swap(sol), swap(4*sol-1), swap(4*sol), swap(4*sol-890_880)
	Must(t, w.Execute(first))
	<-arrived
	for name, second := range map[string]*api.Document{"dust stays": dust, "nothing stays": all} {
		if e := Refused(t, w.Execute(second), api.ErrInsufficientBalance); !strings.Contains(e.Message,
			"890880 stays for rent") {
			t.Errorf("%s: %s", name, e.Message)
		}
	}
	Must(t, w.Execute(enough))
	close(closed)
	Must(t, w.Settler.Idle(context.Background()))
	if left := lamports(w); left.Int64() != 890_880 {
		t.Errorf("%s lamports stay", left)
	}
}

// TestAnEmptiedSolanaAccountGetsItsRefund: the account is gone when its money comes back.
func TestAnEmptiedSolanaAccountGetsItsRefund(t *testing.T) {
	w := holderOfSOL(t, Options{Faults: &settle.Faults{Revert: func(string) bool { return true }}}, 5*sol)
	sums := w.Sums(payee())
	doc := w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(5 * sol), Get: "ob:usdc", To: payeeOn(Base)(w)})
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusRefunded || lamports(w).Int64() != 5*sol {
		t.Errorf("%+v, %s lamports", s, lamports(w))
	}
	w.SameSums(sums, w.Sums(payee()))
	nothingHeld(t, w)
}

// TestARefundDoesNotDependOnWhatAnotherQuoteHasEmptied: less than the rent minimum comes back to an account that
// another quote has emptied since; the sponsor adds the rent.
func TestARefundDoesNotDependOnWhatAnotherQuoteHasEmptied(t *testing.T) {
	const small = 800_000
	var first string
	landed, emptied, closed := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w := holderOfSOL(t, Options{Faults: &settle.Faults{
		Revert: func(id string) bool { return id == first },
		Wait: func(_ context.Context, at settle.Moment, id string) error {
			switch {
			case at == settle.AtFill && id == first:
				close(landed)
				<-closed
			case at == settle.AtFill:
				close(emptied)
			}
			return nil
		},
	}}, 5*sol)
	sums := w.Sums(payee())
	swap := func(v int64) *api.Document {
		return w.SignQuote(w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(v), Get: "ob:usdc",
			To: payeeOn(Base)(w)}))
	}
	doc := swap(small)
	first = w.Decode(doc).ID
	Must(t, w.Execute(doc))
	<-landed
	second := swap(5*sol - small)
	Must(t, w.Execute(second))
	<-emptied
	if left := lamports(w); left.Sign() != 0 {
		t.Errorf("%s lamports stay", left)
	}
	close(closed)
	Must(t, w.Settler.Idle(context.Background()))
	if s := w.Status(first); s.Status != api.StatusRefunded || lamports(w).Uint64() != solana.RentMinimum(0) {
		t.Errorf("%+v, %s lamports", s, lamports(w))
	}
	if s := w.Status(w.Decode(second).ID); s.Status != api.StatusCompleted {
		t.Errorf("%+v", s)
	}
	w.SameSums(sums, w.Sums(payee()))
	nothingHeld(t, w)
}
