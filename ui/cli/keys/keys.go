// Package keys is `coffer keys` and `coffer profile`: it sets up a vault, fills it and empties it, and writes profiles
// and accounts into the configuration.
//
// Promise: the commands read a key, a passphrase or an API key from the terminal without echo, or from a file that
// only its owner may read; no flag and no variable takes one, and nothing here prints one. The user confirms by typing
// before a key is deleted. The vault is where the profile places it.
//
// Errors: a command line that cannot run is a *cli.UsageError; a vault that does not open is an error of package
// vault. Sources: TH-K1, K5, K7, KR1 to KR4.
package keys

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// Commands answers `coffer keys`.
type Commands struct {
	Host   profile.Host
	Prompt cli.Prompt
	Out    io.Writer
	Random io.Reader // for new keys; nil is the system's
}

// Command builds `coffer keys`.
func (c Commands) Command(g *cli.Global) *cobra.Command {
	cmd := cli.Group(&cobra.Command{
		Use:   "keys",
		Short: "The keys of a profile: set up, make, import, back up",
		Long: `A profile keeps its keys where its vault setting says: in the keyring of the system (encrypted under a
passphrase as well, or by the keyring alone), or in an encrypted file. Keys and passphrases are typed without echo or
read from a file that only you can read; they are never taken from the command line or the environment. A key belongs
to the network of its profile and signs on no other.`,
		Example: `  coffer keys init                    set up the vault of the profile
  coffer keys new                     make a key
  coffer keys import                  bring one: hex, keystore file, mnemonic, Solana key
  coffer keys list
  coffer keys backup keys.age         write an encrypted backup`,
		Args: cli.NoArgs,
	}, c.initialise(g), c.list(g), c.make(g), c.importing(g), c.remove(g), c.backup(g), c.restore(g), c.passphrase(g),
		c.apiKey(g), c.nodeKey(g), c.probe(g))
	cmd.SetFlagErrorFunc(flagError)
	c.holding(cmd)
	return cmd
}

// unlocked completes a command that works on the vault of the profile after unlocking it; closed one that works on the
// vault as it is.
func (c Commands) unlocked(g *cli.Global, cmd *cobra.Command, work work) *cobra.Command {
	return cli.Passing(c.closed(g, cmd, func(ctx context.Context, o *profile.Opened, args []string) error {
		if err := o.Unlock(ctx); err != nil {
			return err
		}
		return work(ctx, o, args)
	}), c.Prompt.Terminal)
}

// work is what a command does with an opened profile, which has a vault.
type work func(ctx context.Context, o *profile.Opened, args []string) error

func (c Commands) closed(g *cli.Global, cmd *cobra.Command, work work) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o, err := c.Host.OpenVault(cmd.Context(), g.Profile)
		if err != nil {
			return err
		}
		if o.Vault() == nil {
			return errors.Join(&cli.UsageError{
				Problem: fmt.Sprintf("profile %q keeps no keys (vault = \"memory\")", o.Profile.Name),
				Hint: "make a profile with a vault: coffer profile add NAME --kind ... " +
					"--vault keyring|keyring-only|file",
			}, o.Close())
		}
		cli.OnSuspend(cmd.Context(), o.Lock)
		return errors.Join(work(cmd.Context(), o, args), o.Close())
	}
	return cmd
}

// fresh asks for a new passphrase twice.
func fresh(ctx context.Context, ask asker, what string) (secret.Secret, error) {
	first, err := ask.Secret(ctx, fmt.Sprintf("%s, at least %d characters (not shown): ", what,
		vault.MinPassphrase))
	if err != nil {
		return secret.Secret{}, err
	}
	again, err := ask.Secret(ctx, "The same once more: ")
	if err != nil {
		first.Wipe()
		return secret.Secret{}, err
	}
	defer again.Wipe()
	if string(first.Reveal()) != string(again.Reveal()) {
		first.Wipe()
		return secret.Secret{}, &cli.UsageError{Problem: "the two passphrases differ; nothing was changed"}
	}
	return first, nil
}

func (c Commands) initialise(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Set up the vault of the profile",
		Long: "Makes an empty vault in the place that the profile names, and asks for its new passphrase twice. A " +
			"vault that is there already is not touched.",
		Example: "  coffer keys init\n  coffer keys init --profile team",
	}
	cli.JSONFlag(cmd, &asJSON)
	return c.closed(g, cmd, func(ctx context.Context, o *profile.Opened, _ []string) error {
		return c.setUp(ctx, o, o.Vault(), asJSON)
	})
}

func (c Commands) setUp(ctx context.Context, o *profile.Opened, v *vault.Vault, asJSON bool) error {
	if err := v.Probe(ctx); err != nil {
		return err
	}
	if there, err := v.Exists(ctx); err != nil || there {
		if there {
			err = &cli.UsageError{Problem: fmt.Sprintf("profile %q has a vault already; nothing was changed",
				o.Profile.Name)}
		}
		return err
	}
	var pass secret.Secret
	if v.Backend() != vault.BackendKeyringOnly {
		var err error
		if pass, err = fresh(ctx, c.Prompt, "New passphrase of profile "+o.Profile.Name); err != nil {
			return err
		}
		defer pass.Wipe()
	}
	if err := v.Create(ctx, pass); err != nil {
		return err
	}
	if asJSON {
		return c.vaultJSON(o, v, true)
	}
	_, err := fmt.Fprintf(c.Out, "vault of profile %s is set up (%s), for network %s\n", o.Profile.Name, v.Backend(),
		o.Network.Fingerprint())
	return err
}

func (c Commands) list(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the addresses of the keys",
		Long: "Opens the vault and lists kind, address, day and label of each key. The keys themselves are never " +
			"shown.",
		Example: "  coffer keys list\n  coffer keys list --json",
	}
	cli.JSONFlag(cmd, &asJSON)
	return c.unlocked(g, cmd, func(ctx context.Context, o *profile.Opened, _ []string) error {
		items, err := o.Vault().Items(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return c.itemsJSON(items)
		}
		w := cli.Columns(c.Out)
		for _, k := range items {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", k.Kind, present.Checksummed(k.Address), k.Created.Format(time.DateOnly),
				k.Label)
		}
		if len(items) == 0 {
			c.Prompt.Say("There are no keys; make one with: coffer keys new")
		}
		return w.Flush()
	})
}

func (c Commands) make(g *cli.Global) *cobra.Command {
	var label, kind string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "new",
		Short: "Make a key",
		Long: "Draws a key, stores it in the vault and prints its address. It exists there only: make a backup. " +
			"At a terminal it offers to add the key's account to the profile.",
		Example: "  coffer keys new --label main\n  coffer keys new --kind solana",
		PreRunE: func(*cobra.Command, []string) error { return checkKind(kind) },
	}
	cmd.Flags().StringVar(&kind, "kind", "evm", "evm or solana")
	cmd.Flags().StringVar(&label, "label", "", "a name for the list")
	cli.JSONFlag(cmd, &asJSON)
	return c.unlocked(g, cmd, func(ctx context.Context, o *profile.Opened, _ []string) error {
		k, random := cmp.Or(vault.Kind(kind), vault.EVM), c.Random
		if random == nil {
			random = rand.Reader
		}
		key, err := vault.New(k, random)
		if err != nil {
			return err
		}
		item, err := o.Vault().Add(ctx, k, key, label)
		if err != nil {
			return err
		}
		address := present.Checksummed(item.Address)
		c.Prompt.Say("New key of profile " + o.Profile.Name +
			", in the vault only. Make a backup: coffer keys backup " +
			"FILE. Its address:")
		if asJSON {
			err = cli.PrintJSON(c.Out, lineOf(item))
		} else {
			_, err = fmt.Fprintln(c.Out, address)
		}
		return errors.Join(err, c.offer(ctx, o, k, address))
	})
}

// offer adds the account of a new key to the profile, if the person at the terminal wants that;
// without a terminal it says how.
func (c Commands) offer(ctx context.Context, o *profile.Opened, kind vault.Kind, address string) error {
	a := config.Account{Type: api.AccountKernelV31, SignerAddress: address}
	how, what := "--type "+a.Type+" --signer "+address, "smart account"
	if kind == vault.Solana {
		a = config.Account{Type: api.AccountSolana, AccountAddress: address}
		how, what = "--type "+a.Type+" --address "+address, "Solana account"
	}
	if kind == vault.Solana && slices.ContainsFunc(o.All, func(x api.Account) bool { return !x.IsEVM() }) {
		return nil
	}
	later := "Add its account later with: coffer accounts add --profile " + o.Profile.Name + " " + how
	if !c.Prompt.Terminal {
		c.Prompt.Say(later)
		return nil
	}
	yes, err := SetUp{Prompt: c.Prompt}.yes(ctx, "Add the "+what+" of this key to the profile?")
	if err != nil || !yes {
		c.Prompt.Say(later)
		return err
	}
	if err := config.AddAccount(o.Paths.Config, o.Profile.Name, a); err != nil {
		return err
	}
	o.Profile.Accounts = append(o.Profile.Accounts, a)
	all := o.Profile.WireAccounts(o.Network.Pins)
	c.Prompt.Say("Added to profile " + o.Profile.Name + ": " + a.Type + " account " + all[len(all)-1].AccountAddress)
	return nil
}

func checkKind(s string) error {
	switch vault.Kind(s) {
	case "", vault.EVM, vault.Solana:
		return nil
	}
	return &cli.UsageError{Problem: "there is no such kind of key", Hint: "--kind is evm or solana"}
}

func (c Commands) passphrase(g *cli.Global) *cobra.Command {
	return c.closed(g, &cobra.Command{
		Use:   "passphrase",
		Short: "Change the passphrase of the vault",
		Long: "Asks for the present passphrase and twice for the new one, and encrypts the keys with it. Backups " +
			"keep the passphrase that they were made with.",
		Example: "  coffer keys passphrase",
	}, func(ctx context.Context, o *profile.Opened, _ []string) error {
		old, err := c.Prompt.Secret(ctx, "Present passphrase (not shown): ")
		if err != nil {
			return err
		}
		defer old.Wipe()
		pass, err := fresh(ctx, c.Prompt, "New passphrase")
		if err != nil {
			return err
		}
		defer pass.Wipe()
		if err := o.Vault().ChangePassphrase(ctx, old, pass); err != nil {
			return err
		}
		c.Prompt.Say("The passphrase is changed. Older copies of the vault and backups still open with the older one.")
		return nil
	})
}

func (c Commands) apiKey(g *cli.Global) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:     "api-key",
		Short:   "The API key of the profile's service",
		Long:    "The key that the operator of a service gave you. The vault keeps it beside the keys of the accounts.",
		Example: "  coffer keys api-key set\n  coffer keys api-key remove",
		Args:    cli.NoArgs,
	}, c.unlocked(g, &cobra.Command{
		Use: "set", Short: "Store the API key, typed without echo",
		Long:    "Asks for the API key without showing it and stores it in the vault, in place of an older one.",
		Example: "  coffer keys api-key set --profile team",
	}, func(ctx context.Context, o *profile.Opened, _ []string) error {
		key, err := c.Prompt.Secret(ctx, "API key for profile "+o.Profile.Name+" (not shown): ")
		if err != nil {
			return err
		}
		if err := o.SetAPIKey(ctx, key); err != nil {
			return err
		}
		c.Prompt.Say("The API key is stored; it is sent to " + o.Profile.BaseURL + " alone.")
		return nil
	}), c.unlocked(g, &cobra.Command{
		Use: "remove", Short: "Delete the API key",
		Long:    "Deletes the API key from the vault. Only the operator can revoke it.",
		Example: "  coffer keys api-key remove --profile team",
	}, func(ctx context.Context, o *profile.Opened, _ []string) error {
		return o.Vault().RemoveAPIKey(ctx)
	}))
}

func (c Commands) probe(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Test the place where the profile keeps its keys",
		Long: `Stores, reads and deletes something of no value in the place that the profile names, and says what is
the matter: no session of the system's keyring, a locked one, no one to answer its question. Coffer never falls back to
another place.`,
		Example: "  coffer keys probe\n  coffer keys probe --profile team",
	}
	cli.JSONFlag(cmd, &asJSON)
	return c.closed(g, cmd, func(ctx context.Context, o *profile.Opened, _ []string) error {
		v := o.Vault()
		if err := v.Probe(ctx); err != nil {
			return err
		}
		there, err := v.Exists(ctx)
		if err != nil {
			return err
		}
		if asJSON {
			return c.vaultJSON(o, v, there)
		}
		state := "not set up; run coffer keys init"
		if there {
			state = "set up"
		}
		_, err = fmt.Fprintf(c.Out, "%s works; the vault of profile %s is %s\n", v.Backend(), o.Profile.Name, state)
		return err
	})
}

// writeNew writes a file that must not exist yet, for its owner alone.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return cli.InFile(fmt.Errorf("write the backup: %w", bare(path, err)))
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
