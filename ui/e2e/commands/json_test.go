//go:build unix

package commands

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/ui/e2e/rig"
)

// goldensOfJSON are the golden files of each command that has --json.
func goldensOfJSON() map[string][]string {
	const (
		act, check, keys, program = "ui/cli/act/testdata/TestGoldenJSON/", "ui/cli/check/testdata/",
			"ui/cli/keys/testdata/", "ui/cli/testdata/TestJSON/"
		operator = "api/service/operator/testdata/"
	)
	all := func(dir string, names ...string) []string {
		out := make([]string, len(names))
		for i, n := range names {
			out[i] = filepath.Join(rig.Root(), dir+n+".golden")
		}
		return out
	}
	return map[string][]string{
		"assets": all(act, "assets"), "chains": all(act, "chains"), "history": all(act, "history"),
		"export": all(act, "export"),
		"status": all(act, "status", "status_failed", "unknown", "unsent"), "plan": all(act, "plan", "plan_template"),
		"apply": all(act, "apply", "apply_dry_run"),
		"call": all(act, "call", "call_dry_run", "call_refused", "call_unknown", "call_paid_back",
			"call_not_executed", "call_said"),
		"pay": all(act, "pay"), "accounts allowances": all(act, "allowances", "allowances_none"),
		"activity": all(act, "activity", "activity_none"), "activity repair": all(act, "repair", "repair_set"),
		"receive": all(act, "receive"), "refund": all(act, "refund", "refund_none"),
		"lab":  all("ui/quotelab/testdata/TestGoldenReport/", "json"),
		"swap": all(act, "swap"), "transfer": all(act, "transfer_dry_run", "transfer", "transfer_said"),
		"verify": append(all(check+"TestTH_V5_WhatIsPrintedForAProgram/", "v1-role-based-same-chain",
			"v3-eip7702-solana-funded"), all(check+"TestConversionsPrintJSON/", "schema")...),
		"intent from-safe": all(check+"TestConversionsPrintJSON/", "from-safe"),
		"intent to-safe":   all(check+"TestConversionsPrintJSON/", "to-safe"),
		"keys init":        all(keys+"TestJSON/", "keys_init"), "keys probe": all(keys+"TestJSON/", "keys_probe"),
		"keys new":            all(keys+"TestJSON/", "keys_new"),
		"keys list":           all(keys+"TestJSON/", "keys_list", "keys_list_none"),
		"keys import":         all(keys+"TestJSON/", "keys_import"),
		"keys restore":        all(keys, "TestJSONOfWhatWasRestored"),
		"profile add":         all(keys+"TestJSON/", "profile_add", "profile_add_memory"),
		"profile list":        all(keys+"TestJSON/", "profile_list"),
		"profile fingerprint": all(keys+"TestJSON/", "profile_fingerprint"),
		"accounts list": all(keys+"TestJSON/", "accounts_list", "accounts_list_none", "accounts_list_both",
			"accounts_list_roles"), "accounts add": all(keys+"TestJSON/", "accounts_add", "accounts_add_roles",
			"accounts_add_solana"), "accounts remove": all(keys+"TestJSON/", "accounts_remove"),
		"contacts list": all(keys+"TestJSON/", "contacts_list", "contacts_list_none"),
		"contacts add":  all(keys+"TestJSON/", "contacts_add"), "contacts rename": all(keys+"TestJSON/",
			"contacts_rename"), "contacts remove": all(keys+"TestJSON/", "contacts_remove"),
		"contacts import": all(keys+"TestJSON/", "contacts_import"),
		"accounts check":  all(keys+"TestJSONOfAComparison/", "equal", "differs"),
		"balances":        all(program, "balances"), "doctor": all(program, "doctor"),
		"accounts show":          all(program, "accounts_show"),
		"accounts undelegate":    all(program, "accounts_undelegate"),
		"accounts rotate":        all(program, "accounts_rotate", "accounts_rotate_half"),
		"accounts exit announce": all(program, "accounts_exit_announce"),
		"accounts exit cancel":   all(program, "accounts_exit_cancel"),
		"accounts exit sweep":    all(program, "accounts_exit_sweep"),
		"network init":           all(operator+"TestInitPrintsWhatItWrote/", "json"),
		"devnet":                 {"testdata/TestJSONOfDevnet.golden"},
		"serve":                  {"testdata/TestJSONOfServe.golden"}, "serve keys add": all(program, "serve_keys_add"),
		"serve keys list":   all(program, "serve_keys_list"),
		"serve keys rotate": all(program, "serve_keys_rotate"), "serve keys revoke": all(program, "serve_keys_revoke"),
	}
}

// TestEveryJSONOutputHasAGolden: a command with --json that no golden pins fails here, and so does a golden of a
// command that has none.
func TestEveryJSONOutputHasAGolden(t *testing.T) {
	t.Parallel()
	goldens, elsewhere := goldensOfJSON(), jsonElsewhere()
	commands := rig.Commands(t)
	if len(commands) < 40 {
		t.Errorf("%d commands were found", len(commands))
	}
	for path, h := range commands {
		if h.Flags["json"] && len(goldens[path]) == 0 && elsewhere[path] == "" {
			t.Errorf("coffer %s has --json and no golden", path)
		}
	}
	for path, files := range goldens {
		if !commands[path].Flags["json"] {
			t.Errorf("coffer %s has no --json", path)
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Errorf("coffer %s: %v", path, err)
			}
			rig.WholeJSON(t, path, string(raw))
		}
	}
	for path, file := range elsewhere {
		raw, err := os.ReadFile(filepath.Join(rig.Root(), file))
		if err != nil || !commands[path].Flags["json"] || !strings.Contains(strings.ToLower(string(raw)), "json") {
			t.Errorf("coffer %s: %v", path, err)
		}
	}
}

// jsonElsewhere are the commands whose --json is pinned by a test that holds the text itself, with the file of that
// test.
func jsonElsewhere() map[string]string {
	const owner = "api/service/operator/owner_test.go"
	return map[string]string{"version": "ui/cli/version_test.go", "config show": "ui/cli/config_test.go",
		"keys node-key list": "ui/e2e/keys/node_key_test.go", "network deploy": "api/service/operator/print_test.go",
		"network status": "api/service/netstatus/netstatus_test.go",
		"network check":  "api/service/operator/print_test.go", "profile nodes": "ui/cli/keys/nodes_test.go",
		"network rebalance": "api/service/netstatus/balance_test.go", "attest": "api/service/daemon/attest_test.go",
		"tank": "ui/cli/tank/tank_test.go", "tank withdraw": "ui/cli/tank/tank_test.go",
		"network owner allow": owner, "network owner remove": owner, "network owner cap": owner,
		"network owner pause": owner, "network owner unpause": owner, "network owner fund": owner,
		"network owner gas": owner, "network owner withdraw": owner}
}

// TestJSONOfServe: the one line, with what differs from start to start replaced.
func TestJSONOfServe(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	cmd, _, line, _ := rig.Serve(t, env, "--metrics", "127.0.0.1:0", "--fault", "slow-fill=1s")
	oneLine(t, line)
	rig.Interrupt(t, cmd)
}

// TestJSONOfDevnet: the one line, likewise.
func TestJSONOfDevnet(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	cmd, line := rig.Devnet(t, env)
	oneLine(t, line)
	rig.Interrupt(t, cmd)
}

// oneLine compares what a service said with its golden, but for what differs from start to start.
func oneLine(t *testing.T, line string) {
	t.Helper()
	var at map[string]any
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatal(err)
	}
	dir, _ := at["caFile"].(string)
	key, _ := at["apiKey"].(string)
	got := strings.NewReplacer(filepath.Dir(dir), "/data", key, "KEY").Replace(line)
	got = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(got, "127.0.0.1:PORT")
	got = regexp.MustCompile(`,"notes":\[[^]]*]`).ReplaceAllString(got, "") // of a port that happens to be taken
	golden.RequireEqual(t, []byte(got))
}
