package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/go-json-experiment/json/jsontext"
)

// digestOf identifies a record: SHA-256 of its type and its payload, in which the hash of a document takes the
// document's place. Dropping a document (compact) therefore changes no digest, and what was anchored before is still
// the head of the same records.
func digestOf(kind byte, payload, document []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte{kind})
	h.Write(lean(payload, document))
	return [sha256.Size]byte(h.Sum(nil))
}

// lean is the payload of a record with the hash of its document in place of the document. Every other byte is as it
// was.
func lean(payload, document []byte) []byte {
	if len(document) == 0 {
		return payload
	}
	from, to := memberOf(payload, `"document"`)
	if from < 0 {
		return payload
	}
	sum := sha256.Sum256(document)
	out := append(make([]byte, 0, len(payload)), payload[:from]...)
	out = append(out, `"answerHash":"`+hex.EncodeToString(sum[:])+`"`...)
	return append(out, payload[to:]...)
}

// memberOf finds a member of a JSON object, name and value; -1 when it is not there.
func memberOf(payload []byte, name string) (from, to int) {
	d := jsontext.NewDecoder(bytes.NewReader(payload))
	if _, err := d.ReadToken(); err != nil {
		return -1, -1
	}
	for d.PeekKind() == '"' {
		v, err := d.ReadValue()
		if err != nil {
			return -1, -1
		}
		found, start := string(v) == name, int(d.InputOffset())-len(v)
		if err := d.SkipValue(); err != nil {
			return -1, -1
		}
		if found {
			return start, int(d.InputOffset())
		}
	}
	return -1, -1
}

// sum is a running hash over the digests of all records up to one.
type sum [sha256.Size]byte

// with is the running hash after one more record.
func (s sum) with(digest [sha256.Size]byte) sum {
	return sha256.Sum256(append(append(make([]byte, 0, 2*sha256.Size), s[:]...), digest[:]...))
}
