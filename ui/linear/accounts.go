package linear

import (
	"context"
	"errors"
	"strings"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/present"
)

// accounts lists the accounts of the profile and the signer of each, and what contracts were allowed to take.
func (s *session) accounts(ctx context.Context) error {
	all := s.ctx.Own
	if all == nil {
		for _, a := range s.Accounts {
			all = append(all, present.Own{Account: a, Used: true})
		}
	}
	n := len(all)
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
	choices := present.Choices(s.ctx.Own)
	for i, a := range all {
		title := "Account " + itoa(i+1) + ", " + present.AccountType(a.Type)
		if a.Name != "" {
			title = clean(a.Name, 60) + ", " + present.AccountType(a.Type)
		}
		if a.Used && a.IsEVM() && len(choices) > 0 {
			title += ", in use"
		}
		s.out.where(0, title, address(a.AccountAddress))
		label, who := signerOf(a.Account)
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
	s.tank(ctx)
	if len(choices) == 0 || s.deps.Use == nil {
		return s.allowances(ctx)
	}
	if s.deps.Allowances != nil && len(s.deps.Allowances()) > 0 {
		if err := s.allowances(ctx); !errors.Is(err, errBack) {
			return err
		}
	}
	a, err := one(ctx, s, "Use which account? An empty line keeps it.", choices, func(a present.Own) string {
		return clean(a.Name, 60) + ", " + accountName(a.Account)
	})
	if err != nil {
		return err
	}
	return s.use(a)
}

// tank says what pays for gas on own nodes, and what it has.
func (s *session) tank(ctx context.Context) {
	if s.deps.Tank == nil {
		return
	}
	s.out.where(0, "Gas tank", address(present.GasTank(s.ctx.Network)))
	r, err := s.deps.Tank(ctx)
	if err != nil {
		s.out.note("What it has is not known: " + why(err))
		return
	}
	for _, l := range present.Tank(r, s.ctx.Own, s.Hidden) {
		text := l.Text
		if l.Warn {
			text = "Warning: " + text
		}
		if l.Label == "" {
			s.out.note(capital(text))
		} else {
			s.out.fact(2, capital(l.Label), text)
		}
	}
}

// use makes an account the one in use. What is under way with another one is followed on.
func (s *session) use(a present.Own) error {
	now, err := s.deps.Use(a.AccountAddress)
	if err != nil {
		s.out.say("Nothing changed: " + why(err))
		return nil
	}
	s.ctx.Accounts, s.ctx.Own, s.deps.Book = now.Accounts, now.Own, now.Book
	s.Accounts, s.Book, s.money, s.Money = now.Accounts, now.Book, money{}, compose.Money{}
	s.out.say(s.inUse())
	return nil
}

// inUse names the account in use.
func (s *session) inUse() string {
	for _, a := range s.ctx.Own {
		if a.Used && a.IsEVM() {
			return "Account in use: " + clean(a.Name, 60) + ", " + accountName(a.Account) + "."
		}
	}
	return "No account is in use."
}

// foreign names the account of an operation that is not in use; "" for none.
func (s *session) foreign(of []api.Account) string {
	for _, a := range of {
		if a.IsEVM() && !s.Own(a.AccountAddress) && len(present.Choices(s.ctx.Own)) > 0 {
			for _, own := range s.ctx.Own {
				if strings.EqualFold(own.AccountAddress, a.AccountAddress) {
					return clean(own.Name, 60)
				}
			}
			return present.Address(a.AccountAddress)
		}
	}
	return ""
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
