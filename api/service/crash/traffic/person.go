package traffic

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/service/foreign"
)

// Person is a user with an EVM account, and a Solana account when the recipe has one.
type Person struct {
	*foreign.User
	pins network.Pins
}

// NewPerson makes the n-th person of a seed with accounts of a kind of [foreign.Kinds].
func NewPerson(pins network.Pins, kind string, seed uint64, n int) (*Person, error) {
	signer, err := crypto.ToECDSA(secretOf(seed, n, "signer"))
	admin, errAdmin := crypto.ToECDSA(secretOf(seed, n, "admin"))
	if err := errors.Join(err, errAdmin); err != nil {
		return nil, err
	}
	keys := foreign.Keys{Signer: signer, Admin: admin, Solana: ed25519.NewKeyFromSeed(secretOf(seed, n, "solana"))}
	return &Person{foreign.New(pins, kind, keys), pins}, nil
}

// PersonOf makes a person of accounts that exist already.
func PersonOf(pins network.Pins, u *foreign.User) *Person { return &Person{u, pins} }

// secretOf derives one key of one person; the same seed gives the same crowd.
func secretOf(seed uint64, n int, what string) []byte {
	b := binary.BigEndian.AppendUint64([]byte("coffer traffic "+what), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(b, uint64(n)))
	return sum[:]
}

// Name is that of the person's account on a chain, one of Names.
func (p *Person) Name(c caip.Chain) string {
	at, _ := p.At(c)
	return Key(at)
}

// At is the person's account on a chain; false when there is none.
func (p *Person) At(c caip.Chain) (caip.Account, bool) {
	if id, evm := c.EVMID(); evm {
		return caip.EVMAccount(id, p.Address), true
	}
	return caip.SolanaAccount(p.Wallet), p.HasSolana()
}
