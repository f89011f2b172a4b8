// Package roles does the work of `coffer accounts` on a profile: it shows who may sign for its role-based account,
// signs with the admin key, and ends the delegation of an EOA.
//
// Promise: before a command asks for a key, the user has seen what it will sign on which chain and has confirmed the
// account. The admin key is borrowed for one command and wiped; a key that is not the admin's signs nothing. Chains
// are done one after the other: an error comes with the results of the earlier chains. What the service reports
// (balances, nonces) decides how much is moved at most, never to whom (package wallet/admin).
//
// Errors: a request that the command line or the profile cannot support is a *cli.UsageError; a refusal of the service
// is its *api.Error. Sources: TH-K1, TH-U15.
package roles

import (
	"context"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/ui/cli"
	"coffer/wallet/verify"
)

// Service is what the commands ask of a service; *client.Client is one.
type Service interface {
	Roles(ctx context.Context, account string) (api.RolesResponse, error)
	Balances(ctx context.Context, q client.BalanceQuery) (api.AggregatedBalance, error)
	Relay(ctx context.Context, r api.RelayRequest) (api.RelayResponse, error)
	Code(ctx context.Context, accounts ...string) (api.CodeResponse, error)
	Undelegate(ctx context.Context, r api.UndelegateRequest) (api.UndelegateResponse, error)
}

// Signer signs that an EOA ends its delegation; *sign.Signer and *sign.External are.
type Signer interface {
	SignDelegation(ctx context.Context, v verify.VerifiedDelegation) (op.SignedAuthorization, error)
}

// Wallet is an opened profile: its name, its service and network, and its accounts with their addresses. Close
// releases the service. Unconfirmed is why nothing is signed before a changed network is confirmed; nil: it is.
type Wallet struct {
	Profile  string
	Service  Service
	Network  network.Descriptor
	Catalog  *catalog.Catalog
	Accounts []api.Account // those in use
	All      []api.Account // of the profile
	Close    func() error
	// Ready opens the keys of Signer where they are locked, or says why nothing is signed; Policy is the profile's.
	Signer func() Signer
	Ready  func(context.Context) error
	Policy func() (verify.Policy, error)

	Unconfirmed error
}

// Commands answers `coffer accounts`. Open opens the profile that the command line names; Prompt asks the user.
type Commands struct {
	Open   func(context.Context, cli.Global) (Wallet, error)
	Prompt cli.Prompt
}

// Show reads the roles of the profile's account; the zero chain means every EVM chain of the network.
func (c Commands) Show(ctx context.Context, g cli.Global, on caip.Chain) ([]cli.AccountRoles, error) {
	h, err := c.open(ctx, g, on)
	if err != nil {
		return nil, err
	}
	defer h.close()
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	var out []cli.AccountRoles
	for _, r := range h.roles {
		out = append(out, cli.AccountRoles{Account: h.account.Address.Hex(), Chain: caip.EVM(r.chain).String(),
			Name: h.name(r.chain), RolesResponse: r.RolesResponse})
	}
	return out, nil
}

// Rotate replaces the session key.
func (c Commands) Rotate(ctx context.Context, g cli.Global, o cli.RotateOptions) ([]cli.AdminResult, error) {
	h, err := c.open(ctx, g, o.Chain)
	if err != nil {
		return nil, err
	}
	defer h.close()
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	var plans []plan
	for _, r := range h.roles {
		plans = append(plans, h.rotatePlan(r, o.NewSession))
	}
	done, err := c.carryOut(ctx, h, o.AdminOptions, plans)
	// only a profile that does not name the session key already has to change
	if err == nil && !o.Print && common.HexToAddress(h.account.Wire.SessionAddress) != o.NewSession {
		c.Prompt.Say(
			"The profile should now name session_address = \""+o.NewSession.Hex()+"\" and account_address = \""+
				h.account.Address.Hex()+"\".",
			"On a chain where the key was not replaced the old session key still counts. Replace it on every chain "+
				"before you change the profile:",
			"where the account is not deployed yet, its first session key is needed to deploy it.")
	}
	return done, err
}

// Exit announces, cancels or uses an exit.
func (c Commands) Exit(ctx context.Context, g cli.Global, o cli.ExitOptions) ([]cli.AdminResult, error) {
	h, err := c.open(ctx, g, o.Chain)
	if err != nil {
		return nil, err
	}
	defer h.close()
	if o.Action == cli.ExitSweep && o.To == h.account.Address {
		return nil, &cli.UsageError{Problem: "--to is the account itself"}
	}
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	var plans []plan
	for _, r := range h.roles {
		p, err := h.exitPlan(ctx, r, o)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return c.carryOut(ctx, h, o.AdminOptions, plans)
}
