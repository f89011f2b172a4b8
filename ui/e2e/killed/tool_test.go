//go:build unix

package killed

import (
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op/erc20"
	"coffer/api/service/crash/traffic"
	"coffer/api/service/foreign"
	"coffer/assets"
	"coffer/ui/e2e/rig"
)

// profile is embedded and has the demo's public key.
const profile = "mine"

// withEndpoints is a home whose profile has accounts of these types, the first by default, and whose chains answer
// JSON-RPC below a URL. The EOA of the key has coins on Base.
func withEndpoints(t *testing.T, types ...string) (dir string, env []string, url string) {
	t.Helper()
	for range 20 { // each network gives other funds
		var funds string
		dir, env, url, funds = home(t, types)
		if coin := caip.Native(target).String(); regexp.MustCompile(coin + `","balance":"[1-9]`).MatchString(funds) {
			return dir, env, url
		}
	}
	t.Fatal("no network gives coins on Base")
	return "", nil, ""
}

// target is Base, the chain of the trial call.
const target = 8453

// home makes the home, and returns the funds of the EOA in it.
func home(t *testing.T, types []string) (dir string, env []string, url, funds string) {
	t.Helper()
	dir, env = rig.Home(t)
	demo, err := assets.DemoKey()
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free for now
	must(t, err)
	at := l.Addr().String()
	must(t, l.Close())
	text := fmt.Sprintf("version = 1\ndefault = %q\n[profiles.%s]\nkind = \"embedded\"\nvault = \"memory\"\nrpc = %q\n",
		profile, profile, at)
	for _, kind := range types {
		text += fmt.Sprintf("[[profiles.%s.accounts]]\ntype = %q\nsigner_address = %q\n", profile, kind, demo.Signer)
		if kind == traffic.StrangerKind {
			text += "deployment_type = \"EIP7702\"\n"
		}
	}
	path := filepath.Join(dir, "config", "coffer", "config.toml")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	funds, errs, code := rig.Run(t, env, "balances", "--json", "--account", demo.Signer) // which funds it
	if code != 0 {
		t.Fatal(errs)
	}
	return dir, env, "http://" + at, funds
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tool is another tool of the same user: it has the key of the EOA, and sends from it through JSON-RPC.
type tool struct {
	*traffic.Stranger
	nodes  traffic.Nodes
	person *traffic.Person
	token  caip.Asset
}

// newTool is one that sends on Base.
func newTool(t *testing.T, url string) *tool {
	t.Helper()
	demo, err := assets.DemoKey()
	must(t, err)
	key, err := crypto.HexToECDSA(demo.PrivateKey[2:])
	must(t, err)
	all, err := catalog.Load()
	must(t, err)
	x := &tool{nodes: traffic.Nodes{}, person: traffic.PersonOf(network.Pins{}, foreign.New(network.Pins{},
		traffic.StrangerKind, foreign.Keys{Signer: key}))}
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	x.nodes[target] = traffic.Endpoint{URL: fmt.Sprintf("%s/%d", url, target), HTTP: client}
	usdc, _ := all.Aggregate("ob:usdc")
	for _, e := range usdc.Entities {
		if e.Asset.Chain == caip.EVM(target) {
			x.token = e.Asset
		}
	}
	coin := caip.Native(target)
	x.Stranger, err = traffic.NewStranger(x.person, []traffic.Holding{{Asset: coin, Amount: x.has(t, coin)},
		{Asset: x.token, Amount: x.has(t, x.token)}})
	must(t, err)
	return x
}

// has asks a chain for a balance of the EOA.
func (x *tool) has(t *testing.T, asset caip.Asset) *big.Int {
	t.Helper()
	var v hexutil.Big
	var word hexutil.Bytes
	at, isToken := asset.Token()
	if !isToken {
		must(t, x.nodes[target].Call(t.Context(), &v, "eth_getBalance", x.person.Address, "latest"))
		return v.ToInt()
	}
	must(t, x.nodes[target].Call(t.Context(), &word, "eth_call",
		map[string]any{"to": at, "data": hexutil.Bytes(erc20.BalanceOf(x.person.Address))}, "latest"))
	return new(big.Int).SetBytes(word)
}

// sends looks whether everything that it ever sent is there, and sends a few things more.
func (x *tool) sends(t *testing.T) {
	t.Helper()
	for range 4 {
		_, err := x.Recall(t.Context(), x.nodes, 0)
		must(t, err)
		_, err = x.Step(t.Context(), x.nodes, x.person)
		must(t, err)
	}
}

// TestTerminalAnOwnNonceUsedBetweenTheReviewsEndsInARefusal: the user's EOA must still be delegated on Base, and
// another tool uses up the nonce that the delegation was signed for while review 2 is on the screen. The service
// refuses, the screen says why, nothing has moved, and the same call, asked for again, pays once.
func TestTerminalAnOwnNonceUsedBetweenTheReviewsEndsInARefusal(t *testing.T) {
	t.Parallel()
	dir, env, url := withEndpoints(t, traffic.StrangerKind)
	p := rig.At(t, rig.Start(t, env, 120, 40))
	needs, pay := p.WalksToReview2("EMBEDDED")
	tool := newTool(t, url)
	_, err := tool.Step(t.Context(), tool.nodes, tool.person)
	must(t, err)
	before := tool.has(t, tool.token)
	p.Confirms(pay)
	p.Sees("The account changed", "Prepare again", "try again")
	if now := tool.has(t, tool.token); now.Cmp(before) != 0 {
		t.Errorf("the account had %s and has %s", before, now)
	}
	p.Types("r")
	p.Sees("Review 1 of 2", "y sign")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types("y")
	p.Sees("Review 2 of 2", "Arrives")
	p.Reads(`(?:expires|renews) in (\d+:\d\d)`)
	p.Confirms(p.Finds(rig.ToType))
	p.Sees("COMPLETED")
	p.Quits()
	checkOutcome(t, filepath.Join(dir, "data", "coffer", profile), needs, "COMPLETED")
}
