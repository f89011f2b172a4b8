package devnet

import (
	"bytes"
	"flag"
	"maps"
	"math/big"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"

	"coffer/api/catalog"
	"coffer/api/service/chain/evm"
	"coffer/assets"
)

var update = flag.Bool("update", false, "write deployed.rlp")

// constructed runs the constructor of one of our contracts at its place. None reads the chain id while it is
// constructed, so one run serves all chains.
func constructed(t *testing.T, name string, at common.Address, args ...any) []evm.Account {
	t.Helper()
	art, err := assets.Contract(name)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := abi.JSON(bytes.NewReader(art.ABI))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := parsed.Pack("", args...)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := evm.Predeploy(append(art.Bytecode, packed...), at, 1)
	if err != nil {
		t.Fatal(err)
	}
	return accounts
}

// foreign puts a contract of others where every network has it. Kernel remembers the chain's id while it is
// constructed, but trusts that only at its own address, where no account is: one run serves all chains.
func foreign(t *testing.T, name string, at common.Address, salt common.Hash) []evm.Account {
	t.Helper()
	art, err := assets.Contract(name)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := evm.DeployDeterministic(art.Bytecode, salt)
	if err != nil {
		t.Fatal(err)
	}
	if accounts[0].Address != at {
		t.Errorf("%s came out at %s, pinned at %s", name, accounts[0].Address, at)
	}
	return accounts
}

// kept is a contract as the file has it: of two installations, what both have. A word in which their codes differ is a
// hole, and it must be the word that each was given.
func kept(t *testing.T, name string, a, b []evm.Account, wordOfA, wordOfB common.Hash) finished {
	t.Helper()
	d := finished{Name: name}
	for i, l := range a {
		code := bytes.Clone(l.Code)
		for at := 0; i == 0 && at < len(code); at++ {
			if code[at] == b[0].Code[at] {
				continue
			}
			at -= firstDifference(wordOfA, wordOfB)
			if !bytes.Equal(code[at:at+32], wordOfA[:]) || !bytes.Equal(b[0].Code[at:at+32], wordOfB[:]) {
				t.Fatalf("%s: the codes differ at %d by something else than the word", name, at)
			}
			clear(code[at : at+32])
			d.Holes = append(d.Holes, uint64(at))
			at += 31
		}
		one := left{Address: l.Address, Nonce: l.Nonce, Code: code, Hash: crypto.Keccak256Hash(code)}
		for _, key := range slices.SortedFunc(maps.Keys(l.Storage), common.Hash.Cmp) {
			if l.Storage[key] == b[i].Storage[key] {
				one.Slots = append(one.Slots, leftSlot{key, l.Storage[key]})
			}
		}
		d.Accounts = append(d.Accounts, one)
	}
	return d
}

func firstDifference(a, b common.Hash) int {
	at := 0
	for a[at] == b[at] {
		at++
	}
	return at
}

// someone makes the parties of an installation.
func someone(r *rand.Rand) parties {
	var p parties
	for _, a := range []*common.Address{&p.operator, &p.attester, &p.treasury, &p.faucet} {
		*a = common.BigToAddress(new(big.Int).SetUint64(r.Uint64()))
	}
	for i := range p.salt {
		p.salt[i] = byte(r.Uint32())
	}
	return p
}

func escrowOf(t *testing.T, p pinned, who parties) []evm.Account {
	return constructed(t, "Escrow", p.Escrow, p.Paymaster, []common.Address{who.attester}, big.NewInt(attesters),
		who.salt)
}

func tokenOf(t *testing.T, k tokenKind, who parties) []evm.Account {
	return constructed(t, "Token", common.Address{}, k.name, k.symbol, uint8(k.decimals), who.treasury,
		supply(k.decimals))
}

func TestDeployedContractsAreWhatTheirConstructorsLeave(t *testing.T) {
	p, err := readPins()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test repeats
	a, b := someone(r), someone(r)
	word := func(n int64) common.Hash { return common.BigToHash(big.NewInt(n)) }
	role := constructed(t, "RoleBasedECDSAValidator", p.RoleBasedValidator)
	all := []finished{
		kept(t, "RoleBasedECDSAValidator", role, role, common.Hash{}, common.Hash{}),
		kept(t, "Filler", constructed(t, "Filler", p.Paymaster, p.EntryPoint, a.treasury),
			constructed(t, "Filler", p.Paymaster, p.EntryPoint, b.treasury), common.Hash{}, common.Hash{}),
		kept(t, "Escrow", escrowOf(t, p, a), escrowOf(t, p, b), a.salt, b.salt),
		kept(t, "Token", tokenOf(t, tokenKind{decimals: 6}, a), tokenOf(t, tokenKind{decimals: 18}, b), word(6),
			word(18)),
	}
	for name, at := range map[string]common.Address{"EntryPoint": p.EntryPoint, "KernelV31": p.KernelV31,
		"KernelV33": p.KernelV33, "ECDSAValidator": p.ECDSAValidator, "KernelFactory": p.Factory,
		"MetaFactory": p.MetaFactory} {
		salt := common.Hash{}
		if name == "EntryPoint" {
			salt = p.salt
		}
		made := foreign(t, name, at, salt)
		all = append(all, kept(t, name, made, made, common.Hash{}, common.Hash{}))
	}
	slices.SortFunc(all, func(a, b finished) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	raw, err := rlp.EncodeToBytes(all)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("deployed.rlp", raw, 0o644); err != nil { //nolint:gosec // it is public
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(raw, deployedFile) {
		t.Error("deployed.rlp is not what the constructors leave: go test ./api/service/devnet -run Deployed -update")
	}
}

// What newAlloc writes into a contract is what its constructor would have written.
func TestDeployedContractsOfAnInstallationAreItsOwn(t *testing.T) {
	p, err := readPins()
	if err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	known, err := readContracts()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test repeats
	for range 20 {
		who := someone(r)
		made, err := newAlloc(p, cat, who)
		if err != nil {
			t.Fatal(err)
		}
		same(t, made.filler, constructed(t, "Filler", p.Paymaster, p.EntryPoint, who.treasury)[0])
		same(t, made.shared[0], escrowOf(t, p, who)[0])
		k := tokenKind{"A token whose name takes more than one slot", "T", r.IntN(60)}
		token, sum := known.accounts("Token", common.BigToHash(big.NewInt(int64(k.decimals))))[0], supply(k.decimals)
		want := tokenOf(t, k, who)[0]
		token.Storage[common.Hash{31: slotSupply}] = common.BigToHash(sum)
		token.Storage[slotOf(who.treasury, slotBalances)] = common.BigToHash(sum)
		putString(token.Storage, slotName, k.name)
		putString(token.Storage, slotSymbol, k.symbol)
		same(t, token, want)
	}
}

func same(t *testing.T, got, want evm.Account) {
	t.Helper()
	if got.CodeHash != crypto.Keccak256Hash(want.Code) {
		t.Errorf("the hash of the code of %s is not its own", want.Address)
	}
	want.CodeHash, want.Balance, got.Address = got.CodeHash, nil, want.Address
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, the constructor left\n%+v", got, want)
	}
}
