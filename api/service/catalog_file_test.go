package service_test

import (
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/service"
	"coffer/api/service/devnet"
)

const clubCatalog = `{"chains": [{"chain": "eip155:100", "name": "Gnosis", "short": "gno", "nativeSymbol": "XDAI",
	"blockExplorer": "https://gnosisscan.io", "gasPriceWei": "1000000000"}], "tokens": [
	{"aggregatedAssetId": "ob:xdai", "symbol": "XDAI", "name": "xDAI", "decimals": 18, "priceMicroUSD": "1000000",
		"aggregatedEntities": [{"assetType": "eip155:100/slip44:60", "decimals": 18, "name": "xDAI",
			"symbol": "XDAI"}]},
	{"aggregatedAssetId": "ob:club", "symbol": "CLUB", "name": "Club money", "decimals": 6, "priceMicroUSD": "2000000",
		"aggregatedEntities": [
		{"assetType": "eip155:8453/erc20:0x6810e776880C02933D47DB1b9fc05908e5386b96", "decimals": 6,
			"name": "Club money", "symbol": "CLUB"},
		{"assetType": "eip155:100/erc20:0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0", "decimals": 18,
			"name": "Club money", "symbol": "CLUB"}]}]}`

// What an operator adds in a file is served beside everything that was there: history and balances stay, new accounts
// get of it, and it pays, from the new chain too.
func TestACatalogueFileAddsToAServiceThatIsInUse(t *testing.T) {
	dir := t.TempDir()
	open := func(kind string, user uint64) (*client, *service.Attachment) {
		t.Helper()
		a, err := service.OpenOrAttach(t.Context(), dir, options(nil))
		if err != nil {
			t.Fatal(err)
		}
		return newClient(t, a.Service(), kind, user), a
	}
	c, a := open(api.AccountKernelV31, 1)
	was := a.Network
	signed, id, _ := c.call(c.transfer(300_000_000), "ob:usdc")
	c.done(c.finish(signed, id), api.RecordCall)
	left := c.wealth()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(dir, catalog.File)
	if err := os.WriteFile(path, []byte(clubCatalog), 0o600); err != nil {
		t.Fatal(err)
	}
	c, a = open(api.AccountKernelV31, 1)
	if got := c.status(id); got.Status != api.StatusCompleted || c.wealth() != left {
		t.Errorf("%+v and %d of %d are left", got, c.wealth(), left)
	}
	if a.Network.ID != was.ID || !slices.Equal(a.Network.Added, []string{"eip155:100"}) {
		t.Errorf("network %s, before %s, added %v", a.Network.ID, was.ID, a.Network.Added)
	}
	for path, want := range map[string]string{"/chains/supported-list": `"eip155:100"`, "/assets/list": `"ob:club"`} {
		if raw := string(c.ask("GET", path, "").Raw()); !strings.Contains(raw, want) {
			t.Errorf("%s has no %s", path, want)
		}
	}
	const onBase, onGnosis = "eip155:8453/erc20:0x6810e776880c02933d47db1b9fc05908e5386b96",
		"eip155:100/erc20:0x2a22f9c3b484c3629090feed35f17ff8f88f76f0"
	n := newClient(t, a.Service(), api.AccountKernelV31, 2)
	n.wealth()
	own := "eip155:1:" + n.user.Address.Hex()
	for asset, want := range map[string]string{onBase: "50000000", onGnosis: "50000000000000000000",
		"eip155:100/slip44:60": "100000000000000000000"} {
		if got := n.balance(own, asset); got.String() != want {
			t.Errorf("the faucet gave %s of %s, expected %s", got, asset, want)
		}
	}
	for _, pays := range []string{"ob:club", onGnosis} {
		before := n.balance("eip155:1:"+recipient, "eip155:8453/erc20:"+baseUSDC)
		signed, id, _ := n.callFrom(n.transfer(60_000_000), pays)
		n.done(n.finish(signed, id), api.RecordCall)
		got := n.balance("eip155:1:"+recipient, "eip155:8453/erc20:"+baseUSDC)
		if got.Sub(got, before).Cmp(big.NewInt(60_000_000)) != 0 {
			t.Errorf("%s: %s arrived", pays, got)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := service.OpenOrAttach(t.Context(), dir, options(nil)); !errors.Is(err, devnet.ErrCatalog) ||
		!strings.Contains(err.Error(), "CLUB") {
		t.Errorf("without the file: %v", err)
	}
	if err := os.WriteFile(path, []byte(`{"chains": [{"chain": "eip155:1"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := service.OpenOrAttach(t.Context(), dir, options(nil)); err == nil ||
		!strings.Contains(err.Error(), path+": /chains/0: gas price of eip155:1") {
		t.Errorf("with a wrong file: %v", err)
	}
}
