//go:build unix

package devnet

import (
	"bytes"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/ui/e2e/rig"
	"coffer/ui/profile"
	"coffer/ui/tui/kit"
)

// deploys makes the files of a network of a kind on the endpoints of a devnet, and puts its contracts there.
func (n *network) deploys(t *testing.T, dir string, env []string, kind string) (file string) {
	t.Helper()
	at := filepath.Join(dir, "nodes")
	must(t, os.Mkdir(at, 0o700))
	file, payer := filepath.Join(at, "networks.toml"), filepath.Join(at, "payer")
	must(t, os.WriteFile(payer, []byte(n.finds(t, `^0x[0-9a-fA-F]{40}  (0x[0-9a-f]{64})$`)), 0o600))
	s := rig.Script{T: t, Env: env}
	s.Runs(0, "network", "init", "--kind", kind, "--tokens", "all", "--out", file,
		"--chain", "base="+n.finds(t, ` 8453 +(http://\S+)`), "--chain", "op="+n.finds(t, ` 10 +(http://\S+)`))
	raw, err := os.ReadFile(file)
	must(t, err)
	// gas of a devnet is dear
	raw = regexp.MustCompile(`fee_cap_gwei = \S+`).ReplaceAll(raw, []byte("fee_cap_gwei = 100"))
	must(t, os.WriteFile(file, raw, 0o600))
	s.Runs(0, "network", "deploy", "--file", file, "--key-file", payer, "--yes")
	return file
}

// ownNodes makes a profile on the endpoints of a devnet, by commands, and returns the address of its key.
func (n *network) ownNodes(t *testing.T, dir string, env []string) common.Address {
	t.Helper()
	file, s := n.deploys(t, dir, env, "lab"), rig.Script{T: t, Env: env}
	s.Runs(0, "profile", "add", "nodes", "--networks", file, "--vault", "file")
	if screen, err := rig.Asks(t, env, []string{"keys", "init"}, "New passphrase", rig.Passphrase, "once more",
		rig.Passphrase); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	s.Pass = rig.Passphrase
	out, _ := s.Runs(0, "keys", "new")
	key := common.HexToAddress(strings.TrimSpace(out))
	s.Runs(0, "accounts", "add", "--type", "kernel-v3.1-ecdsa", "--signer", key.Hex(), "--name", "daily")
	s.Runs(0, "accounts", "add", "--type", "kernel-v3.3-ecdsa", "--signer", key.Hex(), "--name", "direct")
	return key
}

// TestTerminalAPersonPaysOnOwnNodes: no service anywhere, only JSON-RPC endpoints and a file that names them. A smart
// account and a delegated key pay by commands, one of them a batch; then the dashboard pays.
func TestTerminalAPersonPaysOnOwnNodes(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	net := start(t, env)
	key := net.ownNodes(t, dir, env)
	reads, s := rig.Script{T: t, Env: env}, rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	out, _ := reads.Runs(0, "accounts", "list")
	m := regexp.MustCompile(`kernel-v3.1-ecdsa +(0x[0-9a-fA-F]{40})`).FindStringSubmatch(out)
	if m == nil {
		t.Fatal(out)
	}
	usdc := usdc(t)[base]
	for _, who := range []common.Address{common.HexToAddress(m[1]), key} {
		data := crypto.Keccak256([]byte("transfer(address,uint256)"))[:4]
		data = append(data, common.LeftPadBytes(who.Bytes(), 32)...)
		net.sends(t, base, &usdc.at, append(data, common.LeftPadBytes(big.NewInt(100_000_000).Bytes(), 32)...))
	}
	if out, _ := reads.Runs(0, "balances"); !strings.Contains(out, "100.000000") || !strings.Contains(out, "unknown") {
		t.Errorf("%s", out)
	}

	payee := common.HexToAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	pay := []string{"transfer", "--asset", "usdc", "--amount", "20", "--to", payee.Hex(), "--chain", "base", "--yes",
		"--accept", "V4,Y5", "--json"}
	_, errs := s.Runs(1, pay...)
	tank := regexp.MustCompile(`gas tank (0x[0-9a-fA-F]{40}) has 0 ETH on Base`).FindStringSubmatch(errs)
	if tank == nil {
		t.Fatalf("nothing says which address needs gas: %s", errs)
	}
	fuel := common.HexToAddress(tank[1])
	net.pays(t, base, &fuel, big.NewInt(1e18), nil)

	completes := func(args ...string) {
		t.Helper()
		out, _ := s.Runs(0, args...)
		if r := rig.ResultOf(t, out); r.Status.Status != "COMPLETED" {
			t.Errorf("%v: %s", args, out)
		}
	}
	file := filepath.Join(dir, "nodes", "networks.toml")
	cheap, err := os.ReadFile(file)
	must(t, err)
	dear := bytes.ReplaceAll(cheap, []byte("fee_cap_gwei = 100"), []byte("fee_cap_gwei = 0.001"))
	must(t, os.WriteFile(file, dear, 0o600))
	_, errs = s.Runs(1, pay...)
	if !regexp.MustCompile(`Base asks for [0-9.]+ gwei for gas now, and fee_cap_gwei is 0\.001, .* allow more at ` +
		regexp.QuoteMeta(file) + `:\d+`).MatchString(errs) {
		t.Errorf("nothing says that gas is too dear: %s", errs)
	}
	must(t, os.WriteFile(file, cheap, 0o600))
	completes(pay...)
	completes(append(pay, "--account", "direct")...)
	list := filepath.Join(dir, "list.csv")
	must(t, os.WriteFile(list, []byte("recipient,amount\n"+payee.Hex()+",5\n"+key.Hex()+",3\n"), 0o600))
	completes("pay", list, "--asset", "usdc", "--chain", "base", "--yes", "--accept", "V4,Y5", "--json")
	if got := net.holds(t, base, usdc, payee); got.Int64() != 45_000_000 {
		t.Errorf("the payee has %s millionths", got)
	}
	if got := net.holds(t, base, usdc, key); got.Int64() != 83_000_000 {
		t.Errorf("the key has %s millionths", got)
	}
	_, errs = s.Runs(2, "swap", "--asset", "usdc", "--amount", "5", "--for", "eth@base", "--yes")
	if !strings.Contains(errs, "this network has no solver") {
		t.Errorf("%s", errs)
	}
	_, errs = s.Runs(2, "transfer", "--asset", "usdc@op", "--amount", "5", "--to", payee.Hex(), "--chain", "base",
		"--yes")
	if !strings.Contains(errs, "this network has no solver: pay with what you have on Base") {
		t.Errorf("%s", errs)
	}

	screen, err := rig.Asks(t, env, []string{"setup", "--linear"}, "Name of the profile", "mine",
		"4. your own nodes", "your", "Networks file", filepath.Join(dir, "nodes", "networks.toml"),
		"keyring, without a passphrase", "encrypted", "New passphrase", rig.Passphrase, "The same once more",
		rig.Passphrase, "watch only", "make", "no account on EVM chains", "smart", "no other profile", "no",
		"Write it down?", "yes", "Open it now?", "no")
	if err != nil || !strings.Contains(screen, "0 ETH on Base, good for about 0 operations") {
		t.Errorf("%v\n%s", err, screen)
	}

	p := rig.At(t, rig.Start(t, env, 120, 40))
	p.Sees("LAB", "nodes", "Balances", "72.0")
	p.Types("2Xt")
	p.Sees("Transfer", "how much, or max")
	p.Types("\r")
	p.Sees("What to send", "USDC on any chain")
	p.Types("USDC\r")
	p.Sees("you have")
	p.Types("10\t" + payee.Hex() + "\t\r")
	p.Sees("The chain on which it arrives")
	p.Types("Base\r")
	p.Sees("on         Base", "Your gas tank pays for gas")
	p.Types("\x12") // ctrl+r
	p.Sees("The keys are locked")
	p.Rests(kit.GuardQuiet + 100*time.Millisecond) // a dialog takes no key before that
	p.Types(rig.Passphrase + "\r")
	p.Sees("Review of the call", "paid by your gas tank")
	p.Reads(`closes in (\d+:\d\d)`)
	p.Types(p.Finds(rig.ToType) + "\r")
	p.Sees("COMPLETED")
	p.Quits()
	if got := net.holds(t, base, usdc, payee); got.Int64() != 55_000_000 {
		t.Errorf("the payee has %s millionths", got)
	}
}

// TestTerminalRealMoneyOnOwnNodes: the nodes of a devnet stand for those of real chains. The set-up asks for the
// sentence, the vault keeps the key of the gas tank, and a backup of the keys carries it to another machine.
func TestTerminalRealMoneyOnOwnNodes(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	net := start(t, env)
	file := net.deploys(t, dir, env, "real")
	screen, err := rig.Asks(t, env, []string{"setup", "--linear"}, "Name of the profile", "mine",
		"4. your own nodes", "your", "Networks file", file, "Type "+profile.RealSentence, "yes",
		"Type "+profile.RealSentence, profile.RealSentence, "keyring, without a passphrase", "encrypted",
		"New passphrase", rig.Passphrase, "The same once more", rig.Passphrase, "watch only", "make",
		"no account on EVM chains", "smart", "no other profile", "yes", "Write it down?", "yes", "Open it now?", "no")
	if err != nil || !strings.Contains(screen, "0 ETH on Base, good for about 0 operations") {
		t.Fatalf("%v\n%s", err, screen)
	}
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	tankOf := func(s rig.Script, code int) string {
		t.Helper()
		out, errs := s.Runs(code, "doctor")
		m := regexp.MustCompile(`gas tank: (0x[0-9a-fA-F]{40})`).FindStringSubmatch(out + errs)
		if m == nil {
			t.Fatal(out, errs)
		}
		return m[1]
	}
	tank := tankOf(s, 0)
	if _, errs := (rig.Script{T: t, Env: env}).Runs(3, "balances"); !strings.Contains(errs, "assphrase") {
		t.Error(errs)
	}
	out, _ := s.Runs(0, "accounts", "list")
	account := common.HexToAddress(regexp.MustCompile(`(0x[0-9a-fA-F]{40})`).FindStringSubmatch(out)[1])
	fuel := common.HexToAddress(tank)
	net.pays(t, base, &fuel, big.NewInt(1e18), nil)
	net.pays(t, base, &account, big.NewInt(2e18), nil)
	out, _ = s.Runs(0, "transfer", "--asset", "eth", "--amount", "0.5", "--to",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "--chain", "base", "--yes", "--accept", "V4,Y5", "--json")
	if r := rig.ResultOf(t, out); r.Status.Status != "COMPLETED" {
		t.Error(out)
	}

	backup := filepath.Join(dir, "keys.age")
	if screen, err := rig.Asks(t, env, []string{"keys", "backup", backup}, "Passphrase of profile mine", rig.Passphrase,
		"assphrase of the backup", "words of the backup", "once more", "words of the backup"); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	_, other := rig.Home(t)
	there := rig.Script{T: t, Env: other}
	there.Runs(0, "profile", "add", "again", "--networks", file, "--vault", "file")
	if screen, err := rig.Asks(t, other, []string{"keys", "init"}, "New passphrase", rig.Passphrase, "once more",
		rig.Passphrase); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	if screen, err := rig.Asks(t, other, []string{"keys", "restore", backup}, "Passphrase of profile again",
		rig.Passphrase, "assphrase of the backup", "words of the backup"); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	there.Pass = rig.Passphrase
	// there the network waits to be confirmed
	if got := tankOf(there, 1); got != tank {
		t.Errorf("the gas tank is %s after the backup, it was %s", got, tank)
	}
}
