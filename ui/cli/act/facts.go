package act

import (
	"math/big"
	"time"

	"coffer/api/amount"
	"coffer/ui/cli/check"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// reviewOf is a review as --json prints it, in the form of `coffer verify`: the contents decoded from the bytes that
// get signed, and every check.
func reviewOf(document, fingerprint, phrase string, r verify.Report) check.Review {
	out := check.Review{Document: document, Accepted: !r.Refused(), Fingerprint: fingerprint, Phrase: phrase}
	for _, p := range r.Passed {
		out.Passed = append(out.Passed, check.Passed{Code: p.Code, Title: clean(p.Title)})
	}
	for _, x := range r.Reasons {
		out.Reasons = append(out.Reasons, check.Reason{
			Code: x.Code, Level: string(x.Level), Title: clean(x.Title), Path: clean(x.Path), Want: clean(x.Want),
			Got: clean(x.Got), Setting: x.Setting, Open: x.Open,
		})
	}
	return out
}

func review1Of(v *verify.PreparedView, r verify.Report, d intent.Draft) check.Review {
	if v == nil {
		return reviewOf("the prepared call", "", "", r)
	}
	out := reviewOf("the prepared call", v.Fingerprint, v.Phrase, r)
	c := &check.Call{
		Chain: v.Chain.CAIP, ChainName: clean(v.Chain.Name), Account: v.Sender, Type: v.AccountType, Signer: v.Signer,
		Leaves:   amountsOf(v.Outflow),
		Requires: amountsOf(v.Requires), From: at(v.Window.From), Until: at(v.Window.Until),
		CallType: clean(v.CallType), Routing: clean(v.CallTypeWords),
		Deploys: v.Deploys, OnlyOne: v.WholeConsent, Delegation: delegationOf(v.Delegation),
	}
	if !v.WholeConsent {
		c.Slippage = d.SlippageBps
	}
	for _, l := range v.Lines {
		c.Lines = append(c.Lines, lineOf(l))
	}
	out.Call = c
	out.Operations = []check.Operation{{
		Role: verify.RolePrepared, Type: v.AccountType, Chain: v.Chain.CAIP, Sender: v.Sender, Nonce: v.Nonce,
		Spends: amountsOf(v.Outflow), Hash: v.OpHash, Digest: v.Digest,
	}}
	return out
}

func lineOf(l verify.CallView) check.Line {
	out := check.Line{
		Index: l.Index, Role: l.Role, To: l.To, ToName: clean(l.ToName), Value: number(l.Value),
		Function: clean(l.Function), Args: argsOf(l.Args), Decoded: l.Decoded,
		Recipient: l.Recipient,
	}
	if !l.Decoded {
		out.Data = whole(l.Data)
	}
	if l.Amount != nil {
		a := amountOf(*l.Amount)
		out.Moves = &a
	}
	return out
}

func argsOf(list []verify.ArgView) []check.Arg {
	var out []check.Arg
	for _, a := range list {
		out = append(out, check.Arg{Name: clean(a.Name), Type: clean(a.Type), Value: whole(a.Value)})
	}
	return out
}

func delegationOf(d *verify.DelegationView) *check.Delegation {
	if d == nil {
		return nil
	}
	return &check.Delegation{Chain: d.Chain.CAIP, Authority: d.Authority, Contract: d.Contract,
		Name: clean(d.ContractName), Nonce: d.Nonce}
}

func review2Of(v *verify.QuoteView, r verify.Report) check.Review {
	if v == nil {
		return reviewOf("the quote", "", "", r)
	}
	out := reviewOf("the quote", v.Fingerprint, v.Phrase, r)
	q := &check.Quote{
		ID: v.ID, Kind: v.Kind, CallType: clean(v.CallType), Routing: clean(v.CallTypeWords), Expires: at(v.Expires),
		Pays: amountsOf(v.Pay), Delivers: amountOf(v.Delivered),
		Minimum: amountOf(v.Minimum), Recipient: v.Recipient, Own: v.RecipientOwn, Fees: amountsOf(v.Fees),
		FeeSays: clean(v.FeeUSD), CostUSD: usd(v.CostMicro),
		CostBps: v.CostBps, AtMinimum: v.MinimumCostBps, Worst: amountsOf(v.Worst), Slippage: v.SlippageBps,
		SameChain: v.SameChainOnly,
	}
	for _, l := range v.Legs {
		q.Legs = append(q.Legs, legOf(l))
	}
	out.Quote = q
	return out
}

func legOf(l verify.LegView) check.Leg {
	out := check.Leg{
		Chain: l.Pays.Asset.Chain.String(), ChainName: clean(l.Chain.Name), Type: l.AccountType, Pays: amountOf(l.Pays),
		Escrow: l.Escrow, RefundAfter: at(l.RefundAfter),
		Until: at(l.Until), Deploys: l.Deploys, Delegation: delegationOf(l.Delegation),
	}
	for _, p := range l.Parts {
		out.Parts = append(out.Parts, check.Part{To: p.To, ToName: clean(p.ToName), Pays: amountOf(p.Amount),
			ShareBps: p.ShareBps, Approval: p.Approval})
	}
	if s := l.Solana; s != nil {
		out.Solana = &check.Solana{FeePayer: s.FeePayer, BlockHash: s.BlockHash, Memo: clean(s.Memo)}
		for _, i := range s.Instructions {
			out.Solana.Instructions = append(out.Solana.Instructions,
				check.Instruction{Program: i.Program, ProgramName: clean(i.ProgramName), Name: clean(i.Name),
					Args: argsOf(i.Args)})
		}
	}
	return out
}

func amountOf(a verify.AmountView) check.Amount {
	out := check.Amount{Asset: a.Asset.Display(), Symbol: clean(a.Symbol), Amount: amount.Unknown,
		Human: amount.Unknown, USD: usd(a.Micro)}
	if a.Amount == nil {
		return out
	}
	out.Amount = a.Amount.String()
	if a.Decimals >= 0 {
		out.Human = amount.Human(a.Amount, a.Decimals)
	}
	return out
}

func amountsOf(list []verify.AmountView) []check.Amount {
	var out []check.Amount
	for _, a := range list {
		out = append(out, amountOf(a))
	}
	return out
}

func number(v *big.Int) string {
	if v == nil {
		return amount.Unknown
	}
	return v.String()
}

func usd(micro *big.Int) string {
	if micro == nil {
		return ""
	}
	return amount.USD2(micro)
}

// at writes a time, "" for an unknown one.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
