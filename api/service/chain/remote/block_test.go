package remote

import (
	"testing"

	"github.com/go-json-experiment/json"
)

func TestTheNumberOfAnotherChainComesInTwoForms(t *testing.T) {
	for raw, want := range map[string]uint64{`{"l1BlockNumber":"0x10"}`: 16, `{"l1BlockNumber":16}`: 16} {
		var b block
		if err := json.Unmarshal([]byte(raw), &b); err != nil || b.L1Number == nil || uint64(*b.L1Number) != want {
			t.Errorf("%s: %v %v", raw, b.L1Number, err)
		}
	}
	for _, raw := range []string{`{"l1BlockNumber":-1}`, `{"l1BlockNumber":1.5}`, `{"l1BlockNumber":"16"}`,
		`{"l1BlockNumber":true}`, `{"l1BlockNumber":{}}`} {
		if err := json.Unmarshal([]byte(raw), new(block)); err == nil {
			t.Errorf("%s is read", raw)
		}
	}
}
