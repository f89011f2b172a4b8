package vault

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"coffer/api/secret"
)

// keysAreSound checks what every successful parse promises.
func keysAreSound(t *testing.T, out Imported) {
	t.Helper()
	if len(out.Keys) == 0 {
		t.Fatal("success without a key")
	}
	for _, k := range out.Keys {
		if address, err := AddressOf(k.Kind, k.Key); err != nil || address != k.Address {
			t.Fatalf("%s %s: %v", k.Kind, k.Address, err)
		}
	}
	out.Wipe()
}

func FuzzParseKey(f *testing.F) {
	f.Add([]byte("0x"+hex.EncodeToString(raw("k"))), "", "")
	f.Add([]byte(array(raw("k"))), "solana", "")
	f.Add([]byte(encode58(raw("k"))), "", "")
	f.Add([]byte("abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"),
		"evm", "m/44'/60'/0'/0/0")
	f.Add(keystoreSeed(f), "", "")
	f.Fuzz(func(t *testing.T, text []byte, kind, path string) {
		before := bytes.Clone(text)
		// without a password, so that no work is done for a keystore file
		out, err := ParseKey(text, Hint{Kind: Kind(kind), Path: path})
		if !bytes.Equal(text, before) {
			t.Fatal("the text was changed")
		}
		if err == nil {
			keysAreSound(t, out)
			return
		}
		var why *ImportError
		if !errors.As(err, &why) {
			t.Fatalf("%T", err)
		}
		if len(text) >= 16 && bytes.Contains([]byte(err.Error()), bytes.TrimSpace(text)) {
			t.Fatal("the error shows the text")
		}
	})
}

func keystoreSeed(f *testing.F) []byte {
	f.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "keystore.json"))
	if err != nil {
		f.Fatal(err)
	}
	var v vectorFile
	if err := json.Unmarshal(b, &v); err != nil {
		f.Fatal(err)
	}
	return v.Files[1]
}

func FuzzParseKeystore(f *testing.F) {
	f.Add(keystoreSeed(f))
	f.Add([]byte(
		`{"version":3,"crypto":{"cipher":"aes-128-ctr","kdf":"scrypt","kdfparams":{"n":2,"r":1,"p":1,"dklen":32}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var k keystoreV3
		if p := k.Crypto.KDFParams; json.Unmarshal(text, &k) == nil {
			p = k.Crypto.KDFParams
			if p.N > 1<<10 || p.R > 8 || p.P > 8 || p.C > 1<<10 { // sound, and too slow for a fuzzer
				return
			}
		}
		if key, err := parseKeystore(text, secret.New([]byte("pw"))); err == nil && len(key) != keySize {
			t.Fatal(len(key))
		}
	})
}

func FuzzDecode58(f *testing.F) {
	f.Add([]byte(encode58(raw("k"))))
	f.Add([]byte("11111111111111111111111111111111"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if !isBase58(text) || len(text) > 100 {
			return
		}
		for _, size := range []int{32, 64} {
			if b, ok := decode58(text, size); ok && encode58(b) != string(text) {
				t.Fatalf("%s has two spellings", text)
			}
		}
	})
}

func FuzzParseArray(f *testing.F) {
	f.Add([]byte(array(raw("k"))))
	f.Add([]byte("[0, 255,1]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := parseArray(text)
		if err != nil {
			return
		}
		var numbers []int // whatever is accepted is JSON and means the same there
		if json.Unmarshal(text, &numbers) != nil || len(numbers) < 32 {
			t.Fatalf("%q is no JSON", text)
		}
		for i, c := range key {
			if numbers[i] != int(c) {
				t.Fatalf("byte %d is %d in JSON and %d here", i, numbers[i], c)
			}
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, p := range []string{"m", "m/44'/60'/0'/0/0", "m/2147483647h"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if steps, err := parsePath(path); err == nil && len(steps) > maxSteps {
			t.Fatal(len(steps))
		}
	})
}

func FuzzStoredForms(f *testing.F) {
	f.Add([]byte(`{"coffer_vault":1,"network":"0x","wrap":"none","key":"AAAA","index":""}`))
	f.Add([]byte(`{"coffer_backup":1,"network":"` + here + `","created":0,"items":[]}`))
	record, err := encodeRecord(meta{Kind: EVM, Network: here}, raw("k"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(record)
	k, err := deriveKeys(raw("master"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := parseHead(b); err == nil {
			if _, err := k.openIndex(h); err == nil {
				t.Fatal("an index was forged")
			}
		}
		if parsed, err := parseBackup(b); err == nil && !parsed.sound() {
			t.Fatal("an unsound backup")
		}
		if _, value, err := decodeRecord(b); err == nil && len(value) > len(b) {
			t.Fatal("longer than it is")
		}
		if _, err := k.open64(here, "name", b); err == nil {
			t.Fatal("a seal was forged")
		}
	})
}

func FuzzDecrypt(f *testing.F) {
	doc, err := encrypt([]byte("plain"), pass(), 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(doc)
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.Contains(b, []byte("scrypt")) && !bytes.Contains(b, []byte(" 1\n")) {
			return // sound headers that ask for more work are too slow for a fuzzer
		}
		if plain, err := decrypt(b, pass()); err == nil && string(plain) != "plain" {
			t.Fatalf("another document opened: %q", plain)
		}
	})
}
