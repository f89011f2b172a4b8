package linear

import (
	"context"
	"errors"

	"coffer/api/secret"
	"coffer/ui/present"
	"coffer/wallet/vault"
)

// unlock opens the vault when the confirmed step needs a key of it. That confirms nothing. It reports whether the
// confirmation can be asked for.
func (c *reviewSession) unlock(ctx context.Context, st stage) (bool, error) {
	signs := st == stageReview1 || !c.snap.Review2.SameChainOnly
	if !signs || c.deps.Unlock == nil || c.deps.Locked == nil || !c.deps.Locked() {
		return true, nil
	}
	c.out.say("The keys are locked. Unlock them first; nothing is signed by that.")
	pass, err := c.secret(ctx, "Passphrase (not shown): ")
	switch {
	case errors.Is(err, errEnd), err != nil && ctx.Err() != nil:
		return false, err
	case err != nil:
		c.out.say("No passphrase: " + why(err) + " Nothing was signed.")
		return false, nil
	}
	empty := pass.Empty()
	err = c.deps.Unlock(ctx, pass)
	pass.Wipe()
	switch {
	case errors.Is(err, vault.ErrPassphrase) && empty:
		c.out.say("Nothing was typed. The keys stay locked.")
		return false, nil
	case err != nil:
		c.out.say(sentence(present.Locked(err, empty)))
		return false, nil
	}
	c.failed = nil
	c.out.say("Unlocked. Nothing is signed yet.")
	return true, nil
}

// secret asks for a passphrase. A pending read of a line must end first: it would take the passphrase.
func (s *session) secret(ctx context.Context, ask string) (secret.Secret, error) {
	if s.deps.Secret == nil {
		return secret.Secret{}, errors.New("this program cannot ask for a passphrase here")
	}
	if s.in.pending {
		s.out.say("Press Enter once, then type the passphrase.")
		if _, err := s.next(ctx); err != nil {
			return secret.Secret{}, err
		}
	}
	return s.deps.Secret(ctx, ask)
}
