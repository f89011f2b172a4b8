package act

import (
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/intent"
)

// exchangeDraft is the transfer or the swap that the flags describe.
func (a *asked) exchangeDraft(cat *catalog.Catalog, kind string) (intent.Draft, error) {
	d := intent.Draft{Version: intent.Version, Kind: kind, SlippageBps: intent.DefaultSlippageBps}
	if a.asset == "" || a.amount == "" {
		return d, usage("", "a %s needs --asset and --amount", kind)
	}
	pays, err := assetNamed(cat, a.asset)
	if err != nil {
		return d, err
	}
	base, err := baseUnits(cat, "--amount", a.amount, pays)
	if err != nil {
		return d, err
	}
	d.Pay = &intent.Pay{Asset: pays, Amount: base}
	if kind == intent.KindTransfer {
		d.Receive, err = a.receiver(cat, pays)
	} else {
		d.Receive, err = a.got(cat)
	}
	if err != nil {
		return d, err
	}
	return d, a.common(&d)
}

// sideFlags add the flags of a transfer or a swap to a command that takes those of a call.
func (a *asked) sideFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.asset, "asset", "", "a transfer or a swap: asset that is paid")
	f.StringVar(&a.amount, "amount", "", "a transfer or a swap: how much of it, in whole units")
	f.StringVar(&a.receive, "for", "", "a swap: asset that is received, on its chain")
	f.StringVar(&a.minima, "min", "", "a swap: the least that is taken, in whole units")
}

// anyDraft is the call, or with --asset the transfer or the swap that the flags describe.
func (a *asked) anyDraft(cat *catalog.Catalog, now time.Time) (intent.Draft, error) {
	if a.asset == "" {
		if other := a.changed("amount", "for", "min"); len(other) > 0 {
			return intent.Draft{}, usage("", "--%s needs --asset: what is paid", other[0])
		}
		return a.callDraft(cat, now)
	}
	if call := a.changed("function", "arg", "data", "value", "allow", "require", "fund-with",
		"valid-for"); len(call) > 0 {
		return intent.Draft{}, usage("", "--%s belongs to a call, --asset to a transfer or a swap", call[0])
	}
	kind := intent.KindTransfer
	if a.receive != "" {
		kind = intent.KindSwap
	}
	a.on = a.chain
	return a.exchangeDraft(cat, kind)
}

// receiver is the receiving side of a transfer.
func (a *asked) receiver(cat *catalog.Catalog, pays string) (*intent.Receive, error) {
	if a.to == "" || a.on == "" {
		return nil, usage("", "a transfer needs --to and --chain: who gets it, and where")
	}
	chain, err := chainNamed(cat, a.on)
	if err != nil {
		return nil, err
	}
	to, err := addressOn(cat, "--to", chain, a.to, false)
	if err != nil {
		return nil, err
	}
	id := caip.AggregateID(pays)
	if asset, err := caip.ParseAsset(pays); err == nil {
		e, _ := cat.Entity(asset)
		id = e.Aggregate
	}
	e, ok := entityNamed(cat, id.String(), chain)
	if !ok {
		return nil, usage("", "that asset does not exist on that chain")
	}
	return &intent.Receive{Asset: e.Asset.String(), Account: chain.String() + ":" + to}, nil
}

// got is the receiving side of a swap.
func (a *asked) got(cat *catalog.Catalog) (*intent.Receive, error) {
	if a.receive == "" {
		return nil, usage("", "a swap needs --for: what is received, such as eth@base")
	}
	id, err := assetNamed(cat, a.receive)
	if err != nil {
		return nil, err
	}
	r := &intent.Receive{Asset: id}
	asset, one := caip.ParseAsset(id)
	if one != nil && (a.to != "" || a.minima != "") {
		return nil, usage("for instance --for eth@base", "--to and --min need to know the chain of what is received")
	}
	if a.to != "" {
		to, err := addressOn(cat, "--to", asset.Chain, a.to, false)
		if err != nil {
			return nil, err
		}
		r.Account = asset.Chain.String() + ":" + to
	}
	if a.minima != "" {
		r.Minimum, err = baseUnits(cat, "--min", a.minima, id)
	}
	return r, err
}

// maxFile bounds an input file, in bytes.
const maxFile = 4 << 20

// readAll reads a bounded input.
func readAll(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = errors.New("it is larger than 4 MiB")
	}
	return b, err
}
