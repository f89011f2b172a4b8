package vault

import (
	"crypto/ed25519"
	"strings"
)

// parseArray reads a JSON array of 64 numbers (seed and public key) or 32 (seed), without an encoder that would keep
// copies.
func parseArray(text []byte) ([]byte, error) {
	wrong := bad(FormSolanaArray, "expected [ ] with 64 or 32 whole numbers from 0 to 255 between commas")
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		return nil, wrong
	}
	all := make([]byte, 0, ed25519.PrivateKeySize)
	defer func() { clear(all[:cap(all)]) }()
	rest := text[1 : len(text)-1]
	for more := true; more; {
		var number int
		rest = skipSpace(rest)
		digits := 0
		for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && digits < 4 {
			number = number*10 + int(rest[0]-'0')
			rest = rest[1:]
			digits++
		}
		leadingZero := digits > 1 && number < []int{0, 0, 10, 100, 1000}[digits]
		if digits == 0 || digits > 3 || number > 255 || leadingZero || len(all) == cap(all) {
			return nil, wrong
		}
		all = append(all, byte(number))
		rest = skipSpace(rest)
		switch more = len(rest) > 0; {
		case more && rest[0] == ',':
			rest = rest[1:]
		case more:
			return nil, wrong
		}
	}
	if len(all) != ed25519.SeedSize && len(all) != ed25519.PrivateKeySize {
		return nil, wrong
	}
	return seedOf(FormSolanaArray, all)
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && strings.IndexByte(" \t\r\n", b[0]) >= 0 {
		b = b[1:]
	}
	return b
}

// seedOf copies the seed out of a seed or a key pair, whose halves have to belong together: a key pair with a foreign
// public half would sign for nobody.
func seedOf(form Form, all []byte) ([]byte, error) {
	seed := append(make([]byte, 0, ed25519.SeedSize), all[:ed25519.SeedSize]...)
	if len(all) == ed25519.SeedSize {
		return seed, nil
	}
	private := ed25519.NewKeyFromSeed(seed)
	defer clear(private)
	if string(private[ed25519.SeedSize:]) != string(all[ed25519.SeedSize:]) {
		clear(seed)
		return nil, bad(form, "the public half does not belong to the private half")
	}
	return seed, nil
}

const alphabet58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

func isBase58(b []byte) bool {
	for _, c := range b {
		if strings.IndexByte(alphabet58, c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

// parseBase58 reads a key pair of 64 bytes or a seed of 32.
func parseBase58(text []byte) ([]byte, error) {
	const longest = 88 // digits of 64 bytes
	if !isBase58(text) || len(text) > longest {
		return nil, bad(FormBase58, "expected a key pair of 64 bytes or a seed of 32, in base58")
	}
	for _, size := range []int{ed25519.SeedSize, ed25519.PrivateKeySize} {
		all, ok := decode58(text, size)
		if !ok {
			continue
		}
		defer clear(all)
		return seedOf(FormBase58, all)
	}
	return nil, bad(FormBase58, "expected a key pair of 64 bytes or a seed of 32, in base58")
}

// decode58 decodes base58 of exactly size bytes; each zero byte in front is one '1'. What it leaves behind is wiped.
func decode58(text []byte, size int) ([]byte, bool) {
	out := make([]byte, size)
	for _, c := range text {
		carry := strings.IndexByte(alphabet58, c)
		for i := size - 1; i >= 0; i-- {
			carry += 58 * int(out[i])
			out[i] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			clear(out)
			return nil, false
		}
	}
	zeros, ones := 0, 0
	for zeros < size && out[zeros] == 0 {
		zeros++
	}
	for ones < len(text) && text[ones] == '1' {
		ones++
	}
	if zeros != ones {
		clear(out)
		return nil, false
	}
	return out, true
}
