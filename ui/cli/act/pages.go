package act

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/past"
	"coffer/wallet/verify"
)

const (
	pageSize   = 50 // records of one page
	seenAtOnce = 25 // transactions that own nodes are asked for at once
	maxLosses  = 3  // how often reading begins again because the service forgot its place
)

// entry is one record of history, as raw bytes and decoded; or what own nodes saw, in place of one.
type entry struct {
	api.HistoryRecord
	raw  []byte
	at   time.Time // zero: unreadable
	seen *past.Row
	// unread is why own nodes told nothing of what others did; "" in every other entry
	unread string
}

// reading reads the history of the accounts of a profile.
type reading struct {
	service Service
	size    int                     // records of a page
	met     map[string]bool         // quote ids, of all accounts
	stop    func(page []entry) bool // reports that the following pages are not wanted
	warn    func(verify.Reason)
}

// records are the records of all accounts, newest first, each once; those without a readable time come first. An error
// is the last of them.
func (c Commands) records(ctx context.Context, s *Session, size int,
	stop func(page []entry) bool) iter.Seq2[*entry, error] {
	r := reading{service: s.Service, size: size, met: map[string]bool{}, stop: stop, warn: c.finding}
	all := make([]iter.Seq2[*entry, error], len(s.Accounts))
	for i, a := range s.Accounts {
		all[i] = r.account(ctx, a.AccountAddress)
	}
	return merged(all)
}

// past are the records of all accounts, and what own nodes saw of the Solana account that is none of them.
func (c Commands) past(ctx context.Context, s *Session, size int,
	stop func(page []entry) bool) iter.Seq2[*entry, error] {
	if s.Seen == nil {
		return c.records(ctx, s, size, stop)
	}
	return merged([]iter.Seq2[*entry, error]{c.records(ctx, s, size, stop), seen(ctx, s.Seen, size, stop)})
}

// seen are the transactions that own nodes saw, read page by page. Nodes that tell nothing make the last entry.
func seen(ctx context.Context, chain *past.Chain, size int, stop func(page []entry) bool) iter.Seq2[*entry, error] {
	return func(yield func(*entry, error) bool) {
		for row, err := range chain.All(ctx, min(size, seenAtOnce)) {
			e := &entry{seen: &row, at: row.Of.At}
			if err != nil {
				e = &entry{unread: past.Unread(err)}
			}
			if !yield(e, nil) || stop([]entry{*e}) {
				return
			}
		}
	}
}

// merged are entries of several lists, newest first.
func merged(all []iter.Seq2[*entry, error]) iter.Seq2[*entry, error] {
	return func(yield func(*entry, error) bool) {
		var sources []func() (*entry, error, bool)
		for _, list := range all {
			next, end := iter.Pull2(list)
			defer end()
			sources = append(sources, next)
		}
		heads := make([]*entry, len(sources))
		for {
			best := -1
			for i, next := range sources {
				if heads[i] == nil {
					var err error
					if heads[i], err, _ = next(); err != nil {
						yield(nil, err)
						return
					}
				}
				if heads[i] != nil && (best < 0 || newer(heads[i].at, heads[best].at)) {
					best = i
				}
			}
			if best < 0 || !yield(heads[best], nil) {
				return
			}
			heads[best] = nil
		}
	}
}

// account are the records of one account, read page by page. After a continuation that the service no longer knows,
// reading begins again; records met before stay met.
func (r reading) account(ctx context.Context, user string) iter.Seq2[*entry, error] {
	return func(yield func(*entry, error) bool) {
		asked, next, losses := map[string]bool{}, "", 0 // continuations since reading began
		for {
			asked[next] = true
			page, token, err := r.page(ctx, user, next)
			switch {
			case err != nil && next != "" && client.LostPlace(err) && losses < maxLosses:
				losses++
				next, asked = "", map[string]bool{}
				continue
			case err != nil:
				yield(nil, err)
				return
			}
			more, why := verify.Continuation(asked, token)
			if why != nil {
				r.warn(*why)
			}
			for i := range page {
				id := strings.ToLower(page[i].QuoteID)
				if id != "" && r.met[id] {
					continue
				}
				r.met[id] = true
				if !yield(&page[i], nil) {
					return
				}
			}
			if !more || r.stop(page) {
				return
			}
			next = token
		}
	}
}

func (r reading) page(ctx context.Context, user, continuation string) ([]entry, string, error) {
	answer, err := r.service.HistoryDocument(ctx, client.HistoryQuery{User: user, Limit: r.size, SortBy: "createdAt",
		Continuation: continuation})
	if err != nil {
		return nil, "", err
	}
	return records(answer)
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

// newer reports that a comes before b in the list: an unreadable time does.
func newer(a, b time.Time) bool {
	if a.IsZero() || b.IsZero() {
		return a.IsZero() && !b.IsZero()
	}
	return a.After(b)
}
