package history

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/journal"
)

// csvColumns are the columns of the export, one record per line (RFC 4180: CRLF, quotes doubled). Amounts are integers
// in base units, exactly as the service wrote them; values are in US dollars. A list in one cell separates its items
// with spaces. A cell that a spreadsheet would read as a formula starts with an apostrophe.
//
//	time                 UTC, RFC 3339; empty: unreadable
//	type                 CALL, SWAP, TRANSFER; RECEIVED, SENT, SEEN of what own nodes saw
//	status               as the service wrote it; SEEN, or UNREAD where own nodes told nothing
//	fail_reason          why it was refunded; slot and fee of what own nodes saw
//	quote_id             of what own nodes saw "seen:" and the signature
//	user                 the account
//	recipient            chain/address
//	paid_asset           aggregated asset
//	paid_symbol
//	paid_from            CAIP-19 ids of what it was taken from
//	paid_base_units
//	paid_decimals        empty: unknown
//	paid_usd             empty: unknown
//	received_asset       aggregated asset
//	received_symbol
//	received_as          CAIP-19 id
//	received_base_units
//	received_decimals    empty: unknown
//	received_usd         empty: unknown
//	minimum_base_units   what had to be delivered at least; empty: not said
//	fees_usd             of a completed record: as reviewed, else what was paid less what arrived; empty: unknown, as
//	                     of every call that the journal does not have
//	origin_chains        CAIP-2 ids, one for each origin transaction
//	origin_hashes
//	origin_pages         addresses in an explorer
//	target_chains
//	target_hashes
//	target_pages
//	payees               of the wallet's journal, by quote id, with what follows; empty: not of this journal
//	payee_assets         CAIP-19 ids; "unknown" where the call does not say
//	payee_base_units     likewise; of a swap or a transfer see received_base_units
//	there_assets         what a call used of what was on its chain before
//	there_base_units
//	fee_assets
//	fee_base_units       "0": none; empty: not reported
func csvColumns() []string {
	return []string{"time", "type", "status", "fail_reason", "quote_id", "user", "recipient", "paid_asset",
		"paid_symbol", "paid_from", "paid_base_units",
		"paid_decimals", "paid_usd", "received_asset", "received_symbol", "received_as", "received_base_units",
		"received_decimals", "received_usd",
		"minimum_base_units", "fees_usd", "origin_chains", "origin_hashes", "origin_pages", "target_chains",
		"target_hashes", "target_pages",
		"payees", "payee_assets", "payee_base_units", "there_assets", "there_base_units", "fee_assets",
		"fee_base_units"}
}

// exportCSV writes records as CSV.
func exportCSV(ln *formatter, rows []*record) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	if err := w.Write(csvColumns()); err != nil {
		return nil, err
	}
	for _, r := range rows {
		cells := ln.cells(r)
		for i := range cells {
			cells[i] = present.Inert(cells[i])
		}
		if err := w.Write(cells); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

func (ln *formatter) cells(r *record) []string {
	x := ln.exported(r)
	from, to := sides(x.Transactions, true), sides(x.Transactions, false)
	return append([]string{x.Time, x.Type, x.Status, x.FailReason, x.QuoteID, x.User, x.Recipient, x.Paid.Asset,
		x.Paid.Symbol, strings.Join(x.Paid.From, " "),
		x.Paid.BaseUnits, decimals(x.Paid.Decimals), x.Paid.USD, x.Received.Asset, x.Received.Symbol, x.Received.As,
		x.Received.BaseUnits,
		decimals(x.Received.Decimals), x.Received.USD, x.Received.Minimum, x.FeesUSD},
		slices.Concat(from, to, x.Journal.Cells())...)
}

func decimals(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func sides(list []exportedLeg, origin bool) []string {
	var chains, hashes, pages []string
	for _, l := range list {
		if (l.Side == sideOrigin) == origin {
			chains, hashes, pages = append(chains, l.Chain), append(hashes, l.Hash), append(pages, l.Page)
		}
	}
	return []string{strings.Join(chains, " "), strings.Join(hashes, " "), strings.TrimSpace(strings.Join(pages, " "))}
}

// exportFile is the export as JSON. Complete says that Records are everything that the service has for the filter.
type exportFile struct {
	Version  int              `json:"version"`
	Network  string           `json:"network"`
	Account  string           `json:"account"`
	Made     string           `json:"made"`
	Filter   string           `json:"filter"`
	Complete bool             `json:"complete"`
	Records  []exportedRecord `json:"records"`
}

// exportedRecord is a record in an export. Amounts are integers in base units as strings; Decimals and USD are absent
// when unknown.
type exportedRecord struct {
	QuoteID      string           `json:"quoteId"`
	Time         string           `json:"time,omitzero"`
	Type         string           `json:"type"`
	Status       string           `json:"status"`
	FailReason   string           `json:"failReason,omitzero"`
	User         string           `json:"user"`
	Recipient    string           `json:"recipient"`
	Paid         exportedPaid     `json:"paid"`
	Received     exportedReceived `json:"received"`
	FeesUSD      string           `json:"feesUsd,omitzero"`
	Transactions []exportedLeg    `json:"transactions"`
	Journal      *journal.Terms   `json:"journal,omitzero"` // of an operation in this wallet's journal
}

type exportedPaid struct {
	Asset     string   `json:"asset"`
	Symbol    string   `json:"symbol"`
	From      []string `json:"from"`
	BaseUnits string   `json:"baseUnits"`
	Decimals  *int     `json:"decimals,omitzero"`
	USD       string   `json:"usd,omitzero"`
}

type exportedReceived struct {
	Asset     string `json:"asset"`
	Symbol    string `json:"symbol"`
	As        string `json:"as"`
	BaseUnits string `json:"baseUnits"`
	Decimals  *int   `json:"decimals,omitzero"`
	USD       string `json:"usd,omitzero"`
	Minimum   string `json:"minimum,omitzero"`
}

type exportedLeg struct {
	Side  string `json:"side"` // origin or target
	Chain string `json:"chain"`
	Hash  string `json:"hash"`
	Page  string `json:"page,omitzero"`
}

const sideOrigin, sideTarget = "origin", "target"

func (ln *formatter) exported(r *record) exportedRecord {
	paid, got := ln.paidUnit(r), ln.gotUnit(r)
	x := exportedRecord{
		QuoteID: r.id, Type: r.kind.Value(), Status: r.status.Value(), FailReason: r.reason.Value(),
		User: r.user.Value(), Recipient: r.recipient.Value(),
		Paid: exportedPaid{Asset: r.paidOf.Value(), Symbol: paid.symbol, From: strings.Fields(r.paidFrom.Value()),
			BaseUnits: r.paid, Decimals: paid.known(), USD: r.paidUSD},
		Received: exportedReceived{Asset: r.gotOf.Value(), Symbol: got.symbol, As: r.gotAs.Value(), BaseUnits: r.got,
			Decimals: got.known(), USD: r.gotUSD,
			Minimum: r.minimum},
		Transactions: make([]exportedLeg, 0, len(r.legs)),
	}
	if !r.at().IsZero() {
		x.Time = r.at().UTC().Format(time.RFC3339)
	}
	if r.success() {
		if f := ln.receipts.FeesMicro(ln.facts(r)); f != nil {
			x.FeesUSD = string(api.Micro(f))
		}
	}
	if ln.receipts.Terms != nil {
		if t, ok := ln.receipts.Terms(r.id); ok {
			x.Journal = &t
		}
	}
	for _, l := range r.legs {
		side := sideTarget
		if l.origin {
			side = sideOrigin
		}
		x.Transactions = append(x.Transactions, exportedLeg{Side: side, Chain: l.chain.Value(), Hash: l.hash,
			Page: l.url()})
	}
	return x
}

func (u unit) known() *int {
	if u.decimals < 0 {
		return nil
	}
	return &u.decimals
}

// exportedMsg reports the outcome of an export.
type exportedMsg struct {
	what, path string
	err        error
}

// exportRows writes what the list shows. It runs off the event loop, on records that never change, with its own
// formatter.
func (m *Model) exportRows(kind string) tea.Cmd {
	rows := m.records()
	write, ln, now := m.ctx.Export, newFormatter(m.receipts()), m.ctx.Clock()
	o, _ := m.owner()
	head := exportFile{Version: 1, Network: o.network, Account: o.user, Made: now.UTC().Format(time.RFC3339),
		Filter: m.query.text, Complete: m.complete()}
	return func() tea.Msg {
		var b []byte
		var err error
		if kind == "csv" {
			b, err = exportCSV(ln, rows)
		} else {
			head.Records = make([]exportedRecord, 0, len(rows))
			for _, r := range rows {
				head.Records = append(head.Records, ln.exported(r))
			}
			b, err = json.Marshal(head, jsontext.WithIndent("  "))
		}
		out := exportedMsg{what: present.Plural(len(rows), "record", "records"), err: err}
		if err == nil {
			out.path, out.err = write("history."+kind, b)
		}
		return out
	}
}

func wasExported(msg exportedMsg) tea.Cmd {
	if msg.err != nil {
		return screen.Toast(theme.Danger, "nothing was written: "+msg.err.Error())
	}
	return screen.Toast(theme.Good, msg.what+" written to "+msg.path)
}

// complete reports whether the list is everything that the service has.
func (m *Model) complete() bool {
	n := len(m.book.sections)
	return m.loaded && n == 1 && m.book.sections[0].ended && m.book.held == m.book.count() && len(m.query.mistakes) == 0
}
