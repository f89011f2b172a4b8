package abicall

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op/internal/word"
)

// leaf is the kind of a parameter that is neither tuple nor array.
type leaf byte

const (
	leafNone leaf = iota
	leafUint
	leafInt
	leafBool
	leafAddress
	leafFixed // bytes1 … bytes32
	leafBytes
	leafString
)

// leafParam reads an elementary type name.
func leafParam(name string) (Param, string) {
	switch name {
	case "bool":
		return Param{Type: name, leaf: leafBool}, ""
	case "address":
		return Param{Type: name, leaf: leafAddress}, ""
	case "string":
		return Param{Type: name, leaf: leafString}, ""
	case "bytes":
		return Param{Type: name, leaf: leafBytes}, ""
	case "uint", "int":
		name += "256"
	case "function":
		return Param{}, "the type function is not supported: write bytes24"
	}
	for _, k := range []struct {
		prefix             string
		leaf               leaf
		step, lowest, most int
	}{{"uint", leafUint, 8, 8, 256}, {"int", leafInt, 8, 8, 256}, {"bytes", leafFixed, 1, 1, 32}} {
		digits, ok := strings.CutPrefix(name, k.prefix)
		if !ok {
			continue
		}
		n, err := strconv.Atoi(digits)
		if err == nil && n >= k.lowest && n <= k.most && n%k.step == 0 && strconv.Itoa(n) == digits {
			return Param{Type: name, leaf: k.leaf, size: n}, ""
		}
	}
	if strings.HasPrefix(name, "fixed") || strings.HasPrefix(name, "ufixed") {
		return Param{}, "fixed point numbers are not supported"
	}
	return Param{}, "unknown type " + showText(name) +
		": write contracts as address, enums as uint8, structs as a tuple (…)"
}

// encodeLeaf turns the text of a field into its encoding; the problem is in words.
func (p *Param) encodeLeaf(text string) ([]byte, string) {
	switch p.leaf {
	case leafUint, leafInt:
		v, problem := p.number(text)
		if problem != "" {
			return nil, problem
		}
		return word.Uint(nil, v), ""
	case leafBool:
		switch text {
		case "true":
			return word.Uint64(nil, 1), ""
		case "false":
			return word.Uint64(nil, 0), ""
		}
		return nil, "want true or false"
	case leafAddress:
		if _, err := caip.ParseAddress(text); err != nil {
			return nil, "want an address: 0x and 40 hexadecimal digits"
		}
		if caip.CheckEIP55(text) != nil {
			return nil, "the checksum of this address is wrong: a letter may have changed"
		}
		return word.Address(nil, common.HexToAddress(text)), ""
	case leafString:
		b, problem := unescape(text)
		if problem != "" {
			return nil, problem
		}
		return word.Bytes(nil, b), ""
	}
	return p.encodeBytes(text)
}

func (p *Param) encodeBytes(text string) ([]byte, string) {
	digits, ok := strings.CutPrefix(text, "0x")
	b, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return nil, "want 0x and an even number of hexadecimal digits"
	}
	if p.leaf == leafBytes {
		return word.Bytes(nil, b), ""
	}
	if len(b) != p.size {
		return nil, "want " + strconv.Itoa(p.size) + " bytes, got " + strconv.Itoa(len(b))
	}
	return append(b, make([]byte, word.Size-len(b))...), ""
}

// number reads an integer and returns it as a word, negative ones in two's complement.
func (p *Param) number(text string) (*big.Int, string) {
	const want = "want a whole number, decimal or 0x hexadecimal"
	body, negative := strings.CutPrefix(text, "-")
	base := 10
	if digits, ok := strings.CutPrefix(body, "0x"); ok {
		body, base = digits, 16
	}
	if body == "" || len(body) > 80 || strings.ContainsAny(body, "+-_ ") {
		return nil, want
	}
	if base == 10 && len(body) > 1 && body[0] == '0' {
		return nil, "a decimal number must not start with 0"
	}
	v, ok := new(big.Int).SetString(body, base)
	if !ok {
		return nil, want
	}
	if p.leaf == leafUint {
		if negative || v.BitLen() > p.size {
			return nil, "want a number from 0 to 2^" + strconv.Itoa(p.size) + "-1"
		}
		return v, ""
	}
	half := new(big.Int).Lsh(big.NewInt(1), uint(p.size-1))
	if negative {
		v.Neg(v)
	}
	if v.Cmp(half) >= 0 || v.Cmp(new(big.Int).Neg(half)) < 0 {
		return nil, "want a number from -2^" + strconv.Itoa(p.size-1) + " to 2^" + strconv.Itoa(p.size-1) + "-1"
	}
	if v.Sign() < 0 {
		v.Add(v, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return v, ""
}

// decodeLeaf turns one leaf of call data into its canonical text.
func (p *Param) decodeLeaf(r *word.Reader) string {
	switch p.leaf {
	case leafBytes:
		return "0x" + hex.EncodeToString(r.Bytes())
	case leafString:
		return escape(r.Bytes())
	case leafAddress:
		return r.Address().Hex()
	case leafBool:
		if r.Int(1) == 1 {
			return "true"
		}
		return "false"
	case leafFixed:
		w := r.Word()
		if w != [word.Size]byte(append(append([]byte{}, w[:p.size]...), make([]byte, word.Size-p.size)...)) {
			r.Fail(word.ErrPadding)
		}
		return "0x" + hex.EncodeToString(w[:p.size])
	case leafInt:
		v := r.Uint()
		if v.BitLen() == 256 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), 256))
		}
		if _, problem := p.number(v.String()); problem != "" {
			r.Fail(word.ErrRange)
		}
		return v.String()
	}
	v := r.Uint()
	if v.BitLen() > p.size {
		r.Fail(word.ErrRange)
	}
	return v.String()
}
