package service_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/devclock"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// brokenDisk is a store that fails as a disk does: the text of its errors names a file.
type brokenDisk struct {
	store.Store
	reads, writes atomic.Bool // that fail
}

const diskPath = "/home/alice/.local/share/coffer"

var errDisk = &fs.PathError{Op: "write", Path: diskPath + "/service.db", Err: syscall.EIO}

func (d *brokenDisk) Update(f func(store.Tx) error) error {
	if err := d.Store.Update(f); err != nil || !d.writes.Load() {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrNotWritten, errDisk)
}

func (d *brokenDisk) View(f func(store.Tx) error) error {
	if d.reads.Load() {
		return fmt.Errorf("%s: %w", diskPath, store.ErrDamaged)
	}
	return d.Store.View(f)
}

func (d *brokenDisk) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if d.reads.Load() {
		return nil, errDisk
	}
	return d.Store.Snapshot(ctx)
}

// lines is a log that may be written to from anywhere.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

// taken returns what was written since the last time.
func (l *lines) taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.buf.Reset()
	return l.buf.String()
}

// Whatever fails below an endpoint, a caller reads "internal error", and the log has the text with its path.
func TestAFaultOfTheDiskIsForTheLogAndNotForCallers(t *testing.T) {
	disk, log := &brokenDisk{Store: storetest.New(t)}, new(lines)
	so := options(disk)
	clock := devclock.New(so.Clock)
	so.Clock, so.Log = clock.Now, slog.New(slog.NewTextHandler(log, nil))
	s := open(t, so)
	a := common.HexToAddress("0x00000000000000000000000000000000000a11ce")
	n, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0",
		Dev: &service.Dev{Clock: clock, Accounts: []common.Address{a}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	if err := s.Endow(t.Context(), []common.Address{a}, true, nil); err != nil {
		t.Fatal(err)
	}
	const someone = "2aTKqHnMUZkCeSQoDrV3QCR1Mrx52oVPBxzPAHbXSnZw"
	type call struct {
		method string
		params []any
	}
	point := s.Network().Pins.EntryPoint
	userOp := map[string]any{"sender": a, "nonce": "0x0", "callData": "0x", "callGasLimit": "0x0",
		"verificationGasLimit": "0x0", "preVerificationGas": "0x0", "maxFeePerGas": "0x0",
		"maxPriorityFeePerGas": "0x0", "signature": "0x"}
	block := map[string]any{"calls": []any{map[string]any{"to": a}}}
	evmURL, solanaURL := n.List[0].HTTP, n.List[len(n.List)-1].HTTP
	for _, c := range []struct {
		fails *atomic.Bool
		url   string
		calls []call
	}{
		{&disk.reads, evmURL, []call{
			{"eth_getBalance", []any{a, "latest"}}, {"eth_getTransactionCount", []any{a, "pending"}},
			{"eth_getBlockByNumber", []any{"latest", true}}, {"eth_getTransactionReceipt", []any{common.Hash{1}}},
			{"eth_call", []any{map[string]any{"to": a}, "latest"}}, {"eth_estimateGas", []any{map[string]any{"to": a}}},
			{"eth_getLogs", []any{map[string]any{"fromBlock": "0x0"}}}, {"eth_getProof", []any{a, []any{}, "latest"}},
			{"eth_simulateV1", []any{map[string]any{"blockStateCalls": []any{block}}, "latest"}},
			{"eth_createAccessList", []any{map[string]any{"to": a}}},
			{"eth_fillTransaction", []any{map[string]any{"from": a, "to": a}}},
			{"debug_traceCall", []any{map[string]any{"to": a}, "latest"}},
			{"debug_traceBlockByNumber", []any{"latest"}},
			{"eth_sendUserOperation", []any{userOp, point}}, {"eth_estimateUserOperationGas", []any{userOp, point}},
			{"eth_getUserOperationReceipt", []any{common.Hash{1}}},
			{"eth_sendTransaction", []any{map[string]any{"from": a, "to": a}}},
		}},
		{&disk.reads, solanaURL, []call{
			{"getBalance", []any{someone}}, {"getAccountInfo", []any{someone}},
			{"requestAirdrop", []any{someone, 5_000_000}}, {"getSignaturesForAddress", []any{someone}},
			{"getTokenAccountsByOwner", []any{someone, map[string]any{
				"programId": "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"}}},
		}},
		{&disk.writes, evmURL, []call{
			{"eth_sendTransaction", []any{map[string]any{"from": a, "to": a}}}, {"evm_mine", nil},
			{"anvil_setBalance", []any{a, "0x5"}},
		}},
		{&disk.writes, solanaURL, []call{{"requestAirdrop", []any{someone, 6_000_000}}}},
	} {
		c.fails.Store(true)
		log.taken()
		for _, call := range c.calls {
			got := rpc(t, c.url, call.method, call.params...)
			if want := `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"internal error"}}`; got != want {
				t.Errorf("%s: %s", call.method, got)
			}
			text := log.taken()
			if !strings.Contains(text, diskPath) || !strings.Contains(text, "method="+call.method) {
				t.Errorf("%s: the log has %q", call.method, text)
			}
		}
		c.fails.Store(false)
	}
	if got := result(t, evmURL, "eth_getBalance", a, "latest"); got == "0x0" {
		t.Error("afterwards the account has nothing")
	}
}

// fullStore holds as many snapshots as it can.
type fullStore struct {
	store.Store
	full atomic.Bool
}

func (f *fullStore) Snapshot(ctx context.Context) (store.Snapshot, error) {
	if f.full.Load() {
		return nil, store.ErrBusy
	}
	return f.Store.Snapshot(ctx)
}

// TestWhoFindsNoPlaceToReadIsAskedToComeBack: it is no fault of the service, and the next second has one.
func TestWhoFindsNoPlaceToReadIsAskedToComeBack(t *testing.T) {
	full := &fullStore{Store: storetest.New(t)}
	s := open(t, options(full))
	c := newClient(t, s, api.AccountKernelV31, 9)
	body := c.transfer(5_000_000)
	c.prepare(body)
	full.full.Store(true)
	res, answer := post(t, c.rt, "https://x/api"+c.preparePath(), body)
	if res.StatusCode != 503 || res.Header.Get("Retry-After") != "1" ||
		!strings.Contains(answer, "ask again in a moment") {
		t.Errorf("%d %v %s", res.StatusCode, res.Header, answer)
	}
	full.full.Store(false)
	c.prepare(body)
}
