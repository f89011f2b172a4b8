package escrow

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op/internal/word"
)

// MaxTerms bounds the minimums and the operations of terms that DecodeDeposit reads, each for itself.
const MaxTerms = 32

// Minimum is the least that a fill delivers of one token to one recipient. EVM addresses
// have zeros on the left (Padded); token zero is the native coin.
type Minimum struct {
	Token  [32]byte
	To     [32]byte
	Amount *big.Int // base units
}

// Terms say what a fill must do before a deposit is released. All deposits of a quote
// have the same.
type Terms struct {
	TargetChain  uint64 // EIP-155 id; 0 = Solana
	FillDeadline uint64 // Unix seconds, the last second in which the fill is valid
	Minimums     []Minimum
	Operations   [][32]byte // hashes of the operations that the fill runs, in order
}

// Padded is an EVM address as minimums have it.
func Padded(a common.Address) [32]byte { return common.BytesToHash(a[:]) }

// Ascending reports whether the minimums are strictly ascending by token and recipient.
// A fill of others is impossible.
func (t Terms) Ascending() bool {
	for i := 1; i < len(t.Minimums); i++ {
		a, b := t.Minimums[i-1], t.Minimums[i]
		if c := bytes.Compare(a.Token[:], b.Token[:]); c > 0 || c == 0 && bytes.Compare(a.To[:], b.To[:]) >= 0 {
			return false
		}
	}
	return true
}

// Encode is the ABI form of the terms: what an offset to an argument of TermsType points
// at. An amount outside 0 … 2^256-1 gives nil.
func (t Terms) Encode() []byte {
	const head, minimum = 4, 3
	out := word.Uint64(word.Uint64(nil, t.TargetChain), t.FillDeadline)
	out = word.Uint64(out, head*word.Size)
	out = word.Uint64(out, uint64(head+1+minimum*len(t.Minimums))*word.Size)
	out = word.Uint64(out, uint64(len(t.Minimums)))
	for _, m := range t.Minimums {
		if !word.Fits(m.Amount, 256) {
			return nil
		}
		out = word.Uint(append(append(out, m.Token[:]...), m.To[:]...), m.Amount)
	}
	out = word.Uint64(out, uint64(len(t.Operations)))
	for _, o := range t.Operations {
		out = append(out, o[:]...)
	}
	return out
}

// Hash is what the escrow stores of a deposit and what the filler reports when it has
// filled the quote for that depositor:
// keccak256(abi.encode(filler, quoteId, depositor, terms)).
func (t Terms) Hash(filler common.Address, quoteID [32]byte, depositor common.Address) common.Hash {
	out := append(word.Address(nil, filler), quoteID[:]...)
	out = word.Address(out, depositor)
	return crypto.Keccak256Hash(word.Uint64(out, uint64(len(out)+word.Size)), t.Encode())
}

// DecodeTerms reads what Encode writes, and nothing else.
func DecodeTerms(data []byte) (Terms, bool) { return decodeTerms(word.NewReader(data)) }

// decodeTerms reads terms to the end of r, one canonical encoding only.
func decodeTerms(r *word.Reader) (t Terms, ok bool) {
	all := r.Raw(r.Len())
	r = word.NewReader(all)
	chain, deadline := r.Uint(), r.Uint()
	r.Raw(2 * word.Size) // offsets: compared below, with everything else
	for range r.Int(MaxTerms) {
		t.Minimums = append(t.Minimums, Minimum{Token: r.Word(), To: r.Word(), Amount: r.Uint()})
	}
	for range r.Int(MaxTerms) {
		t.Operations = append(t.Operations, r.Word())
	}
	if r.Err() != nil || !chain.IsUint64() || !deadline.IsUint64() {
		return Terms{}, false
	}
	t.TargetChain, t.FillDeadline = chain.Uint64(), deadline.Uint64()
	return t, bytes.Equal(t.Encode(), all)
}
