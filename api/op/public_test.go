package op_test

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"os"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"coffer/api/op"
)

var update = flag.Bool("update", false, "write basepoints.bin")

// The table is made by the library's own multiplication.
func TestBasePointsAreThoseOfTheLibrary(t *testing.T) {
	var made []byte
	for window := range 64 {
		for digit := byte(1); digit <= 15; digit++ {
			var k [32]byte
			k[31-window/2] = digit << (4 * (window % 2))
			public := secp256k1.PrivKeyFromBytes(k[:]).PubKey().SerializeUncompressed()
			made = append(made, public[1:]...)
		}
	}
	if *update {
		if err := os.WriteFile("basepoints.bin", made, 0o644); err != nil { //nolint:gosec // it is public
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("basepoints.bin")
	if err != nil || !bytes.Equal(kept, made) {
		t.Errorf("basepoints.bin is another table: go test ./api/op -run BasePoints -update (%v)", err)
	}
}

func TestPublicKeysAreThoseOfTheLibrary(t *testing.T) {
	order := secp256k1.S256().Params().N.Bytes()
	last := bytes.Clone(order)
	last[31]--
	keys := [][]byte{{1}, {2}, {15}, {16}, {17}, {0x10, 0, 0}, last, bytes.Repeat([]byte{0x0f}, 32),
		bytes.Repeat([]byte{0xf0}, 32)}
	for i := range 500 {
		k := sha256.Sum256([]byte{byte(i), byte(i >> 8)})
		keys = append(keys, k[:])
	}
	for _, raw := range keys {
		private := secp256k1.PrivKeyFromBytes(raw)
		if got := op.PublicOf(private); !got.IsEqual(private.PubKey()) {
			t.Errorf("%x: %x, expected %x", raw, got.SerializeCompressed(), private.PubKey().SerializeCompressed())
		}
	}
}
