package keys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// nodeKeyLine is a node's key in --json.
type nodeKeyLine struct {
	Name    string    `json:"name"`
	Host    string    `json:"host"`
	Created time.Time `json:"created"`
}

func (c Commands) nodeKey(g *cli.Global) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "node-key",
		Short: "The keys that your nodes ask for",
		Long: `The key that a provider of nodes gave you for one of them. Its place in networks.toml, or
in an address of coffer profile nodes, is ${vault:NAME}; the vault keeps it for the host that is named there, and it
is sent to no other.`,
		Example: "  coffer keys node-key set main\n  coffer keys node-key list\n  coffer keys node-key remove main",
		Args:    cli.NoArgs,
	}, c.setNodeKey(g), c.listNodeKeys(g), c.removeNodeKey(g))
}

func (c Commands) setNodeKey(g *cli.Global) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Store the key for ${vault:NAME}, typed without echo",
		Long: `Asks for the key without showing it, or reads it from --file, and stores it in the vault, in place of an
older one. Its host is the one whose address has ${vault:NAME}.`,
		Example: "  coffer keys node-key set main\n  coffer keys node-key set main --file - < key.txt",
		Args:    cli.OneArg("name"),
	}
	cmd.Flags().StringVar(&file, "file", "", "`FILE` with the key, which only you can read, or - for standard input")
	return c.unlocked(g, cmd, func(ctx context.Context, o *profile.Opened, args []string) error {
		host, err := o.NodeKeyHost(args[0])
		if err != nil {
			return err
		}
		key, err := c.Prompt.NodeKey(ctx, file, args[0], host)
		if err != nil {
			return err
		}
		defer key.Wipe()
		if err := o.Unlock(ctx); err != nil { // it locks when the program is suspended
			return err
		}
		if err := o.Vault().SetNodeKey(ctx, args[0], host, key); err != nil {
			return err
		}
		c.Prompt.Say("The key is stored; it is sent to " + host + " alone.")
		return nil
	})
}

func (c Commands) listNodeKeys(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the keys of nodes by name, with their hosts",
		Long:    "Opens the vault and lists name, host and day of each key. The keys themselves are never shown.",
		Example: "  coffer keys node-key list\n  coffer keys node-key list --json",
	}
	cli.JSONFlag(cmd, &asJSON)
	return c.unlocked(g, cmd, func(ctx context.Context, o *profile.Opened, _ []string) error {
		all, err := o.Vault().NodeKeys(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			lines := make([]nodeKeyLine, len(all))
			for i, k := range all {
				lines[i] = nodeKeyLine(k)
			}
			return cli.PrintJSON(c.Out, lines)
		}
		w := cli.Columns(c.Out)
		for _, k := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\n", k.Name, k.Host, k.Created.Format(time.DateOnly))
		}
		if len(all) == 0 {
			c.Prompt.Say("There are no keys of nodes; store one with: coffer keys node-key set NAME")
		}
		return w.Flush()
	})
}

func (c Commands) removeNodeKey(g *cli.Global) *cobra.Command {
	return c.unlocked(g, &cobra.Command{
		Use: "remove NAME", Short: "Delete a node's key",
		Long:    "Deletes the key from the vault. Only the provider of the node can revoke it.",
		Example: "  coffer keys node-key remove main",
		Args:    cli.OneArg("name"),
	}, func(ctx context.Context, o *profile.Opened, args []string) error {
		err := o.Vault().RemoveNodeKey(ctx, args[0])
		if errors.Is(err, vault.ErrNoKey) {
			err = &cli.UsageError{Problem: fmt.Sprintf("profile %q has no node key of this name", o.Profile.Name),
				Hint: "coffer keys node-key list shows the names"}
		}
		return err
	})
}
