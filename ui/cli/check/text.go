package check

import (
	"fmt"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// page collects lines of a label and a value.
type page struct {
	b     strings.Builder
	shown []string // the facts of the reviews
}

// column is where values begin, as in cli.Rows.
const column = 23

func (p *page) line(s string) { p.b.WriteString(s + "\n") }

// row writes a value after its label; nothing without a value.
func (p *page) row(label, value string) {
	if value != "" {
		p.line(fmt.Sprintf("  %-*s%s", column-2, label, value))
	}
}

// sub writes a row that belongs to the one above.
func (p *page) sub(label, value string) { p.row("  "+label, value) }

// text writes the result for people.
func (r Result) text() string {
	p := &page{}
	p.line(verdict(r.Accepted))
	p.row("judged at", r.Now+" ("+r.NowFrom+")")
	if n := r.Network; n != nil {
		p.row("network", n.ID)
		p.sub("kind", kindWords(n.Kind))
		p.sub("compare", n.Fingerprint)
	}
	if r.Policy == "" {
		p.row("policy", "none: the limits of the program itself")
	} else {
		p.row("policy", r.Policy)
	}
	if i := r.Intent; i != nil {
		p.row("intent", i.ID+", a "+i.Kind+" for "+i.Interface)
		p.sub("hash", i.Hash)
		for _, a := range i.Accounts {
			p.row("account", a.Address+" ("+a.Type+")")
			p.sub("signer", a.Signer)
			p.sub("session", a.Session)
			p.sub("admin", a.Admin)
		}
	}
	p.reasons(r.Reasons)
	for _, v := range r.Reviews {
		p.review(v)
	}
	return p.b.String()
}

func verdict(accepted bool) string {
	if accepted {
		return "ACCEPTED"
	}
	return "REFUSED"
}

// kindWords states loudly whether money is real; the file declares the kind.
func kindWords(kind string) string {
	switch network.Kind(kind) {
	case network.Embedded:
		return "EMBEDDED, as its file says: play money inside one program"
	case network.Lab:
		return "LAB, as its file says: play money of a team"
	case network.Real:
		return "REAL, as its file says: REAL MONEY"
	}
	return strings.ToUpper(kind)
}

func (p *page) review(r Review) {
	p.line("")
	p.line(strings.ToUpper(r.Document) + ": " + strings.ToLower(verdict(r.Accepted)))
	a := r.about
	var text present.Page
	switch {
	case r.Quote != nil:
		text = append(present.Review2(a), present.Quoted(a)...)
	case r.Call != nil:
		text = append(present.Review1(a), present.Operated(a)...)
	default:
		p.reasons(r.Reasons)
		return
	}
	if r.Quote != nil {
		p.row("ends", r.Quote.Expires)
	}
	rows, shown := cli.Rows(text)
	p.shown = append(p.shown, shown...)
	p.b.WriteString(rows)
	for i, o := range r.Operations {
		p.operation(i+1, o)
	}
	p.row("passed", strconv.Itoa(len(r.Passed))+" checks")
	for _, c := range r.Passed {
		p.sub(c.Code, c.Title)
	}
}

// reasons writes the reasons, the worst first.
func (p *page) reasons(list []Reason) {
	for _, level := range []verify.Level{verify.Refuse, verify.Gate, verify.Warn, verify.Unknown, verify.Show} {
		for _, x := range list {
			if x.Level != string(level) {
				continue
			}
			word := strings.ToUpper(x.Level)
			if level == verify.Gate {
				word += map[bool]string{true: " (open)", false: " (closed)"}[x.Open]
			}
			p.row(word+" "+x.Code, x.Title)
			p.sub("setting", x.Setting)
			p.sub("at", x.Path)
			p.sub("expected", x.Want)
			p.sub("found", x.Got)
		}
	}
}

// String writes an amount with its unit, the base units and the asset.
func (a Amount) String() string {
	s := a.Amount + " base units of " + a.Asset
	if a.Symbol != "" {
		s = a.Human + " " + a.Symbol + " (" + s + ")"
	}
	return s
}

// operation writes the digests under their names for the account's type.
func (p *page) operation(n int, o Operation) {
	p.row("to sign "+strconv.Itoa(n), o.Role+" operation of "+o.Sender+" on "+o.Chain)
	hash, digest := "userOpHash", "EIP-191 digest"
	switch o.Type {
	case api.AccountRoleBased:
		digest = "EIP-712 digest"
	case api.AccountSolana:
		hash, digest = "message SHA-256", ""
	}
	p.sub("nonce", o.Nonce)
	p.sub("block hash", o.BlockHash)
	for _, a := range o.Spends {
		p.sub("spends", a.String())
	}
	p.sub(hash, o.Hash)
	if digest != "" {
		p.sub(digest, o.Digest)
	}
	p.sub("delegation hash", o.Delegation)
}
