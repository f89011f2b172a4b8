package service_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"os"
	"slices"

	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/op/erc20"
	"coffer/api/op/filler"
	"coffer/api/service"
	"coffer/api/service/remotenet"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// operated is a lab with an operator, whose cold key is the lab's payer.
type operated struct {
	*lab
	db      store.Store
	filler  common.Address
	escrow  common.Address
	id      string                   // of the network
	change  func(*service.Options)   // what every opening has
	signers func(*networks.Operator) // what the file says of signers, nil for nothing
}

// newOperated makes the keys of a service, deploys its contracts on three chains, and brings inventory.
func newOperated(t *testing.T, wrap func(http.Handler) http.Handler) *operated {
	t.Helper()
	return newOperatedIn(t, storetest.New(t), wrap)
}

// newOperatedIn is newOperated with the data of the service in a store.
func newOperatedIn(t *testing.T, db store.Store, wrap func(http.Handler) http.Handler) *operated {
	t.Helper()
	o := &operated{lab: newChains(t, network.Lab, wrap, 10, 8453, 42161), db: db}
	o.begins(func(own common.Address) []common.Address { return []common.Address{own} }, func() {}, nil)
	return o
}

// begins deploys the contracts for the attesters that attesters names, who are reached when reached returns.
func (o *operated) begins(attesters func(own common.Address) []common.Address, reached func(),
	change func(*service.Options)) {
	o.t.Helper()
	t := o.t
	o.change = change
	for i, c := range o.net.Chains {
		o.net.Chains[i].Feeds = append(c.Feeds, networks.Feed{Aggregate: "ob:usdc",
			Address: feed(1e8, o.deployer(c.ID)), Heartbeat: time.Hour, Decimals: 8})
		o.net.Chains[i].FinalWorst = 10 * time.Minute
	}
	o.net.Operator = &networks.Operator{Owner: o.payer.Address(), Threshold: 1, SponsorPerDay: big.NewInt(5e6),
		ExposureCap: big.NewInt(1_000e6), Anyone: true}
	if o.signers != nil {
		o.signers(o.net.Operator)
	}
	o.save()
	known := o.refused("write 0x")
	o.net.Operator.Attesters = attesters(known.Attester)
	slices.SortFunc(o.net.Operator.Attesters, common.Address.Cmp)
	o.save()
	if _, err := service.Open(o.options(o.db)); !errors.Is(err, remotenet.ErrMissing) &&
		!errors.Is(err, remotenet.ErrAttesters) {
		t.Fatalf("without contracts: %v", err)
	}
	o.deploy()
	raw, err := os.ReadFile(o.descriptor())
	if err != nil {
		t.Fatal(err)
	}
	d, err := network.Decode(raw)
	if err != nil || len(d.Deployments) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	o.filler, o.escrow, o.id = d.Deployments[0].Filler, d.Deployments[0].Escrow, d.ID
	reached()
	o.refused("Optimism, Base, Arbitrum One: the service's key is no hot key")
	o.refused("has to call setHot(" + known.Operator.Hex() + ", true)")
	for _, c := range o.net.Chains {
		o.sent(c.ID, known.Operator, big.NewInt(1e18), nil)
		o.owner(c.ID, "setHot(address,bool)", known.Operator[:], []byte{1})
		for _, token := range []common.Address{{}, o.usdc[c.ID]} {
			o.owner(c.ID, "setCap(address,uint256,uint256)", token[:], big.NewInt(1e18).Bytes(), nil)
		}
		o.sent(c.ID, o.filler, big.NewInt(1e18), nil)
		o.sent(c.ID, o.usdc[c.ID], nil, erc20.Transfer(o.filler, big.NewInt(500e6)))
	}
}

// owner calls a function of the filler on a chain.
func (o *operated) owner(id uint64, signature string, words ...[]byte) {
	o.t.Helper()
	data := crypto.Keccak256([]byte(signature))[:4]
	for _, w := range words {
		data = append(data, common.LeftPadBytes(w, 32)...)
	}
	o.sent(id, o.filler, nil, data)
}

func (o *operated) options(s store.Store) service.Options {
	from := o.lab.options(s)
	from.Operator = true
	if o.change != nil {
		o.change(&from)
	}
	return from
}

// refused demands that the service of these keys does not open, and says why.
func (o *operated) refused(why string) *remotenet.KeysError {
	o.t.Helper()
	_, err := service.Open(o.options(o.db))
	keys, is := errors.AsType[*remotenet.KeysError](err)
	if !is || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), keys.Operator.Hex()) {
		o.t.Fatalf("%v does not say %q", err, why)
	}
	return keys
}

// open opens the service, and waits until it knows prices.
func (o *operated) open(change func(*service.Options)) *service.Service {
	o.t.Helper()
	from := o.options(o.db)
	if change != nil {
		change(&from)
	}
	s := open(o.t, from)
	o.priced(s)
	return s
}

func (o *operated) priced(s *service.Service) {
	o.t.Helper()
	c := newClient(o.t, s, api.AccountKernelV31, 1)
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		missing := 0
		for id, usdc := range o.usdc {
			for _, asset := range []caip.Asset{caip.Native(id), caip.ERC20(id, usdc)} {
				var b api.AggregatedBalance
				doc := c.ask("GET", "/v3/balances/aggregated-balance?account="+caip.EVM(id).String()+":"+
					c.user.Address.Hex()+"&assetId="+asset.String(), "")
				if err := doc.Decode(&b); err != nil || b.BalanceBySpecificAsset[0].FiatValue == "" {
					missing++
				}
			}
		}
		if missing == 0 {
			return
		}
		if time.Now().After(end) {
			o.t.Fatalf("%d prices are missing", missing)
		}
	}
}

// has is what an account has of the USDC of a chain.
func (o *operated) has(id uint64, account common.Address) int64 {
	o.t.Helper()
	var out string
	o.ask(id, &out, "eth_call", map[string]any{"to": o.usdc[id], "data": "0x" + common.Bytes2Hex(
		erc20.BalanceOf(account))}, "latest")
	return new(big.Int).SetBytes(common.FromHex(out)).Int64()
}

// payer is a client whose account has 20 USDC on Optimism and on Arbitrum.
func (o *operated) member(s *service.Service, kind string, n uint64) *client {
	o.t.Helper()
	c := newClient(o.t, s, kind, n)
	for _, id := range []uint64{10, 42161} {
		o.sent(id, o.usdc[id], nil, erc20.Transfer(c.user.Address, big.NewInt(20e6)))
	}
	return c
}

// pay is a call that sends USDC on Base, where the account has none.
func (o *operated) pay(c *client, to common.Address, usdc int64) string {
	at := o.usdc[8453]
	return c.json(c.user.Request(caip.ERC20(8453, at), big.NewInt(usdc),
		api.Call{To: at.Hex(), Data: "0x" + common.Bytes2Hex(erc20.Transfer(to, big.NewInt(usdc)))}))
}

// settled waits until a quote's deposits are in the filler, or back.
func (o *operated) settled(want func() bool) {
	o.t.Helper()
	for end := time.Now().Add(time.Minute); !want(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			o.t.Fatal("the deposits stay in escrow")
		}
	}
}

// TestAnOperatorSettlesACallPaidFromTwoChains: over nothing but JSON-RPC endpoints, for each kind of account.
func TestAnOperatorSettlesACallPaidFromTwoChains(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	s := o.open(nil)
	for i, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		t.Run(kind, func(t *testing.T) {
			c := o.member(s, kind, uint64(60+i))
			to := common.Address{0xbe, 0xef, 18: byte(i), 19: 7}
			before := o.has(10, o.filler) + o.has(42161, o.filler)
			signed, id, how := c.call(o.pay(c, to, 30e6), "ob:usdc")
			if how != api.CallCrossChain {
				t.Errorf("paid as %s", how)
			}
			c.done(c.waited(signed, id), api.RecordCall)
			if got := o.has(8453, to); got != 30e6 {
				t.Errorf("%d arrived", got)
			}
			left := o.has(10, c.user.Address) + o.has(42161, c.user.Address)
			o.settled(func() bool {
				return o.has(10, o.filler)+o.has(42161, o.filler)-before == 40e6-left && o.has(10, o.escrow) == 0 &&
					o.has(42161, o.escrow) == 0
			})
			if left >= 10e6 || left < 4e6 {
				t.Errorf("%d is left", left)
			}
		})
	}
}

// TestAnOperatorSettlesASwap: what two chains pay buys coins on a third, at the prices of the feeds.
func TestAnOperatorSettlesASwap(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	c := o.member(o.open(nil), api.AccountKernelV31, 66)
	signed, id := c.exchange(c.swap("ob:usdc", "30000000", "eip155:8453/slip44:60", ""))
	c.done(c.waited(signed, id), api.RecordSwap)
	got := c.balance(base+":"+c.user.Address.Hex(), "eip155:8453/slip44:60")
	if most := big.NewInt(15e15); got.Cmp(most) >= 0 || got.Cmp(big.NewInt(12e15)) < 0 { // 30 dollars of 2000
		t.Errorf("%s wei arrived", got)
	}
	o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
	if left := o.has(10, c.user.Address) + o.has(42161, c.user.Address); left != 10e6 {
		t.Errorf("%d is left", left)
	}
}

// TestAnOperatorGivesDepositsBackInFull: nothing of the delivery was signed, so they go back at once; or it was and
// failed on the chain, so the id is used up first, and no bytes that are under way deliver afterwards.
func TestAnOperatorGivesDepositsBackInFull(t *testing.T) {
	t.Parallel()
	var o *operated
	pauses := false
	o = newOperated(t, func(h http.Handler) http.Handler {
		return before(h, "eth_sendRawTransaction", func(params []json.RawMessage) {
			if pauses && isFill(t, params) {
				pauses = false
				o.owner(8453, "setPaused(bool)", []byte{1})
			}
		})
	})
	full := true
	s := o.open(func(from *service.Options) { from.Faults.NoCapacity = func(string) bool { return full } })
	for i, signed := range []bool{false, true} {
		full, pauses = !signed, signed
		c := o.member(s, api.AccountKernelV31, uint64(70+i))
		doc, id, _ := c.call(o.pay(c, common.Address{0xbe, 0xef, 19: byte(8 + i)}, 30e6), "ob:usdc")
		got := c.waited(doc, id)
		if got.Status != api.StatusRefunded || got.FailReason == "" || len(got.DestinationChainOperations) != 0 {
			t.Fatalf("signed %v: %+v", signed, got)
		}
		var used hexutil.Bytes
		o.ask(8453, &used, "eth_call", map[string]any{"to": o.filler, "data": "0x" + common.Bytes2Hex(append(
			crypto.Keccak256([]byte("used(bytes32)"))[:4], common.FromHex(id)...))}, "latest")
		if o.has(10, c.user.Address) != 20e6 || o.has(42161, c.user.Address) != 20e6 || used[31] == 1 != signed ||
			o.has(8453, common.Address{0xbe, 0xef, 19: byte(8 + i)}) != 0 {
			t.Errorf("signed %v: %d and %d are back, used %x", signed, o.has(10, c.user.Address),
				o.has(42161, c.user.Address), used)
		}
	}
}

// before looks at the calls of a method before a node answers them.
func before(h http.Handler, method string, look func(params []json.RawMessage)) http.Handler {
	return instead(h, method, func(params []json.RawMessage) any { look(params); return nil })
}

// isFill reports whether signed bytes deliver a quote.
func isFill(t *testing.T, params []json.RawMessage) bool {
	t.Helper()
	var raw hexutil.Bytes
	var tx types.Transaction
	if err := errors.Join(json.Unmarshal(params[0], &raw), tx.UnmarshalBinary(raw)); err != nil {
		t.Error(err)
	}
	return bytes.HasPrefix(tx.Data(), crypto.Keccak256([]byte(filler.FillSignature))[:4])
}

// TestAnOperatorGoesOnAfterEachStep: the process ends after every step of a settlement, and the next one goes on.
func TestAnOperatorGoesOnAfterEachStep(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	steps := make(chan string, 100)
	hook := func(from *service.Options) { from.AfterStep = func(step string) { steps <- step } }
	from := o.options(o.db)
	hook(&from)
	s, err := service.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	o.priced(s)
	c := o.member(s, api.AccountKernelV31, 80)
	to := common.Address{0xbe, 0xef, 19: 20}
	inventory := o.has(8453, o.filler)
	doc, id, _ := c.call(o.pay(c, to, 30e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(doc.Raw()))
	var seen []string
	for end := time.After(2 * time.Minute); !slices.Contains(seen, "release eip155:42161"); {
		select {
		case step := <-steps:
			seen = append(seen, step)
		case <-end:
			t.Fatalf("it ended after %q", seen)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		for len(steps) > 0 {
			seen = append(seen, <-steps)
		}
		if s, err = service.Open(from); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, step := range []string{"accepted", "deposit eip155:10, sent", "deposit eip155:10",
		"deposit eip155:42161, sent", "target, sent", "target", "release eip155:10, sent", "release eip155:10"} {
		if !slices.Contains(seen, step) {
			t.Errorf("no %q in %q", step, seen)
		}
	}
	c = newClient(t, s, api.AccountKernelV31, 80)
	c.done(c.ended(id), api.RecordCall)
	if got, gave := o.has(8453, to), inventory-o.has(8453, o.filler); got != 30e6 || gave != 30e6 {
		t.Errorf("%d arrived, the filler gave %d", got, gave)
	}
	o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
}

// TestAnOperatorHasLimits: whom it serves, what may be in escrow, what it pays of gas, what it has, and how long it
// waits for a deposit.
func TestAnOperatorHasLimits(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	plain := *o.net.Operator
	refuses := func(usdc int64, words string, change func()) {
		t.Helper()
		change()
		o.save()
		s, err := service.Open(o.options(o.db))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		if !strings.Contains(words, "has no price") {
			o.priced(s)
		}
		c := o.member(s, api.AccountKernelV31, 90)
		status, raw := c.send("POST", c.preparePath(), o.pay(c, common.Address{0xbe, 19: 3}, usdc))
		if status < 400 || status >= 500 ||
			!strings.Contains(string(raw), "NoRoute") || !strings.Contains(string(raw), words) {
			t.Errorf("%d %s does not say %q", status, raw, words)
		}
		again := plain
		o.net.Operator = &again
		for i := range o.net.Chains {
			o.net.Chains[i].Final = networks.Finality{Counted: true}
		}
	}
	refuses(30e6, "does not serve", func() {
		o.net.Operator.Anyone, o.net.Operator.Accounts = false, []common.Address{{1}}
	})
	refuses(30e6, "no more than $10.00 be in escrow", func() { o.net.Operator.ExposureCap = big.NewInt(10e6) })
	refuses(600e6, "no solver can deliver that much", func() {})
	refuses(30e6, "a deposit is final after 24h0m0s there", func() {
		for i := range o.net.Chains {
			o.net.Chains[i].Final = networks.Finality{Counted: true, Blocks: 5000}
		}
	})
	refuses(0, "pays $0.00 of gas", func() { o.net.Operator.SponsorPerDay = new(big.Int) })
	refuses(30e6, "has no price", func() {
		for i := range o.net.Chains {
			o.net.Chains[i].Feeds = o.net.Chains[i].Feeds[:1]
		}
	})
}

// TestAnOperatorRefusesWhatNamesSolanaAsARoute: no deposit program exists there, so that what pays from Solana or
// arrives on it is a NoRoute that says so, and no mistake of the request. A request with another fault hears that.
func TestAnOperatorRefusesWhatNamesSolanaAsARoute(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	s := o.open(nil)
	c := o.member(s, api.AccountKernelV31, 91)
	const onSolana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
	const wallet = "7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV"
	usdc := caip.ERC20(8453, o.usdc[8453]).String()
	evm, sol := c.user.Accounts(), []api.Account{{Type: api.AccountSolana, AccountAddress: wallet}}
	to := "eip155:8453:0xBE00000000000000000000000000000000000003"
	exchange := func(accounts []api.Account, from, amount, asset, to string) string {
		r := api.QuoteRequest{From: api.QuoteFrom{Accounts: accounts, Amount: amount}}
		r.From.Asset.AssetID = from
		r.To.Asset.AssetID, r.To.Account = asset, to
		return c.json(r)
	}
	const route, words, v3 = "NoRoute", "only, until a deposit program for Solana exists", "/v3/quote"
	there, coin := onSolana+":"+wallet, onSolana+"/slip44:501"
	for name, x := range map[string]struct{ path, body, err, words string }{
		"to an account there":        {v3, exchange(evm, "ob:usdc", "5000000", "ob:usdc", there), route, words},
		"to its coin":                {v3, exchange(evm, "ob:usdc", "5000000", coin, ""), route, words},
		"to its coin anywhere":       {v3, exchange(evm, "ob:usdc", "5000000", "ob:sol", there), route, words},
		"from its coin":              {v3, exchange(evm, coin, "5000000", "ob:usdc", to), route, words},
		"from an account there":      {v3, exchange(sol, "ob:usdc", "5000000", "ob:usdc", to), route, words},
		"from it to the own account": {v3, exchange(sol, "ob:usdc", "5000000", "ob:eth", ""), route, words},
		"a call that it pays": {c.preparePath(), c.put(o.pay(c, common.Address{0xbe, 19: 3}, 30e6), "/fromAssetId",
			`"`+coin+`"`), route, words},
		"another fault": {"/v3/quote", exchange(evm, "ob:usdc", "0", "ob:usdc", onSolana+":"+wallet), api.ErrValidation,
			"more than 0"},
		"an unknown asset": {"/v3/quote", exchange(evm, "ob:nothing", "5", "ob:usdc", to), api.ErrValidation,
			"a known aggregated asset"},
		"chain of others": {"/v3/quote", exchange(evm, usdc, "5000000", usdc, "eip155:777:"+c.user.Address.Hex()),
			api.ErrValidation, "supported chain"},
	} {
		status, raw := c.send("POST", x.path, x.body)
		if status < 400 || status >= 500 || !strings.Contains(string(raw), x.err) ||
			!strings.Contains(string(raw), x.words) {
			t.Errorf("%s: %d %s does not say %s %q", name, status, raw, x.err, x.words)
		}
	}
}

// TestAChainWhoseNodesAreSilentStopsNothingElse: balances there are unknown and pay nothing, the others do. What needs
// that chain is told so.
func TestAChainWhoseNodesAreSilentStopsNothingElse(t *testing.T) {
	t.Parallel()
	var silent [3]atomic.Bool // of Optimism, Base and Arbitrum
	chains := 0
	o := newOperated(t, func(h http.Handler) http.Handler {
		is := &silent[chains]
		chains++
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if is.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			h.ServeHTTP(w, r)
		})
	})
	s := o.open(nil)
	c := o.member(s, api.AccountKernelV31, 95)
	silent[2].Store(true)
	var b api.AggregatedBalance
	doc := c.ask("GET", "/v3/balances/aggregated-balance?account="+caip.EVM(10).String()+":"+c.user.Address.Hex()+
		"&aggregatedAssetId=ob:usdc", "")
	if err := doc.Decode(&b); err != nil || len(b.Unreachable) != 1 || b.Unreachable[0].Chain != "eip155:42161" {
		t.Errorf("%+v, %v", b.Unreachable, err)
	}
	to := common.Address{0xbe, 0xef, 19: 95}
	ask := func(usdc int64, want int, words string) {
		t.Helper()
		status, raw := c.send("POST", c.preparePath(), o.pay(c, to, usdc))
		if status != want || !strings.Contains(string(raw), words) {
			t.Errorf("%d USDC: %d %s, want %d and %q", usdc, status, raw, want, words)
		}
	}
	ask(25e6, http.StatusBadRequest, "the nodes of Arbitrum One do not answer now")
	quote, id, _ := c.call(o.pay(c, to, 15e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(quote.Raw()))
	c.done(c.ended(id), api.RecordCall)
	if got := o.has(8453, to); got != 15e6 {
		t.Errorf("%d arrived", got)
	}
	silent[1].Store(true)
	ask(15e6, http.StatusServiceUnavailable, "nodes of a chain that this needs do not answer")
}

// TestWhatAnOperatorHasPromisedIsNobodyElses: of two quotes for the same inventory one is accepted.
func TestWhatAnOperatorHasPromisedIsNobodyElses(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	usdc, owner := o.usdc[8453], o.payer.Address()
	o.owner(8453, "withdraw(address,address,uint256)", usdc[:], owner[:], big.NewInt(450e6).Bytes())
	s := o.open(nil)
	first, second := o.member(s, api.AccountKernelV31, 91), o.member(s, api.AccountKernelV31, 92)
	to := common.Address{0xbe, 0xef, 19: 30}
	a, id, _ := first.call(o.pay(first, to, 30e6), "ob:usdc")
	b, _, _ := second.call(o.pay(second, to, 30e6), "ob:usdc")
	first.ask("POST", first.executePath(), string(a.Raw()))
	status, raw := second.send("POST", second.executePath(), string(b.Raw()))
	if status < 400 || !strings.Contains(string(raw), "no solver can deliver that much") {
		t.Errorf("%d %s", status, raw)
	}
	first.done(first.ended(id), api.RecordCall)
	if got := o.has(8453, to); got != 30e6 {
		t.Errorf("%d arrived", got)
	}
}

// TestAnOperatorChangesItsAttestersWhenNoQuoteIsOpen: those that are open end in the escrow they pay into.
func TestAnOperatorChangesItsAttestersWhenNoQuoteIsOpen(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	from, sent := o.options(o.db), make(chan struct{}, 100)
	from.AfterStep = func(string) { sent <- struct{}{} }
	s, err := service.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	o.priced(s)
	c := o.member(s, api.AccountKernelV31, 93)
	doc, id, _ := c.call(o.pay(c, common.Address{0xbe, 0xef, 19: 40}, 30e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(doc.Raw()))
	<-sent
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	first, own := *o.net.Operator, o.net.Operator.Attesters[0]
	begun, err := os.ReadFile(o.descriptor())
	if err != nil {
		t.Fatal(err)
	}
	o.net.Operator.Attesters = []common.Address{own, common.HexToAddress("0xff")}
	slices.SortFunc(o.net.Operator.Attesters, func(a, b common.Address) int { return bytes.Compare(a[:], b[:]) })
	o.save()
	o.deploy()
	if _, err := service.Open(from); !errors.Is(err, remotenet.ErrOpen) {
		t.Fatalf("with an open quote: %v", err)
	}
	second := *o.net.Operator
	changed, err := os.ReadFile(o.descriptor())
	if err := errors.Join(err, os.WriteFile(o.descriptor(), begun, 0o600)); err != nil {
		t.Fatal(err)
	}
	o.net.Operator = &first
	o.save()
	if s, err = service.Open(from); err != nil {
		t.Fatal(err)
	}
	c = newClient(t, s, api.AccountKernelV31, 93)
	c.done(c.ended(id), api.RecordCall)
	o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
	if err := errors.Join(s.Idle(t.Context()), s.Close(), os.WriteFile(o.descriptor(), changed,
		0o600)); err != nil {
		t.Fatal(err)
	}
	o.net.Operator = &second
	o.save()
	d := o.open(nil).Network()
	if len(d.Deployments) != 2 || d.Pins.Escrow == o.escrow || d.Deployments[0].Escrow != o.escrow {
		t.Errorf("%+v", d)
	}
}

// TestAnOperatorIsNoServiceInsideAWallet, own nodes are no operator, and real
// money demands keys away from the data, and words where it is for anyone.
func TestAnOperatorIsNoServiceInsideAWallet(t *testing.T) {
	t.Parallel()
	o := newOperated(t, nil)
	if _, err := service.Open(o.lab.options(storetest.New(t))); !errors.Is(err, remotenet.ErrOperator) {
		t.Errorf("in a wallet: %v", err)
	}
	o.net.Kind = network.Real
	for i := range o.net.Chains {
		o.net.Chains[i].Final = networks.Finality{}
	}
	o.save()
	if _, err := service.Open(o.options(storetest.New(t))); !errors.Is(err, remotenet.ErrRealOperator) {
		t.Errorf("real money: %v", err)
	}
	away := o.options(store.NewMemory())
	away.Seed, away.SeedKept = bytes.Repeat([]byte{1}, 32), true
	if _, err := service.Open(away); !errors.Is(err, remotenet.ErrAnyone) {
		t.Errorf("real money for anyone: %v", err)
	}
	away.Anyone = true
	if _, err := service.Open(away); errors.Is(err, remotenet.ErrAnyone) || errors.Is(err, remotenet.ErrRealOperator) {
		t.Errorf("real money for anyone, meant: %v", err)
	}
	own := newLab(t, nil)
	from := own.options(storetest.New(t))
	from.Operator = true
	if _, err := service.Open(from); !errors.Is(err, remotenet.ErrNoOperator) {
		t.Errorf("own nodes: %v", err)
	}
}
