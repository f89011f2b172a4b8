// Package setup leads from nothing to a working remote profile: seven steps (name, service, API key, where keys are
// kept, key, accounts, check) and a summary, after which everything is written at once.
//
// Promise: nothing is on disk before the summary is confirmed, and a set-up that is left, or fails, leaves nothing
// (profile.Host.Make). Esc goes a step back and keeps what was entered. A secret is typed unseen or read from a file
// that only the person can read; it is in no view, and is wiped when the program is suspended, left or done. The person
// types the fingerprint of the network, which is compared with the network file and never taken from the service. The
// set-up chooses no place of keys for the person.
//
// Update does no input or output: commands do, and answer with messages that carry a generation. Sources:
// protocol §4.2; TH-C3, K1, K6, K7, KR1 to KR3.
package setup

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/network"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/profile"
	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/theme"
)

// Maker does the work of a set-up outside of the terminal; profile.Host is one. Every method may do input and output,
// and is called from commands only.
type Maker interface {
	Names() ([]string, error)
	CanAdd(p config.Profile) error
	ReadNetwork(path string, kind network.Kind) (network.Descriptor, error)
	FindNetwork(fingerprint string, kind network.Kind) (string, network.Descriptor, error)
	OnNetwork(id string) ([]string, error)
	ProbeStore(ctx context.Context, p config.Profile, networkID string) error
	ComparePlan(ctx context.Context, p profile.Plan) ([]profile.Compared, error)
	Reach(ctx context.Context, p profile.Plan) []doctor.Finding
	Make(ctx context.Context, p profile.Plan) error
}

// Options of Run. Maker must be set; Env is the environment of the person's terminal.
type Options struct {
	Maker  Maker
	Env    []string
	UI     config.UI        // theme, colours and ASCII of the person; the zero value is no choice
	In     io.Reader        // nil: the terminal
	Out    io.Writer        // nil: standard output
	Clock  func() time.Time // nil: time.Now
	Random io.Reader        // cryptographic; nil: crypto/rand
}

// The smallest terminal that the steps are drawn for.
const (
	minWidth  = 60
	minHeight = 20
)

var _ Maker = profile.Host{}

// Run walks a person through the set-up. It returns the name of the new profile if it is to be opened now, or "" when
// the person left: before the end, and nothing was written, or at the end without opening it. When ctx ends first the
// result is its error.
func Run(ctx context.Context, o Options) (string, error) {
	_ = os.Unsetenv("TEA_TRACE") // the library would log every key
	_ = os.Unsetenv("TEA_DEBUG")
	m := New(o)
	defer m.Close()
	opts := []tea.ProgramOption{tea.WithContext(ctx), tea.WithoutSignalHandler(), tea.WithFPS(framesASecond)}
	if o.Env != nil {
		opts = append(opts, tea.WithEnvironment(o.Env))
	}
	if o.In != nil {
		opts = append(opts, tea.WithInput(o.In))
	}
	if o.Out != nil {
		opts = append(opts, tea.WithOutput(o.Out))
	}
	p := tea.NewProgram(m, opts...)
	if m.job = job.Watch(p, nil); m.job != nil {
		defer m.job.End()
	}
	_, err := p.Run()
	switch {
	case err == nil, errors.Is(err, tea.ErrInterrupted):
		return m.result, nil
	case ctx.Err() != nil:
		return "", ctx.Err()
	}
	return "", fmt.Errorf("terminal interface: %w", err)
}

const framesASecond = 30

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	return o
}

func (o Options) getenv(name string) string {
	for i := len(o.Env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(o.Env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// look is the person's theme.
func (o Options) look() theme.Look {
	look := theme.Look{Name: o.UI.Theme, Colors: map[string]string{}}
	for name, c := range o.UI.Colors {
		look.Colors[name] = string(c)
	}
	return look
}

// ascii reports whether the person asked for ASCII, or the locale names a character set other than UTF-8.
func (o Options) ascii() bool {
	if o.UI.ASCII {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(o.getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
