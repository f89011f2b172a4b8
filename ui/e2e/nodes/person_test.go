//go:build unix

package nodes

import (
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"coffer/ui/e2e/rig"
)

// person has a profile on the chains of a world. Without an account it is one that has no secrets to tell.
type person struct {
	*world
	pass      string // of the vault, once it is needed
	file      string
	key, tank common.Address
	at        map[string]common.Address // accounts by name
}

// kinds of accounts by the name that a person gives them.
var kinds = map[string]string{"daily": "kernel-v3.1-ecdsa", "direct": "kernel-v3.3-ecdsa", "team": "role-based"}

// names is a file of networks for all chains, of which each has these endpoints.
func (w *world) names(endpoints func(id string) []string) (file string) {
	w.Helper()
	at := filepath.Join(w.dir, "nodes")
	w.ok(os.Mkdir(at, 0o700))
	file = filepath.Join(at, "networks.toml")
	args := []string{"network", "init", "--kind", "lab", "--out", file}
	for _, id := range w.ids {
		for _, url := range endpoints(id) {
			args = append(args, "--chain", id+"="+url)
		}
	}
	rig.Script{T: w.T, Env: w.env}.Runs(0, args...)
	w.edits(file, "tokens = [\n", `tokens = [
  { symbol = "USDC", address = "`+w.usdc.Hex()+`", decimals = 6, aggregate = "ob:usdc" },
`)
	w.edits(file, "final = 0\n", "final = 1\n")
	return file
}

// edits replaces a text in a file wherever it is.
func (w *world) edits(file, old, text string) {
	w.Helper()
	raw, err := os.ReadFile(file)
	w.ok(err)
	if !strings.Contains(string(raw), old) {
		w.Fatalf("%s has no %q:\n%s", file, old, raw)
	}
	w.writes(file, strings.ReplaceAll(string(raw), old, text))
}

// direct names the node of a chain itself.
func (w *world) direct(id string) []string { return []string{w.url[id]} }

// deploys puts the contracts there, and returns what the program said.
func (w *world) deploys(file string, more ...string) string {
	w.Helper()
	payer := w.writes(filepath.Join(filepath.Dir(file), "payer"), richKey)
	out, _ := rig.Script{T: w.T, Env: w.env}.Runs(0, append([]string{"network", "deploy", "--file", file,
		"--key-file", payer, "--yes"}, more...)...)
	return out
}

// approves has the owner of Kernel's meta factory approve the factory, where it has not.
func (w *world) approves(file string) {
	w.Helper()
	out, _ := rig.Script{T: w.T, Env: w.env}.Runs(0, "network", "check", "--file", file)
	find := func(name string) common.Address {
		m := regexp.MustCompile(` ok +` + name + ` +(0x[0-9a-fA-F]{40})`).FindStringSubmatch(out)
		if m == nil {
			w.Fatalf("no %s in\n%s", name, out)
		}
		return common.HexToAddress(m[1])
	}
	meta, factory := find("MetaFactory"), find("KernelFactory")
	for _, id := range w.ids {
		if w.reads(id, meta, method("approved(address)", factory.Bytes())).Sign() != 0 {
			continue
		}
		owner := common.BigToAddress(w.reads(id, meta, method("owner()")))
		w.ask(id, nil, "anvil_impersonateAccount", owner)
		w.sends(id, &owner, big.NewInt(1e18), nil)
		var hash common.Hash
		w.ask(id, &hash, "eth_sendTransaction", map[string]any{"from": owner, "to": meta,
			"data": hexutil.Bytes(method("approveFactory(address,bool)", factory.Bytes(), []byte{1}))})
		w.succeeds(id, hash)
	}
}

// person sets a profile up, with an account of each kind, which has coins and USDC on the first chain, and a gas tank
// that has coins on all.
func (w *world) person(file string) *person {
	w.Helper()
	w.deploys(file)
	w.approves(file)
	p := &person{world: w, file: file, at: map[string]common.Address{}}
	p.runs(0, "profile", "add", "nodes", "--networks", file, "--vault", "file")
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(file), "network.json"))
	w.ok(err)
	var d struct {
		ID string `json:"id"`
	}
	w.ok(json.Unmarshal(raw, &d, json.RejectUnknownMembers(false)))
	rig.MakesVault(w.T, w.dir, "nodes", d.ID)
	p.pass = rig.Passphrase
	p.key = p.makes()
	for name, kind := range kinds {
		signer := []string{"--signer", p.key.Hex()}
		if kind == "role-based" {
			signer = []string{"--session", p.key.Hex(), "--admin", p.makes().Hex()}
		}
		p.runs(0, append([]string{"accounts", "add", "--type", kind, "--name", name}, signer...)...)
	}
	p.pass = ""
	out, _ := p.runs(0, "accounts", "list")
	for name, kind := range kinds {
		m := regexp.MustCompile(kind + ` +(0x[0-9a-fA-F]{40})`).FindStringSubmatch(out)
		if m == nil {
			w.Fatalf("no %s in\n%s", name, out)
		}
		p.at[name] = common.HexToAddress(m[1])
		w.stocks(w.ids[0], p.at[name], 1_000_000_000)
	}
	p.pass = rig.Passphrase
	_, errs := p.runs(1, p.pays("daily", payee(0), "1")...)
	m := regexp.MustCompile(`gas tank (0x[0-9a-fA-F]{40}) has 0`).FindStringSubmatch(errs)
	if m == nil {
		w.Fatalf("nothing says which address needs gas: %s", errs)
	}
	p.tank = common.HexToAddress(m[1])
	for _, id := range w.ids {
		w.sends(id, &p.tank, big.NewInt(1e18), nil)
	}
	return p
}

// script runs commands for the person.
func (p *person) script() rig.Script { return rig.Script{T: p.T, Env: p.env, Pass: p.pass} }

// runs carries out a command, and demands its exit code.
func (p *person) runs(code int, args ...string) (out, errs string) {
	p.Helper()
	return p.script().Runs(code, args...)
}

// makes makes a key.
func (p *person) makes() common.Address {
	p.Helper()
	out, _ := p.runs(0, "keys", "new")
	return common.HexToAddress(strings.TrimSpace(out))
}

// payee is one of many addresses without an owner.
func payee(n int64) common.Address { return common.BigToAddress(big.NewInt(0xbeef<<32 + n)) }

// pays is the command line of a transfer of USDC on the first chain.
func (p *person) pays(account string, to common.Address, usdc string, more ...string) []string {
	return append([]string{"transfer", "--asset", "usdc", "--amount", usdc, "--to", to.Hex(), "--chain", p.ids[0],
		"--account", account, "--yes", "--accept", "V4,Y5", "--json"}, more...)
}

// completes carries out a command that pays, demands that it ends well, and returns what it printed.
func (p *person) completes(args ...string) (out string) {
	p.Helper()
	out, errs := p.runs(0, args...)
	if r := rig.ResultOf(p.T, out); r.Status.Status != "COMPLETED" {
		p.Errorf("%v: %s\n%s", args, out, errs)
	}
	return out
}
