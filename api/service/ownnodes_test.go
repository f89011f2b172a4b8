package service_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/rpcpool"
	"coffer/api/service"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/devnet"
	"coffer/api/service/jsonrpc"
	deploying "coffer/api/service/operator"
	"coffer/api/service/pinned"
	"coffer/api/service/quotestore"
	"coffer/api/service/remotenet"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// lab is two chains with the pinned contracts and endpoints on this machine, and the networks.toml of a person who has
// them.
type lab struct {
	t     testing.TB
	in    *devnet.Installation // nil on anvil
	file  string
	pools map[uint64]*rpcpool.Pool
	usdc  map[uint64]common.Address
	net   networks.File // what the file says
	pins  network.Pins
	payer signers.EVM // of the contracts
	// send makes a block of a transaction of somebody with coins and tokens; false when it failed.
	send func(id uint64, to common.Address, v *big.Int, data []byte) (common.Hash, bool)
}

// chains of a lab.
func labChains() []uint64 { return []uint64{8453, 42161} }

// newLab is one on embedded chains behind their JSON-RPC endpoints, of labChains if none is named. wrap may be put
// before an endpoint.
func newLab(t testing.TB, wrap func(http.Handler) http.Handler, ids ...uint64) *lab {
	t.Helper()
	return newNodes(t, network.Lab, wrap, ids...)
}

// newNodes is newLab for a network of another kind.
func newNodes(t testing.TB, kind network.Kind, wrap func(http.Handler) http.Handler, ids ...uint64) *lab {
	t.Helper()
	l := newChains(t, kind, wrap, ids...)
	l.deploy()
	return l
}

// newChains is newNodes without the network's contracts.
func newChains(t testing.TB, kind network.Kind, wrap func(http.Handler) http.Handler, ids ...uint64) *lab {
	t.Helper()
	in, err := devnet.Open(storetest.New(t), devnet.Options{Clock: time.Now, Random: rand.Reader,
		Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	server := jsonrpc.NewServer(jsonrpc.Options{})
	t.Cleanup(server.Close)
	urls := map[uint64]string{}
	if len(ids) == 0 {
		ids = labChains()
	}
	for _, id := range ids {
		node := evm.NewNode(in.Chains[id].(*evm.Chain), evm.NodeOptions{})
		t.Cleanup(node.Close)
		h := server.Endpoint(ethrpc.Methods(node, ethrpc.Options{Version: "test"}))
		if wrap != nil {
			h = wrap(h)
		}
		web := httptest.NewServer(h)
		t.Cleanup(web.Close)
		urls[id] = web.URL
	}
	l := lab{t: t, in: in, payer: in.Faucet, usdc: map[uint64]common.Address{
		10:    common.HexToAddress("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
		8453:  common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
		42161: common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831"),
	}}
	l.send = func(id uint64, to common.Address, v *big.Int, data []byte) (common.Hash, bool) {
		b, err := in.Chains[id].Seal(context.Background(), chain.SealRequest{Time: uint64(time.Now().Unix()),
			Accept: chain.AllSucceed, Txs: []chain.Tx{{From: in.Faucet, To: to, Value: v, Data: data}}})
		if err != nil {
			return common.Hash{}, false
		}
		return b.Receipts[0].TxHash, true
	}
	l.begin(kind, urls)
	return &l
}

// begin writes the file of a lab.
func (l *lab) begin(kind network.Kind, urls map[uint64]string) {
	l.t.Helper()
	shipped, err := networks.Shipped()
	if err != nil {
		l.t.Fatal(err)
	}
	l.file, l.pools = filepath.Join(l.t.TempDir(), networks.Name), map[uint64]*rpcpool.Pool{}
	l.net = networks.File{Kind: kind}
	for _, c := range shipped {
		if urls[c.ID] == "" {
			continue
		}
		c.RPC, c.Feeds = []string{urls[c.ID]}, []networks.Feed{{Aggregate: "ob:eth", Address: ethFeed(nil),
			Heartbeat: time.Hour, Decimals: 8}}
		c.FeeCap = big.NewInt(100e9)
		if l.in == nil {
			c.Final = networks.Finality{Counted: true, Blocks: 1}
			c.Tokens = []networks.Token{{Address: l.usdc[c.ID], Symbol: "USDC", Name: "USD Coin", Decimals: 6,
				Aggregate: "ob:usdc"}}
		}
		l.net.Chains = append(l.net.Chains, c)
		pool, err := rpcpool.New(rpcpool.Options{URLs: []rpcpool.Endpoint{{URL: urls[c.ID]}}, ChainID: c.ID})
		if err != nil {
			l.t.Fatal(err)
		}
		l.t.Cleanup(pool.Close)
		l.pools[c.ID] = pool
		ethFeed(l.deployer(c.ID))
	}
	l.save()
}

// deployer sends what creates a contract through the deterministic deployer of a chain.
func (l *lab) deployer(id uint64) func([]byte) {
	return func(creation []byte) {
		l.sent(id, evm.DeterministicDeployer(), nil, append(make([]byte, 32), creation...))
	}
}

// save writes the file.
func (l *lab) save() {
	l.t.Helper()
	if err := os.WriteFile(l.file, l.net.Encode(), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// deploy deploys the contracts.
func (l *lab) deploy() {
	l.t.Helper()
	var err error
	if l.pins, _, err = pinned.Pins(); err != nil {
		l.t.Fatal(err)
	}
	if err := deploying.Deploy(l.t.Context(), deploying.DeployOptions{
		Options: deploying.Options{File: l.file, Out: io.Discard, Clock: time.Now},
		Signer:  func(context.Context) (signers.EVM, error) { return l.payer, nil },
		Confirm: func(context.Context, string) error { return nil },
	}); err != nil {
		l.t.Fatal(err)
	}
}

// ethFeed is where an aggregator is that says 2000 dollars with 8 decimals, of the block's time; make gets what creates
// it.
func ethFeed(make func(creation []byte)) common.Address { return feed(2000e8, make) }

// feed is one of a price.
func feed(price uint64, make func(creation []byte)) common.Address {
	code := common.FromHex("5f3560e01c8063313ce56714601b5763feaf968c146024575f5ffd" + // decimals(), latestRoundData()
		"5b60085f5260205ff3" + "5b60015f5267" + fmt.Sprintf("%016x", price) +
		"602052426040524260605260016080" + "5260a05ff3")
	creation := append(common.FromHex(fmt.Sprintf("60%02x600a5f3960%02x5ff3", len(code), len(code))), code...)
	if make != nil {
		make(creation)
	}
	return crypto.CreateAddress2(evm.DeterministicDeployer(), common.Hash{}, crypto.Keccak256(creation))
}

// sent is send that must succeed.
func (l *lab) sent(id uint64, to common.Address, v *big.Int, data []byte) {
	l.t.Helper()
	if _, ok := l.send(id, to, v, data); !ok {
		l.t.Fatalf("a transaction to %s failed on chain %d", to, id)
	}
}

// ask asks a chain.
func (l *lab) ask(id uint64, result any, method string, params ...any) {
	l.t.Helper()
	if err := l.pools[id].Call(l.t.Context(), result, method, params...); err != nil {
		l.t.Fatal(err)
	}
}

// descriptor is where the descriptor lies.
func (l *lab) descriptor() string { return filepath.Join(filepath.Dir(l.file), networks.Descriptor) }

func (l *lab) write(d network.Descriptor) {
	l.t.Helper()
	d, err := d.WithID()
	raw, errRaw := d.Encode()
	if err := errors.Join(err, errRaw, os.WriteFile(l.descriptor(), raw, 0o600)); err != nil {
		l.t.Fatal(err)
	}
}

// stock gives an account a coin and USDC.
func (l *lab) stock(id uint64, to common.Address, usdc int64) {
	l.t.Helper()
	l.sent(id, to, big.NewInt(1e18), nil)
	l.sent(id, l.usdc[id], nil, erc20.Transfer(to, big.NewInt(usdc)))
}

func (l *lab) options(s store.Store) service.Options {
	return service.Options{Store: s, APIKey: key, Networks: l.file, Lifetime: time.Minute, Poll: 50 * time.Millisecond,
		Log: slog.New(slog.NewTextHandler(l.t.Output(), nil))}
}

// fuel fills the gas tank of a service.
func (l *lab) fuel(s *service.Service) *service.Service {
	l.t.Helper()
	for id := range l.pools {
		l.sent(id, s.Network().Pins.Operator, big.NewInt(1e18), nil)
	}
	return s
}

// batch asks for a transfer of USDC on Base and one of the coin.
func (l *lab) batch(c *client, to common.Address, usdc int64) string {
	at := l.usdc[8453]
	return c.json(c.user.Request(caip.ERC20(8453, at), big.NewInt(usdc),
		api.Call{To: at.Hex(), Data: hexutil.Encode(erc20.Transfer(to, big.NewInt(usdc)))},
		api.Call{To: to.Hex(), Value: "5"}))
}

// waited executes a signed quote and waits for its end. What it stands still for meanwhile is tried again.
func (c *client) waited(signed *api.Document, id string) api.ExecutionStatus {
	c.t.Helper()
	c.ask("POST", c.executePath(), string(signed.Raw()))
	return c.ended(id)
}

// ended waits for the end of a quote.
func (c *client) ended(id string) api.ExecutionStatus {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if s := c.status(id); api.Terminal(s.Status) || time.Now().After(end) {
			return s
		}
	}
}

const base = "eip155:8453"

// TestAServiceOnNodes: everything that a client needs, over nothing but JSON-RPC endpoints, for each kind of account
// that they have.
func TestAServiceOnNodes(t *testing.T) { newLab(t, nil).serves(t) }

func (l *lab) serves(t *testing.T) {
	t.Helper()
	s := l.fuel(open(t, l.options(storetest.New(t))))
	if d := s.Network(); !d.OnOwnNodes() || d.Kind != network.Lab || len(d.Chains) != 2 {
		t.Fatalf("%+v", d)
	}
	usdc := "eip155:8453/erc20:" + l.usdc[8453].Hex()
	for i, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		t.Run(kind, func(t *testing.T) {
			c := newClient(t, s, kind, uint64(40+i))
			l.stock(8453, c.user.Address, 100_000_000)
			to := common.BytesToAddress([]byte{0xbe, 0xef, byte(i), 1, 2, 3})
			from, payee := base+":"+c.user.Address.Hex(), base+":"+to.Hex()
			for n := int64(1); n <= 2; n++ { // the first makes the account
				signed, id, how := c.call(l.batch(c, to, 30_000_000), "")
				if how != api.CallSameChainExcludeSolver {
					t.Errorf("paid as %s", how)
				}
				c.done(c.waited(signed, id), api.RecordCall)
				if has, got := c.balance(from, usdc), c.balance(payee, usdc); has.Int64() != 100_000_000-n*30_000_000 ||
					got.Int64() != n*30_000_000 {
					t.Errorf("%s is left, %s arrived", has, got)
				}
			}
			status, raw := c.send("POST", c.preparePath(), l.batch(c, to, 70_000_000))
			if !strings.Contains(string(raw), "this network has no solver: bring 30 USDC to Base, or use an operator") {
				t.Errorf("%d %s", status, raw)
			}
		})
	}
	tanks, err := s.Tanks(t.Context())
	said := regexp.MustCompile(`^about [1-9][0-9]+ operations on (Base|Arbitrum)`)
	if err != nil || len(tanks) != 2 || tanks[0].Address != s.Network().Pins.Operator ||
		!said.MatchString(tanks[0].String()) {
		t.Errorf("%v, %v", tanks, err)
	}
}

// copy is the transaction with which somebody else submits the operation of a signed quote.
func copyOf(t *testing.T, signed *api.Document) []byte {
	t.Helper()
	var q api.Quote
	if err := signed.Decode(&q); err != nil {
		t.Fatal(err)
	}
	o, err := op.FromWire(*q.OriginChainsOperations[0].UserOp)
	if err != nil {
		t.Fatal(err)
	}
	data, err := op.HandleOpsCall(common.Address{9}, o)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestOthersMaySubmitWhatWasSigned: a copycat is first, right after the quote was accepted. The outcome is that of the
// operation, which a node finds in few blocks at once.
func TestOthersMaySubmitWhatWasSigned(t *testing.T) {
	l := newLab(t, fewBlocks)
	o := l.options(storetest.New(t))
	var signed *api.Document
	var by common.Hash
	o.AfterStep = func(step string) {
		if step != "accepted" {
			return
		}
		by, _ = l.send(8453, l.pins.EntryPoint, nil, copyOf(t, signed))
		for range 20 {
			l.send(8453, common.Address{0xee}, common.Big1, nil)
		}
	}
	c := newClient(t, l.fuel(open(t, o)), api.AccountKernelV31, 50)
	l.stock(8453, c.user.Address, 100_000_000)
	to := common.Address{0xbe, 0xef, 19: 9}
	var id string
	signed, id, _ = c.call(l.batch(c, to, 30_000_000), "")
	if got := c.waited(signed, id); got.Status != api.StatusCompleted || by == (common.Hash{}) ||
		got.DestinationChainOperations[0].Hash != by.Hex() {
		t.Errorf("%+v, run by %s", got, by)
	}
	if v := c.balance(base+":"+to.Hex(), "eip155:8453/erc20:"+l.usdc[8453].Hex()); v.Int64() != 30_000_000 {
		t.Errorf("%s arrived", v)
	}
}

// fewBlocks is a node that searches few blocks at once for logs.
func fewBlocks(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var call struct {
			ID     json.RawMessage
			Method string
			Params []struct{ FromBlock, ToBlock hexutil.Uint64 }
		}
		if err == nil && json.Unmarshal(body, &call) == nil && call.Method == "eth_getLogs" &&
			call.Params[0].ToBlock-call.Params[0].FromBlock >= 4 {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"at most 4 blocks"}}`, call.ID)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		h.ServeHTTP(w, r)
	})
}

// TestWhatWasSentEndsAfterARestart: the process ends when the operation was signed and sent; the next one finds it.
func TestWhatWasSentEndsAfterARestart(t *testing.T) {
	l, db := newLab(t, nil), storetest.New(t)
	o, sent := l.options(db), make(chan struct{}, 1)
	o.AfterStep = func(step string) {
		if step == "target, sent" {
			sent <- struct{}{}
		}
	}
	first, err := service.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, l.fuel(first), api.AccountKernelV31, 51)
	l.stock(8453, c.user.Address, 100_000_000)
	to := common.Address{0xbe, 0xef, 19: 10}
	signed, id, _ := c.call(l.batch(c, to, 30_000_000), "")
	c.ask("POST", c.executePath(), string(signed.Raw()))
	<-sent
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	c = newClient(t, open(t, l.options(db)), api.AccountKernelV31, 51)
	c.done(c.ended(id), api.RecordCall)
	if v := c.balance(base+":"+to.Hex(), "eip155:8453/erc20:"+l.usdc[8453].Hex()); v.Int64() != 30_000_000 {
		t.Errorf("%s arrived", v)
	}
}

func TestAnEmptyTankIsSaidBeforeAnythingIsSigned(t *testing.T) {
	l := newLab(t, nil)
	s := open(t, l.options(storetest.New(t)))
	c := newClient(t, s, api.AccountKernelV31, 52)
	l.stock(8453, c.user.Address, 100_000_000)
	status, raw := c.send("POST", c.preparePath(), l.batch(c, common.Address{0xbe, 19: 1}, 1))
	if !strings.Contains(string(raw), "the gas tank "+s.Network().Pins.Operator.Hex()+" has 0 ETH on Base") {
		t.Errorf("%d %s", status, raw)
	}
}

// TestDataIsOfOneNetwork: the keys stay with it, and neither another network nor an embedded one takes its place.
func TestDataIsOfOneNetwork(t *testing.T) {
	l, db := newLab(t, nil), storetest.New(t)
	first, err := service.Open(l.options(db))
	if err != nil {
		t.Fatal(err)
	}
	pins := first.Network().Pins
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if again := open(t, l.options(db)); again.Network().Pins != pins {
		t.Error("it has other keys")
	}
	if _, err := service.Open(options(db)); !errors.Is(err, service.ErrOwnNodes) {
		t.Errorf("an embedded network: %v", err)
	}
	embedded := storetest.New(t)
	open(t, options(embedded))
	if _, err := service.Open(l.options(embedded)); !errors.Is(err, service.ErrEmbedded) {
		t.Errorf("nodes: %v", err)
	}
	if _, err := service.Open(newLab(t, nil).options(db)); err == nil ||
		!strings.Contains(err.Error(), "the data of the service is of another network") {
		t.Errorf("another lab: %v", err)
	}
}

// TestTheTanksKeyOfRealMoneyIsNotStored: it is given at every opening, and the same one.
func TestTheTanksKeyOfRealMoneyIsNotStored(t *testing.T) {
	l, path := newNodes(t, network.Real, nil), filepath.Join(t.TempDir(), "db")
	db, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := service.Open(l.options(db)); !errors.Is(err, remotenet.ErrReal) {
		t.Errorf("it opens: %v", err)
	}
	if made, err := remotenet.Exists(db); err != nil || made {
		t.Errorf("keys were made: %t %v", made, err)
	}
	tank, other := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	key, err := crypto.ToECDSA(tank)
	if err != nil {
		t.Fatal(err)
	}
	o := l.options(db)
	for range 2 {
		o.Tank = bytes.Clone(tank)
		s, err := service.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if at := s.Network().Pins.Operator; at != crypto.PubkeyToAddress(key.PublicKey) {
			t.Errorf("the gas tank is %s", at)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var different *remotenet.TankError
	o.Tank = other
	if _, err := service.Open(o); !errors.As(err, &different) || different.Given == different.Data {
		t.Errorf("another tank: %v", err)
	}
	o.Tank = make([]byte, 32)
	if _, err := service.Open(o); err == nil {
		t.Error("a key of zeros")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(raw, crypto.PubkeyToAddress(key.PublicKey).Bytes()) || bytes.Contains(raw, tank) {
		t.Errorf("%v, or the key is stored, or its address is not", err)
	}
}

// TestAChainThatIsNotTheNetworksIsNotServed: one that begins with another block, has other code at a pinned address, or
// lacks a contract; nor a descriptor that pins other addresses.
func TestAChainThatIsNotTheNetworksIsNotServed(t *testing.T) {
	var code atomic.Value // what the nodes say of the entry point's code
	code.Store("")
	l := newLab(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			var call struct {
				ID     json.RawMessage
				Method string
				Params []any
			}
			if err == nil && code.Load() != "" && json.Unmarshal(body, &call) == nil && call.Method == "eth_getCode" {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q}`, call.ID, code.Load())
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			h.ServeHTTP(w, r)
		})
	})
	refused := func(want ...string) {
		t.Helper()
		db := storetest.New(t)
		_, err := service.Open(l.options(db))
		for _, w := range want {
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%v does not say %q", err, w)
			}
		}
		if kept, err := remotenet.Exists(db); kept || err != nil {
			t.Errorf("keys were made: %t, %v", kept, err)
		}
	}
	code.Store("0x60016001")
	refused(l.pins.EntryPoint.Hex(), "expected the hash", crypto.Keccak256Hash(common.FromHex("0x60016001")).Hex())
	code.Store("0x")
	refused(l.pins.EntryPoint.Hex(), "coffer network deploy")
	code.Store("")
	raw, err := os.ReadFile(l.descriptor())
	if err != nil {
		t.Fatal(err)
	}
	d, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	good := d
	d.Pins.EntryPoint = common.Address{0xba, 0xd} // where the tank would send what was signed
	l.write(d)
	refused("names other contracts than this program")
	if d = good; len(d.Formulas) == 0 {
		t.Fatal("the descriptor has no formula")
	}
	d.Formulas = nil
	l.write(d)
	refused("names other contracts than this program")
	d = good
	began := d.Genesis[base]
	d.Genesis[base] = common.Hash{1}.Hex()
	l.write(d)
	refused(began, common.Hash{1}.Hex())
	if err := os.Remove(l.descriptor()); err != nil {
		t.Fatal(err)
	}
	refused("coffer network deploy")
}

// moody is a node that can be made to hang, to say another chain id, or to have other code.
type moody struct {
	h    http.Handler
	hang atomic.Bool
	says atomic.Pointer[map[string]any] // by method
}

func (m *moody) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil && m.hang.Load() {
		<-r.Context().Done()
		return
	}
	var call struct {
		ID     json.RawMessage
		Method string
	}
	if says := m.says.Load(); says != nil && json.Unmarshal(body, &call) == nil && (*says)[call.Method] != nil {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q}`, call.ID, (*says)[call.Method])
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m.h.ServeHTTP(w, r)
}

// moodyLab has such a node for each chain, in the order of labChains.
func moodyLab(t *testing.T) (*lab, []*moody) {
	var nodes []*moody
	l := newLab(t, func(h http.Handler) http.Handler {
		nodes = append(nodes, &moody{h: h})
		return nodes[len(nodes)-1]
	})
	return l, nodes
}

// TestASilentChainStopsNeitherTheStartNorTheOthers: it is named, its balances are on no line, a call there says why it
// cannot be made. When it answers again it works without a restart.
func TestASilentChainStopsNeitherTheStartNorTheOthers(t *testing.T) {
	t.Parallel()
	l, nodes := moodyLab(t)
	nodes[1].hang.Store(true)
	c := newClient(t, l.fuel(open(t, l.options(storetest.New(t)))), api.AccountKernelV31, 57)
	l.stock(8453, c.user.Address, 100_000_000)
	l.stock(42161, c.user.Address, 100_000_000)
	balances := func() (b api.AggregatedBalance) {
		t.Helper()
		doc := c.ask("GET", "/v3/balances/aggregated-balance?account="+base+":"+c.user.Address.Hex()+
			"&aggregatedAssetId=ob:usdc", "")
		if err := doc.Decode(&b); err != nil || len(b.BalanceByAggregatedAsset) != 1 {
			t.Fatalf("%v %s", err, doc.Raw())
		}
		return b
	}
	b := balances()
	usdc := b.BalanceByAggregatedAsset[0]
	if len(b.Unreachable) != 1 || b.Unreachable[0].Chain != "eip155:42161" ||
		!strings.Contains(b.Unreachable[0].Message, "Arbitrum One") || usdc.Balance != "100000000" {
		t.Errorf("%+v", b)
	}
	for _, one := range usdc.IndividualAssetBalances {
		if !strings.HasPrefix(one.AssetType, base) {
			t.Errorf("a figure of a chain that was not asked: %+v", one)
		}
	}
	signed, id, _ := c.call(l.batch(c, common.Address{0xbe, 19: 8}, 1_000_000), "")
	c.done(c.waited(signed, id), api.RecordCall)

	nodes[1].hang.Store(false)
	for end := time.Now().Add(20 * time.Second); len(b.Unreachable) > 0 && time.Now().Before(end); {
		b = balances()
	}
	if len(b.Unreachable) > 0 || b.BalanceByAggregatedAsset[0].Balance != "199000000" {
		t.Errorf("it answers again: %+v", b)
	}
}

// TestWhatASilentChainTurnsOutToBeStopsEverything: at the start it could not be asked, then it has other code.
func TestWhatASilentChainTurnsOutToBeStopsEverything(t *testing.T) {
	t.Parallel()
	l, nodes := moodyLab(t)
	nodes[1].hang.Store(true)
	c := newClient(t, open(t, l.options(storetest.New(t))), api.AccountKernelV31, 58)
	nodes[1].says.Store(&map[string]any{"eth_getCode": "0x60016001"})
	nodes[1].hang.Store(false)
	ask := "/v3/balances/aggregated-balance?account=" + base + ":" + c.user.Address.Hex() + "&aggregatedAssetId=ob:usdc"
	var b api.AggregatedBalance
	for end := time.Now().Add(20 * time.Second); len(b.Unreachable) < 2 && time.Now().Before(end); {
		b = api.AggregatedBalance{}
		if err := c.ask("GET", ask, "").Decode(&b); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.Unreachable) != 2 || !strings.Contains(b.Unreachable[0].Message, "expected the hash") {
		t.Errorf("%+v", b)
	}
	db := storetest.New(t)
	nodes[1].says.Store(&map[string]any{"eth_chainId": "0x1"})
	if _, err := service.Open(l.options(db)); !errors.Is(err, rpcpool.ErrOtherChain) {
		t.Errorf("another chain: %v", err)
	}
}

// TestATankWhoseKeyIsUsedElsewhereStopsUntilItsOwnerDecides, and then the call that waited goes out.
func TestATankWhoseKeyIsUsedElsewhereStopsUntilItsOwnerDecides(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	var ahead atomic.Int64 // seconds
	o := l.options(storetest.New(t))
	o.Seed = []byte("the seed of own nodes: 32 bytes.")
	o.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load()) * time.Second) }
	s := l.fuel(open(t, o))
	c := newClient(t, s, api.AccountKernelV31, 59)
	l.stock(8453, c.user.Address, 100_000_000)
	to := common.Address{0xbe, 19: 9}
	signed, id, _ := c.call(l.batch(c, to, 1_000_000), "")
	c.done(c.waited(signed, id), api.RecordCall)
	keys, err := signers.Derive(o.Seed)
	if err != nil || keys.Operator.Address() != s.Network().Pins.Operator {
		t.Fatal(err)
	}
	stopped := func(done func(remotenet.LaneState) bool) remotenet.LaneState {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			for _, lane := range s.Lanes(t.Context()) {
				if lane.ChainID == 8453 && done(lane) {
					return lane
				}
			}
		}
		t.Fatalf("%+v", s.Lanes(t.Context()))
		return remotenet.LaneState{}
	}
	if _, err := l.in.Chains[8453].Seal(t.Context(), chain.SealRequest{Time: uint64(time.Now().Unix()),
		Accept: chain.AllSucceed, Txs: []chain.Tx{{From: keys.Operator, To: to, Value: big.NewInt(1)}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.ResumeLane(t.Context(), 8453); err == nil {
		t.Error("a lane that has not stopped goes on")
	}
	signed, id, _ = c.call(l.batch(c, to, 1_000_000), "")
	c.ask("POST", c.executePath(), string(signed.Raw()))
	stopped(func(lane remotenet.LaneState) bool { return lane.Held != "" && lane.Stopped == "" })
	lane := stopped(func(lane remotenet.LaneState) bool {
		ahead.Add(10)
		return lane.Stopped != ""
	})
	if lane.Next != 1 || lane.Used != 2 || lane.Chain != "Base" ||
		lane.Stopped != "the chain has seen 2 transactions of the key, the lane sent 1" {
		t.Errorf("%+v", lane)
	}
	if got := c.status(id); api.Terminal(got.Status) {
		t.Errorf("it ended: %+v", got)
	}
	if err := s.ResumeLane(t.Context(), 8453); err != nil {
		t.Fatal(err)
	}
	c.done(c.ended(id), api.RecordCall)
}

// final has the file say when a block stays.
func (l *lab) final(is string) {
	l.t.Helper()
	raw, err := os.ReadFile(l.file)
	if err != nil {
		l.t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^final = .*$`).ReplaceAllString(string(raw), "final = "+is)
	if err := os.WriteFile(l.file, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// TestAnAdminsMessageIsAnsweredBeforeItIsFinal, also for an account that has to be made first, and counts towards what
// the gas tank pays for the account in a day.
func TestAnAdminsMessageIsAnsweredBeforeItIsFinal(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.final("1000") // never, while nothing else makes blocks
	db := storetest.New(t)
	c := newClient(t, l.fuel(open(t, l.options(db))), api.AccountRoleBased, 61)
	for n := range 98 { // of the day; the account and the message are two more
		at := time.Now().Add(time.Duration(-n) * time.Minute)
		if err := db.Update(new(quotestore.Book).NoteSponsored(c.user.Address.Hex(), at, "earlier")); err != nil {
			t.Fatal(err)
		}
	}
	doc := c.ask("POST", "/account/relay", c.rotate(base, settletest.Key(99), 0))
	var answer api.RelayResponse
	if err := doc.Decode(&answer); err != nil || len(answer.Hash) != 66 {
		t.Fatalf("%v %s", err, doc.Raw())
	}
	var roles api.RolesResponse
	if err := c.ask("GET", "/account/roles?account="+base+":"+c.user.Address.Hex(), "").Decode(&roles); err != nil ||
		!roles.Deployed || roles.AdminNonce != "1" ||
		roles.SessionAddress != crypto.PubkeyToAddress(settletest.Key(99).PublicKey).Hex() {
		t.Errorf("%v %+v", err, roles)
	}
	status, raw := c.send("POST", "/account/relay", c.rotate(base, settletest.Key(100), 1))
	if !strings.Contains(string(raw), "the gas tank has paid for 100 operations of this account in 24 hours") {
		t.Errorf("%d %s", status, raw)
	}
	if err := c.ask("GET", "/account/roles?account="+base+":"+c.user.Address.Hex(), "").Decode(&roles); err != nil ||
		roles.AdminNonce != "1" {
		t.Errorf("%v %+v", err, roles)
	}
}

// publishing is an OP chain, which takes a coin for publishing a transaction. What is asked of its oracle comes in
// batches of one kind.
func publishing(h http.Handler) http.Handler {
	const oracle = "420000000000000000000000000000000000000f"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var calls []struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(body, &calls) != nil || !strings.Contains(string(body), oracle) {
			h.ServeHTTP(w, r)
			return
		}
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		var out []map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		for _, c := range calls {
			if !strings.Contains(strings.ToLower(string(c.Params)), oracle) {
				continue
			}
			for _, a := range out {
				if fmt.Sprint(a["id"]) == string(c.ID) {
					delete(a, "error")
					a["result"] = "0x" + fmt.Sprintf("%064x", int64(1e18))
				}
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out)
	})
}

// TestATankPaysForPublishingToo: it has a coin, which would be for thousands of operations.
func TestATankPaysForPublishingToo(t *testing.T) {
	l := newLab(t, publishing)
	s := l.fuel(open(t, l.options(storetest.New(t))))
	c := newClient(t, s, api.AccountKernelV31, 62)
	l.stock(8453, c.user.Address, 100_000_000)
	_, raw := c.send("POST", c.preparePath(), l.batch(c, common.Address{0xbe, 19: 1}, 1))
	if !strings.Contains(string(raw), "has 1 ETH on Base, and this takes at least 2.0") { // and the operator's fee
		t.Errorf("%s", raw)
	}
	if tanks, err := s.Tanks(t.Context()); err != nil || tanks[0].Operations() != 0 {
		t.Errorf("%v %v", tanks, err)
	}
}

// reverting is a node that says of each handleOps that it reverts, with the data that says gives for the n-th.
func reverting(says func(n int64) string) func(http.Handler) http.Handler {
	var n atomic.Int64
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			var call struct {
				ID     json.RawMessage
				Method string
			}
			if json.Unmarshal(body, &call) == nil && call.Method == "eth_call" &&
				bytes.Contains(body, []byte("0x765e827f")) {
				if data := says(n.Add(1)); data != "" {
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":3,"message":"execution reverted",`+
						`"data":%q}}`, call.ID, data)
					return
				}
			}
			h.ServeHTTP(w, r)
		})
	}
}

// failedOp is the entry point's FailedOp(0, reason).
func failedOp(reason string) string {
	return fmt.Sprintf("0x220266b6%064x%064x%064x%064x", 0, 64, len(reason), common.RightPadBytes([]byte(reason), 32))
}

// TestARevertThatStaysFailsAtOnce: a node that is asked before the signature says so at two heads. One that says it
// once was behind.
func TestARevertThatStaysFailsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		says func(n int64) string
		want string
	}{
		"always": {func(int64) string { return failedOp("AA24 signature error") }, api.StatusFailed},
		"once": {func(n int64) string {
			if n == 1 {
				return failedOp("AA25 invalid account nonce")
			}
			return ""
		}, api.StatusCompleted},
		"each time another": {func(n int64) string {
			if n <= 2 {
				return failedOp(fmt.Sprint("AA", 30+n, " not the same"))
			}
			return ""
		}, api.StatusCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, reverting(c.says))
			s := l.fuel(open(t, l.options(storetest.New(t))))
			client := newClient(t, s, api.AccountKernelV31, 63)
			l.stock(8453, client.user.Address, 100_000_000)
			ctx, stop := context.WithCancel(t.Context())
			var blocks sync.WaitGroup
			blocks.Go(func() {
				for ctx.Err() == nil {
					l.send(8453, common.Address{0xee}, common.Big1, nil)
					time.Sleep(200 * time.Millisecond)
				}
			})
			t.Cleanup(func() { stop(); blocks.Wait() })
			signed, id, _ := client.call(l.batch(client, common.Address{0xbe, 19: 4}, 1_000_000), "")
			began := time.Now()
			got := client.waited(signed, id)
			if got.Status != c.want || got.Status == api.StatusFailed &&
				(got.FailReason != "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR" || time.Since(began) > 20*time.Second) {
				t.Errorf("after %v: %+v", time.Since(began), got)
			}
		})
	}
}

// counted counts the requests of each endpoint, but those of the price feeds, which are read meanwhile, and those by
// which a keeper sees now and then how far its key has come.
func counted(trips *[]*atomic.Int64) func(http.Handler) http.Handler {
	return func(h http.Handler) http.Handler {
		n := new(atomic.Int64)
		*trips = append(*trips, n)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			looks := bytes.HasPrefix(body, []byte("{")) && bytes.Contains(body, []byte("eth_getTransactionCount"))
			if !looks && !bytes.Contains(body, []byte("eth_gasPrice")) && !bytes.Contains(body, []byte(ethFeedWord)) {
				n.Add(1)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			h.ServeHTTP(w, r)
		})
	}
}

// ethFeedWord is in each question to the price feed, as nodes get it.
var ethFeedWord = strings.ToLower(ethFeed(nil).Hex())

// most is how many round trips something may take, each of which costs the way to the node.
func most(t *testing.T, trips []*atomic.Int64, what string, most int64, do func()) {
	t.Helper()
	for _, n := range trips {
		n.Store(0)
	}
	do()
	for _, n := range trips {
		if n.Load() > most {
			t.Errorf("%s took %d round trips, not %d", what, n.Load(), most)
		}
	}
}

// TestACallTakesFewRoundTrips, with all tokens of the catalogue on the chain. What an execution takes after its answer
// may overlap with it.
func TestACallTakesFewRoundTrips(t *testing.T) {
	var trips []*atomic.Int64
	l := newLab(t, counted(&trips))
	c := newClient(t, l.fuel(open(t, l.options(storetest.New(t)))), api.AccountKernelV31, 53)
	l.stock(8453, c.user.Address, 100_000_000)
	var doc *api.Document
	for _, made := range []string{"", " of an account that is there"} {
		calls := l.batch(c, common.Address{0xbe, 19: 4}, 1_000_000)
		most(t, trips, "balances"+made, 2, func() { c.balance(base+":"+c.user.Address.Hex(), "eip155:8453/slip44:60") })
		most(t, trips, "prepare"+made, 5, func() { doc = c.prepare(calls) })
		most(t, trips, "quote"+made, 5, func() {
			doc = c.ask("POST", c.callQuotePath(), c.callQuoteBody(c.sign(doc, "/chainOperation"), ""))
		})
		signed, id := c.signAll(doc)
		most(t, trips, "execution"+made, 30, func() { c.done(c.waited(signed, id), api.RecordCall) })
	}
}

// TestBalancesOfEightChainsTakeTwoRoundTripsEach, with all tokens of the catalogue.
func TestBalancesOfEightChainsTakeTwoRoundTripsEach(t *testing.T) {
	var trips []*atomic.Int64
	l := newLab(t, counted(&trips), allChains()...)
	c := newClient(t, open(t, l.options(storetest.New(t))), api.AccountKernelV31, 53)
	for _, id := range allChains() {
		l.sent(id, c.user.Address, big.NewInt(int64(id)), nil)
	}
	ask := "/v2/balances/aggregated-balance?address=" + c.user.Address.Hex() // all assets of the catalogue
	var b api.AggregatedBalance
	most(t, trips, "balances", 2, func() {
		if err := c.ask("GET", ask, "").Decode(&b); err != nil {
			t.Fatal(err)
		}
	})
	assets, found := map[string]int{}, 0
	for _, line := range b.BalanceByAggregatedAsset {
		for _, one := range line.IndividualAssetBalances {
			at, _, _ := strings.Cut(one.AssetType, "/")
			if assets[at]++; one.Balance != "0" {
				found++
			}
		}
	}
	for _, id := range allChains() {
		if n := assets[caip.EVM(id).String()]; n < 15 {
			t.Errorf("only %d assets of chain %d", n, id)
		}
	}
	if found != len(allChains()) {
		t.Errorf("%d of %d coins were found", found, len(allChains()))
	}
}

// allChains are those of the catalogue.
func allChains() []uint64 { return []uint64{1, 10, 56, 137, 8453, 42161, 43114, 59144} }

// TestPricesComeFromFeeds: one coin has a feed, the token has none.
func TestPricesComeFromFeeds(t *testing.T) {
	l := newLab(t, nil)
	c := newClient(t, open(t, l.options(storetest.New(t))), api.AccountKernelV31, 54)
	l.stock(8453, c.user.Address, 100_000_000)
	worth := func(asset string) api.Number {
		t.Helper()
		var b api.AggregatedBalance
		of := base + ":" + c.user.Address.Hex()
		doc := c.ask("GET", "/v3/balances/aggregated-balance?account="+of+"&assetId="+asset, "")
		if err := doc.Decode(&b); err != nil || len(b.BalanceBySpecificAsset) != 1 {
			t.Fatalf("%v %s", err, doc.Raw())
		}
		return b.BalanceBySpecificAsset[0].FiatValue
	}
	coin := worth("eip155:8453/slip44:60")
	for end := time.Now().Add(20 * time.Second); coin == "" && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
		coin = worth("eip155:8453/slip44:60")
	}
	if usdc := worth("eip155:8453/erc20:" + l.usdc[8453].Hex()); coin != "2000" || usdc != "" {
		t.Errorf("a coin is worth %s, 100 USDC %s", coin, usdc)
	}
}
