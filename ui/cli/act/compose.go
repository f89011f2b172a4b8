package act

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/wallet/intent"
)

// asked is the request on the command line: the flags of call, transfer, swap and plan.
type asked struct {
	flags                              *pflag.FlagSet
	chain, to, function, data, value   string
	args, allow, require               []string
	fundWith, slippage, service        string
	validFor                           time.Duration
	asset, amount, receive, on, minima string
	exactly                            bool
}

// callFlags adds the flags of a call.
func (a *asked) callFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	a.flags = f
	f.StringVar(&a.chain, "chain", "", "chain on which the call runs: name, CAIP-2 or number")
	f.StringVar(&a.to, "to", "", "contract that is called: address, or the symbol of a token there")
	f.StringVar(&a.function, "function", "", `signature such as "transfer(address to, uint256 amount)"`)
	f.StringArrayVar(&a.args, "arg", nil,
		`next argument; a list or a tuple is JSON, and a whole number may be an amount such as "250.5 USDC"`)
	f.StringVar(&a.data, "data", "", "call data in hex, instead of --function")
	f.StringVar(&a.value, "value", "", `coin that goes with the call: wei, or an amount such as "0.1 ETH"`)
	f.StringArrayVar(&a.allow, "allow", nil,
		`what may be taken while the calls run, such as "250 USDC" (by the contract) or "250 USDC 0x..."`)
	f.StringArrayVar(&a.require, "require", nil,
		`what the calls need, such as "250 USDC" (default: what they spend as far as it can be seen)`)
	a.fundFlags(f)
	a.commonFlags(f, "that of the file, else ")
}

// fundFlags adds the flags of who pays for calls, and until when.
func (a *asked) fundFlags(f *pflag.FlagSet) {
	f.StringVar(&a.fundWith, "fund-with", "", "asset that pays: usdc, usdc@base, ob:usdc or a CAIP-19 id")
	f.DurationVar(&a.validFor, "valid-for", 0, "how long the request is valid, from 2m to 10m (default: 10m)")
}

// commonFlags adds the flags of every request; the default of --slippage is intent.DefaultSlippageBps.
func (a *asked) commonFlags(f *pflag.FlagSet, otherwise string) {
	f.StringVar(&a.slippage, "slippage", "", "how far the price may move, in percent (default: "+otherwise+"0.5)")
	f.StringVar(&a.service, "interface", "", "version of the service's interface: v3 or v1 (default: v3)")
}

// exchangeFlags adds the flags of a transfer or a swap.
func (a *asked) exchangeFlags(cmd *cobra.Command, kind string) {
	f := cmd.Flags()
	a.flags = f
	f.StringVar(&a.asset, "asset", "", "asset that is paid: usdc (from all chains), usdc@base, ob:usdc or a CAIP-19 id")
	f.StringVar(&a.amount, "amount", "", "how much of it, in whole units; what it costs is taken out of it")
	if kind == intent.KindTransfer {
		f.StringVar(&a.to, "to", "", "address that gets it")
		f.StringVar(&a.on, "chain", "", "chain on which it arrives: name, CAIP-2 or number")
		f.BoolVar(&a.exactly, "exactly", false, "let exactly the amount arrive; what it costs comes on top")
	} else {
		f.StringVar(&a.receive, "for", "", "asset that is received, on its chain: eth@base or a CAIP-19 id")
		f.StringVar(&a.to, "to", "", "recipient (default: your own account)")
		f.StringVar(&a.minima, "min", "", "minimum received, in whole units (default: what the slippage allows)")
	}
	a.commonFlags(f, "")
}

// names are the flags that describe the same things as a file.
func (a *asked) names() []string { return []string{"chain", "to", "function", "arg", "data", "value"} }

// changed lists which of these flags were given.
func (a *asked) changed(names ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !a.flags.Changed(n) })
}

// common fills in what every kind has.
func (a *asked) common(d *intent.Draft) error {
	if a.slippage != "" {
		bps, problem := compose.Percent(a.slippage)
		if problem != "" {
			return wrong("--slippage", problem, "")
		}
		d.SlippageBps = bps
	}
	switch a.service {
	case "":
	case intent.InterfaceV1, intent.InterfaceV3:
		d.Interface = a.service
	default:
		return usage("", "--interface takes v3 or v1")
	}
	return nil
}

// callDraft is the call that the flags describe.
func (a *asked) callDraft(w *compose.World) (intent.Draft, error) {
	d := intent.Draft{Version: intent.Version, SlippageBps: intent.DefaultSlippageBps}
	if a.chain == "" || a.to == "" {
		return d, usage("or give a file with an intent or a Safe batch", "a call needs --chain and --to")
	}
	chain, err := chainNamed(w.Catalog, a.chain)
	if err != nil {
		return d, err
	}
	if _, evm := chain.EVMID(); !evm {
		return d, usage("", "calls run on EVM chains")
	}
	d.TargetChain = chain.String()
	c, err := a.call(w, chain)
	if err != nil {
		return d, err
	}
	d.Calls = []intent.Call{c}
	return d, a.complete(w, &d)
}

// call reads the flags of one call. A value without a unit is in wei, an argument in base units.
func (a *asked) call(w *compose.World, chain caip.Chain) (intent.Call, error) {
	form := w.NewCalls(chain)
	c := form.Calls[0]
	*c = compose.Call{To: a.to, Signature: a.function, Raw: a.data != "", Data: a.data, Value: a.value}
	if _, unit := compose.SplitUnit(a.value); a.value != "" && unit == "" {
		c.Value += " wei"
	}
	switch {
	case a.function != "" && a.data != "":
		return intent.Call{}, usage("", "--function and --data both make the call data: give one")
	case a.function == "" && len(a.args) > 0:
		return intent.Call{}, usage("", "--arg needs --function")
	}
	if !c.Raw {
		c.ReadSignature(false)
	}
	if c.Fn != nil && len(a.args) != len(c.Args) {
		return intent.Call{}, usage("one --arg for each", "%s takes %d arguments, %d were given", clean(c.Fn.String()),
			len(c.Args), len(a.args))
	}
	flags := [][3]string{{compose.IDTo(0), "--to"}, {compose.IDSig(0), "--function"}, {compose.IDData(0), "--data"},
		{compose.IDValue(0), "--value", "wei, or an amount of the chain's coin such as \"0.1 " +
			w.Coin(chain).Symbol + "\""}}
	for i, n := range c.Args {
		flag := "--arg " + clean(n.Param.Name)
		if err := wrong(flag, n.Read(a.args[i]), `for instance --arg '["0x...", "5"]'`); err != nil {
			return intent.Call{}, err
		}
		compose.Walk([]*compose.Arg{n}, func(path []int, _ *compose.Arg) {
			flags = append(flags, [3]string{compose.IDArg(0, append([]int{i}, path[1:]...)), flag})
		})
	}
	c.Resolve(w, chain)
	t := w.Target(chain, c.To)
	if problem := c.Granted(t); problem != "" {
		return intent.Call{}, usage(`for instance --allow "250 USDC"`, "%s", clean(problem))
	}
	return c.Intent(t), a.mistake(w, form, flags)
}

// mistake is the first mistake of a form, said of its flag: field, flag and hint.
func (a *asked) mistake(w *compose.World, form compose.Form, flags [][3]string) error {
	mistakes := w.Mistakes(form, true)
	for _, f := range flags {
		if problem := mistakes[f[0]]; problem != "" {
			return wrong(f[1], problem, f[2])
		}
	}
	return nil
}

// complete adds what the calls themselves do not contain: allowances, needs, funding, time. It serves calls from flags
// and from a file.
func (a *asked) complete(w *compose.World, d *intent.Draft) error {
	chain, err := caip.ParseChain(d.TargetChain)
	if err != nil {
		return usage("", "the calls name no chain")
	}
	for _, s := range a.allow {
		part := strings.Fields(s)
		if len(part) != 2 && len(part) != 3 {
			return usage("", `--allow takes "AMOUNT TOKEN" or "AMOUNT TOKEN SPENDER"`)
		}
		e, base, err := amountOn(w, "--allow", part[0], part[1], chain)
		if err != nil {
			return err
		}
		r := api.AllowanceRequirement{AssetType: e.Asset.String(), Amount: base}
		if len(part) == 3 {
			spender, problem := w.Address(chain, part[2])
			if problem != "" {
				return wrong("--allow", problem, "")
			}
			r.Spender = spender
		}
		d.Allowances = append(d.Allowances, r)
	}
	for i, s := range a.require {
		part := strings.Fields(s)
		if len(part) != 2 {
			return usage("", `--require takes "AMOUNT ASSET"`)
		}
		e, base, err := amountOn(w, "--require", part[0], part[1], chain)
		if err != nil {
			return err
		}
		if i == 0 {
			d.TokensRequired = nil
		}
		d.TokensRequired = append(d.TokensRequired, api.TokenRequirement{AssetType: e.Asset.String(), Amount: base})
	}
	if a.fundWith != "" {
		if d.FundWith, err = assetNamed(w.Catalog, a.fundWith); err != nil {
			return err
		}
	}
	if a.validFor != 0 {
		if a.validFor < 2*time.Minute || a.validFor > 10*time.Minute {
			return usage("", "--valid-for takes 2m to 10m")
		}
		d.ValidUntil = strconv.FormatInt(w.Clock().Add(a.validFor).Unix(), 10)
	}
	if len(d.TokensRequired) == 0 {
		d.TokensRequired = w.Spent(*d)
	}
	return a.common(d)
}

func amountOn(w *compose.World, flag, figure, name string, chain caip.Chain) (catalog.Entity, string, error) {
	e, ok := w.AssetOn(chain, name)
	if !ok {
		return e, "", usage("`coffer assets` lists the assets", "%s: there is no asset %q on this chain", flag,
			clean(name))
	}
	v, problem := compose.Amount(figure, e.Decimals, e.Symbol)
	if problem != "" {
		return e, "", wrong(flag, problem, "")
	}
	return e, v.String(), nil
}
