package present

import (
	"fmt"
	"math/big"
	"strings"

	"coffer/api/amount"
	"coffer/api/gastank"
)

// TankLine is a line of what is known of a gas tank. Label is "" where it is that of the line before. Warn: something
// keeps the tank from paying.
type TankLine struct {
	Label, Text string
	Warn        bool
}

// What is shown of a tank: the decimals of the native coin of every EVM chain, and bounds in characters.
const (
	coinDecimals  = 18
	maxTankText   = 300
	maxTankSymbol = 40
)

// Tank is what is known of a gas tank, beside its address. own are the accounts that it pays for;
// hidden leaves out what it has.
func Tank(r gastank.Report, own []Own, hidden bool) (out []TankLine) {
	for _, c := range r.Chains {
		lines := chainLines(c, hidden)
		lines[0].Label = Clean(fmt.Sprintf("%s (%d)", c.Name, c.ID), maxTankText)
		out = append(out, lines...)
	}
	label := "paid in 24 hours"
	for _, p := range r.Paid {
		who := Clean(p.Account, maxTankText)
		for _, a := range own {
			if strings.EqualFold(a.AccountAddress, p.Account) && a.Name != "" {
				who += " (" + Clean(a.Name, maxTankText) + ")"
			}
		}
		line := TankLine{Label: label, Text: fmt.Sprintf("%d of %d operations for %s", p.Operations, r.Most, who)}
		if line.Warn = p.Operations >= r.Most; line.Warn {
			line.Text += ": no more until some are older"
		}
		out, label = append(out, line), ""
	}
	return out
}

func chainLines(c gastank.Chain, hidden bool) []TankLine {
	has := TankLine{Text: amount.Unknown, Warn: c.Operations != nil && *c.Operations == 0}
	if v := c.Wei(); v != nil {
		has.Text = Wei(v, c.Symbol)
	}
	switch {
	case hidden:
		has.Text = "amount hidden"
	case c.Operations != nil && *c.Operations == 0:
		has.Text += ", not enough for one operation"
	case c.Operations != nil:
		has.Text += ", for about " + Plural(int(min(*c.Operations, 1<<31)), "operation", "operations") //nolint:gosec
	}
	lines := []TankLine{has}
	add := func(warn bool, text string) { lines = append(lines, TankLine{"", Clean(text, maxTankText), warn}) }
	switch {
	case c.Stopped != "":
		add(true, fmt.Sprintf("STOPPED until you decide (coffer network resume %d): %s", c.ID, c.Stopped))
	case c.Held != "":
		add(true, "waits for an explanation: "+c.Held)
	}
	for _, id := range c.UnderWay {
		add(false, "under way: "+id)
	}
	if c.Problem != "" {
		add(true, "not all is known: "+c.Problem)
	}
	return lines
}

// Wei is an amount of the native coin of an EVM chain, in wei, with its symbol.
func Wei(wei *big.Int, symbol string) string {
	return amount.Human(wei, coinDecimals) + " " + Clean(symbol, maxTankSymbol)
}
