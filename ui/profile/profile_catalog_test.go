package profile

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/catalog"
)

// A profile knows what this program ships and what the file in its own data directory adds; a service adds nothing.
func TestTheCatalogueOfAProfileIsTheUsersOwn(t *testing.T) {
	home := t.TempDir()
	config := filepath.Join(home, "coffer", "config.toml")
	data := filepath.Join(home, "coffer", "demo")
	for _, dir := range []string{filepath.Dir(config), data} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	h := Host{Getenv: func(name string) string {
		if strings.HasPrefix(name, "XDG_") || name == "HOME" {
			return home
		}
		return ""
	}, Embedded: func(context.Context, string, EmbeddedOptions) (Embedded, error) {
		return Embedded{}, context.Canceled
	}}
	put := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(data, catalog.File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"chains": [{"chain": "eip155:1"}]}`)
	want := filepath.Join(data, catalog.File) + ": /chains/0: gas price of eip155:1"
	if _, err := h.Open(t.Context(), "", ""); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a wrong file: %v", err)
	}
	put(`{"tokens": [{"aggregatedAssetId": "ob:club", "symbol": "CLUB", "name": "Club", "decimals": 6,
		"aggregatedEntities": [{"assetType": "eip155:8453/erc20:0x6810e776880C02933D47DB1b9fc05908e5386b96",
		"decimals": 6, "name": "Club", "symbol": "CLUB"}]}]}`)
	if _, err := h.Open(t.Context(), "", ""); err == nil || strings.Contains(err.Error(), catalog.File) {
		t.Errorf("a good file: %v", err)
	}
	c, err := h.Catalog("")
	if err != nil {
		t.Fatal(err)
	}
	if a, known := c.Aggregate("ob:club"); !known || a.Entities[0].Asset.Chain != caip.EVM(8453) {
		t.Errorf("%+v", a)
	}
}
