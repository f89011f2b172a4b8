package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
)

// An Outsider is a person who sends to one chain itself, past the service, with the tools of others. It sends one thing
// at a time, and what it knows survives the service.
type Outsider interface {
	// Step sends the next thing, or goes on with what an earlier Step began, and returns what it did to balances. An
	// error that is neither ErrBroken nor a *Refusal leaves the outcome unknown, and the next Step asks.
	Step(ctx context.Context, nodes Nodes, to *Person) ([]Move, error)
	// Recall compares everything that was sealed since the n-th with what the chain says now, and returns their number.
	Recall(ctx context.Context, nodes Nodes, from int) (int, error)
	// Chain is the id of its chain, 0 for Solana.
	Chain() uint64
	// Did counts what was sealed, by its sort.
	Did() map[string]int
	// Idle reports that every sort was sent once and nothing is under way.
	Idle() bool
}

// ErrBroken marks a promise that an endpoint broke.
var ErrBroken = errors.New("broken promise")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrBroken, fmt.Errorf(format, args...))
}

// outside is what all of them have.
type outside struct {
	*Person
	chain  uint64
	turn   int
	sealed []seal
	did    map[string]int
}

// seal is something that is on chain, and the answer that says so.
type seal struct {
	name   string
	answer json.RawMessage
}

// Chain implements Outsider.
func (o *outside) Chain() uint64 { return o.chain }

// Did implements Outsider.
func (o *outside) Did() map[string]int { return maps.Clone(o.did) }

func (o *outside) note(sort, name string, answer json.RawMessage) {
	o.sealed = append(o.sealed, seal{name, answer})
	if o.did == nil {
		o.did = map[string]int{}
	}
	o.did[sort]++
}

// recall asks for what was sealed again.
func (o *outside) recall(ctx context.Context, e Endpoint, from int, method string, more ...any) (int, error) {
	var ask [][]any
	for _, s := range o.sealed[from:] {
		ask = append(ask, append([]any{s.name}, more...))
	}
	now, err := e.Batch(ctx, method, ask...)
	if err != nil {
		return 0, err
	}
	for i, s := range o.sealed[from:] {
		if !bytes.Equal(now[i], s.answer) {
			return 0, broken("%s of %s was %s and is %s", method, s.name, s.answer, now[i])
		}
	}
	return len(o.sealed), nil
}

// coins are what a person has of a coin, the chain with most of it first.
func coins(have []Holding) []Holding {
	all := slices.DeleteFunc(slices.Clone(have), func(h Holding) bool {
		_, evm := h.Asset.Chain.EVMID()
		return !evm || !h.Asset.IsNative() || h.Amount.Sign() == 0
	})
	slices.SortFunc(all, func(a, b Holding) int { return b.Amount.Cmp(a.Amount) })
	return all
}

// sink is an address that only this person pays.
func (p *Person) sink() common.Address {
	return common.BytesToAddress(crypto.Keccak256([]byte("coffer traffic sink"), p.Address[:]))
}

// moved is a transfer.
func moved(from, to string, asset caip.Asset, v *big.Int) []Move {
	return []Move{{from, asset, new(big.Int).Neg(v)}, {to, asset, v}}
}

// soon is how long a transaction that others were held for may take to be sealed with them.
const soon = 10 * time.Second

// null says that an answer is null or missing.
func null(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
