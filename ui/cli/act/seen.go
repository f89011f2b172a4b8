package act

import (
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/past"
	"coffer/ui/present"
)

// seenJSON is a row of what own nodes saw. Amounts are base units; Amount and Fee are absent where they are unknown,
// Time where the nodes do not know it.
type seenJSON struct {
	By        string `json:"by"`
	Type      string `json:"type"`
	Chain     string `json:"chain"`
	Asset     string `json:"asset,omitzero"`
	Amount    string `json:"amount,omitzero"`
	Fee       string `json:"feeLamports,omitzero"`
	Failed    bool   `json:"failed,omitzero"`
	Slot      uint64 `json:"slot"`
	Time      string `json:"time,omitzero"`
	Signature string `json:"signature"`
	Why       string `json:"unknown,omitzero"` // why it is not known what moved
}

func seenOf(r *past.Row) seenJSON {
	out := seenJSON{By: "your node", Type: r.Type, Chain: caip.SolanaMainnet().String(), Asset: r.Asset.String(),
		Failed: r.Of.Failed, Slot: r.Of.Slot, Signature: r.Of.Signature, Why: r.Of.Unknown, Time: at(r.Of.At)}
	if r.Amount != nil {
		out.Amount = r.Amount.String()
	}
	if r.Of.Fee != nil {
		out.Fee = r.Of.Fee.String()
	}
	return out
}

// seenLine is such a row in columns.
func seenLine(e *entry, cat *catalog.Catalog) string {
	what := "a transaction"
	if r := e.seen; r.Amount != nil {
		symbol, decimals := unitOf(cat, r.Asset.String())
		what = present.Deed(r.Type, figureOf(r.Amount.String(), symbol, decimals),
			figureOf(r.Amount.String(), symbol, decimals), "", "", "")
		if decimals < 0 {
			what += " of " + r.Asset.String()
		}
	}
	return strings.Join([]string{stamp(e.at), present.SeenByNode, what, clean(e.seen.Note), clean(e.seen.Of.Signature)},
		"\t")
}

// row are the cells of any entry (csvColumns).
func row(e *entry, s *Session, from present.Receipts) []string {
	var r api.HistoryRecord
	switch {
	case e.unread != "":
		r = past.UnreadRecord(e.unread)
	case e.seen != nil:
		r = s.Seen.Record(*e.seen)
	default:
		return cells(e, from)
	}
	return cells(&entry{HistoryRecord: r, at: e.at}, from)
}
