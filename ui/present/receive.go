package present

import (
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
)

// HasChain reports whether a network runs a chain: every one, unless it lists its EVM chains.
func HasChain(n network.Descriptor, chain caip.Chain) bool {
	return len(n.Chains) == 0 || chain.IsSolana() || slices.Contains(n.Chains, chain.String())
}

// ReceiveOn names the chains on which an account can receive: those of the catalogue that the network runs.
func ReceiveOn(c *catalog.Catalog, n network.Descriptor, a api.Account) string {
	if !a.IsEVM() {
		return "Send to it on " + c.Solana().Name + " only: its coin and its tokens. It is no address on other chains."
	}
	var names []string
	for _, k := range c.Chains() {
		if HasChain(n, k.Chain) {
			names = append(names, k.Name)
		}
	}
	return "Send to it on these chains only: " + strings.Join(names, ", ") + ". The address is the same on each."
}

// ReceiveCare is what a payer has to know of this network; lost: real coins would be lost there.
func ReceiveCare(k network.Kind) (text string, lost bool) {
	switch k {
	case network.Embedded:
		return "These chains live inside this program. Real coins sent to this address are lost.", true
	case network.Lab:
		return "These are test chains of a lab. Real coins sent to this address are lost.", true
	case network.Test:
		return "These are public test networks. Real coins sent to this address are not here, and may be lost.", true
	}
	return "Compare the whole address before you send to it.", false
}

// Requests says what a payment request is good for, by the standard that it follows.
func Requests(a api.Account) string {
	if a.IsEVM() {
		return "Coffer and other wallets that read EIP-681 fill in chain, asset, recipient and amount from it."
	}
	return "Coffer and other wallets that read Solana Pay fill in asset, recipient and amount from it."
}
