package compose

import (
	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/intent"
)

// Revocation is the order that sets what a contract may take of a token to 0. An order needs a call: this one reads
// the allowance and changes nothing. problem says why there is none.
func (w *World) Revocation(asset, spender string) (d intent.Draft, problem string) {
	a, err := caip.ParseAsset(asset)
	token, ok := a.Token()
	_, known := w.Catalog.Chain(a.Chain)
	if err != nil || !ok || !known {
		return d, "only a token on a known chain has allowances"
	}
	c := &Call{To: token.Hex(), Signature: "allowance(address owner, address spender)"}
	c.ReadSignature(false)
	for _, x := range w.Accounts {
		if x.IsEVM() {
			c.Args[0].Text = x.AccountAddress
		}
	}
	c.Args[1].Text = spender
	form := w.NewCalls(a.Chain)
	form.Calls = []*Call{c}
	if len(w.Mistakes(form, true)) > 0 {
		return d, "the profile has no EVM account"
	}
	d = form.Draft(w)
	d.Allowances = []api.AllowanceRequirement{{AssetType: asset, Amount: "0", Spender: spender}}
	return d, ""
}
