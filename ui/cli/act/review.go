package act

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// review1Text is review 1 as lines: what will be allowed to run, decoded from the bytes that get signed, against the
// request.
func (s *Session) review1Text(x flow.Snapshot) string {
	p, v := &page{}, x.Review1
	if v == nil {
		p.line("REFUSED: the answer of the service cannot be signed")
		p.findings(x.Report1)
		return p.b.String()
	}
	title := "REVIEW 1 OF 2: what will be allowed to run"
	if v.WholeConsent {
		title = "REVIEW: what will run with this one signature"
	}
	p.line(title)
	p.row("network", networkWords(s.Network.Kind))
	p.delegation(v.Delegation)
	p.row("you asked", plural(len(x.Intent.Calls), "call")+" on "+s.chainName(x.Intent.TargetChain)+", "+
		plural(len(x.Intent.Allowances), "allowance"))
	for _, l := range v.Lines {
		p.call(l)
	}
	if faithful(x) {
		p.row("compared", "it is, byte for byte, what you asked for, and nothing else")
	} else {
		p.row("REFUSED", "this is not what you asked for; it cannot be signed")
	}
	if at := present.Assumed(x.Intent); len(at) > 0 {
		p.row("WARNING", present.AssumedWords(len(at))+"; the chain's own one decides when it runs")
		for _, a := range at {
			p.sub("assumed of", a)
		}
	}
	for _, a := range v.Requires {
		p.row("you said it needs", figure(a))
	}
	for _, a := range v.Outflow {
		p.row("can leave", worth(a))
	}
	if len(v.Outflow) == 0 {
		p.row("can leave", "nothing, as far as the bytes show")
	}
	if v.Deploys {
		p.row("creates", "your account on "+clean(v.Chain.Name)+": it is used there for the first time")
	}
	p.row("account", v.Sender+" ("+v.AccountType+")")
	p.sub("signed by", v.Signer)
	if v.Window.Until.IsZero() {
		p.row("can run", "once; until when is not known")
	} else {
		p.row("can run", "once, from "+clock(v.Window.From)+" to "+clock(v.Window.Until))
	}
	if v.AccountType == api.AccountRoleBased {
		p.row("WARNING",
			"the approval itself has no end: it stays good until another operation of this account uses its nonce")
	}
	p.row("routing", clean(v.CallTypeWords))
	if v.WholeConsent {
		p.row("consent", "this one signature is all: with it the calls run, there is no second review")
	} else {
		p.row("slippage", present.SlippageWords(x.Intent))
		p.row("fees", "known only after this signature")
		p.row("payments", present.OnTopWords)
	}
	p.findings(x.Report1)
	p.row("nonce", v.Nonce)
	p.row("userOpHash", v.OpHash)
	p.row("what is signed", v.Digest)
	p.row("fingerprint", v.Fingerprint)
	return p.b.String()
}

// call writes one call of the operation.
func (p *page) call(l verify.CallView) {
	what := clean(l.Function)
	switch {
	case what != "":
	case l.Decoded:
		what = "plain transfer of the chain's own coin"
	default:
		what = "NOT DECODED: what this call does depends on the contract"
	}
	fit := "as you asked"
	switch {
	case l.Role == verify.RoleApprove, l.Role == verify.RoleRevoke:
		fit = "added for an allowance that you declared"
	case !l.AsAsked:
		fit = "NOT what you asked for"
	}
	p.row(l.Role+" "+strconv.Itoa(l.Index), what+": "+fit)
	p.sub("contract", l.To+" ("+orElse(clean(l.ToName), "unknown")+")")
	for _, a := range l.Args {
		p.sub(strings.TrimSpace(clean(a.Name)+" "+clean(a.Type)), whole(a.Value))
	}
	if l.Value != nil && l.Value.Sign() > 0 {
		p.sub("value", l.Value.String()+" wei")
	}
	if !l.Decoded {
		p.sub("data", whole(l.Data))
	}
	if l.Amount != nil {
		p.sub("amount", figure(*l.Amount))
	}
	if l.Recipient != "" {
		first := ""
		if l.FirstTime && l.Role == verify.RoleCall {
			first = " (WARNING: nothing was ever sent there before)"
		}
		p.sub("recipient", l.Recipient+first)
	}
}

// review2Text is review 2 as lines: the cost, the payments and the delivery.
func (s *Session) review2Text(x flow.Snapshot) string {
	p, v := &page{}, x.Review2
	if v == nil {
		p.line("REFUSED: the quote of the service cannot be signed")
		p.findings(x.Report2)
		return p.b.String()
	}
	exchange := isExchange(x.Intent)
	title := "REVIEW 2 OF 2: what it costs"
	if exchange {
		title = "REVIEW of the " + x.Intent.Kind + ": what you pay and what you get"
	}
	p.line(title)
	p.row("network", networkWords(s.Network.Kind))
	if exchange {
		p.exchange(s, x.Intent)
	}
	if !exchange && x.Review1 != nil {
		p.payees(s, x.Review1.Payees())
	}
	for _, n := range v.Needs {
		p.row("needs", figure(n.Need)+" on "+clean(n.Need.ChainName)+"; short "+figure(verify.AmountView{
			Asset: n.Need.Asset, Symbol: n.Need.Symbol, Decimals: n.Need.Decimals, Amount: n.Short,
		}))
	}
	for i, l := range v.Legs {
		p.leg(i+1, l)
	}
	if len(v.Legs) == 0 {
		p.row("payments", "none on any other chain")
	}
	p.cost(s, v)
	first := x.Review1
	if exchange {
		first = nil
	}
	p.row("worst case", present.WorstCase(s.Catalog, v, first))
	if present.Credits(v) {
		p.row("solver", present.CreditsWords)
	}
	p.row("expires", clock(v.Expires))
	p.findings(x.Report2)
	p.row("quote id", v.ID)
	p.row("fingerprint", v.Fingerprint)
	if v.SameChainOnly {
		p.row("to sign", "nothing more: the signature of the call is all that it takes")
	}
	return p.b.String()
}

// payees repeats whom the calls pay.
func (p *page) payees(s *Session, list []verify.PayeeView) {
	for _, x := range list {
		text := x.To
		if s.Names != nil && s.Names(x.To) != "" {
			text = clean(s.Names(x.To)) + " " + x.To
		}
		if x.Amount != nil {
			text += " gets " + figure(*x.Amount)
		}
		if x.FirstTime {
			text += " (WARNING: nothing was ever sent there before)"
		}
		p.row("payee", text)
	}
}

// exchange repeats the request, from the frozen intent and nothing else.
func (p *page) exchange(s *Session, d intent.Draft) {
	if d.Pay == nil || d.Receive == nil {
		return
	}
	p.row("you asked", d.Kind+" "+s.baseWords(d.Pay.Asset, d.Pay.Amount)+", received as "+s.assetWords(d.Receive.Asset))
	if d.Receive.Minimum != "" {
		p.sub("at least", s.baseWords(d.Receive.Asset, d.Receive.Minimum))
	}
	if d.Receive.Account != "" {
		p.sub("to", d.Receive.Account)
	}
}

// leg writes one payment and its receiver.
func (p *page) leg(n int, l verify.LegView) {
	p.row("payment "+strconv.Itoa(n), figure(l.Pays)+", "+dollars(l.Pays.Micro)+", on "+clean(l.Chain.Name))
	p.delegation(l.Delegation)
	if l.Deploys {
		p.sub("creates", "your account there")
	}
	for _, x := range l.Parts {
		label := "goes to"
		if x.Approval {
			label = "may be taken by"
		}
		p.sub(label, x.To+" ("+orElse(clean(x.ToName), "unknown")+"): "+figure(x.Amount)+", "+
			present.Percent(x.ShareBps)+
			" of the payment")
	}
	if l.Escrow != "" && len(l.Parts) == 0 {
		p.sub("held in", l.Escrow+" ("+present.KeepsWords+")")
	}
	if !l.RefundAfter.IsZero() {
		p.sub("reclaimable after", clock(l.RefundAfter))
	}
	if x := l.Solana; x != nil {
		p.sub("fee paid by", x.FeePayer)
		p.sub("block hash", x.BlockHash)
		p.sub("memo", clean(x.Memo))
		for i, in := range x.Instructions {
			p.sub("instruction "+strconv.Itoa(i+1), orElse(clean(in.ProgramName), "unknown program "+in.Program)+" "+
				clean(in.Name))
			for _, a := range in.Args {
				p.sub("  "+clean(a.Name), whole(a.Value))
			}
		}
	}
	p.sub("userOpHash", l.OpHash)
}

// cost is what is paid, what is delivered, the minimum, the fees, and what is lost on the way.
func (p *page) cost(s *Session, v *verify.QuoteView) {
	pays := consent.ByAsset(s.Catalog, v.Pay)
	for _, a := range pays {
		p.row("you pay", figure(a)+", "+dollars(a.Micro))
	}
	if len(pays) == 0 {
		p.row("you pay", "nothing more")
	}
	p.row("delivers", worth(v.Delivered))
	p.row("at least", worth(v.Minimum))
	if v.Recipient != "" {
		whose := "not your own, paid before"
		switch {
		case v.RecipientOwn:
			whose = "your own account"
		case v.RecipientFirstTime:
			whose = "WARNING: nothing was ever sent there before"
		}
		p.row("delivered to", v.Recipient+" ("+whose+")")
	}
	for _, a := range consent.ByAsset(s.Catalog, v.Fees) {
		p.row("fees", figure(a)+", "+dollars(a.Micro))
	}
	if len(v.Fees) == 0 && v.FeesMicro == nil {
		p.row("fees", amount.Unknown)
	}
	if v.FeeUSD != "" {
		p.sub("the service says", "$"+clean(v.FeeUSD))
	}
	cost := amount.Unknown
	if v.CostMicro != nil {
		cost = dollars(v.CostMicro)
		if v.CostBps >= 0 {
			cost += ", " + present.Percent(v.CostBps) + " of what you pay"
		}
	}
	p.row("cost", cost)
	switch {
	case v.UnexplainedMicro == nil:
		p.sub("explained", "how much of it the fees explain is unknown")
	case !v.Explained:
		p.sub("WARNING", dollars(v.UnexplainedMicro)+" of it are not explained by the fees")
	}
	p.row("slippage", "the price may move by "+present.Percent(v.SlippageBps))
}

func isExchange(d intent.Draft) bool {
	return d.Kind == intent.KindSwap || d.Kind == intent.KindTransfer
}

func clock(t time.Time) string {
	if t.IsZero() {
		return amount.Unknown
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}

func (s *Session) chainName(id string) string {
	if k, err := chainNamed(s.Catalog, id); err == nil {
		if info, ok := s.Catalog.Chain(k); ok {
			return info.Name
		}
	}
	return clean(id)
}

// baseWords writes base units of an asset of an intent.
func (s *Session) baseWords(asset, base string) string {
	symbol, n := unitOf(s.Catalog, asset)
	if n < 0 {
		return clean(base) + " base units of " + clean(asset)
	}
	return figureOf(base, symbol, n)
}

func (s *Session) assetWords(asset string) string {
	symbol, _ := unitOf(s.Catalog, asset)
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", orElse(symbol, "an unknown asset"), clean(asset)))
}
