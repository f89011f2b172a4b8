package op

import (
	"context"
	"math/big"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/internal/word"
)

// PaymasterWindow is when our paymaster sponsors an operation, in Unix seconds
// (protocol §2.2). The EntryPoint reads ValidUntil 0 as "no end".
type PaymasterWindow struct {
	ValidUntil uint64
	ValidAfter uint64
}

const (
	uint48Len        = 6
	paymasterDataLen = 2*uint48Len + SignatureLength
	maxUint48        = 1<<48 - 1
)

// EncodePaymasterData writes validUntil (6) | validAfter (6) | signature. Times above
// 2^48-1 are written as 2^48-1, which is the same "never" to the EntryPoint.
func EncodePaymasterData(w PaymasterWindow, sig []byte) []byte {
	out := appendUint48(nil, w.ValidUntil)
	return append(appendUint48(out, w.ValidAfter), sig...)
}

// Sponsor writes the data of the operation's paymaster: the window, and the operator's signature (65 bytes, of a
// personal message of 32 bytes) over the operation as it is now, on a chain.
func (o *UserOp) Sponsor(ctx context.Context, w PaymasterWindow, chainID uint64, operator interface {
	SignMessage(context.Context, common.Hash) ([]byte, error)
}) error {
	p, err := o.Pack()
	if err != nil {
		return err
	}
	sig, err := operator.SignMessage(ctx, PaymasterHash(p, w, new(big.Int).SetUint64(chainID), *o.Paymaster))
	if err != nil {
		return err
	}
	o.PaymasterData = EncodePaymasterData(w, sig)
	return nil
}

// Limit writes the data of the paymaster of assets/contracts/Window.sol, which belongs to nobody: the window, with
// zeros in the place of a signature.
func (o *UserOp) Limit(w PaymasterWindow) {
	o.PaymasterData = EncodePaymasterData(w, make([]byte, SignatureLength))
}

// DecodePaymasterData reads the data of our paymaster: exactly 77 bytes. It returns the
// window and the 65-byte signature.
func DecodePaymasterData(data []byte) (PaymasterWindow, []byte, error) {
	if len(data) != paymasterDataLen {
		return PaymasterWindow{}, nil, refuse("U12", "userOp.paymasterData", strconv.Itoa(paymasterDataLen)+" bytes",
			strconv.Itoa(len(data))+" bytes")
	}
	w := PaymasterWindow{ValidUntil: readUint48(data), ValidAfter: readUint48(data[uint48Len:])}
	return w, append([]byte{}, data[2*uint48Len:]...), nil
}

// PaymasterHash is what the operator signs, as a personal message, to sponsor an
// operation: the hash that the paymaster contract's getHash computes. Of
// p.PaymasterAndData only the two gas limits (bytes 20 … 51) enter; data that is not
// there yet counts as zero.
func PaymasterHash(p PackedUserOp, w PaymasterWindow, chainID *big.Int, paymaster common.Address) common.Hash {
	var gas [word.Size]byte
	if len(p.PaymasterAndData) > common.AddressLength {
		copy(gas[:], p.PaymasterAndData[common.AddressLength:])
	}
	b := append(p.head(), gas[:]...)
	b = word.Uint(b, p.PreVerificationGas)
	b = append(b, p.GasFees[:]...)
	b = word.Uint(b, chainID)
	b = word.Address(b, paymaster)
	b = word.Uint64(b, min(w.ValidUntil, maxUint48))
	b = word.Uint64(b, min(w.ValidAfter, maxUint48))
	return crypto.Keccak256Hash(b)
}

func appendUint48(b []byte, v uint64) []byte {
	v = min(v, maxUint48)
	return append(b, byte(v>>40), byte(v>>32), byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

func readUint48(b []byte) uint64 {
	var v uint64
	for _, x := range b[:uint48Len] {
		v = v<<8 | uint64(x)
	}
	return v
}
