package present

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
)

// Checksummed writes an EVM address in EIP-55 form; any other text (a Solana address) is cleaned and returned
// in full.
func Checksummed(address string) string {
	if !common.IsHexAddress(address) {
		return Clean(address, max(1, len(address)))
	}
	a, err := caip.ParseAddress(address)
	if err != nil {
		return Clean(address, max(1, len(address)))
	}
	return a.Hex()
}

// Address writes an address in full, checksummed, in groups of four: "0x12Ab 34Cd …", 51 cells for EVM.
func Address(address string) string {
	s := Checksummed(address)
	var b strings.Builder
	if rest, ok := strings.CutPrefix(s, "0x"); ok {
		b.WriteString("0x")
		s = rest
	}
	n := 0
	for _, r := range s {
		if n > 0 && n%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// ShortID is the beginning and end of an identifier, for places where no money depends on it: "0x9f3c…41ab".
func ShortID(id, more string) string {
	id = Clean(id, 100)
	if r := []rune(id); len(r) > 12 {
		return string(r[:6]) + more + string(r[len(r)-4:])
	}
	return id
}
