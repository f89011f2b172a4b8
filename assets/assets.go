// Package assets holds the data that every part of the program is built from: chains, assets and their price table,
// the addresses pinned on every network, the public demo key, and the compiled contracts of the embedded chains.
//
// Promise: everything is embedded and read-only; a reader refuses unknown members, trailing data and a file that does
// not exist, so a mistake in a data file is found by the tests of this package and not by a user. Nothing here performs
// I/O beyond the embedded files and nothing keeps state: each call decodes again and returns values the caller owns.
//
// Units: prices are whole micro-USD per whole token, gas prices wei, both as decimal strings; addresses are EIP-55.
// An absent price means that the price is unknown, never zero.
//
// Sources: protocol §3.5 and §3.8 (gas and price tables), §4.2 (pins), assets/contracts/README.md
// (the contracts), assets/contracts/build.mjs (how they are built).
package assets

import (
	"embed"
	"fmt"

	"github.com/go-json-experiment/json"
)

//go:generate npm --prefix contracts ci --ignore-scripts --no-audit --no-fund
//go:generate node contracts/build.mjs

// FS holds catalog.json, networks.json, pins.json, code.json, demo.json and contracts/artifacts/<Name>.json.
//
//go:embed catalog.json networks.json pins.json code.json demo.json contracts/artifacts/*.json
var FS embed.FS

// ReadJSON decodes the embedded file name into v, which must be a pointer. Unknown members and anything after the
// document are errors.
func ReadJSON(name string, v any) error {
	raw, err := FS.ReadFile(name)
	if err != nil {
		return fmt.Errorf("assets: %w", err)
	}
	if err := decodeStrict(raw, v); err != nil {
		return fmt.Errorf("assets: %s: %w", name, err)
	}
	return nil
}

func decodeStrict(raw []byte, v any) error {
	return json.Unmarshal(raw, v, json.RejectUnknownMembers(true))
}
