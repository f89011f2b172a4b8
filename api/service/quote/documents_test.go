package quote_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service/quote/integrity"
	. "coffer/api/service/settle/settletest"
)

// document is one that the service signed.
type document struct {
	name   string
	doc    *api.Document
	digest func(*api.Document) (common.Hash, error)
}

// documents are all kinds of signed documents, of an account that has everything to sign: delegations, and a message on
// Solana.
func documents(t *testing.T) (*World, []document) {
	w := as(New(t, Options{}), api.AccountKernelV33+WithSolana, 7, map[uint64]int64{Polygon: 50, Solana: 40})
	r := pay(w, Base, 80*usdcPlain)
	_, recent := prepared(t, w, r)
	call, err := callQuoteAs(w, recent)
	Must(t, err)
	swap := w.Swap(Exchange{From: "ob:usdc", Amount: plain(80), Get: "ob:eth"})
	old, err := w.PrepareV1(pay(w, Base, 30*usdcPlain))
	Must(t, err)
	callV1, err := quoteV1(w, old, "ob:usdc")
	Must(t, err)
	swapV1 := w.SwapV1(Exchange{From: "ob:usdc", Amount: plain(40), Get: "ob:eth"})
	return w, []document{
		{"prepare v3", recent, integrity.Prepare}, {"prepare v1", old, integrity.Prepare},
		{"call quote v3", call, integrity.Quote},
		{"call quote v1", callV1, integrity.Quote}, {"swap v3", swap, integrity.Quote},
		{"swap v1", swapV1, integrity.Quote},
	}
}

// passes reports whether the service would take a document for its own.
func (d document) passes(w *World, changed *api.Document) bool {
	digest, err := d.digest(changed)
	return integrity.Verify(changed, digest, err, w.Installation.Pins.TamperProof) == nil
}

func TestEveryKindOfDocumentSurvivesAnotherWriterAndNoChange(t *testing.T) {
	w, all := documents(t)
	for _, d := range all {
		if !d.passes(w, d.doc) {
			t.Fatalf("%s: the document as it was answered fails", d.name)
		}
		var v any
		Must(t, json.Unmarshal(d.doc.Raw(), &v))
		again, err := json.MarshalIndent(v, " ", "\t") // sorted members, \u003c escapes, other blanks
		Must(t, err)
		other, err := api.ParseDocument(bytes.ReplaceAll(again, []byte("/"), []byte(`\/`)), api.DefaultLimits())
		Must(t, err)
		if !d.passes(w, other) {
			t.Errorf("%s: written anew it fails", d.name)
		}
		leaves := 0
		d.doc.Leaves(func(pointer string, value []byte) {
			if strings.HasSuffix(pointer, "/userOp/signature") || pointer == "/tamperProofSignature" ||
				strings.HasPrefix(d.name, "prepare") && !strings.HasPrefix(pointer, "/account") &&
					!strings.HasPrefix(pointer, "/chainOperation/") {
				return // callType and the balances that prepare shows are not signed
			}
			leaves++
			changed, err := d.doc.Splice(api.Edit{Pointer: pointer, Value: changedLeaf(t, value)})
			Must(t, err)
			if d.passes(w, changed) {
				t.Errorf("%s: %s can be changed", d.name, pointer)
			}
		})
		if leaves < 25 {
			t.Errorf("%s: only %d values looked at", d.name, leaves)
		}
		checkNumbers(t, d.doc)
	}
}

// changedLeaf is another value of the same kind.
func changedLeaf(t *testing.T, value []byte) []byte {
	t.Helper()
	var v any
	Must(t, json.Unmarshal(value, &v))
	switch v := v.(type) {
	case string:
		return []byte(`"` + v + `0"`)
	case float64:
		return append([]byte("1"), value...)
	case bool:
		if v {
			return []byte("false")
		}
		return []byte("true")
	}
	return []byte(`"0"`)
}

func TestPreparedDocumentsAreRefusedAsQuotesAndQuotesAsPrepared(t *testing.T) {
	w, all := documents(t)
	for _, d := range all {
		swapped := document{digest: integrity.Quote}
		if strings.Contains(d.name, "quote") || strings.Contains(d.name, "swap") {
			swapped.digest = integrity.Prepare
		}
		if swapped.passes(w, d.doc) {
			t.Errorf("%s passes at the other endpoint", d.name)
		}
	}
}

func TestCallQuoteTakesABodyThatAClientWroteAnew(t *testing.T) {
	w, all := documents(t)
	signed := w.SignOperationAs(w.User, all[0].doc, "/chainOperation")
	var v map[string]any
	Must(t, json.Unmarshal(signed.Raw(), &v))
	for _, name := range []string{"callType", "sourceAssetBalances"} {
		delete(v, name)
	}
	body, err := json.MarshalIndent(v, "", "  ")
	Must(t, err)
	doc, err := api.ParseDocument(body, api.DefaultLimits())
	Must(t, err)
	_, err = w.Quoter.CallQuote(context.Background(), doc)
	Must(t, err)
}
