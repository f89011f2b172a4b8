package service_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/api/service"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/chain/evm/ethrpc"
	"coffer/api/service/devnet"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/pinned"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// lab is two chains with the pinned contracts and endpoints on this machine, and the networks.toml of a person who has
// them.
type lab struct {
	t    *testing.T
	in   *devnet.Installation
	file string
}

func newLab(t *testing.T) *lab {
	t.Helper()
	in, err := devnet.Open(store.NewMemory(), devnet.Options{Clock: time.Now, Random: rand.Reader,
		Kind: network.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, in: in, file: filepath.Join(t.TempDir(), networks.Name)}
	server := jsonrpc.NewServer(jsonrpc.Options{})
	t.Cleanup(server.Close)
	mux := http.NewServeMux()
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	shipped, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	f := networks.File{Kind: network.Lab}
	for _, c := range shipped {
		if c.ID != 8453 && c.ID != 42161 {
			continue
		}
		node := evm.NewNode(in.Chains[c.ID].(*evm.Chain), evm.NodeOptions{})
		t.Cleanup(node.Close)
		path := fmt.Sprintf("/%d", c.ID)
		mux.Handle(path, server.Endpoint(ethrpc.Methods(node, ethrpc.Options{Version: "test"})))
		c.RPC = []string{web.URL + path}
		f.Chains = append(f.Chains, c)
		l.deploy(c.ID)
	}
	if err := os.WriteFile(l.file, f.Encode(), 0o600); err != nil {
		t.Fatal(err)
	}
	l.describe(f)
	return l
}

// deploy puts the pinned contracts there that the chain does not have.
func (l *lab) deploy(id uint64) {
	l.t.Helper()
	all, err := pinned.All()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, c := range all {
		if !l.has(id, c.At) {
			l.send(id, l.in.Faucet, evm.DeterministicDeployer(), nil, c.CallData())
		}
	}
}

func (l *lab) has(id uint64, at common.Address) bool {
	l.t.Helper()
	st, err := l.in.Chains[id].State(l.t.Context(), uint64(time.Now().Unix()))
	if err != nil {
		l.t.Fatal(err)
	}
	defer st.Close()
	return len(st.Code(at)) > 0
}

// describe writes the descriptor as coffer network deploy does.
func (l *lab) describe(f networks.File) {
	l.t.Helper()
	pins, formulas, err := pinned.Pins()
	d := network.Descriptor{Version: network.Version, Kind: f.Kind, Genesis: map[string]string{}, Pins: pins,
		Formulas: formulas}
	for _, c := range f.Chains {
		first, _, errBlock := l.in.Chains[c.ID].Block(l.t.Context(), 0)
		err = errors.Join(err, errBlock)
		name := caip.EVM(c.ID).String()
		d.Chains, d.Genesis[name] = append(d.Chains, name), first.Hash.Hex()
	}
	d, errID := d.WithID()
	raw, errRaw := d.Encode()
	if err := errors.Join(err, errID, errRaw, os.WriteFile(filepath.Join(filepath.Dir(l.file), networks.Descriptor),
		raw, 0o600)); err != nil {
		l.t.Fatal(err)
	}
}

// send makes a block of a transaction.
func (l *lab) send(id uint64, from signers.EVM, to common.Address, v *big.Int, data []byte) chain.Receipt {
	l.t.Helper()
	b, err := l.in.Chains[id].Seal(context.Background(), chain.SealRequest{Time: uint64(time.Now().Unix()),
		Accept: chain.AllSucceed, Txs: []chain.Tx{{From: from, To: to, Value: v, Data: data}}})
	if err != nil {
		l.t.Fatal(err)
	}
	return b.Receipts[0]
}

func usdcOf(id uint64) common.Address {
	if id == 8453 {
		return common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	}
	return common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
}

// stock gives an account a coin and USDC.
func (l *lab) stock(id uint64, to common.Address, usdc int64) {
	l.t.Helper()
	l.send(id, l.in.Faucet, to, big.NewInt(1e18), nil)
	l.send(id, l.in.Faucet, usdcOf(id), nil, erc20.Transfer(to, big.NewInt(usdc)))
}

func (l *lab) options(s store.Store) service.Options {
	return service.Options{Store: s, APIKey: key, Networks: l.file, Lifetime: time.Minute,
		Log: slog.New(slog.NewTextHandler(l.t.Output(), nil))}
}

// open opens the service on the lab with a full tank.
func (l *lab) open(s store.Store) *service.Service {
	l.t.Helper()
	svc := open(l.t, l.options(s))
	for _, id := range []uint64{8453, 42161} {
		l.send(id, l.in.Faucet, svc.Network().Pins.Operator, big.NewInt(1e18), nil)
	}
	return svc
}

// batch asks for a transfer of USDC on Base and one of the coin.
func (c *client) batch(to common.Address, usdc int64) string {
	return c.json(c.user.Request(caip.ERC20(8453, usdcOf(8453)), big.NewInt(usdc),
		api.Call{To: usdcOf(8453).Hex(), Data: hexutil.Encode(erc20.Transfer(to, big.NewInt(usdc)))},
		api.Call{To: to.Hex(), Value: "5"}))
}

// waited executes a signed quote and waits for its end. What it stands still for meanwhile is tried again.
func (c *client) waited(signed *api.Document, id string) api.ExecutionStatus {
	c.t.Helper()
	c.ask("POST", c.executePath(), string(signed.Raw()))
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if s := c.status(id); api.Terminal(s.Status) || time.Now().After(end) {
			return s
		}
	}
}

const base = "eip155:8453"

// TestAServiceOnNodes: everything that a client needs, over nothing but JSON-RPC endpoints, for each kind of account
// that they have.
func TestAServiceOnNodes(t *testing.T) {
	l := newLab(t)
	s := l.open(store.NewMemory())
	if d := s.Network(); !d.OnOwnNodes() || d.Kind != network.Lab || len(d.Chains) != 2 {
		t.Fatalf("%+v", d)
	}
	usdc := "eip155:8453/erc20:" + usdcOf(8453).Hex()
	for i, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		t.Run(kind, func(t *testing.T) {
			c := newClient(t, s, kind, uint64(40+i))
			l.stock(8453, c.user.Address, 100_000_000)
			to := common.BytesToAddress([]byte{0xbe, 0xef, byte(i), 1, 2, 3})
			from, payee := base+":"+c.user.Address.Hex(), base+":"+to.Hex()
			for n := int64(1); n <= 2; n++ { // the first makes the account
				signed, id, how := c.call(c.batch(to, 30_000_000), "")
				if how != api.CallSameChainExcludeSolver {
					t.Errorf("paid as %s", how)
				}
				c.done(c.waited(signed, id), api.RecordCall)
				if has, got := c.balance(from, usdc), c.balance(payee, usdc); has.Int64() != 100_000_000-n*30_000_000 ||
					got.Int64() != n*30_000_000 {
					t.Errorf("%s is left, %s arrived", has, got)
				}
			}
			status, raw := c.send("POST", c.preparePath(), c.batch(to, 70_000_000))
			if !strings.Contains(string(raw), "this network has no solver: bring 30 USDC to Base, or use an operator") {
				t.Errorf("%d %s", status, raw)
			}
		})
	}
	tanks, err := s.Tanks(t.Context())
	if err != nil || len(tanks) != 2 || tanks[0].Address != s.Network().Pins.Operator || tanks[0].Operations() == 0 {
		t.Errorf("%v, %v", tanks, err)
	}
}

// TestOthersMaySubmitWhatWasSigned on a chain of others: a copycat is first, and the outcome is the operation's.
func TestOthersMaySubmitWhatWasSigned(t *testing.T) {
	l := newLab(t)
	s := l.open(store.NewMemory())
	c := newClient(t, s, api.AccountKernelV31, 50)
	l.stock(8453, c.user.Address, 100_000_000)
	to := common.Address{0xbe, 0xef, 19: 9}
	signed, id, _ := c.call(c.batch(to, 30_000_000), "")
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
	c.ask("POST", c.executePath(), string(signed.Raw()))
	by := l.race(data)
	for end := time.Now().Add(time.Minute); !api.Terminal(c.status(id).Status) && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	got := c.status(id)
	if got.Status != api.StatusCompleted ||
		by != (common.Hash{}) && got.DestinationChainOperations[0].Hash != by.Hex() {
		t.Errorf("%+v, run by %s", got, by)
	}
	if v := c.balance(base+":"+to.Hex(), "eip155:8453/erc20:"+usdcOf(8453).Hex()); v.Int64() != 30_000_000 {
		t.Errorf("%s arrived", v)
	}
}

// race sends a copy of an operation at once; none when the tank was faster.
func (l *lab) race(data []byte) common.Hash {
	b, err := l.in.Chains[8453].Seal(context.Background(), chain.SealRequest{Time: uint64(time.Now().Unix()),
		Accept: chain.AllSucceed, Txs: []chain.Tx{{From: l.in.Faucet, To: l.in.Pins.EntryPoint, Data: data}}})
	if err != nil {
		return common.Hash{}
	}
	return b.Receipts[0].TxHash
}

// TestDataIsOfOneNetwork: the keys stay with it, and neither another network nor an embedded one takes its place.
func TestDataIsOfOneNetwork(t *testing.T) {
	l, db := newLab(t), store.NewMemory()
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
	embedded := store.NewMemory()
	open(t, options(embedded))
	if _, err := service.Open(l.options(embedded)); !errors.Is(err, service.ErrEmbedded) {
		t.Errorf("nodes: %v", err)
	}
	if _, err := service.Open(newLab(t).options(db)); err == nil ||
		!strings.Contains(err.Error(), "the data of the service is of another network") {
		t.Errorf("another lab: %v", err)
	}
}

// TestAChainWithOtherCodeIsNotServed: a contract that differs, and one that is missing.
func TestAChainWithOtherCodeIsNotServed(t *testing.T) {
	l := newLab(t)
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(l.file), networks.Descriptor))
	if err != nil {
		t.Fatal(err)
	}
	var d network.Descriptor
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	lying := d.Genesis[base]
	swapped := strings.Replace(string(raw), lying, d.Genesis["eip155:42161"], 1)
	if swapped == string(raw) {
		t.Fatal("the descriptor has no first block of Base")
	}
	if err := json.Unmarshal([]byte(swapped), &d); err != nil {
		t.Fatal(err)
	}
	d, err = d.WithID()
	if err != nil {
		t.Fatal(err)
	}
	changed, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(l.file), networks.Descriptor)
	if err := os.WriteFile(path, changed, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Open(l.options(store.NewMemory())); err == nil || !strings.Contains(err.Error(), lying) {
		t.Errorf("another first block: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := service.Open(l.options(store.NewMemory())); err == nil ||
		!strings.Contains(err.Error(), "coffer network deploy") {
		t.Errorf("no descriptor: %v", err)
	}
}
