package remote_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"coffer/api/networks"
	"coffer/api/op"
	"coffer/api/rpcpool"
	"coffer/api/service/chain"
	"coffer/api/service/chain/remote"
	"coffer/api/service/signers"
)

func TestBalancesOfTwentyTokensTakeTwoRoundTrips(t *testing.T) {
	l := newLab(t)
	l.populate()
	l.node.since()
	all := append([]common.Address{{}}, l.tokens...)
	got, err := l.remote.Balances(t.Context(), l.account(0), append(all, made(2), made(9), person(3)))
	if err != nil {
		t.Fatal(err)
	}
	if trips, _ := l.node.counted(); trips > 2 {
		t.Errorf("%d round trips", trips)
	}
	if got[0].Cmp(big.NewInt(1e18)) != 0 {
		t.Errorf("%s of the coin", got[0])
	}
	for i := range l.tokens {
		if got[i+1].Cmp(big.NewInt(1e6)) != 0 {
			t.Errorf("%s of token %d", got[i+1], i)
		}
	}
	for i, v := range got[len(all):] {
		if v != nil {
			t.Errorf("contract %d is no token and has %s", i, v)
		}
	}
	if other, err := l.remote.Balances(t.Context(), l.account(0), l.tokens[:1]); err != nil || len(other) != 1 {
		t.Errorf("%v: %v", other, err)
	}
	l.node.each = noHashes
	if again, err := l.remote.Balances(t.Context(), l.account(0), all[1:]); err != nil || again[0].Cmp(got[1]) != 0 {
		t.Errorf("a node without hashes: %v, %v", again, err)
	}
	fault := errors.New("silence")
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method == "eth_call" && len(c.Params) > 0 && c.Params[0].(map[string]any)["to"] == l.tokens[3] {
			c.Err = fault
		}
		return c.Err != nil
	}
	if _, err := l.remote.Balances(t.Context(), l.account(0), all); !errors.Is(err, fault) {
		t.Errorf("an unanswered token: %v", err)
	}
}

func TestTheGateIsTheNodesOwnWord(t *testing.T) {
	l := newLab(t)
	l.populate()
	if err := l.remote.Gate(t.Context(), l.execute(0, l.transfer(0, person(2), 5))); err != nil {
		t.Error(err)
	}
	m := chain.Message{From: person(0), To: made(2), Data: []byte{1, 2, 3, 4}, Gas: 60_000}
	err := l.remote.Gate(t.Context(), m)
	var reverted *chain.RevertedError
	if !errors.Is(err, chain.ErrReverted) || !errors.As(err, &reverted) || string(reverted.Data) != "\x01\x02\x03\x04" {
		t.Errorf("%v", err)
	}
	m.To = made(9)
	if err := l.remote.Gate(t.Context(), m); err == nil || errors.Is(err, chain.ErrReverted) {
		t.Errorf("invalid code: %v", err)
	}
	m.To, m.Value = made(1), new(big.Int).Lsh(big.NewInt(1), 90)
	if err := l.remote.Gate(t.Context(), m); err == nil || errors.Is(err, chain.ErrReverted) {
		t.Errorf("more than the sender has: %v", err)
	}
}

func TestBlocksAndReceiptsAreThoseOfTheChain(t *testing.T) {
	l := newLab(t)
	a := must(types.SignSetCode(key(3), types.SetCodeAuthorization{
		ChainID: *uint256.NewInt(chainID), Address: made(1),
	}))
	l.seal(append(l.start(), chain.Tx{From: signers.Local(key(0)), To: made(2), Data: []byte{1}, Gas: 50_000},
		chain.Tx{From: signers.Local(key(2)), To: person(3), Value: big.NewInt(9), Gas: 90_000,
			Authorizations: []op.SignedAuthorization{{
				Authorization: op.Authorization{ChainID: big.NewInt(chainID), Address: a.Address, Nonce: a.Nonce},
				R:             a.R.Bytes32(), S: a.S.Bytes32(), YParity: a.V,
			}}})...)
	l.seal()
	same := func(a, b any) bool { return fmt.Sprintf("%+v", a) == fmt.Sprintf("%+v", b) } // nil and empty are one
	for n := range uint64(3) {
		want, _, err := l.chain.Block(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		got, found, err := l.remote.Block(t.Context(), n)
		if err != nil || !found || !same(got, want) {
			t.Fatalf("block %d: %+v, expected %+v: %v", n, got, want, err)
		}
		for _, r := range want.Receipts {
			got, found, err := l.remote.Receipt(t.Context(), r.TxHash)
			if err != nil || !found || !same(got, r) {
				t.Fatalf("receipt %+v, expected %+v: %v", got, r, err)
			}
		}
	}
	if _, found, err := l.remote.Block(t.Context(), 3); found || err != nil {
		t.Errorf("a block that is not there: %v", err)
	}
	if _, found, err := l.remote.Receipt(t.Context(), common.Hash{1}); found || err != nil {
		t.Errorf("a receipt that is not there: %v", err)
	}
	if _, err := l.remote.Seal(t.Context(), chain.SealRequest{}); !errors.Is(err, remote.ErrNoSeal) {
		t.Errorf("a block was made: %v", err)
	}
}

func TestAReceiptOfTwoBlocksIsReadAgain(t *testing.T) {
	l := newLab(t)
	want := l.seal(l.start()[:1]...).Receipts[0]
	other := l.seal().Hash
	torn := 1
	l.node.each = func(_ int, c *rpcpool.Call) bool {
		if c.Method == "eth_getBlockByHash" && torn > 0 {
			torn--
			c.Params[0] = other
		}
		return false
	}
	got, found, err := l.remote.Receipt(t.Context(), want.TxHash)
	if err != nil || !found || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%+v: %v", got, err)
	}
	torn = 100
	if _, found, err := l.remote.Receipt(t.Context(), want.TxHash); found || err == nil {
		t.Error("a receipt of one block with the time of another")
	}
}

func TestAFinalBlockIsSoManyBlocksAgoOrNamed(t *testing.T) {
	for _, c := range []struct {
		depth networks.Finality
		want  uint64
	}{{networks.Finality{}, 5}, {networks.Finality{Counted: true, Blocks: 2}, 3},
		{networks.Finality{Counted: true, Blocks: 9}, 0}, {networks.Finality{Counted: true}, 5}} {
		l := newLab(t, func(o *remote.Options) { o.Final = c.depth })
		for range 5 {
			l.seal()
		}
		if n, err := l.remote.Final(t.Context()); err != nil || n != c.want {
			t.Errorf("depth %s: block %d, %v", c.depth, n, err)
		}
		l.node.each = func(_ int, call *rpcpool.Call) bool {
			if call.Params[0] == "finalized" {
				call.Err = &rpcpool.Error{Code: -39001, Message: "safe block not found"}
			}
			return call.Err != nil
		}
		if n, err := l.remote.Final(t.Context()); err != nil || !c.depth.Counted && n != 0 {
			t.Errorf("a node without finality: block %d, %v", n, err)
		}
	}
}

// Without eth_createAccessList everything is found all the same, in more round trips.
func TestANodeWithoutAccessListsCostsRoundTripsOnly(t *testing.T) {
	count := func(change func(*lab), prime bool) (trips int, res chain.Result) {
		l := newLab(t)
		l.populate()
		change(l)
		st := l.state(0)
		l.node.since()
		m := l.execute(0, l.transfer(0, person(3), 5), l.transfer(1, person(4), 5), l.transfer(2, person(5), 5))
		if prime {
			l.remote.Prime(st, m, l.deploy(3), l.deploy(4))
		}
		res = st.Call(m)
		trips, _ = l.node.counted()
		return trips, res
	}
	with, a := count(func(*lab) {}, false)
	primed, p := count(func(*lab) {}, true)
	without, b := count(func(l *lab) { delete(l.node.methods, "eth_createAccessList") }, false)
	if !alike(a, b) || !alike(a, p) || a.Err != nil || len(a.Logs) != 3 {
		t.Errorf("with lists %+v, primed %+v, without %+v", a, p, b)
	}
	t.Logf("round trips with lists %d, primed %d, without %d", with, primed, without)
	if with > 3 || primed > 2 || without <= with {
		t.Errorf("too many round trips")
	}
}

// Who reads many tokens in a view says so beforehand.
func TestManyCallsTakeTwoRoundTripsWhenTheyArePrimed(t *testing.T) {
	l := newLab(t)
	l.populate()
	var next []chain.Message
	for _, at := range l.tokens {
		next = append(next, chain.Message{To: at, Data: l.pack("Token", "balanceOf", l.account(0))})
	}
	read := func(prime bool) int {
		st := l.state(0)
		l.node.since()
		if prime {
			st.(interface{ Prime(next ...chain.Message) }).Prime(next...)
		}
		for i, m := range next {
			if res := st.Call(m); res.Err != nil || new(big.Int).SetBytes(res.Return).Int64() != 1e6 {
				t.Errorf("token %d: %+v", i, res)
			}
		}
		trips, _ := l.node.counted()
		return trips
	}
	one, all := read(false), read(true)
	t.Logf("%d round trips one by one, %d primed", one, all)
	if all > 2 {
		t.Errorf("%d round trips", all)
	}
}

// The views of one question show one block, whatever is sealed meanwhile, and read everything once. What a view changed
// the next one does not see.
func TestViewsOfOneQuestionShowOneBlock(t *testing.T) {
	l := newLab(t)
	l.populate()
	ctx := chain.Together(t.Context())
	ask := chain.Message{To: l.tokens[0], Data: l.pack("Token", "balanceOf", l.account(0))}
	open := func() chain.State {
		st, err := l.remote.State(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(st.Close)
		return st
	}
	first := open()
	if r := first.Call(l.execute(0, l.transfer(0, person(1), 7))); r.Err != nil {
		t.Fatal(r.Err)
	}
	l.node.since()
	if r := first.Call(ask); r.Err != nil || new(big.Int).SetBytes(r.Return).Int64() != 1e6-7 {
		t.Fatalf("%+v", r)
	}
	l.seal()
	again := open()
	r := again.Call(ask)
	told, err := l.remote.Told(again, l.account(0), l.tokens[:1])
	if r.Err != nil || err != nil || new(big.Int).SetBytes(r.Return).Int64() != 1e6 || told[0].Int64() != 1e6 ||
		again.Header().Hash != first.Header().Hash {
		t.Errorf("%+v %v %v", r, told, err)
	}
	if trips, _ := l.node.counted(); trips != 1 { // Told
		t.Errorf("%d round trips", trips)
	}
	if !l.remote.Met(again, l.tokens[0]) || l.remote.Met(again, l.tokens[1]) {
		t.Error("it does not know what it met")
	}
	if fresh := l.state(0); fresh.Header().Hash == first.Header().Hash {
		t.Error("another question sees the old block")
	}
}
