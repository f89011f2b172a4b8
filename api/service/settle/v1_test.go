package settle_test

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"sync"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	. "coffer/api/service/settle/settletest"
)

// settleV1 executes a signed v1 quote and waits for its end.
func settleV1(w *World, signed *api.Document) api.ExecutionStatus {
	w.TB.Helper()
	Must(w.TB, w.ExecuteV1(signed))
	Must(w.TB, w.Settler.Idle(context.Background()))
	return w.Status(w.Decode(signed).ID)
}

func TestV1QuotesOfEveryKindSettleAtTheV1Endpoint(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased,
		"role-based without its type"} {
		for name, ask := range map[string]func(w *World) *api.Document{
			"funded call": func(w *World) *api.Document { return w.QuoteV1(pay(w, Base, 200*usdcPlain), "ob:usdc") },
			"whole call":  func(w *World) *api.Document { return w.QuoteV1(pay(w, Arbitrum, 20*usdcPlain), "") },
			"transfer": func(w *World) *api.Document {
				return w.SwapV1(Exchange{From: "ob:usdc", Amount: big.NewInt(200 * usdcPlain), Get: "ob:usdc",
					To: payeeOn(Base)(w)})
			},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				w := New(t, Options{})
				known, untyped := strings.CutSuffix(kind, " without its type")
				w.User = w.AddUser(known, 7)
				stock(w, w.User)
				if untyped {
					w.User.Account.Type = ""
				}
				sums := w.Sums(payee())
				signed := w.SignQuote(ask(w))
				Refused(t, w.Execute(signed), api.ErrValidation) // the v3 endpoint wants accounts
				if s := settleV1(w, signed); s.Status != api.StatusCompleted {
					t.Fatalf("status %+v", s)
				}
				Refused(t, w.ExecuteV1(signed), api.ErrAlreadyExecuted)
				w.SameSums(sums, w.Sums(payee()))
				nothingHeld(t, w)
			})
		}
	}
}

func TestV3QuoteIsRefusedAtTheV1Endpoint(t *testing.T) {
	w := New(t, Options{})
	signed := w.SignQuote(w.Quote(crossChain(w), ""))
	e := Refused(t, w.ExecuteV1(signed), api.ErrValidation)
	if !strings.Contains(e.Message, `"account"`) {
		t.Errorf("message %q", e.Message)
	}
	untouched(t, w, w.Decode(signed).ID)
}

func TestDestinationOperationOfAV1QuoteIsEmptyOrValidlySigned(t *testing.T) {
	const at = "/destinationChainOperation"
	for _, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		t.Run(kind, func(t *testing.T) {
			w := New(t, Options{})
			w.User = w.AddUser(kind, 7)
			stock(w, w.User)
			signed := w.SignQuote(w.QuoteV1(pay(w, Base, 200*usdcPlain), "ob:usdc"))
			raw, ok := signed.At(at + "/userOp/signature")
			if !ok || string(raw) != `"0x"` {
				t.Fatalf("the destination operation carries the signature %s", raw)
			}
			stranger := *w.User
			stranger.Key = Key(99)
			e := Refused(t, w.ExecuteV1(w.SignOperationAs(&stranger, signed, at)), api.ErrInvalidSignature)
			if !strings.Contains(e.Message, "destinationChainOperation") {
				t.Errorf("message %q", e.Message)
			}
			changed, err := signed.Splice(api.Edit{Pointer: at + "/userOp/nonce", Value: []byte(`"1"`)})
			Must(t, err)
			Refused(t, w.ExecuteV1(changed), api.ErrTamperProof)
			untouched(t, w, w.Decode(signed).ID)
			if s := settleV1(w, w.SignOperationAs(w.User, signed, at)); s.Status != api.StatusCompleted {
				t.Fatalf("status %+v", s)
			}
		})
	}
}

func TestASwapDeliversWhatThePriceGivesBetweenQuoteAndMinimum(t *testing.T) {
	for _, c := range []struct {
		name   string
		eth    int64 // price at the fill, micro-USD
		status string
	}{
		{"unchanged", 2_000_000_000, api.StatusCompleted},
		{"dearer within the tolerance", 2_030_000_000, api.StatusCompleted},
		{"cheaper", 1_900_000_000, api.StatusCompleted},
		{"dearer beyond the tolerance", 2_050_000_000, api.StatusRefunded},
	} {
		t.Run(c.name, func(t *testing.T) {
			prices := &jumpy{}
			prices.eth.Store(2_000_000_000)
			w := New(t, Options{Prices: prices})
			w.User = w.AddUser(api.AccountKernelV31, 7)
			stock(w, w.User)
			doc := w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(200 * usdcPlain),
				Get: caip.Native(Base).String()})
			q := w.Decode(doc)
			quoted, least := number(t, q.DestinationToken.Amount), number(t, q.DestinationToken.MinimumAmount)
			prices.eth.Store(c.eth)
			sums, had := w.Sums(), holdings(w, w.User)
			s := w.Settle(w.SignQuote(doc))
			if s.Status != c.status {
				t.Fatalf("status %+v", s)
			}
			w.SameSums(sums, w.Sums())
			got := w.Balance(w.User.Address, caip.Native(Base))
			if c.status == api.StatusRefunded {
				same(t, had, holdings(w, w.User))
				if s.FailReason != "SLIPPAGE" {
					t.Errorf("failReason %s", s.FailReason)
				}
				return
			}
			want := zero().Quo(zero().Mul(quoted, bigOf(2_000_000_000)), bigOf(max(c.eth, 2_000_000_000)))
			if got.Cmp(want) != 0 || got.Cmp(least) < 0 {
				t.Errorf("%s arrived, expected %s, at least %s of %s", got, want, least, quoted)
			}
			page, err := w.Book.History(context.Background(), query(w))
			Must(t, err)
			if h := page.Transactions[0]; h.DestinationToken.Amount != got.String() || h.Type != api.RecordSwap {
				t.Errorf("history shows %+v", h.DestinationToken)
			}
		})
	}
}

func TestPledgedSolanaFundsAreNotAvailableToAnotherQuote(t *testing.T) {
	steps := make(chan string, 20)
	w := New(t, Options{Faults: faultsFrom(t, "slow-deposit=1h"), AfterStep: func(s string) { steps <- s }})
	w.User = w.AddUser(api.AccountSolana, 7)
	stock(w, w.User)
	ask := Exchange{From: usdcOnSolana, Amount: big.NewInt(60 * usdcPlain), Get: "ob:usdc", To: payeeOn(Base)(w)}
	first, second := w.SignQuote(w.Swap(ask)), w.SignQuote(w.Swap(ask))
	Must(t, w.Execute(first))
	<-steps
	e := Refused(t, w.Execute(second), api.ErrInsufficientBalance)
	if !strings.Contains(e.Message, "60000000 is pledged") {
		t.Errorf("message %q", e.Message)
	}
	untouched(t, w, w.Decode(second).ID)
	_, err := w.TrySwap(ask)
	Refused(t, err, api.ErrInsufficientBalance)
}

func TestARecipientThatTakesNothingIsRefusedAtExecuteAndRefundedLater(t *testing.T) {
	var recipient *User
	closed := func(w *World) { // the recipient's EOA runs code now that takes no coins
		payer := w.User
		w.User = recipient
		w.Delegate(Base, w.Installation.Pins.Escrow.Hex())
		w.User = payer
	}
	ask := func(w *World) *api.Document {
		recipient = NewUserOf(w.Installation.Pins, api.AccountKernelV33, 55)
		return w.SignQuote(w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(100 * usdcPlain),
			Get: caip.Native(Base).String(), To: recipient.On(Base)}))
	}
	w := kindWorld(t, api.AccountKernelV31, nil)
	signed := ask(w)
	closed(w)
	e := Refused(t, w.Execute(signed), api.ErrSimulationFailed)
	if !strings.Contains(e.Message, "recipient") {
		t.Errorf("message %q", e.Message)
	}
	untouched(t, w, w.Decode(signed).ID)
	w = kindWorld(t, api.AccountKernelV31, func(w *World, step string) {
		if step == "accepted" {
			closed(w)
		}
	})
	refunded(t, w, ask(w), api.StatusRefunded, "TRANSFER_FAILED")
}

func TestOfSixteenExecutesOfAQuoteAndItsSiblingsEachMoneyMovesOnce(t *testing.T) {
	const kind = api.AccountKernelV33 + WithSolana
	for name, ask := range map[string]func(w *World) *api.Document{
		"calls": func(w *World) *api.Document { return w.Quote(pay(w, Base, 250*usdcPlain), "ob:usdc") },
		"swaps": func(w *World) *api.Document {
			return w.Swap(Exchange{From: "ob:usdc", Amount: big.NewInt(250 * usdcPlain), Get: "ob:usdc",
				To: payeeOn(Base)(w)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := New(t, Options{})
			w.User = w.AddUser(kind, 7)
			stock(w, w.User)
			siblings := []*api.Document{w.SignQuote(ask(w)), w.SignQuote(ask(w)), w.SignQuote(ask(w))}
			sums := w.Sums(payee())
			var mu sync.Mutex
			outcomes := map[string]int{}
			var group sync.WaitGroup
			for i := range 16 * len(siblings) {
				group.Go(func() {
					err := w.Execute(siblings[i%len(siblings)])
					name := "accepted"
					var e *api.Error
					if errors.As(err, &e) {
						name = e.Name
					} else if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					outcomes[name]++
				})
			}
			group.Wait()
			Must(t, w.Settler.Idle(context.Background()))
			if outcomes["accepted"] != 1 {
				t.Errorf("%v", outcomes)
			}
			completed := zero()
			for _, doc := range siblings {
				if s := w.Status(w.Decode(doc).ID); s.Status == api.StatusCompleted {
					completed.Add(completed, number(t, w.Decode(doc).DestinationToken.Amount))
				} else if s.Status != "" {
					t.Errorf("status %+v", s)
				}
			}
			wantBalance(t, w, payee(), w.Asset("usdc", Base), completed)
			w.SameSums(sums, w.Sums(payee()))
			nothingHeld(t, w)
		})
	}
}

func TestServiceKeysPayNoOtherFeesThanTheChainsAsk(t *testing.T) {
	w := New(t, Options{})
	w.User = w.AddUser(api.AccountSolana, 7)
	stock(w, w.User)
	sponsor := w.Installation.Sponsor.Key()
	before := w.SolanaBalance(sponsor, w.Asset("sol", Solana))
	doc := w.Swap(Exchange{From: "ob:sol", Amount: big.NewInt(sol), Get: usdcOnSolana})
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	// fill, deposit and release carry two signatures each
	if paid := before.Sub(before, w.SolanaBalance(sponsor, w.Asset("sol", Solana))); paid.Int64() != 3*2*5000 {
		t.Errorf("the sponsor paid %s lamports", paid)
	}
}
