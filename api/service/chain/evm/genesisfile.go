package evm

import (
	"fmt"
	"maps"
	"math/big"

	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api/service/chain/evm/exec"
)

// GenesisFile is a spec as geth's genesis file, with the rules of Prague: the newest that nodes of others all know.
// Beside what every chain has, it lists the contracts of EIP-2935 and EIP-4788, which such nodes call in each block.
func GenesisFile(s Spec) ([]byte, error) {
	accounts, err := s.accounts()
	if err != nil {
		return nil, err
	}
	accounts = append(accounts,
		Account{Address: params.HistoryStorageAddress, Nonce: 1, Code: params.HistoryStorageCode},
		Account{Address: params.BeaconRootsAddress, Nonce: 1, Code: params.BeaconRootsCode})
	alloc := types.GenesisAlloc{}
	for _, a := range accounts {
		balance := a.Balance
		if balance == nil {
			balance = new(big.Int)
		}
		alloc[a.Address] = types.Account{Code: a.Code, Nonce: a.Nonce, Balance: balance, Storage: maps.Clone(a.Storage)}
	}
	g := core.Genesis{Config: exec.Config(s.ChainID, exec.Prague), Timestamp: s.Time, GasLimit: GasLimit,
		Difficulty: new(big.Int), BaseFee: big.NewInt(GenesisBaseFee), Alloc: alloc}
	raw, err := g.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("genesis file: %w", err)
	}
	value := jsontext.Value(raw)
	if err := value.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("genesis file: %w", err)
	}
	return append(value, '\n'), nil
}
