package linear

import (
	"strings"
	"testing"
	"testing/synctest"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/flow"
)

const otherAccount = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"

// D17: the conversation names the account in use, lists all, and uses another one; an operation of the one that was
// left is not continued with it.
func TestD17_AnotherAccountIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first := someAccounts()[0]
		second := api.Account{Type: api.AccountKernelV31, SignerAddress: payee, AccountAddress: otherAccount}
		own := func(used int) []present.Own {
			return []present.Own{{Account: first, Name: "daily", Used: used == 0},
				{Account: second, Name: "savings", Used: used == 1}}
		}
		r.opts.Context.Own = own(0)
		var asked []string
		r.opts.Deps.Use = func(at string) (Used, error) {
			asked = append(asked, at)
			return Used{Accounts: []api.Account{second}, Own: own(1)}, nil
		}
		r.op.begin(callIntent(r))
		r.op.snap.Intent.Accounts = someAccounts()
		r.op.snap.State, r.op.snap.SignaturesDone, r.op.snap.Review1, r.op.view1 = flow.StateQuoting, 1,
			prepared(utc()), prepared(utc())
		r.unfinished = []Operation{r.op}
		r.begins()
		if said := r.script.String(); !strings.Contains(said, "Account in use: daily,") {
			t.Errorf("%s", said)
		}
		said := r.types("accounts")
		for _, want := range []string{"daily, smart account, in use", "savings, smart account",
			"Use which account?"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is missing:\n%s", want, said)
			}
		}
		if said = r.types("2"); len(asked) != 1 || asked[0] != otherAccount ||
			!strings.Contains(said, "Account in use: savings,") {
			t.Fatalf("%v\n%s", asked, said)
		}
		if said = r.types("activity", "1", "1"); !strings.Contains(said,
			"This is of account daily: use that account first, under Accounts.") {
			t.Errorf("an operation of the other account goes on:\n%s", r.script.String())
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
