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

// page is a result in rows.
type page struct {
	cli.Sheet
	shown []string // the facts of the reviews
}

// text writes the result for people.
func (r Result) text() string {
	p := &page{}
	p.Line(verdict(r.Accepted))
	p.Row("judged at", r.Now+" ("+r.NowFrom+")")
	if n := r.Network; n != nil {
		p.Row("network", n.ID)
		p.Sub("kind", kindWords(n.Kind))
		p.Sub("compare", n.Fingerprint)
	}
	if r.Policy == "" {
		p.Row("policy", "none: the limits of the program itself")
	} else {
		p.Row("policy", r.Policy)
	}
	if i := r.Intent; i != nil {
		p.Row("intent", i.ID+", a "+i.Kind+" for "+i.Interface)
		p.Sub("hash", i.Hash)
		for _, a := range i.Accounts {
			p.Row("account", a.Address+" ("+a.Type+")")
			p.Sub("signer", a.Signer)
			p.Sub("session", a.Session)
			p.Sub("admin", a.Admin)
		}
	}
	p.reasons(r.Reasons)
	for _, v := range r.Reviews {
		p.review(v)
	}
	return p.String()
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
	case network.Test:
		return "TEST, as its file says: coins of public test networks, worth nothing"
	case network.Real:
		return "REAL, as its file says: REAL MONEY"
	}
	return strings.ToUpper(kind)
}

func (p *page) review(r Review) {
	p.Line("")
	p.Line(strings.ToUpper(r.Document) + ": " + strings.ToLower(verdict(r.Accepted)))
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
		p.Row("ends", r.Quote.Expires)
	}
	rows, shown := cli.Rows(text)
	p.shown = append(p.shown, shown...)
	fmt.Fprint(p, rows)
	for i, o := range r.Operations {
		p.operation(i+1, o)
	}
	p.Row("passed", strconv.Itoa(len(r.Passed))+" checks")
	for _, c := range r.Passed {
		p.Sub(c.Code, c.Title)
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
			p.Row(word+" "+x.Code, x.Title)
			p.Sub("setting", x.Setting)
			p.Sub("at", x.Path)
			p.Sub("expected", x.Want)
			p.Sub("found", x.Got)
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
	p.Row("to sign "+strconv.Itoa(n), o.Role+" operation of "+o.Sender+" on "+o.Chain)
	hash, digest := "userOpHash", "EIP-191 digest"
	switch o.Type {
	case api.AccountRoleBased:
		digest = "EIP-712 digest"
	case api.AccountSolana:
		hash, digest = "message SHA-256", ""
	}
	p.Sub("nonce", o.Nonce)
	p.Sub("block hash", o.BlockHash)
	for _, a := range o.Spends {
		p.Sub("spends", a.String())
	}
	p.Sub(hash, o.Hash)
	if digest != "" {
		p.Sub(digest, o.Digest)
	}
	p.Sub("delegation hash", o.Delegation)
}
