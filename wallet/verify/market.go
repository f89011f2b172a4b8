package verify

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/text"
)

// Prices of a network of real assets that a service runs are those of a market, as the person's own nodes read them;
// the figures that this program was built with, and the service's, count for nothing there (TH-Q11, Y4, Y5).

const microDecimals = 6

// NoMarket is why there is no price where no node of the person's own reads any.
const NoMarket = "no node of yours reads a price feed: coffer profile nodes --add CHAIN=URL"

// MarketRead begins the note about the prices that a review counts with.
const MarketRead = "Prices that your nodes read from Chainlink's feeds: "

// withoutPrice names an asset, and why its price is unknown in a market.
func (p Policy) withoutPrice(a caip.Asset) string {
	e, known := p.Catalog.Entity(a)
	m, watched := p.Catalog.Market(e.Aggregate)
	if !known || !watched || m.Problem == "" {
		return a.Display()
	}
	on, _ := p.Catalog.Chain(a.Chain)
	return e.Symbol + " on " + on.Name + ": " + text.Clean(m.Problem, 200)
}

// unpriced names the assets of some amounts whose price a market does not say, with the reasons; "" for none.
func (p Policy) unpriced(list []AmountView) string {
	var out []string
	for _, a := range list {
		e, known := p.Catalog.Entity(a.Asset)
		m, watched := p.Catalog.Market(e.Aggregate)
		if !known || !watched || m.MicroUSD != nil {
			continue
		}
		if words := e.Symbol + " has no price (" + text.Clean(m.Problem, 200) + ")"; !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	return text.Few(out, 2)
}

// valued are the amounts whose prices decide about a quote.
func (v QuoteView) valued() []AmountView {
	out := append(slices.Clone(v.Pay), v.Delivered)
	for _, n := range v.Needs {
		out = append(out, n.Need)
	}
	return out
}

// market notes the prices that a review counts with, where they are those of a market: their source and age.
func (j *judge) market(list []AmountView) {
	var out []string
	for _, a := range list {
		e, known := j.Catalog.Entity(a.Asset)
		m, watched := j.Catalog.Market(e.Aggregate)
		if !known || !watched || m.MicroUSD == nil {
			continue
		}
		price := amount.Trim(amount.Plain(m.MicroUSD, microDecimals))
		words := e.Symbol + " $" + price + " (" + m.Source + ", " + age(j.now.Sub(m.Updated)) + ")"
		if !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	if len(out) > 0 {
		j.add(Show, "Q11", MarketRead+strings.Join(out, "; ")+".", "", "", "")
	}
}

// age says how old something is, to the minute below an hour and to the hour above.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "less than a minute old"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min old"
	}
	return strconv.Itoa(int(d/time.Hour)) + " h old"
}
