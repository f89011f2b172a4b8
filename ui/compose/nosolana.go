package compose

import (
	"cmp"
	"strings"

	"coffer/api/caip"
	"coffer/api/catalog"
)

// What a network without Solana says where it is named: an operator has nothing that holds a deposit there (protocol
// §5.7), own nodes have none that reach it.
const (
	NoSolana = "this network's operator pays and delivers on EVM chains only, until a deposit program for Solana " +
		"exists"
	NoOwnSolana = "your networks.toml has no Solana chain"
)

// noSolana is why Solana cannot be named here, "" where the network has it.
func (w *World) noSolana() string {
	switch _, has := w.Catalog.Chain(caip.SolanaMainnet()); {
	case has:
		return ""
	case w.OwnNodes:
		return NoOwnSolana
	}
	return NoSolana
}

// unknownChain is the mistake of a text that names no chain here; of Solana it says why there is none.
func (w *World) unknownChain(text, problem string) string {
	shipped, err := catalog.Load()
	if err != nil {
		return problem
	}
	id, _ := caip.ParseChain(text)
	if s := shipped.Solana(); id.IsSolana() || strings.EqualFold(text, s.Name) || strings.EqualFold(text, s.Short) {
		return cmp.Or(w.noSolana(), problem)
	}
	return problem
}

// unknownAsset is the mistake of an asset that is not known here; of one on Solana it says why there is none.
func (w *World) unknownAsset(asset, problem string) string {
	if catalog.SolanaOnly(asset) {
		return cmp.Or(w.noSolana(), problem)
	}
	return problem
}
