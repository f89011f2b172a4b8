package linear

import (
	"context"

	"coffer/api"
	"coffer/ui/present"
)

// accounts lists the accounts of the profile and the signer of each, and what contracts were allowed to take.
func (s *session) accounts(ctx context.Context) error {
	n := len(s.Accounts)
	s.out.say("Profile " + clean(s.ctx.Profile, 60) + " has " + present.Plural(n, "account", "accounts") + ". " +
		s.networkWords())
	if s.ctx.BaseURL != "" {
		s.out.fact(0, "Service", present.Whole(s.ctx.BaseURL))
	}
	if s.ctx.Network.ID != "" {
		s.out.fact(0, "Network id", present.Groups(s.ctx.Network.ID))
	}
	if v := s.ctx.Vault; v.Where != "" {
		state := ""
		switch {
		case v.Locked == nil:
		case v.Locked():
			state = ", locked: the next signature asks for the passphrase"
		default:
			state = ", unlocked"
		}
		s.out.fact(0, "Keys", clean(v.Where, 120)+state)
	}
	for i, a := range s.Accounts {
		s.out.where(0, "Account "+itoa(i+1)+", "+present.AccountType(a.Type), address(a.AccountAddress))
		label, who := signerOf(a)
		if who != "" {
			s.out.where(2, label, address(who))
		} else {
			who = a.AccountAddress
		}
		if a.AdminAddress != "" {
			s.out.where(2, "Admin key", address(a.AdminAddress))
		}
		s.keyNote(ctx, who)
	}
	return s.allowances(ctx)
}

// signerOf is the key that signs for an account; "" when the address itself is the key.
func signerOf(a api.Account) (label, address string) {
	if a.SessionAddress != "" {
		return "Session key, approves each operation", a.SessionAddress
	}
	return "Signs with the key of", a.SignerAddress
}

// keyNote says whether the vault has the key, when that is known.
func (s *session) keyNote(ctx context.Context, who string) {
	if s.ctx.Vault.Has == nil {
		return
	}
	switch there, err := s.ctx.Vault.Has(ctx, who); {
	case err != nil:
		s.out.note("Whether the vault has this key is not known: " + why(err))
	case there:
		s.out.note("The vault has this key.")
	default:
		s.out.note("Warning: the vault has no key for this account.")
	}
}
