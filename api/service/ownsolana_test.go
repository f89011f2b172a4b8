package service_test

import (
	"context"
	"encoding/base64"
	"errors"
	"math/big"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/op/solmsg"
	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service"
	"coffer/api/service/chain/solana"
	"coffer/api/service/chain/solana/solrpc"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/store/storetest"
)

// solanaLab is a lab of Base with the ledger beside it, whose n endpoints are proxies.
func solanaLab(t *testing.T, n int) (*lab, []*faultproxy.Proxy) {
	return solanaLabAt(t, n, time.Now, new(atomic.Bool))
}

// solanaLabAt is solanaLab with the clock of the ledger's endpoints, which lose what is sent while they are told to.
func solanaLabAt(t *testing.T, n int, clock func() time.Time, lose *atomic.Bool) (*lab, []*faultproxy.Proxy) {
	t.Helper()
	l := newChains(t, network.Lab, nil, 8453)
	server := jsonrpc.NewServer(jsonrpc.Options{})
	t.Cleanup(server.Close)
	s, err := networks.ShippedSolana()
	if err != nil {
		t.Fatal(err)
	}
	if s.ID, err = caip.ParseChain("solana:" + l.in.Ledger.Genesis().String()[:32]); err != nil {
		t.Fatal(err)
	}
	var proxies []*faultproxy.Proxy
	for i := range n {
		methods := solrpc.Methods(l.in.Ledger, solrpc.Options{Clock: clock})
		takes := methods["sendTransaction"]
		methods["sendTransaction"] = func(ctx context.Context, p jsonrpc.Params) (any, error) {
			var text string
			if !lose.Load() {
				return takes(ctx, p)
			}
			if err := p.Read(0, &text); err != nil {
				return nil, err
			}
			raw, err := base64.StdEncoding.DecodeString(text)
			return solmsg.FormatSignature([64]byte(raw[1:])), err
		}
		proxy := faultproxy.New(server.Endpoint(methods), uint64(i))
		t.Cleanup(proxy.Close)
		proxies, s.RPC = append(proxies, proxy), append(s.RPC, proxy.URL)
	}
	s.Quorum = min(n, 2)
	l.net.Solana = s
	l.save()
	l.deploy()
	return l, proxies
}

// pays sends of a coin or a token of the ledger's faucet.
func (l *lab) pays(to solmsg.Key, asset caip.Asset, v int64) {
	l.t.Helper()
	from := l.in.SolanaFaucet
	builds, err := l.in.SolanaTransfer(l.t.Context(), from.Key(), to, from.Key(), asset, big.NewInt(v))
	if err != nil {
		l.t.Fatal(err)
	}
	at := uint64(time.Now().Unix())
	hash, _, err := l.in.Solana.Blockhash(l.t.Context(), at)
	if err != nil {
		l.t.Fatal(err)
	}
	m, err := solmsg.Compose(from.Key(), hash, builds...)
	if err != nil {
		l.t.Fatal(err)
	}
	tx, err := solana.Sign(l.t.Context(), m, from)
	if err != nil {
		l.t.Fatal(err)
	}
	if _, err := l.in.Solana.Seal(l.t.Context(), solana.SealRequest{Time: at, Txs: []solana.Tx{tx},
		Accept: solana.AllSucceed}); err != nil {
		l.t.Fatal(err)
	}
}

func usdcOnSolana(t *testing.T) caip.Asset {
	t.Helper()
	k, err := caip.ParseSolanaKey("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
	if err != nil {
		t.Fatal(err)
	}
	return caip.SPL(k)
}

// held asks for what an account has of SOL and USDC.
func (c *client) held(of solmsg.Key) (b api.AggregatedBalance) {
	c.t.Helper()
	doc := c.ask("GET", "/v3/balances/aggregated-balance?account=solana:"+of.String()+
		"&aggregatedAssetId=ob:sol,ob:usdc", "")
	if err := doc.Decode(&b); err != nil {
		c.t.Fatal(err)
	}
	return b
}

func TestOwnNodesShowWhatIsOnSolana(t *testing.T) {
	l, nodes := solanaLab(t, 2)
	s := open(t, l.options(storetest.New(t)))
	d := s.Network()
	first := d.Genesis[caip.SolanaMainnet().String()]
	if !d.OnOwnNodes() || len(d.Chains) != 2 || first != l.in.Ledger.Genesis().String() {
		t.Fatalf("%+v", d)
	}
	c := newClient(t, s, api.AccountKernelV31, 71)
	owner := solmsg.Key{9, 1}
	l.pays(owner, caip.SOL(), 3_000_000_000)
	l.pays(owner, usdcOnSolana(t), 25_000_000)
	before := nodes[0].Calls("getMultipleAccounts") + nodes[1].Calls("getMultipleAccounts")
	b := c.held(owner)
	if n := nodes[0].Calls("getMultipleAccounts") + nodes[1].Calls("getMultipleAccounts") - before; n != 1 {
		t.Errorf("%d round trips", n)
	}
	sums := map[string]string{}
	for _, line := range b.BalanceByAggregatedAsset {
		sums[line.AggregatedAssetID] = line.Balance
	}
	if sums["ob:sol"] != "3000000000" || sums["ob:usdc"] != "25000000" || len(b.Unreachable) != 0 {
		t.Errorf("%+v", b)
	}
	// Nodes that are silent make no zero: the figures are unknown, and the chain is named.
	for _, n := range nodes {
		n.Script(faultproxy.Rule{Fault: faultproxy.Status(http.StatusTooManyRequests, "60", "")})
	}
	b = c.held(owner)
	if len(b.Unreachable) != 1 || b.Unreachable[0].Chain != caip.SolanaMainnet().String() ||
		b.TotalBalance.FiatValue != "" {
		t.Errorf("%+v", b)
	}
	for _, line := range b.BalanceByAggregatedAsset {
		for _, one := range line.IndividualAssetBalances {
			if strings.HasPrefix(one.AssetType, "solana:") {
				t.Errorf("a figure of a chain that did not answer: %+v", one)
			}
		}
	}
}

// A token account that its issuer froze is still what its owner has.
func TestFrozenTokensOnSolanaAreHeld(t *testing.T) {
	l, nodes := solanaLab(t, 1)
	c := newClient(t, open(t, l.options(storetest.New(t))), api.AccountKernelV31, 72)
	owner := solmsg.Key{9, 2}
	l.pays(owner, usdcOnSolana(t), 7_000_000)
	at, err := solmsg.AssociatedTokenAccount(owner, solmsg.Key(mint(usdcOnSolana(t))), solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	st, err := l.in.Ledger.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	account, err := st.Account(at)
	st.Close()
	if err != nil {
		t.Fatal(err)
	}
	account.Data[108] = 2
	nodes[0].Script(faultproxy.Rule{On: "getMultipleAccounts", Fault: faultproxy.Lie("value.1.data.0", account.Data)})
	b := c.held(owner)
	for _, line := range b.BalanceByAggregatedAsset {
		if line.AggregatedAssetID == "ob:usdc" && line.Balance != "7000000" {
			t.Errorf("%+v", b)
		}
	}
}

func mint(a caip.Asset) [32]byte { k, _ := a.Mint(); return k }

// TestASolanaChainThatIsNotTheNetworksIsNotServed, whether it says so at the start or later.
func TestASolanaChainThatIsNotTheNetworksIsNotServed(t *testing.T) {
	l, nodes := solanaLab(t, 1)
	other := faultproxy.Rule{On: "getGenesisHash",
		Fault: faultproxy.Lie("", "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d")}
	nodes[0].Script(other)
	if _, err := service.Open(l.options(storetest.New(t))); !errors.Is(err, rpcpool.ErrOtherChain) {
		t.Errorf("another chain: %v", err)
	}
	nodes[0].Script(faultproxy.Rule{Fault: faultproxy.Status(http.StatusBadGateway, "", "")})
	c := newClient(t, open(t, l.options(storetest.New(t))), api.AccountKernelV31, 73)
	nodes[0].Script(other)
	var b api.AggregatedBalance
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if b = c.held(solmsg.Key{9, 3}); len(b.Unreachable) == 1 &&
			strings.Contains(b.Unreachable[0].Message, "it serves chain 5eykt") {
			break
		}
	}
	if len(b.Unreachable) != 1 || !strings.Contains(b.Unreachable[0].Message, "it serves chain 5eykt") {
		t.Errorf("%+v", b)
	}
	// The descriptor has the whole hash of the first block, and the file only how it begins.
	nodes[0].Script()
	d := open(t, l.options(storetest.New(t))).Network()
	d.Genesis[caip.SolanaMainnet().String()] = d.Genesis[caip.SolanaMainnet().String()][:40] + "1111"
	l.write(d)
	if _, err := service.Open(l.options(storetest.New(t))); err == nil ||
		!strings.Contains(err.Error(), "the descriptor has") {
		t.Errorf("another first block: %v", err)
	}
}

// A file and a descriptor that differ about Solana are no network.
func TestTheDescriptorHasTheSolanaOfTheFile(t *testing.T) {
	l, _ := solanaLab(t, 1)
	s := l.net.Solana
	l.net.Solana = nil
	l.save()
	_, err := service.Open(l.options(storetest.New(t)))
	if err == nil || !strings.Contains(err.Error(), "does not have any more") {
		t.Error(err)
	}
	raw, err := os.ReadFile(l.descriptor())
	if err != nil {
		t.Fatal(err)
	}
	d, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	delete(d.Genesis, caip.SolanaMainnet().String())
	d.Chains = d.Chains[:1]
	l.write(d)
	l.net.Solana = s
	l.save()
	_, err = service.Open(l.options(storetest.New(t)))
	if err == nil || !strings.Contains(err.Error(), "does not have Solana") {
		t.Error(err)
	}
	// deploy adds it to the network, which stays the same one.
	l.deploy()
	if now := open(t, l.options(storetest.New(t))).Network(); len(now.Chains) != 2 || len(now.Added) != 1 {
		t.Errorf("%+v", now)
	}
}
