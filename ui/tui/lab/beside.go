package lab

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// chosen are the variants that go side by side: those that were chosen, in their order, or else the first ones with an
// answer; six at most.
func (m *Model) chosen() (out []quotelab.Compared) {
	for _, key := range m.marks {
		i := slices.IndexFunc(m.variants, func(v *quotelab.Variant) bool { return v.Key == key })
		if r, ok := m.latest(key); i >= 0 && ok {
			out = append(out, quotelab.Compared{Variant: m.variants[i], Answer: r})
		}
	}
	if len(out) > 0 {
		return out
	}
	all := m.answered()
	return all[:min(len(all), quotelab.MaxBeside)]
}

// answered are the variants in the rounds that have an answer.
func (m *Model) answered() (out []quotelab.Compared) {
	for _, v := range m.variants {
		if r, ok := m.latest(v.Key); ok && !m.off[v.Key] {
			out = append(out, quotelab.Compared{Variant: v, Answer: r})
		}
	}
	return out
}

// best is the key of the best variant and by which measure; "" without one.
func (m *Model) best() (key, words string) {
	all := m.answered()
	i := quotelab.Best(all, m.by)
	if i < 0 {
		return "", ""
	}
	return all[i].Key, "best: " + all[i].Fund + ", " + m.by.String()
}

// mark chooses a variant for side by side, or takes it back.
func (m *Model) mark(key string) {
	if i := slices.Index(m.marks, key); i >= 0 {
		m.marks = slices.Delete(m.marks, i, i+1)
	} else if len(m.marks) < quotelab.MaxBeside {
		m.marks = append(m.marks, key)
	}
}

// The columns of side by side, in cells.
const (
	factW   = 15
	columnW = 22
)

// columns is how many variants fit side by side.
func (m *Model) columns() int { return max(1, (m.w-4-factW)/columnW) }

// besideView draws the chosen variants side by side and marks every line in which they differ.
func (m *Model) besideView(f screen.Frame) string {
	th, all := f.Theme, m.chosen()
	fit := min(m.columns(), len(all))
	m.from = max(0, min(m.from, len(all)-fit))
	w := (f.W - 4 - factW) / max(1, fit)
	best := quotelab.Best(all, m.by)
	line := func(mark string, look theme.Style, name string, values []string, strong theme.Style) (out []string) {
		cells, high := make([][]string, len(values)), 1
		for i, v := range values {
			cells[i] = kit.Wrap(v, w-2)
			high = max(high, len(cells[i]))
		}
		for y := range high {
			row := look.Render(kit.Fit(mark, 2)) + th.Dim.Render(kit.Fit(name, factW))
			for _, c := range cells {
				text := ""
				if y < len(c) {
					text = c[y]
				}
				row += strong.Render(kit.Fit(text, w))
			}
			out, mark, name = append(out, row), "", ""
		}
		return out
	}
	heads := make([]string, 0, fit)
	for i := m.from; i < m.from+fit; i++ {
		head := strconv.Itoa(i + 1)
		if i == best {
			head += " " + th.Signs.Good + " " + m.by.String()
		}
		heads = append(heads, head)
	}
	lines := line("", th.Text, "", heads, th.Strong)
	differ := 0
	for _, fact := range quotelab.Facts(all) {
		mark, look := "", th.Text
		if fact.Differs {
			mark, look, differ = th.Signs.Warn, th.Warn, differ+1
		}
		values := slices.Clone(fact.Values[m.from : m.from+fit])
		if m.hidden && slices.Contains([]string{"leaves", "receives", "minimum", "cost", "fees"}, fact.Name) {
			for i := range values {
				values[i] = kit.Masked(th)
			}
		}
		lines = append(lines, line(mark, look, fact.Name, values, look)...)
	}
	m.pane.Resize(f.H - 2)
	m.pane.Keep(lines)
	right := present.Plural(differ, "difference", "differences")
	if fit < len(all) {
		right += fmt.Sprintf(", %d to %d of %d, left and right show the others", m.from+1, m.from+fit, len(all))
	}
	title := kit.Sides("  "+th.Strong.Render("Side by side"), th.Dim.Render(right+" ")+" ", f.W)
	state := kit.Sides("", th.Dim.Render(m.pane.More(th))+" ", f.W)
	return kit.Box(kit.Lines(title, indented(m.pane.View(f.W-2)), state), f.W, f.H)
}

// indented moves every line two cells to the right.
func indented(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// inspectView shows everything that the service answered to the selected variant.
func (m *Model) inspectView(f screen.Frame) string {
	th, v := f.Theme, m.selected()
	m.pane.Resize(f.H - 2)
	m.pane.Keep(m.inspected(f.W - 4))
	title := kit.Sides("  "+th.Strong.Render("The answer as it arrived")+"  "+v.Label(m.axes),
		th.Dim.Render("nothing is signed here "), f.W)
	return kit.Box(kit.Lines(title, indented(m.pane.View(f.W-2)), kit.Sides("", th.Dim.Render(m.pane.More(th))+" ",
		f.W)), f.W, f.H)
}

func (m *Model) inspected(w int) (out []string) {
	v := m.selected()
	if v == nil {
		return nil
	}
	r, _ := m.latest(v.Key)
	if len(r.Documents) == 0 {
		return kit.Wrap(present.Clean(r.Problem, 2000), w)
	}
	for i, doc := range r.Documents {
		value := jsontext.Value(doc)
		if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
			continue // every document passed the lexical gate
		}
		if i > 0 {
			out = append(out, "", "What is missing was estimated with:")
		}
		for l := range strings.SplitSeq(string(value), "\n") {
			l = present.Clean(l, len(l))
			for present.Width(l) > w && len(l) > w {
				out, l = append(out, l[:w]), "      "+l[w:]
			}
			out = append(out, l)
		}
	}
	return out
}
