package keys

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// holding makes every command hold the terminal while it runs: the terminal shows no input except the answer of a
// confirmation.
func (c Commands) holding(cmd *cobra.Command) {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, end := c.Prompt.Hold(cmd.Context())
		defer end()
		cmd.SetContext(ctx)
		return run(cmd, args)
	}
	for _, below := range cmd.Commands() {
		c.holding(below)
	}
}

// flagError reports a wrong flag without repeating it, unless it is one that exists.
func flagError(c *cobra.Command, err error) error {
	if strings.HasPrefix(err.Error(), "flag needs an argument: --") {
		return cli.Misused(c, "%s", err)
	}
	return cli.Misused(c, "`%s` was given a flag, or a value of one, that it does not take", c.CommandPath())
}

// bare removes the name of the file, which was an argument, from an error of reading or writing it.
func bare(path string, err error) error {
	if err == nil {
		return nil
	}
	var at *fs.PathError
	switch {
	case errors.As(err, &at):
		return fmt.Errorf("the file: %w", at.Err)
	case strings.Contains(err.Error(), path):
		return errors.New(strings.ReplaceAll(err.Error(), path, "FILE"))
	}
	return err
}

// address reads an argument that has the shape of an address: 0x and 40 hexadecimal digits, which become lower case,
// or 32 to 44 characters of base58.
func address(arg string) (string, error) {
	if ok, err := regexp.MatchString("^0x[0-9a-fA-F]{40}$", arg); ok || err != nil {
		return strings.ToLower(arg), err
	}
	if ok, err := regexp.MatchString("^[1-9A-HJ-NP-Za-km-z]{32,44}$", arg); ok || err != nil {
		return arg, err
	}
	return "", &cli.UsageError{
		Problem: "that is not an address", Hint: "an address is 0x and 40 hexadecimal digits, or 32 to 44 characters " +
			"of base58; `coffer keys list` shows them",
	}
}

func (c Commands) remove(g *cli.Global) *cobra.Command {
	var confirm, wanted string
	cmd := &cobra.Command{
		Use:   "remove ADDRESS",
		Short: "Delete a key for good",
		Long: "Deletes one key from the vault, after you typed the end of its address. Without a backup no one " +
			"can ever sign with it again.",
		Example: "  coffer keys remove 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266\n  coffer keys remove " +
			"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --confirm 2266",
		Args: cli.OneArg("address"),
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			wanted, err = address(args[0])
			return err
		},
	}
	cmd.Flags().StringVar(&confirm, "confirm", "", "the address's last four characters, instead of typing them")
	return c.unlocked(g, cmd, func(ctx context.Context, o *profile.Opened, _ []string) error {
		return c.removeOne(ctx, o, o.Vault(), wanted, confirm)
	})
}

// removeOne shows the address only once it is known to be one of the vault's: a seed in base58 has the shape of an
// address.
func (c Commands) removeOne(ctx context.Context, o *profile.Opened, v *vault.Vault, wanted, confirm string) error {
	items, err := v.Items(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(items, func(i vault.Item) bool { return i.Address == wanted }) {
		return vault.ErrNoKey
	}
	wanted, item := present.Checksummed(wanted), wanted
	c.Prompt.Say("This deletes the key of " + wanted + ". Without a backup no one can ever sign with it again.")
	if err := c.Prompt.Confirm(ctx, wanted, confirm, "nothing was deleted"); err != nil {
		return err
	}
	if err := o.Unlock(ctx); err != nil { // it locks when the program is suspended
		return err
	}
	return v.Remove(ctx, item)
}
