package rpcpool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// SendFault is why a node did not take a transaction, by what the sender does next.
type SendFault string

// The reasons. Anything that is not listed is Unclear: as after a timeout, the transaction may have been taken.
const (
	Known             SendFault = "known"               // it has the transaction: a success
	NonceTooLow       SendFault = "nonce too low"       // this or another transaction used the nonce: look for the hash
	NonceTooHigh      SendFault = "nonce too high"      // an earlier one is missing: send that again
	ReplacementTooLow SendFault = "replacement too low" // another one with this nonce waits: sign no different one
	FeeTooLow         SendFault = "fee too low"         // raise the fee under the same nonce
	NoFunds           SendFault = "insufficient funds"  // stop
	GasLimit          SendFault = "gas limit"           // stop
	PoolFull          SendFault = "pool full"           // send again later
	Unclear           SendFault = "unclear"
)

// SendFault reads the texts of the clients; each of them has its own.
func (e *Error) SendFault() SendFault {
	m := strings.ToLower(e.Message)
	for _, k := range []struct {
		fault SendFault
		texts string
	}{
		{Known, "already known|known transaction|already imported|alreadyknown|existing tx with same hash"},
		{ReplacementTooLow, "replacement"},
		{NonceTooLow, "nonce too low|oldnonce|nonce is too low"},
		{NonceTooHigh, "nonce too high|noncegap|nonce gap|nonce too far|too distant from current sender nonce"},
		{NoFunds, "insufficient funds|upfront cost|insufficientfunds"},
		{GasLimit, "exceeds block gas limit|intrinsic gas|gas limit too high|exceeds transaction gas limit"},
		{PoolFull, "pool is full|pool full|queue full|feetoolowtocompete"},
		{FeeTooLow, "underpriced|fee too low|feetoolow|less than block base fee|below configured minimum|" +
			"below minimum|below current base fee"},
	} {
		if containsAny(m, strings.Split(k.texts, "|")...) {
			return k.fault
		}
	}
	return Unclear
}

// weight orders refusals by what decides: a used nonce says more than a low fee.
func (f SendFault) weight() int {
	order := []SendFault{Unclear, PoolFull, NonceTooHigh, FeeTooLow, GasLimit, NoFunds, ReplacementTooLow, NonceTooLow}
	return slices.Index(order, f) + 1
}

// Broadcast hands signed bytes to every endpoint that does not rest and returns their hash in any case. When all rest
// it waits for the first one. It returns at the first endpoint that takes the bytes or has them; the others get them
// meanwhile. One that fails gets them once more after its pause, if that is soon. Repeating it with the same bytes
// changes nothing. A nonce that is too low is a success when an endpoint has the transaction.
//
// The error is the *Error that decides (see SendFault) when all that answered refuse; one that did not answer may still
// have taken the bytes. After an *UnavailableError with Sent it is unknown whether they arrived.
func (p *Pool) Broadcast(ctx context.Context, raw []byte) (common.Hash, error) {
	const method = "eth_sendRawTransaction"
	hash := crypto.Keccak256Hash(raw)
	call := newRequest(p.id.Add(1), method, []any{hexutil.Bytes(raw)})
	rank, err := p.hand(ctx, call, func(e *endpoint, r reply) error { return p.taken(e, r, hash) })
	if rank == NonceTooLow.weight() && p.has(ctx, hash) {
		return hash, nil
	}
	return hash, err
}

// hand gives a call to every endpoint that does not rest, and returns at the first that takes it. The error is the
// refusal of the highest rank when all that answered refuse.
func (p *Pool) hand(ctx context.Context, call request, taken func(*endpoint, reply) error) (rank int, err error) {
	to := p.receivers(ctx)
	results := make(chan outcome, len(to))
	for _, e := range to {
		if !p.behind(func(inner context.Context) {
			answers, f := p.sendTwice(inner, e, call)
			results <- outcome{e: e, answers: answers, fault: f}
		}) {
			return 0, ErrClosed
		}
	}
	ctx, cancel := p.bounded(ctx, 2*p.o.Timeout)
	defer cancel()
	faults := map[*endpoint]*fault{}
	for range to {
		select {
		case <-ctx.Done():
			u := p.unavailable(call.Method, faults)
			u.Sent, u.cause = true, p.ended(ctx)
			return 0, u
		case o := <-results:
			if o.fault != nil {
				faults[o.e] = o.fault
				continue
			}
			refused := taken(o.e, o.answers[call.ID])
			if refused == nil {
				return 0, nil
			}
			if node, answered := errors.AsType[*Error](refused); !answered {
				faults[o.e] = &fault{words: refused.Error(), sent: true}
			} else if w := node.SendFault().weight(); w > rank {
				rank, err = w, refused
			}
		}
	}
	if err == nil {
		err = p.unavailable(call.Method, faults)
	}
	return rank, err
}

// sendTwice is send, and after a fault send once more when the endpoint's pause is over, if that is soon.
func (p *Pool) sendTwice(ctx context.Context, e *endpoint, call request) (map[uint64]reply, *fault) {
	const soon = 2 * time.Second
	answers, f := p.send(ctx, e, []request{call}, true)
	if f == nil || f.soft {
		return answers, f
	}
	for last := time.Now().Add(soon); ; {
		now := p.o.Clock()
		_, at := e.phase(now)
		if time.Now().Add(at.Sub(now)).After(last) {
			return nil, f
		}
		select {
		case <-time.After(at.Sub(now)):
		case <-ctx.Done():
			return nil, f
		}
		switch again, second := p.send(ctx, e, []request{call}, true); {
		case second == nil:
			return again, nil
		case !second.rests: // otherwise another request tries it at this moment
			second.sent = second.sent || f.sent
			return nil, second
		}
	}
}

// receivers are the endpoints that do not rest. It waits a while for the first.
func (p *Pool) receivers(ctx context.Context) (up []*endpoint) {
	r := p.round("", false)
	for {
		for _, e := range p.all {
			if state, _ := e.phase(p.o.Clock()); state != open {
				up = append(up, e)
			}
		}
		_, wait := r.next()
		if len(up) > 0 || wait == 0 {
			return up
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		case <-p.ctx.Done():
			return nil
		}
	}
}

// taken is nil when the endpoint took the transaction or had it.
func (p *Pool) taken(e *endpoint, r reply, hash common.Hash) error {
	if r.err != nil {
		if r.err.SendFault() == Known {
			return nil
		}
		return fmt.Errorf("eth_sendRawTransaction at %s: %w", e.host, r.err)
	}
	var got common.Hash
	if err := store(r.result, &got); err != nil || got != hash {
		return errors.New("its answer has not the transaction's hash")
	}
	return nil
}

// has reports whether an endpoint has a transaction.
func (p *Pool) has(ctx context.Context, hash common.Hash) bool {
	var tx *struct {
		Hash common.Hash `json:"hash"`
	}
	err := p.Call(ctx, &tx, "eth_getTransactionByHash", hash)
	return err == nil && tx != nil && tx.Hash == hash
}
