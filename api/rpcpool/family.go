package rpcpool

import (
	"fmt"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// family is how endpoints of one kind of chain say which one they serve, and how far they have come.
type family struct {
	chain       any // for logs: the number of the chain, or its CAIP-2 reference
	first, head string
	serves      func(reply) (found string, err error)
	right       string
	number      func(reply) (uint64, error)
}

// String names the chain in errors.
func (f family) String() string { return fmt.Sprintf("chain %v", f.chain) }

func evm(id uint64) family {
	return family{chain: id, first: "eth_chainId", head: "eth_blockNumber", right: fmt.Sprint(id),
		serves: func(r reply) (string, error) {
			var id hexutil.Uint64
			err := store(r.result, &id)
			return fmt.Sprint(uint64(id)), err
		},
		number: func(r reply) (uint64, error) {
			var n hexutil.Uint64
			err := store(r.result, &n)
			return uint64(n), err
		}}
}

// reference is how many characters of a genesis hash name a Solana chain in CAIP-2.
const reference = 32

func solana(chain string) family {
	return family{chain: chain, first: "getGenesisHash", head: "getSlot", right: chain,
		serves: func(r reply) (string, error) {
			var hash string
			err := store(r.result, &hash)
			if err == nil && (len(hash) < reference || strings.ContainsAny(hash, " \t\n")) {
				err = errAnswer
			}
			return hash[:min(len(hash), reference)], err
		},
		number: plainNumber}
}

// plainNumber is a number as Solana writes it.
func plainNumber(r reply) (n uint64, err error) {
	err = store(r.result, &n)
	return n, err
}

// isSolana reports whether a method is one of Solana's, which have no space of names.
func isSolana(method string) bool { return !strings.Contains(method, "_") }
