// Package gastank is what the service in this program and those who ask it say to each other about withdrawals from
// the gas tank of own nodes.
//
// Units: wei.
package gastank

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/amount"
)

// State is how far a withdrawal came.
type State string

// The states. A withdrawal that is Sent or Mined goes on by itself; the others are its end.
const (
	Sent      State = "sent"      // its bytes are out, or about to be
	Mined     State = "mined"     // it is in a block that may still be taken back
	Done      State = "done"      // it is in a final block
	Refused   State = "refused"   // it is in a final block, and the recipient did not take the coins
	Cancelled State = "cancelled" // it was not mined in time, and its nonce was used for nothing
	Lost      State = "lost"      // its nonce was used for bytes that are not known here
)

// Over reports whether nothing will change any more.
func (s State) Over() bool { return s != Sent && s != Mined }

// Withdrawal is coins of the gas tank on their way to an address. All means that everything was asked for. Fee is what
// its gas costs at most as it is sent now, and Most what it may come to when it has to be sent again for more; both are
// nil of one that was sent. Tx is the attempt in a block, or the newest. Told means that its outcome was shown.
type Withdrawal struct {
	ID            string
	ChainID       uint64
	Chain, Symbol string
	From, To      common.Address
	All           bool
	Amount        *big.Int
	Fee, Most     *big.Int
	Has           *big.Int // what the tank has before it; nil of one that was sent
	State         State    // "" before it is sent
	Tx            common.Hash
	Block         uint64
	Told          bool
}

// Same reports whether two withdrawals are the same request.
func (w Withdrawal) Same(o Withdrawal) bool {
	return w.ChainID == o.ChainID && w.To == o.To && w.All == o.All && (w.All || w.Amount.Cmp(o.Amount) == 0)
}

// RefusedError says why nothing is withdrawn now.
type RefusedError struct{ Problem, Hint string }

func (e *RefusedError) Error() string { return e.Problem }

// Refuse makes a RefusedError.
func Refuse(hint, format string, args ...any) error {
	return &RefusedError{Problem: fmt.Sprintf(format, args...), Hint: hint}
}

// Withdrawals take coins out of a gas tank. On each chain there is one at a time.
type Withdrawals interface {
	// Plan says what a withdrawal would be. A nil amount is all less the fee.
	Plan(ctx context.Context, chainID uint64, to common.Address, amount *big.Int) (Withdrawal, error)
	// Send writes the signed withdrawal down, and only then lets it out. It refuses while something of the tank's is
	// under way on the chain, and while the outcome of the last withdrawal there was not told.
	Send(ctx context.Context, w Withdrawal) (Withdrawal, error)
	// Last is the newest withdrawal on a chain, as far as it came; false where there was none.
	Last(chainID uint64) (Withdrawal, bool, error)
	// Since are the withdrawals that were sent within the last day and not before a moment, whatever became of them.
	Since(at time.Time) ([]Withdrawal, error)
	// Wait waits until a withdrawal that was sent is in a block, or over.
	Wait(ctx context.Context, w Withdrawal) (Withdrawal, error)
	// Told notes that the outcome of a withdrawal was shown.
	Told(w Withdrawal) error
}

// Report is what is known of a gas tank. Paid says for how many operations of each account it paid in the last 24
// hours; it pays for Most of one.
type Report struct {
	Address string  `json:"address"`
	Chains  []Chain `json:"chains"`
	Paid    []Paid  `json:"paid"`
	Most    int     `json:"most"`
}

// Chain is what a tank has on a chain, in wei as a decimal, and for about how many operations that is; nil is unknown,
// and Problem says why. Stopped is why it sends nothing until its owner decides, Held why it waits for an explanation,
// and UnderWay is what it sent that is not final.
type Chain struct {
	ID         uint64   `json:"id"`
	Name       string   `json:"name"`
	Symbol     string   `json:"symbol"`
	Has        *string  `json:"has"`
	Operations *uint64  `json:"operations"`
	Problem    string   `json:"problem,omitzero"`
	Stopped    string   `json:"stopped,omitzero"`
	Held       string   `json:"held,omitzero"`
	UnderWay   []string `json:"underWay"`
}

// Wei is what a tank has on a chain, nil where that is not known.
func (c Chain) Wei() *big.Int {
	if c.Has == nil {
		return nil
	}
	v, err := amount.ParseBase(*c.Has)
	if err != nil {
		return nil
	}
	return v
}

// Paid is for how many operations of an account a tank paid in the last 24 hours.
type Paid struct {
	Account    string `json:"account"`
	Operations int    `json:"operations"`
}
