package act

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/cli"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/vault"
	"coffer/wallet/verify"
)

// TestExitCodes pins the exit code of every way in which a command can end.
func TestExitCodes(t *testing.T) {
	refuse := []verify.Reason{{Code: "U4", Level: verify.Refuse, Title: "No."}}
	closed := []verify.Reason{{Code: "U12", Level: verify.Gate, Title: "Unknown sponsor.",
		Setting: verify.GatePaymaster}}
	denied := &api.Error{Name: api.ErrForbidden, Message: "not allowed", StatusCode: 403}
	expired := &api.Error{Name: api.ErrQuoteExpired, Message: "too late", StatusCode: 400}
	status := func(s string) func(r *rig) { return func(r *rig) { r.service.statuses = []string{statusJSON(s)} } }
	for name, c := range map[string]struct {
		code  int
		args  string
		setup func(r *rig)
	}{
		"chains": {0, "chains", nil},
		"chains twice in the list": {4, "chains",
			func(r *rig) { r.service.chains = strings.Replace(someChains, "eip155:10\"", "eip155:8453\"", 1) }},
		"chains without permission": {3, "chains", func(r *rig) { r.service.err = denied }},
		"chains without a network": {1, "chains", func(r *rig) {
			r.service.err = &client.Error{Op: "list", Kind: client.KindNetwork, Err: errors.New("down")}
		}},
		"chains with an argument":       {2, "chains x", nil},
		"assets that changed":           {4, "assets", func(r *rig) { r.lists.Report.Reasons = refuse }},
		"assets that were not compared": {4, "assets", nil},
		"assets that differ": {4, "assets", func(r *rig) {
			r.lists.Assets.Changes = []verify.AssetChange{{ID: "ob:usdc", Is: &verify.SeenAsset{Decimals: 7}}}
		}},
		"assets that are gone": {0, "assets", func(r *rig) {
			r.lists.Assets.Usable = []string{"ob:usdc"}
			r.lists.Assets.Changes = []verify.AssetChange{{ID: "ob:old"}}
		}},
		"history":                    {0, "history", nil},
		"history without permission": {3, "history", func(r *rig) { r.service.err = denied }},
		"export without permission":  {3, "export", func(r *rig) { r.service.err = denied }},
		"status completed":           {0, "status Q", status("COMPLETED")},
		"status refunded":            {1, "status Q", status("REFUNDED")},
		"status failed":              {1, "status Q", status("FAILED")},
		"status pending":             {6, "status Q", status("PENDING")},
		"status of a stranger":       {6, "status Q", nil},
		"status that nobody knows":   {6, "status Q", status("SOMETHING")},
		"status of another quote":    {4, "status " + quoteID(6), status("COMPLETED")},
		"status of no operation":     {2, "status ffffffffffffffff", nil},
		"status without an id":       {2, "status", nil},
		"status of what is no id":    {2, "status abc", nil},
		"status watched to its end": {0, "status Q --watch",
			func(r *rig) { r.service.statuses = []string{`{}`, statusJSON("PENDING"), statusJSON("COMPLETED")} }},
		"status of what was signed only": {5, "status 2222222222222222", someBook},
		"status of what never ran": {5, "status 3333333333333333",
			func(r *rig) { inBook(r, journal.NotExecuted, 1) }},
		"status after the expiry": {5, "status 3333333333333333",
			func(r *rig) { inBook(r, journal.Executing, start().Add(-time.Minute).Unix()) }},
		"status before the expiry": {6, "status 3333333333333333",
			func(r *rig) { inBook(r, journal.Executing, start().Add(time.Minute).Unix()) }},
		"call without --yes":         {2, "CALL", nil},
		"call":                       {0, "CALL --yes", nil},
		"call looked at":             {0, "CALL --dry-run", nil},
		"call with both":             {2, "CALL --dry-run --yes", nil},
		"call with a sentence alone": {2, "CALL --confirm x", nil},
		"call refused by a check":    {4, "CALL --yes", func(r *rig) { r.op.report1.Reasons = refuse }},
		"call looked at and refused": {4, "CALL --dry-run", func(r *rig) { r.op.report1.Reasons = refuse }},
		"call behind a closed gate": {4, "CALL --yes --confirm SENTENCE",
			func(r *rig) { r.op.report1.Reasons = closed }},
		"call behind an open gate":   {4, "CALL --yes", func(r *rig) { r.op.phrase1 = gate }},
		"call with another sentence": {4, "CALL --yes --confirm x", func(r *rig) { r.op.phrase1 = gate }},
		"call with the sentence":     {0, "CALL --yes --confirm SENTENCE", func(r *rig) { r.op.phrase1 = gate }},
		"quote behind an open gate":  {4, "CALL --yes", func(r *rig) { r.op.phrase2 = gate }},
		"quote with the sentence":    {0, "CALL --yes --confirm SENTENCE", func(r *rig) { r.op.phrase2 = gate }},
		"quote refused":              {4, "CALL --yes", func(r *rig) { r.op.report2.Reasons = refuse }},
		"not enough money": {1, "CALL --yes",
			func(r *rig) { r.op.errPrepare = &api.Error{Name: api.ErrInsufficientBalance, Message: "short"} }},
		"prepare without permission": {3, "CALL --yes", func(r *rig) { r.op.errPrepare = denied }},
		"review 1 expired":           {5, "CALL --yes", func(r *rig) { r.op.errSign = flow.ErrExpired }},
		"the keys locked themselves": {3, "CALL --yes", func(r *rig) { r.op.errSign = vault.ErrLocked }},
		"no key": {3, "CALL --yes",
			func(r *rig) { r.op.errSign = fmt.Errorf("sign: %w", vault.ErrNoKey) }},
		"an earlier signature is open": {4, "CALL --yes", func(r *rig) { r.op.errSign = journal.ErrConflict }},
		"the journal is read-only":     {1, "CALL --yes", func(r *rig) { r.op.errSign = journal.ErrReadOnly }},
		"quote fails": {1, "CALL --yes", func(r *rig) {
			r.op.errQuote = &client.Error{Op: "quote", Kind: client.KindTimeout, Sent: true, Err: errors.New("slow")}
		}},
		"quote expired here":         {5, "CALL --yes", func(r *rig) { r.op.errExec = flow.ErrExpired }},
		"quote expired there":        {5, "CALL --yes", func(r *rig) { r.op.errExec = expired }},
		"execute without permission": {3, "CALL --yes", func(r *rig) { r.op.errExec = denied }},
		"no answer to execute": {6, "CALL --yes",
			func(r *rig) { r.op.lost, r.op.errWatch = true, context.Canceled }},
		"interrupted while it runs": {6, "CALL --yes", func(r *rig) { r.op.errWatch = context.Canceled }},
		"refunded": {1, "CALL --yes",
			func(r *rig) { r.op.watched, r.op.status = flow.StateFailed, "REFUNDED" }},
		"never executed": {5, "CALL --yes",
			func(r *rig) { r.op.lost, r.op.watched, r.op.status = true, flow.StateNotExecuted, "" }},
		"no answer, found later":         {0, "CALL --yes", func(r *rig) { r.op.lost = true }},
		"one signature is all":           {0, "CALL --yes", func(r *rig) { r.op.consent = true }},
		"locked without a descriptor":    {3, "CALL --yes", func(r *rig) { r.locked = true }},
		"a descriptor that is not there": {2, "CALL --yes --passphrase-fd 77", func(r *rig) { r.locked = true }},
		"the journal is held": {1, "CALL --yes", func(r *rig) {
			r.s.Work = func(Tighten) (*Work, error) { return nil, journal.ErrLocked }
		}},
		"a list of payouts":     {0, "pay LIST --asset usdc --chain base --yes", nil},
		"a list with a fault":   {2, "pay LIST --asset nothing --chain base --yes", nil},
		"no list":               {2, "pay --yes", nil},
		"no file":               {2, "call /nowhere/x.json --yes", nil},
		"transfer without --to": {2, "transfer --asset usdc --amount 1 --yes", nil},
		"swap of nothing":       {2, "swap --asset usdc --amount 0 --for eth@base --yes", nil},
		"an unknown flag":       {2, "swap --passphrase secret", nil},
		"plan":                  {0, "plan --template", nil},
		"plan of nothing":       {2, "plan", nil},
		"apply without a file":  {2, "apply --yes", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			if c.setup != nil {
				c.setup(r)
			}
			var args []string
			for _, a := range strings.Fields(c.args) {
				switch a {
				case "CALL":
					args = append(args, callFlags()...)
				case "LIST":
					args = append(args, file(t, "list.csv", payee+",25\n"))
				case "SENTENCE":
					args = append(args, gate)
				case "Q":
					args = append(args, quoteID(5))
				default:
					args = append(args, a)
				}
			}
			r.done(c.code, args...)
			if c.code != 0 && !strings.Contains(r.err.String(), "coffer: ") {
				t.Errorf("nothing is said: %s", r.err.String())
			}
		})
	}
}

// inBook puts an operation that was sent into the journal.
func inBook(r *rig, s journal.State, expires int64) {
	r.book = []journal.Operation{{ID: "3333333333333333", State: s, QuoteID: quoteID(5), Expires: expires,
		IntentHash: "00"}}
}

// TestCodesOfThisPackageAreThoseOfTheProgram: one place names the codes.
func TestCodesOfThisPackageAreThoseOfTheProgram(t *testing.T) {
	for code, err := range map[int]error{
		cli.ExitFailed: byStatus("FAILED", "", true), cli.ExitUnknown: byStatus("PENDING", "", true),
		cli.ExitDone:    byStatus("COMPLETED", "", true),
		cli.ExitRefused: stopped("", flow.ErrRefused), cli.ExitExpired: stopped("", flow.ErrExpired),
		cli.ExitAccess: stopped("", vault.ErrLocked), cli.ExitUsage: usage("", "x"),
	} {
		if got := codeOf(err); got != code {
			t.Errorf("%v: %d, want %d", err, got, code)
		}
	}
}
