package solana

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"coffer/api/op/solmsg"
	"coffer/api/service/store"
)

// Buckets of the ledger.
//
//	solana/ledger        "genesis" -> genesis hash, "head" -> head
//	solana/accounts      account key (32) -> lamports, owner, data
//	solana/transactions  first signature (64) -> version, receipt
//	solana/messages      SHA-256 of a message (32) -> first signature
//	solana/seen          account key (32) -> 1: the account ever did or got anything
const (
	bucketLedger       = "solana/ledger"
	bucketAccounts     = "solana/accounts"
	bucketTransactions = "solana/transactions"
	bucketMessages     = "solana/messages"
	bucketSeen         = "solana/seen"

	keyGenesis = "genesis"
	keyHead    = "head"
)

// Buckets names everything that a ledger keeps in its store.
func Buckets() []string {
	return []string{bucketLedger, bucketAccounts, bucketTransactions, bucketMessages, bucketSeen}
}

// ErrDamaged is wrapped by every error that tells of stored bytes which this package
// cannot have written, or which contradict each other.
var ErrDamaged = errors.New("the stored Solana ledger is damaged")

func damaged(what string) error { return fmt.Errorf("%w: %s", ErrDamaged, what) }

// head is what every transaction builds on.
type head struct {
	slot   uint64
	time   uint64 // of the latest commit, Unix seconds
	count  uint64 // transactions since genesis
	burned uint64 // lamports
}

const headSize = 32

func (h head) encode() []byte {
	b := make([]byte, 0, headSize)
	for _, v := range []uint64{h.slot, h.time, h.count, h.burned} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

func readHead(tx store.Tx) (head, error) {
	b := tx.Bucket(bucketLedger).Get([]byte(keyHead))
	if err := tx.Err(); err != nil {
		return head{}, err
	}
	if len(b) != headSize {
		return head{}, damaged("head")
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	return head{slot: at(0), time: at(1), count: at(2), burned: at(3)}, nil
}

// Account is one account: the program that owns it, its lamports and its data.
type Account struct {
	Lamports uint64
	Owner    solmsg.Key
	Data     []byte
}

const accountHead = 8 + 32

func (a Account) encode() []byte {
	b := make([]byte, 0, accountHead+len(a.Data))
	b = binary.LittleEndian.AppendUint64(b, a.Lamports)
	b = append(b, a.Owner[:]...)
	return append(b, a.Data...)
}

// readAccount reads an account; one that does not exist is an empty account of the
// system program.
func readAccount(tx store.Tx, k solmsg.Key) (Account, error) {
	b := tx.Bucket(bucketAccounts).Get(k[:])
	if b == nil {
		return Account{Owner: solmsg.SystemProgram()}, tx.Err()
	}
	return decodeAccount(b)
}

func decodeAccount(b []byte) (Account, error) {
	if len(b) < accountHead {
		return Account{}, damaged("account")
	}
	return Account{
		Lamports: binary.LittleEndian.Uint64(b), Owner: solmsg.Key(b[8:accountHead]),
		Data: slices.Clone(b[accountHead:]),
	}, nil
}

// recordVersion is the first byte of a stored receipt.
const recordVersion = 1

func encodeReceipt(r Receipt) ([]byte, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode receipt: %w", err)
	}
	return append([]byte{recordVersion}, body...), nil
}

func decodeReceipt(b []byte) (r Receipt, err error) {
	if len(b) == 0 || b[0] != recordVersion {
		return Receipt{}, damaged("receipt of an unknown version")
	}
	if err := json.Unmarshal(b[1:], &r); err != nil {
		return Receipt{}, fmt.Errorf("%w: %w", damaged("receipt"), err)
	}
	return r, nil
}
