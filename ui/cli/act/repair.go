package act

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op"
	"coffer/ui/cli"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// repairOptions are the flags of `coffer activity repair`.
type repairOptions struct {
	chain, account string
	lane           uint16
	sequence       uint64
	yes, json      bool
}

// repairCommand builds `coffer activity repair`.
func (c Commands) repairCommand(g *cli.Global) *cobra.Command {
	var o repairOptions
	given := 0 // flags of the lane
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Print or set where the lanes of your accounts go on",
		Long: `Without flags it prints each lane of which the journal and the service may disagree, and what the
journal knows of it. With --chain, --account, --lane and --sequence it writes down where one lane goes on: take the
figure from the chain itself (the entry point's getNonce) or from another device, not from the service.

Nothing is lost by it: every signature stays listed until it expires, what the service said had run from that sequence
on counts as open again, and what counts as spent stays or grows. On a terminal you type the last four characters of
the account's address; --yes does without them.`,
		Example: "  coffer activity repair\n  coffer activity repair --chain base --account " +
			"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 --lane 0 --sequence 3",
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			names := []string{"chain", "account", "lane", "sequence"}
			for _, name := range names {
				if cmd.Flags().Changed(name) {
					given++
				}
			}
			if given != 0 && given != len(names) || given == 0 && o.yes {
				return usage("`coffer activity repair` prints the lanes",
					"a repair needs all of --chain, --account, --lane and --sequence")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.chain, "chain", "", "the `CHAIN`: name, CAIP-2 or number")
	f.StringVar(&o.account, "account", "", "the `ADDRESS` of the account")
	f.Uint16Var(&o.lane, "lane", 0, "the `LANE`: 0 for calls, 1 for payments")
	f.Uint64Var(&o.sequence, "sequence", 0, "the `NUMBER` that the next operation of the lane has")
	f.BoolVar(&o.yes, "yes", false, "set it without asking")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		if given == 0 {
			return c.lanes(s, o.json)
		}
		return c.repair(cmd.Context(), s, o)
	})
}

// laneFact is what the journal knows of a lane. Next is where a new operation continues, by the service's claim where
// nothing proves it.
type laneFact struct {
	Chain   string     `json:"chain"`
	Account string     `json:"account"`
	Lane    uint16     `json:"lane"`
	Next    string     `json:"next,omitzero"`
	Set     bool       `json:"set"` // by a repair
	Doubt   bool       `json:"doubt"`
	Key     string     `json:"key,omitzero"` // of getNonce
	Open    []openFact `json:"open"`
}

func laneOf(l journal.LaneFacts) laneFact {
	f := laneFact{Chain: caip.EVM(l.ChainID).String(), Account: l.Account, Lane: l.Lane.Lane, Set: l.Set,
		Doubt: l.Doubtful(), Open: []openFact{}}
	if l.Known {
		f.Next = strconv.FormatUint(l.Sequence, 10)
	}
	if l.Key != nil {
		f.Key = "0x" + l.Key.Text(16)
	}
	for _, x := range l.Open {
		f.Open = append(f.Open, openOf(x))
	}
	return f
}

// lanes prints the lanes in doubt; as JSON all of them.
func (c Commands) lanes(s *Session, asJSON bool) error {
	facts := []laneFact{}
	b, err := s.Read()
	if err != nil {
		return err
	}
	p := &page{}
	if b != nil {
		defer func() { _ = b.Close() }()
		for _, l := range b.Lanes(c.Clock()) {
			f := laneOf(l)
			facts = append(facts, f)
			if f.Doubt {
				p.lane(s, f, l)
			}
		}
	}
	if asJSON {
		return c.write(encode(struct {
			Lanes []laneFact `json:"lanes"`
		}{facts}))
	}
	if p.Len() == 0 {
		p.Line("No lane is in doubt: no open signature depends on what the service said.")
	}
	return c.write([]byte(p.String()))
}

// lane writes a lane, and the command that sets it.
func (p *page) lane(s *Session, f laneFact, l journal.LaneFacts) {
	what := "lane " + strconv.Itoa(int(f.Lane))
	switch f.Lane {
	case op.LanePrepared:
		what += " (calls)"
	case op.LaneFunding:
		what += " (payments)"
	}
	p.Line(s.chainName(f.Chain) + ", account " + f.Account + ", " + what)
	by := "by what the service said; nothing on this machine proves it"
	if f.Set {
		by = "from where you set it, and by what the service said since"
	}
	p.Row("goes on at", cmp.Or(f.Next, "an unknown sequence")+", "+by)
	for _, x := range l.Open {
		n, _ := x.Sequence()
		until := "no time ends it"
		if end, ends := x.Ends(); ends {
			until = "until " + stamp(end)
		}
		p.Row("open", "sequence "+strconv.FormatUint(n, 10)+", "+until+". "+
			cmp.Or(x.Said.Words(), "The service has not said that it finished."))
	}
	if f.Key != "" {
		p.Row("the chain's figure", "getNonce("+f.Account+", "+f.Key+") of the entry point "+
			s.Network.Pins.EntryPoint.Hex()+", its lowest 64 bits")
	}
	p.Row("to set it", "coffer activity repair --chain "+f.Chain+" --account "+f.Account+" --lane "+
		strconv.Itoa(int(f.Lane))+" --sequence N")
}

func (c Commands) repair(ctx context.Context, s *Session, o repairOptions) error {
	l, err := s.laneNamed(o)
	if err != nil {
		return err
	}
	w, err := s.Work(nil)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	c.say("%s, account %s, lane %d goes on at sequence %d from now on. What the service said had run from there on "+
		"counts as open again; nothing else changes.",
		s.chainName(caip.EVM(l.ChainID).String()), l.Account, l.Lane, l.Sequence)
	typed := ""
	if !o.yes {
		if typed, err = c.ending(ctx, "--yes"); err != nil {
			return err
		}
	}
	if err := w.Repair(l, typed, o.yes); err != nil {
		return unconfirmedBy(err)
	}
	c.say("Written to the journal.")
	if o.json {
		return c.write(encode(l))
	}
	return nil
}

// laneNamed reads the lane of the flags. The account is one of the profile's.
func (s *Session) laneNamed(o repairOptions) (journal.Lane, error) {
	chain, err := chainNamed(s.Catalog, o.chain)
	if err != nil {
		return journal.Lane{}, err
	}
	id, evm := chain.EVMID()
	if !evm {
		return journal.Lane{}, usage("only EVM chains have lanes", "%s has no lanes", clean(o.chain))
	}
	mine := slices.ContainsFunc(s.All, func(a api.Account) bool {
		return strings.EqualFold(a.AccountAddress,
			o.account)
	})
	if !common.IsHexAddress(o.account) || !mine {
		return journal.Lane{}, usage("`coffer accounts list` lists them", "%q is not an account of this profile",
			clean(o.account))
	}
	return journal.Lane{ChainID: id, Account: common.HexToAddress(o.account).Hex(), Lane: o.lane, Sequence: o.sequence},
		nil
}

// unconfirmedBy is the error of a void or a repair.
func unconfirmedBy(err error) error {
	switch {
	case errors.Is(err, flow.ErrVoidTyped), errors.Is(err, flow.ErrRepairTyped):
		return outcome(cli.ExitExpired, err,
			"those are not the last four characters of the account's address; nothing was written")
	case errors.Is(err, flow.ErrVoidUnknown):
		return usage("`coffer activity` lists what can be voided", "no open signature without an end has this hash")
	}
	return err
}
