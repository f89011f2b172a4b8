package signers_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/signers"
)

func seed() []byte { return []byte("an installation seed of 32 bytes") }

func derived(t *testing.T) signers.Embedded {
	t.Helper()
	e, err := signers.Derive(seed())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The addresses of an installation depend on the labels: these are of the first release.
func TestTheSeedGivesTheSameAccountsForEver(t *testing.T) {
	e := derived(t)
	evm := []string{"0xE08CEc0588a5E47cD2cd09330b68d0D43118B8b4",
		"0x4Af9eCA778cd4Da84950dC6c398929232D674486", "0xa75eEa4FD2Be2df915D5327C8f1b6d4D2Fd6aE59",
		"0x67906dA491558Ecc1d308c420003b2130A80deB5", "0x384ef8398875C944A1dD2d16EA7e1c8B796beaa7"}
	for i, k := range []interface{ Address() common.Address }{
		e.Operator, e.CoSigner, e.TamperProof, e.Treasury, e.Faucet,
	} {
		if k.Address().Hex() != evm[i] {
			t.Errorf("%s, expected %s", k.Address(), evm[i])
		}
	}
	solana := []string{"HKRGrYCfcZPtvwAToxUGFRjzm196RRpHXeahWJuPMvBJ", "6tymeastaHjs9APZuVep6Vq61LPn3wMuDyC7zgKFWpq4",
		"8b9ChCVrrpYXp96ytS78w6P7w69Xz5itWhNnKc6QnBRs", "7qXawNzh9FXgMsQKi56erYPqcR29H1xYcrWqtVgpqFyo",
		"FGWWskyhEAg4PLVP1v6CiPGNy1o5RzTVGEAqtvMEwr59"}
	for i, k := range []signers.Solana{e.Sponsor, e.Vault, e.SolanaSolver, e.SolanaTreasury, e.SolanaFaucet} {
		if k.Key().String() != solana[i] {
			t.Errorf("%s, expected %s", k.Key(), solana[i])
		}
	}
}

func TestSignaturesAreThoseOfTheAddress(t *testing.T) {
	e, ctx := derived(t), t.Context()
	digest, id := common.Hash{1, 2, 3}, big.NewInt(8453)
	for _, k := range []signers.EVM{e.Operator, e.CoSigner, e.Treasury, e.Faucet} {
		sig, err := k.SignMessage(ctx, digest)
		if err != nil {
			t.Fatal(err)
		}
		if by, err := op.Recover(op.EIP191(digest), sig); err != nil || by != k.Address() {
			t.Errorf("a message of %s was signed by %s: %v", k.Address(), by, err)
		}
		tx, err := k.SignTx(ctx, types.NewTx(&types.DynamicFeeTx{ChainID: id, Gas: 21_000}), id)
		if err != nil {
			t.Fatal(err)
		}
		if by, err := types.Sender(types.NewPragueSigner(id), tx); err != nil || by != k.Address() {
			t.Errorf("a transaction of %s was signed by %s: %v", k.Address(), by, err)
		}
	}
	sig, err := e.TamperProof.SignDigest(ctx, digest)
	if err != nil {
		t.Fatal(err)
	}
	if by, err := op.Recover(digest, sig); err != nil || by != e.TamperProof.Address() {
		t.Errorf("a digest was signed by %s: %v", by, err)
	}
	for _, k := range []signers.Solana{e.Sponsor, e.Vault, e.SolanaSolver, e.SolanaTreasury, e.SolanaFaucet} {
		sig, err := k.Sign(ctx, digest[:])
		if at := k.Key(); err != nil || !ed25519.Verify(at[:], digest[:], sig[:]) {
			t.Errorf("a message of %s is not its own: %v", at, err)
		}
	}
}

func TestAKeyThatSignsSeldomSignsAsEveryOther(t *testing.T) {
	id := big.NewInt(8453)
	for i := range 200 {
		seed := crypto.Keccak256(seed(), []byte{byte(i), byte(i >> 8)})
		e, err := signers.Derive(seed)
		if err != nil {
			t.Fatal(err)
		}
		tx := types.NewTx(&types.DynamicFeeTx{ChainID: id, Nonce: uint64(i), Gas: 21_000, Data: seed})
		seldom, err := e.Treasury.SignTx(t.Context(), tx, id)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := signers.Plain(e.Treasury).SignTx(t.Context(), tx, id)
		if err != nil || plain.Hash() != seldom.Hash() {
			t.Fatalf("key %d: %s, expected %s: %v", i, seldom.Hash(), plain.Hash(), err)
		}
	}
}

func TestNothingPrintsAKey(t *testing.T) {
	e := derived(t)
	raw, err := hkdf.Key(sha256.New, seed(), nil, "coffer/key/solana-vault/1", ed25519.SeedSize)
	if err != nil {
		t.Fatal(err)
	}
	if at := e.Vault.Key(); !bytes.Equal(ed25519.NewKeyFromSeed(raw).Public().(ed25519.PublicKey), at[:]) {
		t.Fatal("the vault's key is another one")
	}
	plain := bytes.Repeat([]byte{7}, 32)
	key, number := crypto.ToECDSAUnsafe(plain), new(big.Int).SetBytes(plain)
	secrets := []string{hex.EncodeToString(raw), fmt.Sprintf("%v", raw), number.String(), number.Text(16),
		"7 7 7 7"}
	for _, v := range []any{e, &e, e.Set, e.Vault, signers.Local(key), []signers.EVM{signers.Local(key)}} {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb, v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("", "key", v)
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
		for _, s := range secrets {
			if strings.Contains(strings.ToLower(out.String()), s) {
				t.Errorf("a key is printed: %.60s…", out.String())
			}
		}
		if !strings.Contains(string(text), "[redacted]") {
			t.Errorf("%T is encoded as %s", v, text)
		}
	}
}
