package chainview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/rpcpool"
)

// PastBound is how long a question about the past of a Solana account may take.
const PastBound = 10 * time.Second

const (
	listedAtOnce = 100 // transactions of an address that a node is asked for at once
	mostLists    = 10  // such questions for one address in one reading
	mostInSlot   = 500 // transactions of an account in one slot
	askedAtOnce  = 8   // transactions that are read side by side
	mostKept     = 2_000
	agreeAgain   = 2 // times that the newest are listed again where nodes differ
	agreePause   = 700 * time.Millisecond
)

// Whose is an account on Solana whose past is read, with the tokens whose associated accounts are looked at.
type Whose struct {
	Account solmsg.Key
	Mints   []solmsg.Key
}

// Place is where a reading goes on: below a slot, and for each address that is looked at behind the last transaction
// that was listed of it, "" for none. The zero value is the newest.
type Place struct {
	Slot   uint64   `json:"s"`
	Before []string `json:"b"`
}

// Moment are the transactions of one slot, in which an account or its token accounts had a part. At is zero where the
// nodes do not know when that was. After is where a reading goes on behind it.
type Moment struct {
	Slot       uint64
	At         time.Time
	Signatures []string
	After      Place
}

// Transaction is what a final transaction did to an account. Moves leaves out the fee; Fee is what the account paid for
// it in lamports, zero where another did. Quote is the memo of a message that the account itself signed, "" without
// one. Unknown is why it is not known what moved: then Moves and Fee are nil.
type Transaction struct {
	Signature string
	Slot      uint64
	At        time.Time
	Moves     []Move
	Fee       *big.Int
	Failed    bool
	Quote     string
	Unknown   string
}

// Move is what came in of an asset, in base units; what went out is below zero.
type Move struct {
	Asset  caip.Asset
	Amount *big.Int
}

// past reads a Solana chain. What was read of a final transaction is kept: it stays as it is.
type past struct {
	pool *rpcpool.Pool
	mu   sync.Mutex
	kept map[keptKey]Transaction
}

type keptKey struct {
	account   solmsg.Key
	signature string
}

// errPast says that an answer has not the form of its method.
var errPast = errors.New("the answer of your node has another form")

// SeesSolana reports whether nodes of a Solana chain are named.
func (v *View) SeesSolana() bool { return v != nil && v.past != nil }

// Listed asks for final transactions of an account and of its token accounts, the newest first, from a place on: whole
// moments, until there are at least most transactions; end says that there are no more. The error is *TroubleError.
func (v *View) Listed(ctx context.Context, w Whose, from Place, most int) (list []Moment, end bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, PastBound)
	defer cancel()
	r := reading{past: v.past, slot: from.Slot, begun: len(from.Before) > 0}
	if err = r.open(w, from.Before); err == nil {
		list, end, err = r.moments(ctx, most)
	}
	if err != nil {
		err = &TroubleError{troubleWithin(ctx, PastBound, err), err}
	}
	return list, end, err
}

// reading merges the lists of several addresses.
type reading struct {
	*past
	slot  uint64 // nothing is taken from it on
	begun bool
	of    []*addressed
}

// addressed is the list of one address.
type addressed struct {
	key    solmsg.Key
	before string // the last that was taken
	asked  string // the last that was read
	lists  int
	ahead  []listedEntry
	ended  bool
}

func (r *reading) open(w Whose, before []string) error {
	keys, err := w.addresses()
	if err != nil {
		return err
	}
	if r.begun && len(before) != len(keys) {
		return errors.New("the list of tokens has changed")
	}
	for i, k := range keys {
		a := &addressed{key: k}
		if r.begun {
			a.before, a.asked = before[i], before[i]
		}
		r.of = append(r.of, a)
	}
	return nil
}

// addresses are those that a transaction names when it moves something of the account.
func (w Whose) addresses() ([]solmsg.Key, error) {
	keys := []solmsg.Key{w.Account}
	for _, mint := range w.Mints {
		at, err := solmsg.AssociatedTokenAccount(w.Account, mint, solmsg.TokenProgram())
		if err != nil {
			return nil, err
		}
		keys = append(keys, at)
	}
	return keys, nil
}

func (r *reading) moments(ctx context.Context, most int) (list []Moment, end bool, err error) {
	for n := 0; n < most; {
		if err := r.fill(ctx); err != nil {
			return nil, false, err
		}
		m, found, err := r.next(ctx)
		if err != nil {
			return nil, false, err
		}
		if !found {
			return list, true, nil
		}
		list, n = append(list, m), n+len(m.Signatures)
	}
	return list, false, nil
}

// fill reads on where nothing is ahead, of all addresses at once.
func (r *reading) fill(ctx context.Context) error {
	group, all := errgroup.WithContext(ctx)
	for _, a := range r.of {
		group.Go(func() error { return r.read(all, a) })
	}
	return group.Wait()
}

// read reads a list until something is ahead in it, or it ends.
func (r *reading) read(ctx context.Context, a *addressed) error {
	for len(a.ahead) == 0 && !a.ended {
		if a.lists++; a.lists > mostLists {
			return errors.New("your node lists too many transactions at once")
		}
		got, err := r.list(ctx, a.key, a.asked)
		if err != nil {
			return err
		}
		if !listedWell(got, a.asked) {
			return fmt.Errorf("getSignaturesForAddress: %w", errPast)
		}
		a.ended = len(got) < listedAtOnce
		if len(got) > 0 {
			a.asked = got[len(got)-1].Signature
		}
		// What came after the reading began is for the next one.
		a.ahead = slices.DeleteFunc(got, func(e listedEntry) bool { return r.begun && e.Slot >= r.slot })
	}
	return nil
}

// list is what a quorum lists of an address. Nodes finalize a block at moments of their own, so for the newest ones
// that differ are asked again, a little later.
func (p *past) list(ctx context.Context, of solmsg.Key, before string) (got []listedEntry, err error) {
	for again := agreeAgain; ; again-- {
		got = nil
		err = p.pool.Agreed(ctx, &got, "getSignaturesForAddress", of.String(),
			listing{"finalized", listedAtOnce, before})
		var split *rpcpool.NoQuorumError
		if before != "" || again == 0 || !errors.As(err, &split) || len(split.Groups) < 2 {
			return got, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(agreePause):
		}
	}
}

// next takes everything of the newest slot.
func (r *reading) next(ctx context.Context) (m Moment, found bool, err error) {
	for _, a := range r.of {
		if len(a.ahead) > 0 && (!found || a.ahead[0].Slot > m.Slot) {
			m.Slot, found = a.ahead[0].Slot, true
		}
	}
	if !found {
		return m, false, nil
	}
	for _, a := range r.of {
		for len(a.ahead) > 0 && a.ahead[0].Slot == m.Slot {
			e := a.ahead[0]
			a.ahead, a.before = a.ahead[1:], e.Signature
			if !slices.Contains(m.Signatures, e.Signature) {
				m.Signatures = append(m.Signatures, e.Signature)
			}
			if e.BlockTime != nil {
				m.At = time.Unix(*e.BlockTime, 0)
			}
			if len(m.Signatures) > mostInSlot {
				return m, false, errors.New("your node lists too many transactions of one moment")
			}
			if err := r.read(ctx, a); err != nil {
				return m, false, err
			}
		}
	}
	r.slot, r.begun, m.After.Slot = m.Slot, true, m.Slot
	for _, a := range r.of {
		m.After.Before, a.lists = append(m.After.Before, a.before), 0
	}
	return m, true, nil
}

// Seen asks what transactions of Listed did to the account, in their order. The error is *TroubleError.
func (v *View) Seen(ctx context.Context, w Whose, list []Moment) ([]Transaction, error) {
	ctx, cancel := context.WithTimeout(ctx, PastBound)
	defer cancel()
	var out []Transaction
	for _, m := range list {
		for _, s := range m.Signatures {
			out = append(out, Transaction{Signature: s, Slot: m.Slot, At: m.At})
		}
	}
	group, all := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for i := range out {
		group.Go(func() error { return v.past.transaction(all, w, &out[i]) })
	}
	if err := group.Wait(); err != nil {
		return nil, &TroubleError{troubleWithin(ctx, PastBound, err), err}
	}
	return out, nil
}

func (p *past) transaction(ctx context.Context, w Whose, t *Transaction) error {
	key := keptKey{w.Account, t.Signature}
	p.mu.Lock()
	kept, known := p.kept[key]
	p.mu.Unlock()
	if known {
		*t = kept
		return nil
	}
	var got *wireTransaction
	if err := p.pool.Agreed(ctx, &got, "getTransaction", t.Signature, asking{"finalized", "base64", 0}); err != nil {
		return err
	}
	if got == nil {
		t.Unknown = "your node does not have it any more"
		return nil
	}
	if err := got.read(w, t); err != nil {
		return fmt.Errorf("getTransaction: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) >= mostKept {
		clear(p.kept)
	}
	p.kept[key] = *t
	return nil
}

// sorted are the moves that are none of zero: SOL first, then tokens by their mints.
func sorted(moves []Move) []Move {
	moves = slices.DeleteFunc(moves, func(m Move) bool { return m.Amount.Sign() == 0 })
	slices.SortFunc(moves, func(a, b Move) int {
		return cmp.Or(-cmp.Compare(native(a), native(b)), cmp.Compare(a.Asset.String(), b.Asset.String()))
	})
	return moves
}

func native(m Move) int {
	if m.Asset.IsNative() {
		return 1
	}
	return 0
}
