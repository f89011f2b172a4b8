package present

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"coffer/api"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// firstWords are the warning about a payee that was never paid before.
const firstWords = "First payment to this address"

// warnings are everything of a review that asks for a look, beneath its headline.
func (p *Page) warnings(r Review) {
	start := len(*p)
	p.gates(r.Report)
	p.firstTimes(r)
	p.findings(r.Report)
	if r.Quote == nil {
		p.warningsOfCalls(r)
	} else {
		p.warningsOfQuote(r)
	}
	if n := len(*p); n > start && (*p)[n-1].Kind != KindBlank {
		p.blank()
	}
}

// warningsOfQuote are those of a quote.
func (p *Page) warningsOfQuote(r Review) {
	v := r.Quote
	p.delegated(r.legDelegations())
	p.worst(r)
	if v.Promise != nil {
		if tone, words := decides(*v.Promise); tone == ToneWarn {
			p.prose(0, deciding(), marked(tone, "Released on the word of "+words))
		}
	}
	if r.SolverCalls() {
		p.prose(0, []string{"quote.callTypeWords"}, marked(ToneWarn, Clean(v.CallTypeWords, 400)+" "+CreditsWords))
	}
	p.unknowns(v)
}

func deciding() []string { return []string{"quote.promise.attesters", "quote.promise.threshold"} }

// warningsOfCalls are those of review 1.
func (p *Page) warningsOfCalls(r Review) {
	v := r.Call
	if v.Delegation != nil {
		p.delegated([]delegationAt{{v.Delegation, 0, "call.delegation"}})
	}
	if v.AccountType == api.AccountRoleBased {
		p.text(marked(ToneWarn,
			"This approval never expires: it stays valid until another operation of this account uses its "+
				"nonce. It covers neither fees nor sponsor."))
	}
	if n := len(Assumed(r.Intent)); n > 0 {
		p.text(marked(ToneWarn, "Tried on an assumed state ("+Plural(n, "address", "addresses")+
			"); the chain's own one "+
			"decides when it runs"))
	}
}

// firstTimes warns about payees that were never paid before, in one line.
func (p *Page) firstTimes(r Review) {
	b := Block{Spans: []Span{marked(ToneWarn, firstWords)}}
	first, all := 0, 1
	switch v := r.Quote; {
	case v != nil && r.Exchange():
		if v.RecipientFirstTime {
			first, b.Paths = 1, []string{"quote.recipientFirstTime"}
		}
	case r.Call != nil:
		payees := r.Call.Payees()
		seen := make(map[string]bool)
		for _, x := range payees {
			if !seen[x.To] && x.FirstTime {
				first++
			}
			seen[x.To] = true
		}
		all = len(seen)
		if v == nil && all == 1 {
			for i, l := range r.Call.Lines {
				if l.FirstTime && l.Role == verify.RoleCall {
					b.Paths = append(b.Paths, item("call.lines", i)+".firstTime")
				}
			}
		}
	}
	if first == 0 {
		return
	}
	if all > 1 {
		b.Spans[0].Text = "First payment to " + strconv.Itoa(first) + " of " + Plural(all, "address", "addresses")
	}
	var found []verify.Reason
	for i, x := range r.Report.Reasons {
		if known(x) {
			found, b.Code, b.Paths = append(found, x), cited(x), append(b.Paths, consent.Finding(i))
		}
	}
	p.add(b)
	for _, x := range found {
		p.compared(1, 1, x)
	}
}

// known reports the finding that firstTimes has in its own words.
func known(x verify.Reason) bool {
	return (x.Title == verify.FirstPayment || x.Title == verify.FirstPayments) && x.Level == verify.Warn
}

// findings names every warning and everything that is blocked or not checked; open gates are named before.
func (p *Page) findings(report verify.Report) {
	for i, x := range report.Reasons {
		t := ToneWarn
		switch {
		case x.Level == verify.Show, x.Level == verify.Gate && x.Open:
			continue
		case known(x) && slices.Contains(p.Paths(), consent.Finding(i)):
			continue
		case x.Level == verify.Unknown:
			t = ToneUnknown
		case x.Level != verify.Warn:
			t = ToneDanger
		}
		p.add(Block{Spans: []Span{marked(t, Clean(Title(x), 400))}, Code: cited(x),
			Paths: []string{consent.Finding(i)}})
		p.compared(1, 1, x)
	}
}

// worst warns of what can leave in the worst case, where that is more than the headline counts: every signature of the
// operation runs and nothing that was promised arrives (TH-P6; docs/security.md).
func (p *Page) worst(r Review) {
	sums, more := consent.ByAsset(r.Catalog, r.Quote.Worst), ""
	if r.Call != nil {
		more = unreadable(r.Call)
	}
	if r.worstIsSaid() && more == "" {
		return
	}
	text := "As far as the call data shows, nothing can leave."
	if len(sums) > 0 {
		text = "Up to " + listed(sums, true) + " (" + Value(verify.Sum(sums)) + ") can leave"
		if r.Call != nil && len(r.Quote.Legs) > 0 {
			text = "If the stated balances are false, up" + strings.TrimPrefix(text, "Up")
		}
		if more != "" {
			more = "." + more
		}
	}
	p.prose(0, worstPaths(r), marked(ToneWarn, text+more))
}

func worstPaths(r Review) []string {
	var paths []string
	for i := range r.Quote.Worst {
		paths = append(paths, item("quote.worst", i))
	}
	return paths
}

// worstIsSaid reports whether no more can leave in the worst case than the headline counts.
func (r Review) worstIsSaid() bool {
	out := r.leavingSums()
	return !slices.ContainsFunc(r.sums(r.Quote.Worst), func(w verify.AmountView) bool {
		a := findAmount(out, w)
		return a == nil || w.Amount == nil || w.Decimals != a.Decimals || w.Amount.Cmp(a.Amount) > 0 ||
			(w.Micro == nil) != (a.Micro == nil) ||
			w.Micro != nil && new(big.Int).Sub(w.Micro, a.Micro).Cmp(big.NewInt(rounding)) > 0
	})
}
