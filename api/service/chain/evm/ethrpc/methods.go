package ethrpc

import (
	"context"
	"crypto/rand"
	"io"
	"maps"
	"math/big"
	"reflect"
	"strconv"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
)

// Options are what the methods of one chain need beside the chain.
type Options struct {
	Version string // the answer of web3_clientVersion
	// Now ages filters; nil is the time of day. It is not a clock that Dev moves: an hour ahead, all would be gone.
	Now    func() time.Time
	Random io.Reader // names filters; nil is the system's
	// YieldToWriter is that of the store, called before a method begins; nil when the store never waits for readers.
	YieldToWriter func()
	// Dev adds the methods that change state without a signature, and eth_sendTransaction as one of Accounts or as an
	// account that is impersonated. The node must have been made for it. Clock is the network's; nil cannot be moved.
	Dev      bool
	Accounts []common.Address
	Clock    Clock
}

// api answers for one chain.
type api struct {
	*evm.Node
	o       Options
	filters filters
	senders senders
	taken   takenBack
}

// Methods are the eth_, net_, web3_, txpool_ and rpc_ methods of a chain, and those of debug_ that read bytes.
func Methods(n *evm.Node, o Options) jsonrpc.Methods {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	a := &api{Node: n, o: o}
	all := jsonrpc.Methods{}
	for _, some := range []jsonrpc.Methods{a.identity(), a.fees(), a.stateMethods(), a.blockMethods(), a.rawMethods(),
		a.sendMethods(), a.logMethods(), a.poolMethods(), a.accessListMethods(), a.simulationMethods()} {
		maps.Copy(all, some)
	}
	if o.Dev {
		maps.Copy(all, a.devMethods())
	}
	for name, m := range all {
		all[name] = func(ctx context.Context, p jsonrpc.Params) (any, error) {
			a.yield()
			return m(ctx, p)
		}
	}
	return all
}

// yield lets a writer of the store go first. Nothing of the store may be held.
func (a *api) yield() {
	if a.o.YieldToWriter != nil {
		a.o.YieldToWriter()
	}
}

func (a *api) identity() jsonrpc.Methods {
	return jsonrpc.Methods{
		"eth_chainId":     value(func() *hexutil.Big { return (*hexutil.Big)(a.Config().ChainID) }),
		"eth_blockNumber": value(func() *hexutil.Big { return (*hexutil.Big)(a.Head().Number) }),
		"eth_syncing":     value(func() bool { return false }),
		"eth_accounts": value(func() []common.Address {
			if !a.o.Dev {
				return []common.Address{}
			}
			return append([]common.Address{}, a.o.Accounts...)
		}),
		"net_version":        value(func() string { return strconv.FormatUint(a.ChainID(), 10) }),
		"net_listening":      value(func() bool { return true }),
		"net_peerCount":      value(func() hexutil.Uint64 { return 0 }),
		"web3_clientVersion": value(func() string { return a.o.Version }),
		"web3_sha3": one(func(_ context.Context, data hexutil.Bytes) (hexutil.Bytes, error) {
			return crypto.Keccak256(data), nil
		}),
		"rpc_modules": value(func() map[string]string {
			return map[string]string{
				"debug": "1.0", "eth": "1.0", "net": "1.0", "rpc": "1.0", "txpool": "1.0", "web3": "1.0",
			}
		}),
	}
}

// tip is what the node suggests to pay per gas. There is no competition for a place here; it is what tools expect of
// an empty chain.
func tip() *big.Int { return big.NewInt(1_000_000_000) }

// The functions below make a Method of a typed function. A parameter of pointer type may be missing.

func value[R any](f func() R) jsonrpc.Method {
	return func(_ context.Context, p jsonrpc.Params) (any, error) {
		if err := p.AtMost(0); err != nil {
			return nil, err
		}
		return f(), nil
	}
}

func none[R any](f func(context.Context) (R, error)) jsonrpc.Method {
	return func(ctx context.Context, p jsonrpc.Params) (any, error) {
		if err := p.AtMost(0); err != nil {
			return nil, err
		}
		return answer(f(ctx))
	}
}

func one[A, R any](f func(context.Context, A) (R, error)) jsonrpc.Method {
	return func(ctx context.Context, p jsonrpc.Params) (any, error) {
		var x A
		if err := readAll(p, arg(&x)); err != nil {
			return nil, err
		}
		return answer(f(ctx, x))
	}
}

func two[A, B, R any](f func(context.Context, A, B) (R, error)) jsonrpc.Method {
	return func(ctx context.Context, p jsonrpc.Params) (any, error) {
		var x A
		var y B
		if err := readAll(p, arg(&x), arg(&y)); err != nil {
			return nil, err
		}
		return answer(f(ctx, x, y))
	}
}

func three[A, B, C, R any](f func(context.Context, A, B, C) (R, error)) jsonrpc.Method {
	return func(ctx context.Context, p jsonrpc.Params) (any, error) {
		var x A
		var y B
		var z C
		if err := readAll(p, arg(&x), arg(&y), arg(&z)); err != nil {
			return nil, err
		}
		return answer(f(ctx, x, y, z))
	}
}

func four[A, B, C, D, R any](f func(context.Context, A, B, C, D) (R, error)) jsonrpc.Method {
	return func(ctx context.Context, p jsonrpc.Params) (any, error) {
		var x A
		var y B
		var z C
		var w D
		if err := readAll(p, arg(&x), arg(&y), arg(&z), arg(&w)); err != nil {
			return nil, err
		}
		return answer(f(ctx, x, y, z, w))
	}
}

// answer drops the result of a call that failed.
func answer[R any](r R, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return r, nil
}

type parameter struct {
	into     any
	optional bool
}

func arg[A any](into *A) parameter {
	return parameter{into, reflect.TypeFor[A]().Kind() == reflect.Pointer}
}

func readAll(p jsonrpc.Params, want ...parameter) error {
	if err := p.AtMost(len(want)); err != nil {
		return err
	}
	for i, w := range want {
		read := p.Read
		if w.optional {
			read = p.Optional
		}
		if err := read(i, w.into); err != nil {
			return err
		}
	}
	return nil
}
