// Package tank does what `coffer tank` does: it shows what the gas tank of own nodes has, and takes coins out of it.
//
// Promise: nothing is sent before the review was confirmed, and what is sent is what it showed. The outcome of a
// withdrawal is told before another one is sent on its chain, by this command or the next one.
//
// Units: wei. Sources: protocol §5.5.
package tank

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/ui/profile"
)

// decimals are those of the native coin of every EVM chain.
const decimals = 18

// maxText bounds what of a problem is shown, in characters.
const maxText = 300

// Commands are those of `coffer tank`.
type Commands struct {
	Host   profile.Host
	Prompt cli.Prompt
	Out    io.Writer
	Clock  func() time.Time
}

// Command builds `coffer tank`.
func (c Commands) Command(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tank",
		Short: "Show what pays for gas on your own nodes; take coins out of it",
		Long: `On your own nodes a key that belongs to no account pays for gas: the gas tank. This shows its address,
what it has on each chain, for about how many operations that is, whether it sends, and for how many operations of each
account it paid in the last 24 hours, which has a limit. withdraw sends coins out of it.`,
		Example: "  coffer tank\n  coffer tank --json --profile own\n  coffer tank withdraw --chain base --amount max" +
			" --to 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0",
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.show(cmd.Context(), g, asJSON) },
	}
	cli.JSONFlag(cmd, &asJSON)
	cli.Passing(cmd, c.Prompt.Terminal)
	cmd.AddCommand(cli.Passing(c.withdraw(g), c.Prompt.Terminal))
	return cmd
}

// open opens a profile on own nodes.
func (c Commands) open(ctx context.Context, g *cli.Global) (*profile.Opened, error) {
	p, _, err := c.Host.Find(g.Profile)
	if err != nil {
		return nil, err
	}
	if !p.OwnNodes() {
		return nil, &cli.UsageError{Problem: fmt.Sprintf("profile %q is not on own nodes, so it has no gas tank",
			p.Name),
			Hint: "name one that is, with --profile; coffer profile list shows them"}
	}
	return c.Host.OpenKeys(ctx, g.Profile)
}

func (c Commands) show(ctx context.Context, g *cli.Global, asJSON bool) (err error) {
	o, err := c.open(ctx, g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	r, err := o.Tank(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.PrintJSON(c.Out, r)
	}
	w := cli.Columns(c.Out)
	fmt.Fprintln(w, "gas tank\t"+present.Clean(r.Address, maxText))
	for _, l := range present.Tank(r, o.Own(), false) {
		fmt.Fprintln(w, l.Label+"\t"+l.Text)
	}
	return w.Flush()
}

// request is what the flags ask for.
type request struct {
	chain uint64
	name  string // of the chain
	to    string
	value *big.Int // nil is all
}

// read reads the flags of a withdrawal.
func (c Commands) read(o *profile.Opened, chain, value, to string) (r request, err error) {
	w := &compose.World{Catalog: o.Catalog, Network: o.Network.ID, Accounts: o.Accounts, Clock: c.Clock,
		Book: o.Contacts(), OwnNodes: true}
	wrong := func(flag, problem string) error {
		return &cli.UsageError{Problem: flag + ": " + present.Clean(problem, maxText), Hint: "nothing was sent"}
	}
	on, problem := w.Chain(chain)
	var is bool
	if r.chain, is = on.EVMID(); problem == "" && !is {
		problem = "the gas tank pays on EVM chains"
	}
	if problem != "" {
		return r, wrong("--chain", problem)
	}
	r.name = w.ChainName(on)
	if !strings.EqualFold(value, everything) {
		if r.value, problem = compose.Positive(value, decimals, w.Coin(on).Symbol); problem != "" {
			return r, wrong("--amount", problem)
		}
	}
	r.to, problem = w.Recipient(on, to)
	if problem == "" && r.to == "" {
		problem = "an address is needed"
	}
	if who, level := w.Whose(r.to); problem == "" && level == compose.Danger {
		problem = r.to + " " + who + ": compare all of it with its source"
	}
	if problem != "" {
		return r, wrong("--to", problem)
	}
	return r, nil
}
