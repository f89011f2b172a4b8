package genesis

import "github.com/ethereum/go-ethereum/common"

// ConstructorTypes returns contract → argument types as genesis encodes them.
func ConstructorTypes() map[string]string {
	out := map[string]string{"Token": tokenTypes}
	for _, c := range sharedContracts(pinned{}, common.Address{}) {
		out[c.name] = c.types
	}
	return out
}
