package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/wallet/admin"
	"coffer/wallet/vault"
)

// carryOut shows the plans, gets the user's confirmation, borrows the admin key, and signs and relays chain by chain.
func (c Commands) carryOut(ctx context.Context, h *holder, o cli.AdminOptions, plans []plan) (done []cli.AdminResult,
	err error) {
	if h.Unconfirmed != nil {
		return nil, h.Unconfirmed
	}
	address := h.account.Address.Hex()
	if !slices.ContainsFunc(plans, func(p plan) bool { return p.skip == "" }) {
		for _, p := range plans {
			done = append(done, h.result(p))
		}
		return done, nil
	}
	c.Prompt.Say("The admin of account " + address + " signs:")
	for _, p := range plans {
		if p.skip == "" {
			c.Prompt.Say("  " + h.name(p.chain) + ": " + p.words)
		}
	}
	if err := c.Prompt.Confirm(ctx, address, o.Confirm, "nothing was signed"); err != nil {
		return nil, err
	}
	keys, err := c.keys(ctx, h, o.KeyFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = keys.Close() }()
	signer := admin.New(keys, h.Network, h.account)
	for _, p := range plans {
		r := h.result(p)
		if p.skip == "" {
			if err := h.one(ctx, signer, p, o.Print, &r); err != nil {
				return done, fmt.Errorf("%s: %w", h.name(p.chain), err)
			}
		}
		done = append(done, r)
	}
	return done, nil
}

// keys holds the admin key, tagged with the network, until it is closed.
func (c Commands) keys(ctx context.Context, h *holder, file string) (*vault.Memory, error) {
	key, err := c.Prompt.AdminKey(ctx, file)
	if err != nil {
		return nil, err
	}
	return keep(key, h.Network.ID, h.account.Admin)
}

// keep takes ownership of the admin key and refuses any other key.
func keep(key secret.Secret, networkID string, owner common.Address) (*vault.Memory, error) {
	keys := vault.NewMemory(networkID)
	item, err := keys.Add(vault.EVM, key)
	if err == nil && item.Address != strings.ToLower(owner.Hex()) {
		err = &cli.AccessError{Problem: "this is the key of " + common.HexToAddress(item.Address).Hex() +
			", the account's admin is " + owner.Hex()}
	}
	if err != nil {
		return nil, errors.Join(err, keys.Close())
	}
	return keys, nil
}

// one signs the plan of a chain, and relays or returns the signed calls.
func (h *holder) one(ctx context.Context, s *admin.Signer, p plan, give bool, r *cli.AdminResult) error {
	nonce, err := p.nonce()
	if err != nil {
		return err
	}
	signed, err := p.sign(s, ctx, p.chain, nonce)
	if err != nil {
		return err
	}
	if give {
		if to, data, ok := h.account.Deployment(h.Network.Pins); ok && !p.Deployed {
			r.Calls = append(r.Calls, call(to, data))
		}
		r.Calls = append(r.Calls, call(signed.To, signed.Data))
		return nil
	}
	answer, err := h.Service.Relay(ctx, signed.Request)
	r.Hash, r.ExplorerURL = answer.Hash, answer.ExplorerURL
	return err
}

func call(to common.Address, data []byte) cli.AdminCall {
	return cli.AdminCall{To: to.Hex(), Data: fmt.Sprintf("0x%x", data)}
}
