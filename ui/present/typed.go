package present

import "coffer/wallet/verify"

// Typed says what a typed transfer or swap would do before it is quoted: pays leaves, and to gets it, "" is the own
// account of a swap. An amount of gets is the least that may arrive; without one the quote says how much it is.
func (r Review) Typed(pays, gets verify.AmountView, to string) string {
	on := ""
	if gets.ChainName != "" {
		on = " on " + Clean(gets.ChainName, 40)
	}
	if r.Intent.Kind != "swap" {
		return "Send " + near(pays, true) + ", less the fees, to " + r.payeeWords(to) + on + "."
	}
	if gets.Amount == nil {
		gets.Symbol = Clean(gets.Symbol, 60)
	} else {
		gets.Symbol = "at least " + near(gets, false)
	}
	whom := ""
	if to != "" {
		whom = " for " + r.payeeWords(to)
	}
	return "Swap " + near(pays, true) + " for " + gets.Symbol + on + whom + "."
}
