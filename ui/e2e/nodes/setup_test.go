//go:build unix

package nodes

import (
	"fmt"
	"math/big"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/ui/e2e/rig"
)

// From the questions of the set-up, line by line, to a payment and a batch, with no service anywhere.
func TestFromTheSetUpToAPaymentAndABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, base)
	file := w.names(w.direct)
	w.deploys(file)
	w.approves(file)
	screen, err := rig.Asks(t, w.env, []string{"setup", "--linear"}, "Name of the profile", "mine",
		"4. your own nodes", "your", "Networks file", file, "keyring, without a passphrase", "encrypted",
		"New passphrase", rig.Passphrase, "The same once more", rig.Passphrase, "watch only", "make",
		"no account on EVM chains", "smart", "no other profile", "yes", "Write it down?", "yes", "Open it now?", "no")
	p := &person{world: w, file: file, at: map[string]common.Address{}}
	find := func(pattern, in string) common.Address {
		t.Helper()
		m := regexp.MustCompile(pattern).FindStringSubmatch(in)
		if m == nil {
			t.Fatalf("%v, no %s in\n%s", err, pattern, in)
		}
		return common.HexToAddress(m[1])
	}
	p.tank = find(`(?s)[Gg]as tank.*?(0x[0-9a-fA-F]{40})`, screen)
	out, _ := p.runs(0, "accounts", "list")
	p.at["daily"] = find(`kernel-v3.1-ecdsa +(0x[0-9a-fA-F]{40})`, out)
	w.stocks(base, p.at["daily"], 1_000_000_000)
	w.sends(base, &p.tank, big.NewInt(1e18), nil)
	p.pass = rig.Passphrase
	account := p.at["daily"].Hex()
	p.completes(p.pays(account, payee(1), "20")...)
	list := w.writes(filepath.Join(w.dir, "list.csv"),
		fmt.Sprintf("recipient,amount\n%s,3\n%s,4\n", payee(1), payee(2)))
	p.completes("pay", list, "--asset", "usdc", "--chain", base, "--account", account, "--yes", "--accept", "V4,Y5",
		"--json")
	if a, b, left := w.holds(base, payee(1)), w.holds(base, payee(2)), w.holds(base, p.at["daily"]); a != 23_000_000 ||
		b != 4_000_000 || left != 973_000_000 {
		t.Errorf("%d and %d millionths arrived, %d are left", a, b, left)
	}
}
