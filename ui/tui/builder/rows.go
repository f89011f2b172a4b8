package builder

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// row is one line of the form. A row without id is a heading or a remark and takes no focus. field is its text, if it
// has one; address says that the text is an address. items opens a list of values and take uses one; typed uses text
// typed into that list where it does not simply go into the field, and reads says what such text means. press is the
// action of enter on a row without text or list.
type row struct {
	id      string
	label   string
	depth   int
	field   *string
	limit   int    // of the field, in characters
	empty   string // placeholder of an empty field
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
	of      *compose.Call // nil: it belongs to no call
	node    *compose.Arg  // of an argument
	heading bool

	optional bool   // the field may stay empty
	none     bool   // the placeholder says what an empty field means
	title    string // of its list; "": derived from the label
}

// listed reports whether the field is empty and enter opens its list. Enter passes a field that may stay empty.
func (r row) listed() bool {
	return r.items != nil && r.field != nil && !r.optional && trim(*r.field) == ""
}

// takesText reports whether typing goes into the row: a field, or a list that takes free text.
func (r row) takesText() bool { return r.field != nil || r.typed != nil }

// function reports the row of a function or of the call data in its place.
func (r row) function() bool { return r.field != nil && r.typed != nil }

// head reports a row above others, such as that of a call or a tuple: there is nothing to type, to choose or to press
// on it.
func (r row) head() bool { return r.field == nil && r.items == nil && r.press == nil }

// rows lists the form from top to bottom. A chosen item goes into the field of its row unless the row says otherwise,
// and the known name of an address stands beside it.
func (s *Screen) rows() []row {
	var out []row
	end := row{id: idReview, text: "Review", press: s.review,
		help: "enter prepares it for review; nothing is signed yet"}
	if s.form == formCalls {
		out = s.formRows()
	} else {
		out = s.exchangeRows(s.x[s.form])
		end.help = "enter asks for a quote and shows it; nothing is signed yet"
	}
	out = append(out, end)
	for i := range out {
		r := &out[i]
		if r.field != nil && r.take == nil {
			r.take = s.setText(r.field)
		}
		if r.address && r.aside == "" {
			r.aside, r.mean = s.Whose(*r.field)
		}
	}
	return out
}

// formRows lists the form of calls.
func (s *Screen) formRows() []row {
	out := []row{s.chainRow()}
	for i, c := range s.b.Calls {
		rows := append([]row{{id: compose.IDCall(i), label: "Call " + kit.Count(i+1, len(s.b.Calls)), heading: true,
			help: callHelp}}, s.callRows(i, c)...)
		for k := range rows {
			rows[k].of = c
		}
		out = append(out, rows...)
	}
	out = append(out, row{label: "What it takes", heading: true})
	out = append(out, s.needRows()...)
	out = append(out, s.allowRows()...)
	out = append(out, s.fundRow())
	out = append(out, s.dialRows(s.slip())...)
	out = append(out, s.windowRows()...)
	out = append(out, s.overrideRows()...)
	if s.b.V1 {
		out = append(out, s.v1Row())
	}
	return out
}

// callHelp is the help of the heading of a call.
const callHelp = "n adds a call, x removes this one, p copies it, K and J move it"

func (s *Screen) chainRow() row {
	return row{id: compose.IDChain, label: "on", text: s.ChainName(s.b.Chain), value: s.b.Chain.String(),
		title: "Run the calls on",
		items: s.chainItems, take: s.takeChain, help: "the chain on which the calls run; enter chooses"}
}

func (s *Screen) callRows(i int, c *compose.Call) []row {
	t := s.target(c)
	to := row{id: compose.IDTo(i), label: "to", field: &c.To, limit: 100, empty: "an address, or the symbol of a token",
		address: true, title: "The contract or receiver",
		items: s.targetItems, help: "the contract or receiver: address or symbol; enter lists"}
	if t.Known {
		to.aside, to.mean = t.Token.Symbol+" known", theme.Good
	}
	out := []row{to}
	fn := row{id: compose.IDSig(i), label: "function", field: &c.Signature, limit: 8192,
		empty: "a signature such as transfer(address to, uint256 amount)", title: "Which function",
		items: s.functionItems(c), take: s.takeFunction(c), typed: s.typeFunction(c), reads: readFunction,
		help: "a signature, ABI JSON or call data; enter lists functions"}
	if c.Raw {
		fn.id, fn.label, fn.field, fn.limit, fn.empty = compose.IDData(i), "call data", &c.Data, compose.MaxText, "0x"
		fn.help = "0x hex; a known function becomes fields when you leave"
		out = append(out, fn)
	} else {
		if v := c.Wei(t.Coin()); v != nil && v.Sign() > 0 && trim(c.Data) == "" {
			fn.empty, fn.none = "none: only the value is sent", true
		}
		out = append(out, fn)
		compose.Walk(c.Args, func(path []int, n *compose.Arg) { out = append(out, s.argRow(i, path, n, t)) })
	}
	native := t.Coin()
	value := row{id: compose.IDValue(i), label: "value", field: &c.Value, limit: 100, empty: "0", aside: native.Symbol,
		help: "the coin that is sent along; a unit may follow: wei, gwei, ether"}
	if v := c.Wei(native); v != nil && v.Sign() > 0 {
		value.aside = native.Symbol + " = " + compose.Spaced(v) + " wei"
	}
	if out = append(out, value); c.Note != "" || s.focus == compose.IDNote(i) {
		out = append(out, row{id: compose.IDNote(i), label: "note", field: &c.Note, limit: intent.MaxNote,
			optional: true, empty: "none", help: "for you alone: kept with the order and never sent"})
	}
	return out
}

func (s *Screen) argRow(i int, path []int, n *compose.Arg, t compose.Target) row {
	label := n.Param.Name
	if label == "" {
		label = "#" + strconv.Itoa(path[len(path)-1])
	}
	r := row{id: compose.IDArg(i, path), label: present.Clean(label, 40), depth: len(path), node: n,
		limit: compose.MaxText, empty: example(n.Param.Type),
		address: n.Param.Type == "address", help: present.Clean(n.Param.Type, 200)}
	if n.IsLeaf() {
		r.field = &n.Text
	}
	switch {
	case n.IsList():
		r.text, r.help = present.Plural(len(n.Items), "item", "items"),
			present.Clean(n.Param.Type, 160)+"; + adds an item, ctrl+x on an item removes it"
		r.press = func() tea.Cmd { s.addItem(n); return nil }
	case !n.IsLeaf():
		r.text = present.Clean(n.Param.Type, 60)
	case r.address:
		r.items, r.help = s.addressItems(n == s.b.Calls[i].Paid()),
			"address: 0x and 40 digits, or a name; enter lists"
	case n.Param.Type == "bool":
		r.items = boolItems
	case n.CanUnits() && t.Known:
		r.aside = n.Note(t)
		r.help = "ctrl+t switches to base units and back"
	case n.IsNumber():
		r.aside = n.Note(t)
		r.help += "; a unit may follow: wei, gwei, ether"
	}
	return r
}

// needRows lists the tokens that the calls need, with the balance on the chain and elsewhere.
func (s *Screen) needRows() []row {
	if !s.b.Own {
		list := s.b.Spent(&s.World)
		if len(list) == 0 {
			return []row{{id: compose.IDNeeds, label: "needs", text: "nothing that can be seen from the calls",
				press: s.ownNeeds, help: "enter starts your own list of what the calls spend"}}
		}
		var out []row
		for i, r := range list {
			e, _ := s.Entity(r.AssetType)
			v, _ := amount.ParseBase(r.Amount)
			x := row{label: "", text: amount.Human(v, e.Decimals) + " " + e.Symbol, aside: s.haveText(e),
				mean: s.haveMeaning(e, v)}
			if i == 0 {
				x.id, x.label, x.press, x.help = compose.IDNeeds, "needs", s.ownNeeds,
					"follows the calls; enter makes it your own list"
			}
			out = append(out, x)
		}
		return out
	}
	var out []row
	for i, n := range s.b.Needs {
		e, _ := s.Entity(n.Asset)
		v, _ := compose.Amount(n.Amount, e.Decimals, e.Symbol)
		out = append(out,
			row{id: compose.IDNeed(i, "asset"), label: "needs", text: tokenLabel(s, n.Asset),
				title: "What the calls spend", items: s.assetItems(true),
				take: func(v string) tea.Cmd { n.Asset = v; return nil },
				help: "enter chooses the asset; x removes it"},
			row{id: compose.IDNeed(i, "amount"), label: "amount", depth: 1, field: &n.Amount, limit: 100,
				empty: "how much", aside: s.haveText(e),
				mean: s.haveMeaning(e, v), help: "in whole tokens; ctrl+x removes it"})
	}
	return append(out, row{id: idAddNeed, label: "", text: "add a token", title: "What the calls spend",
		items: s.assetItems(true), take: s.addNeed, help: "enter adds what the calls spend; f follows the calls again"})
}

// haveText gives the balance on the chain and elsewhere, or says that it is unknown.
func (s *Screen) haveText(e catalog.Entity) string {
	agg, ok := s.Catalog.Aggregate(e.Aggregate)
	if !ok {
		return ""
	}
	if s.Hidden {
		return "what you have is hidden (h)"
	}
	return "you have " + s.held(s.Money.Of(e.Asset), e.Decimals) + " there, " +
		s.held(s.Money.Elsewhere(agg, e.Asset), agg.Decimals) + " elsewhere"
}

// held writes a balance, or says that it is unknown or hidden.
func (s *Screen) held(v *big.Int, decimals int) string {
	switch {
	case s.Hidden:
		return "hidden"
	case v == nil:
		return amount.Unknown
	}
	return amount.Human(v, decimals)
}

// haveMeaning warns when all balances together are too small.
func (s *Screen) haveMeaning(e catalog.Entity, need *big.Int) theme.Meaning {
	agg, ok := s.Catalog.Aggregate(e.Aggregate)
	total := s.Money.Total(agg)
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
	for i, a := range s.b.Allow {
		out = append(out,
			row{id: compose.IDAllowance(i, "asset"), label: "allow", text: tokenLabel(s, a.Asset),
				title: "Allow a contract to take", items: s.assetItems(false),
				take: func(v string) tea.Cmd { a.Asset = v; return nil },
				help: "enter chooses the token; x removes the allowance"},
			row{id: compose.IDAllowance(i, "spender"), label: "spender", depth: 1, field: &a.Spender, limit: 80,
				empty: "who may take it", address: true, items: s.spenderItems,
				help: "the contract that may take it while your calls run"},
			row{id: compose.IDAllowance(i, "amount"), label: "amount", depth: 1, field: &a.Amount, limit: 100,
				empty: "how much",
				aside: tokenLabel(s, a.Asset) + ", only while your calls run",
				help:  "in whole tokens; 0 takes an old allowance back"})
	}
	text := "add an allowance"
	label := ""
	if len(out) == 0 {
		label, text = "allow", "none"
	}
	return append(out, row{id: compose.IDAllow, label: label, text: text, title: "Allow a contract to take",
		items: s.assetItems(false), take: s.addAllowance,
		help: "enter lets a contract take a token while your calls run"})
}

func (s *Screen) fundRow() row {
	text := "automatic: the same asset on any chain"
	if s.b.Fund != "" {
		text = s.fundLabel(s.b.Fund)
	}
	return row{id: compose.IDFund, label: "fund with", text: text, value: s.b.Fund,
		title: "Pay for what is missing with", items: s.fundItems,
		take: func(v string) tea.Cmd { s.b.Fund = v; return nil },
		help: "what pays for what is missing on the chain; enter chooses"}
}

// The rows that belong to no field.
const (
	idAddNeed = "needs.add"
	idReview  = "review"
)

func minutesText(n int) string { return present.Plural(n, "minute", "minutes") }

func startText(n int) string {
	if n == 0 {
		return "at once"
	}
	return minutesText(n) + " after it is prepared"
}

// example is the placeholder of an argument.
func example(t string) string {
	switch {
	case t == "address":
		return "0x and 40 digits, or a name"
	case t == "bool":
		return "true or false"
	case t == "string":
		return "text"
	case strings.HasPrefix(t, "bytes"):
		return "0x and hex digits"
	}
	return t
}

func plain(err error) string { return present.Clean(err.Error(), 200) }

func trim(s string) string { return strings.TrimSpace(s) }

// windowRows set when the calls may run.
func (s *Screen) windowRows() []row {
	out := s.dialRows(timeSpan(row{id: compose.IDValid, label: "valid", title: "How long it may run",
		help: "how long it may run once prepared; enter chooses, 10 minutes at most"}, &s.b.Valid, compose.Validities(),
		minutesText))
	start := s.dialRows(timeSpan(row{id: compose.IDAfter, label: "starts", title: "When it may start",
		help: "it does not run before; the wallet waits with the execution"}, &s.b.Start, compose.Starts(), startText))
	if s.b.After == "" {
		return append(out, start...)
	}
	text := present.Clean(s.b.After, 80) + " (Unix seconds)"
	if n, err := strconv.ParseInt(s.b.After, 10, 64); err == nil {
		text = time.Unix(n, 0).In(s.Clock().Location()).Format("2006-01-02 15:04:05")
	}
	r := start[0]
	r.label, r.text, r.title, r.value = "not before", text, "", ""
	r.help = "it runs from this moment on; ctrl+x lets it run at once"
	return append(out, r)
}
