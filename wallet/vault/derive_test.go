package vault

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tyler-smith/go-bip39"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"coffer/api/secret"
)

func TestTheWordsAreThoseOfBIP39(t *testing.T) {
	if got := strings.Fields(english); !slices.Equal(got, bip39.GetWordList()) || !slices.IsSorted(got) {
		t.Errorf("%d words differ from the English list", len(got))
	}
}

func TestDerivationFollowsTheVectorsOfSLIP10(t *testing.T) {
	for _, v := range vectors(t, "slip10.json").Vectors {
		seed := unhex(t, v.Seed)
		key, err := derive(v.Kind, seed, v.Path)
		if err != nil || hex.EncodeToString(key) != v.Key {
			t.Errorf("%s %s: %x %v", v.Kind, v.Path, key, err)
		}
		n, err := master(v.Kind, seed)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := parsePath(v.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if err := n.child(v.Kind, s); err != nil {
				t.Fatal(err)
			}
		}
		if hex.EncodeToString(n.chain[:]) != v.Chain {
			t.Errorf("%s %s: chain code %x", v.Kind, v.Path, n.chain)
		}
	}
}

// TestDerivationKeepsLeadingZeros: vectors 3 and 4 of BIP-32, in the form of extended keys, whose checksum is checked.
func TestDerivationKeepsLeadingZeros(t *testing.T) {
	const (
		three = "4b381541583be4423346c643850da4b320e46a87ae3d2a4e6da11eba819cd4acba45d239319ac14f863b8d5ab5a0d0c64d2e" +
			"8a1e7d1457df2e5a3c51c73235be"
		four = "3ddd5602285899a946114506157c7997e5444528f3003f6134712147db19b678"
	)
	for _, v := range [][3]string{
		{three, "m",
			"xprv9s21ZrQH143K25QhxbucbDDuQ4naNntJRi4KUfWT7xo4EKsHt2QJDu7KXp1A3u7Bi1j8ph3EGsZ9Xvz9dGuVrtHHs7pXeTzjuxBr" +
				"CmmhgC6"},
		{three, "m/0'",
			"xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9W" +
				"ACViL4L"},
		{four, "m",
			"xprv9s21ZrQH143K48vGoLGRPxgo2JNkJ3J3fqkirQC2zVdk5Dgd5w14S7fRDyHH4dWNHUgkvsvNDCkvAwcSHNAQwhwgNMgZhLtQC63z" +
				"xwhQmRv"},
		{four, "m/0'",
			"xprv9vB7xEWwNp9kh1wQRfCCQMnZUEG21LpbR9NPCNN1dwhiZkjjeGRnaALmPXCX7SgjFTiCTT6bXes17boXtjq3xLpcDjzEuGLQBM5o" +
				"hqkao9G"},
		{four, "m/0'/1'",
			"xprv9xJocDuwtYCMNAo3Zw76WENQeAS6WGXQ55RCy7tDJ8oALr4FWkuVoHJeHVAcAqiZLE7Je3vZJHxspZdFHfnBEjHqU5hG1Jaj32dV" +
				"oS6XLT1"},
	} {
		extended, ok := decode58([]byte(v[2]), 82)
		if !ok {
			t.Fatal("not base58")
		}
		sum := sha256.Sum256(extended[:78])
		if sum = sha256.Sum256(sum[:]); !bytes.Equal(sum[:4], extended[78:]) {
			t.Fatal("the vector was mistyped")
		}
		if key, err := derive(EVM, unhex(t, v[0]), v[1]); err != nil || !bytes.Equal(key, extended[46:78]) {
			t.Errorf("%s: %x, want %x %v", v[1], key, extended[46:78], err)
		}
	}
}

func TestMnemonicsLeadToTheAddressesOtherWalletsShow(t *testing.T) {
	const junk, about = "test test test test test test test test test test test junk",
		"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	for _, c := range []struct {
		words string
		hint  Hint
		want  []string
	}{
		{junk, Hint{Kind: EVM}, []string{"0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"}},
		{junk, Hint{Path: "m/44'/60'/0'/0/1"}, []string{"0x70997970c51812dc3a010c7d01b50e0d17dc79c8"}},
		{"  TEST test\ttest test test\n test test test test test test  junk\r\n", Hint{Path: "m/44h/60H/0'/0/0"},
			[]string{"0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"}},
		{about, Hint{}, []string{"0x9858effd232b4033e47d90003d41ec34ecaeda94",
			"HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"}},
		{about, Hint{Path: "m/44'/501'/0'/0'"}, []string{"HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"}},
		{about, Hint{Kind: Solana, Form: FormMnemonic}, []string{"HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk"}},
	} {
		out, err := ParseKey([]byte(c.words), c.hint)
		if err != nil || out.Form != FormMnemonic {
			t.Fatal(err)
		}
		var got []string
		for _, k := range out.Keys {
			got = append(got, k.Address)
			if address, err := AddressOf(k.Kind, k.Key); err != nil || address != k.Address || k.Path == "" {
				t.Error(address, err)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.hint, got, c.want)
		}
		out.Wipe()
		for _, k := range out.Keys {
			if !bytes.Equal(k.Key.Reveal(), make([]byte, 32)) {
				t.Error("not wiped")
			}
		}
	}
}

func TestMnemonicsWithAPassphraseFollowTheVectorsOfBIP39(t *testing.T) {
	for _, v := range vectors(t, "bip39.json").Vectors {
		out, err := ParseKey([]byte(v.Mnemonic), Hint{Password: secret.New([]byte("TREZOR")), Path: "m/44'/60'/0'/0/7"})
		if err != nil {
			t.Fatal(err)
		}
		key, err := derive(EVM, unhex(t, v.Seed), "m/44'/60'/0'/0/7")
		if err != nil || !bytes.Equal(out.Keys[0].Key.Reveal(), key) {
			t.Errorf("%.30s…: another seed than the vector's %v", v.Mnemonic, err)
		}
	}
}

// TestMnemonicsAgreeWithAnotherImplementation compares random mnemonics, sound ones and spoiled ones, with the library
// whose word list is used.
func TestMnemonicsAgreeWithAnotherImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entropy := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t,
			"entropy")[:rapid.SampledFrom([]int{16, 20, 24, 28, 32}).Draw(t, "size")]
		text, err := bip39.NewMnemonic(entropy)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(text)
		if rapid.Bool().Draw(t, "spoil") {
			words[rapid.IntRange(0, len(words)-1).Draw(t, "place")] = rapid.SampledFrom(bip39.GetWordList()).Draw(t,
				"word")
			text = strings.Join(words, " ")
		}
		password := rapid.SampledFrom([]string{"", "x", "ｐäss wörd ﬁ"}).Draw(t, "password")
		out, err := ParseKey([]byte(text), Hint{Kind: EVM, Password: secret.New([]byte(password))})
		if sound := bip39.IsMnemonicValid(text); sound != (err == nil) {
			t.Fatalf("sound %v: %v", sound, err)
		}
		if err != nil {
			return
		}
		key, err := derive(EVM, bip39.NewSeed(text, norm.NFKD.String(password)), "m/44'/60'/0'/0/0")
		if err != nil || !bytes.Equal(key, out.Keys[0].Key.Reveal()) {
			t.Fatal("another key", err)
		}
	})
}

func TestWrongMnemonicsAndPathsAreRefused(t *testing.T) {
	const about = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	for text, hint := range map[string]Hint{
		strings.Repeat("abandon ", 12): {}, strings.Replace(about, "about", "abou", 1): {},
		strings.Replace(about, "about", "zzz", 1): {}, about + " about": {},
		"abandon about": {}, strings.Repeat("abandon ", 27): {}, strings.Replace(about, "about", "äbout", 1): {},
	} {
		_, err := ParseKey([]byte(text), hint)
		want(t, err, ErrBadKey)
		shown(t, err, text)
	}
	for _, path := range []string{"44'/60'", "m/", "m//0", "m/0/", "M/0", "m/-1", "m/+1", "m/01", "m/2147483648",
		"m/0''", "m/x", "m/'", "m/ 0", "m/1/1/1/1/1/1/1/1/1/1/1", "/"} {
		for _, kind := range []Kind{"", EVM, Solana} {
			if _, err := ParseKey([]byte(about), Hint{Path: path, Kind: kind}); !errors.Is(err, ErrBadKey) {
				t.Errorf("%q: %v", path, err)
			}
		}
	}
	for _, path := range []string{"m/44'/501'/0'/0", "m/44'/501'/0", "m/0"} {
		_, err := ParseKey([]byte(about), Hint{Path: path, Kind: Solana})
		if !errors.Is(err, ErrBadKey) || !strings.Contains(err.Error(), "hardened") {
			t.Errorf("%q: %v", path, err)
		}
	}
	zero := node{}
	if err := zero.child(EVM, 0); !errors.Is(err, ErrBadKey) {
		t.Error("a node without a key has a child", err)
	}
}
