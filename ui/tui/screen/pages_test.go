package screen

import (
	"testing"

	"coffer/api/catalog"
	"coffer/api/network"
)

func TestOnlyPagesOfTheKnownExplorerAreTrusted(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind       network.Kind
		chain, url string
		known      bool
	}{
		{network.Lab, "eip155:10", "https://lab.invalid/api/explorer/eip155:10/tx/0x12", true},
		{network.Lab, "eip155:10", "https://basescan.org/tx/0x12", false},
		{network.Lab, "eip155:10", "https://lab.invalid@evil.example/tx/0x12", false},
		{network.Lab, "eip155:10", "javascript:alert(1)", false},
		{network.Lab, "eip155:10", "https://evil.example/lab.invalid", false},
		{network.Lab, "eip155:10", "http://lab.invalid/api/explorer/eip155:10/tx/0x12", false},
		{network.Lab, "eip155:10", "https://lab.invalid/api/\u202etx", false},
		{network.Lab, "eip155:999999999", "https://lab.invalid/api/explorer/eip155:999999999/tx/0x12", false},
		{network.Embedded, "eip155:10", "https://lab.invalid/api/explorer/eip155:10/tx/0x12", false},
		{network.Real, "eip155:8453", "https://basescan.org/tx/0x12", true},
		{network.Real, "eip155:8453", "http://basescan.org/tx/0x12", false},
		{network.Real, "eip155:10", "https://basescan.org/tx/0x12", false},
		{network.Real, "eip155:8453", "https://lab.invalid/tx/0x12", false},
		{"", "eip155:10", "https://lab.invalid/api/explorer/eip155:10/tx/0x12", false},
	} {
		ctx := Context{Catalog: cat, BaseURL: "https://lab.invalid/api", Network: network.Descriptor{Kind: c.kind}}
		if got := ctx.KnownPage(c.chain, c.url); got != c.known {
			t.Errorf("%q, %s, %s: known = %v", c.kind, c.chain, c.url, got)
		}
	}
	if (Context{Network: network.Descriptor{Kind: network.Embedded}}).Pages() || !(Context{}).Pages() {
		t.Error("pages exist where a browser can open them, and only there")
	}
}
