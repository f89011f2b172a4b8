package ethrpc

import (
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// topics are the topics of logs, as numbers.
func topics(t *testing.T, logs []types.Log) (out []uint64) {
	t.Helper()
	for _, l := range logs {
		out = append(out, l.Topics[0].Big().Uint64())
	}
	return out
}

func (l *lab) wantLogs(t *testing.T, want []uint64, filter object) {
	t.Helper()
	if got := topics(t, into[[]types.Log](t, l.call("eth_getLogs", filter))); !slices.Equal(got, want) {
		t.Errorf("%v gives %v, want %v", filter, got, want)
	}
}

func TestLogsAreFoundByRangeAddressAndTopic(t *testing.T) {
	l := newLab(t)
	for _, n := range []uint64{1, 2, 3, 2} {
		l.note(number(n))
	}
	two := number(2)
	l.wantLogs(t, []uint64{2}, object{})
	l.wantLogs(t, []uint64{1, 2, 3, 2}, object{"fromBlock": "earliest", "toBlock": "latest"})
	l.wantLogs(t, []uint64{2, 3}, object{"fromBlock": "0x2", "toBlock": "0x3"})
	l.wantLogs(t, []uint64{2, 2}, object{"fromBlock": "0x0", "topics": []any{two}})
	l.wantLogs(t, []uint64{1, 3}, object{"fromBlock": "0x0", "topics": []any{[]any{number(1), number(3)}}})
	l.wantLogs(t, []uint64{1, 2, 3, 2}, object{"fromBlock": "0x0", "topics": []any{[]any{number(1), nil}}})
	l.wantLogs(t, []uint64{1, 2, 3, 2}, object{"fromBlock": "0x0", "topics": []any{nil}})
	l.wantLogs(t, nil, object{"fromBlock": "0x0", "topics": []any{nil, nil}}) // they have one topic only
	l.wantLogs(t, []uint64{1, 2, 3, 2}, object{"fromBlock": "0x0", "address": notes.at})
	l.wantLogs(t, nil, object{"fromBlock": "0x0", "address": []any{echoes.at, reverts.at}})
	l.wantLogs(t, []uint64{1, 2, 3, 2}, object{"fromBlock": "0x0", "address": []any{echoes.at, notes.at}})
	b := into[types.Header](t, l.call("eth_getHeaderByNumber", "0x3"))
	l.wantLogs(t, []uint64{3}, object{"blockHash": b.Hash()})
	l.is("[]", "eth_getLogs", object{"fromBlock": "0x0", "topics": []any{number(9)}})
}

func TestALogFilterThatCannotBeIsRefused(t *testing.T) {
	l := newLab(t)
	l.note(number(1))
	l.fails(-32602, "invalid block range params", "eth_getLogs", object{"fromBlock": "0x1", "toBlock": "0x0"})
	l.fails(-32602, "block range extends beyond current head block", "eth_getLogs",
		object{"fromBlock": "0x1", "toBlock": "0x2"})
	l.fails(-32602, "pending logs are not supported", "eth_getLogs", object{"toBlock": "pending"})
	l.fails(-32602, "pending logs are not supported", "eth_newFilter", object{"fromBlock": "pending"})
	l.fails(-32602, "invalid block range params", "eth_newFilter", object{"fromBlock": "0x1", "toBlock": "0x0"})
	l.fails(-32602, "invalid argument 0: cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other",
		"eth_getLogs", object{"fromBlock": "0x1", "blockHash": common.Hash{}})
	l.fails(-32000, "unknown block", "eth_getLogs", object{"blockHash": common.Hash{1}})
	l.fails(-32602, "invalid argument 0: exceed max topics", "eth_getLogs", object{"topics": make([]any, 5)})
	l.fails(-32602, "invalid argument 0: exceed max addresses or topics per search position", "eth_getLogs",
		object{"address": make([]common.Address, 1001)})
}

func TestAFilterTellsWhatIsNewSinceTheLastPoll(t *testing.T) {
	l := newLab(t)
	l.note(number(1))
	blocks := into[string](t, l.call("eth_newBlockFilter"))
	logs := into[string](t, l.call("eth_newFilter", object{"fromBlock": "0x0", "address": notes.at}))
	hashes := into[string](t, l.call("eth_newPendingTransactionFilter"))
	full := into[string](t, l.call("eth_newPendingTransactionFilter", true))
	for _, id := range []string{blocks, logs, hashes, full} {
		l.is("[]", "eth_getFilterChanges", id)
	}
	second := l.note(number(2))
	third := l.note(number(3))
	if got := topics(t, into[[]types.Log](t, l.call("eth_getFilterChanges", logs))); !slices.Equal(got,
		[]uint64{2, 3}) {
		t.Errorf("%v", got)
	}
	if got := topics(t, into[[]types.Log](t, l.call("eth_getFilterLogs", logs))); !slices.Equal(got,
		[]uint64{1, 2, 3}) {
		t.Errorf("%v", got)
	}
	if got := into[[]common.Hash](t, l.call("eth_getFilterChanges", blocks)); len(got) != 2 ||
		got[1] != l.node.HeadHash() {
		t.Errorf("%v", got)
	}
	if got := into[[]common.Hash](t, l.call("eth_getFilterChanges", hashes)); !slices.Equal(got,
		[]common.Hash{second, third}) {
		t.Errorf("%v", got)
	}
	if got := into[[]Transaction](t, l.call("eth_getFilterChanges", full)); len(got) != 2 || got[0].Hash != second {
		t.Errorf("%v", got)
	}
	for _, id := range []string{blocks, logs, hashes, full} {
		l.is("[]", "eth_getFilterChanges", id)
		l.is("true", "eth_uninstallFilter", id)
		l.is("false", "eth_uninstallFilter", id)
		l.fails(-32000, "filter not found", "eth_getFilterChanges", id)
	}
	l.fails(-32000, "filter not found", "eth_getFilterLogs", blocks)
}

func TestAPendingFilterTellsEveryTransactionOnce(t *testing.T) {
	l := newLab(t)
	id := into[string](t, l.call("eth_newPendingTransactionFilter"))
	held := l.send(key(0), dynamic(1, &echoes.at, 0, nil))
	l.is(`["`+held.Hex()+`"]`, "eth_getFilterChanges", id)
	first := l.send(key(0), dynamic(0, &echoes.at, 0, nil))
	l.is(`["`+first.Hex()+`"]`, "eth_getFilterChanges", id)
	l.is(`[]`, "eth_getFilterChanges", id)
}

func TestAFilterExpiresFiveMinutesAfterItsLastPoll(t *testing.T) {
	l := newLab(t)
	id := into[string](t, l.call("eth_newBlockFilter"))
	l.wait(5 * time.Minute)
	l.is("[]", "eth_getFilterChanges", id)
	l.wait(5*time.Minute + time.Second)
	l.fails(-32000, "filter not found", "eth_getFilterChanges", id)
}

func TestFiltersAreBoundedAndExpiredOnesMakeRoom(t *testing.T) {
	l := newLab(t)
	for range mostFilters {
		l.call("eth_newBlockFilter")
	}
	l.fails(-32000, "too many filters: uninstall some, or wait until they expire", "eth_newBlockFilter")
	l.wait(filterAge + time.Second)
	l.call("eth_newBlockFilter")
	many := object{"address": make([]common.Address, 1000), "topics": []any{make([]common.Hash, 1000)}}
	for range mostChosen / 2000 {
		l.call("eth_newFilter", many)
	}
	l.fails(-32000, "too many filters: uninstall some, or wait until they expire", "eth_newFilter", many)
	l.call("eth_newFilter", object{})
}

// TestAnAnswerWithTooManyLogsNamesTheRangeThatWorks: tools halve their ranges by it.
func TestAnAnswerWithTooManyLogsNamesTheRangeThatWorks(t *testing.T) {
	l := newLab(t)
	for n, logs := range []uint64{6000, 4000, 1, 10_001} {
		word := number(logs)
		tx := dynamic(uint64(n), &emits.at, 0, word[:])
		tx.Gas = 16_000_000
		l.send(key(0), tx)
	}
	count := func(filter object) int {
		t.Helper()
		return len(into[[]types.Log](t, l.call("eth_getLogs", filter)))
	}
	l.fails(-32602, "query returned more than 10000 results, this block range should work: [0x0, 0x2]", "eth_getLogs",
		object{"fromBlock": "0x0", "address": emits.at})
	if n := count(object{"fromBlock": "0x0", "toBlock": "0x2"}); n != 10_000 {
		t.Errorf("%d logs", n)
	}
	id := into[string](t, l.call("eth_newFilter", object{"fromBlock": "0x4", "toBlock": "0x4"}))
	l.fails(-32602, "query returned more than 10000 results in block 0x4", "eth_getFilterLogs", id)
}
