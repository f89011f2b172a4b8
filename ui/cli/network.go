package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/api/secret"
	"coffer/wallet/vault"
)

// NetworkCommands does the work of `coffer network`; main fills it in.
type NetworkCommands interface {
	Init(context.Context, NetworkInit) error
	Check(ctx context.Context, g Global, file string, asJSON bool) error
	Deploy(context.Context, Global, NetworkDeploy) error
	Genesis(context.Context, NetworkGenesis) error
	Status(context.Context, Global, NetworkStatus) error
	Resume(context.Context, Global, NetworkResume) error
	Owner(context.Context, Global, NetworkOwner) error
	Rebalance(context.Context, Global, NetworkRebalance) error
}

// NetworkInit are the flags of `coffer network init`.
type NetworkInit struct {
	Out, Kind, Tokens, Owner string
	Chains                   []string
	JSON                     bool
}

// NetworkDeploy are those of `coffer network deploy`. KeyFile is "" for a key that is typed, "-" for
// standard input.
type NetworkDeploy struct {
	File, KeyFile     string
	DryRun, Yes, JSON bool
}

// NetworkGenesis are those of `coffer network genesis`.
type NetworkGenesis struct {
	ChainID   uint64
	Fund      []common.Address
	PlayMoney bool
	Out       string // "" for standard output
}

// NetworkResume are those of `coffer network resume`. Operated says that it is about the service of an operator in the
// data directory Data; without it, about the gas tank of a profile.
type NetworkResume struct {
	Chain, Data   string
	Operated, Yes bool
}

// NetworkStatus are those of `coffer network status`. Data is the data directory as given, "" for the default one.
type NetworkStatus struct {
	File, Data string
	JSON       bool
}

const networkLong = `Prepares a network on nodes that you name: a file says which chains there are and where your nodes
answer (docs/networks.md). Coffer names no node, because its operator sees your accounts and can lie. init writes the
file, check tries everything that it says, deploy puts the contracts there that are missing and writes network.json,
genesis begins a private chain, resume lets a gas tank or a service go on that stopped, and status shows an operator how
the network is. owner sends what an operator's filler takes from its cold key, and
rebalance says which chain has too much inventory.`

func (p Program) network(g *Global) *cobra.Command {
	return Group(&cobra.Command{
		Use:   "network",
		Short: "Prepare a network on your own nodes",
		Long:  networkLong,
		Example: `  coffer network init
  coffer network check --file networks.toml
  coffer network deploy --file networks.toml --dry-run
  coffer network genesis --chain-id 4242 --out genesis.json
  coffer network status --data ./lab`,
	}, p.networkInit(), Passing(p.networkCheck(g), p.Terminal),
		Passing(p.networkDeploy(g), p.Terminal), p.networkGenesis(), Passing(p.networkResume(g), p.Terminal),
		Passing(p.networkStatus(g), p.Terminal), p.networkOwner(g),
		Passing(p.networkRebalance(g), p.Terminal))
}

// nodeKeysLong says where the keys of nodes come from.
const nodeKeysLong = `Keys that the file names as ${vault:NAME} come from the vault of --profile; without it you
type them, and they are not shown.`

// networkFile is the usual name of a network file.
const networkFile = "networks.toml"

func fileFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "file", networkFile, "the network `FILE`")
}

func (p Program) networkInit() *cobra.Command {
	var o NetworkInit
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a network file, from questions or from flags",
		Long: `Asks which kind of network it is, which chains it has, where your nodes are, which tokens you want and
whether you are an operator, who settles payments between the chains for others, and writes a file with comments. With
--kind or --chain it asks nothing. Without a chain the file has all that Coffer knows, each with an empty list of nodes.
It replaces no file.

A key that a node asks for is part of no address: write ${vault:NAME} in its place, and store it with
coffer keys node-key set NAME.`,
		Example: `  coffer network init
  coffer network init --kind real --chain base=https://node.example --chain op=https://node.example/op
  coffer network init --kind lab --chain 31337=http://127.0.0.1:8545 --out lab.toml`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "out", "kind", "chain", "tokens", "operator"); err != nil {
				return err
			}
			return p.Network.Init(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Out, "out", networkFile, "the new network `FILE`")
	f.StringVar(&o.Kind, "kind", "", "`real` (money is at stake), test (a public test network) or lab (your own "+
		"chains)")
	f.StringArrayVar(&o.Chains, "chain", nil, "a chain by name or number, with the address of a node: `CHAIN=URL`; "+
		"may be given several times, also for\nfurther nodes of a chain")
	f.StringVar(&o.Tokens, "tokens", "", "`priced` (those with a price feed), all that Coffer knows, or none "+
		"(default:\npriced on real chains, otherwise none)")
	f.StringVar(&o.Owner, "operator", "", "the `ADDRESS` of the cold key of an operator, who settles payments between "+
		"the chains (default: there is none)")
	JSONFlag(cmd, &o.JSON)
	return cmd
}

func (p Program) networkCheck(g *Global) *cobra.Command {
	file, asJSON := "", false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Try everything that a network file says, and change nothing",
		Long: `Asks every node for its chain and its newest block, compares the code at every pinned address and the
decimals of every token, and tries price feeds, final blocks, and what the chain and the nodes offer. It prints a line
for each, and what does not work because of it. When something is missing that a network needs, the exit code is 1.

` + nodeKeysLong,
		Example: "  coffer network check\n  coffer network check --file lab.toml\n  coffer network check --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "file"); err != nil {
				return err
			}
			return p.Network.Check(cmd.Context(), *g, file, asJSON)
		},
	}
	fileFlag(cmd, &file)
	JSONFlag(cmd, &asJSON)
	return cmd
}

func (p Program) networkDeploy(g *Global) *cobra.Command {
	var o NetworkDeploy
	cmd := &cobra.Command{
		Use:   "deploy",
		Short: "Put the contracts there that are missing, and write network.json",
		Long: `Compares the code at every pinned address on all chains first: other code there ends it. Then it sends
what is missing through the deterministic deployer, so that addresses are equal on all chains; what is there is left
alone, and a second run sends nothing. At the end it writes network.json beside the network file.

A key of yours pays for gas: you type it, and it is not shown. --key-file names a file that only you can read, or - for
standard input. A key is hexadecimal, or a keystore file, whose password you type.

` + nodeKeysLong,
		Example: `  coffer network deploy --dry-run
  coffer network deploy --dry-run --json
  coffer network deploy --key-file deployer.json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "file", "key-file"); err != nil {
				return err
			}
			if o.JSON && !o.DryRun && !o.Yes {
				return Misused(cmd, "--json prints no plan that could be confirmed: look at it with --dry-run, then "+
					"give --yes")
			}
			return p.Network.Deploy(cmd.Context(), *g, o)
		},
	}
	fileFlag(cmd, &o.File)
	f := cmd.Flags()
	f.BoolVar(&o.DryRun, "dry-run", false, "print what is missing and what it costs; send and write nothing")
	f.StringVar(&o.KeyFile, "key-file", "", "`FILE` with the key that pays, - for standard input (default: you "+
		"type it)")
	f.BoolVar(&o.Yes, "yes", false, "do not ask before the first transaction")
	JSONFlag(cmd, &o.JSON)
	return cmd
}

func (p Program) networkGenesis() *cobra.Command {
	var o NetworkGenesis
	var fund []string
	cmd := &cobra.Command{
		Use:   "genesis",
		Short: "Print the first block of a private chain that has every contract",
		Long: `Prints a genesis file for geth (geth init) and anvil (anvil --init): the pinned contracts, the
deterministic deployer, and the approval of the account factory that only its owner can give on other chains. --fund
gives an address a million coins.

With --play-money the chain is like the one whose number it has: the tokens that Coffer knows there and that have a
price feed are at their addresses, a million of each for every address of --fund, and the feeds have fixed prices.`,
		Example: "  coffer network genesis --chain-id 4242 --fund 0x70997970C51812dc3A010C7d01b50e0d17dc79C8 " +
			"--out genesis.json\n  coffer network genesis --chain-id 8453 --play-money --fund " +
			"0x70997970C51812dc3A010C7d01b50e0d17dc79C8 --out base.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "out", "fund"); err != nil {
				return err
			}
			if o.ChainID == 0 || o.ChainID > 1<<53 {
				return &UsageError{Problem: "--chain-id takes the number of the chain, such as 4242"}
			}
			o.Fund = nil
			for _, text := range fund {
				at, err := caip.ParseAddress(text)
				if err == nil {
					err = caip.CheckEIP55(text)
				}
				if err != nil {
					return &UsageError{Problem: "--fund takes an address: 0x and 40 hex digits, correct letter case"}
				}
				o.Fund = append(o.Fund, at)
			}
			return p.Network.Genesis(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&o.ChainID, "chain-id", 0, "`number` of the chain; required")
	f.StringSliceVar(&fund, "fund", nil, "`ADDRESS` that begins with a million coins; may be given several times")
	f.BoolVar(&o.PlayMoney, "play-money", false,
		"with the tokens and the price feeds of the known chain that has this number")
	f.StringVar(&o.Out, "out", "", "write to this new `FILE` (default: standard output)")
	return cmd
}

func (p Program) networkResume(g *Global) *cobra.Command {
	var o NetworkResume
	cmd := &cobra.Command{
		Use:   "resume CHAIN",
		Short: "Let what stopped on a chain send again",
		Long: `What pays for gas, the gas tank of own nodes or the hot key of an operator's service, stops on a chain
when its key was used elsewhere: the chain has seen more transactions of it than Coffer sent, or others in their place.
Then it sends nothing until you decide, because two programs with one key take each other's turns, and a key that leaked
is used by strangers. It stops, too, when the chain took back what was final: then this uses up the nonces that are free
again.

This prints what is known and asks. Find out first what used the key: another copy of this data, a restored backup, or a
thief. Afterwards it goes on from the chain's count. What it sent and was not replaced stays under way.

Without --data it is about the gas tank of a profile, with --data about the service of an operator that runs there.`,
		Example: "  coffer network resume base --profile own\n  coffer network resume base --data ./lab",
		Args:    OneArg("chain"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := notEmpty(cmd, "data"); err != nil {
				return err
			}
			o.Chain, o.Operated = args[0], cmd.Flags().Changed("data")
			return p.Network.Resume(cmd.Context(), *g, o)
		},
	}
	cmd.Flags().BoolVar(&o.Yes, "yes", false, "do not ask")
	cmd.Flags().StringVar(&o.Data, "data", "", "data `directory` of an operator's service that runs (default: it is "+
		"about a profile)")
	return cmd
}

func (p Program) networkStatus(g *Global) *cobra.Command {
	var o NetworkStatus
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show an operator its gas, inventory, caps, lanes and deposits",
		Long: `Prints how the network of an operator is: for each chain whether enough nodes agree, what the hot key has
for gas, what its lane sends, and for each token what the filler has, what the cap lets out and what is promised; the
deposits in escrow with the time to their deadline; what is in escrow of what may be; the gas that no one paid for; and
the alerts, whose codes are in docs/operate.md.

It asks the service that runs in --data. Where none runs it reads its database and the chains of --file, and where none
has run, the chains alone; the first line says which. What is not known reads unknown. On own nodes,
coffer doctor shows gas and lanes.

` + nodeKeysLong,
		Example: "  coffer network status\n  coffer network status --file lab.toml --data ./lab --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "file", "data"); err != nil {
				return err
			}
			return p.Network.Status(cmd.Context(), *g, o)
		},
	}
	fileFlag(cmd, &o.File)
	dataFlag(cmd.Flags(), &o.Data)
	JSONFlag(cmd, &o.JSON)
	return cmd
}

// ConfirmResume asks before what stopped sends again. yes is that of the flag.
func (p Prompt) ConfirmResume(ctx context.Context, yes bool) error {
	if yes {
		return nil
	}
	if !p.Terminal {
		return &UsageError{Problem: "this has to be confirmed, and there is no terminal to ask on; nothing changed",
			Hint: "give --yes"}
	}
	answer, err := p.Line(ctx, "Type resume if you know what used the key and it does no more: ")
	if err == nil && !strings.EqualFold(answer, "resume") {
		err = &UsageError{Problem: "nothing changed"}
	}
	return err
}

// NodeKey reads the key that a node asks for from a file that only its owner may read, from standard input (-), or
// without echo from the terminal. The caller wipes it.
func (p Prompt) NodeKey(ctx context.Context, file, name, host string) (secret.Secret, error) {
	switch {
	case file == "-":
		return secretLine(p.In, "the key cannot be read from standard input: one line is expected")
	case file != "":
		text, err := vault.ReadKeyFile(file)
		if err != nil {
			return secret.Secret{}, InFile(err)
		}
		defer text.Wipe()
		return secretLine(bytes.NewReader(text.Reveal()), "the file holds no key: one line is expected")
	case !p.Terminal:
		return secret.Secret{}, &AccessError{Problem: fmt.Sprintf("%s asks for the key %q, and there is no terminal "+
			"to ask on", host, name), Hint: "store it in the vault of a profile (coffer keys node-key set " + name +
			" --file -), and name the profile with --profile"}
	}
	key, err := p.Secret(ctx, fmt.Sprintf("Key %s, which is sent to %s (not shown): ", name, host))
	if err == nil && key.Empty() {
		err = &UsageError{Problem: "no key was typed"}
	}
	return key, err
}

// PayingKey reads the key that pays for gas from a file that only its owner may read, from standard input (-), or
// without echo from the terminal: hexadecimal, or a keystore file with its password. The caller wipes the 32 bytes.
func (p Prompt) PayingKey(ctx context.Context, file string) (secret.Secret, error) {
	var text secret.Secret
	var err error
	switch {
	case file == "-":
		var raw []byte
		raw, err = io.ReadAll(io.LimitReader(p.In, maxSecretText))
		text = secret.New(raw)
	case file != "":
		text, err = vault.ReadKeyFile(file)
		err = InFile(err)
	case !p.Terminal:
		return text, &UsageError{Problem: "the key that pays for gas is needed, and there is no terminal to ask on",
			Hint: "name a file that only you can read with --key-file, or - for standard input"}
	default:
		text, err = p.SecretText(ctx, "Key that pays for gas (not shown): ")
	}
	if err != nil {
		return secret.Secret{}, err
	}
	defer text.Wipe()
	hint := vault.Hint{Kind: vault.EVM}
	found, err := vault.ParseKey(text.Reveal(), hint)
	var asks *vault.ImportError
	if errors.As(err, &asks) && asks.NeedsPassword {
		if hint.Password, err = p.Secret(ctx, "Its password (not shown): "); err != nil {
			return secret.Secret{}, err
		}
		defer hint.Password.Wipe()
		found, err = vault.ParseKey(text.Reveal(), hint)
	}
	switch {
	case errors.Is(err, vault.ErrPassphrase):
		return secret.Secret{}, err
	case err != nil:
		return secret.Secret{}, &UsageError{Problem: "the key that pays for gas: " + err.Error()}
	case len(found.Keys) != 1:
		found.Wipe()
		return secret.Secret{}, &UsageError{Problem: "the key that pays for gas is not one key"}
	}
	return found.Keys[0].Key, nil
}

// ConfirmDeploy asks before the first transaction. yes is that of the flag.
func (p Prompt) ConfirmDeploy(ctx context.Context, yes bool, payer string) error {
	return p.confirmWord(ctx, yes, payer+" pays for it", "deploy")
}

// ConfirmSend asks before something is sent from an account. yes is that of the flag.
func (p Prompt) ConfirmSend(ctx context.Context, yes bool, from string) error {
	return p.confirmWord(ctx, yes, from+" sends it and pays for gas", "send")
}

// confirmWord demands a word, below a sentence.
func (p Prompt) confirmWord(ctx context.Context, yes bool, sentence, word string) error {
	if yes {
		return nil
	}
	if !p.Terminal {
		return &UsageError{Problem: "this has to be confirmed, and there is no terminal to ask on; nothing was sent",
			Hint: "give --yes"}
	}
	answer, err := p.Line(ctx, fmt.Sprintf("%s. Type %s to go on: ", sentence, word))
	if err == nil && !strings.EqualFold(answer, word) {
		err = &UsageError{Problem: "nothing was sent"}
	}
	return err
}
