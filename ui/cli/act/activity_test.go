package act

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// someOpen makes signatures open: a call that ran according to the service, an approval without an end, a Solana
// message, and a delegation; and puts their lanes in doubt.
func someOpen(r *rig) {
	call := journal.Signature{
		Role: verify.RolePrepared, Kind: api.AccountKernelV31, Chain: "eip155:8453", ChainID: 8453, Sender: account,
		Nonce: "3", OpHash: hash("08"), Signature: "0xSECRETSIGNATURE",
		Spend: []journal.Spend{{Asset: "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
			Amount: "430500000"}}, ValidUntil: start().Add(9 * time.Minute).Unix(),
		Made: start().Add(-time.Minute), Sent: true, Said: journal.SaidRan,
	}
	approval := call
	approval.Kind, approval.OpHash, approval.ValidUntil, approval.Said, approval.Nonce = api.AccountRoleBased,
		hash("09"), verify.NoEnd, journal.SaidNothing, "4"
	message := journal.Signature{
		Role: verify.RoleSwap, Kind: api.AccountSolana, Chain: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
		Sender: "EkMehVu7aXiEBpnYr8HLEei7xf25Y5sjoHXPRviM2jTR", BlockHash: "B1",
		OpHash: hash("0a"), ValidUntil: start().Add(time.Minute).Unix(), Made: start(), Sent: true,
	}
	delegation := journal.Signature{Role: journal.RoleDelegation, Kind: api.AccountKernelV33, Chain: "eip155:10",
		ChainID: 10, Sender: account, Nonce: "7", OpHash: hash("0b"), Made: start()}
	r.live = nil
	for _, s := range []journal.Signature{call, approval, message, delegation} {
		r.live = append(r.live, journal.Outstanding{Signature: s, Op: opID, State: journal.Done, Made: s.Made,
			Void: "What ends it."})
	}
	lane := journal.Lane{ChainID: 8453, Account: account, Sequence: 5}
	r.facts = []journal.LaneFacts{
		{Lane: lane, Known: true, Key: big.NewInt(0xabc), Open: r.live[:2]},
		{Lane: journal.Lane{ChainID: 10, Account: account, Lane: 1}, Set: true},
		{Lane: journal.Lane{ChainID: 1, Account: account, Lane: 1, Sequence: 2}, Known: true},
	}
}

func repairFlags() []string {
	return []string{"activity", "repair", "--chain", "base", "--account", strings.ToLower(account), "--lane", "0",
		"--sequence", "3"}
}

func TestK4_ARepairIsTypedOrAskedForOnPurpose(t *testing.T) {
	end := account[len(account)-4:]
	for name, c := range map[string]struct {
		code     int
		terminal bool
		answers  []string
		wrong    error
		args     []string
		wrote    string
	}{
		"typed": {terminal: true, answers: []string{end}, args: repairFlags(),
			wrote: `Sequence:3} "` + end + `" false`},
		"wrongly typed": {code: 5, terminal: true, answers: []string{"0000"}, wrong: flow.ErrRepairTyped,
			args: repairFlags(), wrote: `"0000" false`},
		"without a terminal":   {code: 2, args: repairFlags()},
		"by a script":          {args: append(repairFlags(), "--yes"), wrote: `Sequence:3} "" true`},
		"half":                 {code: 2, args: []string{"activity", "repair", "--chain", "base"}},
		"--yes alone":          {code: 2, args: []string{"activity", "repair", "--yes"}},
		"an unknown chain":     {code: 2, args: changed("--chain", "nowhere")},
		"a chain of no lanes":  {code: 2, args: changed("--chain", "solana")},
		"somebody's account":   {code: 2, args: changed("--account", payee)},
		"no address":           {code: 2, args: changed("--account", "me")},
		"a sequence below 0":   {code: 2, args: changed("--sequence", "-1")},
		"a lane out of bounds": {code: 2, args: changed("--lane", "70000")},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.c.Terminal, r.answers, r.wrong = c.terminal, c.answers, c.wrong
			r.done(c.code, c.args...)
			if (len(r.wrote) == 1) != (c.wrote != "") || c.wrote != "" && !strings.Contains(r.wrote[0], c.wrote) {
				t.Errorf("%q", r.wrote)
			}
		})
	}
}

// changed are the flags of a repair with another value, and --yes.
func changed(flag, value string) []string {
	args := append(repairFlags(), "--yes")
	args[slices.Index(args, flag)+1] = value
	return args
}

func TestK4_ASignatureIsVoidedByTheEndOfItsAccountsAddress(t *testing.T) {
	end := account[len(account)-4:]
	for name, c := range map[string]struct {
		code     int
		terminal bool
		answers  []string
		wrong    error
		args     []string
		wrote    int
	}{
		"typed": {terminal: true, answers: []string{end, end}, args: []string{hash("08"), hash("09")},
			wrote: 2},
		"wrongly typed": {code: 5, terminal: true, answers: []string{"0000"}, wrong: flow.ErrVoidTyped,
			args: []string{hash("08")}, wrote: 1},
		"another hash": {code: 2, args: []string{hash("08"), "--confirm", end}, wrong: flow.ErrVoidUnknown,
			wrote: 1},
		"by a script":        {args: []string{hash("08"), "--confirm", end}, wrote: 1},
		"without a terminal": {code: 2, args: []string{hash("08")}},
		"without a hash":     {code: 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.c.Terminal, r.answers, r.wrong = c.terminal, c.answers, c.wrong
			r.done(c.code, append([]string{"activity", "void"}, c.args...)...)
			if len(r.wrote) != c.wrote || c.wrote > 0 && !strings.HasPrefix(r.wrote[0], "void "+hash("08")+" ") {
				t.Errorf("%q", r.wrote)
			}
		})
	}
}
