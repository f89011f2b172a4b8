package present

import (
	"cmp"
	"strings"

	"coffer/api"
)

// Bounds of a figure in a list: its significant digits, and the zeros behind the point from which it is only "less".
const (
	briefDigits = 6
	briefZeros  = 8
)

// Brief shortens the number of a figure such as "0.00164133 ETH" to its first significant digits, towards zero, and
// marks that there are more with more. The digits before the point all stay; what is close to zero is "<0.00000001".
func Brief(figure, more string) string {
	number, unit, _ := strings.Cut(figure, " ")
	whole, fraction, _ := strings.Cut(number, ".")
	zeros := len(fraction) - len(strings.TrimLeft(fraction, "0"))
	room := max(0, briefDigits-len(strings.ReplaceAll(whole, ",", "")))
	if whole == "0" {
		room = briefDigits + zeros
	}
	switch {
	case len(fraction) <= min(room, briefZeros):
		return figure
	case whole == "0" && zeros >= briefZeros:
		return strings.TrimSpace("<0." + strings.Repeat("0", briefZeros-1) + "1 " + unit)
	}
	if fraction = strings.TrimRight(fraction[:min(len(fraction), room)], "0"); fraction != "" {
		whole += "." + fraction
	}
	if len(whole) < len(number) {
		whole += more
	}
	return strings.TrimSpace(whole + " " + unit)
}

// Deed says what a record did, for a list: "5 USDC → 0.00164 ETH", "1,300.5 USDC → Demo payee", "call on Base". paid
// and got are figures with their units, "" for none; whom is Receipts.Whom, where the name of the target chain.
func Deed(kind, paid, got, whom, where, arrow string) string {
	to := whom
	if to == "" {
		to = where
	}
	switch {
	case kind == TypeReceived:
		return "received " + got
	case kind == TypeSent:
		return "sent " + cmp.Or(paid, "a fee alone")
	case kind == TypeSeen:
		return "a transaction on " + where
	case got == "":
		return strings.ToLower(Clean(kind, 20)) + " on " + where
	case kind != api.RecordSwap, paid == "":
		return got + " " + arrow + " " + to
	case whom != "":
		return paid + " " + arrow + " " + got + " " + arrow + " " + whom
	}
	return paid + " " + arrow + " " + got
}

// AmountLabels labels both amounts: nothing that never arrived, and nothing that a call used, is called received.
func AmountLabels(kind, status string) (paid, received string) {
	switch status {
	case StatusSeen:
		return "sent", "received"
	case api.StatusCompleted, api.StatusExecuted:
		if Used(kind) {
			return "paid", "call used"
		}
		return "paid", "received"
	case api.StatusRefunded:
		return "came back", "undelivered"
	case api.StatusFailed:
		return "not paid", "undelivered"
	}
	if Used(kind) {
		return "to pay", "call needs"
	}
	return "to pay", "to get"
}
