package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/cli"
	"coffer/wallet/verify"
)

// ending is what to do about the delegation of an account on one chain.
type ending struct {
	chain caip.Chain
	skip  string
	v     verify.VerifiedDelegation
	view  verify.DelegationView
}

// Undelegate ends the delegation of the EOA in use, on every chain where the service says that it is delegated.
func (c Commands) Undelegate(ctx context.Context, g cli.Global, o cli.UndelegateOptions) ([]cli.AdminResult, error) {
	w, err := c.Open(ctx, g)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }()
	n := slices.IndexFunc(w.Accounts, func(a api.Account) bool { return a.Type == api.AccountKernelV33 })
	if n < 0 {
		return nil, &cli.UsageError{Problem: "this account is not an EOA with EIP-7702",
			Hint: "only accounts of the type " + api.AccountKernelV33 + " are delegated: `coffer accounts list`"}
	}
	if w.Unconfirmed != nil {
		return nil, w.Unconfirmed
	}
	all, err := w.endings(ctx, w.Accounts[n], o.Chain)
	if err != nil {
		return nil, err
	}
	address := w.Accounts[n].AccountAddress
	if slices.ContainsFunc(all, func(e ending) bool { return e.skip == "" }) {
		c.review(address, all)
		if err := c.agreed(ctx, address, o.Yes); err != nil {
			return nil, err
		}
		if err := w.Ready(ctx); err != nil {
			return nil, err
		}
	}
	var done []cli.AdminResult
	for _, e := range all {
		r := cli.AdminResult{Account: address, Chain: e.chain.String(), Action: "undelegate", Skipped: e.skip}
		if e.skip == "" {
			if err := w.end(ctx, e, &r); err != nil {
				return done, fmt.Errorf("%s: %w", e.view.Chain.Name, err)
			}
		}
		done = append(done, r)
	}
	return done, nil
}

// endings reads what the account is delegated to, and makes what would be signed on each chain.
func (w Wallet) endings(ctx context.Context, account api.Account, on caip.Chain) ([]ending, error) {
	at, err := caip.ParseAddress(account.AccountAddress)
	if err != nil {
		return nil, fmt.Errorf("account address: %w", err)
	}
	var out []ending
	var asked []string
	for _, name := range w.Network.Chains {
		chain, err := caip.ParseChain(name)
		if id, evm := chain.EVMID(); err == nil && evm && (on == chain || on == caip.Chain{}) {
			out, asked = append(out, ending{chain: chain}), append(asked, caip.EVMAccount(id, at).String())
		}
	}
	if len(out) == 0 {
		return nil, &cli.UsageError{Problem: "this network has no chain " + on.String()}
	}
	rules, err := w.Policy()
	if err != nil {
		return nil, err
	}
	answer, err := w.Service.Code(ctx, asked...)
	if err != nil {
		return nil, err
	}
	for i := range out {
		e := &out[i]
		n := slices.IndexFunc(answer.Accounts, func(c api.AccountCode) bool { return c.Account == asked[i] })
		if n < 0 {
			return nil, fmt.Errorf("%s: the service does not say whether the account is delegated", e.chain)
		}
		e.v, e.view, err = verify.Undelegation(rules, account, e.chain, answer.Accounts[n])
		if errors.Is(err, verify.ErrNotDelegated) {
			e.skip, err = "the account is not delegated there", nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.chain, err)
		}
	}
	return out, nil
}

// review says what the signatures do.
func (c Commands) review(address string, all []ending) {
	c.Prompt.Say("The EOA " + address + " ends its delegation:")
	for _, e := range all {
		if e.skip != "" {
			continue
		}
		to := e.view.Contract
		if e.view.ContractName != "" {
			to += ", " + e.view.ContractName
		}
		c.Prompt.Say(fmt.Sprintf("  %s (%s): delegated to %s, the service says; signed with account nonce %d",
			e.view.Chain.Name, e.chain, to, e.view.Nonce))
	}
	c.Prompt.Say(
		"There the account becomes an ordinary account of its key again. What the contract gave it stops: several",
		"calls in one, passkeys and modules. An operation that was signed and did not run cannot run before the",
		"account delegates again; the next operation asks for that. Keys and funds stay as they are. The service",
		"sends this at its own cost and can do nothing else with it.")
}

// agreed asks for the account's last four characters, unless --yes was given.
func (c Commands) agreed(ctx context.Context, address string, yes bool) error {
	switch {
	case yes:
		return nil
	case !c.Prompt.Terminal:
		return &cli.UsageError{Problem: "this has to be confirmed, and there is no terminal to ask on",
			Hint: "--yes signs without asking"}
	}
	return c.Prompt.Confirm(ctx, address, "", "nothing was signed")
}

// end signs for one chain and has the service send it.
func (w Wallet) end(ctx context.Context, e ending, r *cli.AdminResult) error {
	signed, err := w.Signer().SignDelegation(ctx, e.v)
	if err != nil {
		return err
	}
	answer, err := w.Service.Undelegate(ctx, api.UndelegateRequest{Account: e.view.Authority,
		Authorization: signed.Wire()})
	switch {
	case err != nil:
		return err
	case answer.Transaction == nil:
		r.Skipped = "the account is not delegated there any more"
	default:
		r.Hash, r.ExplorerURL = answer.Transaction.Hash, answer.Transaction.ExplorerURL
	}
	return nil
}
