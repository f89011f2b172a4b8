package solana

import (
	"context"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/store"
)

// No sequence of instructions leads here; the check is for the day when a program is
// wrong.
func TestATransactionThatWouldChangeASumIsAFault(t *testing.T) {
	payer, owner, mint := solmsg.Key{1}, solmsg.Key{2}, solmsg.Key{3}
	account, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	s := store.NewMemory()
	l, err := Open(s, Spec{Accounts: []Allocation{
		{Key: payer, Account: SystemAccount(10e9)}, {Key: mint, Account: MintAccount(1_000, 6)},
		{Key: account, Account: TokenAccount(owner, mint, 1_000)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	hash, _, _ := l.Blockhash(context.Background(), 100)
	m, err := solmsg.Compose(payer, hash, solmsg.SystemTransfer(payer, owner, 0),
		solmsg.TokenTransferChecked(account, mint, account, owner, 0, 6))
	if err != nil {
		t.Fatal(err)
	}
	const fee = 5_000
	for name, c := range map[string]struct {
		spoil func(x *execution)
		want  string
	}{
		"nothing":       {func(*execution) {}, ""},
		"lamports made": {func(x *execution) { x.edit(owner).Lamports = 1 }, "sum of lamports by 1"},
		"lamports lost": {func(x *execution) { x.edit(payer).Lamports-- }, "sum of lamports by -1"},
		"tokens made":   {func(x *execution) { token(x.edit(account).Data).setAmount(1_001) }, "by 1"},
		"an account is cut": {func(x *execution) {
			x.edit(payer).Lamports += x.get(account).Lamports
			*x.edit(account) = Account{Owner: solmsg.SystemProgram()}
		}, "by -1000"},
	} {
		err := s.View(func(tx store.Tx) error {
			x := &execution{batch: &batch{ledger: l, view: tx}, message: m, changed: map[solmsg.Key]*Account{}}
			x.edit(payer).Lamports -= fee
			c.spoil(x)
			_, err := x.settle(fee)
			return err
		})
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
