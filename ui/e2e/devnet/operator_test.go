//go:build unix

package devnet

import (
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	descriptor "coffer/api/network"
	"coffer/ui/e2e/rig"
)

// operates makes an operator's network on three chains of a devnet by commands, as docs/networks.md has it, and returns
// the line of its service.
func (n *network) operates(t *testing.T, dir string, env []string) string {
	t.Helper()
	at := filepath.Join(dir, "operator")
	must(t, os.Mkdir(at, 0o700))
	file, payer, data := filepath.Join(at, "networks.toml"), filepath.Join(at, "payer"), filepath.Join(at, "data")
	owner := common.HexToAddress(n.finds(t, `^(0x[0-9a-fA-F]{40})  0x[0-9a-f]{64}$`))
	must(t, os.WriteFile(payer, []byte(n.finds(t, `^0x[0-9a-fA-F]{40}  (0x[0-9a-f]{64})$`)), 0o600))
	chains := map[string]string{base: "base", "10": "op", "42161": "arb"}
	s := rig.Script{T: t, Env: env}
	args := []string{"network", "init", "--kind", "lab", "--tokens", "none", "--out", file, "--operator", owner.Hex()}
	for id, name := range chains {
		args = append(args, "--chain", name+"="+n.finds(t, ` `+id+` +(http://\S+)`))
	}
	s.Runs(0, args...)

	// Aggregators that always say the same: a coin is cheap, so that gas is.
	prices := map[string]common.Address{}
	for asset, dollars := range map[string]uint64{"ob:eth": 100e8, "ob:usdc": 1e8} {
		code := common.FromHex("5f3560e01c8063313ce56714601b5763feaf968c146024575f5ffd5b60085f5260205ff35b60015f5267" +
			fmt.Sprintf("%016x", dollars) + "6020524260405242606052600160805260a05ff3")
		code = append(common.FromHex(fmt.Sprintf("60%02x600a5f3960%02x5ff3", len(code), len(code))), code...)
		for id := range chains {
			prices[id+asset] = common.HexToAddress(n.sends(t, id, nil, code).Contract)
		}
	}
	raw, err := os.ReadFile(file)
	must(t, err)
	text := strings.Replace(string(raw), "accounts = []", `accounts = "any"`, 1)
	usdc := usdc(t)
	for id := range chains {
		head, rest, ok := strings.Cut(text, "\nid = "+id+"\n")
		if !ok {
			t.Fatal(text)
		}
		rest = strings.Replace(rest, "tokens = [\n]", fmt.Sprintf("tokens = [{ symbol = \"USDC\", address = %q, "+
			"decimals = 6, aggregate = \"ob:usdc\" }]", usdc[id].at.Hex()), 1)
		rest = strings.Replace(rest, "feeds = [\n]", fmt.Sprintf("feeds = [{ aggregate = \"ob:eth\", address = %q, "+
			"heartbeat = \"1h\", decimals = 8 }, { aggregate = \"ob:usdc\", address = %q, heartbeat = \"1h\", "+
			"decimals = 8 }]", prices[id+"ob:eth"].Hex(), prices[id+"ob:usdc"].Hex()), 1)
		text = head + "\nid = " + id + "\n" + rest
	}
	must(t, os.WriteFile(file, []byte(text), 0o600))

	serve := []string{"serve", "--networks", file, "--data", data, "--listen", "127.0.0.1:0", "--json"}
	_, errs := s.Runs(1, serve...)
	attester := regexp.MustCompile(`write (0x[0-9a-fA-F]{40}) into the list`).FindStringSubmatch(errs)
	if attester == nil {
		t.Fatal(errs)
	}
	text = strings.Replace(text, "attesters = []", fmt.Sprintf("attesters = [%q]", attester[1]), 1)
	must(t, os.WriteFile(file, []byte(text), 0o600))
	s.Runs(0, "network", "deploy", "--file", file, "--key-file", payer, "--yes")
	s.Runs(0, "network", "check", "--file", file)
	_, errs = s.Runs(1, serve...)
	m := regexp.MustCompile(`no hot key of the filler (0x[0-9a-fA-F]{40}): its owner ` + owner.Hex() +
		` has to call setHot\((0x[0-9a-fA-F]{40}), true\)`).FindStringSubmatch(errs)
	if m == nil {
		t.Fatal(errs)
	}
	filler, key := common.HexToAddress(m[1]), common.HexToAddress(m[2])
	owns := func(args ...string) string {
		t.Helper()
		out, _ := s.Runs(0, append([]string{"network", "owner"}, append(args, "--file", file, "--key-file", payer,
			"--yes")...)...)
		return out
	}
	batch := filepath.Join(at, "allow.json")
	owns("allow", key.Hex(), "--safe", batch)
	if read, _ := s.Runs(0, "intent", "from-safe", filepath.Join(at, "allow-8453.json")); !strings.Contains(read,
		filler.Hex()) || !strings.Contains(read, "setHot(address key, bool hot)") {
		t.Error(read)
	}
	s.Runs(2, "network", "owner", "allow", key.Hex(), "--file", file, "--safe", batch) // it replaces no file
	for _, order := range [][]string{{"allow", key.Hex()}, {"gas", key.Hex(), "1"}, {"cap", "usdc", "1000"},
		{"fund", "usdc", "500"}} {
		owns(order...)
		if again := owns(order...); !strings.HasSuffix(again, "nothing is to do\n") {
			t.Error(order, again)
		}
	}
	before, _ := s.Runs(0, "network", "status", "--file", file, "--data", data)
	if !strings.HasPrefix(before, "from           the chains alone") || !strings.Contains(before, "500 USDC") ||
		!strings.Contains(before, "exposure       unknown") {
		t.Error(before)
	}
	_, _, line, _ := rig.Begins(t, env, append(serve, "--metrics", "127.0.0.1:0"))
	now, _ := s.Runs(0, "network", "status", "--data", data, "--json")
	if !strings.HasPrefix(now, `{"source":"service"`) || !strings.Contains(now, `"key":"`+key.Hex()+`"`) ||
		!strings.Contains(now, `"has":"500000000","left":"1000000000","capacity":"1000000000"`) {
		t.Error(now)
	}
	moves := filepath.Join(at, "moves.json")
	share, _ := s.Runs(0, "network", "rebalance", "--data", data, "--asset", "usdc", "--share", "base=0", "--share",
		"op=1", "--share", "arb=4", "--safe", moves, "--to", owner.Hex())
	if !strings.Contains(share, "in all 1,500 USDC") || !strings.Contains(share, "too little: 700 USDC") {
		t.Error(share)
	}
	read, _ := s.Runs(0, "intent", "from-safe", filepath.Join(at, "moves-8453.json"))
	if !strings.Contains(read, "withdraw(address token, address to, uint256 amount)") ||
		!strings.Contains(read, fmt.Sprintf("%x", 500_000_000)) {
		t.Error(read)
	}
	served, _ := rig.Where(t, line)
	n.scraped(t, served.MetricsURL)
	return line
}

// scraped demands that the metrics of a service have the inventory.
func (n *network) scraped(t *testing.T, url string) {
	t.Helper()
	want := regexp.MustCompile(`(?m)^coffer_inventory\{chain="8453",asset="eip155:8453/erc20:0x[0-9a-fA-F]{40}",` +
		`symbol="USDC"\} 500$`)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		res, err := http.Get(url)
		must(t, err)
		body, err := io.ReadAll(res.Body)
		must(t, errors.Join(err, res.Body.Close()))
		if want.Match(body) && strings.Contains(string(body), `coffer_alerts{code="QUORUM_LOST"} 0`) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s", body)
		}
	}
}

// call is the data of a call of a function with words as its arguments.
func call(signature string, words ...[]byte) []byte {
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, w := range words {
		data = append(data, common.LeftPadBytes(w, 32)...)
	}
	return data
}

// TestAMemberPaysThroughAnOperator: `coffer serve --networks` settles for a wallet that knows it like any other
// service. A call on Base is paid from two other chains; then a transfer goes there.
func TestAMemberPaysThroughAnOperator(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	net := start(t, env)
	at, _ := rig.Where(t, net.operates(t, dir, env))
	reads, s := rig.Script{T: t, Env: env}, rig.Script{T: t, Env: env}
	raw, err := os.ReadFile(at.NetworkFile)
	must(t, err)
	d, err := descriptor.Decode(raw)
	must(t, err)
	s.Runs(0, "profile", "add", "team", "--kind", "lab", "--url", at.BaseURL, "--ca-file", at.CAFile, "--network-file",
		at.NetworkFile, "--fingerprint", d.Fingerprint(), "--vault", "file")
	if screen, err := rig.Asks(t, env, []string{"keys", "init"}, "New passphrase", rig.Passphrase, "once more",
		rig.Passphrase); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	if screen, err := rig.Asks(t, env, []string{"keys", "api-key", "set"}, "Passphrase", rig.Passphrase, "API key",
		at.APIKey); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	s.Pass = rig.Passphrase
	out, _ := s.Runs(0, "keys", "new")
	s.Runs(0, "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", strings.TrimSpace(out), "--name", "daily")
	out, _ = reads.Runs(0, "accounts", "list")
	m := regexp.MustCompile(`kernel-v3.1-ecdsa +(0x[0-9a-fA-F]{40})`).FindStringSubmatch(out)
	if m == nil {
		t.Fatal(out)
	}
	who, tokens := common.HexToAddress(m[1]), usdc(t)
	for _, id := range []string{"10", "42161"} {
		token := tokens[id].at
		net.sends(t, id, &token, call("transfer(address,uint256)", who[:], big.NewInt(60e6).Bytes()))
	}
	screen, err := rig.Asks(t, env, []string{"balances"}, "Passphrase", rig.Passphrase)
	if err != nil || !strings.Contains(screen, "$120.00") {
		t.Fatalf("%v\n%s", err, screen)
	}

	payee := common.HexToAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	out, _ = s.Runs(0, "call", "--chain", "base", "--to", "usdc", "--function",
		"transfer(address to, uint256 amount)", "--arg", payee.Hex(), "--arg", "80 USDC", "--fund-with", "usdc",
		"--yes", "--accept", "V4,Y5", "--json")
	if r := rig.ResultOf(t, out); r.Status.Status != "COMPLETED" {
		t.Errorf("%s", out)
	}
	if got := net.holds(t, base, tokens[base], payee); got.Int64() != 80_000_000 {
		t.Errorf("the payee has %s millionths", got)
	}
	out, _ = s.Runs(0, "transfer", "--asset", "usdc", "--amount", "20", "--to", payee.Hex(), "--chain", "base", "--yes",
		"--accept", "V4,Y5", "--json")
	if r := rig.ResultOf(t, out); r.Status.Status != "COMPLETED" {
		t.Errorf("%s", out)
	}
	if got := net.holds(t, base, tokens[base], payee); got.Int64() < 99_000_000 || got.Int64() >= 100_000_000 {
		t.Errorf("the payee has %s millionths", got)
	}
}
