package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/go-json-experiment/json"
)

// Version is the version of the file format.
const Version = 1

const (
	magic      = "COFFERJL"
	headerSize = len(magic) + 4 + sha256.Size + 4
	frameSize  = 4 + 1 + 4
	maxPayload = 24 << 20 // an answer of 4 MiB in base64 and everything around it
)

// record is one record. digest identifies it, see digestOf; offset is where it begins in the file it was read from.
type record struct {
	state  State
	entry  Entry
	digest [sha256.Size]byte
	offset int64
}

// The types of the records that are about the file and no operation; the others count up from 1.
const (
	kindAdopted = 255
	kindMoved   = 254
)

func header(networkID string) []byte {
	b := append([]byte(magic), binary.BigEndian.AppendUint32(nil, Version)...)
	sum := sha256.Sum256([]byte(networkID))
	b = append(b, sum[:]...)
	return binary.BigEndian.AppendUint32(b, checksum(b))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// encodeRecord returns the bytes of a record and its digest.
func encodeRecord(r record) ([]byte, [sha256.Size]byte, error) {
	var none [sha256.Size]byte
	payload, err := json.Marshal(r.entry)
	if err != nil {
		return nil, none, fmt.Errorf("journal: encode record: %w", err)
	}
	if len(payload) > maxPayload {
		return nil, none, fmt.Errorf("journal: a record of %d bytes is too large", len(payload))
	}
	kind, ok := kindOf(r.state)
	if !ok {
		return nil, none, fmt.Errorf("journal: unknown state %q", r.state)
	}
	return frame(kind, payload), digestOf(kind, payload, r.entry.Document), nil
}

// frame puts length, type and checksum around a payload.
func frame(kind byte, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, frameSize+len(payload)), uint32(len(payload)))
	b = append(append(b, kind), payload...)
	return binary.BigEndian.AppendUint32(b, checksum(b))
}

func kindOf(s State) (byte, bool) {
	switch s {
	case Adopted:
		return kindAdopted, true
	case Moved:
		return kindMoved, true
	}
	i := slices.Index(states(), s)
	return byte(i + 1), i >= 0
}

func stateOf(kind byte) (State, bool) {
	switch kind {
	case kindAdopted:
		return Adopted, true
	case kindMoved:
		return Moved, true
	}
	if kind < 1 || int(kind) > len(states()) {
		return "", false
	}
	return states()[kind-1], true
}

var (
	errShort   = errors.New("the record is cut short")
	errBroken  = errors.New("the record is damaged")
	errNetwork = errors.New("the journal belongs to another network")
	errVersion = errors.New("the journal was written by another version")
	errForeign = errors.New("the file is not a journal")
)

// decodeRecord reads the record at the start of b and returns it with its length in bytes.
func decodeRecord(b []byte) (record, int, error) {
	if len(b) < frameSize {
		return record{}, 0, errShort
	}
	n := binary.BigEndian.Uint32(b)
	state, known := stateOf(b[4])
	if n > maxPayload || !known {
		return record{}, 0, errBroken
	}
	size := frameSize + int(n)
	if len(b) < size {
		return record{}, 0, errShort
	}
	if checksum(b[:size-4]) != binary.BigEndian.Uint32(b[size-4:]) {
		return record{}, 0, errBroken
	}
	r := record{state: state}
	payload := b[5 : size-4]
	if err := json.Unmarshal(payload, &r.entry, json.RejectUnknownMembers(true)); err != nil {
		return record{}, 0, errBroken
	}
	if len(r.entry.Document) > 0 && r.entry.AnswerHash != "" {
		return record{}, 0, errBroken
	}
	r.digest = digestOf(b[4], payload, r.entry.Document)
	return r, size, nil
}

// content is what a file holds. good is the length of the sound part; a torn tail follows it, or damage.
type content struct {
	raw     []byte
	records []record
	good    int
	torn    bool
	damaged error
}

// decodeFile reads a whole file. An error means that the file is not a journal of this network and version; damage is
// reported in the content.
func decodeFile(b []byte, networkID string) (content, error) {
	want := header(networkID)
	if len(b) < headerSize {
		if bytes.HasPrefix(want, b) || allZero(b) {
			return content{torn: len(b) > 0}, nil
		}
		return content{}, errForeign
	}
	switch {
	case string(b[:len(magic)]) != magic:
		return content{}, errForeign
	case checksum(b[:headerSize-4]) != binary.BigEndian.Uint32(b[headerSize-4:]):
		return content{damaged: errors.New("the header is damaged")}, nil
	case binary.BigEndian.Uint32(b[len(magic):]) != Version:
		return content{}, errVersion
	}
	c := decodeRecords(b[headerSize:], headerSize)
	c.raw = b
	begun := bytes.Equal(b[:headerSize], want)
	if to := movedTo(c.records); to != networkID && (to != "" || !begun) {
		return content{}, errNetwork
	}
	return c, nil
}

// movedTo is the network that a journal has moved to last; "" when it never moved.
func movedTo(records []record) (network string) {
	for _, r := range records {
		if r.state == Moved {
			network = r.entry.Network
		}
	}
	return network
}

// decodeRecords reads the records of a part of a file that begins at offset from; good counts from the start of the
// file.
func decodeRecords(b []byte, from int) content {
	c := content{good: from}
	for at := 0; at < len(b); {
		r, n, err := decodeRecord(b[at:])
		if err != nil {
			c.torn = isTorn(b[at:], err)
			if !c.torn {
				c.damaged = fmt.Errorf("%w at byte %d", err, c.good)
			}
			break
		}
		r.offset = int64(c.good)
		c.records, c.good, at = append(c.records, r), c.good+n, at+n
	}
	return c
}

// isTorn tells a write that a crash cut short from damage. A torn record is the last thing in the file: it ends before
// its length says, or it ends in zeros because the file grew before all its data arrived; the text of a sound record
// holds no zero byte. It is damage when a sound record follows, or when the bytes are a sound record with a wrong
// length.
func isTorn(tail []byte, err error) bool {
	if allZero(tail) {
		return true
	}
	if !errors.Is(err, errShort) && !endsInZeros(tail) {
		return false
	}
	if len(tail) >= frameSize {
		fixed := append(binary.BigEndian.AppendUint32(nil, uint32(len(tail)-frameSize)), tail[4:]...)
		if _, _, err := decodeRecord(fixed); err == nil {
			return false
		}
	}
	for i := 1; i+frameSize < len(tail); i++ {
		if tail[i+5] != '{' {
			continue
		}
		if _, _, err := decodeRecord(tail[i:]); err == nil {
			return false
		}
	}
	return true
}

// endsInZeros reports whether the last record of a file of the length that it announces lacks at least its last data
// byte and its checksum.
func endsInZeros(tail []byte) bool {
	const missing = 1 + 4
	return len(tail) > frameSize && int64(binary.BigEndian.Uint32(tail)) == int64(len(tail)-frameSize) &&
		allZero(tail[len(tail)-missing:])
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
