package wire

import (
	"slices"
	"strings"

	"coffer/api/client/httplog"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
)

// detail is one exchange as a tree: headers and bodies of request and answer, each below a heading.
type detail struct {
	e     httplog.Exchange
	root  *node
	rows  []line
	table *kit.Table
	find  *kit.Field
	hits  int // number of matches of the search
	hit   int // the selected one, from 1; 0: none
	w, h  int
}

// The lines of a detail outside the tree: the title, the rule, the place and three lines of the value.
const (
	headLines  = 2
	valueLines = 4
)

func (m *Model) openDetail(e httplog.Exchange) {
	d := &detail{e: e, root: &node{open: true}, find: kit.NewField("", 80),
		table: kit.NewTable(kit.Column{Min: 20, Grow: 1})}
	d.headers("request headers", e.RequestHeader)
	d.body("request body", e.Request, e.RequestSize, e.RequestCut, "there is none")
	d.headers("answer headers", e.ResponseHeader)
	none := "there is none"
	switch {
	case !e.Done:
		none = "it is awaited"
	case e.Err != "":
		none = e.Err
	}
	d.body("answer body", e.Response, e.ResponseSize, e.ResponseCut, none)
	d.resize(m.w, m.h)
	d.refresh()
	for i, r := range d.rows { // a person looks for the answer first
		if r.n == d.root.kids[3] {
			d.table.SelectAt(i, min(i, 3))
		}
	}
	m.detail = d
}

func (d *detail) headers(title string, h map[string]string) {
	n := &node{name: title, parent: d.root, index: len(d.root.kids)}
	names := make([]string, 0, len(h))
	for k := range h {
		names = append(names, k)
	}
	slices.Sort(names)
	for i, k := range names {
		n.kids = append(n.kids, &node{name: k, kind: lineKind, text: h[k], parent: n, index: i})
	}
	n.text = present.Plural(len(names), "header", "headers")
	d.root.kids = append(d.root.kids, n)
}

func (d *detail) body(title string, b []byte, size int, cut bool, none string) {
	n := &node{name: title, parent: d.root, open: true, index: len(d.root.kids)}
	d.root.kids = append(d.root.kids, n)
	if len(b) == 0 {
		n.text = none
		return
	}
	n.text = grouped(size) + " bytes"
	parse(n, b, cut)
	for _, k := range n.kids {
		k.open = true
		for _, kk := range k.kids {
			kk.open = len(kk.kids) <= 12
		}
	}
}

func (d *detail) resize(w, h int) {
	d.w, d.h = w, h
	d.table.Resize(max(1, h-headLines-valueLines))
}

// refresh lists the visible lines again.
func (d *detail) refresh() {
	d.rows = flatten(d.rows[:0], d.root, 0)
	d.table.SetRows(len(d.rows))
}

func (d *detail) selected() *node {
	l, _ := kit.Chosen(d.table, d.rows)
	return l.n
}

// selectNode reveals a node and selects it.
func (d *detail) selectNode(n *node) {
	for p := n.parent; p != nil; p = p.parent { // everything above it
		p.open = true
	}
	d.refresh()
	for i, r := range d.rows {
		if r.n == n {
			d.table.Select(i)
		}
	}
}

// inRequest reports whether the selection belongs to the request.
func (d *detail) inRequest() bool {
	n := d.selected()
	for n != nil && n.parent != d.root {
		n = n.parent
	}
	return n != nil && n.index < 2
}

// press handles the keys that move and fold, and reports whether the key was one.
func (d *detail) press(key string) bool {
	n := d.selected()
	switch {
	case d.table.Press(key):
		return true
	case n == nil:
		return false
	}
	switch key {
	case "enter", "space":
		d.fold(n, !n.open)
	case "right", "l":
		d.fold(n, true)
	case "left", "h":
		if (!n.open || !n.container()) && n.parent != d.root {
			d.selectNode(n.parent)
			return true
		}
		d.fold(n, false)
	case "e":
		n.unfold(true)
		d.refresh()
	case "c":
		n.unfold(false)
		d.refresh()
	default:
		return false
	}
	return true
}

func (d *detail) fold(n *node, open bool) {
	if n.container() {
		n.open = open
		d.refresh()
	}
}

func (d *detail) click(y int) {
	before := d.table.Selected()
	if y < 1 || !d.table.Click(y-1) {
		return
	}
	if n := d.selected(); n != nil && d.table.Selected() == before {
		d.fold(n, !n.open)
	}
}

// search goes to the match after the selection (1), before it (-1), or to the first one at or after it (0), and counts
// all matches.
func (d *detail) search(step int) {
	want := strings.ToLower(d.find.Value())
	d.hits, d.hit = 0, 0
	if want == "" {
		return
	}
	at := d.selected()
	var all []*node
	var order []int // the place of each match in the document
	here, pos := -1, 0
	walk(d.root, func(n *node) bool {
		if n == at {
			here = pos
		}
		if n.matches(want) {
			all, order = append(all, n), append(order, pos)
		}
		pos++
		return true
	})
	if d.hits = len(all); d.hits == 0 {
		return
	}
	i, exact := slices.BinarySearch(order, here)
	switch {
	case step > 0 && exact:
		i++
	case step < 0:
		i += len(all) - 1
	}
	i %= len(all)
	d.hit = i + 1
	d.selectNode(all[i])
}

// matches searches the text on the screen; headings are not part of the exchange.
func (n *node) matches(want string) bool {
	if n.kind == 0 {
		return false
	}
	return strings.Contains(strings.ToLower(n.name), want) ||
		!n.container() && strings.Contains(strings.ToLower(n.text), want)
}

func (d *detail) keys() []kit.Key {
	n := d.selected()
	foldable := n != nil && n.container()
	label := "unfold"
	if foldable && n.open {
		label = "fold"
	}
	none, why := d.hits == 0, "search with / first"
	return append([]kit.Key{
		kit.NewKey(label, "enter", "space").Named("fold").OffWhen(!foldable, "there is nothing below this line"),
		kit.NewKey("search", "/"), kit.NewKey("next match", "n").OffWhen(none, why).Hidden(),
		kit.NewKey("match before", "N").OffWhen(none, why).Hidden(),
		kit.NewKey("copy as curl", "y"), kit.NewKey("copy body", "Y"), kit.NewKey("copy value", "v"),
		kit.NewKey("export", "x"),
		kit.NewKey("back to the list", "esc").Named("back"), kit.NewKey("unfold all below", "e").Hidden(),
		kit.NewKey("fold all below", "c").Hidden(),
		kit.NewKey("unfold", "right", "l").Named("unfold").Hidden(),
		kit.NewKey("fold, or go up", "left", "h").Named("fold-or-up").Hidden(),
	}, kit.MoveKeys()...)
}
