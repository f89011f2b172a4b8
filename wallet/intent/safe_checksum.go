package intent

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
)

// safeChecksum is the checksum of a batch file: Keccak-256 of a text in which every object is a brace, the JSON array
// of its names in order, and its values each with a comma behind it, and a brace; arrays and scalars are as in JSON
// without spaces. meta.checksum is left out and meta.name is null, so that a batch can be renamed.
func safeChecksum(doc *api.Document) (string, error) {
	doc, err := doc.Splice(api.Edit{Pointer: "/meta/name", Value: []byte("null")})
	if err != nil {
		return "", err
	}
	// The canonical form has names, strings and numbers as JavaScript sorts and writes them.
	canonical, err := doc.Canonical("/meta/checksum")
	if err != nil {
		return "", err
	}
	serial, err := appendSerial(nil, jsontext.NewDecoder(bytes.NewReader(canonical)))
	if err != nil {
		return "", err
	}
	return hexutil.Encode(crypto.Keccak256(serial)), nil
}

// appendSerial appends the text of the next value.
func appendSerial(out []byte, dec *jsontext.Decoder) ([]byte, error) {
	switch dec.PeekKind() {
	case '{':
		return appendObject(out, dec)
	case '[':
		return appendArray(out, dec)
	}
	v, err := dec.ReadValue()
	return append(out, v...), err
}

func appendArray(out []byte, dec *jsontext.Decoder) ([]byte, error) {
	_, err := dec.ReadToken()
	out = append(out, '[')
	for n := 0; err == nil && dec.PeekKind() != ']'; n++ {
		if n > 0 {
			out = append(out, ',')
		}
		out, err = appendSerial(out, dec)
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	return append(out, ']'), err
}

func appendObject(out []byte, dec *jsontext.Decoder) ([]byte, error) {
	_, err := dec.ReadToken()
	var names, values []byte
	for err == nil && dec.PeekKind() != '}' {
		var name jsontext.Value
		if name, err = dec.ReadValue(); err != nil {
			break
		}
		if len(names) > 0 {
			names = append(names, ',')
		}
		names = append(names, name...)
		if values, err = appendSerial(values, dec); err == nil {
			values = append(values, ',')
		}
	}
	if err == nil {
		_, err = dec.ReadToken()
	}
	out = append(append(append(out, '{', '['), names...), ']')
	return append(append(out, values...), '}'), err
}
