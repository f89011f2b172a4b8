package netstatus

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"coffer/api/amount"
)

// Encode writes it as JSON: amounts are strings, as other programs would round them, and null is unknown.
func (s *Status) Encode() ([]byte, error) { return EncodeJSON(s) }

// EncodeJSON writes what has figures of a status in the same way.
func EncodeJSON(v any) ([]byte, error) {
	return json.Marshal(v, json.WithMarshalers(json.JoinMarshalers(
		json.MarshalFunc(func(v *big.Int) ([]byte, error) {
			if v == nil {
				return []byte("null"), nil
			}
			return []byte(`"` + v.String() + `"`), nil
		}),
		json.MarshalFunc(func(a common.Address) ([]byte, error) { return []byte(`"` + a.Hex() + `"`), nil }),
	)))
}

// Decode reads what Encode wrote.
func Decode(raw []byte) (*Status, error) {
	s := new(Status)
	return s, json.Unmarshal(raw, s, json.WithUnmarshalers(json.UnmarshalFunc(func(raw []byte, into *big.Int) error {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		v, err := amount.ParseBase(text)
		if err == nil {
			into.Set(v)
		}
		return err
	})))
}
