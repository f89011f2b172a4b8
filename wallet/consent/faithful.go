package consent

import (
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Faithful reports whether an operation is exactly the intent: every call once, in order and byte for byte, nothing
// added but declared approvals, and no refusal. It compares again and does not rely on the verdict of the report.
func Faithful(d intent.Draft, v *verify.PreparedView, r verify.Report) bool {
	next := 1
	for _, l := range v.Lines {
		switch {
		case !l.AsAsked:
			return false
		case l.Role == verify.RoleCall:
			if l.Asked != next || next > len(d.Calls) || !SameCall(d.Calls[next-1], l) {
				return false
			}
			next++
		case !slices.ContainsFunc(d.Allowances, func(a api.AllowanceRequirement) bool { return Allows(a, d, l) }):
			return false
		}
	}
	return next == len(d.Calls)+1 && !r.Refused()
}

// Allows reports whether an approval of the operation belongs to a declared allowance: same token, same spender.
func Allows(a api.AllowanceRequirement, d intent.Draft, l verify.CallView) bool {
	asset, err := caip.ParseAsset(a.AssetType)
	token, ok := asset.Token()
	spender, found := api.SpenderOf(a, WireCalls(d))
	if err != nil || !ok || !found || !strings.EqualFold(token.Hex(), l.To) {
		return false
	}
	return slices.ContainsFunc(l.Args, func(x verify.ArgView) bool {
		return x.Type == "address" && strings.EqualFold(x.Value, spender)
	})
}

// WireCalls are the targets of the calls of an intent, as api.SpenderOf takes them.
func WireCalls(d intent.Draft) []api.Call {
	out := make([]api.Call, len(d.Calls))
	for i, c := range d.Calls {
		out[i] = api.Call{To: c.To}
	}
	return out
}

// SameCall compares a call of the intent with one of the operation: target, value and every byte of its data.
func SameCall(c intent.Call, l verify.CallView) bool {
	v, ok := api.ParseWei(c.Value)
	if !ok || !strings.EqualFold(c.To, l.To) || !strings.EqualFold(bytesOf(c.Data), bytesOf(l.Data)) {
		return false
	}
	if l.Value == nil {
		return v.Sign() == 0
	}
	return v.Cmp(l.Value) == 0
}

func bytesOf(data string) string { return strings.TrimPrefix(strings.ToLower(data), "0x") }

// PaysOnly reports whether a call pays one recipient an amount of a known token or of the chain's own coin, and does
// nothing else.
func PaysOnly(l verify.CallView) bool {
	if !l.Decoded || l.Recipient == "" || l.Amount == nil || l.Amount.Amount == nil {
		return false
	}
	coins := l.Value != nil && l.Value.Sign() > 0
	return coins && bytesOf(l.Data) == "" || !coins && strings.HasPrefix(l.Function, "transfer(")
}

// Credits reports whether a service could let its solver make the calls of a quote: several chains pay for them.
func Credits(v *verify.QuoteView) bool {
	seen := map[string]bool{}
	for _, l := range v.Legs {
		seen[l.Chain.CAIP] = true
	}
	return len(seen) > 1 && v.CallType != ""
}

// SolverCalls reports whether it matters that the solver could make the calls in the account's place: they do more than
// pay a recipient, or are not known.
func (r Review) SolverCalls() bool {
	return r.Quote != nil && Credits(r.Quote) && (r.Call == nil ||
		slices.ContainsFunc(r.Call.Lines, func(l verify.CallView) bool { return !PaysOnly(l) }))
}
