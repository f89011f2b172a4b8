package overview

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"coffer/api"
	"coffer/api/amount"
)

// Print writes an overview for a person.
func (o Overview) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if o.Cap == "" {
		fmt.Fprintf(w, "A %s network on your own nodes, looked at on %s\n", o.Kind, o.At.Format(time.DateTime+" UTC"))
	} else {
		fmt.Fprintf(w, "A %s network of an operator, looked at on %s\n", o.Kind, o.At.Format(time.DateTime+" UTC"))
		fmt.Fprintf(w, "Payments under way: %d. In escrow: %s of at most %s\n", o.Open, dollars(o.Exposure),
			dollars(o.Cap))
	}
	for _, c := range o.Chains {
		c.print(w)
	}
	if len(o.Escrowed) > 0 {
		fmt.Fprintln(w, "\nDeposits in escrow, the next deadline first")
		fmt.Fprintln(w, "  chain\tamount\tcan be taken back\tquote")
	}
	for _, d := range o.Escrowed {
		fmt.Fprintf(w, "  %s\t%s %s\t%s\t%s\n", o.name(d.ChainID), figure(d.Amount, d.Decimals), d.Symbol,
			until(d.Deadline.Sub(o.At)), d.Quote)
	}
	var alerts []string
	for _, a := range o.Alerts() {
		alerts = append(alerts, "  "+a.Code+"\t"+a.Words)
	}
	if len(alerts) > 0 {
		fmt.Fprintln(w, "\nNeeds you\n"+strings.Join(alerts, "\n"))
	}
	return w.Flush()
}

func (o Overview) name(chain uint64) string {
	for _, c := range o.Chains {
		if c.ID == chain {
			return c.Name
		}
	}
	return strconv.FormatUint(chain, 10)
}

func (c Chain) print(w io.Writer) {
	fmt.Fprintf(w, "\n%s (%d)\n", c.Name, c.ID)
	if c.Problem != "" {
		fmt.Fprintf(w, "  problem\t%s\n", c.Problem)
	}
	gas := amount.Unknown
	if c.Operations != nil {
		gas = fmt.Sprintf("%s %s, good for about %d operations", figure(c.Gas, 18), c.Coin, *c.Operations)
	}
	fmt.Fprintf(w, "  gas\t%s: %s\n", c.Key, gas)
	fmt.Fprintf(w, "  lane\t%s\n", c.Lane)
	for i, e := range c.Endpoints {
		label, words := "", e.Host+", "+e.State
		if i == 0 {
			label = "nodes"
		}
		if e.State != "up" && e.Fault != "" {
			words += ": " + e.Fault
		}
		if e.Disagreed > 0 {
			words += fmt.Sprintf("; outvoted %d times", e.Disagreed)
		}
		fmt.Fprintf(w, "  %s\t%s\n", label, words)
	}
	if c.Paused {
		fmt.Fprintln(w, "  paused\tby the owner of the filler: nothing leaves it")
	}
	for i, s := range c.Stock {
		label := ""
		if i == 0 {
			label = "filler"
		}
		words := figure(s.Has, s.Decimals) + " " + s.Symbol + ", may pay out " + figure(s.Free, s.Decimals)
		if s.Promised != "0" {
			words += ", promised " + figure(s.Promised, s.Decimals)
		}
		fmt.Fprintf(w, "  %s\t%s\n", label, words)
	}
}

// String says it in words.
func (l Lane) String() string {
	words := "nothing waits"
	switch {
	case l.Stopped != "":
		words = "stopped: " + l.Stopped
	case l.Held != "":
		words = "sends nothing: " + l.Held
	case !l.Known:
		words = amount.Unknown
	}
	switch {
	case l.Waiting == 1:
		words = "1 transaction waits; " + words
	case l.Waiting > 1:
		words = strconv.Itoa(l.Waiting) + " transactions wait; " + words
	}
	return strings.TrimSuffix(words, "; nothing waits")
}

func figure(u Units, decimals int) string {
	v := u.number()
	if v == nil {
		return amount.Unknown
	}
	return amount.Group(amount.Trim(amount.Format(v, decimals)))
}

func dollars(n api.Number) string {
	if n == "" {
		return amount.Unknown
	}
	return "$" + amount.Group(amount.USD2(micro(n)))
}

// until says how long something takes from now.
func until(d time.Duration) string {
	if d <= 0 {
		return "now"
	}
	return "in " + strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
