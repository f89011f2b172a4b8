package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/networks"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/profile"
)

// Profiles answers `coffer profile` and the part of `coffer accounts` that manages the accounts of a profile.
type Profiles struct {
	Host   profile.Host
	Prompt cli.Prompt
	Out    io.Writer
	Clock  func() time.Time // nil: time.Now
}

// Command builds `coffer profile`.
func (c Profiles) Command(g *cli.Global) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use:   "profile",
		Short: "The profiles: which service, which network, where the keys are",
		Long: "A profile says which service a wallet talks to, on which network, with which accounts, and where " +
			"its keys are. The profile demo always exists.",
		Example: "  coffer profile list\n  coffer profile add mine --kind embedded --vault file",
		Args:    cli.NoArgs,
	}, c.listProfiles(), c.add(), c.nodes(g), c.fingerprint(), cli.Passing(c.confirm(g), c.Prompt.Terminal))
}

func (c Profiles) add() *cobra.Command {
	var p config.Profile
	var kind, fingerprint string
	var isDefault, asJSON bool
	var nodes []string
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a profile to the configuration",
		Long: `You choose where the profile keeps its keys, and the configuration says so: Coffer never moves them.
  keyring       the system's keyring, with a passphrase of yours around each key
  keyring-only  the system's keyring alone: anyone who can use it has the keys
  file          a file under a passphrase: without a keyring, and over SSH
  memory        nothing is kept
A profile on your own nodes (--networks) has its service inside this program. It takes its kind from that file and its
network from the network.json that coffer network deploy wrote there.
Any other profile of kind lab or real needs the network.json of its service. Compare its network fingerprint with the
operator's, which must reach you by another way than the file. --fingerprint compares it; without the flag you type it.

The default profile is the one that commands use without --profile. The first profile of a new configuration becomes
the default; a later one does with --default, and nothing else in the file changes. --default=false keeps the default
as it is, also for the first one.`,
		Example: `  coffer profile add team --kind lab --url https://host:8443/api --network-file ./network.json ` +
			`--ca-file ./ca.pem --vault file
  coffer profile add mine --kind embedded --vault file
  coffer profile add mine --kind embedded --vault file --default
  coffer profile add nodes --networks ./networks.toml --vault file`,
		Args: cli.OneArg("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Name, p.Kind = args[0], network.Kind(kind)
			for _, file := range []*string{&p.Networks, &p.NetworkFile, &p.CAFile, &p.PolicyFile} {
				if *file != "" {
					abs, err := filepath.Abs(*file)
					if err != nil {
						return err
					}
					*file = abs
				}
			}
			p.Nodes = nodes
			if err := c.tryNew(cmd.Context(), nodes); err != nil {
				return err
			}
			n, err := c.pin(cmd.Context(), &p, fingerprint)
			if err != nil {
				return err
			}
			paths, err := config.PathsFrom(c.Host.Getenv)
			if err != nil {
				return err
			}
			if others, err := c.Host.OnNetwork(p.NetworkID); err == nil && p.NetworkID != "" && len(others) > 0 {
				c.Prompt.Say("On this network is "+strings.Join(others, ", ")+
					" already. Each profile has its own journal: this one begins empty, so limits per day and",
					"signatures that are still open there are not known here.")
			}
			if err := write(paths.Config, p, cmd.Flags().Changed("default"), isDefault); err != nil {
				return err
			}
			if !p.OwnNodes() { // the keys of its service are made when it is opened
				if err := c.Host.KeepConfirmed(p.Name, n); err != nil {
					return err
				}
			}
			return c.added(paths.Config, p.Name, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVar(&kind, "kind", "", "embedded, lab, test or real")
	f.StringVar(&p.Networks, "networks", "", "networks.toml, which names your own nodes")
	f.StringVar(&p.BaseURL, "url", "", "https address of the service")
	f.StringVar(&p.NetworkFile, "network-file", "", "network.json of the service")
	f.StringVar(&fingerprint, "fingerprint", "", "network fingerprint, as the operator gives it")
	f.StringVar(&p.CAFile, "ca-file", "", "certificate authority of the service")
	f.StringVar(&p.Vault, "vault", "", "keyring, keyring-only, file or memory")
	f.StringVar(&p.LockAfter, "lock-after", "", "lock the vault after this time without use (default 5m)")
	f.StringVar(&p.PolicyFile, "policy-file", "", "file that limits what may be signed")
	f.StringArrayVar(&nodes, "node", nil, "a node of yours to compare the service with, as `CHAIN=URL`; several times "+
		"for several\n(coffer profile nodes)")
	f.BoolVar(&isDefault, "default", false, "make it the default profile, whichever was before (without the flag: "+
		"only the first profile of a new configuration; with --default=false: never)")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// write adds a profile to the configuration. Without --default the first one becomes the default.
func write(path string, p config.Profile, typed, isDefault bool) error {
	if typed && isDefault {
		return config.AddDefaultProfile(path, p)
	}
	return config.AddProfile(path, p, !typed)
}

// pin checks that the network file is the operator's, and writes the network's id into the profile. It returns the
// network, the zero one where the profile names no file.
func (c Profiles) pin(ctx context.Context, p *config.Profile, fingerprint string) (n network.Descriptor, err error) {
	if p.OwnNodes() {
		return c.pinOwn(p)
	}
	if p.NetworkFile == "" {
		return n, nil
	}
	if n, err = p.Network(); err != nil {
		return n, cli.InFile(err)
	}
	if fingerprint == "" {
		if !c.Prompt.Terminal {
			return n, &cli.UsageError{
				Problem: "the network fingerprint is missing, and there is no terminal to ask on",
				Hint:    "give the operator's, got by another way than the file: --fingerprint \"0000 0000 ...\"",
			}
		}
		c.Prompt.Say("The file describes a network of kind "+string(p.Kind)+
			". Ask the operator for its fingerprint, by another way than the file came by.",
			"It begins with "+n.Fingerprint()[:4]+".")
		if fingerprint, err = c.Prompt.Line(ctx, "Type the fingerprint: "); err != nil {
			return n, err
		}
	}
	if !profile.SameFingerprint(fingerprint, n) {
		return n, &cli.UsageError{
			Problem: "the network file has another fingerprint; nothing was written",
			Hint: "the file's begins with " + n.Fingerprint()[:4] +
				": if the operator's differs, the file is not theirs",
		}
	}
	p.NetworkID = n.ID
	return n, nil
}

// pinOwn takes kind and network of a profile on own nodes from its files.
func (c Profiles) pinOwn(p *config.Profile) (n network.Descriptor, err error) {
	file, err := networks.Load(p.Networks)
	if err != nil {
		return n, cli.InFile(err)
	}
	if p.Kind == "" {
		p.Kind = file.Kind
	}
	if p.Kind != file.Kind {
		return n, &cli.UsageError{Problem: fmt.Sprintf("%s is of kind %s, not %s", p.Networks, file.Kind, p.Kind)}
	}
	if n, err = profile.OwnNetwork(*p); err == nil {
		p.NetworkID = n.ID
	}
	return n, err
}

// Accounts builds `coffer accounts list`, `add`, `rename`, `default`, `remove` and `check`.
func (c Profiles) Accounts(g *cli.Global) []*cobra.Command {
	all := []*cobra.Command{c.listAccounts(g), c.addAccount(g), c.renameAccount(g), c.defaultAccount(g),
		c.removeAccount(g), c.checkAccounts(g)}
	for _, cmd := range all {
		cli.Passing(cmd, c.Prompt.Terminal)
	}
	return all
}

func (c Profiles) listAccounts(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Print the accounts of the profile with their addresses",
		Long: "Prints type, address and name of each account, and which EVM account is used without --account. " +
			"Coffer computes the addresses from the keys and the network, without a service.",
		Example: "  coffer accounts list\n  coffer accounts list --profile team",
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.Host.OpenKeys(cmd.Context(), g.Profile)
			if err != nil {
				return err
			}
			if asJSON {
				return errors.Join(cli.PrintJSON(c.Out, listed(o)), o.Close())
			}
			if len(o.All) == 0 {
				c.Prompt.Say("There are no accounts; add one with: coffer accounts add")
			}
			w := cli.Columns(c.Out)
			for _, a := range listed(o) {
				fmt.Fprintf(w, "%s\t%s", a.Type, a.AccountAddress)
				if a.Name != "" || o.Several() {
					fmt.Fprintf(w, "\t%s", a.Name)
				}
				if a.Default && o.Several() {
					fmt.Fprint(w, "\tdefault")
				}
				fmt.Fprintln(w)
			}
			return errors.Join(w.Flush(), o.Close())
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// listedAccount is an account as `coffer accounts list --json` prints it.
type listedAccount struct {
	api.Account
	Name    string `json:"name,omitzero"`
	Default bool   `json:"default"` // used without --account
}

// listed are the accounts of a profile, with the names that the person gave.
func listed(o *profile.Opened) []listedAccount {
	out := make([]listedAccount, len(o.All))
	for i, a := range o.All {
		out[i] = listedAccount{a, o.Profile.Accounts[i].Name, i == o.Profile.Default()}
	}
	return out
}

func (c Profiles) renameAccount(g *cli.Global) *cobra.Command {
	return &cobra.Command{
		Use: "rename ACCOUNT NAME", Short: "Give an account a name",
		Long: "Gives an account, named by its name, address or type, another name, or its first one: up to 24 " +
			"letters and digits, with a blank, -, _ or . between them. Only the configuration knows it.",
		Example: "  coffer accounts rename kernel-v3.1-ecdsa daily\n  coffer accounts rename daily everyday",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Misused(cmd, "two arguments are needed: the account and its name")
			}
			return c.ofAccount(cmd, g, args[0], func(o *profile.Opened, at int) error {
				if err := c.free(o.Profile.Name, args[1]); err != nil {
					return err
				}
				return config.NameAccount(o.Paths.Config, o.Profile.Name, at, args[1])
			}, "is now "+args[1])
		},
	}
}

func (c Profiles) defaultAccount(g *cli.Global) *cobra.Command {
	return &cobra.Command{
		Use: "default ACCOUNT", Short: "Choose the EVM account that is used without --account",
		Long: "Makes an EVM account with a name the one that commands use without --account, and that the dashboard " +
			"starts with.",
		Example: "  coffer accounts default savings",
		Args:    cli.OneArg("account"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.ofAccount(cmd, g, args[0], func(o *profile.Opened, at int) error { return setDefault(o, at) },
				"is used without --account")
		},
	}
}

// setDefault makes an account of an opened profile the default one.
func setDefault(o *profile.Opened, at int) error {
	a := o.Profile.Accounts[at]
	switch {
	case !o.All[at].IsEVM():
		return &cli.UsageError{Problem: "the Solana account is used beside every EVM account: choose an EVM account"}
	case a.Name == "":
		return &cli.UsageError{Problem: "this account has no name yet", Hint: "give it one: coffer accounts rename " +
			o.All[at].AccountAddress + " NAME"}
	}
	return config.SetDefaultAccount(o.Paths.Config, o.Profile.Name, a.Name)
}

// ofAccount changes one account of the profile and says what it is now.
func (c Profiles) ofAccount(cmd *cobra.Command, g *cli.Global, which string,
	change func(o *profile.Opened, at int) error, now string) error {
	o, err := c.Host.OpenKeys(cmd.Context(), g.Profile)
	if err != nil {
		return err
	}
	at, err := accountAt(o, which)
	if err == nil {
		err = change(o, at)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.Out, "%s %s\n", o.All[at].AccountAddress, now)
	}
	return errors.Join(err, o.Close())
}

// free refuses the name of a contact for an account: typed as a recipient it would mean two addresses.
func (c Profiles) free(profile, name string) error {
	if book, err := c.Host.Book(profile); err == nil && book.Own().Named(name) >= 0 {
		return &cli.UsageError{Problem: "this is the name of a contact already", Hint: "choose another name"}
	}
	return nil
}

func (c Profiles) addAccount(g *cli.Global) *cobra.Command {
	var a config.Account
	var asJSON, isDefault bool
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Add an account to the profile",
		Long: `The address of an account follows from its keys and the network; it is computed here and never taken
from the service. A profile has any number of EVM accounts, of which one is used at a time, and one Solana account at
most, which is used beside it. --name is your own word for the account, for --account. An account whose key is not in
the vault is watch-only until it is: it shows balances and quotes and signs nothing. That is said here; locked keys
are unlocked for it, on a terminal or by --passphrase-fd.`,
		Example: `  coffer accounts add --type kernel-v3.1-ecdsa --signer 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266
  coffer accounts add --type kernel-v3.3-ecdsa --signer 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266   the EOA itself, ` +
			`delegated by EIP-7702
  coffer accounts add --type role-based --session 0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266 --admin ` +
			`0x70997970C51812dc3A010C7d01b50e0d17dc79C8
  coffer accounts add --type kernel-v3.1-ecdsa --signer 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --name savings
  coffer accounts add --type solana --address GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, paths, err := c.Host.Find(g.Profile)
			if err != nil {
				return err
			}
			if a.Type == api.AccountKernelV33 {
				a.DeploymentType = api.DeploymentEIP7702
			}
			if isDefault && (a.Name == "" || a.Type == api.AccountSolana) {
				return &cli.UsageError{Problem: "--default takes an EVM account with a name",
					Hint: "give it one: --name"}
			}
			if err := c.free(p.Name, a.Name); err != nil {
				return err
			}
			if err := servesAccount(p, a); err != nil {
				return err
			}
			if err := config.AddAccount(paths.Config, p.Name, a); err != nil {
				return err
			}
			if isDefault {
				if err := config.SetDefaultAccount(paths.Config, p.Name, a.Name); err != nil {
					return err
				}
			}
			o, err := c.Host.OpenKeys(cmd.Context(), p.Name)
			if err != nil {
				return err
			}
			return errors.Join(c.sayAdded(cmd.Context(), o, asJSON), o.Close())
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.Name, "name", "", "your own word for the account")
	f.BoolVar(&isDefault, "default", false, "use it without --account from now on")
	f.StringVar(&a.Type, "type", "", "role-based, kernel-v3.1-ecdsa, kernel-v3.3-ecdsa or solana")
	f.StringVar(&a.SignerAddress, "signer", "", "address of the owner's key (kernel accounts)")
	f.StringVar(&a.SessionAddress, "session", "", "address of the session key (role-based)")
	f.StringVar(&a.AdminAddress, "admin", "", "address of the admin key (role-based)")
	f.StringVar(&a.AccountAddress, "address", "",
		"address of the account (Solana; of others only after their keys were replaced)")
	f.StringVar(&a.FirstSessionAddress, "first-session", "",
		"session key that the account was made with, when it was replaced since")
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// servesAccount refuses a Solana account of a profile on own nodes that have no Solana chain.
func servesAccount(p config.Profile, a config.Account) error {
	if a.Type != api.AccountSolana || !p.OwnNodes() {
		return nil
	}
	n, err := profile.OwnNetwork(p)
	if err == nil && !n.HasSolana() {
		err = &cli.UsageError{Problem: p.Networks + " has no Solana chain",
			Hint: "write one into it and run coffer network deploy, or use another profile"}
	}
	return err
}

// heldAccount is an account and what is known about its key: here, missing or unknown.
type heldAccount struct {
	api.Account
	Name string `json:"name,omitzero"`
	Key  string `json:"key"`
}

// sayAdded prints the account that was added last, and whether it can sign.
func (c Profiles) sayAdded(ctx context.Context, o *profile.Opened, asJSON bool) error {
	last := len(o.All) - 1
	added, name := o.All[last], o.Profile.Accounts[last].Name
	h, err := o.Hold(ctx, added, c.Prompt.Terminal)
	if err != nil {
		return fmt.Errorf("%s is added; whether its key is here is not known: %w", added.AccountAddress, err)
	}
	if words := h.Words(); words != "" {
		c.Prompt.Say(strings.ToUpper(words[:1]) + words[1:] + ".")
	}
	if asJSON {
		return cli.PrintJSON(c.Out, heldAccount{added, name, h.State})
	}
	if o.Several() && added.IsEVM() {
		used := o.Accounts[0].AccountAddress
		c.Prompt.Say("Without --account, " + o.NameOf(used) + " is used: " + used + ".")
	}
	c.Prompt.Say("Added to profile " + o.Profile.Name + ", " + added.Type + ". Its address:")
	_, err = fmt.Fprintln(c.Out, added.AccountAddress)
	return err
}

// checkAccounts compares the addresses computed here with those that the service predicts.
func (c Profiles) checkAccounts(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "check", Short: "Compare the addresses with those that the service predicts",
		Example: "  coffer accounts check\n  coffer accounts check --profile team",
		Long: `Asks the service for the address of each account and compares it with the one that is computed here.
One that differs is refused (exit code 4): do not use the account with that service.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.Host.Open(cmd.Context(), g.Profile, "")
			if err != nil {
				return err
			}
			all, err := profile.Compare(cmd.Context(), o.Client, o.Profile, o.All)
			if err == nil {
				err = c.compared(all, func(a api.Account) profile.Holding { return o.Holding(cmd.Context(), a) },
					asJSON)
			}
			return errors.Join(err, o.Close())
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// comparedLine is a comparison in --json. Predicted is empty where the address is that of the account's own key, which
// needs no prediction.
type comparedLine struct {
	Account   api.Account `json:"account"`
	Predicted string      `json:"predictedAddress,omitzero"`
	Equal     bool        `json:"equal"`
	Key       string      `json:"key"` // here, missing or unknown
}

// compared prints the comparisons and the accounts that are watch-only; it refuses one that differs.
func (c Profiles) compared(all []profile.Compared, hold func(api.Account) profile.Holding, asJSON bool) error {
	lines := make([]comparedLine, len(all))
	var differs error
	for i, one := range all {
		h := hold(one.Account)
		lines[i] = comparedLine{Account: one.Account, Equal: one.Equal(), Key: h.State}
		if words := h.Words(); words != "" {
			c.Prompt.Say(one.Account.AccountAddress + ": " + words)
		}
		if !one.Own {
			lines[i].Predicted = one.Said.Hex()
		}
		if !one.Equal() {
			differs = errors.Join(differs, &cli.RefusedError{Problem: one.Words()})
		} else if !asJSON {
			fmt.Fprintln(c.Out, one.Words())
		}
	}
	if asJSON {
		return errors.Join(cli.PrintJSON(c.Out, lines), differs)
	}
	return differs
}
