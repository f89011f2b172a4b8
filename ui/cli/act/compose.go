package act

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/intent"
)

// maxFunction bounds a signature that an intent keeps for display, in bytes.
const maxFunction = 512

// asked is the request on the command line: the flags of call, transfer, swap and plan.
type asked struct {
	flags                              *pflag.FlagSet
	chain, to, function, data, value   string
	args, allow, require               []string
	fundWith, slippage, service        string
	validFor                           time.Duration
	asset, amount, receive, on, minima string
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
		`what may be taken while the calls run, such as "250 USDC" (by the contract) or "250 USDC 0x…"`)
	f.StringArrayVar(&a.require, "require", nil,
		`what the calls need, such as "250 USDC" (default: what they spend as far as it can be seen)`)
	f.StringVar(&a.fundWith, "fund-with", "", "asset that pays: usdc, usdc@base, ob:usdc or a CAIP-19 id")
	f.DurationVar(&a.validFor, "valid-for", 0, "how long the request is good, from 2m to 10m (default: 10m)")
	a.commonFlags(f, "that of the file, else ")
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
	} else {
		f.StringVar(&a.receive, "for", "", "asset that is received, on its chain: eth@base or a CAIP-19 id")
		f.StringVar(&a.to, "to", "", "address that gets it (default: the own account)")
		f.StringVar(&a.minima, "min", "", "the least that is taken, in whole units (default: what the slippage allows)")
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
		v, err := amount.Parse(strings.TrimSpace(strings.TrimSuffix(a.slippage, "%")), 2)
		if err != nil || !v.IsInt64() || v.Int64() < 1 || v.Int64() > api.MaxSlippageBps {
			return usage("", "--slippage takes a percentage from 0.01 to 100 with at most two decimals")
		}
		d.SlippageBps = int(v.Int64())
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
func (a *asked) callDraft(cat *catalog.Catalog, now time.Time) (intent.Draft, error) {
	d := intent.Draft{Version: intent.Version, SlippageBps: intent.DefaultSlippageBps}
	if a.chain == "" || a.to == "" {
		return d, usage("or give a file with an intent or a Safe batch", "a call needs --chain and --to")
	}
	chain, err := chainNamed(cat, a.chain)
	if err != nil {
		return d, err
	}
	if _, evm := chain.EVMID(); !evm {
		return d, usage("", "calls run on EVM chains")
	}
	d.TargetChain = chain.String()
	c := intent.Call{}
	if c.To, err = addressOn(cat, "--to", chain, a.to, true); err != nil {
		return d, err
	}
	if err := a.input(cat, chain, &c); err != nil {
		return d, err
	}
	if c.Value, err = a.wei(cat, chain); err != nil {
		return d, err
	}
	d.Calls = []intent.Call{c}
	return d, a.complete(cat, &d, now)
}

// wei reads --value; "" is none.
func (a *asked) wei(cat *catalog.Catalog, chain caip.Chain) (string, error) {
	if a.value == "" {
		return "", nil
	}
	id, _ := chain.EVMID()
	coin, known := cat.NativeOf(id)
	v, err := amount.ParseBase(a.value)
	if figure, symbol, ok := strings.Cut(a.value, " "); ok && known && strings.EqualFold(symbol, coin.Symbol) {
		v, err = amount.Parse(figure, coin.Decimals)
	}
	switch {
	case err != nil:
		return "", usage("", `--value takes wei, or an amount of the chain's coin such as "0.1 %s"`,
			orElse(coin.Symbol, "ETH"))
	case v.Sign() == 0:
		return "", nil
	}
	return v.String(), nil
}

// complete adds what the calls themselves do not contain: allowances, needs, funding, time. It serves calls from flags
// and from a file.
func (a *asked) complete(cat *catalog.Catalog, d *intent.Draft, now time.Time) error {
	chain, err := caip.ParseChain(d.TargetChain)
	if err != nil {
		return usage("", "the calls name no chain")
	}
	for _, s := range a.allow {
		part := strings.Fields(s)
		if len(part) != 2 && len(part) != 3 {
			return usage("", `--allow takes "AMOUNT TOKEN" or "AMOUNT TOKEN SPENDER"`)
		}
		e, base, err := amountOn(cat, "--allow", part[0], part[1], chain)
		if err != nil {
			return err
		}
		r := api.AllowanceRequirement{AssetType: e.Asset.String(), Amount: base}
		if len(part) == 3 {
			if r.Spender, err = addressOn(cat, "--allow", chain, part[2], false); err != nil {
				return err
			}
		}
		d.Allowances = append(d.Allowances, r)
	}
	for i, s := range a.require {
		part := strings.Fields(s)
		if len(part) != 2 {
			return usage("", `--require takes "AMOUNT ASSET"`)
		}
		e, base, err := amountOn(cat, "--require", part[0], part[1], chain)
		if err != nil {
			return err
		}
		if i == 0 {
			d.TokensRequired = nil
		}
		d.TokensRequired = append(d.TokensRequired, api.TokenRequirement{AssetType: e.Asset.String(), Amount: base})
	}
	if a.fundWith != "" {
		if d.FundWith, err = assetNamed(cat, a.fundWith); err != nil {
			return err
		}
	}
	if a.validFor != 0 {
		if a.validFor < 2*time.Minute || a.validFor > 10*time.Minute {
			return usage("", "--valid-for takes 2m to 10m")
		}
		d.ValidUntil = strconv.FormatInt(now.Add(a.validFor).Unix(), 10)
	}
	if len(d.TokensRequired) == 0 {
		d.TokensRequired = spent(cat, chain, *d)
	}
	return a.common(d)
}

func amountOn(cat *catalog.Catalog, flag, figure, name string, chain caip.Chain) (catalog.Entity, string, error) {
	e, ok := entityNamed(cat, name, chain)
	if !ok {
		return e, "", usage("`coffer assets` lists the assets", "%s: there is no asset %q on this chain", flag,
			clean(name))
	}
	v, err := amount.Parse(figure, e.Decimals)
	if err != nil {
		return e, "", usage("", "%s: %s", flag, clean(err.Error()))
	}
	return e, v.String(), nil
}

// spent is the visible spending of calls: transfers of known tokens, native value and allowances, each asset once.
func spent(cat *catalog.Catalog, chain caip.Chain, d intent.Draft) []api.TokenRequirement {
	var out []api.TokenRequirement
	add := func(asset, base string) {
		v, err := amount.ParseBase(base)
		if err != nil || v.Sign() == 0 {
			return
		}
		i := slices.IndexFunc(out, func(r api.TokenRequirement) bool { return r.AssetType == asset })
		if i < 0 {
			out = append(out, api.TokenRequirement{AssetType: asset, Amount: v.String()})
			return
		}
		sum, _ := new(big.Int).SetString(out[i].Amount, 10)
		out[i].Amount = sum.Add(sum, v).String()
	}
	id, _ := chain.EVMID()
	for _, c := range d.Calls {
		if e, ok := tokenAt(cat, chain, c.To); ok {
			if b := common.FromHex(c.Data); len(b) == 68 && strings.HasPrefix(strings.ToLower(c.Data), "0xa9059cbb") {
				add(e.Asset.String(), new(big.Int).SetBytes(b[36:]).String())
			}
		}
		add(caip.Native(id).String(), c.Value)
	}
	for _, r := range d.Allowances {
		if asset, err := caip.ParseAsset(r.AssetType); err == nil {
			add(asset.String(), r.Amount)
		}
	}
	return out
}
