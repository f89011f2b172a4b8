package evm

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"
)

// ErrDamaged is wrapped by every error that tells of stored bytes which this
// package cannot have written, or which contradict each other.
var ErrDamaged = errors.New("the stored chain is damaged")

var errLength = errors.New("wrong length")

func damaged(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrDamaged, what, err)
}

// The first byte of a block record is its version. In version 2 the bloom of the header is zero: it follows from the
// logs, and is what takes most room. Version 1, of earlier versions of this program, has it.
const (
	blockWithBloom = 1
	blockVersion   = 2
)

// record is a block as it is stored: version, block hash, then the RLP of this
// struct. The hash comes first so that BLOCKHASH reads it without decoding.
type record struct {
	Header   *types.Header
	Txs      types.Transactions
	Outcomes []outcome
	Placed   []placed `rlp:"optional"`
	Unsigned []uint64 `rlp:"optional"` // of Txs, those that a development network took without a signature
}

// placed is what a block put into the state before its transactions ran.
type placed struct {
	Address common.Address
	Code    []byte // empty: only slots of what is there
	Slots   []slot
	Set     *setting `rlp:"optional"` // of a development network
}

type slot struct{ Key, Value common.Hash }

// outcome is what a receipt adds to its transaction. The sender is kept since
// recovering it costs more than the rest of a block.
type outcome struct {
	From    common.Address
	Success bool
	GasUsed uint64
	Logs    []*types.Log // RLP: address, topics, data
}

const recordHead = 1 + common.HashLength

func encodeRecord(hash common.Hash, r *record) ([]byte, error) {
	bare := *r.Header
	bare.Bloom = types.Bloom{}
	body, err := rlp.EncodeToBytes(&record{&bare, r.Txs, r.Outcomes, r.Placed, r.Unsigned})
	if err != nil {
		return nil, fmt.Errorf("encode block: %w", err)
	}
	out := make([]byte, 0, recordHead+len(body))
	out = append(out, blockVersion)
	out = append(out, hash[:]...)
	return append(out, body...), nil
}

// recordHash reads the hash of a block record.
func recordHash(v []byte) (common.Hash, error) {
	if len(v) <= recordHead {
		return common.Hash{}, damaged("block", errLength)
	}
	if v[0] != blockVersion && v[0] != blockWithBloom {
		return common.Hash{}, damaged("block", fmt.Errorf("unknown version %d", v[0]))
	}
	return common.BytesToHash(v[1:recordHead]), nil
}

// decodeRecord decodes a block record and checks that it is consistent.
func decodeRecord(v []byte) (*record, common.Hash, error) {
	hash, err := recordHash(v)
	if err != nil {
		return nil, common.Hash{}, err
	}
	r := new(record)
	if err := rlp.DecodeBytes(v[recordHead:], r); err != nil {
		return nil, common.Hash{}, damaged("block", err)
	}
	if len(r.Txs) != len(r.Outcomes) {
		return nil, common.Hash{}, damaged("block", errors.New("transactions and receipts differ in number"))
	}
	var logs []*types.Log
	for _, o := range r.Outcomes {
		for _, l := range o.Logs {
			if l == nil || len(l.Topics) > 4 {
				return nil, common.Hash{}, damaged("block", errors.New("impossible log"))
			}
		}
		logs = append(logs, o.Logs...)
	}
	for _, p := range r.Placed {
		if s := p.Set; s != nil && max(len(s.Balance), len(s.Nonce), len(s.Code)) > 1 {
			return nil, common.Hash{}, damaged("block", errors.New("impossible change"))
		}
	}
	if v[0] == blockVersion && r.Header != nil {
		if r.Header.Bloom != (types.Bloom{}) {
			return nil, common.Hash{}, damaged("block", errors.New("it has a bloom"))
		}
		r.Header.Bloom = types.CreateBloom(&types.Receipt{Logs: logs})
	}
	return r, hash, checkHeader(r.Header, hash)
}

func checkHeader(h *types.Header, hash common.Hash) error {
	if h == nil || h.Number == nil || !h.Number.IsUint64() || h.BaseFee == nil {
		return damaged("block header", errors.New("fields are missing"))
	}
	if h.Hash() != hash {
		return damaged("block header", errors.New("hash differs"))
	}
	return nil
}

// encodeAccount gives the stored form of an account: an empty storage root or code hash is left out.
func encodeAccount(a *types.StateAccount) []byte { return types.SlimAccountRLP(*a) }

// decodeAccount reads the fields one by one, which takes a quarter of the time of decoding by reflection.
func decodeAccount(v []byte) (*types.StateAccount, error) {
	fields, rest, err := rlp.SplitList(v)
	if err != nil {
		return nil, damaged("account", err)
	}
	a := &types.StateAccount{
		Balance: new(uint256.Int), Root: types.EmptyRootHash, CodeHash: types.EmptyCodeHash.Bytes(),
	}
	var balance, root, code []byte
	if a.Nonce, fields, err = rlp.SplitUint64(fields); err == nil {
		balance, fields, err = rlp.SplitString(fields)
	}
	if err == nil {
		root, fields, err = rlp.SplitString(fields)
	}
	if err == nil {
		code, fields, err = rlp.SplitString(fields)
	}
	switch {
	case err != nil:
		return nil, damaged("account", err)
	case len(rest)+len(fields) > 0, len(balance) > 32, len(balance) > 0 && balance[0] == 0,
		len(root) != 0 && len(root) != common.HashLength, len(code) != 0 && len(code) != common.HashLength:
		return nil, damaged("account", errLength)
	}
	a.Balance.SetBytes(balance)
	if len(root) != 0 {
		a.Root = common.BytesToHash(root)
	}
	if len(code) != 0 {
		a.CodeHash = bytes.Clone(code)
	}
	return a, nil
}

func encodeSlot(v common.Hash) []byte { return common.TrimLeftZeroes(v[:]) }

func decodeSlot(v []byte) (common.Hash, error) {
	if len(v) == 0 || len(v) > common.HashLength || v[0] == 0 {
		return common.Hash{}, damaged("storage slot", errLength)
	}
	return common.BytesToHash(v), nil
}
