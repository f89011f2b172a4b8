package ethrpc

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"coffer/api/service/chain/evm"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/store"
)

const (
	chainID = 8453
	gwei    = 1_000_000_000
)

// Contracts of the test genesis, in bytes that can be read at a glance.
var (
	echoes   = account{common.HexToAddress("0xe0"), "365f5f37365ff3"}       // returns its data
	reverts  = account{common.HexToAddress("0xe1"), "365f5f37365ffd"}       // reverts with its data
	notes    = account{common.HexToAddress("0xe2"), "5f355f555f355f5fa100"} // slot 0 and a log's topic become its data
	slotZero = account{common.HexToAddress("0xe3"), "5f545f5260205ff3"}     // returns slot 0
	loops    = account{common.HexToAddress("0xe4"), "5b5f56"}
	tells    = account{common.HexToAddress("0xe5"), // number, time, base fee, coinbase, gas price, randao
		"435f524260205248604052416060523a6080524460a05260c05ff3"}
	invalidOp = account{common.HexToAddress("0xe6"), "fe"}
	hungry    = account{common.HexToAddress("0xe7"), "63ffffffff51"}                 // wants too much memory
	emits     = account{common.HexToAddress("0xe8"), "5f355b5f5fa06001900380600257"} // as many logs as its data says
)

type account struct {
	at   common.Address
	code string
}

func key(n int) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte(fmt.Sprintf("test key %d", n))))
	if err != nil {
		panic(err)
	}
	return k
}

func addr(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

// lab is a chain with its methods. Key 0 has all the money. Nothing in it is left to chance.
type lab struct {
	tb      testing.TB
	node    *evm.Node
	methods jsonrpc.Methods
	mu      sync.Mutex
	now     time.Time
}

func newLab(tb testing.TB, change ...func(*Options)) *lab {
	tb.Helper()
	spec := evm.Spec{ChainID: chainID, Time: 1_760_000_000, Alloc: []evm.Account{
		{Address: addr(key(0)), Balance: new(big.Int).Lsh(big.NewInt(1), 120)},
	}}
	for _, a := range []account{echoes, reverts, notes, slotZero, loops, tells, invalidOp, hungry, emits} {
		spec.Alloc = append(spec.Alloc, evm.Account{Address: a.at, Code: common.FromHex(a.code), Nonce: 1})
	}
	c, err := evm.Open(store.NewMemory(), spec)
	if err != nil {
		tb.Fatal(err)
	}
	l := &lab{tb: tb, now: time.Unix(1_760_000_000, 0)}
	o := Options{Version: "Coffer/test", Now: l.time, Random: rand.New(rand.NewSource(1))}
	for _, f := range change {
		f(&o)
	}
	l.node = evm.NewNode(c, evm.NodeOptions{
		Dev:   o.Dev,
		Clock: func() time.Time { return time.Unix(int64(c.Head().Time)+1, 0) },
	})
	tb.Cleanup(l.node.Close)
	l.methods = Methods(l.node, o)
	return l
}

func (l *lab) time() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

func (l *lab) wait(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// try calls a method as a server does: parameters and result are JSON, errors have a code.
func (l *lab) try(ctx context.Context, method string, params ...any) (json.RawMessage, *jsonrpc.Error) {
	m, ok := l.methods[method]
	if !ok {
		return nil, jsonrpc.NotFound(method)
	}
	var p jsonrpc.Params
	for _, x := range params {
		raw, err := json.Marshal(x)
		if err != nil {
			l.tb.Fatal(err)
		}
		p = append(p, raw)
	}
	result, err := m(ctx, p)
	if err != nil {
		var e *jsonrpc.Error
		if !errors.As(err, &e) {
			e = jsonrpc.Errorf(jsonrpc.CodeServer, "%v", err)
		}
		return nil, e
	}
	raw, err := json.Marshal(result)
	if err != nil {
		l.tb.Fatalf("%s: %v", method, err)
	}
	return raw, nil
}

// call is a call that must succeed.
func (l *lab) call(method string, params ...any) json.RawMessage {
	l.tb.Helper()
	raw, err := l.try(context.Background(), method, params...)
	if err != nil {
		l.tb.Fatalf("%s: %d %s %v", method, err.Code, err.Message, err.Data)
	}
	return raw
}

// is holds that a call gives just this JSON.
func (l *lab) is(want, method string, params ...any) {
	l.tb.Helper()
	if got := l.call(method, params...); string(got) != want {
		l.tb.Errorf("%s%v is %s, want %s", method, params, got, want)
	}
}

// fails holds that a call fails with a code and a text.
func (l *lab) fails(code int, text, method string, params ...any) *jsonrpc.Error {
	l.tb.Helper()
	raw, err := l.try(context.Background(), method, params...)
	if err == nil {
		l.tb.Fatalf("%s%v is %s", method, params, raw)
	}
	if err.Code != code || err.Message != text {
		l.tb.Errorf("%s%v fails with %d %q, want %d %q", method, params, err.Code, err.Message, code, text)
	}
	return err
}

func into[T any](tb testing.TB, raw json.RawMessage) (v T) {
	tb.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		tb.Fatalf("%v: %s", err, raw)
	}
	return v
}

func (l *lab) nonce(k *ecdsa.PrivateKey) uint64 {
	return uint64(into[hexutil.Uint64](l.tb, l.call("eth_getTransactionCount", addr(k), "latest")))
}

func sign(tb testing.TB, k *ecdsa.PrivateKey, data types.TxData) *types.Transaction {
	tb.Helper()
	tx, err := types.SignNewTx(k, types.NewPragueSigner(big.NewInt(chainID)), data)
	if err != nil {
		tb.Fatal(err)
	}
	return tx
}

func rawOf(tb testing.TB, tx *types.Transaction) hexutil.Bytes {
	tb.Helper()
	raw, err := tx.MarshalBinary()
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// send sends a transaction and returns its hash.
func (l *lab) send(k *ecdsa.PrivateKey, data types.TxData) common.Hash {
	l.tb.Helper()
	tx := sign(l.tb, k, data)
	l.is(`"`+tx.Hash().Hex()+`"`, "eth_sendRawTransaction", rawOf(l.tb, tx))
	return tx.Hash()
}

func dynamic(nonce uint64, to *common.Address, value int64, data []byte) *types.DynamicFeeTx {
	return &types.DynamicFeeTx{
		ChainID: big.NewInt(chainID), Nonce: nonce, GasTipCap: big.NewInt(gwei), GasFeeCap: big.NewInt(20 * gwei),
		Gas: 200_000, To: to, Value: big.NewInt(value), Data: data,
	}
}

// note calls the contract that keeps and logs a word.
func (l *lab) note(word common.Hash) common.Hash {
	return l.send(key(0), dynamic(l.nonce(key(0)), &notes.at, 0, word[:]))
}

func number(n uint64) common.Hash { return common.BigToHash(new(big.Int).SetUint64(n)) }

// everyType sends a transaction of every type, a creation and one that reverts. The names are those of the goldens.
func (l *lab) everyType() map[string]common.Hash {
	k, to, id := key(0), addr(key(1)), big.NewInt(chainID)
	list := types.AccessList{{Address: notes.at, StorageKeys: []common.Hash{{}}}}
	word := number(7)
	auth, err := types.SignSetCode(key(1), types.SetCodeAuthorization{
		ChainID: *uint256.NewInt(chainID), Address: echoes.at,
	})
	if err != nil {
		l.tb.Fatal(err)
	}
	out := map[string]common.Hash{}
	out["type0"] = l.send(k, &types.LegacyTx{
		Nonce: 0, GasPrice: big.NewInt(3 * gwei), Gas: 21_000, To: &to, Value: big.NewInt(5),
	})
	out["type1"] = l.send(k, &types.AccessListTx{
		ChainID: id, Nonce: 1, GasPrice: big.NewInt(2 * gwei), Gas: 90_000, To: &notes.at, Data: word[:],
		AccessList: list,
	})
	out["type2"] = l.send(k, dynamic(2, &notes.at, 0, word[:]))
	out["type4"] = l.send(k, &types.SetCodeTx{
		ChainID: uint256.NewInt(chainID), Nonce: 3, GasTipCap: uint256.NewInt(1), GasFeeCap: uint256.NewInt(9 * gwei),
		Gas: 90_000, To: to, AuthList: []types.SetCodeAuthorization{auth},
	})
	out["create"] = l.send(k, dynamic(4, nil, 0, deploys(echoes.code)))
	out["revert"] = l.send(k, dynamic(5, &reverts.at, 0, []byte{1}))
	return out
}

// deploys is the init code of a contract.
func deploys(code string) []byte {
	raw := common.FromHex(code)
	return append([]byte{0x60, byte(len(raw)), 0x80, 0x60, 0x09, 0x5f, 0x39, 0x5f, 0xf3}, raw...)
}

// reason is the return data of require(false, text).
func reason(tb testing.TB, text string) []byte {
	tb.Helper()
	typ, err := abi.NewType("string", "", nil)
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := abi.Arguments{{Type: typ}}.Pack(text)
	if err != nil {
		tb.Fatal(err)
	}
	return append(crypto.Keccak256([]byte("Error(string)"))[:4], raw...)
}

func word(b []byte, i int) uint64 {
	if w := b[32*i : 32*i+32]; bytes.Equal(w[:24], make([]byte, 24)) {
		return binary.BigEndian.Uint64(w[24:])
	}
	return 1<<64 - 1
}

type object = map[string]any

func unhex(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	return into[hexutil.Bytes](t, raw)
}

func decode(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := rlp.DecodeBytes(unhex(t, raw), v); err != nil {
		t.Fatal(err)
	}
}

// quantity is a block number as tools send it.
func quantity(n uint64) string { return hexutil.EncodeUint64(n) }
