package vault

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed" // english.txt
	"fmt"
	"sort"
	"strings"

	"golang.org/x/crypto/pbkdf2"
	"golang.org/x/text/unicode/norm"

	"coffer/api/secret"
)

// english is the English list of BIP-39 in its order, which is the alphabet's, a word a line. The library with this
// list splits the lists of all languages whenever the program starts.
//
//go:embed english.txt
var english string

// parseMnemonic reads BIP-39 words of the English list and derives the keys that the hint asks for. The checksum has to
// be right, so a word that was mistyped as another one is found 15 times in 16 or better.
func parseMnemonic(text []byte, hint Hint) (Imported, error) {
	words, err := checkWords(text)
	defer clear(words)
	if err != nil {
		return Imported{}, err
	}
	salt := append([]byte("mnemonic"), norm.NFKD.Bytes(hint.Password.Reveal())...)
	defer clear(salt)
	seed := pbkdf2.Key(words, salt, 2048, 64, sha512.New)
	defer clear(seed)

	out := Imported{Form: FormMnemonic}
	for _, kind := range wantedKinds(hint) {
		path := hint.Path
		if path == "" {
			path = defaultPath(kind)
		}
		key, err := derive(kind, seed, path)
		if err != nil {
			out.Wipe()
			return Imported{}, err
		}
		address, err := addressOf(kind, key)
		if err != nil {
			clear(key)
			out.Wipe()
			return Imported{}, bad(FormMnemonic, "this path leads to no key; use the next one")
		}
		out.Keys = append(out.Keys, Candidate{Kind: kind, Address: address, Path: path, Key: secret.New(key)})
	}
	return out, nil
}

// wantedKinds: the kind that was named, the one whose coin type the path carries, or both.
func wantedKinds(h Hint) []Kind {
	switch {
	case h.Kind != "":
		return []Kind{h.Kind}
	case h.Path == "":
		return []Kind{EVM, Solana}
	}
	if steps, err := parsePath(h.Path); err == nil && len(steps) > 1 && steps[1] == hardened|coinSolana {
		return []Kind{Solana}
	}
	return []Kind{EVM}
}

// checkWords returns the words in lower case with one space between them, when their number, each word and the checksum
// are right. The caller wipes it.
func checkWords(text []byte) ([]byte, error) {
	const perWord = 11 // bits
	parts := bytes.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' })
	if n := len(parts); n%3 != 0 || n < 12 || n > 24 {
		return nil, bad(FormMnemonic, "a mnemonic has 12, 15, 18, 21 or 24 words")
	}
	list := strings.Fields(english)
	out := make([]byte, 0, len(text)+len(parts))
	bits := make([]byte, (len(parts)*perWord+7)/8)
	defer clear(bits)
	for i, part := range parts {
		if i > 0 {
			out = append(out, ' ')
		}
		start := len(out)
		for _, c := range part {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			out = append(out, c)
		}
		number, ok := wordNumber(list, out[start:])
		if !ok {
			return out, bad(FormMnemonic, fmt.Sprintf("word %d is not in the English list", i+1))
		}
		for b := range perWord {
			if number>>(perWord-1-b)&1 == 1 {
				at := i*perWord + b
				bits[at/8] |= 0x80 >> (at % 8)
			}
		}
	}
	entropy := len(parts) * perWord / 33 * 4 // bytes: 32 of 33 bits
	sum := sha256.Sum256(bits[:entropy])
	defer clear(sum[:])
	checksum := len(parts) / 3 // bits
	for b := range checksum {
		mask := byte(0x80 >> b)
		if (sum[0]^bits[entropy])&mask != 0 {
			return out, bad(FormMnemonic, "the checksum is wrong: a word is missing, mistyped or out of order")
		}
	}
	return out, nil
}

// wordNumber finds a word in the list, which is sorted; comparing makes no copy of the word.
func wordNumber(list []string, word []byte) (int, bool) {
	i := sort.Search(len(list), func(i int) bool { return list[i] >= string(word) })
	return i, i < len(list) && list[i] == string(word)
}
