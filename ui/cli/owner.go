package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"coffer/api/caip"
)

// NetworkOwner are the flags of `coffer network owner`. Kind is the name of the command; Key is the address of allow,
// remove and gas. Safe is "" without a batch.
type NetworkOwner struct {
	File, Kind            string
	Key, To               common.Address
	Asset, Amount, Refill string
	Chains                []string
	DryRun, Print         bool
	Safe, KeyFile         string
	Yes, JSON             bool
}

const ownerLong = `An operator's filler takes some things from its owner alone, a cold key: which hot key it knows, how
much of an asset may leave, whether it pays at all, and taking inventory out. Each command here says what should be so.
It looks at every chain of the file, or at those of --chain, prints what is so already, and sends only what differs, so
that running it again does nothing.

The owner's key is typed, and not shown, or read from --key-file. Where it is on another machine, --print shows chain,
contract and call data, and --safe writes a batch for the Safe Transaction Builder: a file for each chain, with its
number in the name where there are several. Both send nothing, and so does --dry-run.`

func (p Program) networkOwner(g *Global) *cobra.Command {
	return Group(&cobra.Command{
		Use:   "owner",
		Short: "Send what an operator's filler takes from its owner",
		Long:  ownerLong,
		Example: `  coffer network owner allow 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0
  coffer network owner cap usdc 10000 --refill 1 --dry-run
  coffer network owner pause --chain base --safe pause.json`,
	}, p.ordering(g, "allow KEY", "Have the filler know a hot key", "the address as which the service sends", 1,
		"  coffer network owner allow 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 --key-file owner.key"),
		p.ordering(g, "remove KEY", "Have the filler know a key no more", "such as a hot key that was stolen", 1,
			"  coffer network owner remove 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 --safe remove.json"),
		p.ordering(g, "cap ASSET AMOUNT", "Say how much of an asset may leave", "AMOUNT may leave at once, and "+
			"--refill more each second, in whole\nunits. A thief of the hot key takes no more. With 0 nothing leaves.",
			2,
			"  coffer network owner cap usdc 10000 --refill 1\n  coffer network owner cap eth 0 --chain base"),
		p.ordering(g, "pause", "Have the filler pay nothing", "deposits can still be given back", 0,
			"  coffer network owner pause"),
		p.ordering(g, "unpause", "Have it pay again", "what is allowed and capped stays as it was", 0,
			"  coffer network owner unpause"),
		p.ordering(g, "fund ASSET AMOUNT", "Bring the filler's inventory up to an amount", "sends what the filler "+
			"lacks until it has AMOUNT, in whole units,\nfrom the key's own account; any key can", 2,
			"  coffer network owner fund usdc 50000 --chain base"),
		p.ordering(g, "gas KEY AMOUNT", "Bring a key's coins for gas up to an amount", "sends what the key lacks "+
			"until it has AMOUNT whole coins; any key\ncan", 2,
			"  coffer network owner gas 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 0.1"),
		p.ordering(g, "withdraw ASSET", "Take inventory out of the filler", "what the filler has above --leave goes "+
			"to --to", 1, "  coffer network owner withdraw usdc --leave 20000 --chain base --to "+
			"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"))
}

// ordering builds one of the commands.
func (p Program) ordering(g *Global, use, short, more string, words int, example string) *cobra.Command {
	var o NetworkOwner
	kind, takes, _ := strings.Cut(use, " ")
	var to string
	cmd := &cobra.Command{
		Use: use, Short: short,
		Long: short + ": " + more + ".\n\nSee coffer network owner --help for --print, --safe and the key.\n\n" +
			nodeKeysLong,
		Example: example,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != words {
				if takes == "" {
					takes = "no arguments"
				}
				return Misused(c, "`%s` takes %s", c.CommandPath(), takes)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Kind = kind
			if err := o.read(cmd, args, to); err != nil {
				return err
			}
			return p.Network.Owner(cmd.Context(), *g, o)
		},
	}
	f := cmd.Flags()
	fileFlag(cmd, &o.File)
	f.StringArrayVar(&o.Chains, "chain", nil, "only this `CHAIN`, by name or number; may be given several times")
	f.BoolVar(&o.DryRun, "dry-run", false, "print what is so and what differs, and send nothing")
	f.BoolVar(&o.Print, "print", false, "print chain, contract and call data too, and send nothing")
	f.StringVar(&o.Safe, "safe", "", "write the calls to this new `FILE` for the Safe Transaction Builder, and send "+
		"nothing")
	f.StringVar(&o.KeyFile, "key-file", "", "`FILE` with the key that sends, - for standard input (default: you type "+
		"it)")
	f.BoolVar(&o.Yes, "yes", false, "do not ask before the first transaction")
	JSONFlag(cmd, &o.JSON)
	switch kind {
	case "cap":
		f.StringVar(&o.Refill, "refill", "0", "how `MUCH` more may leave each second, in whole units")
	case "withdraw":
		f.StringVar(&o.Amount, "leave", "0", "how `MUCH` stays in the filler, in whole units")
		f.StringVar(&to, "to", "", "the `ADDRESS` that gets it; required")
	}
	return Passing(cmd, p.Terminal)
}

// read reads the words and flags of a command.
func (o *NetworkOwner) read(cmd *cobra.Command, args []string, to string) error {
	names := []string{"file", "chain", "key-file", "safe"}
	switch o.Kind {
	case "cap":
		names = append(names, "refill")
	case "withdraw":
		names = append(names, "leave", "to")
	}
	if err := notEmpty(cmd, names...); err != nil {
		return err
	}
	if o.Safe != "" && (o.DryRun || o.Print) {
		return Misused(cmd, "--safe writes the calls: leave --dry-run and --print out")
	}
	if o.JSON && !o.DryRun && !o.Print && o.Safe == "" && !o.Yes {
		return Misused(cmd, "--json prints no plan that could be confirmed: look at it with --dry-run, then give --yes")
	}
	var err error
	switch o.Kind {
	case "allow", "remove", "gas":
		if o.Key, err = checksummed("KEY", args[0]); err == nil && o.Kind == "gas" {
			o.Amount = args[1]
		}
	case "cap", "fund":
		o.Asset, o.Amount = args[0], args[1]
	case "withdraw":
		o.Asset = args[0]
		o.To, err = checksummed("--to", to)
	}
	return err
}

// checksummed reads an address that is not zero.
func checksummed(what, text string) (common.Address, error) {
	at, err := caip.ParseAddress(text)
	if err == nil {
		err = caip.CheckEIP55(text)
	}
	if err != nil || at == (common.Address{}) {
		return at, &UsageError{Problem: what + " takes an address: 0x and 40 hex digits, correct letter case"}
	}
	return at, nil
}

// SafeName is the file of a chain's batch: the name that was given, or, of several, with the chain's number.
func SafeName(file string, several bool, chain uint64) string {
	if !several {
		return file
	}
	ext := filepath.Ext(file)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(file, ext), chain, ext)
}
