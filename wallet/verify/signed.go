package verify

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
)

// NoHistory is a History that knows nothing, for judging a saved answer away from the journal.
type NoHistory struct{}

// LiveNonces returns none.
func (NoHistory) LiveNonces(common.Address, uint64, uint16, time.Time) []*big.Int { return nil }

// Open returns none.
func (NoHistory) Open(time.Time) []Open { return nil }

// Sent returns none.
func (NoHistory) Sent() []Open { return nil }

// NextSequence knows nothing.
func (NoHistory) NextSequence(common.Address, uint64, uint16) (uint64, bool) { return 0, false }

// SeenQuote has seen nothing.
func (NoHistory) SeenQuote(string) bool { return false }

// Recipients returns none.
func (NoHistory) Recipients() []string { return nil }

// Spent returns nothing.
func (NoHistory) Spent(time.Time) []Spend { return nil }

// NextAuthorization knows nothing.
func (NoHistory) NextAuthorization(common.Address, uint64) (uint64, bool) { return 0, false }

// SignedPrepared is a prepared operation together with the signature of its account's key. It is a live authorization
// until its nonce is used or its window ends (protocol §1.3).
type SignedPrepared struct {
	prepared   *PreparedOp
	signatures Signatures
}

// WithSignatures joins the signatures to the operation after verifying them.
func (p *PreparedOp) WithSignatures(s Signatures) (*SignedPrepared, error) {
	if err := p.signing.check(s); err != nil {
		return nil, err
	}
	return &SignedPrepared{prepared: p, signatures: s.copy()}, nil
}

// Prepared is the operation that was signed.
func (s *SignedPrepared) Prepared() *PreparedOp { return s.prepared }

// Signatures returns a copy of what was signed.
func (s *SignedPrepared) Signatures() Signatures { return s.signatures.copy() }

// CallQuoteBody is the body of call-quote: the account or accounts, chainOperation and tamperProofSignature exactly as
// they were received, with the signatures spliced in, and our own funding asset and slippage (TH-L6, X1).
func (s *SignedPrepared) CallQuoteBody() ([]byte, error) {
	if s.prepared == nil {
		return nil, errCount
	}
	edits, err := s.prepared.signing.edits("/chainOperation", s.signatures)
	if err != nil {
		return nil, fmt.Errorf("call-quote body: %w", err)
	}
	signed, err := s.prepared.doc.Splice(edits...)
	if err != nil {
		return nil, fmt.Errorf("call-quote body: %w", err)
	}
	accounts := "accounts"
	if s.prepared.v1 {
		accounts = "account"
	}
	out := []byte{'{'}
	for _, name := range []string{accounts, "chainOperation", "tamperProofSignature"} {
		raw, ok := signed.At("/" + name)
		if !ok {
			return nil, fmt.Errorf("call-quote body: the prepared answer has no %s", name)
		}
		out = append(append(append(append(out, '"'), name...), `":`...), raw...)
		out = append(out, ',')
	}
	if f := s.prepared.funding; f != "" {
		name := "fromAssetId"
		if strings.HasPrefix(f, "ob:") {
			name = "fromAggregatedAssetId"
		}
		quoted, err := jsontext.AppendQuote(nil, f)
		if err != nil {
			return nil, fmt.Errorf("call-quote body: %w", err)
		}
		out = append(append(append(append(out, '"'), name...), `":`...), quoted...)
		out = append(out, ',')
	}
	out = append(append(out, `"slippageTolerance":`...), strconv.Itoa(s.prepared.slippage)...)
	return append(out, '}'), nil
}

// VerifiedQuote is a quote that passed.
type VerifiedQuote struct {
	doc        *api.Document
	view       QuoteView
	operations []Signing
	prepared   *SignedPrepared // nil for a swap or a transfer
	expires    int64
	stood      []string // what could run beside it when it was judged
}

// Operations returns what is to be signed; nothing when the prepared operation is the only one.
func (q *VerifiedQuote) Operations() []Signing { return slices.Clone(q.operations) }

// signs are the operations with the prepared one behind them, which is signed.
func (q *VerifiedQuote) signs() []Signing {
	if q.prepared == nil {
		return q.Operations()
	}
	return append(q.Operations(), q.prepared.prepared.signing)
}

// View is what review 2 shows.
func (q *VerifiedQuote) View() QuoteView { return q.view }

// Confirmation is what a confirmation of review 2 must carry: the fingerprint and, where a gate stands open, a newline
// and the sentence that was typed.
func (q *VerifiedQuote) Confirmation() string { return confirmation(q.view.Fingerprint, q.view.Phrase) }

// Document is the quote as received.
func (q *VerifiedQuote) Document() *api.Document { return q.doc }

// ID is the quote id, 0x and 64 hex digits.
func (q *VerifiedQuote) ID() string { return q.view.ID }

// Expires is the expiry in Unix seconds of the service's clock.
func (q *VerifiedQuote) Expires() int64 { return q.expires }

// SameChainOnly reports whether the prepared operation is the only one.
func (q *VerifiedQuote) SameChainOnly() bool { return q.view.SameChainOnly }

// ExecuteBody is the body of execute-quote: the received bytes with the signatures spliced in and nothing else. Each
// must be the account's for the operation at its place. For a same-chain quote there must be none: those of the
// prepared operation are used.
func (q *VerifiedQuote) ExecuteBody(signatures []Signatures) (*api.Document, error) {
	if q.doc == nil || len(signatures) != len(q.operations) {
		return nil, errCount
	}
	operations := q.operations
	if q.view.SameChainOnly {
		operations, signatures = []Signing{q.prepared.prepared.signing}, []Signatures{q.prepared.signatures}
	}
	var edits []api.Edit
	for i, s := range signatures {
		if err := operations[i].check(s); err != nil {
			return nil, err
		}
		e, err := operations[i].edits(operationPath(i), s)
		if err != nil {
			return nil, fmt.Errorf("execute body: %w", err)
		}
		edits = append(edits, e...)
	}
	body, err := q.doc.Splice(edits...)
	if err != nil {
		return nil, fmt.Errorf("execute body: %w", err)
	}
	return body, q.CheckBody(body)
}

// ErrBody says that a body differs from the reviewed quote in more than its signatures (TH-X1).
var ErrBody = errors.New("the body to send is not the reviewed quote with signatures")

// CheckBody puts the signatures of a body into the reviewed bytes, and demands that the result is that body: nothing
// else may differ.
func (q *VerifiedQuote) CheckBody(body *api.Document) error {
	if q.doc == nil || body == nil {
		return ErrBody
	}
	operations := q.operations
	if q.view.SameChainOnly {
		operations = []Signing{q.prepared.prepared.signing}
	}
	var edits []api.Edit
	for i, o := range operations {
		for _, pointer := range o.pointers(operationPath(i)) {
			raw, ok := body.At(pointer)
			if !ok {
				return ErrBody
			}
			edits = append(edits, api.Edit{Pointer: pointer, Value: raw})
		}
	}
	again, err := q.doc.Splice(edits...)
	if err != nil || !bytes.Equal(again.Raw(), body.Raw()) {
		return ErrBody
	}
	return nil
}

func operationPath(i int) string { return "/originChainsOperations/" + strconv.Itoa(i) }
