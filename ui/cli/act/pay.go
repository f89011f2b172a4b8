package act

import (
	"errors"

	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/ui/cli"
	"coffer/ui/compose"
	"coffer/wallet/intent"
)

// Pay builds `coffer pay`.
func (c Commands) Pay(g *cli.Global) *cobra.Command {
	var a asked
	var o runOptions
	cmd := &cobra.Command{
		Use:   "pay FILE|-",
		Short: "Pay a list of recipients from a CSV file, in one operation",
		Long: `Pays everybody in a CSV file with one operation on one chain: all payments are made, or none. A row has a
recipient (an address, or the name of a contact) and an amount in whole units, then an asset and a note for yourself
where there are any. A first row with the names of these columns may put them in another order. A row that names no
asset pays --asset. The list has at most 100 rows; with a fault in one nothing is read, and every fault is printed with
its line. The review marks who is paid for the first time, and who twice.

Running the command again pays everybody again. Make sure of the outcome first: coffer history.
` + signingHelp,
		Example: `  coffer pay wages.csv --asset usdc --chain base --dry-run
  coffer pay wages.csv --asset usdc@base
  coffer pay - --asset usdc@base --yes --accept V4 --json < wages.csv`,
		Args: cli.OneArg("file"),
	}
	f := cmd.Flags()
	a.flags = f
	f.StringVar(&a.asset, "asset", "", "asset of the rows that name none: usdc with --chain, usdc@base or a CAIP-19 id")
	f.StringVar(&a.on, "chain", "", "chain on which all are paid: name, CAIP-2 or number")
	a.fundFlags(f)
	a.commonFlags(f, "")
	return c.signs(g, cmd, &o, func(cmd *cobra.Command, s *Session, args []string) error {
		w := s.world(c.Clock)
		d, err := c.payouts(cmd, w, &a, args[0])
		if err != nil {
			return err
		}
		return c.freezeAndRun(cmd.Context(), s, o, d)
	})
}

// payouts are the payments of a list, completed by flags.
func (c Commands) payouts(cmd *cobra.Command, w *compose.World, a *asked, name string) (d intent.Draft, err error) {
	var chain caip.Chain
	if a.on != "" {
		if chain, err = chainNamed(w.Catalog, a.on); err != nil {
			return d, err
		}
	}
	b, err := c.readFile(cmd, name)
	if err != nil {
		return d, err
	}
	form, err := w.ReadPayouts(b, chain, a.asset)
	if err != nil {
		if name == "-" {
			name = "the list"
		}
		return d, unreadList(name, err)
	}
	d = form.Draft(w)
	return d, a.complete(w, &d)
}

// unreadList prints every fault of a list.
func unreadList(name string, err error) error {
	faults := compose.PayoutFaults(nil)
	if !errors.As(err, &faults) {
		return refusedFile(name, err)
	}
	u := &cli.UsageError{Problem: clean(name) + " cannot be used"}
	for _, f := range faults {
		u.Problem += "\n  " + clean(f.String())
	}
	if faults.LackAsset() {
		u.Hint = "for instance --asset usdc --chain base"
	}
	return u
}
