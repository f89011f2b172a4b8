package evm_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/op"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/signers"
	"coffer/assets"
)

const (
	chainID     = 8453
	startTime   = 1_800_000_000
	tokenSupply = 1_000_000_000_000
)

// named is a contract at an address: the name says which ABI it speaks.
type named struct {
	name string
	at   common.Address
}

// world is one embedded chain that begins with the contracts at their pinned
// addresses. The clock stands still unless a test moves it.
type world struct {
	t     *testing.T
	chain ledger
	now   uint64 // Unix seconds
	gas   uint64 // limit of every transaction
	abis  map[string]abi.ABI

	entryPoint, factory, metaFactory, ecdsa, roles, window, token named
	implementation, delegate                                      named // Account, twice
	// paymaster is the one of every operation: the window, which anybody may use.
	paymaster named
	// treasury owns every token, operator runs the service, relayer is anybody who
	// submits transactions. They and the thief have coins for transactions of their
	// own.
	treasury, operator, relayer *ecdsa.PrivateKey
}

// newWorld opens chain 8453; what is given stands in genesis too.
func newWorld(t *testing.T, more ...evm.Account) *world { return newWorldOn(t, chainID, more...) }

func newWorldOn(t *testing.T, id uint64, more ...evm.Account) *world {
	t.Helper()
	w := &world{t: t, now: startTime, gas: 8_000_000, abis: map[string]abi.ABI{}, treasury: key("treasury"),
		operator: key("operator"), relayer: key("relayer")}
	w.bind()
	spec := evm.Spec{ChainID: id, Time: startTime, Alloc: more}
	rich := new(big.Int).Lsh(big.NewInt(1), 100)
	for _, k := range []*ecdsa.PrivateKey{w.treasury, w.operator, w.relayer, key("thief")} {
		spec.Alloc = append(spec.Alloc, evm.Account{Address: addressOf(k), Balance: rich})
	}
	for c, args := range map[named][]any{
		w.entryPoint: nil,
		w.roles:      nil,
		w.window:     nil,
		w.token:      {"USD Coin", "USDC", uint8(6), addressOf(w.treasury), big.NewInt(tokenSupply)},
	} {
		spec.Alloc = append(spec.Alloc, w.place(c, id, args...)...)
	}
	spec.Alloc = append(spec.Alloc, w.kernel()...)
	opened, err := openLedger(t, spec)
	w.check(err)
	w.chain = opened
	return w
}

// bind names the contracts, by their pinned addresses where they have one.
func (w *world) bind() {
	w.t.Helper()
	p, err := assets.PinnedAddresses()
	w.check(err)
	at := common.HexToAddress
	w.entryPoint = named{"EntryPoint", at(p.EntryPoint)}
	w.implementation = named{"KernelV31", at(p.KernelV31Implementation)}
	w.delegate = named{"KernelV33", at(p.KernelV33Delegate)}
	w.factory = named{"KernelFactory", at(p.Factory)}
	w.metaFactory = named{"MetaFactory", at(p.MetaFactory)}
	w.ecdsa = named{"ECDSAValidator", at(p.ECDSAValidator)}
	w.roles = named{"RoleBasedECDSAValidator", at(p.RoleBasedValidator)}
	w.window = named{"Window", common.Address{0xf1, 19: 3}}
	w.paymaster = w.window
	w.token = named{"Token", at("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")}
}

// place runs a constructor at the contract's address.
func (w *world) place(c named, id uint64, args ...any) []evm.Account {
	w.t.Helper()
	a := w.artifact(c.name)
	packed, err := w.abis[c.name].Pack("", args...)
	w.check(err)
	out, err := evm.Predeploy(append(bytes.Clone(a.Bytecode), packed...), c.at, id)
	w.check(err)
	return out
}

// kernel deploys what others wrote, through the deterministic deployer. The meta
// factory's owner has approved the factory.
func (w *world) kernel() []evm.Account {
	w.t.Helper()
	var out []evm.Account
	for _, c := range []named{w.implementation, w.delegate, w.ecdsa, w.factory, w.metaFactory} {
		made, err := evm.DeployDeterministic(w.artifact(c.name).Bytecode, common.Hash{})
		w.check(err)
		if made[0].Address != c.at {
			w.t.Fatalf("%s comes out at %s, pinned at %s", c.name, made[0].Address, c.at)
		}
		if c == w.metaFactory {
			slot := crypto.Keccak256Hash(common.LeftPadBytes(w.factory.at[:], 32), make([]byte, 32))
			made[0].Storage[slot] = common.Hash{31: 1}
		}
		out = append(out, made...)
	}
	return out
}

// artifact reads a contract's artifact and remembers its interface.
func (w *world) artifact(name string) assets.Artifact {
	w.t.Helper()
	a, err := assets.Contract(name)
	w.check(err)
	w.abis[name], err = abi.JSON(bytes.NewReader(a.ABI))
	w.check(err)
	return a
}

// run is a subtest in this world.
func (w *world) run(name string, f func(*testing.T)) {
	w.t.Helper()
	outer := w.t
	defer func() { w.t = outer }()
	outer.Run(name, func(t *testing.T) {
		w.t = t
		f(t)
	})
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func key(name string) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte("contracts test key " + name)))
	if err != nil {
		panic(err)
	}
	return k
}

func addressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

func signDigest(k *ecdsa.PrivateKey, digest common.Hash) []byte {
	sig, err := op.Sign(digest, k)
	if err != nil {
		panic(err)
	}
	return sig
}

func (w *world) pack(c named, method string, args ...any) []byte {
	w.t.Helper()
	data, err := w.abis[c.name].Pack(method, args...)
	w.check(err)
	return data
}

// simulate calls in a throw-away view of the head, from any address.
func (w *world) simulate(m chain.Message) chain.Result {
	w.t.Helper()
	st, err := w.chain.State(context.Background(), w.now)
	w.check(err)
	defer st.Close()
	return st.Call(m)
}

// transact simulates a transaction and seals it in a block. Both must agree:
// call-quote relies on it (protocol §2.3).
func (w *world) transact(tx chain.Tx) chain.Receipt {
	w.t.Helper()
	tx.Gas = w.gas
	sim := w.simulate(chain.Message{From: tx.From.Address(), To: tx.To, Value: tx.Value, Data: tx.Data, Gas: tx.Gas,
		Authorizations: tx.Authorizations})
	b, err := w.chain.Seal(context.Background(), chain.SealRequest{Time: w.now, Txs: []chain.Tx{tx}})
	w.check(err)
	r := b.Receipts[0]
	if r.Success != (sim.Err == nil) || !r.Success && !bytes.Equal(r.Revert, sim.Return) {
		w.t.Fatalf("simulated %v %s, sealed %t %s", sim.Err, w.decode(sim.Return), r.Success, w.decode(r.Revert))
	}
	return r
}

// send seals a call that must succeed.
func (w *world) send(from *ecdsa.PrivateKey, to named, value int64, method string, args ...any) chain.Receipt {
	w.t.Helper()
	r := w.transact(chain.Tx{From: signers.Local(from), To: to.at, Value: big.NewInt(value),
		Data: w.pack(to, method, args...)})
	if !r.Success {
		w.t.Fatalf("%s.%s failed: %s", to.name, method, w.decode(r.Revert))
	}
	return r
}

// refuse seals a call that must fail with a reason that begins with want.
func (w *world) refuse(want string, from *ecdsa.PrivateKey, to named, value int64, method string, args ...any) {
	w.t.Helper()
	r := w.transact(chain.Tx{From: signers.Local(from), To: to.at, Value: big.NewInt(value),
		Data: w.pack(to, method, args...)})
	if got := w.decode(r.Revert); r.Success || !strings.HasPrefix(got, want) {
		w.t.Fatalf("%s.%s: success %t, reason %s, want %s", to.name, method, r.Success, got, want)
	}
}

// calls simulates a call and returns the reason of its failure, "" on success.
func (w *world) calls(from common.Address, to named, method string, args ...any) string {
	w.t.Helper()
	res := w.simulate(chain.Message{From: from, To: to.at, Data: w.pack(to, method, args...)})
	if res.Err == nil {
		return ""
	}
	return w.decode(res.Return)
}

// read returns everything that a view answers.
func (w *world) read(c named, method string, args ...any) []any {
	w.t.Helper()
	res := w.simulate(chain.Message{To: c.at, Data: w.pack(c, method, args...)})
	if res.Err != nil {
		w.t.Fatalf("%s.%s: %v %s", c.name, method, res.Err, w.decode(res.Return))
	}
	out, err := w.abis[c.name].Unpack(method, res.Return)
	w.check(err)
	return out
}

// get returns the first thing that a view answers.
func get[T any](w *world, c named, method string, args ...any) T {
	w.t.Helper()
	v, ok := w.read(c, method, args...)[0].(T)
	if !ok {
		w.t.Fatalf("%s.%s answers another type", c.name, method)
	}
	return v
}

// decode names a revert as Name(argument,argument,[nested revert]).
func (w *world) decode(data []byte) string {
	if len(data) < 4 {
		return fmt.Sprintf("0x%x", data)
	}
	if reason, err := abi.UnpackRevert(data); err == nil {
		return reason
	}
	for _, a := range w.abis {
		e, err := a.ErrorByID([4]byte(data[:4]))
		if err != nil {
			continue
		}
		args, err := e.Unpack(data)
		if err != nil {
			return e.Name + " that cannot be decoded"
		}
		var parts []string
		for _, arg := range args.([]any) {
			if b, ok := arg.([]byte); ok {
				arg = "[" + w.decode(b) + "]"
			}
			parts = append(parts, fmt.Sprint(arg))
		}
		return e.Name + "(" + strings.Join(parts, ",") + ")"
	}
	return fmt.Sprintf("0x%x", data)
}

// ---- money ----

func (w *world) give(to common.Address, tokens, wei int64) {
	w.t.Helper()
	w.send(w.treasury, w.token, 0, "transfer", to, big.NewInt(tokens))
	if r := w.transact(chain.Tx{From: signers.Local(w.treasury), To: to, Value: big.NewInt(wei)}); !r.Success {
		w.t.Fatalf("%s does not take coins: %s", to, w.decode(r.Revert))
	}
}

func (w *world) tokens(of common.Address) int64 {
	w.t.Helper()
	return get[*big.Int](w, w.token, "balanceOf", of).Int64()
}

func (w *world) state() chain.State {
	w.t.Helper()
	st, err := w.chain.State(context.Background(), w.now)
	w.check(err)
	return st
}

func (w *world) wei(of common.Address) int64 {
	w.t.Helper()
	st := w.state()
	defer st.Close()
	return st.Balance(of).Int64()
}

func (w *world) code(of common.Address) []byte {
	w.t.Helper()
	st := w.state()
	defer st.Close()
	return st.Code(of)
}

func (w *world) slot(of common.Address, at common.Hash) common.Hash {
	w.t.Helper()
	st := w.state()
	defer st.Close()
	return st.Storage(of, at)
}

// holds fails the test when an address does not own exactly this.
func (w *world) holds(of common.Address, tokens, wei int64) {
	w.t.Helper()
	if gotTokens, gotWei := w.tokens(of), w.wei(of); gotTokens != tokens || gotWei != wei {
		w.t.Fatalf("%s holds %d tokens and %d wei, want %d and %d", of, gotTokens, gotWei, tokens, wei)
	}
}
