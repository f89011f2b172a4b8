package keys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
)

// nodeLine is a node of the wallet's own view in --json.
type nodeLine struct {
	Chain   string `json:"chain"` // CAIP-2
	Host    string `json:"host"`
	Block   uint64 `json:"block,omitzero"`
	Problem string `json:"problem,omitzero"`
}

// nodes builds `coffer profile nodes`.
func (c Profiles) nodes(g *cli.Global) *cobra.Command {
	var add, remove []string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "nodes", Short: "Your own nodes, to compare with what the service says",
		Long: `Prints the nodes that the profile names and asks each for its newest block. The wallet reads there what
the service says of balances, nonces and payments, and says who saw it. A node that serves another chain is refused.
Where a node asks for a key, write ${vault:NAME} in its place and store the key with coffer keys node-key set NAME.
The nodes of a profile on own nodes are in its networks.toml.`,
		Example: "  coffer profile nodes --add base=https://node.example --add op=https://node.example/op\n" +
			"  coffer profile nodes\n  coffer profile nodes --remove base",
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := c.Host.OpenKeys(cmd.Context(), g.Profile)
			if err != nil {
				return err
			}
			return errors.Join(c.ofNodes(cmd.Context(), o, add, remove, asJSON), o.Close())
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&add, "add", nil, "a chain by name or number, with the address of a node: `CHAIN=URL`")
	f.StringArrayVar(&remove, "remove", nil, "forget the nodes of a `CHAIN`")
	cli.JSONFlag(cmd, &asJSON)
	return cli.Passing(cmd, c.Prompt.Terminal)
}

func (c Profiles) ofNodes(ctx context.Context, o *profile.Opened, add, remove []string, asJSON bool) error {
	change := len(add)+len(remove) > 0
	if change && o.Profile.OwnNodes() {
		return &cli.UsageError{Problem: fmt.Sprintf("profile %q takes its nodes from its network", o.Profile.Name),
			Hint: "change them in " + o.Profile.Networks}
	}
	named := slices.DeleteFunc(o.Profile.OwnView(), func(n config.Node) bool {
		return slices.ContainsFunc(remove, func(name string) bool {
			return profile.SameChain(o.Catalog, name, n.Chain)
		})
	})
	if len(remove) > 0 && len(named) == len(o.Profile.Nodes) {
		return &cli.UsageError{Problem: fmt.Sprintf("profile %q names no node of %s", o.Profile.Name,
			strings.Join(remove, ", ")), Hint: "coffer profile nodes lists them"}
	}
	fresh, err := parsed(add)
	if err != nil {
		return err
	}
	named = append(named, fresh...)
	if change {
		if err := c.keep(ctx, o, named, fresh); err != nil {
			return err
		}
		// a key of a new node is stored for the host that the profile names, so it cannot be there yet
		if strings.Contains(strings.Join(add, ""), "${vault:") {
			c.Prompt.Say("The profile names the node now. Store its key: coffer keys node-key set NAME")
			return nil
		}
	}
	all, err := o.TryNodes(ctx, named)
	if err != nil {
		return err
	}
	return c.printNodes(o.Catalog, all, asJSON)
}

// keep writes the nodes of a profile. Of new ones each has to serve the chain that it is named for, as far as it
// answers without a key.
func (c Profiles) keep(ctx context.Context, o *profile.Opened, named, fresh []config.Node) error {
	all, err := profile.TryNodes(ctx, o.Catalog, fresh)
	if err == nil {
		err = errors.Join(profile.Wrong(all), o.HasChains(named))
	}
	if err != nil {
		return err
	}
	return cli.InFile(config.SetNodes(o.Paths.Config, o.Profile.Name, named))
}

// tryNew asks the nodes of a profile that is about to be added.
func (c Profiles) tryNew(ctx context.Context, nodes []string) error {
	named, err := parsed(nodes)
	if err != nil || len(named) == 0 {
		return err
	}
	known, err := catalog.Load()
	if err != nil {
		return err
	}
	all, err := profile.TryNodes(ctx, known, named)
	if err == nil {
		err = profile.Wrong(all)
	}
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.Err != nil {
			c.Prompt.Say(s.Host + " does not answer now; the profile names it all the same.")
		}
	}
	return nil
}

func parsed(nodes []string) (all []config.Node, err error) {
	for _, s := range nodes {
		n, err := config.ParseNode(s)
		if err != nil {
			return nil, &cli.UsageError{Problem: err.Error()}
		}
		all = append(all, n)
	}
	return all, nil
}

func (c Profiles) printNodes(known *catalog.Catalog, all []profile.NodeState, asJSON bool) error {
	lines := []nodeLine{}
	for _, s := range all {
		l := nodeLine{Chain: caip.EVM(s.Chain).String(), Host: s.Host, Block: s.Block}
		if s.Err != nil {
			l.Problem = s.Err.Error()
		}
		lines = append(lines, l)
	}
	if asJSON {
		return cli.PrintJSON(c.Out, lines)
	}
	if len(lines) == 0 {
		c.Prompt.Say("There are no nodes; name one with: coffer profile nodes --add CHAIN=URL")
	}
	w := cli.Columns(c.Out)
	for _, l := range lines {
		state := fmt.Sprintf("block %d", l.Block)
		if l.Problem != "" {
			state = l.Problem
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", present.ChainName(known, l.Chain), l.Host, present.Clean(state, 300))
	}
	return w.Flush()
}
