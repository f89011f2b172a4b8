package roles

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/ui/cli"
	"coffer/wallet/admin"
)

// plan is what to do on one chain. operation means that the nonce is the one of the account's operations, else it is
// the admin's.
type plan struct {
	standing
	action    string
	words     string
	skip      string
	operation bool
	sign      func(s *admin.Signer, ctx context.Context, chain uint64, nonce *big.Int) (admin.Signed, error)
}

func (p plan) nonce() (*big.Int, error) {
	s := p.AdminNonce
	if p.operation {
		s = p.OperationNonce
	}
	n, err := amount.ParseBase(s)
	if err != nil {
		return nil, fmt.Errorf("nonce on %s: %w", caip.EVM(p.chain), err)
	}
	return n, nil
}

// rotatePlan plans the replacement of the session key on one chain.
func (h *holder) rotatePlan(r standing, fresh common.Address) plan {
	p := plan{standing: r, action: api.AdminRotateSession, words: "replace the session key by " + fresh.Hex()}
	if h.session(r.RolesResponse) == fresh {
		p.skip = "this is the session key already"
	}
	p.sign = func(s *admin.Signer, ctx context.Context, id uint64, nonce *big.Int) (admin.Signed, error) {
		return s.RotateSession(ctx, id, nonce, fresh)
	}
	return p
}

// exitPlan plans one chain of an exit. A cancellation without an exit revokes a message, which only makes sense where
// one chain was named.
func (h *holder) exitPlan(ctx context.Context, r standing, o cli.ExitOptions) (plan, error) {
	p := plan{standing: r}
	switch o.Action {
	case cli.ExitAnnounce:
		p.action, p.words = api.AdminAnnounceExit,
			"announce an exit; from now on the co-signer signs nothing for the account there"
		if r.ExitAvailableAt != 0 {
			p.skip = "an exit is announced already"
		}
		p.sign = (*admin.Signer).AnnounceExit
	case cli.ExitCancel:
		p.action, p.words = api.AdminCancelExit,
			"cancel the exit; the session key and the co-signer operate the account again"
		if r.ExitAvailableAt == 0 && len(h.roles) > 1 {
			p.skip = "no exit is announced"
		}
		p.sign = (*admin.Signer).CancelExit
	case cli.ExitSweep:
		return h.sweepPlan(ctx, r, o.To)
	default:
		return plan{}, fmt.Errorf("there is no exit action %q", o.Action)
	}
	return p, nil
}

// sweepPlan plans the transfer of every balance that the service reports. A balance that it does not report stays
// where it is; one that it invents makes the operation fail as a whole.
func (h *holder) sweepPlan(ctx context.Context, r standing, to common.Address) (plan, error) {
	p := plan{standing: r, action: api.AdminOperate, operation: true}
	if r.ExitAvailableAt == 0 {
		p.skip = "no exit is announced"
		return p, nil
	}
	calls, words, err := h.holdings(ctx, r.chain, to)
	if err != nil {
		return plan{}, err
	}
	if len(calls) == 0 {
		p.skip = "the account holds nothing"
		return p, nil
	}
	p.words = "send to " + to.Hex() + ": " + strings.Join(words, ", ")
	p.sign = func(s *admin.Signer, ctx context.Context, id uint64, nonce *big.Int) (admin.Signed, error) {
		return s.Operate(ctx, id, nonce, calls)
	}
	return p, nil
}
