package evm

import (
	"bytes"
	"errors"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/service/chain"
	"coffer/api/service/signers"
	"coffer/api/service/store"
	"coffer/assets"
)

// EntryPoint v0.7 sits at its canonical address because its own
// init code and salt through the deterministic deployer lead there.
func TestEntryPointDeploysToItsCanonicalAddress(t *testing.T) {
	out, err := DeployDeterministic(initCode(t, "EntryPoint"), entryPointSalt())
	if err != nil {
		t.Fatal(err)
	}
	at := common.HexToAddress("0x0000000071727De22E5E9d8BAf0edAc6f37da032")
	if out[0].Address != at || len(out[0].Code) == 0 {
		t.Fatalf("deployed at %s with %d bytes", out[0].Address, len(out[0].Code))
	}
	// Its constructor creates the SenderCreator with the first nonce.
	if len(out) != 2 || out[1].Address != crypto.CreateAddress(at, 1) || len(out[1].Code) == 0 || out[0].Nonce != 2 {
		t.Fatalf("%d accounts, nonce %d", len(out), out[0].Nonce)
	}
	c := openTest(t, store.NewMemory(), Spec{ChainID: 1, Alloc: out})
	a, _ := contract(t, "EntryPoint")
	sender := common.Address{5}
	data, err := a.Pack("getNonce", sender, new(big.Int))
	if err != nil {
		t.Fatal(err)
	}
	res := stateOf(t, c).Call(chain.Message{To: at, Data: data})
	if res.Err != nil || len(res.Return) != 32 {
		t.Fatalf("%+v", res)
	}
}

// Both ways must leave the same contract, and so must a transaction.
func TestPredeployLeavesWhatARealDeploymentLeaves(t *testing.T) {
	code := initCode(t, "EntryPoint")
	want, err := DeployDeterministic(code, entryPointSalt())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Predeploy(code, want[0].Address, 1)
	if err != nil {
		t.Fatal(err)
	}
	sameAccounts(t, got, want)

	c := openTest(t, store.NewMemory(), Spec{ChainID: 1,
		Alloc: []Account{{Address: addr(treasury()), Balance: big.NewInt(1e18)}}})
	b := seal(t, c, chain.Tx{From: signers.Local(treasury()), To: DeterministicDeployer(),
		Data: append(entryPointSalt().Bytes(), code...)})
	st := stateOf(t, c)
	for _, a := range want {
		if !b.Receipts[0].Success || !bytes.Equal(st.Code(a.Address), a.Code) || st.Nonce(a.Address) != a.Nonce {
			t.Fatalf("the transaction leaves something else at %s", a.Address)
		}
		for k, v := range a.Storage {
			if st.Storage(a.Address, k) != v {
				t.Fatalf("slot %s is %s, want %s", k, st.Storage(a.Address, k), v)
			}
		}
	}
}

func sameAccounts(t *testing.T, got, want []Account) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d accounts, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Address != w.Address || g.Nonce != w.Nonce || !bytes.Equal(g.Code, w.Code) ||
			g.Balance.Cmp(w.Balance) != 0 || len(g.Storage) != len(w.Storage) {
			t.Fatalf("account %d is %+v, want %+v", i, g, w)
		}
		for k, v := range w.Storage {
			if g.Storage[k] != v {
				t.Fatalf("slot %s of %s is %s, want %s", k, g.Address, g.Storage[k], v)
			}
		}
	}
}

func TestPredeployKeepsImmutablesAndStorage(t *testing.T) {
	holder := common.Address{9}
	at := common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	out, err := Predeploy(initCode(t, "Token", "USD Coin", "USDC", uint8(6), holder, big.NewInt(777)), at, 8453)
	if err != nil {
		t.Fatal(err)
	}
	artifact, err := assets.Contract("Token")
	if err != nil {
		t.Fatal(err)
	}
	if len(out) != 1 || out[0].Address != at || bytes.Equal(out[0].Code, artifact.DeployedBytecode) {
		t.Fatal("the immutable is not in the code")
	}
	st := stateOf(t, openTest(t, store.NewMemory(), Spec{ChainID: 8453, Alloc: out}))
	a, _ := contract(t, "Token")
	for method, want := range map[string]any{"name": "USD Coin", "symbol": "USDC", "decimals": uint8(6)} {
		res := st.Call(chain.Message{To: at, Data: pack(t, "Token", method)})
		got, err := a.Unpack(method, res.Return)
		if res.Err != nil || err != nil || got[0] != want {
			t.Fatalf("%s is %v, %v, %v", method, got, res.Err, err)
		}
	}
	if got := tokenBalance(t, st, at, holder); got.Int64() != 777 {
		t.Fatalf("balance is %s", got)
	}
}

// Init code: store CHAINID in slot 0, ADDRESS in slot 1, CALLER in slot 2,
// return one byte of memory, which is zero, as the code.
func TestConstructorSeesItsChainAddressAndTheDeployer(t *testing.T) {
	at := common.Address{0xab}
	out, err := Predeploy(common.FromHex("46600055306001553360025560016000f3"), at, 42161)
	if err != nil {
		t.Fatal(err)
	}
	slots := out[0].Storage
	if slots[common.Hash{}].Big().Uint64() != 42161 || common.BytesToAddress(slots[common.Hash{31: 1}].Bytes()) != at ||
		common.BytesToAddress(slots[common.Hash{31: 2}].Bytes()) != DeterministicDeployer() || out[0].Nonce != 1 {
		t.Fatalf("%+v", out[0])
	}
}

func TestFailingConstructorsAreRefused(t *testing.T) {
	for name, code := range map[string]string{
		"revert":         "60006000fd",
		"no code left":   "00",
		"EOF code":       "60ef60005360016000f3",
		"out of gas":     "5b600056",
		"code too large": "6160016000f3",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Predeploy(common.FromHex(code), common.Address{1}, 1); !errors.Is(err, ErrConstructor) {
				t.Fatalf("predeploy: %v", err)
			}
		})
	}
	if _, err := DeployDeterministic(common.FromHex("60006000fd"), common.Hash{}); !errors.Is(err, ErrConstructor) {
		t.Fatalf("deploy: %v", err)
	}
	if _, err := Predeploy(nil, common.Address{1}, 0); !errors.Is(err, ErrSpec) {
		t.Fatalf("chain id 0: %v", err)
	}
}
