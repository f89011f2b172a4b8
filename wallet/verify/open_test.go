package verify_test

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// lab is a golden world on a network on which the service's word proves nothing.
func lab(t testing.TB) *world {
	w := newWorld(t)
	w.Policy.Network.Kind = network.Lab
	return w
}

// earlier is a signature of another operation that may still run: the same intent, on Base in the lane of prepared
// calls.
func (w *world) earlier(t testing.TB, sequence uint64) verify.Open {
	t.Helper()
	raw, err := w.Intent().MarshalJSON()
	need(t, err)
	usdc, err := caip.ParseAsset(baseUSDC)
	need(t, err)
	return verify.Open{
		Operation: "before", Hash: "0xbefore", Role: verify.RolePrepared, Chain: "eip155:8453", Sender: w.Account.Hex(),
		Nonce: w.Nonce(op.LanePrepared, sequence).Big().String(),
		Made:  clock().Add(-20 * time.Minute), Ends: clock().Add(5 * time.Minute), Sent: true, Nothing: true,
		Intent: raw,
		Spend:  []verify.Spend{{Asset: usdc, Amount: big.NewInt(250_500_000)}},
	}
}

func (w *world) prepareBeside(h verify.History) (*verify.PreparedOp, verify.Report) {
	return verify.Prepared(w.Intent(), w.Policy, h, clock(), w.Document(w.PrepareResponse()))
}

// gateOf is the gate of open repeats on a report.
func gateOf(r verify.Report) verify.Reason {
	for _, x := range r.Reasons {
		if x.Setting == verify.GateOpenRepeat {
			return x
		}
	}
	return verify.Reason{}
}

func TestK3_ARepeatOfWhatMayStillRunStandsBehindAGateWithTheSum(t *testing.T) {
	w := lab(t)
	w.Sequence = 4
	h := memory{next: 4, known: true, standing: []verify.Open{w.earlier(t, 3)}}
	p, r := w.prepareBeside(h)
	g := gateOf(r)
	if p != nil || g.Open || g.Code != "J4" {
		t.Fatalf("%+v", r.Reasons)
	}
	for _, want := range []string{"250.5 USDC ($250.45) can still be taken", "501 USDC",
		"in all. After " + clock().Add(5*time.Minute).UTC().Format("2 January 2006, 15:04:05 UTC")} {
		if !strings.Contains(g.Title, want) {
			t.Errorf("%q lacks %q", g.Title, want)
		}
	}
	w.Policy.Limits.Gates = []string{verify.GateOpenRepeat}
	p, r = w.prepareBeside(h)
	if p == nil {
		t.Fatalf("%+v", r.Reasons)
	}
	opened(t, r, verify.GateOpenRepeat, p.View().Fingerprint, p.View().Phrase, p.Confirmation())
	w.Policy.Limits.Gates = others(verify.GateOpenRepeat)
	if p, r = w.prepareBeside(h); p != nil || !r.Refused() {
		t.Fatal("another gate opens it")
	}
}

func TestK3_WhatStandsBesideIsSortedByWhatItCanDo(t *testing.T) {
	for name, c := range map[string]struct {
		change func(x *verify.Open)
		level  verify.Level // of J4; "" none
	}{
		"said to have come to nothing": {func(*verify.Open) {}, verify.Gate},
		"its outcome is not known":     {func(x *verify.Open) { x.Nothing = false }, verify.Gate},
		"accepted and not ended": {func(x *verify.Open) { x.Nothing, x.Running = false, true },
			verify.Gate},
		"said to have run": {func(x *verify.Open) { x.Nothing, x.Ran = false, true },
			verify.Show},
		"another intent, said to have run": {
			func(x *verify.Open) { x.Intent, x.Nothing, x.Ran = toSomebodyElse(t), false, true }, ""},
		"another intent, its outcome not known": {
			func(x *verify.Open) { x.Intent, x.Nothing, x.Tried = toSomebodyElse(t), false, true }, verify.Warn},
		"another intent, never executed": {func(x *verify.Open) {
			x.Intent, x.Nothing = toSomebodyElse(t),
				false
		}, ""},
		"never left this machine":    {func(x *verify.Open) { x.Sent = false }, ""},
		"no intent that can be read": {func(x *verify.Open) { x.Intent = []byte("{") }, verify.Gate},
		"another intent":             {func(x *verify.Open) { x.Intent = toSomebodyElse(t) }, verify.Warn},
		"another intent, accepted and not ended": {
			func(x *verify.Open) { x.Intent, x.Nothing, x.Tried, x.Running = toSomebodyElse(t), false, true, true },
			""},
		"another chain":        {func(x *verify.Open) { x.Chain = "eip155:10" }, verify.Gate},
		"another account":      {func(x *verify.Open) { x.Sender = vault }, verify.Gate},
		"a payment for a call": {func(x *verify.Open) { x.Role, x.Chain = verify.RoleFunding, "eip155:10" }, ""},
		"without an end":       {func(x *verify.Open) { x.Ends = time.Time{} }, verify.Gate},
	} {
		t.Run(name, func(t *testing.T) {
			w := lab(t)
			w.Sequence = 4
			x := w.earlier(t, 3)
			c.change(&x)
			_, r := w.prepareBeside(memory{next: 4, known: true, standing: []verify.Open{x}})
			for _, level := range []verify.Level{verify.Gate, verify.Warn, verify.Show, verify.Refuse} {
				if r.Has("J4", level) != (level == c.level) {
					t.Errorf("%s: %+v", level, r.Reasons)
				}
			}
			if c.level == verify.Gate && x.Ends.IsZero() != strings.Contains(gateOf(r).Title, "coffer activity void") {
				t.Errorf("%+v", gateOf(r))
			}
		})
	}
}

// toSomebodyElse is the intent of a transfer that shares nothing with the golden call.
func toSomebodyElse(t testing.TB) []byte {
	t.Helper()
	w := newWorld(t)
	w.Draft.Calls, w.Draft.TokensRequired = []intent.Call{
		{To: "0x2222222222222222222222222222222222222222", Value: "9"}}, nil
	raw, err := w.Intent().MarshalJSON()
	need(t, err)
	return raw
}

func TestK3_TheSameNonceReplacesWhatIsOpen(t *testing.T) {
	for name, c := range map[string]struct {
		ran   bool
		level verify.Level
	}{"said to have come to nothing": {false, verify.Show}, "said to have run": {true, verify.Warn}} {
		w := lab(t)
		w.Sequence = 3
		x := w.earlier(t, 3)
		x.Ran, x.Nothing = c.ran, !c.ran
		p, r := w.prepareBeside(memory{next: 3, known: true, standing: []verify.Open{x}})
		if p == nil || !r.Has("U3", c.level) || r.Phrase() != "" || r.Has("J4", verify.Warn) {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
	}
}

func TestK3_PaymentsOfAQuoteAreJudgedBesideThoseOfEarlierOnes(t *testing.T) {
	w := lab(t)
	s := w.signed()
	x := w.earlier(t, 0)
	x.Role, x.Chain, x.Hash = verify.RoleFunding, "eip155:42161", "0xpaid"
	for name, c := range map[string]struct {
		nonce uint64
		gate  bool
	}{"in its place": {4, false}, "in another place": {3, true}} {
		x.Nonce = w.Nonce(op.LaneFunding, c.nonce).Big().String()
		q, r := verify.Quote(w.Intent(), w.Policy, memory{standing: []verify.Open{x}}, clock(), s,
			w.Document(w.CrossChain()))
		if (gateOf(r).Code != "") != c.gate || (q == nil) != c.gate {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
	}
	// The call that was signed for this quote takes the place of an earlier one.
	x = w.earlier(t, 0)
	if q, r := verify.Quote(w.Intent(), w.Policy, memory{standing: []verify.Open{x}}, clock(), s,
		w.Document(w.CrossChain())); q == nil || gateOf(r).Code != "" {
		t.Errorf("%+v", r.Reasons)
	}
}

func TestK3_ATransferIsJudgedAtItsQuote(t *testing.T) {
	a := answer(t, "v3-transfer")
	a.policy.Network.Kind = network.Lab
	raw, err := a.intent().MarshalJSON()
	need(t, err)
	x := verify.Open{Operation: "before", Hash: "0x1", Role: verify.RoleTransfer, Chain: "eip155:1", Nonce: "1",
		Sent: true, Nothing: true, Intent: raw, Ends: a.now.Add(time.Minute)}
	a.seen = memory{standing: []verify.Open{x}}
	q, r := a.judge(a.doc)
	if q != nil || gateOf(r).Code != "J4" {
		t.Fatalf("%+v", r.Reasons)
	}
	a.policy.Limits.Gates = []string{verify.GateOpenRepeat}
	if q, r = a.judge(a.doc); q == nil {
		t.Fatalf("%+v", r.Reasons)
	}
	opened(t, r, verify.GateOpenRepeat, q.View().Fingerprint, q.View().Phrase, q.Confirmation())
	// Signed in between: the confirmation is for another state of things.
	if q.Unseen(a.policy, a.intent(), a.seen, a.now) {
		t.Error("nothing new stands beside it")
	}
	y := x
	y.Hash, y.Nonce = "0x2", "2"
	if !q.Unseen(a.policy, a.intent(), memory{standing: []verify.Open{x, y}}, a.now) {
		t.Error("another signature is not noticed")
	}
}

func TestK4_OnOtherNetworksALowerSequenceOrAGapIsExplained(t *testing.T) {
	for name, c := range map[string]struct {
		sequence uint64
		level    verify.Level
		words    string
	}{
		"the next one": {4, "", ""}, "lower": {3, verify.Warn, "this can never run"},
		"a gap": {6, verify.Warn, "another device"}, "too far": {21, verify.Refuse, ""},
	} {
		w := lab(t)
		w.Sequence = c.sequence
		p, r := w.prepareBeside(memory{next: 4, known: true})
		i := slices.IndexFunc(r.Reasons, func(x verify.Reason) bool { return x.Code == "U3" })
		if (p == nil) != (c.level == verify.Refuse) || (i >= 0) != (c.level != "") ||
			i >= 0 && (r.Reasons[i].Level != c.level || !strings.Contains(r.Reasons[i].Title, c.words)) {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
		if i >= 0 && (!strings.Contains(r.Reasons[i].Want, "4") || !strings.HasPrefix(r.Reasons[i].Got, "sequence ")) {
			t.Errorf("%s: %+v", name, r.Reasons[i])
		}
		if c.level == verify.Refuse && !strings.Contains(r.Reasons[i].Want, "coffer activity repair") {
			t.Errorf("%s: %+v", name, r.Reasons[i])
		}
	}
	w := newWorld(t)
	w.Sequence = 3
	_, r := w.prepareBeside(memory{next: 4, known: true})
	i := slices.IndexFunc(r.Reasons, func(x verify.Reason) bool { return x.Code == "U3" })
	if i < 0 || r.Reasons[i].Level != verify.Refuse || !strings.Contains(r.Reasons[i].Want, "coffer activity repair") {
		t.Errorf("embedded: %+v", r.Reasons)
	}
}

func TestK3_AGapThatTheWalletItselfSignedForIsNotBlamedOnAnotherDevice(t *testing.T) {
	for name, c := range map[string]struct {
		open []uint64
		own  bool
	}{"all of it": {[]uint64{4, 5}, true}, "a part": {[]uint64{5}, false},
		"the place itself": {[]uint64{4, 6}, false}} {
		w := lab(t)
		w.Sequence = 6
		h := memory{next: 4, known: true}
		for _, n := range c.open {
			h.standing = append(h.standing, w.earlier(t, n))
		}
		_, r := w.prepareBeside(h)
		i := slices.IndexFunc(r.Reasons, func(x verify.Reason) bool { return x.Code == "U3" && x.Level == verify.Warn })
		if i < 0 || strings.HasPrefix(r.Reasons[i].Title, "You signed for the place before this one") != c.own {
			t.Errorf("%s: %+v", name, r.Reasons)
		}
	}
}

func TestK4_OnOtherNetworksALowerNonceOfADelegationIsExplained(t *testing.T) {
	next := uint64(3)
	for kind, level := range map[network.Kind]verify.Level{network.Embedded: verify.Refuse, network.Lab: verify.Warn} {
		w := variant{kind: "kernel-v3.3-ecdsa"}.world(t)
		w.Policy.Network.Kind, w.Deploy = kind, true
		_, r := verify.Prepared(w.Intent(), w.Policy, memory{auth: &next}, clock(), w.Document(w.PrepareResponse()))
		if !r.Has("D4", level) {
			t.Errorf("%s: %+v", kind, r.Reasons)
		}
	}
}

// encodedDraft is a draft as the journal keeps it.
func encodedDraft(t testing.TB, d intent.Draft) []byte {
	t.Helper()
	raw, err := json.Marshal(d)
	need(t, err)
	return raw
}

func TestK3_WhatARepeatIs(t *testing.T) {
	transfer := func(asset, account string) intent.Draft {
		return intent.Draft{Kind: intent.KindTransfer, Pay: &intent.Pay{Asset: asset, Amount: "1"},
			Receive: &intent.Receive{Asset: asset, Account: account}}
	}
	swap := func(from, to, account string) intent.Draft {
		return intent.Draft{Kind: intent.KindSwap, Pay: &intent.Pay{Asset: from, Amount: "1"},
			Receive: &intent.Receive{Asset: to, Account: account}}
	}
	call := func(to, data, value string) intent.Draft {
		return intent.Draft{TargetChain: "eip155:8453", Calls: []intent.Call{{To: to, Data: data, Value: value}}}
	}
	w := newWorld(t)
	me := strings.ToLower(w.Account.Hex())
	token := golden.TokenOf(baseUSDC).Hex()
	send := func(to string) string {
		return "0xa9059cbb" + strings.Repeat("0", 24) + to[2:] + strings.Repeat("0", 63) + "1"
	}
	const bob, carol = "0x2222222222222222222222222222222222222222", "0x3333333333333333333333333333333333333333"
	for name, c := range map[string]struct {
		a, b intent.Draft
		want bool
	}{
		"the same payee on another chain": {transfer("ob:usdc", "eip155:1:"+bob),
			transfer("ob:usdc", "eip155:10:"+bob), true},
		"the same payee with another asset": {transfer("ob:usdc", "eip155:1:"+bob),
			transfer("ob:eth", "eip155:1:"+bob), true},
		"the same payee by a call": {transfer("ob:usdc", "eip155:1:"+bob), call(token, send(bob), ""),
			true},
		"the same payee by coins": {call(bob, "", "5"), call(bob, "0x", "7"), true},
		"another payee": {transfer("ob:usdc", "eip155:1:"+bob),
			transfer("ob:usdc", "eip155:1:"+carol), false},
		"another payee of the same token": {call(token, send(bob), ""), call(token, send(carol), ""), false},
		"the same contract":               {call(vault, "0x12345678", ""), call(vault, "0x87654321", ""), true},
		"the same call that pays oneself": {call(token, send(me), ""), call(token, send(me), ""), true},
		"to oneself, the same asset": {transfer("ob:usdc", "eip155:1:"+me),
			transfer(baseUSDC, "eip155:1:"+me), true},
		"to oneself, another asset": {transfer("ob:usdc", "eip155:1:"+me),
			transfer("ob:eth", "eip155:1:"+me), false},
		"a swap for the same asset": {swap("ob:usdc", "ob:eth", ""),
			swap("ob:usdt", baseETH, "eip155:8453:"+me), true},
		"a swap for another asset": {swap("ob:usdc", "ob:eth", ""), swap("ob:usdc", "ob:usdt", ""),
			false},
		"a swap to somebody else": {swap("ob:usdc", "ob:eth", ""),
			swap("ob:usdc", "ob:eth", "eip155:1:"+bob), false},
		"a swap and a transfer to oneself": {swap("ob:usdc", "ob:eth", ""), transfer("ob:eth", "eip155:1:"+me),
			false},
		"an approval and a transfer to the same": {call(token, "0x095ea7b3"+send(bob)[10:], ""),
			transfer("ob:usdc", "eip155:1:"+bob), true},
	} {
		c.a.Accounts, c.b.Accounts, c.a.Version, c.b.Version = w.Draft.Accounts, w.Draft.Accounts, 1, 1
		for _, pair := range [][2]intent.Draft{{c.a, c.b}, {c.b, c.a}} {
			if got := verify.Repeats(w.Policy, pair[0], encodedDraft(t, pair[1])); got != c.want {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}
