package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/wallet/admin"
	"coffer/wallet/vault"
)

// roleCommands answers `coffer accounts` out of a profile.
type roleCommands struct{ prompt cli.Prompt }

// Show reads the roles of the profile's account.
func (c roleCommands) Show(ctx context.Context, g cli.Global, on caip.Chain) ([]cli.AccountRoles, error) {
	w, err := openRoles(ctx, g, on)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.show(ctx)
}

func (w *roleWallet) show(ctx context.Context) ([]cli.AccountRoles, error) {
	var out []cli.AccountRoles
	for _, id := range w.chains {
		r, err := w.roles(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, cli.AccountRoles{Account: w.account.Address.Hex(), Chain: caip.EVM(id).String(), Name: w.name(id), RolesResponse: r})
	}
	return out, nil
}

// Rotate replaces the session key.
func (c roleCommands) Rotate(ctx context.Context, g cli.Global, o cli.RotateOptions) ([]cli.AdminResult, error) {
	w, err := openRoles(ctx, g, o.Chain)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return c.rotate(ctx, w, o)
}

func (c roleCommands) rotate(ctx context.Context, w *roleWallet, o cli.RotateOptions) ([]cli.AdminResult, error) {
	var plans []plan
	for _, id := range w.chains {
		r, err := w.roles(ctx, id)
		if err != nil {
			return nil, err
		}
		p := plan{chain: id, roles: r, action: api.AdminRotateSession, words: "replace the session key by " + o.NewSession.Hex()}
		if now := w.session(r); now == o.NewSession {
			p.skip = "this is the session key already"
		}
		p.sign = func(ctx context.Context, s *admin.Signer, nonce *big.Int) (admin.Signed, error) {
			return s.RotateSession(ctx, id, nonce, o.NewSession)
		}
		plans = append(plans, p)
	}
	done, err := c.carryOut(ctx, w, o.AdminOptions, plans)
	if err == nil && !o.Print && !w.follows(o.NewSession) {
		c.prompt.Say(
			"The profile should now name session_address = \""+o.NewSession.Hex()+"\" and account_address = \""+w.account.Address.Hex()+"\".",
			"On a chain where the key was not replaced the old session key still counts. Replace it on every chain before you change the profile:",
			"where the account is not deployed yet, its first session key is needed to deploy it.")
	}
	return done, err
}

// Exit announces, cancels or makes use of an exit.
func (c roleCommands) Exit(ctx context.Context, g cli.Global, o cli.ExitOptions) ([]cli.AdminResult, error) {
	w, err := openRoles(ctx, g, o.Chain)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return c.exit(ctx, w, o)
}

func (c roleCommands) exit(ctx context.Context, w *roleWallet, o cli.ExitOptions) ([]cli.AdminResult, error) {
	if o.Action == cli.ExitSweep && o.To == w.account.Address {
		return nil, &cli.UsageError{Problem: "--to is the account itself"}
	}
	var plans []plan
	for _, id := range w.chains {
		r, err := w.roles(ctx, id)
		if err != nil {
			return nil, err
		}
		p, err := w.exitPlan(ctx, id, r, o, len(w.chains) > 1)
		if err != nil {
			return nil, err
		}
		plans = append(plans, p)
	}
	return c.carryOut(ctx, w, o.AdminOptions, plans)
}

// exitPlan plans one chain of an exit; all says that the person named every chain at once.
func (w *roleWallet) exitPlan(ctx context.Context, id uint64, r api.RolesResponse, o cli.ExitOptions, all bool) (plan, error) {
	p := plan{chain: id, roles: r}
	switch o.Action {
	case cli.ExitAnnounce:
		p.action, p.words = api.AdminAnnounceExit, "announce an exit; from now on the co-signer signs nothing for the account there"
		if r.ExitAvailableAt != 0 {
			p.skip = "an exit is announced already"
		}
		p.sign = func(ctx context.Context, s *admin.Signer, nonce *big.Int) (admin.Signed, error) {
			return s.AnnounceExit(ctx, id, nonce)
		}
	case cli.ExitCancel:
		p.action, p.words = api.AdminCancelExit, "cancel the exit; the session key and the co-signer operate the account again"
		if r.ExitAvailableAt == 0 && all {
			p.skip = "no exit is announced"
		}
		p.sign = func(ctx context.Context, s *admin.Signer, nonce *big.Int) (admin.Signed, error) {
			return s.CancelExit(ctx, id, nonce)
		}
	case cli.ExitSweep:
		return w.sweepPlan(ctx, id, r, o.To)
	default:
		return plan{}, fmt.Errorf("there is no exit action %q", o.Action)
	}
	return p, nil
}

// sweepPlan plans the transfer of every balance that the service tells of. What it does not tell stays where it is; what it invents makes the
// operation fail as a whole.
func (w *roleWallet) sweepPlan(ctx context.Context, id uint64, r api.RolesResponse, to common.Address) (plan, error) {
	p := plan{chain: id, roles: r, action: api.AdminOperate, operation: true}
	if r.ExitAvailableAt == 0 {
		p.skip = "no exit is announced"
		return p, nil
	}
	calls, words, err := w.holdings(ctx, id, to)
	if err != nil {
		return plan{}, err
	}
	if len(calls) == 0 {
		p.skip = "the account holds nothing"
		return p, nil
	}
	p.words = "send to " + to.Hex() + ": " + strings.Join(words, ", ")
	p.sign = func(ctx context.Context, s *admin.Signer, nonce *big.Int) (admin.Signed, error) {
		return s.Operate(ctx, id, nonce, calls)
	}
	return p, nil
}

// plan is what is to be done on one chain. operation says that the nonce is the one of the account's operations, else it is the admin's.
type plan struct {
	chain     uint64
	roles     api.RolesResponse
	action    string
	words     string
	skip      string
	operation bool
	sign      func(context.Context, *admin.Signer, *big.Int) (admin.Signed, error)
}

func (p plan) nonce() (*big.Int, error) {
	s := p.roles.AdminNonce
	if p.operation {
		s = p.roles.OperationNonce
	}
	n, err := amount.ParseBase(s)
	if err != nil {
		return nil, fmt.Errorf("nonce on %s: %w", caip.EVM(p.chain), err)
	}
	return n, nil
}

// carryOut shows the plans, has them confirmed, borrows the admin key, and signs and relays chain by chain.
func (c roleCommands) carryOut(ctx context.Context, w *roleWallet, o cli.AdminOptions, plans []plan) (done []cli.AdminResult, err error) {
	address := w.account.Address.Hex()
	if !slices.ContainsFunc(plans, func(p plan) bool { return p.skip == "" }) {
		for _, p := range plans {
			done = append(done, w.result(p))
		}
		return done, nil
	}
	c.prompt.Say("The admin of account " + address + " signs:")
	for _, p := range plans {
		if p.skip == "" {
			c.prompt.Say("  " + w.name(p.chain) + ": " + p.words)
		}
	}
	if err := c.prompt.Confirm(ctx, address, o.Confirm); err != nil {
		return nil, err
	}
	keys, err := c.keys(ctx, w, o.KeyFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = keys.Close() }()
	signer := admin.New(keys, w.s.network, w.account)
	for _, p := range plans {
		r := w.result(p)
		if p.skip == "" {
			if err := w.one(ctx, signer, p, o.Print, &r); err != nil {
				return done, fmt.Errorf("%s: %w", w.name(p.chain), err)
			}
		}
		done = append(done, r)
	}
	return done, nil
}

// keys holds the admin key, tagged with the network, until it is closed.
func (c roleCommands) keys(ctx context.Context, w *roleWallet, file string) (*vault.Memory, error) {
	key, err := c.prompt.AdminKey(ctx, file)
	if err != nil {
		return nil, err
	}
	return keep(key, w.s.network.ID, w.account.Admin)
}

// keep takes ownership of the admin key and refuses another one.
func keep(key secret.Secret, networkID string, owner common.Address) (*vault.Memory, error) {
	keys := vault.NewMemory(networkID)
	item, err := keys.Add(vault.EVM, key)
	if err == nil && item.Address != strings.ToLower(owner.Hex()) {
		err = &cli.UsageError{Problem: "this is the key of " + common.HexToAddress(item.Address).Hex() + ", the account's admin is " + owner.Hex()}
	}
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	return keys, nil
}

// one signs the plan of a chain, and relays or gives out what was signed.
func (w *roleWallet) one(ctx context.Context, s *admin.Signer, p plan, give bool, r *cli.AdminResult) error {
	nonce, err := p.nonce()
	if err != nil {
		return err
	}
	signed, err := p.sign(ctx, s, nonce)
	if err != nil {
		return err
	}
	if give {
		if to, data, ok := w.account.Deployment(w.s.network.Pins); ok && !p.roles.Deployed {
			r.Calls = append(r.Calls, call(to, data))
		}
		r.Calls = append(r.Calls, call(signed.To, signed.Data))
		return nil
	}
	answer, err := w.s.client.Relay(ctx, signed.Request)
	r.Hash, r.ExplorerURL = answer.Hash, answer.ExplorerURL
	return err
}

func call(to common.Address, data []byte) cli.AdminCall {
	return cli.AdminCall{To: to.Hex(), Data: fmt.Sprintf("0x%x", data)}
}
