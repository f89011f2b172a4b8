package operator

import (
	"bytes"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service/pinned"
)

// surveyed is a chain that is ready and one that is not.
func surveyed() *Survey {
	return &Survey{File: "networks.toml", Idle: []string{"Polygon", "Linea"}, Chains: []*Report{
		{ID: 8453, Name: "Base", Line: 7, Findings: []Finding{
			{Good, "https://node.example", "chain 8453, block 41000000, 81ms", ""},
			{Good, "newest block", "41000000, 2s old", ""},
			{Without, "factory approved", "not by the meta factory's owner, who alone can",
				"no accounts kernel-v3.1-ecdsa and role-based"},
			{Unknown, "past states", "the node does not say", ""},
		}},
		{ID: 10, Name: "Optimism", Line: 22, Findings: []Finding{
			{Without, "https://other.example", "silent for 10s", "this endpoint is not used"},
			{Missing, "endpoints", "0 of 1 answer, and 1 endpoint must agree", ""},
		}},
	}}
}

func TestWhatIsFoundIsPrinted(t *testing.T) {
	ready := surveyed()
	ready.Chains, ready.Idle = ready.Chains[:1], nil
	for name, s := range map[string]*Survey{"ready": ready, "incomplete": surveyed()} {
		s.Ready = s.Incomplete() == nil
		for form, asJSON := range map[string]bool{"table": false, "json": true} {
			t.Run(name+" "+form, func(t *testing.T) {
				var out bytes.Buffer
				if err := (Options{JSON: asJSON, Out: &out}).print(s, s.table); err != nil {
					t.Fatal(err)
				}
				golden.RequireEqual(t, out.Bytes())
			})
		}
	}
}

func TestDeployPrintsWhatItDid(t *testing.T) {
	shipped, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	window := &placed{Contract: pinned.Contract{Name: pinned.Window, At: network.Window()}, gas: 150_000,
		tx: common.Hash{1}}
	chain := func(id uint64) *node {
		at := slices.IndexFunc(shipped, func(c networks.Chain) bool { return c.ID == id })
		return &node{Chain: shipped[at]}
	}
	works := []*work{{node: chain(8453), there: 7, approved: true, missing: []*placed{window},
		cost: big.NewInt(150_000e6), fee: big.NewInt(1e6)}, {node: chain(10), there: 8, cost: new(big.Int)}}
	for name, r := range map[string]Deployed{"done": {NetworkFile: "network.json", NetworkID: "0x01",
		Fingerprint: "af2c b0a1"}, "dry run": {DryRun: true}} {
		if r.Chains = deployedChains(works); r.DryRun {
			r.Chains[0].Missing[0].Transaction = ""
		}
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			o := DeployOptions{Options: Options{Out: &out}}
			if err := errors.Join(o.printPlan(works, 1), o.end(works, r), printJSON(&out, r)); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, out.Bytes())
		})
	}
}

func TestInitPrintsWhatItWrote(t *testing.T) {
	dir := t.TempDir() + "/"
	chains := []string{"base=https://node.example", "base=https://other.example", "op"}
	for name, asJSON := range map[string]bool{"lines": false, "json": true} {
		t.Run(name, func(t *testing.T) {
			_, out, err := initialises(t, InitOptions{File: dir + name + ".toml", Kind: string(network.Test),
				Chains: chains, JSON: asJSON})
			if err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, strings.ReplaceAll(out, dir, ""))
		})
	}
}

// What is printed as JSON has no question in it.
func TestInitAsksBesideItsJSON(t *testing.T) {
	t.Chdir(t.TempDir())
	_, out, err := initialises(t, InitOptions{File: "x.toml", JSON: true}, "lab", "base", "ftp://x",
		"http://127.0.0.1:8545", "", "")
	if err != nil {
		t.Fatal(err, out)
	}
	if last := out[strings.LastIndex(strings.TrimSpace(out), "\n")+1:]; !strings.HasPrefix(last, `{"file":"x.toml"`) ||
		strings.Contains(last, "ftp") || !strings.Contains(out, "ftp://x: ") {
		t.Error(out)
	}
}
