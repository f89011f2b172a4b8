package liar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/api/service/settle/settletest"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// Person is somebody who uses the wallet at random but sensibly, and remembers what was confirmed and what was told.
type Person struct {
	Kind      string // of accounts
	Steps     int
	Signed    int                // signatures that were made
	Confirmed map[string]*agreed // by operation
	Problems  []string
	Trace     func(string) // is told each step, for a session that is run again

	dice     dice
	clock    *settletest.Clock
	network  network.Descriptor
	catalog  *catalog.Catalog
	user     *settletest.User
	holdings []holding
	v1       bool
	policy   verify.Policy
	dir      string
	client   *client.Client
	pen      *pen
	random   io.Reader // of the journal
	journal  *journal.Journal
	flow     *flow.Flow
	current  *flow.Operation
	last     *intent.Draft // the intent of an operation that was told not to have run
	watched  map[string]*track
}

// person makes a user with new keys and an empty journal below a directory. ask leads to the service.
func (h *House) person(dir string, seed uint64, ask http.RoundTripper) (*Person, error) {
	c, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	d := newDice(seed, "person")
	kinds := settletest.Kinds()
	p := &Person{
		Kind: kinds[d.IntN(len(kinds)-1)], Confirmed: map[string]*agreed{}, dice: d, clock: h.Clock, network: h.Network,
		catalog: c,
		dir:     filepath.Join(dir, "journal"), policy: verify.DefaultPolicy(h.Network, c),
		watched: map[string]*track{},
		random:  rand.NewChaCha8(seedBytes(seed, "journal")),
	}
	user := settletest.NewUserOf(h.Network.Pins, p.Kind, seed)
	p.user, p.v1 = user, !user.HasSolana() && d.chance(20)
	if d.chance(40) {
		p.policy.Limits = limits(d)
	}
	keys := vault.NewMemory(h.Network.ID)
	_, err = keys.Add(vault.EVM, secret.New(crypto.FromECDSA(user.Key)))
	if err == nil && user.HasSolana() {
		_, err = keys.Add(vault.Solana, secret.New(user.Solana.Seed()))
	}
	if err != nil {
		return nil, err
	}
	p.pen = &pen{inner: sign.New(keys, h.Network.ID), person: p}
	p.client, err = client.New(client.Options{
		BaseURL: client.EmbeddedBaseURL, Transport: ask, Clock: h.Clock.Now, Rand: d.Float64,
		Sleep: func(ctx context.Context, w time.Duration) error { h.Clock.Advance(max(w, 0)); return ctx.Err() },
	})
	if err != nil {
		return nil, err
	}
	return p, p.open()
}

// open starts the wallet on its journal, as after a restart.
func (p *Person) open() (err error) {
	if p.journal != nil {
		if err := p.journal.Close(); err != nil {
			return err
		}
	}
	p.journal, err = journal.Open(p.dir, journal.Options{Network: p.network.ID, Clock: p.clock.Now, Random: p.random})
	if err != nil {
		return err
	}
	p.flow = flow.New(flow.Deps{
		Client: p.client, Signer: p.pen, Journal: p.journal, Policy: p.policy, Clock: p.clock.Now,
		Sleep: func(ctx context.Context, w time.Duration) error {
			p.clock.Advance(max(w, 0))
			if p.pen.polls--; p.pen.polls <= 0 {
				return errEnough
			}
			return ctx.Err()
		},
	})
	p.current = nil
	return nil
}

// errEnough ends a Watch after some questions: a person looks away.
var errEnough = errors.New("watched long enough")

// Close ends the wallet and removes its journal.
func (p *Person) Close() error {
	p.client.Close()
	return errors.Join(p.journal.Close(), os.RemoveAll(p.dir))
}

func (p *Person) problem(code, format string, args ...any) {
	p.Problems = append(p.Problems, code+": "+fmt.Sprintf(format, args...))
}

// Step does one thing that a person might do now.
func (p *Person) Step(ctx context.Context) {
	p.Steps++
	if n := p.dice.IntN(100); n < 4 {
		p.restart(ctx)
	} else if n < 6 {
		p.clock.Advance(time.Duration(1+p.dice.IntN(20)) * time.Minute)
	} else if n < 8 {
		p.void()
	} else if n < 12 {
		p.look(ctx)
	} else {
		p.goOn(ctx)
	}
	p.clock.Advance(time.Duration(p.dice.IntN(4000)) * time.Millisecond)
	p.observe()
	if p.Trace != nil {
		p.Trace(p.stands())
	}
}

// stands is one line about where the person is.
func (p *Person) stands() string {
	line := fmt.Sprintf("step %d at %s: %d signatures", p.Steps, p.clock.Now().UTC().Format("15:04:05"), p.Signed)
	if p.current == nil {
		return line
	}
	s := p.current.Snapshot()
	line += fmt.Sprintf(", operation %s %s, quote %.10s, %s", s.ID, s.State, s.QuoteID, s.Problem)
	for _, r := range append(s.Report1.Reasons, s.Report2.Reasons...) {
		if r.Level == verify.Refuse || r.Level == verify.Gate {
			line += fmt.Sprintf("\n      %s %s want %q got %q", r.Code, r.Title, r.Want, r.Got)
		}
	}
	if s.Review2 != nil {
		for _, l := range s.Review2.Legs {
			line += fmt.Sprintf("\n      pays %s of %s, nonce %s", l.Pays.Amount, l.Pays.Asset, l.Nonce)
		}
	}
	if s.Review1 != nil {
		line += fmt.Sprintf("\n      call %s, nonce %s", sumOf(s.Review1.Outflow), s.Review1.Nonce)
	}
	return line
}

// goOn takes the next step of the operation at hand, or begins another.
func (p *Person) goOn(ctx context.Context) {
	if p.current == nil {
		p.begin(ctx)
		return
	}
	o := p.current
	switch s := o.Snapshot(); s.State {
	case flow.StateDraft, flow.StateRefused:
		p.begins(ctx, o)
	case flow.StateReview1:
		p.review1(ctx, o)
	case flow.StateQuoting:
		if p.dice.chance(70) {
			p.requote(ctx, o)
		} else {
			p.abandon(o)
		}
	case flow.StateReview2:
		p.review2(ctx, o)
	case flow.StateAccepted, flow.StateUnknown:
		p.watch(ctx, o)
	default:
		p.ended(ctx, o)
	}
}

// begin starts something new, or repeats what was told not to have run.
func (p *Person) begin(ctx context.Context) {
	d, ok := intent.Draft{}, false
	if p.last != nil && p.dice.chance(80) {
		d, ok, p.last = *p.last, true, nil
	}
	for tries := 0; !ok && tries < 10; tries++ {
		d, ok = p.wish()
	}
	in, err := intent.Freeze(d, api.Rules{Catalog: p.catalog, Now: p.clock.Now()})
	if !ok || err != nil {
		return
	}
	o, err := p.flow.Start(ctx, in)
	if err != nil {
		return
	}
	p.current = o
	p.begins(ctx, o)
}

func (p *Person) begins(ctx context.Context, o *flow.Operation) {
	if in := o.Snapshot().Intent; in.Kind == intent.KindSwap || in.Kind == intent.KindTransfer {
		_, _ = o.Quote(ctx)
	} else {
		_, _ = o.Prepare(ctx)
	}
	if s := o.Snapshot().State; s == flow.StateRefused && p.dice.chance(40) ||
		s == flow.StateDraft && p.dice.chance(40) {
		p.abandon(o)
	}
}

func (p *Person) requote(ctx context.Context, o *flow.Operation) {
	if s, err := o.Requote(ctx); err != nil && s.State == flow.StateQuoting && p.dice.chance(30) {
		p.abandon(o)
	}
}

func (p *Person) abandon(o *flow.Operation) {
	if o.Abandon() == nil {
		p.current = nil
	}
}

// watch waits for an outcome, for some questions.
func (p *Person) watch(ctx context.Context, o *flow.Operation) {
	p.pen.polls = 1 + p.dice.IntN(12)
	_, _ = o.Watch(ctx, nil)
	if !o.Snapshot().State.Terminal() && p.dice.chance(30) {
		p.current = nil // looks at something else meanwhile
	}
}

// ended sees the end of an operation: what is told not to have run is likely to be asked for again.
func (p *Person) ended(ctx context.Context, o *flow.Operation) {
	s := o.Snapshot()
	p.current = nil
	if (s.State == flow.StateFailed || s.State == flow.StateNotExecuted) && p.dice.chance(70) {
		p.last = &s.Intent
		p.begin(ctx)
	}
}

// restart ends the program and starts it again; what is unfinished is taken up.
func (p *Person) restart(ctx context.Context) {
	if err := p.open(); err != nil {
		p.problem("unknown", "the wallet does not start again: %v", err)
		return
	}
	list := p.flow.Unfinished()
	if p.dice.chance(50) {
		list, _ = p.flow.Reconcile(ctx)
	}
	if len(list) > 0 {
		p.current = pick(p.dice, list)
	}
}

// void declares a signature dead that no time ends, as a person may who is told to.
func (p *Person) void() {
	for _, x := range p.journal.Outstanding(p.clock.Now()) {
		if x.Voidable() && p.dice.chance(50) {
			_ = p.flow.Void(x.OpHash, x.Sender[len(x.Sender)-4:])
			return
		}
	}
}
