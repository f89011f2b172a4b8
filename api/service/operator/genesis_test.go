package operator

import (
	"bytes"
	stdjson "encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"

	"coffer/api/service/pinned"
)

func genesis(t *testing.T, id uint64) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Genesis(GenesisOptions{ChainID: id, Time: 1_700_000_000, Out: &out,
		Fund: []common.Address{payer(t).Address()}}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A private chain begins with every contract, and with the approval that nobody could give there.
func TestAPrivateChainBeginsWithEverything(t *testing.T) {
	var g core.Genesis
	if err := stdjson.Unmarshal(genesis(t, 4242), &g); err != nil {
		t.Fatal(err)
	}
	all, err := pinned.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if there, err := c.Check(4242, g.Alloc[c.At].Code); !there || err != nil {
			t.Errorf("%s: there: %t, %v", c.Name, there, err)
		}
	}
	meta, slot, err := pinned.Approval()
	if err != nil {
		t.Fatal(err)
	}
	if g.Alloc[meta].Storage[slot] != (common.Hash{31: 1}) || len(g.Alloc[deployer()].Code) == 0 ||
		g.Alloc[payer(t).Address()].Balance.Cmp(big.NewInt(1e18)) < 0 {
		t.Error("the approval, the deployer or the funds are missing")
	}
	if g.Config.ChainID.Uint64() != 4242 || g.ToBlock().Time() != 1_700_000_000 {
		t.Error("another chain")
	}
	if err := Genesis(GenesisOptions{}); err == nil {
		t.Error("a chain without a number")
	}
}

// A node that is not ours takes the file, and nothing is missing on its chain.
func TestAPrivateChainOnAnvil(t *testing.T) {
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	path := filepath.Join(t.TempDir(), "genesis.json")
	if err := os.WriteFile(path, genesis(t, 8453), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[uint64]string{8453: startAnvil(t, "8453", "--init", path)})
	w.file.Chains[0].Tokens = nil
	w.write()
	out, err := w.deploys(false)
	if err != nil || w.sent != 0 {
		t.Errorf("%d transactions, %v", w.sent, err)
	}
	says(t, out, "nothing is missing on 1 chain")
	if err := Check(t.Context(), w.options()); err != nil {
		t.Error(err)
	}
	says(t, w.out.String(), "ok factory approved", "everything that is needed is there")
}
