package compose

import (
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose/payuri"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// Payment is the form that pays what a payment request asks for. On an EVM chain that is a call, so that the recipient
// gets the amount exactly, from whatever chain it is paid; on Solana a transfer, whose costs are taken out of it. note
// says what the request asks for and is not kept; an amount that it leaves open stays empty.
func (w *World) Payment(request string) (form Form, note, problem string) {
	r, err := payuri.Parse(request)
	if err != nil {
		return nil, "", err.Error()
	}
	e, problem := w.requested(r)
	if problem != "" {
		return nil, "", problem
	}
	if len(r.Lost) > 0 {
		note = "not kept of the request: " + strings.Join(r.Lost, ", ")
	}
	if !r.Solana {
		b := w.NewCalls(e.Asset.Chain)
		figure := ""
		if r.Amount != "" {
			v, err := amount.ParseBase(r.Amount)
			if err != nil {
				return nil, "", "the amount of the request is too large"
			}
			figure = amount.Plain(v, e.Decimals)
		}
		b.Calls[0].Pay(e.Asset, r.To, figure)
		return b, note, ""
	}
	if v, err := amount.Parse(r.Amount, e.Decimals); r.Amount != "" {
		if err != nil {
			return nil, "", e.Symbol + " has " + present.Plural(e.Decimals, "decimal", "decimals") +
				": the amount of the request is no amount of it"
		}
		r.Amount = amount.Plain(v, e.Decimals)
	}
	x := NewExchange(intent.KindTransfer)
	x.Pay, x.To, x.Amount = e.Aggregate.String(), r.To, r.Amount
	if problem := x.ArriveOn(w, e.Asset.Chain); problem != "" {
		return nil, "", problem
	}
	if w.Itself(x) { // exactly the amount arrives
		return x, note, ""
	}
	if note != "" {
		note += "; "
	}
	return x, note + "costs are taken out of the amount, so the recipient gets less", ""
}

// requested is the asset that a request is about.
func (w *World) requested(r payuri.Request) (catalog.Entity, string) {
	chain, where := caip.EVM(r.Chain), "chain "+strconv.FormatUint(r.Chain, 10)
	if r.Solana {
		if why := w.noSolana(); why != "" {
			return catalog.Entity{}, why
		}
		chain, where = w.Catalog.Solana().Chain, "Solana"
	}
	if _, served := w.Catalog.Chain(chain); !served && !r.Solana {
		return catalog.Entity{}, where + " of the payment request is not served here"
	}
	for _, a := range w.Catalog.Aggregates() {
		for _, e := range a.Entities {
			id := e.Asset.String()
			if e.Asset.Chain == chain && (r.Token == "" && e.Asset.IsNative() || r.Token != "" && !e.Asset.IsNative() &&
				(strings.HasSuffix(id, ":"+r.Token) || !r.Solana &&
					strings.EqualFold(id[strings.LastIndexByte(id, ':')+1:],
						r.Token))) {
				return e, ""
			}
		}
	}
	return catalog.Entity{}, "the payment request is about a token that is not known on " + w.ChainName(chain) + ": " +
		r.Token
}
