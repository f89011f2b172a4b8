package keys

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"coffer/api/pattern"
	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// maxBackup bounds a backup file, in bytes.
const maxBackup = 1 << 20

func (c Commands) importing(g *cli.Global) *cobra.Command {
	var file, kind, path, label string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Bring a key from elsewhere",
		Long: `Reads a key from the terminal without echo, or from a file that only you can read (--file): 64
hexadecimal digits, a keystore file (version 3), a Solana key as JSON array or base58, or the words of a BIP-39
mnemonic. A mnemonic gives one key of each kind; --kind and --path choose. A key that is used elsewhere as well can be
lost there as well.`,
		Example: "  coffer keys import --label main\n  coffer keys import --file ./keystore.json\n  coffer keys " +
			"import --kind evm --path \"m/44'/60'/0'/0/3\"",
		PreRunE: func(*cobra.Command, []string) error { return cmp.Or(checkKind(kind), checkPath(path)) },
	}
	cmd.Flags().StringVar(&file, "file", "", "file with the key, which only you can read")
	cmd.Flags().StringVar(&kind, "kind", "", "evm or solana (default: what the key is)")
	cmd.Flags().StringVar(&path, "path", "", "derivation path of a mnemonic")
	cmd.Flags().StringVar(&label, "label", "", "a name for the list")
	cli.JSONFlag(cmd, &asJSON)
	return c.unlocked(g, cmd, func(ctx context.Context, o *profile.Opened, _ []string) error {
		found, err := c.read(ctx, file, vault.Hint{Kind: vault.Kind(kind), Path: path})
		if err != nil {
			return err
		}
		defer found.Wipe()
		if err := o.Unlock(ctx); err != nil { // it locks when the program is suspended
			return err
		}
		return c.addAll(ctx, o.Vault(), found.Keys, label, asJSON)
	})
}

// addAll stores the keys of a text. It reports a key that the vault already has and stores the others all the same; it
// fails with vault.ErrExists when all are there. It prints what it stored also when a later one fails.
func (c Commands) addAll(ctx context.Context, v *vault.Vault, found []vault.Candidate, label string,
	asJSON bool) error {
	added, err := c.store(ctx, v, found, label)
	if len(added) == 0 {
		return err
	}
	return errors.Join(c.added(added, asJSON), err)
}

func (c Commands) store(ctx context.Context, v *vault.Vault, found []vault.Candidate, label string) (added []vault.Item,
	err error) {
	there := 0
	for _, key := range found {
		item, err := v.Add(ctx, key.Kind, key.Key, label)
		if errors.Is(err, vault.ErrExists) {
			if there++; there < len(found) {
				c.Prompt.Say(present.Checksummed(key.Address) + " is in the vault already and stays as it is.")
				continue
			}
		}
		if err != nil {
			return added, fmt.Errorf("%s: %w", present.Checksummed(key.Address), err)
		}
		added = append(added, item)
	}
	return added, nil
}

// read reads the text of a key and, where it needs one, its password.
func (c Commands) read(ctx context.Context, file string, hint vault.Hint) (vault.Imported, error) {
	var text secret.Secret
	var err error
	if file != "" {
		text, err = vault.ReadKeyFile(file)
		err = cli.InFile(bare(file, err))
	} else {
		text, err = c.Prompt.SecretText(ctx, "Key or mnemonic (not shown): ")
	}
	if err != nil {
		return vault.Imported{}, err
	}
	defer text.Wipe()
	found, err := vault.ParseKey(text.Reveal(), hint)
	var asks *vault.ImportError
	if !errors.As(err, &asks) || !asks.NeedsPassword {
		return found, noKey(file, err)
	}
	if hint.Password, err = c.Prompt.Secret(ctx, "Its password (not shown): "); err != nil {
		return vault.Imported{}, err
	}
	defer hint.Password.Wipe()
	found, err = vault.ParseKey(text.Reveal(), hint)
	return found, noKey(file, err)
}

// noKey turns the error of a file without a key into an error of the command line, which names it. A wrong password of
// a keystore is an access error.
func noKey(file string, err error) error {
	if err == nil || file == "" || errors.Is(err, vault.ErrPassphrase) {
		return err
	}
	return &cli.UsageError{Problem: err.Error(), Hint: "see `coffer keys import --help` for the forms that a key has"}
}

// rePath is the shape of a derivation path.
var rePath = pattern.New(`^m(/[0-9]{1,10}['hH]?){0,10}$`)

// checkPath refuses a wrong --path before any question. It repeats nothing of it.
func checkPath(path string) error {
	if path == "" || rePath.MatchString(path) {
		return nil
	}
	return &cli.UsageError{Problem: "--path takes a derivation path such as m/44'/60'/0'/0/0",
		Hint: "without the flag the usual path of each kind of key is taken; see `coffer keys import --help`"}
}

func (c Commands) backup(g *cli.Global) *cobra.Command {
	return c.unlocked(g, &cobra.Command{
		Use:   "backup FILE",
		Short: "Write all keys and the API key into an encrypted file",
		Long: `Asks for a passphrase of the backup, twice, and writes a file that must not be there yet, readable by
you alone. Keys of nodes are in it as well. Try it once with coffer keys restore: keys that are there stay.`,
		Example: "  coffer keys backup keys.age",
		Args:    cli.OneArg("file"),
	}, func(ctx context.Context, o *profile.Opened, args []string) error {
		pass, err := fresh(ctx, c.Prompt, "Passphrase of the backup")
		if err != nil {
			return err
		}
		defer pass.Wipe()
		if err := o.Unlock(ctx); err != nil { // it locks when the program is suspended
			return err
		}
		data, err := o.Vault().Backup(ctx, pass)
		if err != nil {
			return err
		}
		if err := writeNew(args[0], data); err != nil {
			return err
		}
		c.Prompt.Say("The backup is written. Keep it on another machine, and its passphrase somewhere else.")
		return nil
	})
}

func (c Commands) restore(g *cli.Global) *cobra.Command {
	var from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "restore FILE",
		Short: "Add the keys of a backup; keys that are there stay",
		Long: `Asks for the passphrase of the backup and adds its keys to the vault. Keys belong to one network: a
backup of another one is refused, unless --from-network names that network.`,
		Example: "  coffer keys restore keys.age",
		Args:    cli.OneArg("file"),
	}
	cmd.Flags().StringVar(&from, "from-network", "",
		"id of the network on which the backup was made, to take its keys to this one")
	cli.JSONFlag(cmd, &asJSON)
	return c.unlocked(g, cmd, func(ctx context.Context, o *profile.Opened, args []string) error {
		data, err := readBackup(args[0])
		if err != nil {
			return err
		}
		pass, err := c.Prompt.Secret(ctx, "Passphrase of the backup (not shown): ")
		if err != nil {
			return err
		}
		defer pass.Wipe()
		if err := o.Unlock(ctx); err != nil { // it locks when the program is suspended
			return err
		}
		return c.restored(ctx, o.Vault(), data, pass, from, asJSON)
	})
}

// restored adds the keys of a backup to an open vault, and prints them.
func (c Commands) restored(ctx context.Context, v *vault.Vault, data []byte, pass secret.Secret, from string,
	asJSON bool) error {
	if _, err := v.Items(ctx); err != nil { // from here on a damage is in the backup
		return err
	}
	var added []vault.Item
	var err error
	if from == "" {
		added, err = v.Restore(ctx, data, pass)
	} else {
		added, err = v.RestoreFrom(ctx, from, data, pass)
	}
	switch {
	case errors.Is(err, vault.ErrNetwork):
		return &cli.UsageError{
			Problem: "the backup was made on another network, where its keys belong",
			Hint: "what such a key signs here can be valid there; if that is meant, name that network: " +
				"--from-network 0x...",
		}
	case len(added) == 0 && (errors.Is(err, vault.ErrDamaged) || errors.Is(err, vault.ErrWork)):
		return &cli.UsageError{
			Problem: "the file is no backup of keys, or it was changed or damaged; nothing was restored",
			Hint:    "name a file that `coffer keys backup` wrote",
		}
	case len(added) == 0:
		if err == nil {
			c.Prompt.Say("Everything in the backup is in the vault already.")
		}
		return err
	}
	return errors.Join(c.added(added, asJSON), err)
}

func readBackup(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, cli.InFile(fmt.Errorf("read the backup: %w", bare(path, err)))
	}
	defer func() { _ = f.Close() }()
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.LimitReader(f, maxBackup+1)); err != nil {
		return nil, cli.InFile(fmt.Errorf("read the backup: %w", bare(path, err)))
	}
	if b.Len() > maxBackup {
		return nil, cli.InFile(errors.New("read the backup: the file is too large for one"))
	}
	return b.Bytes(), nil
}
