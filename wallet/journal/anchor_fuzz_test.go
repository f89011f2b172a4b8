package journal

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// FuzzAnchor: what is read is written and read again as the same; nothing panics.
func FuzzAnchor(f *testing.F) {
	const network = "0xaa"
	for _, n := range []int{0, 3} {
		a := anchor{Network: network, Records: n, Sum: strings.Repeat("00", 32), At: time.Unix(1_760_000_000, 0).UTC()}
		b, err := a.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"coffer_journal_anchor":1,"network":"0xaa","records":-1,"sum":"","at":"2025-10-09T08:53:20Z"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := parseAnchor(raw, network)
		if err != nil {
			return
		}
		if a.Records < 0 || a.Network != network {
			t.Fatalf("%+v", a)
		}
		b, err := a.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseAnchor(b, network)
		if err != nil || again.Records != a.Records || again.sum() != a.sum() || !again.At.Equal(a.At) {
			t.Fatalf("%s\n%s: %v", raw, b, err)
		}
		if c, err := again.encode(); err != nil || !bytes.Equal(b, c) {
			t.Fatalf("%s\n%s", b, c)
		}
	})
}
