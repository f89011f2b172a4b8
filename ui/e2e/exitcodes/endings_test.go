//go:build unix

package exitcodes

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/ui/e2e/rig"
)

func at(path string) func(rig.Request) bool {
	return func(r rig.Request) bool { return strings.HasSuffix(r.Path, path) }
}

func everything(rig.Request) bool { return true }

// replaced changes every occurrence of a text in the answers of a path.
func replaced(path, old, by string) func(rig.Request, int, []byte) (int, []byte) {
	return func(r rig.Request, status int, a []byte) (int, []byte) {
		if strings.HasSuffix(r.Path, path) {
			a = []byte(strings.ReplaceAll(string(a), old, by))
		}
		return status, a
	}
}

// looking are the endings of the commands that only read.
func looking() []ending {
	paths := map[string]string{
		"balances": "/aggregated-balance", "assets": "/assets/list", "chains": "/supported-list",
		"history": "/get-tx-history", "export": "/aggregated-balance", "status NOBODY": "/get-execution-status",
		"accounts check": "/predict-address", "doctor": "/supported-list",
	}
	var out []ending
	for _, words := range []string{"balances", "assets", "chains", "history", "export", "accounts check"} {
		out = append(out,
			ending{command: words, code: 0, args: words + " --json"},
			ending{command: words, code: 1, args: words + " --json", refuse: everything},
			ending{command: words, code: 2, args: words + " --wrong"},
			ending{command: words, code: 2, args: words + " more"},
			ending{command: words, code: 3, args: words + " --json", locked: true},
			ending{command: words, code: 3, args: words, wrong: true},
			ending{command: words, code: 5, args: words + " --json", stop: at(paths[words])})
	}
	return append(out,
		ending{command: "chains", code: 4, args: "chains --json",
			answer: replaced("/supported-list", `"reference":"10"`, `"reference":"8453"`)},
		ending{command: "assets", code: 4, args: "assets --json",
			answer: replaced("/assets/list", `"decimals":6`, `"decimals":7`)},
		ending{command: "accounts check", code: 4, args: "accounts check --json", answer: misled},
		ending{command: "status", code: 1, args: "status NOBODY", refuse: everything},
		ending{command: "status", code: 2, args: "status 12"},
		ending{command: "status", code: 3, args: "status NOBODY --json", locked: true},
		ending{command: "status", code: 5, args: "status NOBODY --json", stop: at("/get-execution-status")},
		ending{command: "status", code: 6, args: "status NOBODY --json"},
		ending{command: "activity", code: 0, args: "activity --json"},
		ending{command: "activity", code: 0, args: "activity repair --json"},
		ending{command: "activity", code: 2, args: "activity repair --chain base"},
		ending{command: "activity", code: 2, args: "activity void"},
		ending{command: "activity", code: 3, args: "activity", locked: true},
		ending{command: "receive", code: 0, args: "receive --amount 25 --asset usdc --chain base", refuse: everything},
		ending{command: "receive", code: 2, args: "receive --amount 25 --asset usdc"},
		ending{command: "receive", code: 3, args: "receive", locked: true},
		ending{command: "refund", code: 0, args: "refund --print"},
		ending{command: "refund", code: 0, args: "refund --json", refuse: everything},
		ending{command: "refund", code: 2, args: "refund NOBODY --print"},
		ending{command: "refund", code: 3, args: "refund --print", locked: true},
		ending{command: "doctor", code: 0, args: "doctor --json"},
		ending{command: "doctor", code: 1, args: "doctor --json", refuse: everything},
		ending{command: "doctor", code: 1, args: "doctor", locked: true},
		ending{command: "doctor", code: 2, args: "doctor --report --json"},
	)
}

// acting are the endings of the commands that sign, in front of a service that does its work. They are in order: some
// leave something behind.
func acting() []ending {
	short := "call --chain base --to usdc --function transfer(address_to,uint256_amount) --arg PAYEE --arg " +
		"900000_USDC --yes --accept V4,Q10,Q11,J4,U3 --json"
	out := []ending{
		{command: "plan", code: 0, args: "plan --template --json"},
		{command: "plan", code: 2, args: "plan --chain nowhere --to usdc --json"},
		{command: "plan", code: 2, args: "plan /nowhere/plan.toml"},
		{command: "plan", code: 3, args: "plan --template", locked: true},
		{command: "call", code: 1, args: short},
		{command: "call", code: 1, args: rig.ACall + " --dry-run --json", refuse: at("/prepare-call-quote")},
		{command: "call", code: 2, args: rig.ACall},
		{command: "pay", code: 2, args: "pay LIST --asset usdc --yes --accept V4"},
		{command: "call", code: 2, args: "call /nowhere/x.json --yes --accept V4,Q10,Q11,J4,U3"},
		{command: "apply", code: 2, args: "apply /nowhere/x.toml --yes --accept V4,Q10,Q11,J4,U3"},
		{command: "apply", code: 2, args: "apply PLAN"},
		{command: "transfer", code: 2, args: "transfer --yes --accept V4,Q10,Q11,J4,U3"},
		{command: "swap", code: 2, args: "swap --yes --accept V4,Q10,Q11,J4,U3"},
	}
	for command, args := range map[string]string{"call": rig.ACall, "transfer": rig.ATransfer, "swap": rig.ASwap,
		"apply": "apply PLAN", "pay": rig.APayment} {
		out = append(out, ending{command: command, code: 3, args: args + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			locked: true}, ending{command: command, code: 3, args: args + " --yes --accept V4,Q10,Q11,J4,U3",
			wrong: true})
	}
	return append(out,
		ending{command: "call", code: 4, args: rig.ACall + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			answer: hostile("/prepare-call-quote")},
		ending{command: "apply", code: 4, args: "apply PLAN --yes --accept V4,Q10,Q11,J4,U3 --json",
			answer: hostile("/prepare-call-quote")},
		ending{command: "pay", code: 4, args: rig.APayment + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			answer: hostile("/prepare-call-quote")},
		ending{command: "transfer", code: 4, args: rig.ATransfer + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			answer: replaced("/quote", "eip155:10/", "eip155:8453/")},
		ending{command: "swap", code: 4, args: rig.ASwap + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			answer: replaced("/quote", "eip155:8453/", "eip155:10/")},
		ending{command: "call", code: 5, args: rig.ACall + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			stop: at("/prepare-call-quote")},
		ending{command: "apply", code: 5, args: "apply PLAN --yes --accept V4,Q10,Q11,J4,U3 --json",
			stop: at("/prepare-call-quote")},
		ending{command: "pay", code: 5, args: rig.APayment + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			stop: at("/prepare-call-quote")},
		ending{command: "transfer", code: 5, args: rig.ATransfer + " --yes --accept V4,Q10,Q11,J4,U3 --json",
			stop: at("/quote")},
		ending{command: "swap", code: 5, args: rig.ASwap + " --dry-run --json", stop: at("/quote")},
		ending{command: "call", code: 0, args: rig.ACall + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		ending{command: "pay", code: 0, args: rig.APayment + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		ending{command: "transfer", code: 0, args: rig.ATransfer + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		ending{command: "swap", code: 0, args: rig.ASwap + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		ending{command: "apply", code: 0, args: "apply PLAN --yes --accept V4,Q10,Q11,J4,U3 --json"},
		ending{command: "apply", code: 4, args: "apply PLAN --yes --accept V4,Q10,Q11,J4,U3 --json"},
	)
}

// lost are endings whose outcome is not known: no answer comes to execute, and none to the question how it stands until
// the person gives up.
func lost() []ending {
	var out []ending
	for command, args := range map[string]string{"call": rig.ACall, "transfer": rig.ATransfer, "swap": rig.ASwap,
		"apply": "apply PLAN", "pay": rig.APayment} {
		out = append(out, ending{command: command, code: 6, args: args + " --yes --accept V4,Q10,Q11,J4,U3 --json"})
	}
	slices.SortFunc(out, func(a, b ending) int { return strings.Compare(a.command, b.command) })
	return out
}

// paidBack are the endings in front of a service whose target block always fails.
func paidBack() []ending {
	return []ending{
		// REFUNDED
		{command: "call", code: 1, repeat: true, args: strings.Replace(rig.ACall, "20_USDC", "430_USDC", 1) +
			" --yes --accept V4,Q10,Q11,J4,U3 --json"},
		// FAILED: nobody else pays
		{command: "call", code: 1, repeat: true, args: rig.ACall + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "pay", code: 1, repeat: true, args: rig.APayment + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "transfer", code: 1, repeat: true, args: rig.ATransfer + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "swap", code: 1, repeat: true, args: rig.ASwap + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "apply", code: 1, repeat: true, args: "apply PLAN --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "status", code: 1, args: "status LAST --json"},
	}
}

// local are the endings of commands that ask no service, with the files of the tests of `coffer verify`.
func local() []ending {
	const data = "../../cli/check/testdata/"
	return []ending{
		{command: "network", code: 0, args: "network init --kind lab --chain base=http://127.0.0.1:1 --out HOME.toml"},
		{command: "network", code: 1, args: "network check --file HOME.toml"},
		{command: "network", code: 2, args: "network init --kind lab --out HOME.toml"},
		{command: "network", code: 2, args: "network deploy --file /nowhere.toml --dry-run"},
		{command: "verify", code: 0, args: "verify " + data + "v3-swap-role-based.json --now saved --json"},
		{command: "verify", code: 2, args: "verify /nowhere.json --json"},
		{command: "verify", code: 2, args: "verify"},
		{command: "verify", code: 4, args: "verify " + data + "v3-swap-role-based.json --json"},
		{command: "intent", code: 0, args: "intent to-safe " + data + "intent.json"},
		{command: "intent", code: 2, args: "intent to-safe /nowhere.json"},
		{command: "intent", code: 4, args: "intent from-safe " + data + "intent.json"},
		{command: "profile", code: 0, args: "profile list --json"},
		{command: "profile", code: 2, args: "profile add"},
		{command: "keys", code: 2, args: "keys list"}, // the demo profile keeps none
		{command: "keys", code: 2, args: "keys"},
		{command: "serve", code: 1, args: "serve --data HOME --listen 192.0.2.1:1"},
		{command: "serve", code: 2, args: "serve --fund maybe"},
		{command: "serve keys", code: 0, args: "serve keys add --data HOME --public-test --json"},
		{command: "serve keys", code: 1, args: "serve keys revoke nobody --data HOME --json"},
		{command: "serve keys", code: 2, args: "serve keys add --permission admin"},
		{command: "version", code: 0, args: "version"},
		{command: "version", code: 2, args: "version 2"},
	}
}

// misled predicts another address.
func misled(r rig.Request, status int, a []byte) (int, []byte) {
	if strings.HasSuffix(r.Path, "/predict-address") {
		a = regexp.MustCompile(`0x[0-9a-fA-F]{40}`).ReplaceAll(a, []byte("0x"+strings.Repeat("11", 20)))
	}
	return status, a
}

// hostile puts another recipient into what was prepared.
func hostile(path string) func(rig.Request, int, []byte) (int, []byte) {
	return func(r rig.Request, status int, a []byte) (int, []byte) {
		if strings.HasSuffix(r.Path, path) {
			a = rig.Splice(a, rig.PreparedAttacks()[0])
		}
		return status, a
	}
}

// limited are the endings under a policy that allows next to nothing.
func limited() []ending {
	return []ending{
		{command: "call", code: 4, args: rig.ACall + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "transfer", code: 4, args: rig.ATransfer + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "swap", code: 4, args: rig.ASwap + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "apply", code: 4, args: "apply PLAN2 --yes --accept V4,Q10,Q11,J4,U3 --json"},
	}
}

// expired are the endings of quotes that came too late.
func expired() []ending {
	return []ending{{command: "transfer", code: 5, repeat: true,
		args: rig.ATransfer + " --yes --accept V4,Q10,Q11,J4,U3 --json", refuse: late}}
}

// forbidden are the endings with an API key that may only read.
func forbidden() []ending {
	return []ending{
		{command: "balances", code: 0, args: "balances --json"},
		{command: "transfer", code: 3, args: rig.ATransfer + " --yes --accept V4,Q10,Q11,J4,U3 --json"},
		{command: "call", code: 3, args: rig.ACall + " --dry-run --json"},
	}
}

// keyless are the endings without an API key, and those of the keys themselves.
func keyless() []ending {
	return []ending{
		{command: "balances", code: 3, args: "balances --json"}, {command: "keys", code: 0, args: "keys list --json"},
		{command: "keys", code: 3, args: "keys list --json", wrong: true},
		{command: "keys", code: 3, args: "keys remove 0x0000000000000000000000000000000000000001 --confirm 0001"},
		{command: "keys", code: 3, args: "keys new --json", locked: true},
		{command: "keys", code: 1, args: "keys import --file KEYFILE --json"}, // it is there already
	}
}

// apart are the endings that the tests bring about outside of their lists, or that stand in tests of the package named
// in docs/commands.md.
func apart() []ending {
	return []ending{
		{command: "status", code: 0}, {command: "status", code: 4}, {command: "status", code: 5},
		{command: "serve", code: 0},
		{command: "accounts", code: 0}, {command: "accounts", code: 2}, {command: "accounts", code: 3},
		{command: "accounts", code: 4},
		{command: "activity adopt", code: 0}, {command: "activity adopt", code: 1},
		{command: "activity adopt", code: 2}, {command: "activity adopt", code: 4},
		{command: "activity adopt", code: 5}, {command: "refund", code: 1},
		{command: "serve check", code: 0}, {command: "serve check", code: 1},
		{command: "serve check", code: 2},
		{command: "serve backup", code: 0}, {command: "serve backup", code: 1}, {command: "serve backup", code: 2},
		{command: "serve export", code: 0}, {command: "serve export", code: 1}, {command: "serve export", code: 2},
		{command: "serve import", code: 0}, {command: "serve import", code: 1}, {command: "serve import", code: 2},
		{command: "serve", code: 3}, {command: "serve keys", code: 3},
		{command: "attest", code: 0}, {command: "attest", code: 1}, {command: "attest", code: 2},
		{command: "attest", code: 3},
		{command: "tank", code: 0}, {command: "tank", code: 1}, {command: "tank", code: 2}, {command: "tank", code: 3},
		{command: "tank", code: 4}, {command: "tank", code: 5}, {command: "tank", code: 6},
		{command: "tank withdraw", code: 0}, {command: "tank withdraw", code: 1}, {command: "tank withdraw", code: 2},
		{command: "tank withdraw", code: 3}, {command: "tank withdraw", code: 4}, {command: "tank withdraw", code: 5},
		{command: "tank withdraw", code: 6},
	}
}

// TestTheExitCodesOfTheDocument: the table of docs/commands.md lists the codes that the tests of this program bring
// about, no more and no fewer.
func TestTheExitCodesOfTheDocument(t *testing.T) {
	t.Parallel()
	brought := map[string]map[string]bool{}
	for _, e := range slices.Concat(looking(), acting(), lost(), paidBack(), local(), limited(), expired(), forbidden(),
		keyless(), apart()) {
		if brought[e.command] == nil {
			brought[e.command] = map[string]bool{}
		}
		brought[e.command][fmt.Sprint(e.code)] = true
	}
	raw, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "commands.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(raw), "| command | ends with | test |\n|---|---|---|\n")
	table, _, ends := strings.Cut(table, "\n\n")
	if !found || !ends {
		t.Fatal("there is no table of the endings")
	}
	tests, err := filepath.Glob("../*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tests = append(tests, "../../cli/act/codes_test.go", "../../cli/act/refund_test.go", "../../cli/serve_test.go",
		"../../cli/attest_test.go", "../../cli/tank/tank_test.go", "../../../api/service/attested_test.go")
	listed := map[string]bool{}
	for row := range strings.SplitSeq(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) != 5 {
			t.Fatalf("row %q", row)
		}
		for _, command := range regexp.MustCompile("`([a-z -]+)`").FindAllStringSubmatch(cells[1], -1) {
			listed[command[1]] = true
			for code := range 7 {
				word := fmt.Sprint(code)
				if says := slices.Contains(strings.Fields(strings.ReplaceAll(cells[2], ",", "")),
					word); says != brought[command[1]][word] {
					t.Errorf("%s: code %d in the document %t, in the tests %t", command[1], code, says, !says)
				}
			}
		}
		for _, name := range regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(cells[3], -1) {
			if !slices.ContainsFunc(tests, func(f string) bool {
				text, err := os.ReadFile(f)
				return err == nil && strings.Contains(string(text), "func "+name[1]+"(")
			}) {
				t.Errorf("there is no test %s", name[1])
			}
		}
	}
	for command := range brought {
		if !listed[command] {
			t.Errorf("the document leaves %s out", command)
		}
	}
}

// late holds an execute back until its quote has ended; then the service hears of it.
func late(r rig.Request) bool {
	if rig.Executes(r) {
		<-time.NewTimer(11 * time.Second).C
	}
	return false
}
