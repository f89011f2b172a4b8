//go:build unix

package nodes

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

const base = "8453"

// simulated is what a review has of a simulation that did what it states.
var simulated = regexp.MustCompile(`"simulated":true,"leaves":\[\{[^]]*\],"asStated":true`)

// Every kind of account that own nodes serve is made by its first payment, pays again, and pays a list in one
// operation; the key itself is delegated by EIP-7702. Before each signature the nodes simulate it.
func TestEveryKindOfAccountPays(t *testing.T) {
	t.Parallel()
	everyKindPays(newWorld(t, base))
}

func everyKindPays(w *world) {
	w.Helper()
	p := w.person(w.names(w.direct))
	n := int64(1)
	for name := range kinds {
		one, two := payee(n), payee(n+1)
		n += 2
		for _, usdc := range []string{"20", "5"} {
			out := p.completes(p.pays(name, one, usdc)...)
			if !simulated.MatchString(out) {
				w.Errorf("%s: the nodes simulated nothing: %s", name, out)
			}
		}
		list := w.writes(filepath.Join(w.dir, name+".csv"), fmt.Sprintf("recipient,amount\n%s,3\n%s,4\n", one, two))
		p.completes("pay", list, "--asset", "usdc", "--chain", base, "--account", name, "--yes", "--accept", "V4,Y5",
			"--json")
		if a, b, left := w.holds(base, one), w.holds(base, two), w.holds(base, p.at[name]); a != 28_000_000 ||
			b != 4_000_000 || left != 968_000_000 {
			w.Errorf("%s: %d and %d millionths arrived, %d are left", name, a, b, left)
		}
		var code hexutil.Bytes
		w.ask(base, &code, "eth_getCode", p.at[name], "latest")
		if delegated := len(code) == 23 && hexutil.Encode(code[:3]) == "0xef0100"; delegated != (name == "direct") ||
			len(code) == 0 {
			w.Errorf("%s has the code %s", name, code)
		}
	}
}
