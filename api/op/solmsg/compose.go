package solmsg

import (
	"bytes"
	"encoding/hex"
	"slices"

	"github.com/gagliardetto/solana-go"

	"coffer/api"
	"coffer/api/caip"
)

// Meta is one account that an instruction asks for, with the rights it needs.
type Meta struct {
	Key      Key
	Signer   bool
	Writable bool
}

// Build is one instruction before it is compiled into a message.
type Build struct {
	Program  Key
	Accounts []Meta
	Data     []byte
}

// Compose compiles instructions into a version 0 message without lookup tables.
//
// Static keys are the fee payer, then the other keys in order of first use (a program
// before its accounts) within four classes: writable signers, read-only signers,
// writable accounts, read-only accounts. A key that is named more than once has every
// right that one of its uses asks for. The result has been through Parse; what Parse
// would refuse is an *Error here too.
func Compose(feePayer, blockhash Key, instructions ...Build) (Message, error) {
	keys, header := compileKeys(feePayer, instructions)
	if len(keys) > MaxAccounts {
		return Message{}, refuse("S1", "more than 256 accounts")
	}
	index := make(map[Key]uint16, len(keys))
	out := solana.Message{Header: header, RecentBlockhash: solana.Hash(blockhash)}
	for i, k := range keys {
		index[k] = uint16(i)
		out.AccountKeys = append(out.AccountKeys, solana.PublicKey(k))
	}
	size := 0
	for _, ix := range instructions {
		compiled := solana.CompiledInstruction{ProgramIDIndex: index[ix.Program], Data: bytes.Clone(ix.Data)}
		for _, a := range ix.Accounts {
			compiled.Accounts = append(compiled.Accounts, index[a.Key])
		}
		if size += len(ix.Data) + len(ix.Accounts); size > MaxSize {
			return Message{}, refuse("S1", "longer than 1232 bytes")
		}
		out.Instructions = append(out.Instructions, compiled)
	}
	out.SetVersion(solana.MessageVersionV0)
	var data []byte
	err := guard(func() (err error) {
		data, err = out.MarshalBinary()
		return err
	})
	if err != nil {
		return Message{}, refuse("S1", "cannot be encoded")
	}
	return Parse(data)
}

// compileKeys orders the keys of a message and counts its header.
func compileKeys(feePayer Key, instructions []Build) ([]Key, solana.MessageHeader) {
	all := []Meta{{Key: feePayer, Signer: true, Writable: true}}
	at := map[Key]int{feePayer: 0}
	use := func(m Meta) {
		i, known := at[m.Key]
		if !known {
			i = len(all)
			at[m.Key] = i
			all = append(all, Meta{Key: m.Key})
		}
		all[i].Signer = all[i].Signer || m.Signer
		all[i].Writable = all[i].Writable || m.Writable
	}
	for _, ix := range instructions {
		use(Meta{Key: ix.Program})
		for _, a := range ix.Accounts {
			use(a)
		}
	}
	slices.SortStableFunc(all, func(a, b Meta) int { return a.class() - b.class() })
	var header solana.MessageHeader
	keys := make([]Key, len(all))
	for i, m := range all {
		keys[i] = m.Key
		if m.Signer {
			header.NumRequiredSignatures++
		}
		switch m.class() {
		case readonlySigner:
			header.NumReadonlySignedAccounts++
		case readonlyAccount:
			header.NumReadonlyUnsignedAccounts++
		}
	}
	return keys, header
}

// The classes of static keys, in the order in which a message lists them.
const (
	writableSigner = iota
	readonlySigner
	writableAccount
	readonlyAccount
)

func (m Meta) class() int {
	switch {
	case m.Signer && m.Writable:
		return writableSigner
	case m.Signer:
		return readonlySigner
	case m.Writable:
		return writableAccount
	}
	return readonlyAccount
}

// Wire lists the instructions as they stand in a chain operation: keys in base58 with
// the rights that the message gives them, data in hex without 0x (protocol §3.4). An
// account from a lookup table has no key in the message and is listed with an empty
// pubkey.
func (m Message) Wire() []api.SolanaInstruction {
	out := make([]api.SolanaInstruction, len(m.Instructions))
	for i, ix := range m.Instructions {
		keys := make([]api.SolanaKey, len(ix.Accounts))
		for j, a := range ix.Accounts {
			keys[j] = api.SolanaKey{IsSigner: a.Signer, IsWritable: a.Writable}
			if !a.Lookup {
				keys[j].Pubkey = a.Key.String()
			}
		}
		out[i] = api.SolanaInstruction{Keys: keys, ProgramID: ix.Program.String(), Data: hex.EncodeToString(ix.Data)}
	}
	return out
}

// ParseSignature reads base58 of exactly 64 bytes.
func ParseSignature(s string) ([64]byte, error) { return caip.ParseSolanaSignature(s) }

// FormatSignature writes a signature as base58.
func FormatSignature(sig [64]byte) string { return caip.FormatSolanaSignature(sig) }
