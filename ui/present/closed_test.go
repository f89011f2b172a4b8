package present_test

import (
	"testing"
	"time"

	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// What own nodes closed is named with who saw it, and in which block; so is an operation whose signatures they closed.
func TestTH_J4_AClosedSignatureSaysWhoSawIt(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_000, 0)
	paid := journal.Signature{Role: verify.RoleFunding, Chain: "eip155:10", Sender: "0x01", Nonce: "1",
		ValidUntil: now.Unix() + 60}
	auth := journal.Signature{Role: journal.RoleDelegation, Chain: "eip155:8453", Sender: "0x02", Nonce: "3"}
	for name, x := range map[string]struct {
		closed    journal.Closed
		is, words string
		live      string
	}{
		"an operation": {journal.Closed{Signature: paid, Op: "op1", At: now, Block: 42}, "a payment on Optimism",
			"seen by your node: its nonce is used in block 42, which is final",
			"Its signatures can no longer be used (seen by your node)."},
		"an authorization": {journal.Closed{Signature: auth, Op: "op1", At: now, Block: 7},
			"a delegation of your EOA on Base",
			"seen by your node: its account nonce is used in block 7, which is final",
			"Its signatures can no longer be used."},
		"an old record": {journal.Closed{Signature: paid, Op: "op1", At: now, Note: "seen by your node: x"},
			"a payment on Optimism", "seen by your node: x",
			"Its signatures can no longer be used (seen by your node)."},
	} {
		list := present.ClosedSignatures(c, []journal.Closed{x.closed}, 0)
		if len(list) != 1 || list[0].Seen != x.words || list[0].Name(c) != x.is || list[0].Operation != "op1" {
			t.Errorf("%s: %+v", name, list)
		}
		if got := present.LiveOf(nil, list, "op1", now, true).Words(time.Time.String); got != x.live {
			t.Errorf("%s: %s", name, got)
		}
		if got := present.LiveOf(nil, list, "op2", now, true).Words(time.Time.String); got !=
			"Its signatures can no longer be used." {
			t.Errorf("%s, of another operation: %s", name, got)
		}
	}
}
