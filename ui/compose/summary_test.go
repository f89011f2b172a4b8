package compose

import (
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/wallet/intent"
)

// rich is a world with 25 USDC on Base and 1,500 and 750 elsewhere.
func rich(t *testing.T) (w *World, usdc func(chain uint64) caip.Asset) {
	t.Helper()
	w = world(t)
	usdc = func(chain uint64) caip.Asset {
		e, ok := w.AssetOn(caip.EVM(chain), "USDC")
		if !ok {
			t.Fatal(chain)
		}
		return e.Asset
	}
	w.Money = Money{Known: true, Held: map[caip.Asset]*big.Int{usdc(8453): big.NewInt(25_000_000),
		usdc(10): big.NewInt(750_000_000), usdc(42161): big.NewInt(1_500_000_000)}}
	return w, usdc
}

// TestD12_ASummaryOfCallsSaysWhatIsMissingAndWhoGetsIt: the headline has the words of the review.
func TestD12_ASummaryOfCallsSaysWhatIsMissingAndWhoGetsIt(t *testing.T) {
	w, usdc := rich(t)
	w.Book = []Contact{{Name: "Demo payee", Address: "0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6"}}
	b := w.NewCalls(caip.EVM(8453))
	b.Calls[0].Pay(usdc(8453), w.Book[0].Address, "1600.5")
	s := w.Summary(b)
	if want := "Send 1,600.50 USDC to Demo payee on Base."; s.Headline != want || s.Open != 0 {
		t.Errorf("%q with %d open, not %q", s.Headline, s.Open, want)
	}
	l := s.Leaves[0]
	if len(s.Leaves) != 1 || l.There.Int64() != 25_000_000 || l.Missing.Int64() != 1_575_500_000 || l.Short() {
		t.Errorf("%+v", s.Leaves)
	}
	var chains []string
	for _, h := range l.Held {
		chains = append(chains, h.ChainName)
	}
	if !reflect.DeepEqual(chains, []string{"Arbitrum One", "Optimism"}) || l.Total.Int64() != 2_250_000_000 {
		t.Errorf("%v hold %v", chains, l.Total)
	}
	if a := s.Arrives; len(a) != 1 || a[0].To != w.Book[0].Address || a[0].Amount.Int64() != 1_600_500_000 {
		t.Errorf("%+v", a)
	}
	b.Calls[0].Args[1].Text = "2275.000001"
	if s = w.Summary(b); !s.Leaves[0].Short() {
		t.Error("a millionth more than everything is not missed")
	}
	w.Money = Money{}
	if l = w.Summary(b).Leaves[0]; l.There != nil || l.Missing != nil || l.Total != nil || l.Short() {
		t.Errorf("unknown balances are judged: %+v", l)
	}
	b.Add(0)
	if s = w.Summary(b); s.Headline != "" || s.Open == 0 || len(s.Calls) != 2 {
		t.Errorf("an unfinished call has the headline %q", s.Headline)
	}
	b.Calls[1].To, b.Calls[1].Raw, b.Calls[1].Data = "0x0AD63E341d6cA640c84993e15051febf742E1feF", true, "0x12345678"
	if s = w.Summary(b); s.Headline != "Run 2 calls on Base; 1 of them cannot be decoded." {
		t.Errorf("%q", s.Headline)
	}
}

func TestD12_ASummaryOfATransferAndASwapSaysWhatIsKnownBeforeTheQuote(t *testing.T) {
	w, usdc := rich(t)
	x := NewExchange(intent.KindTransfer)
	x.Pay, x.Amount, x.Receive = "ob:usdc", "250.5", usdc(8453).String()
	x.To = "0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6"
	s := w.Summary(x)
	if want := "Send 250.50 USDC, less the fees, to Demo payee on Base."; s.Headline != want {
		t.Errorf("%q, not %q", s.Headline, want)
	}
	if l := s.Leaves[0]; len(l.Held) != 3 || l.Short() || !s.Arrives[0].LessFees {
		t.Errorf("%+v", s)
	}
	x = NewExchange(intent.KindSwap)
	eth, _ := w.AssetOn(caip.EVM(8453), "ETH")
	x.Pay, x.Amount, x.Receive = "ob:usdc", "3000", eth.Asset.String()
	s = w.Summary(x)
	if s.Headline != "Swap 3,000.00 USDC for ETH on Base." || !s.Leaves[0].Short() || !s.Arrives[0].About {
		t.Errorf("%+v", s)
	}
	x.Minimum = "0.9"
	if s = w.Summary(x); s.Headline != "Swap 3,000.00 USDC for at least 0.90 ETH on Base." || !s.Arrives[1].AtLeast {
		t.Errorf("%q, %+v", s.Headline, s.Arrives)
	}
	x.Amount = ""
	if s = w.Summary(x); s.Headline != "" || s.Open != 1 || len(s.Leaves) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestD11_AnExactAmountIsDeliveredByACall: the recipient gets the amount itself, what is held on the chain of arrival
// pays first, and where no call can deliver it the form says so.
func TestD11_AnExactAmountIsDeliveredByACall(t *testing.T) {
	w, usdc := rich(t)
	x := NewExchange(intent.KindTransfer)
	x.Pay, x.Amount, x.Receive, x.Exactly = "ob:usdc", "20 usdc", usdc(8453).String(), true
	x.To = "0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6"
	if wrong := w.Mistakes(x, true); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	b := w.NewCalls(caip.EVM(8453))
	b.Calls[0].Pay(usdc(8453), x.To, "20")
	got, want := x.Draft(w), b.Draft(w)
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got.TokensRequired) != 1 ||
		got.TokensRequired[0].Amount != "20000000" {
		t.Errorf("%+v, not %+v", got, want)
	}
	if s := w.Summary(x); s.Headline != "Send 20.00 USDC to Demo payee on Base." {
		t.Errorf("%q", s.Headline)
	}
	if x.Pay = usdc(10).String(); x.Draft(w).FundWith != x.Pay {
		t.Error("another chain was chosen to pay, and any may")
	}
	if x.Pay = usdc(8453).String(); x.Draft(w).FundWith != "" {
		t.Error("what is there pays for what is missing there")
	}
	eth, _ := w.AssetOn(caip.EVM(8453), "ETH")
	x.Pay, x.Receive, x.Amount = eth.Aggregate.String(), eth.Asset.String(), "0.01"
	if d := x.Draft(w); d.Calls[0].Value != "10000000000000000" || d.Calls[0].Data != "" && d.Calls[0].Data != "0x" {
		t.Errorf("%+v", d.Calls)
	}
	solana, _ := w.Chain("solana")
	sol, _ := w.AssetOn(solana, "USDC")
	x.Pay, x.Receive, x.Amount = "ob:usdc", sol.Asset.String(), "1"
	x.To = "9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM"
	if wrong := w.Mistakes(x, true)[IDExact]; !strings.Contains(wrong, "EVM chains only") {
		t.Errorf("%q", wrong)
	}
	x.What = intent.KindSwap
	if w.Mistakes(x, true)[IDExact] == "" {
		t.Error("a swap cannot deliver an exact amount")
	}
}

// On own nodes a transfer is the call that pays on the chain of arrival; what takes a solver is refused by its name.
func TestOnOwnNodesATransferIsACallOnItsChain(t *testing.T) {
	w, usdc := rich(t)
	w.OwnNodes = true
	x := NewExchange(intent.KindTransfer)
	x.Pay, x.Amount, x.Receive = "ob:usdc", "20", usdc(8453).String()
	x.To = "0x00C071dB63c5c4bD094C6cc715fd1D622D6Fd5a6"
	if wrong := w.Mistakes(x, true); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	d := x.Draft(w)
	if d.Exchanges() || len(d.Calls) != 1 || d.FundWith != "" || len(d.TokensRequired) != 1 ||
		d.TokensRequired[0].Amount != "20000000" {
		t.Errorf("%+v", d)
	}
	if s := w.Summary(x); s.Headline != "Send 20.00 USDC to Demo payee on Base." {
		t.Errorf("%q", s.Headline)
	}
	x.Pay = usdc(10).String()
	if wrong := w.Mistakes(x, true)[IDPay]; wrong != NoSolver+": pay with what you have on Base, or use an operator" {
		t.Errorf("%q", wrong)
	}
	if x.Pay = usdc(8453).String(); len(w.Mistakes(x, true)) > 0 {
		t.Errorf("%v", w.Mistakes(x, true))
	}
	x.What, x.Receive, x.At = intent.KindSwap, "ob:eth", caip.EVM(8453)
	if wrong := w.Mistakes(x, true)[IDPay]; !strings.HasPrefix(wrong, NoSolver) {
		t.Errorf("%q", wrong)
	}
	if w.OwnNodes = false; len(w.Mistakes(x, true)) > 0 {
		t.Errorf("%v", w.Mistakes(x, true))
	}
}
