package solana

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"coffer/api/op/solmsg"
)

// ErrSpec is wrapped by every error about an impossible specification.
var ErrSpec = errors.New("impossible genesis of the Solana ledger")

// Spec is what a ledger begins with. Time is the time of slot 0 in Unix seconds.
type Spec struct {
	Time     uint64
	Accounts []Allocation
}

// Allocation is one account of genesis.
type Allocation struct {
	Key solmsg.Key
	Account
}

// SystemAccount is an account that only holds lamports.
func SystemAccount(lamports uint64) Account {
	return Account{Lamports: lamports, Owner: solmsg.SystemProgram()}
}

// MintAccount is a mint at its rent minimum that nobody can mint with or freeze.
func MintAccount(supply uint64, decimals uint8) Account {
	data := make([]byte, mintSize)
	binary.LittleEndian.PutUint64(data[mintSupply:], supply)
	data[mintDecimals], data[mintInitialized] = decimals, 1
	return Account{Lamports: RentMinimum(mintSize), Owner: solmsg.TokenProgram(), Data: data}
}

// TokenAccount is a token account at its rent minimum.
func TokenAccount(owner, mint solmsg.Key, amount uint64) Account {
	t := newToken(owner, mint)
	t.setAmount(amount)
	return Account{Lamports: RentMinimum(tokenSize), Owner: solmsg.TokenProgram(), Data: t}
}

// check looks for what no sequence of transactions could have led to.
func (s Spec) check() error {
	seen := map[solmsg.Key]bool{}
	held, supply := map[solmsg.Key]uint64{}, map[solmsg.Key]uint64{}
	var lamports, carry uint64
	for _, a := range s.Accounts {
		if seen[a.Key] || reserved(a.Key) {
			return fmt.Errorf("%w: %s appears twice or is a program", ErrSpec, a.Key)
		}
		seen[a.Key] = true
		if a.Lamports < RentMinimum(len(a.Data)) {
			return fmt.Errorf("%w: %s is below its rent minimum", ErrSpec, a.Key)
		}
		if lamports, carry = bits.Add64(lamports, a.Lamports, 0); carry != 0 {
			return fmt.Errorf("%w: lamports do not fit into 64 bits", ErrSpec)
		}
		if m, ok := asMint(a.Account); ok {
			supply[a.Key] = m.supply()
		} else if t, ok := asToken(a.Account); ok {
			if held[t.mint()], carry = bits.Add64(held[t.mint()], t.amount(), 0); carry != 0 {
				return fmt.Errorf("%w: token %s does not fit into 64 bits", ErrSpec, t.mint())
			}
		} else if a.Owner != solmsg.SystemProgram() || len(a.Data) > 0 {
			return fmt.Errorf("%w: %s is neither a system nor a token account", ErrSpec, a.Key)
		}
	}
	for mint, n := range held {
		if _, exists := supply[mint]; !exists || supply[mint] != n {
			return fmt.Errorf("%w: %d of token %s are held, its supply is %d", ErrSpec, n, mint, supply[mint])
		}
	}
	for mint, n := range supply {
		if held[mint] != n {
			return fmt.Errorf("%w: nobody holds the supply of token %s", ErrSpec, mint)
		}
	}
	return nil
}

// hash is the genesis hash: of the time and of every account, in the order of keys.
func (s Spec) hash() solmsg.Key {
	all := slices.Clone(s.Accounts)
	slices.SortFunc(all, func(a, b Allocation) int { return bytes.Compare(a.Key[:], b.Key[:]) })
	b := binary.BigEndian.AppendUint64([]byte("coffer/solana/genesis/1"), s.Time)
	for _, a := range all {
		body := a.encode()
		b = append(b, a.Key[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(len(body)))
		b = append(b, body...)
	}
	return sha256.Sum256(b)
}

const (
	lamportsPerByte = 3480 * 2 // a year's rent of a byte, for two years
	accountOverhead = 128      // bytes that an account counts beside its data
)

// RentMinimum is what an account with that much data must hold at least, in lamports:
// 890 880 for none, 2 039 280 for a token account.
func RentMinimum(dataLen int) uint64 { return uint64(accountOverhead+dataLen) * lamportsPerByte }

// reserved reports whether a key is a program's: it exists without lamports, and no
// transaction can change it.
func reserved(k solmsg.Key) bool {
	switch k {
	case solmsg.SystemProgram(), solmsg.TokenProgram(), solmsg.Token2022Program(), solmsg.ATAProgram(),
		solmsg.MemoProgram(), solmsg.ComputeBudgetProgram():
		return true
	}
	return false
}
