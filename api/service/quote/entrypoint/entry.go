// Package entrypoint speaks of what the EntryPoint contract does: it encodes the validation of an account, and reads
// what came of operations and deposits from logs and revert data.
//
// Promise: a reason is always plain words without control characters; bytes that nothing explains are shown as hex.
// Codecs are made from the embedded contract interfaces and are safe for concurrent use. Sources: ERC-4337 v0.7,
// protocol §2.3 and §5.1.
package entrypoint

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/assets"
)

// Codec encodes calls and decodes outcomes of one EntryPoint and one escrow. Any number of use cases share one. The
// interfaces are read when one is first needed: that takes longer than all the rest of opening a service.
type Codec struct {
	entryPoint, escrow            common.Address
	point, account, vault, filler func() abi.ABI
	errors                        func() map[[4]byte]abi.Error // of every contract, read when something failed
}

// New makes the codec of the contracts at the given addresses.
func New(entryPoint, escrow common.Address) *Codec {
	return &Codec{
		entryPoint: entryPoint, escrow: escrow, point: read("EntryPoint"), account: read("KernelV31"),
		vault: read("Escrow"), filler: read("Filler"), errors: sync.OnceValue(allErrors),
	}
}

// read gives the interface of a contract. One that cannot be read has no members, so that nothing is encoded or
// explained with it; that each can is tested.
func read(name string) func() abi.ABI {
	return sync.OnceValue(func() (parsed abi.ABI) {
		if art, err := assets.Contract(name); err == nil {
			parsed, _ = abi.JSON(bytes.NewReader(art.ABI))
		}
		return parsed
	})
}

func allErrors() map[[4]byte]abi.Error {
	out := map[[4]byte]abi.Error{}
	for _, name := range assets.ContractNames() {
		for _, x := range read(name)().Errors {
			out[[4]byte(x.ID[:4])] = x
		}
	}
	return out
}

// ValidateUserOp is the account's validateUserOp(op, hash, 0).
func (c *Codec) ValidateUserOp(p op.PackedUserOp, hash common.Hash) ([]byte, error) {
	return c.account().Pack("validateUserOp", p, hash, new(big.Int))
}

// Outcome is what the EntryPoint reported about one operation.
type Outcome struct {
	OpHash  common.Hash
	Success bool
	Revert  []byte // what the operation's calls returned when they failed
}

// Outcomes reads UserOperationEvent and UserOperationRevertReason from the logs of a handleOps transaction, in order.
func (c *Codec) Outcomes(logs []chain.Log) ([]Outcome, error) {
	events := c.point().Events
	event, reason := events["UserOperationEvent"], events["UserOperationRevertReason"]
	reverts := map[common.Hash][]byte{}
	var out []Outcome
	for _, l := range logs {
		if l.Address != c.entryPoint || len(l.Topics) < 3 {
			continue
		}
		switch l.Topics[0] {
		case reason.ID:
			v, err := reason.Inputs.NonIndexed().Unpack(l.Data)
			if err != nil || len(v) != 2 {
				return nil, fmt.Errorf("read UserOperationRevertReason: %w", err)
			}
			reverts[l.Topics[1]], _ = v[1].([]byte)
		case event.ID:
			v, err := event.Inputs.NonIndexed().Unpack(l.Data)
			if err != nil || len(v) != 4 {
				return nil, fmt.Errorf("read UserOperationEvent: %w", err)
			}
			success, _ := v[1].(bool)
			out = append(out, Outcome{OpHash: l.Topics[1], Success: success})
		}
	}
	for i := range out {
		out[i].Revert = reverts[out[i].OpHash]
	}
	return out, nil
}

// OutcomeTopic is the first topic of the log that the EntryPoint writes of each operation; the operation's hash is the
// second.
func (c *Codec) OutcomeTopic() common.Hash { return c.point().Events["UserOperationEvent"].ID }

// Deposit is a deposit that the escrow reported. Token zero is the native coin.
type Deposit struct {
	QuoteID        common.Hash
	Depositor      common.Address
	Token          common.Address
	Amount         *big.Int
	RefundDeadline uint64      // Unix seconds
	Terms          common.Hash // that it is released for (escrow.Terms.Hash)
}

// Deposits reads the escrow's Deposited events.
func (c *Codec) Deposits(logs []chain.Log) ([]Deposit, error) {
	event := c.vault().Events["Deposited"]
	var out []Deposit
	for _, l := range logs {
		if l.Address != c.escrow || len(l.Topics) != 4 || l.Topics[0] != event.ID {
			continue
		}
		v, err := event.Inputs.NonIndexed().Unpack(l.Data)
		if err != nil || len(v) != 3 {
			return nil, fmt.Errorf("read Deposited: %w", err)
		}
		amount, _ := v[0].(*big.Int)
		deadline, _ := v[1].(uint64)
		terms, _ := v[2].([32]byte)
		out = append(out, Deposit{l.Topics[1], common.BytesToAddress(l.Topics[2][:]),
			common.BytesToAddress(l.Topics[3][:]), amount, deadline, terms})
	}
	return out, nil
}

// DepositState is what the escrow knows about a deposit (Escrow.sol).
type DepositState uint8

// States of a deposit.
const (
	DepositNone DepositState = iota
	DepositHeld
	DepositReleased
	DepositRefunded
)

// AskDeposit is the escrow's deposits(quoteId, depositor).
func (c *Codec) AskDeposit(quoteID common.Hash, depositor common.Address) ([]byte, error) {
	return c.vault().Pack("deposits", quoteID, depositor)
}

// ReadDeposit reads the state in the answer to AskDeposit: its third word, in escrows of version 1, too.
func (c *Codec) ReadDeposit(answer []byte) (DepositState, error) {
	const word = 32
	if len(answer) != 5*word && len(answer) != 4*word {
		return DepositNone, fmt.Errorf("read a deposit of the escrow: %d bytes were answered", len(answer))
	}
	return DepositState(answer[3*word-1]), nil
}

// ValidatePaymasterUserOp is a paymaster's validatePaymasterUserOp(op, hash, 0).
func (c *Codec) ValidatePaymasterUserOp(p op.PackedUserOp, hash common.Hash) ([]byte, error) {
	return c.filler().Pack("validatePaymasterUserOp", p, hash, new(big.Int))
}

// ExecuteUserOp is the account's executeUserOp(op, hash), which the EntryPoint calls for operations whose call data
// begins with its selector.
func (c *Codec) ExecuteUserOp(p op.PackedUserOp, hash common.Hash) ([]byte, error) {
	return c.account().Pack("executeUserOp", p, hash)
}

// ReadHandleOps reads the operations of a call of handleOps; any other call is an error.
func (c *Codec) ReadHandleOps(data []byte) ([]op.UserOp, error) {
	m, known := c.point().Methods["handleOps"]
	if !known || len(data) < 4 || !bytes.Equal(data[:4], m.ID) {
		return nil, errors.New("not a call of handleOps")
	}
	args, err := m.Inputs.Unpack(data[4:])
	if err != nil || len(args) != 2 {
		return nil, fmt.Errorf("read handleOps: %w", err)
	}
	packed := *abi.ConvertType(args[0], new([]op.PackedUserOp)).(*[]op.PackedUserOp)
	out := make([]op.UserOp, len(packed))
	for i, p := range packed {
		if out[i], err = op.Unpack(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}
