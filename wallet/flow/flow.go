// Package flow is the one state machine of an operation: an intent goes in, reviews come out, confirmations and
// signatures go back, and the end is a status. Screens, commands and resume call it; nothing else writes the journal or
// calls a signing verb.
//
// A call goes Prepare → review 1 → SignPrepared → review 2 → Execute → Watch. A swap or a transfer has nothing to
// prepare: Quote → review 2 → Execute → Watch. The intent also says which version of the interface is spoken.
//
// Several processes may use one journal: each step that signs, sends or records holds it, and stops with ErrMoved when
// another process went on with the same operation meanwhile. Waiting, for a person or between two questions, holds
// nothing.
//
// Promise: nothing is signed without a consent.Consent to exactly the review that is on record: its fingerprint, every
// fact in it and, behind an open gate, the sentence that had to be typed (protocol §1.3). Every record is on disk
// before what it announces is on the wire: SIGNED before call-quote, QUOTE_SIGNED and EXECUTING before execute (TH-J2).
// An execute request is sent once for a quote id, and once more only after the service refused it or no byte of it
// left; if its outcome is unknown it is asked for by status and never sent again (TH-N7). The body that is sent is the
// reviewed document with signatures and nothing else (TH-X1). There is one Operation for a record of the journal,
// however often it is asked for, and no signature is made beside an open one of the same lane with another nonce
// (TH-U3). A same-chain call executes on its one signature only if the quote brings back exactly the signed operation
// (protocol §3.2). The clock is judged conservatively: a review is open only while both the local and the service's
// clock say so (TH-N9).
//
// The methods of an Operation are synchronous; while one runs the others return ErrBusy, Snapshot always answers.
// Errors are also in Snapshot.Problem, in plain words.
package flow

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/verify"
)

// Client is what the flow needs of the service, in both versions of the interface; *client.Client is one.
type Client interface {
	PrepareCallQuote(ctx context.Context, body []byte) (client.Answer, error)
	PrepareCallQuoteV1(ctx context.Context, body []byte) (client.Answer, error)
	CallQuote(ctx context.Context, body []byte) (client.Answer, error)
	CallQuoteV1(ctx context.Context, body []byte) (client.Answer, error)
	Quote(ctx context.Context, body []byte) (client.Answer, error)
	QuoteV1(ctx context.Context, body []byte) (client.Answer, error)
	ExecuteQuote(ctx context.Context, body []byte) (api.ExecuteResponse, error)
	ExecuteQuoteV1(ctx context.Context, body []byte) (api.ExecuteResponse, error)
	Status(ctx context.Context, quoteID string) (api.ExecutionStatus, error)
	Code(ctx context.Context, accounts ...string) (api.CodeResponse, error)
	History(ctx context.Context, q client.HistoryQuery) (api.HistoryPage, error)
	Skew() time.Duration
}

// Signer signs what passed every check, with one verb for each kind of it; *sign.Signer and *sign.External are.
type Signer interface {
	SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (sign.Signature, error)
	SignApprove(ctx context.Context, v verify.VerifiedApprove) (sign.Signature, error)
	SignDelegation(ctx context.Context, v verify.VerifiedDelegation) (op.SignedAuthorization, error)
	SignSolana(ctx context.Context, v verify.VerifiedMessage) (sign.Signature, error)
}

// Journal records operations; *journal.Journal is one.
type Journal interface {
	verify.History
	Begin(intentJSON []byte, intentHash [32]byte) (string, error)
	Append(op string, state journal.State, e journal.Entry) error
	Operations() []journal.Operation
	Operation(id string) (journal.Operation, bool)
	SentFor(op string) []verify.Open
	Outstanding(now time.Time) []journal.Outstanding
	Saw(op string, hashes []string, block uint64) error
	Void(op, hash, note string) error
	Repair(l journal.Lane, note string) error
	Lanes(now time.Time) []journal.LaneFacts
	SpentBeside(op string, prepared bool, since time.Time) []verify.Spend
	ReadOnly() error
	// Hold takes the journal for one step, and what other processes recorded since the last one is then known; release
	// ends the step.
	Hold(ctx context.Context) (release func(), err error)
}

// View is what the user's own nodes see; *chainview.View is one. It answers in bounded time.
type View interface {
	Look(ctx context.Context, questions []verify.Question) []verify.Sight
	Simulate(ctx context.Context, now time.Time, simulations []verify.Simulation) []verify.Simulated
	Follow(ctx context.Context, traces []verify.Trace) []verify.Course
	Reach(ctx context.Context, places []verify.Place) []verify.Reached
	// Dear is an error where gas on one of the chains costs more than the user's own cap, so that nothing can be sent
	// there now.
	Dear(ctx context.Context, chains []uint64) error
}

// Deps are the surroundings of a Flow. Sleep returns early with the context's error. Keep, which may be nil, holds what
// the service stated between starts. View is nil where the user named no nodes.
type Deps struct {
	Client  Client
	Signer  Signer
	Journal Journal
	Policy  verify.Policy
	Clock   func() time.Time
	Sleep   func(ctx context.Context, d time.Duration) error
	Keep    Keep
	View    View
}

// Flow makes operations. It is safe for concurrent use.
type Flow struct {
	d      Deps
	stated stated
	// from judging what is signed beside an operation until its own signatures are recorded; taken after the journal is
	// held
	signing sync.Mutex
	mu      sync.Mutex
	ops     map[string]*Operation
	sent    sync.Mutex
	// quote ids whose execute was sent, by this process or as the journal knows; guarded by sent
	inFlight map[string]bool
}

// New makes a Flow.
func New(d Deps) *Flow {
	return &Flow{d: d, stated: stated{keep: d.Keep, net: d.Policy.Network.ID}, inFlight: map[string]bool{},
		ops: map[string]*Operation{}}
}

// The errors of the state machine itself.
var (
	ErrBusy         = errors.New("this operation is busy with another step")
	ErrState        = errors.New("this step is not possible now")
	ErrConfirmation = errors.New("the confirmation is for another review than the one on record")
	ErrExpired      = errors.New("the review has expired")
	ErrSubmitted    = errors.New("this quote was already submitted")
	ErrRefused      = errors.New("the service's answer was refused")
	ErrBeside       = errors.New("another operation was signed since this review, and both could run")
	ErrMoved        = errors.New("another process of this wallet went on with this operation")
	ErrDear         = errors.New("gas costs more than your own cap")
	ErrSpent        = fmt.Errorf("%w: something else was signed since, and it counts against the cap of the day",
		ErrExpired)
)

// Start records the intent and returns a new operation in StateDraft.
func (f *Flow) Start(ctx context.Context, in intent.Intent) (*Operation, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	raw, err := in.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	id, err := f.d.Journal.Begin(raw, in.Hash())
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	o := &Operation{f: f, in: in, records: 1}
	o.snap = Snapshot{ID: id, State: StateDraft, Started: f.d.Clock(), Intent: in.Draft(), SignaturesTotal: 1}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(o)
	return o, nil
}

// keep remembers an operation until it has ended; f.mu is held.
func (f *Flow) keep(o *Operation) {
	for id, x := range f.ops {
		if x.Snapshot().State.Terminal() {
			delete(f.ops, id)
		}
	}
	f.ops[o.ID()] = o
}

// history is the journal as the checks of one operation's next step see it: a signature counts as open until both
// clocks say that it has ended (TH-N9), and what the step replaces does not count as spent. When a quote is judged the
// signed call before it counts.
func (o *Operation) history(quote bool) verify.History {
	return history{o.f.d.Journal, o.f, o.ID(), quote, o.met}
}

type history struct {
	Journal
	f     *Flow
	op    string
	quote bool
	met   []string // quote ids of renewals, which no record has
}

// SeenQuote is part of verify.History.
func (h history) SeenQuote(id string) bool {
	return h.Journal.SeenQuote(id) || slices.Contains(h.met, strings.ToLower(id))
}

// Spent is part of verify.History.
func (h history) Spent(since time.Time) []verify.Spend { return h.SpentBeside(h.op, h.quote, since) }

// Open is part of verify.History: what is open by either clock, but for what the operation signed itself, which
// paysTwice and the nonces rule.
func (h history) Open(time.Time) []verify.Open {
	return slices.DeleteFunc(h.Journal.Open(h.f.earliest()), func(x verify.Open) bool { return x.Operation == h.op })
}

// Sent is part of verify.History.
func (h history) Sent() []verify.Open { return h.SentFor(h.op) }

// LiveNonces is part of verify.History.
func (h history) LiveNonces(sender common.Address, chainID uint64, lane uint16, now time.Time) []*big.Int {
	if e := h.f.earliest(); e.Before(now) {
		now = e
	}
	return h.Journal.LiveNonces(sender, chainID, lane, now)
}

// believes reports whether the service's word ends a signature: only where service and wallet are one program.
func (f *Flow) believes() bool { return f.d.Policy.Network.Kind == network.Embedded }

// alone refuses operations of which a signature would stand beside an open one that could take effect as well (TH-U3).
// The check was made when the answer was judged; another operation may have been signed since.
func (f *Flow) alone(quoteID string, ops ...verify.Signing) error {
	open := f.d.Journal.Outstanding(f.earliest())
	for _, v := range ops {
		s := signatureRecord(v, verify.Signatures{}, quoteID)
		for _, x := range open {
			if s.Conflicts(x.Signature) {
				return journal.ErrConflict
			}
		}
	}
	return nil
}

// claim marks a quote id as sent; false means that it was before.
func (f *Flow) claim(quoteID string) bool {
	f.sent.Lock()
	defer f.sent.Unlock()
	id := strings.ToLower(quoteID)
	if f.inFlight[id] {
		return false
	}
	f.inFlight[id] = true
	return true
}

// unclaim allows another try after a request that certainly had no effect.
func (f *Flow) unclaim(quoteID string) {
	f.sent.Lock()
	defer f.sent.Unlock()
	delete(f.inFlight, strings.ToLower(quoteID))
}

// latest is the later of the local and the service's clock: by it nothing that might be over still counts as open.
func (f *Flow) latest() time.Time { return f.d.Clock().Add(max(f.d.Client.Skew(), 0)) }

// earliest is the earlier of both clocks: by it nothing that might be open counts as over.
func (f *Flow) earliest() time.Time { return f.d.Clock().Add(min(f.d.Client.Skew(), 0)) }

// clockRemark warns when the two clocks differ by more than the policy tolerates (TH-N9).
func (f *Flow) clockRemark(r verify.Report, skew time.Duration) verify.Report {
	if skew.Abs() <= f.d.Policy.ClockTolerance {
		return r
	}
	r.Reasons = append(r.Reasons, verify.Reason{
		Code: "N9", Level: verify.Warn, Title: "The clock of this machine and the clock of the service differ; " +
			"expiry times are judged by the stricter one.",
		Want: "at most " + f.d.Policy.ClockTolerance.String(), Got: skew.Round(time.Second).String(),
	})
	return r
}
