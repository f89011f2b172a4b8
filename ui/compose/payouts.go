package compose

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/present"
	"coffer/wallet/intent"
)

// The bounds of a list of payouts. Rows after maxPayoutRows are not looked at, because the list is refused by then.
const (
	MaxPayouts     = api.MaxListed // one call each
	maxPayoutBytes = 1 << 20
	maxPayoutRows  = 10 * MaxPayouts
)

// A PayoutFault is what is wrong with a row: Line from 1, Column "" for the row as a whole.
type PayoutFault struct {
	Line            int
	Column, Problem string
}

// String is the fault with its place.
func (f PayoutFault) String() string {
	place := "line " + strconv.Itoa(f.Line)
	if f.Column != "" {
		place += ", " + f.Column
	}
	return place + ": " + f.Problem
}

// PayoutFaults are all faults of a list, in the order of its lines.
type PayoutFaults []PayoutFault

// Error names the first fault and how many there are.
func (f PayoutFaults) Error() string {
	s := f[0].String()
	if n := len(f) - 1; n > 0 {
		s += " (and " + strconv.Itoa(n) + " more)"
	}
	return s
}

// What rows lack that name no asset, or none on a chain.
const (
	payoutAsset = "an asset is needed, such as usdc"
	payoutChain = "on which chain? write it behind the asset, such as usdc@base"
)

// LackAsset reports whether nothing is wrong but that rows name no asset, or not its chain: a reader that is given one
// may read the list.
func (f PayoutFaults) LackAsset() bool {
	return !slices.ContainsFunc(f, func(x PayoutFault) bool {
		return x.Problem != payoutAsset && x.Problem != payoutChain
	})
}

// The columns of a list, in their order where no header names them.
const (
	columnRecipient = "recipient"
	columnAmount    = "amount"
	columnAsset     = "asset"
	columnNote      = "note"
)

func payoutColumns() []string {
	return []string{columnRecipient, columnAmount, columnAsset, columnNote}
}

// errOnSolana is why no list is paid on Solana: a request and its quote name one recipient there, so the payments could
// not be made together or not at all, and a list that is read again would pay some twice.
var errOnSolana = errors.New("nothing is paid: on Solana a payment has one recipient, so a list cannot be paid " +
	"together there, and half a list could be paid twice. Send to each alone, such as coffer transfer --asset " +
	"usdc --amount 25 --to ADDRESS --chain solana; or write each as a plan (coffer plan with the same flags), which " +
	"coffer apply sends once, whatever came of it")

// ReadPayouts reads a list of payments from CSV (RFC 4180) into a form with a call for each row, in their order. The
// columns are recipient and amount, then asset and note where there are any, or those of a header. Recipients are
// addresses or names of contacts; amounts are exact, in whole units. Rows that name no asset pay asset, a symbol or an
// id; the zero chain is that of the first asset written as symbol@chain, beginning with asset. The error of a list that
// can be read is PayoutFaults, with everything that is wrong in it.
func (w *World) ReadPayouts(b []byte, chain caip.Chain, asset string) (*Calls, error) {
	if len(b) > maxPayoutBytes {
		return nil, errors.New("the list is larger than 1 MiB")
	}
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !utf8.Valid(b) {
		return nil, errors.New("the list is not text in UTF-8: save it as CSV in UTF-8")
	}
	if !bytes.ContainsRune(b, '\n') {
		b = bytes.ReplaceAll(b, []byte("\r"), []byte("\n")) // as terminals paste
	}
	r := payoutReader{w: w, chain: chain, asset: trim(asset), solana: chain.IsSolana()}
	if asset != "" {
		_, _ = r.entity(r.asset) // its chain counts before the first row is read
	}
	r.read(csv.NewReader(bytes.NewReader(b)))
	switch {
	case r.solana:
		return nil, errOnSolana
	case r.rows > MaxPayouts:
		r.fault(r.last, "", "a batch pays at most "+strconv.Itoa(MaxPayouts)+" times: split the list before this line")
	case r.rows == 0 && len(r.faults) == 0:
		return nil, errors.New("the list has no payouts: it needs lines such as 0x93DB..7BC0,25.5")
	}
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b PayoutFault) int { return cmp.Compare(a.Line, b.Line) })
		return nil, r.faults
	}
	form := w.NewCalls(r.chain)
	form.Calls = r.calls
	return form, nil
}

// payoutReader reads row after row and collects what is wrong. last is the line of the first row beyond the bound.
type payoutReader struct {
	w       *World
	chain   caip.Chain
	asset   string
	columns []string // in their order
	rows    int
	last    int
	told    bool // the fault of rows that name no asset
	solana  bool // something is to be paid there
	calls   []*Call
	faults  PayoutFaults
}

func (r *payoutReader) fault(line int, column, problem string) {
	if problem != "" {
		r.faults = append(r.faults, PayoutFault{line, column, problem})
	}
}

func (r *payoutReader) read(in *csv.Reader) {
	in.FieldsPerRecord = -1
	for r.rows < maxPayoutRows {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			r.count(broken.StartLine)
			r.fault(broken.StartLine, "", "a quotation mark is out of place: put the whole field in quotation marks, "+
				"and write one inside it twice")
			continue
		}
		line, _ := in.FieldPos(0)
		for i := range record {
			record[i] = trim(record[i])
		}
		if strings.Join(record, "") == "" || r.columns == nil && r.header(line, record) {
			continue
		}
		r.count(line)
		r.row(line, record)
	}
}

func (r *payoutReader) count(line int) {
	if r.rows++; r.rows == MaxPayouts+1 {
		r.last = line
	}
}

// header takes the names of the columns, and reports whether the first row has them. Without them the columns are those
// of payoutColumns.
func (r *payoutReader) header(line int, record []string) bool {
	names := make([]string, len(record))
	for i, s := range record {
		names[i] = strings.ToLower(s)
	}
	r.columns = payoutColumns()
	if !slices.Contains(names, columnRecipient) || !slices.Contains(names, columnAmount) {
		return false
	}
	for i, s := range names {
		switch {
		case !slices.Contains(payoutColumns(), s):
			r.fault(line, "", "there is no column \""+present.Clean(s, 40)+"\": the columns are "+
				strings.Join(payoutColumns(), ", "))
		case slices.Contains(names[:i], s):
			r.fault(line, "", "the column "+s+" is there twice")
		}
	}
	r.columns = names
	return true
}

func (r *payoutReader) row(line int, record []string) {
	if len(record) > len(r.columns) || len(record) < 2 {
		problem := present.Plural(len(record), "field", "fields") + " instead of 2 to " + strconv.Itoa(len(r.columns))
		if strings.ContainsAny(record[0], ";\t") {
			problem += ": separate them with commas"
		}
		r.fault(line, "", problem)
		return
	}
	cell := map[string]string{}
	for i, s := range record {
		cell[r.columns[i]] = s
	}
	before := len(r.faults)
	e, problem := r.entity(cmp.Or(cell[columnAsset], r.asset))
	if cell[columnAsset] != "" || !r.told {
		r.fault(line, columnAsset, problem)
	}
	if r.told = r.told || problem != "" && cell[columnAsset] == ""; problem == "" {
		r.fault(line, columnAmount, payoutAmount(cell[columnAmount], e))
	}
	to, problem := r.recipient(cell[columnRecipient])
	r.fault(line, columnRecipient, problem)
	note := cell[columnNote]
	if present.Clean(note, intent.MaxNote) != note {
		r.fault(line, columnNote, "one line of at most "+strconv.Itoa(intent.MaxNote)+" plain characters")
	}
	if len(r.faults) == before {
		c := &Call{Note: note}
		c.Pay(e.Asset, to, cell[columnAmount])
		r.calls = append(r.calls, c)
	}
}

// payoutAmount is what is wrong with an amount: it is above 0, in whole units of the asset, and no unit but the asset's
// symbol follows it.
func payoutAmount(text string, e catalog.Entity) string {
	if text == "" {
		return amountNeeded
	}
	if _, unit := SplitUnit(text); unit != "" && !strings.EqualFold(unit, e.Symbol) {
		return "an amount in " + e.Symbol + " such as 250.5, without another unit"
	}
	_, problem := Positive(text, e.Decimals, e.Symbol)
	return problem
}

// entity is the asset of a row. The first one that names a chain decides where all are paid.
func (r *payoutReader) entity(text string) (catalog.Entity, string) {
	_, err := caip.ParseAsset(text)
	switch {
	case text == "":
		return catalog.Entity{}, payoutAsset
	case err != nil && !strings.Contains(text, "@"):
		if r.chain == (caip.Chain{}) {
			return catalog.Entity{}, payoutChain
		}
		e, known := r.w.AssetOn(r.chain, text)
		if !known {
			return e, noAsset(text)
		}
		return e, ""
	}
	id, problem := r.w.Asset(text)
	if problem != "" {
		return catalog.Entity{}, problem
	}
	e, known := r.w.Entity(id)
	r.solana = r.solana || known && e.Asset.Chain.IsSolana()
	switch {
	case !known:
		return e, "there is no asset \"" + present.Clean(text, 120) + "\""
	case r.chain == (caip.Chain{}):
		r.chain = e.Asset.Chain
	case r.chain != e.Asset.Chain:
		return e, "all payouts of a list are on one chain, here " + r.w.ChainName(r.chain)
	}
	return e, ""
}

// recipient is the address of a row. Nobody pays the own account or a token on purpose.
func (r *payoutReader) recipient(text string) (to, problem string) {
	if text == "" {
		return "", addressNeeded
	}
	to, problem = r.w.Recipient(cmp.Or(r.chain, caip.EVM(1)), text)
	e, token := r.w.TokenAt(r.chain, to)
	switch {
	case problem != "" && !strings.HasPrefix(text, "0x"):
		problem = "\"" + present.Clean(text, 60) + "\" is neither an address nor the name of a contact"
	case problem != "":
	case token:
		problem = "this is the contract of " + e.Symbol + ": what is sent to it is mostly lost"
	case r.w.Own(to):
		problem = "this is your own account"
	}
	return to, problem
}
