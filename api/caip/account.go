package caip

import (
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// Account is a CAIP-10 account. It is comparable; an EVM address is kept in lower
// case. The zero value means none.
type Account struct {
	Chain   Chain
	Address string
}

const wantAccount = "a CAIP-10 account such as eip155:1:0x…"

// ParseAccount reads the CAIP-10 form chain:address.
func ParseAccount(s string) (Account, error) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return Account{}, refuse(s, wantAccount)
	}
	return parseAccount(s, s[:i], s[i+1:], wantAccount)
}

// ParseSlashAccount reads the form chain/address that status and history records use.
func ParseSlashAccount(s string) (Account, error) {
	const want = "an account in the form eip155:1/0x…"
	chain, address, ok := strings.Cut(s, "/")
	if !ok {
		return Account{}, refuse(s, want)
	}
	return parseAccount(s, chain, address, want)
}

// ParseBalanceAccount reads what balance queries accept: CAIP-10, or the two-part
// form solana:<address>, which stands for Solana's main network.
func ParseBalanceAccount(s string) (Account, error) {
	if rest, ok := strings.CutPrefix(s, nsSolana+":"); ok && !strings.Contains(rest, ":") {
		return parseAccount(s, SolanaMainnet().String(), rest, "a Solana account such as solana:<address>")
	}
	return ParseAccount(s)
}

func parseAccount(s, chainPart, address, want string) (Account, error) {
	chain, err := ParseChain(chainPart)
	if err != nil {
		return Account{}, refuse(s, want)
	}
	switch chain.Namespace {
	case nsEVM:
		a, err := ParseAddress(address)
		if err != nil {
			return Account{}, refuse(s, want+" with an address of 0x and 40 hexadecimal digits")
		}
		address = lower(a)
	case nsSolana:
		if _, err := ParseSolanaKey(address); err != nil {
			return Account{}, refuse(s, "a Solana account; the address must be base58 of 32 bytes")
		}
	default:
		if !within(address, 1, 128, isFree) {
			return Account{}, refuse(s, want)
		}
	}
	return Account{Chain: chain, Address: address}, nil
}

// EVMAccount is the account eip155:chainID:address.
func EVMAccount(chainID uint64, address common.Address) Account {
	return Account{Chain: EVM(chainID), Address: lower(address)}
}

// SolanaAccount is the account of a public key on Solana's main network.
func SolanaAccount(key [32]byte) Account {
	return Account{Chain: SolanaMainnet(), Address: FormatSolanaKey(key)}
}

// String is the CAIP-10 form with an EVM address in lower case, or "" for the zero
// value.
func (a Account) String() string { return a.join(":", a.Address) }

// Slash is the form chain/address used by recipientAccountId in status and history.
func (a Account) Slash() string { return a.join("/", a.Address) }

// Display is String with an EVM address in EIP-55 mixed case.
func (a Account) Display() string {
	if e, ok := a.EVM(); ok {
		return a.join(":", e.Hex())
	}
	return a.String()
}

func (a Account) join(sep, address string) string {
	if a == (Account{}) {
		return ""
	}
	return a.Chain.String() + sep + address
}

// EVM is the address of an account on an eip155 chain.
func (a Account) EVM() (common.Address, bool) {
	if a.Chain.Namespace != nsEVM {
		return common.Address{}, false
	}
	e, err := ParseAddress(a.Address)
	return e, err == nil
}

// SolanaKey is the public key of an account on a solana chain.
func (a Account) SolanaKey() ([32]byte, bool) {
	if a.Chain.Namespace != nsSolana {
		return [32]byte{}, false
	}
	k, err := ParseSolanaKey(a.Address)
	return k, err == nil
}

// Word is the account in 32 bytes as contracts name it: an EVM address padded with zeros on the left, a Solana key as
// it is; zero for an account of another chain.
func (a Account) Word() [32]byte {
	if e, ok := a.EVM(); ok {
		return common.BytesToHash(e[:])
	}
	key, _ := a.SolanaKey()
	return key
}
