package quotestore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/service/store"
)

// Orders of a history page.
const (
	SortCreated = "createdAt"
	SortUpdated = "updatedAt"
)

// Page sizes: what is given without a limit, and the cap.
const (
	DefaultPage = 20
	MaxPage     = 100
)

// HistoryQuery asks for a page of records of one account, newest first. User is an EVM address in any case or a Solana
// address. Limit 0 means DefaultPage; more than MaxPage is capped. SortBy "" means SortCreated.
type HistoryQuery struct {
	User         string
	Limit        int
	Continuation string
	SortBy       string

	reader Reader
	bound  string // Bound of the reader
}

// UserKey is the form in which an account is looked up: EVM addresses in lower case.
func UserKey(user string) string {
	if strings.HasPrefix(user, "0x") || strings.HasPrefix(user, "0X") {
		return strings.ToLower(user)
	}
	return user
}

// owners are the lookup keys of a quote's accounts, each once.
func owners(q *Quote) [][]byte {
	var out [][]byte
	seen := map[string]bool{}
	for _, a := range q.Accounts {
		if k := UserKey(a.AccountAddress); !seen[k] {
			seen[k] = true
			out = append(out, hashOf(k))
		}
	}
	return out
}

// index enters a new record under each of its accounts.
func (w *writer) index(q *Quote) {
	q.Updated = q.Created
	for _, o := range owners(q) {
		w.put(bucketCreated, indexKey(o, q.Created), []byte(q.ID))
		w.put(bucketUpdated, indexKey(o, q.Updated), updatedValue(0, q.ID))
	}
}

// touch gives the record a new place in the order of updates. The old entry stays, marked with the stamp that replaced
// it, so that a page of an older moment still finds it.
func (b *Book) touch(w *writer, before, q *Quote) {
	q.Updated = b.stamp(w)
	for _, o := range owners(q) {
		old := indexKey(o, before.Updated)
		w.put(bucketUpdated, old, updatedValue(q.Updated, q.ID))
		w.put(bucketReplaced, append(be64(q.Updated), old...), []byte{})
		w.put(bucketUpdated, indexKey(o, q.Updated), updatedValue(0, q.ID))
	}
}

func indexKey(owner []byte, stamp uint64) []byte {
	return binary.BigEndian.AppendUint64(bytes.Clone(owner), stamp)
}

func updatedValue(replaced uint64, id string) []byte { return append(be64(replaced), id...) }

// Page is a page of history, and why each of its Damaged cannot be read.
type Page struct {
	api.HistoryPage
	Reasons []error
}

func (p *Page) leaveOut(name string, why error) {
	p.Damaged, p.Reasons = append(p.Damaged, name), append(p.Reasons, fmt.Errorf("%s: %w", name, why))
}

// History returns one page. A continuation that was altered, belongs to another question or has expired is a validation
// error.
func (b *Book) History(ctx context.Context, query HistoryQuery) (Page, error) {
	page := Page{HistoryPage: api.HistoryPage{Transactions: []api.HistoryRecord{}}}
	query, err := normal(query)
	if err != nil {
		return page, err
	}
	query.reader = b.reader(ctx)
	query.bound = b.Bound(query.reader)
	err = b.view(ctx, func(tx store.Tx) error {
		cur, err := b.start(tx, query)
		if err != nil {
			return err
		}
		found, more, damaged, err := b.scan(tx, query, cur)
		if err != nil {
			return err
		}
		for _, d := range damaged {
			page.leaveOut("an entry of the index", d)
		}
		ids := make([][]byte, 0, len(found))
		for _, f := range found {
			ids = append(ids, quoteKey(f.id))
		}
		store.Fetch(tx, bucketQuote, ids)
		store.Fetch(tx, bucketDocument, ids)
		for _, f := range found {
			r, err := b.record(tx, f.id)
			if errors.Is(err, store.ErrDamaged) {
				page.leaveOut(f.id, err)
				continue
			}
			if err != nil {
				return err
			}
			page.Transactions = append(page.Transactions, r)
		}
		if more {
			cur.last = found[len(found)-1].stamp
			page.Continuation = b.seal(cur, query)
		}
		return nil
	})
	return page, err
}

func normal(q HistoryQuery) (HistoryQuery, error) {
	q.User = UserKey(q.User)
	if q.Limit == 0 {
		q.Limit = DefaultPage
	}
	q.Limit = min(q.Limit, MaxPage)
	if q.SortBy == "" {
		q.SortBy = SortCreated
	}
	var bad []api.Failure
	if q.Limit < 1 {
		bad = append(bad, api.Failure{Path: "limit", Expected: "an integer of at least 1", Got: strconv.Itoa(q.Limit)})
	}
	if q.SortBy != SortCreated && q.SortBy != SortUpdated {
		bad = append(bad, api.Failure{Path: "sortBy", Expected: "createdAt or updatedAt", Got: "another word"})
	}
	return q, api.NewValidationError(bad)
}

// start is where a page begins: the cursor's place, or the newest record of this moment.
func (b *Book) start(tx store.Tx, q HistoryQuery) (cursor, error) {
	if q.Continuation != "" {
		return b.unseal(q.Continuation, q)
	}
	now := b.clock()
	c := cursor{begun: uint64(now.Unix()), expires: uint64(now.Add(b.lifetime).Unix())}
	if v := tx.Bucket(bucketMeta).Get([]byte("stamp")); len(v) == 8 {
		c.snapshot = binary.BigEndian.Uint64(v) // every later record gets a greater stamp
	}
	c.last = c.snapshot + 1
	return c, nil
}

type found struct {
	stamp uint64
	id    string
}

// scan walks the index from the cursor towards older records and collects one page of those that the reader may see;
// more says that at least one of them follows, damaged which entries cannot be read.
func (b *Book) scan(tx store.Tx, q HistoryQuery, c cursor) (page []found, more bool, damaged []error, err error) {
	owner := hashOf(q.User)
	name := bucketCreated
	if q.SortBy == SortUpdated {
		name = bucketUpdated
	}
	index := tx.Bucket(name).Reporting(func(err error) { damaged = append(damaged, err) })
	index.Descend(indexKey(owner, c.last-1), func(k, v []byte) bool {
		if !bytes.HasPrefix(k, owner) {
			return false
		}
		id := v
		if q.SortBy == SortUpdated {
			replaced := binary.BigEndian.Uint64(v)
			if id = v[8:]; replaced != 0 && replaced <= c.snapshot {
				return true // at the cursor's moment the record had moved on
			}
		}
		shown, failed := b.shows(tx, q.reader, string(id))
		switch {
		case errors.Is(failed, store.ErrDamaged):
			damaged = append(damaged, failed) // whose it is cannot be read, so nobody is told its id
			return true
		case failed != nil || !shown:
			err = failed
			return failed == nil
		}
		if len(page) == q.Limit {
			more = true
			return false
		}
		page = append(page, found{binary.BigEndian.Uint64(k[len(owner):]), string(id)})
		return true
	})
	return page, more, damaged, err
}

// shows reports whether a reader may see a quote. It is looked up only where that depends on the quote.
func (b *Book) shows(tx store.Tx, r Reader, id string) (bool, error) {
	if !b.private || r.All {
		return true, nil
	}
	q, err := quoteOf(tx, id)
	return err == nil && b.Sees(r, q.Project), err
}

// record reads one line of history.
func (b *Book) record(tx store.Tx, id string) (out api.HistoryRecord, err error) {
	q, err := quoteOf(tx, id)
	if err != nil {
		return out, err
	}
	raw, err := read(tx.Bucket(bucketDocument), []byte(q.ID))
	if err != nil {
		return out, err
	}
	doc, err := api.ParseDocument(raw, api.DefaultLimits())
	if err != nil {
		return out, err
	}
	var tokens struct {
		Origin      api.OriginToken      `json:"originToken"`
		Destination api.DestinationToken `json:"destinationToken"`
	}
	if err := doc.Decode(&tokens); err != nil {
		return out, err
	}
	arrived(q, &tokens.Destination)
	s := b.status(q)
	return api.HistoryRecord{
		QuoteID: s.QuoteID, Status: s.Status, User: s.User, RecipientAccountID: s.RecipientAccountID,
		OriginChainOperations:      s.OriginChainOperations,
		DestinationChainOperations: orEmpty(s.DestinationChainOperations),
		Type:                       q.Type, OriginToken: tokens.Origin, DestinationToken: tokens.Destination,
		Timestamp: q.AcceptedAt.UTC().Format("2006-01-02T15:04:05.000Z"), FailReason: s.FailReason,
	}, nil
}

// arrived writes what a swap or a transfer has delivered over what was quoted, once it has: an exact input brings what
// the price gives at the fill (protocol §3.7).
func arrived(q *Quote, t *api.DestinationToken) {
	if q.Minimum == nil || len(q.Fills) != 1 || len(q.Destination) == 0 {
		return
	}
	got := q.Fills[0].Delivers.Value
	quoted, errAmount := amount.ParseBase(t.Amount)
	cents, errFiat := amount.Parse(t.FiatValue, 2)
	t.Amount = got.String()
	if errAmount == nil && errFiat == nil && quoted.Sign() > 0 {
		cents.Mul(cents, got)
		t.FiatValue = amount.Format(cents.Quo(cents, quoted), 2)
	}
}

func orEmpty(refs []api.OperationRef) []api.OperationRef {
	if refs == nil {
		return []api.OperationRef{}
	}
	return refs
}

// Status returns what became of a quote. The bool is false for an id that is unknown, was never accepted
// (docs/interface.md#status), or is not the reader's to see.
func (b *Book) Status(ctx context.Context, id string) (api.ExecutionStatus, bool, error) {
	var out api.ExecutionStatus
	err := b.view(ctx, func(tx store.Tx) error {
		q, err := quoteOf(tx, id)
		if err == nil && q.Status != "" && b.Sees(b.reader(ctx), q.Project) {
			out = b.status(q)
		}
		return err
	})
	// whose record that is cannot be read
	damaged := errors.Is(err, store.ErrDamaged) && b.private && !b.reader(ctx).All
	if errors.Is(err, ErrUnknownQuote) || damaged {
		err = nil
	}
	return out, out.Status != "", err
}

func (b *Book) status(q *Quote) api.ExecutionStatus {
	s := api.ExecutionStatus{
		QuoteID: q.ID, Status: q.Status, User: q.Accounts[0].AccountAddress,
		RecipientAccountID:    recipientID(q.RecipientAccount()),
		OriginChainOperations: orEmpty(refs(q.Origin)), DestinationChainOperations: refs(q.Destination),
	}
	if api.Terminal(q.Status) {
		s.FailReason = q.FailReason
	}
	return s
}

// recipientID is chain/address, an EVM address in EIP-55 mixed case (protocol §7).
func recipientID(a caip.Account) string {
	if e, ok := a.EVM(); ok {
		return a.Chain.String() + "/" + e.Hex()
	}
	return a.Slash()
}

func refs(in []Ref) []api.OperationRef {
	var out []api.OperationRef
	for _, r := range in {
		out = append(out, api.OperationRef{Hash: r.ID(), Chain: r.Chain().String(), ExplorerURL: r.URL})
	}
	return out
}
