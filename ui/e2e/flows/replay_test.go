//go:build unix

package flows

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/client/httplog"
	"coffer/api/client/replay"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/api/service"
	"coffer/ui/compose"
	"coffer/ui/e2e/rig"
	"coffer/ui/profile"
	"coffer/ui/quotelab"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// tapeHost opens profiles in a home of the test, on a service in this process.
func tapeHost(t *testing.T) profile.Host {
	t.Helper()
	dir, env := rig.Home(t)
	return profile.Host{
		Getenv: func(name string) string {
			for _, line := range env {
				if v, ok := strings.CutPrefix(line, name+"="); ok {
					return v
				}
			}
			return ""
		},
		Embedded: func(ctx context.Context, _ string, _ profile.EmbeddedOptions) (profile.Embedded, error) {
			s, err := service.OpenOrAttach(ctx, rig.DataOf(dir),
				service.Options{Kind: network.Embedded, Fund: true, Lifetime: service.EmbeddedLifetime})
			if err != nil {
				return profile.Embedded{}, err
			}
			return profile.Embedded{Network: s.Network, BaseURL: s.BaseURL, APIKey: secret.New([]byte(s.APIKey)),
				Transport: s, Close: s.Close}, nil
		},
	}
}

// swapOf is a swap of ten USDC for ETH from the accounts of a profile.
func swapOf(t *testing.T, o *profile.Opened) intent.Intent {
	t.Helper()
	in, err := intent.Freeze(intent.Draft{
		Version: intent.Version, Kind: intent.KindSwap, Network: o.Network.ID, Accounts: o.Accounts, SlippageBps: 50,
		Pay: &intent.Pay{Asset: "ob:usdc", Amount: "10000000"}, Receive: &intent.Receive{Asset: "ob:eth"},
	}, api.Rules{Catalog: o.Catalog, Now: o.Clock()})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// session reads balances, history and a quote of a swap, and returns the documents as they came.
func session(t *testing.T, o *profile.Opened) map[string][]byte {
	t.Helper()
	balances, err := o.Client.BalancesDocument(t.Context(), o.Query())
	if err != nil {
		t.Fatal(err)
	}
	page, err := o.Client.History(t.Context(), client.HistoryQuery{User: o.Accounts[0].AccountAddress, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	history, err := api.Encode(page)
	if err != nil {
		t.Fatal(err)
	}
	in := swapOf(t, o)
	quote, err := o.Client.Quote(t.Context(), in.QuoteBody())
	if err != nil {
		t.Fatal(err)
	}
	rules, err := o.Policy()
	if err != nil {
		t.Fatal(err)
	}
	if q, report := verify.Exchange(in, rules, verify.NoHistory{}, o.Clock(), quote.Document); q == nil {
		t.Errorf("the quote is refused: %+v", report.Reasons)
	}
	return map[string][]byte{"balances": balances.Raw(), "history": history.Raw(), "quote": quote.Raw()}
}

// A recorded session comes back document by document, with no network, no service, no key and no vault.
func TestARecordedSessionIsReplayedWithoutANetwork(t *testing.T) {
	t.Parallel()
	h := tapeHost(t)
	h.Record = filepath.Join(t.TempDir(), "recording")
	h.Log = httplog.NewLog(time.Now)
	live, err := h.Open(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	want := session(t, live)
	if n := len(h.Log.All()); n != 3 {
		t.Errorf("the log has %d exchanges", n)
	}
	if err := live.Close(); err != nil {
		t.Fatal(err)
	}
	key, err := os.ReadFile(filepath.Join(h.Record, "000001.json"))
	if err != nil || bytes.Contains(key, []byte("x-api-key")) {
		t.Errorf("%v, %s", err, key)
	}

	again := tapeHost(t)
	again.Embedded = func(context.Context, string, profile.EmbeddedOptions) (profile.Embedded, error) {
		t.Error("a replay opened a service")
		return profile.Embedded{}, errors.New("no service")
	}
	o, err := again.Replay(t.Context(), h.Record)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range session(t, o) {
		if !bytes.Equal(got, want[name]) {
			t.Errorf("%s differs:\n%s\n%s", name, got, want[name])
		}
	}
	if o.Network.ID != live.Network.ID || o.Network.Kind != network.Embedded || o.Accounts[0] != live.Accounts[0] ||
		!o.Replaying() || o.Vault() != nil || o.Locked() {
		t.Errorf("%+v", o)
	}
	if words := o.WatchOnly(t.Context()); words != "this is a recording" {
		t.Errorf("why a replay cannot sign: %q", words)
	}
	if _, err := o.Signer().SignUserOp(t.Context(), verify.VerifiedUserOp{}); !errors.Is(err, replay.ErrNothingSent) {
		t.Errorf("a replay signs: %v", err)
	}
	if _, err := o.Client.ExecuteQuote(t.Context(), []byte(`{}`)); !errors.Is(err, replay.ErrNothingSent) {
		t.Errorf("a replay executes: %v", err)
	}
	state := o.Paths.State
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state of the replay is still there: %v", err)
	}
}

// The lab gets figures from the service itself, and nothing that it asks for needs a key or leaves a trace but the
// question.
func TestTheLabQuotesAndPreparesWithoutASignature(t *testing.T) {
	t.Parallel()
	h := tapeHost(t)
	h.Log = httplog.NewLog(time.Now)
	o, err := h.Open(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	rules, err := o.Policy()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Client.BalancesDocument(t.Context(), o.Query()); err != nil { // which funds the account
		t.Fatal(err)
	}
	ask := quotelab.Asker{Client: o.Client, Policy: rules, History: verify.NoHistory{}, Clock: o.Clock,
		Sleep: client.Sleep, Budget: &quotelab.Budget{}}
	swap, err := ask.Ask(t.Context(), swapOf(t, o), compose.Money{})
	if err != nil || swap.Refused != 0 || swap.Prepared || swap.Delivered == nil || swap.Minimum == nil ||
		len(swap.Pays) == 0 || swap.FeesMicro == nil || swap.CostBps < 0 {
		t.Errorf("%+v, %v", swap, err)
	}
	if swap.Lifetime <= 30*time.Second || swap.Lifetime > service.EmbeddedLifetime+time.Second || swap.Passed < 20 {
		t.Errorf("good for %s, %d checks", swap.Lifetime, swap.Passed)
	}
	in, err := intent.Freeze(intent.Draft{
		Version: intent.Version, Network: o.Network.ID, Accounts: o.Accounts, TargetChain: "eip155:8453",
		SlippageBps: 50,
		Calls: []intent.Call{{
			To: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
			Data: "0xa9059cbb000000000000000000000000cd75e991a4986a4e96042bfb3f6a7ab26f7b5b72000000000000000000000000" +
				"0000000000000000000000000000000002faf080",
		}},
		TokensRequired: []api.TokenRequirement{
			{AssetType: "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913", Amount: "50000000"}},
	}, api.Rules{Catalog: o.Catalog, Now: o.Clock()})
	if err != nil {
		t.Fatal(err)
	}
	call, err := ask.Ask(t.Context(), in, compose.Money{})
	if err != nil || call.Refused != 0 || !call.Prepared || call.Delivered == nil || call.FeesMicro != nil ||
		call.CostBps != -1 || call.CallType == "" || call.Lifetime <= 0 || call.Estimate || call.Why == "" {
		t.Errorf("%+v, %v", call, err)
	}
	asset, err := caip.ParseAsset(in.Draft().TokensRequired[0].AssetType)
	if err != nil {
		t.Fatal(err)
	}
	there := compose.Money{Known: true, Held: map[caip.Asset]*big.Int{asset: big.NewInt(30_000_000)}}
	call, err = ask.Ask(t.Context(), in, there)
	if err != nil || !call.Estimate || len(call.Missing) != 1 || call.Missing[0].Figure() != "20" ||
		call.CostMicro == nil || call.Share() == "?" || len(call.Legs) == 0 || len(call.Documents) != 2 {
		t.Errorf("D6: what is missing is not priced: %+v, %v", call, err)
	}
	for _, e := range h.Log.All() {
		if strings.HasSuffix(e.Path, "/execute-quote") || strings.HasSuffix(e.Path, "/call-quote") &&
			!strings.HasSuffix(e.Path, "/prepare-call-quote") || e.Sealed > 0 {
			t.Errorf("%s %s", e.Method, e.Path)
		}
	}
}
