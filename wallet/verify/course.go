package verify

import (
	"github.com/ethereum/go-ethereum/common"
)

// Trace is what the person's own nodes of a chain are asked about a quote that was sent: the deposit of a payment
// (Escrow, Depositor), the delivery (Filler), or a call that runs without payments (EntryPoint, Op). What is zero is
// not asked. Hashes are the transactions in which it happened, as the service says: only where to look first.
type Trace struct {
	Chain             uint64
	Quote             common.Hash
	Escrow, Depositor common.Address
	Filler            common.Address
	EntryPoint        common.Address
	Op                common.Hash
	Hashes            []common.Hash
}

// Course is what the nodes answered. Block is the one of the deposit's state, and of what was not found; Terms are
// those of the deposit. Trouble says why there is nothing; "" otherwise.
type Course struct {
	Trace
	Block   uint64
	Deposit Outcome
	Terms   common.Hash
	Fills   []FillSeen
	Ran     *RanSeen
	Trouble string
}

// FillSeen is a log of a delivery for the quote: on these terms, in that block.
type FillSeen struct {
	Block uint64
	Terms common.Hash
}

// RanSeen is the entry point's log of an operation.
type RanSeen struct {
	Block   uint64
	Success bool
}

// Outcome is what became of a part of a quote, as own nodes see it.
type Outcome string

// The outcomes. A delivery on other terms than those of the deposit is none.
const (
	Held      Outcome = "held"
	Released  Outcome = "released"
	Refunded  Outcome = "refunded"
	Absent    Outcome = "absent" // no deposit, no delivery, no run
	Filled    Outcome = "filled"
	OtherFill Outcome = "filled on other terms"
	AnyFill   Outcome = "filled on terms that are not known here" // no node of a chain that paid was asked
	Ran       Outcome = "ran"
	Reverted  Outcome = "reverted"
	Unseen    Outcome = "unseen" // it could not be checked
)

// The parts of a quote that own nodes follow.
const (
	PartDeposit  = "deposit"
	PartDelivery = "delivery"
	PartCall     = "call"
)

// Became is what became of a part of a quote, seen by the person's own nodes in Block, or as of Block.
type Became struct {
	Part    string
	Chain   ChainLabel
	Outcome Outcome
	Block   uint64
	Trouble string
}

// Judge says what courses mean. A delivery counts only where its terms are those of every deposit that was seen: the
// service chooses what it delivers, and each log names the quote.
func (p Policy) Judge(courses []Course) (out []Became) {
	var terms []common.Hash
	for _, c := range courses {
		if c.Terms != (common.Hash{}) {
			terms = append(terms, c.Terms)
		}
	}
	for _, c := range courses {
		b := Became{Part: c.part(), Chain: p.chainLabel(c.Chain), Block: c.Block, Trouble: c.Trouble}
		switch {
		case c.Trouble != "":
			b.Outcome = Unseen
		case b.Part == PartDeposit:
			b.Outcome = c.Deposit
		case b.Part == PartDelivery:
			b.Outcome, b.Block = delivered(c, terms)
		case c.Ran == nil:
			b.Outcome = Absent
		case c.Ran.Success:
			b.Outcome, b.Block = Ran, c.Ran.Block
		default:
			b.Outcome, b.Block = Reverted, c.Ran.Block
		}
		out = append(out, b)
	}
	return out
}

func (t Trace) part() string {
	switch {
	case t.Escrow != (common.Address{}):
		return PartDeposit
	case t.Filler != (common.Address{}):
		return PartDelivery
	}
	return PartCall
}

func delivered(c Course, terms []common.Hash) (Outcome, uint64) {
	other := uint64(0)
	for _, f := range c.Fills {
		same := true
		for _, t := range terms {
			same = same && t == f.Terms
		}
		switch {
		case len(terms) == 0:
			return AnyFill, f.Block
		case same:
			return Filled, f.Block
		}
		other = f.Block
	}
	if len(c.Fills) > 0 {
		return OtherFill, other
	}
	return Absent, c.Block
}
