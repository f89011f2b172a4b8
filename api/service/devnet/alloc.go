package devnet

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/service/chain/evm"
)

// wholeSupply is how many whole units of every token and coin exist on each chain.
const wholeSupply = 1_000_000_000

// supply is the sum of an asset on one chain in base units; it never changes (native coins: minus burned fees).
func supply(decimals int) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil)
	return unit.Mul(unit, big.NewInt(wholeSupply))
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

// newAlloc gives every contract what the installation has of its own.
func newAlloc(p pinned, cat *catalog.Catalog, who parties) (*alloc, error) {
	known, err := readContracts()
	if err != nil {
		return nil, err
	}
	a := &alloc{cat: cat, who: who, filler: known.accounts("Filler", common.Hash{})[0]}
	a.filler.Storage[common.Hash{31: slotOwner}] = common.BytesToHash(who.treasury[:])
	escrow := known.accounts("Escrow", who.salt)[0]
	maps.Copy(escrow.Storage, attestedBy(who.attester))
	a.shared = []evm.Account{escrow}
	for _, name := range fixed {
		a.shared = append(a.shared, known.accounts(name, common.Hash{})...)
	}
	for _, account := range a.shared {
		if account.Address == p.MetaFactory { // its owner did on every real chain that it deploys with the factory
			account.Storage[slotOf(p.Factory, slotApproved)] = common.Hash{31: 1}
		}
	}
	a.tokens = tokens(known, cat, p.Paymaster, who)
	return a, nil
}

// fixed are the contracts that every installation has alike.
var fixed = []string{"RoleBasedECDSAValidator", "EntryPoint", "KernelV31", "KernelV33", "ECDSAValidator",
	"KernelFactory", "MetaFactory"}

// attestedBy is what an escrow with one attester keeps: whether a key is one, and the list of them.
func attestedBy(attester common.Address) map[common.Hash]common.Hash {
	list := common.Hash{31: slotAttesters}
	return map[common.Hash]common.Hash{
		slotOf(attester, slotIsAttester): {31: 1},
		list:                             {31: attesters},
		crypto.Keccak256Hash(list[:]):    common.BytesToHash(attester[:]),
	}
}

// attesters is how many must sign a release: the installation's own, the only one there is.
const attesters = 1

// Slots of Filler.sol, of Escrow.sol, of Token.sol, and of the meta factory's approvals.
const (
	slotOwner      = 0
	slotHot        = 2
	slotCaps       = 4
	slotIsAttester = 1
	slotAttesters  = 2
	slotBalances   = 0
	slotSupply     = 2
	slotName       = 3
	slotSymbol     = 4
	slotApproved   = 0
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

// tokens makes one token of each kind, with the shares of treasury, filler and faucet. Nothing in a token depends on
// its address, so the account is moved to the real one afterwards; code and sum differ by decimals only.
func tokens(known contracts, cat *catalog.Catalog, filler common.Address, who parties) map[tokenKind]evm.Account {
	out, bare, inFunds := map[tokenKind]evm.Account{}, map[int]evm.Account{}, fundKinds(cat)
	for e := range cat.Entities() {
		k := kindOf(e)
		if _, isToken := e.Asset.Token(); !isToken || out[k].Code != nil {
			continue
		}
		token, made := bare[k.decimals]
		if !made {
			token = known.accounts("Token", common.BigToHash(big.NewInt(int64(k.decimals))))[0]
			sum := supply(k.decimals)
			token.Storage[common.Hash{31: slotSupply}] = common.BigToHash(sum)
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
	return out
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
