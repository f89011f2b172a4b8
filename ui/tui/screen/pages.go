package screen

import (
	"strings"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/pattern"
	"coffer/wallet/verify"
)

// Pages reports whether transactions have pages that a browser can open: those of embedded chains have none.
func (c Context) Pages() bool { return c.Network.Kind != network.Embedded }

// Link is a page that may be a link on the screen: on the explorer that the catalogue pins for the chain, of a real
// or a test network; "" for any other. chain is CAIP-2.
func (c Context) Link(chain, page string) string {
	if k := c.Network.Kind; k != network.Real && k != network.Test || !c.KnownPage(chain, page) {
		return ""
	}
	return page
}

// TokenLink is the page of a token's contract on the explorer of its chain, as Link.
func (c Context) TokenLink(asset string) string {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return ""
	}
	chain, known := c.Catalog.Chain(a.Chain)
	address := a.Reference
	if token, evm := a.Token(); evm {
		address = token.Hex()
	}
	if !known || chain.Explorer == "" || a.IsNative() {
		return ""
	}
	return c.Link(a.Chain.String(), strings.TrimSuffix(chain.Explorer, "/")+"/token/"+address)
}

var (
	reEVMHash    = pattern.New(`^0x[0-9a-fA-F]{64}$`)
	reSolanaHash = pattern.New(`^[1-9A-HJ-NP-Za-km-z]{64,90}$`)
)

// HashLink is the page of a transaction on the explorer of its chain, as Link, whether the service names it or not.
func (c Context) HashLink(chain, hash string) string {
	id, err := caip.ParseChain(chain)
	if err != nil || c.Catalog == nil {
		return ""
	}
	form := reEVMHash
	if id.IsSolana() {
		form = reSolanaHash
	}
	info, known := c.Catalog.Chain(id)
	if !known || info.Explorer == "" || !form.MatchString(hash) {
		return ""
	}
	return c.Link(chain, strings.TrimSuffix(info.Explorer, "/")+"/tx/"+hash)
}

// KnownPage reports whether link is a page of the chain's known explorer, as verify.ExplorerURL judges it (TH-H2),
// where there are pages at all. chain is CAIP-2.
func (c Context) KnownPage(chain, link string) bool {
	if !c.Pages() {
		return false
	}
	known, _ := verify.ExplorerURL(c.Catalog, c.Network.Kind, c.BaseURL, chain, link)
	return known
}
