package landing

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"coffer/api/service/chain/solana"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

// nodes are those of a chain that does what a test says.
type nodes struct {
	sent       int
	height     uint64
	landed     *solana.Receipt
	absent     bool
	err        error
	trial      solana.Receipt
	refused    error
	absentAsks int
}

func (n *nodes) Simulate(context.Context, uint64, bool, ...solana.Tx) ([]solana.Receipt, error) {
	return []solana.Receipt{n.trial}, n.refused
}

func (n *nodes) Send(context.Context, solana.Tx) error {
	n.sent++
	return errors.New("the node is behind") // which says nothing
}

func (n *nodes) Landed(context.Context, solana.Tx) (solana.Receipt, bool, error) {
	if n.landed == nil {
		return solana.Receipt{}, false, n.err
	}
	return *n.landed, true, n.err
}

func (n *nodes) FinalHeight(context.Context) (uint64, error) { return n.height, n.err }
func (n *nodes) FinalSlot(context.Context) (uint64, error)   { return 1, nil }

func (n *nodes) Absent(context.Context, solana.Tx, uint64) (bool, error) {
	n.absentAsks++
	return n.absent, nil
}

func world(t *testing.T) (*Port, *nodes, outbox.SolanaStep) {
	t.Helper()
	n := &nodes{trial: solana.Receipt{Success: true}, height: 50}
	p := New(Options{Store: store.NewMemory(), Nodes: n, Poll: time.Millisecond})
	return p, n, outbox.SolanaStep{ID: "a step", Txs: []solana.Tx{{Message: []byte{1}, Signatures: [][64]byte{{2}},
		LastHeight: 100}}, Check: solana.AllSucceed, Sent: func(store.Tx) error { return nil }}
}

// The bytes are in the store before they go out, with the record of the caller, or neither is.
func TestNothingGoesOutThatIsNotCommitted(t *testing.T) {
	p, n, s := world(t)
	broken := errors.New("the record cannot be written")
	s.Sent = func(store.Tx) error { return broken }
	if _, err := p.Send(t.Context(), s); !errors.Is(err, broken) || n.sent != 0 {
		t.Errorf("%v, sent %d times", err, n.sent)
	}
	if r, err := p.read(s.ID); r != nil || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	s.Sent = func(store.Tx) error { return nil }
	if final, err := p.Send(t.Context(), s); final || err != nil || n.sent != 1 {
		t.Errorf("%t, %v, sent %d times", final, err, n.sent)
	}
	if _, err := p.Send(t.Context(), s); !errors.Is(err, outbox.ErrOpen) || n.sent != 1 {
		t.Errorf("again: %v, sent %d times", err, n.sent)
	}
}

func TestWhatWouldFailIsNotSent(t *testing.T) {
	p, n, s := world(t)
	n.trial.Success = false
	if _, err := p.Send(t.Context(), s); !errors.Is(err, solana.ErrNotAccepted) || n.sent != 0 {
		t.Errorf("%v, sent %d times", err, n.sent)
	}
	n.refused = &solana.TxError{Err: solana.ErrBlockhash}
	if _, err := p.Send(t.Context(), s); !errors.Is(err, solana.ErrBlockhash) || n.sent != 0 {
		t.Errorf("%v, sent %d times", err, n.sent)
	}
	for _, txs := range [][]solana.Tx{nil, {{}}, {s.Txs[0], s.Txs[0]}, {{Signatures: [][64]byte{{1}}}}} {
		s.Txs = txs
		if _, err := p.Send(t.Context(), s); err == nil {
			t.Errorf("%+v goes out", txs)
		}
	}
}

// A process that begins anew sends the same bytes, and gives up only what is in no history after its last height.
func TestWhatWasSentIsOverWithItsHeightAndNotBefore(t *testing.T) {
	p, n, s := world(t)
	if _, err := p.Send(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p = New(p.Options) // after a crash
	wait := func(d time.Duration) ([]solana.Receipt, error) {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		return p.Result(ctx, s.ID)
	}
	n.absent = true
	for _, height := range []uint64{50, 100} {
		n.height = height
		if _, err := wait(30 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || n.absentAsks != 0 {
			t.Fatalf("at height %d: %v", height, err)
		}
	}
	if n.sent < 3 {
		t.Errorf("sent %d times", n.sent)
	}
	n.height, n.absent = 101, false // it is in some history
	if _, err := wait(30 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || n.absentAsks == 0 {
		t.Fatal(err)
	}
	n.absent, n.err = true, errors.New("nodes differ")
	if _, err := wait(30 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	n.err = nil
	sent := n.sent
	if _, err := wait(time.Minute); !errors.Is(err, solana.ErrBlockhash) || n.sent != sent {
		t.Fatalf("%v, sent %d times more", err, n.sent-sent)
	}
	n.landed = &solana.Receipt{Success: true} // what was given up stays so
	if _, err := wait(time.Minute); !errors.Is(err, solana.ErrBlockhash) {
		t.Fatal(err)
	}
}

func TestAReceiptIsKeptForEver(t *testing.T) {
	p, n, s := world(t)
	if _, err := p.Send(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	n.landed, n.height = &solana.Receipt{Success: false, Error: "why", Fee: 6_000, Signature: "x"}, 500
	for range 2 {
		rs, err := p.Result(t.Context(), s.ID)
		if err != nil || len(rs) != 1 || rs[0].Fee != 6_000 || rs[0].Error != "why" {
			t.Fatalf("%+v, %v", rs, err)
		}
		n.landed = nil
	}
	if _, err := p.Result(t.Context(), "another"); err == nil {
		t.Error("a step that was never sent has a result")
	}
}

// A record that was not written here is refused, and no more is read of it than what was written.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"tx":{"Message":"AQ==","Signatures":[[1]],"LastHeight":9},"since":4}`))
	f.Add([]byte(`{"tx":{"Message":"AQ==","Signatures":[[1]],"LastHeight":9},"expired":true,"final":{"fee":5}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := decode(raw)
		if err != nil {
			if !errors.Is(err, errRecord) || r != nil {
				t.Fatalf("%+v, %v", r, err)
			}
			return
		}
		if len(r.Tx.Signatures) == 0 || r.Tx.LastHeight == 0 || r.Expired && r.Final != nil ||
			slices.Equal(r.Tx.Message, nil) {
			t.Fatalf("%+v", r)
		}
	})
}
