package networks

import (
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/assets"
)

// Shipped are the chains that the program knows: the catalogue's, with their tokens and with the price feeds and fee
// caps of package assets. None has an endpoint.
func Shipped() ([]Chain, error) {
	known, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	facts, err := assets.NetworkFacts()
	if err != nil {
		return nil, err
	}
	var all []Chain
	for _, info := range known.Chains() {
		c := Chain{ID: info.ID, Name: info.Name, Short: info.Short, Explorer: info.Explorer, Quorum: 1,
			FinalWorst: UsualWorst}
		for _, e := range known.On(info.Chain) {
			t := Token{Symbol: e.Symbol, Name: e.Name, Decimals: e.Decimals, Aggregate: e.Aggregate}
			if at, token := e.Asset.Token(); token {
				t.Address = at
				c.Tokens = append(c.Tokens, t)
			} else {
				c.Coin = t
			}
		}
		if err := c.add(facts); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// add adds what networks.json says of a chain.
func (c *Chain) add(facts assets.Networks) error {
	name := caip.EVM(c.ID).String()
	for _, f := range facts.FeeCaps {
		if f.Chain == name {
			c.FeeCap = new(big.Int).Mul(big.NewInt(int64(f.Gwei)), amount.One(gwei))
		}
	}
	if c.FeeCap == nil {
		return fmt.Errorf("networks: %s has no fee cap", name)
	}
	for _, f := range facts.Feeds {
		if f.Chain != name {
			continue
		}
		at, err := caip.ParseAddress(f.Address)
		if err != nil {
			return fmt.Errorf("networks: %w", err)
		}
		c.Feeds = append(c.Feeds, Feed{Aggregate: caip.AggregateID(f.Aggregate), Address: at, Decimals: f.Decimals,
			Heartbeat: time.Duration(f.Heartbeat) * time.Second})
	}
	for _, p := range facts.Powers {
		asset, err := caip.ParseAsset(p.Asset)
		if err != nil {
			return fmt.Errorf("networks: %w", err)
		}
		for i, t := range c.Tokens {
			if caip.ERC20(c.ID, t.Address) == asset {
				c.Tokens[i].Powers = slices.Clone(p.Powers)
			}
		}
	}
	return nil
}

const head = `# The chains of a network on your own nodes. Check it with: coffer network check --file %s

# "real": money is at stake. "test": a public test network. "lab": your own chains, of no worth.
kind = %q

# Of each chain:
#   rpc           your nodes: https, or http on this machine; [] leaves the chain out. None is shipped: who runs a
#                 node sees your accounts and can lie, so name ones that you trust. A credential stays in the vault and
#                 is named here: "https://node.example/v2/${vault:NAME}".
#   quorum        how many nodes must give the same answer to what money hangs on
#   final         when a block stays: "finalized", as the node says, or how many blocks above it make it so
#   final_worst   how long that takes at worst; of use to an operator
#   fee_cap_gwei  what a unit of gas may cost at most
#   explorer      where a person looks transactions up
#   tokens        the assets that are shown and sent, beside the native coin. powers are what their issuers can do:
#                 keep an address from paying ("blocklist"), take a share of payments ("fee"), stop them all ("pause"),
#                 replace the code ("upgrade"). A token without powers here may have some.
#   feeds         price feeds of Chainlink in USD: an answer older than its heartbeat counts as none. An asset without
#                 a feed has no price.
`

// Encode writes a file with comments. Parse gives the same file again, but for lines.
func (f *File) Encode() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, head, filepath.Base(f.Path), f.Kind)
	if f.Operator != nil {
		b.WriteString(f.Operator.encode(filepath.Base(f.Path)))
	}
	all := slices.Concat(f.Chains, f.Idle)
	known, _ := catalog.Load()
	for _, c := range all {
		fmt.Fprintf(&b, "\n[[chains]]\nid = %d\nname = %s\n", c.ID, quote(c.Name))
		if _, shipped := known.Chain(caip.EVM(c.ID)); !shipped || c.Short != shortOf(known, c.ID) {
			fmt.Fprintf(&b, "short = %s\n", quote(c.Short))
		}
		fmt.Fprintf(&b, "rpc = %s\nquorum = %d\n", quoted(c.RPC), c.Quorum)
		if c.Final.Counted {
			fmt.Fprintf(&b, "final = %d\n", c.Final.Blocks)
		} else {
			if s, slow := Slow(c.ID); slow {
				takes, instead := s.Words()
				fmt.Fprintf(&b, "# %s\n# %s\n", takes, instead)
			}
			fmt.Fprintf(&b, "final = %q\n", finalized)
		}
		if c.FinalWorst != UsualWorst || f.Operator != nil {
			fmt.Fprintf(&b, "final_worst = %q\n", short(c.FinalWorst))
		}
		fmt.Fprintf(&b, "fee_cap_gwei = %s\n", Gwei(c.FeeCap))
		if c.Explorer != "" {
			fmt.Fprintf(&b, "explorer = %s\n", quote(c.Explorer))
		}
		if native, ok := known.NativeOf(c.ID); !ok || native.Aggregate != c.Coin.Aggregate {
			fmt.Fprintf(&b, "coin = %s\n", quote(string(c.Coin.Aggregate)))
		}
		b.WriteString("tokens = [\n")
		for _, t := range c.Tokens {
			fmt.Fprintf(&b, "  { symbol = %s, address = %q, decimals = %d, aggregate = %s", quote(t.Symbol),
				t.Address.Hex(), t.Decimals, quote(string(t.Aggregate)))
			if len(t.Powers) > 0 {
				fmt.Fprintf(&b, `, powers = ["%s"]`, strings.Join(t.Powers, `", "`))
			}
			b.WriteString(" },\n")
		}
		b.WriteString("]\nfeeds = [\n")
		for _, e := range c.Feeds {
			fmt.Fprintf(&b, "  { aggregate = %s, address = %q, heartbeat = %q, decimals = %d },\n",
				quote(string(e.Aggregate)), e.Address.Hex(), short(e.Heartbeat), e.Decimals)
		}
		b.WriteString("]\n")
	}
	for _, s := range []*Solana{f.Solana, f.IdleSolana} {
		if s != nil {
			b.WriteString(s.encode())
		}
	}
	return []byte(b.String())
}

func shortOf(known *catalog.Catalog, id uint64) string {
	info, _ := known.Chain(caip.EVM(id))
	return info.Short
}

// quote writes a text as TOML does.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// short writes a duration without parts that are zero.
func short(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d%unit.of == 0 {
			return strconv.FormatInt(int64(d/unit.of), 10) + unit.name
		}
	}
	return d.String()
}
