package settle_test

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	. "coffer/api/service/settle/settletest"
)

func payee() common.Address { return common.HexToAddress("0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0") }

const usdcPlain = 1_000_000 // one USDC

// crossChain gives the user 25 USDC on Base and more elsewhere, and asks for 250 on Base.
func crossChain(w *World) api.PrepareRequest {
	w.Fund(w.User.Address, w.Asset("usdc", Base), 25*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 120*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Polygon), 90*usdcPlain)
	w.Fund(w.User.Address, w.Asset("usdc", Optimism), 80*usdcPlain)
	return pay(w, Base, 250*usdcPlain)
}

// pay asks for a transfer of USDC to the payee.
func pay(w *World, chainID uint64, v int64) api.PrepareRequest {
	usdc := w.Asset("usdc", chainID)
	return w.Request(usdc, v, Transfer(usdc, payee(), v))
}

func number(t *testing.T, s string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no amount", s)
	}
	return v
}

// balances reads the user's balance of every asset.
func balances(w *World, of common.Address) map[caip.Asset]string {
	out := map[caip.Asset]string{}
	for _, a := range w.Assets {
		out[a] = w.Balance(of, a).String()
	}
	return out
}

func sameBalances(t *testing.T, before, after map[caip.Asset]string) {
	t.Helper()
	for a, v := range before {
		if after[a] != v {
			t.Errorf("%s: %s, expected %s", a, after[a], v)
		}
	}
}

func wantBalance(t *testing.T, w *World, of common.Address, a caip.Asset, want *big.Int) {
	t.Helper()
	if got := w.Balance(of, a); got.Cmp(want) != 0 {
		t.Errorf("%s holds %s of %s, expected %s", of, got, a, want)
	}
}

func TestCrossChainCallFromThreeChainsWithUndeployedAccountCompletes(t *testing.T) {
	w := New(t, Options{})
	doc := w.Quote(crossChain(w), "ob:usdc")
	q := w.Decode(doc)
	if len(q.OriginChainsOperations) != 3 {
		t.Fatalf("%d legs", len(q.OriginChainsOperations))
	}
	sums, solver := w.Sums(payee()), w.Installation.Pins.Solver
	had := balances(w, w.User.Address)
	solverHad := balances(w, solver)
	s := w.Settle(w.SignQuote(doc))
	if s.Status != api.StatusCompleted || s.FailReason != "" || len(s.OriginChainOperations) != 3 ||
		len(s.DestinationChainOperations) != 1 {
		t.Fatalf("status %+v", s)
	}
	wantBalance(t, w, payee(), w.Asset("usdc", Base), big.NewInt(250*usdcPlain))
	wantBalance(t, w, w.User.Address, w.Asset("usdc", Base), new(big.Int))
	gained := new(big.Int)
	for _, o := range q.OriginChainsOperations {
		a, err := caip.ParseAsset(o.AssetType)
		Must(t, err)
		wantBalance(t, w, w.User.Address, a, new(big.Int).Sub(number(t, had[a]), number(t, o.Amount)))
		wantBalance(t, w, solver, a, new(big.Int).Add(number(t, solverHad[a]), number(t, o.Amount)))
		wantBalance(t, w, w.Installation.Pins.Escrow, a, new(big.Int))
		gained.Add(gained, number(t, o.Amount))
		id, _ := a.Chain.EVMID()
		if w.Nonce(id, op.LaneFunding) != 1 || w.Nonce(id, op.LanePrepared) != 0 {
			t.Errorf("nonces on %d: prepared %d, funding %d", id, w.Nonce(id, op.LanePrepared),
				w.Nonce(id, op.LaneFunding))
		}
	}
	if w.Nonce(Base, op.LanePrepared) != 1 {
		t.Error("the prepared operation's nonce was not used")
	}
	spent := new(big.Int).Sub(number(t, solverHad[w.Asset("usdc", Base)]), w.Balance(solver, w.Asset("usdc", Base)))
	if spent.Cmp(big.NewInt(225*usdcPlain)) != 0 || gained.Cmp(spent) <= 0 {
		t.Errorf("the solver delivered %s and received %s", spent, gained)
	}
	w.SameSums(sums, w.Sums(payee()))
}

func TestSevenChainsFundOneCall(t *testing.T) {
	w := New(t, Options{})
	for i, id := range []uint64{Ethereum, Optimism, Polygon, Arbitrum, Avalanche} {
		w.Fund(w.User.Address, w.Asset("usdc", id), int64(30+i)*usdcPlain)
	}
	w.Fund(w.User.Address, w.Asset("usdc", Base), 5*usdcPlain)
	doc := w.Quote(pay(w, Base, 150*usdcPlain), "")
	if n := len(w.Decode(doc).OriginChainsOperations); n != 5 {
		t.Fatalf("%d legs", n)
	}
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	w2 := New(t, Options{})
	for _, id := range []uint64{Ethereum, Optimism, Polygon, Base, Arbitrum, Avalanche, Linea} {
		w2.FundBig(w2.User.Address, w2.Asset("weth", id), big.NewInt(1e16))
	}
	usdc := w2.Asset("usdc", Base)
	doc = w2.Quote(w2.Request(usdc, 180*usdcPlain, Transfer(usdc, payee(), 180*usdcPlain)), "ob:weth")
	if n := len(w2.Decode(doc).OriginChainsOperations); n != 7 {
		t.Fatalf("%d legs", n)
	}
	if s := w2.Settle(w2.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
}

func TestSameChainCallNeedsNoSolver(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdc", Base), 25*usdcPlain)
	prepared, err := w.Prepare(pay(w, Base, 10*usdcPlain))
	Must(t, err)
	doc, err := w.CallQuote(prepared, "ob:usdc")
	Must(t, err)
	had, _ := prepared.At("/chainOperation")
	got, _ := doc.At("/originChainsOperations/0")
	if string(had) != string(got) {
		t.Errorf("the operation came back changed:\n%s\n%s", had, got)
	}
	q := w.Decode(doc)
	if len(q.OriginChainsOperations) != 1 || q.Fees.CumulativeUSD != "0.00" || len(q.Fees.Assets) != 0 {
		t.Errorf("quote %+v", q)
	}
	sums := w.Sums(payee())
	s := w.Settle(w.SignQuote(doc))
	if s.Status != api.StatusCompleted || len(s.OriginChainOperations) != 1 || len(s.DestinationChainOperations) != 1 {
		t.Fatalf("status %+v", s)
	}
	wantBalance(t, w, payee(), w.Asset("usdc", Base), big.NewInt(10*usdcPlain))
	w.SameSums(sums, w.Sums(payee()))
}

func TestSameChainFundingRunsAfterThePreparedOperation(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdt", Arbitrum), 50*usdcPlain)
	prepared, err := w.Prepare(func() api.PrepareRequest {
		r := pay(w, Arbitrum, 20*usdcPlain)
		r.FromAssetID = "ob:usdt"
		return r
	}())
	Must(t, err)
	var p api.PrepareResponse
	Must(t, prepared.Decode(&p))
	if p.CallType != api.CallSameChainWithSolver {
		t.Fatalf("call type %s", p.CallType)
	}
	doc, err := w.CallQuote(prepared, "")
	Must(t, err)
	q := w.Decode(doc)
	if len(q.OriginChainsOperations) != 1 || q.OriginChainsOperations[0].UserOp.Factory != "" {
		t.Fatalf("a funding operation on the target chain must not deploy: %+v", q.OriginChainsOperations)
	}
	sums := w.Sums(payee())
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	wantBalance(t, w, payee(), w.Asset("usdc", Arbitrum), big.NewInt(20*usdcPlain))
	wantBalance(t, w, w.Installation.Pins.Escrow, w.Asset("usdt", Arbitrum), new(big.Int))
	w.SameSums(sums, w.Sums(payee()))
}

func TestAnotherAssetPays(t *testing.T) {
	for _, c := range []struct {
		from string
		fund func(*World)
	}{
		{"ob:eth", func(w *World) { w.FundBig(w.User.Address, w.Asset("eth", Linea), big.NewInt(3e17)) }},
		{"ob:usdt", func(w *World) { w.Fund(w.User.Address, w.Asset("usdt", Linea), 300*usdcPlain) }},
		{"eip155:42161/erc20:0x82af49447d8a07e3bd95bd0d56f35241523fbab1", func(w *World) {
			w.FundBig(w.User.Address, w.Asset("weth", Arbitrum), big.NewInt(3e17))
		}},
	} {
		t.Run(c.from, func(t *testing.T) {
			w := New(t, Options{})
			c.fund(w)
			r := pay(w, Base, 200*usdcPlain)
			r.FromAssetID = c.from
			doc := w.Quote(r, "")
			sums := w.Sums(payee())
			q := w.Decode(doc)
			if got := q.OriginToken.AggregatedAssetID; c.from[:3] != "ob:" && got != "ob:single" ||
				c.from[:3] == "ob:" && got != c.from {
				t.Errorf("origin token is named %s", got)
			}
			if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
				t.Fatalf("status %+v", s)
			}
			wantBalance(t, w, payee(), w.Asset("usdc", Base), big.NewInt(200*usdcPlain))
			w.SameSums(sums, w.Sums(payee()))
		})
	}
}

func TestSeveralRequirementsAreAllDelivered(t *testing.T) {
	w := New(t, Options{})
	w.Fund(w.User.Address, w.Asset("usdc", Arbitrum), 600*usdcPlain)
	usdc, dai := w.Asset("usdc", Base), w.Asset("dai", Base)
	hundred := new(big.Int).Mul(big.NewInt(100), big.NewInt(1e18))
	wei := big.NewInt(2e16)
	r := w.Request(usdc, 50*usdcPlain, Transfer(usdc, payee(), 50*usdcPlain))
	r.TokensRequired = append(r.TokensRequired,
		api.TokenRequirement{AssetType: dai.String(), Amount: hundred.String()},
		api.TokenRequirement{AssetType: caip.Native(Base).String(), Amount: wei.String()})
	token, _ := dai.Token()
	r.Calls = append(r.Calls,
		api.Call{To: token.Hex(), Data: "0x" + common.Bytes2Hex(transferData(payee(), hundred))},
		api.Call{To: payee().Hex(), Value: wei.String()})
	doc := w.Quote(r, "ob:usdc")
	if got := w.Decode(doc).DestinationToken.AssetType; got != dai.String() {
		t.Errorf("the quote names %s, but DAI is the largest missing amount", got)
	}
	sums := w.Sums(payee())
	if s := w.Settle(w.SignQuote(doc)); s.Status != api.StatusCompleted {
		t.Fatalf("status %+v", s)
	}
	wantBalance(t, w, payee(), usdc, big.NewInt(50*usdcPlain))
	wantBalance(t, w, payee(), dai, hundred)
	wantBalance(t, w, payee(), caip.Native(Base), wei)
	w.SameSums(sums, w.Sums(payee()))
}
