package outbox_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/outbox"
	"coffer/api/service/store"
)

type step = outbox.Step[string, int]

// later is a port where nothing is final at once: a step that Check and Gate let out has these receipts in the end.
type later struct {
	receipts []int
	err      error
	asked    string
}

func (p *later) Send(_ context.Context, s step) (bool, error) { return false, s.Check([]int{0}) }

func (p *later) Result(_ context.Context, id string) ([]int, error) {
	p.asked = id
	return p.receipts, p.err
}

// odd refuses receipts that are odd.
func odd(rs []int) error {
	if slices.ContainsFunc(rs, func(r int) bool { return r%2 != 0 }) {
		return errOdd
	}
	return nil
}

var errOdd = errors.New("an odd receipt")

func TestWhatComesToNothingOnASlowChainIsNotAccepted(t *testing.T) {
	p := &later{receipts: []int{2, 4}}
	got, err := outbox.Do(t.Context(), p, step{ID: "a", Check: odd})
	if err != nil || !slices.Equal(got, []int{2, 4}) || p.asked != "a" {
		t.Errorf("%v, %v of %q", got, err, p.asked)
	}
	p.receipts = []int{2, 3}
	got, err = outbox.Do(t.Context(), p, step{ID: "b", Check: odd})
	if !errors.Is(err, chain.ErrNotAccepted) || !errors.Is(err, errOdd) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	p.err = context.Canceled
	if _, err = outbox.Do(t.Context(), p, step{ID: "c", Check: odd}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// ledger is an embedded Solana that seals receipts without looking.
type ledger struct {
	solana.Chain
	receipts []solana.Receipt
	sealed   []uint64
}

func (l *ledger) Seal(_ context.Context, r solana.SealRequest) ([]solana.Receipt, error) {
	if err := r.Accept(l.receipts); err != nil {
		return nil, errors.Join(solana.ErrNotAccepted, err)
	}
	l.sealed = append(l.sealed, r.Time)
	return l.receipts, store.NewMemory().Update(func(tx store.Tx) error { return r.Record(tx, l.receipts) })
}

func TestAnEmbeddedStepIsFinalWithItsRecordOrNothing(t *testing.T) {
	l := &ledger{receipts: []solana.Receipt{{Slot: 7}}}
	port := outbox.Embedded(nil, l).Solana
	var order []string
	var gate error
	s := outbox.SolanaStep{
		Time:  1000,
		Check: func([]solana.Receipt) error { order = append(order, "check"); return nil },
		Gate:  func() error { order = append(order, "gate"); return gate },
		Sent:  func(store.Tx) error { t.Error("a final step was committed as one that was sent"); return nil },
		Final: func(rs []solana.Receipt) outbox.Change {
			return func(store.Tx) error {
				order = append(order, "record")
				if len(rs) != 1 || rs[0].Slot != 7 {
					t.Errorf("receipts %v", rs)
				}
				return nil
			}
		},
	}
	if final, err := port.Send(t.Context(), s); !final || err != nil {
		t.Errorf("final %t, %v", final, err)
	}
	if !slices.Equal(order, []string{"check", "gate", "record"}) || !slices.Equal(l.sealed, []uint64{1000}) {
		t.Errorf("%v at %v", order, l.sealed)
	}
	gate = errOdd
	if final, err := port.Send(t.Context(), s); final || !errors.Is(err, errOdd) || len(l.sealed) != 1 {
		t.Errorf("behind a closed gate: final %t, %v", final, err)
	}
	if _, err := port.Result(t.Context(), "a"); err == nil {
		t.Error("an embedded chain knows what became of a step that was not final")
	}
	if _, err := outbox.Do(t.Context(), port, outbox.SolanaStep{Check: s.Check}); err != nil {
		t.Errorf("without a record: %v", err)
	}
}
