package quotelab_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/api/client"
	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/wallet/intent"
)

// TestD6_WhatTheServiceRefusesForIsAnAnswer: a refusal has its own words, and only silence is no answer.
func TestD6_WhatTheServiceRefusesForIsAnAnswer(t *testing.T) {
	at := time.Unix(1_760_000_000, 0)
	for _, c := range []struct {
		err         error
		tone        present.Tone
		words, text string
	}{
		{api.NewError(api.ErrInsufficientBalance, "needed 5, available 1"), present.ToneWarn, "Insufficient balance",
			"needed 5, available 1"},
		{api.NewError(api.ErrNoRoute, "none"), present.ToneWarn, "No route", "none"},
		{api.NewError(api.ErrTooManyRequests, "slower"), present.ToneWarn, "Too many requests", "slower"},
		{api.NewError(api.ErrUnavailable, "the disk is full"), present.ToneDanger, "No answer",
			"the service failed: the disk is full"},
		{errors.New("broken\x1b[2J"), present.ToneDanger, "No answer", "broken\ufffd[2J"},
	} {
		a := quotelab.Failed(at, c.err)
		if tone, words := a.Outcome(); tone != c.tone || words != c.words || a.Problem != c.text || a.Figures() {
			t.Errorf("%v: %v %q %q", c.err, tone, words, a.Problem)
		}
	}
}

func TestTheShareOfACostIsRoundedUpAndMayBeBelowZero(t *testing.T) {
	for _, c := range []struct {
		cost, pay int64
		want      string
	}{{1, 10_000_000, "0.01 %"}, {50_000, 10_000_000, "0.50 %"}, {-50_000, 10_000_000, "-0.50 %"},
		{0, 10_000_000, "0.00 %"}, {1, 0, "?"}} {
		a := quotelab.Answer{CostMicro: big.NewInt(c.cost), PayMicro: big.NewInt(c.pay), CostBps: -1}
		if got := a.Share(); got != c.want {
			t.Errorf("%d of %d: %s", c.cost, c.pay, got)
		}
	}
	if got := (quotelab.Answer{CostBps: -1}).Share(); got != "?" {
		t.Error(got)
	}
}

// limited is a service that states a window and refuses everything.
type limited struct {
	window client.Window
	at     []time.Time
	clock  *time.Time
}

func (l *limited) PrepareCallQuote(context.Context, []byte) (client.Answer, error)   { return l.no() }
func (l *limited) PrepareCallQuoteV1(context.Context, []byte) (client.Answer, error) { return l.no() }
func (l *limited) Quote(context.Context, []byte) (client.Answer, error)              { return l.no() }
func (l *limited) QuoteV1(context.Context, []byte) (client.Answer, error)            { return l.no() }
func (l *limited) Window() client.Window                                             { return l.window }
func (l *limited) no() (client.Answer, error) {
	l.at = append(l.at, *l.clock)
	l.window.Remaining = max(0, l.window.Remaining-1)
	return client.Answer{}, api.NewError(api.ErrNoRoute, "none")
}

// TestTheLabLeavesHalfOfEveryLimit, by a clock that moves only while the lab waits.
func TestTheLabLeavesHalfOfEveryLimit(t *testing.T) {
	start := time.Unix(1_760_000_000, 0)
	for name, c := range map[string]struct {
		window  client.Window
		seconds time.Duration // that 12 requests take
	}{
		"no limit":      {client.Window{}, 0},
		"a network":     {client.Window{PerSecond: 5}, 4400 * time.Millisecond},
		"a full window": {client.Window{Limit: 60, Remaining: 60, Reset: start.Add(time.Hour)}, 0},
		"a used window": {client.Window{Limit: 60, Remaining: 36, Reset: start.Add(30 * time.Second)},
			30 * time.Second},
		"a window's lie":  {client.Window{Limit: 60, Reset: start.Add(1000 * time.Hour)}, 12 * time.Minute},
		"the window past": {client.Window{Limit: 60, Reset: start.Add(-time.Second)}, 0},
	} {
		now := start
		s := &limited{window: c.window, clock: &now}
		a := quotelab.Asker{Client: s, Clock: func() time.Time { return now }, Budget: &quotelab.Budget{},
			Sleep: func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil }}
		for range 12 {
			if _, err := a.Ask(t.Context(), swap(t), held(t)); err == nil {
				t.Fatal("no refusal")
			}
		}
		if got := now.Sub(start); got != c.seconds || len(s.at) != 12 {
			t.Errorf("%s: %s for %d requests", name, got, len(s.at))
		}
	}
	now := start
	s := &limited{window: client.Window{PerSecond: 5}, clock: &now}
	a := quotelab.Asker{Client: s, Clock: func() time.Time { return now }, Budget: &quotelab.Budget{},
		Sleep: func(ctx context.Context, _ time.Duration) error { return context.Canceled }}
	for range 3 {
		_, _ = a.Ask(t.Context(), swap(t), held(t))
	}
	if len(s.at) != 1 {
		t.Errorf("%d requests left after the screen did", len(s.at))
	}
}

// TestD6_AWayOfFundingIsPricedByATransferOfWhatIsMissing to the own account, and by a swap where another asset pays.
func TestD6_AWayOfFundingIsPricedByATransferOfWhatIsMissing(t *testing.T) {
	w := world(t)
	d := call()
	r := w.Rules()
	for fund, want := range map[string]intent.Draft{
		"": {Kind: intent.KindTransfer, Pay: &intent.Pay{Asset: "ob:usdc", Amount: "75000000"},
			Receive: &intent.Receive{Asset: usdcBase, Account: "eip155:8453:" + account}},
		"ob:dai": {Kind: intent.KindSwap, Pay: &intent.Pay{Asset: "ob:dai", Amount: "74992499249924992499"},
			Receive: &intent.Receive{Asset: usdcBase}},
	} {
		d.FundWith = fund
		in, err := w.Freeze(d)
		if err != nil {
			t.Fatal(err)
		}
		missing, why := quotelab.Missing(r, in, held(t))
		if why != "" || len(missing) != 1 || missing[0].Text() != "75 USDC on Base" {
			t.Fatalf("%+v %q", missing, why)
		}
		part, ok := quotelab.Funding(r, in, missing[0])
		got := part.Draft()
		if !ok || got.Kind != want.Kind || *got.Pay != *want.Pay || *got.Receive != *want.Receive {
			t.Errorf("%q: %v %+v %+v", fund, ok, got.Pay, got.Receive)
		}
	}
}

// answered is an answer with figures: pays leaves Optimism and Ethereum, what arrives is on Base.
func answered(pays, cost int64) quotelab.Answer {
	usdc := func(chain string, v int64) quotelab.Money {
		return quotelab.Money{Asset: usdcBase, Symbol: "USDC", Chain: chain, Decimals: 6, Amount: big.NewInt(v),
			Micro: big.NewInt(v)}
	}
	a, b, to := usdc("Optimism", pays-pays/5), usdc("Ethereum", pays/5), usdc("Base", pays-cost)
	const escrow = "0x0AD63E341d6cA640c84993e15051febf742E1feF"
	return quotelab.Answer{At: time.Unix(1_760_000_000, 0), Passed: 40, Pays: []quotelab.Money{a, b},
		Legs:     []quotelab.Leg{{Pays: a, Escrow: escrow}, {Pays: b, Escrow: escrow, New: true}},
		Arriving: []quotelab.Money{to}, Delivered: &to, Minimum: &to, PayMicro: big.NewInt(pays),
		FeesMicro: big.NewInt(cost),
		CostMicro: big.NewInt(cost), CostBps: 0, Signs: 2, Lifetime: time.Minute, CallType: "cross_chain"}
}

// report is a comparison of two variants, with a curve of which one point was refused.
func report(t testing.TB) quotelab.Report {
	p := quotelab.Planner{Draft: swap(t).Draft(), Rules: world(t).Rules(), Accounts: world(t).Accounts}
	all, _, err := p.Plan(quotelab.Axes{Slippage: true})
	if err != nil || len(all) < 2 {
		t.Fatal(all, err)
	}
	r := quotelab.Report{Question: "swap 10 USDC for ETH@base, slippage 0.5 %", Network: "0x00", Curved: 1, Total: 2,
		At: time.Unix(1_760_000_000, 0),
		Variants: []quotelab.Compared{{Variant: all[0], Answer: answered(10_000_000, 60_000)},
			{Variant: all[1], Answer: answered(10_000_000, 50_000)}}}
	r.Points = quotelab.Points(p.Rules, all[1].Intent, r.Variants[1].Answer)
	for i := range r.Points {
		r.Points[i].Asked = true
		r.Points[i].Answer = answered(10_000_000<<i, 40_000<<i+20_000)
	}
	r.Points[5].Answer = quotelab.Failed(r.At, api.NewError(api.ErrInsufficientBalance, "needed 80, available 50"))
	return r
}

func TestTheBestIsNamedByItsMeasureAndOnlyAmongWhatCanBeCompared(t *testing.T) {
	a, b, c := answered(10_000_000, 60_000), answered(10_000_000, 50_000), answered(10_000_000, 40_000)
	c.Problem = "no"
	b.Signs, b.Lifetime = 3, 2*time.Minute
	v := &quotelab.Variant{}
	all := []quotelab.Compared{{v, a}, {v, b}, {v, c}}
	for by, want := range map[quotelab.Measure]int{quotelab.ByCost: 1, quotelab.ByMinimum: 1,
		quotelab.BySignatures: 0, quotelab.ByLifetime: 1} {
		if got := quotelab.Best(all, by); got != want {
			t.Errorf("%s: %d", by, got)
		}
	}
	if quotelab.Best(all[1:], quotelab.ByCost) != -1 || quotelab.Best(nil, quotelab.ByCost) != -1 {
		t.Error("one answer is the best of itself")
	}
	b.CostMicro, b.Minimum = a.CostMicro, &quotelab.Money{Asset: a.Minimum.Asset, Amount: big.NewInt(1 << 62)}
	if got := quotelab.Best([]quotelab.Compared{{v, a}, {v, b}}, quotelab.ByCost); got != 1 {
		t.Errorf("of two equal costs the lower minimum is the best: %d", got)
	}
	b.Minimum = &quotelab.Money{Asset: ethBase, Amount: big.NewInt(1 << 62)}
	if got := quotelab.Best([]quotelab.Compared{{Answer: a}, {Answer: b}}, quotelab.ByMinimum); got != -1 {
		t.Errorf("minimums of two assets were compared: %d", got)
	}
	for _, f := range quotelab.Facts(all[:2]) {
		if want := map[string]bool{"signatures": true, "good for": true, "cost": true, "cost share": true,
			"receives": true, "minimum": true, "fees": true}[f.Name]; f.Differs != want {
			t.Errorf("%s differs: %v %v", f.Name, f.Differs, f.Values)
		}
	}
}

func TestARouteAddsUpAndIsToScale(t *testing.T) {
	lanes := quotelab.Route(answered(10_000_000, 50_000))
	want := []struct {
		stage quotelab.Stage
		name  string
		micro int64
	}{{quotelab.Leaves, "Optimism", 8_000_000}, {quotelab.Leaves, "Ethereum, new account", 2_000_000},
		{quotelab.Escrow, "0x0AD6..1feF", 10_000_000}, {quotelab.Arrives, "Base", 9_950_000},
		{quotelab.Costs, "", 50_000}}
	if len(lanes) != len(want) || quotelab.Longest(lanes).Int64() != 10_000_000 {
		t.Fatalf("%+v", lanes)
	}
	for i, l := range lanes {
		if l.Stage != want[i].stage || l.Name != want[i].name || l.Micro.Int64() != want[i].micro {
			t.Errorf("%+v, expected %+v", l, want[i])
		}
	}
	unknown := answered(10_000_000, 50_000)
	unknown.Legs[0].Pays.Micro = nil
	if lanes := quotelab.Route(unknown); lanes[0].Micro != nil || lanes[2].Micro != nil {
		t.Errorf("an unknown value has a length: %+v", lanes)
	}
	unknown.Refused = 1
	if len(quotelab.Route(unknown)) != 0 {
		t.Error("a refused answer has a route")
	}
}

func TestACurveHasSixPointsAndGapsWhereAnAnswerIsMissing(t *testing.T) {
	r := report(t)
	var amounts []string
	for _, p := range r.Points {
		amounts = append(amounts, p.Of.Figure())
		if d := p.Intent.Draft(); d.Pay.Amount != p.Of.Amount.String() {
			t.Errorf("%s asks for %s", p.Of.Figure(), d.Pay.Amount)
		}
	}
	if got := strings.Join(amounts, " "); got != "2.5 5 10 20 40 80" {
		t.Error(got)
	}
	values := quotelab.CostsOver(r.Points)
	if values[5] != nil || values[0].Int64() != 6000 || quotelab.ShareText(values[0]) != "0.60 %" {
		t.Errorf("%v", values)
	}
	cols := quotelab.Columns(values, 11)
	if cols[0].Cmp(values[0]) != 0 || cols[2].Cmp(values[1]) != 0 || cols[9] != nil || cols[10] != nil ||
		cols[1].Cmp(values[0]) >= 0 || cols[1].Cmp(values[1]) <= 0 {
		t.Errorf("%v of %v", cols, values)
	}
	lo, hi := present.Bounds(cols)
	if lo.Cmp(values[4]) != 0 || hi.Cmp(values[0]) != 0 {
		t.Errorf("%v to %v", lo, hi)
	}
	if got := quotelab.Columns([]*big.Int{big.NewInt(1)}, 3); got[1] == nil || got[0] != nil {
		t.Errorf("%v", got)
	}
	call, err := world(t).Freeze(call())
	if err != nil {
		t.Fatal(err)
	}
	if got := quotelab.Points(world(t).Rules(), call, quotelab.Answer{Prepared: true}); got != nil {
		t.Errorf("a call that lacks nothing has a curve: %v", got)
	}
	missing, _ := quotelab.Missing(world(t).Rules(), call, held(t))
	got := quotelab.Points(world(t).Rules(), call, quotelab.Answer{Prepared: true, Estimate: true, Missing: missing})
	if len(got) != 6 || got[0].Of.Figure() != "18.75" || got[0].Intent.Kind() != intent.KindTransfer || !got[2].Asked {
		t.Errorf("%+v", got)
	}
}

func TestTheExportsAreWellFormedAndHostileTextIsInert(t *testing.T) {
	r := report(t)
	const evil = "<script>\"&'\x1b[2J\u202e=1+1"
	r.Question += evil
	r.Variants[0].Answer.Legs[0].Pays.Chain, r.Variants[1].Answer.Legs[0].Pays.Chain = evil, evil
	r.Variants[0].Answer.Documents = []string{`{"id":"0x1"}`}
	picture := string(r.SVG())
	d := xml.NewDecoder(strings.NewReader(picture))
	texts, names := 0, map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err, picture)
		}
		switch x := token.(type) {
		case xml.StartElement:
			names[x.Name.Local]++
		case xml.CharData:
			if strings.Contains(string(x), "<script>") {
				texts++
			}
		}
	}
	if texts == 0 || names["script"] != 0 || names["title"] != 1 || names["desc"] != 1 || names["circle"] != 5 ||
		strings.ContainsAny(picture, "\x1b\u202e") || !strings.Contains(picture, "prefers-color-scheme:dark") {
		t.Errorf("%v %d\n%s", names, texts, picture)
	}
	b, err := r.JSON(world(t))
	var got struct {
		Best     struct{ By, Variant any }
		Differs  []string
		Variants []struct {
			Question string
			Answer   struct {
				CostMicroUSD string
				Answers      []map[string]string
			}
		}
		Curve []struct {
			Answer struct{ Outcome, CostPercent string }
		}
	}
	if err == nil {
		err = json.Unmarshal(b, &got)
	}
	if err != nil || got.Best.By != "lowest cost" || len(got.Curve) != 6 || got.Curve[5].Answer.CostPercent != "?" ||
		got.Curve[5].Answer.Outcome != "Insufficient balance" || len(got.Variants) != 2 ||
		got.Variants[0].Answer.Answers[0]["id"] != "0x1" || !slices.Contains(got.Differs, "slippage") {
		t.Fatalf("%v\n%s", err, b)
	}
	if d, problem := world(t).Question(got.Variants[1].Question); problem != "" ||
		d.SlippageBps != r.Variants[1].Bps {
		t.Errorf("%q: %s", got.Variants[1].Question, problem)
	}
	r.Variants[0].Fund = "=1+1"
	sheet, err := r.CSV()
	rows, bad := csv.NewReader(bytes.NewReader(sheet)).ReadAll()
	if err != nil || bad != nil || len(rows) != 3 || len(rows[0]) != len(rows[2]) || rows[1][1] == "=1+1" ||
		strings.Contains(string(sheet),
			"\x1b") {
		t.Errorf("%v %v\n%s", err, bad, sheet)
	}
}

func TestGoldenReport(t *testing.T) {
	r := report(t)
	r.Variants[0].Answer.Documents = []string{`{"id":"0x1"}`}
	asJSON, err := r.JSON(world(t))
	if err != nil {
		t.Fatal(err)
	}
	asCSV, err := r.CSV()
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"json": append(asJSON, '\n'), "csv": asCSV, "svg": r.SVG(),
		"said": []byte(strings.Join(r.Said(), "\n") + "\n")} {
		t.Run(name, func(t *testing.T) { golden.RequireEqual(t, b) })
	}
}
