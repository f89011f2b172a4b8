package kit

import (
	"strconv"
	"strings"

	"coffer/ui/tui/theme"
)

// Panel frames lines for an overlay: w cells wide, with a thin line around and one blank cell at each side.
func Panel(th theme.Theme, lines []string, w int) string {
	if w < 4 {
		return ""
	}
	c, rule := th.Signs.Corners, Rule(th.Signs.Rule, w-2)
	side := th.Rule.Render(th.Signs.Divider)
	var b strings.Builder
	b.WriteString(th.Rule.Render(c[0] + rule + c[1]))
	for _, l := range lines {
		b.WriteString("\n" + side + " " + Fit(l, w-4) + " " + side)
	}
	b.WriteString("\n" + th.Rule.Render(c[2]+rule+c[3]))
	return b.String()
}

// Dialog draws a panel in the middle of a body of w×h cells, with a blank column at its sides.
func Dialog(th theme.Theme, body string, lines []string, panelW, w, h int) string {
	panelW = min(panelW, w)
	lines = lines[:min(len(lines), max(0, h-2))]
	return Over(body, Panel(th, lines, panelW), panelW, w, max(0, (h-len(lines)-2)/2))
}

// Over draws a panel of panelW cells, centred in a body w cells wide, from line y on, with a blank column at its sides.
func Over(body, panel string, panelW, w, y int) string {
	x := (w - panelW) / 2
	if x < 1 || x+panelW >= w {
		return Overlay(body, panel, x, y)
	}
	return Overlay(body, " "+strings.ReplaceAll(panel, "\n", " \n ")+" ", x-1, y)
}

// Notice is a screen without content: a statement and what to do, near the top of w×h cells. lines[0] is the statement.
func Notice(th theme.Theme, m theme.Meaning, w, h int, lines ...string) string {
	out := []string{""}
	for i, l := range lines {
		for k, part := range Wrap(l, max(10, w-8)) {
			switch {
			case i == 0 && k == 0 && m != theme.None:
				out = append(out, "  "+th.Say(m, part))
			case i == 0 && m != theme.None:
				out = append(out, "    "+th.Style(m).Render(part))
			case i == 0:
				out = append(out, "  "+th.Strong.Render(part))
			case m != theme.None:
				out = append(out, "    "+part)
			default:
				out = append(out, "  "+part)
			}
		}
		if i == 0 {
			out = append(out, "")
		}
	}
	return Box(strings.Join(out, "\n"), w, h)
}

// Count writes "3 of 12".
func Count(i, n int) string { return strconv.Itoa(i) + " of " + strconv.Itoa(n) }
