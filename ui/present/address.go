package present

import (
	"strings"

	"coffer/api/caip"
)

// Checksummed writes an EVM address in EIP-55 form; any other text (a Solana address) is cleaned and returned
// in full.
func Checksummed(address string) string {
	if a, err := caip.ParseAddress(address); err == nil {
		return a.Hex()
	}
	return Whole(address)
}

// Address writes an address in full, checksummed, in groups of four: "0x12Ab 34Cd …", 51 cells for EVM.
func Address(address string) string {
	s := Checksummed(address)
	if strings.HasPrefix(s, "0x") {
		return Groups(s)
	}
	return fours(s)
}

// ShortID is the beginning and end of an identifier, for places where no money depends on it: "0x9f3c..41ab". It is
// ASCII, as the commands and their files are read where nothing else may be shown.
func ShortID(id string) string {
	id = Clean(id, 100)
	if r := []rune(id); len(r) > 12 {
		return string(r[:6]) + ".." + string(r[len(r)-4:])
	}
	return id
}
