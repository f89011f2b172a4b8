package rpcpool

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	surveyEvery = 10 * time.Second
	headFresh   = 30 * time.Second
)

// look keeps the heads of the endpoints known: the first time the caller waits for them, a little; later they are asked
// behind it. A pool of one endpoint has nothing to compare.
func (p *Pool) look(ctx context.Context) {
	if len(p.all) == 1 {
		return
	}
	now := p.o.Clock()
	p.mu.Lock()
	first, done := p.surveyed.IsZero(), p.survey
	due := done == nil && !p.done && now.Sub(p.surveyed) >= surveyEvery
	if due {
		done = make(chan struct{})
		p.survey = done
	}
	p.mu.Unlock()
	if due && !p.behind(func(ctx context.Context) { p.heads(ctx); p.surveyDone() }) {
		p.surveyDone()
	}
	if !first || done == nil {
		return
	}
	select {
	case <-done:
	case <-time.After(p.o.Hedge / 2):
	case <-ctx.Done():
	}
}

func (p *Pool) surveyDone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.survey)
	p.survey, p.surveyed = nil, p.o.Clock()
}

// heads asks every endpoint that does not rest for its newest block.
func (p *Pool) heads(ctx context.Context) {
	done := make(chan struct{}, len(p.all))
	asked := 0
	for _, e := range p.all {
		if state, _ := e.phase(p.o.Clock()); state == open {
			continue
		}
		asked++
		if !p.behind(func(context.Context) { p.askHead(ctx, e); done <- struct{}{} }) {
			return
		}
	}
	for range asked {
		<-done
	}
}

func (p *Pool) askHead(ctx context.Context, e *endpoint) {
	call := newRequest(p.id.Add(1), p.kind.head, nil)
	answers, f := p.send(ctx, e, []request{call}, true)
	if r := answers[call.ID]; f == nil && r.err == nil {
		if number, err := p.kind.number(r); err == nil {
			e.noteHead(number, p.o.Clock())
		}
	}
}

// behindBy lists the endpoints that are too far behind the others, with the number of blocks. With three or more, the
// highest head does not count, so that one endpoint alone cannot set all others aside.
func (p *Pool) behindBy(now time.Time) map[*endpoint]uint64 {
	heads := map[*endpoint]uint64{}
	var sorted []uint64
	for _, e := range p.all {
		if n, at := e.known(); !at.IsZero() && now.Sub(at) < headFresh {
			heads[e] = n
			sorted = append(sorted, n)
		}
	}
	slices.Sort(sorted)
	slices.Reverse(sorted)
	if len(sorted) < 2 {
		return nil
	}
	top := sorted[0]
	if len(sorted) > 2 {
		top = sorted[1]
	}
	behind := map[*endpoint]uint64{}
	for e, n := range heads {
		if n < top && top-n > p.o.Behind {
			behind[e] = top - n
		}
	}
	return behind
}

// probe lets endpoints whose pause has passed prove themselves while a healthy one serves the caller.
func (p *Pool) probe() {
	now := p.o.Clock()
	var half []*endpoint
	healthy := false
	for _, e := range p.all {
		switch state, _ := e.phase(now); state {
		case closed:
			healthy = true
		case halfOpen:
			half = append(half, e)
		}
	}
	for _, e := range half {
		if healthy {
			p.behind(func(ctx context.Context) { p.askHead(ctx, e) })
		}
	}
}

// EndpointState is what an endpoint is good for now.
type EndpointState string

// The states of an endpoint.
const (
	Untried EndpointState = "untried"
	Up      EndpointState = "up"
	Behind  EndpointState = "behind" // up, but its newest block is old
	Resting EndpointState = "resting"
)

// EndpointHealth is one endpoint as the pool knows it. Fault is its last fault, for a person, and stays after it
// recovered; a resting one is tried again at Retry. Head is its newest block as of HeadAt. Disagreed counts answers
// that a quorum outvoted.
type EndpointHealth struct {
	Host      string
	State     EndpointState
	Fault     string
	FaultAt   time.Time
	Retry     time.Time
	Latency   time.Duration
	Head      uint64
	HeadAt    time.Time
	Behind    uint64
	Calls     uint64
	Faults    uint64
	Disagreed uint64
}

// Health describes the endpoints in the order of the options. It asks none.
func (p *Pool) Health() []EndpointHealth {
	now := p.o.Clock()
	behind := p.behindBy(now)
	list := make([]EndpointHealth, len(p.all))
	for i, e := range p.all {
		e.mu.Lock()
		h := EndpointHealth{Host: e.host, State: Up, Fault: e.fault, FaultAt: e.faultAt, Latency: e.latency,
			Head: e.head, HeadAt: e.headAt, Behind: behind[e], Calls: e.calls, Faults: e.faults, Disagreed: e.disagreed}
		switch {
		case e.pause > 0:
			h.State, h.Retry = Resting, e.until
		case !e.verified:
			h.State = Untried
		case h.Behind > 0:
			h.State = Behind
		}
		e.mu.Unlock()
		list[i] = h
	}
	return list
}

// Probe asks every endpoint for its chain and newest block, those that rest excepted, and returns their health. The
// error says that none answered.
func (p *Pool) Probe(ctx context.Context) ([]EndpointHealth, error) {
	ctx, cancel := p.bounded(ctx, 2*p.o.Timeout)
	defer cancel()
	p.heads(ctx)
	health := p.Health()
	for _, h := range health {
		if h.State == Up || h.State == Behind {
			return health, nil
		}
	}
	return health, errors.Join(ctx.Err(), p.unavailable(p.kind.head, nil))
}
