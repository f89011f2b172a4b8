package verify

import (
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/wallet/intent"
)

// repeats reports whether an operation does what an earlier one was to do, so that both running would do it twice: it
// pays, or lets take, somebody whom the earlier one did; it makes a call that the earlier one made; or it is a swap or
// a transfer of the same kind that brings the same asset to the same account. Only the two intents decide, which the
// user made; of an intent that cannot be read it is taken that it is repeated.
func (p Policy) repeats(d intent.Draft, earlier []byte) bool {
	e, err := intent.ParseDraft(earlier)
	if err != nil {
		return true
	}
	own := append(p.ownAccounts(d), p.ownAccounts(e)...)
	was := payees(e)
	for _, who := range payees(d) {
		if !listed(own, who) && listed(was, who) {
			return true
		}
	}
	if d.Receive != nil && e.Receive != nil {
		return d.Kind == e.Kind && p.purpose(d.Receive.Asset) == p.purpose(e.Receive.Asset) && sameReceiver(d, e, own)
	}
	return d.TargetChain == e.TargetChain && slices.ContainsFunc(d.Calls, func(c intent.Call) bool {
		return slices.ContainsFunc(e.Calls, func(x intent.Call) bool {
			return strings.EqualFold(c.To, x.To) && strings.EqualFold(c.Data, x.Data) && wei(c.Value) == wei(x.Value)
		})
	})
}

// payees are the addresses that get something by an intent, or the right to take it. Of a call that is no transfer or
// approval it is the contract.
func payees(d intent.Draft) []string {
	var out []string
	if d.Receive != nil && d.Receive.Account != "" {
		out = append(out, addressOf(d.Receive.Account))
	}
	for _, c := range d.Calls {
		k, ok := decodeKnown(common.FromHex(c.Data))
		if ok && k.moves != nil {
			out = append(out, k.recipient.Hex())
		}
		if !ok || k.moves == nil || wei(c.Value) != "0" {
			out = append(out, c.To)
		}
	}
	return out
}

// sameReceiver reports whether two exchanges deliver to one account; those to the own accounts do, also when they name
// none.
func sameReceiver(d, e intent.Draft, own []string) bool {
	a, b := addressOf(d.Receive.Account), addressOf(e.Receive.Account)
	mineA, mineB := a == "" || listed(own, a), b == "" || listed(own, b)
	return mineA && mineB || mineA == mineB && listed([]string{a}, b)
}

// addressOf is the address of a CAIP-10 account, "" when there is none.
func addressOf(account string) string { return account[strings.LastIndexByte(account, ':')+1:] }

// purpose is what an asset is wanted for: its aggregate, on whatever chain; what the catalogue does not know stands for
// itself.
func (p Policy) purpose(asset string) string {
	if a, err := caip.ParseAsset(asset); err == nil {
		if e, ok := p.Catalog.Entity(a); ok {
			return e.Aggregate.String()
		}
	}
	return strings.ToLower(asset)
}

func wei(v string) string {
	if v == "" {
		return "0"
	}
	return v
}
