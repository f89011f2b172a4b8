//go:build unix

package killed

import (
	"context"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
	"coffer/assets"
	"coffer/ui/e2e/rig"
)

// TestTerminalKilledDuringExecute kills the program with signal 9 at several moments after the second confirmation.
// After a restart the operation is under Activity, and the chains agree with what it says: the recipient was paid once
// or not at all, and the escrow holds nothing. Another tool sends to the same chains all the time, with the key of the
// user's other account: what it sent is there after the kill as well. Killed between the journal and the wire, nothing
// has run, and the outcome is unknown until some time after the quote has expired (see rig.Person.Outcome).
func TestTerminalKilledDuringExecute(t *testing.T) {
	for name, moment := range map[string]func(p rig.Person){
		"the key was just pressed": func(rig.Person) {},
		"the review has gone": func(p rig.Person) {
			p.Waits("another screen", func(s string) bool { return !strings.Contains(s, "Arrives") })
		},
		"the activity screen has opened": func(p rig.Person) { p.Sees("accepted by the service") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env, url := withEndpoints(t, "kernel-v3.1-ecdsa", "kernel-v3.3-ecdsa")
			p := rig.At(t, rig.Start(t, env, 120, 40))
			p.Sees("EMBEDDED", "USDC", "$")
			tool := newTool(t, url)
			tool.sends(t)
			needs, pay := p.WalksToReview2("EMBEDDED")
			tool.sends(t)
			p.Confirms(pay)
			moment(p)
			if err := p.Term.Process().Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.Ends()

			again := rig.At(t, rig.Start(t, env, 120, 40))
			again.Sees("EMBEDDED", "USDC")
			tool.sends(t)
			again.Types("3")
			outcome := again.Outcome()
			tool.sends(t)
			again.Types("q")
			again.Waits("the end or a question", func(s string) bool {
				return !strings.Contains(s, "EMBEDDED") ||
					strings.Contains(s, "again")
			})
			again.Types("q")
			_ = again.Ends()
			checkOutcome(t, filepath.Join(dir, "data", "coffer", profile), needs, outcome)
		})
	}
}

// checkOutcome reads the chains: the recipient of the trial call has the amount once (when it completed) or nothing
// (when it did not), and no USDC is left in the escrow.
func checkOutcome(t *testing.T, dir, needs, outcome string) {
	t.Helper()
	in, closeStore := rig.OpenStore(t, dir)
	defer closeStore()
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	once, err := amount.Parse(strings.ReplaceAll(needs, ",", ""), 6)
	if err != nil {
		t.Fatal(err)
	}
	usdc, ok := in.Catalog.Aggregate("ob:usdc")
	if !ok {
		t.Fatal("no ob:usdc")
	}
	got := new(big.Int)
	for _, e := range usdc.Entities {
		if _, evm := e.Asset.Chain.EVMID(); !evm {
			continue
		}
		held, err := in.Balance(context.Background(), in.Pins.Escrow, e.Asset)
		if err != nil || held.Sign() != 0 {
			t.Errorf("%s: the escrow holds %v: %v", e.Asset.Chain, held, err)
		}
		paid, err := in.Balance(context.Background(), common.HexToAddress(demo.AddressBook[0].Address), e.Asset)
		if err != nil {
			t.Fatal(err)
		}
		got.Add(got, paid)
	}
	if outcome != "COMPLETED" {
		once.SetInt64(0)
	}
	if got.Cmp(once) != 0 {
		t.Errorf("the wallet says %q and the recipient has %v instead of %v", outcome, got, once)
	}
}
