package check

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"coffer/api"
	"coffer/api/op"
	"coffer/ui/cli"
	"coffer/wallet/verify"
)

// signed joins the given signatures to the prepared operation; given reports whether there are any. A signature that
// is not the account's, and a request that is not the prepared answer with signatures, are refused in the review of
// the prepared call.
func (j *judgement) signed(prepared *verify.PreparedOp, review *Review) (signed *verify.SignedPrepared, given bool,
	err error) {
	request, why := j.in.document(kindRequest)
	if why != nil {
		review.Accepted, review.Reasons = false, append(review.Reasons, *why)
		return nil, true, nil
	}
	from := j.in.signatures
	if request != nil && from != nil {
		return nil, false, &cli.UsageError{
			Problem: "signatures are given twice: in the bundle and in the signed request"}
	}
	if request != nil {
		if from = signaturesIn(request); from == nil {
			review.refuse("U15", "The request for a quote holds no signature that can be read.")
			return nil, true, nil
		}
	}
	if from == nil {
		return nil, false, nil
	}
	sig, err := from.read()
	if err == nil {
		signed, err = prepared.WithSignatures(sig)
	}
	if err != nil {
		review.refuse("U15", "The signature is not the account's for this operation: "+clean(err.Error())+".")
		return nil, true, nil
	}
	if request != nil && !sameBody(signed, request) {
		review.refuse("X1", "The request for a quote is not the prepared answer with signatures.")
		return nil, true, nil
	}
	passed := verify.Check{Code: "U15", Title: "the signature is the account's for this operation"}
	review.about.Report.Passed = append(review.about.Report.Passed, passed)
	review.Passed = append(review.Passed, Passed{passed.Code, passed.Title})
	return signed, true, nil
}

func signaturesIn(request *api.Document) *signatures {
	var w struct {
		ChainOperation struct {
			UserOp struct {
				Signature string `json:"signature"`
			} `json:"userOp"`
			Delegation *struct {
				Signature *api.DelegationSignature `json:"signature"`
			} `json:"delegation"`
		} `json:"chainOperation"`
	}
	if request.Decode(&w) != nil {
		return nil
	}
	s := &signatures{Operation: w.ChainOperation.UserOp.Signature}
	if d := w.ChainOperation.Delegation; d != nil {
		s.Delegation = d.Signature
	}
	return s
}

func (s *signatures) read() (verify.Signatures, error) {
	digits, prefixed := strings.CutPrefix(s.Operation, "0x")
	b, err := hex.DecodeString(digits)
	if err != nil || !prefixed {
		return verify.Signatures{}, errors.New("it is not written as 0x and hex digits")
	}
	out := verify.Signatures{Operation: b}
	if s.Delegation != nil {
		d, err := op.AuthorizationFromWire(*s.Delegation)
		if err != nil {
			return verify.Signatures{}, fmt.Errorf("delegation: %w", err)
		}
		out.Delegation = &d
	}
	return out, nil
}

// sameBody compares a request with the one that this program would send, apart from spacing and the order of members.
func sameBody(signed *verify.SignedPrepared, request *api.Document) bool {
	body, err := signed.CallQuoteBody()
	if err != nil {
		return false
	}
	ours, err := api.ParseDocument(body, api.DefaultLimits())
	if err != nil {
		return false
	}
	want, err := ours.Canonical()
	if err != nil {
		return false
	}
	got, err := request.Canonical()
	return err == nil && bytes.Equal(want, got)
}
