package solana

import (
	"encoding/binary"

	"coffer/api/op/solmsg"
)

// Layouts of SPL Token: a mint has 82 bytes, a token account 165. Options are a 4-byte
// flag and the value.
const (
	mintSize        = 82
	mintSupply      = 36
	mintDecimals    = 44
	mintInitialized = 45

	tokenSize      = 165
	tokenOwner     = 32
	tokenAmount    = 64
	tokenDelegate  = 72
	tokenState     = 108
	tokenDelegated = 121

	stateInitialized = 1
)

// mint is the data of a mint.
type mint []byte

func asMint(a Account) (mint, bool) {
	if a.Owner != solmsg.TokenProgram() || len(a.Data) != mintSize || a.Data[mintInitialized] != 1 {
		return nil, false
	}
	return a.Data, true
}

func (m mint) supply() uint64  { return binary.LittleEndian.Uint64(m[mintSupply:]) }
func (m mint) decimals() uint8 { return m[mintDecimals] }

// token is the data of a token account; changing it changes the account.
type token []byte

func newToken(owner, mint solmsg.Key) token {
	t := make(token, tokenSize)
	copy(t, mint[:])
	copy(t[tokenOwner:], owner[:])
	t[tokenState] = stateInitialized
	return t
}

// asToken reads a token account that is initialized; nothing on this ledger freezes one.
func asToken(a Account) (token, bool) {
	if a.Owner != solmsg.TokenProgram() || len(a.Data) != tokenSize || a.Data[tokenState] != stateInitialized {
		return nil, false
	}
	return a.Data, true
}

func (t token) mint() solmsg.Key   { return solmsg.Key(t[:32]) }
func (t token) owner() solmsg.Key  { return solmsg.Key(t[tokenOwner : tokenOwner+32]) }
func (t token) amount() uint64     { return binary.LittleEndian.Uint64(t[tokenAmount:]) }
func (t token) setAmount(v uint64) { binary.LittleEndian.PutUint64(t[tokenAmount:], v) }
func (t token) delegated() uint64  { return binary.LittleEndian.Uint64(t[tokenDelegated:]) }

// delegate is who else may move delegated units; false when nobody may.
func (t token) delegate() (solmsg.Key, bool) {
	return solmsg.Key(t[tokenDelegate+4 : tokenDelegate+36]), binary.LittleEndian.Uint32(t[tokenDelegate:]) == 1
}

// setDelegate lets k move up to n units.
func (t token) setDelegate(k solmsg.Key, n uint64) {
	binary.LittleEndian.PutUint32(t[tokenDelegate:], 1)
	copy(t[tokenDelegate+4:], k[:])
	binary.LittleEndian.PutUint64(t[tokenDelegated:], n)
}

func (t token) clearDelegate() {
	clear(t[tokenDelegate : tokenDelegate+36])
	binary.LittleEndian.PutUint64(t[tokenDelegated:], 0)
}
