package evm

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"pgregory.net/rapid"

	"coffer/api/service/chain"
	"coffer/api/service/store"
)

// transfers seals blocks in which some of three tokens move among some of three holders; every fourth has no logs.
func transfers(tb testing.TB, c *Chain, blocks int) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range blocks {
		var txs []chain.Tx
		for range i % 4 {
			txs = append(txs, sendToken(tb, treasury(), tokenAt(random.IntN(3)), addr(key(1+random.IntN(3))), 1))
		}
		seal(tb, c, txs...)
	}
}

// allLogs reads the logs of every block.
func allLogs(tb testing.TB, n *Node) (out []*types.Log) {
	tb.Helper()
	for number := range n.Head().Number.Uint64() + 1 {
		for _, r := range blockOf(tb, n, number).Receipts {
			out = append(out, r.Logs...)
		}
	}
	return out
}

// A query gives what reading every block and looking at every log gives, also while blocks are added.
func TestLogsOfAQueryAreThoseOfAFullScan(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	transfers(t, c, 40)
	topics := func(rt *rapid.T, label string) []common.Hash {
		return rapid.SliceOfN(rapid.SampledFrom([]common.Hash{{1}, common.BytesToHash(addr(treasury()).Bytes()),
			common.BytesToHash(addr(key(1)).Bytes()), common.BytesToHash(addr(key(2)).Bytes()),
			allLogs(t, n)[0].Topics[0]}), 0, 3).Draw(rt, label)
	}
	rapid.Check(t, func(rt *rapid.T) {
		transfers(t, c, rapid.IntRange(0, 2).Draw(rt, "blocks"))
		q := LogQuery{
			From: rapid.Uint64Range(0, 45).Draw(rt, "from"), To: rapid.Uint64Range(0, 45).Draw(rt, "to"),
			Addresses: rapid.SliceOfN(rapid.SampledFrom([]common.Address{tokenAt(0), tokenAt(1), tokenAt(2), {9}}),
				0, 3).Draw(rt, "addresses"),
		}
		for i := range rapid.IntRange(0, 5).Draw(rt, "places") {
			q.Topics = append(q.Topics, topics(rt, string(rune('0'+i))))
		}
		if rapid.IntRange(0, 5).Draw(rt, "by hash") == 0 {
			hash := blockOf(t, n, min(q.From, n.Head().Number.Uint64())).Hash
			q.BlockHash = &hash
		}
		var want []*types.Log
		for _, l := range allLogs(t, n) {
			inRange := l.BlockNumber >= q.From && l.BlockNumber <= q.To
			if q.BlockHash != nil {
				inRange = l.BlockHash == *q.BlockHash
			}
			if inRange && q.matches(l) {
				want = append(want, l)
			}
		}
		got, err := n.Logs(context.Background(), q)
		if err != nil || !reflect.DeepEqual(got, want) {
			rt.Fatalf("%+v gives %d logs, a scan %d: %v", q, len(got), len(want), err)
		}
	})
}

func TestALogMatchesByPlace(t *testing.T) {
	l := &types.Log{Address: common.Address{1}, Topics: []common.Hash{{1}, {2}}}
	any, one, two := []common.Hash(nil), []common.Hash{{1}}, []common.Hash{{3}, {2}}
	for _, c := range []struct {
		q    LogQuery
		want bool
	}{
		{LogQuery{}, true},
		{LogQuery{Addresses: []common.Address{{2}, {1}}}, true},
		{LogQuery{Addresses: []common.Address{{2}}}, false},
		{LogQuery{Topics: [][]common.Hash{one}}, true},
		{LogQuery{Topics: [][]common.Hash{any, two}}, true},
		{LogQuery{Topics: [][]common.Hash{one, one}}, false},
		{LogQuery{Topics: [][]common.Hash{one, any}}, true},
		{LogQuery{Topics: [][]common.Hash{one, two, any}}, false}, // fewer topics than places
	} {
		if c.q.matches(l) != c.want {
			t.Errorf("%+v matches: %v", c.q, !c.want)
		}
	}
}

func TestTheLimitOfLogsNamesTheRangeThatWorks(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	transfers(t, c, 30)
	q := LogQuery{From: 1, To: 30, Limit: 10}
	_, err := n.Logs(context.Background(), q)
	var tooMany *TooManyLogsError
	if !errors.As(err, &tooMany) {
		t.Fatal(err)
	}
	q.To = uint64(tooMany.Through)
	some, err := n.Logs(context.Background(), q)
	if err != nil || len(some) == 0 || len(some) > 10 {
		t.Fatalf("%d logs: %v", len(some), err)
	}
	q.To++
	if _, err := n.Logs(context.Background(), q); err == nil {
		t.Fatal("one block more works as well")
	}
	q = LogQuery{From: 4, To: 30, Limit: 2} // block 4 has three
	if _, err := n.Logs(context.Background(), q); err == nil ||
		err.Error() != "block 4 alone has more than 2 matching logs" {
		t.Fatal(err)
	}
	if _, err := n.Logs(context.Background(), LogQuery{BlockHash: &common.Hash{1}}); !errors.Is(err, ErrUnknownBlock) {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := n.Logs(ended, LogQuery{To: 9}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// An index that is cut and filled again is one that never had more.
func TestAnIndexThatIsCutIsThatOfAShorterChain(t *testing.T) {
	c := memoryChain(t)
	n := testNode(t, c)
	transfers(t, c, 20)
	everything := LogQuery{To: 1 << 62}
	if _, err := n.Logs(context.Background(), everything); err != nil {
		t.Fatal(err)
	}
	short := newIndex()
	if err := c.scan(context.Background(), &short.logged, func(number uint64, v []byte) error {
		if number > 11 {
			return errors.New("enough")
		}
		return short.addLogs(number, v)
	}); err == nil {
		t.Fatal("it is no longer")
	}
	n.index.cut(11)
	if !reflect.DeepEqual(n.index.address, short.address) || !reflect.DeepEqual(n.index.topic, short.topic) ||
		!reflect.DeepEqual(n.index.any, short.any) || n.index.logged != short.logged {
		t.Fatalf("%+v\n%+v", n.index, short)
	}
	want := allLogs(t, n)
	if got, err := n.Logs(context.Background(), everything); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%d logs of %d: %v", len(got), len(want), err)
	}
}

// A range of 10 000 blocks takes the time of its hits.
func BenchmarkLogsOf10000Blocks(b *testing.B) {
	owner := addr(treasury())
	spec := Spec{ChainID: 10, Time: genesisTime, Alloc: []Account{{Address: owner, Balance: tenToThe18(1000)}}}
	for i := range 2 {
		spec.Alloc = append(spec.Alloc, predeployed(b, initCode(b, "Token", "T", "T", uint8(6), owner,
			big.NewInt(supply)), tokenAt(i))...)
	}
	c := openTest(b, store.NewMemory(), spec)
	n := NewNode(c, NodeOptions{})
	defer n.Close()
	for i := range 10_000 {
		token := tokenAt(0)
		if i%1000 == 0 {
			token = tokenAt(1)
		}
		seal(b, c, sendToken(b, treasury(), token, addr(key(1)), 1))
	}
	for name, q := range map[string]LogQuery{
		"10 hits":     {To: 10_000, Addresses: []common.Address{tokenAt(1)}},
		"no hit":      {To: 10_000, Addresses: []common.Address{{1}}},
		"10000 hits":  {To: 10_000},
		"after block": {From: 9_990, To: 10_000, Addresses: []common.Address{tokenAt(1)}},
	} {
		b.Run(name, func(b *testing.B) {
			if _, err := n.Logs(context.Background(), q); err != nil { // the index
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := n.Logs(context.Background(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
