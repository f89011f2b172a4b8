package balances

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/assets"
	"coffer/ui/present"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
)

// drawnCatalog is a catalog with assets of long symbols and any decimals, on the built-in chains.
func drawnCatalog(rt *rapid.T, d assets.Catalog) *catalog.Catalog {
	d.Tokens = slices.Clone(d.Tokens)
	chains := d.Chains[:7] // EVM
	for i := range rapid.IntRange(1, 6).Draw(rt, "assets") {
		symbol := rapid.StringMatching(`[A-Z]{1,38}`).Draw(rt, "symbol") + fmt.Sprintf("%02d", i)
		token := assets.Token{
			AggregatedAssetID: "ob:" + strings.ToLower(symbol), Symbol: symbol, Name: "Name of " + symbol,
			Decimals: new(rapid.IntRange(0, 18).Draw(rt, "decimals")),
		}
		for k := range rapid.IntRange(1, len(chains)).Draw(rt, "chains") {
			token.AggregatedEntities = append(token.AggregatedEntities, assets.Entity{
				AssetType: caip.Asset{Chain: mustChain(chains[k].Chain), Namespace: "erc20",
					Reference: fmt.Sprintf("0x%040x", 0xabc000+i)}.Display(),
				Decimals: new(rapid.IntRange(0, 18).Draw(rt, "of the chain")),
				Symbol:   symbol, Name: "Name of " + symbol,
			})
		}
		d.Tokens = append(d.Tokens, token)
	}
	c, err := catalog.New(d)
	if err != nil {
		rt.Fatal(err)
	}
	return c
}

func mustChain(s string) caip.Chain {
	c, err := caip.ParseChain(s)
	if err != nil {
		panic(err)
	}
	return c
}

// drawnBalances has figures of up to 78 digits, with correct sums.
func drawnBalances(rt *rapid.T, c *catalog.Catalog) api.AggregatedBalance {
	var b api.AggregatedBalance
	whole := new(big.Int)
	limit := amount.MaxUint256()
	figure := func(what string) *big.Int {
		v, _ := new(big.Int).SetString(rapid.OneOf(rapid.Just("0"), rapid.StringMatching(`[1-9][0-9]{0,76}`),
			rapid.StringMatching(`[1-9][0-9]{0,24}`)).Draw(rt, what), 10)
		return v
	}
	for _, a := range c.Aggregates() {
		if !strings.HasPrefix(a.Name, "Name of ") {
			continue
		}
		one := api.AggregateBalance{AggregatedAssetID: string(a.ID)}
		sum, worth := new(big.Int), new(big.Int)
		priced := rapid.Bool().Draw(rt, "priced")
		for _, e := range a.Entities {
			v := figure("amount")
			if next := new(big.Int).Add(sum, amount.Scale(v, e.Decimals, a.Decimals)); next.Cmp(limit) > 0 {
				v = new(big.Int)
			}
			sum.Add(sum, amount.Scale(v, e.Decimals, a.Decimals))
			p := api.AssetBalance{AssetType: e.Asset.String(), Balance: v.String()}
			if priced {
				micro := figure("micro")
				worth.Add(worth, micro)
				p.FiatValue = api.Micro(micro)
			}
			one.IndividualAssetBalances = append(one.IndividualAssetBalances, p)
		}
		one.Balance = sum.String()
		if priced {
			one.FiatValue = api.Micro(worth)
			whole.Add(whole, worth)
		}
		b.BalanceByAggregatedAsset = append(b.BalanceByAggregatedAsset, one)
	}
	b.TotalBalance.FiatValue = api.Micro(whole)
	return b
}

// shortened is the form of a figure that does not fit: its first digits and their number.
var shortened = regexp.MustCompile(`^\$?([0-9,]+)… ([0-9]+) (?:digits|dig\.)$`)

// honest reports whether a cell shows the figure itself, or its first digits and says so. exact is without separators.
func honest(shown, exact string) bool {
	shown = strings.TrimPrefix(strings.TrimSpace(shown), "$")
	plain := strings.ReplaceAll(shown, ",", "")
	whole, _, _ := strings.Cut(exact, ".")
	if m := shortened.FindStringSubmatch(shown); m != nil {
		return strings.HasPrefix(whole, strings.ReplaceAll(m[1], ",", "")) && m[2] == fmt.Sprint(len(whole))
	}
	if start, ok := strings.CutSuffix(plain, "…"); ok {
		return strings.HasPrefix(exact, start) && len(start) >= len(whole)
	}
	if least, ok := strings.CutPrefix(plain, "<"); ok {
		limit, _ := new(big.Rat).SetString(least)
		v, _ := new(big.Rat).SetString(exact)
		return v.Sign() > 0 && v.Cmp(limit) < 0
	}
	a, okA := new(big.Rat).SetString(plain)
	b, okB := new(big.Rat).SetString(exact)
	return okA && okB && a.Cmp(b) == 0
}

func TestNoDigitIsLostWhateverIsHeld(t *testing.T) {
	d, err := assets.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		ctx := tuitest.Context(t)
		ctx.Catalog = drawnCatalog(rt, d)
		src := &source{b: drawnBalances(rt, ctx.Catalog)}
		m := New(ctx, src)
		defer m.Close()
		m.Update(m.load()().(loadedMsg))
		if m.real == nil {
			rt.Fatal(m.err)
		}
		if m.marked() != 0 {
			rt.Fatalf("%+v", m.real.Reasons)
		}
		w, h := rapid.IntRange(60, 160).Draw(rt, "w"), rapid.IntRange(15, 45).Draw(rt, "h")
		m.Update(screen.ResizedMsg{W: w, H: h})
		m.zero = true
		m.order.by = column(rapid.IntRange(0, int(columns)-1).Draw(rt, "order"))
		for m.view = range views {
			m.arrange()
			tuitest.Keys(m, "e")
			tuitest.Text(t, m, w, h)
			checkRows(rt, m)
			checkTotals(rt, m)
			m.Update(kit.Press("G"))
			tuitest.Text(t, m, w, h)
		}
		m.view = byAsset
		m.arrange()
		checkInspect(rt, t, m, w)
	})
}

// checkRows compares every cell with its figure.
func checkRows(rt *rapid.T, m *Model) {
	th, w := tuitest.Theme(), m.panes()[0]
	for i, r := range m.rows {
		if r.kind != groupRow && r.kind != partRow {
			continue
		}
		if r.alone {
			if above := m.rows[i-1]; above.kind != groupRow || r.amount.Cmp(above.amount) != 0 {
				rt.Fatalf("%s is left out, and the line above has %s", r.amount, above.amount)
			}
			continue
		}
		cells := m.cells(th, w, i, nil)
		if c := cells[amountAt]; r.figure {
			if text := c.Text + c.Tail; !honest(text, amount.Format(r.amount, r.decimals)) ||
				present.Width(text) > m.table.WidthOf(amountAt, w) {
				rt.Fatalf("%s of %d decimals is shown as %q", r.amount, r.decimals, text)
			}
		}
		if c := cells[valueAt]; r.micro != nil {
			rounded := strings.TrimSuffix(c.Text, " ")
			exact := amount.USD2(r.micro)
			if strings.Contains(rounded, "…") {
				exact = amount.Format(r.micro, 6)
			}
			if rounded == "<$0.01" {
				if r.micro.Sign() <= 0 || r.micro.Cmp(big.NewInt(5000)) >= 0 {
					rt.Fatalf("%s is shown as %q", r.micro, rounded)
				}
			} else if !honest(rounded, exact) || present.Width(c.Text+c.Tail) > m.table.WidthOf(valueAt, w) {
				rt.Fatalf("%s micro USD is shown as %q", r.micro, c.Text+c.Tail)
			}
		}
	}
}

// checkTotals adds the groups up in another way than the screen.
func checkTotals(rt *rapid.T, m *Model) {
	total := new(big.Int)
	seen := false
	for _, r := range m.rows {
		if r.kind == groupRow && r.micro != nil {
			total.Add(total, r.micro)
			seen = true
		}
	}
	if seen && m.total() == nil || m.total() != nil && m.total().Cmp(total) != 0 {
		rt.Fatalf("%s: lines add up to %s, the total is %s", m.view.words(), total, m.total())
	}
	if m.real.Differs() {
		rt.Fatal("the service's total is doubted")
	}
}

// framed is what the frame on a screen holds: what lies beside it is of the page below.
func framed(text string) string {
	var out []string
	left, right := 0, 0
	for line := range strings.Lines(text) {
		if before, rest, ok := strings.Cut(line, "┌"); ok {
			left = present.Width(before) + 1
			frame, _, _ := strings.Cut(rest, "┐")
			right = left + present.Width(frame)
		} else if strings.Contains(line, "└") {
			break
		} else if right > 0 {
			out = append(out, ansi.Cut(line, left, right))
		}
	}
	return strings.Join(out, "\n")
}

// checkInspect reads every digit of the selected figures on the screen.
func checkInspect(rt *rapid.T, t *testing.T, m *Model, w int) {
	for i, r := range m.rows {
		if r.kind != groupRow {
			continue
		}
		m.table.Select(i)
		tuitest.Keys(m, "i")
		text := strings.NewReplacer(" ", "", "\n", "").Replace(framed(tuitest.Text(t, m, w, 60)))
		want := []string{amount.Group(amount.Format(r.amount, r.decimals)),
			"baseunits" + amount.Group(r.amount.String()), r.title}
		if r.micro != nil {
			want = append(want, amount.Group(amount.Format(r.micro, 6)))
		}
		for _, s := range want {
			if !strings.Contains(text, strings.ReplaceAll(s, " ", "")) {
				rt.Fatalf("%q is not in full under inspect:\n%s", s, text)
			}
		}
		tuitest.Keys(m, "esc")
	}
}
