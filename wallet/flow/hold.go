package flow

import (
	"context"
	"errors"

	"coffer/wallet/journal"
)

// hold takes the journal for the running step and reads what other processes recorded. When another process went on
// with this operation, the operation is put where that process left it, and the error is ErrMoved.
func (o *Operation) hold(ctx context.Context) (release func(), err error) {
	if release, err = o.f.d.Journal.Hold(ctx); err != nil {
		return nil, err
	}
	if rec, moved := o.moved(); moved {
		release()
		o.adopt(rec)
		return nil, ErrMoved
	}
	return release, nil
}

// moved reports whether the journal has other records of the operation than this process knows.
func (o *Operation) moved() (journal.Operation, bool) {
	rec, found := o.f.d.Journal.Operation(o.ID())
	o.mu.Lock()
	defer o.mu.Unlock()
	return rec, found && rec.Records != o.records
}

// follow puts an idle operation where another process left it.
func (o *Operation) follow(rec journal.Operation) {
	if !o.step.TryLock() {
		return // its step will see
	}
	defer o.step.Unlock()
	o.mu.Lock()
	moved := rec.Records > o.records
	o.mu.Unlock()
	if moved {
		o.adopt(rec)
	}
}

// record appends a record of this operation.
func (o *Operation) record(state journal.State, e journal.Entry) error {
	if err := o.f.d.Journal.Append(o.ID(), state, e); err != nil {
		return err
	}
	o.mu.Lock()
	o.records++
	o.mu.Unlock()
	return nil
}

// Yield abandons every operation but one that has the same intent and that nothing was signed for, in the step that the
// caller holds: of two processes that carry out one intent the later one goes on, and the other finds that its
// operation was moved. Errors are the journal's.
func (f *Flow) Yield(id, intentHash string) error {
	for _, rec := range f.d.Journal.Operations() {
		if rec.ID == id || rec.IntentHash != intentHash || rec.State.Terminal() || len(rec.Signatures) > 0 {
			continue
		}
		left := journal.Entry{Note: "another process carries out the same intent"}
		if err := f.d.Journal.Append(rec.ID, journal.Abandoned, left); err != nil {
			return err
		}
	}
	return nil
}

// unheld ends a step that did not get the journal, or failed with it: the operation is in state, unless another process
// moved it.
func (o *Operation) unheld(state State, err error) (Snapshot, error) {
	if errors.Is(err, ErrMoved) {
		if words := o.Snapshot().Problem; words != "" {
			return o.Snapshot(), err
		}
		state = ""
	}
	return o.fail(state, err)
}

// later is the answer to a question whose result cannot be recorded now: what another process recorded counts, and
// while that process is in a step this one asks again.
func (o *Operation) later(err error) (Snapshot, bool, error) {
	switch {
	case errors.Is(err, ErrMoved):
		s := o.Snapshot()
		return s, s.State.Terminal(), nil
	case errors.Is(err, journal.ErrLocked):
		return o.unknown(err, nil)
	}
	return o.failed(err)
}

// countOthers counts the signatures of other operations, when there is a cap that counts them.
func (o *Operation) countOthers() int {
	if o.f.d.Policy.Limits.MaxSpendPerDay == nil {
		return 0
	}
	n, id := 0, o.ID()
	for _, x := range o.f.d.Journal.Operations() {
		if x.ID != id {
			n += len(x.Signatures)
		}
	}
	return n
}

// within refuses to sign when other operations were signed since the cap of the day was judged.
func (o *Operation) within() error {
	if o.countOthers() != o.others {
		return ErrSpent
	}
	return nil
}
