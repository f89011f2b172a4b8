package past

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/chainview"
)

// Source reads the list for screens and lines.
type Source struct {
	Users []string // whose records are read: that in use, and with nodes of a Solana chain that account
	Read  func(ctx context.Context, user string, limit int, continuation string) (api.HistoryPage, error)
	Chain *Chain // nil: no own nodes look at a Solana account
}

// History reads a page of the list. A page with what nodes saw may have a few more records than limit, or fewer.
func (s Source) History(ctx context.Context, limit int, continuation string) (api.HistoryPage, error) {
	if s.Chain == nil {
		page, err := s.Read(ctx, s.Users[0], limit, continuation)
		for i := range page.Transactions {
			page.Transactions[i] = stated(page.Transactions[i])
		}
		return page, err
	}
	at, err := s.place(continuation)
	if err != nil {
		return api.HistoryPage{}, err
	}
	return s.merged(ctx, limit, at)
}

// stated is a record of a service, which cannot pass for something that a node saw.
func stated(r api.HistoryRecord) api.HistoryRecord {
	const said = "the service's "
	if present.IsSeenID(r.QuoteID) {
		r.QuoteID = said + r.QuoteID
	}
	if _, seen := present.SeenStatus(r.Status); seen {
		r.Status = said + r.Status
	}
	if slices.Contains([]string{present.TypeReceived, present.TypeSent, present.TypeSeen}, r.Type) {
		r.Type = said + r.Type
	}
	return r
}

// place is where a reading goes on: of each user the page that is taken from, how many of its records were, and the
// place in what nodes list. Try counts the pages whose nodes gave nothing and after which nothing else is left.
type place struct {
	Of   []ofUser        `json:"u"`
	Seen chainview.Place `json:"s"`
	End  bool            `json:"e,omitzero"`
	Try  int             `json:"t,omitzero"`
}

type ofUser struct {
	Next string `json:"n,omitzero"`
	Skip int    `json:"k,omitzero"`
	End  bool   `json:"e,omitzero"`
}

const placed = "seen."

func (p place) String() string {
	raw, err := json.Marshal(p)
	if err != nil {
		return "" // the type always encodes
	}
	return placed + base64.RawURLEncoding.EncodeToString(raw)
}

// place reads a continuation. One that cannot be used is refused as a service does, and reading begins again.
func (s Source) place(continuation string) (at place, err error) {
	if continuation == "" {
		return place{Of: make([]ofUser, len(s.Users))}, nil
	}
	text, ok := strings.CutPrefix(continuation, placed)
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &at, json.RejectUnknownMembers(true))
	}
	if !ok || err != nil || len(at.Of) != len(s.Users) ||
		slices.ContainsFunc(at.Of, func(u ofUser) bool { return u.Skip < 0 }) {
		return at, api.NewError(api.ErrValidation, "the continuation is none of this list")
	}
	return at, nil
}

// dated is a record of the service with its time; zero: unreadable.
type dated struct {
	api.HistoryRecord
	at time.Time
}

// merge is one page under way.
type merge struct {
	s       Source
	limit   int
	at      place
	ahead   [][]dated
	read    []bool   // a page of the user was read
	after   []string // the continuation behind it
	listed  []chainview.Moment
	end     bool // nodes list nothing behind listed
	out     []api.HistoryRecord
	damaged []string
	met     map[string]bool
}

// mostEmpty is how many pages without a row are passed over in one reading.
const mostEmpty = 4

func (s Source) merged(ctx context.Context, limit int, at place) (page api.HistoryPage, err error) {
	for range mostEmpty {
		if page, at, err = s.page(ctx, limit, at); err != nil || len(page.Transactions) > 0 || page.Continuation == "" {
			break
		}
	}
	return page, err
}

func (s Source) page(ctx context.Context, limit int, at place) (api.HistoryPage, place, error) {
	m := s.begin(limit, at)
	var unread, err error
	if !at.End {
		m.listed, m.end, unread = s.Chain.Nodes.Listed(ctx, s.Chain.Whose, at.Seen, min(limit, mostSeen))
		m.at.End = unread == nil && m.end && len(m.listed) == 0
	}
	if unread == nil {
		unread, err = m.run(ctx, true)
	}
	if unread != nil { // again without the nodes, which are asked from here on the next time
		m = s.begin(limit, at)
		m.out = append(m.out, UnreadRecord(Unread(unread)))
		_, err = m.run(ctx, false)
	}
	if err != nil {
		return api.HistoryPage{}, at, err
	}
	ended := true
	for i, u := range m.at.Of {
		m.at.Of[i].End = u.End || m.read[i] && len(m.ahead[i]) == 0 && m.after[i] == ""
		ended = ended && m.at.Of[i].End
	}
	if ended && unread != nil {
		m.at.Try++
	}
	page := api.HistoryPage{Transactions: m.out, Damaged: m.damaged}
	if !ended || !m.at.End {
		page.Continuation = m.at.String()
	}
	return page, m.at, nil
}

func (s Source) begin(limit int, at place) *merge {
	at.Of = slices.Clone(at.Of)
	n := len(s.Users)
	return &merge{s: s, limit: limit, at: at, ahead: make([][]dated, n), read: make([]bool, n),
		after: make([]string, n), out: []api.HistoryRecord{}, met: map[string]bool{}}
}

// run takes records until the page is full. Moments are taken with it when nodes are asked; unread is why what they saw
// could not be read.
func (m *merge) run(ctx context.Context, nodes bool) (unread, err error) {
	for len(m.out) < m.limit {
		if err := m.fill(ctx); err != nil {
			return nil, err
		}
		best := m.newest()
		seen := nodes && len(m.listed) > 0
		switch {
		case seen && (best < 0 || !older(m.listed[0].At, m.ahead[best][0].at)):
			rows, err := m.s.Chain.Rows(ctx, m.taken(best))
			if err != nil {
				return err, nil
			}
			for _, r := range rows {
				m.out = append(m.out, m.s.Chain.Record(r))
			}
			continue
		case nodes && !m.at.End && len(m.listed) == 0 && !m.end:
			return nil, nil // more of what nodes list comes before the rest
		case best < 0:
			return nil, nil
		}
		r := m.ahead[best][0]
		m.ahead[best] = m.ahead[best][1:]
		m.at.Of[best].Skip++
		if id := strings.ToLower(r.QuoteID); !m.met[id] {
			m.met[id] = true
			m.out = append(m.out, stated(r.HistoryRecord))
		}
	}
	return nil, nil
}

// taken are the moments at the top that are no older than the newest record; the place goes on behind them.
func (m *merge) taken(best int) []chainview.Moment {
	n := 1
	for n < len(m.listed) && (best < 0 || !older(m.listed[n].At, m.ahead[best][0].at)) {
		n++
	}
	list := m.listed[:n]
	m.listed, m.at.Seen = m.listed[n:], list[n-1].After
	m.at.End = m.end && len(m.listed) == 0
	return list
}

// older reports that a comes behind b: an unreadable time comes first.
func older(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }

// newest is the user with the newest record, -1 for none.
func (m *merge) newest() int {
	best := -1
	for i, list := range m.ahead {
		if len(list) > 0 && (best < 0 || older(m.ahead[best][0].at, list[0].at)) {
			best = i
		}
	}
	return best
}

// fill reads the next page of a user of whom nothing is ahead.
func (m *merge) fill(ctx context.Context) error {
	for i, user := range m.s.Users {
		u := &m.at.Of[i]
		for len(m.ahead[i]) == 0 && !u.End {
			switch {
			case m.read[i] && m.after[i] == "":
				u.End = true
				continue
			case m.read[i] && m.after[i] == u.Next:
				return errors.New("the service repeats itself")
			case m.read[i]:
				u.Next, u.Skip = m.after[i], 0
			}
			page, err := m.s.Read(ctx, user, m.limit, u.Next)
			if err != nil {
				return err
			}
			m.read[i], m.after[i], m.damaged = true, page.Continuation, append(m.damaged, page.Damaged...)
			for _, r := range page.Transactions[min(u.Skip, len(page.Transactions)):] {
				at, err := time.Parse(time.RFC3339, r.Timestamp)
				if err != nil {
					at = time.Time{}
				}
				m.ahead[i] = append(m.ahead[i], dated{r, at})
			}
		}
	}
	return nil
}
