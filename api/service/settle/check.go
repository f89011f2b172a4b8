package settle

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/chain"
	"coffer/api/service/quote/entrypoint"
	"coffer/api/service/quotestore"
)

// Reasons of a refund, as clients know them.
const (
	reasonReverted  = "EXECUTION_REVERTED"
	reasonSlippage  = "SLIPPAGE"
	reasonExpired   = "ORDER_EXPIRED"
	reasonCapacity  = "SOLVER_CAPACITY_EXCEEDED"
	reasonNonce     = "ACCOUNT_ABSTRACTION_INVALID_NONCE"
	reasonSignature = "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR"
	reasonMismatch  = "DEPOSIT_ADDRESS_MISMATCH"
	reasonUnpriced  = "NO_QUOTES"
	reasonTransfer  = "TRANSFER_FAILED"
	// reasonTransaction is for a deposit whose transaction fails as a whole.
	reasonTransaction = "TRANSACTION_REVERTED"
)

// refusal says that the world refused a step, so that the saga turns back.
type refusal struct {
	reason, text string
}

func (r refusal) Error() string { return r.reason + ": " + r.text }

// checkReceipt decides whether a handleOps transaction did everything that was wanted: it succeeded, ops operations
// succeeded, and each of the deposits lies in escrow.
func (s *Settler) checkReceipt(o *order, r chain.Receipt, ops int, deposits []quotestore.Leg) error {
	if !r.Success {
		f := s.Codec.Explain(r.Revert)
		return refusal{reasonOf(f), f.Text}
	}
	outcomes, err := s.Codec.Outcomes(r.Logs)
	if err != nil {
		return err
	}
	if len(outcomes) != ops {
		return refusal{reasonReverted, "an operation is missing from the block"}
	}
	for _, out := range outcomes {
		if !out.Success {
			return refusal{reasonReverted, s.Codec.Explain(out.Revert).Text}
		}
	}
	landed, err := s.Codec.Deposits(r.Logs)
	if err != nil {
		return err
	}
	for _, l := range deposits {
		if !s.contains(landed, o, l) {
			return refusal{reasonMismatch, "the deposit did not reach the escrow"}
		}
	}
	return nil
}

// contains looks for the deposit that a leg is to make. An account that runs code of its own could make another one and
// take it back after the delivery: under other terms nobody could attest its fill, and with another refund deadline it
// could be sent back before it is released. The escrow itself only demands a deadline after that of the fill.
func (s *Settler) contains(landed []entrypoint.Deposit, o *order, l quotestore.Leg) bool {
	token, _ := l.Pays.CAIP().Token() // zero for the native coin, as the escrow says it
	id := common.HexToHash(o.ID)
	t := o.Terms()
	terms, deadline := t.Hash(s.Network.Pins.Paymaster, id, o.Owner), s.Network.RefundDeadline(t)
	return slices.ContainsFunc(landed, func(d entrypoint.Deposit) bool {
		return d.QuoteID == id && d.Depositor == o.Owner && d.Token == token && d.Amount.Cmp(l.Pays.Value) == 0 &&
			d.Terms == terms && d.RefundDeadline == deadline
	})
}

func reasonOf(f entrypoint.Failure) string {
	switch f.Code {
	case "AA10", "AA20", "AA25":
		return reasonNonce
	case "AA22", "AA32", entrypoint.TooLate:
		return reasonExpired
	case "AA24", "AA34":
		return reasonSignature
	case entrypoint.Paused:
		return reasonCapacity
	}
	return reasonReverted
}
