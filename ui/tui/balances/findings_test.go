package balances

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// lying is an answer with errors in five places.
func lying() api.AggregatedBalance {
	part := func(id, balance, fiat string) api.AssetBalance {
		return api.AssetBalance{AssetType: id, Balance: balance, FiatValue: api.Number(fiat)}
	}
	return api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{
		{AggregatedAssetID: "ob:usdc", Balance: "9000000", FiatValue: "9",
			IndividualAssetBalances: []api.AssetBalance{part(usdcBase, "5000000", "5")}},
		{AggregatedAssetID: "ob:eth", Balance: "1000000000000000000", FiatValue: "3000",
			IndividualAssetBalances: []api.AssetBalance{
				part("eip155:8453/slip44:60", "1000000000000000000", "3000"), part(usdcBase, "777000000", "777"),
			}},
		{AggregatedAssetID: "ob:dai", Balance: "-5", FiatValue: "-5", IndividualAssetBalances: nil},
		{AggregatedAssetID: "ob:usdc", Balance: "1000000", FiatValue: "1000000"},
		{AggregatedAssetID: "ob:UЅDC", Balance: "123456", FiatValue: "12", IndividualAssetBalances: nil},
		{AggregatedAssetID: "ob:usdt", Balance: "1000000", FiatValue: "1", IndividualAssetBalances: []api.AssetBalance{
			part("eip155:8453/erc20:0x00000000000000000000000000000000deadbeef", "1000000", "1"),
		}},
	}, TotalBalance: api.TotalBalance{FiatValue: "-1"}}
}

func TestGoldenFindings(t *testing.T) {
	for _, size := range []struct {
		name string
		w, h int
	}{{"80x24", 80, 19}, {"120x40", 120, 35}} {
		for name, keys := range map[string][]string{"list": {"e"}, "inspect": {"s", "G", "up", "i"}} {
			t.Run(name+" "+size.name, func(t *testing.T) {
				m := loaded(t, tuitest.Context(t), &source{b: lying()})
				m.Update(screen.ResizedMsg{W: size.w, H: size.h})
				tuitest.Keys(m, keys...)
				golden.RequireEqual(t, tuitest.Text(t, m, size.w, size.h))
			})
		}
	}
}

func TestWhatAChecksRefusesHasNoFigure(t *testing.T) {
	m := loaded(t, tuitest.Context(t), &source{b: lying()})
	h := m.real
	if a := h.Assets[1].Parts[1]; a.Amount != nil || a.Micro != nil {
		t.Error("USDC that is counted to ether has figures")
	}
	if a := h.Assets[2]; a.Amount != nil || a.Micro != nil {
		t.Error("a negative balance is a figure")
	}
	if a := h.Assets[3]; a.Amount != nil || a.Micro != nil {
		t.Error("an asset that is listed twice counts twice")
	}
	if !h.Refused || snapshotOf(h, m.at) != nil {
		t.Error("a total with refused figures is kept")
	}
	if got := h.Total.String(); got != "3022000000" {
		t.Errorf("the total is %s", got)
	}
	for i, want := range []theme.Meaning{theme.Warn, theme.Danger, theme.Danger, theme.Danger, theme.Danger,
		theme.Danger} {
		if got := (m.assetGroups()[i]).worst(); got != want {
			t.Errorf("asset %d is marked %v, not %v", i, got, want)
		}
	}
	if len(h.Reasons) != 1 || h.Reasons[0].Path != "/totalBalance/fiatValue" {
		t.Errorf("%+v", h.Reasons)
	}
}

// TH-B4: a symbol that imitates a known one is spelled out, and cannot be built with.
func TestALookAlikeIsMarkedAndNotBuiltWith(t *testing.T) {
	m := loaded(t, tuitest.Context(t), &source{b: lying()})
	tuitest.Keys(m, "/", "u", "{", "enter")
	r, ok := m.current()
	if !ok || !strings.Contains(r.title, `U\u{405}DC`) || !strings.Contains(r.title, "(unverified)") {
		t.Fatalf("%q", r.title)
	}
	text := tuitest.Text(t, m, 120, 19)
	if !strings.Contains(text, "looks like that of a known asset") || strings.Contains(text, "\x1b") {
		t.Errorf("no reason:\n%s", text)
	}
	for _, k := range m.Keys() {
		for _, press := range []string{"b", "t", "w"} {
			if k.Match(press) && k.Off == "" {
				t.Errorf("%s is on", press)
			}
		}
	}
	if m.Update(kit.Press("b")) != nil {
		t.Error("the builder opens with a look-alike")
	}
	tuitest.Keys(m, "i")
	if text := tuitest.Text(t, m, 120, 35); !strings.Contains(text, "check B4") ||
		!strings.Contains(text, "another symbol than USDC") {
		t.Errorf("inspect does not say it:\n%s", text)
	}
}

func TestAnAnswerAboutAnotherAccountIsNotShown(t *testing.T) {
	b := newBench(t)
	b.begin()
	for _, says := range []api.BalanceAccounts{{EVM: tuitest.Signer}, {Solana: "11111111111111111111111111111111"}} {
		was := b.m.real
		b.src.b.Accounts = &says
		b.read(0)
		if b.m.real != was {
			t.Errorf("balances of %+v are shown", says)
		}
		if text := b.text(120, 19); !strings.Contains(text, "the answer is about another account") {
			t.Errorf("nothing is said:\n%s", text)
		}
	}
}

func TestAccountsThatTheAnswerDoesNotTellApartStandTogether(t *testing.T) {
	ctx := twoAccounts(t)
	ctx.Accounts = append(ctx.Accounts, api.Account{Type: api.AccountKernelV33, AccountAddress: tuitest.Signer})
	b := withSolana(t)
	b.Accounts = nil
	m := loaded(t, ctx, &source{b: b})
	tuitest.Keys(m, "v", "v")
	text := tuitest.Text(t, m, 110, 19)
	for _, want := range []string{"EVM accounts", "not told apart", "$4,952.22 + ?", "Solana account", "$446.79"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
	b.Accounts = &api.BalanceAccounts{EVM: tuitest.Signer}
	m = loaded(t, ctx, &source{b: b})
	tuitest.Keys(m, "v", "v")
	for _, line := range strings.Split(tuitest.Text(t, m, 110, 19), "\n") {
		if strings.Contains(line, "0xfe52") && !strings.HasSuffix(line, "?") {
			t.Errorf("an account that the answer leaves out has a figure: %q", line)
		}
		if strings.Contains(line, "0xcd75") && !strings.Contains(line, "$4,952.22") {
			t.Errorf("the account that is named has no figure: %q", line)
		}
	}
}

func TestTwoTypesOfOneAddressAreOneAccount(t *testing.T) {
	ctx := tuitest.Context(t)
	ctx.Accounts = append(ctx.Accounts, api.Account{Type: api.AccountKernelV33,
		AccountAddress: strings.ToLower(tuitest.Account)})
	m := loaded(t, ctx, &source{b: tuitest.Balances(t)})
	tuitest.Keys(m, "v", "v")
	if len(m.rows) != 1 || m.rows[0].title != "smart account, EOA, EIP-7702" {
		t.Errorf("%d lines, %q", len(m.rows), m.rows[0].title)
	}
}
