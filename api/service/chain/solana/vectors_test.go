package solana_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// vectors are messages that web3.js built; the ledger gets them with nothing changed but
// the block hash.
type vectors struct {
	SeedHex string
	ATA     []struct{ Owner, Mint, ATA string }
	Cases   []struct{ Name, Kind, RecentBlockhash, MessageBase64 string }
}

func loadVectors(t *testing.T) (v vectors, signer ed25519.PrivateKey) {
	t.Helper()
	raw, err := os.ReadFile("../../../op/solmsg/testdata/solana.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	seed, err := hex.DecodeString(v.SeedHex)
	if err != nil {
		t.Fatal(err)
	}
	return v, ed25519.NewKeyFromSeed(seed)
}

func parseKey(t *testing.T, s string) solmsg.Key {
	t.Helper()
	k, err := solmsg.ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestMessagesOfAnotherImplementationAreExecuted(t *testing.T) {
	v, signer := loadVectors(t)
	me, friend, mint := keyOf(signer), parseKey(t, v.ATA[1].Owner), parseKey(t, v.ATA[0].Mint)
	expected := map[string]struct {
		failsAt  int
		lamports uint64 // of the friend
		tokens   uint64 // of the friend
		exists   bool   // the friend's token account
	}{
		"system-transfer":        {-1, 1_234_567_890, 0, true},
		"token-transfer":         {-1, 0, 42, true},
		"token-transfer-checked": {-1, 0, math.MaxUint64, true},
		"ata-create":             {-1, 0, 0, true},
		"approve-revoke-close":   {2, 0, 0, true}, // SyncNative: the account is not wrapped SOL
	}
	ran := 0
	for _, c := range v.Cases {
		if strings.HasSuffix(c.Kind, "-alt") {
			continue // needs a lookup table
		}
		name := strings.TrimSuffix(c.Name, "-"+c.Kind)
		l, err := open(store.NewMemory(), solana.Spec{Accounts: []solana.Allocation{
			{Key: me, Account: solana.SystemAccount(10e9)}, {Key: mint, Account: solana.MintAccount(math.MaxUint64, 6)},
			{Key: ata(t, me, mint), Account: solana.TokenAccount(me, mint, math.MaxUint64)},
		}})
		if err != nil {
			t.Fatal(err)
		}
		hash, _ := l.Blockhash(1_000)
		var txs []solana.Tx
		if name != "ata-create" {
			m, err := solmsg.Compose(me, hash, solmsg.CreateATAIdempotent(me, friend, mint))
			if err != nil {
				t.Fatal(err)
			}
			txs = append(txs, signed(m, signer))
		}
		raw, err := base64.StdEncoding.DecodeString(c.MessageBase64)
		if err != nil {
			t.Fatal(err)
		}
		old := parseKey(t, c.RecentBlockhash)
		message := bytes.Replace(raw, old[:], hash[:], 1)
		txs = append(txs, solana.Tx{Message: message, Signatures: [][64]byte{[64]byte(ed25519.Sign(signer, message))}})
		out, err := l.Seal(solana.SealRequest{Time: 1_000, Txs: txs})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		ran++
		want := expected[name]
		lamports, err := l.Lamports(friend)
		if err != nil {
			t.Fatal(err)
		}
		tokens, exists, err := l.Tokens(friend, mint)
		if err != nil {
			t.Fatal(err)
		}
		if r := out[len(out)-1]; r.Instruction != want.failsAt || lamports != want.lamports || tokens != want.tokens ||
			exists != want.exists {
			t.Errorf("%s: instruction %d (%s), %d lamports, %d tokens, account %t", c.Name, r.Instruction, r.Error,
				lamports, tokens, exists)
		}
	}
	if ran != 10 {
		t.Errorf("%d messages ran, want 10", ran)
	}
}
