//go:build unix

package commands

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
	"coffer/ui/termtest"
)

// members are the names of the members of a JSON document: of an object, of all objects of a list, or of all lines.
func members(t *testing.T, text string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	dec := json.NewDecoder(strings.NewReader(text))
	for dec.More() {
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Errorf("%v: %.200s", err, text)
			return out
		}
		list, is := v.([]any)
		if !is {
			list = []any{v}
		}
		for _, one := range list {
			object, _ := one.(map[string]any)
			for name := range object {
				out[name] = true
			}
		}
	}
	return out
}

// real is every command with --json on a wallet in front of a real service in another process, and what the goldens say
// of it.
type real struct {
	rig.Script
	goldens map[string][]string
	ran     map[string]bool
}

// prints runs a command and holds what it prints against its goldens: it is one document, and it has no member that
// none of them has.
func (r *real) prints(command string, more ...string) string {
	r.Helper()
	args := append(strings.Fields(command), more...)
	if command != "serve" {
		args = append(args, "--json")
	}
	out, _ := r.Runs(0, args...)
	r.judges(command, out)
	return out
}

func (r *real) judges(command, out string) {
	r.Helper()
	known := map[string]bool{}
	for _, file := range r.goldens[command] {
		raw, err := os.ReadFile(file)
		if err != nil {
			r.Fatal(err)
		}
		maps.Copy(known, members(r.T, string(raw)))
	}
	rig.WholeJSON(r.T, command, out)
	found := members(r.T, out)
	for name := range found {
		if !known[name] {
			r.Errorf("coffer %s prints %q, which no golden has", command, name)
		}
	}
	if len(found) == 0 {
		r.Errorf("coffer %s prints nothing: %s", command, out)
	}
	r.ran[command] = true
}

// typed runs a command in front of a person, with its data going into a file.
func (r *real) typed(command string, more []string, answers ...string) {
	r.Helper()
	file := filepath.Join(r.TempDir(), "out.json")
	cmd := exec.Command("sh", append([]string{"-c", `file=$1; shift; exec "$@" >"$file"`, "sh", file, rig.Program()},
		append(append(strings.Fields(command), more...), "--json")...)...)
	cmd.Env = r.Env
	term, err := termtest.Start(cmd, 120, 30)
	if err != nil {
		r.Fatal(err)
	}
	defer term.Close()
	p := rig.At(r.T, term)
	for i := 0; i < len(answers); i += 2 {
		p.Sees(answers[i])
		p.Types(answers[i+1] + "\r")
	}
	if err := p.Ends(); err != nil {
		r.Fatalf("%s: %v\n%s", command, err, term.Screen())
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		r.Fatal(err)
	}
	r.judges(command, string(raw))
}

// TestEveryJSONOutputIsWhatItsGoldensSay: the whole set, really run.
func TestEveryJSONOutputIsWhatItsGoldensSay(t *testing.T) {
	t.Parallel()
	env, b := rig.Team(t)
	// TestJSONOfServe, TestJSONOfDevnet
	r := &real{rig.Script{T: t, Env: env, Pass: rig.Passphrase}, goldensOfJSON(),
		map[string]bool{"serve": true, "devnet": true}}
	dir := t.TempDir()
	key, plan, intent, batch := filepath.Join(dir, "key"), filepath.Join(dir, "pay.toml"),
		filepath.Join(dir, "intent.json"), filepath.Join(dir, "batch.json")
	if err := os.WriteFile(key, []byte(strings.Repeat("07", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"balances", "assets", "chains", "export", "doctor", "accounts check", "keys list",
		"keys new"} {
		r.prints(command)
	}
	r.prints("receive", "--asset", "usdc@base", "--amount", "25")
	r.prints("keys import", "--file", key)
	r.prints("plan", rig.Pays(t, "plan")[1:]...)
	r.Runs(0, rig.Pays(t, "plan", "--out", plan)...)
	looked := r.prints("apply", plan, "--dry-run")
	if err := os.WriteFile(filepath.Join(dir, "looked.json"), []byte(looked), 0o600); err != nil {
		t.Fatal(err)
	}
	r.prints("call", append(rig.Pays(t, "call")[1:], "--dry-run")...)
	list := filepath.Join(dir, "list.csv")
	if err := os.WriteFile(list, []byte(rig.AList(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.prints("pay", list, "--asset", "usdc@base", "--dry-run")
	r.prints("swap", "--asset", "usdc", "--amount", "20", "--for", "eth@base", "--dry-run")
	r.prints("lab", "swap 1000000 USDC for ETH@base") // only refusals: no document of the service is inside
	done := rig.ResultOf(t, r.prints("transfer", "--asset", "usdc", "--amount", "20", "--to", rig.Payee(t), "--chain",
		"op", "--yes", "--accept", "V4,Q10,Q11,J4,U3"))
	r.prints("call", append(rig.Pays(t, "call")[1:], "--allow", "1 USDC "+rig.Payee(t), "--yes", "--accept",
		"V4,Q10,Q11,J4,U3,U8")...)
	r.prints("accounts allowances")
	r.prints("activity")
	r.prints("activity repair")
	r.prints("refund", done.QuoteID)
	r.prints("status", done.Operation)
	r.prints("history")

	r.Pass = "" // nothing below needs the keys
	r.prints("verify", plan, b.At.NetworkFile, filepath.Join(dir, "looked.json"))
	if err := os.WriteFile(intent,
		[]byte(
			`{"version":1,"targetChain":"eip155:8453","calls":[{"to":"0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",`+
				`"data":"0x01"}],"slippageBps":50}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(batch, []byte(r.prints("intent to-safe", intent)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.prints("intent from-safe", batch)
	r.prints("profile list")
	r.prints("profile fingerprint", b.At.NetworkFile)
	r.prints("keys probe")
	r.prints("network init", "--kind", "lab", "--chain", "base=http://127.0.0.1:8545", "--out",
		filepath.Join(dir, "networks.toml"))
	r.servesKeys(filepath.Dir(b.At.NetworkFile))
	r.roles(dir)
	r.backsUp(dir)
	for command := range r.goldens {
		if !r.ran[command] {
			t.Errorf("coffer %s was not run", command)
		}
	}
}

// servesKeys runs the commands about the API keys of a running service.
func (r *real) servesKeys(data string) {
	r.Helper()
	var key struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(r.prints("serve keys add", "--data", data, "--public-test")), &key); err != nil {
		r.Fatal(err)
	}
	r.prints("serve keys list", "--data", data)
	r.prints("serve keys rotate", key.ID, "--data", data, "--grace", "1h")
	r.prints("serve keys revoke", key.ID, "--data", data)
}

// roles runs the commands about a role-based account, on a profile inside the program.
func (r *real) roles(dir string) {
	r.Helper()
	file := filepath.Join(dir, "admin.key")
	if err := os.WriteFile(file, []byte(rig.AdminKeyText), 0o600); err != nil {
		r.Fatal(err)
	}
	of := []string{"--profile", "roles"}
	r.prints("contacts add", "Anna", "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442")
	r.prints("contacts rename", "Anna", "Anna K.")
	r.prints("contacts list")
	r.prints("contacts remove", "Anna K.")
	people := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(people, []byte("name,address\nBert,"+rig.AdminAddress+"\n"), 0o600); err != nil {
		r.Fatal(err)
	}
	r.prints("contacts import", people)
	r.prints("profile add", "roles", "--kind", "embedded", "--vault", "file")
	r.prints("profile add", "plain", "--kind", "embedded", "--vault", "file")
	r.prints("accounts add", append(of, "--type", "role-based", "--session",
		"0x5e00000000000000000000000000000000000000", "--admin", rig.AdminAddress)...)
	r.prints("accounts list", of...)
	r.prints("accounts show", append(of, "--chain", "eip155:8453")...)
	var account []struct {
		Address string `json:"accountAddress"`
	}
	out, _ := r.Runs(0, append([]string{"accounts", "list", "--json"}, of...)...)
	if err := json.Unmarshal([]byte(out), &account); err != nil || len(account) != 1 {
		r.Fatalf("%v: %s", err, out)
	}
	signed := append(slices.Clone(of), "--chain", "eip155:8453", "--admin-key-file", file, "--confirm",
		account[0].Address[38:])
	r.prints("accounts rotate", append(signed, "--new-session", rig.Payee(r.T))...)
	r.prints("accounts exit announce", append(signed, "--print")...)
	r.prints("accounts exit announce", signed...)
	r.prints("accounts exit cancel", signed...)
	r.prints("accounts exit sweep", append(signed, "--to", rig.Payee(r.T))...)
	r.prints("accounts add", "--profile", "plain", "--type", "solana", "--address",
		"4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T")
	r.prints("accounts remove", "--profile", "plain", "solana", "--yes")
	r.Runs(0, "accounts", "add", "--profile", "plain", "--type", "kernel-v3.3-ecdsa", "--signer", rig.Payee(r.T))
	r.prints("accounts undelegate", "--profile", "plain", rig.Payee(r.T), "--yes")
}

// backsUp sets up a vault and restores a backup, which takes a person.
func (r *real) backsUp(dir string) {
	r.Helper()
	of := []string{"--profile", "roles"}
	r.typed("keys init", of, "New passphrase", rig.Passphrase, "once more", rig.Passphrase)
	r.Pass = rig.Passphrase
	item, _ := r.Runs(0, append([]string{"keys", "new"}, of...)...)
	address, file := strings.TrimSpace(item), filepath.Join(dir, "keys.age")
	_, err := rig.Asks(r.T, r.Env, append([]string{"keys", "backup", file}, of...), "Passphrase of profile",
		rig.Passphrase, "Passphrase of the backup", "another good phrase", "once more", "another good phrase")
	if err = errors.Join(err); err != nil {
		r.Fatal(err)
	}
	r.Runs(0, append([]string{"keys", "remove", address, "--confirm", address[38:]}, of...)...)
	r.typed("keys restore", append([]string{file}, of...), "Passphrase of profile", rig.Passphrase,
		"Passphrase of the backup", "another good phrase")
}
