package flow_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/wallet/consent"
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
	code     func(accounts []string) (api.CodeResponse, error)
	skew     time.Duration

	history  func(n int, q client.HistoryQuery) (api.HistoryPage, error)
	recorded *recorded // answers in place of those of the golden world

	calls    []string
	asked    []client.HistoryQuery
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
	if f.recorded != nil {
		return f.recorded.answer(f.recorded.prepared, body, f.recorded.in.PrepareBody())
	}
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
	if f.recorded != nil {
		return f.recorded.answer(f.recorded.quote, nil, nil)
	}
	var asked struct {
		ChainOperation api.ChainOperation `json:"chainOperation"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		return client.Answer{}, err
	}
	f.w.Signed = asked.ChainOperation.UserOp
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

func (f *fake) PrepareCallQuoteV1(ctx context.Context, body []byte) (client.Answer, error) {
	a, err := f.PrepareCallQuote(ctx, body)
	return f.v1(a), err
}

func (f *fake) CallQuoteV1(ctx context.Context, body []byte) (client.Answer, error) {
	a, err := f.CallQuote(ctx, body)
	return f.v1(a), err
}

func (f *fake) ExecuteQuoteV1(ctx context.Context, body []byte) (api.ExecuteResponse, error) {
	r, err := f.ExecuteQuote(ctx, body)
	f.v1(client.Answer{})
	return r, err
}

// v1 marks the last call as one of v1.
func (f *fake) v1(a client.Answer) client.Answer {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[len(f.calls)-1] += " v1"
	return a
}

func (f *fake) Quote(_ context.Context, body []byte) (client.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.note("exchange")
	f.quoted = append(f.quoted, body)
	if f.quote != nil {
		if err := f.quote(nil); err != nil {
			return client.Answer{}, err
		}
	}
	return f.recorded.answer(f.recorded.quote, body, f.recorded.in.QuoteBody())
}

func (f *fake) QuoteV1(ctx context.Context, body []byte) (client.Answer, error) {
	a, err := f.Quote(ctx, body)
	return f.v1(a), err
}

func (f *fake) Code(_ context.Context, accounts ...string) (api.CodeResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.code == nil {
		return api.CodeResponse{}, api.NewError(api.ErrNotFound, "no such path")
	}
	return f.code(accounts)
}

func (f *fake) History(_ context.Context, q client.HistoryQuery) (api.HistoryPage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, q)
	if f.history != nil {
		return f.history(len(f.asked), q)
	}
	return api.HistoryPage{}, nil
}

func (f *fake) Skew() time.Duration { return f.skew }

// pen counts signatures and which verb made each, and says what is on disk when each is made.
type pen struct {
	inner  flow.Signer
	mu     sync.Mutex
	verbs  []string
	count  atomic.Int64
	fail   error
	before func() // called before a signature is made
}

func (p *pen) use(verb string) error {
	p.count.Add(1)
	p.mu.Lock()
	p.verbs = append(p.verbs, verb)
	p.mu.Unlock()
	if p.before != nil {
		p.before()
	}
	return p.fail
}

func (p *pen) SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (sign.Signature, error) {
	if err := p.use("userOp"); err != nil {
		return nil, err
	}
	return p.inner.SignUserOp(ctx, v)
}

func (p *pen) SignApprove(ctx context.Context, v verify.VerifiedApprove) (sign.Signature, error) {
	if err := p.use("approve"); err != nil {
		return nil, err
	}
	return p.inner.SignApprove(ctx, v)
}

func (p *pen) SignDelegation(ctx context.Context, v verify.VerifiedDelegation) (op.SignedAuthorization, error) {
	if err := p.use("delegation"); err != nil {
		return op.SignedAuthorization{}, err
	}
	return p.inner.SignDelegation(ctx, v)
}

func (p *pen) SignSolana(ctx context.Context, v verify.VerifiedMessage) (sign.Signature, error) {
	if err := p.use("solana"); err != nil {
		return nil, err
	}
	return p.inner.SignSolana(ctx, v)
}

// bench is a flow with everything around it.
type bench struct {
	t      *testing.T
	w      *golden.World
	f      *fake
	pen    *pen
	j      *journal.Journal
	dir    string
	flow   *flow.Flow
	policy verify.Policy
	clock  atomic.Int64 // seconds after golden.Clock
	ids    counter
	keep   flow.Keep
	view   flow.View
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
	b := &bench{t: t, w: w, dir: filepath.Join(t.TempDir(), "wallet"),
		policy: verify.DefaultPolicy(w.Network, w.Catalog)}
	b.f = &fake{w: w, build: w.CrossChain}
	b.useKeys(crypto.FromECDSA(golden.KeyOf(w.Key)), nil)
	b.reopen()
	return b
}

// useKeys puts an EVM key and a Solana seed into a vault, and a pen with it into the signer's place; either may be nil.
func (b *bench) useKeys(evm, solana []byte) {
	b.t.Helper()
	v := vault.NewMemory(b.policy.Network.ID)
	for kind, key := range map[vault.Kind][]byte{vault.EVM: evm, vault.Solana: solana} {
		if key == nil {
			continue
		}
		if _, err := v.Add(kind, secret.New(key)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.pen = &pen{inner: sign.New(v, b.policy.Network.ID)}
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
	j, err := journal.Open(b.dir, journal.Options{Network: b.policy.Network.ID, Kind: b.policy.Network.Kind,
		Clock: b.now, Random: &b.ids})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { j.Close() })
	b.j = j
	b.flow = flow.New(flow.Deps{
		Client: b.f, Signer: b.pen, Journal: j, Policy: b.policy, Clock: b.now, Keep: b.keep, View: b.view,
		Sleep: func(ctx context.Context, d time.Duration) error {
			b.clock.Add(max(int64(d/time.Second), 1))
			return ctx.Err()
		},
	})
}

// useJournal starts the program on a copy of a journal.
func (b *bench) useJournal(path string) {
	b.t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	b.j.Close()
	if err := os.WriteFile(filepath.Join(b.dir, "journal"), raw, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.reopen()
}

// payment is the golden quote with the given sequences on the two chains that pay.
func (b *bench) payment(arbitrum, optimism uint64) api.Quote {
	return b.w.QuoteResponse("225980000", map[string]string{golden.ArbUSDC: "300000", golden.OpUSDC: "180000"},
		golden.Payment{Asset: golden.ArbUSDC, Amount: 125_980_000, Sequence: arbitrum},
		golden.Payment{Asset: golden.OpUSDC, Amount: 100_000_000, Sequence: optimism})
}

func (b *bench) start() *flow.Operation {
	b.t.Helper()
	in := b.w.Intent()
	if b.f.recorded != nil {
		in = b.f.recorded.in
	}
	o, err := b.flow.Start(b.t.Context(), in)
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
	s, err := o.SignPrepared(b.t.Context(), consent1(o))
	if err != nil || s.State != flow.StateReview2 {
		b.t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
	}
	return o
}

// consent1 is a person's consent to review 1, and consent2 to review 2.
func consent1(o *flow.Operation) consent.Consent { return consentTo(o.Snapshot(), false) }

func consent2(o *flow.Operation) consent.Consent { return consentTo(o.Snapshot(), true) }

// consentTo accepts every warning of a review and types the sentence of its gates; the zero Consent where it refuses.
func consentTo(s flow.Snapshot, quote bool) consent.Consent {
	r := s.Under(quote)
	var codes []string
	for _, x := range r.Report.Reasons {
		codes = append(codes, x.Code)
	}
	c, err := consent.ByPolicy(r, codes, []string{r.Phrase()})
	if err != nil {
		return consent.Consent{}
	}
	return c
}

func (b *bench) record() journal.Operation {
	ops := b.j.Operations()
	return ops[len(ops)-1]
}
