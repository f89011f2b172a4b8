//go:build unix

package main

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
	"syscall"
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
	"coffer/api/service/genesis"
	"coffer/api/service/store"
	"coffer/assets"
	"coffer/ui/termtest"
)

// limit bounds each wait; a quiet machine needs a small part of it.
const limit = 60 * time.Second

// program is the built program: the one that COFFER_BIN names, or one built for the tests.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if program = os.Getenv("COFFER_BIN"); program == "" {
			dir, err := os.MkdirTemp("", "coffer-test")
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer func() { _ = os.RemoveAll(dir) }()
			program = filepath.Join(dir, "coffer")
			build := exec.Command("go", "build", "-o", program, ".")
			build.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}

// home is an empty home directory and the environment that makes the program use it.
func home(t testing.TB) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	return dir, []string{
		"HOME=" + dir, "XDG_CONFIG_HOME=" + dir + "/config", "XDG_DATA_HOME=" + dir + "/data", "XDG_STATE_HOME=" + dir + "/state",
		"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8",
	}
}

func dataOf(dir string) string { return filepath.Join(dir, "data", "coffer", "demo") }

func start(t testing.TB, env []string, cols, rows int, args ...string) *termtest.Terminal {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir = env, t.TempDir()
	term, err := termtest.Start(cmd, cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(term.Close)
	return term
}

// person is somebody in front of the terminal: each step waits for what it expects to see.
type person struct {
	testing.TB
	term *termtest.Terminal
}

func (p person) sees(texts ...string) {
	p.Helper()
	if err := p.term.WaitFor(limit, texts...); err != nil {
		p.Fatal(err)
	}
}

func (p person) types(keys string) {
	p.Helper()
	if err := p.term.Type(keys); err != nil {
		p.Fatal(err)
	}
}

func (p person) waits(what string, ok func(screen string) bool) {
	p.Helper()
	if err := p.term.WaitUntil(what, limit, ok); err != nil {
		p.Fatal(err)
	}
}

// ends waits for the end of the program. When it does not come, the program is made to say what it is doing.
func (p person) ends() error {
	p.Helper()
	err := p.term.WaitExit(limit)
	if errors.Is(err, termtest.ErrTimeout) {
		said := len(p.term.Raw())
		_ = p.term.Process().Signal(syscall.SIGQUIT)
		_ = p.term.WaitExit(limit)
		p.Fatalf("%v\n%s", err, p.term.Raw()[said:])
	}
	return err
}

// finds waits until the pattern is on the screen and returns its first group.
func (p person) finds(pattern string) string {
	p.Helper()
	re, found := regexp.MustCompile(pattern), ""
	p.waits(pattern, func(screen string) bool {
		m := re.FindStringSubmatch(screen)
		if m != nil {
			found = m[1]
		}
		return m != nil
	})
	return found
}

// reads scrolls to the end of a review, then lets its countdown move twice: the first moments of a screen confirm nothing.
func (p person) reads(countdown string) {
	p.Helper()
	for more := regexp.MustCompile(`(\d+) more lines? below`); ; {
		if err := p.term.Still(100*time.Millisecond, limit); err != nil { // the whole of the last frame is there
			p.Fatal(err)
		}
		m := more.FindString(p.term.Screen())
		if m == "" {
			break
		}
		p.types(" ")
		p.waits("less than "+m, func(screen string) bool { return more.FindString(screen) != m })
	}
	left := regexp.MustCompile(countdown)
	for range 2 {
		now := p.finds(countdown)
		p.waits("the countdown to move on from "+now, func(screen string) bool {
			m := left.FindStringSubmatch(screen)
			return m != nil && m[1] != now
		})
	}
}

// fillsIn makes the ready-made call and returns what it needs. The call is there once its amount is: it may wait for the balances.
func (p person) fillsIn() (needs string) {
	p.Helper()
	p.types("2")
	p.sees("Build", "trial call")
	p.types("d")
	needs = p.finds(`needs +([0-9.,]+) USDC`)
	p.sees("elsewhere")
	return needs
}

// outcome waits for the end of an operation that was cut off, or for the place where it waits when it was not sent. The proof that it never ran comes some time
// after the expiry of its quote.
func (p person) outcome() (found string) {
	p.Helper()
	ends := regexp.MustCompile(`COMPLETED|REFUNDED|never ran|waits for review 2|no (?:new )?quote yet`)
	err := p.term.WaitUntil("the outcome", 3*limit, func(screen string) bool {
		found = ends.FindString(screen)
		return found != ""
	})
	if err != nil {
		p.Fatal(err)
	}
	return found
}

// walksToReview2 goes from the start to the second review of the trial call, read to its end. It returns what the call needs and what has to be typed
// to confirm.
func (p person) walksToReview2() (needs, pay string) {
	p.Helper()
	p.sees("EMBEDDED", "USDC", "$")
	needs = p.fillsIn()
	p.types("r")
	p.sees("Review 1 of 2", "nothing else", "y sign")
	p.reads(`closes in (\d+:\d\d)`)
	p.types("y")
	p.sees("Review 2 of 2", "You pay")
	p.reads(`expires in (\d+:\d\d)`)
	return needs, p.finds(`type ([0-9.]+) and press enter`)
}

// TestTerminalMainJob walks the main job in the real program: from an empty home to COMPLETED. The truth is then read from the store with the
// EVM, not from the screen.
func TestTerminalMainJob(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			dir, env := home(t)
			p := person{t, start(t, env, size[0], size[1])}
			p.sees("EMBEDDED", "demo", "USDC", "$")
			if !p.term.AltScreen() {
				t.Error("the dashboard does not use the alternate screen")
			}
			needs, pay := p.walksToReview2()
			p.types(pay + "\r")
			p.sees("COMPLETED")
			p.types("4")
			p.sees("call "+amount.Trim(needs)+" USDC", "completed")
			p.types("1")
			p.sees("Balances", "USDC")
			p.types("q")
			if err := p.ends(); err != nil {
				t.Fatalf("quitting: %v", err)
			}
			if p.term.AltScreen() {
				t.Error("the terminal was not restored")
			}
			checkStore(t, dataOf(dir), needs)

			again := person{t, start(t, env, size[0], size[1])}
			again.sees("EMBEDDED", "USDC")
			again.types("4")
			again.sees("call "+amount.Trim(needs)+" USDC", "completed", "1 record")
			again.types("q")
			if err := again.ends(); err != nil {
				t.Fatalf("quitting the second time: %v", err)
			}
			checkStore(t, dataOf(dir), needs)
		})
	}
}

// TestTerminalKilledDuringExecute kills the program with signal 9 at several moments after the second confirmation. After a restart the operation is
// under Activity, and the chains agree with what it says: the recipient was paid once or not at all, and the escrow holds nothing. Killed between
// the journal and the wire, the outcome is unknown until some time after the quote has expired, and nothing has run.
func TestTerminalKilledDuringExecute(t *testing.T) {
	for name, moment := range map[string]func(p person){
		"the key was just pressed": func(person) {},
		"the review has gone": func(p person) {
			p.waits("another screen", func(s string) bool { return !strings.Contains(s, "You pay") })
		},
		"the activity screen has opened": func(p person) { p.sees("accepted by the service") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, env := home(t)
			p := person{t, start(t, env, 120, 40)}
			needs, pay := p.walksToReview2()
			p.types(pay + "\r")
			moment(p)
			if err := p.term.Process().Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.ends()

			again := person{t, start(t, env, 120, 40)}
			again.sees("EMBEDDED", "USDC")
			again.types("3")
			outcome := again.outcome()
			again.types("q")
			again.waits("the end or a question", func(s string) bool { return !strings.Contains(s, "EMBEDDED") || strings.Contains(s, "again") })
			again.types("q")
			_ = again.ends()
			checkOutcome(t, dataOf(dir), needs, outcome)
		})
	}
}

// checkOutcome reads the chains: the recipient of the trial call has the amount once (when it completed) or nothing (when it did not), and no USDC is left
// in the escrow.
func checkOutcome(t *testing.T, dir, needs, outcome string) {
	t.Helper()
	in, closeStore := openStore(t, dir)
	defer closeStore()
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	once, err := amount.Parse(strings.ReplaceAll(needs, ",", ""), 6)
	if err != nil {
		t.Fatal(err)
	}
	usdc, ok := in.Catalog.Aggregate("ob:usdc")
	if !ok {
		t.Fatal("no ob:usdc")
	}
	got := new(big.Int)
	for _, e := range usdc.Entities {
		if _, evm := e.Asset.Chain.EVMID(); !evm {
			continue
		}
		held, err := in.Balance(in.Network.Pins.Escrow, e.Asset)
		if err != nil || held.Sign() != 0 {
			t.Errorf("%s: the escrow holds %v: %v", e.Asset.Chain, held, err)
		}
		paid, err := in.Balance(common.HexToAddress(demo.AddressBook[0].Address), e.Asset)
		if err != nil {
			t.Fatal(err)
		}
		got.Add(got, paid)
	}
	if outcome != "COMPLETED" {
		once.SetInt64(0)
	}
	if got.Cmp(once) != 0 {
		t.Errorf("the wallet says %q and the recipient has %v instead of %v", outcome, got, once)
	}
}

// checkStore opens the installation that the program left and checks recipient, sender, nonces and escrow in its EVM.
func checkStore(t *testing.T, dir, needs string) {
	t.Helper()
	in, closeStore := openStore(t, dir)
	defer closeStore()
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	pins := in.Network.Pins
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
	checkRecipient(t, in, usdc(base), needs)
	init := op.InitDataECDSA(pins.ECDSAValidator, common.HexToAddress(demo.Signer))
	sender := op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int))
	if ok, err := in.Deployed(base, sender); err != nil || !ok {
		t.Errorf("the account is not deployed at the predicted address: %v", err)
	}
	nonce := func(id uint64, lane uint16) uint64 {
		n, err := in.AccountNonce(id, sender, op.Nonce{Validator: pins.ECDSAValidator, Key: lane}.Key192())
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
			if held, err := in.Balance(pins.Escrow, asset); err != nil || held.Sign() != 0 {
				t.Errorf("chain %d: the escrow still holds %v: %v", id, held, err)
			}
		}
	}
	if paid < 2 {
		t.Errorf("%d source chains paid, the trial call needs two or more", paid)
	}
}

// checkRecipient looks whether the trial call's recipient has exactly what the call pays.
func checkRecipient(t *testing.T, in *genesis.Installation, usdc caip.Asset, needs string) {
	t.Helper()
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	sent, err := amount.Parse(strings.ReplaceAll(needs, ",", ""), 6)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := in.Balance(common.HexToAddress(demo.AddressBook[0].Address), usdc); err != nil || got.Cmp(sent) != 0 {
		t.Errorf("the recipient has %v, expected %v: %v", got, sent, err)
	}
}

// checkEscrow finds the deposit in the chain's last blocks and asks the escrow for its state: released.
func checkEscrow(t *testing.T, in *genesis.Installation, id uint64, sender common.Address) {
	t.Helper()
	c := in.Chains[id]
	for n := c.Head().Number; n > 0; n-- {
		b, ok, err := c.Block(n)
		if err != nil || !ok {
			t.Fatalf("chain %d block %d: %v", id, n, err)
		}
		for _, r := range b.Receipts {
			for _, l := range r.Logs {
				if l.Address != in.Network.Pins.Escrow || len(l.Topics) < 3 || common.BytesToAddress(l.Topics[2][:]) != sender {
					continue
				}
				st, err := c.State(c.Head().Time)
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				// deposits(bytes32,address) returns token, refundDeadline, state, amount; state 2 is Released.
				ask := slices.Concat(crypto.Keccak256([]byte("deposits(bytes32,address)"))[:4], l.Topics[1][:], common.LeftPadBytes(sender[:], 32))
				res := st.Call(chain.Message{To: in.Network.Pins.Escrow, Data: ask})
				if res.Err != nil || len(res.Return) != 128 || res.Return[95] != 2 {
					t.Errorf("chain %d: the deposit is not released: %x, %v", id, res.Return, res.Err)
				}
				return
			}
		}
	}
	t.Errorf("chain %d: no deposit of the account in the escrow", id)
}

func openStore(t *testing.T, dir string) (in *genesis.Installation, closeStore func()) {
	t.Helper()
	s, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{Wait: 5 * time.Second, Holder: "test"})
	if err != nil {
		t.Fatal(err)
	}
	in, err = genesis.Open(s, genesis.Options{Clock: time.Now, Kind: network.Embedded})
	if err != nil {
		t.Fatal(errors.Join(err, s.Close()))
	}
	return in, func() { _ = s.Close() }
}

// TestTerminalResizesAndSaysWhatItNeeds shrinks the terminal below what the screens are drawn for and back.
func TestTerminalResizesAndSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	p := person{t, start(t, env, 80, 24)}
	p.sees("EMBEDDED", "USDC")
	if err := p.term.Resize(50, 12); err != nil {
		t.Fatal(err)
	}
	p.sees("60", "20")
	if err := p.term.Resize(120, 40); err != nil {
		t.Fatal(err)
	}
	p.sees("EMBEDDED", "USDC")
	p.types("\x03")
	if err := p.ends(); err != nil {
		t.Fatal(err)
	}
}

// TestTerminalEndsOnSignals: a hang-up or a termination signal ends the program and restores the terminal.
func TestTerminalEndsOnSignals(t *testing.T) {
	for _, name := range []string{"TERM", "HUP", "INT"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, env := home(t)
			p := person{t, start(t, env, 80, 24)}
			p.sees("EMBEDDED", "USDC")
			if err := exec.Command("kill", "-"+name, fmt.Sprint(p.term.Process().Pid)).Run(); err != nil {
				t.Fatal(err)
			}
			_ = p.ends()
			if p.term.AltScreen() {
				t.Error("the terminal was not restored")
			}
		})
	}
}

// TestTEATraceLogsNoKeys: the terminal library logs every keystroke when this variable is set; the program takes it away.
func TestTerminalTraceVariablesAreCleared(t *testing.T) {
	t.Parallel()
	dir, env := home(t)
	trace := filepath.Join(dir, "trace")
	p := person{t, start(t, append(env, "TEA_TRACE="+trace, "TEA_DEBUG=1"), 80, 24)}
	p.sees("EMBEDDED", "USDC")
	p.types("2")
	p.sees("Build")
	p.types("q")
	if err := p.ends(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trace); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a trace file was written: %v", err)
	}
}

func runProgram(t *testing.T, env []string, args ...string) (out, errs string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr, cmd.Env = &o, &e, env
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// TestCommandsWithoutTerminal: scripts get data or a word on what to run instead, and an exit code.
func TestCommandsWithoutTerminal(t *testing.T) {
	t.Parallel()
	dir, env := home(t)
	if out, errs, code := runProgram(t, env); code != 2 || !strings.Contains(errs, "coffer balances --json") || out != "" {
		t.Errorf("without a terminal: code %d, %q, %q", code, out, errs)
	}
	out, errs, code := runProgram(t, env, "balances", "--json")
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
	if again, _, _ := runProgram(t, env, "balances", "--json"); !sameAmounts(t, again, b) {
		t.Error("a second start shows other balances")
	}
	if _, errs, code := runProgram(t, env, "--profile", "nobody", "balances"); code != 2 || !strings.Contains(errs, "nobody") {
		t.Errorf("an unknown profile: code %d, %s", code, errs)
	}
	for _, e := range []struct{ name, mode string }{{filepath.Join(dataOf(dir), service.DatabaseFile), "-rw-------"}, {dataOf(dir), "drwx------"}} {
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

// TestTerminalOpensARemoteProfile: the dashboard reaches a service in another process through its network file and certificate authority. The API key
// is asked for and appears nowhere.
func TestTerminalOpensARemoteProfile(t *testing.T) {
	t.Parallel()
	dir, env := home(t)
	_, _, line, _ := served(t, env)
	var at serving
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatal(err)
	}
	demo, err := assets.DemoKey()
	if err != nil {
		t.Fatal(err)
	}
	configured := filepath.Join(dir, "config", "coffer", "config.toml")
	text := fmt.Sprintf("version = 1\n[profiles.team]\nkind = \"lab\"\nbase_url = %q\nca_file = %q\nnetwork_file = %q\nvault = \"memory\"\n"+
		"[[profiles.team.accounts]]\ntype = \"kernel-v3.1-ecdsa\"\nsigner_address = %q\n", at.BaseURL, at.CAFile, at.NetworkFile, demo.Signer)
	if err := errors.Join(os.MkdirAll(filepath.Dir(configured), 0o700), os.WriteFile(configured, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := runProgram(t, env, "--profile", "team", "balances"); code != 3 || !strings.Contains(errs, "API key") {
		t.Errorf("without a terminal: code %d, %s", code, errs)
	}
	p := person{t, start(t, env, 80, 24, "--profile", "team")}
	p.sees("API key for profile team")
	p.types(at.APIKey + "\r")
	p.sees("LAB", "team", "USDC")
	p.types("q")
	if err := p.ends(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(p.term.Raw()), at.APIKey) {
		t.Error("the API key was shown")
	}
	wrong := person{t, start(t, env, 80, 24, "--profile", "team")}
	wrong.sees("API key for profile team")
	wrong.types("not the key\r")
	wrong.sees("LAB", "API key")
	wrong.types("q")
	if err := wrong.ends(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkFirstFrame measures the time from the start of the built program to the first screen with balances, on an installation that exists
// (warm) and on an empty home (cold), and the peak memory of the process.
func BenchmarkFirstFrame(b *testing.B) {
	for _, name := range []string{"cold", "warm"} {
		b.Run(name, func(b *testing.B) {
			_, env := home(b)
			if name == "warm" {
				firstFrame(b, env)
			}
			var took []float64
			var peak float64
			for b.Loop() {
				if name == "cold" {
					b.StopTimer()
					_, env = home(b)
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

// firstFrame starts the program, waits for balances, and returns the milliseconds that took and the peak resident memory in kB.
func firstFrame(b *testing.B, env []string) (ms, kb float64) {
	b.Helper()
	p := person{b, start(b, env, 120, 40)}
	p.sees("EMBEDDED", "USDC", "$")
	ms = float64(time.Since(p.term.Began()).Microseconds()) / 1000
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.term.Process().Pid)); err == nil {
		if m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status); m != nil {
			_, _ = fmt.Sscan(string(m[1]), &kb)
		}
	}
	p.types("q")
	if err := p.ends(); err != nil {
		b.Fatal(err)
	}
	return ms, kb
}

// BenchmarkHelp measures `coffer --help` as a process.
func BenchmarkHelp(b *testing.B) {
	_, env := home(b)
	for b.Loop() {
		cmd := exec.Command(program, "--help")
		cmd.Env = env
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
}
