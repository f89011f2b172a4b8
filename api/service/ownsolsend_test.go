package service_test

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/solmsg"
	"coffer/api/rpcpool/faultproxy"
	"coffer/api/service"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// sender is a person with a Solana account on own nodes.
type sender struct {
	*client
	l     *lab
	nodes []*faultproxy.Proxy
	me    solmsg.Key
	opts  service.Options
	ahead *atomic.Int64 // how far the chain's clock is, in nanoseconds
	lose  *atomic.Bool  // what is sent, though the nodes say that they take it
	n     uint64
}

// newSender opens a network with so many nodes, on which an account has 3 SOL and 25 USDC.
func newSender(t *testing.T, nodes int, n uint64) *sender {
	t.Helper()
	x := &sender{ahead: new(atomic.Int64), lose: new(atomic.Bool), n: n}
	clock := func() time.Time { return time.Now().Add(time.Duration(x.ahead.Load())) }
	x.l, x.nodes = solanaLabAt(t, nodes, clock, x.lose)
	x.opts = x.l.options(store.NewMemory())
	x.reopen(open(t, x.opts))
	x.me = solmsg.Key(x.user.Solana.Public().(ed25519.PublicKey))
	x.l.pays(x.me, caip.SOL(), 3_000_000_000)
	x.l.pays(x.me, usdcOnSolana(t), 25_000_000)
	return x
}

func (x *sender) reopen(s *service.Service) { x.client = newClient(x.l.t, s, api.AccountSolana, x.n) }

// to asks for a transfer and signs it.
func (x *sender) to(k solmsg.Key, a caip.Asset, v int64) (signed *api.Document, id string) {
	x.t.Helper()
	return x.exchange(x.asks(k, a, v))
}

func (x *sender) asks(k solmsg.Key, a caip.Asset, v int64) string {
	return x.swap(a.String(), fmt.Sprint(v), a.String(), caip.SolanaAccount(k).String())
}

// refused is what the service says instead of a quote.
func (x *sender) refused(body string) string {
	x.t.Helper()
	status, raw := x.send("POST", x.quotePath(), body)
	if status < 400 {
		x.t.Errorf("%d %s", status, raw)
	}
	return string(raw)
}

// has is what an account on the chain has.
func (x *sender) has(k solmsg.Key, a caip.Asset) int64 {
	x.t.Helper()
	v, err := x.l.in.SolanaBalance(x.t.Context(), k, a)
	if err != nil {
		x.t.Fatal(err)
	}
	return v.Int64()
}

// history is the first record of the sender's history.
func (x *sender) history() api.HistoryRecord {
	x.t.Helper()
	var page api.HistoryPage
	if err := x.ask("GET", "/v3/status/get-tx-history?user="+x.me.String(), "").Decode(&page); err != nil ||
		len(page.Transactions) == 0 {
		x.t.Fatalf("%v, %+v", err, page)
	}
	return page.Transactions[0]
}

// asked waits until each node was asked for something a few times more.
func (x *sender) asked(method string) {
	x.t.Helper()
	for i, n := range x.nodes {
		before := n.Calls(method)
		for end := time.Now().Add(time.Minute); n.Calls(method) < before+5; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				x.t.Fatalf("node %d is asked for %s no more", i, method)
			}
		}
	}
}

// somebody is a key that has no account yet.
func somebody(n byte) solmsg.Key {
	seed := make([]byte, ed25519.SeedSize)
	seed[0], seed[1] = 0xb0, n
	return solmsg.Key(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
}

func TestATransferOfSOLOnOwnNodes(t *testing.T) {
	x := newSender(t, 2, 80)
	to := somebody(1)
	signed, id := x.to(to, caip.SOL(), 1_000_000_000)
	var q api.Quote
	if err := json.Unmarshal(signed.Raw(), &q); err != nil {
		t.Fatal(err)
	}
	o := q.OriginChainsOperations[0]
	if o.FeePayer != x.me.String() || q.DestinationToken.MinimumAmount != "1000000000" ||
		q.Fees.CumulativeUSD != "0.00" {
		t.Errorf("%+v, %+v", q, o)
	}
	got := x.waited(signed, id)
	if got.Status != api.StatusCompleted || len(got.DestinationChainOperations) != 1 || x.has(to, caip.SOL()) != 1e9 {
		t.Errorf("%+v, %d arrived", got, x.has(to, caip.SOL()))
	}
	if fee := 2_000_000_000 - x.has(x.me, caip.SOL()); fee < 5_000 || fee > 100_000 {
		t.Errorf("the fee is %d", fee)
	}
	if h := x.history(); h.QuoteID != id || h.Status != api.StatusCompleted || h.Type != api.RecordTransfer ||
		h.DestinationToken.Amount != "1000000000" || h.RecipientAccountID != caip.SolanaAccount(to).Slash() {
		t.Errorf("%+v", h)
	}
	// The same again is another message, and happens once more.
	signed, id = x.to(to, caip.SOL(), 1_000_000_000)
	if got := x.waited(signed, id); got.Status != api.StatusCompleted || x.has(to, caip.SOL()) != 2e9 {
		t.Errorf("%+v, %d arrived", got, x.has(to, caip.SOL()))
	}
	if status, raw := x.send("POST", x.executePath(), string(signed.Raw())); status != 409 {
		t.Errorf("executed twice: %d %s", status, raw)
	}
}

func TestATransferOfATokenOpensTheRecipientsAccount(t *testing.T) {
	x := newSender(t, 2, 81)
	to, usdc := somebody(2), usdcOnSolana(t)
	before := x.has(x.me, caip.SOL())
	signed, id := x.to(to, usdc, 7_000_000)
	if got := x.waited(signed, id); got.Status != api.StatusCompleted || x.has(to, usdc) != 7e6 ||
		x.has(x.me, usdc) != 18e6 {
		t.Errorf("%+v, %d arrived", got, x.has(to, usdc))
	}
	if cost := before - x.has(x.me, caip.SOL()); cost < 2_039_280+5_000 || cost > 2_039_280+100_000 {
		t.Errorf("it cost %d lamports", cost)
	}
	before = x.has(x.me, caip.SOL()) // the account is there now
	signed, id = x.to(to, usdc, 1_000_000)
	if got := x.waited(signed, id); got.Status != api.StatusCompleted || x.has(to, usdc) != 8e6 {
		t.Errorf("%+v, %d arrived", got, x.has(to, usdc))
	}
	if cost := before - x.has(x.me, caip.SOL()); cost > 100_000 {
		t.Errorf("it cost %d lamports", cost)
	}
}

// The accounts, whether the recipient has one for the token, block hash beside height, price, and two simulations.
func TestAQuoteOnSolanaTakesSixRoundTrips(t *testing.T) {
	x := newSender(t, 1, 90)
	usdc := usdcOnSolana(t)
	x.to(somebody(10), usdc, 1)
	before := x.nodes[0].Calls("")
	x.to(somebody(10), usdc, 1)
	if n := x.nodes[0].Calls("") - before; n > 7 { // two of them go out together
		t.Errorf("%d requests", n)
	}
}

// What cannot land is refused before anything is signed, with what is missing.
func TestWhatATransferOnSolanaLacksIsSaid(t *testing.T) {
	x := newSender(t, 1, 82)
	usdc, to := usdcOnSolana(t), somebody(3)
	for words, body := range map[string]string{
		"needed 26 USDC, available 25 USDC":                     x.asks(to, usdc, 26_000_000),
		"send it 0.0000":                                        x.asks(to, caip.SOL(), 3_000_000_000),
		"keeps at least 0.00089088 SOL or nothing":              x.asks(to, caip.SOL(), 2_999_500_000),
		"the recipient has no account yet, and one begins with": x.asks(to, caip.SOL(), 890_879),
		"the money is there already":                            x.asks(x.me, usdc, 1),
		"a wallet's account: no key signs for":                  x.asks(solmsg.TokenProgram(), usdc, 1),
		"nothing crosses between Solana and another chain": x.swap("ob:usdc", "1", "ob:usdc",
			"eip155:8453:0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc"),
		"and nothing is swapped there; send an amount on its own": x.swap(caip.SOL().String(), "9", usdc.String(),
			caip.SolanaAccount(to).String()),
	} {
		if said := x.refused(body); !strings.Contains(said, words) {
			t.Errorf("%s, not %q", said, words)
		}
	}
	broke := newClient(t, x.s, api.AccountSolana, 83)
	x.l.pays(solmsg.Key(broke.user.Solana.Public().(ed25519.PublicKey)), usdc, 5_000_000)
	if status, raw := broke.send("POST", broke.quotePath(), broke.swap(usdc.String(), "5000000", usdc.String(),
		caip.SolanaAccount(to).String())); status < 400 || !strings.Contains(string(raw), "of rent for the "+
		"recipient's token account, which it does not have yet") || !strings.Contains(string(raw), "has 0 SOL") {
		t.Errorf("%d %s", status, raw)
	}
}

// A transfer that no node took is over when its block hash is, and not before.
func TestALostTransferOnSolanaIsOverWithItsBlockHash(t *testing.T) {
	x := newSender(t, 2, 84)
	x.lose.Store(true)
	signed, id := x.to(somebody(4), caip.SOL(), 1_000_000_000)
	x.ask("POST", x.executePath(), string(signed.Raw()))
	x.asked("sendTransaction")
	if s := x.status(id); s.Status != api.StatusPending {
		t.Fatalf("before its block hash has ended: %+v", s)
	}
	x.ahead.Store(int64(90 * time.Second))
	got := x.ended(id)
	if got.Status != api.StatusFailed || got.FailReason != "ORDER_EXPIRED" || x.has(x.me, caip.SOL()) != 3e9 {
		t.Errorf("%+v", got)
	}
	if h := x.history(); h.QuoteID != id || h.Status != api.StatusFailed || h.FailReason != "ORDER_EXPIRED" {
		t.Errorf("%+v", h)
	}
}

// One node that hides a transfer, and one that invents its end, decide nothing.
func TestANodeThatLiesAboutATransferOnSolana(t *testing.T) {
	for name, rules := range map[string][]faultproxy.Rule{
		"hides it": {{On: "getTransaction", Fault: faultproxy.Lie("", nil)},
			{On: "getSignatureStatuses", Fault: faultproxy.Lie("value.0", nil)},
			{On: "getSignaturesForAddress", Fault: faultproxy.Lie("", []any{})}},
		"says that it failed": {{On: "getTransaction", Fault: faultproxy.Lie("meta.err", "AccountInUse")}},
		"is far ahead":        {{On: "getBlockHeight", Fault: faultproxy.Lie("", 1<<40)}},
		"drops it": {{On: "sendTransaction",
			Fault: faultproxy.Refuse(-32005, "Node is behind by 9 slots", nil)}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newSender(t, 3, 85)
			signed, id := x.to(somebody(5), caip.SOL(), 1_000_000_000)
			x.nodes[0].Script(rules...)
			if got := x.waited(signed, id); got.Status != api.StatusCompleted || x.has(somebody(5), caip.SOL()) != 1e9 {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("hides it alone with another", func(t *testing.T) {
		x := newSender(t, 2, 86) // both must agree: with one that hides it, nothing is said
		signed, id := x.to(somebody(6), caip.SOL(), 1_000_000_000)
		x.nodes[0].Script(faultproxy.Rule{On: "getTransaction", Fault: faultproxy.Lie("", nil)})
		x.ask("POST", x.executePath(), string(signed.Raw()))
		x.asked("getTransaction")
		x.ahead.Store(int64(90 * time.Second))
		x.asked("getTransaction")
		if s := x.status(id); s.Status != api.StatusPending {
			t.Errorf("%+v", s)
		}
		x.nodes[0].Script()
		if got := x.ended(id); got.Status != api.StatusCompleted {
			t.Errorf("%+v", got)
		}
	})
}

// A transfer that fails on the chain costs its fee, and the runtime's reason is told.
func TestATransferThatFailsOnSolanaSaysWhy(t *testing.T) {
	x := newSender(t, 2, 87)
	usdc := usdcOnSolana(t)
	x.l.pays(somebody(7), usdc, 1)
	signed, id := x.to(somebody(7), usdc, 20_000_000)
	x.lose.Store(true)
	x.ask("POST", x.executePath(), string(signed.Raw()))
	for x.nodes[0].Calls("sendTransaction")+x.nodes[1].Calls("sendTransaction") < 2 && t.Context().Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	x.spends(somebody(7), usdc, 10_000_000) // with the same key, elsewhere
	before := x.has(x.me, caip.SOL())
	x.lose.Store(false)
	got := x.ended(id)
	if got.Status != api.StatusFailed || got.FailReason !=
		"TRANSACTION_REVERTED: Error processing Instruction 2: custom program error: 0x1 (insufficient tokens)" ||
		len(got.DestinationChainOperations) != 1 || x.has(somebody(7), usdc) != 10_000_001 {
		t.Errorf("%+v", got)
	}
	if fee := before - x.has(x.me, caip.SOL()); fee < 5_000 || fee > 100_000 {
		t.Errorf("the fee is %d", fee)
	}
}

// spends moves something with the sender's key, past the service.
func (x *sender) spends(to solmsg.Key, a caip.Asset, v int64) {
	x.t.Helper()
	builds, err := x.l.in.SolanaTransfer(x.t.Context(), x.me, to, x.me, a, big.NewInt(v))
	if err != nil {
		x.t.Fatal(err)
	}
	at := uint64(time.Now().Unix())
	hash, _, err := x.l.in.Solana.Blockhash(x.t.Context(), at)
	if err != nil {
		x.t.Fatal(err)
	}
	m, err := solmsg.Compose(x.me, hash, builds...)
	if err != nil {
		x.t.Fatal(err)
	}
	tx := solana.Unsigned(m)
	tx.Signatures[0] = [64]byte(ed25519.Sign(x.user.Solana, m.Bytes()))
	if _, err := x.l.in.Solana.Seal(x.t.Context(), solana.SealRequest{Time: at, Txs: []solana.Tx{tx},
		Accept: solana.AllSucceed}); err != nil {
		x.t.Fatal(err)
	}
}

// The process ends between the commit and the wire, or before the answer: the next one sends the same bytes.
func TestATransferOnSolanaSurvivesARestart(t *testing.T) {
	for i, at := range []string{"accepted", "target, sent"} {
		t.Run(at, func(t *testing.T) {
			x := newSender(t, 2, 88+uint64(i))
			reached := make(chan struct{}, 1)
			o := x.opts
			o.Store, o.AfterStep = store.NewMemory(), func(step string) {
				if step == at {
					reached <- struct{}{}
				}
			}
			first, err := service.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			x.reopen(first)
			x.lose.Store(true)
			signed, id := x.to(somebody(9), caip.SOL(), 1_000_000_000)
			x.ask("POST", x.executePath(), string(signed.Raw()))
			<-reached
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			x.lose.Store(false)
			o.AfterStep = nil
			x.reopen(open(t, o))
			if got := x.ended(id); got.Status != api.StatusCompleted || x.has(somebody(9), caip.SOL()) != 1e9 {
				t.Errorf("%+v", got)
			}
		})
	}
}
