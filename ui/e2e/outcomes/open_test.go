//go:build unix

package outcomes

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op/erc20"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/api/service/settle"
	"coffer/api/service/store"
	"coffer/config"
	"coffer/ui/e2e/rig"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// heldService stands between a wallet and a real service in this process. It passes everything on, but for executes,
// which it may hold back while it says that they were accepted, and for the status of what it holds, about which it
// lies.
type heldService struct {
	inner http.RoundTripper

	mu    sync.Mutex
	holds bool
	says  string // the status of what is held
	held  []*http.Request
	ids   []string
}

func (l *heldService) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := func(v any) (*http.Response, error) {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		return &http.Response{
			StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {"application/json"}},
			Body:   io.NopCloser(bytes.NewReader(raw)), ContentLength: int64(len(raw)), Request: r,
		}, nil
	}
	switch {
	case l.holds && strings.HasSuffix(r.URL.Path, rig.PathExecute):
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var q struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(body, &q); err != nil {
			return nil, err
		}
		later := r.Clone(context.WithoutCancel(r.Context()))
		later.Body = io.NopCloser(bytes.NewReader(body))
		l.held, l.ids = append(l.held, later), append(l.ids, q.ID)
		return answer(api.ExecuteResponse{Success: true})
	case strings.HasSuffix(r.URL.Path, rig.PathStatus) && slices.Contains(l.ids, r.URL.Query().Get("quoteId")):
		return answer(api.ExecutionStatus{QuoteID: r.URL.Query().Get("quoteId"), Status: l.says})
	}
	return l.inner.RoundTrip(r)
}

// lies sets what happens to the next executes: they are held, and their status is told as says; "" passes them on.
func (l *heldService) lies(says string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds, l.says = says != "", says
}

// releases passes on what was held, and says whether the service took it.
func (l *heldService) releases(t *testing.T) bool {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	took := false
	for _, r := range l.held {
		answer, err := l.inner.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		var a api.ExecuteResponse
		raw, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		took = took || answer.StatusCode == 200 && json.Unmarshal(raw, &a) == nil && a.Success
	}
	l.held = nil
	return took
}

// believer is a wallet on a LAB network whose service is the real one of this program behind a heldService, with a
// clock that only moves when told to.
type believer struct {
	*rig.Bench
	heldService *heldService
	service     *service.Service
	view        flow.View // nil: no nodes are named
	client      *client.Client
	flow        *flow.Flow
	book        *journal.Journal
	policy      verify.Policy
	keys        *vault.Memory
	dir         string
	account     api.Account
	before      map[common.Address]*big.Int // what somebody had when first looked at, which brings test funds
	stops       atomic.Pointer[stop]
}

// stop keeps the service from a step of every settlement until it is lifted.
type stop struct {
	at     settle.Moment
	lifted chan struct{}
}

func (b *believer) wait(ctx context.Context, at settle.Moment, _ string) error {
	s := b.stops.Load()
	if s == nil || s.at != at {
		return nil
	}
	select {
	case <-s.lifted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stopsAt has the service wait before a step of each settlement until the result is called.
func (b *believer) stopsAt(at settle.Moment) (lift func()) {
	b.Helper()
	s := &stop{at, make(chan struct{})}
	b.stops.Store(s)
	lift = sync.OnceFunc(func() { close(s.lifted) })
	b.Cleanup(lift)
	return lift
}

func newBeliever(t *testing.T, kind string, gates ...string) *believer {
	t.Helper()
	b := &believer{Bench: rig.NewBench(t), dir: t.TempDir(), before: map[common.Address]*big.Int{}}
	svc, err := service.Open(service.Options{Store: store.NewMemory(), Clock: b.Now,
		Seed: []byte("open signatures: 32 bytes seed..")[:32], Fund: true, Kind: network.Lab, Lifetime: time.Minute,
		Faults: service.Faults{Wait: b.wait}})
	b.Must(err)
	t.Cleanup(func() { b.Must(svc.Close()) })
	b.service = svc
	b.heldService = &heldService{inner: service.RoundTripper(svc.Handler())}
	b.client, err = client.New(client.Options{BaseURL: client.EmbeddedBaseURL, APIKey: secret.New([]byte(svc.APIKey())),
		Transport: b.heldService, Clock: b.Now})
	b.Must(err)
	cat, err := catalog.Load()
	b.Must(err)
	key := rig.AdminKey(t)
	who := crypto.PubkeyToAddress(key.PublicKey).Hex()
	a := config.Account{Type: kind, SignerAddress: who}
	if kind == api.AccountKernelV33 {
		a.DeploymentType = api.DeploymentEIP7702
	}
	if kind == api.AccountRoleBased {
		a = config.Account{Type: kind, SessionAddress: who, AdminAddress: common.Address{0xad}.Hex()}
	}
	n := svc.Network()
	n.Kind = network.Lab
	b.account = config.Profile{Name: "open", Accounts: []config.Account{a}}.WireAccounts(n.Pins)[0]
	b.policy = verify.DefaultPolicy(n, cat)
	b.policy.Limits.Gates = gates
	b.keys = vault.NewMemory(n.ID)
	_, err = b.keys.Add(vault.EVM, secret.New(crypto.FromECDSA(key)))
	b.Must(err)
	b.opens()
	b.held(common.HexToAddress(b.account.AccountAddress)) // test funds come with the first look
	return b
}

// opens starts the wallet on its journal, once more if there was one.
func (b *believer) opens() {
	b.Helper()
	if b.book != nil {
		b.Must(b.book.Close())
	}
	n := b.policy.Network
	book, err := journal.Open(b.dir+"/state", journal.Options{Network: n.ID, Kind: n.Kind, Clock: b.Now,
		Random: rand.Reader})
	b.Must(err)
	b.Cleanup(func() { _ = book.Close() })
	b.book = book
	b.flow = flow.New(flow.Deps{
		Client: b.client, Signer: sign.New(b.keys, n.ID), Journal: book, Policy: b.policy, Clock: b.Now, View: b.view,
		Sleep: func(ctx context.Context, _ time.Duration) error { // the service settles in the background, in real time
			select {
			case <-time.After(time.Millisecond):
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	})
}

// held is what an address has of USDC, in all.
func (b *believer) held(who common.Address) *big.Int {
	b.Helper()
	got, err := b.client.Balances(b.Context(), client.BalanceQuery{
		Accounts: []string{caip.EVMAccount(8453, who).String()}, Aggregates: []string{"ob:usdc"}})
	b.Must(err)
	sum := new(big.Int)
	for _, one := range got.BalanceByAggregatedAsset {
		v, err := amount.ParseBase(one.Balance)
		b.Must(err)
		sum.Add(sum, v)
	}
	return sum
}

// begin starts an operation of a draft.
func (b *believer) begin(d intent.Draft) *flow.Operation {
	b.Helper()
	d.Version, d.SlippageBps = intent.Version, 50
	in, err := intent.Freeze(d.Fill(b.policy.Network.ID, []api.Account{b.account}),
		api.Rules{Catalog: b.policy.Catalog, Now: b.Now()})
	b.Must(err)
	o, err := b.flow.Start(b.Context(), in)
	b.Must(err)
	return o
}

// transfer is one of 20 USDC to somebody on Base.
func transferTo(who common.Address) intent.Draft {
	return intent.Draft{
		Kind: intent.KindTransfer, Pay: &intent.Pay{Asset: "ob:usdc", Amount: "20000000"},
		Receive: &intent.Receive{Asset: "ob:usdc", Account: caip.EVMAccount(8453, who).String()},
	}
}

// callTo is a call that sends USDC on Base, of which the account has less.
func callTo(who common.Address, base int64) intent.Draft {
	const usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	v := big.NewInt(base)
	return intent.Draft{
		TargetChain: "eip155:8453", Calls: []intent.Call{{To: usdc,
			Data: "0x" + common.Bytes2Hex(erc20.Transfer(who, v))}},
		TokensRequired: []api.TokenRequirement{{AssetType: "eip155:8453/erc20:" + usdc, Amount: v.String()}},
		FundWith:       "ob:usdc",
	}
}

// reviews brings an operation to the review of its quote, confirming what comes before.
func (b *believer) reviews(o *flow.Operation) (flow.Snapshot, error) {
	b.Helper()
	if o.Snapshot().Intent.Receive != nil {
		return o.Quote(b.Context())
	}
	s, err := o.Prepare(b.Context())
	if err != nil {
		return s, err
	}
	return o.SignPrepared(b.Context(), consents(b, s, false))
}

// consents agrees to a review, whatever it warns of.
func consents(t testing.TB, s flow.Snapshot, quote bool) consent.Consent {
	t.Helper()
	r := s.Under(quote)
	var codes []string
	for _, x := range r.Report.Reasons {
		codes = append(codes, x.Code)
	}
	c, err := consent.ByPolicy(r, codes, []string{r.Phrase()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runs carries an operation through to what the service says is its end.
func (b *believer) runs(d intent.Draft) flow.Snapshot {
	b.Helper()
	o := b.begin(d)
	s, err := b.reviews(o)
	if err != nil {
		b.Fatalf("%v: %s %+v %+v", err, s.Problem, s.Report1.Reasons, s.Report2.Reasons)
	}
	if s.State == flow.StateReview2 {
		s, err = o.Execute(b.Context(), consents(b, s, true), nil)
		b.Must(err)
	}
	s, err = o.Watch(b.Context(), nil)
	b.Must(err)
	return s
}

// ends watches an operation until the service says that it is over.
func (b *believer) ends(o *flow.Operation) {
	b.Helper()
	if s, err := o.Watch(b.Context(), nil); err != nil || s.State != flow.StateDone {
		b.Fatal(s.State, err)
	}
}

// open lists the signatures that can still be used: their word and their lane.
func (b *believer) open() (out []journal.Outstanding) {
	return b.book.Outstanding(b.Now())
}

// reason is the first one of a code on the reports of an operation.
func reason(s flow.Snapshot, code string, level verify.Level) (verify.Reason, bool) {
	for _, r := range slices.Concat(s.Report1.Reasons, s.Report2.Reasons) {
		if r.Code == code && r.Level == level {
			return r, true
		}
	}
	return verify.Reason{}, false
}

// TestK3_ARefundedLieDoesNotMakeOnePayTwice: the execute is held, the status says REFUNDED. The repeat stands behind a
// gate with the sum as soon as it could run beside the first, and is free once the first has ended.
func TestK3_ARefundedLieDoesNotMakeOnePayTwice(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	friend := common.Address{0xf1}
	b.received(friend)
	b.heldService.lies(api.StatusRefunded)
	s := b.runs(transferTo(friend))
	if s.State != flow.StateFailed || !s.Said || !strings.HasPrefix(s.Problem,
		"The service says the transfer was refunded. The signatures can still be used until ") {
		t.Fatalf("%s %v: %s", s.State, s.Said, s.Problem)
	}
	open := b.open()
	if len(open) == 0 || open[0].Said != journal.SaidNothing {
		t.Fatalf("%+v", open)
	}
	b.heldService.lies("")
	// In the same place the repeat replaces the first: only one of them can ever run.
	again := b.begin(transferTo(friend))
	s, err := again.Quote(t.Context())
	b.Must(err)
	if _, shown := reason(s, "U3", verify.Show); !shown {
		t.Errorf("%+v", s.Report2.Reasons)
	}
	// The service lets the first run after all, and offers the next place for the repeat.
	if !b.heldService.releases(t) {
		t.Fatal("the first transfer was not taken")
	}
	b.arrives(friend, 1)
	s, err = again.Requote(t.Context())
	gate, stands := reason(s, "J4", verify.Gate)
	if !errors.Is(err, flow.ErrRefused) || !stands || gate.Open || gate.Setting != verify.GateOpenRepeat ||
		!strings.Contains(gate.Title, "40 USDC ($") || !strings.Contains(gate.Title, "in all. After ") {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
	// It stands there after a restart too, and for the same payment by a call.
	b.opens()
	if s, err := b.begin(transferTo(friend)).Quote(t.Context()); !errors.Is(err, flow.ErrRefused) ||
		s.Report2.Refused() == false {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
	if s, err := b.begin(callTo(friend, 1_000_000)).Prepare(t.Context()); !errors.Is(err, flow.ErrRefused) {
		t.Fatalf("%v %+v", err, s.Report1.Reasons)
	}
	// Somebody else may be paid; the sum is said.
	s, err = b.begin(transferTo(common.Address{0xf2})).Quote(t.Context())
	if warned, ok := reason(s, "J4", verify.Warn); err != nil || !ok || !strings.Contains(warned.Title, "40 USDC ($") {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
	if n := b.received(friend); n != 1 {
		t.Errorf("%d transfers arrived", n)
	}
}

// received says how many transfers of about 20 USDC somebody got since the first look.
func (b *believer) received(who common.Address) int64 {
	b.Helper()
	got := b.held(who)
	if b.before[who] == nil {
		for last := got; got.Sign() == 0 || got.Cmp(last) != 0; {
			last, got = got, b.held(who)
		}
		b.before[who] = new(big.Int).Set(got)
	}
	got.Sub(got, b.before[who])
	return got.Div(got.Add(got, big.NewInt(10_000_000)), big.NewInt(20_000_000)).Int64()
}

// arrives waits until so many transfers have arrived.
func (b *believer) arrives(who common.Address, transfers int64) {
	b.Helper()
	for end := time.Now().Add(rig.Limit); b.received(who) < transfers; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			b.Fatalf("%v arrived", b.held(who))
		}
	}
}

// TestK3_AfterItsTimeARepeatIsFreeAndAtMostOneRuns: what is held until its time is over can never run, so the repeat is
// free, and it alone runs.
func TestK3_AfterItsTimeARepeatIsFreeAndAtMostOneRuns(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	friend := common.Address{0xf1}
	b.received(friend)
	b.heldService.lies(api.StatusRefunded)
	b.runs(transferTo(friend))
	b.heldService.lies("")
	var last time.Time
	for _, x := range b.open() {
		end, ends := x.Ends()
		if !ends {
			t.Fatalf("%+v", x)
		}
		if end.After(last) {
			last = end
		}
	}
	b.Advance(last.Sub(b.Now()) + time.Second)
	if open := b.open(); len(open) != 0 {
		t.Fatalf("%+v", open)
	}
	s := b.runs(transferTo(friend))
	if _, found := reason(s, "J4", verify.Gate); s.State != flow.StateDone || found {
		t.Fatalf("%s %+v", s.State, s.Report2.Reasons)
	}
	if b.heldService.releases(t) {
		t.Error("the service took the held transfer after its time")
	}
	if n := b.received(friend); n != 1 {
		t.Errorf("%d transfers arrived", n)
	}
}

// TestK3_ARepeatBehindTheGateNeedsItsSentence: whoever opened the gate types what it means, and a repeat that was
// signed meanwhile makes a review void.
func TestK3_ARepeatBehindTheGateNeedsItsSentence(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31, verify.GateOpenRepeat)
	friend := common.Address{0xf1}
	b.received(friend)
	b.heldService.lies(api.StatusFailed)
	b.runs(transferTo(friend))
	b.heldService.lies("")
	other := b.begin(transferTo(friend))
	if _, err := other.Quote(t.Context()); err != nil { // in the place of the first
		t.Fatal(err)
	}
	if !b.heldService.releases(t) {
		t.Fatal("not taken")
	}
	b.arrives(friend, 1)
	o := b.begin(transferTo(friend))
	s, err := o.Quote(t.Context())
	if err != nil || s.Review2.Phrase != "I may pay this twice" {
		t.Fatalf("%v %+v", err, s.Report2.Reasons)
	}
	untyped, v := s, *s.Review2
	v.Phrase, untyped.Review2 = "", &v
	if _, err := o.Execute(t.Context(), consents(t, untyped, true), nil); !errors.Is(err, flow.ErrConfirmation) {
		t.Fatal(err)
	}
	// Another operation is signed between review and confirmation.
	b.heldService.lies(api.StatusFailed)
	if _, err := other.Execute(t.Context(), consents(t, other.Snapshot(), true),
		nil); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Execute(t.Context(), consents(t, s, true), nil); err == nil {
		t.Fatal("signed beside what the review did not know")
	}
}

// TestK4_ACompletedLieHidesNothingAndBricksNothing: what the service says ran stays listed, and the honest service,
// which knows nothing of it, is usable.
func TestK4_ACompletedLieHidesNothingAndBricksNothing(t *testing.T) {
	for _, kind := range []string{api.AccountKernelV31, api.AccountRoleBased} {
		t.Run(kind, func(t *testing.T) {
			b := newBeliever(t, kind)
			friend := common.Address{0xf1}
			b.received(friend)
			if s := b.runs(callTo(friend, 1_000_000)); s.State != flow.StateDone {
				t.Fatal(s.State, s.Problem)
			}
			b.Advance(20 * time.Minute)
			b.heldService.lies(api.StatusCompleted)
			s := b.runs(callTo(friend, 430_500_000))
			if s.State != flow.StateDone || !s.Said {
				t.Fatal(s.State, s.Problem)
			}
			lied := slices.DeleteFunc(b.open(), func(x journal.Outstanding) bool { return x.Op != s.ID })
			if len(lied) < 2 {
				t.Fatalf("%d signatures are listed: %+v", len(lied), lied)
			}
			for _, x := range lied {
				if x.Said != journal.SaidRan || !strings.HasPrefix(x.Void,
					"The service says it ran; nothing on this machine proves it. ") ||
					(kind == api.AccountRoleBased) != x.Voidable() {
					t.Errorf("%+v", x)
				}
			}
			// The honest service goes on where the chain is: below what the lie suggested.
			b.heldService.lies("")
			before := b.received(friend)
			s = b.runs(callTo(common.Address{0xf2}, 430_500_000))
			warned, ok := reason(s, "U3", verify.Warn)
			if s.State != flow.StateDone || !ok || warned.Got == warned.Want {
				t.Fatalf("%s %+v", s.State, s.Report1.Reasons)
			}
			if b.heldService.releases(t) {
				t.Error("what was held ran as well")
			}
			if after := b.received(friend); after != before {
				t.Errorf("%d, before %d", after, before)
			}
		})
	}
}

// TestK4_ALaneThatWasLedAstrayIsRepaired: a nonce far ahead is refused with the command that helps; the repair loses
// neither open signatures nor caps.
func TestK4_ALaneThatWasLedAstrayIsRepaired(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	friend := common.Address{0xf1}
	b.received(friend)
	b.heldService.lies(api.StatusCompleted)
	b.runs(callTo(friend, 430_500_000))
	b.heldService.lies("")
	l := journal.Lane{ChainID: 8453, Account: b.account.AccountAddress, Sequence: 0}
	if next, known := b.book.NextSequence(common.HexToAddress(l.Account), 8453, 0); next != 1 || !known {
		t.Fatal(next, known)
	}
	open, spent := b.open(), b.book.Spent(time.Time{})
	if err := b.flow.Repair(l, "0000", false); !errors.Is(err, flow.ErrRepairTyped) {
		t.Fatal(err)
	}
	b.Must(b.flow.Repair(l, l.Account[len(l.Account)-4:], false))
	if next, _ := b.book.NextSequence(common.HexToAddress(l.Account), 8453, 0); next != 0 {
		t.Error(next)
	}
	if got := b.open(); len(got) != len(open) {
		t.Errorf("%d open, before %d", len(got), len(open))
	}
	for i, x := range b.book.Spent(time.Time{}) {
		if x.Amount.Cmp(spent[i].Amount) < 0 {
			t.Errorf("%v counts less than before", x)
		}
	}
	s := b.runs(callTo(common.Address{0xf2}, 430_500_000))
	if s.State != flow.StateDone || s.Report1.Has("U3", verify.Warn) {
		t.Errorf("%s %+v", s.State, s.Report1.Reasons)
	}
}
