package journal

import (
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/wallet/verify"
)

// reading begins a look at what is known, with what other processes appended; the result ends it.
func (j *Journal) reading() (end func()) {
	j.mu.Lock()
	begun := false
	defer func() {
		if !begun { // a panic must not keep the journal from being closed
			j.mu.Unlock()
		}
	}()
	j.refresh()
	begun = true
	return j.mu.Unlock
}

// Operations returns the latest state of every operation, oldest first.
func (j *Journal) Operations() []Operation {
	defer j.reading()()
	return j.book.list()
}

// Operation returns the latest state of one operation.
func (j *Journal) Operation(id string) (Operation, bool) {
	defer j.reading()()
	o, ok := j.book.ops[id]
	if !ok {
		return Operation{}, false
	}
	return o.copy(), true
}

// Outstanding lists every signature that is not known to be used and whose time is not over (TH-J4). The authorizations
// beside operations are entries of their own with RoleDelegation.
func (j *Journal) Outstanding(now time.Time) []Outstanding {
	defer j.reading()()
	return j.book.outstanding(now)
}

// Closed lists the signatures that would still be on the list of Outstanding, had the person's own nodes not seen that
// their nonces are used.
func (j *Journal) Closed(now time.Time) []Closed {
	defer j.reading()()
	return j.book.closed(now)
}

// LiveNonces is part of verify.History.
func (j *Journal) LiveNonces(sender common.Address, chainID uint64, lane uint16, now time.Time) []*big.Int {
	defer j.reading()()
	return j.book.liveNonces(sender, chainID, lane, now)
}

// NextSequence is part of verify.History.
func (j *Journal) NextSequence(sender common.Address, chainID uint64, lane uint16) (uint64, bool) {
	defer j.reading()()
	return j.book.nextSequence(sender, chainID, lane, j.o.Clock())
}

// SeenQuote is part of verify.History.
func (j *Journal) SeenQuote(id string) bool {
	defer j.reading()()
	return j.book.quotes[strings.ToLower(id)]
}

// Recipients is part of verify.History.
func (j *Journal) Recipients() []string {
	defer j.reading()()
	return j.book.recipients()
}

// Spent is part of verify.History: what was signed since then and counts against the caps, summed by asset, whatever
// the service says became of it (TH-Y5).
func (j *Journal) Spent(since time.Time) []verify.Spend {
	defer j.reading()()
	return j.book.spent(since, j.o.Clock(), beside{})
}

// SpentBeside is Spent for judging the next step of one operation: without the signatures that the step replaces. These
// are its payments that were never sent and, when it is prepared, the open prepared call; with prepared, when it is
// quoted, that call counts. What was sent for an earlier quote always counts.
func (j *Journal) SpentBeside(op string, prepared bool, since time.Time) []verify.Spend {
	defer j.reading()()
	return j.book.spent(since, j.o.Clock(), beside{op, prepared})
}

// NextAuthorization is part of verify.History.
func (j *Journal) NextAuthorization(eoa common.Address, chainID uint64) (uint64, bool) {
	defer j.reading()()
	return j.book.nextAuthorization(eoa, chainID, j.o.Clock())
}

// Open is part of verify.History: the signatures of operations that can still be used, with the intents they were given
// for. Authorizations, which are in nobody's way, and what a person voided are not among them. Where the service's word
// ends a signature only what a repair opened again is listed.
func (j *Journal) Open(now time.Time) []verify.Open {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.book.open(now)
}

// Sent is part of verify.History; no operation is judged, so there is nothing that it sent.
func (j *Journal) Sent() []verify.Open { return nil }

// SentFor lists what an operation sent, calls and payments, whatever became of it.
func (j *Journal) SentFor(op string) []verify.Open {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.book.sentFor(op)
}

// Lanes lists every lane of which the journal knows something, by chain, account and lane.
func (j *Journal) Lanes(now time.Time) []LaneFacts {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.book.laneFacts(now)
}
