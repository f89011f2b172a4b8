package builder

import (
	"math/big"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// row is one line of the form. A row without id is a heading or a remark and takes no focus. field is its text, if it
// has one; address says that the text is an address. items opens a list of values and take uses one; typed uses text
// typed into that list where it does not simply go into the field, and reads says what such text means. press is the
// action of enter on a row without text or list.
type row struct {
	id      string
	label   string
	depth   int
	field   *kit.Field
	address bool
	text    string // of a row without a field
	aside   string
	mean    theme.Meaning // of the aside
	help    string
	value   string // the chosen item, of a row without a field
	items   func() []kit.Item
	take    func(value string) tea.Cmd
	typed   func(text string) tea.Cmd
	reads   func(text string) kit.Reading
	press   func() tea.Cmd
	call    int   // index of its call, -1: none
	node    *node // of an argument
	heading bool

	optional bool   // the field may stay empty
	none     string // placeholder of an empty field in place of its example
	title    string // of its list; "": derived from the label
}

// listed reports whether the field is empty and enter opens its list. Enter passes a field that may stay empty.
func (r row) listed() bool {
	return r.items != nil && r.field != nil && !r.optional && trim(r.field.Value()) == ""
}

// takesText reports whether typing goes into the row: a field, or a list that takes free text.
func (r row) takesText() bool { return r.field != nil || r.typed != nil }

// head reports a row above others, such as that of a call or a tuple: there is nothing to type, to choose or to press
// on it.
func (r row) head() bool { return r.field == nil && r.items == nil && r.press == nil }

// rows lists the form from top to bottom.
func (s *Screen) rows() []row {
	if s.form != formCalls {
		return s.exchangeRows(s.x[s.form])
	}
	out := []row{s.chainRow()}
	for i, c := range s.b.calls {
		out = append(out, row{id: idCall(i), label: "Call " + kit.Count(i+1, len(s.b.calls)), heading: true, call: i,
			help: callHelp})
		out = append(out, s.callRows(i, c)...)
	}
	out = append(out, row{label: "What it takes", heading: true, call: -1})
	out = append(out, s.needRows()...)
	out = append(out, s.allowRows()...)
	out = append(out, s.fundRow())
	out = append(out, s.slipRows()...)
	out = append(out, s.windowRows()...)
	out = append(out, s.overrideRows()...)
	if s.b.v1 {
		out = append(out, s.v1Row())
	}
	return append(out, row{id: idReview, text: "Review", call: -1, press: s.review,
		help: "enter prepares it for review; nothing is signed yet"})
}

// callHelp is the help of the heading of a call.
const callHelp = "n adds a call, x removes this one, p copies it, K and J move it"

func (s *Screen) chainRow() row {
	name := s.b.chain.String()
	if info, ok := s.ctx.Catalog.Chain(s.b.chain); ok {
		name = info.Name
	}
	return row{id: idChain, label: "on", text: name, value: s.b.chain.String(), call: -1, title: "Run the calls on",
		items: s.chainItems, take: s.takeChain, help: "the chain on which the calls run; enter chooses"}
}

func (s *Screen) callRows(i int, c *call) []row {
	cat := s.ctx.Catalog
	to := row{id: idTo(i), label: "to", field: c.to, address: true, call: i, title: "The contract or receiver",
		items: s.targetItems, take: s.setText(c.to), help: "the contract or receiver: address or symbol; enter lists"}
	token, known := s.b.tokenAt(cat, c.to.Value())
	switch {
	case known:
		to.aside, to.mean = token.Symbol+" known", theme.Good
	default:
		to.aside, to.mean = s.whose(c.to.Value())
	}
	out := []row{to}
	if c.raw {
		out = append(out, row{id: idData(i), label: "call data", field: c.data, call: i, title: "Which function",
			items: s.functionItems(c), take: s.takeFunction(c), typed: s.typeFunction(c), reads: readFunction,
			help: "0x hex; a known function becomes fields when you leave"})
	} else {
		fn := row{id: idSig(i), label: "function", field: c.sig, call: i, title: "Which function",
			items: s.functionItems(c), take: s.takeFunction(c), typed: s.typeFunction(c), reads: readFunction,
			help: "a signature, ABI JSON or call data; enter lists functions"}
		if v := c.wei(s.b.native(cat)); v != nil && v.Sign() > 0 && trim(c.data.Value()) == "" {
			fn.none = "none: only the value is sent"
		}
		out = append(out, fn)
		walk(c.args, func(path []int, n *node) { out = append(out, s.argRow(i, path, n, token, known)) })
	}
	native := s.b.native(cat)
	value := row{id: idValue(i), label: "value", field: c.value, aside: native.Symbol, call: i,
		help: "the coin that is sent along; a unit may follow: wei, gwei, ether"}
	if v := c.wei(native); v != nil && v.Sign() > 0 {
		value.aside = native.Symbol + " = " + spaced(v) + " wei"
	}
	return append(out, value)
}

func (s *Screen) argRow(i int, path []int, n *node, token catalog.Entity, known bool) row {
	label := n.param.Name
	if label == "" {
		label = "#" + strconv.Itoa(path[len(path)-1])
	}
	r := row{id: idArg(i, path), label: present.Clean(label, 40), depth: len(path), call: i, node: n, field: n.field,
		address: n.param.Type == "address", help: present.Clean(n.param.Type, 200)}
	switch {
	case n.isArray():
		r.text, r.help = present.Plural(len(n.items), "item", "items"),
			present.Clean(n.param.Type, 160)+"; + adds an item, ctrl+x on an item removes it"
		r.press = func() tea.Cmd { s.addItem(n); return nil }
	case !n.isLeaf():
		r.text = present.Clean(n.param.Type, 60)
	case r.address:
		r.items, r.take, r.help = s.addressItems(n == s.b.calls[i].paid()), s.setText(n.field),
			"address: 0x and 40 digits, or a name; enter lists"
		r.aside, r.mean = s.whose(n.field.Value())
	case n.param.Type == "bool":
		r.items, r.take = boolItems, s.setText(n.field)
	case n.canUnits() && known:
		r.aside = n.unitNote(token.Decimals, token.Symbol)
		r.help = "ctrl+t switches to base units and back"
	case n.isNumber():
		r.aside = n.unitNote(-1, "")
		r.help += "; a unit may follow: wei, gwei, ether"
	}
	return r
}

// needRows lists the tokens that the calls need, with the balance on the chain and elsewhere.
func (s *Screen) needRows() []row {
	cat := s.ctx.Catalog
	if !s.b.own {
		list := s.b.suggested(cat)
		if len(list) == 0 {
			return []row{{id: idNeeds, label: "needs", text: "nothing that can be seen from the calls", call: -1,
				press: s.ownNeeds, help: "enter starts your own list of what the calls spend"}}
		}
		var out []row
		for i, r := range list {
			a, _ := caip.ParseAsset(r.AssetType)
			e, _ := cat.Entity(a)
			v, _ := amount.ParseBase(r.Amount)
			x := row{label: "", text: amount.Human(v, e.Decimals) + " " + e.Symbol, aside: s.haveText(e),
				mean: s.haveMeaning(e, v), call: -1}
			if i == 0 {
				x.id, x.label, x.press, x.help = idNeeds, "needs", s.ownNeeds,
					"follows the calls; enter makes it your own list"
			}
			out = append(out, x)
		}
		return out
	}
	var out []row
	for i, n := range s.b.needs {
		a, _ := caip.ParseAsset(n.asset)
		e, _ := cat.Entity(a)
		v, _ := quantity(n.amount.Value(), e.Decimals, e.Symbol)
		out = append(out,
			row{id: idNeed(i, "asset"), label: "needs", text: tokenLabel(s, n.asset), call: -1,
				title: "What the calls spend", items: s.assetItems(true),
				take: func(v string) tea.Cmd { n.asset = v; return nil },
				help: "enter chooses the asset; x removes it"},
			row{id: idNeed(i, "amount"), label: "amount", depth: 1, field: n.amount, aside: s.haveText(e),
				mean: s.haveMeaning(e, v), call: -1, help: "in whole tokens; ctrl+x removes it"})
	}
	return append(out, row{id: idAddNeed, label: "", text: "add a token", call: -1, title: "What the calls spend",
		items: s.assetItems(true), take: s.addNeed, help: "enter adds what the calls spend; f follows the calls again"})
}

// haveText gives the balance on the chain and elsewhere, or says that it is unknown.
func (s *Screen) haveText(e catalog.Entity) string {
	agg, ok := s.ctx.Catalog.Aggregate(e.Aggregate)
	if !ok {
		return ""
	}
	if s.hidden {
		return "what you have is hidden (h)"
	}
	return "you have " + s.held(s.money.of(e.Asset), e.Decimals) + " there, " +
		s.held(s.money.elsewhere(agg, e.Asset), agg.Decimals) + " elsewhere"
}

// held writes a balance, or says that it is unknown or hidden.
func (s *Screen) held(v *big.Int, decimals int) string {
	switch {
	case s.hidden:
		return "hidden"
	case v == nil:
		return amount.Unknown
	}
	return amount.Human(v, decimals)
}

// haveMeaning warns when all balances together are too small.
func (s *Screen) haveMeaning(e catalog.Entity, need *big.Int) theme.Meaning {
	agg, ok := s.ctx.Catalog.Aggregate(e.Aggregate)
	total := s.money.total(agg)
	if !ok || need == nil || total == nil {
		return theme.None
	}
	if total.Cmp(amount.Scale(need, e.Decimals, agg.Decimals)) < 0 {
		return theme.Warn
	}
	return theme.None
}

func (s *Screen) allowRows() []row {
	var out []row
	for i, a := range s.b.allow {
		whose, mean := s.whose(a.spender.Value())
		out = append(out,
			row{id: idAllowRow(i, "asset"), label: "allow", text: tokenLabel(s, a.asset), call: -1,
				title: "Allow a contract to take", items: s.assetItems(false),
				take: func(v string) tea.Cmd { a.asset = v; return nil },
				help: "enter chooses the token; x removes the allowance"},
			row{id: idAllowRow(i, "spender"), label: "spender", depth: 1, field: a.spender, address: true, aside: whose,
				mean: mean, call: -1, items: s.spenderItems, take: s.setText(a.spender),
				help: "the contract that may take it while your calls run"},
			row{id: idAllowRow(i, "amount"), label: "amount", depth: 1, field: a.amount,
				aside: tokenLabel(s, a.asset) + ", only while your calls run", call: -1,
				help: "in whole tokens; 0 takes an old allowance back"})
	}
	text := "add an allowance"
	label := ""
	if len(out) == 0 {
		label, text = "allow", "none"
	}
	return append(out, row{id: idAllow, label: label, text: text, call: -1, title: "Allow a contract to take",
		items: s.assetItems(false), take: s.addAllowance,
		help: "enter lets a contract take a token while your calls run"})
}

func (s *Screen) fundRow() row {
	text := "automatic: the same asset on any chain"
	if s.b.fund != "" {
		text = s.fundLabel(s.b.fund)
	}
	return row{id: idFund, label: "fund with", text: text, value: s.b.fund, call: -1,
		title: "Pay for what is missing with", items: s.fundItems,
		take: func(v string) tea.Cmd { s.b.fund = v; return nil },
		help: "what pays for what is missing on the chain; enter chooses"}
}

func (s *Screen) slipRows() []row {
	t := s.slip()
	text := "your own"
	if t.preset != 0 {
		text = bpsText(t.preset)
	}
	out := []row{{id: idSlip, label: "slippage", title: "Price move allowed", text: text, value: strconv.Itoa(t.preset),
		call: -1, items: slipItems, take: s.takeSlip, typed: s.typeSlip, reads: s.readSlip,
		help: "how far the price may move before it is refused"}}
	if t.preset == 0 {
		aside := "basis points"
		if n := t.bps(); n > 0 {
			aside = "= " + bpsText(n)
		}
		out = append(out, row{id: idSlipBps, label: "", depth: 1, field: t.own, aside: aside, call: -1,
			help: "basis points from 1 to 10000, of which 100 are 1 %, or a percentage such as 0.5 %"})
	}
	return out
}

// windowRows set when the calls may run.
func (s *Screen) windowRows() []row {
	out := spanRows(idValid, "valid", &s.b.valid, minutesText, validPresets(), s,
		"how long it may run once prepared; enter chooses, 10 minutes at most")
	if s.b.after != "" {
		text := present.Clean(s.b.after, 80) + " (Unix seconds)"
		if n, err := strconv.ParseInt(s.b.after, 10, 64); err == nil {
			text = time.Unix(n, 0).In(s.ctx.Clock().Location()).Format("2006-01-02 15:04:05")
		}
		return append(out, row{id: idAfter, label: "not before", text: text, call: -1,
			items: s.spanItems(startText, startPresets()), take: s.takeSpan(idAfter, &s.b.start),
			typed: s.typeSpan(idAfter, &s.b.start, startPresets()), reads: readSpan(&s.b.start, startText),
			help: "it runs from this moment on; ctrl+x lets it run at once"})
	}
	return append(out, spanRows(idAfter, "starts", &s.b.start, startText, startPresets(), s,
		"it does not run before; the wallet waits with the execution")...)
}

// spanRows are a preset of minutes and, when the person types another number, its field.
func spanRows(id, label string, m *minutes, words func(int) string, presets []int, s *Screen, help string) []row {
	text := "your own"
	if m.preset != ownPreset {
		text = words(m.preset)
	}
	out := []row{{id: id, label: label, text: text, value: strconv.Itoa(m.preset), call: -1,
		items: s.spanItems(words, presets), take: s.takeSpan(id, m), typed: s.typeSpan(id, m, presets),
		reads: readSpan(m, words), help: help}}
	out[0].title = map[string]string{idValid: "How long it may run", idAfter: "When it may start"}[id]
	if m.preset == ownPreset {
		out = append(out, row{id: id + ownSuffix, label: "", depth: 1, field: m.field, aside: "minutes", call: -1,
			help: "whole minutes"})
	}
	return out
}

// ownSuffix marks the row of the field beside a preset.
const ownSuffix = ".own"

func minutesText(n int) string { return present.Plural(n, "minute", "minutes") }

func startText(n int) string {
	if n == 0 {
		return "at once"
	}
	return minutesText(n) + " after it is prepared"
}
