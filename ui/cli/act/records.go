package act

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/present"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// recordPrinter prints records as they arrive.
type recordPrinter interface {
	begin() error
	put(e *entry) error
	end() error
}

func (c Commands) printer(o historyOptions, from present.Receipts) recordPrinter {
	switch {
	case o.json:
		return jsonLines{c}
	case o.csv:
		w := csv.NewWriter(c.Out)
		w.UseCRLF = true
		return csvLines{w, from}
	}
	return &textLines{w: tabwriter.NewWriter(c.Out, 0, 0, 2, ' ', 0), from: from}
}

type jsonLines struct{ c Commands }

func (jsonLines) begin() error { return nil }
func (jsonLines) end() error   { return nil }
func (j jsonLines) put(e *entry) error {
	line, err := oneLine(e.raw)
	if err != nil {
		return err
	}
	return j.c.write(bytes.TrimSpace(line))
}

// textLines prints lines in columns, a page at a time.
type textLines struct {
	w    *tabwriter.Writer
	from present.Receipts
	n    int
}

func (t *textLines) begin() error { return nil }
func (t *textLines) end() error   { return t.w.Flush() }
func (t *textLines) put(e *entry) error {
	fees := ""
	if words := present.FailReason(e.FailReason, present.Keys{}); words != "" {
		fees = "\t" + clean(e.FailReason) + ": " + words
	}
	if present.Runs(e.Status) {
		fees = "\tfees " + t.from.Fees(e.QuoteID)
		if to := t.from.Payees(e.QuoteID); to != "" {
			fees += "; to " + to
		}
	}
	fmt.Fprintf(t.w, "%s\t%s\t%s\t%s\t%s\t%s%s\n", stamp(e.at), strings.ToLower(clean(e.Type)),
		verify.Status(e.Status).Text,
		paidWords(t.from.Catalog, e), gotWords(t.from.Catalog, e), clean(e.QuoteID), fees)
	if t.n++; t.n%pageSize == 0 {
		return t.w.Flush()
	}
	return nil
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return "time unknown"
	}
	return clock(at)
}

func paidWords(cat *catalog.Catalog, e *entry) string {
	symbol, decimals := unitOf(cat, e.OriginToken.AggregatedAssetID, e.OriginToken.AssetType...)
	return figureOf(e.OriginToken.Amount, symbol, decimals)
}

func gotWords(cat *catalog.Catalog, e *entry) string {
	symbol, decimals := unitOf(cat, e.DestinationToken.AssetType)
	words := "for "
	if present.Used(e.Type) {
		words = "for a call with " // a call may have used what was there before
	}
	return words + figureOf(e.DestinationToken.Amount, symbol, decimals)
}

// unitOf is the unit of an asset, or of the one asset behind ob:single; decimals are -1 when unknown.
func unitOf(cat *catalog.Catalog, id string, single ...string) (string, int) {
	w := compose.World{Catalog: cat}
	x, ok := w.Side(id)
	if !ok && len(single) == 1 {
		x, ok = w.Side(single[0])
	}
	if !ok {
		return "", -1
	}
	return x.Symbol, x.Decimals
}

func figureOf(base, symbol string, decimals int) string {
	v, err := amount.ParseBase(base)
	switch {
	case err != nil:
		return amount.Unknown
	case decimals < 0:
		return amount.Group(v.String()) + " base units"
	}
	return amount.Human(v, decimals) + " " + symbol
}

// csvLines writes the columns of csvColumns (RFC 4180: CRLF, quotes doubled). Amounts are base units as the service
// wrote them, lists in one cell have spaces between their items, and a cell that a spreadsheet would take for a
// formula begins with an apostrophe.
//
// The columns from payees on are from the wallet's journal (journal.Terms.Cells), empty in a record that it does not
// know.
type csvLines struct {
	w    *csv.Writer
	from present.Receipts
}

func csvColumns() []string {
	return []string{"time", "type", "status", "fail_reason", "quote_id", "user", "recipient", "paid_asset",
		"paid_symbol", "paid_from", "paid_base_units", "paid_decimals",
		"received_asset", "received_symbol", "received_as", "received_base_units", "received_decimals",
		"minimum_base_units", "origin_chains", "origin_hashes",
		"target_chains", "target_hashes", "payees", "payee_assets", "payee_base_units", "there_assets",
		"there_base_units", "fee_assets", "fee_base_units"}
}

func (p csvLines) begin() error { return p.w.Write(csvColumns()) }

func (p csvLines) end() error {
	p.w.Flush()
	return p.w.Error()
}

func (p csvLines) put(e *entry) error {
	o, d := e.OriginToken, e.DestinationToken
	paid, paidDecimals := unitOf(p.from.Catalog, o.AggregatedAssetID, o.AssetType...)
	got, gotDecimals := unitOf(p.from.Catalog, d.AssetType)
	at := ""
	if !e.at.IsZero() {
		at = e.at.UTC().Format(time.RFC3339)
	}
	cells := []string{at, e.Type, e.Status, e.FailReason, e.QuoteID, e.User, e.RecipientAccountID, o.AggregatedAssetID,
		paid, strings.Join(o.AssetType, " "), o.Amount,
		decimals(paidDecimals), d.AggregatedAssetID, got, d.AssetType, d.Amount, decimals(gotDecimals), d.MinimumAmount}
	for _, refs := range [][]api.OperationRef{e.OriginChainOperations, e.DestinationChainOperations} {
		var chains, hashes []string
		for _, r := range refs {
			chains, hashes = append(chains, r.Chain), append(hashes, r.Hash)
		}
		cells = append(cells, strings.Join(chains, " "), strings.Join(hashes, " "))
	}
	var own *journal.Terms
	if p.from.Terms != nil {
		if t, ok := p.from.Terms(e.QuoteID); ok {
			own = &t
		}
	}
	cells = append(cells, own.Cells()...)
	for i := range cells {
		cells[i] = inert(whole(cells[i]))
	}
	if err := p.w.Write(cells); err != nil {
		return err
	}
	p.w.Flush()
	return p.w.Error()
}

func decimals(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// inert puts an apostrophe before a text that a spreadsheet would run as a formula, or that its own apostrophe would
// hide.
func inert(s string) string {
	for _, p := range []string{"=", "+", "-", "@", "'", "＝", "＋", "－", "＠"} {
		if strings.HasPrefix(s, p) {
			return "'" + s
		}
	}
	return s
}
