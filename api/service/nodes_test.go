package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/gorilla/websocket"

	"coffer/api/service"
	"coffer/api/service/devclock"
	"coffer/api/service/store/storetest"
)

// withNodes opens a service with test funds and its endpoints.
func withNodes(t testing.TB, o service.NodesOptions) (*service.Service, *service.Nodes) {
	t.Helper()
	so := options(storetest.New(t))
	so.Fund = true
	s := open(t, so)
	n, err := s.ServeNodes(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, n
}

// withDev opens a development network.
func withDev(t testing.TB) (*service.Service, *service.Nodes, *devclock.Clock) {
	t.Helper()
	so := options(storetest.New(t))
	clock := devclock.New(so.Clock)
	so.Fund, so.Clock = true, clock.Now
	s := open(t, so)
	n, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0", Dev: &service.Dev{Clock: clock}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	return s, n, clock
}

// result is what a method answers.
func result(t testing.TB, url, method string, params ...any) string {
	t.Helper()
	var a struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if err := json.Unmarshal([]byte(rpc(t, url, method, params...)), &a); err != nil || a.Error != nil {
		t.Fatalf("%s: %s, %v", method, a.Error, err)
	}
	return strings.Trim(string(a.Result), `"`)
}

// timeOf is the time of the head.
func timeOf(t testing.TB, url string) int64 {
	t.Helper()
	var b struct{ Timestamp string }
	if err := json.Unmarshal([]byte(result(t, url, "eth_getBlockByNumber", "latest", false)), &b); err != nil {
		t.Fatal(err)
	}
	v, err := strconv.ParseInt(strings.TrimPrefix(b.Timestamp, "0x"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestADevnetHasOneClock(t *testing.T) {
	s, n, clock := withDev(t)
	one, other := n.List[0].HTTP, n.List[1].HTTP
	before := clock.Now()
	result(t, one, "evm_increaseTime", 3600)
	if got := clock.Now().Sub(before); got != time.Hour {
		t.Errorf("the service's clock moved by %s", got)
	}
	for _, url := range []string{one, other} {
		result(t, url, "evm_mine")
		if got := timeOf(t, url); got != clock.Now().Unix() {
			t.Errorf("%s: block at %d, the clock says %d", url, got, clock.Now().Unix())
		}
	}
	// the next block of one chain has the time that was said, to the second, and those after it the clock's
	head := timeOf(t, one)
	result(t, other, "evm_increaseTime", 50)
	result(t, one, "evm_setNextBlockTimestamp", head+7)
	result(t, one, "evm_mine")
	if got := timeOf(t, one); got != head+7 {
		t.Errorf("block at %d, expected %d", got, head+7)
	}
	result(t, one, "evm_mine")
	if got := timeOf(t, one); got != clock.Now().Unix() || got != head+50 {
		t.Errorf("the block after it at %d, the clock says %d", got, clock.Now().Unix())
	}
	far := clock.Now().Unix() + 86_400
	result(t, one, "evm_setNextBlockTimestamp", far)
	if clock.Now().Unix() != far {
		t.Errorf("the network stays behind a chain: %d", clock.Now().Unix())
	}
	if got := rpc(t, one, "evm_setNextBlockTimestamp", head); !strings.Contains(got, "lower than the previous block") {
		t.Error(got)
	}
	_ = s
}

// An account that was funded in blocks which are gone gets its funds again when it is named again.
func TestTestFundsThatWereTakenBackAreGivenAgain(t *testing.T) {
	s, n, _ := withDev(t)
	url := ""
	for _, e := range n.List {
		if e.ID == 8453 {
			url = e.HTTP
		}
	}
	snapshot := result(t, url, "evm_snapshot")
	const someone = "0x00000000000000000000000000000000000a11cE"
	name := func() {
		if status, body := get(t, service.RoundTripper(s.Handler()),
			"https://coffer.internal/api/v3/balances/aggregated-balance?aggregatedAssetId=ob:usdc&account=eip155:8453:"+
				someone, key); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	usdc := map[string]string{"to": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
		"data": "0x70a08231000000000000000000000000" + strings.ToLower(someone[2:])}
	name()
	given := result(t, url, "eth_call", usdc, "latest")
	if !strings.HasSuffix(given, fmt.Sprintf("%x", 25_000_000)) {
		t.Fatalf("given %s", given)
	}
	if got := result(t, url, "evm_revert", snapshot); got != "true" {
		t.Fatal(got)
	}
	if got := result(t, url, "eth_call", usdc, "latest"); strings.Trim(got, "0x") != "" {
		t.Fatalf("after the revert %s", got)
	}
	name()
	if got := result(t, url, "eth_call", usdc, "latest"); got != given {
		t.Errorf("%s, expected %s", got, given)
	}
}

func TestWithoutDevStateChangesBySignedTransactionsAlone(t *testing.T) {
	_, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	for _, method := range []string{"anvil_setBalance", "hardhat_setCode", "evm_snapshot", "evm_mine", "evm_revert",
		"evm_increaseTime", "eth_sendTransaction", "anvil_impersonateAccount", "personal_sign", "eth_sign"} {
		if got := rpc(t, n.List[0].HTTP, method); !strings.Contains(got, `"code":-32601`) {
			t.Errorf("%s: %s", method, got)
		}
	}
	if got := rpc(t, n.List[0].HTTP, "eth_accounts"); !strings.Contains(got, `"result":[]`) {
		t.Error(got)
	}
}

// rpc calls a method and returns the whole answer.
func rpc(t testing.TB, url, method string, params ...any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.Post(url, "application/json", strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// rpcOver calls a method over WebSocket.
func rpcOver(t testing.TB, url, method string) string {
	t.Helper()
	c, res, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	defer c.Close()
	if err := c.WriteMessage(websocket.TextMessage,
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":[]}`)); err != nil {
		t.Fatal(err)
	}
	_, raw, err := c.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func TestEveryChainHasAnEndpoint(t *testing.T) {
	for _, each := range []bool{false, true} {
		o := service.NodesOptions{Listen: "localhost:0", PerPort: each, Version: "Coffer/test"}
		s, n := withNodes(t, o)
		for tries := 0; len(n.Notes) > 0 && tries < 20; tries++ { // something else has the port that follows
			s, n = withNodes(t, o)
		}
		if got, want := len(n.List), len(s.Network().Chains)+1; got != want {
			t.Fatalf("%d endpoints, expected %d", got, want)
		}
		for i, e := range n.List[:len(n.List)-1] {
			want := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":"0x%x"}`, e.ID)
			if got := rpc(t, e.HTTP, "eth_chainId"); got != want || e.Chain != s.Network().Chains[i] || e.Name == "" {
				t.Errorf("%+v: %s, expected %s", e, got, want)
			}
			if got := rpc(t, e.HTTP+"/", "eth_chainId"); got != want {
				t.Errorf("%s/: %s, expected %s", e.HTTP, got, want)
			}
			if got := rpcOver(t, e.WebSocket, "eth_chainId"); got != want {
				t.Errorf("%s: %s, expected %s", e.WebSocket, got, want)
			}
		}
		last := n.List[len(n.List)-1]
		const want = `{"jsonrpc":"2.0","id":1,"result":"ok"}`
		if got := rpc(t, last.HTTP, "getHealth"); got != want || last.Name != "Solana" {
			t.Errorf("%+v: %s", last, got)
		}
		if got := rpcOver(t, last.WebSocket, "getHealth"); got != want {
			t.Errorf("%s: %s", last.WebSocket, got)
		}
		if len(n.Notes) > 0 {
			t.Fatal(n.Notes)
		}
		if got := rpcOver(t, above(t, last.HTTP), "getHealth"); got != want {
			t.Errorf("one port above HTTP: %s", got)
		}
	}
}

// TestATakenPortAboveIsNoted: web3.js would look there for a WebSocket that is elsewhere.
func TestATakenPortAboveIsNoted(t *testing.T) {
	for _, each := range []bool{false, true} {
		noted := false
		for tries := 0; !noted && tries < 20; tries++ {
			taken, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer taken.Close()
			port := taken.Addr().(*net.TCPAddr).Port
			s := open(t, options(storetest.New(t)))
			below := 1
			if each {
				below = len(s.Network().Chains) + 1
			}
			n, err := s.ServeNodes(t.Context(), service.NodesOptions{PerPort: each,
				Listen: fmt.Sprintf("127.0.0.1:%d", port-below)})
			if err != nil {
				continue // one of the ports below is taken, too
			}
			last := n.List[len(n.List)-1]
			want := fmt.Sprintf("port %d is taken: @solana/web3.js needs wsEndpoint %s", port, last.WebSocket)
			if noted = slices.Contains(n.Notes, want); !noted {
				t.Fatalf("%q, expected %q", n.Notes, want)
			}
			if got := rpcOver(t, last.WebSocket, "getHealth"); got != `{"jsonrpc":"2.0","id":1,"result":"ok"}` {
				t.Errorf("%s: %s", last.WebSocket, got)
			}
		}
		if !noted {
			t.Errorf("one port for each chain %t: no two ports in a row", each)
		}
	}
}

// above is where web3.js looks for the WebSocket.
func above(t testing.TB, url string) string {
	t.Helper()
	address, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	host, port, err := net.SplitHostPort(address)
	number, wrong := strconv.Atoi(port)
	if err = errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("ws://%s:%d/%s", host, number+1, path)
}

func TestAPathWithoutAChainIsNotFound(t *testing.T) {
	_, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	base := strings.TrimSuffix(n.List[0].HTTP, "/1")
	for _, path := range []string{"/", "/5", "/1/2", "/solana/x", "/api/balances"} {
		res, err := http.Post(base+path, "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

func TestEndpointsAreForThisMachineUnlessSaidOtherwise(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "no-such-host.invalid:0"} {
		n, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: address})
		if !errors.Is(err, service.ErrRemote) {
			t.Errorf("%s: %v, %v", address, n, err)
		}
	}
	n, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "0.0.0.0:0", Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0"}); err == nil {
		t.Errorf("opened twice: %v", again)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

// Requests under another name are refused: a page could let it mean this machine.
func TestARequestUnderAnotherNameIsRefused(t *testing.T) {
	_, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0", Hosts: []string{"devnet.test"}})
	for host, want := range map[string]int{"evil.example": 403, "devnet.test": 200, "localhost": 200} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.List[0].HTTP,
			strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d", host, res.StatusCode)
		}
	}
}

func TestClosedEndpointsAreGoneAndCanBeOpenedAgain(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	ctx, cancel := context.WithCancel(t.Context())
	n, err := s.ServeNodes(ctx, service.NodesOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	c, res, err := websocket.DefaultDialer.Dial(n.List[0].WebSocket, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	defer c.Close()
	cancel()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
	if _, _, err := c.ReadMessage(); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a WebSocket connection outlived its endpoint: %v", err)
	}
	if err := n.Close(); err != nil { // waits
		t.Fatal(err)
	}
	if _, err := http.Get(n.List[0].HTTP); err == nil {
		t.Error("the port still answers")
	}
	if n, err = s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	if got := rpc(t, n.List[0].HTTP, "eth_chainId"); !strings.Contains(got, "0x1") {
		t.Error(got)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}

func TestAnEndpointTracesWhatWasSealed(t *testing.T) {
	s, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	url, a := n.List[0].HTTP, common.HexToAddress("0x00000000000000000000000000000000000a11ce")
	if err := s.Endow(t.Context(), []common.Address{a}, true, nil); err != nil {
		t.Fatal(err)
	}
	for method, params := range map[string][]any{
		"debug_traceBlockByNumber": {"latest", map[string]string{"tracer": "callTracer"}},
		"debug_traceCall":          {map[string]any{"to": a}, "latest", map[string]string{"tracer": "callTracer"}},
	} {
		if got := result(t, url, method, params...); !strings.Contains(got, `"type":"CALL"`) {
			t.Errorf("%s: %s", method, got)
		}
	}
}

func TestAnEndowedAccountIsReadThroughItsEndpoint(t *testing.T) {
	s, n := withNodes(t, service.NodesOptions{Listen: "127.0.0.1:0"})
	a := common.HexToAddress("0x00000000000000000000000000000000000a11ce")
	if err := s.Endow(t.Context(), []common.Address{a}, true, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range n.List[:len(n.List)-1] {
		if got := rpc(t, e.HTTP, "eth_getBalance", a, "latest"); !strings.Contains(got, `"0x21e19e0c9bab2400000"`) {
			t.Errorf("%s: %s", e.Name, got)
		}
	}
}
