package verify

import (
	"bytes"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/escrow"
)

// maxFillDelay is how long after the expiry of its quote a delivery may still happen, in seconds.
const maxFillDelay = 600

// promised reads what the escrow binds the release of the payments to, and demands what does not depend on the kind of
// operation: the same terms in every deposit, a delivery on the target chain, and not much later than the quote
// (TH-Q15). Payments on Solana carry no terms; without any other it returns nil.
func (j *judge) promised(legs []leg, target caip.Chain, expires int64) *escrow.Terms {
	i := slices.IndexFunc(legs, func(l leg) bool { return l.terms != nil })
	if i < 0 {
		return nil
	}
	t, path := legs[i].terms, legs[i].role.path+"/userOp/callData"
	for _, l := range legs[i:] {
		j.must(l.terms == nil || bytes.Equal(l.terms.Encode(), t.Encode()), "Q15",
			"all payments are bound to the same terms", l.role.path+"/userOp/callData",
			"the terms of the first payment", "other terms")
	}
	id, _ := target.EVMID() // 0 is Solana, there and here
	j.must(t.TargetChain == id, "Q15", "the payments are released for a delivery on the chain that you chose", path,
		target.String(), chainName(t.TargetChain))
	latest := uint64(max(expires, 0)) + maxFillDelay
	j.must(t.FillDeadline <= latest, "Q15", "the delivery happens soon or not at all", path,
		"not later than "+unixText(latest), unixText(t.FillDeadline))
	j.must(t.Ascending(), "Q15", "each delivery is promised once", path, "minimums in ascending order", "another order")
	return t
}

// promise shows what the payments are released for. assets are those of the minimums, by their words.
func (j *judge) promise(legs []leg, t *escrow.Terms, assets ...caip.Asset) *PromiseView {
	v := &PromiseView{FillBy: time.Unix(int64(t.FillDeadline), 0)} //nolint:gosec // soon, or refused
	for _, m := range t.Minimums {
		i := slices.IndexFunc(assets, func(a caip.Asset) bool { return a.Word() == m.Token })
		if i < 0 {
			return nil // refused
		}
		v.Minimums = append(v.Minimums, j.amountView(assets[i], m.Amount))
	}
	at := legs[slices.IndexFunc(legs, func(l leg) bool { return l.terms == t })].escrow
	for _, d := range j.Network.Deployments {
		if d.Escrow == at {
			v.Attesters, v.Threshold = len(d.Attesters), d.Threshold
		}
	}
	return v
}

func chainName(id uint64) string {
	if id == 0 {
		return caip.SolanaMainnet().String()
	}
	return caip.EVM(id).String()
}

// promisedToCall demands that the payments for a call are released only if the very operation that was signed runs, and
// only for required tokens, no more than is required of each, that arrive at the own account. It returns what is
// promised of each.
func (j *judge) promisedToCall(acc account, t *escrow.Terms, operation string) map[caip.Asset]*big.Int {
	const path = "/originChainsOperations"
	d := j.in.Draft()
	runs := len(t.Operations) == 1 && common.Hash(t.Operations[0]).Hex() == operation
	j.must(runs, "Q15", "the payments are released only if the operation that you signed runs", path, operation,
		plural(len(t.Operations), "operation"))
	out := map[caip.Asset]*big.Int{}
	for _, m := range t.Minimums {
		j.must(m.To == escrow.Padded(acc.address), "Q15", "what is promised arrives at your own account", path,
			acc.address.Hex(), hex0x(m.To[:]))
		at := slices.IndexFunc(d.TokensRequired, func(r api.TokenRequirement) bool {
			a, err := caip.ParseAsset(r.AssetType)
			return err == nil && a.Word() == m.Token
		})
		if !j.must(at >= 0, "Q15", "only tokens that you require are promised", path, "a required token",
			hex0x(m.Token[:])) {
			continue
		}
		r := d.TokensRequired[at]
		v, err := parseAmount(r.Amount)
		j.must(err == nil && m.Amount.Cmp(v) <= 0, "Q15", "no more of a token is promised than you require", path,
			"at most "+r.Amount, m.Amount.String())
		a, _ := caip.ParseAsset(r.AssetType)
		out[a] = m.Amount
	}
	return out
}

// promisedToRecipient demands that the payments of a swap or a transfer are released only if the recipient gets the
// minimum.
func (j *judge) promisedToRecipient(t *escrow.Terms, asset caip.Asset, to caip.Account, least *big.Int) {
	const path = "/originChainsOperations"
	if !j.must(len(t.Operations) == 0 && len(t.Minimums) == 1, "Q15", "one delivery is promised and nothing else", path,
		"one minimum", plural(len(t.Minimums), "minimum")+" and "+plural(len(t.Operations), "operation")) {
		return
	}
	m, token, recipient := t.Minimums[0], asset.Word(), to.Word()
	j.must(m.Token == token, "Q15", "the payments are released for the asset that you asked for", path,
		hex0x(token[:]), hex0x(m.Token[:]))
	j.must(m.To == recipient, "Q15", "the payments are released for a delivery to the recipient", path,
		hex0x(recipient[:]), hex0x(m.To[:]))
	j.must(m.Amount.Cmp(least) >= 0, "Q15", "the payments are released for no less than the minimum", path,
		"at least "+least.String(), m.Amount.String())
}
