package builder

import (
	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// toAllowance turns an approve() that was typed as a call into an allowance. It removes the call, or empties the only
// one.
func (s *Screen) toAllowance(i int) tea.Cmd {
	c := s.b.Calls[i]
	t := s.target(c)
	spender, v, name := c.Approval(t)
	switch {
	case name != "approve":
		return screen.Toast(theme.Warn, "only an approve() can be moved to the allowances")
	case !t.Known:
		return screen.Toast(theme.Warn, "choose a known token as the target first: the allowance needs its decimals")
	case v == nil:
		return screen.Toast(theme.Warn, "fill in spender and amount first")
	}
	s.b.Allow = append(s.b.Allow, &compose.Allowance{Asset: t.Token.Asset.String(), Spender: spender,
		Amount: compose.Whole(v.String(), t.Token.Decimals)})
	s.b.Remove(i)
	s.focus = compose.IDAllowance(len(s.b.Allow)-1, "asset")
	return screen.Toast(theme.Good, "moved to the allowances: it holds only while your calls run")
}

// target is what a call goes to.
func (s *Screen) target(c *compose.Call) compose.Target { return s.Target(s.b.Chain, c.To) }
