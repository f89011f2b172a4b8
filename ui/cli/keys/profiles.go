package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/network"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/profile"
)

// Profiles answers `coffer profile` and the part of `coffer accounts` that looks after the accounts of a profile.
type Profiles struct {
	Host   profile.Host
	Prompt cli.Prompt
	Out    io.Writer
}

// Command builds `coffer profile`.
func (c Profiles) Command(*cli.Global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "profile",
		Short: "Add a profile: which service, which network, where the keys are",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			return &cli.UsageError{Problem: "`coffer profile` needs add", Hint: "see `coffer profile --help`"}
		},
	}
	cmd.AddCommand(c.add())
	return cmd
}

func (c Profiles) add() *cobra.Command {
	var p config.Profile
	var kind, fingerprint string
	var first bool
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a profile to the configuration",
		Long: `Where the keys of the profile lie is your choice, and it is written down: nothing ever moves them by itself.
  keyring       the keyring of the system, and a passphrase of yours around each key
  keyring-only  the keyring of the system alone: whoever can ask it has the keys
  file          an encrypted file under a passphrase, for machines without a keyring and for SSH
  memory        nothing is kept
A profile of kind lab or real needs the network.json of its service. Compare its fingerprint with the operator's by another way than
the one the file came by; --fingerprint makes sure of it, without it you are asked to type it.`,
		Example: `  coffer profile add team --kind lab --url https://host:8443/api --network-file ./network.json --ca-file ./ca.pem --vault file
  coffer profile add mine --kind embedded --vault file`,
		Args: oneArg("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Name, p.Kind = args[0], network.Kind(kind)
			for _, file := range []*string{&p.NetworkFile, &p.CAFile, &p.PolicyFile} {
				if *file != "" {
					abs, err := filepath.Abs(*file)
					if err != nil {
						return err
					}
					*file = abs
				}
			}
			if err := c.pin(cmd.Context(), &p, fingerprint); err != nil {
				return err
			}
			paths, err := config.PathsFrom(c.Host.Getenv)
			if err != nil {
				return err
			}
			if others, err := c.Host.OnNetwork(p.NetworkID); err == nil && p.NetworkID != "" && len(others) > 0 {
				c.Prompt.Say("On this network is "+strings.Join(others, ", ")+" already. Each profile has a journal of its own: this one begins empty, so limits per day and",
					"signatures that are still open there are not known here.")
			}
			if err := config.AddProfile(paths.Config, p, first); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Out, "profile %s added to %s\n", p.Name, paths.Config)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&kind, "kind", "", "embedded, lab or real")
	f.StringVar(&p.BaseURL, "url", "", "https address of the service")
	f.StringVar(&p.NetworkFile, "network-file", "", "network.json of the service")
	f.StringVar(&fingerprint, "fingerprint", "", "fingerprint of the network, as the operator tells it")
	f.StringVar(&p.CAFile, "ca-file", "", "certificate authority of the service")
	f.StringVar(&p.Vault, "vault", "", "keyring, keyring-only, file or memory")
	f.StringVar(&p.LockAfter, "lock-after", "", "lock the vault after this time without use (default 5m)")
	f.StringVar(&p.PolicyFile, "policy-file", "", "file that limits what may be signed")
	f.BoolVar(&first, "default", true, "make it the default profile of a new configuration")
	return cmd
}

// pin makes sure that the network file is the operator's, and writes the network's id down with the profile.
func (c Profiles) pin(ctx context.Context, p *config.Profile, fingerprint string) error {
	if p.NetworkFile == "" {
		return nil
	}
	n, err := p.Network()
	if err != nil {
		return err
	}
	if fingerprint == "" {
		c.Prompt.Say("The file describes a network of kind "+string(p.Kind)+". Ask the operator for its fingerprint, by another way than the file came by.",
			"It begins with "+n.Fingerprint()[:4]+".")
		if fingerprint, err = c.Prompt.Line(ctx, "Type the fingerprint: "); err != nil {
			return err
		}
	}
	if !profile.SameFingerprint(fingerprint, n) {
		return &cli.UsageError{
			Problem: "the network file has another fingerprint; nothing was written",
			Hint:    "the file's is " + n.Fingerprint() + ": if the operator's differs, the file is not theirs",
		}
	}
	p.NetworkID = n.ID
	return nil
}

// Accounts builds `coffer accounts list`, `add` and `check`.
func (c Profiles) Accounts(g *cli.Global) []*cobra.Command {
	return []*cobra.Command{c.listAccounts(g), c.addAccount(g), c.checkAccounts(g)}
}

func (c Profiles) listAccounts(g *cli.Global) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "Print the accounts of the profile with their addresses", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.Host.OpenKeys(cmd.Context(), g.Profile)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0)
			for _, a := range o.Accounts {
				fmt.Fprintf(w, "%s\t%s\n", a.Type, a.AccountAddress)
			}
			return errors.Join(w.Flush(), o.Close())
		},
	}
}

func (c Profiles) addAccount(g *cli.Global) *cobra.Command {
	var a config.Account
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Add an account to the profile",
		Long: `The address of an account follows from its keys and the network; it is computed here and never taken from the service.
A profile has one EVM account at most, and one Solana account beside it.`,
		Example: `  coffer accounts add --type kernel-v3.1-ecdsa --signer 0x…
  coffer accounts add --type kernel-v3.3-ecdsa --signer 0x…        the EOA itself, delegated by EIP-7702
  coffer accounts add --type role-based --session 0x… --admin 0x…
  coffer accounts add --type solana --address …`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, paths, err := c.Host.Find(g.Profile)
			if err != nil {
				return err
			}
			if a.Type == api.AccountKernelV33 {
				a.DeploymentType = api.DeploymentEIP7702
			}
			if err := config.AddAccount(paths.Config, p.Name, a); err != nil {
				return err
			}
			o, err := c.Host.OpenKeys(cmd.Context(), p.Name)
			if err != nil {
				return err
			}
			fmt.Fprintln(c.Out, o.Accounts[len(o.Accounts)-1].AccountAddress)
			return o.Close()
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.Type, "type", "", "role-based, kernel-v3.1-ecdsa, kernel-v3.3-ecdsa or solana")
	f.StringVar(&a.SignerAddress, "signer", "", "address of the owner's key (kernel accounts)")
	f.StringVar(&a.SessionAddress, "session", "", "address of the session key (role-based)")
	f.StringVar(&a.AdminAddress, "admin", "", "address of the admin key (role-based)")
	f.StringVar(&a.AccountAddress, "address", "", "address of the account (Solana; of others only after their keys were replaced)")
	f.StringVar(&a.FirstSessionAddress, "first-session", "", "session key that the account was made with, when it was replaced since")
	return cmd
}

// checkAccounts compares the addresses that are computed here with those that the service predicts.
func (c Profiles) checkAccounts(g *cli.Global) *cobra.Command {
	return &cobra.Command{
		Use: "check", Short: "Compare the addresses with those that the service predicts", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.Host.Open(cmd.Context(), g.Profile)
			if err != nil {
				return err
			}
			return errors.Join(c.compare(cmd.Context(), o), o.Close())
		},
	}
}

func (c Profiles) compare(ctx context.Context, o *profile.Opened) error {
	all, err := profile.Compare(ctx, o.Client, o.Profile, o.Accounts)
	for _, one := range all {
		if !one.Equal() {
			return errors.New(one.Words())
		}
		fmt.Fprintln(c.Out, one.Words())
	}
	return err
}
