package access

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"strings"
)

// The text of a key is coffer_<id>_<random>: a prefix by which a scanner finds a key that leaked, the id, and 256
// random bits in lower-case base 32. Clients must not look into it.
const (
	textPrefix  = "coffer_"
	idBytes     = 5
	idLength    = 8
	randomBytes = 32
	randomChars = 52
	textLength  = len(textPrefix) + idLength + 1 + randomChars
)

// alphabet has no letter or digit that is taken for another one.
const alphabet = "abcdefghijkmnpqrstuvwxyz23456789"

var encoding = base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)

// newID draws the id of a key.
func newID(random io.Reader) (string, error) {
	var b [idBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw the id of a key: %w", err)
	}
	return encoding.EncodeToString(b[:]), nil
}

// newText draws the secret part of a key and returns its text and digest.
func newText(random io.Reader, id string) (string, digest, error) {
	var b [randomBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", digest{}, fmt.Errorf("draw a key: %w", err)
	}
	text := textPrefix + id + "_" + encoding.EncodeToString(b[:])
	return text, sha256.Sum256([]byte(text)), nil
}

// digest is all that is kept of a key.
type digest = [sha256.Size]byte

// IDOf reads the id from the text of a key; false when it does not have the form of one. The id is no secret, the rest
// of the text is.
func IDOf(key string) (string, bool) {
	if len(key) != textLength || !strings.HasPrefix(key, textPrefix) || key[len(textPrefix)+idLength] != '_' {
		return "", false
	}
	id, random := key[len(textPrefix):len(textPrefix)+idLength], key[textLength-randomChars:]
	if !spelled(id) || !spelled(random) {
		return "", false
	}
	return id, true
}

func spelled(s string) bool {
	for i := range len(s) {
		if strings.IndexByte(alphabet, s[i]) < 0 {
			return false
		}
	}
	return true
}

// Redact takes the secret part of every key, or of what begins like one, out of a text. The id stays.
func Redact(s string) string {
	for at := 0; ; {
		i := strings.Index(s[at:], textPrefix)
		if i < 0 {
			return s
		}
		secret := at + i + len(textPrefix) + idLength + 1
		if secret > len(s) || s[secret-1] != '_' || !spelled(s[secret-1-idLength:secret-1]) {
			at += i + len(textPrefix)
			continue
		}
		end := secret
		for end < len(s) && spelled(s[end:end+1]) {
			end++
		}
		if at = secret; end-secret >= leastSecret {
			s = s[:secret] + redacted + s[end:]
			at = secret + len(redacted)
		}
	}
}

const (
	redacted    = "[redacted]"
	leastSecret = 12 // characters: fewer tell little, and words must not be taken for a key
)
