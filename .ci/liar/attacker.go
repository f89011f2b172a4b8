package liar

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/network"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

// Endpoint is what a request asks for.
type Endpoint string

// The endpoints that lies are told at.
const (
	Prepare   Endpoint = "prepare"
	CallQuote Endpoint = "call-quote"
	Quote     Endpoint = "quote"
	Execute   Endpoint = "execute"
	Status    Endpoint = "status"
	History   Endpoint = "history"
	Balances  Endpoint = "balances"
	Lists     Endpoint = "lists"
	Other     Endpoint = "other"
)

// endpointOf reads a path of either version of the interface.
func endpointOf(path string) Endpoint {
	for _, e := range []struct {
		end string
		is  Endpoint
	}{
		{"/prepare-call-quote", Prepare}, {"/call-quote", CallQuote}, {"/execute-quote", Execute}, {"/quote", Quote},
		{"/get-execution-status", Status},
		{"/get-tx-history", History}, {"/aggregated-balance", Balances}, {"/supported-list", Lists},
		{"/assets/list", Lists},
	} {
		if strings.HasSuffix(path, e.end) {
			return e.is
		}
	}
	return Other
}

// manner is how an attacker goes about one session: the shares, in per cent, of answers to each sort of request that
// are lies, how often it runs what it holds before the end, and how many answers it gives honestly first.
type manner struct {
	documents, execute, told, reads int
	cashOut                         int
	honest                          int
}

// mannerOf draws one. An embedded service is honest about what it did: there only documents and lists may lie.
func mannerOf(d dice, embedded bool) manner {
	m := pick(d, []manner{
		{documents: 8, execute: 55, told: 60, reads: 10, cashOut: 4},
		{documents: 25, execute: 35, told: 40, reads: 20, cashOut: 6},
		{documents: 5, execute: 20, told: 80, reads: 5, cashOut: 3},
		{documents: 60, execute: 30, told: 30, reads: 50, cashOut: 2},
		{documents: 30, execute: 10, told: 10, reads: 10, cashOut: 10},
	})
	if d.chance(50) {
		m.honest = d.IntN(8)
	}
	if embedded {
		m.execute, m.told, m.cashOut = 0, 0, 0
		m.documents = m.documents * 2 / 3
	}
	return m
}

// exchange is one request with the genuine answer to it, when there is one. raw is the answer's body.
type exchange struct {
	at     Endpoint
	req    *http.Request
	body   []byte
	status int
	header http.Header
	raw    []byte
	fault  error // in the answer's place: the connection breaks, or nothing comes
}

// succeeded reports whether the answer came and is no refusal.
func (x exchange) succeeded() bool { return x.fault == nil && x.status/100 == 2 }

// Attacker answers one wallet in the service's place. It is an http.RoundTripper and not safe for concurrent use: a
// wallet's flow asks one question at a time.
type Attacker struct {
	Told  map[string]int // lies by name, told so far
	Trace func(string)   // is told what the attacker does, for a session that is run again

	house    *House
	embedded bool              // honest about what it did
	ask      http.RoundTripper // the genuine service
	key      string            // of the genuine service
	dice     dice
	manner   manner
	loot     loot
	past     *Past
	held     []exchange          // executes that were not passed on
	stands   map[string]standing // what is said about a quote
	patch    map[string]string   // the amount that call-quote must name, by the prepared operation's call data
	forged   map[string]bool     // quotes that the genuine service would not take back
}

// Past is what earlier sessions of the same house were answered. The zero Past is empty.
type Past struct{ answers map[Endpoint][]exchange }

const mostPast = 40

func (p *Past) keep(x exchange, d dice) {
	if p.answers == nil {
		p.answers = map[Endpoint][]exchange{}
	}
	if !x.succeeded() {
		return
	}
	list := p.answers[x.at]
	if len(list) < mostPast {
		p.answers[x.at] = append(list, x)
		return
	}
	list[d.IntN(mostPast)] = x
}

// NewAttacker makes the attacker of one session. h may be nil when the chains are out of reach, as behind another
// process; then ask leads to the service.
func NewAttacker(h *House, ask http.RoundTripper, key string, seed uint64, embedded bool, p *Past) *Attacker {
	d := newDice(seed, "attacker")
	if p == nil {
		p = &Past{}
	}
	return &Attacker{
		Told: map[string]int{}, house: h, embedded: embedded, ask: ask, key: key, dice: d,
		manner: mannerOf(d, embedded), past: p,
		stands: map[string]standing{}, patch: map[string]string{}, forged: map[string]bool{},
	}
}

// RoundTrip answers a request as the attacker likes.
func (a *Attacker) RoundTrip(r *http.Request) (*http.Response, error) {
	x := exchange{at: endpointOf(r.URL.Path), req: r}
	if r.Body != nil {
		var err error
		if x.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		_ = r.Body.Close()
	}
	a.loot.take(x.body)
	if a.house != nil && a.dice.chance(a.manner.cashOut) {
		a.CashOut()
	}
	a.runHeld()
	x = a.answer(x)
	a.note(fmt.Sprintf("    %s %s: %d %v", x.at, r.URL.Query().Get("quoteId"), x.status, x.fault))
	return x.response(r)
}

// answer is what goes back: the truth, or one lie, or several.
func (a *Attacker) answer(x exchange) exchange {
	if a.manner.honest > 0 {
		a.manner.honest--
		return a.genuine(x)
	}
	switch x.at {
	case Execute:
		return a.executes(x)
	case Status:
		return a.tells(x)
	case Prepare, CallQuote, Quote:
		return a.documents(x)
	case History:
		return a.reads(x, a.manner.told)
	}
	return a.reads(x, a.manner.reads)
}

// genuine asks the service and keeps its answer.
func (a *Attacker) genuine(x exchange) exchange {
	a.pass(&x, x.body)
	if x.at == Execute && a.house != nil && x.succeeded() {
		a.house.settle(x.req.Context())
	}
	a.past.keep(x, a.dice)
	return x
}

// pass asks the genuine service with a body and puts its answer into x.
func (a *Attacker) pass(x *exchange, body []byte) {
	ctx := context.WithoutCancel(x.req.Context())
	out := x.req.Clone(ctx)
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.GetBody = nil
	out.Header.Set("x-api-key", a.key)
	res, err := a.ask.RoundTrip(out)
	if err != nil {
		x.fault = err
		return
	}
	raw, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	x.status, x.header, x.raw, x.fault = res.StatusCode, res.Header, raw, err
	a.patched(x)
}

func (a *Attacker) tell(name string) {
	a.Told[name]++
	a.note("    lie: " + name)
}

func (a *Attacker) note(text string) {
	if a.Trace != nil {
		a.Trace(text)
	}
}

// errCut is a connection that broke after the request was sent.
var errCut = errors.New("connection reset by peer")

func (x exchange) response(r *http.Request) (*http.Response, error) {
	if x.fault != nil {
		return nil, x.fault
	}
	h := x.header.Clone()
	if h == nil {
		h = http.Header{"Content-Type": {"application/json"}}
	}
	h.Del("Content-Length")
	return &http.Response{
		Status: http.StatusText(x.status), StatusCode: x.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: h, Request: r,
		Body: io.NopCloser(bytes.NewReader(x.raw)), ContentLength: int64(len(x.raw)),
	}, nil
}

// says makes the answer a JSON value.
func (x exchange) says(status int, v any) exchange {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		raw = []byte("null")
	}
	x.status, x.raw, x.fault = status, raw, nil
	x.header = http.Header{"Content-Type": {"application/json"}}
	return x
}

// refuses makes the answer an error of the interface.
func (x exchange) refuses(status int, name string) exchange {
	return x.says(status, map[string]any{"error": name, "message": "no", "statusCode": status})
}

// runHeld passes on an execute that was held before, late.
func (a *Attacker) runHeld() {
	if len(a.held) == 0 || !a.dice.chance(10) {
		return
	}
	i := a.dice.IntN(len(a.held))
	x := a.held[i]
	a.held = append(a.held[:i], a.held[i+1:]...)
	a.pass(&x, x.body)
	a.tell("execute: held and run late")
	if a.house != nil {
		a.house.settle(context.WithoutCancel(x.req.Context()))
	}
}

// CashOut runs everything that the attacker holds.
func (a *Attacker) CashOut() {
	if a.house == nil {
		return
	}
	a.note("    cashes out")
	a.loot.cashOut(a.house.chains, uint64(a.house.Clock.Now().Unix()), a.dice)
	a.house.settle(context.Background())
}

// CashOutIn runs everything that the attacker holds on the chains of a service that was closed, at a moment. It is for
// a service of another process, whose store the attacker owns as well.
func (a *Attacker) CashOutIn(database string, now time.Time) (err error) {
	s, err := store.OpenBolt(database, store.BoltOptions{Holder: "liar"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	in, err := devnet.Open(s, devnet.Options{Clock: func() time.Time { return now }, Kind: network.Lab})
	if err != nil {
		return err
	}
	a.loot.cashOut(in, uint64(now.Unix()), a.dice)
	return nil
}
