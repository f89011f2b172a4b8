// Package qr encodes a text as a QR code (ISO/IEC 18004, model 2) and draws it with characters, for the screens and for
// the commands.
//
// Promise: a code is the smallest that holds the text whole, at error correction level M; a text that fits none is
// ErrLong. What is drawn is dark on light on every kind of terminal, with the quiet zone that the caller gives it.
package qr

import (
	"errors"
	"strings"
)

// Code is a square of dark and light modules, without its quiet zone. It is immutable. New makes it.
type Code struct {
	size int
	grid []qrModule
}

// ErrLong says that a text does not fit into the largest supported code, version 10.
var ErrLong = errors.New("the text is too long for a QR code of this size")

type qrModule uint8

const (
	qrDark  qrModule = 1 << iota // the module is dark
	qrFixed                      // it is part of a pattern, not data
)

// qrVersion describes the blocks of one version at level M: short blocks of data bytes first, then long ones with one
// byte more.
type qrVersion struct {
	check int // check bytes of each block
	data  int // data bytes of a short block
	short int // number of short blocks
	long  int // number of long blocks
	align []int
}

const qrVersions = 10

// qrTable returns the row of a version, 1 to qrVersions (ISO/IEC 18004, tables 9 and E.1).
func qrTable(version int) qrVersion {
	return [qrVersions]qrVersion{
		{10, 16, 1, 0, nil},
		{16, 28, 1, 0, []int{6, 18}},
		{26, 44, 1, 0, []int{6, 22}},
		{18, 32, 2, 0, []int{6, 26}},
		{24, 43, 2, 0, []int{6, 30}},
		{16, 27, 4, 0, []int{6, 34}},
		{18, 31, 4, 0, []int{6, 22, 38}},
		{22, 38, 2, 2, []int{6, 24, 42}},
		{22, 36, 3, 2, []int{6, 26, 46}},
		{26, 43, 4, 1, []int{6, 28, 50}},
	}[version-1]
}

// New encodes text in the smallest version that holds it: in alphanumeric mode when every character allows it, else
// as bytes. ErrLong is the only error.
func New(text string) (Code, error) {
	for version := 1; version <= qrVersions; version++ {
		t := qrTable(version)
		// the bytes of data that the version holds
		data, ok := qrData(text, version, t.data*(t.short+t.long)+t.long)
		if !ok {
			continue
		}
		q := Code{size: 17 + 4*version}
		q.grid = make([]qrModule, q.size*q.size)
		q.patterns(version, t)
		q.place(qrInterleave(data, t))
		return q.bestMask(), nil
	}
	return Code{}, ErrLong
}

// Size is the number of modules on a side.
func (q Code) Size() int { return q.size }

// Dark reports whether the module in column x and row y is dark. Modules outside are light.
func (q Code) Dark(x, y int) bool {
	return x >= 0 && y >= 0 && x < q.size && y < q.size && q.grid[y*q.size+x]&qrDark != 0
}

const qrAlphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:"

// qrBits collects bits, the highest first.
type qrBits struct {
	bytes []byte
	n     int
}

func (b *qrBits) add(v, count int) {
	for i := count - 1; i >= 0; i-- {
		if b.n%8 == 0 {
			b.bytes = append(b.bytes, 0)
		}
		if v>>i&1 == 1 {
			b.bytes[b.n/8] |= 0x80 >> (b.n % 8)
		}
		b.n++
	}
}

// qrData writes mode, length, text, end mark and padding into room bytes; false when the text does not fit.
func qrData(text string, version, room int) ([]byte, bool) {
	var b qrBits
	if strings.Trim(text, qrAlphanumeric) == "" {
		qrAddAlphanumeric(&b, text, version)
	} else {
		qrAddBytes(&b, text, version)
	}
	if b.n > room*8 {
		return nil, false
	}
	b.add(0, min(4, room*8-b.n))
	b.add(0, (8-b.n%8)%8)
	for pad := 0xec; len(b.bytes) < room; pad ^= 0xec ^ 0x11 {
		b.add(pad, 8)
	}
	return b.bytes, true
}

func qrAddAlphanumeric(b *qrBits, text string, version int) {
	b.add(0b0010, 4)
	count := 9
	if version >= 10 {
		count = 11
	}
	b.add(len(text), count)
	code := func(i int) int { return strings.IndexByte(qrAlphanumeric, text[i]) }
	i := 0
	for ; i+1 < len(text); i += 2 {
		b.add(code(i)*45+code(i+1), 11)
	}
	if i < len(text) {
		b.add(code(i), 6)
	}
}

func qrAddBytes(b *qrBits, text string, version int) {
	b.add(0b0100, 4)
	count := 8
	if version >= 10 {
		count = 16
	}
	b.add(len(text), count)
	for i := range len(text) {
		b.add(int(text[i]), 8)
	}
}

// qrInterleave splits data into blocks, gives each its check bytes, and interleaves the blocks byte by byte.
func qrInterleave(data []byte, t qrVersion) []byte {
	var blocks, checks [][]byte
	generator := qrGenerator(t.check)
	for i := range t.short + t.long {
		n := t.data
		if i >= t.short {
			n++
		}
		blocks = append(blocks, data[:n])
		checks = append(checks, qrCheck(data[:n], generator))
		data = data[n:]
	}
	var out []byte
	for i := range t.data + 1 {
		for _, b := range blocks {
			if i < len(b) {
				out = append(out, b[i])
			}
		}
	}
	for i := range t.check {
		for _, c := range checks {
			out = append(out, c[i])
		}
	}
	return out
}

// qrTimes multiplies in the field of 256 elements with the polynomial x^8+x^4+x^3+x^2+1.
func qrTimes(a, b byte) byte {
	p := 0
	for i := 7; i >= 0; i-- {
		p <<= 1
		if p&0x100 != 0 {
			p ^= 0x11d
		}
		if b>>i&1 == 1 {
			p ^= int(a)
		}
	}
	return byte(p)
}

// qrGenerator is the polynomial with the roots 2^0 to 2^(n-1), without its leading 1, highest power first.
func qrGenerator(n int) []byte {
	g := make([]byte, n)
	g[n-1] = 1
	root := byte(1)
	for range n {
		for i := range g {
			g[i] = qrTimes(g[i], root)
			if i+1 < n {
				g[i] ^= g[i+1]
			}
		}
		root = qrTimes(root, 2)
	}
	return g
}

// qrCheck is the remainder of data divided by the generator: the check bytes of a Reed-Solomon block.
func qrCheck(data, generator []byte) []byte {
	rest := make([]byte, len(generator))
	for _, d := range data {
		factor := d ^ rest[0]
		copy(rest, rest[1:])
		rest[len(rest)-1] = 0
		for i, g := range generator {
			rest[i] ^= qrTimes(g, factor)
		}
	}
	return rest
}
