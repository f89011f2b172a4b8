// Package setup leads from nothing to a working profile: up to seven steps (name and place, service, API key, where
// keys are kept, key, accounts, check) and a summary, after which everything is written at once. A profile inside this
// program has no service, no API key and no check. One on own nodes has its networks file and what the nodes have in
// the place of those.
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
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/config"
	"coffer/ui/doctor"
	"coffer/ui/profile"
	"coffer/ui/tui/internal/job"
	"coffer/ui/tui/internal/term"
)

// Maker does the work of a set-up outside of the terminal; profile.Host is one. Every method may do input and output,
// and is called from commands only.
type Maker interface {
	Names() ([]string, error)
	CanAdd(p config.Profile) error
	Describe() (network.Descriptor, error)
	NodesFile() string
	OnNodes(p config.Profile, path string) (config.Profile, network.Descriptor, []networks.Need, error)
	TryNodes(ctx context.Context, p profile.Plan) []doctor.Finding
	ReadNetwork(path string, kind network.Kind) (network.Descriptor, error)
	FindNetwork(fingerprint string, kind network.Kind) (string, network.Descriptor, error)
	OnNetwork(id string) ([]string, error)
	ProbeStore(ctx context.Context, p config.Profile, networkID string) error
	ComparePlan(ctx context.Context, p profile.Plan) ([]profile.Compared, error)
	Reach(ctx context.Context, p profile.Plan) []doctor.Finding
	Make(ctx context.Context, p profile.Plan) (profile.Made, error)
}

// Options of Run. Maker must be set; Env is the environment of the person's terminal.
type Options struct {
	Maker  Maker
	Env    term.Env
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
	term.Quiet()
	m := New(o)
	defer m.Close()
	p := tea.NewProgram(m, term.Options(ctx, o.In, o.Out, o.Env, framesASecond)...)
	if m.job = job.Watch(p, nil); m.job != nil {
		defer m.job.End()
	}
	_, err := p.Run()
	if err = term.Ended(ctx, err); err != nil {
		return "", err
	}
	return m.result, nil
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
