package present

import (
	"math/big"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/op/erc20"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
)

// AllowanceState is what the journal says of an allowance. What is left of it on chain no record says.
type AllowanceState string

// The states: the operation set it and took it back; the operation did not set it, because enough was allowed before;
// the operation ended one.
const (
	AllowanceTakenBack AllowanceState = "taken back"
	AllowanceThere     AllowanceState = "was there before"
	AllowanceRevoked   AllowanceState = "revoked"
)

// Allowance is what an operation of this wallet let a contract take, or took back: Amount base units of Asset. Ran:
// the service says that the calls ran; else they may still run.
type Allowance struct {
	Asset, Spender string // CAIP-19, checksum form
	Amount         *big.Int
	State          AllowanceState
	Ran            bool
	Operation      string
	At             time.Time
}

// Allowances lists the allowances of the operations of some accounts that ran or may still run, each asset and spender
// once, as its newest operation has it. Only the account that set an allowance can take it back. Those that were there
// before come first: nothing here took them back. Payments are left out: a payment allows its escrow exactly what it
// pays, and the same operation pays it.
func Allowances(ops []journal.Operation, accounts []api.Account) []Allowance {
	var out []Allowance
	for _, o := range ops {
		ran := o.State == journal.Done && o.Outcome == api.StatusCompleted
		if !ran && (o.State.Terminal() || len(o.Signatures) == 0) {
			continue
		}
		d, err := intent.ParseDraft(o.Intent)
		if err != nil {
			continue // a swap or a transfer of another version has no allowances
		}
		if len(d.Accounts) > 0 && !slices.ContainsFunc(d.Accounts,
			func(a api.Account) bool { return a.IsEVM() && holds(accounts, a) }) {
			continue
		}
		var calls []api.Call
		for _, c := range d.Calls {
			calls = append(calls, api.Call{To: c.To})
		}
		for _, a := range d.Allowances {
			v, bad := amount.ParseBase(a.Amount)
			spender, found := api.SpenderOf(a, calls)
			if bad != nil || !found {
				continue
			}
			x := Allowance{Asset: a.AssetType, Spender: Checksummed(spender), Amount: v, State: AllowanceThere,
				Ran: ran, Operation: o.ID, At: o.Started}
			if v.Sign() == 0 {
				x.State = AllowanceRevoked
			} else if x.set(o) {
				x.State = AllowanceTakenBack
			}
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Allowance) int { return b.At.Compare(a.At) })
	seen := map[string]bool{}
	out = slices.DeleteFunc(out, func(x Allowance) bool {
		id := strings.ToLower(x.Asset + x.Spender)
		defer func() { seen[id] = true }()
		return seen[id]
	})
	slices.SortStableFunc(out, func(a, b Allowance) int { return a.order() - b.order() })
	return out
}

func holds(accounts []api.Account, a api.Account) bool {
	return slices.ContainsFunc(accounts,
		func(x api.Account) bool { return strings.EqualFold(x.AccountAddress, a.AccountAddress) })
}

func (x Allowance) order() int {
	if x.State == AllowanceThere {
		return 0
	}
	return 1
}

// set reports whether the operation set the allowance: by the rules of review 1 it then took it back, too. The journal
// keeps what was decoded from the signed bytes.
func (x Allowance) set(o journal.Operation) bool {
	asset, err := caip.ParseAsset(x.Asset)
	token, ok := asset.Token()
	if err != nil || !ok {
		return false
	}
	for _, g := range o.Agreed {
		for _, line := range g.Summary {
			if strings.HasPrefix(line, approveLine) && strings.Contains(line, ": to "+token.Hex()+",") &&
				strings.Contains(line, x.Spender) {
				return true
			}
		}
	}
	return false
}

// approveLine begins the line of an approval in the journal.
const approveLine = "approve "

// Words say what the journal knows of an allowance, and what it does not.
func (x Allowance) Words() string {
	words := map[AllowanceState]string{
		AllowanceTakenBack: "set and taken back by the same operation",
		AllowanceThere:     "not set here: as much was allowed before, and it was not taken back",
		AllowanceRevoked:   "revoked",
	}[x.State]
	if !x.Ran {
		words += ", once that operation runs"
	}
	return words
}

// Figure is how much the contract may take.
func (x Allowance) Figure(c *catalog.Catalog) string {
	figure := Figure(c, x.Asset, x.Amount.String())
	if erc20.Unlimited(x.Amount) {
		figure = unlimited + ", " + figure
	}
	return figure
}

// Brief is Figure in a few words.
func (x Allowance) Brief(c *catalog.Catalog) string {
	if symbol, _, ok := Asset(c, x.Asset); ok && erc20.Unlimited(x.Amount) {
		return unlimited + " " + symbol
	}
	return x.Figure(c)
}

const unlimited = "UNLIMITED"

// Rows are the facts of an allowance. names gives the known name of an address, "" for none; clock writes a time.
func (x Allowance) Rows(names func(string) string, clock func(time.Time) string) []Row {
	return []Row{{Label: "asset", Text: Whole(x.Asset)}, {Label: "spender", Name: Clean(names(x.Spender), 60),
		Address: x.Spender}, {Label: "journal", Text: x.Words()},
		{Label: "operation", Text: x.Operation + ", " + clock(x.At), Quiet: true}}
}

// AllowancesUnknown is what the list cannot say.
const AllowancesUnknown = "What is allowed on chain now is unknown: the service has no call that reads it."
