package service

import (
	"context"
	"maps"
	"math/big"
	"net/http"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/solana/solrpc"
	"coffer/api/service/devnet"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/store"
)

// Stock returns the addresses that hold what genesis made, beside those in the pins.
func Stock(s *Service) []common.Address {
	return []common.Address{s.embedded.Treasury.Address(), s.embedded.Faucet.Address()}
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

// Held is the balance of an account as the service's chains have it.
func Held(t *testing.T, s *Service, a common.Address, asset caip.Asset) *big.Int {
	t.Helper()
	v, err := s.in.Balance(context.Background(), a, asset)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Endpoints are the methods that an EVM chain and Solana have on a development network, as their endpoints serve them.
func Endpoints(t testing.TB, s *Service, chain uint64, o NodesOptions) (evmMethods, solana jsonrpc.Methods) {
	t.Helper()
	node, methods := s.node(s.in.Chains[chain].(*evm.Chain), o)
	t.Cleanup(node.Close)
	return methods, solrpc.Methods(s.embedded.Ledger, s.solanaOptions())
}

// Replay executes every block of every chain anew and compares all that is stored; on Solana it compares the sums with
// what genesis made.
func Replay(t *testing.T, s *Service) {
	t.Helper()
	for id, c := range s.in.Chains {
		n, err := c.(interface {
			Verify(context.Context) (uint64, error)
		}).Verify(t.Context())
		if err != nil || n == 0 {
			t.Errorf("chain %d: %d blocks: %v", id, n, err)
		}
	}
	sums, err := s.embedded.Ledger.Sums()
	if err != nil {
		t.Fatal(err)
	}
	fresh, err := devnet.Open(store.NewMemory(), devnet.Options{Clock: s.opts.Clock, Random: s.opts.Random,
		Kind: s.opts.Kind})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := fresh.Ledger.Sums() // of any network: all have the same supply
	if err != nil {
		t.Fatal(err)
	}
	if sums.Lamports != whole.Lamports || !maps.Equal(sums.Tokens, whole.Tokens) {
		t.Errorf("Solana: the sums are %+v, of a new network %+v", sums, whole)
	}
}
