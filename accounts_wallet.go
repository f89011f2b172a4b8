package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/ui/cli"
	"coffer/wallet/admin"
)

// roleWallet is an opened profile with its role-based account and the chains that a command is about.
type roleWallet struct {
	s       *session
	account admin.Account
	chains  []uint64
}

func openRoles(ctx context.Context, g cli.Global, on caip.Chain) (*roleWallet, error) {
	s, err := open(ctx, g)
	if err != nil {
		return nil, err
	}
	w := &roleWallet{s: s}
	if err := w.fill(on); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return w, nil
}

func (w *roleWallet) close() { _ = w.s.Close() }

// fill finds the account and the chains.
func (w *roleWallet) fill(on caip.Chain) error {
	i := slices.IndexFunc(w.s.accounts, func(a api.Account) bool { return a.Type == api.AccountRoleBased })
	if i < 0 {
		return &cli.UsageError{
			Problem: fmt.Sprintf("profile %q has no role-based account", w.s.profile.Name),
			Hint:    "only accounts with session_address and admin_address have an admin key",
		}
	}
	wire := w.s.accounts[i]
	pins := w.s.network.Pins
	if wire.AccountAddress == "" {
		init := op.InitDataRoleBased(pins.RoleBasedValidator, common.HexToAddress(wire.SessionAddress), common.HexToAddress(wire.AdminAddress), pins.CoSigner)
		wire.AccountAddress = op.PredictAddress(pins.Factory, pins.KernelV31, init, new(big.Int)).Hex()
	}
	var err error
	if w.account, err = admin.Read(wire); err != nil {
		return err
	}
	for _, name := range w.s.network.Chains {
		c, err := caip.ParseChain(name)
		if err != nil {
			return err
		}
		if id, evm := c.EVMID(); evm && (on == c || on == caip.Chain{}) {
			w.chains = append(w.chains, id)
		}
	}
	if len(w.chains) == 0 {
		return &cli.UsageError{Problem: "this network has no chain " + on.String()}
	}
	return nil
}

func (w *roleWallet) roles(ctx context.Context, id uint64) (api.RolesResponse, error) {
	return w.s.client.Roles(ctx, caip.EVMAccount(id, w.account.Address).String())
}

// session is the session key on a chain: before deployment the one that the address follows from.
func (w *roleWallet) session(r api.RolesResponse) common.Address {
	if r.Deployed {
		return common.HexToAddress(r.SessionAddress)
	}
	return common.HexToAddress(w.account.Wire.SessionAddress)
}

// follows reports whether the profile names the session key already.
func (w *roleWallet) follows(session common.Address) bool {
	return common.HexToAddress(w.account.Wire.SessionAddress) == session
}

func (w *roleWallet) name(id uint64) string {
	if c, ok := w.s.catalog.Chain(caip.EVM(id)); ok {
		return c.Name
	}
	return caip.EVM(id).String()
}

func (w *roleWallet) result(p plan) cli.AdminResult {
	return cli.AdminResult{Account: w.account.Address.Hex(), Chain: caip.EVM(p.chain).String(), Action: p.action, Skipped: p.skip}
}

// holdings are the transfers of everything that the account has on a chain, with words for each.
func (w *roleWallet) holdings(ctx context.Context, id uint64, to common.Address) (calls []op.Call, words []string, err error) {
	q := client.BalanceQuery{Accounts: []string{caip.EVMAccount(id, w.account.Address).String()}}
	for _, a := range w.s.catalog.Aggregates() {
		q.Aggregates = append(q.Aggregates, string(a.ID))
	}
	b, err := w.s.client.Balances(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	seen := map[caip.Asset]bool{}
	for _, one := range b.BalanceByAggregatedAsset {
		for _, e := range one.IndividualAssetBalances {
			asset, err := caip.ParseAsset(e.AssetType)
			entity, known := w.s.catalog.Entity(asset)
			if err != nil || !known || asset.Chain != caip.EVM(id) || seen[asset] {
				continue
			}
			seen[asset] = true
			v, err := amount.ParseBase(e.Balance)
			if err != nil {
				return nil, nil, fmt.Errorf("balance of %s: %w", asset, err)
			}
			if v.Sign() == 0 {
				continue
			}
			call := op.Call{To: to, Value: v}
			if token, is := asset.Token(); is {
				call = op.Call{To: token, Value: new(big.Int), Data: erc20.Transfer(to, v)}
			}
			calls = append(calls, call)
			words = append(words, amount.Format(v, entity.Decimals)+" "+entity.Symbol)
		}
	}
	return calls, words, nil
}
