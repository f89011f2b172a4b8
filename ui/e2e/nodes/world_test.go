//go:build unix

// Package nodes has the built program on nodes that are not its own: anvil, where -anvil names it, and the endpoints of
// `coffer devnet` otherwise, where a test can do with those. The tests know the nodes by JSON-RPC alone and the program
// by its commands.
package nodes

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/assets"
	"coffer/ui/e2e/rig"
)

// The step "real" of .ci/run gives the path.
var anvilProgram = flag.String("anvil", "", "run on this anvil, a path, instead of a devnet")

func TestMain(m *testing.M) { rig.Main(m) }

// richKey is the first key of every development network.
const richKey = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"

// tick is the time from one block to the next.
const tick = 150 * time.Millisecond

// world is chains behind JSON-RPC. On each, an address with coins, rich, has also USDC, a token at one address.
type world struct {
	*testing.T
	dir        string
	env        []string
	ids        []string // of the chains
	url        map[string]string
	key        *ecdsa.PrivateKey // of rich
	rich, usdc common.Address
	blocks     map[string]context.CancelFunc
}

// newWorld starts the chains, which end with the test. A block is made with each tick, also without a transaction.
func newWorld(t *testing.T, ids ...string) *world {
	t.Helper()
	return newWorldOn(t, func(w *world) {
		if *anvilProgram == "" {
			w.devnet()
			return
		}
		for _, id := range ids {
			w.url[id] = anvil(t, id)
		}
	}, ids...)
}

func newWorldOn(t *testing.T, start func(*world), ids ...string) *world {
	t.Helper()
	w := &world{T: t, ids: ids, url: map[string]string{}, blocks: map[string]context.CancelFunc{}}
	w.dir, w.env = rig.Home(t)
	start(w)
	key, err := crypto.HexToECDSA(strings.TrimPrefix(richKey, "0x"))
	w.ok(err)
	w.key, w.rich = key, crypto.PubkeyToAddress(key.PublicKey)
	contract, err := assets.Contract("Token")
	w.ok(err)
	parsed, err := abi.JSON(bytes.NewReader(contract.ABI))
	w.ok(err)
	args, err := parsed.Pack("", "USD Coin", "USDC", uint8(6), w.rich, big.NewInt(1e15))
	w.ok(err)
	creation := append(contract.Bytecode, args...)
	deployer := common.HexToAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C")
	w.usdc = crypto.CreateAddress2(deployer, common.Hash{}, crypto.Keccak256(creation))
	for _, id := range ids {
		w.mines(id, tick)
		w.sends(id, &deployer, nil, append(make([]byte, 32), creation...))
	}
	return w
}

// anvil starts one, with more flags if any, which makes blocks when it is told. It keeps few states, as those of a long
// run fill a disk, and what one that is killed leaves behind ends with the test.
func anvil(t *testing.T, id string, more ...string) string {
	t.Helper()
	cmd := exec.Command(*anvilProgram, append([]string{"--port", "0", "--chain-id", id, "--accounts", "1", "--hardfork",
		"prague", "--no-mining", "--cache-path", t.TempDir(), "--prune-history", "250"}, more...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	const listening = "Listening on "
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), listening) {
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return "http://" + strings.TrimPrefix(lines.Text(), listening)
}

// devnet starts `coffer devnet`.
func (w *world) devnet() {
	w.Helper()
	cmd, line := rig.Devnet(w.T, w.env, "--dev")
	w.Cleanup(func() { rig.Interrupt(w.T, cmd) })
	var at struct {
		Endpoints []struct {
			ID   int    `json:"id"`
			HTTP string `json:"http"`
		} `json:"endpoints"`
	}
	w.ok(json.Unmarshal([]byte(line), &at))
	for _, e := range at.Endpoints {
		w.url[fmt.Sprint(e.ID)] = e.HTTP
	}
}

func (w *world) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// needsAnvil skips what a devnet cannot do: its chains are final at once.
func needsAnvil(t *testing.T) {
	t.Helper()
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run real gives one")
	}
}

// mines makes a block with each tick from now on, never for 0.
func (w *world) mines(id string, each time.Duration) {
	w.Helper()
	if stop := w.blocks[id]; stop != nil {
		stop()
	}
	if each == 0 {
		return
	}
	ctx, stop := context.WithCancel(w.Context())
	w.blocks[id] = stop
	over := make(chan struct{})
	w.Cleanup(func() { stop(); <-over })
	go func() {
		defer close(over)
		for clock := time.NewTicker(each); ; {
			select {
			case <-ctx.Done():
				clock.Stop()
				return
			case <-clock.C:
				_ = w.call(ctx, id, nil, "evm_mine")
			}
		}
	}()
}

// ask asks the node of a chain.
func (w *world) ask(id string, result any, method string, params ...any) {
	w.Helper()
	if err := w.call(w.Context(), id, result, method, params...); err != nil {
		w.Fatalf("%s on %s: %v", method, id, err)
	}
}

func (w *world) call(ctx context.Context, id string, result any, method string, params ...any) error {
	return post(ctx, w.url[id], result, method, params...)
}

// post calls a method of a node.
func post(ctx context.Context, url string, result any, method string, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method,
		"params": append([]any{}, params...)})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return err
	}
	var answer struct {
		Result jsontext.Value `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("%w: %s", err, raw)
	}
	if answer.Error != nil {
		return errors.New(string(answer.Error))
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer.Result, result)
}

// sends has the rich address send a transaction, and demands that it succeeds.
func (w *world) sends(id string, to *common.Address, wei *big.Int, data []byte) {
	w.Helper()
	var price hexutil.Big
	w.ask(id, &price, "eth_gasPrice")
	number, _ := new(big.Int).SetString(id, 10)
	tx, err := types.SignNewTx(w.key, types.LatestSignerForChainID(number), &types.LegacyTx{
		Nonce: w.nonce(id, w.rich), GasPrice: new(big.Int).Lsh(price.ToInt(), 1), Gas: 3_000_000, To: to, Value: wei,
		Data: data})
	w.ok(err)
	raw, err := tx.MarshalBinary()
	w.ok(err)
	var hash common.Hash
	w.ask(id, &hash, "eth_sendRawTransaction", hexutil.Bytes(raw))
	w.succeeds(id, hash)
}

// succeeds waits for a transaction.
func (w *world) succeeds(id string, hash common.Hash) {
	w.Helper()
	var r *struct {
		Status hexutil.Uint64 `json:"status"`
	}
	w.until("a receipt", func() bool {
		err := w.call(w.Context(), id, &r, "eth_getTransactionReceipt", hash) // geth that has just begun refuses
		return err == nil && r != nil
	})
	if r.Status != 1 {
		w.Fatalf("transaction %s on %s failed", hash, id)
	}
}

// nonce is that of the next transaction of an address.
func (w *world) nonce(id string, who common.Address) uint64 {
	w.Helper()
	var n hexutil.Uint64
	w.ask(id, &n, "eth_getTransactionCount", who, "latest")
	return uint64(n)
}

// until waits for something.
func (w *world) until(what string, is func() bool) {
	w.Helper()
	for end := time.Now().Add(rig.Limit); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("there never is %s", what)
		}
	}
}

// method is call data of a function with words.
func method(signature string, words ...[]byte) (data []byte) {
	data = crypto.Keccak256([]byte(signature))[:4]
	for _, word := range words {
		data = append(data, common.LeftPadBytes(word, 32)...)
	}
	return data
}

// reads calls a function, and returns the last word that it answers.
func (w *world) reads(id string, at common.Address, data []byte) *big.Int {
	w.Helper()
	var out hexutil.Bytes
	w.ask(id, &out, "eth_call", map[string]any{"to": at, "data": hexutil.Bytes(data)}, "latest")
	return new(big.Int).SetBytes(out[max(0, len(out)-32):])
}

// holds is how many millionths of a USDC an address has.
func (w *world) holds(id string, who common.Address) int64 {
	w.Helper()
	return w.reads(id, w.usdc, method("balanceOf(address)", who.Bytes())).Int64()
}

// stocks gives an address coins and USDC.
func (w *world) stocks(id string, who common.Address, usdc int64) {
	w.Helper()
	w.sends(id, &who, big.NewInt(1e18), nil)
	w.sends(id, &w.usdc, nil, method("transfer(address,uint256)", who.Bytes(), big.NewInt(usdc).Bytes()))
}

// writes puts a file into the home, and returns its path.
func (w *world) writes(path, text string) string {
	w.Helper()
	w.ok(os.WriteFile(path, []byte(text), 0o600))
	return path
}
