package balances

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/qr"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// groupsOf removes the spaces from a drawing, so that an address is found wherever it wraps.
func groupsOf(text string) string {
	return strings.NewReplacer(" ", "", "\n", "", "█", "", "▀", "", "▄", "").Replace(text)
}

func TestReceiveShowsEveryAccountInFullAtEverySize(t *testing.T) {
	for w := 60; w <= 130; w += 7 {
		for h := 15; h <= 40; h += 5 {
			m := loaded(t, twoAccounts(t), &source{b: withSolana(t)})
			tuitest.Keys(m, "r")
			for i, want := range []string{tuitest.Account, solana, tuitest.Account} {
				text := groupsOf(tuitest.Text(t, m, w, h))
				if !strings.Contains(text, want) || !strings.Contains(text, "arelost") {
					t.Errorf("account %d at %dx%d: the address or the warning is cut\n%s", i, w, h,
						tuitest.Text(t, m, w, h))
				}
				if i == 1 != strings.Contains(text, "Solanaonly") {
					t.Errorf("account %d: wrong chains", i)
				}
				if msg := tuitest.Keys(m, "y")().(screen.CopyMsg); msg.Text != want {
					t.Errorf("account %d: copied %s", i, msg.Text)
				}
				tuitest.Keys(m, "right")
			}
			tuitest.Keys(m, "left", "left", "left")
			if text := groupsOf(tuitest.Text(t, m, w, h)); !strings.Contains(text, tuitest.Account) {
				t.Error("left does not go back")
			}
		}
	}
}

func TestReceiveSaysWhenTheCodeDoesNotFit(t *testing.T) {
	m := loaded(t, tuitest.Context(t), &source{b: tuitest.Balances(t)})
	tuitest.Keys(m, "r")
	if text := tuitest.Text(t, m, 60, 15); !strings.Contains(text, "too small for the QR code: it needs") ||
		strings.Contains(text, "▀") {
		t.Errorf("got\n%s", text)
	}
	need := 0
	fmt.Sscanf(strings.SplitAfter(tuitest.Text(t, m, 80, 15), "it needs ")[1], "%d more", &need)
	if need == 0 || !strings.Contains(tuitest.Text(t, m, 80, 15+need), "▀") ||
		strings.Contains(tuitest.Text(t, m, 80, 15+need-1), "▀") {
		t.Errorf("%d more lines are not what it takes", need)
	}
}

// The drawing has the whole code with its quiet zone, on dark, light and colourless terminals.
func TestReceiveDrawsTheWholeCode(t *testing.T) {
	m := loaded(t, tuitest.Context(t), &source{b: tuitest.Balances(t)})
	tuitest.Keys(m, "r")
	q, err := qr.New(tuitest.Account)
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range []theme.Theme{
		tuitest.Theme(), theme.New(false, colorprofile.TrueColor, false), theme.New(true, colorprofile.ASCII, false),
		theme.New(false, colorprofile.ASCII, false),
		theme.New(true, colorprofile.ASCII, true), theme.New(true, colorprofile.ANSI256, true),
	} {
		text := m.View(screen.Frame{W: 120, H: 40, Theme: th, Now: tuitest.Now()})
		tuitest.CheckBox(t, text, 120, 40)
		lines := strings.Split(ansi.Strip(text), "\n")
		for i, want := range q.Lines(th.QR(), 4) {
			if !strings.HasPrefix(lines[i], "  "+ansi.Strip(want)) {
				t.Fatalf("ASCII %v: line %d is %q", th.ASCII, i, lines[i])
			}
		}
	}
}

func TestReceiveBeginsWithTheSelectedAccountAndNeedsOne(t *testing.T) {
	m := loaded(t, twoAccounts(t), &source{b: withSolana(t)})
	tuitest.Keys(m, "v", "v", "down", "r")
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "4Nd1 mBQt") {
		t.Errorf("got\n%s", text)
	}
	ctx := tuitest.Context(t)
	ctx.Accounts = nil
	m = loaded(t, ctx, &source{b: tuitest.Balances(t)})
	tuitest.Keys(m, "r")
	if m.Capturing() {
		t.Error("receiving without an account")
	}
}

// TestReceiveAsksForAnAmount: what is typed becomes a payment request, in text and as a code that reads the same.
func TestReceiveAsksForAnAmount(t *testing.T) {
	m := loaded(t, twoAccounts(t), &source{b: withSolana(t)})
	tuitest.Keys(m, "r", "a")
	typed := func(text string) {
		for _, r := range text {
			tuitest.Keys(m, map[rune]string{' ': "space"}[r]+strings.TrimSpace(string(r)))
		}
		tuitest.Keys(m, "enter")
	}
	typed("25 usdc")
	if text := tuitest.Text(t, m, 80, 19); !strings.Contains(text, "say on which chain, such as usdc on") ||
		!m.Capturing() {
		t.Fatalf("the mistake is not at the field:\n%s", text)
	}
	typed(" on base")
	const want = "ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=" + tuitest.Account +
		"&uint256=25000000"
	for _, size := range [][2]int{{60, 15}, {80, 19}, {120, 35}, {200, 55}} {
		text := tuitest.Text(t, m, size[0], size[1])
		if whole := groupsOf(text); !strings.Contains(whole, "Paymentrequest:25USDConBase.") ||
			!strings.Contains(whole, "arelost") || !strings.Contains(text, "▀") &&
			!strings.Contains(whole, "toosmallfortheQRcode") || !strings.Contains(whole, "&uint256=25000000") {
			t.Errorf("%v\n%s", size, text)
		}
	}
	if text := groupsOf(tuitest.Text(t, m, 80, 24)); !strings.Contains(text, want) {
		t.Errorf("the request is not whole\n%s", tuitest.Text(t, m, 80, 24))
	}
	q, err := qr.New(want)
	if err != nil {
		t.Fatal(err)
	}
	f := screen.Frame{W: 140, H: 40, Theme: tuitest.Theme(), Now: tuitest.Now()}
	lines := strings.Split(ansi.Strip(m.View(f)), "\n")
	for i, want := range q.Lines(f.Theme.QR(), 4) {
		if !strings.HasPrefix(lines[i], "  "+ansi.Strip(want)) {
			t.Fatalf("line %d of the code is %q", i, lines[i])
		}
	}
	if msg := tuitest.Keys(m, "y")().(screen.CopyMsg); msg.Text != want {
		t.Errorf("copied %s", msg.Text)
	}
	tuitest.Keys(m, "a", "ctrl+u")
	typed("0.5 sol")
	if msg := tuitest.Keys(m, "y")().(screen.CopyMsg); msg.Text != "solana:"+solana+"?amount=0.5" {
		t.Errorf("a request for SOL goes to %s", msg.Text)
	}
	tuitest.Keys(m, "right")
	if msg := tuitest.Keys(m, "y")().(screen.CopyMsg); msg.Text != tuitest.Account {
		t.Errorf("another account keeps the request: %s", msg.Text)
	}
	tuitest.Keys(m, "a", "enter", "esc")
	if msg := tuitest.Keys(m, "y")().(screen.CopyMsg); msg.Text != solana || !m.receive.open {
		t.Errorf("esc does not lead back to the address: %s", msg.Text)
	}
	if tuitest.Keys(m, "esc"); m.Capturing() {
		t.Error("esc does not close the panel")
	}
}

func TestReceiveNamesTheChainsThatTheNetworkRuns(t *testing.T) {
	ctx := tuitest.Context(t)
	ctx.Network.Chains = []string{"eip155:10", "eip155:8453"}
	m := loaded(t, ctx, &source{b: tuitest.Balances(t)})
	tuitest.Keys(m, "r")
	if text := tuitest.Text(t, m, 120, 35); !strings.Contains(text, "these chains only: Optimism, Base.") ||
		strings.Contains(text, "Ethereum") {
		t.Errorf("got\n%s", text)
	}
}

// exported runs an export and returns its files and its message.
func exported(t *testing.T, b *bench) (files map[string][]byte, said screen.ToastMsg) {
	t.Helper()
	files = map[string][]byte{}
	b.m.ctx.Export = func(name string, data []byte) (string, error) {
		files[name] = data
		return "/home/someone/exports/" + name, nil
	}
	for _, msg := range asked(b, "x") {
		if msg, ok := msg.(screen.ToastMsg); ok {
			said = msg
		}
	}
	return files, said
}

func TestExportHasExactFiguresOfAllHoldings(t *testing.T) {
	b := newBench(t)
	b.begin()
	asked(b, "/", "b", "t", "c", "enter")
	files, said := exported(t, b)
	if !strings.Contains(said.Text,
		"11 holdings written to /home/someone/exports/holdings.csv and /home/someone/exports/holdings.json") {
		t.Errorf("said %q", said.Text)
	}
	lines, err := csv.NewReader(strings.NewReader(string(files["holdings.csv"]))).ReadAll()
	if err != nil || len(lines) != 12 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	var f heldFile
	if err := json.Unmarshal(files["holdings.json"], &f); err != nil || len(f.Holdings) != 11 {
		t.Fatalf("%d holdings, %v", len(f.Holdings), err)
	}
	if f.ReadAt != "2026-11-21T09:30:00Z" || f.Network != b.ctx.Network.ID || f.TotalUSD == nil || !f.Without ||
		f.LastKnown {
		t.Errorf("%+v", f)
	}
	found, sum := false, new(big.Rat)
	for i, h := range f.Holdings {
		if h.FiatUSD != nil {
			v, _ := new(big.Rat).SetString(*h.FiatUSD)
			sum.Add(sum, v)
		}
		if l := lines[i+1]; l[0] != f.ReadAt || l[4] != h.Asset || l[9] != *h.BaseUnits ||
			l[8] != fmt.Sprint(*h.Decimals) {
			t.Errorf("line %d is %v, not %+v", i, l, h)
		}
		if h.Symbol == "ETH" && h.ChainName == "Arbitrum One" {
			found = *h.BaseUnits == "100000000000000001"
		}
		if h.Symbol == "ZERO" && h.FiatUSD != nil || h.Symbol == "SOL" &&
			(*h.Account != solana || *h.FiatUSD != "446.79") {
			t.Errorf("%+v", h)
		}
	}
	if sum.FloatString(6) != *f.TotalUSD {
		t.Errorf("the total is %s, the holdings add up to %s", *f.TotalUSD, sum.FloatString(6))
	}
	if !found {
		t.Error("digits of ether are lost")
	}
}

func TestExportWritesNoFormulaAndNoRefusedFigure(t *testing.T) {
	b := newBench(t)
	b.src.b = lying()
	b.src.b.BalanceByAggregatedAsset = append(b.src.b.BalanceByAggregatedAsset,
		api.AggregateBalance{AggregatedAssetID: "=cmd|'/c calc'!A1", Balance: "1", FiatValue: "1"})
	b.begin()
	files, _ := exported(t, b)
	lines, err := csv.NewReader(strings.NewReader(string(files["holdings.csv"]))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	formula := false
	for _, l := range lines {
		for _, field := range l {
			if field != "" && strings.ContainsAny(field[:1], "=+-@") {
				t.Errorf("a spreadsheet takes %q for a formula", field)
			}
			formula = formula || strings.HasPrefix(field, "'=cmd")
		}
		if l[3] == "ob:dai" && l[9] != "" || l[3] == "ob:eth" && strings.Contains(l[4], "0x833") && l[9] == "" {
			t.Errorf("%v", l)
		}
	}
	if !formula {
		t.Error("the foreign id is not there")
	}
}

func TestExportSaysWhyItFails(t *testing.T) {
	b := newBench(t)
	b.begin()
	if msg := asked(b, "x")[0].(screen.ToastMsg); !strings.Contains(msg.Text, "cannot write exports") {
		t.Error(msg.Text)
	}
	b.m.ctx.Export = func(string, []byte) (string, error) { return "", errors.New("disk full\x1b[2J") }
	all := asked(b, "x")
	if msg := all[len(all)-1].(screen.ToastMsg); msg.Meaning != theme.Danger ||
		!strings.Contains(msg.Text, "disk full") || strings.Contains(msg.Text, "\x1b") {
		t.Error(msg.Text)
	}
}

func TestExportOfLastKnownSaysSo(t *testing.T) {
	b := newBench(t)
	b.begin()
	b.clock.now = b.clock.now.Add(time.Hour)
	b.start()
	b.kept()
	files, _ := exported(t, b)
	var f heldFile
	if err := json.Unmarshal(files["holdings.json"], &f); err != nil || !f.LastKnown ||
		f.ReadAt != "2026-11-21T09:30:00Z" {
		t.Errorf("%v %+v", err, f)
	}
}

func TestAClickSelectsThenOpensAndATitleSorts(t *testing.T) {
	m := loaded(t, tuitest.Context(t), &source{b: tuitest.Balances(t)})
	tuitest.Text(t, m, 120, 35)
	m.Update(screen.ClickMsg{X: 10, Y: 4})
	if r, _ := m.current(); r.title != "WBTC" || m.open[r.key] {
		t.Errorf("a click selected %q", r.title)
	}
	m.Update(screen.ClickMsg{X: 10, Y: 4})
	if r, _ := m.current(); !m.open[r.key] || m.rows[3].kind != partRow {
		t.Error("a second click did not open the line")
	}
	m.Update(screen.ClickMsg{X: 10, Y: 30})
	if r, _ := m.current(); r.title != "WBTC" {
		t.Error("a click below the lines moved the selection")
	}
	m.Update(screen.ResizedMsg{W: 80, H: 35})
	lines := strings.Split(tuitest.Text(t, m, 80, 35), "\n")
	at := func(text string) int { return present.Width(lines[2][:strings.Index(lines[2], text)]) }
	for title, want := range map[string]column{"USDC": titleColumn, "USD Coin": nameColumn, "2,275": amountColumn,
		"$2,274": valueColumn} {
		m.Update(screen.ClickMsg{X: at(title), Y: 1})
		if m.order.by != want {
			t.Errorf("a click on %q sorts by %d", title, m.order.by)
		}
		before := m.order.reversed
		m.Update(screen.ClickMsg{X: at(title), Y: 1})
		if m.order.reversed == before {
			t.Errorf("a second click on %q does not turn the order around", title)
		}
	}
	tuitest.Keys(m, "r")
	m.Update(screen.ClickMsg{X: 10, Y: 5})
	if !m.receive.open {
		t.Error("a click closed the panel")
	}
}

// sorted are the titles of the priced assets.
func sorted(m *Model) (out []string) {
	for _, r := range m.rows {
		if r.kind == groupRow && !r.deep {
			out = append(out, r.title)
		}
	}
	return out
}

func TestSortingGoesThroughTheColumnsAndTurnsAround(t *testing.T) {
	m := loaded(t, tuitest.Context(t), &source{b: tuitest.Balances(t)})
	for _, c := range []struct{ title, order, reversed string }{
		{"asset", "DAI ETH USDC WBTC WETH ZERO", "WETH WBTC USDC ETH DAI ZERO"},
		{"name", "DAI ETH USDC WBTC WETH ZERO", "WETH WBTC USDC ETH DAI ZERO"},
		{"amount", "USDC DAI ETH WETH WBTC ZERO", "WBTC WETH ETH DAI USDC ZERO"},
		{"value", "USDC ETH WBTC DAI WETH ZERO", "WETH DAI WBTC ETH USDC ZERO"},
	} {
		tuitest.Keys(m, "s")
		if got := strings.Join(sorted(m), " "); got != c.order {
			t.Errorf("by %s: %s", c.title, got)
		}
		first := strings.Split(tuitest.Text(t, m, 120, 19), "\n")[1]
		tuitest.Keys(m, "S")
		if got := strings.Join(sorted(m), " "); got != c.reversed {
			t.Errorf("by %s, reversed: %s", c.title, got)
		}
		second := strings.Split(tuitest.Text(t, m, 120, 19), "\n")[1]
		if first == second || !strings.Contains(first+second, c.title+" ↑") && !strings.Contains(first, c.title+" ↓") ||
			strings.Count(first, "↑")+strings.Count(first, "↓") > 1 {
			t.Errorf("the titles do not say it: %q, %q", first, second)
		}
		if r := m.rows[len(m.rows)-2]; r.title != "ZERO" {
			t.Errorf("what has no price is not last but %q", r.title)
		}
	}
}

func TestDustIsPricedWholeAndSound(t *testing.T) {
	ctx := tuitest.Context(t)
	ctx.Settings.Dust = big.NewInt(1_000_000)
	part := func(id, balance, fiat string) api.AssetBalance {
		return api.AssetBalance{AssetType: id, Balance: balance, FiatValue: api.Number(fiat)}
	}
	m := loaded(t, ctx, &source{b: api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{
		{AggregatedAssetID: "ob:usdc", Balance: "999999", FiatValue: "0.999999",
			IndividualAssetBalances: []api.AssetBalance{part(usdcBase, "999999", "0.999999")}},
		{AggregatedAssetID: "ob:eth", Balance: "2", FiatValue: "0.5",
			IndividualAssetBalances: []api.AssetBalance{part("eip155:8453/slip44:60", "1", "0.5"),
				part("eip155:10/slip44:60", "1", "")}},
		{AggregatedAssetID: "ob:sol", Balance: "5", FiatValue: "0.2"},
		{AggregatedAssetID: "ob:dai", Balance: "1000000000000000000", FiatValue: "1"},
		{AggregatedAssetID: "ob:zero", Balance: "7", FiatValue: ""},
		{AggregatedAssetID: "ob:odd", Balance: "7", FiatValue: "0.1"},
		{AggregatedAssetID: "ob:link", Balance: "0", FiatValue: "0"},
	}}})
	where := func() map[string]string {
		out, under := map[string]string{}, "main"
		for _, r := range m.rows {
			switch r.kind {
			case headRow:
				under = r.key
			case groupRow:
				out[r.title] = under
			}
		}
		return out
	}
	m.open[dustKey] = true
	m.arrange()
	got := where()
	for title, want := range map[string]string{"USDC": dustKey, "ETH": "main", "SOL": "main", "DAI": "main",
		"ZERO": "main", "odd": "main", "LINK": ""} {
		if got[title] != want {
			t.Errorf("%s stands under %q, not %q", title, got[title], want)
		}
	}
	m.open[dustKey] = false
	m.arrange()
	if _, shown := where()["USDC"]; shown {
		t.Error("dust is shown while its heading is closed")
	}
	tuitest.Keys(m, "/", "u", "s", "d", "c", "enter")
	if where()["USDC"] != dustKey {
		t.Error("a filter does not find dust")
	}
	m.ctx.Settings.Dust = nil
	tuitest.Keys(m, "esc")
	if where()["USDC"] != "main" {
		t.Error("dust without a threshold")
	}
}

func TestTransferAndSwapOpenTheirForms(t *testing.T) {
	m := sample(t)
	for key, form := range map[string]string{"b": "", "t": "transfer", "w": "swap"} {
		if msg := tuitest.Keys(m, key)().(screen.OpenMsg); msg.Screen != screen.Build ||
			msg.Arg != (screen.AssetArg{Aggregate: "ob:usdc", Form: form}) {
			t.Errorf("%s sent %+v", key, msg)
		}
	}
}
