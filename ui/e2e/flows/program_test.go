//go:build unix

package flows

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/service"
	"coffer/api/service/chain"
	"coffer/api/service/devnet"
	"coffer/assets"
	"coffer/config"
	"coffer/ui/e2e/rig"
)

// TestTerminalMainJob walks the main job in the real program: from an empty home to COMPLETED. The truth is then read
// from the store with the EVM, not from the screen. Between two keys the program writes nothing.
func TestTerminalMainJob(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			dir, env := rig.Home(t)
			p := rig.At(t, rig.Start(t, env, size[0], size[1]))
			p.Sees("EMBEDDED", "demo", "USDC", "$")
			if !p.Term.AltScreen() {
				t.Error("the dashboard does not use the alternate screen")
			}
			needs, pay := p.WalksToReview2("EMBEDDED")
			p.Confirms(pay)
			p.Sees("COMPLETED")
			idles(t, p)
			p.Types("4")
			p.Sees(amount.Trim(needs)+" USDC", "completed")
			p.Types("1")
			p.Sees("Balances", "USDC")
			p.Types("q")
			if err := p.Ends(); err != nil {
				t.Fatalf("quitting: %v", err)
			}
			if p.Term.AltScreen() {
				t.Error("the terminal was not restored")
			}
			checkStore(t, rig.DataOf(dir), needs)

			again := rig.At(t, rig.Start(t, env, size[0], size[1]))
			again.Sees("EMBEDDED", "USDC")
			again.Types("4")
			again.Sees(amount.Trim(needs)+" USDC", "completed", "1 record")
			again.Types("q")
			if err := again.Ends(); err != nil {
				t.Fatalf("quitting the second time: %v", err)
			}
			checkStore(t, rig.DataOf(dir), needs)
		})
	}
}

// checkStore opens the installation that the program left and checks recipient, sender, nonces and escrow in its EVM.
func checkStore(t *testing.T, dir, needs string) {
	t.Helper()
	in, closeStore := rig.OpenStore(t, dir)
	defer closeStore()
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	pins := in.Pins
	usdc := func(id uint64) caip.Asset {
		for _, a := range in.Catalog.Aggregates() {
			for _, e := range a.Entities {
				if a.ID == "ob:usdc" && e.Asset.Chain == caip.EVM(id) {
					return e.Asset
				}
			}
		}
		return caip.Asset{}
	}
	const base = 8453
	rig.CheckRecipient(t, in, usdc(base), needs)
	init := op.InitDataECDSA(pins.ECDSAValidator, common.HexToAddress(demo.Signer))
	sender := op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int))
	if ok, err := in.Deployed(context.Background(), base, sender); err != nil || !ok {
		t.Errorf("the account is not deployed at the predicted address: %v", err)
	}
	nonce := func(id uint64, lane uint16) uint64 {
		n, err := in.AccountNonce(context.Background(), id, sender,
			op.Nonce{Validator: pins.ECDSAValidator, Key: lane}.Key192())
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := op.ParseNonce(n)
		if err != nil {
			t.Fatal(err)
		}
		return parsed.Sequence
	}
	if n := nonce(base, op.LanePrepared); n != 1 {
		t.Errorf("the prepared lane's nonce on the target chain is %d", n)
	}
	paid := 0
	for _, id := range in.ChainIDs {
		if n := nonce(id, op.LaneFunding); n == 1 {
			paid++
			checkEscrow(t, in, id, sender)
		} else if n != 0 {
			t.Errorf("chain %d: funding nonce %d", id, n)
		}
		if asset := usdc(id); asset != (caip.Asset{}) {
			if held, err := in.Balance(context.Background(), pins.Escrow, asset); err != nil || held.Sign() != 0 {
				t.Errorf("chain %d: the escrow still holds %v: %v", id, held, err)
			}
		}
	}
	if paid < 2 {
		t.Errorf("%d source chains paid, the trial call needs two or more", paid)
	}
}

// checkEscrow finds the deposit in the chain's last blocks and asks the escrow for its state: released.
func checkEscrow(t *testing.T, in *devnet.Installation, id uint64, sender common.Address) {
	t.Helper()
	c := in.Chains[id]
	for n := c.Head().Number; n > 0; n-- {
		b, ok, err := c.Block(context.Background(), n)
		if err != nil || !ok {
			t.Fatalf("chain %d block %d: %v", id, n, err)
		}
		for _, r := range b.Receipts {
			for _, l := range r.Logs {
				if l.Address != in.Pins.Escrow || len(l.Topics) < 3 ||
					common.BytesToAddress(l.Topics[2][:]) != sender {
					continue
				}
				st, err := c.State(context.Background(), c.Head().Time)
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				// deposits(bytes32,address) returns token, refundDeadline, state, amount, terms; state 2 is Released.
				ask := slices.Concat(crypto.Keccak256([]byte("deposits(bytes32,address)"))[:4], l.Topics[1][:],
					common.LeftPadBytes(sender[:], 32))
				res := st.Call(chain.Message{To: in.Pins.Escrow, Data: ask})
				if res.Err != nil || len(res.Return) != 160 || res.Return[95] != 2 {
					t.Errorf("chain %d: the deposit is not released: %x, %v", id, res.Return, res.Err)
				}
				return
			}
		}
	}
	t.Errorf("chain %d: no deposit of the account in the escrow", id)
}

// TestTerminalResizesAndSaysWhatItNeeds shrinks the terminal below what the screens are drawn for and back.
func TestTerminalResizesAndSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	p := rig.At(t, rig.Start(t, env, 80, 24))
	p.Sees("EMBEDDED", "USDC")
	if err := p.Term.Resize(50, 12); err != nil {
		t.Fatal(err)
	}
	p.Sees("60", "20")
	if err := p.Term.Resize(120, 40); err != nil {
		t.Fatal(err)
	}
	p.Sees("EMBEDDED", "USDC")
	p.Types("\x03")
	if err := p.Ends(); err != nil {
		t.Fatal(err)
	}
}

// TestTerminalEndsOnSignals: a hang-up or a termination signal ends the program and restores the terminal.
func TestTerminalEndsOnSignals(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"TERM", "HUP", "INT"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, env := rig.Home(t)
			p := rig.At(t, rig.Start(t, env, 80, 24))
			p.Sees("EMBEDDED", "USDC")
			if err := exec.Command("kill", "-"+name, fmt.Sprint(p.Term.Process().Pid)).Run(); err != nil {
				t.Fatal(err)
			}
			_ = p.Ends()
			if p.Term.AltScreen() {
				t.Error("the terminal was not restored")
			}
		})
	}
}

// TestTEATraceLogsNoKeys: the terminal library logs every keystroke when this variable is set; the program takes it
// away.
func TestTerminalTraceVariablesAreCleared(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	trace := filepath.Join(dir, "trace")
	p := rig.At(t, rig.Start(t, append(env, "TEA_TRACE="+trace, "TEA_DEBUG=1"), 80, 24))
	p.Sees("EMBEDDED", "USDC")
	p.Types("2")
	p.Sees("Build")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trace); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a trace file was written: %v", err)
	}
}

// TestCommandsWithoutTerminal: scripts get data or a word on what to run instead, and an exit code.
func TestCommandsWithoutTerminal(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	if out, errs, code := rig.Run(t, env); code != 2 || !strings.Contains(errs, "coffer balances --json") || out != "" {
		t.Errorf("without a terminal: code %d, %q, %q", code, out, errs)
	}
	out, errs, code := rig.Run(t, env, "balances", "--json")
	if code != 0 || errs != "" {
		t.Fatalf("balances: code %d, %s", code, errs)
	}
	doc, err := api.ParseDocument([]byte(out), api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var b api.AggregatedBalance
	if err := doc.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if micro, ok := b.TotalBalance.FiatValue.Micro(); !ok || micro.Cmp(big.NewInt(1_000_000_000)) < 0 {
		t.Errorf("the demo account holds %s USD", b.TotalBalance.FiatValue)
	}
	if again, _, _ := rig.Run(t, env, "balances", "--json"); !sameAmounts(t, again, b) {
		t.Error("a second start shows other balances")
	}
	if _, errs, code := rig.Run(t, env, "--profile", "nobody", "balances"); code != 2 ||
		!strings.Contains(errs, "nobody") {
		t.Errorf("an unknown profile: code %d, %s", code, errs)
	}
	for _, e := range []struct{ name, mode string }{{filepath.Join(rig.DataOf(dir), service.DatabaseFile),
		"-rw-------"}, {rig.DataOf(dir), "drwx------"}} {
		if info, err := os.Stat(e.name); err != nil || info.Mode().String() != e.mode {
			t.Errorf("%s: %v, %v", e.name, info.Mode(), err)
		}
	}
}

func sameAmounts(t *testing.T, out string, want api.AggregatedBalance) bool {
	t.Helper()
	doc, err := api.ParseDocument([]byte(out), api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var got api.AggregatedBalance
	if err := doc.Decode(&got); err != nil || len(got.BalanceByAggregatedAsset) != len(want.BalanceByAggregatedAsset) {
		return false
	}
	for i, a := range got.BalanceByAggregatedAsset {
		if a.Balance != want.BalanceByAggregatedAsset[i].Balance {
			return false
		}
	}
	return true
}

// TestTerminalOpensARemoteProfile: the dashboard reaches a service in another process through its network file and
// certificate authority. The API key is asked for and appears nowhere.
func TestTerminalOpensARemoteProfile(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	_, _, line, _ := rig.Serve(t, env)
	var at rig.Serving
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatal(err)
	}
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	configured := filepath.Join(dir, "config", "coffer", "config.toml")
	text := fmt.Sprintf("version = 1\n[profiles.team]\nkind = \"lab\"\nbase_url = %q\nca_file = %q\nnetwork_file = "+
		"%q\nvault = \"memory\"\n"+
		"[[profiles.team.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = %q\n", at.BaseURL, at.CAFile,
		at.NetworkFile, demo.Signer)
	if err := errors.Join(os.MkdirAll(filepath.Dir(configured), 0o700),
		os.WriteFile(configured, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := rig.Run(t, env, "--profile", "team", "balances"); code != 3 ||
		!strings.Contains(errs, "API key") {
		t.Errorf("without a terminal: code %d, %s", code, errs)
	}
	p := rig.At(t, rig.Start(t, env, 80, 24, "--profile", "team"))
	p.Sees("API key for profile team")
	p.Types(at.APIKey + "\r")
	p.Sees("It begins with", "Type the fingerprint, or press Enter to only read")
	p.Types("\r")
	p.Sees("LAB", "team", "USDC", "nothing is signed")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Fatal(err)
	}
	n, err := config.Profile{Kind: network.Lab, NetworkFile: at.NetworkFile}.Network()
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, code := rig.Run(t, env, "profile", "confirm", "--profile", "team", "--fingerprint",
		n.Fingerprint()); code != 0 {
		t.Fatalf("code %d, %s", code, errs)
	}
	p = rig.At(t, rig.Start(t, env, 80, 24, "--profile", "team"))
	p.Sees("API key for profile team")
	p.Types(at.APIKey + "\r")
	p.Sees("LAB", "team", "USDC")
	p.Types("q")
	if err := p.Ends(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(p.Term.Raw()), at.APIKey) {
		t.Error("the API key was shown")
	}
	wrong := rig.At(t, rig.Start(t, env, 80, 24, "--profile", "team"))
	wrong.Sees("API key for profile team")
	wrong.Types("not the key\r")
	wrong.Sees("LAB", "API key")
	wrong.Types("q")
	if err := wrong.Ends(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkFirstFrame measures the time from the start of the built program to the first screen with balances, on an
// installation that exists (warm) and on an empty home (cold), and the peak memory of the process.
func BenchmarkFirstFrame(b *testing.B) {
	for _, name := range []string{"cold", "warm"} {
		b.Run(name, func(b *testing.B) {
			_, env := rig.Home(b)
			if name == "warm" {
				firstFrame(b, env)
			}
			var took []float64
			var peak float64
			for b.Loop() {
				if name == "cold" {
					b.StopTimer()
					_, env = rig.Home(b)
					b.StartTimer()
				}
				ms, kb := firstFrame(b, env)
				took, peak = append(took, ms), max(peak, kb)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "ms-median")
			b.ReportMetric(peak/1024, "MB-peak")
		})
	}
}

// firstFrame starts the program, waits for balances, and returns the milliseconds that took and the peak resident
// memory in kB.
func firstFrame(b *testing.B, env []string) (ms, kb float64) {
	b.Helper()
	p := rig.At(b, rig.Start(b, env, 120, 40))
	p.Sees("EMBEDDED", "USDC", "$")
	ms = float64(time.Since(p.Term.Began()).Microseconds()) / 1000
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Term.Process().Pid)); err == nil {
		if m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status); m != nil {
			_, _ = fmt.Sscan(string(m[1]), &kb)
		}
	}
	p.Types("q")
	if err := p.Ends(); err != nil {
		b.Fatal(err)
	}
	return ms, kb
}

// BenchmarkHelp measures `coffer --help` as a process.
func BenchmarkHelp(b *testing.B) {
	_, env := rig.Home(b)
	program := rig.Program()
	for b.Loop() {
		cmd := exec.Command(program, "--help")
		cmd.Env = env
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
