package catalog_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/catalog"
)

// gnosis adds a chain with its coin and USDC, and an asset on it and on Base.
const gnosis = `{
  "chains": [{"chain": "eip155:100", "name": "Gnosis", "short": "gno", "nativeSymbol": "XDAI",
    "blockExplorer": "https://gnosisscan.io", "gasPriceWei": "1000000000"}],
  "tokens": [
    {"aggregatedAssetId": "ob:xdai", "symbol": "XDAI", "name": "xDAI", "decimals": 18, "priceMicroUSD": "1000000",
      "aggregatedEntities": [
        {"assetType": "eip155:100/slip44:60", "decimals": 18, "name": "xDAI", "symbol": "XDAI"}]},
    {"aggregatedAssetId": "ob:usdc", "symbol": "USDC", "name": "USD Coin", "decimals": 6, "priceMicroUSD": "999800",
      "aggregatedEntities": [{"assetType": "eip155:100/erc20:0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0",
        "decimals": 6, "name": "USD Coin", "symbol": "USDC"}]}
  ]
}`

func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), catalog.File)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileAddsToTheShippedCatalogue(t *testing.T) {
	shipped := load(t)
	if c, err := catalog.With(filepath.Join(t.TempDir(), catalog.File)); err != nil || c != shipped ||
		len(c.Added()) != 0 {
		t.Errorf("no file: %v", err)
	}
	c, err := catalog.With(file(t, gnosis))
	if err != nil {
		t.Fatal(err)
	}
	info, known := c.Chain(caip.EVM(100))
	if !known || info.Name != "Gnosis" || len(c.Chains()) != len(shipped.Chains())+1 ||
		!slices.IsSortedFunc(c.Chains(), func(a, b catalog.ChainInfo) int { return int(a.ID) - int(b.ID) }) {
		t.Errorf("%+v", c.Chains())
	}
	usdc, _ := c.Aggregate("ob:usdc")
	before, _ := shipped.Aggregate("ob:usdc")
	added := c.Added()
	if len(added) != 2 || added[1] != usdc.Entities[len(usdc.Entities)-1] ||
		len(usdc.Entities) != len(before.Entities)+1 {
		t.Errorf("added %+v", added)
	}
	if added[0].Symbol = "changed"; c.Added()[0].Symbol != "XDAI" {
		t.Error("the registry changed")
	}
	if _, known := load(t).Chain(caip.EVM(100)); known {
		t.Error("the shipped catalogue changed")
	}
}

func TestAFileIsReadStrictly(t *testing.T) {
	for want, pair := range map[string][2]string{
		`unknown object member name "colour"`: {`"name": "Gnosis"`, `"name": "Gnosis", "colour": 1`},
		`within "/tokens/0/symbol"`:           {`"symbol": "XDAI", "name": "xDAI", "decimals": 18,`, `"symbol": 7,`},
		`/tokens/0: ob:xdai needs decimals`:   {`"name": "xDAI", "decimals": 18, "price`, `"name": "xDAI", "price`},
		`/chains/0: gas price of eip155:100`:  {`"gasPriceWei": "1000000000"`, `"gasPriceWei": "1 gwei"`},
		`/chains/0: chain eip155:10 appears`:  {`"eip155:100", "name"`, `"eip155:10", "name"`},
		`/tokens/1: ob:usdc is described in two different ways: it is USDC, "USD Coin", with 6 decimals`: {
			`"priceMicroUSD": "999800"`, `"priceMicroUSD": "999801"`},
		`is in the catalogue already, in ob:usdc`: {`eip155:100/erc20:0x2a22f9c3b484c3629090FeED35F17Ff8F88f76F0`,
			`eip155:10/erc20:0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85`},
		`a file adds nothing to Solana`: {`"aggregatedEntities": [
        {`, `"aggregatedEntities": [{"assetType": "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:` +
			`Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", "decimals": 6, "name": "xDAI", "symbol": "XDAI"}, {`},
		`invalid character`: {`"chains": [`, `"chains": ,[`},
		`chain eip155:100 has no native coin`: {`eip155:100/slip44:60`,
			`eip155:100/erc20:0x6810e776880C02933D47DB1b9fc05908e5386b96`},
	} {
		text := strings.Replace(gnosis, pair[0], pair[1], 1)
		path := file(t, text)
		if _, err := catalog.With(path); text == gnosis || err == nil || !strings.HasPrefix(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	path := file(t, gnosis)
	if err := os.Chmod(path, 0o666); err != nil { //nolint:gosec // that is what is refused
		t.Fatal(err)
	}
	if _, err := catalog.With(path); runtime.GOOS != "windows" &&
		(err == nil || !strings.Contains(err.Error(), "others may write here")) {
		t.Errorf("a file that others may write: %v", err)
	}
	if _, err := catalog.With(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
}

func TestTheExampleOfThePageIsGood(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(page), "```json\n{\n  \"chains\"")
	example, _, _ = strings.Cut(example, "```")
	c, err := catalog.Read([]byte(`{"chains"` + example))
	if err != nil || len(c.Added()) != 2 {
		t.Errorf("%v", err)
	}
}

// Whatever a file says, it is refused or changes nothing of what is shipped.
func FuzzRead(f *testing.F) {
	for _, text := range []string{gnosis, `{}`, `{"chains":[{}]}`, `{"tokens":[{"aggregatedAssetId":"ob:usdc"}]}`, ``} {
		f.Add([]byte(text))
	}
	shipped, err := catalog.Load()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := catalog.Read(raw)
		if err != nil {
			return
		}
		for _, info := range shipped.Chains() {
			if now, _ := c.Chain(info.Chain); now.Name != info.Name || now.GasPriceWei.Cmp(info.GasPriceWei) != 0 {
				t.Errorf("%+v became %+v", info, now)
			}
		}
		total := len(c.Added())
		for _, a := range shipped.Aggregates() {
			for _, e := range a.Entities {
				if now, _ := c.Entity(e.Asset); now != e {
					t.Errorf("%+v became %+v", e, now)
				}
			}
			total += len(a.Entities)
		}
		for _, a := range c.Aggregates() {
			total -= len(a.Entities)
		}
		if total != 0 {
			t.Errorf("%d assets too many or too few", -total)
		}
	})
}
