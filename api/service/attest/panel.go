package attest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// How often attesters elsewhere are asked whether they are there, and after how long without an answer one counts as
// gone. One that gave a wrong signature counts as gone for as long, or until it gives a right one.
const (
	pingEvery = time.Minute
	GoneAfter = 5 * time.Minute
)

// pinging is an attester elsewhere; one without it is in this process and always there.
type pinging interface {
	Ping(context.Context) error
}

// PanelOptions say who attests. Filler is whose deposits; Every is how often those elsewhere are asked, 0 for the
// usual.
type PanelOptions struct {
	Ports     []Port
	Threshold int
	Filler    common.Address
	Clock     func() time.Time
	Log       *slog.Logger
	Every     time.Duration
	Gone      time.Duration // after which one without an answer counts as gone, 0 for GoneAfter
}

// Panel are the attesters of an operator, and what is known of each. It is safe for concurrent use.
type Panel struct {
	o       PanelOptions
	members []*member
	end     context.CancelFunc
	asking  sync.WaitGroup
}

// NewPanel begins to ask those elsewhere whether they are there, until Close.
func NewPanel(o PanelOptions) *Panel {
	o.Gone = cmp.Or(o.Gone, GoneAfter)
	p := &Panel{o: o}
	for _, port := range o.Ports {
		m := &member{Port: port, panel: p}
		m.ping, _ = port.(pinging)
		p.members = append(p.members, m)
	}
	var ctx context.Context
	ctx, p.end = context.WithCancel(context.Background())
	p.asking.Go(func() { p.run(ctx) })
	return p
}

// Close ends it.
func (p *Panel) Close() {
	p.end()
	p.asking.Wait()
}

// Ports are the attesters; what they answer is noted.
func (p *Panel) Ports() []Port {
	out := make([]Port, len(p.members))
	for i, m := range p.members {
		out[i] = m
	}
	return out
}

func (p *Panel) run(ctx context.Context) {
	every := cmp.Or(p.o.Every, pingEvery)
	for {
		p.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// look asks all at once.
func (p *Panel) look(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range p.members {
		if m.ping != nil {
			all.Go(func() { m.note(ctx, m.ping.Ping(ctx)) })
		}
	}
	all.Wait()
}

// Member is what is known of an attester. Answered is when it last did, zero when it never has; Fault is what was wrong
// the last time, "" when nothing was. One that is Here is in this process.
type Member struct {
	Address  common.Address
	Here     bool
	Answers  bool
	Answered time.Time
	Fault    string
}

// Members are all attesters, and Threshold how many must sign.
func (p *Panel) Members(now time.Time) (all []Member, threshold int) {
	for _, m := range p.members {
		all = append(all, m.state(now))
	}
	return all, p.o.Threshold
}

// Few is an error while fewer attesters have answered within GoneAfter than must sign.
func (p *Panel) Few(now time.Time) error {
	all, k := p.Members(now)
	n := 0
	for _, m := range all {
		if m.Answers {
			n++
		}
	}
	if n >= k {
		return nil
	}
	return fmt.Errorf("%d of %d attesters have answered in the last %s, and a payment is released for the signatures "+
		"of %d", n, len(all), p.o.Gone, k)
}

// member is an attester of a panel.
type member struct {
	Port
	panel *Panel
	ping  pinging

	mu       sync.Mutex
	answered time.Time
	wronged  time.Time // when it last gave a wrong signature
	fault    string
}

// Attest implements Port, and notes what came of it. That a fill is not final yet is an answer like any other.
func (m *member) Attest(ctx context.Context, c Claim) ([]byte, error) {
	signature, err := m.Port.Attest(ctx, c)
	if err == nil {
		err = Check(m.Address(), m.panel.o.Filler, c, signature)
	}
	switch {
	case errors.Is(err, ErrNotFilled):
		m.note(ctx, nil)
	case err == nil:
		m.mu.Lock()
		m.wronged = time.Time{}
		m.mu.Unlock()
		m.note(ctx, nil)
	default:
		m.note(ctx, err)
	}
	return signature, err
}

// note keeps an answer, or that there was none. Who stopped waiting says nothing of the attester.
func (m *member) note(ctx context.Context, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	now := m.panel.o.Clock()
	m.mu.Lock()
	was := m.fault
	switch {
	case err == nil:
		m.answered, m.fault = now, ""
	case errors.Is(err, ErrWrongSignature):
		m.wronged, m.fault = now, err.Error()
	default:
		m.fault = err.Error()
	}
	is := m.fault
	m.mu.Unlock()
	if was == "" && is != "" {
		m.panel.o.Log.Warn("an attester does not answer as it should", "attester", m.Address().Hex(), "error", is)
	}
}

func (m *member) state(now time.Time) Member {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := Member{Address: m.Address(), Here: m.ping == nil, Answered: m.answered, Fault: m.fault}
	wrong := !m.wronged.IsZero() && now.Sub(m.wronged) < m.panel.o.Gone
	out.Answers = !wrong && (out.Here || !m.answered.IsZero() && now.Sub(m.answered) < m.panel.o.Gone)
	if wrong && out.Fault == "" {
		out.Fault = ErrWrongSignature.Error()
	}
	return out
}
