package vault

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/secret"
)

// encode58 writes base58 the slow way, independent of the decoder under test.
func encode58(b []byte) string {
	var out []byte
	n, base, digit := new(big.Int).SetBytes(b), big.NewInt(58), new(big.Int)
	for n.Sign() > 0 {
		n.DivMod(n, base, digit)
		out = append([]byte{alphabet58[digit.Int64()]}, out...)
	}
	for _, c := range b {
		if c != 0 {
			break
		}
		out = append([]byte{'1'}, out...)
	}
	return string(out)
}

func array(b []byte) string {
	numbers := make([]int, len(b))
	for i, c := range b {
		numbers[i] = int(c)
	}
	text, _ := json.Marshal(numbers)
	return string(text)
}

// imported parses a text that holds one key, checks that key and returns it.
func imported(t *testing.T, text string, hint Hint, form Form, kind Kind, key []byte) {
	t.Helper()
	in := []byte(text)
	out, err := ParseKey(in, hint)
	if err != nil || out.Form != form || len(out.Keys) != 1 || string(in) != text {
		t.Fatalf("%s: %+v %v", form, out, err)
	}
	defer out.Wipe()
	address, err := AddressOf(kind, secret.New(bytes.Clone(key)))
	if got := out.Keys[0]; err != nil || got.Kind != kind || got.Address != address ||
		!bytes.Equal(got.Key.Reveal(), key) {
		t.Fatalf("%s: %+v, want %s %v", form, got, address, err)
	}
}

func TestImportReadsEveryForm(t *testing.T) {
	key := raw("import")
	private := ed25519.NewKeyFromSeed(key)
	digits := hex.EncodeToString(key)
	for _, text := range []string{digits, "0x" + digits, strings.ToUpper(digits), "\n  0x" + digits + "\r\n\t"} {
		imported(t, text, Hint{}, FormHex, EVM, key)
		imported(t, text, Hint{Kind: Solana}, FormHex, Solana, key)
		imported(t, text, Hint{Form: FormHex, Kind: EVM}, FormHex, EVM, key)
	}
	for _, text := range []string{array(private), array(key),
		"[ " + strings.ReplaceAll(array(private)[1:], ",", " ,\n ")} {
		imported(t, text, Hint{}, FormSolanaArray, Solana, key)
	}
	zeros := append(make([]byte, 3), key[:29]...)
	for _, k := range [][]byte{key, zeros, make([]byte, 32)} {
		for _, text := range []string{encode58(ed25519.NewKeyFromSeed(k)), encode58(k),
			caip.FormatSolanaKey([32]byte(k))} {
			imported(t, text+"\n", Hint{Kind: Solana}, FormBase58, Solana, k)
		}
	}
}

func TestImportRefusesWhatIsNoKey(t *testing.T) {
	key := raw("import")
	private := ed25519.NewKeyFromSeed(key)
	mixed := append(bytes.Clone(private[:32]), ed25519.NewKeyFromSeed(raw("other"))[32:]...)
	digits := hex.EncodeToString(key)
	order := "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
	for text, hint := range map[string]Hint{
		"": {}, " \n ": {}, strings.Repeat("a", maxKeyFile+1): {}, "hello!": {}, "0x": {}, "0x" + digits[2:]: {},
		"0x" + digits + "00": {}, "0x" + digits[:63] + "g": {},
		strings.Repeat("0", 64): {}, order: {}, digits: {Kind: "paper"}, digits + " ": {Form: "paper"},
		"\t" + digits: {Form: FormBase58},
		encode58(key): {Kind: EVM}, array(private): {Kind: EVM}, encode58(mixed): {}, array(mixed): {},
		encode58(key[:31]): {}, encode58(private) + "1": {}, "1" + encode58(key): {},
		encode58(append(bytes.Clone(private), 1)): {}, strings.Repeat("z", 88): {}, strings.Repeat("z", 44): {},
		"O0Il": {Form: FormBase58},
		"[]":   {}, "[": {}, "[1]": {}, "[1,2": {}, array(key[:31]): {}, array(append(bytes.Clone(private), 7)): {},
		"[256" + array(key)[strings.Index(array(key), ","):]:   {},
		"[01" + array(key)[strings.Index(array(key), ","):]:    {},
		"[-1" + array(key)[strings.Index(array(key), ","):]:    {},
		"[1.0" + array(key)[strings.Index(array(key), ","):]:   {},
		"[" + array(key)[1:len(array(key))-1] + ",]":           {},
		"[00001" + array(key)[strings.Index(array(key), ","):]: {},
		"[1 2" + array(key)[strings.Index(array(key), ","):]:   {},
		"{": {}, "{}": {}, `{"version":1}`: {}, `{"version":3}`: {}, "one two three": {}, "[[1],2]": {},
	} {
		out, err := ParseKey([]byte(text), hint)
		var why *ImportError
		if !errors.As(err, &why) || !errors.Is(err, ErrBadKey) || len(out.Keys) != 0 {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		shown(t, err, text)
	}
}

// shown fails when an error contains a part of what was read.
func shown(t testing.TB, err error, text string) {
	t.Helper()
	const part = 8
	for i := 0; i+part <= len(text); i++ {
		if p := text[i : i+part]; strings.Contains(err.Error(), p) &&
			!strings.Contains("expected 64 hexadecimal digits, version ciphertext mnemonic", p) {
			t.Errorf("the error shows %q of the text: %v", p, err)
			return
		}
	}
}

type vectorFile struct {
	Source  string            `json:"source"`
	Key     string            `json:"key"`
	Files   []json.RawMessage `json:"files"`
	Vectors []struct {
		Kind                  Kind
		Seed, Path, Chain     string
		Key, Mnemonic, Source string
	} `json:"vectors"`
}

func vectors(t testing.TB, name string) vectorFile {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var v vectorFile
	if err := json.Unmarshal(b, &v); err != nil || len(v.Vectors)+len(v.Files) == 0 {
		t.Fatal(name, err)
	}
	return v
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestKeystoreFilesOfTheSpecificationOpen(t *testing.T) {
	v := vectors(t, "keystore.json")
	password := func() secret.Secret { return secret.New([]byte("testpassword")) }
	for _, file := range v.Files { // one scrypt, one PBKDF2; the first takes a second
		imported(t, string(file), Hint{Password: password()}, FormKeystore, EVM, unhex(t, v.Key))
	}
	quick := v.Files[1]
	old := strings.Replace(string(quick), `"crypto"`, `"Crypto"`, 1)
	imported(t, old, Hint{Password: password(), Kind: EVM, Form: FormKeystore}, FormKeystore, EVM, unhex(t, v.Key))
	for _, hint := range []Hint{{}, {Password: wrong()}} {
		_, err := ParseKey(quick, hint)
		var why *ImportError
		if !errors.As(err, &why) || !errors.Is(err, ErrPassphrase) || why.NeedsPassword != hint.Password.Empty() {
			t.Error(err)
		}
	}
	_, err := ParseKey(quick, Hint{Password: password(), Kind: Solana})
	want(t, err, ErrBadKey)
}

// weakKeystore is a keystore file with little work: of the key raw("weak") under "pw".
const weakKeystore = `{"address":"%s","crypto":{"cipher":"%s","cipherparams":{"iv":"%s"},"ciphertext":"%s",` +
	`"kdf":"%s","kdfparams":%s,"mac":"%s"},"version":3}`

func TestKR6AKeystoreFileThatAsksForTooMuchIsRefusedBeforeAnyWorkIsDone(t *testing.T) {
	iv, text, mac := strings.Repeat("00", 16), strings.Repeat("11", 32), strings.Repeat("22", 32)
	for _, c := range []struct {
		kdf, params string
		err         error
	}{
		{"scrypt", `{"dklen":32,"n":16777216,"r":8,"p":1,"salt":""}`, ErrWork},
		{"scrypt", `{"dklen":32,"n":2097152,"r":8,"p":1,"salt":""}`, ErrWork},
		{"scrypt", `{"dklen":32,"n":262144,"r":8,"p":64,"salt":""}`, ErrWork},
		{"scrypt", `{"dklen":32,"n":2,"r":1,"p":1073741824,"salt":""}`, ErrWork},
		{"scrypt", `{"dklen":32,"n":2,"r":9223372036854775807,"p":9223372036854775807,"salt":""}`, ErrWork},
		{"scrypt", `{"dklen":32,"n":4611686018427387904,"r":4611686018427387904,"p":4,"salt":""}`, ErrWork},
		{"scrypt", `{"dklen":32,"n":262143,"r":8,"p":1,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":32,"n":1,"r":8,"p":1,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":32,"n":-2,"r":8,"p":1,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":32,"n":2,"r":0,"p":1,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":32,"n":2,"r":1,"p":0,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":1000000000,"n":2,"r":1,"p":1,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":16,"n":2,"r":1,"p":1,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":32,"n":"2","r":1,"p":1,"salt":""}`, ErrBadKey},
		{"scrypt", `{"dklen":32,"n":2,"r":1,"p":1,"salt":"0"}`, ErrBadKey},
		{"scrypt", `{"dklen":32,"n":2,"r":1,"p":1,"salt":"` + strings.Repeat("00", 257) + `"}`, ErrBadKey},
		{"pbkdf2", `{"dklen":32,"c":1000000000,"prf":"hmac-sha256","salt":""}`, ErrWork},
		{"pbkdf2", `{"dklen":32,"c":0,"prf":"hmac-sha256","salt":""}`, ErrBadKey},
		{"pbkdf2", `{"dklen":32,"c":1,"prf":"hmac-md5","salt":""}`, ErrBadKey},
		{"argon2", `{"dklen":32,"salt":""}`, ErrBadKey},
		// sound, but the password is wrong
		{"pbkdf2", `{"dklen":32,"c":1,"prf":"hmac-sha256","salt":""}`, ErrPassphrase},
	} {
		file := fmt.Sprintf(weakKeystore, "", "aes-128-ctr", iv, text, c.kdf, c.params, mac)
		began := time.Now()
		_, err := ParseKey([]byte(file), Hint{Password: pass()})
		if !errors.Is(err, c.err) {
			t.Errorf("%s %.80s: %v", c.kdf, c.params, err)
		}
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("%s %.80s took %s", c.kdf, c.params, took)
		}
	}
	sound := `{"dklen":32,"c":1,"prf":"hmac-sha256","salt":""}`
	for _, file := range []string{
		fmt.Sprintf(weakKeystore, "", "aes-256-gcm", iv, text, "pbkdf2", sound, mac),
		fmt.Sprintf(weakKeystore, "", "aes-128-ctr", iv[2:], text, "pbkdf2", sound, mac),
		fmt.Sprintf(weakKeystore, "", "aes-128-ctr", iv, text[2:], "pbkdf2", sound, mac),
		fmt.Sprintf(weakKeystore, "", "aes-128-ctr", iv, text, "pbkdf2", sound, mac[2:]),
		fmt.Sprintf(weakKeystore, "", "aes-128-ctr", iv, "zz"+text[2:], "pbkdf2", sound, mac),
	} {
		_, err := ParseKey([]byte(file), Hint{Password: pass()})
		want(t, err, ErrBadKey)
		shown(t, err, text)
	}
}

func TestAKeystoreFileThatNamesAnotherAddressIsRefused(t *testing.T) {
	v := vectors(t, "keystore.json")
	pbkdf2 := string(v.Files[1])
	own := "008aeeda4d805471df9b2a5b0f38a0c3bcba786b" // of the specification
	for address, ok := range map[string]bool{own: true, "0x" + own: true, strings.ToUpper(own): true, "": true,
		strings.Repeat("00", 20): false, "x": false} {
		file := strings.Replace(pbkdf2, "{", `{"address":"`+address+`",`, 1)
		out, err := ParseKey([]byte(file), Hint{Password: secret.New([]byte("testpassword"))})
		if ok != (err == nil) || !ok && !errors.Is(err, ErrBadKey) {
			t.Errorf("%q: %v", address, err)
		}
		out.Wipe()
	}
}

func TestNewMakesAKeyOfTheKind(t *testing.T) {
	for _, kind := range []Kind{EVM, Solana} {
		one, err := New(kind, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		two, err := New(kind, rand.Reader)
		if err != nil || bytes.Equal(one.Reveal(), two.Reveal()) || len(one.Reveal()) != 32 {
			t.Fatal("the same key twice", err)
		}
		if _, err := AddressOf(kind, one); err != nil {
			t.Error(err)
		}
		if _, err := New(kind, &short{left: 31}); !errors.Is(err, errEnded) {
			t.Error(err)
		}
	}
	if _, err := New(EVM, bytes.NewReader(make([]byte, 1<<10))); !errors.Is(err, ErrBadKey) {
		t.Error("a source of zeros gave a key", err)
	}
	if k, err := New(EVM, bytes.NewReader(append(make([]byte, 32), raw("second draw")...))); err != nil ||
		!bytes.Equal(k.Reveal(), raw("second draw")) {
		t.Error("a draw that is no key is not drawn again", err)
	}
	if _, err := New("paper", rand.Reader); !errors.Is(err, ErrBadKey) {
		t.Error(err)
	}
}
