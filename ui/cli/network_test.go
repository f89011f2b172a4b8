package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// told notes what `coffer network` was asked to do.
type told struct{ got any }

func (n *told) Init(_ context.Context, o NetworkInit) error { n.got = o; return nil }
func (n *told) Check(_ context.Context, g Global, file string, asJSON bool) error {
	if n.got = g.Profile + file; asJSON {
		n.got = g.Profile + file + " as JSON"
	}
	return nil
}
func (n *told) Deploy(_ context.Context, _ Global, o NetworkDeploy) error { n.got = o; return nil }
func (n *told) Genesis(_ context.Context, o NetworkGenesis) error         { n.got = o; return nil }
func (n *told) Status(_ context.Context, _ Global, o NetworkStatus) error { n.got = o; return nil }

func (n *told) Owner(_ context.Context, _ Global, o NetworkOwner) error { n.got = o; return nil }

func (n *told) Rebalance(_ context.Context, _ Global, o NetworkRebalance) error {
	n.got = o
	return nil
}

func (n *told) Resume(_ context.Context, g Global, o NetworkResume) error {
	n.got = []any{g.Profile, o}
	return nil
}

func TestNetworkReadsItsFlags(t *testing.T) {
	p, _ := program(t)
	n := &told{}
	p.Network = n
	const someone = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	for line, want := range map[string]any{
		"init": NetworkInit{Out: "networks.toml"},
		"init --kind lab --chain base=http://a,b --chain 1 --tokens all --out x": NetworkInit{Out: "x", Kind: "lab",
			Tokens: "all", Chains: []string{"base=http://a,b", "1"}},
		"check":                           "networks.toml",
		"check --file x":                  "x",
		"check --file x --profile own":    "ownx",
		"check --json":                    "networks.toml as JSON",
		"init --json":                     NetworkInit{Out: "networks.toml", JSON: true},
		"deploy --dry-run --json":         NetworkDeploy{File: "networks.toml", DryRun: true, JSON: true},
		"deploy":                          NetworkDeploy{File: "networks.toml"},
		"deploy --dry-run --yes":          NetworkDeploy{File: "networks.toml", DryRun: true, Yes: true},
		"resume base --profile own":       []any{"own", NetworkResume{Chain: "base"}},
		"resume 10 --yes":                 []any{"", NetworkResume{Chain: "10", Yes: true}},
		"resume 10 --data d":              []any{"", NetworkResume{Chain: "10", Data: "d", Operated: true}},
		"deploy --file x --key-file -":    NetworkDeploy{File: "x", KeyFile: "-"},
		"status":                          NetworkStatus{File: "networks.toml"},
		"status --file x --data d --json": NetworkStatus{File: "x", Data: "d", JSON: true},
		"genesis --chain-id 7 --out x":    NetworkGenesis{ChainID: 7, Out: "x"},
		"rebalance":                       NetworkRebalance{File: "networks.toml"},
		"rebalance --share base=3 --asset usdc --asset eth --data d --json --file x": NetworkRebalance{File: "x",
			Data:   "d",
			Shares: []string{"base=3"}, Assets: []string{"usdc", "eth"}, JSON: true},
		"rebalance --safe b.json --to " + someone: NetworkRebalance{File: "networks.toml", Safe: "b.json",
			To: common.HexToAddress(someone)},
		"owner allow " + someone: NetworkOwner{File: "networks.toml", Kind: "allow",
			Key: common.HexToAddress(someone)},
		"owner remove " + someone + " --print --json": NetworkOwner{File: "networks.toml", Kind: "remove",
			Key: common.HexToAddress(someone), Print: true, JSON: true},
		"owner cap usdc 100 --refill 0.5 --chain base --chain 10 --dry-run": NetworkOwner{File: "networks.toml",
			Kind: "cap", Asset: "usdc", Amount: "100", Refill: "0.5", Chains: []string{"base", "10"}, DryRun: true},
		"owner cap eth 0 --file x":  NetworkOwner{File: "x", Kind: "cap", Asset: "eth", Amount: "0", Refill: "0"},
		"owner pause --safe b.json": NetworkOwner{File: "networks.toml", Kind: "pause", Safe: "b.json"},
		"owner unpause --yes --json --key-file -": NetworkOwner{File: "networks.toml", Kind: "unpause", Yes: true,
			JSON: true, KeyFile: "-"},
		"owner fund usdc 5": NetworkOwner{File: "networks.toml", Kind: "fund", Asset: "usdc", Amount: "5"},
		"owner gas " + someone + " 0.1": NetworkOwner{File: "networks.toml", Kind: "gas",
			Key: common.HexToAddress(someone), Amount: "0.1"},
		"owner withdraw usdc --to " + someone: NetworkOwner{File: "networks.toml", Kind: "withdraw", Asset: "usdc",
			Amount: "0", To: common.HexToAddress(someone)},
		"genesis --chain-id 7 --fund " + someone: NetworkGenesis{ChainID: 7,
			Fund: []common.Address{common.HexToAddress(someone)}},
	} {
		if err := p.Run(t.Context(), append([]string{"network"}, strings.Fields(line)...)); err != nil {
			t.Fatal(line, err)
		}
		if !reflect.DeepEqual(n.got, want) {
			t.Errorf("%s: got %+v, expected %+v", line, n.got, want)
		}
	}
	n.got = nil
	for _, line := range []string{"", "now", "init x", "resume", "resume a b",
		"init --kind=", "init --chain=", "check --file=", "status --data=", "status x", "resume base --data=",
		"rebalance x", "rebalance --safe b", "rebalance --safe= --to " + someone,
		"rebalance --to " + someone, "owner", "owner allow", "owner allow x", "owner pause now", "owner cap usdc",
		"owner withdraw usdc", "owner withdraw usdc --to=", "owner pause --json", "owner pause --safe=",
		"owner pause --safe x --print", "owner allow 0x0000000000000000000000000000000000000000",
		"deploy --key-file=", "deploy --json",
		"genesis", "genesis --chain-id 0", "genesis --chain-id 1 --fund x", "genesis --chain-id 1 --fund " +
			strings.Replace(someone, "C", "c", 1)} {
		err := p.Run(t.Context(), append([]string{"network"}, strings.Fields(line)...))
		if Code(err) != ExitUsage || n.got != nil {
			t.Errorf("%s: %v, %+v", line, err, n.got)
		}
	}
}

// A key comes from a file that its owner alone can read or from standard input, never from a flag or the environment;
// without a terminal nothing is sent unasked.
func TestNetworkDeployAsksBeforeItPays(t *testing.T) {
	const key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("0x"+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p := Prompt{In: in}
	for _, file := range []string{path, "-"} {
		got, err := p.PayingKey(t.Context(), file)
		if err != nil || common.Bytes2Hex(got.Reveal()) != key {
			t.Errorf("%s: %v", file, err)
		}
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := p.PayingKey(t.Context(), path); Code(err) != ExitUsage || strings.Contains(err.Error(), key) {
		t.Errorf("a key that others can read: %v", err)
	}
	for _, file := range []string{"", path + "x", "-"} { // standard input is at its end
		if _, err := p.PayingKey(t.Context(), file); Code(err) != ExitUsage {
			t.Errorf("%q: %v", file, err)
		}
	}
	var usage *UsageError
	if err := p.ConfirmDeploy(t.Context(), false, "0x1"); !errors.As(err, &usage) || usage.Hint != "give --yes" {
		t.Error(err)
	}
	if err := p.ConfirmDeploy(t.Context(), true, "0x1"); err != nil {
		t.Error(err)
	}
}
