package devnet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
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
	types string // comma-separated, "" for none
	args  []any
}

// tokenKind is what two tokens must share to be the same contract state.
type tokenKind struct {
	name, symbol string
	decimals     int
}

// alloc is what the chains of one installation begin with.
type alloc struct {
	shared []evm.Account // the same on every chain
	tokens map[tokenKind]evm.Account
}

// newAlloc runs every constructor once.
func newAlloc(p pinned, cat *catalog.Catalog, operator, treasury common.Address) (*alloc, error) {
	a := &alloc{tokens: map[tokenKind]evm.Account{}}
	kinds := tokenKinds(cat)
	tokens := make([]evm.Account, len(kinds))
	contracts := sharedContracts(p, operator)
	shared := make([][]evm.Account, len(contracts)+1)
	var group errgroup.Group
	group.Go(func() (err error) {
		shared[len(contracts)], err = entryPoint(p)
		return err
	})
	for i, c := range contracts {
		group.Go(func() (err error) {
			shared[i], err = c.deploy()
			return err
		})
	}
	group.Go(func() error { return deployTokens(kinds, treasury, tokens) })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, accounts := range shared {
		a.shared = append(a.shared, accounts...)
	}
	for i, k := range kinds {
		a.tokens[k] = tokens[i]
	}
	return a, nil
}

func sharedContracts(p pinned, operator common.Address) []contract {
	return []contract{
		{"Account", p.KernelV31, "address,address", []any{p.EntryPoint, p.ECDSAValidator}},
		{"Account", p.KernelV33, "address,address", []any{p.EntryPoint, p.ECDSAValidator}},
		{"ECDSAValidator", p.ECDSAValidator, "", nil},
		{"RoleBasedECDSAValidator", p.RoleBasedValidator, "", nil},
		{"AccountFactory", p.Factory, "address", []any{p.KernelV31}},
		{"MetaFactory", p.MetaFactory, "address[]", []any{[]common.Address{p.Factory}}},
		{"Paymaster", p.Paymaster, "address,address", []any{p.EntryPoint, operator}},
		{"Escrow", p.Escrow, "address", []any{operator}},
	}
}

// entryPoint places EntryPoint v0.7 through the deterministic deployer; the address must come out as pinned.
func entryPoint(p pinned) ([]evm.Account, error) {
	art, err := assets.Contract("EntryPoint")
	if err != nil {
		return nil, err
	}
	accounts, err := evm.DeployDeterministic(art.Bytecode, p.salt)
	if err != nil {
		return nil, fmt.Errorf("EntryPoint: %w", err)
	}
	if accounts[0].Address != p.EntryPoint {
		return nil, fmt.Errorf("EntryPoint came out at %s, pinned at %s", accounts[0].Address, p.EntryPoint)
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
	types, err := arguments(c.types)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	packed, err := types.Pack(c.args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	accounts, err := evm.Predeploy(append(art.Bytecode, packed...), c.at, 1)
	if err != nil {
		return nil, fmt.Errorf("%s at %s: %w", c.name, c.at, err)
	}
	return accounts, nil
}

// arguments makes the encoder of a list of types.
func arguments(types string) (abi.Arguments, error) {
	var out abi.Arguments
	if types == "" {
		return out, nil
	}
	for t := range strings.SplitSeq(types, ",") {
		typ, err := abi.NewType(t, "", nil)
		if err != nil {
			return nil, err
		}
		out = append(out, abi.Argument{Type: typ})
	}
	return out, nil
}

// tokenTypes are the constructor's: name, symbol, decimals, holder, supply.
const tokenTypes = "string,string,uint8,address,uint256"

func tokenKinds(cat *catalog.Catalog) []tokenKind {
	var kinds []tokenKind
	seen := map[tokenKind]bool{}
	for _, agg := range cat.Aggregates() {
		for _, e := range agg.Entities {
			k := tokenKind{e.Name, e.Symbol, e.Decimals}
			if _, token := e.Asset.Token(); token && !seen[k] {
				seen[k] = true
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// deployTokens constructs one token of each kind with the whole supply at the treasury. Nothing in a token depends on
// its address, so the account is moved to the real one afterwards.
func deployTokens(kinds []tokenKind, treasury common.Address, out []evm.Account) error {
	art, err := assets.Contract("Token")
	if err != nil {
		return err
	}
	types, err := arguments(tokenTypes)
	if err != nil {
		return fmt.Errorf("token: %w", err)
	}
	codes := map[string][]byte{} // the code differs by decimals only; one slice each is hashed once
	for i, k := range kinds {
		args, err := types.Pack(k.name, k.symbol, uint8(k.decimals), treasury, supply(k.decimals))
		if err != nil {
			return fmt.Errorf("token %s: %w", k.symbol, err)
		}
		accounts, err := evm.Predeploy(append(bytes.Clone(art.Bytecode), args...), treasury, 1)
		if err != nil {
			return fmt.Errorf("token %s: %w", k.symbol, err)
		}
		out[i] = accounts[0]
		if same, ok := codes[string(out[i].Code)]; ok {
			out[i].Code = same
		} else {
			codes[string(out[i].Code)] = out[i].Code
		}
	}
	return nil
}

// spec is the specification of one chain: shared contracts, its tokens at their real addresses, and the native coin at
// the treasury.
func (a *alloc) spec(id uint64, cat *catalog.Catalog, treasury common.Address) evm.Spec {
	s := evm.Spec{ChainID: id, Time: Time, Alloc: append([]evm.Account(nil), a.shared...)}
	for _, t := range tokensOf(id, cat) {
		account := a.tokens[tokenKind{t.Name, t.Symbol, t.Decimals}]
		account.Address, _ = t.Asset.Token()
		s.Alloc = append(s.Alloc, account)
	}
	s.Alloc = append(s.Alloc, evm.Account{Address: treasury, Balance: supply(nativeDecimals)})
	return s
}

const nativeDecimals = 18

// tokensOf lists the token entities of one chain in catalogue order.
func tokensOf(id uint64, cat *catalog.Catalog) []catalog.Entity {
	return slices.DeleteFunc(cat.On(caip.EVM(id)), func(e catalog.Entity) bool {
		_, token := e.Asset.Token()
		return !token
	})
}

// balanceSlots reads from the compiled token, which all tokens of the catalogue are, where balances are kept.
func balanceSlots(cat *catalog.Catalog) (map[caip.Asset]uint64, error) {
	art, err := assets.Contract("Token")
	if err != nil {
		return nil, err
	}
	var layout struct {
		Storage []struct{ Label, Slot string }
	}
	if err := json.Unmarshal(art.StorageLayout, &layout); err != nil {
		return nil, fmt.Errorf("storage layout of Token: %w", err)
	}
	for _, v := range layout.Storage {
		if v.Label != "_balances" && v.Label != "balanceOf" && v.Label != "balances" {
			continue
		}
		slot, err := strconv.ParseUint(v.Slot, 10, 64)
		slots := map[caip.Asset]uint64{}
		for _, agg := range cat.Aggregates() {
			for _, e := range agg.Entities {
				if _, token := e.Asset.Token(); token {
					slots[e.Asset] = slot
				}
			}
		}
		return slots, err
	}
	return nil, errors.New("storage layout of Token: no balances mapping")
}
