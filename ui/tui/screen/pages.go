package screen

import (
	"coffer/api/network"
	"coffer/wallet/verify"
)

// Pages reports whether transactions have pages that a browser can open: those of embedded chains have none.
func (c Context) Pages() bool { return c.Network.Kind != network.Embedded }

// KnownPage reports whether link is a page of the chain's known explorer, as verify.ExplorerURL judges it (TH-H2),
// where there are pages at all. chain is CAIP-2.
func (c Context) KnownPage(chain, link string) bool {
	if !c.Pages() {
		return false
	}
	known, _ := verify.ExplorerURL(c.Catalog, c.Network.Kind, c.BaseURL, chain, link)
	return known
}
