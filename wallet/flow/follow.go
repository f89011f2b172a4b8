package flow

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Follow asks own nodes what became of an operation that was sent, as its record and the service's status name it; nil
// without a view. It proves nothing to the journal: signatures stay open as long as they did.
func Follow(ctx context.Context, v View, p verify.Policy, rec journal.Operation,
	status api.ExecutionStatus) []verify.Became {
	if v == nil {
		return nil
	}
	d, err := intent.ParseDraft(rec.Intent)
	if err != nil {
		return nil
	}
	return p.Judge(v.Follow(ctx, traces(p, d, rec, status)))
}

// traces are the payments of the last quote and its delivery, or the call that ran without payments.
func traces(p verify.Policy, d intent.Draft, rec journal.Operation, status api.ExecutionStatus) (out []verify.Trace) {
	quote := common.HexToHash(rec.QuoteID)
	var call *journal.Signature
	paid := false
	for i, s := range rec.Signatures {
		switch {
		case s.Role == verify.RolePrepared:
			call = &rec.Signatures[i]
		case !strings.EqualFold(s.QuoteID, rec.QuoteID) || s.Past:
		default:
			if paid = true; s.ChainID != 0 && p.Network.Pins.Escrow != (common.Address{}) {
				out = append(out, verify.Trace{Chain: s.ChainID, Quote: quote, Escrow: p.Network.Pins.Escrow,
					Depositor: common.HexToAddress(s.Sender)})
			}
		}
	}
	target, known := targetOf(d, call, status)
	if !known {
		return out
	}
	t := verify.Trace{Chain: target, Quote: quote, Hashes: hashesOn(target, status)}
	switch n := len(p.Network.Deployments); {
	case paid && n > 0:
		t.Filler = p.Network.Deployments[n-1].Filler
	case !paid && call != nil:
		t.EntryPoint, t.Op = p.Network.Pins.EntryPoint, common.HexToHash(call.OpHash)
	default:
		return out
	}
	return append(out, t)
}

// targetOf is the chain on which a call runs or something arrives. Where the intent leaves it open the service's word
// says where to look; what is found there is judged by its terms.
func targetOf(d intent.Draft, call *journal.Signature, status api.ExecutionStatus) (uint64, bool) {
	if call != nil {
		return call.ChainID, call.ChainID != 0
	}
	var on caip.Chain
	if d.Receive != nil {
		if a, err := caip.ParseAsset(d.Receive.Asset); err == nil {
			on = a.Chain
		} else if a, err := caip.ParseAccount(d.Receive.Account); err == nil {
			on = a.Chain
		}
	}
	if on == (caip.Chain{}) && len(status.DestinationChainOperations) > 0 {
		on, _ = caip.ParseChain(status.DestinationChainOperations[0].Chain)
	}
	return on.EVMID()
}

// hashesOn are the transactions on a chain that a status names.
func hashesOn(chain uint64, status api.ExecutionStatus) (out []common.Hash) {
	refs := slices.Concat(status.DestinationChainOperations, status.OriginChainOperations)
	for _, r := range refs {
		h := common.HexToHash(r.Hash)
		if c, err := caip.ParseChain(r.Chain); err == nil && c == caip.EVM(chain) && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	return out
}

// witness is Follow for an operation under way, when its status says something new. What has ended and is not seen is
// looked for again for a moment: a node may be a block behind.
func (o *Operation) witness(ctx context.Context, status api.ExecutionStatus) []verify.Became {
	before := o.Snapshot()
	if o.f.d.View == nil || status.QuoteID == "" {
		return nil
	}
	if before.Status.Status == status.Status && len(before.Became) > 0 {
		return before.Became
	}
	rec, found := o.f.d.Journal.Operation(o.ID())
	if !found {
		return nil
	}
	for tries := 3; ; tries-- {
		became := Follow(ctx, o.f.d.View, o.f.d.Policy, rec, status)
		late := status.Status == api.StatusCompleted && slices.ContainsFunc(became, func(b verify.Became) bool {
			return b.Outcome == verify.Absent
		})
		if !late || tries == 0 || o.f.d.Sleep(ctx, time.Second) != nil {
			return became
		}
	}
}

// lookEvery is how often own nodes are asked while the service does not answer.
const lookEvery = 15 * time.Second

// witnessAlone is witness while the service does not answer: own nodes are asked about the operation as it was last
// known, now and then.
func (o *Operation) witnessAlone(ctx context.Context) {
	now := o.f.d.Clock()
	if o.f.d.View == nil || ctx.Err() != nil || !o.looked.IsZero() && now.Sub(o.looked) < lookEvery {
		return
	}
	rec, found := o.f.d.Journal.Operation(o.ID())
	if !found {
		return
	}
	o.looked = now
	if became := Follow(ctx, o.f.d.View, o.f.d.Policy, rec, o.Snapshot().Status); len(became) > 0 {
		o.update(func(s *Snapshot) { s.Became = became })
	}
}
