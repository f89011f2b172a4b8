package history

import (
	"strconv"
	"time"

	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// View draws the body.
func (m *Model) View(f screen.Frame) string {
	m.theme = f.Theme
	if m.w != f.W || m.h != f.H {
		m.resize(f.W, f.H)
	}
	body := m.body(f)
	switch {
	case m.choice.IsOpen():
		w := min(72, f.W-2)
		return kit.Over(body, m.choice.View(f.Theme, w, choiceLines), w, f.W, m.choiceTop())
	case m.asking == askMonths:
		return kit.Dialog(f.Theme, body, m.monthsPanel(f, min(76, f.W)-4), min(76, f.W), f.W, f.H)
	}
	return body
}

// choiceLines is the maximum height of the list of views.
const choiceLines = 14

func (m *Model) choiceTop() int { return max(0, (m.h-choiceLines)/2) }

// nothingListed claims no more than is known: a private service lists only the operations of the API key's project.
const nothingListed = "The service lists nothing that was done with this account."

func (m *Model) body(f screen.Frame) string {
	th := f.Theme
	switch {
	case !m.loaded && m.book.count() == 0 && m.err != nil:
		return kit.Notice(th, theme.Warn, f.W, f.H, "History could not be read: "+present.ErrorText(m.err)+".",
			"Press ctrl+r to try again.",
			"Nothing was changed. What is under way goes on without this list: Activity (3) has it.")
	case !m.loaded && m.book.count() == 0:
		return kit.Notice(th, theme.None, f.W, f.H, "Reading history for the first time.",
			"Waiting since "+m.since.Format("15:04:05")+".")
	case m.book.lines() == 0 && m.ended() && m.err == nil:
		return kit.Notice(th, theme.None, f.W, f.H, nothingListed,
			"Press 2 to build a call; what you signed is under Activity (3).")
	case m.rows() == 0:
		words := []string{"Nothing that is loaded matches the filter.",
			"Press m to read more, / to change the filter or esc to clear it."}
		switch {
		case m.book.lines() == 0 && m.ended(): // and the last line says that reading failed again
			words = []string{nothingListed}
		case m.ended():
			words = []string{"Nothing matches the filter.", "Press / to change it or esc to clear it."}
		}
		return kit.Lines(m.stateLine(f, f.W), kit.Notice(th, theme.None, f.W, f.H-frameLines, words...),
			m.middleLine(f, f.W), m.endLine(f, f.W))
	}
	if m.side() {
		return m.besideView(f)
	}
	body := kit.Lines(m.stateLine(f, f.W), m.list(f, f.W))
	if m.details {
		rule := th.Rule.Render(kit.Rule(th.Signs.Rule, f.W))
		m.pane.Keep(m.detailLines(th, f.Now, m.paneW()))
		body = kit.Lines(body, rule, m.pane.View(f.W))
	}
	return kit.Box(kit.Lines(body, m.middleLine(f, f.W), m.endLine(f, f.W)), f.W, f.H)
}

// besideView puts list and details side by side.
func (m *Model) besideView(f screen.Frame) string {
	th, w := f.Theme, m.panes()
	m.pane.Keep(m.detailLines(th, f.Now, w[1]))
	list, details, focus := m.state(f, w[0]), kit.Pane{W: w[1], Title: "Details", Body: m.beside(w[1])}, kit.Focus(0)
	list.Body = m.list(f, w[0])
	if m.inside {
		focus = 1
	}
	if more := m.pane.More(th); more != "" && m.still {
		details.State = th.Dim.Render(more)
	}
	return kit.Box(kit.Lines(kit.Beside(th, f.H-frameLines+1, focus, list, details), m.middleLine(f, f.W),
		m.endLine(f, f.W)), f.W, f.H)
}

// monthsPanel lists the totals of as many months as fit.
func (m *Model) monthsPanel(f screen.Frame, w int) []string {
	th := f.Theme
	lines := []string{th.Strong.Render("Totals") + th.Dim.Render("  of loaded, completed records"),
		""}
	all := m.monthLines(th, w)
	room := max(1, f.H-7)
	if len(all) == 0 {
		all = []string{"Nothing that is loaded is completed."}
	}
	lines = append(lines, all[:min(len(all), room)]...)
	if len(all) > room {
		lines = append(lines, th.Dim.Render("and "+present.Plural(len(all)-room, "earlier month", "earlier months")+
			"; a filter such as in:2026 narrows them"))
	}
	return append(lines, "", th.Dim.Render("Fees are as reviewed, else what was paid less what arrived."))
}

// stateLine names the list, its age, and the filter.
func (m *Model) stateLine(f screen.Frame, w int) string {
	return kit.Beside(f.Theme, 1, 0, m.state(f, w))
}

// state is the list in w cells without its lines.
func (m *Model) state(f screen.Frame, w int) kit.Pane {
	th := f.Theme
	age := "newest first, read " + kit.DataAge(f.Now, m.at)
	if !m.loaded {
		age = "as it was kept, read " + kit.Age(f.Now, m.keptAt) + "; being read again"
		if m.err != nil {
			age = "as it was kept, read " + kit.Age(f.Now, m.keptAt)
		}
	}
	p := kit.Pane{W: w, Title: "History", Note: th.Dim.Render(age), State: m.filter.Filter(th, min(44, w/2), 44)}
	if p.State == "" && m.hidden {
		p.State = th.Dim.Render("amounts hidden")
	}
	return p
}

// Wake draws again when the age in the state line changes.
func (m *Model) Wake(now time.Time) time.Duration {
	if !m.loaded {
		return kit.AgeChanges(now, m.keptAt)
	}
	return kit.DataAgeChanges(now, m.at)
}

// middleLine is the line above the last one: a question, the help and mistakes of a filter, or the totals.
func (m *Model) middleLine(f screen.Frame, w int) string {
	th := f.Theme
	switch {
	case m.asking == askExport:
		return kit.Fit("  "+th.Strong.Render("Write "+m.exportWords()+"?")+"  "+th.Accent.Render("c")+" CSV  "+
			th.Accent.Render("j")+" JSON  "+th.Accent.Render("esc")+" leave", w)
	case m.asking == askName:
		line := "  " + th.Strong.Render("Save this filter as ") + m.name.Text(th, min(maxName, max(4, w-40)))
		if m.name.Error != "" {
			line += " " + th.Say(theme.Danger, m.name.Error)
		}
		return kit.Fit(line, w)
	case len(m.query.mistakes) > 0:
		return kit.Fit("  "+th.Say(theme.Warn, m.query.mistakes[0]), w)
	case m.filter.Focused():
		return kit.Fit("  "+th.Dim.Render(filterHelp), w)
	}
	return kit.Fit(m.totalsLine(f, w), w)
}

// exportWords says what an export would contain.
func (m *Model) exportWords() string {
	n := len(m.records())
	words := grouped(n) + " records"
	if n == 1 {
		words = "1 record"
	}
	if !m.complete() {
		words += ", as far as loaded"
	}
	return words
}

// endLine is the last line: the number of records, or what went wrong.
func (m *Model) endLine(f screen.Frame, w int) string {
	th := f.Theme
	left := "  " + th.Dim.Render(m.endWords())
	if m.err != nil {
		return kit.Fit("  "+th.Say(theme.Warn, present.ErrorText(m.err))+
			th.Dim.Render("; ctrl+r tries again"), w)
	}
	if m.loading {
		return kit.Sides(left, th.Dim.Render(m.loadingWords()+" "), w)
	}
	right := ""
	if m.chosen != nil && m.details && !m.side() && m.pane.Below() > 0 {
		right = th.Accent.Render("space") + th.Dim.Render(" "+m.pane.More(th)+" ")
	}
	return kit.Sides(left, right, w)
}

func (m *Model) loadingWords() string {
	switch {
	case m.job.kind == jobRefresh && m.job.restep:
		return "the service lost the place: reading again from the top"
	case m.job.pages > 1:
		return "reading, " + strconv.Itoa(m.job.pages) + " pages so far"
	}
	return "reading"
}

func (m *Model) endWords() string {
	count, held := m.book.count(), m.book.held
	n := grouped(count)
	switch {
	case m.query.active():
		return m.filterWords(n, count, held)
	case m.alone >= alonePages && m.canReadOn():
		return n + " loaded; reading waits, m goes on"
	}
	for _, s := range m.book.sections {
		if s.live && s.stopped != "" {
			if s.further {
				return n + " loaded; " + s.stopped + "; m goes on"
			}
			return n + " loaded; " + s.stopped
		}
	}
	switch {
	case !m.loaded:
		return n + " kept"
	case m.ended() && count == 1:
		return "end of history: 1 record"
	case m.ended():
		return "end of history: " + n + " records"
	case held < count:
		return n + " loaded, " + grouped(held) + " of them at hand, more below"
	}
	return n + " loaded, more below"
}

func (m *Model) filterWords(n string, count, held int) string {
	words := grouped(len(m.shown)) + " of " + n
	if m.ended() && held == count {
		return words + " match"
	}
	words += " loaded match"
	if u := m.book.unsearched(); u > 0 {
		return words + ", " + grouped(u) + " not looked at; m looks"
	}
	if m.ended() {
		return words
	}
	return words + ", more below; m reads more"
}

// ended reports whether nothing is missing below.
func (m *Model) ended() bool {
	n := len(m.book.sections)
	return m.loaded && (n == 0 || n == 1 && m.book.sections[0].ended)
}
