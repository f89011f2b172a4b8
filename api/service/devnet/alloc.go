package devnet

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"golang.org/x/sync/errgroup"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/chain/evm"
	"coffer/assets"
)

// wholeSupply is how many whole units of every token and coin exist on each chain.
const wholeSupply = 1_000_000_000

// supply is the sum of an asset on one chain in base units; it never changes (native coins: minus burned fees).
func supply(decimals int) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return unit.Mul(unit, big.NewInt(wholeSupply))
}

// contract is one contract of genesis: its artifact, where it stands, and the constructor's arguments with their types.
// The types are written down here because reading a whole interface for them is the slowest part of a reopening.
type contract struct {
	name  string
	at    common.Address
	types string // with spaces between them
	args  []any
}

// tokenKind is what two tokens must share to be the same contract state.
type tokenKind struct {
	name, symbol string
	decimals     int
}

func kindOf(e catalog.Entity) tokenKind { return tokenKind{e.Name, e.Symbol, e.Decimals} }

// parties are who the contracts of an installation know.
type parties struct {
	operator, attester, treasury, faucet common.Address
	salt                                 [32]byte // of the escrow's domain
	endowed                              []common.Address
}

// alloc is what the chains of one installation begin with.
type alloc struct {
	cat    *catalog.Catalog
	who    parties
	shared []evm.Account // the same on every chain
	filler evm.Account   // without its hot key and its caps
	tokens map[tokenKind]evm.Account
}

// newAlloc runs every constructor once.
func newAlloc(p pinned, cat *catalog.Catalog, who parties) (*alloc, error) {
	var deploys []func() ([]evm.Account, error)
	for _, c := range sharedContracts(p, who) {
		deploys = append(deploys, c.deploy)
	}
	for _, f := range othersContracts(p) {
		deploys = append(deploys, f.deploy)
	}
	a, made := &alloc{cat: cat, who: who}, make([][]evm.Account, len(deploys))
	var group errgroup.Group
	for i, deploy := range deploys {
		group.Go(func() (err error) {
			made[i], err = deploy()
			return err
		})
	}
	group.Go(func() (err error) {
		a.tokens, err = deployTokens(cat, p.Paymaster, who)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, account := range slices.Concat(made...) {
		switch account.Address {
		case p.Paymaster:
			a.filler = account
			continue
		case p.MetaFactory: // its owner did on every real chain that it deploys with the factory
			account.Storage[slotOf(p.Factory, slotApproved)] = common.Hash{31: 1}
		}
		a.shared = append(a.shared, account)
	}
	return a, nil
}

func sharedContracts(p pinned, who parties) []contract {
	return []contract{
		{"RoleBasedECDSAValidator", p.RoleBasedValidator, "", nil},
		{"Filler", p.Paymaster, "address address", []any{p.EntryPoint, who.treasury}},
		{"Escrow", p.Escrow, "address address[] uint256 bytes32", []any{
			p.Paymaster, []common.Address{who.attester}, big.NewInt(attesters), who.salt}},
	}
}

// attesters is how many must sign a release: the installation's own, the only one there is.
const attesters = 1

// Slots of Filler.sol, of Token.sol, and of the meta factory's approvals.
const (
	slotHot      = 2
	slotCaps     = 4
	slotBalances = 0
	slotName     = 3
	slotSymbol   = 4
	slotApproved = 0
)

// capHours is in how many hours the whole cap of a token may leave again.
const capHours = 1

// limit lets no more of an asset leave the filler at once than what block 1 brings it.
func limit(filler map[common.Hash]common.Hash, token common.Address, decimals int) {
	capacity := percent(supply(decimals), solverPercent)
	refill := new(big.Int).Quo(capacity, big.NewInt(capHours*3600))
	filler[slotOf(token, slotCaps)] = common.BigToHash(capacity.Or(capacity, refill.Lsh(refill, 128)))
}

// place is what brings assets to a chain: its tokens at their real addresses, and what of each may leave the filler.
func (a *alloc) place(assets []catalog.Entity) (tokens []evm.Account, caps map[common.Hash]common.Hash) {
	caps = map[common.Hash]common.Hash{}
	for _, e := range assets {
		at, isToken := e.Asset.Token()
		if !isToken {
			continue
		}
		limit(caps, at, e.Decimals)
		account := a.tokens[kindOf(e)]
		account.Address = at
		tokens = append(tokens, account)
	}
	return tokens, caps
}

// slotOf is where a mapping at a slot has the entry of an address.
func slotOf(key common.Address, slot int64) common.Hash {
	return crypto.Keccak256Hash(common.LeftPadBytes(key[:], 32), common.BigToHash(big.NewInt(slot)).Bytes())
}

// foreign is a contract of others. It comes out of the deterministic deployer where every network has it.
type foreign struct {
	name string
	at   common.Address
	salt common.Hash
}

func othersContracts(p pinned) []foreign {
	return []foreign{
		{"EntryPoint", p.EntryPoint, p.salt},
		{"KernelV31", p.KernelV31, common.Hash{}},
		{"KernelV33", p.KernelV33, common.Hash{}},
		{"ECDSAValidator", p.ECDSAValidator, common.Hash{}},
		{"KernelFactory", p.Factory, common.Hash{}},
		{"MetaFactory", p.MetaFactory, common.Hash{}},
	}
}

// deploy refuses an address that is not the pinned one. Kernel remembers the chain's id while it is constructed, but
// trusts that only at its own address, where no account is: one run serves all chains.
func (f foreign) deploy() ([]evm.Account, error) {
	art, err := assets.Contract(f.name)
	if err != nil {
		return nil, err
	}
	accounts, err := evm.DeployDeterministic(art.Bytecode, f.salt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	if accounts[0].Address != f.at {
		return nil, fmt.Errorf("%s came out at %s, pinned at %s", f.name, accounts[0].Address, f.at)
	}
	return accounts, nil
}

// deploy runs the constructor at the contract's place. None of the contracts reads the chain id while it is
// constructed, so one run serves all chains.
func (c contract) deploy() ([]evm.Account, error) {
	art, err := assets.Contract(c.name)
	if err != nil {
		return nil, err
	}
	packed, err := c.pack()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	accounts, err := evm.Predeploy(append(art.Bytecode, packed...), c.at, 1)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", c.name, c.at, err)
	}
	return accounts, nil
}

// pack encodes the constructor's arguments.
func (c contract) pack() ([]byte, error) {
	var out abi.Arguments
	for t := range strings.FieldsSeq(c.types) {
		typ, err := abi.NewType(t, "", nil)
		if err != nil {
			return nil, err
		}
		out = append(out, abi.Argument{Type: typ})
	}
	return out.Pack(c.args...)
}

// tokenTypes are the constructor's: name, symbol, decimals, holder, supply.
const tokenTypes = "string string uint8 address uint256"

// deployTokens makes one token of each kind, with the shares of treasury, filler and faucet. Nothing in a token depends
// on its address, so the account is moved to the real one afterwards; code and sum differ by decimals only, so few
// constructors run.
func deployTokens(cat *catalog.Catalog, filler common.Address, who parties) (map[tokenKind]evm.Account, error) {
	out, bare, inFunds := map[tokenKind]evm.Account{}, map[int]evm.Account{}, fundKinds(cat)
	for e := range cat.Entities() {
		k := kindOf(e)
		if _, isToken := e.Asset.Token(); !isToken || out[k].Code != nil {
			continue
		}
		token, made := bare[k.decimals]
		if !made {
			sum := supply(k.decimals)
			accounts, err := contract{"Token", who.treasury, tokenTypes,
				[]any{"", "", uint8(k.decimals), who.treasury, sum}}.deploy()
			if err != nil {
				return nil, err
			}
			token = accounts[0]
			for holder, share := range map[common.Address]int64{
				filler: solverPercent, who.faucet: faucetPercent, who.treasury: 100 - solverPercent - faucetPercent,
			} {
				token.Storage[slotOf(holder, slotBalances)] = common.BigToHash(percent(sum, share))
			}
			bare[k.decimals] = token
		}
		token.Storage = maps.Clone(token.Storage)
		if inFunds[k] {
			who.endow(token.Storage, k.decimals)
		}
		putString(token.Storage, slotName, k.name)
		putString(token.Storage, slotSymbol, k.symbol)
		out[k] = token
	}
	return out, nil
}

// putString writes a string as Solidity keeps it: up to 31 bytes in its slot, a longer one behind the slot's hash.
func putString(storage map[common.Hash]common.Hash, slot int64, s string) {
	at, v := common.BigToHash(big.NewInt(slot)), common.Hash{}
	if len(s) < len(v) {
		v[31] = byte(2 * copy(v[:], s))
		storage[at] = v
		return
	}
	storage[at] = common.BigToHash(big.NewInt(int64(2*len(s) + 1)))
	for next := crypto.Keccak256Hash(at[:]).Big(); s != ""; next.Add(next, common.Big1) {
		v = common.Hash{}
		s = s[copy(v[:], s):]
		storage[common.BigToHash(next)] = v
	}
}

// spec is the specification of one chain: shared contracts, its tokens without those that a catalogue file added, the
// filler with the operator as its hot key, and the native coin at the treasury.
func (a *alloc) spec(id uint64) evm.Spec {
	added, filler := a.cat.Added(), a.filler
	tokens, storage := a.place(slices.DeleteFunc(a.cat.On(caip.EVM(id)), func(e catalog.Entity) bool {
		return slices.Contains(added, e)
	}))
	limit(storage, common.Address{}, nativeDecimals)
	maps.Copy(storage, filler.Storage)
	storage[slotOf(a.who.operator, slotHot)] = common.BigToHash(common.Big1)
	filler.Storage = storage
	coins := []evm.Account{{Address: a.who.treasury,
		Balance: new(big.Int).Sub(supply(nativeDecimals), a.who.endowment(nativeDecimals))}}
	for _, to := range a.who.endowed {
		coins = append(coins, evm.Account{Address: to, Balance: Endowment(nativeDecimals)})
	}
	return evm.Spec{ChainID: id, Alloc: slices.Concat(a.shared, tokens, []evm.Account{filler}, coins)}
}

const nativeDecimals = 18

// balanceSlots says where balances are kept: all tokens of the catalogue are the compiled one.
func balanceSlots(cat *catalog.Catalog) map[caip.Asset]uint64 {
	slots := map[caip.Asset]uint64{}
	for e := range cat.Entities() {
		if _, token := e.Asset.Token(); token {
			slots[e.Asset] = slotBalances
		}
	}
	return slots
}
