package solmsg_test

import (
	"bytes"
	"testing"

	"coffer/api/op/solmsg"
)

func TestBase58OfAnyLength(t *testing.T) {
	for text, want := range map[string][]byte{
		"": nil, "1": {0}, "11": {0, 0}, "2": {1}, "5Q": {255}, "2NEpo7TZRRrLZSi2U": []byte("Hello World!"),
	} {
		if got, err := solmsg.FromBase58(text); err != nil || !bytes.Equal(got, want) || solmsg.Base58(want) != text {
			t.Errorf("%q: %x, %v; %q", text, got, err, solmsg.Base58(want))
		}
	}
	for _, bad := range []string{"0", "O", "I", "l", `"`, `\n`, "a b", "ä", "[", "_"} {
		if got, err := solmsg.FromBase58(bad); err == nil {
			t.Errorf("%q was read as %x", bad, got)
		}
	}
}
