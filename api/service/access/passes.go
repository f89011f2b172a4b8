package access

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"sync"
	"time"
)

// PassPerMinute is how many requests a caller with a pass may make in a Span: ten a second, several times what a person
// at a dashboard brings about.
const PassPerMinute = 600

// Passes are keys that exist in memory only, each good until it is taken back. Of a key only its digest is kept. A
// caller has one sliding window, whatever the number of its keys, and a new key does not empty it. It is a project of
// its own. Passes are safe for concurrent use.
type Passes struct {
	clock     func() time.Time
	perMinute int
	fundLimit int
	start     time.Time // as in Keys

	mu      sync.Mutex
	known   map[[sha256.Size]byte]*passing // by digest
	callers map[string]*passing
}

// passing is a caller that has keys, made requests within the last Span, or brought new accounts within the last
// FundSpan.
type passing struct {
	caller  string
	project string
	keys    int
	window  window
	funded  window // new accounts
}

// NewPasses admits no one at first, and then each caller with perMinute requests in a Span and fundLimit new accounts
// with test funds in a FundSpan.
func NewPasses(clock func() time.Time, perMinute, fundLimit int) *Passes {
	return &Passes{clock: clock, perMinute: perMinute, fundLimit: fundLimit, start: clock(),
		known: map[[sha256.Size]byte]*passing{}, callers: map[string]*passing{}}
}

// Issue draws a key. caller names it in log lines. revoke ends it and may be called more than once.
func (p *Passes) Issue(random io.Reader, caller string) (key string, revoke func(), err error) {
	var drawn [32]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", nil, err
	}
	key = hex.EncodeToString(drawn[:])
	sum := sha256.Sum256([]byte(key))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(p.clock().Sub(p.start))
	one := p.callers[caller]
	if one == nil {
		one = &passing{caller: caller, project: projectOf("pass", caller), funded: window{span: FundSpan}}
		p.callers[caller] = one
	}
	one.keys++
	p.known[sum] = one
	return key, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.known[sum] != nil {
			delete(p.known, sum)
			one.keys--
		}
	}, nil
}

// forget drops the callers that have no key, made no request and brought no new account lately.
func (p *Passes) forget(now time.Duration) {
	for name, one := range p.callers {
		one.window.slide(now)
		one.funded.slide(now)
		if one.keys+one.window.n+one.funded.n == 0 {
			delete(p.callers, name)
		}
	}
}

// Admit implements Authenticator. It looks for the key's digest, so that the time taken tells nothing about a key. A
// full window gets 429.
func (p *Passes) Admit(_ context.Context, a Attempt) (Grant, error) {
	sum := sha256.Sum256([]byte(a.Key))
	now := p.clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.known[sum]
	if one == nil || a.Key == "" {
		return Grant{}, Unauthorized()
	}
	elapsed := now.Sub(p.start)
	ok, remaining, reset := one.window.take(elapsed, p.perMinute)
	g := Grant{Caller: one.caller, Limit: p.perMinute, Remaining: remaining, Reset: now.Add(reset - elapsed),
		Funds:   one.funded.budget(&p.mu, func() time.Duration { return p.clock().Sub(p.start) }, p.fundLimit),
		Project: one.project}
	if !ok {
		return g, tooMany(reset-elapsed, "This visitor may make %d requests in 60 seconds", p.perMinute)
	}
	return g, nil
}
