//go:build unix

package devnet

import (
	"bytes"
	"encoding/hex"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/caip"
	kinds "coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/devnet"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/store"
	"coffer/ui/e2e/rig"
)

// paidIn is what `coffer refund --json` says of a payment.
type paidIn struct {
	QuoteID, Chain, Depositor, State, Transaction string
	Due                                           bool
	Pays                                          []struct{ Asset, Amount string }
}

func refundsOf(t *testing.T, out string) (all []paidIn) {
	t.Helper()
	must(t, json.Unmarshal([]byte(out), &all, json.MatchCaseInsensitiveNames(true)))
	return all
}

// TestRefundWithoutTheService: a service stops after the payments went in and before it delivers. The chains go on
// elsewhere, and once the deadline has passed anyone's key takes the money back.
func TestRefundWithoutTheService(t *testing.T) {
	t.Parallel()
	env, between := rig.Team(t, "--fault", "slow-fill=24h")
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	cmd, out, errs := s.Starts("transfer", "--asset", "usdc", "--amount", "100", "--chain", "base", "--to",
		rig.Payee(t), "--yes", "--accept", "V4,Y5", "--json", "--wait", "2s")
	if _ = cmd.Wait(); !strings.Contains(out.String(), "IN_PROGRESS") {
		t.Fatal(out, errs)
	}
	printed, _ := s.Runs(0, "refund", "--json")
	all := refundsOf(t, printed)
	if len(all) == 0 || all[0].State != "" || all[0].Due {
		t.Fatal(printed)
	}
	one := all[0]
	rig.Interrupt(t, between.Service)

	in := afterwards(t, filepath.Dir(networkFileOf(t, env)))
	var ahead atomic.Int64
	id := strings.TrimPrefix(one.Chain, "eip155:")
	url := in.serves(t, id, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	asset, err := caip.ParseAsset(one.Pays[0].Asset)
	must(t, err)
	balance := func() *big.Int {
		got, err := in.Balance(t.Context(), common.HexToAddress(one.Depositor), asset)
		must(t, err)
		return got
	}
	before := balance()
	key, err := crypto.GenerateKey()
	must(t, err)
	payer := crypto.PubkeyToAddress(key.PublicKey)
	keyFile := filepath.Join(t.TempDir(), "key")
	must(t, os.WriteFile(keyFile, []byte(hex.EncodeToString(crypto.FromECDSA(key))), 0o600))
	send := func(code int, more ...string) (string, string) {
		t.Helper()
		return s.Runs(code, append([]string{"refund", one.QuoteID, "--rpc", url, "--key-file", keyFile}, more...)...)
	}

	if _, errs := s.Runs(2, "refund", one.QuoteID); !strings.Contains(errs, "--rpc URL") {
		t.Error(errs)
	}
	if out, errs := send(1, "--yes"); !strings.Contains(out, "the refund deadline has not come: it is ") ||
		!strings.Contains(errs, "has not come") {
		t.Error(out, errs)
	}
	ahead.Store(int64(25 * time.Hour))
	if out, _ := send(0, "--print"); !strings.Contains(out, "held, and past its deadline") {
		t.Error(out)
	}
	if _, errs := send(2); !strings.Contains(errs, "nothing was sent") {
		t.Error(errs)
	}
	if _, errs := send(1, "--yes"); !strings.Contains(errs, payer.Hex()+" has 0 ") {
		t.Errorf("a key without coins: %s", errs)
	}
	in.call(t, url, "anvil_setBalance", payer, "0xde0b6b3a7640000")
	if balance().Cmp(before) != 0 {
		t.Fatal("it came back already")
	}
	screen, err := rig.Asks(t, env, []string{"refund", one.QuoteID, "--rpc", url}, "Passphrase of profile team",
		rig.Passphrase, "Key that pays for gas", hex.EncodeToString(crypto.FromECDSA(key)),
		"Type refund to send 1 call", "no")
	if err == nil || !strings.Contains(screen, "paid by "+payer.Hex()[:10]) ||
		!strings.Contains(screen, "nothing was sent") ||
		strings.Contains(screen, hex.EncodeToString(crypto.FromECDSA(key))) {
		t.Errorf("%v\n%s", err, screen)
	}
	out2, _ := send(0, "--yes", "--json")
	did := refundsOf(t, out2)
	if len(did) != 1 || did[0].State != "refunded" || len(did[0].Transaction) != 66 || did[0].Due {
		t.Error(out2)
	}
	paid, _ := new(big.Int).SetString(one.Pays[0].Amount, 10)
	if got := new(big.Int).Sub(balance(), before); got.Cmp(paid) != 0 {
		t.Errorf("%s came back, %s was paid", got, paid)
	}
	if out, _ := send(0, "--yes"); !strings.Contains(out, "refunded already") {
		t.Error(out)
	}
	if _, errs := s.Runs(1, "refund", "--rpc", "http://127.0.0.1:1"); !strings.Contains(errs, "127.0.0.1:1") {
		t.Error(errs)
	}
}

func networkFileOf(t *testing.T, env []string) string {
	t.Helper()
	out, _, code := rig.Run(t, env, "profile", "list", "--json")
	_, rest, found := strings.Cut(out, `"networkFile":"`)
	path, _, _ := strings.Cut(rest, `"`)
	if code != 0 || !found {
		t.Fatal(out)
	}
	return path
}

// left are the chains that a service left, with no service on them.
type left struct {
	*devnet.Installation
	store store.Store
}

func afterwards(t *testing.T, dir string) left {
	t.Helper()
	s, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{Wait: 5 * time.Second,
		Holder: "test"})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	in, err := devnet.Open(s, devnet.Options{Clock: time.Now, Kind: kinds.Lab})
	must(t, err)
	return left{in, s}
}

// serves opens an endpoint of a chain, whose clock may be ahead.
func (l left) serves(t *testing.T, id string, clock func() time.Time) (url string) {
	t.Helper()
	number, ok := new(big.Int).SetString(id, 10)
	if !ok {
		t.Fatal(id)
	}
	c := l.Chains[number.Uint64()].(*evm.Chain)
	node := evm.NewNode(c, evm.NodeOptions{Clock: clock, Dev: true})
	t.Cleanup(node.Close)
	server := jsonrpc.NewServer(jsonrpc.Options{})
	t.Cleanup(server.Close)
	at := httptest.NewServer(server.Endpoint(ethrpc.Methods(node, ethrpc.Options{Dev: true,
		YieldToWriter: l.store.YieldToWriter})))
	t.Cleanup(at.Close)
	return at.URL
}

func (l left) call(t *testing.T, url, method string, params ...any) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	must(t, err)
	r, err := http.Post(url, "application/json", bytes.NewReader(body))
	must(t, err)
	defer r.Body.Close()
	if answer, err := io.ReadAll(r.Body); err != nil || strings.Contains(string(answer), `"error"`) {
		t.Fatal(string(answer), err)
	}
}
