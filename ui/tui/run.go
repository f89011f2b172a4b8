package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/internal/term"
	"coffer/ui/tui/theme"
)

// Run shows the program until the person quits or ctx ends. It returns nil after quitting or an interrupt, the
// context's error after the end of ctx, and an error when it cannot use the terminal.
func Run(ctx context.Context, o Options) error {
	QuietEnvironment()
	m := New(o)
	defer m.Close()
	m.blank = m.ground == theme.OnAny && m.w == 0
	if o.View != nil && o.View.out != nil {
		o.Out = o.View.out
	}
	opts := term.Options(ctx, o.In, o.Out, o.Env, m.fps())
	if m.w > 0 {
		opts = append(opts, tea.WithWindowSize(m.w, m.h))
	}
	if o.NoColor {
		opts = append(opts, tea.WithColorProfile(o.profile()))
	}
	if o.Away != nil {
		return term.Ended(ctx, o.Away.run(m, append(opts, o.Away.options(o)...)))
	}
	p := tea.NewProgram(m, opts...)
	if m.job = job.Watch(p, o.Suspended); m.job != nil {
		defer m.job.End()
	}
	_, err := p.Run()
	return term.Ended(ctx, err)
}

func (m *Model) fps() int {
	if m.opt.remote() {
		return fpsRemote
	}
	return fpsLocal
}
