package linear

import (
	"math/big"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// review1 prints what the signature allows to run.
func (c *reviewSession) review1() {
	v := c.snap.Review1
	title := "Review 1 of 2: what will be allowed to run."
	if v.WholeConsent {
		title = "Review: what will run with this one signature."
	}
	c.out.say(title + " " + networkWords(c.ctx.Network.Kind))
	c.gates(c.snap.Report1)
	if v.Delegation != nil {
		c.delegation(v.Delegation, "this signature")
	}
	c.diff(v)
	c.outflow(v)
	c.recipients(v)
	if v.Deploys {
		c.out.say("Creates your account on " + v.Chain.Name + ": it is used there for the first time.")
	}
	c.accountOf(v)
	c.findings(c.snap.Report1)
	c.out.fact(0, "Fingerprint of this review", plain(present.Groups(v.Fingerprint)))
	c.out.say(sentence(clean(v.CallTypeWords, 400)))
	if v.WholeConsent {
		c.out.say("This one signature is your whole consent: with it the calls above run. There is no second review.")
	} else {
		c.out.fact(0, "Slippage", plain(present.SlippageWords(c.snap.Intent)+"."))
		c.out.say("Fees are known only after this signature. Once funded, the calls run. " + present.OnTopWords)
	}
}

// outflow prints what can leave the account on the target chain.
func (c *reviewSession) outflow(v *verify.PreparedView) {
	if len(v.Outflow) == 0 {
		c.out.say("As far as the bytes show, nothing leaves your account on " + v.Chain.Name + ".")
	}
	for _, a := range v.Outflow {
		c.out.fact(0, "Leaves your account on "+v.Chain.Name, plain(worth(a)+"."))
	}
}

// diff puts the intent against the calls decoded from the bytes.
func (c *reviewSession) diff(v *verify.PreparedView) {
	d := c.snap.Intent
	c.out.say("You asked for " + plural(len(d.Calls), "call", "calls") + " on " +
		present.ChainName(c.ctx.Catalog, d.TargetChain) +
		" and " + plural(len(d.Allowances), "allowance", "allowances") + ". The operation contains:")
	for _, l := range v.Lines {
		c.call(l, v)
	}
	if c.faithful() {
		c.out.say("Nothing else. It is, byte for byte, what you asked for.")
	} else {
		c.out.say("Refused: this is not what you asked for. It cannot be signed.")
	}
	if at := present.Assumed(d); len(at) > 0 {
		c.out.say("Warning: " + present.AssumedWords(len(at)) + "; the chain's own one decides when it runs.")
		for _, a := range at {
			c.out.fact(2, "assumed of", c.known(a)...)
		}
	}
	for _, t := range d.TokensRequired {
		c.out.fact(0, "You said that the calls need", plain(c.asked(t.AssetType, t.Amount)+"."))
	}
}

// call prints one call of the operation.
func (c *reviewSession) call(l verify.CallView, v *verify.PreparedView) {
	chain := v.Chain.Name
	fit := ": as you asked."
	switch {
	case l.Role != verify.RoleCall:
		fit = ": added for an allowance that you declared."
	case !l.AsAsked || l.Asked < 1 || l.Asked > len(c.snap.Intent.Calls) ||
		!consent.SameCall(c.snap.Intent.Calls[l.Asked-1], l):
		fit = ": NOT what you asked for."
	}
	label, where := "contract", whereOf(l.ToName, chain)
	if noData := len(l.Data) <= len("0x"); noData && l.Role == verify.RoleCall {
		label = "to"
	}
	if l.ToName == "" && (label == "to" || c.nameIn(l.To) != "") {
		where = clean(chain, 80)
	}
	c.out.put(2, plain(itoa(l.Index)+". "+callName(l)+", on "+where+fit))
	c.out.fact(4, label, c.known(l.To)...)
	for i, a := range l.Args {
		depth, name := present.Nested(a.Name)
		c.out.fact(4+2*min(depth, maxIndent), argName(verify.ArgView{Name: name}, i), argText(a, l)...)
	}
	if l.Value != nil && l.Value.Sign() > 0 {
		c.out.fact(4, "value", plain(c.coins(l.Value, v)))
	}
	if !l.Decoded {
		c.out.put(4, plain("Unknown: Coffer cannot decode this call; what it does depends on the contract. Its "+
			plural(max(0, (len(l.Data)-2)/2), "byte", "bytes")+": "+present.Groups(l.Data)))
	}
}

func callName(l verify.CallView) string {
	switch l.Role {
	case verify.RoleApprove:
		return "Allowance before your calls, " + clean(l.Function, 600)
	case verify.RoleRevoke:
		return "Allowance taken back, " + clean(l.Function, 600)
	}
	switch {
	case l.Function != "":
		return "Your call " + itoa(l.Asked) + ", " + clean(l.Function, 600)
	case l.Decoded:
		return "Your call " + itoa(l.Asked) + ", plain transfer of the chain's own coin"
	}
	return "Your call " + itoa(l.Asked) + ", unknown function " + clean(l.Data[:min(10, len(l.Data))], 10)
}

func argName(a verify.ArgView, i int) string {
	if a.Name == "" {
		return "argument " + itoa(i+1)
	}
	return clean(a.Name, 60)
}

// argText writes one argument: an address in groups, the moved amount with its unit, everything else as decoded.
func argText(a verify.ArgView, l verify.CallView) []span {
	switch {
	case a.Type == "address":
		return []span{address(a.Value)}
	case l.Amount != nil && l.Amount.Decimals >= 0 && l.Amount.Amount != nil && a.Value == l.Amount.Amount.String() &&
		strings.HasPrefix(a.Type, "uint"):
		return []span{plain(figure(*l.Amount))}
	case strings.HasPrefix(a.Type, "bytes") && !strings.Contains(a.Type, "["):
		return []span{plain(present.Groups(a.Value))}
	}
	return []span{plain(whole(a.Value) + ", " + clean(a.Type, 200))}
}

// maxIndent bounds the indent of a nested argument, in steps of two cells.
const maxIndent = 8

// coins writes wei of the target chain in its own coin, exactly.
func (s *session) coins(wei *big.Int, v *verify.PreparedView) string {
	if e, ok := s.ctx.Catalog.NativeOf(v.Chain.ID); ok {
		return amount.Human(wei, e.Decimals) + " " + clean(e.Symbol, 60)
	}
	return amount.Group(wei.String()) + " base units of the chain's own coin"
}

// nameIn is the name of an address in the contact book, "" without one.
func (s *session) nameIn(a string) string {
	for _, c := range s.deps.Book {
		if present.Checksummed(c.Address) == present.Checksummed(a) {
			return clean(c.Name, 60)
		}
	}
	return ""
}

// known writes an address in full, after its name in the contact book.
func (s *session) known(a string) []span {
	if name := s.nameIn(a); name != "" {
		return []span{plain(name + ", "), address(a)}
	}
	return []span{address(a)}
}

// asked writes an amount of the intent: base units of an aggregated or a single asset.
func (s *session) asked(asset, text string) string {
	v := verify.AmountView{Amount: units(text), Decimals: -1}
	if e, ok := s.Side(asset); ok {
		v.Decimals, v.Symbol = e.Decimals, e.Symbol
	}
	if v.Amount != nil && v.Decimals < 0 {
		return amount.Group(v.Amount.String()) + " base units of " + whole(asset)
	}
	return figure(v)
}

// recipients prints every recipient and spender, each once and in full.
func (c *reviewSession) recipients(v *verify.PreparedView) {
	seen := map[string]bool{}
	for _, l := range v.Lines {
		if l.Recipient == "" || seen[l.Recipient] || l.Role == verify.RoleRevoke {
			continue
		}
		seen[l.Recipient] = true
		label := "Sent to"
		if l.Role == verify.RoleApprove {
			label = "May spend"
		}
		c.out.fact(0, label, c.known(l.Recipient)...)
		if l.FirstTime && l.Role == verify.RoleCall {
			c.out.note("Warning: nothing was ever sent there before.")
		}
	}
}

// accountOf prints the account that acts, and for a role-based one the rights that its session key gives away.
func (c *reviewSession) accountOf(v *verify.PreparedView) {
	label := "Account"
	if v.AccountType != "" {
		label += ", " + present.AccountType(v.AccountType)
	}
	c.out.fact(0, label, address(v.Sender))
	window := "once, from " + c.clock(v.Window.From) + " to " + c.clock(v.Window.Until)
	if v.Window.Until.IsZero() {
		window = "once; until when is not known"
	}
	if v.AccountType == api.AccountRoleBased {
		c.out.fact(0, "Approved by the session key", address(v.Signer))
	}
	c.out.fact(0, "Can run", plain(window+"."))
	if v.AccountType == api.AccountRoleBased {
		c.out.note("Warning: your approval itself has no end: it stays good until another operation of this account " +
			"uses its number. " +
			"Fees and sponsor are not part of it.")
	}
}

// delegation explains an EIP-7702 authorization in one sentence, then prints exactly what it is (TH-D6).
func (c *reviewSession) delegation(d *verify.DelegationView, when string) {
	name := clean(d.ContractName, 80)
	if name == "" {
		name = "an unknown contract"
	}
	c.out.say("Warning: from " + when + " on, the code below (" + name + ") controls your EOA on " +
		clean(d.Chain.Name, 40) + ", until you change it.")
	c.out.fact(2, "your EOA", address(d.Authority))
	c.out.fact(2, "the code", address(d.Contract))
	c.out.fact(2, "where", plain(clean(d.Chain.Name, 40)+" ("+clean(d.Chain.CAIP, 60)+") only, with account nonce "+
		strconv.FormatUint(d.Nonce, 10)))
	c.out.fact(2, "to undo", plain("with a transaction that delegates to other code, or to none"))
}
