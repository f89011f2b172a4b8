package act

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

const transferOf25 = `{"version":1,"targetChain":"eip155:8453",` +
	`"calls":[{"to":"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913","function":"transfer(address to, uint256 amount)",` +
	`"data":"0xa9059cbb00000000000000000000000093dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0000000000000000000000000000000` +
	`00000000000000000000000000017d7840"}],"slippageBps":50}`

// file writes a file for a test and returns its path.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func callFlags(more ...string) []string {
	return append([]string{"call", "--chain", "base", "--to", "usdc", "--function",
		"transfer(address to, uint256 amount)", "--arg", payee, "--arg", "25 USDC"}, more...)
}

// aPlan is a plan of the same call, with limits, made by the command.
func aPlan(t testing.TB, r *rig, more ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pay.toml")
	args := append([]string{"plan"}, callFlags()[1:]...)
	r.done(0, append(append(args, "--max-spend", "30", "--limit-chains", "base,op", "--max-cost-bps", "100", "--out",
		path), more...)...)
	return path
}

// someBook is a journal with a finished operation and one that was only signed; its signatures are authorizations.
func someBook(r *rig) {
	sig := journal.Signature{
		Role: verify.RoleFunding, Kind: api.AccountKernelV31, Chain: "eip155:10", ChainID: 10, Sender: account, Lane: 1,
		Nonce: "1", OpHash: hash("06"), Digest: hash("07"),
		Signature: "0xSECRETSIGNATURE", ValidUntil: start().Add(10 * time.Minute).Unix(), QuoteID: quoteID(5),
		Spend: []journal.Spend{{Asset: "eip155:10/slip44:60", Amount: "5"}},
	}
	r.book = []journal.Operation{
		{
			ID: "1111111111111111", State: journal.Done, Started: start().Add(-time.Hour),
			Updated: start().Add(-time.Hour), Intent: []byte(transferOf25), IntentHash: "ab", QuoteID: quoteID(1),
			Outcome: api.StatusCompleted, Signatures: []journal.Signature{sig}, Recipients: []string{payee},
			Prepared: []byte(`{"tamperProofSignature":"0xSECRETDOCUMENT"}`),
			Agreed:   []journal.Agreement{{Summary: []string{"transfer of 25 USDC"}, Confirmed: "SECRETCONFIRMATION"}},
		},
		{ID: "2222222222222222", State: journal.Signed, Started: start(), Updated: start(),
			Intent: []byte(transferOf25), IntentHash: "cd", Signatures: []journal.Signature{sig}},
	}
	r.live = []journal.Outstanding{{Signature: sig, Op: "2222222222222222", State: journal.Signed,
		Void: "It ends by itself."}}
}

// withDocuments makes the journal hold the answers of the operation under way, until it has ended.
func withDocuments(r *rig) {
	r.op.forget = func() { r.book = r.book[:0] }
	r.book = append(r.book, journal.Operation{ID: opID, State: journal.Intent,
		Prepared: []byte(`{"callType": "x",  "n": 1.0}`), Quote: []byte(`{"id" :"q",  "fees":1.50}`)})
}

// TestGoldenJSON pins every --json output. Every one is JSON, and the service's documents are in it byte for byte.
func TestGoldenJSON(t *testing.T) {
	for name, c := range map[string]struct {
		code  int
		args  []string
		setup func(r *rig)
		lines bool // one document to a line
		holds []string
	}{
		"chains": {args: []string{"chains", "--json"}, holds: []string{someChains}},
		"assets": {args: []string{"assets", "--json"},
			setup: func(r *rig) { r.lists.Assets.Usable = []string{"ob:usdc"} }, holds: []string{someAssets}},
		"status_failed": {code: 1, args: []string{"status", quoteID(5), "--json"}, setup: func(r *rig) {
			r.service.statuses = []string{strings.TrimSuffix(statusJSON(api.StatusFailed), "}") +
				`,"failReason":"EXECUTION_REVERTED"}`}
		}},
		"status": {args: []string{"status", quoteID(5), "--json"},
			setup: func(r *rig) { r.service.statuses = []string{statusJSON(api.StatusCompleted)} },
			holds: []string{statusJSON(api.StatusCompleted)}},
		"unknown": {code: 6, args: []string{"status", quoteID(5), "--json"}, holds: []string{"{}"}},
		"unsent":  {code: 5, args: []string{"status", "2222222222222222", "--json"}, setup: someBook},
		"history": {args: []string{"history", "--json"}, setup: someHistory, lines: true,
			holds: []string{recordJSON(5, "COMPLETED", "CALL", start())}},
		"history_seen": {args: []string{"history", "--json"}, setup: someSeen, lines: true},
		"history_unread": {args: []string{"history", "--json"}, lines: true,
			setup: func(r *rig) { someSeen(r); r.nodes.err = errApart }},
		"export": {args: []string{"export", "--json"}, setup: func(r *rig) { someHistory(r); someBook(r) },
			holds: []string{`{"totalBalance": {"fiatValue": 12.50}`,
				recordJSON(1, "FAILED", "TRANSFER", start().Add(-4*time.Hour))}},
		"activity":        {args: []string{"activity", "--json"}, setup: func(r *rig) { someBook(r); someOpen(r) }},
		"allowances":      {args: []string{"allowances", "--json"}, setup: someAllowances},
		"allowances_none": {args: []string{"allowances", "--json"}},
		"activity_none":   {args: []string{"activity", "--json"}},
		"receive":         {args: []string{"receive", "--asset", "usdc@base", "--amount", "25", "--json"}},
		"refund":          {args: []string{"refund", "--json"}, setup: someRefunds},
		"refund_none":     {args: []string{"refund", "--json"}, setup: someBook},
		"repair":          {args: []string{"activity", "repair", "--json"}, setup: someOpen},
		"repair_set":      {args: append(repairFlags(), "--yes", "--json")},
		"call_said": {args: callFlags("--yes", "--json"), setup: func(r *rig) {
			someOpen(r)
			r.op.said, r.service.statuses = true, []string{statusJSON(api.StatusCompleted)}
		}},
		"call_dry_run": {args: callFlags("--dry-run", "--json"), setup: withDocuments},
		"call": {args: callFlags("--yes", "--json"), holds: []string{`"prepared":{"callType": "x",  "n": 1.0}`,
			`"quote":{"id" :"q",  "fees":1.50}`, `"status":` + statusJSON(api.StatusCompleted)},
			setup: func(r *rig) { withDocuments(r); r.service.statuses = []string{statusJSON(api.StatusCompleted)} }},
		"pay": {args: []string{"pay", "-", "--asset", "usdc", "--chain", "base", "--yes", "--json"},
			setup: func(r *rig) {
				withDocuments(r)
				r.c.In = strings.NewReader("recipient,amount,note\n" + payee + ",25,rent\n")
				r.service.statuses = []string{statusJSON(api.StatusCompleted)}
			}},
		"call_refused": {code: 4, args: callFlags("--yes", "--json"), setup: func(r *rig) {
			r.op.report1.Reasons = []verify.Reason{{Code: "U4", Level: verify.Refuse,
				Title: "Not true: the calls are those that were asked for.", Path: "/chainOperation/userOp/callData",
				Want: "1 call", Got: "2 calls"}}
		}},
		"call_unknown": {code: 6, args: callFlags("--yes", "--json"),
			setup: func(r *rig) { r.op.lost = true; r.op.errWatch = context.Canceled }},
		"transfer_dry_run": {args: []string{"transfer", "--asset", "usdc", "--amount", "25", "--to", payee, "--chain",
			"base", "--dry-run", "--json"}},
		"transfer": {args: []string{"transfer", "--asset", "usdc", "--amount", "25", "--to", payee, "--chain", "base",
			"--yes", "--json"}, setup: withDocuments},
		"transfer_said": {args: []string{"transfer", "--asset", "usdc", "--amount", "25", "--to", payee, "--chain",
			"base", "--yes", "--json"}, setup: func(r *rig) {
			withDocuments(r)
			someOpen(r)
			r.op.said = true
		}},
		"swap": {args: []string{"swap", "--asset", "usdc@op", "--amount", "25", "--for", "eth@base",
			"--min", "0.001", "--yes", "--json"}, setup: withDocuments},
		"plan":          {args: append([]string{"plan", "--json", "--max-spend", "30"}, callFlags()[1:]...)},
		"plan_template": {args: []string{"plan", "--template", "--format", "json"}},
		"apply": {args: []string{"apply", "PLAN", "--yes", "--json"},
			setup: func(r *rig) { withDocuments(r); r.service.statuses = []string{statusJSON(api.StatusCompleted)} }},
		"apply_dry_run": {args: []string{"apply", "PLAN", "--dry-run", "--json"}, setup: withDocuments},
		"call_paid_back": {code: 1, args: callFlags("--yes", "--json"),
			setup: func(r *rig) { r.op.watched, r.op.status = flow.StateFailed, api.StatusRefunded }},
		"call_not_executed": {code: 5, args: callFlags("--yes", "--json"),
			setup: func(r *rig) { r.op.watched, r.op.status = flow.StateNotExecuted, "" }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for i, a := range c.args {
				if a == "PLAN" {
					c.args[i] = aPlan(t, r)
				}
			}
			if c.setup != nil {
				c.setup(r)
			}
			r.done(c.code, c.args...)
			out := r.out.String()
			docs := []string{strings.TrimSuffix(out, "\n")}
			if c.lines {
				docs = strings.Split(docs[0], "\n")
			}
			for _, d := range docs {
				if !jsontext.Value(d).IsValid() {
					t.Errorf("no JSON: %s", d)
				}
			}
			for _, h := range c.holds {
				if !strings.Contains(out, h) {
					t.Errorf("%s\nis not in\n%s", h, out)
				}
			}
			if strings.Contains(out, "SECRET") {
				t.Errorf("the journal's secrets are printed:\n%s", out)
			}
			golden.RequireEqual(t, []byte(out))
		})
	}
}

// TestGoldenText pins what the user reads: the data on standard output, and after it the text on standard error.
func TestGoldenText(t *testing.T) {
	for name, c := range map[string]struct {
		code  int
		args  []string
		setup func(r *rig)
	}{
		"chains": {args: []string{"chains"}},
		"assets": {args: []string{"assets"}, setup: func(r *rig) {
			r.lists.Assets.Usable = []string{"ob:usdc", "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"}
		}},
		"history":          {args: []string{"history"}, setup: someHistory},
		"history_seen":     {args: []string{"history"}, setup: someSeen},
		"history_unread":   {args: []string{"history"}, setup: func(r *rig) { someSeen(r); r.nodes.err = errApart }},
		"history_seen_csv": {args: []string{"history", "--csv"}, setup: someSeen},
		"history_csv":      {args: []string{"history", "--csv"}, setup: someHistory},
		"status": {args: []string{"status", quoteID(5)},
			setup: func(r *rig) { r.service.statuses = []string{statusJSON(api.StatusCompleted)} }},
		"activity":      {args: []string{"activity"}, setup: func(r *rig) { someBook(r); someOpen(r) }},
		"activity_none": {args: []string{"activity"}},
		"refund":        {args: []string{"refund", "--print"}, setup: someRefunds},
		"refund_none":   {args: []string{"refund"}, setup: someBook},
		"repair":        {args: []string{"activity", "repair"}, setup: someOpen},
		"repair_none":   {args: []string{"activity", "repair"}},
		"repair_set":    {args: append(repairFlags(), "--yes")},
		"status_said": {code: 1, args: []string{"status", quoteID(5)}, setup: func(r *rig) {
			inBook(r, journal.Done, 0)
			someOpen(r)
			r.live[0].Op, r.service.statuses = "3333333333333333", []string{statusJSON(api.StatusRefunded)}
		}},
		"unsent": {code: 5, args: []string{"status", "2222222222222222"}, setup: someBook},
		"unsent_ended": {code: 5, args: []string{"status", "2222222222222222"},
			setup: func(r *rig) { someBook(r); r.live = nil }},
		"call_said":    {args: callFlags("--yes"), setup: func(r *rig) { someOpen(r); r.op.said = true }},
		"call_dry_run": {args: callFlags("--dry-run")},
		"call":         {args: callFlags("--yes")},
		"call_refused": {code: 4, args: callFlags("--dry-run"),
			setup: func(r *rig) {
				r.op.report1.Reasons = []verify.Reason{
					{Code: "U4", Level: verify.Refuse, Title: "No."}}
			}},
		"swap_dry_run": {args: []string{"swap", "--asset", "usdc", "--amount", "25", "--for", "eth@base",
			"--dry-run"}},
		"plan": {args: append([]string{"plan", "--note", "pays May", "--limit-chains", "base,op",
			"--max-spend", "30"}, callFlags()[1:]...)},
		"plan_swap": {args: []string{"plan", "--asset", "usdc", "--amount", "25", "--for", "eth@base", "--min",
			"0.001"}},
		"plan_template": {args: []string{"plan", "--template"}},
		"apply":         {args: []string{"apply", "PLAN", "--yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			for i, a := range c.args {
				if a == "PLAN" {
					c.args[i] = aPlan(t, r)
				}
			}
			if c.setup != nil {
				c.setup(r)
			}
			r.done(c.code, c.args...)
			golden.RequireEqual(t, []byte(r.out.String()+"--- standard error\n"+r.err.String()))
		})
	}
}
