package solana

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"coffer/api/op/solmsg"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

var (
	// ErrNotAccepted is wrapped by Seal when the request's Accept refused the receipts:
	// nothing changed.
	ErrNotAccepted = errors.New("the transactions were not accepted")
	// ErrConflict is returned by Seal when somebody else writes to the same ledger.
	ErrConflict = errors.New("another writer has changed the Solana ledger")
	// ErrNotSigner says that a key does not sign a message.
	ErrNotSigner = errors.New("the message does not ask for a signature of this key")
)

// Reasons for which a transaction cannot be included; a *TxError wraps one of them.
var (
	ErrMessage   = errors.New("the message is malformed")
	ErrSignature = errors.New("a signature is missing or wrong")
	ErrBlockhash = errors.New("the block hash is unknown or too old")
	ErrProcessed = errors.New("the transaction was already processed")
	ErrLookup    = errors.New("the ledger has no lookup tables")
	ErrBudget    = errors.New("the compute budget instructions are impossible")
	ErrPayer     = errors.New("the fee payer cannot pay the fee")
)

// TxError says that one transaction of a request cannot be included: nothing of the
// request happened. A transaction that merely fails is no TxError.
type TxError struct {
	Index int
	Err   error
}

// Error names the transaction and the reason.
func (e *TxError) Error() string {
	return fmt.Sprintf("solana transaction %d cannot be included: %v", e.Index, e.Err)
}

// Unwrap gives the reason.
func (e *TxError) Unwrap() error { return e.Err }

// Tx is a transaction: the bytes of a message and its signatures, in the order of the
// message's signers. A signature that is still missing is zero. LastHeight is the last block height at which a chain of
// others includes it; 0 on a ledger.
type Tx struct {
	Message    []byte
	Signatures [][64]byte
	LastHeight uint64
}

// Name is the first signature in base58, which names the transaction.
func (t Tx) Name() string { return solmsg.FormatSignature(t.Signatures[0]) }

// Unsigned makes a transaction whose signatures are missing.
func Unsigned(m solmsg.Message) Tx {
	return Tx{Message: m.Bytes(), Signatures: make([][64]byte, len(m.Signers()))}
}

// Sign makes a transaction with these signatures. The places of other signers stay zero;
// a key that does not sign the message is passed over. The error is a signer's.
func Sign(ctx context.Context, m solmsg.Message, keys ...signers.Solana) (Tx, error) {
	t := Unsigned(m)
	for _, k := range keys {
		if i, ok := m.SignerIndex(k.Key()); ok {
			var err error
			if t.Signatures[i], err = k.Sign(ctx, t.Message); err != nil {
				return Tx{}, fmt.Errorf("sign for %s: %w", k.Key(), err)
			}
		}
	}
	return t, nil
}

// SetSignature puts the signature of k in its place. The error wraps ErrMessage or
// ErrNotSigner; whether the signature is right is seen when the transaction is sealed.
func (t *Tx) SetSignature(k solmsg.Key, sig [64]byte) error {
	m, err := solmsg.Parse(t.Message)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMessage, err)
	}
	i, ok := m.SignerIndex(k)
	if !ok {
		return fmt.Errorf("%w: %s", ErrNotSigner, k)
	}
	if n := len(m.Signers()); len(t.Signatures) != n {
		t.Signatures = append(t.Signatures, make([][64]byte, n)...)[:n]
	}
	t.Signatures[i] = sig
	return nil
}

// Change is what a transaction did to one balance, in lamports where Mint is empty, else
// in the mint's base units. Account and Owner are base58; Owner is whose balance it is:
// the token account's owner, or the account itself.
type Change struct {
	Account string   `json:"account"`
	Owner   string   `json:"owner"`
	Mint    string   `json:"mint,omitzero"`
	Before  *big.Int `json:"before"`
	After   *big.Int `json:"after"`
}

// Receipt is the outcome of a transaction. Signature is the first one in base58, which
// names the transaction; Signatures are all. Time is in Unix seconds, Fee in lamports.
// Error says in plain words why a transaction failed, and Instruction which instruction
// it was, -1 when none. Changes are in the order of the message's accounts and hold the
// fee too. A simulation of unsigned transactions has signatures of zeros.
type Receipt struct {
	Signature   string   `json:"signature"`
	Signatures  []string `json:"signatures"`
	Slot        uint64   `json:"slot"`
	Time        uint64   `json:"time"`
	Fee         uint64   `json:"fee"`
	Success     bool     `json:"success"`
	Error       string   `json:"error,omitzero"`
	Instruction int      `json:"instruction"`
	Logs        []string `json:"logs"`
	Message     []byte   `json:"message"`
	Changes     []Change `json:"changes"`

	// Units are the compute units that a simulation on a node used, 0 elsewhere.
	Units uint64 `json:"-"`

	// What follows is zero in receipts of before it was kept. Number counts the transactions of the ledger from 1.
	Number uint64 `json:"number,omitzero"`
	// Fault is Error in the runtime's names.
	Fault *Fault `json:"fault,omitzero"`
	// Pre and Post are the lamports of all accounts of the message, in its order.
	Pre  []uint64 `json:"pre,omitzero"`
	Post []uint64 `json:"post,omitzero"`
	// Tokens are the token accounts of the message, before and after.
	Tokens []TokenBalance `json:"tokens,omitzero"`
	// Inner are the instructions that programs called.
	Inner []Inner `json:"inner,omitzero"`
}

// TokenBalance is what a token account of a message held, nil where it was no token account. Account is its place among
// the message's keys.
type TokenBalance struct {
	Account  int     `json:"account"`
	Mint     string  `json:"mint"`
	Owner    string  `json:"owner"`
	Decimals uint8   `json:"decimals"`
	Pre      *uint64 `json:"pre,omitzero"`
	Post     *uint64 `json:"post,omitzero"`
}

// Inner is an instruction that a program called. Instruction is the one of the message that led to it; program and
// accounts are places among the message's keys.
type Inner struct {
	Instruction int    `json:"instruction"`
	Program     byte   `json:"program"`
	Accounts    []byte `json:"accounts"`
	Data        []byte `json:"data"`
}

// SealRequest asks for transactions to be included, in order and all in one commit.
type SealRequest struct {
	// Time is the clock in Unix seconds; receipts get it or the ledger's latest time,
	// whichever is later (protocol §5.3).
	Time uint64
	Txs  []Tx
	// Accept judges the receipts before anything is written; an error throws everything
	// away. Nil accepts everything.
	Accept func([]Receipt) error
	// Record writes what belongs to the transactions in the same commit; an error throws
	// both away. It must not open views of the same store.
	Record func(store.Tx, []Receipt) error
}

// AllSucceed accepts transactions that all succeeded; it fits SealRequest.Accept.
func AllSucceed(receipts []Receipt) error {
	for i, r := range receipts {
		if !r.Success {
			return fmt.Errorf("solana transaction %d failed: %s", i, r.Error)
		}
	}
	return nil
}
