package rpcpool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"
)

// send asks one endpoint, first which chain it serves if that is not known. Every call has an answer, or the fault says
// why not; it may come with the answers to some. The breaker learns of it. ctx ends when the caller needs no answer any
// more.
func (p *Pool) send(ctx context.Context, e *endpoint, calls []request, repeat bool) (map[uint64]reply, *fault) {
	if !e.enter(p.o.Clock()) {
		return nil, &fault{words: "it rests after a fault", soft: true, rests: true}
	}
	began := time.Now()
	answers, f := p.inSlot(ctx, e, calls, repeat)
	if f != nil && f.cause != nil && ctx.Err() != nil { // given up, not failed
		cause, took := context.Cause(ctx), time.Since(began)
		if errors.Is(cause, errOvertaken) || errors.Is(cause, context.DeadlineExceeded) && took >= p.o.Hedge {
			p.note(e, e.lost(p.o.Clock(), took.Round(time.Millisecond)))
		} else {
			f.soft = true
			e.leave(p.o.Clock(), 0, f)
		}
		return nil, f
	}
	p.note(e, e.leave(p.o.Clock(), time.Since(began), f))
	return answers, f
}

// errOvertaken is the cause of a context that ended because another endpoint answered first, after this one had its
// time.
var errOvertaken = errors.New("another endpoint answered first")

func (p *Pool) inSlot(ctx context.Context, e *endpoint, calls []request, repeat bool) (map[uint64]reply, *fault) {
	busy := time.NewTimer(p.o.Timeout)
	defer busy.Stop()
	select {
	case e.slots <- struct{}{}:
		defer e.release()
	case <-busy.C:
		return nil, &fault{words: "too many requests wait for it", soft: true}
	case <-ctx.Done():
		return nil, &fault{words: "too many requests wait for it", soft: true, cause: plainCause(context.Cause(ctx))}
	}
	if f := p.verify(ctx, e); f != nil {
		return nil, f
	}
	answers, most := make(map[uint64]reply, len(calls)), mostBatch
	for len(calls) > 0 {
		n := min(len(calls), e.batchLimit(), most)
		some, f := p.exchange(ctx, e, calls[:n], repeat)
		if f != nil && errors.Is(f.cause, ErrTooLarge) && n > 1 {
			most = n / 2
			continue
		}
		if f != nil {
			return answers, f
		}
		left, f := p.sort(e, calls[:n], some, answers, repeat)
		if f != nil {
			return answers, f
		}
		calls = append(left, calls[n:]...)
	}
	return answers, nil
}

// sort takes over the answers of one exchange. What was refused for the size of the batch is left to be asked again in
// smaller ones.
func (p *Pool) sort(e *endpoint, calls []request, some, answers map[uint64]reply, repeat bool) (left []request,
	f *fault) {
	missing := 0
	var limit *fault
	for _, c := range calls {
		r, ok := some[c.ID]
		switch {
		case !ok:
			missing++
			left = append(left, c)
		case r.err != nil && r.err.limited():
			limit = &fault{words: "it limits requests: " + r.err.Message, limit: true, sent: true,
				least: max(limitPause, r.backoff)}
		case r.err != nil && r.err.batch() && len(calls) > 1:
			left = append(left, c)
		default:
			if r.err != nil && r.err.absent() {
				e.noteAbsent(c.Method, p.o.Clock())
			}
			answers[c.ID] = r
		}
	}
	switch {
	case limit != nil:
		return nil, limit
	case len(left) == 0:
		return nil, nil
	case missing == len(left), missing > 0 && !repeat:
		return nil, &fault{words: fmt.Sprintf("%d of %d answers are missing", missing, len(calls)), sent: true,
			least: firstPause}
	}
	e.shrink(len(calls))
	return slices.Clone(left), nil
}

// exchange is one HTTP request and its answer. repeat says that the same request may arrive twice without harm.
func (p *Pool) exchange(ctx context.Context, e *endpoint, calls []request, repeat bool) (map[uint64]reply, *fault) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.o.Timeout, errSilent)
	defer cancel()
	body, err := encode(calls)
	if err != nil {
		return nil, &fault{words: "the call cannot be encoded", soft: true, cause: err}
	}
	var sent atomic.Bool
	trace := httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, &trace), http.MethodPost, e.at.String(),
		bytes.NewReader(body))
	if err != nil {
		return nil, &fault{words: "its address cannot be used", least: longPause}
	}
	if e.header != nil {
		r.Header = e.header.Clone()
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	if repeat {
		// Empty, it is not sent: it lets net/http repeat a request on a kept connection that the server had just
		// closed.
		r.Header["Idempotency-Key"] = []string{}
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return nil, e.network(errors.Join(err, context.Cause(ctx)), p.o.Timeout, sent.Load())
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, p.o.MaxBytes+1))
	if err != nil {
		return nil, e.network(errors.Join(err, context.Cause(ctx)), p.o.Timeout, true)
	}
	if int64(len(raw)) > p.o.MaxBytes {
		return nil, &fault{words: fmt.Sprintf("its answer is larger than %d MiB", p.o.MaxBytes>>20), soft: true,
			sent: true, cause: ErrTooLarge}
	}
	return p.understand(e, answer, raw, calls)
}

// understand reads what arrived. An error in JSON-RPC that comes with a status that refuses the request is an
// answer; any other status than 2xx is a fault.
func (p *Pool) understand(e *endpoint, answer *http.Response, raw []byte, calls []request) (map[uint64]reply, *fault) {
	answers, whole, err := decode(raw, calls)
	good := answer.StatusCode >= 200 && answer.StatusCode < 300
	for id, r := range answers {
		if r.err != nil {
			r.err.Message = e.clean(r.err.Message)
			answers[id] = r
		}
	}
	if whole != nil {
		whole.err.Message = e.clean(whole.err.Message)
	}
	switch {
	case !good && (err != nil || !refusal(answer.StatusCode)):
		f := e.status(answer, p.o.Clock())
		if said := message(answers, whole); said != "" {
			f.words += ": " + said
		}
		if whole != nil {
			f.least = max(f.least, whole.backoff)
		}
		return nil, f
	case err != nil:
		f := &fault{words: err.Error(), sent: true, least: firstPause}
		if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("<")) {
			f.words += ": is this the address of a node?"
		}
		return nil, f
	case whole != nil && whole.err.limited():
		return nil, &fault{words: "it limits requests: " + whole.err.Message, limit: true, sent: true,
			least: max(limitPause, whole.backoff)}
	case whole != nil && len(calls) > 1: // it refuses the batch as one
		answers = make(map[uint64]reply, len(calls))
		for _, c := range calls {
			refused := *whole.err
			refused.Message = "batch refused: " + refused.Message
			answers[c.ID] = reply{err: &refused}
		}
	case whole != nil:
		answers = map[uint64]reply{calls[0].ID: *whole}
	}
	return answers, nil
}

// refusal reports whether an HTTP status may come with an answer to the call itself.
func refusal(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge ||
		status == http.StatusUnprocessableEntity
}

// message is what the node says in an error.
func message(answers map[uint64]reply, whole *reply) string {
	if whole != nil {
		return whole.err.Message
	}
	for _, r := range answers {
		if r.err != nil {
			return r.err.Message
		}
	}
	return ""
}
