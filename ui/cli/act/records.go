package act

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/catalog"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// printer writes records as they arrive, with put; end writes what is left.
type printer struct {
	put func(e *entry) error
	end func() error
}

func (c Commands) printer(o historyOptions, s *Session, from present.Receipts) printer {
	switch {
	case o.json:
		return printer{c.recordJSON, func() error { return nil }}
	case o.csv:
		w := csv.NewWriter(c.Out)
		w.UseCRLF = true
		_ = w.Write(csvColumns()) // its error is that of the first flush
		flush := func() error { w.Flush(); return w.Error() }
		return printer{func(e *entry) error { return errors.Join(w.Write(row(e, s, from)), flush()) }, flush}
	}
	w, n := cli.Columns(c.Out), 0
	return printer{func(e *entry) error {
		if e.unread != "" {
			fmt.Fprintln(w, clean(e.unread))
			return nil
		}
		fmt.Fprintln(w, recordLine(e, from))
		if n++; n%pageSize == 0 {
			return w.Flush()
		}
		return nil
	}, w.Flush}
}

func (c Commands) recordJSON(e *entry) error {
	switch {
	case e.unread != "":
		return c.write(encode(map[string]string{"unread": e.unread}))
	case e.seen != nil:
		return c.write(encode(map[string]seenJSON{"seen": seenOf(e.seen)}))
	}
	line, err := oneLine(e.raw)
	if err != nil {
		return err
	}
	return c.write(bytes.TrimSpace(line))
}

// recordLine is a record in columns.
func recordLine(e *entry, from present.Receipts) string {
	if e.seen != nil {
		return seenLine(e, from.Catalog)
	}
	line := []string{stamp(e.at), strings.ToLower(clean(e.Type)), verify.Status(e.Status).Text,
		paidWords(from.Catalog, e), gotWords(from.Catalog, e), clean(e.QuoteID)}
	if present.Runs(e.Status) {
		fees := "fees " + from.Fees(from.Of(e.HistoryRecord))
		if to := from.Payees(e.QuoteID); to != "" {
			fees += "; to " + to
		}
		line = append(line, fees)
	} else if words := present.FailReason(e.FailReason, present.Keys{}); words != "" {
		line = append(line, clean(e.FailReason)+": "+words)
	}
	return strings.Join(line, "\t")
}

func stamp(at time.Time) string {
	if at.IsZero() {
		return "time unknown"
	}
	return cli.Clock(at)
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
	symbol, decimals, ok := present.Asset(cat, id)
	if !ok && len(single) == 1 {
		symbol, decimals, ok = present.Asset(cat, single[0])
	}
	if !ok {
		return "", -1
	}
	return symbol, decimals
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

func csvColumns() []string {
	return []string{"time", "type", "status", "fail_reason", "quote_id", "user", "recipient", "paid_asset",
		"paid_symbol", "paid_from", "paid_base_units", "paid_decimals",
		"received_asset", "received_symbol", "received_as", "received_base_units", "received_decimals",
		"minimum_base_units", "origin_chains", "origin_hashes",
		"target_chains", "target_hashes", "payees", "payee_assets", "payee_base_units", "there_assets",
		"there_base_units", "fee_assets", "fee_base_units"}
}

// cells are the columns of csvColumns (RFC 4180: CRLF, quotes doubled). Amounts are base units as the service wrote
// them, lists in one cell have spaces between their items, and a cell that a spreadsheet would take for a formula
// begins with an apostrophe.
//
// The columns from payees on are from the wallet's journal (journal.Terms.Cells), empty in a record that it does not
// know.
func cells(e *entry, from present.Receipts) []string {
	o, d := e.OriginToken, e.DestinationToken
	paid, paidDecimals := unitOf(from.Catalog, o.AggregatedAssetID, o.AssetType...)
	got, gotDecimals := unitOf(from.Catalog, d.AssetType)
	out := []string{at(e.at), e.Type, e.Status, e.FailReason, e.QuoteID, e.User, e.RecipientAccountID,
		o.AggregatedAssetID,
		paid, strings.Join(o.AssetType, " "), o.Amount,
		decimals(paidDecimals), d.AggregatedAssetID, got, d.AssetType, d.Amount, decimals(gotDecimals), d.MinimumAmount}
	for _, refs := range [][]api.OperationRef{e.OriginChainOperations, e.DestinationChainOperations} {
		var chains, hashes []string
		for _, r := range refs {
			chains, hashes = append(chains, r.Chain), append(hashes, r.Hash)
		}
		out = append(out, strings.Join(chains, " "), strings.Join(hashes, " "))
	}
	var own *journal.Terms
	if from.Terms != nil {
		if t, ok := from.Terms(e.QuoteID); ok {
			own = &t
		}
	}
	out = append(out, own.Cells()...)
	for i := range out {
		out[i] = present.Inert(whole(out[i]))
	}
	return out
}

func decimals(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}
