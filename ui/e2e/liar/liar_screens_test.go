//go:build unix

package liar

import (
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"coffer/api/amount"
	"coffer/ui/e2e/rig"
)

// What reviews say can leave the account: the stated sum, or else what is shown of the call and of the payments, on the
// dashboard and by commands.
var (
	reUpTo   = regexp.MustCompile(`[Uu]p to ([^()]+) \([^)]*\) can leave`)
	reAmount = regexp.MustCompile(`([0-9][0-9,.]*) ([A-Za-z.]+)`)
	reShown  = regexp.MustCompile(`(?:Leaves [A-Z][A-Za-z ]+?|[A-Za-z] -) +([0-9][0-9,.]*) +([A-Za-z.]+)`)
	rePrompt = regexp.MustCompile(`(?m)^ *To sign, (?:type yes:|type the amount ([0-9.]+),.*)[^\n]*\n?\s*$`)
)

// symbols are amounts by symbol, with 18 decimals.
type symbols map[string]*big.Int

func (s symbols) add(symbol, text string) {
	v, err := amount.Parse(strings.Trim(strings.ReplaceAll(text, ",", ""), "."), 18)
	if err != nil {
		return
	}
	s.plus(symbol, v)
}

func (s symbols) plus(symbol string, v *big.Int) {
	if s[symbol] == nil {
		s[symbol] = new(big.Int)
	}
	s[symbol] = new(big.Int).Add(s[symbol], v)
}

// onScreen is what a review says can leave the account. Stated says that it is the sum that the review states.
func onScreen(screen string) (out symbols, stated bool) {
	out = symbols{}
	// a sentence may take several lines
	text := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "!", " ").Replace(screen)), " ")
	if m := reUpTo.FindStringSubmatch(text); m != nil {
		for _, x := range reAmount.FindAllStringSubmatch(m[1], -1) {
			out.add(x[2], x[1])
		}
		return out, true
	}
	for _, m := range reShown.FindAllStringSubmatch(text, -1) {
		out.add(m[2], m[1])
	}
	return out, false
}

// TestLiarReadsWhatCanLeave holds the parser against the reviews as they are and as they state their worst case.
func TestLiarReadsWhatCanLeave(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		want   map[string]string
		stated bool
	}{
		"review 1": {" Leaves   Base - 250.500000 USDC  $250.45\n",
			map[string]string{"USDC": "250.5"}, false},
		"payments": {" Leaves   Optimism -   125.980000 USDC  $125.95\n" +
			"          Arbitrum - 1,100.000000 USDC   $99.98\n",
			map[string]string{"USDC": "1225.98"}, false},
		"a command's payments": {
			"  Leaves Ethereum      20 USDC, $20.00, sign 2 of 3 (not given yet)\n  Leaves Base          0.5 ETH\n",
			map[string]string{"USDC": "20", "ETH": "0.5"}, false},
		"a command's review 1": {"  Leaves Arbitrum One 25 USDC, $25.00\n",
			map[string]string{"USDC": "25"}, false},
		"a stated worst case": {
			" ! If the stated balances are false, up to 1,276.85 USDC and 0.5 ETH\n ($2,276.85) can leave\n " +
				"Leaves   Optimism - 125.980000 USDC\n",
			map[string]string{"USDC": "1276.85", "ETH": "0.5"}, true,
		},
	} {
		got, stated := onScreen(c.screen)
		text := map[string]string{}
		for symbol, v := range got {
			text[symbol] = amount.Trim(amount.Format(v, 18))
		}
		if !maps.Equal(text, c.want) || stated != c.stated {
			t.Errorf("%s: read %v, stated %v", name, text, stated)
		}
	}
}

// signs notes the confirmation of review 1.
func (s *liarSession) signs(screen string) {
	s.call, _ = onScreen(screen)
	s.confirmed = append(s.confirmed, maps.Clone(s.call))
}

// pays notes the confirmation of review 2, which states the sum of both reviews: as the worst case, or where that is no
// more, as everything that leaves.
func (s *liarSession) pays(screen string) {
	whole, _ := onScreen(screen)
	if s.call == nil {
		s.confirmed = append(s.confirmed, whole)
		return
	}
	last := s.confirmed[len(s.confirmed)-1]
	for symbol, v := range whole {
		if last[symbol] == nil || last[symbol].Cmp(v) < 0 {
			last[symbol] = v
		}
	}
}

// shown sums up what the screens said can leave.
func (s *liarSession) shown() symbols {
	out := symbols{}
	for _, o := range s.confirmed {
		for symbol, v := range o {
			out.plus(symbol, v)
		}
	}
	return out
}

// command runs one command in the terminal and answers its questions, mostly with yes. Now and then it is killed, or
// left while it waits.
func (s *liarSession) command() {
	s.Helper()
	s.call = nil
	how := fmt.Sprint(5 + s.dice.IntN(200))
	chain := []string{"base", "op", "arbitrum"}[s.dice.IntN(3)]
	args := [][]string{
		{"transfer", "--asset", "usdc", "--amount", how, "--to", rig.Payee(s.T), "--chain", chain},
		{"swap", "--asset", "usdc", "--amount", how, "--for", "eth@" + chain},
		{"call", "--chain", chain, "--to", "usdc", "--function", "transfer(address to, uint256 amount)", "--arg",
			rig.Payee(s.T), "--arg", how + " USDC"},
	}[s.dice.IntN(3)]
	p := rig.At(s.T, rig.Start(s.T, s.env, 150, 200, args...))
	p.Sees("Passphrase of profile team")
	p.Types(rig.Passphrase + "\r")
	for answered := ""; ; {
		asks := ""
		err := p.Term.WaitUntil("a question", 12*time.Second, func(screen string) bool {
			asks = strings.TrimRight(screen, " \n")
			return rePrompt.MatchString(asks+"\n") && asks != answered
		})
		if err != nil {
			break // it ended, or waits for an outcome
		}
		answered = asks
		if s.dice.IntN(12) == 0 {
			break
		}
		s.answers(p, asks)
	}
	_ = p.Term.Process().Kill()
	_ = p.Term.WaitExit(rig.Limit)
}

// answers confirms what a command asks.
func (s *liarSession) answers(p rig.Person, asks string) {
	s.Helper()
	rig.Pause()
	m := rePrompt.FindStringSubmatch(asks + "\n")
	before, second, both := strings.Cut(asks, "REVIEW 2 OF 2")
	switch {
	case both:
		s.pays(second)
	case strings.Contains(asks, "REVIEW 1 OF 2"):
		s.signs(before)
	default:
		s.pays(asks)
	}
	if m[1] != "" {
		p.Types(m[1] + "\r")
		return
	}
	p.Types("yes\r")
}
