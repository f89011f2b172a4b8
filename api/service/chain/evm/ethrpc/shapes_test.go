package ethrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

var update = flag.Bool("update", false, "write the golden answers instead of comparing them")

func golden(t *testing.T, name string, got json.RawMessage) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, pretty.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, pretty.Bytes()) {
		t.Errorf("%s: got %s want %s", name, pretty.Bytes(), want)
	}
}

// TestShapesOfEveryTransactionType keeps what is answered of a transaction of each type, of one that creates a contract
// and of one that reverts, byte for byte.
func TestShapesOfEveryTransactionType(t *testing.T) {
	l := newLab(t)
	sent := l.everyType()
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		golden(t, name+"-transaction", l.call("eth_getTransactionByHash", sent[name]))
		golden(t, name+"-receipt", l.call("eth_getTransactionReceipt", sent[name]))
	}
	golden(t, "block", l.call("eth_getBlockByNumber", "0x2", false))
	golden(t, "block-full", l.call("eth_getBlockByNumber", "latest", true))
	golden(t, "block-pending", l.call("eth_getBlockByNumber", "pending", false))
	golden(t, "header", l.call("eth_getHeaderByNumber", "0x2"))
	golden(t, "log", l.call("eth_getLogs", object{"fromBlock": "0x0", "address": notes.at}))
}

// TestGoEthereumReadsWhatIsAnswered decodes the answers with go-ethereum's own types, as its client does, and computes
// the hashes from what it has read.
func TestGoEthereumReadsWhatIsAnswered(t *testing.T) {
	l := newLab(t)
	for name, hash := range l.everyType() {
		tx := into[types.Transaction](t, l.call("eth_getTransactionByHash", hash))
		if tx.Hash() != hash {
			t.Errorf("%s: the fields make %s", name, tx.Hash())
		}
		from, err := types.Sender(types.LatestSigner(l.node.Config()), &tx)
		if err != nil || from != addr(key(0)) {
			t.Errorf("%s: from %s: %v", name, from, err)
		}
		rc := into[types.Receipt](t, l.call("eth_getTransactionReceipt", hash))
		if rc.TxHash != hash || rc.Bloom != types.CreateBloom(&rc) || (rc.Status == 1) == (name == "revert") {
			t.Errorf("%s: %+v", name, rc)
		}
	}
	for n := range l.node.Head().Number.Uint64() + 1 {
		raw := l.call("eth_getBlockByNumber", quantity(n), true)
		h := into[types.Header](t, raw)
		b := into[struct {
			Hash         common.Hash
			Transactions []*types.Transaction
			Size         string
		}](t, raw)
		if h.Hash() != b.Hash {
			t.Errorf("block %d: the fields make %s", n, h.Hash())
		}
		again := l.call("eth_getBlockByHash", b.Hash, true)
		if !bytes.Equal(raw, again) {
			t.Errorf("block %d differs by hash: %s", n, again)
		}
		var receipts []json.RawMessage
		for _, tx := range b.Transactions {
			receipts = append(receipts, l.call("eth_getTransactionReceipt", tx.Hash()))
		}
		if all := into[[]json.RawMessage](t, l.call("eth_getBlockReceipts", b.Hash)); !slices.EqualFunc(all, receipts,
			func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) {
			t.Errorf("block %d: receipts %s", n, all)
		}
	}
}

func TestWhatDoesNotExistIsNull(t *testing.T) {
	l := newLab(t)
	hash := common.Hash{1}
	for _, c := range [][]any{
		{"eth_getBlockByNumber", "0x99", true}, {"eth_getBlockByHash", hash, false}, {"eth_getHeaderByNumber", "0x99"},
		{"eth_getHeaderByHash", hash}, {"eth_getBlockReceipts", "0x99"}, {"eth_getTransactionByHash", hash},
		{"eth_getTransactionReceipt", hash}, {"eth_getBlockTransactionCountByHash", hash},
		{"eth_getTransactionByBlockNumberAndIndex", "0x0", "0x0"}, {"eth_getUncleByBlockNumberAndIndex", "0x0", "0x0"},
		{"eth_getUncleCountByBlockHash", hash}, {"eth_getHeaderByNumber", "pending"},
	} {
		l.is("null", c[0].(string), c[1:]...)
	}
	l.is(`"0x0"`, "eth_getUncleCountByBlockNumber", "latest")
	l.is(`"0x0"`, "eth_getBlockTransactionCountByNumber", "earliest")
	l.is(`"0x"`, "eth_getRawTransactionByHash", hash)
	l.note(number(1))
	l.is(`"0x0"`, "eth_getBlockTransactionCountByNumber", "pending")
	l.is("null", "eth_getTransactionByBlockNumberAndIndex", "pending", "0x0")
	l.is("[]", "eth_getBlockReceipts", "pending")
	l.is("[]", "eth_getBlockReceipts", "0x0")
	l.fails(-32000, "header not found", "debug_getRawHeader", "0x99")
}

func TestBytesOfTheProtocolHaveTheHashes(t *testing.T) {
	l := newLab(t)
	for _, hash := range l.everyType() {
		raw := l.call("eth_getRawTransactionByHash", hash)
		var tx types.Transaction
		if err := tx.UnmarshalBinary(unhex(t, raw)); err != nil || tx.Hash() != hash {
			t.Errorf("%s: %v", raw, err)
		}
	}
	head := l.node.Head()
	var h types.Header
	decode(t, l.call("debug_getRawHeader", "latest"), &h)
	var b types.Block
	decode(t, l.call("debug_getRawBlock", l.node.HeadHash()), &b)
	if h.Hash() != head.Hash() || b.Hash() != head.Hash() || len(b.Transactions()) != 1 {
		t.Errorf("%s %s", h.Hash(), b.Hash())
	}
	l.is(string(l.call("eth_getRawTransactionByHash", b.Transactions()[0].Hash())),
		"eth_getRawTransactionByBlockNumberAndIndex", "latest", "0x0")
	rc := into[[]string](t, l.call("debug_getRawReceipts", "latest"))
	if len(rc) != 1 || len(rc[0]) < 500 {
		t.Errorf("receipts %s", rc)
	}
}

func TestIdentity(t *testing.T) {
	l := newLab(t)
	l.is(`"0x2105"`, "eth_chainId")
	l.is(`"8453"`, "net_version")
	l.is(`"Coffer/test"`, "web3_clientVersion")
	l.is(`"0x0"`, "eth_blockNumber")
	l.is(`false`, "eth_syncing")
	l.is(`true`, "net_listening")
	l.is(`"0x0"`, "net_peerCount")
	l.is(`[]`, "eth_accounts")
	l.is(`"0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"`, "web3_sha3", "0x")
	l.fails(-32602, "too many arguments, want at most 0", "eth_chainId", 1)
	for _, gone := range []string{"eth_sign", "personal_sign", "eth_sendTransaction", "anvil_setBalance", "evm_mine",
		"eth_coinbase", "wallet_sendCalls"} {
		if _, err := l.try(context.Background(), gone); err == nil || err.Code != -32601 {
			t.Errorf("%s: %v", gone, err)
		}
	}
}

func TestEveryMethodYieldsToAWriterFirst(t *testing.T) {
	yields := 0
	l := newLab(t, func(o *Options) { o.YieldToWriter = func() { yields++ } })
	for name, m := range l.methods {
		before := yields
		_, _ = m(context.Background(), nil)
		if yields != before+1 {
			t.Errorf("%s yields %d times", name, yields-before)
		}
	}
}
