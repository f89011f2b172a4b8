package compose

import (
	"slices"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/intent"
)

const unknownAsset = "this asset is not known here"

func (x *Exchange) check(k *checker) {
	from, okFrom := k.w.Side(x.Pay)
	_, okTo := k.w.Side(x.Receive)
	if k.need(IDPay, x.Pay, "choose what is paid") {
		switch {
		case !okFrom:
			k.put(IDPay, k.w.unknownAsset(x.Pay, unknownAsset))
		case from.Exact && !k.w.Holds(from.Entity.Asset.Chain):
			k.put(IDPay, "none of your accounts is on "+k.w.ChainName(from.Entity.Asset.Chain))
		case k.w.OwnNodes:
			x.checkOwnNodes(k, from)
		}
	}
	if okFrom {
		decimals, symbol := from.Decimals, from.Agg.Symbol
		if d, name, one := k.w.Delivered(x); (x.exact(k.w) || k.w.Itself(x)) && one {
			decimals, symbol = d, name
		}
		k.amount(IDAmount, x.Amount, decimals, symbol)
	}
	if k.w.Itself(x) && !k.w.Holds(k.w.Arrives(x)) {
		k.put(IDReceive, "none of your accounts is on "+k.w.ChainName(k.w.Arrives(x)))
	}
	if at := k.w.Arrives(x); x.exact(k.w) && at != (caip.Chain{}) {
		x.checkExact(k, at)
	}
	if k.need(IDReceive, x.Receive, "choose what arrives, and where") {
		switch {
		case !okTo:
			k.put(IDReceive, k.w.unknownAsset(x.Receive, unknownAsset))
		case okFrom:
			x.checkPair(k)
		}
	}
	x.checkTarget(k)
	if trim(x.Minimum) != "" && okTo {
		if decimals, symbol, one := k.w.Delivered(x); !one {
			k.put(IDMin, "its units differ by chain: choose the chain above, then the minimum means something")
		} else {
			k.amount(IDMin, x.Minimum, decimals, symbol)
		}
	}
}

// checkExact checks what delivers an exact amount: a call of the own account on the chain of arrival.
func (x *Exchange) checkExact(k *checker, at caip.Chain) {
	switch _, evm := at.EVMID(); {
	case x.What != intent.KindTransfer:
		k.put(IDExact, "a swap delivers what the price leaves: name a minimum instead")
	case !evm:
		k.put(IDExact, "exact amounts arrive on EVM chains only: here the cost is deducted")
	case !k.w.Holds(at):
		k.put(IDExact, "none of your accounts is on "+k.w.ChainName(at))
	}
}

// NoSolver says what a network on own nodes cannot do.
const NoSolver = "this network has no solver"

// checkOwnNodes refuses what takes a solver: a swap, and a payment from another chain than that of arrival.
func (x *Exchange) checkOwnNodes(k *checker, from Side) {
	at := k.w.Arrives(x)
	switch {
	case x.What == intent.KindSwap:
		k.put(IDPay, NoSolver+", so nothing is swapped here: call an exchange, or use an operator")
	case from.Exact && at != (caip.Chain{}) && from.Entity.Asset.Chain != at:
		k.put(IDPay, NoSolver+": pay with what you have on "+k.w.ChainName(at)+", or use an operator")
	}
}

// SamePair begins the mistake of a swap of an asset for itself.
const SamePair = "both sides are "

// checkPair checks both assets together.
func (x *Exchange) checkPair(k *checker) {
	from, _ := k.w.Side(x.Pay)
	to, _ := k.w.Side(x.Receive)
	switch {
	case x.What == intent.KindTransfer && from.Agg.ID != to.Agg.ID:
		k.put(IDReceive, "a transfer delivers what it sends: choose a chain that has "+from.Agg.Symbol)
	case x.What == intent.KindSwap && from.Agg.ID == to.Agg.ID:
		k.put(IDReceive, SamePair+to.Agg.Symbol)
	}
}

func (k *checker) amount(id, text string, decimals int, symbol string) {
	if k.need(id, text, amountNeeded) {
		_, problem := Positive(trim(text), decimals, symbol)
		k.put(id, problem)
	}
}

// checkTarget checks the recipient. Only a transfer must name one.
func (x *Exchange) checkTarget(k *checker) {
	at := k.w.Arrives(x)
	switch {
	case trim(x.To) == "" && x.What == intent.KindSwap:
		k.put(IDTarget, k.w.receiverNeeded(x))
		return
	case !k.need(IDTarget, x.To, addressNeeded):
		return
	case at == (caip.Chain{}) && x.Receive != "":
		k.put(IDReceive, "choose the chain of the recipient")
	}
	_, problem := k.w.Recipient(at, x.To)
	k.put(IDTarget, problem)
}

// receiverNeeded says which address a swap needs because none of the accounts can receive it; "" when one can.
func (w *World) receiverNeeded(x *Exchange) string {
	to, ok := w.Side(x.Receive)
	at := w.Arrives(x)
	switch {
	case !ok || at != (caip.Chain{}) && w.Holds(at):
	case at.IsSolana():
		return "enter a Solana address: none of your accounts is on Solana"
	case at != (caip.Chain{}):
		return "enter an address on " + w.ChainName(at) + ": none of your accounts is there"
	case !slices.ContainsFunc(to.Agg.Entities, func(e catalog.Entity) bool { return w.Holds(e.Asset.Chain) }):
		return "choose a chain, then enter an address there: none of your accounts can receive " + to.Agg.Symbol
	}
	return ""
}
