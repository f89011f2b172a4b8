package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/service/store"
	"coffer/api/text"
)

// status answers {} with 200 for a quote id that never was executed (docs/interface.md#status).
func (h *handler) status(r *http.Request, v1 bool) (*api.Document, error) {
	asked, err := query(r, "quoteId")
	if err != nil {
		return nil, err
	}
	if !reHash.MatchString(asked[0]) {
		return nil, api.Invalid("quoteId", "a quote id: 0x and 64 hex digits", text.Named(asked[0]))
	}
	out, known, err := h.Records.Status(r.Context(), strings.ToLower(asked[0]))
	if errors.Is(err, store.ErrDamaged) {
		h.Log.Error("a record is damaged", "error", err)
		return nil, api.NewError(api.ErrInternal,
			"The record of quote %s is damaged in the service's database: what became of it cannot be told",
			strings.ToLower(asked[0]))
	}
	if err != nil {
		return nil, err
	}
	if !known {
		return api.Encode(struct{}{})
	}
	h.link(out.OriginChainOperations, v1)
	h.link(out.DestinationChainOperations, v1)
	doc, err := api.Encode(out)
	if err != nil || len(out.OriginChainOperations) > 0 {
		return doc, err
	}
	return doc.Splice(api.Edit{Pointer: "/originChainOperations", Value: []byte("[]")}) // required of a known quote
}

func (h *handler) history(r *http.Request, v1 bool) (*api.Document, error) {
	asked, err := query(r, "user", "limit", "continuation", "sortBy")
	if err != nil {
		return nil, err
	}
	q, failures := ParseHistory(asked[0], asked[1], asked[2], asked[3])
	if err := api.NewValidationError(failures); err != nil {
		return nil, err
	}
	page, err := h.Records.History(r.Context(), q)
	if err != nil {
		return nil, err
	}
	out := page.HistoryPage
	for _, damage := range page.Reasons {
		h.Log.Error("a record is damaged and left out of a page of history", "error", damage)
	}
	for i := range out.Transactions {
		t := &out.Transactions[i]
		h.link(t.OriginChainOperations, v1)
		h.link(t.DestinationChainOperations, v1)
	}
	return api.Encode(out)
}

// link makes explorer addresses of this moment, as a record outlives the port that the service listened on when it was
// written, and gives the transactions the form of the version: in v1 those on EVM chains have the chain's id (protocol
// §7).
func (h *handler) link(ops []api.OperationRef, v1 bool) {
	for i, o := range ops {
		ops[i].ChainID = 0
		chain, err := caip.ParseChain(o.Chain)
		if err != nil {
			continue
		}
		if id, evm := chain.EVMID(); evm && v1 {
			ops[i].ChainID = id
		}
		if isTransaction(chain, o.Hash) {
			ops[i].ExplorerURL = h.ExplorerBase() + TransactionPath(chain, o.Hash)
		}
	}
}

// isTransaction reports whether a text can name a transaction of a chain.
func isTransaction(c caip.Chain, id string) bool {
	if c.IsSolana() {
		_, err := caip.ParseSolanaSignature(id)
		return err == nil
	}
	return reHash.MatchString(id)
}
