package cli

import (
	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"
)

// NetworkRebalance are the flags of `coffer network rebalance`. Safe is "" without a batch.
type NetworkRebalance struct {
	File, Data, Safe string
	Shares, Assets   []string
	To               common.Address
	JSON             bool
}

func (p Program) networkRebalance(g *Global) *cobra.Command {
	var o NetworkRebalance
	var to string
	cmd := &cobra.Command{
		Use:   "rebalance",
		Short: "Say which chain has too much inventory and which too little",
		Long: `Compares, asset by asset, what an operator's filler has on each chain, less what is promised, with the
chain's share of all of it: an equal one, or what --share says. Beside that it prints what was delivered and what came
in during the last 7 days, the cap, and what keeps a chain from working. A difference below a tenth of the target is
left alone.

It moves nothing. With --safe it writes what is too much as withdrawals from the filler to the address of --to: a batch
for the Safe Transaction Builder for each chain, with its number in the name where there are several. How it gets to the
other chains from there is yours to decide; coffer network owner fund brings it to their fillers.

It asks the service that runs in --data, else its database and the chains of --file, as coffer network status does.

` + nodeKeysLong,
		Example: "  coffer network rebalance\n  coffer network rebalance --asset usdc --share base=3 --share eth=0\n" +
			"  coffer network rebalance --safe moves.json --to 0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if err := notEmpty(cmd, "file", "data", "safe", "share", "asset", "to"); err != nil {
				return err
			}
			if (o.Safe != "") != (to != "") {
				return Misused(cmd, "--safe and --to belong together: a batch of withdrawals, and who gets them")
			}
			if to != "" {
				if o.To, err = checksummed("--to", to); err != nil {
					return err
				}
			}
			return p.Network.Rebalance(cmd.Context(), *g, o)
		},
	}
	fileFlag(cmd, &o.File)
	f := cmd.Flags()
	dataFlag(f, &o.Data)
	f.StringArrayVar(&o.Shares, "share", nil, "how much of each asset a chain should have beside the others, as "+
		"`CHAIN=NUMBER`\n(default: 1 for each chain); may be given several times")
	f.StringArrayVar(&o.Assets, "asset", nil, "only this asset, by its `SYMBOL`; may be given several times")
	f.StringVar(&o.Safe, "safe", "", "write what is too much to this new `FILE`, as withdrawals")
	f.StringVar(&to, "to", "", "the `ADDRESS` that gets them")
	JSONFlag(cmd, &o.JSON)
	return cmd
}
