package solmsg

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/gagliardetto/solana-go"
)

// Program ids of the programs that messages may use (TH-S6).

// SystemProgram moves lamports.
func SystemProgram() Key { return Key(solana.SystemProgramID) }

// TokenProgram is SPL Token.
func TokenProgram() Key { return Key(solana.TokenProgramID) }

// Token2022Program is SPL Token 2022.
func Token2022Program() Key { return Key(solana.Token2022ProgramID) }

// ATAProgram creates associated token accounts.
func ATAProgram() Key { return Key(solana.SPLAssociatedTokenAccountProgramID) }

// MemoProgram records a text.
func MemoProgram() Key { return Key(solana.MemoProgramID) }

// ComputeBudgetProgram sets the compute limit and the priority fee.
func ComputeBudgetProgram() Key {
	return Key{
		3, 6, 70, 111, 229, 33, 23, 50, 255, 236, 173, 186, 114, 195, 155, 231,
		188, 140, 229, 187, 197, 247, 18, 107, 44, 67, 155, 58, 64, 0, 0, 0,
	}
}

// OnCurve reports whether a key is a point of the curve. Only such a key can sign; addresses that programs derive,
// token accounts among them, never are.
func (k Key) OnCurve() bool { return solana.PublicKey(k).IsOnCurve() }

// AssociatedTokenAccount is the token account of owner for mint under a token program.
func AssociatedTokenAccount(owner, mint, tokenProgram Key) (Key, error) {
	var found solana.PublicKey
	err := guard(func() error {
		var err error
		found, _, err = solana.FindProgramAddress([][]byte{owner[:], tokenProgram[:], mint[:]},
			solana.SPLAssociatedTokenAccountProgramID)
		return err
	})
	return Key(found), err
}

// ATAInstruction is what an instruction of the associated token account program does.
type ATAInstruction uint8

// The three instructions of the program.
const (
	ATACreate ATAInstruction = iota
	ATACreateIdempotent
	ATARecoverNested
)

// DecodeATA reads the data of an associated token account instruction. solana-go takes
// every data for Create, which is why its decoder is not used: CreateIdempotent is 01,
// RecoverNested 02, Create 00 or nothing.
func DecodeATA(data []byte) (ATAInstruction, bool) {
	switch {
	case len(data) == 0:
		return ATACreate, true
	case len(data) == 1 && data[0] <= byte(ATARecoverNested):
		return ATAInstruction(data[0]), true
	}
	return 0, false
}

// DecodeMemo reads the text of a memo: the data itself, valid UTF-8. solana-go's memo
// package expects and writes a length in front, so it fails on ordinary memos, loses
// text, and must not be used to build them. The text is foreign: clean it before it is
// shown.
func DecodeMemo(data []byte) (string, bool) {
	if !utf8.Valid(data) {
		return "", false
	}
	return string(data), true
}

// DecodeSystemTransfer reads the lamports of the system program's Transfer (tag 2, two
// accounts: from, to). Every other system instruction is refused (TH-S7).
func DecodeSystemTransfer(data []byte) (lamports uint64, ok bool) {
	if len(data) != 12 || binary.LittleEndian.Uint32(data) != 2 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(data[4:]), true
}

// DecodeTokenTransfer reads the amount of a token program's Transfer (tag 3; accounts:
// source, destination, authority).
func DecodeTokenTransfer(data []byte) (amount uint64, ok bool) { return tag3(data) }

// tag3 reads the number behind the tag 3, which two programs use.
func tag3(data []byte) (uint64, bool) {
	if len(data) != 9 || data[0] != 3 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(data[1:]), true
}

// DecodeTokenTransferChecked reads amount and decimals of a token program's
// TransferChecked (tag 12; accounts: source, mint, destination, authority).
func DecodeTokenTransferChecked(data []byte) (amount uint64, decimals uint8, ok bool) {
	if len(data) != 10 || data[0] != 12 {
		return 0, 0, false
	}
	return binary.LittleEndian.Uint64(data[1:]), data[9], true
}

// TokenTag is the first byte of a token program's instruction, which names it (TH-S9).
func TokenTag(data []byte) (byte, bool) {
	if len(data) == 0 {
		return 0, false
	}
	return data[0], true
}

// DecodeComputeUnitLimit reads SetComputeUnitLimit (tag 2), in compute units.
func DecodeComputeUnitLimit(data []byte) (units uint32, ok bool) {
	if len(data) != 5 || data[0] != 2 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(data[1:]), true
}

// DecodeComputeUnitPrice reads SetComputeUnitPrice (tag 3), in micro-lamports per
// compute unit.
func DecodeComputeUnitPrice(data []byte) (microLamports uint64, ok bool) { return tag3(data) }
