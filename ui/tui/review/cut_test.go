package review

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/op/erc20"
	"coffer/ui/present"
	"coffer/ui/tui/kit"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// shown reads a review from its first to its last line as a person does, and returns all of its text: where there are
// two columns, first the left one of a stretch and then the right one, its folds open. Confirm must be off until the
// last line that binds was on the screen.
func (r *rig) shown() string {
	var lines []string
	seen := map[int]bool{}
	r.openFolds().do(r.s.Update(keyOf("g")))
	for range 5000 {
		body := strings.Split(r.view(), "\n")
		top, first := r.s.text[pageMain].Top(), r.s.panes // panes begin with the line of their titles
		for i, l := range body[first : len(body)-1] {
			if first > 1 {
				l = kit.Cut(l, kit.PaneWidths(r.w, reviewShare, besideShare)[0], "")
			}
			if !seen[top+i] {
				seen[top+i] = true
				lines = append(lines, l)
			}
		}
		if r.s.text[pageMain].Below() == 0 {
			break
		}
		if r.s.obstacle(r.clock.now) == "" && r.s.text[pageMain].Unseen() > 0 {
			r.t.Fatal("confirm is on before everything that binds was on the screen")
		}
		r.do(r.s.Update(keyOf("space")))
	}
	if r.s.panes > 1 {
		f := screen.Frame{W: r.w, H: r.h, Theme: theme.New(true, colorprofile.NoTTY, false), Now: r.clock.now}
		lines = append(lines, r.s.besideLines(f, kit.PaneWidths(r.w, reviewShare, besideShare)[1])...)
	}
	for _, l := range lines {
		if present.Width(l) > r.w || strings.Contains(headlined.ReplaceAllString(l, ""), "…") {
			r.t.Fatalf("a cut line: %q", l)
		}
	}
	return squash(columns(lines))
}

// headlined is an address as a headline has it; it is in full below.
var headlined = regexp.MustCompile(`\b\w{6}…\w{4}\b`)

// columns joins lines, one column of a stretch after the other.
func columns(lines []string) string {
	var all, left, right strings.Builder
	flush := func() {
		all.WriteString(left.String() + right.String())
		left.Reset()
		right.Reset()
	}
	for _, l := range lines {
		if a, b, two := strings.Cut(l, " │"); two {
			left.WriteString(a)
			right.WriteString(b)
			continue
		}
		flush()
		all.WriteString(l)
	}
	flush()
	return all.String()
}

func squash(s string) string {
	return strings.NewReplacer(" ", "", "\n", "", "same✓", "", ",", "").Replace(s)
}

func hugeAmount(t *rapid.T, i int) verify.AmountView {
	v := new(big.Int).Sub(amount.MaxUint256(), big.NewInt(int64(rapid.IntRange(0, 1<<30).Draw(t, "amount"))))
	a := verify.AmountView{
		Asset:    caip.ERC20(8453, common.BigToAddress(big.NewInt(int64(i+1)))),
		Symbol:   rapid.StringMatching(`[A-Z]{40}`).Draw(t, "symbol"),
		Decimals: rapid.IntRange(0, 18).Draw(t, "decimals"), Amount: v, Micro: nil, ChainName: "Avalanche C-Chain",
	}
	if rapid.Bool().Draw(t, "foreign") {
		a.Symbol, a.Decimals = "", -1
	}
	return a
}

func written(a verify.AmountView) string {
	if a.Decimals < 0 {
		return a.Amount.String() + "baseunitsof" + a.Asset.Display()
	}
	return amount.Format(a.Amount, a.Decimals) + a.Symbol
}

func anAddress(t *rapid.T, label string) string {
	return common.BytesToAddress(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, label)).Hex()
}

// anySize is a random size of the body, at least that of 60×20.
func (r *rig) anySize(t *rapid.T) *rig {
	r.w, r.h = rapid.IntRange(60, 200).Draw(t, "w"), rapid.IntRange(15, 60).Draw(t, "h")
	return r
}

func aReason(t *rapid.T) string {
	return rapid.StringMatching(`[a-z]{1,12}( [a-z]{1,90}){0,3}`).Draw(t, "reason")
}

// whole looks for texts that have to be on the screen in one piece, wherever lines break.
func (r *rig) whole(t *rapid.T, all string, want ...string) {
	for _, w := range want {
		if !strings.Contains(strings.ToLower(all), strings.ToLower(squash(w))) {
			t.Fatalf("%q is not whole on the screen of %d×%d", w, r.w, r.h)
		}
	}
}

// confirmable requires that only time keeps a review that was read to its end from being confirmed.
func (r *rig) confirmable(t *rapid.T) {
	r.clock.add(time.Second)
	if why := r.s.obstacle(r.clock.now); why != "" {
		t.Fatalf("after the last line confirm stays off: %s", why)
	}
}

// anyCalls replaces the operation of review 1 by up to ten calls with allowances, and the intent by one that asks for
// exactly them. It returns the texts that must be readable.
func (r *rig) anyCalls(t *rapid.T) (want []string) {
	p, d := r.op.view1, anIntent(r.t, r.clock.now).Draft()
	p.Outflow, p.Lines, d.Calls, d.Allowances = nil, nil, nil, nil
	line := func(l verify.CallView) {
		l.Index, l.Value, l.AsAsked = len(p.Lines)+1, new(big.Int), true
		p.Lines = append(p.Lines, l)
	}
	var after []verify.CallView
	for i := range rapid.IntRange(0, 3).Draw(t, "allowances") {
		a, spender := hugeAmount(t, 100+i), anAddress(t, "spender")
		token := common.BigToAddress(big.NewInt(int64(200 + i)))
		d.Allowances = append(d.Allowances, api.AllowanceRequirement{AssetType: caip.ERC20(8453, token).String(),
			Amount: a.Amount.String(), Spender: spender})
		approve := func(role string, v *big.Int) verify.CallView {
			return verify.CallView{Role: role, To: token.Hex(), Function: "approve(address spender, uint256 amount)",
				Decoded: true, Data: "0x" + common.Bytes2Hex(erc20.Approve(common.HexToAddress(spender), v)),
				Args: []verify.ArgView{{Name: "spender", Type: "address", Value: spender},
					{Name: "amount", Type: "uint256", Value: v.String()}}}
		}
		want = append(want, spender, token.Hex())
		if rapid.Bool().Draw(t, "needed") {
			line(approve(verify.RoleApprove, a.Amount))
			after = append(after, approve(verify.RoleRevoke, new(big.Int)))
			want = append(want, a.Amount.String())
		}
	}
	for i := range rapid.IntRange(1, 10).Draw(t, "calls") {
		a, to, target := hugeAmount(t, i), anAddress(t, "to"), anAddress(t, "target")
		l := verify.CallView{
			Asked: i + 1, Role: verify.RoleCall, To: target, Function: "transfer(address to, uint256 amount)",
			Decoded: true,
			Data:    "0x" + strings.Repeat("ab", rapid.IntRange(0, 300).Draw(t, "bytes")), Amount: &a, Recipient: to,
			FirstTime: true,
			Args: []verify.ArgView{{Name: "to", Type: "address", Value: to},
				{Name: "amount", Type: "uint256", Value: a.Amount.String()}},
		}
		if rapid.Bool().Draw(t, "opaque") {
			l.Decoded, l.Function, l.Args = false, "", nil
			want = append(want, l.Data)
		}
		line(l)
		p.Outflow = append(p.Outflow, a)
		d.Calls = append(d.Calls, intent.Call{To: strings.ToLower(target), Data: l.Data, Function: l.Function})
		want = append(want, to, target)
	}
	for _, l := range after {
		line(l)
	}
	r.op.asked = &d
	return append(want, p.Sender)
}

func TestNoAddressAmountOrReasonIsCutAtAnySizeFrom60x20(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t).anySize(rt)
		want := r.anyCalls(rt)
		reason, kind := aReason(rt), rapid.SampledFrom([]string{api.AccountKernelV31, api.AccountKernelV33,
			api.AccountRoleBased}).Draw(rt, "account")
		r.op.view1.AccountType = kind
		if kind == api.AccountKernelV33 {
			delegated(r.op.view1)
			want = append(want, kernel)
		}
		r.op.report1 = report(verify.Reason{Code: "V4", Level: verify.Warn, Title: reason},
			verify.Reason{Code: "P6", Level: verify.Unknown, Title: reason + " x"})
		want = append(want, reason, reason+" x")
		r.open().settle()
		all := r.shown()
		for _, a := range r.op.view1.Outflow {
			mustShow(rt, all, a)
		}
		r.whole(rt, all, want...)
		r.confirmable(rt)
	})
}

// mustShow looks for a whole amount and its unit.
func mustShow(t *rapid.T, all string, a verify.AmountView) {
	figure, unit := amount.Format(a.Amount, a.Decimals), a.Symbol
	if a.Decimals < 0 {
		figure, unit = a.Amount.String(), a.Asset.Display()
	}
	if !strings.Contains(all, amount.Trim(figure)) || !strings.Contains(all, unit) {
		t.Fatalf("%s is not whole: %s", written(a), all)
	}
}

func TestNoFigureOfTenPaymentsIsCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t).anySize(rt)
		q := r.op.next
		q.Legs, q.Promise, q.Pay, q.Fees, q.Needs, q.Expires = nil, nil, nil, nil, nil, r.clock.now.Add(time.Hour)
		var want []string
		for i := range 10 {
			a, held := hugeAmount(rt, i), anAddress(rt, "escrow")
			q.Legs = append(q.Legs, verify.LegView{Chain: chain(uint64(i+1), fmt.Sprintf("Chain %d", i)), Pays: a,
				Escrow: held, Deploys: i%2 == 0, RefundAfter: r.clock.now})
			q.Pay, q.Fees = append(q.Pay, a), append(q.Fees, hugeAmount(rt, 20+i))
			want = append(want, held)
		}
		q.Needs = []verify.NeedView{{Need: hugeAmount(rt, 50)}}
		q.PayMicro, q.CostMicro, q.UnexplainedMicro = nil, nil, nil
		q.Recipient = anAddress(rt, "recipient")
		reason := aReason(rt)
		r.op.report2 = report(verify.Reason{Code: "Q11", Level: verify.Warn, Title: reason})
		r.open().settle().read().press("y").settle()
		all := r.shown()
		for _, a := range append(append([]verify.AmountView{q.Needs[0].Need}, q.Pay...), q.Fees...) {
			mustShow(rt, all, a)
		}
		r.whole(rt, all, append(want, q.Recipient, reason, "unknown")...)
		r.confirmable(rt)
		// The different figures of a new quote are beside the old ones: neither is cut.
		old := q.Pay
		next := *q
		next.Pay = []verify.AmountView{hugeAmount(rt, 70)}
		r.op.requoted = &next
		r.press("r").settle()
		all = r.shown()
		for _, a := range append(old, next.Pay...) {
			mustShow(rt, all, a)
		}
	})
}
