package word_test

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/op/internal/word"
)

func TestReaderReturnsWhatWasAppended(t *testing.T) {
	a := common.Address{1, 19: 2}
	b := word.Uint(nil, big.NewInt(7))
	b = word.Address(b, a)
	b = word.Bytes(b, []byte("hello"))
	b = word.Bytes(b, nil)
	b = word.Uint64(b, 9)
	r := word.NewReader(b)
	v, gotA, text, empty, n := r.Uint(), r.Address(), r.Bytes(), r.Bytes(), r.Int(9)
	if r.Err() != nil || r.Len() != 0 || v.Int64() != 7 || gotA != a || string(text) != "hello" || len(empty) != 0 ||
		n != 9 {
		t.Errorf("%v %v %q %q %d, %v", v, gotA, text, empty, n, r.Err())
	}
}

func TestReaderKeepsTheFirstFailure(t *testing.T) {
	dirty := bytes.Repeat([]byte{1}, 32)
	huge := word.Uint(nil, new(big.Int).Lsh(big.NewInt(1), 200))
	padded := word.Bytes(nil, []byte{1})
	padded[63] = 1
	for name, c := range map[string]struct {
		data []byte
		read func(*word.Reader)
		want error
	}{
		"short word":      {make([]byte, 31), func(r *word.Reader) { r.Word() }, word.ErrShort},
		"negative size":   {make([]byte, 31), func(r *word.Reader) { r.Raw(-1) }, word.ErrShort},
		"dirty address":   {dirty, func(r *word.Reader) { r.Address() }, word.ErrPadding},
		"dirty padding":   {padded, func(r *word.Reader) { r.Bytes() }, word.ErrPadding},
		"huge int":        {huge, func(r *word.Reader) { r.Int(10) }, word.ErrRange},
		"huge length":     {huge, func(r *word.Reader) { r.Bytes() }, word.ErrRange},
		"missing tail":    {word.Uint64(nil, 1), func(r *word.Reader) { r.Bytes() }, word.ErrShort},
		"missing padding": {append(word.Uint64(nil, 1), 5), func(r *word.Reader) { r.Bytes() }, word.ErrShort},
	} {
		r := word.NewReader(c.data)
		c.read(r)
		if !errors.Is(r.Err(), c.want) {
			t.Errorf("%s: %v, want %v", name, r.Err(), c.want)
		}
		r.Fail(errors.New("later"))
		if !errors.Is(r.Err(), c.want) || r.Raw(0) != nil || r.Int(1) != 0 || r.Bytes() != nil {
			t.Errorf("%s: the first failure was lost", name)
		}
	}
}

func TestFitsAndSelector(t *testing.T) {
	if word.Fits(nil, 8) || word.Fits(big.NewInt(-1), 8) || word.Fits(big.NewInt(256), 8) ||
		!word.Fits(big.NewInt(255), 8) {
		t.Error("range")
	}
	if [4]byte(word.Selector("transfer(address,uint256)")) != [4]byte{0xa9, 0x05, 0x9c, 0xbb} {
		t.Error("selector")
	}
}
