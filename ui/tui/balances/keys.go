package balances

import (
	"slices"

	"coffer/ui/tui/kit"
)

// Keys lists the keys that work now.
func (m *Model) Keys() []kit.Key {
	switch {
	case m.filter.Focused():
		return []kit.Key{kit.NewKey("keep filter", "enter"), kit.NewKey("clear filter", "esc").Named("clear-filter")}
	case m.allowed.open:
		return m.allowanceKeys()
	case m.receive.typing():
		return []kit.Key{kit.NewKey("show the request", "enter").Named("ask-now"),
			kit.NewKey("back", "esc").Named("stop-asking")}
	case m.receive.open:
		return m.receiveKeys()
	case m.inspect:
		return []kit.Key{
			kit.NewKey("copy id", "y").Named("copy"), kit.NewKey("copy amount", "Y").OffWhen(m.secret() != "",
				m.secret()),
			kit.NewKey("scroll", "up", "down"), kit.NewKey("close", "esc"),
		}
	}
	r, ok := m.current()
	const empty = "there is no line to use it on"
	build := r.buildOff()
	if !ok {
		build = "select an asset first"
	}
	swap := build
	if swap == "" {
		swap = m.swapOff()
	}
	next := [views]string{"by chain", "by account", "by asset"}[m.view]
	keys := []kit.Key{
		kit.NewKey("expand", "enter").Explain("expand or collapse").OffWhen(!ok, empty),
		kit.NewKey("build", "b").Explain("build a call with this asset").OffWhen(build != "", build),
		kit.NewKey("transfer", "t").Explain("transfer this asset").OffWhen(build != "", build),
		kit.NewKey("swap", "w").Explain("swap this asset").OffWhen(swap != "", swap),
		kit.NewKey("receive", "r").Explain("show an address or payment request").
			OffWhen(len(m.ctx.Accounts) == 0, "this profile has no account"),
		kit.NewKey("view", "v").Explain("group " + next),
		kit.NewKey("sort", "s").Explain("sort by the next column: value, asset, name, amount"),
		kit.NewKey("hide", "h").Explain("hide or show amounts, on every screen").Named("hide"),
		kit.NewKey("inspect", "i").Explain("exact amount, base units, ids, checks").OffWhen(!ok, empty),
		kit.NewKey("zero", "z").Explain("show or hide zero balances"),
		m.exportKey(),
		kit.NewKey("allowances", "a").Explain("what contracts were allowed to take, to revoke it").OffWhen(
			m.allowed.read == nil, noJournal),
		kit.NewKey("filter", "/").Hidden(),
		kit.NewKey("scramble", "H").Explain("show made-up amounts, for sharing the screen").Hidden(),
		kit.NewKey("reverse", "S").Explain("turn the order around").Hidden(),
		kit.NewKey("period", "p").Explain("line of totals: a day, a month, two years").OffWhen(!m.hasTrend(),
			"no earlier totals are kept yet").Hidden(),
		kit.NewKey("copy id", "y").Explain("copy the asset id or the account's address").Named("copy").Hidden(),
		kit.NewKey("copy amount", "Y").Explain("copy the exact amount").OffWhen(m.secret() != "", m.secret()).Hidden(),
		kit.NewKey("expand or collapse all", "e").Hidden(),
		kit.NewKey("expand, collapse", "right", "left", "space").Hidden(),
		kit.NewKey("clear filter", "esc").Hidden(), kit.NewKey("read again now", "ctrl+r").Hidden(),
	}
	if len(m.panes()) > 1 {
		keys = slices.Insert(keys, 1, kit.NewKey("other pane", "tab").Explain(
			"give the next column the keyboard: the arrows scroll it then"))
		keys = append(keys, kit.NewKey("pane before", "shift+tab").Hidden())
	}
	return append(keys, kit.MoveKeys()...)
}

func (m *Model) exportKey() kit.Key {
	off := "" // works while amounts are hidden too: a file shows nothing on the screen
	switch {
	case m.ctx.Export == nil:
		off = m.ctx.WhyNoFiles("this program cannot write exports")
	case m.real == nil:
		off = "nothing was read yet"
	case m.scrambled:
		off = m.secret()
	}
	return kit.NewKey("export", "x").Explain("write holdings to a CSV and a JSON file").OffWhen(off != "", off)
}

func (m *Model) receiveKeys() []kit.Key {
	what := "copy address"
	if m.receive.asked != nil {
		what = "copy request"
	}
	keys := []kit.Key{kit.NewKey(what, "y").Named("copy"),
		kit.NewKey("request", "a").Explain("ask for an amount: a payment request")}
	if len(m.ctx.Accounts) > 1 {
		keys = append(keys, kit.NewKey("next account", "right"), kit.NewKey("previous account", "left").Hidden())
	}
	if m.receive.asked != nil {
		return append(keys, kit.NewKey("the address alone", "esc").Named("close"))
	}
	return append(keys, kit.NewKey("close", "esc"))
}
