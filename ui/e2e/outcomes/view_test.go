//go:build unix

package outcomes

import (
	"bytes"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service"
	"coffer/api/service/settle"
	"coffer/ui/present"
	"coffer/wallet/chainview"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// seeing gives a believer nodes of its own: the endpoints of the service's chains, each behind a proxy that can be made
// to misbehave.
func seeing(t *testing.T, b *believer, chains ...uint64) map[uint64]*faultproxy.Proxy {
	t.Helper()
	nodes, err := b.service.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0"})
	b.Must(err)
	t.Cleanup(func() { _ = nodes.Close() })
	out := map[uint64]*faultproxy.Proxy{}
	for _, n := range nodes.List {
		for _, id := range chains {
			if n.ID != id {
				continue
			}
			out[id] = faultproxy.New(forward(n.HTTP), id)
			t.Cleanup(out[id].Close)
		}
	}
	sees(t, b, out)
	return out
}

// sees starts the wallet again, with a view that has met none of the nodes yet.
func sees(t *testing.T, b *believer, proxies map[uint64]*faultproxy.Proxy) {
	t.Helper()
	var named []chainview.Node
	for id, p := range proxies {
		named = append(named, chainview.Node{Chain: id, Endpoints: []rpcpool.Endpoint{{URL: p.URL}}})
	}
	v, err := chainview.New(named)
	b.Must(err)
	t.Cleanup(v.Close)
	b.view = v
	b.opens()
}

// forward is a node at an address, for the proxy.
func forward(at string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u, err := url.Parse(at)
		if err != nil {
			return
		}
		r.URL, r.RequestURI, r.Host = u, "", u.Host
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			return
		}
		defer func() { _ = res.Body.Close() }()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	})
}

// balancesLie makes the service state another balance of an asset wherever it prepares a call.
type balancesLie struct {
	inner     http.RoundTripper
	asset     string
	told, say string
}

func (l *balancesLie) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.inner.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, "/prepare-call-quote") || l.say == "" {
		return res, err
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	list := max(bytes.Index(raw, []byte(`"sourceAssetBalances"`)), 0)
	if at := bytes.Index(raw[list:], []byte(`"assetType":"`+l.asset+`"`)); at >= 0 {
		at += list
		from := at + bytes.Index(raw[at:], []byte(`"balance":"`)) + len(`"balance":"`)
		to := from + bytes.IndexByte(raw[from:], '"')
		l.told = string(raw[from:to])
		raw = append(raw[:from:from], append([]byte(l.say), raw[to:]...)...)
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	res.Header.Del("Content-Length")
	return res, nil
}

const (
	usdcOnBase     = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	usdcOnArbitrum = "eip155:42161/erc20:0xaf88d065e77c8cc2239327c5edb3a432268e5831"
)

// TestTH_V8_YourNodeContradictsTheServicesBalance: the service states less than there is, so that one pays for what one
// has. The review names both figures and who saw them; --yes stops unless the code is named. An honest answer brings
// nothing but a passed check.
func TestTH_V8_YourNodeContradictsTheServicesBalance(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	seeing(t, b, 8453)
	lie := &balancesLie{inner: b.heldService.inner, asset: usdcOnBase}
	b.heldService.inner = lie
	friend := common.Address{0xf1}
	prepare := func() flow.Snapshot {
		t.Helper()
		s, err := b.begin(callTo(friend, 20_000_000)).Prepare(t.Context())
		b.Must(err)
		return s
	}
	s := prepare()
	if r, found := reason(s, "V8", verify.Warn); found {
		t.Errorf("an honest balance: %+v", r)
	}
	if len(s.Review1.Seen) != 1 || !s.Review1.Seen[0].As || s.Review1.Seen[0].Chain.ID != 8453 {
		t.Errorf("%+v", s.Review1.Seen)
	}
	for _, code := range []string{"V8", "V9", "V10"} {
		if !passed(s.Report1, code) {
			t.Errorf("%s did not pass: %+v", code, s.Report1.Reasons)
		}
	}
	fingerprint := s.Review1.OpHash
	lie.say = "1000000"
	s = prepare()
	r, found := reason(s, "V8", verify.Warn)
	if !found || !strings.HasPrefix(r.Title, verify.SeenOtherwise) ||
		!strings.Contains(r.Want, "seen by your node at block ") ||
		!strings.HasSuffix(r.Got, "the service says 1 USDC") {
		t.Fatalf("told %s: %+v", lie.told, r)
	}
	if s.Review1.OpHash != fingerprint {
		t.Error("what is signed depends on the view")
	}
}

// TestTH_V8_WhatARunningQuotePledgesIsExplained: while a quote of the account runs, the service leaves out of a balance
// what is pledged to it, and the nodes see it there. What was signed explains that to the unit, so that --yes goes on;
// one unit beside it is a warning, and so is the same difference when nothing runs any more.
func TestTH_V8_WhatARunningQuotePledgesIsExplained(t *testing.T) {
	friend := common.Address{0xf1}
	for name, c := range map[string]struct {
		runs  intent.Draft
		at    settle.Moment
		asset string
		notes []string
	}{
		"a transfer": {transferTo(friend), settle.AtDeposit, usdcOnArbitrum,
			[]string{"USDC on Arbitrum One, ", " and 20 USDC of it is kept for"}},
		"a call of what is there": {callTo(friend, 10_000_000), settle.AtFill, usdcOnBase,
			[]string{"25 USDC on Base, the service says 15 USDC, and 10 USDC of it"}},
		"a call with a payment": {callTo(friend, 100_000_000), settle.AtDeposit, usdcOnArbitrum,
			[]string{"25 USDC on Base, the service says 0 USDC, and 25 USDC of it", " on Arbitrum One, "}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBeliever(t, api.AccountKernelV31)
			seeing(t, b, 1, 10, 56, 137, 8453, 42161, 43114, 59144)
			lie := &balancesLie{inner: b.heldService.inner, asset: c.asset}
			b.heldService.inner = lie
			lift := b.stopsAt(c.at)
			o := b.begin(c.runs)
			s, err := b.reviews(o)
			b.Must(err)
			pledged := big.NewInt(10_000_000)
			if s.State == flow.StateReview2 {
				pledged = s.Review2.Legs[0].Pays.Amount
				s, err = o.Execute(b.Context(), consents(b, s, true), nil)
				b.Must(err)
			}
			if s.State != flow.StateAccepted {
				t.Fatal(s.State)
			}
			prepare := func() flow.Snapshot {
				t.Helper()
				s, err := b.begin(callTo(common.Address{0xf2}, 1_000_000)).Prepare(t.Context())
				b.Must(err)
				return s
			}
			s = prepare()
			if r, found := reason(s, "V8", verify.Warn); found {
				t.Errorf("%+v", r)
			}
			var notes []string
			for _, r := range of(s.Report1, "V8") {
				notes = append(notes, r.Title)
			}
			for _, x := range append(c.notes, verify.SeenPledged, "what you signed at 9 October 2025, 08:53:20 UTC") {
				if !strings.Contains(strings.Join(notes, "\n"), x) {
					t.Errorf("%q is not said: %q", x, notes)
				}
			}
			if _, err := consent.ByPolicy(s.Under(false), []string{"V4", "J4"}, nil); err != nil {
				t.Errorf("--yes stops: %v", err)
			}
			lie.say = "1"
			_ = prepare()
			told, ok := new(big.Int).SetString(lie.told, 10)
			if !ok {
				t.Fatalf("the service states %q", lie.told)
			}
			lie.say = told.Sub(told, big.NewInt(1)).String()
			if _, found := reason(prepare(), "V8", verify.Warn); !found {
				t.Error("a unit that nothing explains brings no warning")
			}
			lie.say = ""
			lift()
			b.ends(o)
			if s = prepare(); len(of(s.Report1, "V8")) > 0 {
				t.Errorf("it is over: %+v", of(s.Report1, "V8"))
			}
			for _, a := range s.Review1.Sources {
				if a.Asset.String() == c.asset {
					lie.say = new(big.Int).Sub(a.Amount, pledged).String()
				}
			}
			if _, found := reason(prepare(), "V8", verify.Warn); !found {
				t.Error("what is over still explains a difference")
			}
		})
	}
}

// TestTH_V8_WhatTheCallItselfTakesIsExplained: the service leaves out of what can pay what the call sends beside it.
func TestTH_V8_WhatTheCallItselfTakesIsExplained(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	seeing(t, b, 8453)
	lie := &balancesLie{inner: b.heldService.inner, asset: "eip155:8453/slip44:60"}
	b.heldService.inner = lie
	prepare := func() flow.Snapshot {
		s, err := b.begin(intent.Draft{TargetChain: "eip155:8453", FundWith: "ob:eth", Calls: []intent.Call{
			{To: "0xf100000000000000000000000000000000000001", Value: "1000000000000000"}}}).Prepare(t.Context())
		b.Must(err)
		return s
	}
	s := prepare()
	got := of(s.Report1, "V8")
	if len(got) != 1 || got[0].Level != verify.Show || !strings.HasSuffix(got[0].Title, ", the service says "+
		present.Human(s.Review1.Sources[1])+", and 0.001 ETH of it is kept for this call.") {
		t.Errorf("%+v", got)
	}
	if _, err := consent.ByPolicy(s.Under(false), []string{"V4"}, nil); err != nil {
		t.Errorf("--yes stops: %v", err)
	}
	lie.say = new(big.Int).Sub(s.Review1.Sources[1].Amount, big.NewInt(1)).String()
	if _, found := reason(prepare(), "V8", verify.Warn); !found {
		t.Error("a unit that nothing explains brings no warning")
	}
}

func passed(r verify.Report, code string) bool {
	for _, c := range r.Passed {
		if c.Code == code {
			return true
		}
	}
	return false
}

// TestTH_V8_ASilentNodeHoldsNothingUp: a node that hangs, one that serves another chain and one that answers nonsense
// leave a review that says so, in bounded time.
func TestTH_V8_ASilentNodeHoldsNothingUp(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	proxies := seeing(t, b, 1, 10, 56, 137, 8453, 42161, 43114, 59144)
	for name, c := range map[string]struct {
		rule  faultproxy.Rule
		level verify.Level
		says  string
	}{
		"silent": {faultproxy.Rule{Fault: faultproxy.Hang()}, verify.Unknown, "not answered within 3 s"},
		"another chain": {faultproxy.Rule{On: "eth_chainId", Fault: faultproxy.Lie("", "0x2")}, verify.Unknown,
			"it serves chain 2, not "},
		"nothing is there": {faultproxy.Rule{On: "eth_call", Fault: faultproxy.Lie("", "0x"+strings.Repeat("0", 64))},
			verify.Warn, "seen by your node at block "},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range proxies {
				p.Script(c.rule)
			}
			sees(t, b, proxies)
			at := time.Now()
			s, err := b.begin(transferTo(common.Address{0xf1})).Quote(t.Context())
			b.Must(err)
			if took := time.Since(at); took > chainview.Bound+5*time.Second {
				t.Errorf("it took %v", took)
			}
			r, found := reason(s, "V8", c.level)
			if !found || !strings.Contains(r.Title+r.Got, c.says) ||
				c.level == verify.Unknown && len(s.Review2.Seen) > 0 {
				t.Errorf("%+v", s.Report2.Reasons)
			}
		})
	}
}

// TestTH_V8_YourNodeSeesWhatBecameOfAPayment: the service's COMPLETED is beside what the nodes see: the deposit and the
// fill of an honest one, and nothing of a lie. Neither closes a signature.
func TestTH_V8_YourNodeSeesWhatBecameOfAPayment(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	seeing(t, b, 1, 10, 56, 137, 8453, 42161, 43114, 59144)
	friend := common.Address{0xf1}
	said := func(s flow.Snapshot) (out []string) {
		for _, x := range present.Became(s.Became, s.Status.Status) {
			out = append(out, x.Text)
		}
		return out
	}
	s := b.runs(transferTo(friend))
	got := strings.Join(said(s), "\n")
	filled := regexp.MustCompile(`seen by your node: filled on Base in block \d+`).MatchString(got)
	paid := regexp.MustCompile(`seen by your node: payment on \S.* (in escrow|released), at block \d+`).
		MatchString(got)
	if s.State != flow.StateDone || !filled || !paid || strings.Contains(got, "does not see") {
		t.Errorf("%s: %s", s.State, got)
	}
	if words := present.Said(s, present.Live{Known: true}, time.Time.String); !strings.HasPrefix(words,
		"The service says it was delivered, and your node sees it. ") {
		t.Error(words)
	}
	open := len(b.open())
	b.heldService.lies(api.StatusCompleted)
	s = b.runs(transferTo(friend))
	got = strings.Join(said(s), "\n")
	if s.State != flow.StateDone || !strings.HasPrefix(got, "The service says COMPLETED, and your node does not see") ||
		!strings.Contains(got, "seen by your node: not filled on Base, at block ") ||
		!strings.Contains(got, "seen by your node: no payment in escrow on ") {
		t.Errorf("%s: %s", s.State, got)
	}
	if len(b.open()) <= open {
		t.Error("a signature is off the list")
	}
	// A fill on other terms, such as a service makes for itself, is none.
	for _, c := range []struct {
		terms common.Hash
		want  verify.Outcome
	}{{common.Hash{1}, verify.Filled}, {common.Hash{2}, verify.OtherFill}} {
		list := b.policy.Judge([]verify.Course{{Trace: verify.Trace{Chain: 10, Escrow: friend}, Deposit: verify.Held,
			Terms: common.Hash{1}}, {Trace: verify.Trace{Chain: 8453, Filler: friend},
			Fills: []verify.FillSeen{{Block: 3, Terms: c.terms}}}})
		if list[1].Outcome != c.want {
			t.Errorf("%+v", list)
		}
	}
}

// of are the findings of a code.
func of(r verify.Report, code string) (out []verify.Reason) {
	for _, x := range r.Reasons {
		if x.Code == code {
			out = append(out, x)
		}
	}
	return out
}
