package past_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op/solmsg"
	"coffer/ui/past"
	"coffer/ui/present"
	"coffer/wallet/chainview"
)

// world is a service with records of two accounts, and nodes with transactions, of which some are operations.
type world struct {
	records map[string][]api.HistoryRecord // newest first
	slots   []chainview.Moment             // newest first
	quotes  map[string]string              // of the service's operations, by signature
	moves   map[string][]chainview.Move
	trouble error
}

func (w *world) Listed(_ context.Context, _ chainview.Whose, from chainview.Place, most int) (list []chainview.Moment,
	end bool, err error) {
	if w.trouble != nil {
		return nil, false, w.trouble
	}
	n := 0
	for _, m := range w.slots {
		if len(from.Before) > 0 && m.Slot >= from.Slot {
			continue
		}
		if n >= most {
			return list, false, nil
		}
		m.After = chainview.Place{Slot: m.Slot, Before: []string{m.Signatures[len(m.Signatures)-1]}}
		list, n = append(list, m), n+len(m.Signatures)
	}
	return list, true, nil
}

func (w *world) Seen(_ context.Context, _ chainview.Whose, list []chainview.Moment) (out []chainview.Transaction,
	err error) {
	for _, m := range list {
		for _, s := range m.Signatures {
			out = append(out, chainview.Transaction{Signature: s, Slot: m.Slot, At: m.At, Moves: w.moves[s],
				Fee: new(big.Int), Quote: w.quotes[s]})
		}
	}
	return out, w.trouble
}

func (w *world) read(_ context.Context, user string, limit int, continuation string) (page api.HistoryPage, err error) {
	all, from := w.records[user], 0
	if continuation != "" {
		if _, err := fmt.Sscanf(continuation, "at%d", &from); err != nil {
			return page, api.NewError(api.ErrValidation, "expired")
		}
	}
	to := min(from+limit, len(all))
	page.Transactions = slices.Clone(all[from:to])
	if to < len(all) {
		page.Continuation = fmt.Sprintf("at%d", to)
	}
	return page, nil
}

func (w *world) source(t testing.TB) past.Source {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return past.Source{Users: []string{"a", "b"}, Read: w.read, Chain: &past.Chain{Nodes: w,
		Whose: chainview.Whose{Account: solmsg.Key{1}}, Catalog: c, Kind: network.Real,
		Own: func(_ context.Context, quoteID, signature string) (bool, error) {
			return w.quotes[signature] == quoteID, nil
		}}}
}

func quote(n int) string { return fmt.Sprintf("0x%064x", n) }

func stamp(n int) time.Time { return time.Unix(1_700_000_000+int64(n), 0) }

// moment adds a transaction that brings in lamports; own is the quote that it belongs to, "" for none.
func (w *world) moment(n int, lamports int64, own string) string {
	s := fmt.Sprintf("sig%d", n)
	w.slots = append(w.slots, chainview.Moment{Slot: uint64(n), At: stamp(n), Signatures: []string{s}})
	w.moves[s] = []chainview.Move{{Asset: caip.SOL(), Amount: big.NewInt(lamports)}}
	if own != "" {
		w.quotes[s] = own
	}
	return s
}

func newWorld() *world {
	return &world{records: map[string][]api.HistoryRecord{}, quotes: map[string]string{},
		moves: map[string][]chainview.Move{}}
}

func record(n int) api.HistoryRecord {
	return api.HistoryRecord{QuoteID: quote(n), Status: api.StatusCompleted, Type: api.RecordTransfer,
		Timestamp: stamp(n).UTC().Format(time.RFC3339)}
}

// pages reads the list to its end.
func pages(t *rapid.T, s past.Source, limit int) (all []api.HistoryRecord) {
	next := ""
	for range 1000 {
		page, err := s.History(context.Background(), limit, next)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Transactions...)
		if next = page.Continuation; next == "" {
			return all
		}
		if len(next) > 4096 {
			t.Fatalf("a continuation of %d bytes", len(next))
		}
	}
	t.Fatal("the list has no end")
	return nil
}

// Whatever is where: every record and every transaction is there, an operation once, in the order of time.
func TestOneListHasNoGapAndNothingTwice(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w, want := newWorld(), map[string]bool{}
		for n := rapid.IntRange(0, 60).Draw(r, "moments"); n > 0; n-- {
			switch kind := rapid.IntRange(0, 5).Draw(r, "kind"); kind {
			case 0, 1, 2:
				w.records["a"] = append(w.records["a"], record(n))
				want[quote(n)] = true
				if kind > 0 {
					w.records["b"] = append(w.records["b"], record(n))
				}
				if kind > 1 {
					w.moment(n, -5, quote(n)) // the chain shows the operation, too
				}
			case 3:
				w.moves[w.moment(n, 1, "")] = nil // it moves nothing
			default:
				want[present.SeenID(w.moment(n, int64(n), ""), 0)] = true
			}
		}
		got := map[string]bool{}
		last := ""
		for _, x := range pages(r, w.source(t), rapid.IntRange(1, 30).Draw(r, "limit")) {
			if got[x.QuoteID] && strings.HasPrefix(x.QuoteID, "seen:") {
				r.Fatalf("%s is there twice", x.QuoteID)
			}
			if got[x.QuoteID] {
				continue // of two accounts, on two pages: readers know the record by its id
			}
			if last != "" && x.Timestamp > last {
				r.Fatalf("%s follows %s", x.Timestamp, last)
			}
			got[x.QuoteID], last = true, x.Timestamp
		}
		for id := range want {
			if !got[id] {
				r.Errorf("%s is missing", id)
			}
		}
		if len(got) != len(want) {
			r.Errorf("%d rows, want %d", len(got), len(want))
		}
	})
}

// Nodes in trouble make a row of words above the service's records, on every page, and what they saw comes when they
// answer again: the reading goes on from where they were.
func TestNodesInTroubleMakeARowOfWords(t *testing.T) {
	w := newWorld()
	for n := 20; n > 0; n-- {
		w.records["a"] = append(w.records["a"], record(n))
		w.moment(n, 7, "")
	}
	w.trouble = errors.New("your nodes do not agree")
	s := w.source(t)
	page, err := s.History(t.Context(), 8, "")
	if err != nil || len(page.Transactions) != 8 || page.Transactions[0].Status != present.StatusUnread ||
		!strings.HasSuffix(page.Transactions[0].FailReason, "is not known: your nodes do not agree.") ||
		page.Transactions[1].QuoteID != quote(20) || page.Continuation == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	w.trouble = nil
	met := map[string]bool{}
	for next := page.Continuation; next != ""; next = page.Continuation {
		if page, err = s.History(t.Context(), 8, next); err != nil {
			t.Fatal(err)
		}
		for _, x := range page.Transactions {
			met[x.QuoteID] = true
		}
	}
	for n := range 20 {
		if !met[present.SeenID(fmt.Sprintf("sig%d", n+1), 0)] || n < 13 && !met[quote(n+1)] {
			t.Errorf("%d is missing", n+1)
		}
	}
	// Without a record the list is not empty, and has no end while nodes are in trouble.
	w.records, w.trouble = map[string][]api.HistoryRecord{}, errors.New("not answered")
	page, err = s.History(t.Context(), 8, "")
	if err != nil || len(page.Transactions) != 1 || page.Continuation == "" {
		t.Errorf("%+v, %v", page, err)
	}
	again, err := s.History(t.Context(), 8, page.Continuation)
	if err != nil || len(again.Transactions) != 1 || again.Continuation == page.Continuation {
		t.Errorf("%+v, %v", again, err)
	}
}

// A page of what moved nothing is passed over: an empty page would look like the end.
func TestAPageWithoutARowIsPassedOver(t *testing.T) {
	w := newWorld()
	for n := 60; n > 1; n-- {
		w.moves[w.moment(n, 1, "")] = nil
	}
	w.moment(1, 5, "")
	page, err := w.source(t).History(t.Context(), 50, "")
	if err != nil || len(page.Transactions) != 1 {
		t.Errorf("%+v, %v", page, err)
	}
}

// No record of a service passes for something that a node saw, with nodes and without.
func TestNoRecordOfAServicePassesForSeen(t *testing.T) {
	w := newWorld()
	lie := record(5)
	lie.QuoteID, lie.Status, lie.Type = "SEEN:unread", present.StatusSeen, present.TypeReceived
	w.records["a"] = []api.HistoryRecord{lie}
	with, without := w.source(t), w.source(t)
	without.Chain = nil
	for _, s := range []past.Source{with, without} {
		page, err := s.History(t.Context(), 8, "")
		if err != nil || len(page.Transactions) != 1 {
			t.Fatalf("%+v, %v", page, err)
		}
		x := page.Transactions[0]
		if _, seen := present.SeenStatus(x.Status); seen || present.IsSeenID(x.QuoteID) || x.Type == lie.Type {
			t.Errorf("%+v", x)
		}
	}
}

// A continuation that this list did not make begins the reading again, as one that a service forgot.
func TestAForeignContinuationBeginsAgain(t *testing.T) {
	s := newWorld().source(t)
	for _, next := range []string{"x", "seen.", "seen.e30", "seen.!", "seen.eyJ1IjpbeyJrIjotMX0se31dLCJzIjp7fX0"} {
		if _, err := s.History(t.Context(), 8, next); !client.LostPlace(err) {
			t.Errorf("%q: %v", next, err)
		}
	}
}

// One transaction has a row for each asset, its fee once, and what failed cost its fee alone. A link leads to the
// explorer of the chain on networks that have one.
func TestATransactionHasARowForEachAsset(t *testing.T) {
	w := newWorld()
	s := w.source(t)
	usdc := s.Chain.Catalog.On(caip.SolanaMainnet())
	var token caip.Asset
	for _, e := range usdc {
		if e.Symbol == "USDC" {
			token = e.Asset
		}
	}
	fee := func(sig string, x chainview.Transaction) []past.Row {
		s.Chain.Nodes = one{x}
		rows, err := s.Chain.Rows(t.Context(), []chainview.Moment{{}})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	sig := strings.Repeat("4", 88)
	rows := fee(sig, chainview.Transaction{Signature: sig, Slot: 9, Fee: big.NewInt(5000), Moves: []chainview.Move{
		{Asset: caip.SOL(), Amount: big.NewInt(-2e9)}, {Asset: token, Amount: big.NewInt(3e6)}}})
	if len(rows) != 2 || rows[0].Type != present.TypeSent || rows[0].Amount.Int64() != 2e9 ||
		rows[0].Note != "slot 9, fee 0.000005 SOL" || rows[1].Type != present.TypeReceived || rows[1].Note != "slot 9" {
		t.Errorf("%+v", rows)
	}
	got := s.Chain.Record(rows[1])
	if got.DestinationToken.Amount != "3000000" || got.DestinationToken.AggregatedAssetID != "ob:usdc" ||
		got.DestinationChainOperations[0].ExplorerURL != "https://solscan.io/tx/"+sig {
		t.Errorf("%+v", got)
	}
	s.Chain.Kind = network.Lab
	if page := s.Chain.Page(sig); page != "" {
		t.Error(page)
	}
	rows = fee(sig, chainview.Transaction{Signature: sig, Slot: 9, Fee: big.NewInt(5000), Failed: true})
	if len(rows) != 1 || rows[0].Amount.Sign() != 0 || !strings.HasSuffix(rows[0].Note, "it failed on the chain") {
		t.Errorf("%+v", rows)
	}
	rows = fee(sig, chainview.Transaction{Signature: sig, Slot: 9, Unknown: "your node does not have it any more"})
	if len(rows) != 1 || rows[0].Amount != nil || s.Chain.Record(rows[0]).OriginToken.Amount != "" {
		t.Errorf("%+v", rows)
	}
}

// one are nodes that saw one transaction.
type one struct{ chainview.Transaction }

func (o one) Listed(context.Context, chainview.Whose, chainview.Place, int) ([]chainview.Moment, bool, error) {
	return nil, true, nil
}

func (o one) Seen(context.Context, chainview.Whose, []chainview.Moment) ([]chainview.Transaction, error) {
	return []chainview.Transaction{o.Transaction}, nil
}
