package operator

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"

	"coffer/api/networks"
	"coffer/api/service/pinned"
)

func genesis(t *testing.T, id uint64, play bool) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Genesis(GenesisOptions{ChainID: id, Time: 1_700_000_000, Out: &out, PlayMoney: play,
		Fund: []common.Address{payer(t).Address(), {19: 1}, payer(t).Address()}}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A private chain begins with every contract, and with the approval that nobody could give there.
func TestAPrivateChainBeginsWithEverything(t *testing.T) {
	var g core.Genesis
	if err := stdjson.Unmarshal(genesis(t, 4242, false), &g); err != nil {
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

// Every chain that Coffer knows can be played: its tokens and its feeds are there.
func TestPlayMoneyIsThatOfTheChain(t *testing.T) {
	known, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range known {
		var g core.Genesis
		if err := stdjson.Unmarshal(genesis(t, c.ID, true), &g); err != nil {
			t.Fatal(err)
		}
		c = withTokens(c, TokensPriced)
		for _, token := range c.Tokens {
			has := 0
			for _, word := range g.Alloc[token.Address].Storage {
				if word == common.BigToHash(whole(funds, token.Decimals)) {
					has++
				}
			}
			if has != 2 {
				t.Errorf("%s: %d accounts have a million %s", c.Name, has, token.Symbol)
			}
		}
		for _, f := range c.Feeds {
			if len(g.Alloc[f.Address].Code) == 0 {
				t.Errorf("%s has no feed of %s", c.Name, f.Aggregate)
			}
		}
	}
	for _, o := range []GenesisOptions{{ChainID: 4242, Fund: []common.Address{{19: 1}}}, {ChainID: 8453}} {
		o.PlayMoney = true
		var wrong *InputError
		if err := Genesis(o); !errors.As(err, &wrong) || wrong.Hint == "" {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// A node that is not ours takes the file, and nothing is missing on its chain.
func TestAPrivateChainOnAnvil(t *testing.T) {
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	path := filepath.Join(t.TempDir(), "genesis.json")
	if err := os.WriteFile(path, genesis(t, 8453, true), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, map[uint64]string{8453: startAnvil(t, "8453", "--init", path)})
	known, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	priced := withTokens(known[slices.IndexFunc(known, func(c networks.Chain) bool { return c.ID == 8453 })],
		TokensPriced)
	w.file.Chains[0].Tokens, w.file.Chains[0].Feeds = priced.Tokens, priced.Feeds
	w.write()
	out, err := w.deploys(false)
	if err != nil || w.sent != 0 {
		t.Errorf("%d transactions, %v", w.sent, err)
	}
	says(t, out, "nothing is missing on 1 chain")
	if err := Check(t.Context(), w.options()); err != nil {
		t.Error(err)
	}
	says(t, w.out.String(), "ok factory approved", "everything that is needed is there",
		fmt.Sprintf("%[1]d of %[1]d have the decimals", len(priced.Tokens)),
		fmt.Sprintf("%[1]d of %[1]d are fresh", len(priced.Feeds)))
}
