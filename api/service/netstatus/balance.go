package netstatus

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"
	"text/tabwriter"

	"coffer/api/amount"
	"coffer/api/text"
)

// Shares are how much of each asset a chain should have beside the others; a chain that is not named has 1.
type Shares map[uint64]int64

// Stock is one asset over all chains that have it: Total is what the filler may use of it, in units of the most
// decimals that the asset has on one of them; nil where that is not known of a chain.
type Stock struct {
	Aggregate string     `json:"aggregate"`
	Symbol    string     `json:"symbol"`
	Decimals  int        `json:"decimals"`
	Total     *big.Int   `json:"total"`
	Places    []Position `json:"chains"`
}

// Position is a stock on one chain, in base units there. Free is what the filler has less what is promised; Target is
// what it should be, and Over how much it is above that, negative where it lacks. Delivered and Deposited are of the
// last days. What is not known is nil. Trouble is what keeps the chain from working.
type Position struct {
	Chain     uint64   `json:"chain"`
	Name      string   `json:"name"`
	Asset     string   `json:"asset"`
	Symbol    string   `json:"symbol"`
	Decimals  int      `json:"decimals"`
	Has       *big.Int `json:"has"`
	Promised  *big.Int `json:"promised"`
	Free      *big.Int `json:"free"`
	Target    *big.Int `json:"target"`
	Over      *big.Int `json:"over"`
	Capacity  *big.Int `json:"capacity"`
	Delivered *big.Int `json:"delivered"`
	Deposited *big.Int `json:"deposited"`
	Trouble   string   `json:"trouble,omitzero"`
}

// Balance compares what each chain has of an asset with its share of all. Assets that no chain has are left out.
func (s *Status) Balance(shares Shares) (out []Stock) {
	at := map[string]int{}
	for _, c := range s.Chains {
		for _, h := range c.Inventory {
			i, known := at[h.Aggregate]
			if !known {
				i = len(out)
				at[h.Aggregate] = i
				out = append(out, Stock{Aggregate: h.Aggregate, Symbol: h.Symbol})
			}
			p := Position{Chain: c.ID, Name: c.Name, Asset: h.Asset, Symbol: h.Symbol, Decimals: h.Decimals, Has: h.Has,
				Promised: h.Promised, Capacity: h.Capacity, Delivered: h.Delivered, Deposited: h.Deposited,
				Trouble: c.trouble()}
			if p.Has != nil && p.Promised != nil {
				p.Free = new(big.Int).Sub(p.Has, p.Promised)
			}
			out[i].Decimals = max(out[i].Decimals, h.Decimals)
			out[i].Places = append(out[i].Places, p)
		}
	}
	for i := range out {
		out[i].share(shares)
	}
	return slices.DeleteFunc(out, func(k Stock) bool {
		return !slices.ContainsFunc(k.Places, func(p Position) bool { return p.Has == nil || p.Has.Sign() > 0 })
	})
}

// trouble is why a chain does not work, "" when it does.
func (c Chain) trouble() string {
	switch {
	case !c.Quorum.Agrees:
		return "no quorum"
	case c.Lane != nil && c.Lane.Stopped != "":
		return "its lane has stopped"
	case c.Lane != nil && c.Lane.Held != "":
		return "its lane waits"
	case c.Paused != nil && *c.Paused:
		return "the filler is paused"
	}
	return ""
}

// share gives each chain its part of a total that is known as a whole.
func (k *Stock) share(shares Shares) {
	sum, parts := new(big.Int), int64(0)
	for _, p := range k.Places {
		if p.Free == nil {
			return
		}
		sum.Add(sum, scaled(p.Free, k.Decimals-p.Decimals))
		parts += shares.of(p.Chain)
	}
	if k.Total = sum; parts == 0 {
		return
	}
	for i := range k.Places {
		p := &k.Places[i]
		part := new(big.Int).Mul(sum, big.NewInt(shares.of(p.Chain)))
		part.Quo(part, big.NewInt(parts))
		p.Target = part.Quo(part, scaled(big.NewInt(1), k.Decimals-p.Decimals))
		p.Over = new(big.Int).Sub(p.Free, p.Target)
	}
}

func (s Shares) of(chain uint64) int64 {
	if n, named := s[chain]; named {
		return n
	}
	return 1
}

func scaled(v *big.Int, decimals int) *big.Int {
	return new(big.Int).Mul(v, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}

// worthMoving is the part of a target, in percent, below which a difference is left as it is.
const worthMoving = 10

// Moves reports whether a position differs from its target by enough to do something about it.
func (p Position) Moves() bool {
	if p.Over == nil || p.Over.Sign() == 0 {
		return false
	}
	least := new(big.Int).Mul(p.Target, big.NewInt(worthMoving))
	return new(big.Int).Mul(new(big.Int).Abs(p.Over), big.NewInt(100)).Cmp(least) >= 0
}

// verdict says what a position is against its target.
func (p Position) verdict() string {
	switch {
	case p.Over == nil:
		return amount.Unknown
	case !p.Moves():
		return "as it should be"
	case p.Over.Sign() > 0:
		return "too much: " + coins(p.Over, p.Decimals, p.Symbol)
	}
	return "too little: " + coins(new(big.Int).Neg(p.Over), p.Decimals, p.Symbol)
}

// PrintBalance writes stocks for a person. days is of how many Delivered and Deposited are.
func PrintBalance(out io.Writer, all []Stock, days int) error {
	var page strings.Builder
	for _, k := range all {
		w := tabwriter.NewWriter(&page, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%s\tin all %s\n", k.Symbol, coins(k.Total, k.Decimals, k.Symbol))
		fmt.Fprintf(w, "  chain\thas\tpromised\ttarget\tagainst it\tdelivered in %d days\tdeposited\tcap\n", days)
		for _, p := range k.Places {
			name := fmt.Sprintf("%s (%d)", p.Name, p.Chain)
			if p.Trouble != "" {
				name += ": " + p.Trouble
			}
			of := func(v *big.Int) string {
				if v == nil {
					return amount.Unknown
				}
				return amount.Human(v, p.Decimals)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", name, of(p.Has), of(p.Promised), of(p.Target),
				p.verdict(), of(p.Delivered), of(p.Deposited), of(p.Capacity))
		}
		if err := w.Flush(); err != nil {
			return err
		}
		page.WriteString("\n")
	}
	if len(all) == 0 {
		page.WriteString("the filler has nothing on any chain\n")
	}
	for line := range strings.Lines(page.String()) {
		line = strings.TrimRight(line, " \n")
		if _, err := io.WriteString(out, text.Clean(line, max(1, len(line)))+"\n"); err != nil {
			return err
		}
	}
	return nil
}
