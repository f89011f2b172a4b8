package devnet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op/erc20"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/deployment"
	"coffer/api/service/devnet"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

func open(t testing.TB, s store.Store) *devnet.Installation {
	t.Helper()
	in, err := devnet.Open(s, options())
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// tokens lists every ERC-20 of the network.
func tokens(in *devnet.Installation) (out []caip.Asset) {
	for _, agg := range in.Catalog.Aggregates() {
		for _, e := range agg.Entities {
			if _, ok := e.Asset.Token(); ok {
				out = append(out, e.Asset)
			}
		}
	}
	return out
}

func call(t *testing.T, in *devnet.Installation, a caip.Asset, data []byte) *big.Int {
	t.Helper()
	c, err := in.ChainOf(a.Chain)
	if err != nil {
		t.Fatal(err)
	}
	st, err := c.State(context.Background(), c.Head().Time)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	token, _ := a.Token()
	r := st.Call(chain.Message{To: token, Data: data})
	if r.Err != nil {
		t.Fatalf("%s: %v", a, r.Err)
	}
	return new(big.Int).SetBytes(r.Return)
}

func TestSameSeedAndClockGiveTheSameHeads(t *testing.T) {
	a, b := open(t, store.NewMemory()), open(t, store.NewMemory())
	if a.ID != b.ID {
		t.Errorf("network ids %s and %s", a.ID, b.ID)
	}
	for _, id := range a.ChainIDs {
		if x, y := a.Chains[id].Head(), b.Chains[id].Head(); x.Hash != y.Hash || x.Number != 1 {
			t.Errorf("eip155:%d: head %d %s and %d %s", id, x.Number, x.Hash, y.Number, y.Hash)
		}
	}
	o := options()
	o.Seed = bytes.Repeat([]byte{7}, signers.SeedSize)
	other, err := devnet.Open(store.NewMemory(), o)
	if err != nil {
		t.Fatal(err)
	}
	if other.ID == a.ID {
		t.Error("two seeds gave one network id")
	}
}

func TestReopeningFindsTheSameInstallation(t *testing.T) {
	s := store.NewMemory()
	first := open(t, s)
	o := options()
	o.Seed, o.Random = nil, strings.NewReader("") // neither may be needed
	again, err := devnet.Open(s, o)
	if err != nil {
		t.Fatal(err)
	}
	if first.ID != again.ID || again.CoSigner.Address() != first.CoSigner.Address() {
		t.Error("another installation came back")
	}
	if again.Chains[1].Head().Hash != first.Chains[1].Head().Hash {
		t.Error("another head came back")
	}
	o.Seed = bytes.Repeat([]byte{1}, signers.SeedSize)
	if _, err := devnet.Open(s, o); !errors.Is(err, devnet.ErrSeed) {
		t.Errorf("another seed: %v, expected ErrSeed", err)
	}
}

func TestAFirstStartThatFailsLeavesNothing(t *testing.T) {
	s := store.NewMemory()
	broken := &failing{Store: s}
	if _, err := devnet.Open(broken, options()); !errors.Is(err, errDisk) {
		t.Fatalf("%v, expected the fault of the store", err)
	}
	o := options()
	o.Seed = bytes.Repeat([]byte{9}, signers.SeedSize) // a leftover seed would refuse this one
	if _, err := devnet.Open(s, o); err != nil {
		t.Fatalf("start after a failed one: %v", err)
	}
}

// mark is what the store says about what its chains began with.
func mark(t *testing.T, s store.Store) (text string) {
	t.Helper()
	err := s.View(func(tx store.Tx) error {
		text = string(tx.Bucket("installation").Get([]byte("made")))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func setMark(t *testing.T, s store.Store, text string) {
	t.Helper()
	err := s.Update(func(tx store.Tx) error { return tx.Bucket("installation").Put([]byte("made"), []byte(text)) })
	if err != nil {
		t.Fatal(err)
	}
}

// When this fails, what is made of a seed has changed: old data is of another generation from now on, and the constant
// changes too.
func TestTheMarkNamesWhatThisProgramMakes(t *testing.T) {
	s := store.NewMemory()
	if in := open(t, s); mark(t, s) != "3 "+in.ID {
		t.Errorf("the mark is %q, this program makes %q: with another id generation grows, too", mark(t, s), in.ID)
	}
}

func TestDataOfAnotherMarkIsOfAnotherGenerationAndLeftAlone(t *testing.T) {
	s := store.NewMemory()
	open(t, s)
	for old, want := range map[string]error{
		"": devnet.ErrVersion, "0x2e6e7adf99a44c4bf2d50450af3503dcdf78e4606772affef602cfa5de1234b0": devnet.ErrVersion,
		"2 another": devnet.ErrVersion, "3 another": devnet.ErrVersion, "4 what a newer program makes": devnet.ErrNewer,
		"10 another": devnet.ErrNewer,
	} {
		setMark(t, s, old)
		commits := &counting{Store: s}
		if _, err := devnet.Open(commits, options()); !errors.Is(err, want) {
			t.Errorf("mark %q: %v, expected %v", old, err, want)
		}
		if commits.n != 0 || mark(t, s) != old {
			t.Errorf("mark %q: %d commits, the mark is %q now", old, commits.n, mark(t, s))
		}
	}
}

func TestChainsOfAnotherVersionAreRefusedAndLeftAlone(t *testing.T) {
	s := store.NewMemory()
	setMark(t, s, "what another program made")
	other := evm.Spec{ChainID: 1, Time: devnet.Time,
		Alloc: []evm.Account{{Address: common.Address{1}, Balance: big.NewInt(1)}}}
	c, err := evm.Open(s, other)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(func(tx store.Tx) error { return tx.Bucket("installation").Put([]byte("seed"), options().Seed) })
	if err != nil {
		t.Fatal(err)
	}
	before := c.Head().Hash
	if _, err := devnet.Open(s, options()); !errors.Is(err, devnet.ErrVersion) {
		t.Errorf("%v, expected ErrVersion", err)
	}
	if again, err := evm.Open(s, other); err != nil || again.Head().Hash != before {
		t.Errorf("the stored chain changed: %v", err)
	}
}

var errDisk = errors.New("the disk is full")

// failing loses its one commit after everything was written.
type failing struct{ store.Store }

func (f *failing) Update(fn func(store.Tx) error) error {
	return f.Store.Update(func(tx store.Tx) error { return errors.Join(fn(tx), errDisk) })
}

func TestEveryTokenSumIsTheSupplyAndStaysIt(t *testing.T) {
	in := open(t, store.NewMemory())
	holders := []common.Address{in.Treasury.Address(), in.Pins.Solver,
		in.Faucet.Address()}
	for _, a := range tokens(in) {
		sum := new(big.Int)
		for _, h := range holders {
			v, err := in.Balance(context.Background(), h, a)
			if err != nil {
				t.Fatal(err)
			}
			if v.Sign() == 0 {
				t.Errorf("%s: %s holds nothing", a, h)
			}
			if got := call(t, in, a, erc20.BalanceOf(h)); got.Cmp(v) != 0 {
				t.Errorf("%s: balanceOf says %s, the slot %s", a, got, v)
			}
			sum.Add(sum, v)
		}
		if total := call(t, in, a, common.FromHex("0x18160ddd")); sum.Cmp(total) != 0 || total.Sign() == 0 {
			t.Errorf("%s: balances add up to %s, totalSupply is %s", a, sum, total)
		}
	}
}

func TestNativeCoinIsBalancesPlusBurnedFees(t *testing.T) {
	in := open(t, store.NewMemory())
	for _, id := range in.ChainIDs {
		block, ok, err := in.Chains[id].Block(context.Background(), 1)
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
		sum := new(big.Int).Mul(block.BaseFee, new(big.Int).SetUint64(block.GasUsed))
		for _, who := range []common.Address{
			in.Treasury.Address(), in.Pins.Solver, in.Faucet.Address(),
			in.Operator.Address(),
		} {
			v, err := in.Balance(context.Background(), who, caip.Native(id))
			if err != nil {
				t.Fatal(err)
			}
			if v.Sign() == 0 {
				t.Errorf("eip155:%d: %s has no coin", id, who)
			}
			sum.Add(sum, v)
		}
		want, _ := new(big.Int).SetString("1000000000000000000000000000", 10)
		if sum.Cmp(want) != 0 {
			t.Errorf("eip155:%d: balances and burned fees are %s, expected %s", id, sum, want)
		}
	}
}

func TestContractsStandAtThePinnedAddressesAndKnowTheirParties(t *testing.T) {
	in := open(t, store.NewMemory())
	p := in.Pins
	operator := common.BytesToHash(in.Operator.Address().Bytes())
	own := common.BytesToHash(in.Attester.Address().Bytes())
	coins := new(big.Int).Exp(big.NewInt(10), big.NewInt(26), nil)
	coins.Lsh(coins, 2) // 400 million: what the solver has
	for _, id := range in.ChainIDs {
		for name, at := range map[string]common.Address{
			"entry point": p.EntryPoint, "kernel 3.1": p.KernelV31, "kernel 3.3": p.KernelV33, "factory": p.Factory,
			"meta factory":    p.MetaFactory,
			"ecdsa validator": p.ECDSAValidator, "role-based validator": p.RoleBasedValidator, "paymaster": p.Paymaster,
			"escrow": p.Escrow,
		} {
			if ok, err := in.Deployed(context.Background(), id, at); err != nil || !ok {
				t.Errorf("eip155:%d: no %s at %s (%v)", id, name, at, err)
			}
		}
		st, err := in.Chains[id].State(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			at   common.Address
			ask  string
			args []byte
			want []byte
		}{
			"the operator is the filler's hot key":  {p.Paymaster, "hot(address)", operator[:], word(1)},
			"nobody else is":                        {p.Paymaster, "hot(address)", word(1), word(0)},
			"the treasury owns the filler":          {p.Paymaster, "owner()", nil, in.Treasury.Address().Bytes()},
			"coins may leave":                       {p.Paymaster, "available(address)", word(0), coins.Bytes()},
			"a stranger's token may not":            {p.Paymaster, "available(address)", word(77), word(0)},
			"the filler is the only payee":          {p.Escrow, "filler()", nil, p.Paymaster[:]},
			"one attester decides":                  {p.Escrow, "threshold()", nil, word(1)},
			"it is the installation's own":          {p.Escrow, "isAttester(address)", own[:], word(1)},
			"the operator is none":                  {p.Escrow, "isAttester(address)", operator[:], word(0)},
			"attestations are of this network only": {p.Escrow, "networkSalt()", nil, in.EscrowSalt[:]},
		} {
			data := append(crypto.Keccak256([]byte(c.ask))[:4], c.args...)
			if got := st.Call(chain.Message{To: c.at, Data: data}); got.Err != nil ||
				!bytes.Equal(got.Return, common.LeftPadBytes(c.want, 32)) {
				t.Errorf("eip155:%d: %s: %x, %v", id, name, got.Return, got.Err)
			}
		}
		st.Close()
	}
}

// The code of others, hashed: what a node of chain 1 has at these addresses. On every chain the meta factory works with
// the factory.
func TestTheAccountsAreKernel(t *testing.T) {
	in := open(t, store.NewMemory())
	p := in.Pins
	slot := crypto.Keccak256Hash(common.LeftPadBytes(p.Factory[:], 32), make([]byte, 32))
	for _, id := range in.ChainIDs {
		st, err := in.Chains[id].State(t.Context(), uint64(options().Clock().Unix()))
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range map[common.Address]string{
			p.EntryPoint:     "0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58",
			p.KernelV31:      "0xad2237352b42b060ace06bf6b31d14409c4daadfe5e0e60a89221ab314849d41",
			p.KernelV33:      "0xd748c6060679ccb34583963e5edc21299e4c6723e7c7a80561d255861ed209b7",
			p.ECDSAValidator: "0x2f8b585e669feb673b21af5666d38b5a9ef3c361cf29a48299240fa97c890708",
			p.Factory:        "0xeecde6f459d0ecadbd5b76e89de74d8187b52d5c71651fdfc007c45d4f2f3ca0",
			p.MetaFactory:    "0x4527f3642a53f1f4ce76beb05f955a8859b7245a1ff20da5be9a518d2fcd64aa",
		} {
			if got := crypto.Keccak256Hash(st.Code(at)); got.Hex() != want {
				t.Errorf("eip155:%d: the code at %s is %s, want %s", id, at, got, want)
			}
		}
		if st.Storage(p.MetaFactory, slot) != (common.Hash{31: 1}) {
			t.Errorf("eip155:%d: the factory is not approved", id)
		}
		st.Close()
	}
}

func TestTokensSayTheirNameAndDecimals(t *testing.T) {
	in := open(t, store.NewMemory())
	long := 0
	for _, a := range tokens(in) {
		e, _ := in.Catalog.Entity(a)
		c, _ := in.ChainOf(a.Chain)
		st, err := c.State(context.Background(), c.Head().Time)
		if err != nil {
			t.Fatal(err)
		}
		token, _ := a.Token()
		for selector, want := range map[string]string{"0x06fdde03": e.Name, "0x95d89b41": e.Symbol} {
			r := st.Call(chain.Message{To: token, Data: common.FromHex(selector)})
			text, err := abi.Arguments{{Type: abi.Type{T: abi.StringTy}}}.Unpack(r.Return)
			if err != nil || text[0] != want {
				t.Errorf("%s says %q (%v, %v), expected %q", a, text, r.Err, err, want)
			}
			if len(want) > 31 {
				long++
			}
		}
		st.Close()
		if got := call(t, in, a, common.FromHex("0x313ce567")); got.Int64() != int64(e.Decimals) {
			t.Errorf("%s: %s decimals, expected %d", a, got, e.Decimals)
		}
	}
	if long == 0 {
		t.Error("no name is longer than a slot")
	}
}

func TestDescriptorNamesThisInstallation(t *testing.T) {
	in := open(t, store.NewMemory())
	raw, err := in.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d, err := network.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	now := network.Deployment{From: int64(devnet.Time), Filler: d.Pins.Solver, Escrow: d.Pins.Escrow,
		Attesters: []common.Address{in.Attester.Address()}, Threshold: 1}
	if len(d.Deployments) != 1 || !reflect.DeepEqual(d.Deployments[0], now) || len(d.Installation) != 66 {
		t.Errorf("deployments %+v of installation %q", d.Deployments, d.Installation)
	}
	if len(d.Chains) != 8 || len(d.Genesis) != 8 || d.Kind != network.Embedded {
		t.Errorf("descriptor: %d chains, %d genesis hashes, kind %s", len(d.Chains), len(d.Genesis), d.Kind)
	}
	if d.Pins.CoSigner != in.CoSigner.Address() || d.Pins.Solver == (common.Address{}) ||
		d.Pins.SolanaVault == "" {
		t.Errorf("pins: %+v", d.Pins)
	}
	found := false
	for _, f := range d.Formulas {
		found = found || f.Name == "RoleBasedECDSAValidator" && f.Version == "1.4.3" &&
			f.VerifyingContract == d.Pins.RoleBasedValidator && f.Formula == network.FormulaCallDataAndNonce
	}
	if !found {
		t.Errorf("no formula for RoleBasedECDSAValidator 1.4.3: %v", d.Formulas)
	}
}

func TestCreditOverlayIsWhatTheTokenSees(t *testing.T) {
	in := open(t, store.NewMemory())
	who, amount := common.HexToAddress("0xabc"), big.NewInt(123_456_789)
	for _, a := range append(tokens(in)[:5], caip.Native(10)) {
		c, err := in.ChainOf(a.Chain)
		if err != nil {
			t.Fatal(err)
		}
		st, err := c.State(context.Background(), 0)
		if err != nil {
			t.Fatal(err)
		}
		st.Apply(in.CreditOverlay(a, who, amount))
		if got, err := in.BalanceAt(st, who, a); err != nil || got.Cmp(amount) != 0 {
			t.Errorf("%s: %s (%v), expected %s", a, got, err, amount)
		}
		if token, ok := a.Token(); ok {
			r := st.Call(chain.Message{To: token, Data: erc20.BalanceOf(who)})
			if got := new(big.Int).SetBytes(r.Return); r.Err != nil || got.Cmp(amount) != 0 {
				t.Errorf("%s: balanceOf under the overlay is %s (%v)", a, got, r.Err)
			}
		}
		st.Close()
	}
}

func TestUnknownAssetsAreAnErrorAndNotZero(t *testing.T) {
	in := open(t, store.NewMemory())
	for asset, want := range map[caip.Asset]error{
		caip.ERC20(1, common.HexToAddress("0x1234")): deployment.ErrAsset,
		caip.Native(57): deployment.ErrChain,
		caip.SOL():      deployment.ErrChain,
	} {
		if v, err := in.Balance(context.Background(), common.Address{1}, asset); !errors.Is(err, want) {
			t.Errorf("%s: %v, %v; expected %v", asset, v, err, want)
		}
	}
}

func TestAccountNonceComesFromTheEntryPoint(t *testing.T) {
	in := open(t, store.NewMemory())
	key := big.NewInt(1)
	want := new(big.Int).Lsh(key, 64) // key ‖ sequence 0
	if got, err := in.AccountNonce(context.Background(), 8453, common.HexToAddress("0xabc"), key); err != nil ||
		got.Cmp(want) != 0 {
		t.Errorf("nonce %s (%v), expected %s", got, err, want)
	}
	if _, err := in.AccountNonce(context.Background(), 8453, common.Address{}, new(big.Int).Lsh(key, 192)); err == nil {
		t.Error("a key of 193 bits was accepted")
	}
}

func TestKeysAreNeverPrinted(t *testing.T) {
	in := open(t, store.NewMemory())
	for _, printed := range []string{fmt.Sprint(in), fmt.Sprintf("%+v", *in), fmt.Sprintf("%#v", in)} {
		if printed != "[redacted]" {
			t.Errorf("the installation is printed as %.60s…", printed)
		}
	}
}

func TestEachLabelHasItsOwnKey(t *testing.T) {
	in := open(t, store.NewMemory())
	seen := map[string]bool{}
	for _, a := range []common.Address{
		in.Operator.Address(), in.Pins.Solver, in.CoSigner.Address(),
		in.TamperProof.Address(),
		in.Treasury.Address(), in.Faucet.Address(),
	} {
		seen[a.Hex()] = true
	}
	seen[in.Pins.SolanaSponsor], seen[in.Pins.SolanaVault] = true, true
	if len(seen) != 8 {
		t.Errorf("%d different keys, expected 8", len(seen))
	}
	a, err := in.Secret("one", 32)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := in.Secret("two", 32)
	if bytes.Equal(a, b) {
		t.Error("two labels gave one secret")
	}
}

func word(n int64) []byte { return common.BigToHash(big.NewInt(n)).Bytes() }
