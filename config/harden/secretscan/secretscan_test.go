package secretscan

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"coffer/api/caip"
)

// noise is n bytes that hold no secret.
func noise(n int) []byte {
	var out []byte
	for i := 0; len(out) < n; i++ {
		h := sha256.Sum256(fmt.Appendf(nil, "noise %d", i))
		out = append(out, h[:]...)
	}
	return out[:n]
}

func backwards(b []byte) []byte {
	out := bytes.Clone(b)
	slices.Reverse(out)
	return out
}

// forms are the ways in which a program may leak bytes, written without the package under test.
func forms(t *testing.T, v []byte) map[string]string {
	t.Helper()
	list := make([]int, len(v))
	for i, b := range v {
		list[i] = int(b)
	}
	array, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	var wide strings.Builder
	for _, u := range utf16.Encode([]rune(string(v))) {
		wide.Write([]byte{byte(u), byte(u >> 8)})
	}
	out := map[string]string{
		"raw": string(v), "reversed": string(backwards(v)), "hex": hex.EncodeToString(v),
		"0x": "0x" + hex.EncodeToString(v), "HEX": fmt.Sprintf("%X", v),
		"reversed 0x": "0x" + hex.EncodeToString(backwards(v)), "reversed HEX": fmt.Sprintf("%X", backwards(v)),
		"base58": toBase58(v),
		"number": new(big.Int).SetBytes(v).String(), "%v": fmt.Sprint(list), "%#v": fmt.Sprintf("%#v", v),
		"JSON": string(array), "UTF-16": wide.String(),
		"escaped":     `\x` + strings.ReplaceAll(fmt.Sprintf("% x", v), " ", `\x`),
		"with commas": strings.ReplaceAll(string(array), ",", ", "),
	}
	for before := range 4 {
		for name, enc := range map[string]*base64.Encoding{
			"base64": base64.StdEncoding, "base64url": base64.URLEncoding, "raw base64": base64.RawStdEncoding,
			"raw base64url": base64.RawURLEncoding,
		} {
			out[fmt.Sprint(name, " after ", before)] = enc.EncodeToString(slices.Concat(noise(before), v,
				[]byte("tail")))
		}
	}
	return out
}

func TestTH_K1_EveryFormIsFoundWhereverItStands(t *testing.T) {
	secrets := map[string][]byte{
		"text":   []byte("sentinel passphrase 7f1c, with spaces & signs"),
		"binary": noise(1000)[968:],
		"hex":    []byte("0x" + hex.EncodeToString(noise(2000)[1968:])),
		"base58": []byte(toBase58(noise(3000)[2936:])),
	}
	around := bytes.ToLower(noise(500))
	for name, v := range secrets {
		var s Scanner
		if err := s.Add(name, v); err != nil {
			t.Fatal(err)
		}
		values := map[string][]byte{"itself": v}
		switch name {
		case "hex":
			values["its bytes"] = noise(2000)[1968:]
		case "base58":
			values["its bytes"] = noise(3000)[2936:]
		}
		for of, value := range values {
			for form, b := range forms(t, value) {
				if len(s.Find(slices.Concat(around, []byte(b), around))) == 0 {
					t.Errorf("%s, %s: %s is not found", name, of, form)
				}
				for _, part := range []string{b[:len(b)*2/3], b[len(b)/3:]} {
					if len(s.Find(slices.Concat(around, []byte(part), around))) == 0 {
						t.Errorf("%s, %s: a part of %s is not found", name, of, form)
					}
				}
			}
		}
		if hits := s.Find(noise(900)); len(hits) > 0 {
			t.Errorf("%s is found where it is not: %v", name, hits)
		}
	}
}

func TestBase58IsSolanas(t *testing.T) {
	for _, key := range [][32]byte{{}, {0, 0, 1}, [32]byte(noise(32)), {0xff, 31: 1}} {
		text := caip.FormatSolanaKey(key)
		if b, ok := fromBase58(text); toBase58(key[:]) != text || !ok || !bytes.Equal(b, key[:]) {
			t.Errorf("%x: %s, %x; expected %s", key, toBase58(key[:]), b, text)
		}
	}
	if _, ok := fromBase58("0OIl"); ok {
		t.Error("letters outside the alphabet are taken")
	}
}

func TestHitsSayWhatAndWhereWithoutTheSecret(t *testing.T) {
	var s Scanner
	const word = "sentinel-5f2c-91ab"
	if err := s.Add("API key", []byte(word)); err != nil {
		t.Fatal(err)
	}
	hits := s.Find([]byte("0123456789" + word + word))
	if len(hits) != 1 || hits[0].At != 10 || strings.Contains(hits[0].String(), "5f2c") ||
		!strings.Contains(hits[0].String(), "API key as bytes at byte 10") {
		t.Errorf("%v", hits)
	}
	if (&Scanner{}).Find([]byte(word)) != nil {
		t.Error("a scanner without secrets finds something")
	}
	if err := s.Add("short", []byte("1234567")); err == nil {
		t.Error("a secret of seven bytes is taken up")
	}
}

func TestTreesAreSearchedInFilesAndNames(t *testing.T) {
	var s Scanner
	const word = "sentinel-5f2c-91ab"
	if err := s.Add("key", []byte(word)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{"a/clean": "nothing", "a/b/in": "… " + word, word: "nothing"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hits, files, err := s.Tree(dir)
	if err != nil || files != 3 || len(hits) != 2 || len(hits[filepath.Join(dir, "a/b/in")]) != 1 ||
		len(hits[filepath.Join(dir, word)]) != 1 {
		t.Errorf("%d files, %v, %v", files, hits, err)
	}
	if _, _, err := s.Tree(filepath.Join(dir, "none")); err == nil {
		t.Error("a directory that is not there passes for clean")
	}
}
