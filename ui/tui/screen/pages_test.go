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

// TestOnlyPinnedExplorersAreLinks: a page of the service itself is known in a lab, and text all the same.
func TestOnlyPinnedExplorersAreLinks(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const page, own = "https://basescan.org/tx/0x12", "https://lab.invalid/api/explorer/eip155:8453/tx/0x12"
	const token = "https://basescan.org/token/0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	const usdc = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	for kind, links := range map[network.Kind]bool{network.Real: true, network.Lab: false, network.Embedded: false,
		"": false} {
		ctx := Context{Catalog: cat, BaseURL: "https://lab.invalid/api", Network: network.Descriptor{Kind: kind}}
		if got := ctx.Link("eip155:8453", page); (got == page) != links || got != "" && !links {
			t.Errorf("%q: %q", kind, got)
		}
		if got := ctx.TokenLink(usdc); (got == token) != links || got != "" && !links {
			t.Errorf("%q: %q", kind, got)
		}
		for _, other := range []string{own, "http://basescan.org/tx/0x12", "https://basescan.org@evil.example/"} {
			if got := ctx.Link("eip155:8453", other); got != "" {
				t.Errorf("%q: %q", kind, got)
			}
		}
		for _, other := range []string{"eip155:8453/slip44:60", "eip155:424242/erc20:0x" + usdc[len(usdc)-40:], "x"} {
			if got := ctx.TokenLink(other); got != "" {
				t.Errorf("%q: %q", other, got)
			}
		}
	}
}
