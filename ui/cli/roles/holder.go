package roles

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/admin"
)

// holder is an opened profile with its role-based account and the chains that a command is about.
type holder struct {
	Wallet
	account admin.Account
	roles   []standing // on the chains
}

// standing are the roles of the account on a chain, as the service reports them.
type standing struct {
	chain uint64
	api.RolesResponse
}

// open opens the profile and finds the account and the chains.
func (c Commands) open(ctx context.Context, g cli.Global, on caip.Chain) (*holder, error) {
	w, err := c.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	h := &holder{Wallet: w}
	if err := h.fill(g, on); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return h, nil
}

func (h *holder) close() { _ = h.Close() }

// fill finds the account and the chains.
func (h *holder) fill(g cli.Global, on caip.Chain) error {
	account, err := h.roleBased(g.Account != "")
	if err != nil {
		return err
	}
	if h.account, err = admin.Read(account); err != nil {
		return err
	}
	for _, name := range h.Network.Chains {
		c, err := caip.ParseChain(name)
		if err != nil {
			return err
		}
		if id, evm := c.EVMID(); evm && (on == c || on == caip.Chain{}) {
			h.roles = append(h.roles, standing{chain: id})
		}
	}
	if len(h.roles) == 0 {
		return &cli.UsageError{Problem: "this network has no chain " + on.String()}
	}
	return nil
}

// roleBased is the role-based account in use, else the only one of the profile, unless another account was named.
func (h *holder) roleBased(named bool) (api.Account, error) {
	for _, list := range [][]api.Account{h.Accounts, h.All} {
		var found []api.Account
		for _, a := range list {
			if a.Type == api.AccountRoleBased {
				found = append(found, a)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return api.Account{}, &cli.UsageError{
				Problem: fmt.Sprintf("profile %q has several role-based accounts", h.Profile),
				Hint:    "name one: --account; `coffer accounts list` lists them",
			}
		case named:
			return api.Account{}, &cli.UsageError{Problem: "this account is not role-based",
				Hint: "only accounts with session_address and admin_address have an admin key"}
		}
	}
	return api.Account{}, &cli.UsageError{
		Problem: fmt.Sprintf("profile %q has no role-based account", h.Profile),
		Hint:    "only accounts with session_address and admin_address have an admin key",
	}
}

// read asks the service for the roles on all chains.
func (h *holder) read(ctx context.Context) (err error) {
	for i, s := range h.roles {
		account := caip.EVMAccount(s.chain, h.account.Address).String()
		if h.roles[i].RolesResponse, err = h.Service.Roles(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

// session is the session key on a chain: before deployment the one that determines the address.
func (h *holder) session(r api.RolesResponse) common.Address {
	if r.Deployed {
		return common.HexToAddress(r.SessionAddress)
	}
	return common.HexToAddress(h.account.Wire.SessionAddress)
}

func (h *holder) name(id uint64) string { return present.ChainName(h.Catalog, caip.EVM(id).String()) }

func (h *holder) result(p plan) cli.AdminResult {
	return cli.AdminResult{Account: h.account.Address.Hex(), Chain: caip.EVM(p.chain).String(), Action: p.action,
		Skipped: p.skip}
}

// holdings are the transfers of everything that the account has on a chain, with words for each.
func (h *holder) holdings(ctx context.Context, id uint64, to common.Address) (calls []op.Call, words []string,
	err error) {
	q := client.BalanceQuery{Accounts: []string{caip.EVMAccount(id, h.account.Address).String()}}
	for _, a := range h.Catalog.Aggregates() {
		q.Aggregates = append(q.Aggregates, string(a.ID))
	}
	b, err := h.Service.Balances(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	seen := map[caip.Asset]bool{}
	for _, one := range b.BalanceByAggregatedAsset {
		for _, e := range one.IndividualAssetBalances {
			asset, err := caip.ParseAsset(e.AssetType)
			entity, known := h.Catalog.Entity(asset)
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
