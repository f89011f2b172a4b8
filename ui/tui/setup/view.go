package setup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/doctor"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

const (
	labelW = 15
	margin = 2
)

// View draws the whole terminal.
func (m *Model) View() tea.View {
	return term.View(m.theme, "coffer set-up", m.content(), true)
}

func (m *Model) content() string {
	switch {
	case m.w == 0 || m.h == 0:
		return "" // the size is unknown yet
	case m.w < minWidth || m.h < minHeight:
		text := fmt.Sprintf("This window is too small: %d by %d cells, and the set-up needs %d by %d. Make it larger, "+
			"nothing is lost; or ctrl+c leaves, and coffer setup --linear asks line by line.", m.w, m.h, minWidth,
			minHeight)
		return kit.Box(kit.Lines(kit.Prose(m.w, 0, kit.Plain(text))...), m.w, m.h)
	}
	th := m.theme
	body := m.body()
	if m.help {
		body, _, _, _ = kit.TakeCursor(body)
		body = m.helpOver(body)
	}
	rule := th.Rule.Render(kit.Rule(th.Signs.Rule, m.w))
	return kit.Lines(kit.Sides(" "+th.Strong.Render("coffer set-up")+"  "+stepTitle(m.step),
		th.Dim.Render(m.progress()+" "), m.w), rule,
		body, rule, kit.KeyLine(th, m.keyLine(), m.w, ""))
}

// chrome is the number of lines around the body.
const chrome = 4

func (m *Model) progress() string {
	if m.step >= stepSummary {
		return "nothing more to enter"
	}
	all := m.walk()
	return fmt.Sprintf("step %d of %d", slices.Index(all, m.step)+1, slices.Index(all, stepSummary))
}

func stepTitle(s stepID) string {
	return [...]string{"Name", "Service", "API key", "Your nodes", "What the nodes have", "Where keys are kept", "Key",
		"Accounts", "Check", "Summary", "Done"}[s]
}

// intro introduces the step.
func (m *Model) intro() []string {
	switch m.step {
	case stepName:
		return []string{
			"This sets up a profile: where it lives, your keys and your accounts. Nothing is written until the end.",
			"The profile demo (play money inside this program) always exists: coffer opens it without any set-up."}
	case stepService:
		return []string{"Which service, and which network is it? The network file holds the addresses that this " +
			"program trusts. Its fingerprint is what you compare with the operator, by phone for example: it is " +
			"never taken from the service."}
	case stepAPIKey:
		return []string{"The key that the operator of the service gave you. It is not shown, it is kept with your " +
			"keys and it is sent to this service and nowhere else."}
	case stepNodes:
		return []string{strings.Join(profile.NodesIntro, " ") + " Nothing but those nodes is asked."}
	case stepFound:
		return []string{"What your nodes have; coffer network check lists all of it. Nothing is written yet."}
	case stepStore:
		return []string{"Where should this profile keep its keys? It is your choice, it is written down, and nothing " +
			"ever moves them by itself."}
	case stepOwn:
		return []string{"Whose key signs? A key that is made here exists in this profile only: make a backup " +
			"afterwards (coffer keys backup FILE)."}
	case stepAccounts:
		text := "One account on EVM chains at most, and one on Solana beside it. "
		if m.onNodes() {
			text = "Which account do you use? "
		}
		text += "Addresses are computed here, from the keys and the network"
		if !m.local() {
			text += ", and compared with what the service says"
		}
		return []string{text + "."}
	case stepCheck:
		return []string{"Does it work? Nothing is written yet."}
	case stepSummary:
		return []string{"This is what will be set up."}
	}
	return []string{"The profile " + m.value(rowName) + " is set up."}
}

// body draws the text of the step, scrolled to the row with the keyboard.
func (m *Model) body() string {
	lines, _, _ := m.lines()
	return m.scroll.Body(m.theme, lines, m.w, m.h-chrome)
}

// reveal scrolls the row with the keyboard into sight.
func (m *Model) reveal() {
	if m.h == 0 {
		return
	}
	lines, from, to := m.lines()
	if room := m.scroll.Fill(lines, m.h-chrome); m.at[m.step] == 0 && to <= room {
		from = 0
	}
	m.scroll.Reveal(from, to)
}

// inSight reports whether the row with the keyboard is on the screen.
func (m *Model) inSight() bool {
	lines, from, to := m.lines()
	room := m.scroll.Fill(lines, m.h-chrome)
	return m.h == 0 || from >= m.scroll.Top() && min(to, from+1) <= m.scroll.Top()+room
}

// lines is the whole text of the step, and the first and last line of the row with the keyboard.
func (m *Model) lines() (lines []string, from, to int) {
	w := m.w - margin
	lines = append(lines, "")
	for _, text := range m.intro() {
		lines = append(lines, kit.Prose(w, margin, kit.Plain(text))...)
	}
	lines = append(lines, "")
	switch m.step {
	case stepFound:
		lines = append(lines, m.nodesLines(w)...)
	case stepCheck:
		lines = append(lines, m.foundLines(w)...)
	case stepSummary, stepDone:
		lines = append(lines, m.summary(w)...)
	}
	group := ""
	for i, r := range m.rows() {
		if r.group != group || r.button {
			if len(lines) > 0 && lines[len(lines)-1] != "" && (r.group != "" || r.button) {
				lines = append(lines, "")
			}
			group = r.group
		}
		focused := i == m.at[m.step] && m.busy == ""
		if i == m.at[m.step] {
			from = len(lines)
		}
		lines = append(lines, m.rowLines(r, focused, w)...)
		if i == m.at[m.step] {
			to = len(lines)
		}
	}
	lines = append(lines, m.after(w)...)
	return lines, from, max(to, min(len(lines), to+3))
}

// after is the text below the rows: what is in progress, and what happened.
func (m *Model) after(w int) []string {
	th := m.theme
	var out []string
	if m.step == stepAccounts {
		out = append(out, m.predicted(w)...)
	}
	switch {
	case m.busy != "":
		out = append(out, "", "  "+th.Dim.Render(m.busy+th.Signs.More))
	case m.note.text != "":
		out = append(out, "")
		out = append(out, kit.Prose(w, margin, kit.Marked(th, m.note.meaning, m.note.text)...)...)
	}
	return out
}

func (m *Model) rowLines(r row, focused bool, w int) []string {
	th := m.theme
	mark := " "
	if focused {
		mark = th.Accent.Render(th.Signs.Cursor)
	}
	var out []string
	switch {
	case r.button:
		style := th.Strong
		if r.off != "" {
			style = th.Disabled
		}
		text := style.Render("[ " + r.label + " ]")
		if focused {
			text = th.Selected.Over(text)
		}
		out = []string{" " + mark + text}
	case r.group != "":
		out = m.choiceLines(r, mark, w)
	case r.secret != nil:
		out = []string{" " + mark + m.label(r.label, focused) + m.secretText(r, focused, w-margin-labelW)}
		if r.secret.Error != "" {
			out = append(out, m.problem(r.secret.Error, w)...)
		}
		out = append(out, m.strength(r, w)...)
		if n, is := strings.CutPrefix(r.id, rowNodeKey); is && focused {
			i, _ := strconv.Atoi(n)
			host := present.Clean(m.needs[i].Host, 300)
			out = append(out, m.hint("sent to "+host+" alone, and kept with your keys", w)...)
		}
	default:
		out = []string{" " + mark + m.label(r.label, focused) + r.field.Text(th, w-margin-labelW)}
		out = append(out, m.fieldNote(r, focused, w)...)
	}
	if p := m.wrong[r.id]; p != "" {
		out = append(out, m.problem(p, w)...)
	}
	return out
}

func (m *Model) label(text string, focused bool) string {
	style := m.theme.Dim
	if focused {
		style = m.theme.Accent
	}
	return style.Render(kit.Fit(text, labelW))
}

func (m *Model) choiceLines(r row, mark string, w int) []string {
	th := m.theme
	box, style := "( ) ", th.Text
	switch {
	case r.off != "":
		style = th.Disabled
	case m.picks[r.group] == r.value:
		box, style = "("+th.Accent.Render("*")+") ", th.Strong
	}
	head := " " + mark + box + style.Render(r.label)
	if present.Width(head)+3+present.Width(r.words) <= w {
		return []string{head + "   " + th.Dim.Render(r.words)}
	}
	return append([]string{head}, kit.Prose(w, margin+4, th.Dim.Span(r.words))...)
}

// secretText draws the mask; only the row with the keyboard has a cursor.
func (m *Model) secretText(r row, focused bool, w int) string {
	text := r.secret.Text(m.theme, w)
	if !focused {
		text, _, _, _ = kit.TakeCursor(text)
	}
	return text
}

func (m *Model) problem(text string, w int) []string {
	return kit.Prose(w, margin+labelW, kit.Marked(m.theme, theme.Danger, text)...)
}

// fieldNote is the text below a field: the result of a check, and while it has the keyboard what belongs there.
func (m *Model) fieldNote(r row, focused bool, w int) []string {
	if r.id == rowNetwork && m.looked.text != "" && m.looked.path == m.value(rowNetwork) {
		return kit.Prose(w, margin+labelW, kit.Noted(m.theme, m.looked.meaning, m.looked.text)...)
	}
	if !focused {
		return nil
	}
	if r.id == rowName && len(m.names) > 0 {
		return append(m.hint(r.field.Hint, w), m.hint("taken: "+present.Clean(strings.Join(m.names, ", "), 200),
			w)...)
	}
	return m.hint(r.field.Hint, w)
}

func (m *Model) hint(text string, w int) []string {
	if text == "" {
		return nil
	}
	return kit.Prose(w, margin+labelW, m.theme.Dim.Span(text))
}

// predicted shows the addresses of the accounts as computed here.
func (m *Model) predicted(w int) []string {
	th := m.theme
	out := []string{""}
	for _, a := range m.draft().WireAccounts(m.net.Pins) {
		for _, typed := range []string{a.SignerAddress, a.SessionAddress, a.AdminAddress} {
			if typed != "" && (!common.IsHexAddress(typed) || !strings.HasPrefix(typed, "0x")) {
				return nil
			}
		}
		if a.AccountAddress == "" || a.Type == api.AccountRoleBased &&
			(a.SessionAddress == "" || a.AdminAddress == "" || m.local()) || // its co-signer is not there yet
			a.Type == api.AccountKernelV31 && a.SignerAddress == "" {
			continue
		}
		label := "account"
		if a.Type == api.AccountSolana {
			label = "on Solana"
		}
		out = append(out, kit.Row(th, w, margin, labelW, label,
			kit.Span{Text: present.Address(a.AccountAddress), Whole: true})...)
	}
	if len(out) == 1 {
		return nil
	}
	return out
}

// foundLines shows the findings of the check.
func (m *Model) foundLines(w int) []string {
	var out []string
	for _, f := range m.found {
		out = append(out, findingLines(m.theme, f, w)...)
	}
	if m.found == nil {
		out = append(out, "  "+m.theme.Dim.Render("network, API key, clock and balances are being looked at"))
	}
	return out
}

// nodeW is the width of what is examined on a chain.
const nodeW = 24

// nodesLines are the table of what was found: a line for each chain, and below it what is not well there.
func (m *Model) nodesLines(w int) []string {
	th := m.theme
	var out []string
	for _, c := range profile.ByChain(m.found) {
		spans := kit.Noted(th, meanings[c.Level()], c.Words())
		out = append(out, kit.Row(th, w, margin, nodeW, present.Clean(c.Name, 200), spans...)...)
		for _, f := range c.Faults {
			out = append(out, rowOf(th, f, w, margin+2, nodeW-2)...)
		}
	}
	if m.found == nil {
		out = append(out, "  "+th.Dim.Render("chains, contracts, tokens and prices are being looked at"))
	} else if m.net.Kind == network.Real && doctor.Well(m.found) {
		out = append(out, "")
		out = append(out, kit.Prose(w, margin, kit.Noted(th, theme.Warn, profile.RealIntro)...)...)
	}
	return append(out, "")
}

// meanings are what the levels of findings look like.
var meanings = map[doctor.Level]theme.Meaning{doctor.Good: theme.Good, doctor.Warn: theme.Warn,
	doctor.Bad: theme.Danger, doctor.Unknown: theme.Unknown}

func findingLines(th theme.Theme, f doctor.Finding, w int) []string {
	return rowOf(th, f, w, margin, labelW)
}

func rowOf(th theme.Theme, f doctor.Finding, w, indent, labelW int) []string {
	out := kit.Row(th, w, indent, labelW, present.Clean(f.Name, 100),
		kit.Noted(th, meanings[f.Level], present.Clean(f.Text, 400))...)
	if f.Todo != "" {
		out = append(out, kit.Prose(w, indent+labelW+2, th.Dim.Span(present.Clean(f.Todo, 400)))...)
	}
	return out
}
