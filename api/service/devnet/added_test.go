package devnet_test

import (
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/devnet"
	"coffer/api/service/store"
)

const (
	addedChain = `{"chain": "eip155:100", "name": "Gnosis", "short": "gno", "nativeSymbol": "XDAI",
		"blockExplorer": "https://gnosisscan.io", "gasPriceWei": "1000000000"}`
	addedCoin = `{"aggregatedAssetId": "ob:xdai", "symbol": "XDAI", "name": "xDAI", "decimals": 18,
		"aggregatedEntities": [{"assetType": "eip155:100/slip44:60", "decimals": 18, "name": "xDAI",
			"symbol": "XDAI"}]}`
	// CLUB has other decimals on the new chain.
	addedToken = `{"aggregatedAssetId": "ob:club", "symbol": "CLUB", "name": "Club money", "decimals": 6,
		"priceMicroUSD": "2000000", "aggregatedEntities": [
		{"assetType": "eip155:8453/erc20:0x6810e776880C02933D47DB1b9fc05908e5386b96", "decimals": 6,
			"name": "Club money", "symbol": "CLUB"}ELSEWHERE]}`
	elsewhere = `, {"assetType": "eip155:100/erc20:0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0", "decimals": 18,
			"name": "Club money", "symbol": "CLUB"}`
)

func catalogFile(chains string, tokens ...string) string {
	return `{"chains": [` + chains + `], "tokens": [` + strings.Join(tokens, ",") + `]}`
}

func club(elsewhere string) string { return strings.Replace(addedToken, "ELSEWHERE", elsewhere, 1) }

// openWith opens an installation with a catalogue file, "" for none.
func openWith(t testing.TB, s store.Store, text string) (*devnet.Installation, error) {
	t.Helper()
	o := options()
	if text != "" {
		o.Catalog = filepath.Join(t.TempDir(), catalog.File)
		if err := os.WriteFile(o.Catalog, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return devnet.Open(s, o)
}

func mustOpen(t testing.TB, s store.Store, text string) *devnet.Installation {
	t.Helper()
	in, err := openWith(t, s, text)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// whole checks an installation: each chain is what its blocks make of its genesis, each token has its whole supply
// where it belongs, and the solver may spend its share.
func whole(t *testing.T, in *devnet.Installation) {
	t.Helper()
	for _, id := range in.ChainIDs {
		if n, err := in.Chains[id].(*evm.Chain).Verify(t.Context()); err != nil || n == 0 {
			t.Errorf("eip155:%d: %d blocks, %v", id, n, err)
		}
	}
	for _, a := range tokens(in) {
		sum := new(big.Int)
		for _, h := range []common.Address{in.Treasury.Address(), in.Pins.Solver, in.Faucet.Address(), {7}} {
			sum.Add(sum, call(t, in, a, erc20.BalanceOf(h)))
		}
		if total := call(t, in, a, common.FromHex("0x18160ddd")); sum.Cmp(total) != 0 || total.Sign() == 0 {
			t.Errorf("%s: %s of %s", a, sum, total)
		}
		token, _ := a.Token()
		id, _ := a.Chain.EVMID()
		leave := call(t, in, caip.ERC20(id, in.Pins.Solver),
			append(crypto.Keccak256([]byte("available(address)"))[:4], common.LeftPadBytes(token[:], 32)...))
		if leave.Cmp(call(t, in, a, erc20.BalanceOf(in.Pins.Solver))) != 0 {
			t.Errorf("%s: %s may leave the filler", a, leave)
		}
	}
}

// What stranded data before: a chain and tokens come to an installation that is in use, and everything that was there
// stays there.
func TestACatalogueFileAddsChainsAndTokensToDataThatExists(t *testing.T) {
	s := store.NewMemory()
	in := mustOpen(t, s, "")
	usdc := caip.ERC20(8453, common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"))
	token, _ := usdc.Token()
	sent, err := in.Chains[8453].Seal(t.Context(), chain.SealRequest{Time: devnet.Time + 1<<29, Txs: []chain.Tx{
		{From: in.Treasury, To: token, Data: erc20.Transfer(common.Address{7}, big.NewInt(5)), Gas: 100_000}}})
	if err != nil {
		t.Fatal(err)
	}
	heads := func(in *devnet.Installation) map[uint64]uint64 {
		out := map[uint64]uint64{}
		for id, c := range in.Chains {
			out[id] = c.Head().Number
		}
		return out
	}
	before := heads(in)

	full := catalogFile(addedChain, addedCoin, club(elsewhere))
	mustOpen(t, s, catalogFile("", club("")))
	before[8453]++
	now := mustOpen(t, s, full)
	before[100] = 1
	for id, n := range heads(now) {
		if n != before[id] {
			t.Errorf("eip155:%d: block %d, expected %d", id, n, before[id])
		}
	}
	whole(t, now)
	if now.ID != in.ID || !slices.Equal(now.Added, []string{"eip155:100"}) || now.Genesis["eip155:100"] == "" {
		t.Errorf("network %s, before %s; added %v", now.ID, in.ID, now.Added)
	}
	digest, _ := now.Digest()
	if was, _ := in.Digest(); was == digest {
		t.Error("nobody has to confirm the new chain")
	}
	if v, err := now.Balance(t.Context(), common.Address{7}, usdc); err != nil || v.Int64() != 5 {
		t.Errorf("the balance is %s, %v", v, err)
	}
	if r, found, err := now.Chains[8453].Receipt(t.Context(), sent.Receipts[0].TxHash); err != nil || !found ||
		!r.Success {
		t.Errorf("the transaction: %t %v", found, err)
	}
	if again := mustOpen(t, s, full); again.ID != in.ID || again.Chains[100].Head().Number != 1 {
		t.Error("what is there was set up again")
	}

	for name, text := range map[string]string{
		"no file": "", "no token": catalogFile(addedChain, addedCoin), "no chain": catalogFile("", club("")),
		"other decimals": strings.Replace(full, `"decimals": 18,
			"name": "Club`, `"decimals": 17,
			"name": "Club`, 1),
	} {
		lost := "eip155:100/erc20:0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0: CLUB, 18 decimals, Club money"
		if _, err := openWith(t, s, text); !errors.Is(err, devnet.ErrCatalog) || !strings.Contains(err.Error(), lost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := strings.NewReplacer(`"2000000"`, `"3000000"`, "1000000000", "5", "gnosisscan.io",
		"example.org").Replace(full)
	if again := mustOpen(t, s, other); again.Catalog.Price(caip.ERC20(8453,
		common.HexToAddress("0x6810e776880C02933D47DB1b9fc05908e5386b96"))).Int64() != 3_000_000 {
		t.Error("a price cannot be changed")
	}
}

func TestAFirstStartWithACatalogueFileHasEverything(t *testing.T) {
	s := store.NewMemory()
	full := catalogFile(addedChain, addedCoin, club(elsewhere))
	in := mustOpen(t, s, full)
	whole(t, in)
	if plain := open(t, store.NewMemory()); in.ID != plain.ID {
		t.Error("a file makes another network of the same seed")
	}
	if len(in.Chains) != 9 {
		t.Errorf("%d chains", len(in.Chains))
	}
}

// A process that dies at any commit of an extension leaves data that the next one opens and completes.
func TestAnExtensionThatIsCutOffIsCompleted(t *testing.T) {
	full := catalogFile(addedChain, addedCoin, club(elsewhere))
	for n := range 2 {
		s := store.NewMemory()
		open(t, s)
		if _, err := openWith(t, &dying{Store: s, left: n}, full); !errors.Is(err, errDisk) {
			t.Fatalf("cut at commit %d: %v", n, err)
		}
		whole(t, mustOpen(t, s, full))
	}
	taken := strings.Replace(catalogFile("", club("")), "0x6810e776880C02933D47DB1b9fc05908e5386b96",
		"0x0000000071727De22E5E9d8BAf0edAc6f37da032", 1) // the entry point
	s := store.NewMemory()
	before := open(t, s)
	if _, err := openWith(t, s, taken); err == nil || !strings.Contains(err.Error(), "has a contract already") {
		t.Errorf("%v", err)
	}
	if again := open(t, s); again.Chains[8453].Head().Hash != before.Chains[8453].Head().Hash {
		t.Error("something was sealed")
	}
}

// dying makes so many commits and then none.
type dying struct {
	store.Store
	left int
}

func (d *dying) Update(fn func(store.Tx) error) error {
	if d.left--; d.left < 0 {
		return errDisk
	}
	return d.Store.Update(fn)
}
