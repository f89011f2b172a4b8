package faucet

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// Reset forgets what the faucet has paid on a chain by transactions that are gone, so that an address which is named
// again gets it again. It is part of the commit that takes the blocks back.
func Reset(tx store.Tx, chainID uint64, gone func(common.Hash) bool) (err error) {
	b := tx.Bucket(bucketFunds)
	suffix := binary.BigEndian.AppendUint64(nil, chainID)
	var taken [][]byte
	b.Ascend(nil, func(k, v []byte) bool {
		if len(k) == common.AddressLength+len(suffix) && bytes.HasSuffix(k, suffix) &&
			len(v) == common.HashLength && gone(common.Hash(v)) {
			taken = append(taken, bytes.Clone(k))
		}
		return true
	})
	for _, k := range taken {
		err = errors.Join(err, b.Delete(k), b.Put(k[:common.AddressLength], []byte{started}))
	}
	return err
}
