package service_test

import (
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/gorilla/websocket"

	"coffer/api/service"
	"coffer/api/service/jsonrpc"
)

// senders are keys that can pay on every chain.
func senders(t *testing.T, s *service.Service, many int) (keys []*ecdsa.PrivateKey) {
	t.Helper()
	var all []common.Address
	for i := range many {
		k, err := crypto.ToECDSA(crypto.Keccak256([]byte("sender " + strconv.Itoa(i))))
		if err != nil {
			t.Fatal(err)
		}
		keys, all = append(keys, k), append(all, crypto.PubkeyToAddress(k.PublicKey))
	}
	if err := s.Endow(t.Context(), all, true, nil); err != nil {
		t.Fatal(err)
	}
	return keys
}

// raw is a signed transaction of a chain as it is sent; without a recipient the data is run.
func raw(t *testing.T, id uint64, k *ecdsa.PrivateKey, nonce uint64, to *common.Address, data []byte) string {
	t.Helper()
	tx, err := types.SignNewTx(k, types.LatestSignerForChainID(new(big.Int).SetUint64(id)), &types.DynamicFeeTx{
		ChainID: new(big.Int).SetUint64(id), Nonce: nonce, Gas: 5_000_000, GasFeeCap: big.NewInt(1e10), To: to,
		Data: data})
	if err != nil {
		t.Fatal(err)
	}
	b, err := tx.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return hexutil.Encode(b)
}

// More callers wait for a receipt than may send at once: another one still sends.
func TestCallersThatWaitForReceiptsKeepNoOtherFromSending(t *testing.T) {
	s, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	url, id := n.List[0].HTTP, n.List[0].ID
	keys := senders(t, s, 7)
	to := common.Address{9}
	var waits sync.WaitGroup
	for _, k := range keys[1:] {
		for i := range uint64(16) {
			tx := raw(t, id, k, 2+i, &to, nil)
			waits.Go(func() {
				got := rpc(t, url, "eth_sendRawTransactionSync", tx, 20_000)
				if !strings.Contains(got, `"status":"0x1"`) {
					t.Error(got)
				}
			})
		}
	}
	held := func() string { return result(t, url, "txpool_status") }
	for end := time.Now().Add(10 * time.Second); held() != `{"pending":"0x0","queued":"0x60"}`; {
		if time.Now().After(end) {
			t.Fatalf("held: %s", held())
		}
		time.Sleep(time.Millisecond)
	}
	for nonce := range uint64(2) {
		for _, k := range keys {
			result(t, url, "eth_sendRawTransaction", raw(t, id, k, nonce, &to, nil))
		}
	}
	waits.Wait()
}

// A reader that takes nothing holds up neither blocks nor other readers.
func TestASlowReaderDelaysNeitherBlocksNorOtherReaders(t *testing.T) {
	s, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0",
		Limits: jsonrpc.Limits{Write: 5 * time.Minute}}) // as long as it would take if anything waited for it
	e := n.List[0]
	k := senders(t, s, 1)[0]
	subscribe := func(kinds ...any) *websocket.Conn {
		c, res, err := websocket.DefaultDialer.Dial(e.WebSocket, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		t.Cleanup(func() { _ = c.Close() })
		for _, kind := range kinds {
			if err := c.WriteJSON(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "eth_subscribe",
				"params": []any{kind}}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.ReadMessage(); err != nil {
				t.Fatal(err)
			}
		}
		return c
	}
	for range 4 {
		subscribe("logs", "newHeads", "newPendingTransactions")
	}
	reader := subscribe("logs")
	const blocks = 60 // with an event of 100 KB each: more than the system keeps for a connection
	seen := make(chan string, blocks)
	go func() {
		defer close(seen)
		for range blocks {
			var m struct {
				Params struct {
					Result struct{ BlockNumber, Data string }
				}
			}
			if _, b, err := reader.ReadMessage(); err != nil || json.Unmarshal(b, &m) != nil {
				return
			}
			seen <- fmt.Sprint(m.Params.Result.BlockNumber, len(m.Params.Result.Data))
		}
	}()
	code := common.FromHex("620186a05fa0") // log0(0, 100 000)
	began := time.Now()
	first := result(t, e.HTTP, "eth_blockNumber")
	head, err := hexutil.DecodeUint64(first)
	if err != nil {
		t.Fatal(err)
	}
	for nonce := range uint64(blocks) {
		result(t, e.HTTP, "eth_sendRawTransaction", raw(t, e.ID, k, nonce, nil, code))
	}
	for i := range uint64(blocks) {
		select {
		case got := <-seen:
			if want := fmt.Sprint(hexutil.EncodeUint64(head+1+i), 200_002); got != want {
				t.Fatalf("the other reader got %q, expected %q", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the other reader has %d events", i)
		}
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("%d blocks took %s", blocks, took)
	}
}
