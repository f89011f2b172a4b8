package verify_test

import (
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
	if t.Failed() {
		t.FailNow()
	}
}

func TestGoldenPreparedAnswerPasses(t *testing.T) {
	for name, deploy := range map[string]bool{"deployed": false, "new account": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Deploy = deploy
			p, report := w.prepared(w.Document(w.PrepareResponse()))
			accepted(t, report)
			v := p.View()
			if v.Deploys != deploy || len(v.Lines) != 2 || v.Lines[0].Function != "transfer(address to, uint256 amount)" || v.Lines[0].Recipient != payee {
				t.Fatalf("view %+v", v)
			}
			if len(v.Outflow) != 2 || v.Outflow[0].Symbol != "USDC" || v.Outflow[0].Amount.String() != "250500000" || v.Outflow[1].Amount.String() != "7" {
				t.Fatalf("outflow %+v", v.Outflow)
			}
		})
	}
}

func TestGoldenCrossChainQuotePasses(t *testing.T) {
	w := newWorld(t)
	q, report := w.quote(w.signed(), w.Document(w.CrossChain()))
	accepted(t, report)
	v := q.View()
	if v.SameChainOnly || len(v.Legs) != 2 || len(q.Funding()) != 2 || v.CallType != api.CallCrossChain || !v.Explained || v.CostBps != 22 {
		t.Fatalf("view %+v", v)
	}
	if !v.Legs[1].Deploys || v.Needs[0].Short.String() != "225500000" || v.Fees[0].Symbol != "USDC" {
		t.Fatalf("view %+v", v)
	}
}

func TestGoldenSameChainQuotePasses(t *testing.T) {
	w := newWorld(t)
	w.CallType = api.CallSameChainExcludeSolver
	q, report := w.quote(w.signed(), w.Document(w.SameChain()))
	accepted(t, report)
	if !q.SameChainOnly() || len(q.Funding()) != 0 {
		t.Fatalf("view %+v", q.View())
	}
}
