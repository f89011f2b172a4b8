//go:build unix

package devnet

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/go-json-experiment/json"

	"coffer/ui/e2e/rig"
	"coffer/ui/present"
	"coffer/ui/profile"
)

// coins are what an address has.
func (n *network) coins(t *testing.T, chain string, who common.Address) *big.Int {
	t.Helper()
	var v hexutil.Big
	asks(t, n.opens(t, chain), &v, "eth_getBalance", who, "latest")
	return v.ToInt()
}

// withdrawn is what a withdrawal prints with --json.
type withdrawn struct {
	State       string `json:"state"`
	From        string `json:"from"`
	To          string `json:"to"`
	Amount      string `json:"amount"`
	Fee         string `json:"fee"`
	Transaction string `json:"transaction"`
	Earlier     bool   `json:"earlier"`
}

func withdrawnOf(t *testing.T, out string) (w withdrawn) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &w); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return w
}

// takes carries out a withdrawal once nothing else of the gas tank is under way.
func takes(s rig.Script, code int, args ...string) (out, errs string) {
	s.Helper()
	for end := time.Now().Add(rig.Limit); ; {
		cmd, o, e := s.Starts(args...)
		_ = cmd.Wait()
		got := cmd.ProcessState.ExitCode()
		busy := got == 4 && strings.Contains(e.String(), "under way there")
		if got != code && (!busy || time.Now().After(end)) {
			s.Fatalf("%v: exit code %d, want %d\n%s\n%s", args, got, code, o, e)
		}
		if !busy {
			return o.String(), e.String()
		}
	}
}

// TestTerminalCoinsOfAGasTankComeBack, on a network of real money: an amount after the review is confirmed, one whose
// command left before its outcome, those of commands that are killed, and in the end all that is left.
func TestTerminalCoinsOfAGasTankComeBack(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	net := start(t, env)
	file := net.deploys(t, dir, env, "real")
	if screen, err := rig.Asks(t, env, []string{"setup", "--linear"}, "Name of the profile", "mine",
		"4. your own nodes", "your", "Networks file", file, "Type "+profile.RealSentence, profile.RealSentence,
		"keyring, without a passphrase", "encrypted", "New passphrase", rig.Passphrase, "The same once more",
		rig.Passphrase, "watch only", "make", "no account on EVM chains", "smart", "no other profile", "yes",
		"Write it down?", "yes", "Open it now?", "no"); err != nil {
		t.Fatalf("%v\n%s", err, screen)
	}
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	out, _ := s.Runs(0, "tank")
	m := regexp.MustCompile(`(?s)gas tank +(0x[0-9a-fA-F]{40})\n.*Base \(8453\) +0 ETH, ` +
		`not enough for one operation\n` +
		`.*0 of 100 operations for 0x`).FindStringSubmatch(out)
	if m == nil {
		t.Fatal(out)
	}
	tank, to := common.HexToAddress(m[1]), common.HexToAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")
	wants := func(amount string, more ...string) []string {
		return append([]string{"tank", "withdraw", "--chain", "base", "--amount", amount, "--to", to.Hex()}, more...)
	}
	if _, errs := s.Runs(4, wants("max", "--yes")...); !strings.Contains(errs, "has 0 ETH on Base") {
		t.Error(errs)
	}
	net.pays(t, base, &tank, big.NewInt(1e18), nil)
	got := func() *big.Int { return net.coins(t, base, to) }
	p := rig.At(t, rig.Start(t, env, 120, 40))
	p.Sees("Passphrase of profile mine")
	p.Types(rig.Passphrase + "\r")
	p.Sees("REAL", "Balances")
	p.Types("6")
	p.Sees("Gas tank", present.Address(tank.Hex()), "1 ETH, for about ", "0 of 100 operations for 0x")
	p.Quits()

	if _, errs := s.Runs(2, wants("0.25")...); !strings.Contains(errs, "no terminal to ask on") {
		t.Error(errs)
	}
	out, _ = takes(s, 0, wants("0.25", "--dry-run")...)
	for _, words := range []string{"(REAL)", "amount     0.25 ETH", "chain      Base (8453)", "recipient  " + to.Hex(),
		"fee        up to ", "left       0.75 ETH", "Nothing was sent."} {
		if !strings.Contains(out, words) {
			t.Errorf("no %q in\n%s", words, out)
		}
	}
	if screen, code := rig.Asks(t, env, wants("0.25"), "Passphrase of profile", rig.Passphrase,
		"last four characters", "beef"); code == nil || got().Sign() != 0 {
		t.Errorf("%v %d\n%s", code, got(), screen)
	}
	if screen, code := rig.Asks(t, env, wants("0.25"), "Passphrase of profile", rig.Passphrase,
		"last four characters", "eAed"); code != nil || got().Cmp(big.NewInt(25e16)) != 0 ||
		!strings.Contains(screen, "0.25 ETH went to "+to.Hex()+" on Base") {
		t.Errorf("%v %d\n%s", code, got(), screen)
	}

	out, _ = takes(s, 6, wants("0.1", "--yes", "--wait", "0s", "--json")...)
	first := withdrawnOf(t, out)
	_, errs := takes(s, 4, wants("0.2", "--yes")...)
	if first.Transaction == "" || !strings.Contains(errs, "asked for something else; nothing was sent now") {
		t.Errorf("%+v\n%s", first, errs)
	}
	takes(s, 6, wants("0.1", "--yes", "--wait", "0s", "--json")...)
	out, _ = takes(s, 0, wants("0.1", "--yes", "--json")...)
	if again := withdrawnOf(t, out); !again.Earlier || again.To != to.Hex() || again.From != tank.Hex() {
		t.Errorf("%+v after %+v", again, first)
	}
	if got().Cmp(big.NewInt(45e16)) != 0 {
		t.Errorf("%d arrived", got())
	}

	for i := range 4 {
		before := got()
		cmd, said, _ := s.Starts(wants("0.001", "--yes", "--json")...)
		<-time.NewTimer(time.Duration(200+i*250) * time.Millisecond).C
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		out, _ = takes(s, 0, wants("0.001", "--yes", "--json")...)
		w := withdrawnOf(t, out)
		moved, times := new(big.Int).Sub(got(), before), int64(1)
		if said.Len() > 0 && !w.Earlier {
			times = 2 // the first was told
		}
		if moved.Cmp(big.NewInt(times*1e15)) != 0 {
			t.Errorf("killed after %d ms, %d moved: %s, then %s", 200+i*250, moved, said, out)
		}
	}

	out, _ = takes(s, 0, wants("max", "--yes", "--json")...)
	left := net.coins(t, base, tank)
	if all := withdrawnOf(t, out); left.Cmp(big.NewInt(1e16)) > 0 || all.Amount == "" {
		t.Errorf("%d wei are left after %s", left, out)
	}
	out, _ = s.Runs(0, "tank", "--json")
	if !strings.Contains(out, `"address":"`+tank.Hex()+`"`) || !strings.Contains(out, `"has":"`+left.String()+`"`) {
		t.Error(out)
	}
}
