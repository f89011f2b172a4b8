package balances

import (
	"math/big"

	"coffer/ui/present"
	"coffer/ui/tui/screen"
)

func (m *Model) assetGroups() []group {
	out := make([]group, 0, len(m.data.assets))
	for _, a := range m.data.assets {
		g := group{row: row{
			key: a.key, title: a.symbol, name: a.name, amount: a.amount, decimals: a.decimals, figure: true,
			micro: a.micro, reasons: a.reasons,
			arg: screen.AssetArg{Aggregate: a.id}, ids: []string{a.id},
		}}
		for _, p := range a.parts {
			g.ids = append(g.ids, p.id)
			g.below = append(g.below, p.reasons...)
			g.partial = g.partial || g.micro != nil && p.micro == nil && !isZero(p.amount, p.micro)
			g.parts = append(g.parts, partOf(p, p.chainTo, "", a))
		}
		m.sortParts(g.parts)
		out = append(out, g)
	}
	return out
}

func partOf(p holding, title, name string, a asset) row {
	return row{
		kind: partRow, key: a.key + " " + p.id, title: title, name: name, amount: p.amount, decimals: p.decimals,
		figure: true, micro: p.micro,
		reasons: p.reasons, arg: screen.AssetArg{Aggregate: a.id, Chain: p.chain.String()}, ids: []string{p.id},
	}
}

func (m *Model) chainGroups() []group {
	var out []group
	at := map[string]int{}
	for _, a := range m.data.assets {
		for _, p := range a.parts {
			i, ok := at[p.chainTo]
			if !ok {
				i = len(out)
				at[p.chainTo] = i
				out = append(out, group{row: row{key: "chain " + p.chainTo, title: p.chainTo,
					arg: screen.AssetArg{Chain: p.chain.String()}, ids: []string{p.chain.String()}}})
			}
			out[i].take(p, partOf(p, p.symbol, a.name, a))
		}
	}
	for i := range out {
		m.finish(&out[i])
	}
	return out
}

// accountGroups lists every account, including empty ones, and last the holdings that belong to none.
func (m *Model) accountGroups() []group {
	out := make([]group, 0, len(m.data.owners)+1)
	at := map[string]int{}
	for i, o := range m.data.owners {
		at[o.key] = i
		g := group{row: row{key: "account " + o.key, title: o.words, name: "not told apart", address: o.address,
			untold: !o.told}}
		if o.address != "" {
			g.name, g.ids = present.ShortID(o.address, "…"), []string{o.address}
		}
		out = append(out, g)
	}
	for _, a := range m.data.assets {
		for _, p := range a.parts {
			i, ok := at[p.owner]
			if !ok {
				if isZero(p.amount, p.micro) {
					continue
				}
				i = len(out)
				at[p.owner] = i
				out = append(out, group{row: row{key: "account", title: "no account", name: "of none of yours"}})
			}
			out[i].take(p, partOf(p, p.symbol, p.chainTo, a))
		}
	}
	for i := range out {
		m.finish(&out[i])
	}
	return out
}

// take adds a holding to the group.
func (g *group) take(p holding, part row) {
	g.parts = append(g.parts, part)
	g.below = append(g.below, part.reasons...)
	switch {
	case isZero(p.amount, p.micro):
	case p.micro != nil:
		g.micro = sum(g.micro, p.micro)
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
		if m.zero || !isZero(p.amount, p.micro) {
			g.row.parts++
		}
	}
	m.sortParts(g.parts)
}
