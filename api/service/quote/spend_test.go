package quote_test

import (
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	. "coffer/api/service/settle/settletest"
)

// TestCallsTakeNothingThatIsPledged: what an executing quote will still take is not there for the calls of another one,
// declared or not (protocol §4.3).
func TestCallsTakeNothingThatIsPledged(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Arbitrum)
	undeclared := func(v int64) api.PrepareRequest {
		r := w.Request(usdc, 0, Transfer(usdc, payee(), v*usdcPlain))
		r.TokensRequired = nil
		return r
	}
	declared := func(v, less int64) api.PrepareRequest {
		return w.Request(usdc, less*usdcPlain, Transfer(usdc, payee(), v*usdcPlain))
	}
	_, before := prepared(t, w, undeclared(110))
	first := w.Decode(w.Swap(Exchange{From: usdc.String(), Amount: plain(100), Get: "ob:eth",
		To: onChain(Linea, payee())}))
	acceptOffer(w, first.ID)
	_, err := callQuoteAs(w, before)
	if e := Refused(t, err, api.ErrInsufficientBalance); !strings.Contains(e.Message,
		"pledged to quotes in execution") {
		t.Error(e.Message)
	}
	for name, r := range map[string]api.PrepareRequest{"undeclared": undeclared(21),
		"more than declared": declared(21, 5)} {
		_, err := w.Prepare(r)
		if e := asError(err); e == nil || e.Name != api.ErrInsufficientBalance {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]api.PrepareRequest{"what is left": undeclared(20),
		"declared and delivered": declared(40, 40), "beyond, from what is left": declared(20, 5)} {
		if _, err := w.Prepare(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestQuotePledgesWhatItsCallsTake: two quotes for the same money, of which none was pledged when they were made, do
// not both execute.
func TestQuotePledgesWhatItsCallsTake(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Arbitrum)
	r := w.Request(usdc, 5*usdcPlain, Transfer(usdc, payee(), 110*usdcPlain))
	call := w.SignQuote(w.Quote(r, ""))
	if got := record(w, w.Decode(call).ID).Required; len(got) != 1 || got[0].Value.Cmp(plain(110)) != 0 {
		t.Errorf("pledges %+v", got)
	}
	swap := w.Swap(Exchange{From: usdc.String(), Amount: plain(100), Get: "ob:eth", To: onChain(Linea, payee())})
	acceptOffer(w, w.Decode(swap).ID)
	Refused(t, w.Execute(call), api.ErrInsufficientBalance)
}

// TestSpendOutOfOverridesIsNotPledged: what only an override put there can neither be taken nor pledged.
func TestSpendOutOfOverridesIsNotPledged(t *testing.T) {
	w := funded(t)
	r := pay(w, Arbitrum, 20*usdcPlain)
	r.Calls = append(r.Calls, api.Call{To: payee().Hex(), Value: "1000000000000000000"})
	r.Overrides = []api.StateOverride{{Address: w.User.Address.Hex(), Balance: "0xde0b6b3a7640000"}}
	for _, a := range record(w, w.Decode(w.Quote(r, "")).ID).Required {
		if a.Asset == caip.Native(Arbitrum).String() && a.Value.Sign() > 0 {
			t.Errorf("pledges %+v", a)
		}
	}
}

// TestOverridesHideNoSpend: a token that only pretends to move under an override moves when the call is executed, and
// is pledged.
func TestOverridesHideNoSpend(t *testing.T) {
	w := funded(t)
	usdc := w.Asset("usdc", Arbitrum)
	token, _ := usdc.Token()
	r := w.Request(usdc, 0, Transfer(usdc, payee(), 110*usdcPlain))
	r.TokensRequired = nil
	// returns 1 whatever the call
	r.Overrides = []api.StateOverride{{Address: token.Hex(), Code: "0x600160005260206000f3"}}
	_, before := prepared(t, w, r)
	quoted, err := callQuoteAs(w, before)
	Must(t, err)
	call := w.SignQuote(quoted)
	if got := record(w, w.Decode(call).ID).Required; len(got) != 1 || got[0].Asset != usdc.String() ||
		got[0].Value.Cmp(plain(110)) != 0 {
		t.Errorf("pledges %+v", got)
	}
	swap := w.Swap(Exchange{From: usdc.String(), Amount: plain(100), Get: "ob:eth", To: onChain(Linea, payee())})
	acceptOffer(w, w.Decode(swap).ID)
	Refused(t, w.Execute(call), api.ErrInsufficientBalance)
	_, err = callQuoteAs(w, before)
	Refused(t, err, api.ErrInsufficientBalance)
}
