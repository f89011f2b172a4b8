package solmsg_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/op/solmsg"
)

type vectorKey struct {
	Pubkey               string
	IsSigner, IsWritable bool
}

type vector struct {
	Name, Kind, FeePayer, RecentBlockhash string
	Instructions                          []struct {
		ProgramID string
		Keys      []vectorKey
		Data      string
	}
	StaticAccountKeys []string
	Header            struct{ NumRequiredSignatures, NumReadonlySignedAccounts, NumReadonlyUnsignedAccounts uint8 }
	Lookups           []struct {
		AccountKey                       string
		WritableIndexes, ReadonlyIndexes []int
	}
	MessageBase64, SignatureBase58, TransactionBase64 string
}

type vectors struct {
	SeedHex, Signer string
	LookupTable     struct {
		Key       string
		Addresses []string
	}
	ATA   []struct{ Owner, Mint, ATA string }
	Cases []vector
}

func load(t testing.TB) vectors {
	t.Helper()
	b, err := os.ReadFile("testdata/solana.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Cases) != 15 || len(v.ATA) != 3 {
		t.Fatalf("%d messages and %d token accounts", len(v.Cases), len(v.ATA))
	}
	return v
}

func unbase64(t testing.TB, s string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wantCode(t *testing.T, name string, err error, code string) {
	t.Helper()
	var refused *solmsg.Error
	if !errors.As(err, &refused) || refused.Code != code || refused.Problem == "" {
		t.Errorf("%s: got %v, want a refusal %s", name, err, code)
	}
}

func TestVectorsAreReadAsTheyWereBuilt(t *testing.T) {
	all := load(t)
	for _, c := range all.Cases {
		m, err := solmsg.ParseBase64(c.MessageBase64)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if m.Base64() != c.MessageBase64 || !bytes.Equal(m.Bytes(), unbase64(t, c.MessageBase64)) {
			t.Errorf("%s: bytes changed", c.Name)
		}
		if want := map[bool]solmsg.Version{true: solmsg.Legacy,
			false: solmsg.V0}[c.Kind == "legacy"]; m.Version != want ||
			m.Version.String() != strings.TrimSuffix(c.Kind, "-alt") {
			t.Errorf("%s: version %s", c.Name, m.Version)
		}
		h := solmsg.Header{RequiredSignatures: c.Header.NumRequiredSignatures,
			ReadonlySigned: c.Header.NumReadonlySignedAccounts, ReadonlyUnsigned: c.Header.NumReadonlyUnsignedAccounts}
		if m.Header != h || m.FeePayer().String() != c.FeePayer || m.Blockhash.String() != c.RecentBlockhash ||
			m.Signers()[0] != m.FeePayer() {
			t.Errorf("%s: %+v", c.Name, m.Header)
		}
		var keys []string
		for _, k := range m.Keys {
			keys = append(keys, k.String())
		}
		if !slices.Equal(keys, c.StaticAccountKeys) {
			t.Errorf("%s: keys %v", c.Name, keys)
		}
		compareLookups(t, c, m)
		compareInstructions(t, all, c, m)
	}
}

func compareLookups(t *testing.T, c vector, m solmsg.Message) {
	t.Helper()
	if len(m.Lookups) != len(c.Lookups) {
		t.Errorf("%s: %d lookups", c.Name, len(m.Lookups))
		return
	}
	ints := func(b []uint8) []int {
		out := []int{}
		for _, x := range b {
			out = append(out, int(x))
		}
		return out
	}
	for i, l := range c.Lookups {
		got := m.Lookups[i]
		if got.Table.String() != l.AccountKey || !slices.Equal(ints(got.Writable), l.WritableIndexes) ||
			!slices.Equal(ints(got.Readonly), l.ReadonlyIndexes) {
			t.Errorf("%s: lookup %+v", c.Name, got)
		}
	}
}

// compareInstructions resolves lookups with the known table. A message carries one set
// of flags for each key: the union of what its instructions ask for.
func compareInstructions(t *testing.T, all vectors, c vector, m solmsg.Message) {
	t.Helper()
	flags := map[string]vectorKey{c.FeePayer: {Pubkey: c.FeePayer, IsSigner: true, IsWritable: true}}
	for _, ix := range c.Instructions {
		for _, k := range ix.Keys {
			f := flags[k.Pubkey]
			flags[k.Pubkey] = vectorKey{Pubkey: k.Pubkey, IsSigner: f.IsSigner ||
				k.IsSigner, IsWritable: f.IsWritable || k.IsWritable}
		}
	}
	if len(m.Instructions) != len(c.Instructions) {
		t.Errorf("%s: %d instructions", c.Name, len(m.Instructions))
		return
	}
	for i, ix := range c.Instructions {
		got := m.Instructions[i]
		if got.Program.String() != ix.ProgramID || hex.EncodeToString(got.Data) != ix.Data ||
			len(got.Accounts) != len(ix.Keys) {
			t.Errorf("%s: instruction %d is %+v", c.Name, i, got)
			continue
		}
		for j, a := range got.Accounts {
			key := a.Key.String()
			if a.Lookup {
				if a.Key != (solmsg.Key{}) || a.Table.String() != all.LookupTable.Key {
					t.Errorf("%s: lookup %+v", c.Name, a)
				}
				key = all.LookupTable.Addresses[a.Entry]
			}
			if want := flags[ix.Keys[j].Pubkey]; (vectorKey{key, a.Signer, a.Writable}) != want {
				t.Errorf("%s: instruction %d account %d is %s %v %v, want %+v", c.Name, i, j, key, a.Signer, a.Writable,
					want)
			}
		}
	}
}

func TestVectorSignaturesAreOverTheMessageBytes(t *testing.T) {
	all := load(t)
	seed, err := hex.DecodeString(all.SeedHex)
	if err != nil {
		t.Fatal(err)
	}
	private := ed25519.NewKeyFromSeed(seed)
	signer, err := solmsg.ParseKey(all.Signer)
	if err != nil || !bytes.Equal(signer[:], private.Public().(ed25519.PublicKey)) {
		t.Fatalf("signer %s, %v", signer, err)
	}
	for _, c := range all.Cases {
		m, err := solmsg.ParseBase64(c.MessageBase64)
		if err != nil {
			t.Fatal(err)
		}
		sig, err := caip.ParseSolanaSignature(c.SignatureBase58)
		if err != nil || !m.Verify(signer, sig) {
			t.Errorf("%s: the vector's signature is refused, %v", c.Name, err)
		}
		if own := ed25519.Sign(private, m.Bytes()); !bytes.Equal(own, sig[:]) {
			t.Errorf("%s: our signature differs", c.Name)
		}
		if transaction := slices.Concat([]byte{1}, sig[:], m.Bytes()); !bytes.Equal(transaction,
			unbase64(t, c.TransactionBase64)) {
			t.Errorf("%s: the transaction differs", c.Name)
		}
		sig[0] ^= 1
		if m.Verify(signer, sig) || m.Verify(m.Keys[1], sig) || (solmsg.Message{}).Verify(signer, sig) {
			t.Errorf("%s: a wrong signature was accepted", c.Name)
		}
		if i, ok := m.SignerIndex(signer); !ok || i != 0 {
			t.Errorf("%s: signer index %d", c.Name, i)
		}
		if _, ok := m.SignerIndex(m.Keys[len(m.Keys)-1]); ok {
			t.Errorf("%s: a program signs", c.Name)
		}
	}
}

func TestAssociatedTokenAccountsEqualTheVectors(t *testing.T) {
	for _, c := range load(t).ATA {
		owner, err := solmsg.ParseKey(c.Owner)
		if err != nil {
			t.Fatal(err)
		}
		mint, err := solmsg.ParseKey(c.Mint)
		if err != nil {
			t.Fatal(err)
		}
		got, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
		if err != nil || got.String() != c.ATA {
			t.Errorf("%s: %s, %v", c.Owner, got, err)
		}
		if other, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.Token2022Program()); err != nil ||
			other == got {
			t.Errorf("the token program does not enter: %v", err)
		}
	}
}

func TestProgramIDsAreThePublishedOnes(t *testing.T) {
	for want, got := range map[string]solmsg.Key{
		"11111111111111111111111111111111":             solmsg.SystemProgram(),
		"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA":  solmsg.TokenProgram(),
		"TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb":  solmsg.Token2022Program(),
		"ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL": solmsg.ATAProgram(),
		"MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr":  solmsg.MemoProgram(),
		"ComputeBudget111111111111111111111111111111":  solmsg.ComputeBudgetProgram(),
	} {
		if got.String() != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
