// Package secretscan finds secrets in what a program leaves behind: output, files, arguments, environments. It is for
// tests; Coffer does not link it.
//
// Promise: a Scanner finds a secret in each of its forms (see Forms of a value below), at any place and also when only
// its beginning or its end is there. Add refuses a secret of less than eight bytes, because chance finds it
// everywhere.
//
// The forms of a value: its bytes, the bytes in reverse, hex in both cases of both, with anything in front (so 0x
// too), base64 in both alphabets at each alignment, base58, a decimal number, a list of decimal bytes as Go and as
// JSON print it, escaped bytes, UTF-16. A value is the text that the user types; where that is hex or base58 the value
// is also the bytes that the text encodes.
//
// Sources: TH-K1, F10.
package secretscan

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// Least is the shortest secret, in bytes, that differs from what occurs by chance.
const Least = 8

// Hit is a secret that was found: its name, the form it has there, and where it begins, in bytes.
type Hit struct {
	Secret, Form string
	At           int
}

// String is one line without the secret itself.
func (h Hit) String() string { return fmt.Sprintf("%s as %s at byte %d", h.Secret, h.Form, h.At) }

type needle struct {
	secret, form string
	bytes        []byte
}

// Scanner knows the secrets to look for. The zero value knows none.
type Scanner struct {
	byHead map[uint16][]needle
}

// Add makes the scanner look for a secret.
func (s *Scanner) Add(name string, value []byte) error {
	if len(value) < Least {
		return fmt.Errorf("secret %q has %d bytes, expected at least %d", name, len(value), Least)
	}
	s.add(name, "", value)
	text := strings.TrimPrefix(string(value), "0x")
	if b, err := hex.DecodeString(text); err == nil && len(b) >= Least {
		s.add(name, "the bytes of its hex, ", b)
	}
	if b, ok := fromBase58(text); ok && len(b) >= 32 {
		s.add(name, "the bytes of its base58, ", b)
	}
	return nil
}

// add registers all forms of a value.
func (s *Scanner) add(name, of string, v []byte) {
	reversed := bytes.Clone(v)
	slices.Reverse(reversed)
	const text, list = 16, 32 // how much of a form is enough: each is at least 64 bits
	decimals, words, escaped := make([]string, len(v)), make([]string, len(v)), ""
	for i, b := range v {
		decimals[i], words[i] = strconv.Itoa(int(b)), fmt.Sprintf("%#x", b)
		escaped += fmt.Sprintf(`\x%02x`, b)
	}
	wide := make([]byte, 0, 2*len(v))
	for _, u := range utf16.Encode([]rune(string(v))) {
		wide = binary.LittleEndian.AppendUint16(wide, u)
	}
	for _, f := range []struct {
		name, text string
		enough     int
	}{
		{"bytes", string(v), 12}, {"reversed bytes", string(reversed), 12},
		{"hex", hex.EncodeToString(v), text}, {"HEX", fmt.Sprintf("%X", v), text},
		{"reversed hex", hex.EncodeToString(reversed), text}, {"reversed HEX", fmt.Sprintf("%X", reversed), text},
		{"base58", toBase58(v), text}, {"a number", new(big.Int).SetBytes(v).String(), text},
		{"a list", strings.Join(decimals, " "), list}, {"a JSON list", strings.Join(decimals, ","), list},
		{"a list with commas", strings.Join(decimals, ", "), list}, {"hex words", strings.Join(words, ", "), list},
		{"escaped bytes", escaped, list}, {"UTF-16", string(wide), text},
	} {
		s.take(name, of+f.name, []byte(f.text), f.enough)
	}
	for shift := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			// The characters at both ends also hold bits of the neighbours.
			in := append(make([]byte, shift), v...)
			b := enc.EncodeToString(in)
			s.take(name, fmt.Sprintf("%sbase64 at %d", of, shift), []byte(b[(shift*8+5)/6:len(in)*8/6]), text)
		}
	}
}

// take registers the beginning and the end of a form.
func (s *Scanner) take(name, form string, b []byte, enough int) {
	if len(b) < Least {
		return
	}
	if s.byHead == nil {
		s.byHead = map[uint16][]needle{}
	}
	for _, part := range [][]byte{b[:min(enough, len(b))], b[max(len(b)-enough, 0):]} {
		head := binary.BigEndian.Uint16(part)
		s.byHead[head] = append(s.byHead[head], needle{name, form, part})
	}
}

// Find lists the secrets in data, each form once.
func (s *Scanner) Find(data []byte) []Hit {
	var heads [1 << 16]bool
	for h := range s.byHead {
		heads[h] = true
	}
	var hits []Hit
	seen := map[string]bool{}
	for i := 0; i+1 < len(data); i++ {
		head := uint16(data[i])<<8 | uint16(data[i+1])
		if !heads[head] {
			continue
		}
		for _, n := range s.byHead[head] {
			if key := n.secret + "\x00" + n.form; bytes.HasPrefix(data[i:], n.bytes) && !seen[key] {
				seen[key] = true
				hits = append(hits, Hit{n.secret, n.form, i})
			}
		}
	}
	return hits
}

// Tree lists the secrets in the files below dir and in their names, by path, and counts the files. Sockets and pipes
// hold nothing.
func (s *Scanner) Tree(dir string) (hits map[string][]Hit, files int, err error) {
	hits = map[string][]Hit{}
	root := os.DirFS(dir)
	err = fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		found := s.Find([]byte(d.Name()))
		if d.Type().IsRegular() {
			b, err := fs.ReadFile(root, path)
			if err != nil {
				return err
			}
			files++
			found = append(found, s.Find(b)...)
		}
		if len(found) > 0 {
			hits[filepath.Join(dir, path)] = found
		}
		return nil
	})
	return hits, files, err
}

const alphabet58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

func toBase58(b []byte) string {
	v, base, digit := new(big.Int).SetBytes(b), big.NewInt(58), new(big.Int)
	var out []byte
	for v.Sign() > 0 {
		v.DivMod(v, base, digit)
		out = append(out, alphabet58[digit.Int64()])
	}
	for i := 0; i < len(b) && b[i] == 0; i++ {
		out = append(out, alphabet58[0])
	}
	slices.Reverse(out)
	return string(out)
}

func fromBase58(s string) ([]byte, bool) {
	v := new(big.Int)
	for _, c := range s {
		digit := strings.IndexRune(alphabet58, c)
		if digit < 0 {
			return nil, false
		}
		v.Add(v.Mul(v, big.NewInt(58)), big.NewInt(int64(digit)))
	}
	zeros := len(s) - len(strings.TrimLeft(s, alphabet58[:1]))
	return append(make([]byte, zeros), v.Bytes()...), true
}
