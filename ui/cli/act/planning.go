package act

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/api/files"
	"coffer/ui/cli"
	"coffer/ui/cli/act/plan"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// planOptions are the flags of `coffer plan` beside those of a call.
type planOptions struct {
	out, format, note           string
	template, fresh, json       bool
	chains, recipients, targets []string
	maxSpend                    string
	maxCost, maxSlippage        int64
	neverDelegate               bool
}

func (o *planOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "write the plan to this `FILE` (a plan there is replaced; default: print it)")
	f.StringVar(&o.format, "format", "", "toml or json (default: as the name of --out ends, else toml)")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.StringVar(&o.note, "note", "", "a line for the reader")
	f.BoolVar(&o.template, "template", false, "a plan to fill in, without network and accounts")
	f.BoolVar(&o.fresh, "fresh", false, "give a plan of a file a new salt, so that it can be applied again")
	f.StringSliceVar(&o.chains, "limit-chains", nil, "no other chain pays or runs a call")
	f.StringSliceVar(&o.recipients, "limit-recipients", nil, "only these receive, and your own accounts")
	f.StringSliceVar(&o.targets, "limit-contracts", nil, "no other contract is called")
	f.StringVar(&o.maxSpend, "max-spend", "", "the most that it may spend, in dollars")
	f.Int64Var(&o.maxCost, "max-cost-bps", 0, "the most that is lost on the way, in basis points of what is paid")
	f.Int64Var(&o.maxSlippage, "max-slippage-bps", 0, "the most that the price may move, in basis points")
	f.BoolVar(&o.neverDelegate, "never-delegate", false, "sign no EIP-7702 delegation")
}

// Plan builds `coffer plan`.
func (c Commands) Plan(g *cli.Global) *cobra.Command {
	var a asked
	var o planOptions
	cmd := &cobra.Command{
		Use:   "plan [FILE|-]",
		Short: "Write a plan file: calls, funding and limits, to be applied later",
		Long: `Writes a plan of what flags describe, or of a file: an intent, a batch of the Safe Transaction Builder,
or a plan, which gets the hash of its present content. A plan names the network and the accounts
of the profile, and limits that narrow your policy. Nothing is signed and the service is not asked.

Review the file, keep it where changes are seen, and run coffer apply FILE.`,
		Example: `  coffer plan --chain base --to usdc --function "transfer(address to, uint256 amount)" --arg ` +
			`0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0 --arg "25 USDC" --max-spend 60 --out pay.toml
  coffer plan --asset usdc --amount 100 --for eth@base --out swap.toml
  coffer plan batch.json --fund-with usdc --max-cost-bps 100 --out batch.toml
  coffer plan pay.toml --out pay.toml           after editing it
  coffer plan pay.toml --fresh --out pay.toml   to apply it once more
  coffer plan --template > plan.toml`,
		Args:    cli.MayHave("file"),
		PreRunE: func(*cobra.Command, []string) error { return o.form() },
	}
	a.callFlags(cmd)
	a.sideFlags(cmd)
	o.flags(cmd)
	return c.chosen(g, cmd, func(cmd *cobra.Command, s *Session, args []string) error {
		p, err := c.planned(cmd, s, &a, &o, args)
		if err != nil {
			return err
		}
		return c.writePlan(s, p, o.out, o.json)
	})
}

// form decides whether JSON is written.
func (o *planOptions) form() error {
	switch {
	case o.format == "json":
		o.json = true
	case o.format == "":
		o.json = o.json || strings.HasSuffix(strings.ToLower(o.out), ".json")
	case o.format != "toml" || o.json:
		return usage("", "--format takes toml or json")
	}
	return nil
}

// planned is the plan that a command line describes.
func (c Commands) planned(cmd *cobra.Command, s *Session, a *asked, o *planOptions, args []string) (plan.Plan, error) {
	if len(args) == 1 {
		b, err := c.readFile(cmd, args[0])
		if err != nil {
			return plan.Plan{}, err
		}
		if plan.IsPlan(b) {
			return c.resealed(a, o, args[0], b)
		}
		d, err := a.fileDraft(s.world(c.Clock), args[0], b)
		if err != nil {
			return plan.Plan{}, err
		}
		return c.newPlan(s, o, d)
	}
	if o.fresh {
		return plan.Plan{}, usage("", "--fresh is for the plan of a file")
	}
	if o.template {
		return c.template(s, o)
	}
	d, err := a.anyDraft(s.world(c.Clock))
	if err != nil {
		return plan.Plan{}, err
	}
	return c.newPlan(s, o, d)
}

// resealed is the plan of a file with another salt, or unchanged; writing it makes the hash.
func (c Commands) resealed(a *asked, o *planOptions, name string, b []byte) (plan.Plan, error) {
	if given := a.changed(append(a.names(), "allow", "require", "fund-with", "slippage", "interface",
		"valid-for")...); len(given) > 0 {
		return plan.Plan{}, usage("edit the file", "a plan is written again as it is, so --%s does not go with it",
			given[0])
	}
	p, err := plan.ParseUnsealed(b)
	if err != nil {
		return p, usage("", "%s: %s", clean(name), clean(err.Error()))
	}
	if o.note != "" {
		p.Note = o.note
	}
	if o.fresh {
		p.Salt, err = plan.NewSalt(c.Random)
	}
	return p, err
}

// newPlan makes a plan of a draft for the profile, and checks that it can be applied.
func (c Commands) newPlan(s *Session, o *planOptions, d intent.Draft) (plan.Plan, error) {
	in, err := c.frozen(s, d)
	if err != nil {
		return plan.Plan{}, err
	}
	return c.salted(s, o, plan.Plan{Note: o.note, Intent: in.Draft()})
}

// salted gives a plan its limits and its salt.
func (c Commands) salted(s *Session, o *planOptions, p plan.Plan) (_ plan.Plan, err error) {
	if p.Limits, err = o.limits(s); err != nil {
		return p, err
	}
	p.Salt, err = plan.NewSalt(c.Random)
	return p, err
}

// limits returns the limits from the flags.
func (o *planOptions) limits(s *Session) (plan.Limits, error) {
	l := plan.Limits{
		Recipients: o.recipients, Contracts: o.targets, MaxSpendUSD: o.maxSpend, MaxCostBps: o.maxCost,
		MaxSlippageBps: o.maxSlippage, NeverDelegate: o.neverDelegate,
	}
	var err error
	if l.Chains, err = chainIDs(s.Catalog, o.chains); err != nil {
		return l, err
	}
	if _, err := l.Verify(); err != nil {
		return l, usage("", "%s", clean(err.Error()))
	}
	return l, nil
}

// template is a plan to fill in: one call of a known token that moves nothing.
func (c Commands) template(s *Session, o *planOptions) (plan.Plan, error) {
	a := asked{chain: "base", to: "usdc", function: "transfer(address to, uint256 amount)", fundWith: "usdc",
		args: []string{common.Address{19: 1}.Hex(), "1"}}
	d, err := a.callDraft(s.world(c.Clock))
	if err != nil {
		return plan.Plan{}, err
	}
	d.TokensRequired = nil
	return c.salted(s, o, plan.Plan{Intent: d,
		Note: cmp.Or(o.note, "a template: put your calls in, then run coffer plan FILE --out FILE")})
}

// writePlan prints a plan or writes it to a file.
func (c Commands) writePlan(s *Session, p plan.Plan, out string, asJSON bool) error {
	var b []byte
	var err error
	if asJSON {
		b, err = p.EncodeJSON()
	} else {
		b, err = p.EncodeTOML(s.explain(p.Intent))
	}
	if err != nil {
		return err
	}
	hash, err := p.Hash()
	if err != nil {
		return err
	}
	if out == "" {
		return c.write(b)
	}
	if err := replacePlan(out, b); err != nil {
		return err
	}
	c.say("Written to %s. Hash of the plan: %s", out, hash)
	return nil
}

// replacePlan writes a file as a whole. Only a plan is replaced.
func replacePlan(path string, b []byte) error {
	old, err := os.ReadFile(path)
	if err == nil && len(old) > 0 && !plan.IsPlan(old) {
		return usage("choose another name", "%s is no plan and is not replaced", clean(path))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.InFile(err)
	}
	return cli.InFile(files.Replace(path, ".new-*", b))
}

// explain describes the figures of a plan, by the catalogue and by the decoded bytes.
func (s *Session) explain(d intent.Draft) plan.Explain {
	return plan.Explain{
		Amount: s.baseWords,
		Call: func(i int) []string {
			c := d.Calls[i]
			var out []string
			chain, err := caip.ParseChain(d.TargetChain)
			if err != nil {
				return nil
			}
			token, known := s.world(nil).TokenAt(chain, c.To)
			if known {
				out = append(out, token.Symbol+" on "+s.chainName(d.TargetChain))
			}
			if v := present.BaseUnits(c.Value); v != nil && v.Sign() > 0 {
				id, _ := chain.EVMID()
				out = append(out, "sends "+present.Coins(s.Catalog, id, v)+" along")
			}
			if len(common.FromHex(c.Data)) < 4 {
				return out
			}
			fn, values, ok := compose.Decode(c.Data)
			if !ok {
				return append(out, "not decoded: what this call does depends on the contract")
			}
			for _, l := range fn.Lines(values) {
				out = append(out, strings.Repeat("  ", l.Depth)+l.Label+" = "+l.Text)
			}
			if known && len(values) > 0 && slices.Contains([]string{"transfer(address,uint256)",
				"transferFrom(address,address,uint256)"}, fn.Signature()) {
				out = append(out, "that is "+figureOf(values[len(values)-1].Text, token.Symbol, token.Decimals))
			}
			return out
		},
	}
}
