package present

import (
	"strings"
	"time"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Signature is a signature that the service can still use: of an operation, a Solana message or a delegation. Until
// is the end of its window; zero: it has none, or it is unknown. Ends is when it certainly becomes unusable, by the
// clock of the front end (zero: no time ends it); until then it counts as open, because clocks differ. Void says in
// plain words what ends it. Operation is the id of its operation, Code the contract to which a delegation gives the EOA
// (checksum form). Hash identifies the signed operation. Voidable says that a person may void it, Voided when that was
// (zero: never).
type Signature struct {
	Operation string
	Hash      string
	Summary   verify.OpSummary
	Until     time.Time
	Ends      time.Time
	Void      string
	Code      string
	Voidable  bool
	Voided    time.Time
}

// Signatures reads the journal's live signatures with the catalogue; amounts are in base units. behind is how far the
// clock that decides about their end is behind the clock of the front end (not above 0).
func Signatures(c *catalog.Catalog, live []journal.Outstanding, behind time.Duration) []Signature {
	out := make([]Signature, 0, len(live))
	for _, o := range live {
		sum := verify.OpSummary{
			Role: o.Role, Kind: o.Kind, Chain: o.Chain, Sender: o.Sender, Lane: o.Lane, Nonce: o.Nonce,
			BlockHash: o.BlockHash, ValidUntil: o.ValidUntil,
		}
		for _, p := range o.Spend {
			sum.Spend = append(sum.Spend, Base(c, p.Asset, p.Amount))
		}
		one := Signature{Operation: o.Op, Hash: o.OpHash, Summary: sum, Void: o.Void, Voidable: o.Voidable(),
			Voided: o.VoidedAt}
		if o.Role == journal.RoleDelegation && o.Delegation != nil {
			one.Code = Checksummed(o.Delegation.Contract)
		}
		if o.ValidUntil > 0 && o.ValidUntil < verify.NoEnd && o.Role != journal.RoleDelegation {
			one.Until = time.Unix(o.ValidUntil, 0)
		}
		if end, ends := o.Ends(); ends && o.ValidUntil > 0 {
			one.Ends = end.Add(-behind)
		}
		out = append(out, one)
	}
	return out
}

// Base reads an amount in base units of an asset (CAIP-19); an asset that the catalogue does not know keeps its base
// units. A text that is no amount is an unknown one.
func Base(c *catalog.Catalog, asset, base string) verify.AmountView {
	v := verify.AmountView{Decimals: -1}
	v.Asset, _ = caip.ParseAsset(asset)
	v.Amount, _ = amount.ParseBase(base)
	if e, ok := c.Entity(v.Asset); ok {
		v.Symbol, v.Decimals = e.Symbol, e.Decimals
	}
	if info, ok := c.Chain(v.Asset.Chain); ok {
		v.ChainName = info.Name
	}
	return v
}

// over reports whether a signature has certainly ended.
func (s Signature) over(now time.Time) bool { return !s.Ends.IsZero() && !now.Before(s.Ends) }

// Open keeps the signatures that have not ended at a moment.
func Open(list []Signature, now time.Time) []Signature {
	var out []Signature
	for _, s := range list {
		if !s.over(now) {
			out = append(out, s)
		}
	}
	return out
}

// LiveOf counts the live signatures of an operation at a moment; closed are those that own nodes closed, and known says
// that the journal was read. Delegations do not count: each lives on its own.
func LiveOf(list []Signature, closed []Closed, operation string, now time.Time, known bool) Live {
	l, endless := Live{Known: known, Seen: closedOf(closed, operation)}, false
	for _, s := range list {
		if s.Operation != operation || s.Summary.Role == journal.RoleDelegation || s.over(now) {
			continue
		}
		l.N++
		endless = endless || s.Ends.IsZero()
		if s.Ends.After(l.Until) {
			l.Until = s.Ends
		}
	}
	if endless {
		l.Until = time.Time{}
	}
	return l
}

// Name says what a signature is for, and on which chain.
func (s Signature) Name(c *catalog.Catalog) string {
	what := "a signature of an unknown kind"
	switch s.Summary.Role {
	case verify.RolePrepared:
		what = "the call itself,"
	case verify.RoleFunding:
		what = "a payment"
	case verify.RoleSwap:
		what = "the payment of a swap,"
	case verify.RoleTransfer:
		what = "the payment of a transfer,"
	case journal.RoleDelegation:
		what = "a delegation of your EOA"
	}
	return what + " on " + ChainName(c, s.Summary.Chain)
}

// Lasts says until when a signature can be used. at writes a moment and left a duration as the front end does.
func (s Signature) Lasts(now time.Time, at func(time.Time) string, left func(time.Duration) string) string {
	switch {
	case !s.Voided.IsZero():
		return "voided by you"
	case s.Until.IsZero():
		return "never expires"
	case !now.Before(s.Until):
		return "over; counted until " + at(s.Ends) + ", as clocks differ"
	}
	return "until " + at(s.Until) + ", in " + left(s.Until.Sub(now))
}

// Rows are the facts of a signature: its account, what it allows, its nonce, and what ends it. what describes its
// operation, "" if that is not known.
func (s Signature) Rows(c *catalog.Catalog, what string) []Row {
	out := []Row{{Label: "account", Address: s.Summary.Sender, Text: AccountType(s.Summary.Kind)}}
	if what != "" {
		out = append(out, Row{Label: "for", Text: what})
	}
	if s.Code != "" {
		out = append(out, Row{Label: "the code", Address: s.Code})
	}
	allows := Row{Label: "allows", Amounts: s.Summary.Spend}
	switch {
	case s.Summary.Role == journal.RoleDelegation:
		allows = Row{Label: "allows", Text: "the code to control everything in this EOA there, until you change it"}
	case len(s.Summary.Spend) == 0:
		allows.Text = "nothing of a known value; the reviewed calls can run"
	}
	nonce := Row{Label: "nonce", Text: Clean(s.Summary.Nonce, 80), Quiet: true}
	if s.Summary.BlockHash != "" {
		nonce = Row{Label: "block hash", Address: s.Summary.BlockHash, Quiet: true}
	}
	ends := Clean(s.Void, 600)
	if ends == "" {
		ends = "Not known: take it to be usable for ever."
	}
	if n := s.Summary.Nonce; n != "" {
		ends = strings.NewReplacer("uses nonce "+n+" ", "uses this nonce ", "until nonce "+n+" ", "until this nonce ").
			Replace(ends)
	}
	ends = strings.ReplaceAll(ends, s.Summary.Chain, ChainName(c, s.Summary.Chain))
	return append(out, allows, nonce, Row{Label: "ends", Text: ends})
}

// spokenDigits is how many digits of a number a listener can hold.
const spokenDigits = 12

// BriefDigits is a long number by its length and its end, for a listener; any other text it returns unchanged.
func BriefDigits(n string) string {
	if len(n) <= spokenDigits || strings.Trim(n, "0123456789") != "" {
		return n
	}
	return Plural(len(n), "digit", "digits") + ", ending in " + n[len(n)-4:]
}

// SignatureNames names the signatures of an operation in signing order, as far as its reviews show them.
func SignatureNames(x flow.Snapshot) []string { return Review{Review: x.Under(true)}.SignatureNames() }

// SignatureNames names the signatures of an operation in signing order, as far as its reviews show them: a delegation
// comes before the operation that needs it. The first ones of a call are those of review 1.
func (r Review) SignatureNames() []string {
	var out []string
	sign := func(d *verify.DelegationView, what string) {
		if d != nil {
			out = append(out, "the delegation of your EOA on "+chainName(d.Chain))
		}
		out = append(out, what)
	}
	if !r.Exchange() {
		if v := r.Call; v != nil {
			sign(v.Delegation, "the call on "+chainName(v.Chain))
		} else {
			sign(nil, "the call")
		}
	}
	if q := r.Quote; q != nil && !q.SameChainOnly {
		for _, l := range q.Legs {
			sign(l.Delegation, "payment on "+chainName(l.Chain))
		}
	}
	return out
}
