package settle

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/quote"
	"coffer/api/service/quote/integrity"
	"coffer/api/service/quote/smartaccount"
	"coffer/api/service/quotestore"
)

// order is a quote that somebody wants to execute, with everything that settles it.
type order struct {
	*quotestore.Quote
	now      time.Time
	body     body
	context  quotestore.Context   // of the prepared operation, zero for a quote without
	account  smartaccount.Account // the EVM account, zero when none takes part
	prepared operation            // zero for a quote without
	deposits []operation          // in the order of Legs
	seen     quotestore.Seen      // of the quotes of the accounts when the checks began
}

// body is what execute reads of a document whose integrity was checked: everything else is as the quote's record says.
type body struct {
	ID                        string               `json:"id"`
	OriginChainsOperations    []api.ChainOperation `json:"originChainsOperations"`
	ExpirationTimestamp       string               `json:"expirationTimestamp"`
	DestinationChainOperation *api.ChainOperation  `json:"destinationChainOperation"`
}

// operation is one signed operation: a user operation, with the authorization that it needs as long as the EOA has no
// code, or a Solana transaction.
type operation struct {
	op   op.UserOp
	auth *op.SignedAuthorization
	tx   *solana.Tx
}

// read checks the integrity of the document, finds its quote, and checks that it may be executed now by the caller of
// the context.
func (s *Settler) read(ctx context.Context, doc *api.Document, v1 bool) (*order, error) {
	o := &order{now: s.Clock()}
	rules := api.Rules{Catalog: s.Network.Catalog, Now: o.now}
	check := rules.Execute
	if v1 {
		check = rules.ExecuteV1
	}
	if err := api.NewValidationError(check(doc)); err != nil {
		return nil, err
	}
	digest, err := integrity.Quote(doc)
	if err := integrity.Verify(doc, digest, err, s.Network.Pins.TamperProof); err != nil {
		return nil, err
	}
	if err := integrity.Decode(doc, &o.body); err != nil {
		return nil, api.NewDecodeError(err)
	}
	if err := s.find(ctx, o, digest); err != nil {
		return nil, err
	}
	if (o.Version == 1) != v1 {
		return nil, integrity.Refusal()
	}
	if uint64(o.now.Unix()) < o.ValidAfter {
		return nil, api.Invalid("validAfter", "a time that has come", strconv.FormatUint(o.ValidAfter, 10))
	}
	return o, nil
}

// find reads the stored quote and its context. What was signed by us and has expired may have been swept away: that is
// an expired quote too. A quote that is not the reader's to see is an unknown one.
func (s *Settler) find(ctx context.Context, o *order, digest common.Hash) error {
	var err error
	o.Quote, o.context, err = s.Book.Prepared(ctx, o.body.ID)
	if err == nil && !s.Book.Sees(s.Book.Reader(ctx), o.Project) {
		err = quotestore.ErrUnknownQuote
	}
	expires, errTime := strconv.ParseInt(o.body.ExpirationTimestamp, 10, 64)
	expired := errTime != nil || o.now.After(time.Unix(expires, 0))
	switch {
	case errors.Is(err, quotestore.ErrUnknownQuote) && expired:
		return expiredAt(o.body.ExpirationTimestamp)
	case errors.Is(err, quotestore.ErrUnknownQuote):
		return api.NewError(api.ErrNotFound, "No quote has the id %s", o.body.ID)
	case err != nil:
		return err
	case o.Canonical != digest:
		return integrity.Refusal()
	case o.Status != "":
		return executedBefore(o.ID)
	case expired:
		return expiredAt(o.body.ExpirationTimestamp)
	case o.context.OpHash != o.OpHash || o.context.UsedBy != "":
		return quote.PrepareAgain(
			"the prepared operation of this quote was executed with another quote or its time is over")
	case len(o.body.OriginChainsOperations) != max(1, len(o.Legs)):
		return fmt.Errorf("quote %s has %d legs and was answered with %d operations", o.ID, len(o.Legs),
			len(o.body.OriginChainsOperations))
	}
	return nil
}

func expiredAt(when any) error {
	return api.NewError(api.ErrQuoteExpired, "The quote expired at %v", when)
}

func executedBefore(id string) error {
	return api.NewError(api.ErrAlreadyExecuted, "Quote %s was already executed", id)
}

// sign takes the signatures out of the body into the record and checks every one of them.
func (s *Settler) sign(ctx context.Context, o *order) error {
	given := o.body.OriginChainsOperations
	if o.Whole() && o.HasPrepared() {
		o.context.Signature = given[0].UserOp.Signature
		o.context.Delegation = signedBy(o.context.Delegation, given[0].Delegation)
	}
	for i := range o.Legs {
		l := &o.Legs[i]
		if l.ChainID == 0 {
			l.Signature = given[i].Signature
			continue
		}
		l.Signature, l.Delegation = given[i].UserOp.Signature, signedBy(l.Delegation, given[i].Delegation)
	}
	if err := s.assemble(ctx, o); err != nil {
		return err
	}
	return s.signedAgain(o)
}

// signedBy is a delegation with the signature that came with it.
func signedBy(asked, given *api.Delegation) *api.Delegation {
	if asked == nil || given == nil {
		return asked
	}
	return &api.Delegation{ContractAddress: asked.ContractAddress, Nonce: asked.Nonce, Signature: given.Signature}
}

// signedAgain checks the prepared operation of a funded v1 quote: it was signed for call-quote, and a client may fill
// that signature, or another valid one, in once more.
func (s *Settler) signedAgain(o *order) error {
	const where = "destinationChainOperation"
	d := o.body.DestinationChainOperation
	if d == nil || d.UserOp == nil || !o.HasPrepared() {
		return nil
	}
	if sig := d.UserOp.Signature; sig != "" && sig != "0x" {
		again, err := signedOp(o.context.Op, sig)
		if err != nil {
			return invalidSignature(where, err.Error())
		}
		if !o.account.Signed(again, o.ChainID) {
			return invalidSignature(where, "it is not the account signer's over this operation")
		}
	}
	if d.Delegation != nil && d.Delegation.Signature != nil {
		if _, err := o.account.Authorized(signedBy(o.context.Delegation, d.Delegation), o.ChainID); err != nil {
			return err
		}
	}
	return nil
}

// assemble makes the signed operations of an order from its record, and checks every signature.
func (s *Settler) assemble(ctx context.Context, o *order) (err error) {
	if o.account, _, err = smartaccount.EVM(s.Network.Pins, o.Accounts); err != nil {
		return err
	}
	if o.HasPrepared() {
		where := "the prepared operation"
		if o.prepared, err = o.evm(where, o.ChainID, o.context.Op, o.context.Signature,
			o.context.Delegation); err != nil {
			return err
		}
	}
	o.deposits = nil
	for i, l := range o.Legs {
		where := fmt.Sprintf("originChainsOperations[%d]", i)
		var d operation
		if l.ChainID == 0 {
			d, err = s.solana(ctx, o, where, l)
		} else {
			d, err = o.evm(where, l.ChainID, l.Op, l.Signature, l.Delegation)
		}
		if err != nil {
			return err
		}
		o.deposits = append(o.deposits, d)
	}
	return nil
}

// evm is a user operation with its signature and authorization.
func (o *order) evm(where string, chainID uint64, w api.UserOp, signature string, d *api.Delegation) (operation,
	error) {
	signed, err := signedOp(w, signature)
	if err != nil {
		return operation{}, invalidSignature(where, err.Error())
	}
	if !o.account.Signed(signed, chainID) {
		return operation{}, invalidSignature(where, "it is not the account signer's over this operation")
	}
	out := operation{op: signed}
	if d != nil {
		auth, err := o.account.Authorized(d, chainID)
		if err != nil {
			return operation{}, err
		}
		out.auth = &auth
	}
	return out, nil
}

// solana is a deposit's transaction with the sponsor's and the user's signature.
func (s *Settler) solana(ctx context.Context, o *order, where string, l quotestore.Leg) (operation, error) {
	m, err := solmsg.ParseBase64(l.Message)
	if err != nil {
		return operation{}, fmt.Errorf("the message of quote %s: %w", o.ID, err)
	}
	owner, err := solmsg.ParseKey(o.SolanaOwner)
	if err != nil {
		return operation{}, fmt.Errorf("the Solana account of quote %s: %w", o.ID, err)
	}
	sig, err := solmsg.ParseSignature(l.Signature)
	if err != nil {
		return operation{}, invalidSignature(where, err.Error())
	}
	if !m.Verify(owner, sig) {
		return operation{}, invalidSignature(where, "it is not the Solana account's over dataToSign")
	}
	tx, err := s.sponsored(ctx, m, owner)
	if err != nil {
		return operation{}, err
	}
	if err := tx.SetSignature(owner, sig); err != nil {
		return operation{}, fmt.Errorf("the message of quote %s: %w", o.ID, err)
	}
	return operation{tx: &tx}, nil
}

func invalidSignature(what, why string) error {
	return api.NewError(api.ErrInvalidSignature, "Invalid signature of %s: %s", what, strings.TrimSuffix(why, "."))
}

func signedOp(w api.UserOp, signature string) (op.UserOp, error) {
	w.Signature = signature
	return op.FromWire(w)
}

// restore reads an order back from its record, for the saga.
func (s *Settler) restore(ctx context.Context, q *quotestore.Quote) (*order, error) {
	_, prepared, err := s.Book.Prepared(ctx, q.ID)
	if err == nil && prepared.OpHash != q.OpHash {
		err = fmt.Errorf("the prepared operation of quote %s is not in the book", q.ID)
	}
	if err != nil {
		return nil, err
	}
	o := &order{Quote: q, now: s.Clock(), context: prepared}
	return o, s.assemble(ctx, o)
}
