package remotenet

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/amount"
	"coffer/api/gastank"
	"coffer/api/service/chain"
	"coffer/api/service/outbox"
	"coffer/api/service/outbox/lane"
	"coffer/api/service/store"
)

// Withdrawals are those of the gas tank of own nodes. A transfer of coins is nothing that a chain takes once, so that
// its nonce has to decide: one commit keeps the signed bytes with their nonce and the withdrawal, and every later
// attempt has the same nonce. Nothing is ever signed anew for a withdrawal that was sent. Of each chain the newest is
// kept until its outcome was shown, and no other is sent before: who lost the answer gets it, and not a second
// transfer.
type Withdrawals struct {
	n      *Network
	store  store.Store
	clock  func() time.Time
	random io.Reader
}

var _ gastank.Withdrawals = (*Withdrawals)(nil)

// bucketWithdrawals has the newest withdrawal of each chain, by its id in eight bytes.
const bucketWithdrawals = "tank withdrawals"

// withdrawal is what is kept of one.
type withdrawal struct {
	ID     string         `json:"id"`
	To     common.Address `json:"to"`
	Amount *big.Int       `json:"amount"`
	All    bool           `json:"all,omitempty"`
	At     int64          `json:"at"` // of the clock, in Unix seconds
	Told   bool           `json:"told,omitempty"`
	// Before are those on the chain before it, of the last day.
	Before []moved `json:"before,omitempty"`
}

// moved is what an earlier withdrawal was sent for.
type moved struct {
	Amount *big.Int `json:"amount"`
	At     int64    `json:"at"`
}

// keptFor is how long an earlier withdrawal is kept.
const keptFor = 24 * time.Hour

// after are this withdrawal and those before it that are not older than keptFor.
func (r *withdrawal) after(now time.Time) (out []moved) {
	for _, m := range append(r.Before, moved{r.Amount, r.At}) {
		if m.At > now.Add(-keptFor).Unix() {
			out = append(out, m)
		}
	}
	return out
}

func withdrawalKey(chainID uint64) []byte { return binary.BigEndian.AppendUint64(nil, chainID) }

func (w *Withdrawals) node(chainID uint64) (*node, *lane.Lane, error) {
	for _, node := range w.n.nodes {
		if node.ID() == chainID {
			return node, w.n.lanes[chainID], nil
		}
	}
	return nil, nil, fmt.Errorf("the network has no chain %d", chainID)
}

// Plan implements gastank.Withdrawals.
func (w *Withdrawals) Plan(ctx context.Context, chainID uint64, to common.Address, value *big.Int) (
	p gastank.Withdrawal, err error) {
	node, l, err := w.node(chainID)
	if err != nil {
		return p, err
	}
	from := w.n.Operator.Address()
	p = gastank.Withdrawal{ChainID: chainID, Chain: node.name, Symbol: node.coin, From: from, To: to,
		All: value == nil, Amount: value}
	switch {
	case to == from:
		return p, gastank.Refuse("", "%s is the gas tank itself", to.Hex())
	case to == (common.Address{}):
		return p, gastank.Refuse("", "the zero address belongs to nobody: what is sent there is lost")
	case value != nil && value.Sign() <= 0:
		return p, gastank.Refuse("", "an amount is more than 0")
	}
	if err := node.ready(ctx); err != nil {
		return p, err
	}
	if err := w.settles(ctx, chainID); err != nil {
		return p, err
	}
	var has hexutil.Big
	if err := node.pool.Agreed(ctx, &has, "eth_getBalance", from, "latest"); err != nil {
		return p, fmt.Errorf("balance: %w", err)
	}
	p.Has = has.ToInt()
	coins := func(v *big.Int) string { return amount.Human(v, 18) + " " + node.coin }
	poor := func(needs string) error {
		return gastank.Refuse("", "the gas tank has %s on %s, and %s", coins(p.Has), node.name, needs)
	}
	asked := value
	if asked == nil {
		asked = big.NewInt(1) // what it takes does not depend on how much it is
	}
	if p.Has.Cmp(asked) < 0 {
		return p, poor("nothing of it can be sent")
	}
	p.Fee, p.Most, err = l.Cost(ctx, chain.Tx{From: w.n.Operator, To: to, Value: asked})
	if errors.Is(err, chain.ErrReverted) {
		return p, gastank.Refuse("", "%s does not take coins: it is a contract that refuses them", to.Hex())
	}
	if err != nil {
		return p, err
	}
	if value == nil {
		p.Fee = spare(p.Fee, p.Most)
		if p.Amount = new(big.Int).Sub(p.Has, p.Fee); p.Amount.Sign() <= 0 {
			return p, poor("sending it takes up to " + coins(p.Fee))
		}
	}
	if needs := new(big.Int).Add(p.Amount, p.Fee); p.Has.Cmp(needs) < 0 {
		return p, poor(fmt.Sprintf("this takes up to %s, of which %s are the fee", coins(needs), coins(p.Fee)))
	}
	return p, nil
}

// spare is a fee with room for base fees that rise until it is sent, and for being sent again once.
func spare(fee, most *big.Int) *big.Int {
	out := new(big.Int).Add(fee, new(big.Int).Rsh(fee, 2))
	if out.Cmp(most) > 0 {
		return most
	}
	return out
}

// idle refuses while something of the tank's is under way on a chain.
func (w *Withdrawals) idle(chainID uint64) error {
	now, err := lane.Recorded(w.store, chainID, w.n.Operator.Address())
	switch {
	case err != nil:
		return err
	case now.Stopped != "":
		return gastank.Refuse(fmt.Sprintf("find out what used its key, then: coffer network resume %d", chainID),
			"the gas tank sends nothing there until you decide: %s", now.Stopped)
	case len(now.Open) > 0:
		return gastank.Refuse("wait until it is final, then try again",
			"the gas tank has something under way there: %s",
			now.Open[0].ID)
	}
	return nil
}

// looksWithin is how long a lane that was just opened may take to see what is final already.
const looksWithin = 5 * time.Second

// settles is idle after the lane has looked.
func (w *Withdrawals) settles(ctx context.Context, chainID uint64) error {
	tick := time.NewTicker(looksWithin / 50)
	defer tick.Stop()
	for end := time.Now().Add(looksWithin); ; {
		err := w.idle(chainID)
		if _, refused := errors.AsType[*gastank.RefusedError](err); !refused || time.Now().After(end) {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// Send implements gastank.Withdrawals.
func (w *Withdrawals) Send(ctx context.Context, p gastank.Withdrawal) (gastank.Withdrawal, error) {
	_, l, err := w.node(p.ChainID)
	if err != nil {
		return p, err
	}
	var id [8]byte
	if _, err := io.ReadFull(w.random, id[:]); err != nil {
		return p, fmt.Errorf("draw an id: %w", err)
	}
	p.ID = "withdrawal " + hex.EncodeToString(id[:])
	record := withdrawal{ID: p.ID, To: p.To, Amount: p.Amount, All: p.All, At: w.clock().Unix()}
	_, err = l.Send(ctx, outbox.EVMStep{
		ID: p.ID, Time: uint64(w.clock().Unix()),
		Txs: []chain.Tx{{From: w.n.Operator, To: p.To, Value: p.Amount}},
		Check: func(rs []chain.Receipt) error {
			if !rs[0].Success {
				return gastank.Refuse("", "%s does not take the coins", p.To.Hex())
			}
			return nil
		},
		Gate: func() error { return w.idle(p.ChainID) },
		Sent: func(tx store.Tx) error {
			b := tx.Bucket(bucketWithdrawals)
			last, err := decodeWithdrawal(b.Get(withdrawalKey(p.ChainID)))
			switch {
			case err != nil:
				return err
			case last != nil && !last.Told:
				return gastank.Refuse("run it again: it is told then",
					"the outcome of the last withdrawal was not told")
			case last != nil:
				record.Before = last.after(w.clock())
			}
			raw, err := json.Marshal(record)
			if err != nil {
				return err
			}
			return b.Put(withdrawalKey(p.ChainID), raw)
		},
	})
	if err != nil {
		return p, err
	}
	k, _, err := l.Known(p.ID)
	p.State, p.Tx = gastank.Sent, k.Tx
	return p, err
}

func decodeWithdrawal(raw []byte) (*withdrawal, error) {
	if raw == nil {
		return nil, nil
	}
	var r withdrawal
	none := func(m moved) bool { return m.Amount == nil || m.Amount.Sign() < 0 }
	if err := json.Unmarshal(raw, &r); err != nil || none(moved{Amount: r.Amount}) ||
		slices.ContainsFunc(r.Before, none) {
		return nil, errors.Join(errors.New("the record of a withdrawal is not one that was written"), err)
	}
	return &r, nil
}

// Since implements gastank.Withdrawals.
func (w *Withdrawals) Since(at time.Time) (out []gastank.Withdrawal, err error) {
	for _, node := range w.n.nodes {
		raw, err := store.Get(w.store, bucketWithdrawals, withdrawalKey(node.ID()))
		if err != nil {
			return nil, err
		}
		last, err := decodeWithdrawal(raw)
		if err != nil {
			return nil, err
		}
		if last == nil {
			continue
		}
		for _, m := range last.after(w.clock()) {
			if m.At >= at.Unix() {
				out = append(out, gastank.Withdrawal{ChainID: node.ID(), Chain: node.name, Symbol: node.coin,
					Amount: m.Amount})
			}
		}
	}
	return out, nil
}

// Last implements gastank.Withdrawals.
func (w *Withdrawals) Last(chainID uint64) (p gastank.Withdrawal, found bool, err error) {
	node, l, err := w.node(chainID)
	if err != nil {
		return p, false, err
	}
	raw, err := store.Get(w.store, bucketWithdrawals, withdrawalKey(chainID))
	if err != nil || raw == nil {
		return p, false, err
	}
	r, err := decodeWithdrawal(raw)
	if err != nil {
		return p, false, err
	}
	p = gastank.Withdrawal{ID: r.ID, ChainID: chainID, Chain: node.name, Symbol: node.coin,
		From: w.n.Operator.Address(), To: r.To, All: r.All, Amount: r.Amount, Told: r.Told}
	k, known, err := l.Known(r.ID)
	if err == nil && !known {
		err = fmt.Errorf("the store has withdrawal %q and not its step", r.ID)
	}
	p.Tx, p.Block, p.State = k.Tx, k.Block, stateOf(k)
	return p, true, err
}

func stateOf(k lane.Known) gastank.State {
	switch {
	case k.Final == nil && k.Block == 0:
		return gastank.Sent
	case k.Final == nil:
		return gastank.Mined
	case k.Final.Success:
		return gastank.Done
	case k.Cancelled:
		return gastank.Cancelled
	case k.Final.TxHash == (common.Hash{}):
		return gastank.Lost
	}
	return gastank.Refused
}

// Wait implements gastank.Withdrawals. What is in a block and was no success there is waited for until it is final.
func (w *Withdrawals) Wait(ctx context.Context, p gastank.Withdrawal) (gastank.Withdrawal, error) {
	node, l, err := w.node(p.ChainID)
	if err != nil {
		return p, err
	}
	tx, errWait := l.Mined(ctx, p.ID)
	if errors.Is(errWait, chain.ErrNotAccepted) {
		errWait = nil // it is over
	}
	if errWait == nil {
		k, _, err := l.Known(p.ID)
		if err != nil {
			return p, err
		}
		r, found, err := node.Receipt(ctx, tx)
		if k.Final == nil && (err != nil || !found || !r.Success || k.Cancelled) {
			_, errWait = l.Result(ctx, p.ID)
		}
	}
	last, found, err := w.Last(p.ChainID)
	if err == nil && (!found || last.ID != p.ID) {
		err = fmt.Errorf("withdrawal %q is not the last one", p.ID)
	}
	if err != nil {
		return p, errors.Join(errWait, err)
	}
	return last, errWait
}

// Told implements gastank.Withdrawals.
func (w *Withdrawals) Told(p gastank.Withdrawal) error {
	return w.store.Update(func(tx store.Tx) error {
		b := tx.Bucket(bucketWithdrawals)
		r, err := decodeWithdrawal(b.Get(withdrawalKey(p.ChainID)))
		if err != nil || r == nil || r.ID != p.ID {
			return err
		}
		r.Told = true
		raw, err := json.Marshal(r)
		return errors.Join(err, b.Put(withdrawalKey(p.ChainID), raw))
	})
}
