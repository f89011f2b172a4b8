package sign

import (
	"errors"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api/op"
)

// TestAnAnswerOf4KiBIsTheLongest: spaces are part of an answer; one byte more and nothing of it is used.
func TestAnAnswerOf4KiBIsTheLongest(t *testing.T) {
	v := verified(t)
	key, _, _ := evmKey("owner")
	raw, err := op.Sign(v.userOp.Digest(), key)
	if err != nil {
		t.Fatal(err)
	}
	answer := `{"signature":"` + hexutil.Encode(raw) + `"}`
	fill := func(size int) string { return answer + strings.Repeat(" ", size-len(answer)) }
	if sig, err := command(t, "answers", fill(4096)).SignUserOp(t.Context(), v.userOp); err != nil ||
		string(sig) != string(raw) {
		t.Errorf("4096 bytes: %x, %v", sig, err)
	}
	sig, err := command(t, "answers", fill(4097)).SignUserOp(t.Context(), v.userOp)
	if sig != nil || !errors.Is(err, ErrExternal) || !strings.Contains(err.Error(), "longer than 4 KiB") {
		t.Errorf("4097 bytes: %x, %v", sig, err)
	}
}
