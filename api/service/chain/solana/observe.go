package solana

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"coffer/api/op/solmsg"
	"coffer/api/service/store"
)

// Changed is closed by the next commit. Take it before reading what may change.
func (l *Ledger) Changed() <-chan struct{} { return *l.changed.Load() }

// announce tells who waits for a commit.
func (l *Ledger) announce() {
	next := make(chan struct{})
	close(*l.changed.Swap(&next))
}

// YieldToWriter is that of the store: who reads calls it first.
func (l *Ledger) YieldToWriter() { l.store.YieldToWriter() }

// Slot is the slot at a clock reading in Unix seconds.
func (l *Ledger) Slot(at uint64) uint64 { return l.slot(at, *l.latest.Load()) }

// SlotTime is the first second of a slot.
func (l *Ledger) SlotTime(slot uint64) uint64 {
	return l.spec.Time + (2*slot+slotsPerTwoSeconds-1)/slotsPerTwoSeconds
}

// Fee is what a message costs; the error wraps ErrBudget or ErrPayer when it cannot be included.
func Fee(m solmsg.Message) (uint64, error) { return feeOf(m) }

// Trial asks what a transaction would do.
type Trial struct {
	Time     uint64
	Tx       Tx
	Unsigned bool         // skips the signature checks
	Accounts []solmsg.Key // that are wanted as the transaction leaves them
}

// Try runs a transaction as Seal would and throws everything away. The error may be a *TxError.
func (l *Ledger) Try(_ context.Context, t Trial) (r Receipt, after []Account, err error) {
	err = l.store.View(func(tx store.Tx) error {
		b, err := l.runOn(tx, t.Time, t.Unsigned, []Tx{t.Tx})
		if err != nil {
			return err
		}
		r = b.receipts[0]
		for _, k := range t.Accounts {
			a, err := b.account(k)
			if err != nil {
				return err
			}
			after = append(after, a)
		}
		return nil
	})
	return r, after, err
}

// TokenState is what an account of SPL Token holds.
type TokenState struct {
	Mint, Owner       solmsg.Key
	Amount, Delegated uint64
	Delegate          *solmsg.Key
}

// AsToken reads a token account; false when the account is none.
func AsToken(a Account) (TokenState, bool) {
	t, ok := asToken(a)
	if !ok {
		return TokenState{}, false
	}
	out := TokenState{Mint: t.mint(), Owner: t.owner(), Amount: t.amount(), Delegated: t.delegated()}
	if k, ok := t.delegate(); ok {
		out.Delegate = &k
	}
	return out, true
}

// AsMint reads a mint; false when the account is none.
func AsMint(a Account) (supply uint64, decimals uint8, ok bool) {
	m, ok := asMint(a)
	if !ok {
		return 0, 0, false
	}
	return m.supply(), m.decimals(), true
}

// IsProgram reports whether the ledger runs the program at this key.
func IsProgram(k solmsg.Key) bool { return offered(k) }

// index finds transactions by the accounts that they name, and token accounts by their owners. It is built from the
// store when it is asked for the first time, and every commit adds to it. Nothing of it is stored.
type index struct {
	mu     sync.RWMutex
	txs    [][64]byte                  // first signatures in the order of the ledger
	place  map[[64]byte]int            // in txs
	naming map[solmsg.Key][]int        // places of the transactions that name an account, ascending
	owned  map[solmsg.Key][]solmsg.Key // token accounts that an owner has or had
	known  map[solmsg.Key]bool         // token accounts in owned

	building bool
	waiting  []*batch // commits of while the index is built
}

// indexed returns the index. Commits go on while it is built.
func (l *Ledger) indexed() (*index, error) {
	l.indexing.Lock()
	defer l.indexing.Unlock()
	if x := l.index.Load(); x != nil {
		return x, nil
	}
	x := &index{place: map[[64]byte]int{}, naming: map[solmsg.Key][]int{}, owned: map[solmsg.Key][]solmsg.Key{},
		known: map[solmsg.Key]bool{}, building: true}
	l.sealing.Lock() // a commit is in the store by now, or waits in the index
	l.index.Store(x)
	l.sealing.Unlock()
	if err := x.build(l.store); err != nil {
		l.index.Store(nil)
		return nil, err
	}
	return x, nil
}

// indexEntry is a transaction in the store.
type indexEntry struct {
	sig          [64]byte
	slot, number uint64
	keys         []solmsg.Key
}

// build reads all receipts and accounts. Receipts of before their numbers were kept come in the order of slot and
// signature.
func (x *index) build(s store.Store) error {
	var all []indexEntry
	err := inParts(s, bucketTransactions, func(k, v []byte) error {
		r, err := decodeReceipt(v)
		if err != nil {
			return err
		}
		m, err := solmsg.Parse(r.Message)
		if err != nil || len(k) != 64 {
			return errors.Join(damaged("transaction"), err)
		}
		all = append(all, indexEntry{[64]byte(k), r.Slot, r.Number, m.Keys})
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(all, func(a, b indexEntry) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.number, b.number), bytes.Compare(a.sig[:], b.sig[:]))
	})
	err = inParts(s, bucketAccounts, func(k, v []byte) error {
		a, err := decodeAccount(v)
		if err == nil {
			x.own(solmsg.Key(k), a)
		}
		return err
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	late := map[[64]byte]bool{} // in the store, too
	for _, b := range x.waiting {
		for _, sig := range b.order {
			late[sig] = true
		}
	}
	for _, e := range all {
		if !late[e.sig] {
			x.add(e.sig, e.keys)
		}
	}
	for _, b := range x.waiting {
		x.take(b)
	}
	x.building, x.waiting = false, nil
	return err
}

// inParts reads a bucket in views of a few hundred records, so that no commit waits for all of them.
func inParts(s store.Store, bucket string, each func(k, v []byte) error) error {
	for next := []byte(nil); ; {
		s.YieldToWriter()
		var last []byte
		err := s.View(func(tx store.Tx) (err error) {
			n := 0
			tx.Bucket(bucket).Ascend(next, func(k, v []byte) bool {
				if n++; n > recordsInPart {
					last = bytes.Clone(k)
					return false
				}
				err = each(k, v)
				return err == nil
			})
			return err
		})
		if err != nil || last == nil {
			return err
		}
		next = last
	}
}

const recordsInPart = 256

func (x *index) add(sig [64]byte, keys []solmsg.Key) {
	x.place[sig] = len(x.txs)
	for _, k := range keys {
		x.naming[k] = append(x.naming[k], len(x.txs))
	}
	x.txs = append(x.txs, sig)
}

func (x *index) own(k solmsg.Key, a Account) {
	t, ok := asToken(a)
	if !ok || x.known[k] {
		return
	}
	x.known[k] = true
	x.owned[t.owner()] = append(x.owned[t.owner()], k)
}

// extend adds what a batch led to.
func (x *index) extend(b *batch) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.building {
		x.waiting = append(x.waiting, b)
		return
	}
	x.take(b)
}

func (x *index) take(b *batch) {
	for i, sig := range b.order {
		x.add(sig, b.keys[i])
	}
	for k, a := range b.accounts {
		x.own(k, a)
	}
}

// ErrUnknown is returned for a signature that the ledger does not have.
var ErrUnknown = errors.New("the ledger has no such transaction")

// History lists transactions that name an account, newest first: those before one signature and after another, where
// they are not nil. It fails with ErrUnknown.
func (l *Ledger) History(k solmsg.Key, before, until *[64]byte, most int) ([]Receipt, error) {
	x, err := l.indexed()
	if err != nil {
		return nil, err
	}
	sigs, err := x.history(k, before, until, most)
	if err != nil {
		return nil, err
	}
	return l.receipts(sigs)
}

func (x *index) history(k solmsg.Key, before, until *[64]byte, most int) ([][64]byte, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := x.naming[k]
	end, begin := len(all), 0
	for _, bound := range []*[64]byte{before, until} {
		if bound == nil {
			continue
		}
		place, ok := x.place[*bound]
		if !ok {
			return nil, ErrUnknown
		}
		i, found := slices.BinarySearch(all, place)
		if bound == before {
			end = i
			continue
		}
		if begin = i; found {
			begin++
		}
	}
	var out [][64]byte
	for i := end - 1; i >= begin && len(out) < most; i-- {
		out = append(out, x.txs[all[i]])
	}
	return out, nil
}

// Since lists the transactions from a place in the ledger's order, and the place after them; from a negative place it
// lists none.
func (l *Ledger) Since(place int) (all []Receipt, next int, err error) {
	x, err := l.indexed()
	if err != nil {
		return nil, 0, err
	}
	x.mu.RLock()
	next = len(x.txs)
	var sigs [][64]byte
	if place >= 0 && place < next {
		sigs = slices.Clone(x.txs[place:next])
	}
	x.mu.RUnlock()
	all, err = l.receipts(sigs)
	return all, next, err
}

func (l *Ledger) receipts(sigs [][64]byte) (out []Receipt, err error) {
	err = l.store.View(func(tx store.Tx) error {
		for _, sig := range sigs {
			r, err := decodeReceipt(tx.Bucket(bucketTransactions).Get(sig[:]))
			if err != nil {
				return err
			}
			out = append(out, r)
		}
		return nil
	})
	return out, err
}

// TokenAccounts lists the token accounts of an owner, in the order of their keys.
func (l *Ledger) TokenAccounts(owner solmsg.Key) (keys []solmsg.Key, accounts []Account, err error) {
	x, err := l.indexed()
	if err != nil {
		return nil, nil, err
	}
	x.mu.RLock()
	had := slices.Clone(x.owned[owner])
	x.mu.RUnlock()
	slices.SortFunc(had, func(a, b solmsg.Key) int { return bytes.Compare(a[:], b[:]) })
	err = l.store.View(func(tx store.Tx) error {
		for _, k := range had {
			a, err := readAccount(tx, k)
			if err != nil {
				return err
			}
			if t, ok := asToken(a); ok && t.owner() == owner { // it may be closed
				keys, accounts = append(keys, k), append(accounts, a)
			}
		}
		return nil
	})
	return keys, accounts, err
}
