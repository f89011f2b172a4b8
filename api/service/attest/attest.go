// Package attest says that a quote was filled, so that the escrow releases what paid for it.
//
// Promise: an attester takes no one's word. It reads the chain that was delivered on by its own means and signs only
// what it found there: on an EVM chain the filler's own log of the quote and of exactly these terms, on Solana a
// transaction that names quote and depositor and brought each recipient at least what the terms demand, in time. Its
// signature is good for one deposit of one escrow of one network. Sources:
// docs/protocol.md#33-a-deposit-on-an-evm-chain, assets/contracts/Escrow.sol.
package attest

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain"
	"coffer/api/service/chain/solana"
	"coffer/api/service/deployment"
	"coffer/api/service/signers"
)

var (
	// ErrNotFilled says that the chain does not show the fill that was claimed.
	ErrNotFilled = errors.New("the chain does not show this fill")
	// ErrNotYet is an ErrNotFilled that may change: the transaction is in no final block.
	ErrNotYet = fmt.Errorf("%w yet", ErrNotFilled)
	// ErrTooFew says that fewer attesters have signed than the escrow demands.
	ErrTooFew = errors.New("too few attesters have signed")
	// ErrWrongSignature says that what an attester gave is no signature of its key for the claim.
	ErrWrongSignature = errors.New("it gave a signature that is not its own for this claim")
)

// Claim is a fill that is said to have happened: the deposit to release for it, and where to look. Fill is the
// transaction on the target chain, a 0x hash or a base58 signature.
type Claim struct {
	Escrow    escrow.Place
	QuoteID   common.Hash
	Depositor common.Address
	Terms     escrow.Terms
	Fill      string
}

func (c Claim) hash(filler common.Address) common.Hash {
	return c.Terms.Hash(filler, c.QuoteID, c.Depositor)
}

// Attestation is what an attester of a filler's deposits signs.
func (c Claim) Attestation(filler common.Address) escrow.Attestation {
	return c.Escrow.Attestation(c.QuoteID, c.Depositor, c.hash(filler))
}

// Memo is the text by which a delivery on Solana counts for one depositor's payments for one quote.
func Memo(quoteID common.Hash, depositor common.Address) string {
	return quoteID.Hex() + " " + depositor.Hex()
}

// Receipts finds final transactions of an EVM chain; a chain.Chain is one where every block is final.
type Receipts interface {
	Receipt(ctx context.Context, tx common.Hash) (chain.Receipt, bool, error)
}

// Ledger finds final transactions of Solana by their first signature in base58.
type Ledger interface {
	Receipt(ctx context.Context, signature string) (solana.Receipt, bool, error)
}

// Attester signs with one key. It is safe for concurrent use when its chains are.
type Attester struct {
	Key    signers.Attester
	Filler common.Address // the same on every chain
	Escrow common.Address // likewise
	Salt   [32]byte       // of the network's escrows
	Chains map[uint64]Receipts
	Solana Ledger // nil where it is not served
}

// final is a chain whose blocks become final late.
type final interface {
	FinalReceipt(ctx context.Context, tx common.Hash) (chain.Receipt, bool, error)
}

// deep shows the final receipts of such a chain alone.
type deep struct{ final }

func (d deep) Receipt(ctx context.Context, tx common.Hash) (chain.Receipt, bool, error) {
	return d.FinalReceipt(ctx, tx)
}

// New makes an attester that reads the chains of a network, and of those that can tell only what is final.
func New(key signers.Attester, n *deployment.Network) *Attester {
	a := &Attester{Key: key, Filler: n.Pins.Paymaster, Escrow: n.Pins.Escrow, Salt: n.EscrowSalt,
		Chains: map[uint64]Receipts{}, Solana: n.Solana}
	for id, c := range n.Chains {
		a.Chains[id] = c
		if late, is := c.(final); is {
			a.Chains[id] = deep{late}
		}
	}
	return a
}

// Address is the attester's, as the escrow knows it.
func (a *Attester) Address() common.Address { return a.Key.Address() }

// Attest signs a claim that the chain bears out. The error wraps ErrNotFilled, or is a fault of the chain or the
// signer.
func (a *Attester) Attest(ctx context.Context, c Claim) ([]byte, error) {
	var err error
	switch {
	case c.Escrow.Salt != a.Salt: // what is delivered in a laboratory pays for nothing on a real network
		err = fmt.Errorf("%w: the escrow is of another network", ErrNotFilled)
	case c.Escrow.Escrow != a.Escrow || a.Chains[c.Escrow.ChainID] == nil:
		err = fmt.Errorf("%w: the network has no escrow %s on %s", ErrNotFilled, c.Escrow.Escrow.Hex(),
			caip.EVM(c.Escrow.ChainID))
	case c.Terms.TargetChain == 0 && a.Solana == nil:
		err = fmt.Errorf("%w: Solana is not served", ErrNotFilled)
	case c.Terms.TargetChain == 0:
		err = a.onSolana(ctx, c)
	default:
		err = a.onEVM(ctx, c)
	}
	if err != nil {
		return nil, fmt.Errorf("attest quote %s: %w", c.QuoteID, err)
	}
	return a.Key.SignAttestation(ctx, c.Attestation(a.Filler))
}

// onEVM finds the filler's log. The filler has compared the terms with what it paid and ran, so nothing else counts.
func (a *Attester) onEVM(ctx context.Context, c Claim) error {
	on, served := a.Chains[c.Terms.TargetChain]
	if !served {
		return fmt.Errorf("%w: %s is not served", ErrNotFilled, caip.EVM(c.Terms.TargetChain))
	}
	r, found, err := on.Receipt(ctx, common.HexToHash(c.Fill))
	if err != nil {
		return err
	}
	if !found {
		return ErrNotYet
	}
	want := c.hash(a.Filler)
	for _, l := range r.Logs {
		id, terms, ok := filler.DecodeFilled(l.Topics, l.Data)
		if ok && r.Success && l.Address == a.Filler && id == c.QuoteID && terms == want {
			return nil
		}
	}
	return ErrNotFilled
}

// onSolana finds a transaction with the quote's memo and counts what it brought.
func (a *Attester) onSolana(ctx context.Context, c Claim) error {
	r, found, err := a.Solana.Receipt(ctx, c.Fill)
	if err != nil {
		return err
	}
	if !found {
		return ErrNotYet
	}
	if !r.Success || r.Time > c.Terms.FillDeadline || len(c.Terms.Operations) > 0 || !c.Terms.Ascending() {
		return ErrNotFilled // as the filler demands it: a minimum that is there twice would be counted twice
	}
	m, err := solmsg.Parse(r.Message)
	if err != nil {
		return err
	}
	if named, ok := memo(m); !ok || named != Memo(c.QuoteID, c.Depositor) {
		return fmt.Errorf("%w: the transaction names another quote or depositor", ErrNotFilled)
	}
	for _, min := range c.Terms.Minimums {
		if arrived(r.Changes, min).Cmp(min.Amount) < 0 {
			return fmt.Errorf("%w: too little arrived", ErrNotFilled)
		}
	}
	return nil
}

// memo is the text of the one memo of a message; false when there is none or another one.
func memo(m solmsg.Message) (text string, ok bool) {
	n := 0
	for _, in := range m.Instructions {
		if in.Program == solmsg.MemoProgram() {
			text, ok = solmsg.DecodeMemo(in.Data)
			n++
		}
	}
	return text, ok && n == 1
}

// arrived is what a transaction brought the recipient of a minimum: lamports to the account itself, tokens to accounts
// that it owns.
func arrived(changes []solana.Change, min escrow.Minimum) *big.Int {
	mint, to := "", caip.FormatSolanaKey(min.To)
	if min.Token != ([32]byte{}) {
		mint = caip.FormatSolanaKey(min.Token)
	}
	sum := new(big.Int)
	for _, ch := range changes {
		if ch.Mint == mint && (mint == "" && ch.Account == to || mint != "" && ch.Owner == to) {
			sum.Add(sum, ch.After).Sub(sum, ch.Before)
		}
	}
	return sum
}

// Port is one attester, in this process or elsewhere.
type Port interface {
	Address() common.Address
	Attest(ctx context.Context, c Claim) ([]byte, error)
}

// Check demands that a signature is that of an attester for a claim about a filler's deposit.
func Check(by, filler common.Address, c Claim, sig []byte) error {
	signer, err := op.Recover(c.Attestation(filler).Digest(), sig)
	if err != nil || signer != by {
		return ErrWrongSignature
	}
	return nil
}

// Collect asks all attesters at once until n have signed, and returns their signatures in ascending order of their
// addresses, as the escrow demands. A signature that is not the attester's for this claim counts as none. Where too few
// sign the error wraps ErrTooFew and says why the others have not.
func Collect(ctx context.Context, filler common.Address, all []Port, n int, c Claim) ([][]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		by  common.Address
		sig []byte
		err error
	}
	answers := make(chan answer, len(all)) // one that is late waits for nobody
	for _, a := range all {
		go func() {
			sig, err := a.Attest(ctx, c)
			if err == nil {
				err = Check(a.Address(), filler, c, sig)
			}
			answers <- answer{a.Address(), sig, err}
		}()
	}
	var signed []answer
	refused := []error{errors.New("no other attester is known")}
	for range all {
		a := <-answers
		if a.err != nil {
			refused = append(refused, fmt.Errorf("attester %s: %w", a.by, a.err))
			continue
		}
		if signed = append(signed, a); len(signed) == n {
			break
		}
	}
	if len(signed) < n {
		if len(refused) > 1 {
			refused = refused[1:]
		}
		return nil, fmt.Errorf("%w: %d of %d: %w", ErrTooFew, len(signed), n, errors.Join(refused...))
	}
	slices.SortFunc(signed, func(a, b answer) int { return a.by.Cmp(b.by) })
	out := make([][]byte, len(signed))
	for i, a := range signed {
		out[i] = a.sig
	}
	return out, nil
}
