package settle_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"coffer/api"
	. "coffer/api/service/settle/settletest"
	"coffer/api/service/store"
)

// bookBuckets is everything that package book keeps.
func bookBuckets() []string {
	return []string{
		"book", "book-context", "book-quote", "book-document", "book-ends", "book-open", "book-pledge", "book-claim",
		"book-created",
		"book-updated", "book-replaced",
	}
}

// signatures are the texts of everything that was signed for a quote: operations, authorizations, Solana messages.
func signatures(w *World, body, signed *api.Document) (out []string) {
	var asked struct {
		ChainOperation api.ChainOperation `json:"chainOperation"`
	}
	Must(w.TB, body.Decode(&asked))
	for _, o := range append(w.Decode(signed).OriginChainsOperations, asked.ChainOperation) {
		if o.UserOp != nil {
			out = append(out, o.UserOp.Signature[2:])
		}
		if o.Delegation != nil && o.Delegation.Signature != nil {
			out = append(out, o.Delegation.Signature.R[2:], o.Delegation.Signature.S[2:])
		}
		if o.Signature != "" {
			out = append(out, o.Signature)
		}
	}
	return out
}

// found counts the signatures that a book still holds, and tells where.
func found(w *World, signatures []string) (n int) {
	Must(w.TB, w.Installation.Store.View(func(tx store.Tx) error {
		for _, name := range bookBuckets() {
			tx.Bucket(name).Ascend(nil, func(k, v []byte) bool {
				for _, s := range signatures {
					if bytes.Contains(v, []byte(s)) || bytes.Contains(k, []byte(s)) {
						w.TB.Logf("%s holds %s", name, s)
						n++
					}
				}
				return true
			})
		}
		return nil
	}))
	return n
}

func TestNoSignatureOfAnyKindOutlivesItsQuote(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fault, status string }{
		{"slow-fill=1ns", api.StatusCompleted}, {"revert", api.StatusRefunded}, {"deposit-fails", api.StatusFailed},
		{"", ""},
	} {
		for _, kind := range []string{api.AccountKernelV31, api.AccountKernelV33 + WithSolana, api.AccountRoleBased} {
			t.Run(kind+" "+c.status, func(t *testing.T) {
				o := Options{}
				if c.fault != "" {
					o.Faults = faultsFrom(t, c.fault)
				}
				w := New(t, o)
				w.User = w.AddUser(kind, 7)
				stock(w, w.User)
				r := pay(w, Base, 200*usdcPlain)
				r.FromAssetID = "ob:usdc"
				prepared, err := w.Prepare(r)
				Must(t, err)
				body := w.CallQuoteBody(prepared, "ob:usdc", w.User.Key)
				doc, err := w.CallQuote(prepared, "ob:usdc")
				Must(t, err)
				signed := w.SignQuote(doc)
				all := signatures(w, body, signed)
				if found(w, all) == 0 {
					t.Fatal("the quote waits without a signature: nothing would be seen to be erased")
				}
				if c.status == "" {
					w.Clock.Advance(601 * time.Second)
					Must(t, w.Book.Sweep(context.Background()))
				} else if s := w.Settle(signed); s.Status != c.status {
					t.Fatalf("status %+v", s)
				}
				if n := found(w, all); n != 0 {
					t.Errorf("%d signatures are left", n)
				}
			})
		}
	}
}
