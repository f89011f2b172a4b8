package vault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/secret"
	"coffer/assets"
	"coffer/wallet/sign"
	"coffer/wallet/vault"

	"github.com/ethereum/go-ethereum/common"
)

// Every vault is what a signer borrows keys from.
var (
	_ sign.Keys = (*vault.Memory)(nil)
	_ sign.Keys = (*vault.Vault)(nil)
)

const here, elsewhere = "0xaa", "0xbb"

func raw(label string) []byte { return crypto.Keccak256([]byte(label)) }

func TestTheDemoKeyHasTheDemoAddress(t *testing.T) {
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	m := vault.NewMemory(here)
	item, err := m.Add(vault.EVM, secret.New(common.FromHex(demo.PrivateKey)))
	if err != nil || item.Address != strings.ToLower(demo.Signer) || item.Network != here {
		t.Fatalf("%+v %v", item, err)
	}
}

func TestAddressesAreThoseOfAnotherLibrary(t *testing.T) {
	order := crypto.S256().Params().N
	numbers := []*big.Int{big.NewInt(1), big.NewInt(2), new(big.Int).Sub(order, big.NewInt(1)),
		new(big.Int).Rsh(order, 1)}
	for i := range 200 {
		numbers = append(numbers, new(big.Int).SetBytes(raw(fmt.Sprint("address ", i))))
	}
	for _, n := range numbers {
		key := n.FillBytes(make([]byte, 32))
		other, err := crypto.ToECDSA(key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := vault.AddressOf(vault.EVM, secret.New(key))
		if want := strings.ToLower(crypto.PubkeyToAddress(other.PublicKey).Hex()); err != nil || got != want {
			t.Errorf("key %x has the address %s, want %s: %v", key, got, want, err)
		}
	}
}

func TestAKeyIsRefusedOnAnotherNetwork(t *testing.T) {
	m := vault.NewMemory(here)
	item, err := m.Add(vault.EVM, secret.New(raw("k")))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{elsewhere, "", here + " "} {
		err := m.Use(context.Background(), n, item.Address, func(secret.Secret) error { t.Error("lent"); return nil })
		if !errors.Is(err, vault.ErrNetwork) {
			t.Errorf("%q: %v", n, err)
		}
	}
	if err := m.Use(context.Background(), here, "0x00", func(secret.Secret) error { return nil }); !errors.Is(err,
		vault.ErrNoKey) {
		t.Error(err)
	}
}

func TestALentKeyIsWipedAfterwardsAndTheKeptOneIsNot(t *testing.T) {
	m := vault.NewMemory(here)
	item, _ := m.Add(vault.EVM, secret.New(raw("k")))
	var kept secret.Secret
	for range 2 {
		if err := m.Use(context.Background(), here, item.Address, func(s secret.Secret) error {
			if string(s.Reveal()) != string(raw("k")) {
				t.Error("another key was lent")
			}
			kept = s
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, b := range kept.Reveal() {
			if b != 0 {
				t.Fatal("the lent key was not wiped")
			}
		}
	}
}

func TestCloseWipesAndEndsTheVault(t *testing.T) {
	m := vault.NewMemory(here)
	b := raw("k")
	item, _ := m.Add(vault.EVM, secret.New(b))
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	for _, x := range b {
		if x != 0 {
			t.Fatal("not wiped")
		}
	}
	if err := m.Use(context.Background(), here, item.Address, func(secret.Secret) error { return nil }); !errors.Is(err,
		vault.ErrClosed) {
		t.Error(err)
	}
	c := raw("c")
	if _, err := m.Add(vault.EVM, secret.New(c)); !errors.Is(err, vault.ErrClosed) || c[0] != 0 {
		t.Error("a key was taken after Close, or left in the caller's hands", err)
	}
	if len(m.Items()) != 0 {
		t.Error("items remain")
	}
}

func TestBadKeysAreRefusedAndWiped(t *testing.T) {
	m := vault.NewMemory(here)
	for _, b := range [][]byte{{}, {1, 2, 3}, make([]byte, 32), raw("x")[:31]} {
		in := append([]byte{}, b...)
		if _, err := m.Add(vault.EVM, secret.New(in)); !errors.Is(err, vault.ErrBadKey) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
		for _, x := range in {
			if x != 0 {
				t.Error("not wiped")
			}
		}
	}
	if _, err := m.Add(vault.Solana, secret.New([]byte{1})); !errors.Is(err, vault.ErrBadKey) {
		t.Error(err)
	}
	if _, err := m.Add("paper", secret.New(raw("p"))); !errors.Is(err, vault.ErrBadKey) {
		t.Error(err)
	}
}

func TestSolanaKeysAreFoundByTheirPublicKey(t *testing.T) {
	m := vault.NewMemory(here)
	item, err := m.Add(vault.Solana, secret.New(raw("s")))
	if err != nil || len(item.Address) < 32 {
		t.Fatal(item, err)
	}
	if err := m.Use(context.Background(), here, item.Address, func(s secret.Secret) error {
		if len(s.Reveal()) != 32 {
			t.Error("not a seed")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestTheVaultNeverShowsAKey(t *testing.T) {
	m := vault.NewMemory(here)
	b := raw("shown")
	hex := common.Bytes2Hex(b)
	item, _ := m.Add(vault.EVM, secret.New(b))
	j, err := json.Marshal(item)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprintf("%v %+v %s", item, m.Items(), item), string(j)} {
		if strings.Contains(s, hex) {
			t.Error("shown")
		}
	}
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.Use(stopped, here, item.Address, func(secret.Secret) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
	if _, err := m.Add(vault.EVM, secret.New(raw("shown"))); err != nil || len(m.Items()) != 1 {
		t.Error("adding the same key twice keeps one", err)
	}
}
