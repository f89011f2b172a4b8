package linear

import (
	"math/big"

	"coffer/api/amount"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// alike writes two known amounts with the larger number of decimals, without rounding.
func alike(a, b verify.AmountView) (x, y *big.Int, decimals int) {
	decimals = max(a.Decimals, b.Decimals)
	return amount.Scale(a.Amount, a.Decimals, decimals), amount.Scale(b.Amount, b.Decimals, decimals), decimals
}

// changes prints the differences between a quote and the previous one, figure by figure.
func (c *reviewSession) changes(old, now *verify.QuoteView) {
	c.out.say("This is a new quote. What was typed for the old one does not count. Changes:")
	pays, paid := consent.ByAsset(c.ctx.Catalog, now.Pay), consent.ByAsset(c.ctx.Catalog, old.Pay)
	for _, a := range pays {
		c.change1("You pay", find(paid, a), a)
	}
	for _, b := range paid {
		if find(pays, b) == nil {
			c.out.fact(2, "You pay", plain("no more "+figure(b)+"."))
		}
	}
	label := "The call gets"
	if c.exchange() {
		label = "Expected"
		c.change1("At least", find([]verify.AmountView{old.Minimum}, now.Minimum), now.Minimum)
	}
	c.change1(label, find([]verify.AmountView{old.Delivered}, now.Delivered), now.Delivered)
	fees, charged := consent.ByAsset(c.ctx.Catalog, now.Fees), consent.ByAsset(c.ctx.Catalog, old.Fees)
	for _, a := range fees {
		c.change1("Fees", find(charged, a), a)
	}
	if old.Recipient != now.Recipient {
		c.out.fact(2, "Delivered to another account than before", address(now.Recipient))
	}
	if len(old.Legs) != len(now.Legs) {
		c.out.fact(2, "Payments", plain(itoa(len(now.Legs))+", were "+itoa(len(old.Legs))+"."))
	}
	c.out.say("The whole new review:")
}

// change1 prints a figure, its previous value and the difference.
func (c *reviewSession) change1(label string, before *verify.AmountView, a verify.AmountView) {
	if a.Amount == nil && before == nil {
		return
	}
	if before == nil || a.Amount == nil {
		c.out.fact(2, label, plain(figure(a)+", new."))
		return
	}
	x, y, decimals := a.Amount, before.Amount, a.Decimals
	if a.Decimals >= 0 && before.Decimals >= 0 {
		x, y, decimals = alike(a, *before)
	}
	diff := new(big.Int).Sub(x, y)
	if diff.Sign() == 0 {
		c.out.fact(2, label, plain(figure(a)+", the same as before."))
		return
	}
	word := "more"
	if diff.Sign() < 0 {
		word = "less"
	}
	diff.Abs(diff)
	text := diff.String()
	if decimals >= 0 {
		text = amount.Human(diff, decimals)
	}
	c.out.fact(2, label, plain(figure(a)+", was "+figure(*before)+": "+text+" "+word+"."))
}

func find(list []verify.AmountView, a verify.AmountView) *verify.AmountView {
	for i := range list {
		if list[i].Asset == a.Asset && list[i].Amount != nil {
			return &list[i]
		}
	}
	return nil
}
