package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/internal/job"
)

// Run shows the program until the person quits or ctx ends. It returns nil after quitting or an interrupt, the
// context's error after the end of ctx, and an error when it cannot use the terminal.
func Run(ctx context.Context, o Options) error {
	QuietEnvironment()
	m := New(o)
	defer m.Close()
	// Signals end ctx and nothing else: a second handler inside the library would send to an event loop that ctx has
	// already ended, and hang.
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(m.fps())}
	if o.Env != nil {
		opts = append(opts, tea.WithEnvironment(o.Env))
	}
	if o.In != nil {
		opts = append(opts, tea.WithInput(o.In))
	}
	if o.Out != nil {
		opts = append(opts, tea.WithOutput(o.Out))
	}
	if o.NoColor {
		opts = append(opts, tea.WithColorProfile(o.profile()))
	}
	if o.Away != nil {
		return ended(ctx, o.Away.run(m, append(opts, o.Away.options(o)...)))
	}
	p := tea.NewProgram(m, opts...)
	if m.job = job.Watch(p, o.Suspended); m.job != nil {
		defer m.job.End()
	}
	_, err := p.Run()
	return ended(ctx, err)
}

// ended is the result of Run for the end of the program.
func ended(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted):
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("terminal interface: %w", err)
}

func (m *Model) fps() int {
	if m.opt.remote() {
		return fpsRemote
	}
	return fpsLocal
}
