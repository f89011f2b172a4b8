package act

import (
	"github.com/spf13/cobra"

	"coffer/ui/compose"
	"coffer/wallet/intent"
)

// exchangeDraft is the transfer or the swap that the flags describe.
func (a *asked) exchangeDraft(w *compose.World, kind string) (intent.Draft, error) {
	if a.asset == "" || a.amount == "" {
		return intent.Draft{}, usage("", "a %s needs --asset and --amount", kind)
	}
	x := compose.NewExchange(kind)
	x.Amount, x.To, x.Minimum, x.Exactly = a.amount, a.to, a.minima, a.exactly
	var err error
	if x.Pay, err = assetNamed(w.Catalog, a.asset); err != nil {
		return intent.Draft{}, err
	}
	arrives, hint := "--for", "for instance --for eth@base"
	if kind == intent.KindTransfer {
		arrives, hint = "--chain", ""
		err = a.arrive(w, x)
	} else if a.receive == "" {
		return intent.Draft{}, usage("", "a swap needs --for: what is received, such as eth@base")
	} else {
		x.Receive, err = assetNamed(w.Catalog, a.receive)
	}
	if err == nil {
		err = a.mistake(w, x, [][3]string{{compose.IDPay, "--asset"}, {compose.IDAmount, "--amount"},
			{compose.IDReceive, arrives, hint}, {compose.IDTarget, "--to"}, {compose.IDMin, "--min", hint},
			{compose.IDExact, "--exactly"}})
	}
	if err != nil {
		return intent.Draft{}, err
	}
	d := x.Draft(w)
	d.Network, d.Accounts = "", nil // a plan is of the profile that writes it
	d.ValidUntil = ""               // of a call: the service's own window begins when it is asked
	return d, a.common(&d)
}

// arrive reads where a transfer arrives.
func (a *asked) arrive(w *compose.World, x *compose.Exchange) error {
	if a.to == "" || a.on == "" {
		return usage("", "a transfer needs --to and --chain: who gets it, and where")
	}
	chain, err := chainNamed(w.Catalog, a.on)
	if err != nil {
		return err
	}
	return wrong("--chain", x.ArriveOn(w, chain), "")
}

// sideFlags add the flags of a transfer or a swap to a command that takes those of a call.
func (a *asked) sideFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.asset, "asset", "", "a transfer or a swap: asset that is paid")
	f.StringVar(&a.amount, "amount", "", "a transfer or a swap: how much of it, in whole units")
	f.StringVar(&a.receive, "for", "", "a swap: asset that is received, on its chain")
	f.StringVar(&a.minima, "min", "", "a swap: minimum received, in whole units")
	f.BoolVar(&a.exactly, "exactly", false, "a transfer: exactly the amount arrives, what it costs comes on top")
}

// anyDraft is the call, or with --asset the transfer or the swap that the flags describe.
func (a *asked) anyDraft(w *compose.World) (intent.Draft, error) {
	if a.asset == "" {
		if other := a.changed("amount", "for", "min", "exactly"); len(other) > 0 {
			return intent.Draft{}, usage("", "--%s needs --asset: what is paid", other[0])
		}
		return a.callDraft(w)
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
	return a.exchangeDraft(w, kind)
}
