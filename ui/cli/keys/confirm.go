package keys

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/profile"
)

// Confirm asks whether what changed about a network is right, before anything is signed on it.
type Confirm struct{ Prompt cli.Prompt }

// Ask says what changed and asks once. With another answer, or without a terminal to ask on, the profile stays open for
// reading.
func (c Confirm) Ask(ctx context.Context, o *profile.Opened) error {
	change := o.Change()
	c.Prompt.Say(change.Words...)
	later := "You can read; nothing is signed. Later: coffer profile confirm --profile " + o.Profile.Name
	if !c.Prompt.Terminal {
		c.Prompt.Say(later)
		return nil
	}
	question := "Type yes to use your keys on the new network, or press Enter to only read: "
	switch change.Typed {
	case "yes":
	case profile.RealSentence:
		question = "Type " + profile.RealSentence + ", or press Enter to only read: "
	default:
		question = "Type the fingerprint, or press Enter to only read: "
	}
	typed, err := c.Prompt.Line(ctx, question)
	if err != nil {
		return err
	}
	if typed == "" {
		c.Prompt.Say(later)
		return nil
	}
	err = o.Confirm(ctx, typed)
	var other *cli.RefusedError
	if errors.As(err, &other) {
		c.Prompt.Say("That was not it. " + later)
		return nil
	}
	return err
}

// confirm builds `coffer profile confirm`.
func (c Profiles) confirm(g *cli.Global) *cobra.Command {
	var yes bool
	var fingerprint string
	cmd := &cobra.Command{
		Use:   "confirm",
		Short: "Confirm what changed about the network of a profile",
		Long: `A newer program can replace the network inside it by one with other contracts; the operator of a service
can replace the contracts that payments go through. Then Coffer signs nothing until you have read and confirmed what
changed. Your keys are tagged with the network: this command moves the tag, together with the journal and the list of
applied plans. A service whose network itself is another one is not confirmed here: that takes a new profile and the
operator's fingerprint.`,
		Example: "  coffer profile confirm\n  coffer profile confirm --profile mine --yes\n" +
			"  coffer profile confirm --profile team --fingerprint 7bc3a522b798b662de4fa61514606bc8",
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			o, err := c.Host.OpenKeys(cmd.Context(), g.Profile)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, o.Close()) }()
			change := o.Change()
			if change == nil {
				_, err := fmt.Fprintf(c.Out, "Profile %s has nothing to confirm.\n", o.Profile.Name)
				return err
			}
			if typed := fingerprint; yes || typed != "" {
				c.Prompt.Say(change.Words...)
				if yes && change.Typed == "yes" {
					typed = "yes"
				}
				err = o.Confirm(cmd.Context(), typed)
			} else {
				err = Confirm{c.Prompt}.Ask(cmd.Context(), o)
			}
			switch {
			case err != nil || o.Change() == nil:
			case !c.Prompt.Terminal:
				err = &cli.UsageError{Problem: "this is confirmed by typing, and there is no terminal to ask on",
					Hint: "read what changed, and give --yes or --fingerprint: see coffer profile confirm --help"}
			default:
				err = &cli.RefusedError{Problem: "nothing was confirmed, and nothing was changed"}
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Out, "Confirmed: profile %s signs on network %s.\n", o.Profile.Name,
				o.Network.Fingerprint())
			return err
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm the new network that this program made")
	cmd.Flags().StringVar(&fingerprint, "fingerprint", "", "the network fingerprint, as the operator gives it")
	return cmd
}
