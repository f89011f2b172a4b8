package solana

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"coffer/api/op/solmsg"
	"coffer/api/service/store"
)

// Seal is Chain.Seal; a fault is one of the database.
func (l *Ledger) Seal(ctx context.Context, req SealRequest) ([]Receipt, error) {
	l.sealing.Lock()
	defer l.sealing.Unlock()
	b, err := l.run(ctx, req.Time, false, req.Txs)
	if err != nil {
		return nil, err
	}
	if req.Accept != nil {
		if err := req.Accept(b.receipts); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNotAccepted, err)
		}
	}
	err = l.store.Update(func(tx store.Tx) error {
		if err := b.write(tx); err != nil {
			return err
		}
		if req.Record != nil {
			return req.Record(tx, b.receipts)
		}
		return nil
	})
	if err != nil {
		if l.catchUp(); *l.latest.Load() != b.start {
			l.index.Store(nil) // it lacks the commit
			l.announce()
		}
		return nil, err
	}
	next := b.next
	l.latest.Store(&next)
	if x := l.index.Load(); x != nil {
		x.extend(b)
	}
	l.announce()
	return b.receipts, nil
}

// catchUp makes the ledger show the head in the store: a commit that was reported as
// failed may have happened.
func (l *Ledger) catchUp() {
	_ = l.store.View(func(tx store.Tx) error { // a store that cannot be read leaves the head as it is
		h, err := readHead(tx)
		if err == nil {
			l.latest.Store(&h)
		}
		return nil
	})
}

// Simulate is Chain.Simulate.
func (l *Ledger) Simulate(ctx context.Context, at uint64, unsigned bool, txs ...Tx) ([]Receipt, error) {
	b, err := l.run(ctx, at, unsigned, txs)
	if err != nil {
		return nil, err
	}
	return b.receipts, nil
}

// batch executes the transactions of one request on a frozen version of the store. It
// writes nothing before write.
type batch struct {
	ledger   *Ledger
	view     store.Tx // ends with run
	unsigned bool
	start    head // that the batch builds on
	next     head
	accounts map[solmsg.Key]Account // changed so far
	seen     map[solmsg.Key]bool
	messages map[[32]byte][64]byte // processed in this batch
	taken    map[[64]byte]bool
	receipts []Receipt
	order    [][64]byte // signature of each receipt
	keys     [][]solmsg.Key
}

// run executes a request; its snapshot is released before anything is written.
func (l *Ledger) run(ctx context.Context, at uint64, unsigned bool, txs []Tx) (*batch, error) {
	snap, err := l.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snap.Release()
	b, err := l.runOn(snap, at, unsigned, txs)
	if err != nil {
		return nil, err
	}
	b.view = nil
	return b, snap.Err()
}

// runOn executes a request on a view.
func (l *Ledger) runOn(view store.Tx, at uint64, unsigned bool, txs []Tx) (*batch, error) {
	start, err := readHead(view)
	if err != nil {
		return nil, err
	}
	b := &batch{
		ledger: l, view: view, unsigned: unsigned, start: start, next: start,
		accounts: map[solmsg.Key]Account{}, seen: map[solmsg.Key]bool{}, messages: map[[32]byte][64]byte{},
		taken: map[[64]byte]bool{},
	}
	b.next.slot, b.next.time = l.slot(at, start), max(at, start.time)
	for i, t := range txs {
		refusal, fault := b.include(t)
		if fault != nil {
			return nil, fmt.Errorf("solana transaction %d: %w", i, fault)
		}
		if refusal != nil {
			return nil, &TxError{Index: i, Err: refusal}
		}
	}
	return b, nil
}

// account reads an account as the batch left it so far.
func (b *batch) account(k solmsg.Key) (Account, error) {
	if a, ok := b.accounts[k]; ok {
		return a, nil
	}
	return readAccount(b.view, k)
}

// include admits and executes one transaction. A refusal means that it cannot be
// included, a fault that the database cannot be read or contradicts itself.
func (b *batch) include(t Tx) (refusal, fault error) {
	m, refusal := b.admit(t)
	if refusal != nil {
		return refusal, nil
	}
	fee, refusal := feeOf(m)
	if refusal != nil {
		return refusal, nil
	}
	x := &execution{batch: b, message: m, changed: map[solmsg.Key]*Account{}, logs: []string{}}
	if refusal, fault = x.charge(fee); refusal != nil || fault != nil {
		return refusal, fault
	}
	paid := x.changed[m.FeePayer()].clone()
	failed, reason := x.instructions()
	if x.fault != nil {
		return nil, x.fault
	}
	if reason != nil {
		x.changed = map[solmsg.Key]*Account{m.FeePayer(): &paid}
	}
	changes, fault := x.settle(fee)
	if fault != nil {
		return nil, fault
	}
	var name *Fault
	if reason != nil {
		f, _ := FaultOf(reason)
		name = &f
	}
	r := Receipt{
		Slot: b.next.slot, Time: b.next.time, Fee: fee, Success: reason == nil, Error: text(reason),
		Instruction: failed,
		Logs:        x.logs, Message: m.Bytes(), Changes: changes,
		Number: b.next.count + 1, Fault: name, Inner: x.inner,
	}
	if err := x.balances(&r); err != nil {
		return nil, err
	}
	b.finish(t, m, x, r)
	return nil, nil
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// admit checks everything that decides whether a transaction may be included, except for
// the fee.
func (b *batch) admit(t Tx) (solmsg.Message, error) {
	m, err := solmsg.Parse(t.Message)
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrMessage, err)
	}
	if len(m.Lookups) > 0 {
		return m, ErrLookup
	}
	signers := m.Signers()
	if size := 1 + ed25519.SignatureSize*len(signers) + len(t.Message); size > solmsg.MaxSize {
		return m, fmt.Errorf("%w: with its signatures it has %d bytes, %d fit", ErrMessage, size, solmsg.MaxSize)
	}
	if len(t.Signatures) != len(signers) && (!b.unsigned || len(t.Signatures) > 0) {
		return m, fmt.Errorf("%w: %d instead of %d", ErrSignature, len(t.Signatures), len(signers))
	}
	if !b.ledger.recent(m.Blockhash, b.next.slot) {
		return m, ErrBlockhash
	}
	digest := sha256.Sum256(t.Message)
	if _, here := b.messages[digest]; here || b.view.Bucket(bucketMessages).Get(digest[:]) != nil {
		return m, ErrProcessed
	}
	if b.unsigned {
		return m, nil
	}
	for i, k := range signers {
		if !m.Verify(k, t.Signatures[i]) {
			return m, fmt.Errorf("%w: that of %s", ErrSignature, k)
		}
	}
	// A key of small order can give two messages one signature.
	if first := t.Signatures[0]; b.taken[first] || b.view.Bucket(bucketTransactions).Get(first[:]) != nil {
		return m, ErrProcessed
	}
	return m, nil
}

// finish keeps what a transaction led to.
func (b *batch) finish(t Tx, m solmsg.Message, x *execution, r Receipt) {
	sigs := append(make([][64]byte, 0, len(m.Signers())), t.Signatures...)
	sigs = sigs[:len(m.Signers())] // zeros where an unsigned simulation has none
	for _, s := range sigs {
		r.Signatures = append(r.Signatures, solmsg.FormatSignature(s))
	}
	r.Signature = r.Signatures[0]
	for k, a := range x.changed {
		b.accounts[k] = *a
		b.seen[k] = true
		if tok, ok := asToken(*a); ok {
			b.seen[tok.owner()] = true
		}
	}
	for _, k := range m.Signers() {
		b.seen[k] = true
	}
	b.messages[sha256.Sum256(t.Message)] = sigs[0]
	b.taken[sigs[0]] = true
	b.next.count++
	b.next.burned += r.Fee
	b.receipts = append(b.receipts, r)
	b.order = append(b.order, sigs[0])
	b.keys = append(b.keys, m.Keys)
}

// write stores what the batch led to.
func (b *batch) write(tx store.Tx) error {
	now, err := readHead(tx)
	if err != nil {
		return err
	}
	if now != b.start {
		return ErrConflict
	}
	accounts := tx.Bucket(bucketAccounts)
	for k, a := range b.accounts {
		if a.Lamports == 0 {
			err = accounts.Delete(k[:])
		} else {
			err = accounts.Put(k[:], a.encode())
		}
		if err != nil {
			return err
		}
	}
	seen := tx.Bucket(bucketSeen)
	for k := range b.seen {
		if seen.Get(k[:]) != nil {
			continue
		}
		if err := seen.Put(k[:], []byte{1}); err != nil {
			return err
		}
	}
	for digest, sig := range b.messages {
		if err := tx.Bucket(bucketMessages).Put(digest[:], sig[:]); err != nil {
			return err
		}
	}
	for i, r := range b.receipts {
		v, err := encodeReceipt(r)
		if err != nil {
			return err
		}
		if err := tx.Bucket(bucketTransactions).Put(b.order[i][:], v); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketLedger).Put([]byte(keyHead), b.next.encode())
}
