package remote_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"coffer/api/op"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/chain/remote"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/assets"
)

const (
	chainID = 8453
	genesis = 1_800_000_000
	people  = 6
	tokens  = 20
)

func key(n int) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte(fmt.Sprintf("test key %d", n))))
	if err != nil {
		panic(err)
	}
	return k
}

func person(n int) common.Address { return crypto.PubkeyToAddress(key(n).PublicKey) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// contracts that are written by hand, with what they do.
var handmade = map[common.Address]string{
	{0xc0, 1}:  "365f5f37365ff3",       // returns its data
	{0xc0, 2}:  "365f5f37365ffd",       // reverts with its data
	{0xc0, 3}:  "5f355f555f355f5fa100", // slot 0 and a log's topic become its data
	{0xc0, 4}:  "5b5f56",               // never ends
	{0xc0, 5}:  tells("43", "42", "48", "41", "44", "45", "46", "4a", "6001430340", "6003430340"),
	{0xc0, 6}:  "5f355b8054806002575000",             // follows the slots from the one that its data names until a zero
	{0xc0, 7}:  "365f5f3760205f365f60015afa60205ff3", // ecrecover of its data
	{0xc0, 8}:  "5f5f5f5f5f5f355af15f5260205ff3",     // calls the address in its data
	{0xc0, 9}:  "fe",
	{0xc0, 10}: "5f351e5f5260205ff3", // the leading zeros of its data, since Osaka
}

// tells returns what pieces of code leave on the stack: number, time, base fee, coinbase, randao, gas limit, chain id,
// blob base fee and two hashes of blocks.
func tells(pieces ...string) (code string) {
	for i, p := range pieces {
		code += p + fmt.Sprintf("61%04x52", 32*i)
	}
	return code + fmt.Sprintf("61%04x5ff3", 32*len(pieces))
}

func made(n byte) common.Address { return common.Address{0xc0, n} }

// world is the accounts of a chain and how to speak to them.
type world struct {
	pins   assets.Pins
	abis   map[string]abi.ABI
	alloc  []evm.Account
	tokens []common.Address
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := &world{pins: must(assets.PinnedAddresses()), abis: map[string]abi.ABI{}}
	code := func(name string, args ...any) []byte {
		a := must(assets.Contract(name))
		w.abis[name] = must(abi.JSON(bytes.NewReader(a.ABI)))
		return append(bytes.Clone(a.Bytecode), must(w.abis[name].Pack("", args...))...)
	}
	for i := range people {
		w.alloc = append(w.alloc, evm.Account{Address: person(i), Balance: new(big.Int).Lsh(big.NewInt(1), 80)})
	}
	w.alloc = append(w.alloc, must(evm.DeployDeterministic(code("EntryPoint"),
		common.HexToHash(w.pins.EntryPointSalt)))...)
	for _, name := range assets.KernelNames() {
		account := must(evm.DeployDeterministic(code(name), common.Hash{}))
		if name == "MetaFactory" {
			slot := crypto.Keccak256Hash(common.LeftPadBytes(common.FromHex(w.pins.Factory), 32), make([]byte, 32))
			account[0].Storage[slot] = common.Hash{31: 1}
		}
		w.alloc = append(w.alloc, account...)
	}
	for i := range tokens {
		at := common.BytesToAddress(crypto.Keccak256([]byte{byte(i)}))
		w.tokens = append(w.tokens, at)
		w.alloc = append(w.alloc, must(evm.Predeploy(code("Token", "T", "T", uint8(6), person(0), big.NewInt(1e12)),
			at, chainID))...)
	}
	for at, text := range handmade {
		w.alloc = append(w.alloc, evm.Account{Address: at, Nonce: 1, Code: common.FromHex(text)})
	}
	for i := range 40 { // a chain of slots
		at := slices.IndexFunc(w.alloc, func(a evm.Account) bool { return a.Address == made(6) })
		if w.alloc[at].Storage == nil {
			w.alloc[at].Storage = map[common.Hash]common.Hash{}
		}
		w.alloc[at].Storage[common.Hash{31: byte(i + 1)}] = common.Hash{31: byte(i + 2)}
	}
	return w
}

func (w *world) pack(name, method string, args ...any) []byte {
	a := w.abis[name]
	return must(a.Pack(method, args...))
}

func (w *world) initData(owner int) []byte {
	return op.InitDataECDSA(common.HexToAddress(w.pins.ECDSAValidator), person(owner))
}

func (w *world) account(owner int) common.Address {
	return op.PredictAddress(common.HexToAddress(w.pins.Factory), common.HexToAddress(w.pins.KernelV31Implementation),
		w.initData(owner), new(big.Int))
}

// deploy is what the EntryPoint sends to make the account of an owner.
func (w *world) deploy(owner int) chain.Message {
	return chain.Message{From: common.HexToAddress(w.pins.EntryPoint), To: common.HexToAddress(w.pins.MetaFactory),
		Data: op.FactoryData(common.HexToAddress(w.pins.Factory), w.initData(owner), new(big.Int)), Gas: 3_000_000}
}

// execute is a batch of the account of an owner.
func (w *world) execute(owner int, calls ...op.Call) chain.Message {
	return chain.Message{From: common.HexToAddress(w.pins.EntryPoint), To: w.account(owner),
		Data: must(op.EncodeExecute(calls)), Gas: 3_000_000}
}

func (w *world) transfer(token int, to common.Address, amount int64) op.Call {
	return op.Call{To: w.tokens[token], Value: new(big.Int),
		Data: w.pack("Token", "transfer", to, big.NewInt(amount))}
}

// random is a call of any kind, that succeeds or not, and what it is called.
func (w *world) random(r *rand.Rand) (m chain.Message, kind string) {
	someone := func() common.Address { return person(r.IntN(people + 2)) }
	amount := func() int64 { return []int64{0, 1, 1000, 1e13}[min(r.IntN(10), 3-r.IntN(3))] }
	m = chain.Message{From: person(r.IntN(people)), Gas: 1_000_000}
	token := r.IntN(tokens)
	switch r.IntN(16) {
	case 0:
		kind, m.To, m.Data = "transfer", w.tokens[token], w.transfer(token, someone(), amount()).Data
		m.From = person(r.IntN(2))
	case 1:
		kind, m.To = "approve", w.tokens[token]
		m.Data = w.pack("Token", "approve", someone(), big.NewInt(amount()))
	case 2:
		kind, m.To = "transferFrom", w.tokens[token]
		m.Data = w.pack("Token", "transferFrom", person(0), someone(), big.NewInt(amount()))
	case 3:
		kind, m.To, m.Data = "balanceOf", w.tokens[token], w.pack("Token", "balanceOf", someone())
	case 4:
		kind, m.To, m.Value, m.Gas = "coins", someone(), big.NewInt(r.Int64N(1e15)), 21_000
	case 5:
		kind, m.To, m.Data = "note", made(3), crypto.Keccak256([]byte{byte(r.IntN(9))})
	case 6:
		kind, m.To = "context", made(5)
	case 7:
		kind, m = "deploy", w.deploy(r.IntN(people))
	case 8, 9:
		kind = "execute"
		var calls []op.Call
		for range r.IntN(3) + 1 {
			if r.IntN(4) == 0 {
				calls = append(calls, op.Call{To: someone(), Value: big.NewInt(r.Int64N(1e15))})
			} else {
				calls = append(calls, w.transfer(r.IntN(tokens), someone(), amount()))
			}
		}
		m = w.execute(r.IntN(2), calls...)
	case 10:
		kind, m.To = "nonce", common.HexToAddress(w.pins.EntryPoint)
		m.Data = w.pack("EntryPoint", "getNonce", w.account(r.IntN(people)), big.NewInt(r.Int64N(3)))
	case 11:
		kind, m.To = "create", common.HexToAddress(w.pins.DeterministicDeployer)
		m.Data = append(make([]byte, 32), must(assets.Contract("Window")).Bytecode...)
		m.Data[31] = byte(r.IntN(4))
	case 12:
		kind, m.To = "precompile", common.BytesToAddress([]byte{[]byte{1, 2, 3, 4, 5, 6, 9, 0x0b}[r.IntN(8)]})
		m.Data = make([]byte, r.IntN(256))
	case 13:
		kind, m.To, m.Data = "chain of slots", made(6), make([]byte, 32)
		m.Data[31] = byte(36 + r.IntN(6))
	case 14:
		kind, m.To = "delegation", someone()
		a := must(types.SignSetCode(key(r.IntN(people)), types.SetCodeAuthorization{
			ChainID: *uint256.NewInt(chainID), Address: made(1 + byte(r.IntN(5))), Nonce: uint64(r.IntN(2)),
		}))
		m.Authorizations = []op.SignedAuthorization{{
			Authorization: op.Authorization{ChainID: big.NewInt(chainID), Address: a.Address, Nonce: a.Nonce},
			R:             a.R.Bytes32(), S: a.S.Bytes32(), YParity: a.V,
		}}
	default:
		kind, m.To = "by hand", made(1+byte(r.IntN(10)))
		m.Data = make([]byte, 32*r.IntN(5))
		for i := range m.Data {
			m.Data[i] = byte(r.Uint32())
		}
		m.Gas = []uint64{20_000, 22_000, 100_000}[r.IntN(3)]
	}
	if kind != "coins" && r.IntN(12) == 0 {
		m.Gas = 21_000 + r.Uint64N(60_000)
		kind += ", little gas"
	}
	return m, kind
}

// overlay is a change of any kind.
func (w *world) overlay(r *rand.Rand) chain.Overlay {
	var v chain.Override
	at := person(r.IntN(people + 2))
	switch r.IntN(4) {
	case 0:
		v.Balance = big.NewInt(r.Int64N(1e18))
	case 1:
		n := r.Uint64N(5)
		v.Nonce = &n
	case 2:
		v.Code = [][]byte{{}, common.FromHex(handmade[made(1)]), common.FromHex(handmade[made(3)])}[r.IntN(3)]
	default:
		at = w.tokens[r.IntN(tokens)]
		v.Storage = map[common.Hash]common.Hash{
			crypto.Keccak256Hash(common.LeftPadBytes(person(1).Bytes(), 32), make([]byte, 32)): {31: 200},
		}
	}
	return chain.Overlay{at: v}
}

// node answers for an embedded chain as its endpoint does, without the network between. It counts.
type node struct {
	methods  jsonrpc.Methods
	mu       sync.Mutex
	trips    int
	requests int
	asked    map[string]int
	delay    time.Duration
	// each is called before a call is answered; with an error or a true the call has its answer.
	each func(trip int, c *rpcpool.Call) bool
	// whole is called before a batch is answered.
	whole func(ctx context.Context, trip int) error
}

func (n *node) Batch(ctx context.Context, calls []rpcpool.Call) error {
	n.mu.Lock()
	n.trips++
	n.requests += len(calls)
	for _, c := range calls {
		n.asked[c.Method]++
	}
	trip := n.trips
	n.mu.Unlock()
	if n.delay > 0 {
		select {
		case <-time.After(n.delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if n.whole != nil {
		if err := n.whole(ctx, trip); err != nil {
			return err
		}
	}
	for i := range calls {
		if n.each == nil || !n.each(trip, &calls[i]) {
			n.answer(ctx, &calls[i])
		}
	}
	return ctx.Err()
}

func (n *node) answer(ctx context.Context, c *rpcpool.Call) {
	m, ok := n.methods[c.Method]
	if !ok {
		c.Err = &rpcpool.Error{Code: -32601, Message: "the method does not exist"}
		return
	}
	var params jsonrpc.Params
	for _, p := range c.Params {
		params = append(params, must(json.Marshal(p)))
	}
	result, err := m(ctx, params)
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused):
		e := &rpcpool.Error{Code: refused.Code, Message: refused.Message}
		if text, ok := refused.Data.(string); ok {
			e.Data = common.FromHex(text)
		} else if refused.Data != nil {
			var text string
			if raw, err := json.Marshal(refused.Data); err == nil && json.Unmarshal(raw, &text) == nil {
				e.Data = common.FromHex(text)
			}
		}
		c.Err = fmt.Errorf("%s: %w", c.Method, e)
	case err != nil:
		c.Err = fmt.Errorf("%s: %w", c.Method, &rpcpool.Error{Code: -32000, Message: err.Error()})
	case c.Result != nil:
		c.Err = json.Unmarshal(must(json.Marshal(result)), c.Result)
	}
}

// since forgets what was counted.
func (n *node) since() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.trips, n.requests, n.asked = 0, 0, map[string]int{}
}

func (n *node) counted() (trips, requests int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.trips, n.requests
}

// lab is an embedded chain and what is seen of it through its JSON-RPC.
type lab struct {
	*world
	tb     testing.TB
	chain  *evm.Chain
	node   *node
	remote *remote.Chain
}

func newLab(tb testing.TB, change ...func(*remote.Options)) *lab {
	tb.Helper()
	l := &lab{world: newWorld(tb), tb: tb, node: &node{asked: map[string]int{}}}
	l.chain = must(evm.Open(store.NewMemory(), evm.Spec{ChainID: chainID, Time: genesis, Alloc: l.alloc}))
	served := evm.NewNode(l.chain, evm.NodeOptions{Dev: true})
	tb.Cleanup(served.Close)
	l.node.methods = ethrpc.Methods(served, ethrpc.Options{Dev: true})
	o := remote.Options{Node: l.node, ChainID: chainID}
	for _, f := range change {
		f(&o)
	}
	l.remote = must(remote.New(o))
	tb.Cleanup(l.remote.Close)
	return l
}

func (l *lab) seal(txs ...chain.Tx) chain.Block {
	l.tb.Helper()
	return must(l.chain.Seal(context.Background(), chain.SealRequest{Time: l.chain.Head().Time + 2, Txs: txs}))
}

// populate gives tokens and accounts to people.
func (l *lab) populate() {
	l.tb.Helper()
	l.seal(l.start()...)
}

func (w *world) start() (txs []chain.Tx) {
	for i := range 2 {
		m := w.deploy(i)
		txs = append(txs, chain.Tx{From: signers.Local(key(0)), To: m.To, Data: m.Data, Gas: 1_000_000})
	}
	for i := range tokens {
		for _, to := range []common.Address{person(1), w.account(0), w.account(1)} {
			txs = append(txs, chain.Tx{From: signers.Local(key(0)), To: w.tokens[i], Gas: 100_000,
				Data: w.pack("Token", "transfer", to, big.NewInt(1e6))})
		}
	}
	return append(txs, chain.Tx{From: signers.Local(key(0)), To: w.account(0), Value: big.NewInt(1e18), Gas: 50_000})
}

func (l *lab) state(at uint64) chain.State {
	l.tb.Helper()
	st, err := l.remote.State(l.tb.Context(), at)
	if err != nil {
		l.tb.Fatal(err)
	}
	l.tb.Cleanup(st.Close)
	return st
}

// credit gives somebody tokens.
func (w *world) credit(token int, to common.Address, amount int64) chain.Overlay {
	slot := crypto.Keccak256Hash(common.LeftPadBytes(to[:], 32), make([]byte, 32))
	storage := map[common.Hash]common.Hash{slot: common.BigToHash(big.NewInt(amount))}
	return chain.Overlay{w.tokens[token]: {Storage: storage}}
}
