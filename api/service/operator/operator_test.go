package operator

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api/network"
	"coffer/api/networks"
	"coffer/api/service"
	"coffer/api/service/pinned"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// With -anvil the tests stand on nodes that are not ours as well.
var anvilProgram = flag.String("anvil", "", "run the tests on nodes of this anvil too, a path")

// payer is the first account of development networks.
func payer(t *testing.T) signers.EVM {
	t.Helper()
	key, err := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80")
	if err != nil {
		t.Fatal(err)
	}
	return signers.Local(key)
}

// world is a network file whose nodes answer.
type world struct {
	*testing.T
	file *networks.File
	out  bytes.Buffer
	json bool

	solana string // the endpoint of the ledger
	sent   int    // transactions that were signed
}

// embedded are the chains inside this program.
func embedded(t *testing.T) *world {
	t.Helper()
	s, err := service.Open(service.Options{Store: store.NewMemory(), Kind: network.Lab, Fund: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Endow(t.Context(), []common.Address{payer(t).Address()}, true, nil); err != nil {
		t.Fatal(err)
	}
	nodes, err := s.ServeNodes(t.Context(), service.NodesOptions{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nodes.Close() })
	urls := map[uint64]string{}
	for _, n := range nodes.List {
		urls[n.ID] = n.HTTP
	}
	w := newWorld(t, urls)
	w.solana = urls[0]
	return w
}

func newWorld(t *testing.T, urls map[uint64]string) *world {
	t.Helper()
	all, err := networks.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	f := &networks.File{Path: filepath.Join(t.TempDir(), networks.Name), Kind: network.Lab}
	for _, c := range all {
		if url := urls[c.ID]; url != "" {
			c.RPC, c.Tokens, c.Feeds = []string{url}, c.Tokens[:3], nil
			c.Final, c.FeeCap = networks.Finality{Counted: true}, big.NewInt(100e9)
			f.Chains = append(f.Chains, c)
		}
	}
	return (&world{T: t, file: f}).write()
}

func (w *world) write() *world {
	w.Helper()
	if err := os.WriteFile(w.file.Path, w.file.Encode(), 0o600); err != nil {
		w.Fatal(err)
	}
	return w
}

func (w *world) options() Options {
	w.out.Reset()
	return Options{File: w.file.Path, Clock: time.Now, JSON: w.json, Out: &w.out}
}

// deploys runs Deploy.
func (w *world) deploys(dry bool) (string, error) {
	w.Helper()
	err := Deploy(w.Context(), DeployOptions{Options: w.options(), DryRun: dry,
		Signer: func(context.Context) (signers.EVM, error) { return counting{payer(w.T), w}, nil }})
	return w.out.String(), err
}

type counting struct {
	signers.EVM
	w *world
}

func (c counting) SignTx(ctx context.Context, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	c.w.sent++
	return c.EVM.SignTx(ctx, tx, id)
}

// rpc calls a method of a chain.
func (w *world) rpc(chain uint64, method string, params ...any) string {
	w.Helper()
	c, ok := w.file.Chain(chain)
	if !ok {
		w.Fatalf("no chain %d", chain)
	}
	if params == nil {
		params = []any{}
	}
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		w.Fatal(err)
	}
	res, err := http.Post(c.RPC[0], "application/json", bytes.NewReader(raw))
	if err != nil {
		w.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || strings.Contains(string(body), `"error"`) {
		w.Fatalf("%s: %s, %v", method, body, err)
	}
	return string(body)
}

// hasEverything demands the code of every contract on every chain, each at one address.
func (w *world) hasEverything() {
	w.Helper()
	all, err := pinned.All()
	if err != nil {
		w.Fatal(err)
	}
	for _, chain := range w.file.Chains {
		for _, c := range all {
			var answer struct {
				Result string `json:"result"`
			}
			raw := w.rpc(chain.ID, "eth_getCode", c.At.Hex(), "latest")
			if err := json.Unmarshal([]byte(raw), &answer); err != nil {
				w.Fatal(err)
			}
			if there, err := c.Check(chain.ID, common.FromHex(answer.Result)); !there || err != nil {
				w.Errorf("%s on %d: there: %t, %v", c.Name, chain.ID, there, err)
			}
		}
	}
}

func (w *world) descriptor() network.Descriptor {
	w.Helper()
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(w.file.Path), networks.Descriptor))
	if err != nil {
		w.Fatal(err)
	}
	d, err := network.Decode(raw)
	if err != nil {
		w.Fatal(err)
	}
	return d
}

// says demands texts of what was printed.
func says(t *testing.T, out string, all ...string) {
	t.Helper()
	plain := regexp.MustCompile(` +`).ReplaceAllString(out, " ")
	for _, want := range all {
		if !strings.Contains(plain, want) {
			t.Errorf("not said: %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// The chains inside this program lack Window and our role-based validator: check says what is off, deploy brings them,
// and then nothing is missing.
func TestDeployBringsWhatCheckMisses(t *testing.T) {
	w := embedded(t)
	err := Check(t.Context(), w.options())
	var incomplete *IncompleteError
	if !errors.As(err, &incomplete) || incomplete.Chains != 8 || incomplete.Things != 8 {
		t.Fatalf("%v\n%s", err, &w.out)
	}
	says(t, w.out.String(), "Base (8453)", "ok EntryPoint 0x0000000071727De22E5E9d8BAf0edAc6f37da032",
		"MISSING Window no code at "+network.Window().Hex()+"; nothing works without it",
		"without RoleBasedECDSAValidator no code at 0x14725fBA0F374c869d1cd993A37557055560CA3d; no accounts role-based",
		"ok factory approved", "ok EIP-7702", "ok MCOPY", "ok transient storage", "ok eth_createAccessList",
		"ok eth_simulateV1", "ok tokens 3 of 3", "ok past states")

	out, err := w.deploys(true)
	if err != nil || w.sent != 0 {
		t.Fatalf("%d transactions, %v", w.sent, err)
	}
	says(t, out, "Base Window "+network.Window().Hex(), "nothing was sent")
	if _, err := os.Stat(filepath.Join(filepath.Dir(w.file.Path), networks.Descriptor)); err == nil {
		t.Error("a dry run wrote the descriptor")
	}

	w.json = true
	out, err = w.deploys(false)
	if err != nil {
		t.Fatal(err, out)
	}
	w.hasEverything()
	d := w.descriptor()
	var did Deployed
	if err := json.Unmarshal([]byte(out), &did); err != nil {
		t.Fatal(err, out)
	}
	for _, c := range did.Chains {
		if len(c.Missing) != 2 || c.Missing[0].Transaction == "" || c.Missing[1].Transaction == "" ||
			c.There+len(c.Missing) < 8 || c.MaxCost == "0" || !c.FactoryApproved {
			t.Errorf("%+v", c)
		}
	}
	if len(did.Chains) != 8 || did.DryRun || did.NetworkID != d.ID || did.Fingerprint != d.Fingerprint() ||
		filepath.Base(did.NetworkFile) != networks.Descriptor {
		t.Errorf("%+v", did)
	}
	var s Survey
	if err := errors.Join(Check(t.Context(), w.options()), json.Unmarshal(w.out.Bytes(), &s)); err != nil || !s.Ready ||
		len(s.Chains) != 8 || s.File != w.file.Path || s.Chains[0].Findings[0].State != Good {
		t.Errorf("%v: %s", err, &w.out)
	}
	w.json = false
	if w.sent != 16 || d.Kind != network.Lab || len(d.Chains) != 8 || !d.OnOwnNodes() {
		t.Errorf("%d transactions, %+v", w.sent, d)
	}
	if out, err = w.deploys(false); err != nil || w.sent != 16 || w.descriptor().ID != d.ID {
		t.Errorf("a second run: %d transactions, %v", w.sent, err)
	}
	says(t, out, "nothing is missing on 8 chains")
	if err := Check(t.Context(), w.options()); err != nil {
		t.Error(err)
	}
	says(t, w.out.String(), "everything that is needed is there")
}

// An operator's contracts belong to its owner and its attesters: they come out at the same address on every chain, a
// second run deploys nothing, and other attesters make another escrow, which leaves the one before in the list.
func TestDeployBringsTheContractsOfAnOperator(t *testing.T) {
	w := embedded(t)
	w.only(2)
	op := &networks.Operator{Owner: common.Address{0xc0, 19: 1}, Threshold: 1, SponsorPerDay: big.NewInt(5e6),
		ExposureCap: big.NewInt(1e9), Anyone: true}
	w.file.Operator = op
	w.write()
	if out, err := w.deploys(false); err == nil || w.sent != 0 ||
		!strings.Contains(err.Error(), "no attester is named") {
		t.Fatalf("%d transactions, %v %s", w.sent, err, out)
	}
	var incomplete *IncompleteError
	if err := Check(t.Context(), w.options()); !errors.As(err, &incomplete) || incomplete.Things != 4 {
		t.Fatalf("%v\n%s", err, &w.out)
	}
	says(t, w.out.String(), "MISSING attesters none is named: coffer serve --networks says which its own is")
	op.Attesters = []common.Address{{1}}
	w.write()
	if err := Check(t.Context(), w.options()); !errors.As(err, &incomplete) || incomplete.Things != 6 {
		t.Fatalf("%v\n%s", err, &w.out)
	}
	says(t, w.out.String(), "no operator works without it")
	if out, err := w.deploys(false); err != nil || w.sent != 8 {
		t.Fatalf("%d transactions, %v %s", w.sent, err, out)
	}
	d := w.descriptor()
	if len(d.Deployments) != 1 || d.OnOwnNodes() || !d.OnNodes() {
		t.Fatalf("%+v", d)
	}
	at := d.Deployments[0]
	if computed, err := d.EscrowAt(at); err != nil || computed != at.Escrow || d.Pins.Escrow != at.Escrow ||
		d.Pins.Paymaster != at.Filler || d.Pins.Solver != at.Filler || at.Attesters[0] != op.Attesters[0] {
		t.Errorf("%+v, computed %s, %v", d, computed, err)
	}
	for _, c := range w.file.Chains {
		owner := w.rpc(c.ID, "eth_call", map[string]any{"to": at.Filler, "data": "0x8da5cb5b"}, "latest")
		payee := w.rpc(c.ID, "eth_call", map[string]any{"to": at.Escrow, "data": hexutil.Encode(
			crypto.Keccak256([]byte("filler()"))[:4])}, "latest")
		if !strings.Contains(strings.ToLower(owner), strings.ToLower(op.Owner.Hex()[2:])) ||
			!strings.Contains(payee, strings.ToLower(at.Filler.Hex()[2:])) {
			t.Errorf("chain %d: owner %s, payee %s", c.ID, owner, payee)
		}
	}
	if _, err := w.deploys(false); err != nil || w.sent != 8 || len(w.descriptor().Deployments) != 1 {
		t.Errorf("a second run: %d transactions, %v", w.sent, err)
	}
	op.Attesters = []common.Address{{1}, {2}}
	op.Threshold = 2
	w.write()
	if _, err := w.deploys(false); err != nil || w.sent != 10 {
		t.Errorf("other attesters: %d transactions, %v", w.sent, err)
	}
	later := w.descriptor()
	if later.ID != d.ID || len(later.Deployments) != 2 || later.Deployments[0].Escrow != at.Escrow ||
		later.Deployments[1].Escrow == at.Escrow || later.Deployments[1].Filler != at.Filler {
		t.Errorf("%+v", later)
	}
	w.file.Operator = nil
	w.write()
	if _, err := w.deploys(false); err == nil || !strings.Contains(err.Error(), "does not have any more") {
		t.Error("an operator less:", err)
	}
}

// What is wrong in the file shows against the chain, with line and endpoint; the chain stays as it is.
func TestCheckComparesTheFileWithTheChain(t *testing.T) {
	w := embedded(t)
	if _, err := w.deploys(false); err != nil {
		t.Fatal(err)
	}
	one, ten := w.file.Chains[0], w.file.Chains[1]
	w.file.Chains[0].Tokens = append(w.file.Chains[0].Tokens[:1:1],
		networks.Token{Address: common.Address{1, 2}, Symbol: "NIL", Decimals: 7, Aggregate: "ob:nil"},
		networks.Token{Address: ten.Tokens[0].Address, Symbol: "X", Decimals: 9, Aggregate: "ob:x"})
	w.file.Chains[0].Feeds = []networks.Feed{{Aggregate: "ob:eth", Address: one.Tokens[0].Address, Decimals: 8,
		Heartbeat: time.Hour}}
	w.file.Chains[1].RPC = []string{one.RPC[0], ten.RPC[0]}
	w.file.Chains[1].Quorum = 1
	w.file.Chains[2].RPC = []string{one.RPC[0]}
	w.write()
	err := Check(t.Context(), w.options())
	if err == nil {
		t.Fatal("accepted")
	}
	says(t, w.out.String(), "MISSING token NIL "+w.file.Path+":", "no token answers at", "without feed of ob:eth",
		"this endpoint is not used", "MISSING endpoints 0 of 1 answer")
	if strings.Contains(w.out.String(), "/8453") {
		t.Error("more of an endpoint than scheme and host is printed")
	}
}

// anvils are seven nodes that are not ours.
func anvils(t *testing.T) *world {
	t.Helper()
	if *anvilProgram == "" {
		t.Skip("no -anvil PATH is given; .ci/run anvil gives one")
	}
	urls := map[uint64]string{}
	for _, id := range []uint64{1, 10, 56, 137, 8453, 42161, 43114} {
		urls[id] = startAnvil(t, fmt.Sprint(id))
	}
	w := newWorld(t, urls)
	for i := range w.file.Chains {
		w.file.Chains[i].Tokens = nil
	}
	return w.write()
}

func startAnvil(t *testing.T, id string, more ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, *anvilProgram, append([]string{"--port", "0", "--chain-id", id, "--hardfork",
		"prague", "--cache-path", t.TempDir()}, more...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); _ = cmd.Wait() })
	lines, at := bufio.NewScanner(out), ""
	for at == "" && lines.Scan() {
		if _, text, found := strings.Cut(lines.Text(), "Listening on "); found {
			at = text
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return "http://" + at
}

// On seven nodes that are not ours: equal addresses, a second run sends nothing, other code stops everything.
func TestDeployOnAnvil(t *testing.T) {
	w := anvils(t)
	out, err := w.deploys(false)
	if err != nil {
		t.Fatal(err, out)
	}
	w.hasEverything()
	if w.sent != 7*8 {
		t.Errorf("%d transactions", w.sent)
	}
	says(t, out, "the meta factory's owner has not approved the factory")
	first := w.descriptor()
	if out, err = w.deploys(false); err != nil || w.sent != 7*8 {
		t.Errorf("a second run: %d transactions, %v", w.sent, err)
	}
	says(t, out, "nothing is missing on 7 chains")
	if err := Check(t.Context(), w.options()); err != nil {
		t.Error(err)
	}
	says(t, w.out.String(), "without factory approved", "ok EIP-7702 the chain has it", "ok MCOPY")
	at, slot, err := pinned.Approval()
	if err != nil {
		t.Fatal(err)
	}
	w.rpc(8453, "anvil_setStorageAt", at, slot, common.Hash{31: 1})
	_ = Check(t.Context(), w.options())
	says(t, w.out.String(), "ok factory approved")

	w.rpc(137, "anvil_setCode", network.Window().Hex(), "0x6001")
	var differs *pinned.DifferenceError
	if _, err := w.deploys(false); !errors.As(err, &differs) || differs.Chain != 137 ||
		differs.At != network.Window() || differs.Found != crypto.Keccak256Hash(common.FromHex("0x6001")) ||
		differs.Expected == differs.Found {
		t.Errorf("other code: %v", err)
	}
	if err := Check(t.Context(), w.options()); err == nil {
		t.Error("other code: check finds nothing")
	}
	says(t, w.out.String(), "MISSING Window other code at "+network.Window().Hex()+": expected the hash 0x")
	if w.descriptor().ID != first.ID || w.sent != 7*8 {
		t.Error("other code: something was sent or written")
	}
}

// Without the deterministic deployer nothing can be put anywhere, and the text says how to get it.
func TestDeployWithoutTheDeployerOnAnvil(t *testing.T) {
	w := anvils(t)
	w.rpc(10, "anvil_setCode", deployer().Hex(), "0x")
	_, err := w.deploys(false)
	if err == nil || w.sent != 0 || !strings.Contains(err.Error(), keyless) {
		t.Fatalf("%d sent, %v", w.sent, err)
	}
}

// The transaction that the text names makes the deterministic deployer.
func TestTheKeylessTransactionMakesTheDeployer(t *testing.T) {
	var tx types.Transaction
	if err := tx.UnmarshalBinary(common.FromHex(keylessTx)); err != nil {
		t.Fatal(err)
	}
	from, err := types.Sender(types.HomesteadSigner{}, &tx)
	if err != nil || crypto.CreateAddress(from, tx.Nonce()) != deployer() || !strings.Contains(keyless, from.Hex()) ||
		!strings.Contains(keyless, deployer().Hex()) {
		t.Errorf("from %s it makes %s, %v", from, crypto.CreateAddress(from, tx.Nonce()), err)
	}
	if most := new(big.Int).Mul(tx.GasPrice(), new(big.Int).SetUint64(tx.Gas())); human(most) != "0.01" {
		t.Errorf("it needs %s", human(most))
	}
}
