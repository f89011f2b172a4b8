//go:build unix

// Package devnet pays with the wallet, in the built program, for what another tool deployed on the chains of
// `coffer devnet`. The other tool is plain JSON-RPC.
package devnet

import (
	"bufio"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	"github.com/gorilla/websocket"

	"coffer/api/catalog"
	"coffer/ui/e2e/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

// base is the number of Base.
const base = "8453"

// token is USDC on a chain.
type token struct {
	at    common.Address
	scale *big.Int // one millionth of it in base units
}

// usdc returns USDC by the number of its chain.
func usdc(t *testing.T) map[string]token {
	t.Helper()
	c, err := catalog.Load()
	must(t, err)
	known, _ := c.Aggregate("ob:usdc")
	all := map[string]token{}
	for _, e := range known.Entities {
		chain, evm := strings.CutPrefix(e.Asset.Chain.String(), "eip155:")
		if at, ok := e.Asset.Token(); ok && evm {
			all[chain] = token{at, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e.Decimals)-6), nil)}
		}
	}
	return all
}

// TestTerminalTheWalletPaysTwoChainsIntoAContractOfAnotherTool walks the first section of docs/devnet.md: a contract is
// deployed on Base by JSON-RPC and its event watched by WebSocket; the builder reads its ABI from the compiler's file;
// the account has its money on two other chains, and both pay. The devnet's own command sets the profile up.
func TestTerminalTheWalletPaysTwoChainsIntoAContractOfAnotherTool(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	net := start(t, env)
	account := net.setUp(t, dir, env)

	tokens := usdc(t)
	artifact := filepath.Join(rig.Root(), "ui", "e2e", "devnet", "testdata", "Till.json") // of Till.sol, by solc
	raw, err := os.ReadFile(artifact)
	must(t, err)
	var till struct {
		ABI      jsontext.Value `json:"abi"`
		Bytecode struct {
			Object hexutil.Bytes `json:"object"`
		} `json:"bytecode"`
	}
	must(t, json.Unmarshal(raw, &till))
	paid, err := abi.JSON(strings.NewReader(string(till.ABI)))
	must(t, err)
	code := append(till.Bytecode.Object, common.LeftPadBytes(tokens[base].at.Bytes(), 32)...)
	at := common.HexToAddress(net.sends(t, base, nil, code).Contract)
	events := net.watches(t, base, at, paid.Events["Paid"].ID)

	p := rig.At(t, rig.Start(t, env, 120, 40))
	p.Sees("Passphrase of profile devnet")
	p.Types(rig.Passphrase + "\r")
	p.Sees("LAB", "Balances", "$")
	p.Types("2X")
	p.Sees("The form is empty", "Call 1 of 1")
	p.Types("\x1b[B" + at.Hex() + "\r")
	p.Sees("never sent there before")
	p.Escapes()
	p.Types("o\r")
	p.Sees("an ABI")
	p.Types(artifact + "\r")
	p.Sees("Function of the ABI", "pay(uint256 order, uint256 amount)")
	p.Types("amount\r")
	p.Sees("order      uint256")
	whole, before := net.takesTwo(t, tokens, account)
	p.Types("7\t" + whole + " USDC\t\x1b[B\x1b[B\r")
	p.Sees("Allow a contract to take")
	p.Types("\r")
	p.Sees("spender")
	p.Types("\r")
	p.Sees("the target of call 1")
	p.Types("the target\r")
	p.Sees("only while your calls run")
	p.Types(whole + "\t")
	p.Sees("needs", "elsewhere", "Pays for it")
	p.Types("r")
	p.Sees("Review 1 of 2", "y sign")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Types(p.Finds(rig.ToType) + "\r")
	p.Sees("COMPLETED")
	p.Quits()

	select {
	case e, open := <-events:
		want := []common.Hash{
			paid.Events["Paid"].ID, common.BigToHash(big.NewInt(7)), common.BytesToHash(account.Bytes())}
		amount := new(big.Int).SetBytes(e.Data).String()
		if !open || !slices.Equal(e.Topics, want) || amount != whole+"000000" {
			t.Errorf("event %v, %+v, want %s of %s USDC", open, e, want, whole)
		}
	case <-time.After(rig.Limit):
		t.Error("the event was not seen")
	}
	var paying []string
	for chain := range tokens {
		if chain != base && net.holds(t, chain, tokens[chain], account).Cmp(before[chain]) < 0 {
			paying = append(paying, chain)
		}
	}
	if len(paying) < 2 {
		t.Errorf("chains %v paid, want two", paying)
	}
	if got := net.holds(t, base, tokens[base], at); got.String() != whole+"000000" {
		t.Errorf("the contract has %s millionths, want %s USDC", got, whole)
	}
}

// takesTwo returns an amount in whole USDC that no chain beside Base has alone, and what the account has on each chain.
func (n *network) takesTwo(
	t *testing.T, tokens map[string]token, account common.Address,
) (whole string, has map[string]*big.Int) {
	t.Helper()
	has = map[string]*big.Int{}
	var elsewhere []*big.Int
	for chain, usdc := range tokens {
		has[chain] = n.holds(t, chain, usdc, account)
		if chain != base {
			elsewhere = append(elsewhere, has[chain])
		}
	}
	slices.SortFunc(elsewhere, func(a, b *big.Int) int { return b.Cmp(a) })
	sum := new(big.Int).Add(has[base], elsewhere[0])
	sum.Add(sum, new(big.Int).Rsh(elsewhere[1], 1))
	return sum.Div(sum, big.NewInt(1_000_000)).String(), has
}

// holds asks a chain how many millionths of a USDC an address has there.
func (n *network) holds(t *testing.T, chain string, usdc token, who common.Address) *big.Int {
	t.Helper()
	data := append(crypto.Keccak256([]byte("balanceOf(address)"))[:4], common.LeftPadBytes(who.Bytes(), 32)...)
	var word hexutil.Bytes
	asks(t, n.opens(t, chain), &word, "eth_call",
		map[string]any{"to": usdc.at, "data": hexutil.Bytes(data)}, "latest")
	return new(big.Int).Div(new(big.Int).SetBytes(word), usdc.scale)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// network is a `coffer devnet` that runs, and what it printed.
type network struct{ said string }

// start runs `coffer devnet` until the end of the test, and waits for its last line.
func start(t *testing.T, env []string) *network {
	t.Helper()
	cmd := exec.Command(rig.Program(), "devnet", "--listen", "127.0.0.1:0")
	cmd.Env = env
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	ended := make(chan error, 1)
	t.Cleanup(func() {
		if err := errors.Join(cmd.Process.Signal(os.Interrupt), <-ended); err != nil {
			t.Error(err)
		}
	})
	n, ready := &network{}, make(chan string, 1)
	go func() {
		var said strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), "end ") {
				ready <- said.String()
			}
		}
		ended <- cmd.Wait()
	}()
	select {
	case n.said = <-ready:
	case <-time.After(rig.Limit):
		t.Fatal("the devnet does not begin")
	}
	return n
}

// finds returns the first group of a pattern in what the devnet printed.
func (n *network) finds(t *testing.T, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(`(?m)` + pattern).FindStringSubmatch(n.said)
	if m == nil {
		t.Fatalf("no %s in\n%s", pattern, n.said)
	}
	return m[1]
}

// setUp runs the commands that the devnet prints for a wallet, and returns the account that they make.
func (n *network) setUp(t *testing.T, dir string, env []string) common.Address {
	t.Helper()
	bin := filepath.Join(dir, "bin")
	must(t, os.Mkdir(bin, 0o700))
	must(t, os.Symlink(rig.Program(), filepath.Join(bin, "coffer")))
	cmd := exec.CommandContext(t.Context(), "sh", "-c", n.finds(t, `^wallet +(coffer .*)$`))
	cmd.Env = append(env, "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	asks := func(command string, answers ...string) string {
		screen, err := rig.Asks(t, env, strings.Fields(command+" --profile devnet"), answers...)
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, screen)
		}
		return screen
	}
	asks("keys init", "New passphrase", rig.Passphrase, "once more", rig.Passphrase)
	asks("keys api-key set", "Passphrase", rig.Passphrase, "API key", n.finds(t, `^api key +(\S+)$`))
	screen := asks("keys new", "Passphrase", rig.Passphrase, "Type yes or no", "yes")
	m := regexp.MustCompile(`Added to profile devnet: .* account (0x[0-9a-fA-F]{40})`).FindStringSubmatch(screen)
	if m == nil {
		t.Fatal(screen)
	}
	return common.HexToAddress(m[1])
}

// rpcRequest is a request of JSON-RPC.
type rpcRequest struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

// rpcAnswer is an answer, or an item of a subscription.
type rpcAnswer struct {
	Result jsontext.Value `json:"result"`
	Error  jsontext.Value `json:"error"`
	Params struct {
		Result jsontext.Value `json:"result"`
	} `json:"params"`
}

// opens connects to the WebSocket of a chain.
func (n *network) opens(t *testing.T, chain string) *websocket.Conn {
	t.Helper()
	url := n.finds(t, ` `+chain+` +http://\S+ +(ws://\S+)$`)
	conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
	must(t, err)
	must(t, response.Body.Close())
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// asks sends a request and reads its answer.
func asks(t *testing.T, conn *websocket.Conn, into any, method string, params ...any) {
	t.Helper()
	request, err := json.Marshal(rpcRequest{"2.0", 1, method, append([]any{}, params...)})
	must(t, errors.Join(err, conn.WriteMessage(websocket.TextMessage, request)))
	_, raw, err := conn.ReadMessage()
	must(t, err)
	var answer rpcAnswer
	must(t, json.Unmarshal(raw, &answer))
	if answer.Error != nil {
		t.Fatalf("%s: %s", method, answer.Error)
	}
	must(t, json.Unmarshal(answer.Result, into))
}

// receipt is what the test reads of one.
type receipt struct {
	Status   string `json:"status"`
	Contract string `json:"contractAddress"`
}

// sends signs a transaction with the devnet's first key, sends it and returns its receipt. Without to it deploys.
func (n *network) sends(t *testing.T, chain string, to *common.Address, data []byte) (r receipt) {
	t.Helper()
	return n.pays(t, chain, to, new(big.Int), data)
}

// pays is sends with coins.
func (n *network) pays(t *testing.T, chain string, to *common.Address, wei *big.Int, data []byte) (r receipt) {
	t.Helper()
	key, err := crypto.HexToECDSA(n.finds(t, `^0x[0-9a-fA-F]{40}  0x([0-9a-f]{64})$`))
	must(t, err)
	conn := n.opens(t, chain)
	var nonce, price, id, gas hexutil.Uint64
	from := crypto.PubkeyToAddress(key.PublicKey)
	asks(t, conn, &id, "eth_chainId")
	asks(t, conn, &nonce, "eth_getTransactionCount", from, "pending")
	asks(t, conn, &price, "eth_gasPrice")
	asks(t, conn, &gas, "eth_estimateGas", map[string]any{"from": from, "to": to, "value": (*hexutil.Big)(wei),
		"data": hexutil.Bytes(data)})
	tx, err := types.SignNewTx(key, types.LatestSignerForChainID(new(big.Int).SetUint64(uint64(id))), &types.LegacyTx{
		Nonce: uint64(nonce), GasPrice: new(big.Int).SetUint64(2 * uint64(price)), Gas: uint64(gas), To: to, Value: wei,
		Data: data,
	})
	must(t, err)
	raw, err := tx.MarshalBinary()
	must(t, err)
	var hash common.Hash
	asks(t, conn, &hash, "eth_sendRawTransaction", hexutil.Bytes(raw))
	asks(t, conn, &r, "eth_getTransactionReceipt", hash)
	if r.Status != "0x1" {
		t.Fatalf("transaction %s: %+v", hash, r)
	}
	return r
}

// event is a log.
type event struct {
	Topics []common.Hash `json:"topics"`
	Data   hexutil.Bytes `json:"data"`
}

// watches subscribes to an event of a contract.
func (n *network) watches(t *testing.T, chain string, at common.Address, topic common.Hash) <-chan event {
	t.Helper()
	conn := n.opens(t, chain)
	var id string
	asks(t, conn, &id, "eth_subscribe", "logs", map[string]any{"address": at, "topics": []any{topic}})
	events := make(chan event, 8)
	go func() {
		for {
			_, raw, err := conn.ReadMessage()
			if err != nil {
				close(events)
				return
			}
			var item rpcAnswer
			var e event
			if json.Unmarshal(raw, &item) == nil && json.Unmarshal(item.Params.Result, &e) == nil {
				events <- e
			}
		}
	}()
	return events
}
