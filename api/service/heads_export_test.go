package service

import "github.com/ethereum/go-ethereum/common"

// Heads returns the hash of each chain's head: equal heads mean that nothing was sealed in between.
func Heads(s *Service) map[uint64]common.Hash {
	out := map[uint64]common.Hash{}
	for id, c := range s.in.Chains {
		out[id] = c.Head().Hash
	}
	return out
}
