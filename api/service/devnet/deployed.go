package devnet

import (
	_ "embed"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"coffer/api/service/chain/evm"
)

// deployedFile holds what the constructors of genesis leave behind, so that no start runs one. A test runs them and
// compares: `go test ./api/service/devnet -run Deployed -update` writes the file.
//
//go:embed deployed.rlp
var deployedFile []byte

// finished is a contract of genesis as its constructor leaves it, without what follows from the installation.
type finished struct {
	Name     string
	Accounts []left // the contract itself first
	// Holes are where in its code the one word stands that the contract of each installation has of its own. The word
	// is zero here.
	Holes []uint64
}

// left is an account that a constructor left behind.
type left struct {
	Address common.Address
	Nonce   uint64
	Code    []byte
	Hash    common.Hash // of Code
	Slots   []leftSlot
}

type leftSlot struct{ Key, Value common.Hash }

// contracts are those of genesis by name.
type contracts map[string]finished

func readContracts() (contracts, error) {
	var all []finished
	if err := rlp.DecodeBytes(deployedFile, &all); err != nil {
		return nil, fmt.Errorf("deployed contracts: %w", err)
	}
	out := contracts{}
	for _, d := range all {
		out[d.Name] = d
	}
	return out, nil
}

// accounts are those of a contract, with its word in its holes.
func (c contracts) accounts(name string, word common.Hash) []evm.Account {
	d := c[name]
	out := make([]evm.Account, len(d.Accounts))
	for i, l := range d.Accounts {
		out[i] = evm.Account{Address: l.Address, Nonce: l.Nonce, Code: l.Code, CodeHash: l.Hash,
			Storage: make(map[common.Hash]common.Hash, len(l.Slots))}
		for _, s := range l.Slots {
			out[i].Storage[s.Key] = s.Value
		}
	}
	if len(d.Holes) > 0 {
		out[0].Code = common.CopyBytes(out[0].Code)
		for _, at := range d.Holes {
			copy(out[0].Code[at:], word[:])
		}
		out[0].CodeHash = crypto.Keccak256Hash(out[0].Code)
	}
	return out
}
