package flow

import (
	"encoding/json"
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/wallet/journal"
)

// Refund is the call that sends a payment back to the account that made it. Anyone may send it, on the chain of the
// payment and with no value, once After is past. Before that it reverts, and so it does when the payment was released
// or sent back.
type Refund struct {
	QuoteID   string
	Chain     string // CAIP-2
	ChainID   uint64
	Escrow    common.Address
	Depositor common.Address
	Pays      []journal.Spend
	After     time.Time // zero when it is not known
	Data      []byte
	Said      string // how the quote ended, as the service says; "" when it has not
}

// Refunds are the calls for the payments of an operation that may have left this machine, from what was signed and
// nothing else. Payments on Solana and into other contracts have none. Where the quote's own text is gone, as after its
// end, the escrow is the one that quotes used when this one came, and the time that of the latest payment. For a
// payment into another contract, which the policy allowed, that call reverts.
func Refunds(n network.Descriptor, o journal.Operation) []Refund {
	var out []Refund
	for _, s := range o.Signatures {
		if s.QuoteID == "" || s.ChainID == 0 || !s.Sent {
			continue
		}
		r := Refund{QuoteID: s.QuoteID, Chain: s.Chain, ChainID: s.ChainID, Escrow: n.Pins.Escrow,
			Depositor: common.HexToAddress(s.Sender), Pays: s.Spend, Said: o.Outcome}
		for _, d := range n.Deployments { // the oldest comes first
			if d.From <= o.QuotedAt.Unix() {
				r.Escrow = d.Escrow
			}
		}
		if o.RefundFrom > 0 {
			r.After = time.Unix(o.RefundFrom, 0)
		}
		if calls, known := signedCalls(o, s); known {
			last := calls[len(calls)-1]
			after, ok := refundDeadline(last.Data)
			if !ok {
				continue
			}
			r.Escrow, r.After = last.To, time.Unix(int64(after), 0) //nolint:gosec // the review allowed a day
		}
		r.Data = escrow.RefundCalldata(common.HexToHash(s.QuoteID), r.Depositor)
		out = append(out, r)
	}
	return out
}

// signedCalls are the calls of a payment, by the quote that the journal kept; false: it keeps it no more.
func signedCalls(o journal.Operation, s journal.Signature) ([]op.Call, bool) {
	var q struct {
		ID         string               `json:"id"`
		Operations []api.ChainOperation `json:"originChainsOperations"`
	}
	nonce, ok := new(big.Int).SetString(s.Nonce, 10)
	if json.Unmarshal(o.Quote, &q) != nil || !strings.EqualFold(q.ID, s.QuoteID) || !ok {
		return nil, false
	}
	for _, x := range q.Operations {
		if x.UserOp == nil || x.TypedDataToSign == nil || x.TypedDataToSign.Domain.ChainID != s.ChainID {
			continue
		}
		u, err := op.FromWire(*x.UserOp)
		if err != nil || u.Nonce.Cmp(nonce) != 0 {
			continue
		}
		calls, err := op.DecodeExecute(u.CallData)
		return calls, err == nil && len(calls) > 0
	}
	return nil, false
}

// refundDeadline reads it from a deposit of either form.
func refundDeadline(data []byte) (uint64, bool) {
	if d, _, ok := escrow.DecodeDeposit(data); ok {
		return d.RefundDeadline, true
	}
	d, ok := escrow.DecodeEarlierDeposit(data)
	return d.RefundDeadline, ok
}
