package present

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// NotReported replaces a figure that neither the service's record nor this wallet's journal has.
const NotReported = "not reported"

// Receipts lists who got what and what it cost, of one record of history. The service's record names neither the payees
// of a call nor its fees, and a call also uses what was on its chain before: paid and used alone read as a profit. The
// missing facts come from the wallet's own journal, found by quote id and nothing else; of an operation of another
// wallet or device they read "not reported", and nothing is inferred.
//
// Terms looks a quote up in the journal (journal.Journal.Terms), Names gives the known name of an address, "" for none;
// both may be nil.
type Receipts struct {
	Catalog  *catalog.Catalog
	Accounts []api.Account
	Terms    func(quoteID string) (journal.Terms, bool)
	Names    func(address string) string
}

// Record holds the facts of a record of history. Got is in base units of GotAsset, which is CAIP-19. A status alone
// has neither, nor a Kind. Paid is in base units of PaidAsset, an aggregate or CAIP-19; PaidMicro and GotMicro are the
// values in micro USD that the record states, nil for none.
type Record struct {
	QuoteID, Kind, Status, GotAsset, Got, PaidAsset, Paid string

	PaidMicro, GotMicro *big.Int
}

// Row is one fact. Address is written in full beside Name, the known name; both are "" in a row about figures. Money
// means that Text is an amount; Amounts are figures in place of a text. Quiet facts matter to few people.
type Row struct {
	Label, Name, Address, Text string
	Amounts                    []verify.AmountView
	Money, Quiet               bool
}

// Rows are the payees, the payments, what was there before, the fees, and their sum where all of it is known.
func (s Receipts) Rows(r Record) []Row {
	t, own := s.terms(r.QuoteID)
	var out []Row
	for _, p := range t.Payees {
		out = append(out, s.payee(r, p))
	}
	for _, p := range t.Paid {
		out = append(out, Row{Label: "payment", Text: Placed(s.Catalog, p.Asset, p.Amount), Money: true})
	}
	if !Runs(r.Status) {
		return out
	}
	if r.Kind == api.RecordCall || t.There != nil {
		out = append(out, Row{Label: "was there", Text: s.there(t), Money: t.There != nil})
	}
	out = append(out, Row{Label: "fees", Text: s.Fees(r), Money: own && t.FeesNamed || s.FeesMicro(r) != nil})
	if sum := s.sum(r, t); sum != "" {
		out = append(out, Row{Text: sum, Money: true})
	}
	return out
}

// Payees names the payees of a quote in one line, "" where none is known.
func (s Receipts) Payees(quoteID string) string {
	t, _ := s.terms(quoteID)
	var out []string
	for _, p := range t.Payees {
		out = append(out, strings.TrimSpace(s.name(p.To)+" "+Clean(p.To, 200)))
	}
	return strings.Join(out, ", ")
}

// Used reports whether the amount that a record calls received went into a call: the account need not have received
// it.
func Used(kind string) bool { return kind == api.RecordCall }

// terms returns the terms of a quote; none for a record of another journal.
func (s Receipts) terms(quoteID string) (journal.Terms, bool) {
	if s.Terms == nil {
		return journal.Terms{}, false
	}
	if t, ok := s.Terms(quoteID); ok {
		return t, true
	}
	return journal.Terms{}, false
}

// Runs reports that a record with this status has moved money, or still may.
func Runs(status string) bool { return status != api.StatusRefunded && status != api.StatusFailed }

func (s Receipts) payee(r Record, p journal.Payee) Row {
	asset, base := p.Asset, p.Amount
	if asset == "" && r.Kind != api.RecordCall {
		asset, base = r.GotAsset, r.Got
	}
	row := Row{Label: "payee", Name: s.name(p.To), Address: p.To, Money: true}
	switch figure := Placed(s.Catalog, asset, base); {
	case !Runs(r.Status):
		row.Text, row.Money = "got nothing", false
	case asset == "" && r.Kind == "":
		row.Text, row.Money = "", false
	case asset == "":
		row.Text, row.Money = "the amount is not known here", false
	case r.Status == api.StatusCompleted, r.Status == api.StatusExecuted:
		row.Text = "got " + figure
	default:
		row.Text = "is to get " + figure
	}
	return row
}

// Whom names who got what a record delivered, in a few words: the payees of the journal, else of a swap or a transfer
// the recipient of the record. It is "" where that is only the person's own account, or not known.
func (s Receipts) Whom(r Record, recipient string) string {
	t, _ := s.terms(r.QuoteID)
	payees := make([]string, 0, len(t.Payees)+1)
	for _, p := range t.Payees {
		payees = append(payees, p.To)
	}
	if len(payees) == 0 && r.Kind != api.RecordCall && recipient != "" {
		payees = append(payees, recipient)
	}
	payees = slices.DeleteFunc(payees, s.own)
	if len(payees) == 0 {
		return ""
	}
	first := cmp.Or(s.name(payees[0]), ShortID(Checksummed(payees[0])))
	if n := len(payees) - 1; n > 0 {
		return first + " + " + strconv.Itoa(n)
	}
	return first
}

// Sent is what the payees of a call got of the asset that a record states, in base units, and whether that is all: not
// where they got other assets, too, or the call needed more than they got. It is "" where that is not known.
func (s Receipts) Sent(r Record) (base string, all bool) {
	t, _ := s.terms(r.QuoteID)
	sum, more := new(big.Int), false
	for _, p := range t.Payees {
		v, err := amount.ParseBase(p.Amount)
		switch {
		case p.Asset == "" || err != nil:
			return "", true
		case strings.EqualFold(p.Asset, r.GotAsset):
			sum.Add(sum, v)
		default:
			more = more || !s.own(p.To)
		}
	}
	if sum.Sign() == 0 {
		return "", !more
	}
	return sum.String(), !more && sum.String() == r.Got
}

// Left reports whether what a record delivered has left the person's accounts: it went to someone else, or into a
// call that does not only pay an own account.
func (s Receipts) Left(r Record, recipient string) bool {
	if r.Status != api.StatusCompleted && r.Status != api.StatusExecuted {
		return false
	}
	if t, _ := s.terms(r.QuoteID); r.Kind == api.RecordCall && len(t.Payees) == 0 {
		return true
	}
	return s.Whom(r, recipient) != ""
}

// own reports whether an address is one of the person's accounts.
func (s Receipts) own(address string) bool {
	return slices.ContainsFunc(s.Accounts, func(a api.Account) bool {
		return address == a.AccountAddress || strings.HasPrefix(address, "0x") &&
			strings.EqualFold(address, a.AccountAddress)
	})
}

func (s Receipts) name(address string) string {
	if s.own(address) {
		return "your own account"
	}
	if s.Names == nil {
		return ""
	}
	return Clean(s.Names(address), 60)
}

func (s Receipts) there(t journal.Terms) string {
	if t.There == nil {
		return NotReported
	}
	var out []string
	for _, x := range t.There {
		out = append(out, Placed(s.Catalog, x.Asset, x.Amount))
	}
	return strings.Join(out, ", ") + ", as the service said"
}

// sum writes "50 paid + 10 there = 59.9 used + 0.1 fees" in one asset where all of it is known and adds up, else
// nothing.
func (s Receipts) sum(r Record, t journal.Terms) string {
	if r.Kind != api.RecordCall || t.There == nil || !t.FeesNamed || r.Status != api.StatusCompleted {
		return ""
	}
	got, ok := s.entity(r.GotAsset)
	used, err := amount.ParseBase(r.Got)
	if !ok || err != nil {
		return ""
	}
	const most = 36 // more decimals than any asset has: no rounding
	total := func(list []journal.Spend) *big.Int {
		out := new(big.Int)
		for _, x := range list {
			e, known := s.entity(x.Asset)
			v, err := amount.ParseBase(x.Amount)
			if ok = ok && known && err == nil && e.Aggregate == got.Aggregate && e.Decimals <= most; ok {
				out.Add(out, amount.Scale(v, e.Decimals, most))
			}
		}
		return out
	}
	paid, before, fees := total(t.Paid), total(t.There), total(t.Fees)
	used = amount.Scale(used, got.Decimals, most)
	if !ok || new(big.Int).Add(paid, before).Cmp(new(big.Int).Add(used, fees)) != 0 {
		return ""
	}
	human := func(v *big.Int) string { return amount.Human(v, most) }
	return human(paid) + " paid + " + human(before) + " there before = " + human(used) + " used + " + human(fees) +
		" fees"
}

func (s Receipts) entity(asset string) (catalog.Entity, bool) {
	a, err := caip.ParseAsset(asset)
	if err != nil {
		return catalog.Entity{}, false
	}
	return s.Catalog.Entity(a)
}
