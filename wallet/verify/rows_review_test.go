package verify_test

import (
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// A call that needs nothing pays for itself: an answer that announces payments would be shown as one that waits for
// them.
func TestP4_PaymentsAreAnnouncedOnlyForWhatIsRequired(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.TokensRequired, w.Draft.FundWith = nil, ""
		answer := w.PrepareResponse()
		answer.CallType = api.CallCrossChain
		p, r := w.prepared(w.Document(answer))
		refused(t, p != nil, r, "P4")
	})
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		answer.SourceAssetBalances = []api.SourceAssetBalance{
			{AssetType: w.Draft.TokensRequired[0].AssetType, Balance: w.Draft.TokensRequired[0].Amount, Decimals: 6,
				FiatValue: "1"}}
		if p, r := w.prepared(w.Document(answer)); p == nil || !r.Has("P4", verify.Warn) {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestB3_OperationsStayOnTheChainsOfTheNetwork(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		s := w.signed()
		doc := w.Document(w.CrossChain())
		w.Policy.Network.Chains = []string{"eip155:8453"}
		q, r := w.quote(s, doc)
		refused(t, q != nil, r, "B3")
	})
}

// Behind the gate of blind signing anything may be signed, so that a policy with limits cannot hold.
func TestY4_BlindSigningAndLimitsExcludeEachOther(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if w.Draft.Accounts[0].Type != api.AccountRoleBased {
			return
		}
		answer := w.PrepareResponse()
		answer.ChainOperation.TypedDataToSign.Message.CallDataAndNonceHash = "0x" + strings.Repeat("5e", 32)
		w.Policy.Network.Formulas = nil
		w.Policy.Limits.Gates = []string{verify.GateBlindSigning}
		doc := w.Document(answer)
		if p, r := w.prepared(doc); p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		w.Policy.Limits.MaxSpend = big.NewInt(1 << 40)
		p, r := w.prepared(doc)
		refused(t, p != nil, r, "Y4")
	})
}

// What a role-based account signs carries no time, and nothing says that it does.
func TestU12_AnApprovalDoesNotCarryTheTimeThatWasAskedFor(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.ValidUntil = "1760000600"
		answer := w.PrepareResponse()
		p, r := w.prepared(w.Document(answer))
		roles := w.Draft.Accounts[0].Type == api.AccountRoleBased
		if p == nil || r.Has("U12", verify.Warn) != roles {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestQ5_MoreThanTheServiceSaidIsMissingIsWarnedAbout(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if w.Draft.Interface != "" {
			return // v1 names no fees: there all of it is cost
		}
		s := w.signed()
		honest := w.CrossChain()
		if _, r := w.quote(s, w.Document(honest)); r.Has("Q5", verify.Warn) {
			t.Fatalf("an honest quote is warned about: %+v", r.Reasons)
		}
		more := w.QuoteResponse("225980000", map[string]string{},
			golden.Payment{Asset: arbUSDC, Amount: 225_980_000, Sequence: 4})
		if q, r := w.quote(s, w.Document(more)); q == nil || !r.Has("Q5", verify.Warn) {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestEmptyValuesOfTheVerifierDoNothing(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		q, r := w.quote(&verify.SignedPrepared{}, w.Document(w.CrossChain()))
		refused(t, q != nil, r, "Q14")
	})
	if _, err := (&verify.SignedPrepared{}).CallQuoteBody(); err == nil {
		t.Error("an empty signed operation has a body")
	}
	if _, err := (&verify.VerifiedQuote{}).ExecuteBody(nil); err == nil {
		t.Error("an empty quote has a body")
	}
	if err := (&verify.VerifiedQuote{}).CheckBody(nil); err == nil {
		t.Error("nothing passed for a body")
	}
}
