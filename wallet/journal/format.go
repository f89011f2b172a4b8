package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

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

type record struct {
	state State
	entry Entry
}

func header(networkID string) []byte {
	b := append([]byte(magic), binary.BigEndian.AppendUint32(nil, Version)...)
	sum := sha256.Sum256([]byte(networkID))
	b = append(b, sum[:]...)
	return binary.BigEndian.AppendUint32(b, checksum(b))
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func encodeRecord(r record) ([]byte, error) {
	payload, err := json.Marshal(r.entry)
	if err != nil {
		return nil, fmt.Errorf("journal: encode record: %w", err)
	}
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("journal: a record of %d bytes is too large", len(payload))
	}
	for i, s := range states() {
		if s == r.state {
			b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
			b = append(append(b, byte(i+1)), payload...)
			return binary.BigEndian.AppendUint32(b, checksum(b)), nil
		}
	}
	return nil, fmt.Errorf("journal: unknown state %q", r.state)
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
	kind := int(b[4])
	if n > maxPayload || kind < 1 || kind > len(states()) {
		return record{}, 0, errBroken
	}
	size := frameSize + int(n)
	if len(b) < size {
		return record{}, 0, errShort
	}
	if checksum(b[:size-4]) != binary.BigEndian.Uint32(b[size-4:]) {
		return record{}, 0, errBroken
	}
	r := record{state: states()[kind-1]}
	if err := json.Unmarshal(b[5:size-4], &r.entry, json.RejectUnknownMembers(true)); err != nil {
		return record{}, 0, errBroken
	}
	return r, size, nil
}

// content is what a file holds. good is the length of the sound part; a torn tail follows it, or damage.
type content struct {
	records []record
	good    int
	torn    bool
	damaged error
}

// decodeFile reads a whole file. An error means that the file is not a journal of this network and version; damage is reported in the content.
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
	case !bytes.Equal(b[:headerSize], want):
		return content{}, errNetwork
	}
	c := content{good: headerSize}
	for c.good < len(b) {
		r, n, err := decodeRecord(b[c.good:])
		if err != nil {
			c.torn = isTorn(b[c.good:], err)
			if !c.torn {
				c.damaged = fmt.Errorf("%w at byte %d", err, c.good)
			}
			break
		}
		c.records, c.good = append(c.records, r), c.good+n
	}
	return c, nil
}

// isTorn tells a write that a crash cut short from damage. A torn record is the last thing in the file: it ends before its length says, or it ends in zeros
// because the file grew before all its data arrived; the text of a sound record holds no zero byte. It is damage when a sound record follows, or when the
// bytes are a sound record with a wrong length.
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

// endsInZeros reports whether the last record of a file of the length that it announces lacks at least its last data byte and its checksum.
func endsInZeros(tail []byte) bool {
	const missing = 1 + 4
	return len(tail) > frameSize && int64(binary.BigEndian.Uint32(tail)) == int64(len(tail)-frameSize) && allZero(tail[len(tail)-missing:])
}

func allZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }
