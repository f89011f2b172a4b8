package quotestore

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"coffer/api"
)

// cursor is the content of a continuation: the moment whose view is paged through, the stamp of the last record shown,
// and begin and end of its life. The begin counts too, as the book may be opened with another lifetime before the end.
type cursor struct {
	snapshot uint64 // stamp
	last     uint64 // stamp
	begun    uint64 // Unix seconds
	expires  uint64 // Unix seconds
}

const (
	cursorVersion = 2
	cursorBody    = 1 + 1 + 4*8
	cursorTag     = 16
	cursorText    = ((cursorBody+cursorTag)*8 + 5) / 6 // base64 without padding
)

// seal makes the opaque text. The tag also covers the user, the order and in a private book the project, so a cursor
// answers one question only.
func (b *Book) seal(c cursor, q HistoryQuery) string {
	raw := append(c.encode(q), b.tag(c.encode(q), q)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

func (c cursor) encode(q HistoryQuery) []byte {
	order := byte('c')
	if q.SortBy == SortUpdated {
		order = 'u'
	}
	raw := []byte{cursorVersion, order}
	raw = binary.BigEndian.AppendUint64(raw, c.snapshot)
	raw = binary.BigEndian.AppendUint64(raw, c.last)
	raw = binary.BigEndian.AppendUint64(raw, c.begun)
	return binary.BigEndian.AppendUint64(raw, c.expires)
}

func (b *Book) tag(body []byte, q HistoryQuery) []byte {
	mac := hmac.New(sha256.New, b.cursorKey)
	mac.Write(body)
	mac.Write(hashOf(q.User))
	mac.Write([]byte(q.bound))
	return mac.Sum(nil)[:cursorTag]
}

// unseal reads a continuation that seal made for the same user and order.
func (b *Book) unseal(s string, q HistoryQuery) (cursor, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(s)
	// the decoder passes over line ends
	if err != nil || len(s) != cursorText || len(raw) != cursorBody+cursorTag || raw[0] != cursorVersion {
		return cursor{}, cursorError("an altered or foreign value")
	}
	body := raw[:cursorBody]
	c := cursor{
		snapshot: binary.BigEndian.Uint64(body[2:]),
		last:     binary.BigEndian.Uint64(body[10:]),
		begun:    binary.BigEndian.Uint64(body[18:]),
		expires:  binary.BigEndian.Uint64(body[26:]),
	}
	if !hmac.Equal(raw[cursorBody:], b.tag(body, q)) || string(body) != string(c.encode(q)) {
		return cursor{}, cursorError("an altered value, or one of another user, order or project")
	}
	if now := b.clock(); uint64(now.Unix()) > c.expires || uint64(now.Add(-b.lifetime).Unix()) > c.begun {
		return cursor{}, cursorError("one that has expired: begin again without continuation")
	}
	return c, nil
}

func cursorError(got string) error {
	return api.Invalid("continuation", "a continuation of an earlier page of the same history, as it was answered", got)
}
