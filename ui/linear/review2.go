package linear

import (
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// review2 prints the costs. After a new quote the changes come first.
func (c *reviewSession) review2() {
	v := c.snap.Review2
	title := "Review 2 of 2: what it costs."
	if c.exchange() {
		title = "Review of the " + c.noun() + ": what you pay and what you get."
	}
	c.out.say(title + " " + networkWords(c.ctx.Network.Kind))
	if p := c.snap.Previous; p != nil {
		c.changes(p, v)
	}
	c.youAsked()
	c.gates(c.snap.Report2)
	n := c.firstCount()
	for _, l := range v.Legs {
		if l.Delegation != nil {
			n++
			c.delegation(l.Delegation, "signature "+itoa(n))
		}
		n++
	}
	c.payees()
	c.needs(v)
	c.legs(v)
	c.cost(v)
	c.worst(v)
	c.findings(c.snap.Report2)
	c.out.fact(0, "Fingerprint of this review", plain(present.Groups(v.Fingerprint)))
	if k := c.atStake(stageReview2); k.Calls {
		c.outflow(c.snap.Review1)
	}
	if v.SameChainOnly {
		c.out.say("Nothing more gets signed: your first signature is all it takes. Confirm to run it.")
	}
}

// worst prints what can leave in the worst case, and whose calls they may be.
func (c *reviewSession) worst(v *verify.QuoteView) {
	first := c.snap.Review1
	if c.exchange() {
		first = nil
	}
	c.out.fact(0, "Worst case", plain(present.WorstCase(c.ctx.Catalog, v, first)))
	if present.Credits(v) {
		c.out.say(present.CreditsWords)
	}
}

// youAsked repeats the intent of a swap or a transfer, from its frozen form and nothing else.
func (c *reviewSession) youAsked() {
	d := c.snap.Intent
	if !c.exchange() || d.Pay == nil || d.Receive == nil {
		return
	}
	text := c.noun() + " " + c.asked(d.Pay.Asset, d.Pay.Amount) +
		map[bool]string{true: " for ", false: ", arriving as "}[d.Kind == intent.KindSwap] +
		c.assetWords(d.Receive.Asset)
	if d.Receive.Minimum != "" {
		text += ", at least " + c.asked(d.Receive.Asset, d.Receive.Minimum)
	}
	c.out.fact(0, "You asked", plain(text+"."))
	if a := accountIn(d.Receive.Account); a != "" {
		c.out.fact(0, "To", address(a))
	}
}

// payees repeats the payees of the calls.
func (c *reviewSession) payees() {
	if c.exchange() || c.snap.Review1 == nil {
		return
	}
	for _, p := range c.snap.Review1.Payees() {
		text := "."
		if p.Amount != nil {
			text = ", gets " + figure(*p.Amount) + "."
		}
		if p.FirstTime {
			text += " Warning: nothing was ever sent there before."
		}
		c.out.fact(0, "Payee", append(c.known(p.To), plain(text))...)
	}
}

// needs compares the need of the calls on the target chain with what the service says is there.
func (c *reviewSession) needs(v *verify.QuoteView) {
	for _, n := range v.Needs {
		bare := func(x *big.Int) string {
			if n.Need.Decimals < 0 {
				return amount.Group(x.String())
			}
			return amount.Human(x, n.Need.Decimals)
		}
		text := figure(n.Need) + "."
		if n.Have != nil && n.Short != nil { // else the balance there is unknown
			text += " The service says that " + bare(n.Have) + " is there; short " + bare(n.Short) + "."
		}
		c.out.fact(0, clean(n.Need.ChainName, 40)+" needs", plain(text))
	}
}

// legs prints the funding map: one line per payment, and where it is held.
func (c *reviewSession) legs(v *verify.QuoteView) {
	if len(v.Legs) == 0 {
		c.out.say("No payment on any other chain.")
	}
	n, total := c.firstCount(), c.total()
	for _, l := range v.Legs {
		if l.Delegation != nil {
			n++
			c.out.say("Signature " + itoa(n) + " of " + itoa(total) + ", not given yet: the delegation on " +
				clean(l.Chain.Name, 40) + ".")
		}
		n++
		text := "Signature " + itoa(n) + " of " + itoa(total) + ", not given yet: pays " + worth(l.Pays) + ", on " +
			clean(l.Chain.Name, 40)
		if l.Deploys {
			text += "; opens your account there"
		}
		c.out.say(text + ".")
		c.held(l)
		c.solana(l)
	}
}

// held says who gets a payment, in full.
func (c *reviewSession) held(l verify.LegView) {
	for _, p := range l.Parts {
		label, name := "goes to", "unknown contract"
		if p.Approval {
			label = "may be taken by"
		}
		if p.ToName != "" {
			name = clean(p.ToName, 60)
		}
		c.out.fact(2, label, address(p.To), plain(", "+name+": "+figure(p.Amount)+" ("+present.Percent(p.ShareBps)+
			" of the payment)"))
	}
	if l.Escrow == "" || len(l.Parts) > 0 {
		return
	}
	when := "released once your call ran"
	if c.exchange() {
		when = "released once it is delivered"
	}
	back := ", reclaimable after " + c.clock(l.RefundAfter)
	if l.Solana != nil {
		back = "; only the service can pay it back"
	}
	c.out.fact(2, "held in", address(l.Escrow), plain(", "+when+back+"; "+present.KeepsWords+"."))
}

// solana prints a Solana message as it will be signed: its fee payer, its instructions and its expiry.
func (c *reviewSession) solana(l verify.LegView) {
	v := l.Solana
	if v == nil {
		return
	}
	whose := "the service"
	for _, a := range c.snap.Intent.Accounts {
		if a.AccountAddress == v.FeePayer {
			whose = "you"
		}
	}
	c.out.fact(2, "fee paid by", address(v.FeePayer), plain(", "+whose))
	switch v.Memo {
	case "":
	case c.snap.Review2.ID:
		c.out.fact(2, "memo", plain("the id of this quote"))
	default:
		c.out.fact(2, "memo", plain(present.Groups(v.Memo)))
	}
	c.out.fact(2, "block hash", address(v.BlockHash))
	c.out.fact(2, "can run", plain("once, until this block hash is too old: at "+c.clock(l.Until)+" at the latest"))
	for i, x := range v.Instructions {
		head := "instruction " + itoa(i+1)
		switch {
		case x.ProgramName == "":
			c.out.fact(2, head+", unknown program", address(x.Program))
		case x.Name == "":
			c.out.fact(2, head, plain(clean(x.ProgramName, 60)+", not decoded"))
		default:
			c.out.fact(2, head, plain(clean(x.ProgramName, 60)+" "+clean(x.Name, 60)))
		}
		for k, a := range x.Args {
			switch {
			case a.Type == "address":
				c.out.fact(4, argName(a, k), address(a.Value))
			case strings.HasPrefix(a.Type, "bytes"), strings.HasPrefix(a.Value, "0x"):
				c.out.fact(4, argName(a, k), plain(present.Groups(a.Value)))
			default:
				c.out.fact(4, argName(a, k), plain(whole(a.Value)))
			}
		}
	}
}

// cost prints the payment, the delivery, the minimum, the fees, and the share of the cost that the fees explain.
func (c *reviewSession) cost(v *verify.QuoteView) {
	pays := consent.ByAsset(c.ctx.Catalog, v.Pay)
	for _, a := range pays {
		c.out.fact(0, "You pay", plain(worth(a)+"."))
	}
	if len(pays) == 0 {
		c.out.fact(0, "You pay", plain("nothing more."))
	}
	least := "At least"
	switch {
	case c.exchange() && !v.RecipientOwn:
		least = "Arrives at least"
	case c.exchange():
		least = "You get at least"
	}
	on := ""
	if c.exchange() && v.Minimum.ChainName != "" {
		on = ", on " + clean(v.Minimum.ChainName, 40)
	}
	exact := !c.exchange() && v.Minimum.Amount != nil && v.Delivered.Amount != nil &&
		v.Minimum.Amount.Cmp(v.Delivered.Amount) == 0
	switch {
	case exact:
		c.out.fact(0, "The call gets", plain(worth(v.Delivered)+", exactly that and not less."+elsewhere(v)))
	case c.exchange():
		c.out.fact(0, least, plain(worth(v.Minimum)+on+"."))
		c.out.fact(0, "Expected", plain(worth(v.Delivered)+"."))
	default:
		c.out.fact(0, "The call gets", plain(worth(v.Delivered)+"."+elsewhere(v)))
		c.out.fact(0, least, plain(worth(v.Minimum)+"."))
	}
	c.fees(v)
	c.out.fact(0, "Cost", plain(costWords(v)))
	c.arithmetic(v)
	if c.exchange() {
		c.out.fact(0, "Slippage", plain("the price may move by "+present.Percent(v.SlippageBps)+
			" against you, down to the least above; below it nothing is taken and you are paid back."))
	} else {
		c.out.fact(0, "Slippage", plain("the price may move by "+present.Percent(v.SlippageBps)+
			" before nothing is paid and you are paid back."))
	}
	c.unknowns(v)
	if v.Recipient == "" {
		return
	}
	c.out.fact(0, "Delivered to", c.known(v.Recipient)...)
	switch {
	case v.RecipientOwn:
		c.out.note("That is your own account.")
	case v.RecipientFirstTime:
		c.out.note("Warning: nothing was ever sent there before.")
	case !c.exchange():
	default:
		c.out.note("Not your own; paid before.")
	}
}

// elsewhere says which part of what the call gets this quote pays for; the rest is on the chain already.
func elsewhere(v *verify.QuoteView) string {
	for _, n := range v.Needs {
		if n.Need.Asset == v.Delivered.Asset && n.Short != nil && v.Delivered.Decimals >= 0 &&
			v.Delivered.Amount != nil && n.Short.Cmp(v.Delivered.Amount) < 0 {
			return " " + amount.Human(n.Short, v.Delivered.Decimals) + " of it comes from elsewhere."
		}
	}
	return ""
}

func (c *reviewSession) fees(v *verify.QuoteView) {
	said := amount.Unknown
	if v.FeeUSD != "" {
		said = "$" + clean(v.FeeUSD, 40)
	}
	switch fees := consent.ByAsset(c.ctx.Catalog, v.Fees); {
	case v.FeesMicro == nil && len(fees) == 0:
		c.out.fact(0, "Fees", plain("unknown: the quote does not say; they are part of what you pay."))
	case len(fees) == 0:
		c.out.fact(0, "Fees", plain("none; the service says "+said+"."))
	default:
		for _, a := range fees {
			c.out.fact(0, "Fees", plain(worth(a)+"; the service says "+said+"."))
		}
	}
}

// costWords is the loss on the way and the part of it that the fees explain.
func costWords(v *verify.QuoteView) string {
	text := amount.Unknown
	if v.CostMicro != nil {
		text = present.USD(v.CostMicro)
		if v.CostBps >= 0 {
			text += ", " + present.Percent(v.CostBps) + " of what you pay"
		}
	}
	if v.CostMicro == nil || v.UnexplainedMicro == nil || !v.Explained && v.UnexplainedMicro.Sign() <= 0 {
		return text + "; how much of it the fees explain is unknown."
	}
	share := "100 %"
	if v.CostMicro.Sign() > 0 && v.UnexplainedMicro.Sign() > 0 {
		part := new(big.Int).Sub(v.CostMicro, v.UnexplainedMicro)
		if part.Sign() < 0 {
			part.SetInt64(0)
		}
		share = part.Mul(part, big.NewInt(100)).Quo(part, v.CostMicro).String() + " %"
	}
	if v.Explained {
		return text + "; the fees explain " + share + "."
	}
	return text + ". Warning: the fees explain only " + share + "."
}

// arithmetic shows how the cost is computed, where all of its figures are known.
func (c *reviewSession) arithmetic(v *verify.QuoteView) {
	if v.PayMicro == nil || v.DeliverMicro == nil || v.CostMicro == nil {
		return
	}
	c.out.note("That is " + present.USD(v.PayMicro) + " paid, less " + present.USD(v.DeliverMicro) + " delivered.")
	if v.FeesMicro != nil && v.UnexplainedMicro != nil {
		c.out.note("Of it " + present.USD(v.FeesMicro) + " are fees, " + present.USD(v.UnexplainedMicro) +
			" are not explained.")
	}
}

// unknowns names every missing figure.
func (c *reviewSession) unknowns(v *verify.QuoteView) {
	var out []string
	miss := func(name string, missing bool) {
		if missing {
			out = append(out, name)
		}
	}
	miss("the value of what you pay", v.PayMicro == nil)
	miss("the value of what is delivered", v.DeliverMicro == nil)
	miss("the value of the fees", v.FeesMicro == nil)
	miss("what is delivered", v.Delivered.Amount == nil)
	miss("the least", v.Minimum.Amount == nil)
	for _, n := range v.Needs {
		miss("how much of the "+figure(n.Need)+" that it needs is there", n.Have == nil)
	}
	if len(out) > 0 {
		c.out.fact(0, "Unknown", plain(strings.Join(out, ", ")+"."))
	}
}

// assetWords names an asset of an intent: its symbol, and its chain if it belongs to one.
func (s *session) assetWords(asset string) string {
	text := present.AssetName(s.ctx.Catalog, asset)
	if on := chainIn(asset); on != "" {
		text += " on " + present.ChainName(s.ctx.Catalog, on)
	}
	return text
}
