package check

import (
	"fmt"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/network"
	"coffer/wallet/verify"
)

// page collects lines of a label and a value.
type page struct{ b strings.Builder }

// column is where values begin.
const column = 20

func (p *page) line(s string) { p.b.WriteString(s + "\n") }

// row writes a value after its label; nothing without a value.
func (p *page) row(label, value string) {
	if value != "" {
		p.line(fmt.Sprintf("  %-*s%s", column-2, label, value))
	}
}

// sub writes a row that belongs to the one above.
func (p *page) sub(label, value string) { p.row("  "+label, value) }

// text writes the result for people.
func (r Result) text() string {
	p := &page{}
	p.line(verdict(r.Accepted))
	p.row("judged at", r.Now+" ("+r.NowFrom+")")
	if n := r.Network; n != nil {
		p.row("network", n.ID)
		p.sub("kind", kindWords(n.Kind))
		p.sub("compare", n.Fingerprint)
	}
	if r.Policy == "" {
		p.row("policy", "none: the limits of the program itself")
	} else {
		p.row("policy", r.Policy)
	}
	if i := r.Intent; i != nil {
		p.row("intent", i.ID+", a "+i.Kind+" for "+i.Interface)
		p.sub("hash", i.Hash)
		for _, a := range i.Accounts {
			p.row("account", a.Address+" ("+a.Type+")")
			p.sub("signer", a.Signer)
			p.sub("session", a.Session)
			p.sub("admin", a.Admin)
		}
	}
	p.reasons(r.Reasons)
	for _, v := range r.Reviews {
		p.review(v)
	}
	return p.b.String()
}

func verdict(accepted bool) string {
	if accepted {
		return "ACCEPTED"
	}
	return "REFUSED"
}

// kindWords states loudly whether money is real; the file declares the kind.
func kindWords(kind string) string {
	switch network.Kind(kind) {
	case network.Embedded:
		return "EMBEDDED, as its file says: play money inside one program"
	case network.Lab:
		return "LAB, as its file says: play money of a team"
	case network.Real:
		return "REAL, as its file says: REAL MONEY"
	}
	return strings.ToUpper(kind)
}

func (p *page) review(r Review) {
	p.line("")
	p.line(strings.ToUpper(r.Document) + ": " + strings.ToLower(verdict(r.Accepted)))
	p.row("fingerprint", r.Fingerprint)
	if r.Phrase != "" {
		p.row("to be typed", r.Phrase)
	}
	if r.Call != nil {
		p.call(*r.Call)
	}
	if r.Quote != nil {
		p.quote(*r.Quote)
	}
	for i, o := range r.Operations {
		p.operation(i+1, o)
	}
	if r.Quote != nil && len(r.Operations) == 0 {
		p.row("to sign", "nothing more: the prepared operation is the only one")
	}
	p.row("passed", strconv.Itoa(len(r.Passed))+" checks")
	for _, c := range r.Passed {
		p.sub(c.Code, c.Title)
	}
	p.reasons(r.Reasons)
}

// reasons writes the reasons, the worst first.
func (p *page) reasons(list []Reason) {
	for _, level := range []verify.Level{verify.Refuse, verify.Gate, verify.Warn, verify.Unknown, verify.Show} {
		for _, x := range list {
			if x.Level != string(level) {
				continue
			}
			word := strings.ToUpper(x.Level)
			if level == verify.Gate {
				word += map[bool]string{true: " (open)", false: " (closed)"}[x.Open]
			}
			p.row(word+" "+x.Code, x.Title)
			p.sub("setting", x.Setting)
			p.sub("at", x.Path)
			p.sub("expected", x.Want)
			p.sub("found", x.Got)
		}
	}
}

func (p *page) call(c Call) {
	p.row("chain", c.ChainName+" ("+c.Chain+")")
	p.row("account", c.Account+" ("+c.Type+")")
	p.sub("signer", c.Signer)
	for _, l := range c.Lines {
		p.row(l.Role+" "+strconv.Itoa(l.Index), title(l))
		p.sub("to", named(l.To, l.ToName))
		for _, a := range l.Args {
			p.sub(strings.TrimSpace(a.Name+" "+a.Type), a.Value)
		}
		if l.Value != "0" {
			p.sub("value", l.Value+" wei")
		}
		p.sub("data", l.Data)
		if l.Moves != nil {
			p.sub("amount", l.Moves.String())
		}
		p.sub("recipient", l.Recipient)
	}
	p.amounts("can leave", c.Leaves)
	if len(c.Leaves) == 0 {
		p.row("can leave", "nothing, as far as the bytes show")
	}
	p.amounts("requires", c.Requires)
	if c.Until == "" {
		p.row("can run", "the time is not known")
	} else {
		p.row("can run", "from "+c.From+" to "+c.Until+", once")
	}
	if c.Deploys {
		p.row("deploys", "the account, which is used on this chain for the first time")
	}
	p.delegation(c.Delegation)
	p.row("routing", c.Routing)
	if c.OnlyOne {
		p.row("", "This one signature is the whole consent: with it the calls run.")
	}
}

// title describes a call, and says so when it could not be decoded (TH-V3).
func title(l Line) string {
	switch {
	case l.Function != "":
		return l.Function
	case l.Decoded:
		return "plain transfer of the chain's own coin"
	}
	return "NOT DECODED: what this call does depends on the contract"
}

func named(address, name string) string {
	if name == "" {
		return address + " (unknown)"
	}
	return address + " (" + name + ")"
}

func (p *page) amounts(label string, list []Amount) {
	for _, a := range list {
		p.row(label, a.String())
	}
}

// String writes an amount with its unit, the base units and the asset.
func (a Amount) String() string {
	s := a.Amount + " base units of " + a.Asset
	if a.Symbol != "" {
		s = a.Human + " " + a.Symbol + " (" + s + ")"
	}
	return s
}

func (p *page) delegation(d *Delegation) {
	if d == nil {
		return
	}
	p.row("delegates", d.Authority+" on "+d.Chain)
	p.sub("to the code at", named(d.Contract, d.Name))
	p.sub("account nonce", strconv.FormatUint(d.Nonce, 10))
}

func (p *page) quote(q Quote) {
	p.row("quote id", q.ID)
	p.row("ends", q.Expires)
	for i, l := range q.Legs {
		p.leg(i+1, l)
	}
	p.amounts("pays in all", q.Pays)
	p.amounts("worst case", q.Worst)
	if len(q.Legs) > 0 {
		p.row("delivers", q.Delivers.String())
		p.row("at least", q.Minimum.String())
	}
	own := "not one of your accounts"
	if q.Own {
		own = "your own account"
	}
	p.row("delivered to", q.Recipient+" ("+own+")")
	p.amounts("fees", q.Fees)
	if q.FeeSays != "" {
		p.row("fees", "the service says $"+q.FeeSays)
	}
	cost := "unknown"
	if q.CostUSD != "" && q.CostBps >= 0 {
		cost = "$" + q.CostUSD + ", " + percent(q.CostBps) + " of what is paid"
	}
	p.row("cost", cost)
	p.row("slippage", percent(q.Slippage)+" allowed")
	p.row("routing", q.Routing)
}

func percent(bps int) string { return fmt.Sprintf("%d.%02d %%", bps/100, bps%100) }

func (p *page) leg(n int, l Leg) {
	p.row("payment "+strconv.Itoa(n), l.Pays.String()+" on "+l.ChainName)
	p.sub("account type", l.Type)
	p.sub("held in", l.Escrow)
	p.sub("refund after", l.RefundAfter)
	p.sub("runs until", l.Until)
	if l.Deploys {
		p.sub("deploys", "the account on this chain")
	}
	p.delegation(l.Delegation)
	for _, x := range l.Parts {
		how := "pays"
		if x.Approval {
			how = "lets take"
		}
		p.sub(how, x.Pays.String()+", "+percent(x.ShareBps)+" of the payment")
		p.sub("  to", named(x.To, x.ToName))
	}
	if s := l.Solana; s != nil {
		p.sub("fee payer", s.FeePayer)
		p.sub("block hash", s.BlockHash)
		p.sub("memo", s.Memo)
		for _, i := range s.Instructions {
			p.sub("instruction", i.Name+" of "+named(i.Program, i.ProgramName))
			for _, a := range i.Args {
				p.sub("  "+a.Name, a.Value)
			}
		}
	}
}

// operation writes the digests under their names for the account's type.
func (p *page) operation(n int, o Operation) {
	p.row("to sign "+strconv.Itoa(n), o.Role+" operation of "+o.Sender+" on "+o.Chain)
	hash, digest := "userOpHash", "EIP-191 digest"
	switch o.Type {
	case api.AccountRoleBased:
		digest = "EIP-712 digest"
	case api.AccountSolana:
		hash, digest = "message SHA-256", ""
	}
	p.sub("nonce", o.Nonce)
	p.sub("block hash", o.BlockHash)
	p.amountsBelow("spends", o.Spends)
	p.sub(hash, o.Hash)
	if digest != "" {
		p.sub(digest, o.Digest)
	}
	p.sub("delegation hash", o.Delegation)
}

func (p *page) amountsBelow(label string, list []Amount) {
	for _, a := range list {
		p.sub(label, a.String())
	}
}
