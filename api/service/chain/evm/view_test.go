package evm

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/chain/evm/exec"
	"coffer/api/service/store"
)

func TestCallsBuildOnEachOtherAndNothingIsKept(t *testing.T) {
	c := memoryChain(t)
	before := fingerprint(t, c)
	st := stateOf(t, c)
	from, to := addr(treasury()), addr(key(1))
	fill := st.Call(chain.Message{From: from, To: tokenAt(0), Data: pack(t, "Token", "transfer", to, big.NewInt(9))})
	if fill.Err != nil || len(fill.Logs) != 1 || fill.GasUsed < 21_000 {
		t.Fatalf("%+v", fill)
	}
	spend := st.Call(chain.Message{From: to, To: tokenAt(0),
		Data: pack(t, "Token", "transfer", addr(key(2)), big.NewInt(4))})
	if spend.Err != nil || len(spend.Logs) != 1 {
		t.Fatalf("%+v", spend)
	}
	if got := tokenBalance(t, st, tokenAt(0), to); got.Int64() != 5 {
		t.Fatalf("balance is %s", got)
	}
	if got := tokenBalance(t, stateOf(t, c), tokenAt(0), to); got.Sign() != 0 {
		t.Fatalf("another view sees %s", got)
	}
	if !bytes.Equal(before, fingerprint(t, c)) {
		t.Fatal("a simulation changed the store")
	}
}

func TestFailedCallIsRolledBackWithNonceAndAuthorizations(t *testing.T) {
	c := memoryChain(t)
	st := stateOf(t, c)
	eoa := key(3)
	res := st.Call(chain.Message{
		From: addr(treasury()), To: tokenAt(0), Data: pack(t, "Token", "transfer", common.Address{}, big.NewInt(1)),
		Authorizations: auths(authorize(t, eoa, c.ID(), tokenAt(1), 0)),
	})
	if !errors.Is(res.Err, chain.ErrReverted) || len(res.Return) != 36 || res.Logs != nil || res.GasUsed == 0 {
		t.Fatalf("%+v", res)
	}
	if st.Nonce(addr(treasury())) != 0 || st.Nonce(addr(eoa)) != 0 || st.Code(addr(eoa)) != nil {
		t.Fatal("a failed call left something")
	}
	ok := st.Call(chain.Message{From: addr(key(5)), To: addr(eoa),
		Authorizations: auths(authorize(t, eoa, c.ID(), tokenAt(1), 0)), Data: pack(t, "Token", "decimals")})
	if ok.Err != nil || st.Nonce(addr(eoa)) != 1 || len(st.Code(addr(eoa))) != 23 {
		t.Fatalf("%+v, nonce %d", ok, st.Nonce(addr(eoa)))
	}
}

func TestCallFromAContractWithoutFundsOrNonceIsAllowed(t *testing.T) {
	c := memoryChain(t)
	st := stateOf(t, c)
	res := st.Call(chain.Message{From: tokenAt(1), To: tokenAt(0),
		Data: pack(t, "Token", "approve", addr(key(1)), big.NewInt(1))})
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	if res := st.Call(chain.Message{From: tokenAt(1), To: addr(key(1)), Value: big.NewInt(1)}); res.Err == nil {
		t.Fatal("value was paid without funds")
	}
}

func TestOverlayChangesOneViewOnly(t *testing.T) {
	c := memoryChain(t)
	st := stateOf(t, c)
	a, n := addr(key(1)), uint64(7)
	slot := common.Hash{31: 1}
	// Returns slot 1: PUSH1 1 SLOAD PUSH1 0 MSTORE PUSH1 32 PUSH1 0 RETURN.
	code := common.FromHex("60015460005260206000f3")
	st.Apply(chain.Overlay{a: {Balance: big.NewInt(50), Nonce: &n, Code: code,
		Storage: map[common.Hash]common.Hash{slot: {31: 42}}}})
	if st.Err() != nil || st.Balance(a).Int64() != 50 || st.Nonce(a) != 7 || !bytes.Equal(st.Code(a), code) ||
		st.Storage(a, slot) != (common.Hash{31: 42}) {
		t.Fatal("the overlay does not read back")
	}
	if res := st.Call(chain.Message{To: a}); res.Err != nil || new(big.Int).SetBytes(res.Return).Int64() != 42 {
		t.Fatalf("%+v", res)
	}
	if other := stateOf(t, c); other.Balance(a).Sign() != 0 || other.Code(a) != nil {
		t.Fatal("another view sees the overlay")
	}
	st.Apply(chain.Overlay{a: {Code: []byte{}}, tokenAt(0): {Storage: map[common.Hash]common.Hash{slot: {}}}})
	if st.Code(a) != nil || st.Balance(a).Int64() != 50 {
		t.Fatal("removing the code does not work")
	}
}

func TestImpossibleOverlayFailsEveryCall(t *testing.T) {
	for name, balance := range map[string]*big.Int{"negative": big.NewInt(-1),
		"257 bits": new(big.Int).Lsh(big.NewInt(1), 256)} {
		t.Run(name, func(t *testing.T) {
			st := stateOf(t, memoryChain(t))
			st.Apply(chain.Overlay{addr(key(1)): {Balance: balance}})
			if res := st.Call(chain.Message{To: tokenAt(0), Data: pack(t, "Token", "decimals")}); !errors.Is(res.Err,
				exec.ErrAmount) || st.Err() == nil {
				t.Fatalf("%+v", res)
			}
		})
	}
	st := stateOf(t, memoryChain(t))
	if res := st.Call(chain.Message{To: tokenAt(0), Value: big.NewInt(-1)}); !errors.Is(res.Err, exec.ErrAmount) {
		t.Fatalf("%+v", res)
	}
}

func TestPendingBlockIsTheNextOneAtTheGivenTime(t *testing.T) {
	c := memoryChain(t)
	seal(t, c)
	head := seal(t, c)
	st, err := c.State(context.Background(), head.Time+30)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if st.Header().Hash != head.Hash {
		t.Fatalf("header is %+v", st.Header())
	}
	a := addr(key(1))
	run := func(code string) *big.Int {
		st.Apply(chain.Overlay{a: {Code: common.FromHex(code + "60005260206000f3")}})
		res := st.Call(chain.Message{To: a})
		if res.Err != nil {
			t.Fatal(res.Err)
		}
		return new(big.Int).SetBytes(res.Return)
	}
	for name, test := range map[string]struct {
		code string
		want *big.Int
	}{
		"NUMBER":                   {"43", big.NewInt(3)},
		"TIMESTAMP":                {"42", new(big.Int).SetUint64(head.Time + 30)},
		"CHAINID":                  {"46", big.NewInt(8453)},
		"GASLIMIT":                 {"45", big.NewInt(GasLimit)},
		"BLOCKHASH(2)":             {"600240", head.Hash.Big()},
		"BLOCKHASH(1)":             {"600140", head.Parent.Big()},
		"BLOCKHASH(pending)":       {"600340", new(big.Int)},
		"CLZ is known since Osaka": {"60011e", big.NewInt(255)},
	} {
		if got := run(test.code); got.Cmp(test.want) != 0 {
			t.Errorf("%s is %s, want %s", name, got, test.want)
		}
	}
	early, err := c.State(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	early.Apply(chain.Overlay{a: {Code: common.FromHex("4260005260206000f3")}})
	if res := early.Call(chain.Message{To: a}); new(big.Int).SetBytes(res.Return).Uint64() != head.Time {
		t.Fatal("a pending block is before its parent")
	}
}

func TestSimulatedGasEqualsSealedGas(t *testing.T) {
	c := memoryChain(t)
	tx := sendToken(t, treasury(), tokenAt(0), addr(key(1)), 7)
	st := stateOf(t, c)
	res := st.Call(chain.Message{From: addr(treasury()), To: tx.To, Data: tx.Data, Gas: tx.Gas})
	st.Close()
	b := seal(t, c, tx)
	if res.Err != nil || res.GasUsed != b.Receipts[0].GasUsed {
		t.Fatalf("simulated %d, sealed %d", res.GasUsed, b.Receipts[0].GasUsed)
	}
}

func TestOldViewStaysFrozenWhileBlocksAreSealed(t *testing.T) {
	for name, c := range map[string]*Chain{"memory": memoryChain(t), "file": boltChain(t)} {
		t.Run(name, func(t *testing.T) {
			seal(t, c, sendToken(t, treasury(), tokenAt(0), addr(key(1)), 10))
			old, err := c.State(context.Background(), 0)
			if err != nil {
				t.Fatal(err)
			}
			defer old.Close()
			done := make(chan struct{})
			go func() { // another goroutine: the rule of store.Snapshot
				defer close(done)
				for range 20 {
					seal(t, c, sendToken(t, treasury(), tokenAt(0), addr(key(1)), 1), pay(treasury(), addr(key(2)), 1))
				}
			}()
			<-done
			if got := tokenBalance(t, old, tokenAt(0), addr(key(1))); got.Int64() != 10 ||
				old.Balance(addr(key(2))).Sign() != 0 {
				t.Fatalf("the old view shows %s", got)
			}
			if got := tokenBalance(t, stateOf(t, c), tokenAt(0), addr(key(1))); got.Int64() != 30 {
				t.Fatalf("the new view shows %s", got)
			}
		})
	}
}

// Every block moves one unit from one account to another; readers must always
// see the sum, and a head that fits the state.
func TestReadersSeeWholeBlocksWhileSealing(t *testing.T) {
	for name, c := range map[string]*Chain{"memory": memoryChain(t), "file": boltChain(t)} {
		t.Run(name, func(t *testing.T) {
			a, b := key(1), key(2)
			start := seal(t, c, sendToken(t, treasury(), tokenAt(0), addr(a), 100),
				pay(treasury(), addr(a), 1e18)).Number
			stop := make(chan struct{})
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						if !consistent(t, c, start, addr(a), addr(b)) {
							return
						}
					}
				})
			}
			for range 60 {
				seal(t, c, sendToken(t, a, tokenAt(0), addr(b), 1))
			}
			close(stop)
			wg.Wait()
		})
	}
}

func consistent(t *testing.T, c *Chain, start uint64, a, b common.Address) bool {
	st, err := c.State(context.Background(), 0)
	if err != nil {
		t.Error(err)
		return false
	}
	defer st.Close()
	x, y := tokenBalance(t, st, tokenAt(0), a).Uint64(), tokenBalance(t, st, tokenAt(0), b).Uint64()
	if x+y != 100 || y != st.Header().Number-start {
		t.Errorf("at block %d the balances are %d and %d", st.Header().Number, x, y)
		return false
	}
	blk, found, err := c.Block(context.Background(), c.Head().Number)
	if err != nil || !found || len(blk.Receipts) == 0 {
		t.Errorf("the head is not stored: %v, %v", found, err)
		return false
	}
	return true
}

func TestDamagedStateIsAnErrorAndNoZeroBalance(t *testing.T) {
	c := memoryChain(t)
	a := addr(treasury())
	err := c.store.Update(func(tx store.Tx) error {
		return tx.Bucket(c.layout.state).Put(accountKeyOf(a), []byte("rubbish"))
	})
	if err != nil {
		t.Fatal(err)
	}
	st := stateOf(t, c)
	st.Balance(a)
	if !errors.Is(st.Err(), ErrDamaged) {
		t.Fatalf("error is %v", st.Err())
	}
	if res := st.Call(chain.Message{To: tokenAt(0)}); !errors.Is(res.Err, ErrDamaged) {
		t.Fatalf("%+v", res)
	}
	if _, err := c.Seal(context.Background(),
		chain.SealRequest{Txs: []chain.Tx{pay(treasury(), addr(key(1)), 1)}}); err == nil {
		t.Fatal("a block was sealed on a damaged state")
	}
}
