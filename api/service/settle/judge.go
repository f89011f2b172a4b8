package settle

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/book"
	"coffer/api/service/chain"
	"coffer/api/service/quote/entry"
)

// Reasons of a refund, as clients know them (interface-facts §2.4).
const (
	reasonReverted  = "EXECUTION_REVERTED"
	reasonSlippage  = "SLIPPAGE"
	reasonExpired   = "ORDER_EXPIRED"
	reasonCapacity  = "SOLVER_CAPACITY_EXCEEDED"
	reasonNonce     = "ACCOUNT_ABSTRACTION_INVALID_NONCE"
	reasonSignature = "ACCOUNT_ABSTRACTION_SIGNATURE_ERROR"
	reasonMismatch  = "DEPOSIT_ADDRESS_MISMATCH"
	reasonUnpriced  = "NO_QUOTES"
)

// refusal says that the world refused a step, so that the saga turns back.
type refusal struct {
	reason, text string
}

func (r refusal) Error() string { return r.reason + ": " + r.text }

// judge decides whether a handleOps transaction did everything that was wanted: it succeeded, ops operations succeeded, and each of the deposits
// lies in escrow.
func (s *Settler) judge(o *order, r chain.Receipt, ops int, deposits []book.Leg) error {
	if !r.Success {
		f := s.codec.Explain(r.Revert)
		return refusal{reasonOf(f), f.Text}
	}
	outcomes, err := s.codec.Outcomes(r.Logs)
	if err != nil {
		return err
	}
	if len(outcomes) != ops {
		return refusal{reasonReverted, "an operation is missing from the block"}
	}
	for _, out := range outcomes {
		if !out.Success {
			return refusal{reasonReverted, s.codec.Explain(out.Revert).Text}
		}
	}
	landed, err := s.codec.Deposits(r.Logs)
	if err != nil {
		return err
	}
	for _, l := range deposits {
		if !contains(landed, o, l) {
			return refusal{reasonMismatch, "the deposit did not reach the escrow"}
		}
	}
	return nil
}

func contains(landed []entry.Deposit, o *order, l book.Leg) bool {
	token, _ := l.Pays.CAIP().Token() // zero for the native coin, as the escrow says it
	for _, d := range landed {
		if d.QuoteID == common.HexToHash(o.ID) && d.Depositor == o.Owner && d.Token == token && d.Amount.Cmp(l.Pays.Value) == 0 {
			return true
		}
	}
	return false
}

func reasonOf(f entry.Failure) string {
	switch f.Code {
	case "AA10", "AA20", "AA25":
		return reasonNonce
	case "AA22", "AA32":
		return reasonExpired
	case "AA24", "AA34":
		return reasonSignature
	}
	return reasonReverted
}

// beforeFill is the solver's last look: it waits for a slow fill, and refuses when the order has expired, its inventory is not to be touched, or
// the price has moved against it by more than the tolerance.
func (s *Settler) beforeFill(ctx context.Context, o *order) error {
	if wait := s.Faults.BeforeFill; wait != nil {
		if err := wait(ctx, o.ID); err != nil {
			return err
		}
	}
	if uint64(s.Clock().Unix()) > o.ValidUntil {
		return refusal{reasonExpired, "the operation's time was over before the fill"}
	}
	if len(o.Fills) == 0 {
		return nil
	}
	if fault := s.Faults.NoCapacity; fault != nil && fault(o.ID) {
		return refusal{reasonCapacity, "a fault was asked for"}
	}
	for _, f := range o.Fills {
		if err := s.priceHolds(o, f); err != nil {
			return err
		}
	}
	return nil
}

// priceHolds compares how many units of the paid asset one delivered unit costs now with what it cost in the quote (protocol §3.7). Within one
// aggregate that is one to one.
func (s *Settler) priceHolds(o *order, f book.Fill) error {
	pay, get := big.NewInt(1), big.NewInt(1)
	wasPay, wasGet := pay, get
	if f.Swapped {
		e, known := s.Installation.Catalog.Entity(f.Delivers.CAIP())
		now := s.Clock()
		var okPay, okGet bool
		pay, okPay = s.Prices.Price(o.From, now)
		get, okGet = s.Prices.Price(e.Aggregate, now)
		if !known || !okPay || !okGet {
			return refusal{reasonUnpriced, "a price is unknown"}
		}
		wasPay, wasGet = f.PricePay, f.PriceGet
	}
	jump := int64(0)
	if fault := s.Faults.PriceJump; fault != nil {
		jump = fault(o.ID)
	}
	// get/pay × (1 + jump) > wasGet/wasPay × (1 + tolerance)
	now := product(get, wasPay, big.NewInt(10_000+jump))
	most := product(wasGet, pay, big.NewInt(10_000+int64(o.SlippageBps)))
	if now.Cmp(most) > 0 {
		return refusal{reasonSlippage, "the price moved beyond the tolerance"}
	}
	return nil
}

func product(vs ...*big.Int) *big.Int {
	p := big.NewInt(1)
	for _, v := range vs {
		p.Mul(p, v)
	}
	return p
}
