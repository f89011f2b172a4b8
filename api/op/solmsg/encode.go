package solmsg

import "encoding/binary"

// Tags of the instructions that this package encodes; the decoders of programs.go read
// the same ones.
const (
	tagSystemTransfer  = 2
	tagTransferChecked = 12
	tagUnitLimit       = 2
	tagUnitPrice       = 3
)

// SystemTransfer moves lamports from an account of the system program, which signs.
func SystemTransfer(from, to Key, lamports uint64) Build {
	data := binary.LittleEndian.AppendUint32(nil, tagSystemTransfer)
	return Build{
		Program:  SystemProgram(),
		Accounts: []Meta{{Key: from, Signer: true, Writable: true}, {Key: to, Writable: true}},
		Data:     binary.LittleEndian.AppendUint64(data, lamports),
	}
}

// TokenTransferChecked moves an amount, in the mint's base units, from one SPL token
// account to another. Authority signs: the owner of source, or its delegate. The
// program compares decimals with the mint's.
func TokenTransferChecked(source, mint, destination, authority Key, amount uint64, decimals uint8) Build {
	data := binary.LittleEndian.AppendUint64([]byte{tagTransferChecked}, amount)
	return Build{
		Program: TokenProgram(),
		Accounts: []Meta{
			{Key: source, Writable: true}, {Key: mint}, {Key: destination, Writable: true},
			{Key: authority, Signer: true},
		},
		Data: append(data, decimals),
	}
}

// CreateATAIdempotent creates the associated SPL token account of owner for mint unless
// it exists; payer signs and pays its rent. An owner and a mint without such an account
// (one in 2^255) give the zero key, which the program refuses.
func CreateATAIdempotent(payer, owner, mint Key) Build {
	account, _ := AssociatedTokenAccount(owner, mint, TokenProgram())
	return Build{
		Program: ATAProgram(),
		Accounts: []Meta{
			{Key: payer, Signer: true, Writable: true}, {Key: account, Writable: true}, {Key: owner}, {Key: mint},
			{Key: SystemProgram()}, {Key: TokenProgram()},
		},
		Data: []byte{byte(ATACreateIdempotent)},
	}
}

// Memo records a text, which must be valid UTF-8 for the program to take it. The signers
// vouch for it; there may be none.
func Memo(text string, signers ...Key) Build {
	accounts := make([]Meta, len(signers))
	for i, k := range signers {
		accounts[i] = Meta{Key: k, Signer: true}
	}
	return Build{Program: MemoProgram(), Accounts: accounts, Data: []byte(text)}
}

// ComputeUnitLimit is how many compute units a message may use, and pays for.
func ComputeUnitLimit(units uint32) Build {
	return Build{Program: ComputeBudgetProgram(), Data: binary.LittleEndian.AppendUint32([]byte{tagUnitLimit}, units)}
}

// ComputeUnitPrice is what a message offers for each compute unit of its limit, in micro-lamports.
func ComputeUnitPrice(microLamports uint64) Build {
	return Build{Program: ComputeBudgetProgram(),
		Data: binary.LittleEndian.AppendUint64([]byte{tagUnitPrice}, microLamports)}
}
