package lab

import (
	"fmt"

	"coffer/ui/tui/kit"
)

// Keys lists the keys that work now.
func (m *Model) Keys() []kit.Key {
	if m.field.Focused() {
		return []kit.Key{kit.NewKey("compare", "enter"), kit.NewKey("back", "esc"), kit.NewKey("clear", "ctrl+u")}
	}
	if m.compare || m.inspect {
		keys := []kit.Key{kit.NewKey("back", "esc"), kit.NewKey("scroll", "up", "down", "j", "k").Hidden()}
		if m.compare {
			keys = append(keys, kit.NewKey("measure", "m").Explain("what decides which variant is the best"),
				kit.NewKey("other variants", "left", "right"))
		}
		return keys
	}
	v := m.selected()
	none, noneWhy := v == nil, "there is no variant; build something first (2)"
	busy, busyWhy := m.asking >= 0 || m.watching || m.wanted, "s stops what is under way first"
	var result bool
	if v != nil {
		_, result = m.latest(v.Key)
	}
	noQuote, noQuoteWhy := m.deps.Quote == nil, "this program cannot ask for quotes here"
	leave := kit.NewKey("leave out", "space").Named("leave-out").OffWhen(none, noneWhy)
	if v != nil && m.off[v.Key] {
		leave.Label = "take in"
	}
	ask := func(k kit.Key) kit.Key {
		return k.OffWhen(busy, busyWhy).OffWhen(m.active() == 0, noneWhy).OffWhen(noQuote, noQuoteWhy)
	}
	keys := []kit.Key{
		ask(kit.NewKey("quote all", "r")), ask(kit.NewKey("watch",
			"w").Explain(fmt.Sprintf("quote all again and again, %d rounds at most", MaxRounds))),
	}
	if busy {
		keys = []kit.Key{kit.NewKey("stop", "s")}
	}
	keys = append(keys,
		kit.NewKey("choose", "a").Explain("choose it for side by side, six at most").
			OffWhen(!result, "quote it first: r"),
		kit.NewKey("side by side", "c").OffWhen(len(m.chosen()) < 2, "quote two variants first: r"),
		kit.NewKey("inspect", "i").Explain("everything that the service answered").
			OffWhen(!result, "quote it first: r"),
		kit.NewKey("curve", "v").Explain("cost over amount: ask for six amounts of this variant").
			OffWhen(busy, busyWhy).OffWhen(!result, "quote it first: r").OffWhen(noQuote, noQuoteWhy),
		kit.NewKey("review", "o").Explain("open this variant in the review, which asks again").OffWhen(none, noneWhy),
		leave,
		kit.NewKey("measure", "m").Explain("what decides which variant is the best"),
		kit.NewKey("export", "x").Explain("write JSON, CSV and a picture").
			OffWhen(len(m.answered()) == 0, "quote it first: r").
			OffWhen(m.ctx.Export == nil, m.ctx.WhyNoFiles("this program cannot export here")),
		kit.NewKey("question", "n").Explain("type a question, or paste one at any time"),
		kit.NewKey("copy question", "y").Explain("copy the command that asks this variant's question elsewhere").
			OffWhen(none, noneWhy),
		kit.NewKey("edit", "e").Explain("carry this variant over to Build").OffWhen(none, noneWhy),
		kit.NewKey("vary funding", "f").Hidden(), kit.NewKey("vary slippage", "l").Hidden(),
		kit.NewKey("vary accounts", "u").Hidden(), kit.NewKey("vary arrival", "t").Hidden(),
		kit.NewKey("read the draft again", "d").Hidden(), kit.NewKey("watch less often", "+", "=").Hidden(),
		kit.NewKey("watch more often", "-").Hidden(),
		kit.NewKey("scroll details", "J", "K").Hidden(),
	)
	if !busy {
		keys = append(keys, kit.NewKey("stop", "s").Hidden().OffWhen(true, "nothing is under way"))
	}
	return append(keys, kit.MoveKeys()...)
}
