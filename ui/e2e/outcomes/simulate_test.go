//go:build unix

package outcomes

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/rpcpool/faultproxy"
	"coffer/wallet/chainview"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// TestTH_V11_YourNodeSimulatesWhatIsSigned: the operations of an honest service do what the review states, whether they
// make the account, delegate to it or run on what a payment delivers first. What is signed does not depend on it.
func TestTH_V11_YourNodeSimulatesWhatIsSigned(t *testing.T) {
	friend := common.Address{0xf1}
	for _, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		t.Run(kind, func(t *testing.T) {
			b := newBeliever(t, kind)
			proxies := seeing(t, b, 1, 10, 56, 137, 8453, 42161, 43114, 59144)
			for _, c := range []struct {
				name string
				d    intent.Draft
			}{{"transfer", transferTo(friend)}, {"call with payments", callTo(friend, 430_500_000)},
				{"call", callTo(friend, 1_000_000)}} {
				name, d := c.name, c.d
				o := b.begin(d)
				s, err := b.reviews(o)
				if err != nil || !passed(s.Report1, "V11") && !passed(s.Report2, "V11") {
					t.Fatalf("%s: %v %s %+v %+v", name, err, s.State, s.Report1.Reasons, s.Report2.Reasons)
				}
				var chains []uint64
				var out []verify.AmountView
				take := func(list []verify.SimulationView) {
					for _, v := range list {
						chains, out = append(chains, v.Chain.ID), append(out, v.Out...)
						if !v.As || len(v.Out) != 1 {
							t.Errorf("%s: %+v", name, v)
						}
					}
				}
				if s.Review1 != nil {
					take(s.Review1.Simulated)
				}
				if s.Review2 != nil {
					take(s.Review2.Simulated)
					if len(s.Review2.Simulated) < len(s.Review2.Legs) {
						t.Errorf("%s: %+v", name, s.Review2.Simulated)
					}
				}
				if name != "transfer" && (chains[0] != 8453 || out[0].Amount.String() !=
					d.TokensRequired[0].Amount) {
					t.Errorf("%s: %v %+v", name, chains, out)
				}
				if s.State == flow.StateReview2 {
					b.Must(o.Abandon())
				}
				b.Advance(20 * time.Minute)
			}
			if proxies[8453].Calls("eth_simulateV1") == 0 {
				t.Error("nothing was simulated")
			}
		})
	}
}

// contract is the creation code of a contract with this code.
func contract(code ...[]byte) []byte {
	all := slices.Concat(code...)
	return append([]byte{0x60, byte(len(all)), 0x80, 0x60, 0x09, 0x5f, 0x39, 0x5f, 0xf3}, all...)
}

// puller takes an amount of a token out of the account of its caller.
func puller(token, to common.Address, amount uint32) []byte {
	calls := slices.Concat(common.FromHex("6323b872dd60e01b5f5233600452"), []byte{0x73}, to[:],
		common.FromHex("602452"), []byte{0x63, byte(amount >> 24), byte(amount >> 16), byte(amount >> 8), byte(amount)},
		common.FromHex("6044525f5f60645f5f73"), token[:], common.FromHex("5af1"))
	return contract(calls, []byte{0x60, byte(len(calls) + 6)}, common.FromHex("575f5ffd5b00")) // or it reverts
}

// twister is a token that pays another one than it is told to.
func twister(to common.Address) []byte {
	transfer := crypto.Keccak256([]byte("Transfer(address,address,uint256)"))
	return contract(common.FromHex("602060245f37"), []byte{0x73}, to[:], []byte{0x33, 0x7f}, transfer,
		common.FromHex("60205fa360015f5260205ff3"))
}

// leavesOut is a service that leaves the declared approvals out of a call, as if they were there already.
type leavesOut struct {
	t     *testing.T
	inner http.RoundTripper
	lies  bool
}

func (l *leavesOut) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := l.inner.RoundTrip(r)
	if err != nil || !l.lies || !strings.HasSuffix(r.URL.Path, "/prepare-call-quote") {
		return res, err
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	var w api.PrepareResponse
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	u, err := op.FromWire(*w.ChainOperation.UserOp)
	if err != nil {
		return nil, err
	}
	calls, err := op.DecodeExecute(u.CallData)
	if err != nil || len(calls) != 3 {
		l.t.Errorf("%v %v", calls, err)
	}
	bare, err := op.EncodeExecute(calls[1:2])
	for _, x := range [][2][]byte{{u.CallData, bare}, {op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce).Bytes(),
		op.CallDataAndNonceHash(u.Sender, bare, u.Nonce).Bytes()}} {
		raw = bytes.Replace(raw, []byte(common.Bytes2Hex(x[0])), []byte(common.Bytes2Hex(x[1])), 1)
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	res.Header.Del("Content-Length")
	return res, err
}

// TestTH_V11_ACallThatDoesOtherThanTheReviewStates: a token that pays another one than its call says, and a service
// that says an allowance is there which is not, so that the call fails and its place is used up.
func TestTH_V11_ACallThatDoesOtherThanTheReviewStates(t *testing.T) {
	b := newBeliever(t, api.AccountKernelV31)
	proxies := seeing(t, b, 8453)
	lie := &leavesOut{t: t, inner: b.heldService.inner}
	b.heldService.inner = lie
	usdc := common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	deployer := common.HexToAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C")
	friend, thief := common.Address{0xf1}, common.Address{0xee}
	call := func(to common.Address, data []byte) intent.Draft {
		return intent.Draft{TargetChain: "eip155:8453", Calls: []intent.Call{{To: to.Hex(),
			Data: "0x" + common.Bytes2Hex(data)}}, FundWith: "ob:usdc"}
	}
	deploys := func(code []byte) common.Address {
		t.Helper()
		s := b.runs(call(deployer, append(make([]byte, 32), code...)))
		if s.State != flow.StateDone || !passed(s.Report1, "V11") {
			t.Fatalf("%s %s %+v", s.State, s.Problem, s.Report1.Reasons)
		}
		b.Advance(20 * time.Minute)
		return crypto.CreateAddress2(deployer, [32]byte{}, crypto.Keccak256(code))
	}
	prepare := func(d intent.Draft) flow.Snapshot {
		t.Helper()
		s, err := b.begin(d).Prepare(t.Context())
		if err != nil {
			t.Fatalf("%v %+v", err, s.Report1.Reasons)
		}
		return s
	}
	token := deploys(twister(thief))
	s := prepare(call(token, erc20.Transfer(friend, big.NewInt(1000))))
	r, found := reason(s, "V11", verify.Warn)
	if !found || r.Title != verify.SimDiffers+friend.Hex()+" gets 0 base units of eip155:8453/erc20:"+token.Hex()+
		", not 1000 base units of eip155:8453/erc20:"+token.Hex()+", on Base." ||
		!strings.HasPrefix(r.Got, "simulated by your node after block ") || s.Review1.Simulated[0].As {
		t.Errorf("%+v", s.Report1.Reasons)
	}
	shop := deploys(puller(usdc, friend, 30_000_000))
	pay := call(shop, crypto.Keccak256([]byte("buy()"))[:4])
	pay.TokensRequired = []api.TokenRequirement{{AssetType: usdcOnBase, Amount: "30000000"}}
	pay.Allowances = []api.AllowanceRequirement{{AssetType: usdcOnBase, Amount: "30000000", Spender: shop.Hex()}}
	s = prepare(pay)
	if v := s.Review1.Simulated; !passed(s.Report1, "V11") || len(v) != 1 || v[0].Out[0].Amount.Int64() != 30_000_000 {
		t.Errorf("%+v %+v", s.Report1.Reasons, s.Review1.Simulated)
	}
	lie.lies = true
	s = prepare(pay)
	if r, found := reason(s, "V11", verify.Warn); !found || !strings.HasPrefix(r.Title, verify.SimFails) ||
		len(s.Review1.Simulated) > 0 {
		t.Errorf("%+v", s.Report1.Reasons)
	}
	if _, err := consent.ByPolicy(s.Under(false), []string{"V3", "V7"}, nil); !errors.Is(err, consent.ErrWarnings) {
		t.Error(err)
	}
	if _, err := consent.ByPolicy(s.Under(false), []string{"V3", "V7", "V11"}, nil); err != nil {
		t.Error(err)
	}
	lie.lies = false
	// Nodes that do not simulate, hang or answer nonsense hold nothing up, and say nothing about the call.
	for name, c := range map[string]struct {
		rule faultproxy.Rule
		says string
	}{
		"no such method": {faultproxy.Rule{On: "eth_simulateV1", Fault: faultproxy.Refuse(-32601, "no", nil)},
			"it does not offer eth_simulateV1"},
		"silent":   {faultproxy.Rule{On: "eth_simulateV1", Fault: faultproxy.Hang()}, "not answered within 3 s"},
		"nonsense": {faultproxy.Rule{On: "eth_simulateV1", Fault: faultproxy.Lie("", "yes")}, "127.0.0.1"},
		"no calls": {faultproxy.Rule{On: "eth_simulateV1", Fault: faultproxy.Lie("0.calls", []any{})},
			"its answer has another form"},
	} {
		for _, p := range proxies {
			p.Script(c.rule)
		}
		sees(t, b, proxies)
		at := time.Now()
		s, err := b.begin(pay).Prepare(t.Context())
		b.Must(err)
		if took := time.Since(at); took > chainview.Bound+2*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
		r, found := reason(s, "V11", verify.Unknown)
		if !found || !strings.Contains(r.Title, c.says) || len(s.Review1.Simulated) > 0 {
			t.Errorf("%s: %+v", name, s.Report1.Reasons)
		}
	}
}
