package balances

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// source answers with its balances.
type source struct {
	b     api.AggregatedBalance
	err   error
	calls int
}

func (s *source) Balances(context.Context) (api.AggregatedBalance, error) {
	s.calls++
	return s.b, s.err
}

// answer runs the screen's request and passes it the answer, not the timer that follows.
func answer(t *testing.T, m *Model, cmd tea.Cmd) tea.Cmd {
	t.Helper()
	msg, ok := cmd().(loadedMsg)
	if !ok {
		t.Fatalf("the command did not read balances: %T", msg)
	}
	return m.Update(msg)
}

const solana = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"

// twoAccounts is the sample context with a Solana account too.
func twoAccounts(t testing.TB) screen.Context {
	ctx := tuitest.Context(t)
	ctx.Accounts = append(ctx.Accounts, api.Account{Type: api.AccountSolana, AccountAddress: solana})
	return ctx
}

// withSolana is the sample with 5 SOL, and with the accounts named the way a service names them.
func withSolana(t testing.TB) api.AggregatedBalance {
	b := tuitest.Balances(t)
	b.Accounts = &api.BalanceAccounts{EVM: strings.ToLower(tuitest.Account), Solana: solana}
	for i := range b.BalanceByAggregatedAsset {
		a := &b.BalanceByAggregatedAsset[i]
		if a.AggregatedAssetID == "ob:sol" {
			a.Balance, a.FiatValue = "5000000000", "446.79"
			a.IndividualAssetBalances[0].Balance, a.IndividualAssetBalances[0].FiatValue = "5000000000", "446.79"
		}
	}
	micro, _ := b.TotalBalance.FiatValue.Micro()
	b.TotalBalance.FiatValue = api.Micro(micro.Add(micro, big.NewInt(446_790_000)))
	return b
}

func loaded(t *testing.T, ctx screen.Context, src *source) *Model {
	t.Helper()
	m := New(ctx, src, Random(strings.NewReader("a factor of the tests")))
	t.Cleanup(m.Close)
	answer(t, m, m.Init())
	return m
}

func sample(t *testing.T) *Model {
	return loaded(t, tuitest.Context(t), &source{b: tuitest.Balances(t)})
}

func TestGoldenScreens(t *testing.T) {
	sizes := []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}}
	cases := []struct {
		name string
		keys []string
	}{
		{"by asset", nil},
		{"one asset open", []string{"enter", "down", "down", "down", "down", "enter"}},
		{"by chain, all open", []string{"v", "e"}},
		{"hidden", []string{"enter", "hidden"}},
		{"zero shown, A to Z", []string{"z", "s"}},
		{"by account", []string{"v", "v", "enter"}},
		{"smallest amount first", []string{"s", "s", "s", "S"}},
		{"dust", []string{"G", "up", "enter"}},
		{"scrambled", []string{"enter", "H"}},
		{"receive", []string{"r"}},
		{"receive on Solana", []string{"r", "right"}},
		{"asking", []string{"r", "a", "2", "5", "space", "u", "s", "d", "c", "enter"}},
		{"payment request", []string{"r", "a", "5", "space", "u", "s", "d", "c", "@", "b", "a", "s", "e", "enter"}},
		{"inspect", []string{"down", "i"}},
		{"filtered", []string{"/", "b", "t", "c", "enter"}},
		{"filter without match", []string{"/", "q", "q"}},
	}
	for _, size := range sizes {
		for _, c := range cases {
			t.Run(c.name+" "+size.name, func(t *testing.T) {
				ctx := twoAccounts(t)
				if c.name == "dust" {
					ctx.Settings.Dust = big.NewInt(400_000_000)
				}
				m := loaded(t, ctx, &source{b: withSolana(t)})
				m.Update(screen.ResizedMsg{W: size.w, H: size.h})
				for _, k := range c.keys {
					if k == "hidden" { // by the shell, for every screen
						m.Update(screen.AmountsMsg{Hidden: true})
						continue
					}
					tuitest.Keys(m, k)
				}
				golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
			})
		}
	}
}

func TestGoldenLoadingAndBroken(t *testing.T) {
	down := errors.New("dial tcp 10.0.0.7:443: connection refused")
	t.Run("first reading", func(t *testing.T) {
		m := New(tuitest.Context(t), &source{})
		m.Init()
		defer m.Close()
		golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	})
	t.Run("first reading failed", func(t *testing.T) {
		m := loaded(t, tuitest.Context(t), &source{err: down})
		golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	})
	t.Run("stale", func(t *testing.T) {
		src := &source{b: tuitest.Balances(t)}
		m := loaded(t, tuitest.Context(t), src)
		m.at = m.at.Add(-3 * time.Minute)
		src.err = &api.Error{Name: api.ErrTooManyRequests, StatusCode: 429}
		answer(t, m, m.Update(kit.Press("ctrl+r")))
		golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	})
	t.Run("nothing held", func(t *testing.T) {
		m := loaded(t, tuitest.Context(t), &source{})
		golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	})
}

func TestUnknownAssetShowsNoAmount(t *testing.T) {
	b := api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{{
		AggregatedAssetID: "ob:usdc", Balance: "5000000", FiatValue: "5",
		IndividualAssetBalances: []api.AssetBalance{
			{AssetType: "eip155:8453/erc20:0x00000000000000000000000000000000deadbeef", Balance: "5000000",
				FiatValue: "5"}},
	}, {AggregatedAssetID: "ob:Scаm\x1b[31m", Balance: "7", FiatValue: "7"}}}
	m := loaded(t, tuitest.Context(t), &source{b: b})
	tuitest.Keys(m, "e")
	text := tuitest.Text(t, m, 110, 20)
	if strings.Contains(text, "\x1b") {
		t.Error("an escape sequence of the service reached the screen")
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "Base") && !strings.Contains(line, "?") {
			t.Errorf("the amount of a contract that the catalog does not know is shown: %q", line)
		}
		if strings.Contains(line, "Sc") && !strings.Contains(line, "?") {
			t.Errorf("the amount of an unknown aggregate is shown: %q", line)
		}
	}
}

func TestAggregateThatIsNotItsSumIsMarked(t *testing.T) {
	b := tuitest.Balances(t)
	for i := range b.BalanceByAggregatedAsset {
		if b.BalanceByAggregatedAsset[i].AggregatedAssetID == "ob:usdc" {
			b.BalanceByAggregatedAsset[i].Balance = "9999000000"
		}
	}
	m := loaded(t, tuitest.Context(t), &source{b: b})
	if text := tuitest.Text(t, m, 120, 19); !strings.Contains(text,
		"not what its parts add up to. Expected: 2,275.25 USDC. Found: 9,999 USDC") ||
		!strings.Contains(text, "USDC !") {
		t.Errorf("no warning:\n%s", text)
	}
}

func TestTotalIsTheSumOfWhatIsShown(t *testing.T) {
	b := tuitest.Balances(t)
	b.TotalBalance.FiatValue = "1000000"
	m := loaded(t, tuitest.Context(t), &source{b: b})
	if text := tuitest.Text(t, m, 120, 19); !strings.Contains(text,
		"the service says the total is $1,000,000.00; its assets add up to $4,9") {
		t.Errorf("the service's total is not questioned:\n%s", text)
	}
	msg := m.announce()().(screen.TotalChangedMsg)
	if msg.Micro.Cmp(big.NewInt(1_000_000_000_000)) == 0 {
		t.Error("the first line shows the service's total")
	}
}

func TestStaleAnswerIsDropped(t *testing.T) {
	src := &source{b: tuitest.Balances(t)}
	m := New(tuitest.Context(t), src)
	defer m.Close()
	first := m.Init()
	second := m.Update(screen.BalancesChangedMsg{})
	answer(t, m, second)
	src.b = api.AggregatedBalance{}
	m.Update(first())
	if len(m.rows) == 0 {
		t.Error("the answer to an older request replaced a newer one")
	}
}

func TestSelectionStaysOnItsLineOverRefresh(t *testing.T) {
	src := &source{b: tuitest.Balances(t)}
	m := loaded(t, tuitest.Context(t), src)
	tuitest.Keys(m, "down", "down")
	before, _ := m.current()
	for i := range src.b.BalanceByAggregatedAsset {
		if a := &src.b.BalanceByAggregatedAsset[i]; a.AggregatedAssetID == "ob:link" {
			a.Balance, a.FiatValue = "900000000000000000000", "90000"
		}
	}
	answer(t, m, m.Update(kit.Press("ctrl+r")))
	after, _ := m.current()
	if before.key != after.key || m.rows[0].key != "ob:link" {
		t.Errorf("selected %q, then %q; first row %q", before.key, after.key, m.rows[0].key)
	}
}

func TestKeysAskTheShell(t *testing.T) {
	m := sample(t)
	if msg, ok := tuitest.Keys(m, "b")().(screen.OpenMsg); !ok || msg.Screen != screen.Build ||
		msg.Arg.(screen.AssetArg).Aggregate != "ob:usdc" {
		t.Errorf("b sent %#v", msg)
	}
	if msg, ok := tuitest.Keys(m, "r", "y")().(screen.CopyMsg); !ok || msg.Text != tuitest.Account {
		t.Errorf("y in receive sent %#v", msg)
	}
	if !m.Capturing() {
		t.Error("the receive panel leaves the shell's keys on")
	}
	if msg, ok := tuitest.Keys(m, "esc", "h")().(screen.HideMsg); !ok {
		t.Errorf("h sent %#v", msg)
	}
}

func TestReceiveWarnsByNetwork(t *testing.T) {
	for kind, want := range map[network.Kind]string{network.Embedded: "Real coins sent to this address are lost",
		network.Lab: "Real coins sent to this address are lost", network.Real: "Compare the whole address"} {
		ctx := tuitest.Context(t)
		ctx.Network.Kind = kind
		m := loaded(t, ctx, &source{b: tuitest.Balances(t)})
		tuitest.Keys(m, "r")
		if text := tuitest.Text(t, m, 120, 12); !strings.Contains(text, want) ||
			!strings.Contains(text, "0xfe52 613d 747E") {
			t.Errorf("%s:\n%s", kind, text)
		}
	}
}

func BenchmarkUpdateView200Assets(b *testing.B) {
	one := api.AggregatedBalance{}
	for i := range 200 {
		one.BalanceByAggregatedAsset = append(one.BalanceByAggregatedAsset, api.AggregateBalance{
			AggregatedAssetID: "ob:asset" + string(rune('a'+i%26)) + strings.Repeat("x", i%9), Balance: "123456789",
			FiatValue: api.Number(big.NewInt(int64(1000 + i*37)).String()),
		})
	}
	m := New(tuitest.Context(b), &source{b: one})
	defer m.Close()
	m.Update(m.Init()())
	m.Update(screen.ResizedMsg{W: 120, H: 35})
	f := screen.Frame{W: 120, H: 35, Theme: tuitest.Theme(), Now: tuitest.Now()}
	key := kit.Press("down")
	for b.Loop() {
		m.Update(key)
		if m.View(f) == "" {
			b.Fatal("nothing drawn")
		}
	}
}

// drawn is the visible text at a moment.
func drawn(t testing.TB, m *Model, w, h int, now time.Time) string {
	t.Helper()
	body, _, _, _ := kit.TakeCursor(m.View(screen.Frame{W: w, H: h, Theme: tuitest.Theme(), Now: now}))
	tuitest.CheckBox(t, body, w, h)
	lines := strings.Split(ansi.Strip(body), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}
