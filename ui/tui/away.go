package tui

import (
	"context"
	"errors"
	"reflect"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// Size is the size of a terminal, in cells.
type Size struct{ Width, Height int }

// Away is a terminal that another program provides, such as an SSH server.
type Away struct {
	Size    Size        // at the start
	Resized <-chan Size // each later size; nil: the size is fixed
	Notes   <-chan string
	// Broken receives a panic of the program, which then ends. Nothing is written to the standard streams of this
	// process.
	Broken func(what any, stack []byte)
}

// errBroken says that the program panicked; Broken has the details.
var errBroken = errors.New("the program broke")

func (a *Away) options(o Options) []tea.ProgramOption {
	return []tea.ProgramOption{tea.WithWindowSize(a.Size.Width, a.Size.Height), tea.WithColorProfile(o.profile())}
}

// run shows the program, and forwards resizes and notes until it ends.
func (a *Away) run(m *Model, opts []tea.ProgramOption) error {
	g := &guarded{m: m, report: a.Broken}
	p := tea.NewProgram(g, opts...)
	life, end := context.WithCancel(context.Background())
	defer end()
	go func() {
		for {
			select {
			case <-life.Done():
				return
			case s := <-a.Resized:
				p.Send(tea.WindowSizeMsg{Width: s.Width, Height: s.Height})
			case text := <-a.Notes:
				p.Send(screen.ToastMsg{Meaning: theme.Warn, Text: text})
			}
		}
	}()
	_, err := p.Run()
	if g.broken {
		return errBroken
	}
	return err
}

// guarded is the program with its panics caught. The library would catch them as well, and write the panic to the
// standard error of this process.
type guarded struct {
	m      *Model
	report func(what any, stack []byte)
	broken bool // used on the event loop only
}

// brokeMsg says that a command panicked.
type brokeMsg struct{}

// safely calls fn, reports its panic, and returns whether there was one.
func (g *guarded) safely(fn func()) (broke bool) {
	defer func() {
		if what := recover(); what != nil {
			broke = true
			if g.report != nil {
				g.report(what, debug.Stack())
			}
		}
	}()
	fn()
	return false
}

// Init starts the program.
func (g *guarded) Init() (cmd tea.Cmd) {
	if g.broken = g.safely(func() { cmd = g.m.Init() }); g.broken {
		return tea.Quit
	}
	return g.command(cmd)
}

// Update handles one message.
func (g *guarded) Update(msg tea.Msg) (_ tea.Model, cmd tea.Cmd) {
	_, broke := msg.(brokeMsg)
	g.broken = g.broken || broke || g.safely(func() { _, cmd = g.m.Update(msg) })
	if g.broken {
		return g, tea.Quit
	}
	return g, g.command(cmd)
}

// View draws. After a panic there is nothing to draw, and the next message ends the program.
func (g *guarded) View() (v tea.View) {
	g.broken = g.broken || g.safely(func() { v = g.m.View() })
	return v
}

// commandsIn are the commands of a batch or a sequence, whose type the library keeps for itself; nil in other messages.
// They share their memory with the message.
func commandsIn(msg tea.Msg) []tea.Cmd {
	commands := reflect.TypeFor[[]tea.Cmd]()
	if v := reflect.ValueOf(msg); v.IsValid() && v.Type().ConvertibleTo(commands) {
		return v.Convert(commands).Interface().([]tea.Cmd)
	}
	return nil
}

// command wraps a command so that its panic becomes a message, and likewise the commands that it contains.
func (g *guarded) command(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() (msg tea.Msg) {
		if g.safely(func() { msg = cmd() }) {
			return brokeMsg{}
		}
		for i, c := range commandsIn(msg) {
			commandsIn(msg)[i] = g.command(c)
		}
		return msg
	}
}
