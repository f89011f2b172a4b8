package netstatus

import (
	"math/big"
	"strconv"

	"coffer/api/service/metrics"
)

// Series are the figures for Prometheus: amounts in whole coins, worth in dollars. What is unknown is left out.
func (s *Status) Series() []metrics.Family {
	var f families
	f.add("coffer_network_read_timestamp_seconds", "When the figures of the network were read, in Unix seconds.",
		float64(s.At.Unix()))
	for _, c := range s.Chains {
		chain := metrics.Label{Name: "chain", Value: strconv.FormatUint(c.ID, 10)}
		f.nodes(c, chain)
		if c.Gas != nil {
			f.add("coffer_gas_coins", "Coins for gas of the service's key.", whole(c.Gas.Has, 18), chain)
			f.add("coffer_gas_operations", "About how many operations the coins for gas pay.",
				float64(c.Gas.Operations), chain)
		}
		if l := c.Lane; l != nil {
			f.add("coffer_lane_sends", "1 while the lane sends, 0 while it has stopped or waits.",
				truth(l.Stopped == "" && l.Held == ""), chain)
			f.add("coffer_lane_sent", "Transactions that the lane sent.", float64(l.Sent), chain)
			f.add("coffer_lane_open", "Steps of the lane that are under way.", float64(len(l.Open)), chain)
			if l.Used != nil {
				f.add("coffer_lane_used", "Transactions of the service's key that the chain has.", float64(*l.Used),
					chain)
			}
		}
		if c.Hot != nil {
			f.add("coffer_hot_key_known", "1 while the filler knows the service's key.", truth(*c.Hot), chain)
		}
		if c.Paused != nil {
			f.add("coffer_filler_paused", "1 while the filler's owner has paused it.", truth(*c.Paused), chain)
		}
		for _, h := range c.Inventory {
			f.holding(h, chain)
		}
	}
	f.money(s)
	f.attesters(s.Attesters)
	return f
}

type families []metrics.Family

func (f *families) nodes(c Chain, chain metrics.Label) {
	if c.Block != nil {
		f.add("coffer_block", "The newest block that enough endpoints have.", float64(*c.Block), chain)
	}
	f.add("coffer_quorum", "1 while enough endpoints of the chain agree.", truth(c.Quorum.Agrees), chain)
	f.add("coffer_quorum_need", "How many endpoints of the chain must agree.", float64(c.Quorum.Need), chain)
	states, outvoted := map[string]int{}, uint64(0)
	for _, e := range c.Endpoints {
		states[e.State]++
		outvoted += e.Disagreed
	}
	for _, state := range []string{"up", "behind", "resting", "untried"} {
		f.add("coffer_endpoints", "Endpoints of the chain by state.", float64(states[state]), chain,
			metrics.Label{Name: "state", Value: state})
	}
	f.add("coffer_endpoints_outvoted", "Answers of the chain's endpoints that a quorum outvoted, since the start.",
		float64(outvoted), chain)
}

func (f *families) add(name, help string, value float64, labels ...metrics.Label) {
	for i := range *f {
		if (*f)[i].Name == name {
			(*f)[i].Samples = append((*f)[i].Samples, metrics.Sample{Labels: labels, Value: value})
			return
		}
	}
	*f = append(*f, metrics.Family{Name: name, Help: help, Samples: []metrics.Sample{{Labels: labels, Value: value}}})
}

func (f *families) holding(h Holding, chain metrics.Label) {
	labels := []metrics.Label{chain, {Name: "asset", Value: h.Asset}, {Name: "symbol", Value: h.Symbol}}
	for _, one := range []struct {
		name, help string
		v          *big.Int
	}{
		{"coffer_inventory", "What the filler has of an asset.", h.Has},
		{"coffer_cap_left", "What the filler's cap lets out of an asset now.", h.Left},
		{"coffer_cap_capacity", "What the filler's cap lets out of an asset at once.", h.Capacity},
		{"coffer_cap_refill", "How much more of an asset the filler's cap lets out each second.", h.Refill},
		{"coffer_inventory_promised", "What accepted quotes will still take of an asset.", h.Promised},
		{"coffer_inventory_delivered", "What quotes of the last 7 days delivered of an asset.", h.Delivered},
		{"coffer_inventory_deposited", "What quotes of the last 7 days brought in of an asset.", h.Deposited},
	} {
		if one.v != nil {
			f.add(one.name, one.help, whole(one.v, h.Decimals), labels...)
		}
	}
}

// escrowed adds what is in escrow by chain and asset, and how many of the deposits were paid for by a delivery.
func (f *families) escrowed(held []Deposit) {
	type place struct {
		chain         uint64
		asset, symbol string
	}
	sums, delivered := map[place]float64{}, 0
	var order []place
	for _, d := range held {
		at := place{d.Chain, d.Asset, d.Symbol}
		if _, known := sums[at]; !known {
			order = append(order, at)
		}
		sums[at] += whole(d.Amount, d.Decimals)
		if d.Delivered {
			delivered++
		}
	}
	for _, at := range order {
		f.add("coffer_escrowed", "What is in escrow of an asset.", sums[at],
			metrics.Label{Name: "chain", Value: strconv.FormatUint(at.chain, 10)},
			metrics.Label{Name: "asset", Value: at.asset}, metrics.Label{Name: "symbol", Value: at.symbol})
	}
	f.add("coffer_deposits_delivered", "Deposits in escrow of which the delivery was made.", float64(delivered))
}

func (f *families) money(s *Status) {
	if s.Deposits != nil {
		f.add("coffer_deposits", "Deposits in escrow.", float64(len(s.Deposits.Held)))
		f.escrowed(s.Deposits.Held)
		if left, any := s.Deposits.least(); any {
			f.add("coffer_deposit_seconds_left", "Time to the earliest deadline of a deposit in escrow.",
				left.Sub(s.At).Seconds())
		}
	}
	if e := s.Exposure; e != nil {
		if e.Used != nil {
			f.add("coffer_exposure_usd", "Worth of what is in escrow.", whole(e.Used, usd))
		}
		f.add("coffer_exposure_cap_usd", "What may be in escrow at once.", whole(e.Cap, usd))
	}
	if g := s.Sponsored; g != nil {
		f.add("coffer_sponsored_usd", "Gas of the last 24 hours that no one paid for.", whole(g.Sum, usd))
		f.add("coffer_sponsored_most_usd", "That of the account that cost most.", whole(g.Most, usd))
		f.add("coffer_sponsored_cap_usd", "What one account may cost.", whole(g.Cap, usd))
		f.add("coffer_sponsored_accounts", "Accounts that cost such gas in 24 hours.", float64(g.Accounts))
	}
	for _, p := range s.Prices {
		if p.Micro != nil {
			f.add("coffer_price_usd", "Price of an asset of the inventory.", whole(p.Micro, usd),
				metrics.Label{Name: "asset", Value: p.Asset})
		}
		f.add("coffer_price_known", "1 while an asset of the inventory has a price.", truth(p.Micro != nil),
			metrics.Label{Name: "asset", Value: p.Asset})
	}
	counts := map[string]int{}
	for _, a := range s.Alerts {
		counts[a.Code]++
	}
	for _, code := range Codes() {
		f.add("coffer_alerts", "Alerts that last, by code.", float64(counts[code]),
			metrics.Label{Name: "code", Value: code})
	}
}

func (f *families) attesters(a *Attesters) {
	if a == nil {
		return
	}
	f.add("coffer_attesters_needed", "Attesters that must sign before a deposit is released.", float64(a.Threshold))
	for _, m := range a.Members {
		f.add("coffer_attester_answers", "1 while an attester counts.", truth(m.Answers),
			metrics.Label{Name: "attester", Value: m.Address.Hex()})
	}
}

// usd are the decimals of micro-USD.
const usd = 6

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// whole is an amount in whole units, as near as a figure for a graph comes.
func whole(v *big.Int, decimals int) float64 {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	out, _ := new(big.Rat).SetFrac(v, unit).Float64()
	return out
}
