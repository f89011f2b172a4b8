// Package outbox is the one way out of the service: whatever it sends to a chain goes through a [Port].
//
// A step is intended, sent, mined and final. On a chain that belongs to others these are moments of their own. Send
// draws the nonces of the step in its lane, which is a chain and a key, signs, and commits the bytes together with the
// record that says so; only then do they go out. They may be replaced by bytes that pay more, mined, reorganised away
// and mined again: whoever sent them learns of it from Result alone, when it is final. After a crash the record says
// which step was sent, and Result goes on. On the embedded network ([Embedded]) all of this is one commit: the blocks
// and the record of what came of them, or nothing.
//
// Nothing that is sent may depend on being sent only once: a step is made of what its chain takes once, such as an
// operation with a nonce, the delivery of a quote, or the release of a deposit.
package outbox

import (
	"context"
	"errors"
	"fmt"

	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// Change is what is written in the same commit as a step. quotestore.Book.Change is the one of a quote's record; nil
// writes nothing.
type Change func(store.Tx) error

// Step is what goes out on one chain at once, in this order: all of it happens, or none. T are transactions, each with
// the key whose lane it takes; R are their receipts.
type Step[T, R any] struct {
	// ID names the step for Result. One that was given before is that of a step that is over.
	ID   string
	Time uint64 // of the clock, in Unix seconds
	// Deadline is the time of the clock, in Unix seconds, after which a step that is not mined yet is given up; 0
	// leaves it to the port. Where everything is final at once it means nothing.
	Deadline uint64
	Txs      []T
	// Check says whether receipts are what was wanted. It is asked before anything goes out, by what would happen now,
	// and by who sent the step of what came of it; so it must follow from the receipts.
	Check func([]R) error
	// Gate is asked last before anything goes out; nil lets everything out.
	Gate func() error
	// Outcome tells a port that is Handing that the caller will ask for the outcome.
	Outcome bool
	// Waits, if it is not nil, is called when the step has to wait until others are over.
	Waits func() error
	// Sent is committed with a step whose outcome is not known yet, Final with the receipts of one that is final.
	Sent  Change
	Final func([]R) Change
}

// Port sends steps to one chain. It is safe for concurrent use.
type Port[T, R any] interface {
	// Send sends a step and reports whether it is final already. After an error of Check or Gate, which is wrapped, and
	// after one of the chain nothing went out and nothing was committed; after one of the database or of Sent or Final
	// the record tells.
	Send(context.Context, Step[T, R]) (final bool, err error)
	// Result waits for the receipts of a step that was sent, until they are final or the context ends. A step that lost
	// its nonces to something else has receipts without success.
	Result(ctx context.Context, id string) ([]R, error)
}

// Handing is a port that can leave it to its caller to commit that a step is over, together with what became of it.
type Handing[R any] interface {
	// Outcome is Result with the change that says in the port's records that the step is over; nil when they say so
	// already. What the caller does not commit within a few seconds the port does.
	Outcome(ctx context.Context, id string) (receipts []R, over Change, err error)
}

// EVM is a port to an EVM chain.
type EVM = Port[chain.Tx, chain.Receipt]

// EVMStep is a step on an EVM chain.
type EVMStep = Step[chain.Tx, chain.Receipt]

// Solana is the port to Solana.
type Solana = Port[solana.Tx, solana.Receipt]

// SolanaStep is a step on Solana.
type SolanaStep = Step[solana.Tx, solana.Receipt]

// Ports are the ways out to all chains of a network.
type Ports struct {
	EVM    func(chainID uint64) EVM
	Solana Solana
}

// Do sends a step without a record and waits until it is final. When it came to nothing the error wraps
// chain.ErrNotAccepted, as that of an embedded chain does.
func Do[T, R any](ctx context.Context, to Port[T, R], s Step[T, R]) (receipts []R, err error) {
	s.Final = func(rs []R) Change {
		receipts = rs
		return nil
	}
	if final, err := to.Send(ctx, s); final || err != nil {
		return receipts, err
	}
	if receipts, err = to.Result(ctx, s.ID); err != nil {
		return nil, err
	}
	if err := s.Check(receipts); err != nil {
		return nil, fmt.Errorf("%w: %w", chain.ErrNotAccepted, err)
	}
	return receipts, nil
}

// Embedded are the ports of an embedded network, on which everything is final at once.
func Embedded(chains map[uint64]chain.Chain, ledger solana.Chain) Ports {
	return Ports{
		EVM: func(id uint64) EVM {
			return embedded[chain.Tx, chain.Receipt](func(ctx context.Context, s EVMStep) error {
				_, err := chains[id].Seal(ctx, Block(s))
				return err
			})
		},
		Solana: embedded[solana.Tx, solana.Receipt](func(ctx context.Context, s SolanaStep) error {
			_, err := ledger.Seal(ctx, solana.SealRequest{Time: s.Time, Txs: s.Txs, Accept: s.accept, Record: s.final})
			return err
		}),
	}
}

// Block asks an embedded chain for the block of a step.
func Block(s EVMStep) chain.SealRequest {
	return chain.SealRequest{Time: s.Time, Txs: s.Txs, Accept: s.accept,
		Record: func(tx store.Tx, b chain.Block) error { return s.final(tx, b.Receipts) }}
}

// embedded seals a step with its record in one commit.
type embedded[T, R any] func(context.Context, Step[T, R]) error

// Send implements Port.
func (seal embedded[T, R]) Send(ctx context.Context, s Step[T, R]) (bool, error) {
	err := seal(ctx, s)
	return err == nil, err
}

// Result implements Port.
func (embedded[T, R]) Result(context.Context, string) ([]R, error) {
	return nil, errors.New("what is sent on an embedded chain is final at once")
}

func (s Step[T, R]) accept(rs []R) error {
	if err := s.Check(rs); err != nil || s.Gate == nil {
		return err
	}
	return s.Gate()
}

func (s Step[T, R]) final(tx store.Tx, rs []R) error {
	if change := s.Final(rs); change != nil {
		return change(tx)
	}
	return nil
}

// ErrOpen is wrapped by what Send returns for the id of a step that is not over.
var ErrOpen = errors.New("a step of this name is under way")

// Watched is a port that reports a step before it is final: Mined waits until one of its transactions is in a block,
// and returns its hash; when the context ends before, that of the newest attempt, with the context's error.
type Watched interface {
	Mined(ctx context.Context, id string) (chain.Hash, error)
}

// DoSoon is Do for a person who waits: on a chain of others it returns when the step is in a block, which may still be
// taken back and is then sent again. A step of the same id that is under way is waited for. When the time is over
// before, sent is the newest attempt, and the error the context's.
func DoSoon(ctx context.Context, to EVM, s EVMStep, on chain.Chain) (sent chain.Hash, err error) {
	early, able := to.(Watched)
	if !able {
		receipts, err := Do(ctx, to, s)
		if err == nil {
			sent = receipts[len(receipts)-1].TxHash
		}
		return sent, err
	}
	s.Final = func([]chain.Receipt) Change { return nil }
	if _, err := to.Send(ctx, s); err != nil && !errors.Is(err, ErrOpen) {
		return sent, err
	}
	if sent, err = early.Mined(ctx, s.ID); err != nil {
		return sent, err
	}
	r, found, err := on.Receipt(ctx, sent)
	if err != nil || !found { // by another node, that is behind
		return sent, err
	}
	if err := s.Check([]chain.Receipt{r}); err != nil {
		return sent, fmt.Errorf("%w: %w", chain.ErrNotAccepted, err)
	}
	return sent, nil
}
