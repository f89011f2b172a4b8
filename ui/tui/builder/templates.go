package builder

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// The values of the list of templates.
const (
	pickTemplate = "t:"
	pickDelete   = "delete"
	pickImport   = "import"
	pickPayouts  = "payouts"
	pickNothing  = ""
)

// openTemplates lists the templates, and the other sources to read from.
func (s *Screen) openTemplates() tea.Cmd {
	label := "read a file, or a document that you paste"
	if s.ctx.NoFiles != "" {
		label = "read a document that you paste"
	}
	document := kit.Item{Value: pickImport, Label: label, Note: "intent, Safe batch, ABI"}
	if s.ctx.NoFiles == "" {
		document.Typed = asPath
	}
	items := []kit.Item{document,
		{Value: pickPayouts, Label: "payouts: a list of who gets how much", Note: "CSV"}}
	for i, t := range s.store.templates {
		items = append(items, kit.Item{Value: pickTemplate + strconv.Itoa(i),
			Label: present.Clean(t.Name, compose.MaxName),
			Note:  t.Words()})
	}
	switch {
	case s.store.broken != "":
		items = append(items, kit.Item{Value: pickNothing, Label: "the templates cannot be read", Off: s.store.broken})
	case s.ctx.Keep == nil:
		items = append(items, kit.Item{Value: pickNothing, Label: "templates",
			Off: "this program keeps nothing between starts"})
	case len(s.store.templates) == 0:
		items = append(items, kit.Item{Value: pickNothing, Label: "no template yet", Off: "s saves the form as one"})
	default:
		items = append(items, kit.Item{Value: pickDelete, Label: "delete a template"})
	}
	s.openList("Open", items, pickImport, s.takeTemplate)
	s.typed, s.choice.Reads = s.openPath, func(text string) kit.Reading { return kit.Reading{Own: isPath(text)} }
	return nil
}

func isPath(text string) bool { return strings.ContainsAny(text, `/\.`) }

// openPath reads the file of a typed path: payouts where it is a CSV file. Other text was a search.
func (s *Screen) openPath(path string) tea.Cmd {
	ask := s.askImport
	if strings.EqualFold(filepath.Ext(trim(path)), ".csv") {
		ask = s.askPayouts
	}
	ask()
	if !isPath(path) {
		return nil
	}
	s.prompt.field.Set(path)
	return s.prompt.take(path)
}

func (s *Screen) takeTemplate(v string) tea.Cmd {
	if number, ok := strings.CutPrefix(v, pickTemplate); ok {
		i, err := strconv.Atoi(number)
		if err != nil || i < 0 || i >= len(s.store.templates) {
			return nil
		}
		s.useTemplate(s.store.templates[i])
		return nil
	}
	switch v {
	case pickImport:
		s.askImport()
	case pickPayouts:
		s.askPayouts()
	case pickDelete:
		var items []kit.Item
		for _, t := range s.store.templates {
			items = append(items, kit.Item{Value: t.Name, Label: present.Clean(t.Name, compose.MaxName),
				Note: t.Words()})
		}
		s.openList("Delete which template", items, "", s.deleteTemplate)
	}
	return nil
}

// useTemplate puts a template on the screen; U restores the previous content.
func (s *Screen) useTemplate(t compose.Template) {
	s.remember()
	s.touched()
	s.lay(t.Desk())
	s.note = remark(compose.None, "from the template "+present.Clean(t.Name, compose.MaxName)+
		"; U brings back what was there")
}

func (s *Screen) deleteTemplate(name string) tea.Cmd {
	at := slices.IndexFunc(s.store.templates, func(t compose.Template) bool { return t.Name == name })
	if at < 0 {
		return nil
	}
	s.store.templates = slices.Delete(slices.Clone(s.store.templates), at, at+1)
	return s.saveTemplates("the template " + present.Clean(name, compose.MaxName) + " is deleted")
}

// askTemplate asks for the name to save the form under.
func (s *Screen) askTemplate() tea.Cmd {
	switch {
	case s.ctx.Keep == nil:
		return screen.Toast(theme.Warn, "this program keeps nothing between starts")
	case s.store.broken != "":
		return screen.Toast(theme.Warn, "the templates cannot be read and are left as they are: "+s.store.broken)
	case !s.store.ready:
		return screen.Toast(theme.Warn, "the templates are still being read")
	case s.empty():
		return screen.Toast(theme.Warn, "there is nothing to save yet")
	}
	s.prompt.show("Save as a template", "a name", compose.MaxName, s.saveTemplate)
	s.prompt.hint = "without network and accounts; enter saves"
	return nil
}

// saveTemplate saves the form under a name. A second enter replaces a name in use.
func (s *Screen) saveTemplate(name string) tea.Cmd {
	name = trim(name)
	if name == "" || present.Clean(name, compose.MaxName) != name {
		s.prompt.wrong = "a name of up to " + strconv.Itoa(compose.MaxName) + " plain characters"
		return nil
	}
	t := compose.NewTemplate(name, s.shown())
	list := slices.Clone(s.store.templates)
	at := slices.IndexFunc(list, func(x compose.Template) bool { return x.Name == name })
	switch {
	case at >= 0 && s.prompt.sure != name:
		s.prompt.sure = name
		s.prompt.wrong = "this name is taken: enter once more replaces it"
		return nil
	case at >= 0:
		list[at] = t
	case len(list) >= compose.MaxTemplates:
		s.prompt.wrong = fmt.Sprintf("there are %d templates already: delete one first", compose.MaxTemplates)
		return nil
	default:
		list = append(list, t)
	}
	s.store.templates = list
	s.prompt.close()
	return s.saveTemplates("saved as the template " + name)
}

// saveTemplates writes the list, and shows words afterwards.
func (s *Screen) saveTemplates(words string) tea.Cmd {
	keep := s.ctx.Keep
	data, err := compose.EncodeTemplates(s.store.templates)
	return func() tea.Msg {
		if err == nil {
			err = keep.Save(templatesName, data)
		}
		return savedMsg{name: words, err: err}
	}
}
