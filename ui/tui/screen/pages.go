package screen

import (
	"net/url"

	"coffer/api/caip"
	"coffer/api/network"
)

// Pages reports whether transactions have pages that a browser can open: those of the chains inside this program have none.
func (c Context) Pages() bool { return c.Network.Kind != network.Embedded }

// KnownPage reports whether link is a page of the chain's known explorer: over https on its host, on a lab's chains on the service's own host,
// nowhere on the chains inside this program (TH-H2). chain is CAIP-2.
func (c Context) KnownPage(chain, link string) bool {
	u, err := url.Parse(link)
	if err != nil || u.User != nil || u.Host == "" {
		return false
	}
	switch c.Network.Kind {
	case network.Embedded:
		return false
	case network.Lab:
		home, err := url.Parse(c.BaseURL)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host == home.Host
	}
	id, err := caip.ParseChain(chain)
	if err != nil || u.Scheme != "https" || c.Catalog == nil {
		return false
	}
	info, ok := c.Catalog.Chain(id)
	if !ok {
		return false
	}
	home, err := url.Parse(info.Explorer)
	return err == nil && home.Host == u.Host
}
