// Package term is what the dashboard and the set-up share as programs of a terminal: the environment of the person's
// terminal, the options of the library, and the parts of a drawing that no screen decides.
package term

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	tea "charm.land/bubbletea/v2"

	"coffer/config"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
)

// Env is the environment of a terminal, as lines "name=value"; of two lines with a name the last one counts.
type Env []string

// Get is the value of a variable, "" when it is not set.
func (e Env) Get(name string) string { return config.Getenv(e)(name) }

// ASCII reports whether the locale names a character set other than UTF-8. Without any locale, as often over SSH,
// terminals are assumed to use UTF-8.
func (e Env) ASCII() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(e.Get(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}

// Quiet removes the environment variables with which the terminal library would log every keystroke (TEA_TRACE) or
// write stacks into the working directory (TEA_DEBUG).
func Quiet() {
	_ = os.Unsetenv("TEA_TRACE")
	_ = os.Unsetenv("TEA_DEBUG")
}

// Options are the options of a program that ends with ctx. A nil in or out is the terminal, a nil env that of this
// process. Signals end ctx and nothing else: a second handler inside the library would send to an event loop that ctx
// has already ended, and hang.
func Options(ctx context.Context, in io.Reader, out io.Writer, env Env, fps int) []tea.ProgramOption {
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(fps)}
	if env != nil {
		opts = append(opts, tea.WithEnvironment(env))
	}
	if in != nil {
		opts = append(opts, tea.WithInput(in))
	}
	if out != nil {
		opts = append(opts, tea.WithOutput(out))
	}
	return opts
}

// Ended is the result of a program for its end: nil after quitting or an interrupt, the context's error after the end
// of ctx.
func Ended(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("terminal interface: %w", err)
}

// Look is the person's theme.
func Look(ui config.UI) theme.Look {
	look := theme.Look{Name: cmp.Or(ui.Theme, theme.Auto), Colors: make(map[string]string, len(ui.Colors))}
	for name, c := range ui.Colors {
		look.Colors[name] = string(c)
	}
	return look
}

// View is a drawing of the whole terminal, with the terminal's cursor at the mark of the content if cursor is true.
func View(th theme.Theme, title, content string, cursor bool) tea.View {
	v := tea.View{AltScreen: true, WindowTitle: title}
	content, x, y, ok := kit.TakeCursor(content)
	if ok && cursor {
		v.Cursor = tea.NewCursor(x, y)
		v.Cursor.Blink = false
	}
	if th.ASCII {
		content = foldASCII(content, th.Signs.More)
	}
	v.SetContent(theme.Carry(content))
	return v
}

// foldASCII replaces each cell of the remaining non-ASCII characters, such as names from a service, by one ?. The mark
// of a cut keeps its meaning.
func foldASCII(s, more string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r == '…':
			b.WriteString(more)
		default:
			b.WriteString(strings.Repeat("?", present.Width(string(r))))
		}
	}
	return b.String()
}
