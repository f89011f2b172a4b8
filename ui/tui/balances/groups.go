package balances

import (
	"math/big"

	"coffer/ui/present"
	"coffer/ui/tui/screen"
)

func (m *Model) assetGroups() []group {
	out := make([]group, 0, len(m.data.Assets))
	for _, a := range m.data.Assets {
		g := group{row: row{
			key: a.Key, title: a.Symbol, name: a.Name, amount: a.Amount, decimals: a.Decimals, figure: true,
			micro: a.Micro, reasons: a.Reasons,
			arg: screen.AssetArg{Aggregate: a.ID}, ids: []string{a.ID},
		}}
		for _, p := range a.Parts {
			g.ids = append(g.ids, p.ID)
			g.below = append(g.below, p.Reasons...)
			g.partial = g.partial || g.micro != nil && p.Micro == nil && !present.IsZero(p.Amount, p.Micro)
			g.parts = append(g.parts, partOf(p, p.ChainName, "", a))
		}
		m.sortParts(g.parts)
		out = append(out, g)
	}
	return out
}

func partOf(p present.Part, title, name string, a present.Holding) row {
	return row{
		kind: partRow, key: a.Key + " " + p.ID, title: title, name: name, amount: p.Amount, decimals: p.Decimals,
		figure: true, micro: p.Micro,
		reasons: p.Reasons, arg: screen.AssetArg{Aggregate: a.ID, Chain: p.Chain.String()}, ids: []string{p.ID},
	}
}

func (m *Model) chainGroups() []group {
	var out []group
	at := map[string]int{}
	for _, a := range m.data.Assets {
		for _, p := range a.Parts {
			i, ok := at[p.ChainName]
			if !ok {
				i = len(out)
				at[p.ChainName] = i
				out = append(out, group{row: row{key: "chain " + p.ChainName, title: p.ChainName,
					arg: screen.AssetArg{Chain: p.Chain.String()}, ids: []string{p.Chain.String()}}})
			}
			out[i].take(p, partOf(p, p.Symbol, a.Name, a))
		}
	}
	for i := range out {
		m.finish(&out[i])
	}
	return out
}

// accountGroups lists every account, including empty ones, and last the holdings that belong to none.
func (m *Model) accountGroups() []group {
	out := make([]group, 0, len(m.data.Owners)+1)
	at := map[string]int{}
	for i, o := range m.data.Owners {
		at[o.Key] = i
		g := group{row: row{key: "account " + o.Key, title: o.Words, name: "not told apart", address: o.Address,
			untold: !o.Told}}
		if o.Address != "" {
			g.name, g.ids = present.ShortID(o.Address), []string{o.Address}
		}
		out = append(out, g)
	}
	for _, a := range m.data.Assets {
		for _, p := range a.Parts {
			i, ok := at[p.Owner]
			if !ok {
				if present.IsZero(p.Amount, p.Micro) {
					continue
				}
				i = len(out)
				at[p.Owner] = i
				out = append(out, group{row: row{key: "account", title: "no account", name: "of none of yours"}})
			}
			out[i].take(p, partOf(p, p.Symbol, p.ChainName, a))
		}
	}
	for i := range out {
		m.finish(&out[i])
	}
	return out
}

// take adds a holding to the group.
func (g *group) take(p present.Part, part row) {
	g.parts = append(g.parts, part)
	g.below = append(g.below, part.reasons...)
	switch {
	case present.IsZero(p.Amount, p.Micro):
	case p.Micro != nil:
		g.micro = present.Plus(g.micro, p.Micro)
	default:
		g.partial = true
	}
}

// finish completes a group: it sets an empty group to zero, counts its parts and sorts them.
func (m *Model) finish(g *group) {
	if g.micro == nil && !g.partial && !g.untold {
		g.micro = new(big.Int)
	}
	for _, p := range g.parts {
		if m.zero || !present.IsZero(p.amount, p.micro) {
			g.row.parts++
		}
	}
	m.sortParts(g.parts)
}
