package op

import (
	"encoding/binary"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

// Nonce lanes: the 2-byte key of an operation's role (protocol §2.5).
const (
	LanePrepared uint16 = 0 // the prepared operation
	LaneFunding  uint16 = 1 // funding, swap and transfer operations
)

// Nonce is Kernel's reading of the 32 bytes of a user operation's nonce: mode (1),
// validation type (1), validator (20), key (2), sequence (8). Modes other than 00
// enable or install a validator: a nonce is code and must be judged (TH-U2).
type Nonce struct {
	Mode      byte
	Type      byte
	Validator common.Address
	Key       uint16
	Sequence  uint64
}

// ParseNonce splits a nonce of 0 … 2^256-1. Every such number has a reading; which
// modes, types and validators are allowed is the verifier's decision.
func ParseNonce(v *big.Int) (Nonce, error) {
	if !word.Fits(v, 256) {
		return Nonce{}, refuse("L3", "userOp.nonce", "a number below 2^256", "")
	}
	var b [word.Size]byte
	v.FillBytes(b[:])
	return Nonce{
		Mode: b[0], Type: b[1], Validator: common.Address(b[2:22]),
		Key: binary.BigEndian.Uint16(b[22:24]), Sequence: binary.BigEndian.Uint64(b[24:]),
	}, nil
}

// Big is the full nonce.
func (n Nonce) Big() *big.Int {
	return new(big.Int).SetBytes(binary.BigEndian.AppendUint64(n.key(), n.Sequence))
}

// Key192 is the part that the EntryPoint's getNonce takes: everything but the sequence.
func (n Nonce) Key192() *big.Int { return new(big.Int).SetBytes(n.key()) }

func (n Nonce) key() []byte {
	b := append([]byte{n.Mode, n.Type}, n.Validator[:]...)
	return binary.BigEndian.AppendUint16(b, n.Key)
}

// GetNonceCalldata is getNonce(sender, key) of the entry point, which answers with the next full nonce of a key.
func GetNonceCalldata(sender common.Address, key192 *big.Int) []byte {
	return word.Uint(word.Address(word.Selector("getNonce(address,uint192)"), sender), key192)
}
