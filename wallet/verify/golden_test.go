package verify_test

import (
	"slices"
	"testing"

	"coffer/api"
	"coffer/wallet/verify"
)

func accepted(t *testing.T, r verify.Report) {
	t.Helper()
	for _, x := range r.Reasons {
		if x.Level == verify.Refuse || x.Level == verify.Gate {
			t.Errorf("refused: %+v", x)
		}
	}
	for i, c := range r.Passed {
		if slices.Index(r.Passed, c) != i {
			t.Errorf("listed twice: %+v", c)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
}

func TestGoldenPreparedAnswerPasses(t *testing.T) {
	for name, fresh := range map[string]bool{"deployed": false, "new account": true} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.Deploy = fresh
				doc := w.Document(w.PrepareResponse())
				p, report := w.prepared(doc)
				accepted(t, report)
				preparedViewIsWhatGetsSigned(t, w, p, doc)
				v := p.View()
				eoa := w.Kind == api.AccountKernelV33
				if v.Deploys != (fresh && !eoa) || (v.Delegation != nil) != (fresh && eoa) ||
					v.Signatures != p.Signing().Count() || v.AccountType != w.Kind || v.Signer != w.Signer.Hex() {
					t.Fatalf("view %+v", v)
				}
				if len(v.Lines) != 2 || v.Lines[0].Function != "transfer(address to, uint256 amount)" ||
					v.Lines[0].Recipient != payee || p.Confirmation() != p.View().Fingerprint || v.Phrase != "" {
					t.Fatalf("view %+v", v)
				}
				if len(v.Requires) != 1 || v.Requires[0].Symbol != "USDC" ||
					v.Requires[0].Amount.Int64() != 250_500_000 || len(v.Sources) != 2 {
					t.Fatalf("requires %+v", v.Requires)
				}
				if len(v.Outflow) != 2 || v.Outflow[0].Symbol != "USDC" ||
					v.Outflow[0].Amount.String() != "250500000" || v.Outflow[1].Amount.String() != "7" {
					t.Fatalf("outflow %+v", v.Outflow)
				}
			})
		})
	}
}

func TestGoldenCrossChainQuotePasses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		doc := w.Document(w.CrossChain())
		q, report := w.quote(w.signed(), doc)
		accepted(t, report)
		quoteViewIsWhatGetsSigned(t, w, q, doc)
		v := q.View()
		if v.SameChainOnly || len(v.Legs) != 2 || len(q.Operations()) != 2 || v.CallType != api.CallCrossChain ||
			v.Kind != "call" || !v.RecipientOwn || v.Recipient != w.Account.Hex() {
			t.Fatalf("view %+v", v)
		}
		if v.Legs[1].Deploys == (v.Legs[1].Delegation != nil) || v.Needs[0].Short.String() != "225500000" ||
			q.Confirmation() != q.View().Fingerprint || v.Phrase != "" {
			t.Fatalf("view %+v", v)
		}
		if named := w.Draft.Interface == ""; named != v.Explained || v.CostBps != 22 || named != (len(v.Fees) == 2) ||
			named == report.Has("Q11", verify.Unknown) {
			t.Fatalf("view %+v", v)
		}
	})
}

func TestGoldenSameChainQuotePasses(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.CallType = api.CallSameChainExcludeSolver
		doc := w.Document(w.SameChain())
		q, report := w.quote(w.signed(), doc)
		accepted(t, report)
		quoteViewIsWhatGetsSigned(t, w, q, doc)
		if !q.SameChainOnly() || len(q.Operations()) != 0 || q.View().FeeUSD != "0.00" {
			t.Fatalf("view %+v", q.View())
		}
	})
}
