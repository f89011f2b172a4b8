//go:build unix

package flow_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"crypto/rand"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/sign"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// crashEnv holds a child's orders; a test binary that is started with it is the program under test and runs no tests.
const crashEnv = "COFFER_CRASH_CHILD"

func TestMain(m *testing.M) {
	orders := os.Getenv(crashEnv)
	if orders == "" {
		os.Exit(m.Run())
	}
	if err := runChild(orders); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(3)
	}
	os.Exit(0)
}

// childOrders say what a child does: it reconciles what it finds in Dir, goes on with what was not sent or abandons it,
// and begins a new operation if Begin says so. It kills itself at the point Kill.
type childOrders struct {
	Dir         string
	Service     string // https
	Control     string // http: the clock of the test
	CA          []byte
	Network     json.RawMessage
	Intent      json.RawMessage
	EVM, Solana []byte
	Begin       bool
	Abandon     bool
	Kill        string
	Crowd       bool // other children use the same directory: what one of them is doing is left to it
}

// child is the program: flow, journal, signer and client as they are, with hooks between them.
type child struct {
	childOrders
	clock time.Time
	state journal.State // of the record being written
	signs int
}

// point is a place at which the child may die.
func (c *child) point(name string) {
	if name != c.Kill {
		return
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

func runChild(orders string) error {
	c := &child{}
	if err := json.Unmarshal([]byte(orders), &c.childOrders); err != nil {
		return err
	}
	n, err := network.Decode(c.Network)
	if err != nil {
		return err
	}
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	if err := c.wait(context.Background(), 0); err != nil {
		return err
	}
	keys := vault.NewMemory(n.ID)
	for kind, key := range map[vault.Kind][]byte{vault.EVM: c.EVM, vault.Solana: c.Solana} {
		if len(key) > 0 {
			if _, err := keys.Add(kind, secret.New(key)); err != nil {
				return err
			}
		}
	}
	j, err := journal.Open(c.Dir, journal.Options{
		Network: n.ID, Kind: n.Kind, Clock: func() time.Time { return c.clock }, Random: rand.Reader, OpenFile: c.open,
		Anchor: anchorOf(c.Dir), Patience: time.Minute,
	})
	if err != nil {
		return err
	}
	defer j.Close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.CA)
	service, err := client.New(client.Options{
		BaseURL: c.Service, RootCAs: roots, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
		Clock: func() time.Time { return c.clock },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	if err != nil {
		return err
	}
	defer service.Close()
	f := flow.New(flow.Deps{
		Client: childWire{service, c}, Signer: childPen{sign.New(keys, n.ID), c}, Journal: childJournal{j, c},
		Policy: verify.DefaultPolicy(n, cat),
		Clock:  func() time.Time { return c.clock }, Sleep: c.wait,
	})
	if _, err := os.Stdout.WriteString("ready\n"); err != nil {
		return err
	}
	if err := j.ReadOnly(); err != nil {
		return err
	}
	err = c.work(f, api.Rules{Catalog: cat, Now: c.clock})
	if c.Crowd && taken(err) {
		return nil
	}
	return err
}

// anchorOf is where the journal in a directory is anchored.
func anchorOf(dir string) string { return filepath.Join(filepath.Dir(dir), "anchors", "journal") }

// taken reports that another process went on with an operation, or signed one that this one must not stand beside.
func taken(err error) bool {
	for _, e := range []error{flow.ErrMoved, flow.ErrState, flow.ErrRefused, journal.ErrConflict, journal.ErrPaid,
		journal.ErrQuote} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// work is what a person would do after a start.
func (c *child) work(f *flow.Flow, rules api.Rules) error {
	ctx := context.Background()
	list, err := f.Reconcile(ctx)
	if err != nil {
		return err
	}
	for _, o := range list {
		if err := c.goOn(ctx, o); err != nil {
			return fmt.Errorf("resume %s: %w", o.Snapshot().State, err)
		}
	}
	if !c.Begin {
		return nil
	}
	in, err := intent.Parse(c.Intent, rules)
	if err != nil {
		return err
	}
	o, err := f.Start(ctx, in)
	if err != nil {
		return err
	}
	if in.Kind() != intent.KindCall {
		_, err = o.Quote(ctx)
	} else if _, err = o.Prepare(ctx); err == nil {
		_, err = o.SignPrepared(ctx, consent1(o))
	}
	if err != nil && o.Snapshot().State != flow.StateUnknown {
		return err
	}
	return c.goOn(ctx, o)
}

// goOn brings an operation to its end from where it stands.
func (c *child) goOn(ctx context.Context, o *flow.Operation) error {
	if o.Snapshot().State == flow.StateQuoting {
		if c.Abandon || o.Snapshot().Err != nil { // another process took its place: it cannot be checked again
			return o.Abandon()
		}
		if _, err := o.Requote(ctx); errors.Is(err, flow.ErrRefused) {
			return o.Abandon() // a recorded quote comes only once
		} else if err != nil {
			return err
		}
	}
	if o.Snapshot().State == flow.StateReview2 {
		if _, err := o.Execute(ctx, consent2(o), nil); err != nil && o.Snapshot().State != flow.StateUnknown {
			return err
		}
	}
	switch s := o.Snapshot(); s.State {
	case flow.StateAccepted, flow.StateUnknown:
		_, err := o.Watch(ctx, nil)
		return err
	case flow.StateDone, flow.StateNotExecuted, flow.StateFailed:
		return nil
	default:
		return fmt.Errorf("left in %s: %s", s.State, s.Problem)
	}
}

// wait lets the test's clock go on and takes its time over.
func (c *child) wait(ctx context.Context, d time.Duration) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		c.Control+"?ms="+strconv.FormatInt(d.Milliseconds(), 10), nil)
	if err != nil {
		return err
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	ms, err := strconv.ParseInt(string(b), 10, 64)
	c.clock = time.UnixMilli(ms)
	return err
}

// childJournal has points around every record.
type childJournal struct {
	*journal.Journal
	c *child
}

func (j childJournal) Begin(raw []byte, hash [32]byte) (string, error) {
	j.c.state = journal.Intent
	j.c.point("before INTENT")
	id, err := j.Journal.Begin(raw, hash)
	j.c.point("after INTENT")
	return id, err
}

func (j childJournal) Append(op string, state journal.State, e journal.Entry) error {
	j.c.state = state
	j.c.point("before " + string(state))
	err := j.Journal.Append(op, state, e)
	j.c.point("after " + string(state))
	return err
}

// childFile has points inside the writing of a record.
type childFile struct {
	*os.File
	c *child
}

func (c *child) open(path string, flag int, perm fs.FileMode) (journal.File, error) {
	f, err := os.OpenFile(path, flag, perm)
	return childFile{f, c}, err
}

func (f childFile) Write(b []byte) (int, error) {
	if name := "half of " + string(f.c.state); name == f.c.Kill {
		if _, err := f.File.Write(b[:len(b)/2]); err != nil {
			return 0, err
		}
		f.c.point(name)
	}
	return f.File.Write(b)
}

func (f childFile) Sync() error {
	f.c.point("unsynced " + string(f.c.state))
	return f.File.Sync()
}

// childPen has points around every signature.
type childPen struct {
	flow.Signer
	c *child
}

func (p childPen) around() func() {
	p.c.signs++
	name := strconv.Itoa(p.c.signs)
	p.c.point("before signature " + name)
	return func() { p.c.point("after signature " + name) }
}

func (p childPen) SignUserOp(ctx context.Context, v verify.VerifiedUserOp) (sign.Signature, error) {
	defer p.around()()
	return p.Signer.SignUserOp(ctx, v)
}

func (p childPen) SignApprove(ctx context.Context, v verify.VerifiedApprove) (sign.Signature, error) {
	defer p.around()()
	return p.Signer.SignApprove(ctx, v)
}

func (p childPen) SignDelegation(ctx context.Context, v verify.VerifiedDelegation) (op.SignedAuthorization, error) {
	defer p.around()()
	return p.Signer.SignDelegation(ctx, v)
}

func (p childPen) SignSolana(ctx context.Context, v verify.VerifiedMessage) (sign.Signature, error) {
	defer p.around()()
	return p.Signer.SignSolana(ctx, v)
}

// childWire has points around every request.
type childWire struct {
	*client.Client
	c *child
}

// around names a request once: "before prepare", "after prepare".
func (w childWire) around(name string) func() {
	w.c.point("before " + name)
	return func() { w.c.point("after " + name) }
}

func (w childWire) PrepareCallQuote(ctx context.Context, body []byte) (client.Answer, error) {
	defer w.around("prepare")()
	return w.Client.PrepareCallQuote(ctx, body)
}

func (w childWire) CallQuote(ctx context.Context, body []byte) (client.Answer, error) {
	defer w.around("quote")()
	return w.Client.CallQuote(ctx, body)
}

func (w childWire) Quote(ctx context.Context, body []byte) (client.Answer, error) {
	defer w.around("quote")()
	return w.Client.Quote(ctx, body)
}

func (w childWire) ExecuteQuote(ctx context.Context, body []byte) (api.ExecuteResponse, error) {
	defer w.around("execute")()
	return w.Client.ExecuteQuote(ctx, body)
}

func (w childWire) Status(ctx context.Context, id string) (api.ExecutionStatus, error) {
	defer w.around("status")()
	return w.Client.Status(ctx, id)
}

func (w childWire) History(ctx context.Context, q client.HistoryQuery) (api.HistoryPage, error) {
	defer w.around("history")()
	return w.Client.History(ctx, q)
}
