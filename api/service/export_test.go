package service

import (
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/genesis"
)

// Stock returns the addresses that hold what genesis made, beside those in the pins.
func Stock(s *Service) []common.Address {
	return []common.Address{genesis.AddressOf(s.in.Treasury), genesis.AddressOf(s.in.Faucet)}
}
