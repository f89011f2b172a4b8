package keys

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/journal"
)

// removal is a request on the command line to remove an account from a profile.
type removal struct {
	yes, force, json bool
}

func (c Profiles) removeAccount(g *cli.Global) *cobra.Command {
	var r removal
	cmd := &cobra.Command{
		Use:   "remove ACCOUNT",
		Short: "Take an account out of the profile",
		Long: `Takes an account out of the configuration, by its name, address or type. Its key stays in the vault, its
journal stays, and what it holds stays where it is: adding the account again brings it back. While signatures of the
account can still be used it is refused, because nothing here would show them any more; --force does it all the same.`,
		Example: "  coffer accounts remove 0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442\n  coffer accounts remove " +
			"solana --yes --json",
		Args: cli.OneArg("account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := c.Host.OpenKeys(cmd.Context(), g.Profile)
			if err != nil {
				return err
			}
			return errors.Join(c.takeOut(cmd.Context(), o, args[0], r), o.Close())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&r.yes, "yes", false, "remove it without asking")
	f.BoolVar(&r.force, "force", false, "remove it although signatures of it can still be used")
	cli.JSONFlag(cmd, &r.json)
	return cmd
}

// takeOut asks and removes.
func (c Profiles) takeOut(ctx context.Context, o *profile.Opened, which string, r removal) error {
	at, err := accountAt(o, which)
	if err != nil {
		return err
	}
	a := o.All[at]
	live, err := c.open(o, a)
	switch {
	case err != nil && !r.force:
		return &cli.RefusedError{Problem: "which signatures of this account can still be used is not known: " +
			err.Error() + " (--force removes it all the same)"}
	case live > 0 && !r.force:
		return &cli.RefusedError{Problem: fmt.Sprintf(
			"%s of this account can still be used; Activity shows what ends them, --force removes the account all "+
				"the same", present.Plural(live, "signature", "signatures"))}
	}
	if err := c.agree(ctx, a, r.yes); err != nil {
		return err
	}
	if err := config.RemoveAccount(o.Paths.Config, o.Profile.Name, at); err != nil {
		return err
	}
	if name := o.Profile.Accounts[at].Name; name != "" && at == o.Profile.Default() && o.Several() && !r.json {
		c.Prompt.Say("It was the default account; coffer accounts list shows which one is used now.")
	}
	if r.json {
		return cli.PrintJSON(c.Out, a)
	}
	_, err = fmt.Fprintf(c.Out, "%s is out of profile %s; its key and its journal stay\n", a.AccountAddress,
		o.Profile.Name)
	return err
}

// agree asks the user for the end of the address, unless --yes was given.
func (c Profiles) agree(ctx context.Context, a api.Account, yes bool) error {
	if yes {
		return nil
	}
	if !c.Prompt.Terminal {
		return &cli.UsageError{Problem: "there is no terminal to ask on", Hint: "remove it without a question: --yes"}
	}
	c.Prompt.Say("This takes " + a.AccountAddress + " (" + a.Type + ") out of the profile. Its key stays.")
	return c.Prompt.Confirm(ctx, a.AccountAddress, "", "nothing was deleted")
}

// accountAt finds an account by its name or address, or by its type where only one account has it.
func accountAt(o *profile.Opened, which string) (int, error) {
	at, err := o.Account(which)
	if err == nil {
		return at, nil
	}
	found := -1
	for i, a := range o.All {
		switch {
		case a.Type == which && found >= 0:
			return 0, &cli.UsageError{Problem: "the profile has more than one account of this type",
				Hint: "name it by its name or address: coffer accounts list"}
		case a.Type == which:
			found = i
		}
	}
	if found < 0 {
		return 0, err
	}
	return found, nil
}

// open counts the signatures of an account that can still be used and were not declared void. A profile without a
// journal has none.
func (c Profiles) open(o *profile.Opened, a api.Account) (int, error) {
	now := c.clock()
	j, err := journal.OpenReadOnly(o.Paths.ProfileState(o.Profile.Name),
		journal.Options{Network: o.Network.ID, Clock: c.clock})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = j.Close() }()
	n := 0
	for _, s := range j.Outstanding(now) {
		if s.VoidedAt.IsZero() && (s.Sender == a.AccountAddress ||
			a.IsEVM() && strings.EqualFold(s.Sender, a.AccountAddress)) {
			n++
		}
	}
	return n, nil
}

func (c Profiles) clock() time.Time {
	if c.Clock == nil {
		return time.Now()
	}
	return c.Clock()
}
