package linear

import (
	"math/big"
	"testing"
	"testing/synctest"

	"coffer/ui/present"
)

// TestAllowancesAreListedWithTheAccountsAndRevokedAfterAReview: the order is that of `accounts allowances --revoke`.
func TestAllowancesAreListedWithTheAccountsAndRevokedAfterAReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		asset := "eip155:8453/erc20:" + usdc
		r.opts.Deps.Allowances = func() []present.Allowance {
			return []present.Allowance{{Asset: asset, Spender: payee, Amount: big.NewInt(3_000_000),
				State: present.AllowanceThere, Ran: true, Operation: "op-1", At: utc()}}
		}
		r.begins()
		r.wants(r.types("accounts"), "1 allowance of calls of this wallet. "+present.AllowancesUnknown,
			"Allowance 1: 3 USDC.", "alice", "not set here: as much was allowed before", "Revoke allowance 1")
		r.wants(r.types("1"), "Allowance 1: 0 USDC to", "1 call on Base")
		r.wants(r.types("review"), "Review 1 of 2")
		if len(r.started) != 1 {
			t.Fatalf("%d orders:\n%s", len(r.started), r.script.String())
		}
		if d := r.started[0].Draft(); len(d.Allowances) != 1 || d.Allowances[0].Amount != "0" ||
			d.Allowances[0].AssetType != asset || len(d.Calls) != 1 {
			t.Errorf("%+v", d)
		}
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

func TestNoAllowanceIsNoQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.opts.Deps.Allowances = func() []present.Allowance { return nil }
		r.begins()
		r.wants(r.types("accounts"), "What do you want to do?")
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}

func TestAHiddenAllowanceIsNotSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.opts.Context.Hidden = true
		r.opts.Deps.Allowances = func() []present.Allowance {
			return []present.Allowance{{Asset: "eip155:5/erc20:" + usdc, Spender: payee, Amount: big.NewInt(987_654),
				State: present.AllowanceRevoked}}
		}
		r.begins()
		r.wants(r.types("accounts"), "Allowance 1: amount hidden.")
		r.wants(r.types("1"), "Only a token on a known chain has allowances")
		if err := r.ends(); err != nil {
			t.Error(err)
		}
	})
}
