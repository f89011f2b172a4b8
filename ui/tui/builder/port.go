package builder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

// importedMsg brings a document, or the reason for its refusal.
type importedMsg struct {
	list     []byte // of payouts, instead of a document
	abi      string // of a contract, instead of a document
	doc      compose.Document
	failures []api.Failure
	err      error
}

// exportedMsg says where a document is written.
type exportedMsg struct {
	path  string
	stays string // what it leaves out
	err   error
}

// askImport asks for a file, or for a pasted document.
func (s *Screen) askImport() {
	label := "the path of a file, or paste the document"
	if s.ctx.NoFiles != "" {
		label = "paste the document"
	}
	s.prompt.show("Read an intent, a Safe Transaction Builder batch or an ABI", label, 4096, s.importAnswer)
	s.prompt.docs = true
	s.prompt.hint = "enter reads it into the form; nothing is sent. What is there comes back with U"
}

func (s *Screen) importAnswer(path string) tea.Cmd { return s.source(path, readIn) }

// source reads what was pasted into the dialog, or the file at a path.
func (s *Screen) source(path string, read func([]byte, error) tea.Msg) tea.Cmd {
	if s.prompt.doc != "" {
		text := []byte(s.prompt.doc)
		return func() tea.Msg { return read(text, nil) }
	}
	if s.ctx.NoFiles != "" {
		s.prompt.wrong = "paste it: " + s.ctx.NoFiles
		return nil
	}
	if path = trim(path); path == "" {
		s.prompt.wrong = "a path is needed, or a pasted document"
		return nil
	}
	return func() tea.Msg { return read(readFile(path)) }
}

func readIn(b []byte, err error) tea.Msg {
	m := importedMsg{err: err}
	if err == nil {
		m.doc, m.err = compose.ReadDocument(b)
		m.failures = present.Failures(m.err)
	}
	if m.err != nil && isABI(trim(string(b))) {
		return importedMsg{abi: trim(string(b))}
	}
	if d := m.doc.Draft; m.err == nil && len(d.Calls) == 0 && d.Pay == nil && d.Receive == nil {
		m.err = errors.New("it has neither calls nor a swap or transfer")
	}
	return m
}

// readFile reads a file of at most the size of a document. ~ is the home directory.
func readFile(path string) ([]byte, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, err
		}
		path = filepath.Join(home, rest)
	}
	return compose.ReadFile(path)
}

// imported puts a document on the screen, or the reason for its refusal into the dialog.
func (s *Screen) imported(m importedMsg) tea.Cmd {
	if !s.prompt.docs {
		return nil // the dialog is closed by now
	}
	if m.err != nil {
		s.prompt.wrong = refusedWords(m)
		return nil
	}
	if m.list != nil {
		return s.readList(m.list, "")
	}
	if m.abi != "" {
		return s.abiRead(m.abi)
	}
	s.prompt.close()
	s.remember()
	s.fill(m.doc.Draft)
	if m.doc.Safe {
		s.b.Own = false // a batch does not list what it needs: that follows the calls
	}
	s.note = s.importNote(m)
	return nil
}

// abiRead offers the functions of an ABI that was read for the call in focus, or for the only one.
func (s *Screen) abiRead(text string) tea.Cmd {
	c := s.current().of
	if c == nil && len(s.b.Calls) == 1 {
		c = s.b.Calls[0]
	}
	if s.form != formCalls || c == nil {
		s.prompt.wrong = "an ABI is for a call: go to the call first, then o"
		return nil
	}
	s.prompt.close()
	cmd := s.takeABI(c, text)
	s.tidyFocus(c)
	return cmd
}

// refusedWords says why a document is refused. A wrong checksum comes first: the file is not the one that was written.
func refusedWords(m importedMsg) string {
	for _, f := range m.failures {
		if f.Path == "meta.checksum" {
			return "the checksum is wrong: the file is not as it was written. Nothing was taken from it"
		}
	}
	if len(m.failures) > 0 {
		text := present.Clean(m.failures[0].String(), 300)
		if n := len(m.failures) - 1; n > 0 {
			text += fmt.Sprintf(" (and %d more)", n)
		}
		return text
	}
	return plain(m.err)
}

// importNote says what a document is, and what the import leaves out.
func (s *Screen) importNote(m importedMsg) caution {
	d := m.doc.Draft
	if m.doc.Safe {
		what := "a Safe batch of " + present.Plural(len(d.Calls), "call", "calls")
		if m.doc.Sum == "" {
			return remark(compose.Warn, what+" without a checksum: compare every line with its source")
		}
		return remark(compose.Good, what+", its checksum is right: "+present.Groups(m.doc.Sum))
	}
	var left []string
	if d.Network != "" && d.Network != s.Network {
		left = append(left, "it was made for another network")
	}
	if len(d.Accounts) > 0 && !sameAccounts(d.Accounts, s.Accounts) {
		left = append(left, "it was made for other accounts: yours are used")
	}
	if len(left) > 0 {
		return remark(compose.Warn, "read as an intent; "+strings.Join(left, "; "))
	}
	return remark(compose.Good, "read as an intent")
}

func sameAccounts(a, b []api.Account) bool {
	return slices.EqualFunc(a, b,
		func(x, y api.Account) bool { return strings.EqualFold(x.AccountAddress, y.AccountAddress) })
}

// The formats of an export.
const (
	formatIntent = "intent"
	formatSafe   = "safe"
)

// askExport offers the formats for an export.
func (s *Screen) askExport() tea.Cmd {
	s.leaveField()
	if _, ok := s.freeze(); !ok {
		return s.firstMistake()
	}
	safe := kit.Item{Value: formatSafe, Label: "batch of the Safe Transaction Builder", Note: "JSON with checksum"}
	if s.form != formCalls {
		safe.Off = "a batch has calls only"
	}
	s.openList("Write to a file", []kit.Item{{Value: formatIntent, Label: "intent of this program",
		Note: "JSON, all of it"}, safe}, "", s.takeExport)
	s.looks = true
	return nil
}

func (s *Screen) takeExport(format string) tea.Cmd {
	in, ok := s.freeze()
	if !ok {
		return s.firstMistake()
	}
	write := s.ctx.Export
	if format == formatIntent {
		raw, err := in.MarshalJSON()
		v := jsontext.Value(raw)
		if err == nil {
			err = v.Indent(jsontext.WithIndent("  "))
		}
		return exportAs(write, "intent.json", append(v, '\n'), "", err)
	}
	d := in.Draft()
	d.ValidUntil = "" // relative to now, so it means nothing in a file
	b, err := intent.ToSafe(d, s.Clock())
	if fs := present.Failures(err); len(fs) > 0 {
		s.refuse(fs, err)
		return s.firstMistake()
	}
	return exportAs(write, "safe-batch.json", b, "accounts, tokens, funding, slippage and notes are not part of it",
		err)
}

func exportAs(write func(string, []byte) (string, error), name string, data []byte, stays string, err error) tea.Cmd {
	return func() tea.Msg {
		m := exportedMsg{stays: stays, err: err}
		if err == nil {
			m.path, m.err = write(name, data)
		}
		return m
	}
}

func (s *Screen) exported(m exportedMsg) tea.Cmd {
	if m.err != nil {
		return screen.Toast(theme.Danger, "nothing was written: "+plain(m.err))
	}
	text := "written: " + present.Clean(m.path, 1000)
	if m.stays != "" {
		s.note = remark(compose.None, "the batch holds the calls: "+m.stays)
	}
	return screen.Toast(theme.Good, text)
}
