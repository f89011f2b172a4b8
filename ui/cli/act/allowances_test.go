package act

import (
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/journal"
)

const router = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"

// allowing is an operation with an allowance of USDC for a router; signed are the lines of its signed calls.
func allowing(id, amount string, started time.Time, signed ...string) journal.Operation {
	in := strings.Replace(transferOf25, `"slippageBps":50`, `"allowances":[{"assetType":"eip155:8453/erc20:`+
		strings.ToLower(usdc)+`","amount":"`+amount+`","spender":"`+router+`"}],"slippageBps":50`, 1)
	return journal.Operation{ID: id, State: journal.Done, Outcome: api.StatusCompleted, Started: started,
		Intent: []byte(in), Agreed: []journal.Agreement{{Summary: signed}}}
}

const max256 = "115792089237316195423570985008687907853269984665640564039457584007913129639935"

// someAllowances are one that was there before the newest operation, unlimited, and older ones.
func someAllowances(r *rig) {
	r.book = []journal.Operation{
		allowing("1111111111111111", "5", start().Add(-time.Hour), "approve 1: to "+usdc+", value 0, approve(address "+
			"spender, uint256 amount) (spender "+router+", amount 5)"),
		allowing("2222222222222222", max256, start()),
	}
	other := allowing("3333333333333333", "7000000", start().Add(-time.Minute), "approve 1: to "+usdc+
		", value 0, approve(address spender, uint256 amount) (spender "+payee+", amount 7000000)")
	other.Intent = []byte(strings.Replace(string(other.Intent), router, payee, 1))
	failed := allowing("4444444444444444", "9", start().Add(time.Minute))
	failed.Outcome = api.StatusRefunded
	r.book = append(r.book, other, failed)
}

// TestAllowancesAreListedAndRevoked: what nothing took back comes first, an unlimited one is marked, and what is on
// chain is unknown, never 0. A revocation is an order of its own, which passes the reviews.
func TestAllowancesAreListedAndRevoked(t *testing.T) {
	r := newRig(t)
	r.done(0, "allowances")
	if !strings.HasPrefix(r.out.String(), "0 allowances in the journal\n") {
		t.Error(r.out.String())
	}
	someAllowances(r)
	r.done(0, "allowances")
	out := r.out.String()
	for _, want := range []string{"2 allowances in the journal", "UNLIMITED, ",
		"not set here: as much was allowed before", "7 USDC", "set and taken back by the same operation",
		"What is allowed on chain now is unknown"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not there:\n%s", want, out)
		}
	}
	if strings.Index(out, "2222222222222222") > strings.Index(out, "3333333333333333") ||
		strings.Contains(out, "1111111111111111") || strings.Contains(out, "4444444444444444") {
		t.Errorf("the newest operation that ran counts, and what is left comes first:\n%s", out)
	}
	if len(r.started) != 0 {
		t.Error("a list starts an operation")
	}
	for i, o := range r.book { // of another account of the profile, which alone could take them back
		r.book[i].Intent = []byte(strings.Replace(string(o.Intent), `"slippageBps"`, `"accounts":[{"type":`+
			`"kernel-v3.1-ecdsa","accountAddress":"`+payee+`","signerAddress":"`+payee+`"}],"slippageBps"`, 1))
	}
	if r.done(0, "allowances"); !strings.HasPrefix(r.out.String(), "0 allowances in the journal\n") {
		t.Errorf("those of another account are listed:\n%s", r.out.String())
	}
	r.book = nil
	someAllowances(r)
	r.run("allowances", "--revoke", "1", "--dry-run")
	d := r.started[0].Draft()
	if len(d.Allowances) != 1 || d.Allowances[0].Amount != "0" || d.Allowances[0].Spender != router ||
		d.TargetChain != "eip155:8453" || len(d.Calls) != 1 || d.Calls[0].To != usdc ||
		!strings.HasPrefix(d.Calls[0].Data, "0xdd62ed3e") || len(d.TokensRequired) != 0 {
		t.Errorf("%+v", d)
	}
	for _, args := range [][]string{{"--revoke", "0", "--dry-run"}, {"--revoke", "3", "--dry-run"}, {"--revoke", "1"}} {
		r.done(2, append([]string{"allowances"}, args...)...)
	}
	if len(r.started) != 1 {
		t.Error("a wrong number starts an operation")
	}
}
