package service

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/service/access"
	"coffer/api/service/chain"
)

// Keys are the stored keys.
func Keys(s *Service) *access.Keys { return s.keys }

// Delegate lets the operator put an authorization on a chain, as anybody could.
func Delegate(s *Service, chainID uint64, a op.SignedAuthorization) error {
	c := s.in.Chains[chainID]
	_, err := c.Seal(context.Background(), chain.SealRequest{Time: c.Head().Time, Txs: []chain.Tx{{
		From: s.in.Operator, To: common.Address{1}, Gas: 200_000, Authorizations: []op.SignedAuthorization{a},
	}}})
	return err
}
