package service

import (
	"net/http"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/genesis"
	"coffer/api/service/store"
)

// Stock returns the addresses that hold what genesis made, beside those in the pins.
func Stock(s *Service) []common.Address {
	return []common.Address{genesis.AddressOf(s.in.Treasury), genesis.AddressOf(s.in.Faucet)}
}

// Operations counts the prepared operations that the book holds.
func Operations(s *Service) (n int, err error) {
	err = s.opts.Store.View(func(tx store.Tx) error {
		tx.Bucket("book-context").Ascend(nil, func(_, _ []byte) bool { n++; return true })
		return nil
	})
	return n, err
}

// Trusted is what answers on the local socket.
func Trusted(s *Service) http.Handler { return s.trusted }
