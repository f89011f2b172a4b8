package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/devclock"
	"coffer/api/service/quotestore"
	"coffer/api/service/settle"
	"coffer/api/service/store/storetest"
)

// reset is a development network with a person who pays on Base with money of several chains.
type reset struct {
	*client
	urls map[string]string // of the endpoints, by chain
}

func newReset(t *testing.T, faults service.Faults) *reset {
	t.Helper()
	so := options(storetest.New(t))
	clock := devclock.New(so.Clock)
	so.Clock, so.Faults = clock.Now, faults
	s := open(t, so)
	n, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0", Dev: &service.Dev{Clock: clock}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.Close() })
	r := &reset{newClient(t, s, api.AccountKernelV31, 1), map[string]string{}}
	for _, e := range n.List {
		r.urls[e.Chain] = e.HTTP
	}
	r.wealth() // it gets its test funds
	return r
}

func (r *reset) snapshot(chain string) string { return result(r.t, r.urls[chain], "evm_snapshot") }

func (r *reset) revert(chain, id string) {
	r.t.Helper()
	if got := result(r.t, r.urls[chain], "evm_revert", id); got != "true" {
		r.t.Fatal(got)
	}
}

// holds is what an endpoint says that an account has of a token.
func (r *reset) holds(chain, token, account string) *big.Int {
	r.t.Helper()
	raw := result(r.t, r.urls[chain], "eth_call", map[string]string{"to": token,
		"data": "0x70a08231000000000000000000000000" + strings.ToLower(account[2:])}, "latest")
	v, ok := new(big.Int).SetString(raw[2:], 16)
	if !ok {
		r.t.Fatal(raw)
	}
	return v
}

const onBase = "eip155:8453"

// asked is more USDC than two chains have.
var asked = big.NewInt(1_500_000_000)

// agrees demands that status, history and balances say what the chains have.
func (r *reset) agrees(id, status string) {
	r.t.Helper()
	got := r.status(id)
	if reason := map[bool]string{true: quotestore.ReasonReset}[status == api.StatusFailed]; got.Status != status ||
		got.FailReason != reason {
		r.t.Errorf("the status is %+v", got)
	}
	own := r.user.Address.Hex()
	var page api.HistoryPage
	if err := r.ask("GET", r.statusPath()+"/get-tx-history?user="+own, "").Decode(&page); err != nil {
		r.t.Fatal(err)
	}
	seen := 0
	for _, record := range page.Transactions {
		if record.QuoteID == id {
			seen++
			if record.Status != status {
				r.t.Errorf("the history has %+v", record)
			}
		}
	}
	if seen != 1 {
		r.t.Errorf("the history has the quote %d times", seen)
	}
	for _, asset := range usdcs(r.t, r.client) {
		chain, token, _ := strings.Cut(asset, "/erc20:")
		for _, who := range []string{own, recipient} {
			if said, is := r.balance("eip155:1:"+who, asset), r.holds(chain, token, who); said.Cmp(is) != 0 {
				r.t.Errorf("%s of %s: the service says %s, the chain %s", asset, who, said, is)
			}
		}
	}
}

// usdcs lists USDC on every EVM chain.
func usdcs(t testing.TB, c *client) (all []string) {
	t.Helper()
	var list []api.AggregatedAsset
	if err := json.Unmarshal(c.ask("GET", "/assets/list", "").Raw(), &list); err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		for _, e := range a.AggregatedEntities {
			if a.AggregatedAssetID == "ob:usdc" && strings.HasPrefix(e.AssetType, "eip155:") {
				all = append(all, e.AssetType)
			}
		}
	}
	return all
}

// A quote moved money on two chains and one of them is taken back, or both: it ends FAILED, what the other chain did
// stays, every page and balance says so, and the account pays again.
func TestAfterARevertNothingDangles(t *testing.T) {
	for _, taken := range []string{"origin", "target", "both"} {
		t.Run(taken, func(t *testing.T) {
			r := newReset(t, service.Faults{})
			before := map[string]*big.Int{}
			marks := map[string]string{}
			for chain := range r.urls {
				if strings.HasPrefix(chain, "eip155:") {
					marks[chain] = r.snapshot(chain)
				}
			}
			for _, asset := range usdcs(t, r.client) {
				before[asset] = r.balance("eip155:1:"+r.user.Address.Hex(), asset)
			}
			signed, id, _ := r.call(r.transfer(asked.Int64()), "ob:usdc")
			status := r.finish(signed, id)
			r.done(status, api.RecordCall)
			r.agrees(id, api.StatusCompleted)
			origins := map[string]bool{}
			for _, o := range status.OriginChainOperations {
				origins[o.Chain] = o.Chain != onBase
			}
			if len(origins) < 2 {
				t.Fatalf("only %v pay", origins)
			}
			gone := map[string]bool{}
			for chain, other := range origins {
				if other && taken != "target" && len(gone) == 0 {
					gone[chain] = true
				}
			}
			if taken != "origin" {
				gone[onBase] = true
			}
			for chain := range gone {
				r.revert(chain, marks[chain])
			}
			if err := r.s.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.agrees(id, api.StatusFailed)
			for _, asset := range usdcs(t, r.client) {
				chain, _, _ := strings.Cut(asset, "/")
				now := r.balance("eip155:1:"+r.user.Address.Hex(), asset)
				if (now.Cmp(before[asset]) != 0) != (origins[chain] && !gone[chain]) && chain != onBase {
					t.Errorf("%s: %s before, now %s", asset, before[asset], now)
				}
			}
			if paid := r.holds(onBase, baseUSDC, recipient); paid.Cmp(asked) >= 0 == gone[onBase] {
				t.Errorf("the recipient has %s", paid)
			}
			for _, o := range append(status.OriginChainOperations, status.DestinationChainOperations...) {
				page := strings.Replace(o.ExplorerURL, "https://coffer.internal/api", "", 1)
				if code, _ := r.send("GET", page, ""); (code == 404) != gone[o.Chain] {
					t.Errorf("%s on %s: %d", page, o.Chain, code)
				}
			}
			signed, id, _ = r.call(r.transfer(30_000_000), "ob:usdc")
			r.done(r.finish(signed, id), api.RecordCall)
			r.agrees(id, api.StatusCompleted)
			service.Replay(t, r.s)
		})
	}
}

// What is taken back while a quote waits for its next step ends it there: nothing is delivered, released or refunded
// for a payment that is gone.
func TestARevertEndsAQuoteOnItsWay(t *testing.T) {
	for _, c := range []struct {
		at      settle.Moment
		taken   string
		arrives bool
	}{{settle.AtFill, "origin", false}, {settle.AtRelease, "origin", true}, {settle.AtRelease, "target", false}} {
		t.Run(fmt.Sprintf("%s %s", c.at, c.taken), func(t *testing.T) {
			arrived, release := make(chan string, 8), make(chan struct{})
			r := newReset(t, service.Faults{Wait: func(ctx context.Context, at settle.Moment, id string) error {
				if at != c.at {
					return nil
				}
				arrived <- id
				select {
				case <-release:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}})
			marks := map[string]string{}
			for chain := range r.urls {
				if strings.HasPrefix(chain, "eip155:") {
					marks[chain] = r.snapshot(chain)
				}
			}
			signed, id, _ := r.call(r.transfer(asked.Int64()), "ob:usdc")
			r.ask("POST", r.executePath(), string(signed.Raw()))
			<-arrived
			chain := onBase
			for _, o := range r.status(id).OriginChainOperations {
				if c.taken == "origin" && o.Chain != onBase {
					chain = o.Chain
				}
			}
			r.revert(chain, marks[chain])
			r.agrees(id, api.StatusFailed)
			close(release)
			idle := r.s.Idle(t.Context()) // a fault until the step under way has seen that its record moved on
			for end := time.Now().Add(20 * time.Second); idle != nil && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
				idle = r.s.Idle(t.Context())
			}
			if idle != nil {
				t.Fatal(idle)
			}
			r.agrees(id, api.StatusFailed)
			if paid := r.holds(onBase, baseUSDC, recipient); paid.Cmp(asked) >= 0 != c.arrives {
				t.Errorf("the recipient has %s", paid)
			}
			signed, id, _ = r.call(r.transfer(30_000_000), "ob:usdc")
			r.done(r.finish(signed, id), api.RecordCall)
			service.Replay(t, r.s)
		})
	}
}
