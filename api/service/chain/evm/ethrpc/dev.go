package ethrpc

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"

	"coffer/api/service/chain"
	"coffer/api/service/jsonrpc"
)

// Clock is the time of a development network; it can be moved ahead.
type Clock interface {
	Now() time.Time
	Forward(by time.Duration) (ahead time.Duration, err error)
	Set(to time.Time) error
}

// senders are whom eth_sendTransaction sends as, beside the accounts of the network.
type senders struct {
	turn sync.Mutex // for a nonce
	mu   sync.Mutex
	some map[common.Address]bool
	all  bool
}

// devMethods change state without a signature, under the names that the field's test tools use.
func (a *api) devMethods() jsonrpc.Methods {
	out := jsonrpc.Methods{"eth_sendTransaction": one(a.sendAs)}
	for name, m := range map[string]jsonrpc.Method{
		"setBalance": two(a.setBalance), "setCode": two(a.setCode), "setNonce": two(a.setNonce),
		"setStorageAt":       three(a.setStorageAt),
		"impersonateAccount": one(a.impersonate(true)), "stopImpersonatingAccount": one(a.impersonate(false)),
		"mine": two(a.mine),
	} {
		out["anvil_"+name], out["hardhat_"+name] = m, m
	}
	out["anvil_autoImpersonateAccount"] = one(a.impersonateAll)
	for name, m := range map[string]jsonrpc.Method{
		"snapshot": none(a.snapshot), "revert": one(a.revert),
		"increaseTime": one(a.increaseTime), "setNextBlockTimestamp": one(a.setTime), "setTime": one(a.setTime),
	} {
		out["evm_"+name], out["anvil_"+name] = m, m
	}
	out["evm_mine"] = one(a.mineOne)
	return out
}

// nothing is the answer null.
type nothing = *struct{}

// sendAs seals a transaction of an account that the caller has no key of.
func (a *api) sendAs(ctx context.Context, args CallArgs) (common.Hash, error) {
	if !a.mayBe(args.Sender()) {
		return common.Hash{}, refuse("unknown account: %s is neither an account of this network nor impersonated",
			args.Sender().Hex())
	}
	if args.Nonce == nil { // no other call may take the same nonce meanwhile
		a.senders.turn.Lock()
		defer a.senders.turn.Unlock()
	}
	tx, err := a.complete(ctx, args)
	if err != nil {
		return common.Hash{}, err
	}
	hash, _, err := a.SendAs(ctx, args.Sender(), tx)
	return hash, err
}

func (a *api) mayBe(who common.Address) bool {
	a.senders.mu.Lock()
	defer a.senders.mu.Unlock()
	return a.senders.all || a.senders.some[who] || len(a.o.Accounts) > 0 && among(a.o.Accounts, who)
}

func (a *api) impersonate(yes bool) func(context.Context, common.Address) (nothing, error) {
	return func(_ context.Context, who common.Address) (nothing, error) {
		a.senders.mu.Lock()
		defer a.senders.mu.Unlock()
		if a.senders.some == nil {
			a.senders.some = map[common.Address]bool{}
		}
		if delete(a.senders.some, who); yes {
			a.senders.some[who] = true
		}
		return nil, nil
	}
}

func (a *api) impersonateAll(_ context.Context, yes bool) (nothing, error) {
	a.senders.mu.Lock()
	defer a.senders.mu.Unlock()
	a.senders.all = yes
	return nil, nil
}

func (a *api) setBalance(_ context.Context, of common.Address, wei math.HexOrDecimal256) (nothing, error) {
	b := (*big.Int)(&wei)
	if b.Sign() < 0 {
		return nil, invalid("a balance is not negative")
	}
	return nil, a.Change(chain.Overlay{of: {Balance: b}})
}

func (a *api) setCode(_ context.Context, of common.Address, code hexutil.Bytes) (nothing, error) {
	return nil, a.Change(chain.Overlay{of: {Code: code}})
}

func (a *api) setNonce(_ context.Context, of common.Address, nonce math.HexOrDecimal64) (nothing, error) {
	n := uint64(nonce)
	return nil, a.Change(chain.Overlay{of: {Nonce: &n}})
}

func (a *api) setStorageAt(_ context.Context, of common.Address, slot, value slotKey) (bool, error) {
	return true, a.Change(chain.Overlay{of: {Storage: map[common.Hash]common.Hash{slot.hash: value.hash}}})
}

// mine seals empty blocks, an interval in seconds between their times.
func (a *api) mine(ctx context.Context, blocks, interval *math.HexOrDecimal64) (nothing, error) {
	n, every := uint64(1), uint64(0)
	if blocks != nil {
		n = uint64(*blocks)
	}
	if interval != nil {
		every = uint64(*interval)
	}
	return nil, a.Mine(ctx, n, every)
}

func (a *api) mineOne(ctx context.Context, at *math.HexOrDecimal64) (string, error) {
	if at != nil {
		if _, err := a.setTime(ctx, *at); err != nil {
			return "", err
		}
	}
	return "0x0", a.Mine(ctx, 1, 0)
}

func (a *api) snapshot(context.Context) (hexutil.Uint64, error) {
	head := a.Height()
	id, err := a.Snapshot()
	if err == nil {
		a.taken.mark(id, head)
	}
	return hexutil.Uint64(id), err
}

func (a *api) revert(_ context.Context, id math.HexOrDecimal64) (bool, error) {
	done, err := a.Revert(uint64(id))
	if done {
		a.taken.revert(uint64(id))
	}
	return done, err
}

// takenBack is where the chain was taken back to, for those who follow it.
type takenBack struct {
	mu    sync.Mutex
	marks map[uint64]uint64 // the head by the snapshot's id
	list  []uint64
}

func (t *takenBack) mark(id, head uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.marks == nil {
		t.marks = map[uint64]uint64{}
	}
	t.marks[id] = head
}

// revert notes that the chain went back to a snapshot, which ends it and those after it.
func (t *takenBack) revert(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = append(t.list, t.marks[id])
	maps.DeleteFunc(t.marks, func(other, _ uint64) bool { return other >= id })
}

// to lists the heads that it went back to.
func (t *takenBack) to() []uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list
}

var errNoClock = errors.New("the clock of this network cannot be moved")

// mostSeconds is more than any clock takes, and can be told as a duration.
const mostSeconds = uint64(1<<63-1) / uint64(time.Second)

func (a *api) increaseTime(_ context.Context, seconds math.HexOrDecimal64) (int64, error) {
	if a.o.Clock == nil {
		return 0, errNoClock
	}
	ahead, err := a.o.Clock.Forward(time.Duration(min(uint64(seconds), mostSeconds)) * time.Second)
	return int64(ahead / time.Second), err
}

func (a *api) setTime(_ context.Context, to math.HexOrDecimal64) (nothing, error) {
	if a.o.Clock == nil {
		return nil, errNoClock
	}
	return nil, a.o.Clock.Set(time.Unix(int64(min(uint64(to), mostSeconds)), 0))
}
