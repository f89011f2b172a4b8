package act

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// adoptSentence is what the user types to continue with an older journal.
const adoptSentence = "go on with the older journal"

// Adopt builds `coffer activity adopt`.
func (c Commands) Adopt(g *cli.Global) *cobra.Command {
	var confirm string
	cmd := &cobra.Command{
		Use:   "adopt",
		Short: "Go on with a journal that is older than what was signed",
		Long: `A journal that was restored from an older copy, or removed, lacks records of what was signed: nothing is
signed with it. The right thing is to put the newest copy of it back. Where there is none, this command says what is
lost and, after a sentence that has to be typed, goes on with the journal that there is, or with a new one. Signatures
that it does not know can still be used, and your caps do not count them. Plans that were applied stay known and are
not applied again.`,
		Example: "  coffer activity adopt\n  coffer activity adopt --confirm \"" + adoptSentence + "\"",
		PreRunE: func(*cobra.Command, []string) error {
			if confirm == "" && !c.Terminal {
				return usage("", "there is no terminal to confirm on: --confirm %q says the sentence", adoptSentence)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&confirm, "confirm", "", "the `SENTENCE` that has to be typed otherwise")
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		return c.adopt(cmd.Context(), s, confirm)
	})
}

func (c Commands) adopt(ctx context.Context, s *Session, confirm string) error {
	lost, err := s.Lost()
	if errors.Is(err, journal.ErrWhole) {
		c.say("The journal of profile %s lacks nothing.", s.Profile)
		return nil
	}
	if err != nil {
		return err
	}
	c.sayLost(s, lost)
	switch {
	case confirm == adoptSentence:
	case confirm != "":
		return &cli.RefusedError{Problem: "that is not the sentence; nothing was changed. It is: " + adoptSentence}
	default:
		c.say("To go on all the same, this sentence has to be typed exactly: %s", adoptSentence)
		r := &runner{c: c, s: s}
		if _, err := r.typed(ctx, "Type the sentence: ",
			func(a string) bool { return a == adoptSentence }); err != nil {
			return r.unconfirmed(err)
		}
	}
	if err := s.Adopt(); err != nil {
		return err
	}
	c.say("Profile %s goes on with this journal. A record in it says what it lacks.", s.Profile)
	return nil
}

// sayLost explains what continuing means.
func (c Commands) sayLost(s *Session, lost journal.Loss) {
	c.say("%s", lost.Why.Error())
	switch {
	case lost.Missing:
		c.say("There is no journal at all; a new one would begin.")
	case lost.Written > lost.Has:
		c.say("%d records are lost.", lost.Written-lost.Has)
	}
	c.say("This machine no longer knows what they say: signatures that can still be used, amounts that count against " +
		"your caps, what became of what was sent.")
	if lost.Until.IsZero() {
		return
	}
	window := verify.DefaultPolicy(s.Network, s.Catalog).MaxWindow
	end := lost.Until.Add(window + time.Minute)
	if c.Clock().Before(end) {
		c.say("A lost signature with a window ends at %s at the latest: wait until then.", cli.Clock(end))
	} else {
		c.say("Every lost signature with a window has ended, at %s at the latest.", cli.Clock(end))
	}
	c.say("An approval of a role-based account has no window: it lives until its nonce is used. Compare `coffer " +
		"history` " +
		"with what you know before you go on.")
}
