package lab

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/exp/golden"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/quotelab"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/review"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
)

const (
	usdcBase = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	ethBase  = "eip155:8453/slip44:60"
)

// swap is a draft of the demo profile: ten USDC for ETH.
func swap(t testing.TB) intent.Draft {
	ctx := tuitest.Context(t)
	return intent.Draft{
		Version: intent.Version, Kind: intent.KindSwap, Network: ctx.Network.ID, Accounts: ctx.Accounts,
		SlippageBps: 50,
		Pay:         &intent.Pay{Asset: "ob:usdc", Amount: "10000000"}, Receive: &intent.Receive{Asset: ethBase},
	}
}

// call is a draft of one transfer on Base.
func call(t testing.TB) intent.Draft {
	ctx := tuitest.Context(t)
	return intent.Draft{
		Version: intent.Version, Network: ctx.Network.ID, Accounts: ctx.Accounts, TargetChain: caip.EVM(8453).String(),
		SlippageBps: 50,
		Calls: []intent.Call{{
			To: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
			Data: "0xa9059cbb000000000000000000000000cd75e991a4986a4e96042bfb3f6a7ab26f7b5b72000000000000000000000000" +
				"0000000000000000000000000000000000989680",
		}},
		TokensRequired: []api.TokenRequirement{{AssetType: usdcBase, Amount: "10000000"}},
	}
}

// service answers with figures that follow from the number of requests.
type service struct {
	mu    sync.Mutex
	asked []intent.Draft
	err   map[int]error
}

func (s *service) quote(ctx context.Context, in intent.Intent, _ compose.Money) (quotelab.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.asked)
	s.asked = append(s.asked, in.Draft())
	at := tuitest.Now()
	if err := s.err[n]; err != nil {
		return quotelab.Answer{At: at, CostBps: -1}, err
	}
	if err := ctx.Err(); err != nil {
		return quotelab.Answer{At: at, CostBps: -1}, err
	}
	r := quotelab.Answer{At: at, Latency: time.Duration(40+7*n) * time.Millisecond, CostBps: -1, Passed: 41,
		Lifetime: time.Duration(58-n%30) * time.Second}
	needs := quotelab.Money{Asset: usdcBase, Symbol: "USDC", Chain: "Base", Decimals: 6, Amount: big.NewInt(10_000_000),
		Micro: big.NewInt(10_000_000)}
	if in.Kind() == intent.KindCall {
		r.Prepared, r.Delivered, r.CallType, r.Words, r.Signs, r.Lifetime = true, &needs, "cross_chain_with_solver",
			"Other chains pay; a solver runs your call.", 1, 10*time.Minute
		switch n % 4 {
		case 1:
			return r, api.NewError(api.ErrInsufficientBalance, "needed 10 USDC with fees, available 3 USDC")
		case 2:
			r.Why = "nothing is missing on the call's chain: no other chain pays"
		default:
			r.Estimate, r.CostBps = true, 12
			r.PayMicro, r.FeesMicro, r.CostMicro = big.NewInt(7_500_000), big.NewInt(8_000+int64(n)), big.NewInt(9_000)
			missing := needs
			missing.Amount = big.NewInt(7_500_000)
			r.Missing, r.Pays = []quotelab.Money{missing}, []quotelab.Money{missing}
		}
		return r, nil
	}
	if n%5 == 3 {
		r.Refused, r.Reason = 1, "Not true: what is delivered is what you asked for."
		return r, nil
	}
	if n%7 == 6 {
		return r, api.NewError(api.ErrInsufficientBalance, "needed 20 USDC with fees, available 12 USDC")
	}
	wei := new(big.Int).Mul(big.NewInt(int64(2_941_176+n*137)), big.NewInt(1_000_000_000))
	least := new(big.Int).Div(new(big.Int).Mul(wei, big.NewInt(int64(10000-in.Draft().SlippageBps))), big.NewInt(10000))
	r.Pays = []quotelab.Money{{Asset: usdcBase, Symbol: "USDC", Chain: "Base", Decimals: 6,
		Amount: big.NewInt(10_000_000),
		Micro:  big.NewInt(10_000_000)}}
	r.Delivered = &quotelab.Money{Asset: ethBase, Symbol: "ETH", Chain: "Base", Decimals: 18, Amount: wei,
		Micro: big.NewInt(9_950_000)}
	r.Minimum = &quotelab.Money{Asset: ethBase, Symbol: "ETH", Chain: "Base", Decimals: 18, Amount: least,
		Micro: big.NewInt(9_900_000)}
	r.PayMicro, r.FeesMicro, r.CostMicro, r.CostBps = big.NewInt(10_000_000), big.NewInt(int64(42_000+n*310)),
		big.NewInt(int64(50_000+n*310)), 50+n
	r.Legs = []quotelab.Leg{{Pays: paid("Optimism", 7_500_000), Escrow: escrow},
		{Pays: paid("Ethereum", 2_500_000), Escrow: escrow, New: true}}
	r.Arriving, r.Documents = []quotelab.Money{*r.Delivered}, []string{`{"id":"0x1","fees":[{"amount":"42"}]}`}
	r.CallType, r.Words, r.Signs = "cross_chain_with_solver_and_swaps",
		"The payments below are signed now; another asset is delivered for them.", 1
	if n%5 == 2 {
		r.Warned = 2
	}
	if n%5 == 4 {
		r.FeesMicro = nil
	}
	return r, nil
}

const escrow = "0x0AD63E341d6cA640c84993e15051febf742E1feF"

func paid(chain string, v int64) quotelab.Money {
	return quotelab.Money{Asset: usdcBase, Symbol: "USDC", Chain: chain, Decimals: 6, Amount: big.NewInt(v),
		Micro: big.NewInt(v)}
}

// store keeps documents in memory.
type store struct{ docs map[string][]byte }

func (s *store) Load(name string) ([]byte, error)    { return s.docs[name], nil }
func (s *store) Save(name string, data []byte) error { s.docs[name] = data; return nil }

// bench is a lab with a draft, at a size.
type bench struct {
	*Model
	t     testing.TB
	s     *service
	kept  *store
	draft *intent.Draft
	out   []tea.Msg // messages to the shell
}

func newBench(t testing.TB, d *intent.Draft, w, h int) *bench {
	t.Helper()
	b := &bench{t: t, s: &service{err: map[int]error{}}, kept: &store{map[string][]byte{}}, draft: d}
	ctx := tuitest.Context(t)
	ctx.Keep = b.kept
	b.Model = New(ctx, Deps{
		Draft: func() (intent.Draft, bool) {
			if b.draft == nil {
				return intent.Draft{}, false
			}
			return *b.draft, true
		},
		Quote:    b.s.quote,
		Balances: func(context.Context) (api.AggregatedBalance, error) { return tuitest.Balances(t), nil },
	})
	t.Cleanup(b.Close)
	b.Update(screen.ResizedMsg{W: w, H: h})
	b.run(b.Init())
	b.run(b.Update(screen.OpenedMsg{}))
	return b
}

// run runs commands, and draws after each message as the program does. It does not wait for pauses.
func (b *bench) run(cmd tea.Cmd) {
	b.t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		if b.watching {
			msg = msg[:1] // the second one is the pause
		}
		for _, c := range msg {
			b.run(c)
		}
	case screen.OpenMsg, screen.ToastMsg, screen.CopyMsg:
		b.out = append(b.out, msg)
	default:
		next := b.Update(msg)
		b.view()
		b.run(next)
	}
}

func (b *bench) view() {
	b.View(screen.Frame{W: b.w, H: b.h, Theme: tuitest.Theme(), Now: tuitest.Now()})
}

func (b *bench) keys(names ...string) {
	b.t.Helper()
	for _, n := range names {
		b.view()
		b.run(b.Update(kit.Press(n)))
	}
}

func TestGoldenScreens(t *testing.T) {
	for _, size := range []struct{ w, h int }{{80, 20}, {120, 36}, {60, 16}, {200, 56}} {
		for name, c := range map[string]struct {
			draft func(testing.TB) intent.Draft
			keys  []string
		}{
			"nothing": {}, "plan": {swap, nil}, "quoted": {swap, []string{"r"}},
			"refused": {swap, []string{"r", "j", "j", "j"}},
			"drift":   {swap, []string{"r", "r", "r", "r", "r", "r"}}, "all axes": {swap, []string{"l", "u", "r"}},
			"call":   {call, []string{"r"}},
			"beside": {swap, []string{"r", "c"}}, "inspect": {swap, []string{"r", "i"}},
			"chosen": {swap, []string{"l", "r", "j", "a", "j", "j", "a", "c"}}, "question": {swap, []string{"n"}},
			"left out": {swap, []string{"j", "space", "r"}},
		} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size.w, size.h), func(t *testing.T) {
				var d *intent.Draft
				if c.draft != nil {
					draft := c.draft(t)
					d = &draft
				}
				b := newBench(t, d, size.w, size.h)
				b.keys(c.keys...)
				golden.RequireEqual(t, tuitest.Text(t, b.Model, size.w, size.h))
			})
		}
	}
}

func TestHiddenAmountsAreHiddenEverywhere(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 120, 36)
	b.keys("r", "r", "a", "j", "a")
	b.Update(screen.AmountsMsg{Hidden: true})
	for _, key := range []string{"k", "c", "esc"} {
		b.keys(key)
		if text := tuitest.Text(t, b.Model, 120, 36); strings.Contains(text, "0.0029") ||
			strings.Contains(text, "$0.0") || strings.Contains(text, "10 USDC") {
			t.Errorf("%s", text)
		}
	}
}

// TestD6_ACallShowsWhatItsAnswersAre: a refusal in its own words, an estimate as an estimate, and "quoted" only when
// everything shown was asked for.
func TestD6_ACallShowsWhatItsAnswersAre(t *testing.T) {
	d := call(t)
	for _, size := range []struct{ w, h int }{{60, 16}, {80, 20}, {120, 36}, {200, 56}} {
		b := newBench(t, &d, size.w, size.h)
		b.keys("r")
		text := tuitest.Text(t, b.Model, size.w, size.h)
		if strings.Contains(text, "no answer") || !strings.Contains(text, "quoted now") ||
			!strings.Contains(text, "~") {
			t.Errorf("%s", text)
		}
		b.keys("j")
		if text := tuitest.Text(t, b.Model, size.w, size.h); !strings.Contains(text, "Insufficient balance") ||
			!strings.Contains(text, "needed 10 USDC") {
			t.Errorf("%s", text)
		}
		b.keys("l")
		if text := tuitest.Text(t, b.Model, size.w, size.h); strings.Contains(text, "quoted now") ||
			!strings.Contains(text, "not asked yet") {
			t.Errorf("%s", text)
		}
	}
}

// TestAQuestionIsTypedPastedOrGivenAndComesBack: the copied command asks the very same question, and one with a mistake
// waits to be repaired.
func TestAQuestionIsTypedPastedOrGivenAndComesBack(t *testing.T) {
	d := swap(t)
	const question = "swap 5 USDC@optimism for ETH@base, slippage 1 %"
	typed := newBench(t, &d, 80, 20)
	typed.keys("n")
	if text := tuitest.Text(t, typed.Model, 80, 20); !strings.Contains(text, "swap 10 USDC for ETH@base") {
		t.Errorf("the present question is not there to be changed:\n%s", text)
	}
	typed.keys("ctrl+u")
	for _, r := range question {
		typed.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	typed.keys("enter")
	pasted := newBench(t, nil, 80, 20)
	pasted.run(pasted.Update(tea.PasteMsg{Content: question + "\n"}))
	for name, b := range map[string]*bench{"typed": typed, "pasted": pasted} {
		b.keys("y")
		copied, _ := b.out[len(b.out)-1].(screen.CopyMsg)
		if copied.Text != "coffer lab '"+question+"'" || b.draft != nil && b.Model.draft.Pay.Amount != "5000000" {
			t.Errorf("%s: %q", name, copied.Text)
		}
		b.run(b.Update(screen.OpenedMsg{}))
		if b.Model.draft.Pay.Amount != "5000000" {
			t.Errorf("%s: the question is gone when the screen is opened again", name)
		}
		b.keys("e")
		open, _ := b.out[len(b.out)-1].(screen.OpenMsg)
		if arg, ok := open.Arg.(review.EditArg); !ok || open.Screen != screen.Build || arg.Draft.SlippageBps != 100 {
			t.Errorf("%s: %+v", name, open)
		}
	}
	wrong := newBench(t, &d, 80, 20)
	wrong.run(wrong.Update(tea.PasteMsg{Content: "swap 5 USDC for NOPE"}))
	if text := tuitest.Text(t, wrong.Model, 80, 20); !wrong.Capturing() || !strings.Contains(text, "no asset") ||
		!strings.Contains(text, "swap 5 USDC for NOPE") {
		t.Errorf("%s", text)
	}
	wrong.keys("esc")
	if wrong.Capturing() || wrong.Model.draft.Pay.Amount != "10000000" || len(wrong.s.asked) != 0 {
		t.Error("a mistake changed something")
	}
}

// TestACurveIsAskedForAfterTheRoundAndMakesWay: six amounts, the variant's own among them; a new round comes first, and
// nothing more is asked for when the screen was left.
func TestACurveIsAskedForAfterTheRoundAndMakesWay(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 200, 56)
	b.keys("r")
	if n := len(b.s.asked); n != len(b.variants)+5 || b.curveKey != b.variants[0].Key || len(b.points) != 6 {
		t.Fatalf("%d questions, %d points", n, len(b.points))
	}
	for i, x := range b.s.asked[len(b.variants):] {
		if want := []string{"2500000", "5000000", "20000000", "40000000", "80000000"}[i]; x.Pay.Amount != want {
			t.Errorf("%s, expected %s", x.Pay.Amount, want)
		}
	}
	b.keys("j")
	if text := tuitest.Text(t, b.Model, 200, 56); !strings.Contains(text, "v asks for six amounts") {
		t.Errorf("%s", text)
	}
	before := len(b.s.asked)
	point := b.Update(kit.Press("v"))
	b.view()
	stale := point()
	b.run(b.Update(kit.Press("r")))
	if b.Update(stale) != nil || len(b.s.asked) != before+1+len(b.variants)+5 {
		t.Errorf("%d questions: a point did not make way", len(b.s.asked)-before)
	}
	b.Update(kit.Press("k"))
	point = b.Update(kit.Press("v"))
	b.view()
	before = len(b.s.asked)
	msg := point()
	next := b.Update(msg) // the answer was drawn before
	b.drawn = false       // and another screen is drawn now
	if next = b.Update(next()); next != nil || len(b.s.asked) != before+2 || !strings.Contains(b.why, "left") {
		t.Errorf("%d questions, %q", len(b.s.asked)-before, b.why)
	}
}

// TestTheRouteIsToScaleInEveryTheme: the bars of what leaves are as long as that of the escrow together, in eighths of
// a cell or in ASCII, and no figure is cut.
func TestTheRouteIsToScaleInEveryTheme(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("r")
	r, _ := b.latest(b.variants[0].Key)
	for name, th := range map[string]theme.Theme{"colour": tuitest.Theme(),
		"ascii": theme.New(true, colorprofile.NoTTY, true)} {
		for _, w := range []int{40, 56, 76, 120} {
			var cells []int
			for _, l := range b.routeLines(th, w, r) {
				if present.Width(l) > w {
					t.Errorf("%s %d: %q", name, w, l)
				}
				if n := strings.Count(l, th.Signs.BarFull); n > 1 {
					cells = append(cells, n)
				}
			}
			if len(cells) != 4 || cells[0]+cells[1] > cells[2]+1 || cells[0]+cells[1] < cells[2]-1 ||
				cells[0] < 2*cells[1] {
				t.Errorf("%s %d: %v\n%s", name, w, cells, strings.Join(b.routeLines(th, w, r), "\n"))
			}
			for _, l := range quotelab.Route(r) { // names give way to figures
				if text := strings.Join(b.routeLines(th, w, r), "\n"); !strings.Contains(text, b.laneText(th, l)) {
					t.Errorf("%s %d: %q is cut:\n%s", name, w, b.laneText(th, l), text)
				}
			}
		}
	}
}

func TestAnExportIsJSONAndCSVAndAPicture(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("r", "x")
	if len(b.out) > 0 {
		t.Errorf("exported where nothing can be: %+v", b.out)
	}
	files := map[string]string{}
	b.ctx.Export = func(name string, data []byte) (string, error) {
		files[name] = string(data)
		return "/exports/" + name, nil
	}
	b.keys("x")
	toast, _ := b.out[len(b.out)-1].(screen.ToastMsg)
	if !strings.HasPrefix(files["lab.svg"], "<svg") ||
		!strings.Contains(files["lab.json"], `"question":"swap 10 USDC`) ||
		!strings.Contains(files["lab.csv"], "pays with") || !strings.Contains(toast.Text, "/exports/lab.svg") {
		t.Errorf("%v %+v", files, toast)
	}
}

func TestSideBySideShowsSixAtMostAndTheOthersByArrow(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("l", "r")
	for range b.variants {
		b.keys("a", "j")
	}
	if len(b.marks) != quotelab.MaxBeside || len(b.chosen()) != quotelab.MaxBeside {
		t.Fatalf("%d chosen", len(b.marks))
	}
	b.keys("c")
	if text := tuitest.Text(t, b.Model, 80, 20); !strings.Contains(text, "1 to 2 of 6") {
		t.Errorf("%s", text)
	}
	b.keys("right", "right", "right", "right", "right", "right")
	if text := tuitest.Text(t, b.Model, 80, 20); !strings.Contains(text, "5 to 6 of 6") {
		t.Errorf("%s", text)
	}
	b.keys("esc", "k", "a")
	if len(b.chosen()) == 0 || b.compare {
		t.Error("esc does not go back")
	}
}

// TestD6_ARoundWaitsForTheBalances: without them a call would be asked under one funding only, and nothing estimated.
func TestD6_ARoundWaitsForTheBalances(t *testing.T) {
	d := call(t)
	b := newBench(t, nil, 80, 20)
	b.draft = &d
	balances := b.Update(screen.OpenedMsg{})
	for _, key := range []string{"r", "w"} {
		if cmd := b.Update(kit.Press(key)); cmd != nil || len(b.s.asked) != 0 || len(b.variants) != 1 {
			t.Fatalf("%s: %d questions, %d variants", key, len(b.s.asked), len(b.variants))
		}
		if key == "r" {
			b.Update(kit.Press("s"))
		}
	}
	if text := tuitest.Text(t, b.Model, 80, 20); !strings.Contains(text, "reading the balances first") {
		t.Errorf("%s", text)
	}
	b.run(balances)
	if len(b.variants) < 10 || len(b.s.asked) < len(b.variants) || !b.watching {
		t.Errorf("%d questions for %d variants, watching %v", len(b.s.asked), len(b.variants), b.watching)
	}
}

func TestVariantsOfASwapAreTheSameAssetAndTheSameAmount(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 120, 36)
	if len(b.variants) < 4 || b.variants[0].Intent.IsZero() || b.variants[0].Fund != "USDC, all chains" {
		t.Fatalf("%d variants, first %+v", len(b.variants), b.variants[0])
	}
	for _, v := range b.variants {
		got := v.Intent.Draft()
		x, ok := (&compose.World{Catalog: b.ctx.Catalog}).Side(got.Pay.Asset)
		if !ok || !strings.HasPrefix(v.Fund, "USDC") ||
			(quotelab.Money{Amount: number(t, got.Pay.Amount), Decimals: x.Decimals}).Figure() != "10" ||
			got.SlippageBps != 50 {
			t.Errorf("%s pays %s %s", v.Fund, got.Pay.Amount, got.Pay.Asset)
		}
	}
	if d.Pay.Asset != "ob:usdc" || d.Pay.Amount != "10000000" {
		t.Error("the draft was changed")
	}
}

func number(t testing.TB, s string) *big.Int {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatal(s)
	}
	return v
}

func TestVariantsOfACallPayWithWhatIsHeld(t *testing.T) {
	d := call(t)
	b := newBench(t, &d, 120, 36)
	seen := map[string]bool{}
	for _, v := range b.variants {
		seen[v.Fund] = true
	}
	for _, want := range []string{"automatic", "USDC, all chains", "ETH, all chains", "USDC on Polygon",
		"DAI, all chains"} {
		if !seen[want] {
			t.Errorf("%s is missing: %v", want, seen)
		}
	}
	b.keys("l", "u")
	if len(b.variants) != quotelab.MaxVariants || b.total <= quotelab.MaxVariants {
		t.Errorf("%d of %d variants", len(b.variants), b.total)
	}
	b.Update(kit.Press("f"))
	for _, v := range b.variants {
		if v.Fund != "automatic" {
			t.Errorf("%s varies", v.Fund)
		}
	}
}

func TestARoundAsksForEachVariantOnceInTurn(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("j", "space", "r")
	if len(b.s.asked) != len(b.variants)-1 || b.asking != -1 || b.last.IsZero() {
		t.Errorf("asked %d times for %d variants", len(b.s.asked), len(b.variants))
	}
	if _, ok := b.latest(b.variants[1].Key); ok {
		t.Error("a variant that is left out was asked for")
	}
}

func TestWatchingEndsByItself(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("w")
	rounds := 1
	for ; b.watching && rounds < 100; rounds++ {
		cmd := b.Update(dueMsg{b.gen})
		b.view()
		b.run(cmd)
	}
	if rounds != MaxRounds || len(b.s.asked) != MaxRounds*len(b.variants) || !strings.Contains(b.why, "20 rounds") {
		t.Errorf("%d rounds, %d questions, %q", rounds, len(b.s.asked), b.why)
	}
}

func TestWatchingEndsWhenTheScreenIsLeft(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("w")
	before := len(b.s.asked)
	b.drawn = false // another screen is drawn instead
	cmd := b.Update(dueMsg{b.gen})
	if cmd != nil || b.watching || len(b.s.asked) != before || !strings.Contains(b.why, "left") {
		t.Errorf("watching %v, %q", b.watching, b.why)
	}
}

func TestWatchingEndsWhenTheServiceAsksForLess(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.s.err[1] = api.NewError(api.ErrTooManyRequests, "slower")
	b.keys("w")
	if b.watching || len(b.s.asked) != 2 || !strings.Contains(b.why, "fewer requests") {
		t.Errorf("watching %v after %d questions, %q", b.watching, len(b.s.asked), b.why)
	}
}

func TestThePauseKeepsBelowTheClientsRate(t *testing.T) {
	d := call(t)
	b := newBench(t, &d, 80, 20)
	b.keys("l", "u", "-", "-", "-", "-")
	if b.every != 5*time.Second {
		t.Errorf("%s", b.every)
	}
	if perSecond := float64(b.active()) / b.pause().Seconds(); perSecond > 2.5 {
		t.Errorf("%f requests a second", perSecond)
	}
}

func TestAnAnswerOfAnEarlierRoundIsDropped(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	cmd := b.Update(kit.Press("r"))
	b.Update(kit.Press("s"))
	b.Update(cmd())
	if len(b.book) != 0 || b.asking != -1 {
		t.Errorf("%d results", len(b.book))
	}
}

func TestTheLabOpensAVariantInTheReviewAndSignsNothing(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("r", "j", "o")
	open, _ := b.out[len(b.out)-1].(screen.OpenMsg)
	arg, ok := open.Arg.(review.StartArg)
	if !ok || open.Screen != screen.Review || arg.Intent.Hash() != b.variants[1].Intent.Hash() {
		t.Errorf("%+v", open)
	}
	b.keys("i")
	if text := tuitest.Text(t, b.Model, 80, 20); !strings.Contains(text, `"amount": "42"`) {
		t.Errorf("what the answer says is not one key away:\n%s", text)
	}
}

func TestResultsAreKeptAndComeBack(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("r", "r")
	saved := b.kept.docs[document]
	all, err := decode(saved)
	if err != nil || len(all) != len(b.book) {
		t.Fatalf("%d of %d, %v", len(all), len(b.book), err)
	}
	again := newBench(t, &d, 80, 20)
	again.run(again.Update(keptMsg{all: all}))
	want, _ := b.latest(b.variants[0].Key)
	got, ok := again.latest(again.variants[0].Key)
	if !ok || len(again.series[again.variants[0].Key]) != 2 || got.Delivered.Figure() != want.Delivered.Figure() ||
		got.FeesMicro.Cmp(want.FeesMicro) != 0 || got.Lifetime != want.Lifetime {
		t.Errorf("%+v, expected %+v", got, want)
	}
	for range 60 {
		b.keys("r")
	}
	if all, err := decode(b.kept.docs[document]); err != nil || len(all) != MaxKept || len(b.book) != MaxKept {
		t.Errorf("%d results are kept, %v", len(all), err)
	}
	again.run(again.Update(keptMsg{err: errors.New("broken\x1b")}))
	if toast, _ := again.out[len(again.out)-1].(screen.ToastMsg); !strings.Contains(toast.Text, "begins again") ||
		strings.Contains(toast.Text, "\x1b") {
		t.Errorf("%+v", toast)
	}
}

func TestADraftThatIsNotCompleteSaysWhy(t *testing.T) {
	d := swap(t)
	d.Pay.Amount = "0"
	b := newBench(t, &d, 80, 20)
	if text := tuitest.Text(t, b.Model, 80, 20); !strings.Contains(text, "not complete") ||
		!strings.Contains(text, "pay.amount") {
		t.Errorf("%s", text)
	}
	good := swap(t)
	b.draft = &good
	b.run(b.Update(screen.OpenedMsg{}))
	if len(b.variants) == 0 || b.wrong != "" {
		t.Errorf("%q", b.wrong)
	}
	b.keys("r")
	n := len(b.s.asked)
	good.ValidUntil = "" // the same draft, opened again: nothing is lost
	b.run(b.Update(screen.OpenedMsg{}))
	if _, ok := b.latest(b.variants[0].Key); !ok || len(b.s.asked) != n {
		t.Error("results were lost")
	}
}

func TestSpreadTakesWhatIsKnown(t *testing.T) {
	v := func(n int64) *big.Int { return big.NewInt(n) }
	lo, mid, hi := spread([]*big.Int{v(5), nil, v(1), v(9), v(3)})
	if lo.Int64() != 1 || mid.Int64() != 3 || hi.Int64() != 9 {
		t.Errorf("%s %s %s", lo, mid, hi)
	}
	if lo, _, _ := spread([]*big.Int{nil}); lo != nil {
		t.Error("the unknown has a smallest value")
	}
	got := lives([]quotelab.Answer{{Lifetime: 10 * time.Second}, {Lifetime: 11 * time.Second}, {},
		{Lifetime: 500 * time.Second}})
	if got[0].n != 1 || got[1].n != 1 || got[6].n != 1 {
		t.Errorf("%+v", got)
	}
}

func TestEveryKeyHasAnActionOfItsOwn(t *testing.T) {
	d := swap(t)
	b := newBench(t, &d, 80, 20)
	b.keys("r", "a")
	for _, keys := range [][]string{nil, {"c"}, {"esc", "i"}, {"esc", "n"}} {
		b.keys(keys...)
		seen, pressed := map[string]bool{}, map[string]bool{}
		for _, k := range b.Keys() {
			if seen[k.ActionName()] {
				t.Errorf("two keys are called %s", k.ActionName())
			}
			seen[k.ActionName()] = true
			for _, p := range k.Press {
				if pressed[p] {
					t.Errorf("%s does two things", p)
				}
				pressed[p] = true
			}
		}
	}
}

// TH-R1: no string of an answer acts on the terminal, and none breaks the lines.
func TestR1_HostileStringsAreCleaned(t *testing.T) {
	const evil = "a\x1b[2J\x07\u202e\u009b\r\nb"
	d := swap(t)
	for _, size := range []struct{ w, h int }{{60, 16}, {80, 20}, {180, 36}} {
		b := newBench(t, &d, size.w, size.h)
		huge := new(big.Int).Exp(big.NewInt(10), big.NewInt(77), nil)
		x := quotelab.Money{Asset: evil, Symbol: strings.Repeat(evil, 9), Chain: evil, Decimals: 18, Amount: huge,
			Micro: huge}
		y := quotelab.Money{Asset: evil, Decimals: -1, Amount: huge}
		for _, r := range []quotelab.Answer{
			{At: tuitest.Now(), Pays: []quotelab.Money{x, y, x}, Delivered: &x, Minimum: &y, PayMicro: huge,
				FeesMicro: huge,
				CostMicro: huge, CostBps: 1 << 30, CallType: evil, Words: evil, Passed: 1, Lifetime: 1 << 50},
			{At: tuitest.Now(), Refused: 2, Reason: evil, CostBps: -1},
			{At: tuitest.Now(), Problem: present.ErrorText(errors.New(evil)), CostBps: -1},
		} {
			b.note(entry{b.variants[0].Key, r})
			b.note(entry{b.variants[0].Key, r})
			b.keys("a", "j", "a", "k")
			for _, key := range []string{"c", "c", "i", "i"} {
				b.keys(key)
				if text := tuitest.Text(t, b.Model, size.w, size.h); strings.ContainsAny(text,
					"\x1b\x07\u202e\u009b\r") {
					t.Errorf("%q", text)
				}
			}
		}
		kept, err := encode(b.book)
		if err == nil {
			_, err = decode(kept)
		}
		if err != nil {
			t.Errorf("what was kept cannot be read: %v", err)
		}
	}
}

func FuzzKept(f *testing.F) {
	d := swap(f)
	b := newBench(f, &d, 80, 20)
	b.keys("r")
	f.Add(b.kept.docs[document])
	f.Add([]byte(`{"version":1,"results":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		all, err := decode(raw)
		if err != nil {
			if !errors.Is(err, errKept) {
				t.Fatalf("%v", err)
			}
			return
		}
		again, err := encode(all)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decode(again)
		if err != nil || len(back) != len(all) {
			t.Fatalf("%v\n%s", err, again)
		}
	})
}

// TestTheCurveThatWasAskedForIsInSight: where the details have one pane it is below the route, and "v" goes there.
func TestTheCurveThatWasAskedForIsInSight(t *testing.T) {
	d := swap(t)
	for _, size := range []struct{ w, h int }{{60, 16}, {80, 20}, {120, 36}, {200, 56}} {
		b := newBench(t, &d, size.w, size.h)
		b.keys("r", "v")
		text := tuitest.Text(t, b.Model, size.w, size.h)
		if !strings.Contains(text, "Cost over amount") && !strings.Contains(text, "Curve") {
			t.Errorf("%dx%d:\n%s", size.w, size.h, text)
		}
		b.keys("j", "k")
		if text := tuitest.Text(t, b.Model, size.w, size.h); !strings.Contains(text, "  variant ") {
			t.Errorf("%dx%d stays at the curve:\n%s", size.w, size.h, text)
		}
	}
}
