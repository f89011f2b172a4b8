package quote_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/op/escrow"
	"coffer/api/service/quote"
	"coffer/api/service/quote/entrypoint"
	. "coffer/api/service/settle/settletest"
)

func TestWhatCannotBeCoveredIsRefusedAtPrepare(t *testing.T) {
	w := funded(t)
	w.FundBig(w.User.Address, w.Asset("eth", Linea), big.NewInt(1e18))
	r := pay(w, Base, 2000*usdcPlain)
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrInsufficientBalance)
	if !strings.Contains(e.Message, "needed 2001.") || !strings.Contains(e.Message, "available 235 USDC") {
		t.Error(e.Message)
	}
	doc, err := w.Quoter.PrepareV1(context.Background(), w.Encode(v1(r))) // v1 names the paying asset later
	Must(t, err)
	var p api.PrepareResponseV1
	Must(t, doc.Decode(&p))
	if p.CallType != api.CallCrossChainSwaps {
		t.Error(p.CallType)
	}
	_, err = quoteV1(w, doc, "ob:usdc")
	Refused(t, err, api.ErrInsufficientBalance)
	_, err = quoteV1(w, doc, "ob:eth")
	Must(t, err)
}

func TestFundingOperationsPayIntoTheEscrow(t *testing.T) {
	w := funded(t)
	w.FundBig(w.User.Address, caip.Native(Linea), big.NewInt(1e18))
	for _, from := range []string{"ob:usdc", "ob:eth"} {
		r := pay(w, Base, 200*usdcPlain)
		r.FromAssetID = from
		_, doc := prepared(t, w, r)
		quoted, err := w.CallQuote(doc, from)
		Must(t, err)
		q := w.Decode(quoted)
		sum := new(big.Int)
		for _, o := range q.OriginChainsOperations {
			calls := callsOf(t, o)
			u := userOp(t, o)
			n, err := op.ParseNonce(u.Nonce)
			Must(t, err)
			last := calls[len(calls)-1]
			d, terms, ok := escrow.DecodeDeposit(last.Data)
			if !ok || last.To != w.Installation.Pins.Escrow || d.Amount.String() != o.Amount ||
				common.Hash(d.QuoteID).Hex() != q.ID || n.Key != op.LaneFunding {
				t.Fatalf("%s: deposit %+v", from, d)
			}
			kept := record(w, q.ID)
			if !bytes.Equal(kept.Terms().Encode(), terms.Encode()) || terms.TargetChain != Base ||
				len(terms.Operations) != 1 || terms.Operations[0] != kept.OpHash || len(terms.Minimums) != 1 ||
				terms.Minimums[0].To != escrow.Padded(w.User.Address) || terms.FillDeadline >= d.RefundDeadline {
				t.Errorf("%s: terms %+v", from, terms)
			}
			asset, err := caip.ParseAsset(o.AssetType)
			Must(t, err)
			if token, isToken := asset.Token(); isToken {
				spender, v, ok := erc20.DecodeApprove(calls[0].Data)
				if len(calls) != 2 || !ok || calls[0].To != token || d.Token != token || spender != last.To ||
					v.Cmp(d.Amount) != 0 || last.Value.Sign() != 0 {
					t.Errorf("%s: calls %+v", from, calls)
				}
			} else if len(calls) != 1 || last.Value.Cmp(d.Amount) != 0 || d.Token != (common.Address{}) {
				t.Errorf("%s: calls %+v", from, calls)
			}
			if d.RefundDeadline <= Start {
				t.Errorf("refund deadline %d", d.RefundDeadline)
			}
			sum.Add(sum, d.Amount)
		}
		if sum.String() != q.OriginToken.Amount {
			t.Errorf("%s: deposits %s, origin token %s", from, sum, q.OriginToken.Amount)
		}
	}
}

func TestQuoteTermsFollowTheProtocol(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	quoted, err := w.CallQuote(doc, "ob:usdc")
	Must(t, err)
	q := w.Decode(quoted)
	fees := new(big.Int)
	for asset, fee := range q.Fees.Assets {
		if !slices.Contains(q.OriginToken.AssetType, asset) {
			t.Errorf("a fee in %s", asset)
		}
		v, _ := new(big.Int).SetString(fee, 10)
		fees.Add(fees, v)
	}
	paid, _ := new(big.Int).SetString(q.OriginToken.Amount, 10)
	if new(big.Int).Sub(paid, fees).Int64() != 175*usdcPlain {
		t.Errorf("paid %s − fees %s is not what is delivered", paid, fees)
	}
	if fees.Int64()*100 > paid.Int64() {
		t.Errorf("the fees are %s of %s: over one percent", fees, paid)
	}
	d := q.DestinationToken
	if d.Amount != "200000000" || d.MinimumAmount != d.Amount ||
		d.RecipientAccount != "eip155:8453:"+w.User.Address.Hex() || d.Symbol != "USDC" || *d.Decimals != 6 {
		t.Errorf("%+v", d)
	}
	if q.Slippage.Destination != (api.SlippageSide{Percent: "0", USD: "0.00", Value: "0"}) ||
		q.Slippage.Origin.Percent != "2" {
		t.Errorf("%+v", q.Slippage)
	}
	if q.ExpirationTimestamp != "1760000030" {
		t.Error(q.ExpirationTimestamp)
	}
}

func TestSlippageOfCallQuoteWins(t *testing.T) {
	w := funded(t)
	r := pay(w, Base, 200*usdcPlain)
	r.SlippageTolerance = 100
	_, doc := prepared(t, w, r)
	quoted, err := w.CallQuote(doc, "")
	Must(t, err)
	if got := w.Decode(quoted).Slippage.Origin.Percent; got != "1" {
		t.Errorf("prepare's tolerance became %s", got)
	}
	body := w.CallQuoteBody(doc, "", w.User.Key)
	body, err = body.Splice(api.Edit{Pointer: "/slippageTolerance", Value: []byte("50")})
	Must(t, err)
	quoted, err = w.Quoter.CallQuote(context.Background(), body)
	Must(t, err)
	if got := w.Decode(quoted).Slippage.Origin.Percent; got != "0.5" {
		t.Errorf("call-quote's tolerance became %s", got)
	}
}

func TestWrongSignerIsRefusedAtCallQuote(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	_, err := w.Quoter.CallQuote(context.Background(), w.CallQuoteBody(doc, "", Key(99)))
	Refused(t, err, api.ErrInvalidSignature)
	body := w.CallQuoteBody(doc, "", w.User.Key)
	broken, err := body.Splice(api.Edit{Pointer: "/chainOperation/userOp/signature", Value: []byte(`"0x1234"`)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), broken)
	Refused(t, err, api.ErrInvalidSignature)
}

func TestPlainHashSignatureIsAcceptedAsOnChain(t *testing.T) {
	w := funded(t)
	p, doc := prepared(t, w, pay(w, Base, 20*usdcPlain))
	hash, err := userOp(t, p.ChainOperation).Hash(w.Installation.Pins.EntryPoint, big.NewInt(Base))
	Must(t, err)
	sig, err := crypto.Sign(hash[:], w.User.Key)
	Must(t, err)
	sig[64] += 27
	body, err := w.CallQuoteBody(doc, "", w.User.Key).Splice(api.Edit{Pointer: "/chainOperation/userOp/signature",
		Value: []byte(`"0x` + hex.EncodeToString(sig) + `"`)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), body)
	Must(t, err)
}

func TestEveryChangedLeafOfAPreparedOperationIsTamperProof(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	body := w.CallQuoteBody(doc, "", w.User.Key)
	rules := api.Rules{Catalog: w.Installation.Catalog, Now: w.Clock.Now()}
	leaves, broken := 0, 0
	body.Leaves(func(pointer string, value []byte) {
		if pointer == "/chainOperation/userOp/signature" {
			return
		}
		leaves++
		var v any
		Must(t, json.Unmarshal(value, &v))
		changed := []byte(`"0x00"`)
		if n, is := v.(float64); is {
			changed, _ = json.Marshal(n + 1)
		} else if s := v.(string); len(s) > 2 {
			last := "0"
			if s[len(s)-1] == '0' {
				last = "1"
			}
			changed, _ = json.Marshal(s[:len(s)-1] + last)
		}
		other, err := body.Splice(api.Edit{Pointer: pointer, Value: changed})
		Must(t, err)
		want := api.ErrTamperProof
		if len(rules.CallQuote(other)) > 0 { // it breaks its described form
			want = api.ErrValidation
			broken++
		}
		_, err = w.Quoter.CallQuote(context.Background(), other)
		Refused(t, err, want)
	})
	if leaves-broken < 20 {
		t.Errorf("only %d leaves", leaves)
	}
}

func TestAccountsArePartOfThePreparedTagAsParsedValues(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	body := w.CallQuoteBody(doc, "", w.User.Key)
	account := `[{"accountAddress":"` + strings.ToLower(w.User.Account.AccountAddress) +
		`","deploymentType":"ERC4337","signerAddress":"` +
		strings.ToLower(w.User.Account.SignerAddress) + `","type":"kernel-v3.1-ecdsa"}]`
	same, err := body.Splice(api.Edit{Pointer: "/accounts", Value: []byte(account)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), same)
	Must(t, err)
}

func TestUnknownOrEndedOperationMeansPrepareAgain(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	w.Clock.Advance(599 * time.Second)
	_, err := w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain)
	w.Clock.Advance(time.Hour)
	_, err = w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain)
}

func TestChangedAccountMeansPrepareAgain(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 200*usdcPlain))
	w.RunDirect(Base, 7, true, op.Call{To: payee(), Value: new(big.Int)})
	_, err := w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain) // deployed meanwhile
	_, doc = prepared(t, w, pay(w, Base, 200*usdcPlain))
	w.RunDirect(Base, op.LanePrepared, false, op.Call{To: payee(), Value: new(big.Int)})
	_, err = w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain) // nonce used meanwhile
}

func TestConsentToAWholeCallIsNeverTurnedIntoAFundedOneOrBack(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 100*usdcPlain))
	w.Fund(w.User.Address, w.Asset("usdc", Base), 500*usdcPlain)
	_, err := w.CallQuote(doc, "")
	Refused(t, err, api.ErrPrepareAgain)
}

func TestOnePreparedPairMayBeQuotedAgain(t *testing.T) {
	w := funded(t)
	w.FundBig(w.User.Address, caip.Native(Linea), big.NewInt(1e18))
	_, doc := prepared(t, w, pay(w, Base, 100*usdcPlain))
	first, err := w.CallQuote(doc, "")
	Must(t, err)
	w.Clock.Advance(time.Minute)
	second, err := w.CallQuote(doc, "ob:eth")
	Must(t, err)
	if w.Decode(first).ID == w.Decode(second).ID {
		t.Error("two quotes have one id")
	}
	if s := w.Settle(w.SignQuote(second)); s.Status != api.StatusCompleted {
		t.Errorf("%+v", s)
	}
}

func TestRequestsThatDifferOnlyInRequirementsGetDifferentOperations(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 30*usdcPlain, Transfer(usdc, payee(), 20*usdcPlain))
	first, a := prepared(t, w, r)
	same, _ := prepared(t, w, r)
	r.TokensRequired[0].Amount = "31000000"
	second, _ := prepared(t, w, r)
	if *same.ChainOperation.UserOp != *first.ChainOperation.UserOp {
		t.Error("the same request in the same second gave another operation")
	}
	if *second.ChainOperation.UserOp == *first.ChainOperation.UserOp {
		t.Error("two contexts share one operation")
	}
	quoted, err := w.CallQuote(a, "")
	Must(t, err)
	if got := w.Decode(quoted).DestinationToken.Amount; got != "30000000" {
		t.Errorf("the first operation was quoted for %s", got)
	}
}

// The hash does not tell the slippage of requests apart. However many such requests there are, each finds an operation
// of its own without walking past those of the others, and asking again gives the same one.
func TestManyRequestsOfOneOperationDoNotQueueUpForAHash(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 30*usdcPlain, Transfer(usdc, payee(), 20*usdcPlain))
	gas := func(slippage int) int64 {
		r.SlippageTolerance = slippage
		a, _ := prepared(t, w, r)
		n, err := strconv.ParseInt(a.ChainOperation.UserOp.CallGasLimit, 10, 64)
		Must(t, err)
		return n
	}
	first, seen := gas(1), map[int64]int{}
	for slippage := 1; slippage <= 120; slippage++ {
		n := gas(slippage)
		if other := seen[n]; other != 0 {
			t.Fatalf("slippage %d and %d share an operation", other, slippage)
		}
		seen[n] = slippage
		if n < first || n >= first+1<<16 {
			t.Fatalf("slippage %d: call gas %d, of the first %d", slippage, n, first)
		}
	}
	near := 0
	for n := range seen {
		if n < first+1000 {
			near++
		}
	}
	if near > 20 {
		t.Errorf("%d of %d operations lie side by side: the next one has to walk past them", near, len(seen))
	}
	for n, slippage := range seen {
		if again := gas(slippage); again != n {
			t.Errorf("slippage %d: asked again it gives call gas %d after %d", slippage, again, n)
		}
	}
}

// Slots are a set: in whatever order they are written, here or by the sender, the same request finds the operation that
// it has.
func TestTheSameOverridesGiveTheSameOperation(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 30*usdcPlain, Transfer(usdc, payee(), 20*usdcPlain))
	slots := map[string]string{}
	for i := range 12 {
		slots[common.BigToHash(big.NewInt(int64(i+1))).Hex()] = common.BigToHash(big.NewInt(7)).Hex()
	}
	r.Overrides = []api.StateOverride{{Address: common.BigToAddress(big.NewInt(0xdead)).Hex(), StateDiff: slots}}
	for _, slippage := range []int{0, 77} { // the second finds the hash of the first taken
		r.SlippageTolerance = slippage
		first, _ := prepared(t, w, r)
		for range 8 {
			if again, _ := prepared(t, w, r); *again.ChainOperation.UserOp != *first.ChainOperation.UserOp {
				t.Fatalf("slippage %d: asked again it gives another operation", slippage)
			}
		}
	}
}

func TestBothPayingAssetsAreOneTooMany(t *testing.T) {
	w := funded(t)
	_, doc := prepared(t, w, pay(w, Base, 100*usdcPlain))
	body, err := w.CallQuoteBody(doc, "ob:usdc", w.User.Key).Splice(api.Edit{Pointer: "/fromAssetId",
		Value: []byte(`"eip155:42161/slip44:60"`)})
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), body)
	Refused(t, err, api.ErrValidation)
}

func TestNoRouteFault(t *testing.T) {
	w := funded(t)
	q := quote.New(func() quote.Deps {
		d := w.Quoter.Deps
		d.NoRoute = func() bool { return true }
		return d
	}())
	_, err := q.Prepare(context.Background(), w.Encode(pay(w, Base, 100*usdcPlain)))
	Refused(t, err, api.ErrNoRoute)
}

func TestMoreThanTheSolverHoldsIsNoRoute(t *testing.T) {
	w := New(t, Options{})
	huge := new(big.Int).Mul(big.NewInt(190_000_000), big.NewInt(usdcPlain))
	for _, id := range []uint64{Arbitrum, Polygon, Optimism} {
		w.FundBig(w.User.Address, w.Asset("usdc", id), huge)
	}
	_, err := w.Prepare(pay(w, Base, 450_000_000*usdcPlain))
	Refused(t, err, api.ErrNoRoute)
}

func TestWhatTheCallsSpendUndeclaredIsNoSource(t *testing.T) {
	w := New(t, Options{})
	w.FundBig(w.User.Address, caip.Native(Base), big.NewInt(5e16))
	usdc := w.Asset("usdc", Base)
	r := w.Request(usdc, 100*usdcPlain, Transfer(usdc, payee(), 100*usdcPlain),
		api.Call{To: payee().Hex(), Value: "30000000000000000"})
	r.FromAssetID = "ob:eth" // 0.05 are there, 0.03 leave with the calls, about 0.033 would be needed
	_, err := w.Prepare(r)
	e := Refused(t, err, api.ErrInsufficientBalance)
	if !strings.Contains(e.Message, "available 0.02 ETH") {
		t.Error(e.Message)
	}
	w.FundBig(w.User.Address, caip.Native(Base), big.NewInt(3e16))
	_, doc := prepared(t, w, r)
	quoted, err := w.CallQuote(doc, "")
	Must(t, err)
	if s := w.Settle(w.SignQuote(quoted)); s.Status != api.StatusCompleted {
		t.Errorf("%+v", s)
	}
}

func TestAssetOfAnotherKindOfChainHasNoRoute(t *testing.T) {
	w := funded(t)
	r := pay(w, Base, 100*usdcPlain)
	r.FromAssetID = "ob:sol"
	_, err := w.Prepare(r)
	Refused(t, err, api.ErrNoRoute)
	r = pay(w, Base, 10*usdcPlain) // nothing is missing, so nothing has to pay
	r.FromAssetID = "ob:sol"
	_, doc := prepared(t, w, r)
	_, err = w.CallQuote(doc, "ob:sol")
	Must(t, err)
}

func TestRefusalsOfTheEntryPointKeepTheirMeaning(t *testing.T) {
	for code, name := range map[string]string{
		"AA24": api.ErrInvalidSignature, "AA25": api.ErrPrepareAgain, "AA10": api.ErrPrepareAgain,
		"AA22": api.ErrPrepareAgain,
		"AA32": api.ErrPrepareAgain, "AA23": api.ErrSimulationFailed, "": api.ErrSimulationFailed,
	} {
		Refused(t, quote.Refused(entrypoint.Failure{Code: code, Text: "words"}), name)
	}
}
