package flow_test

import (
	"context"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/secret"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// fake is a service that answers from golden documents; hooks change or fail an answer.
type fake struct {
	mu       sync.Mutex
	w        *golden.World
	build    func() api.Quote
	prepare  func(*api.PrepareResponse) error
	quote    func(*api.Quote) error
	rawQuote func(*api.Document) *api.Document
	execute  func(body []byte) (api.ExecuteResponse, error)
	status   func(n int, id string) (api.ExecutionStatus, error)
	skew     time.Duration

	calls    []string
	executed [][]byte
	quoted   [][]byte
	polls    int
	onWire   func(call string) // called before anything counts as sent
}

func (f *fake) note(call string) {
	f.calls = append(f.calls, call)
	if f.onWire != nil {
		f.onWire(call)
	}
}

func (f *fake) answer(d *api.Document) client.Answer {
	return client.Answer{Document: d, Received: f.w.Now, Skew: f.skew}
}

func (f *fake) PrepareCallQuote(_ context.Context, body []byte) (client.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("prepare")
	if string(body) != string(f.w.Intent().PrepareBody()) {
		return client.Answer{}, api.NewError(api.ErrValidation, "another body")
	}
	r := f.w.PrepareResponse()
	if f.prepare != nil {
		if err := f.prepare(&r); err != nil {
			return client.Answer{}, err
		}
	}
	return f.answer(f.w.Document(r)), nil
}

func (f *fake) CallQuote(_ context.Context, body []byte) (client.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("quote")
	f.quoted = append(f.quoted, body)
	q := f.build()
	if f.quote != nil {
		if err := f.quote(&q); err != nil {
			return client.Answer{}, err
		}
	}
	d := f.w.Document(q)
	if f.rawQuote != nil {
		d = f.rawQuote(d)
	}
	return f.answer(d), nil
}

func (f *fake) ExecuteQuote(_ context.Context, body []byte) (api.ExecuteResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("execute")
	f.executed = append(f.executed, body)
	if f.execute != nil {
		return f.execute(body)
	}
	return api.ExecuteResponse{Success: true}, nil
}

func (f *fake) Status(ctx context.Context, id string) (api.ExecutionStatus, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polls++
	if err := ctx.Err(); err != nil {
		return api.ExecutionStatus{}, err
	}
	if f.status != nil {
		return f.status(f.polls, id)
	}
	return api.ExecutionStatus{QuoteID: id, Status: api.StatusCompleted}, nil
}

func (f *fake) Skew() time.Duration { return f.skew }

// pen counts signatures and says what is on disk when each is made.
type pen struct {
	sign.Signer
	inner interface {
		SignUserOp(context.Context, verify.VerifiedUserOp) (sign.Signature, error)
	}
	count  atomic.Int64
	fail   error
	before func() // called before a signature is made
}

func (p *pen) SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (sign.Signature, error) {
	p.count.Add(1)
	if p.before != nil {
		p.before()
	}
	if p.fail != nil {
		return nil, p.fail
	}
	return p.inner.SignUserOp(ctx, v)
}

// bench is a flow with everything around it.
type bench struct {
	t     *testing.T
	w     *golden.World
	f     *fake
	pen   *pen
	j     *journal.Journal
	dir   string
	flow  *flow.Flow
	clock atomic.Int64 // seconds after golden.Clock
	ids   counter
}

type counter byte

func (c *counter) Read(p []byte) (int, error) {
	*c++
	for i := range p {
		p[i] = byte(*c)
	}
	return len(p), nil
}

func newBench(t *testing.T) *bench {
	t.Helper()
	w := golden.New(t)
	b := &bench{t: t, w: w, dir: filepath.Join(t.TempDir(), "wallet")}
	b.f = &fake{w: w, build: w.CrossChain}
	v := vault.NewMemory(w.Network.ID)
	if _, err := v.Add(vault.EVM, secret.New(crypto.FromECDSA(golden.KeyOf(w.Key)))); err != nil {
		t.Fatal(err)
	}
	b.pen = &pen{inner: sign.New(v, w.Network.ID)}
	b.reopen()
	return b
}

func (b *bench) now() time.Time {
	return golden.Clock().Add(time.Duration(b.clock.Load()) * time.Second)
}

// reopen starts the program again on the same journal.
func (b *bench) reopen() {
	b.t.Helper()
	if b.j != nil {
		b.j.Close()
	}
	j, err := journal.Open(b.dir, journal.Options{Network: b.w.Network.ID, Clock: b.now, Random: &b.ids})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { j.Close() })
	b.j = j
	b.flow = flow.New(flow.Deps{
		Client: b.f, Signer: b.pen, Journal: j, Policy: verify.DefaultPolicy(b.w.Network, b.w.Catalog), Clock: b.now,
		Sleep: func(ctx context.Context, d time.Duration) error {
			b.clock.Add(max(int64(d/time.Second), 1))
			return ctx.Err()
		},
	})
}

func (b *bench) start() *flow.Operation {
	b.t.Helper()
	o, err := b.flow.Start(b.t.Context(), b.w.Intent())
	if err != nil {
		b.t.Fatal(err)
	}
	return o
}

// review1 brings an operation to the first review.
func (b *bench) review1() *flow.Operation {
	b.t.Helper()
	o := b.start()
	if s, err := o.Prepare(b.t.Context()); err != nil || s.State != flow.StateReview1 {
		b.t.Fatalf("%v %v %+v", s.State, err, s.Report1.Reasons)
	}
	return o
}

func (b *bench) review2() *flow.Operation {
	b.t.Helper()
	o := b.review1()
	s, err := o.SignPrepared(b.t.Context(), o.Snapshot().Review1.Fingerprint)
	if err != nil || s.State != flow.StateReview2 {
		b.t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
	}
	return o
}

func (b *bench) record() journal.Operation {
	ops := b.j.Operations()
	return ops[len(ops)-1]
}
