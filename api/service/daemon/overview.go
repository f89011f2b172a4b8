package daemon

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/metrics"
	"coffer/api/service/overview"
)

// Status prints what the service of a data directory sees of its chains, for a person or as JSON.
func Status(ctx context.Context, dir string, asJSON bool, out io.Writer) error {
	o, err := service.AskOverview(ctx, dir)
	if err != nil {
		return err
	}
	if !asJSON {
		return o.Print(out)
	}
	raw, err := api.Encode(o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", raw.Raw())
	return err
}

// chainFigures are the figures of an overview. One that is not known is left out.
func chainFigures(o overview.Overview) []metrics.Figure {
	var all gauges
	for _, c := range o.Chains {
		chain := [2]string{"chain", strconv.FormatUint(c.ID, 10)}
		all.add("coffer_chain_nodes_up", "Nodes that can be asked.", float64(c.Usable()), chain)
		all.add("coffer_chain_nodes", "Nodes that the file names.", float64(len(c.Endpoints)), chain)
		all.add("coffer_chain_quorum", "Nodes that must agree.", float64(c.Quorum), chain)
		all.add("coffer_chain_gas_coins", "Coins of the sending key.", c.Gas.Whole(18), chain)
		if c.Operations != nil {
			all.add("coffer_chain_gas_operations", "Operations that these coins pay for, about.",
				float64(*c.Operations), chain)
		}
		if c.Lane.Known {
			all.add("coffer_chain_lane_waiting", "Transactions that wait for their end.", float64(c.Lane.Waiting),
				chain)
		}
		all.add("coffer_chain_lane_stopped", "1 when the lane sends nothing.",
			bit(c.Lane.Stopped != "" || c.Lane.Held != ""), chain)
		for _, s := range c.Stock {
			asset := [2]string{"asset", s.Symbol}
			all.add("coffer_chain_stock", "What the filler has, in whole units.", s.Has.Whole(s.Decimals), chain, asset)
			all.add("coffer_chain_stock_free", "What may leave the filler now, in whole units.",
				s.Free.Whole(s.Decimals), chain, asset)
			all.add("coffer_chain_stock_promised", "What is still to be delivered, in whole units.",
				s.Promised.Whole(s.Decimals), chain, asset)
		}
	}
	all.add("coffer_escrow_usd", "Worth of what is in escrow or about to be.", dollars(o.Exposure))
	all.add("coffer_escrow_cap_usd", "What the operator lets be in escrow.", dollars(o.Cap))
	all.add("coffer_escrow_deposits", "Deposits that are neither released nor given back.", float64(len(o.Escrowed)))
	if len(o.Escrowed) > 0 {
		all.add("coffer_escrow_seconds", "Time until the first of them can be taken back.",
			o.Escrowed[0].Deadline.Sub(o.At).Seconds())
	}
	all.add("coffer_alerts", "What needs the operator.", float64(len(o.Alerts())))
	return all.sorted()
}

// gauges are series by name, in the order in which the names came.
type gauges struct {
	names  []string
	series map[string][]metrics.Figure
}

// add leaves out what is no number.
func (g *gauges) add(name, help string, value float64, labels ...[2]string) {
	if math.IsNaN(value) {
		return
	}
	if g.series == nil {
		g.series = map[string][]metrics.Figure{}
	}
	if g.series[name] == nil {
		g.names = append(g.names, name)
	}
	g.series[name] = append(g.series[name], metrics.Figure{Name: name, Help: help, Labels: labels, Value: value})
}

func (g *gauges) sorted() (out []metrics.Figure) {
	for _, name := range g.names {
		out = append(out, g.series[name]...)
	}
	return out
}

func bit(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

func dollars(n api.Number) float64 {
	v, err := strconv.ParseFloat(string(n), 64)
	if err != nil {
		return math.NaN()
	}
	return v
}
