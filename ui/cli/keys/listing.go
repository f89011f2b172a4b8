package keys

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"coffer/api/network"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/profile"
)

// profileLine is a profile in --json: its part of the configuration, without its accounts, which `coffer accounts
// list` prints.
type profileLine struct {
	Name        string `json:"name"`
	Default     bool   `json:"default"`
	Kind        string `json:"kind"`
	Network     string `json:"network,omitzero"`
	NetworkFile string `json:"networkFile,omitzero"`
	Networks    string `json:"networks,omitzero"`
	BaseURL     string `json:"baseUrl,omitzero"`
	CAFile      string `json:"caFile,omitzero"`
	Vault       string `json:"vault"`
	LockAfter   string `json:"lockAfter,omitzero"`
	PolicyFile  string `json:"policyFile,omitzero"`
	Accounts    int    `json:"accounts"`
}

func profileLineOf(f config.File, name string) profileLine {
	p := f.Profiles[name]
	return profileLine{
		Name: name, Default: name == f.Default, Kind: string(p.Kind), Network: p.NetworkID, NetworkFile: p.NetworkFile,
		Networks: p.Networks, BaseURL: p.BaseURL, CAFile: p.CAFile, Vault: p.Vault,
		LockAfter: p.LockAfter, PolicyFile: p.PolicyFile, Accounts: len(p.Accounts),
	}
}

func (c Profiles) listProfiles() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "Print the profiles of the configuration",
		Long: "Prints the profiles with their kind, service and place of the keys, and which one is the default. " +
			"Nothing is opened and no service is asked.",
		Example: "  coffer profile list\n  coffer profile list --json",
		RunE: func(*cobra.Command, []string) error {
			_, f, err := config.Find(c.Host.Getenv)
			if err != nil {
				return err
			}
			lines := []profileLine{}
			for _, name := range slices.Sorted(maps.Keys(f.Profiles)) {
				lines = append(lines, profileLineOf(f, name))
			}
			if asJSON {
				return cli.PrintJSON(c.Out, lines)
			}
			w := cli.Columns(c.Out)
			for _, l := range lines {
				mark := ""
				if l.Default {
					mark = "default"
				}
				where := cmp.Or(l.BaseURL, "inside this program")
				if l.Networks != "" {
					where = profile.OnOwnNodes
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.Name, l.Kind, l.Vault, where, mark)
			}
			return w.Flush()
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}

// added prints a profile that was added, as the file has it, and names the default one: a payment without --profile
// uses that.
func (c Profiles) added(path, name string, asJSON bool) error {
	f, err := config.Load(path)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(c.Out, profileLineOf(f, name))
	}
	is := "The default profile is " + f.Default + " now; commands without --profile use it."
	if f.Default != name {
		is = "The default profile is still " + f.Default + "; to use " + name + " type --profile " + name + "."
	}
	if c.Host.Getenv(config.EnvProfile) != "" {
		is += " The variable " + config.EnvProfile + " is set and goes before it."
	}
	_, err = fmt.Fprintf(c.Out, "profile %s added to %s\n%s\n", name, path, is)
	return err
}

// networkLine is a network in --json.
type networkLine struct {
	Network     string `json:"network"`
	Kind        string `json:"kind"`
	Fingerprint string `json:"fingerprint"`
}

func (c Profiles) fingerprint() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "fingerprint FILE", Short: "Print the network fingerprint of a network.json, for the operator",
		Args: cli.OneArg("file"),
		Long: `Prints the network fingerprint of a file. The operator of a service runs this on the network.json of its
data directory and sends members the result by another way than the file; a wallet that adds a profile compares it.`,
		Example: "  coffer profile fingerprint ./lab/network.json",
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := os.ReadFile(args[0])
			if err != nil {
				return cli.InFile(err)
			}
			n, err := network.Decode(raw)
			if err != nil {
				return cli.InFile(fmt.Errorf("%s: %w", args[0], err))
			}
			if asJSON {
				return cli.PrintJSON(c.Out, networkLine{n.ID, string(n.Kind), n.Fingerprint()})
			}
			_, err = fmt.Fprintln(c.Out, n.Fingerprint())
			return err
		},
	}
	cli.JSONFlag(cmd, &asJSON)
	return cmd
}
