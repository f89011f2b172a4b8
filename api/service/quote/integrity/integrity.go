// Package integrity makes and checks tamperProofSignature (protocol §4.1): a 65-byte ECDSA signature over keccak256(tag
// ‖ RFC 8785 canonical form). A client that parses and writes a document again passes, any changed value fails, and a
// document signed under one tag is refused under the other.
//
// Left out of the canonical form are the places that the client fills in: `tamperProofSignature`, `*.userOp.signature`,
// `*.delegation.signature` and the `signature` of operations of type `solana`. Operations stand in `chainOperation`, in
// `originChainsOperations` and, in v1 quotes, in `destinationChainOperation`.
//
// A prepared operation has one digest whether its account is written as v1 writes it (`account`) or as v3 does
// (`accounts`), so what one version prepared the other may quote. Its accounts are compared as parsed values, so
// unknown members of an account do not count. A document whose digest is right must be read with Decode, which takes
// every spelling of a number that the canonical form takes.
package integrity

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/service/signers"
)

// Tags keep the two kinds of documents apart.
const (
	TagPrepare = "coffer/prepare/1"
	TagQuote   = "coffer/quote/1"
)

// Message begins the message of every refusal, as clients know it (protocol §6).
const Message = "Incorrect tamper proof signature"

// Member is the document's member that holds the signature.
const Member = "tamperProofSignature"

// Prepare is the digest of a prepared operation: its accounts as parsed values and its chain operation. doc is any
// document with the members `accounts` or `account`, and `chainOperation`: the answer of prepare, or the request of
// call-quote. Where both spellings of the account stand, they must say the same.
func Prepare(doc *api.Document) (common.Hash, error) {
	parsed, err := parties(doc)
	if err != nil {
		return common.Hash{}, err
	}
	chainOperation, ok := doc.At("/chainOperation")
	if !ok {
		return common.Hash{}, errors.New("chainOperation is missing")
	}
	accounts, err := json.Marshal(parsed)
	if err != nil {
		return common.Hash{}, err
	}
	covered, err := api.ParseDocument(fmt.Appendf(nil, `{"accounts":%s,"chainOperation":%s}`, accounts, chainOperation),
		api.DefaultLimits())
	if err != nil {
		return common.Hash{}, err
	}
	return digest(TagPrepare, covered, "/chainOperation")
}

// parties reads the accounts of a prepared operation in normal form.
func parties(doc *api.Document) ([]api.Account, error) {
	var body struct {
		Accounts []api.Account `json:"accounts"`
		Account  *api.Account  `json:"account"`
	}
	if err := Decode(doc, &body); err != nil {
		return nil, err
	}
	var one []api.Account
	if body.Account != nil {
		one = []api.Account{normal(Typed(*body.Account))}
	}
	for i, a := range body.Accounts {
		body.Accounts[i] = normal(a)
	}
	switch {
	case body.Accounts == nil:
		return one, nil
	case one != nil && !slices.Equal(one, body.Accounts):
		return nil, errors.New("account and accounts say different things")
	}
	return body.Accounts, nil
}

// Typed is an account of a v1 document, which may leave out the type of a role-based one.
func Typed(a api.Account) api.Account {
	if a.Type == "" {
		a.Type = api.AccountRoleBased
	}
	return a
}

// Decode reads a document into v. A client that writes a document anew may spell its numbers in another way, say 1e3
// for 1000: what does not decode as it stands is decoded in canonical form.
func Decode(doc *api.Document, v any) error {
	err := doc.Decode(v)
	if err == nil {
		return nil
	}
	canonical, errCanonical := doc.Canonical()
	if errCanonical != nil {
		return err
	}
	again, errParse := api.ParseDocument(canonical, api.DefaultLimits())
	if errParse != nil || again.Decode(v) != nil {
		return err
	}
	return nil
}

// normal is an account as a parsed value: addresses without case, the deployment type that its type implies.
func normal(a api.Account) api.Account {
	if a.IsEVM() {
		for _, s := range []*string{&a.AccountAddress, &a.SignerAddress, &a.SessionAddress, &a.AdminAddress} {
			*s = strings.ToLower(*s)
		}
	}
	if a.Type == api.AccountKernelV31 && a.DeploymentType == "" {
		a.DeploymentType = api.DeploymentERC4337
	}
	return a
}

// Quote is the digest of a whole quote, v1 or v3.
func Quote(doc *api.Document) (common.Hash, error) {
	const list = "/originChainsOperations"
	var operations []string
	for i := 0; ; i++ {
		at := list + "/" + strconv.Itoa(i)
		if _, ok := doc.At(at); !ok {
			break
		}
		operations = append(operations, at)
	}
	return digest(TagQuote, doc, append(operations, "/destinationChainOperation")...)
}

// digest is keccak256(tag ‖ canonical form without what the client fills in).
func digest(tag string, doc *api.Document, operations ...string) (common.Hash, error) {
	without := []string{"/" + Member}
	for _, at := range operations {
		without = append(without, at+"/userOp/signature", at+"/delegation/signature")
		if isSolana(doc, at+"/type") {
			without = append(without, at+"/signature")
		}
	}
	canonical, err := doc.Canonical(without...)
	if err != nil {
		return common.Hash{}, err
	}
	return crypto.Keccak256Hash([]byte(tag), canonical), nil
}

// isSolana reads a type however its text is escaped.
func isSolana(doc *api.Document, at string) bool {
	var kind string
	raw, ok := doc.At(at)
	return ok && json.Unmarshal(raw, &kind) == nil && kind == api.AccountSolana
}

// Sign signs a digest as it goes into the document: 0x and 130 hex digits.
func Sign(ctx context.Context, d common.Hash, key signers.Digest) (string, error) {
	sig, err := key.SignDigest(ctx, d)
	if err != nil {
		return "", err
	}
	return "0x" + hex.EncodeToString(sig), nil
}

// Check reports whether signature is signer's for the digest. The error is an *api.Error named TamperProof.
func Check(d common.Hash, signature string, signer common.Address) error {
	raw, err := hex.DecodeString(strings.TrimPrefix(signature, "0x"))
	if err == nil {
		if by, errSig := op.Recover(d, raw); errSig == nil && by == signer {
			return nil
		}
	}
	return Refusal()
}

// Verify checks the signature that a document carries over its digest; err is what computing the digest gave. Every
// failure is an *api.Error named TamperProof.
func Verify(doc *api.Document, d common.Hash, err error, signer common.Address) error {
	var tag string
	raw, found := doc.At("/" + Member)
	if err != nil || !found || json.Unmarshal(raw, &tag) != nil {
		return Refusal()
	}
	return Check(d, tag, signer)
}

// Refusal is the answer to a document that is not as it was signed.
func Refusal() error {
	return api.NewError(api.ErrTamperProof, Message+
		": the document was changed after it was answered, or was answered by another service or for another endpoint")
}
