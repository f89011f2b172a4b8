package act

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/client"
	"coffer/wallet/verify"
)

const (
	pageSize  = 50 // records of one page
	maxLosses = 3  // how often reading begins again because the service forgot its place
)

// entry is one record of history, as raw bytes and decoded.
type entry struct {
	api.HistoryRecord
	raw []byte
	at  time.Time // zero: unreadable
}

// pages reads the history of one account page by page, newest first. It returns each record once, however often
// reading begins again.
type pages struct {
	service Service
	user    string
	size    int
	met     map[string]bool // quote ids, of all accounts
	asked   map[string]bool // continuations since reading began
	next    string
	queue   []entry
	done    bool
	losses  int
	stop    func(page []entry) bool // reports that the following pages are not wanted
	warn    func(verify.Reason)
}

// take returns the next record, nil at the end.
func (p *pages) take(ctx context.Context) (*entry, error) {
	e, err := p.peek(ctx)
	if e != nil {
		p.queue = p.queue[1:]
	}
	return e, err
}

func (p *pages) peek(ctx context.Context) (*entry, error) {
	for len(p.queue) == 0 && !p.done {
		if err := p.read(ctx); err != nil {
			return nil, err
		}
	}
	if len(p.queue) == 0 {
		return nil, nil
	}
	return &p.queue[0], nil
}

// read asks for the next page. After a continuation that the service no longer knows it begins again; records met
// before stay met.
func (p *pages) read(ctx context.Context) error {
	p.asked[p.next] = true
	answer, err := p.service.HistoryDocument(ctx, client.HistoryQuery{User: p.user, Limit: p.size, SortBy: "createdAt",
		Continuation: p.next})
	if err != nil && p.next != "" && lostPlace(err) && p.losses < maxLosses {
		p.losses++
		p.next, p.asked = "", map[string]bool{}
		return nil
	}
	if err != nil {
		return err
	}
	page, token, err := records(answer)
	if err != nil {
		return err
	}
	for _, e := range page {
		id := strings.ToLower(e.QuoteID)
		if id != "" && p.met[id] {
			continue
		}
		p.met[id] = true
		p.queue = append(p.queue, e)
	}
	more, why := verify.Continuation(p.asked, token)
	if why != nil {
		p.warn(*why)
	}
	p.done, p.next = !more || p.stop(page), token
	return nil
}

// records splits a page; the bytes of each record stay as they are.
func records(answer client.Answer) ([]entry, string, error) {
	var page api.HistoryPage
	if err := answer.Decode(&page); err != nil {
		return nil, "", fmt.Errorf("history: %w", err)
	}
	out := make([]entry, 0, len(page.Transactions))
	for i := range page.Transactions {
		raw, ok := answer.At(fmt.Sprintf("/transactions/%d", i))
		if !ok {
			return nil, "", errors.New("history: a page that cannot be read")
		}
		e := entry{raw: raw}
		if err := json.Unmarshal(raw, &e.HistoryRecord); err != nil {
			return nil, "", fmt.Errorf("history: %w", err)
		}
		if at, err := time.Parse(time.RFC3339, e.Timestamp); err == nil {
			e.at = at
		}
		out = append(out, e)
	}
	return out, page.Continuation, nil
}

// lostPlace reports that the service refused a continuation that it gave out before.
func lostPlace(err error) bool {
	var refused *api.Error
	return errors.As(err, &refused) && (refused.StatusCode == http.StatusBadRequest ||
		refused.StatusCode == http.StatusNotFound || refused.StatusCode == http.StatusGone)
}

// stream merges the histories of several accounts, newest first; records without a readable time come first.
type stream struct{ of []*pages }

func newStream(s *Session, size int, stop func([]entry) bool, warn func(verify.Reason)) *stream {
	out, met := &stream{}, map[string]bool{}
	for _, a := range s.Accounts {
		out.of = append(out.of, &pages{service: s.Service, user: a.AccountAddress, size: size, met: met,
			asked: map[string]bool{}, stop: stop, warn: warn})
	}
	return out
}

// take returns the newest record that is left, nil at the end.
func (s *stream) take(ctx context.Context) (*entry, error) {
	var best *pages
	var first *entry
	for _, p := range s.of {
		e, err := p.peek(ctx)
		if err != nil {
			return nil, err
		}
		if e != nil && (first == nil || newer(e.at, first.at)) {
			best, first = p, e
		}
	}
	if best == nil {
		return nil, nil
	}
	return best.take(ctx)
}

// newer reports that a comes before b in the list: an unreadable time does.
func newer(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() && !b.IsZero()
	}
	return a.After(b)
}
