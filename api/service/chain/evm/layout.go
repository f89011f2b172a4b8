package evm

import (
	"encoding/binary"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
)

// Buckets of one chain. Code is shared by all chains of a store: the same
// contract is stored once.
//
//	evm/<id>/state   accounts, slots and trie nodes of the head, by prefix below
//	evm/<id>/blocks  block number (8 bytes, big endian) -> block record
//	evm/<id>/txs     transaction hash -> block number (8), index (4)
//	evm/code         code hash -> code
type layout struct{ state, blocks, txs string }

const codeBucket = "evm/code"

func layoutOf(id uint64) layout {
	p := "evm/" + strconv.FormatUint(id, 10)
	return layout{state: p + "/state", blocks: p + "/blocks", txs: p + "/txs"}
}

const (
	prefixAccount     = 'a' // + address hash -> account
	prefixSlot        = 's' // + address hash + slot hash -> value without leading zeros
	prefixAccountNode = 'm' // + path, a byte a nibble -> node of the account trie
	prefixStorageNode = 'n' // + address hash + path -> node of a storage trie
)

func accountKey(addrHash common.Hash) []byte {
	return append([]byte{prefixAccount}, addrHash[:]...)
}

func slotKey(addrHash, slotHash common.Hash) []byte {
	k := make([]byte, 0, 1+2*common.HashLength)
	k = append(k, prefixSlot)
	k = append(k, addrHash[:]...)
	return append(k, slotHash[:]...)
}

// nodeKey addresses a trie node; the zero owner is the account trie.
func nodeKey(owner common.Hash, path []byte) []byte {
	if owner == (common.Hash{}) {
		return append([]byte{prefixAccountNode}, path...)
	}
	k := make([]byte, 0, 1+common.HashLength+len(path))
	k = append(k, prefixStorageNode)
	k = append(k, owner[:]...)
	return append(k, path...)
}

func numberOf(key []byte) uint64 { return binary.BigEndian.Uint64(key) }

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// lookup says where a transaction is.
type lookup struct {
	block uint64
	index uint32
}

func (l lookup) encode() []byte {
	return binary.BigEndian.AppendUint32(numberKey(l.block), l.index)
}

func decodeLookup(v []byte) (lookup, error) {
	if len(v) != 12 {
		return lookup{}, damaged("transaction index", errLength)
	}
	return lookup{block: binary.BigEndian.Uint64(v), index: binary.BigEndian.Uint32(v[8:])}, nil
}
