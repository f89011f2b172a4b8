package lab

import (
	"fmt"

	"coffer/ui/tui/kit"
)

// Keys lists the keys that work now.
func (m *Model) Keys() []kit.Key {
	if m.compare {
		return []kit.Key{kit.NewKey("back", "esc", "c").Named("back"), kit.NewKey("swap A and B", "x"),
			kit.NewKey("scroll", "up", "down", "j", "k").Hidden()}
	}
	v := m.selected()
	none, noneWhy := v == nil, "there is no variant; build something first (2)"
	busy, busyWhy := m.asking >= 0 || m.watching, "s stops what is under way first"
	var result bool
	if v != nil {
		_, result = m.latest(v.key)
	}
	noQuote := m.deps.Quote == nil
	leave := kit.NewKey("leave out", "space").Named("leave-out").OffWhen(none, noneWhy)
	if v != nil && v.off {
		leave.Label = "take in"
	}
	ask := func(k kit.Key) kit.Key {
		return k.OffWhen(busy, busyWhy).OffWhen(m.active() == 0, noneWhy).OffWhen(noQuote,
			"this program cannot ask for quotes here")
	}
	keys := []kit.Key{
		ask(kit.NewKey("quote all", "r")), ask(kit.NewKey("watch",
			"w").Explain(fmt.Sprintf("quote all again and again, %d rounds at most", MaxRounds))),
	}
	if busy {
		keys = []kit.Key{kit.NewKey("stop", "s")}
	}
	keys = append(keys,
		kit.NewKey("pin A", "a").OffWhen(!result, "quote it first: r"),
		kit.NewKey("pin B", "b").OffWhen(!result, "quote it first: r"),
		kit.NewKey("compare", "c").OffWhen(!m.a.set || !m.b.set, "pin two results first: a and b"),
		kit.NewKey("review", "o").Explain("open this variant in the review, which asks anew").OffWhen(none, noneWhy),
		kit.NewKey("wire", "i").Explain("see the requests and answers"), leave,
		kit.NewKey("vary funding", "f").Hidden(), kit.NewKey("vary slippage", "l").Hidden(),
		kit.NewKey("vary accounts", "u").Hidden(),
		kit.NewKey("read the draft again", "d").Hidden(), kit.NewKey("watch less often", "+", "=").Hidden(),
		kit.NewKey("watch more often", "-").Hidden(),
		kit.NewKey("scroll details", "J", "K").Hidden(),
	)
	if !busy {
		keys = append(keys, kit.NewKey("stop", "s").Hidden().OffWhen(true, "nothing is under way"))
	}
	return append(keys, kit.MoveKeys()...)
}
