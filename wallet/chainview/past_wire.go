package chainview

import (
	"encoding/base64"
	"math/big"
	"strconv"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
)

// listing are the parameters of getSignaturesForAddress.
type listing struct {
	Commitment string `json:"commitment"`
	Limit      int    `json:"limit"`
	Before     string `json:"before,omitempty"`
}

// listedEntry is a transaction that names an address. Slot and time are those of its block.
type listedEntry struct {
	Signature string `json:"signature"`
	Slot      uint64 `json:"slot"`
	BlockTime *int64 `json:"blockTime"`
}

// lastSecond is the last second of the year 9999.
const lastSecond = 253_402_300_799

// listedWell reports whether a list names transactions behind another one, no more than were asked for, the newest
// first and each once.
func listedWell(list []listedEntry, behind string) bool {
	met := map[string]bool{behind: true}
	for i, e := range list {
		if _, err := solmsg.ParseSignature(e.Signature); err != nil || met[e.Signature] ||
			i > 0 && e.Slot > list[i-1].Slot || !timed(e.BlockTime) {
			return false
		}
		met[e.Signature] = true
	}
	return len(list) <= listedAtOnce
}

func timed(at *int64) bool { return at == nil || *at > 0 && *at <= lastSecond }

// asking are the parameters of getTransaction.
type asking struct {
	Commitment string `json:"commitment"`
	Encoding   string `json:"encoding"`
	Version    int    `json:"maxSupportedTransactionVersion"`
}

// wireTransaction is the answer to getTransaction.
type wireTransaction struct {
	Slot        uint64    `json:"slot"`
	Transaction []string  `json:"transaction"`
	Meta        *wireMeta `json:"meta"`
}

// wireMeta is what a transaction did, in the order of its accounts: those that its message names, then the writable and
// the other ones of its lookup tables.
type wireMeta struct {
	Err    any         `json:"err"`
	Fee    uint64      `json:"fee"`
	Pre    []uint64    `json:"preBalances"`
	Post   []uint64    `json:"postBalances"`
	Before []wireToken `json:"preTokenBalances"`
	After  []wireToken `json:"postTokenBalances"`
	Loaded struct {
		Writable []string `json:"writable"`
		Readonly []string `json:"readonly"`
	} `json:"loadedAddresses"`
}

// wireToken is what a token account held; old nodes leave out whose it is.
type wireToken struct {
	Index  int    `json:"accountIndex"`
	Mint   string `json:"mint"`
	Owner  string `json:"owner"`
	Amount struct {
		Amount string `json:"amount"`
	} `json:"uiTokenAmount"`
}

// Of a transaction on the wire: how long a signature is, and how many one byte counts.
const (
	signatureSize = 64
	mostSigners   = 127
)

// read fills in what the transaction did to the account. What nodes give must be the transaction that was asked for,
// signed by who pays for it; which amounts it moved is their word.
func (w *wireTransaction) read(whose Whose, t *Transaction) error {
	if len(w.Transaction) != 2 || w.Transaction[1] != "base64" || w.Slot != t.Slot {
		return errPast
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(w.Transaction[0])
	if err != nil || len(raw) == 0 || raw[0] == 0 || raw[0] > mostSigners {
		return errPast
	}
	n := 1 + signatureSize*int(raw[0])
	if len(raw) <= n || solmsg.FormatSignature([signatureSize]byte(raw[1:])) != t.Signature {
		return errPast
	}
	m, err := solmsg.Parse(raw[n:])
	if err != nil {
		t.Unknown = "its message cannot be read"
		return nil
	}
	if len(m.Signers()) != int(raw[0]) || !m.Verify(m.FeePayer(), [signatureSize]byte(raw[1:])) {
		return errPast
	}
	if i, signs := m.SignerIndex(whose.Account); signs &&
		m.Verify(whose.Account, [signatureSize]byte(raw[1+signatureSize*i:])) {
		t.Quote = memo(m)
	}
	if w.Meta == nil {
		t.Unknown = "your node kept no balances of it"
		return nil
	}
	keys, err := w.Meta.keys(m)
	if err != nil {
		return err
	}
	t.Failed = w.Meta.Err != nil
	return w.Meta.moves(whose, keys, m.FeePayer() == whose.Account, t)
}

// memo is the first memo of a message.
func memo(m solmsg.Message) string {
	for _, ix := range m.Instructions {
		if text, ok := solmsg.DecodeMemo(ix.Data); ok && ix.Program == solmsg.MemoProgram() {
			return text
		}
	}
	return ""
}

// keys are all accounts of a transaction. Those of lookup tables are the node's word, as many as the message takes.
func (w *wireMeta) keys(m solmsg.Message) ([]solmsg.Key, error) {
	var writable, readonly int
	for _, l := range m.Lookups {
		writable, readonly = writable+len(l.Writable), readonly+len(l.Readonly)
	}
	keys := append([]solmsg.Key(nil), m.Keys...)
	if len(w.Loaded.Writable) != writable || len(w.Loaded.Readonly) != readonly {
		return nil, errPast
	}
	for _, list := range [][]string{w.Loaded.Writable, w.Loaded.Readonly} {
		for _, text := range list {
			k, err := solmsg.ParseKey(text)
			if err != nil {
				return nil, errPast
			}
			keys = append(keys, k)
		}
	}
	if len(w.Pre) != len(keys) || len(w.Post) != len(keys) {
		return nil, errPast
	}
	return keys, nil
}

func (w *wireMeta) moves(whose Whose, keys []solmsg.Key, pays bool, t *Transaction) error {
	sol := Move{caip.SOL(), new(big.Int)}
	for i, k := range keys {
		if k == whose.Account {
			sol.Amount.Add(sol.Amount, new(big.Int).SetUint64(w.Post[i]))
			sol.Amount.Sub(sol.Amount, new(big.Int).SetUint64(w.Pre[i]))
		}
	}
	fee := new(big.Int)
	if pays {
		fee.SetUint64(w.Fee)
		sol.Amount.Add(sol.Amount, fee)
	}
	sums := map[solmsg.Key]*big.Int{}
	if err := tokens(w.Before, whose, keys, sums, (*big.Int).Sub); err != nil {
		return err
	}
	if err := tokens(w.After, whose, keys, sums, (*big.Int).Add); err != nil {
		return err
	}
	moves := []Move{sol}
	for mint, v := range sums {
		moves = append(moves, Move{caip.SPL(mint), v})
	}
	t.Moves, t.Fee = sorted(moves), fee
	return nil
}

// tokens adds what the account's token accounts held to sums, or takes it off.
func tokens(list []wireToken, whose Whose, keys []solmsg.Key, sums map[solmsg.Key]*big.Int,
	count func(z, x, y *big.Int) *big.Int) error {
	met := map[int]bool{}
	for _, b := range list {
		mint, err := solmsg.ParseKey(b.Mint)
		v, bad := strconv.ParseUint(b.Amount.Amount, 10, 64)
		if err != nil || bad != nil || b.Index < 0 || b.Index >= len(keys) || met[b.Index] {
			return errPast
		}
		met[b.Index] = true
		own := b.Owner == whose.Account.String()
		if b.Owner == "" {
			at, err := solmsg.AssociatedTokenAccount(whose.Account, mint, solmsg.TokenProgram())
			own = err == nil && at == keys[b.Index]
		}
		if !own {
			continue
		}
		if sums[mint] == nil {
			sums[mint] = new(big.Int)
		}
		count(sums[mint], sums[mint], new(big.Int).SetUint64(v))
	}
	return nil
}
