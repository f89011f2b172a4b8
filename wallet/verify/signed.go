package verify

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
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

// NextSequence knows nothing.
func (NoHistory) NextSequence(common.Address, uint64, uint16) (uint64, bool) { return 0, false }

// SeenQuote has seen nothing.
func (NoHistory) SeenQuote(string) bool { return false }

// Recipients returns none.
func (NoHistory) Recipients() []common.Address { return nil }

// SignedPrepared is a prepared operation together with the signature of its account's key. It is a live authorization until its nonce is used or its
// window ends (protocol §1.3).
type SignedPrepared struct {
	prepared  *PreparedOp
	signature []byte
}

// WithSignature joins the signature to the operation after recovering its signer.
func (p *PreparedOp) WithSignature(signature []byte) (*SignedPrepared, error) {
	if err := checkSignature(p.userOp, signature); err != nil {
		return nil, err
	}
	return &SignedPrepared{prepared: p, signature: bytes.Clone(signature)}, nil
}

// Prepared is the operation that was signed.
func (s *SignedPrepared) Prepared() *PreparedOp { return s.prepared }

// Signature returns a copy of the 65 bytes.
func (s *SignedPrepared) Signature() []byte { return bytes.Clone(s.signature) }

// CallQuoteBody is the body of POST /v3/quote/call-quote: accounts, chainOperation and tamperProofSignature exactly as they were received, with the
// signature spliced in, and our own funding asset and slippage (TH-L6, X1).
func (s *SignedPrepared) CallQuoteBody() ([]byte, error) {
	signed, err := s.prepared.doc.Splice(signatureEdit("/chainOperation/userOp/signature", s.signature))
	if err != nil {
		return nil, fmt.Errorf("call-quote body: %w", err)
	}
	out := []byte{'{'}
	for _, name := range []string{"accounts", "chainOperation", "tamperProofSignature"} {
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

func signatureEdit(pointer string, sig []byte) api.Edit {
	return api.Edit{Pointer: pointer, Value: []byte(`"` + hex0x(sig) + `"`)}
}

// VerifiedQuote is a quote that passed.
type VerifiedQuote struct {
	doc      *api.Document
	view     QuoteView
	funding  []VerifiedUserOp
	prepared *SignedPrepared
	expires  int64
}

// Funding returns the operations to sign; none when the prepared operation is the only one.
func (q *VerifiedQuote) Funding() []VerifiedUserOp {
	return append([]VerifiedUserOp(nil), q.funding...)
}

// View is what review 2 shows.
func (q *VerifiedQuote) View() QuoteView { return q.view }

// Fingerprint identifies exactly this quote; a confirmation must carry it.
func (q *VerifiedQuote) Fingerprint() string { return q.view.Fingerprint }

// Document is the quote as received.
func (q *VerifiedQuote) Document() *api.Document { return q.doc }

// ID is the quote id, 0x and 64 hex digits.
func (q *VerifiedQuote) ID() string { return q.view.ID }

// Expires is the expiry in Unix seconds of the service's clock.
func (q *VerifiedQuote) Expires() int64 { return q.expires }

// SameChainOnly reports whether the prepared operation is the only one.
func (q *VerifiedQuote) SameChainOnly() bool { return q.view.SameChainOnly }

var errCount = errors.New("the number of signatures is not the number of operations")

// ExecuteBody is the body of POST /v3/quote/execute-quote: the received bytes with the signatures spliced in and nothing else. Each signature must recover
// to the account's key for the operation at its place. For a same-chain quote signatures must be empty: the one of the prepared operation is used.
func (q *VerifiedQuote) ExecuteBody(signatures [][]byte) (*api.Document, error) {
	if len(signatures) != len(q.funding) {
		return nil, errCount
	}
	if q.view.SameChainOnly {
		signatures = [][]byte{q.prepared.signature}
	}
	edits := make([]api.Edit, len(signatures))
	for i, s := range signatures {
		signed := q.prepared.prepared.userOp
		if !q.view.SameChainOnly {
			signed = q.funding[i]
		}
		if err := checkSignature(signed, s); err != nil {
			return nil, err
		}
		edits[i] = signatureEdit(operationPath(i)+"/userOp/signature", s)
	}
	body, err := q.doc.Splice(edits...)
	if err != nil {
		return nil, fmt.Errorf("execute body: %w", err)
	}
	return body, q.CheckBody(body)
}

// ErrBody says that a body differs from the reviewed quote in more than its signatures (TH-X1).
var ErrBody = errors.New("the body to send is not the reviewed quote with signatures")

// CheckBody takes the signatures out of a body and compares the rest with the reviewed bytes.
func (q *VerifiedQuote) CheckBody(body *api.Document) error {
	n := max(len(q.funding), 1)
	edits := make([]api.Edit, n)
	for i := range edits {
		edits[i] = signatureEdit(operationPath(i)+"/userOp/signature", nil)
	}
	unsigned, err := body.Splice(edits...)
	if err != nil || !bytes.Equal(unsigned.Raw(), q.doc.Raw()) {
		return ErrBody
	}
	return nil
}

func operationPath(i int) string { return "/originChainsOperations/" + strconv.Itoa(i) }
