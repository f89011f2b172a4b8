package accounts

import (
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// OnChain is the known state of an account on one chain (CAIP-2). Known false: the state is unknown.
type OnChain struct {
	Chain string
	Known bool
	There bool // deployed; of an EIP-7702 account: delegated
	// Session and Admin sign on the chain, for a role-based account; "" is unknown. ExitAt is the opening of an
	// announced exit; zero: none is announced.
	Session, Admin string
	ExitAt         time.Time
}

// state is the known state of an account on all chains.
type state struct {
	on  []OnChain
	err error
}

// stateFacts says where an account exists already and whether its roles are those of the profile.
func (m *Model) stateFacts(th theme.Theme, a api.Account) []fact {
	s, ok := m.states[a.AccountAddress]
	switch {
	case !ok || a.Type == api.AccountSolana:
		return nil
	case s.err != nil:
		return []fact{{"state", kit.Noted(th, theme.Unknown, "not known: "+present.ErrorText(s.err))}}
	}
	var there, not, unknown []string
	for _, c := range s.on {
		name := present.ChainName(m.ctx.Catalog, c.Chain)
		switch {
		case !c.Known:
			unknown = append(unknown, name)
		case c.There:
			there = append(there, name)
		default:
			not = append(not, name)
		}
	}
	word, first := "deployed", "its first operation on a chain deploys it"
	if a.Type == api.AccountKernelV33 {
		word, first = "delegated", "its first operation on a chain delegates it"
	}
	var out []fact
	if len(there) > 0 {
		text := word + " on " + strings.Join(there, ", ")
		if to := m.ctx.Network.Pins.KernelV33; a.Type == api.AccountKernelV33 && to != (common.Address{}) {
			text += ", to " + present.Checksummed(to.Hex()) + " (pinned)"
		}
		out = append(out, fact{"state", kit.Noted(th, theme.Good, text)})
	}
	if len(not) > 0 {
		out = append(out, fact{stateLabel(out), kit.Noted(th, theme.None,
			"not yet on "+strings.Join(not, ", ")+"; "+first)})
	}
	if len(unknown) > 0 {
		text := "not known for " + strings.Join(unknown, ", ") +
			": this wallet did nothing there, and the service does not say"
		out = append(out, fact{stateLabel(out), kit.Noted(th, theme.Unknown, text)})
	}
	return append(out, m.roleFacts(th, a, s.on)...)
}

func stateLabel(before []fact) string {
	if len(before) == 0 {
		return "state"
	}
	return ""
}

// roleFacts compares the keys that are valid on each chain with those of the profile.
func (m *Model) roleFacts(th theme.Theme, a api.Account, on []OnChain) []fact {
	if a.Type != api.AccountRoleBased {
		return nil
	}
	var out []fact
	same := 0
	for _, c := range on {
		if !c.Known || !c.There {
			continue
		}
		name := present.ChainName(m.ctx.Catalog, c.Chain)
		differs := false
		for _, r := range []struct{ role, there, ours string }{{"session", c.Session, a.SessionAddress},
			{"admin", c.Admin, a.AdminAddress}} {
			if r.there != "" && common.HexToAddress(r.there) != common.HexToAddress(r.ours) {
				differs = true
				out = append(out, fact{"roles", append(kit.Noted(th, theme.Warn, name+": the "+r.role+" key is "),
					address(r.there), kit.Plain(", not that of the profile"))})
			}
		}
		if !c.ExitAt.IsZero() {
			out = append(out, fact{"exit", kit.Noted(th, theme.Warn,
				name+": announced; the admin operates alone from "+c.ExitAt.UTC().Format(time.RFC3339))})
		}
		if !differs {
			same++
		}
	}
	if same > 0 && len(out) == 0 {
		out = append(out, fact{"roles", kit.Noted(th, theme.Good,
			"session and admin match the profile on "+present.Plural(same, "chain", "chains")+
				", as the service says")})
	}
	return out
}
