package pinned

import (
	"flag"
	"maps"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/assets"
)

var update = flag.Bool("update", false, "write assets/code.json")

// The hashes of code that the wallet compares are those of the code that this package makes. A contract that remembers
// its chain in its code has one for each chain, and the wallet compares none.
func TestTheWalletComparesTheCodeThatIsDeployed(t *testing.T) {
	want := map[string]string{}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		var hashes []common.Hash
		for _, id := range []uint64{1, 8453} {
			h, err := c.Hash(id)
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, h)
		}
		if hashes[0] == hashes[1] {
			want[c.At.Hex()] = hashes[0].Hex()
		}
	}
	if *update {
		raw, err := json.Marshal(want, json.Deterministic(true), jsontext.WithIndent("  "))
		if err == nil {
			err = os.WriteFile("../../../assets/code.json", append(raw, '\n'), 0o644) //nolint:gosec // it is public
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := assets.PinnedCode()
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v: %v\nwant %v", err, got, want)
	}
}
