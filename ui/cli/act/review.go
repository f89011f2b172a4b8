package act

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"coffer/ui/cli"
	"coffer/ui/cli/check"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// about is what the pages of a review are made of: of the quote, or of the prepared operation. draw is that of the
// review; 0: its addresses are shown whole.
func (s *Session) about(x flow.Snapshot, second bool, draw uint32) present.Review {
	return present.Review{Review: x.Under(second), Catalog: s.Catalog, Previous: x.Previous,
		Signatures: x.SignaturesTotal, Person: s.person(draw),
		Names: s.nameOf, Clock: cli.Clock, GasTank: present.GasTank(s.Network)}
}

// person is what decides beside a review what has to be typed.
func (s *Session) person(draw uint32) consent.Person {
	return consent.Person{From: consent.TypeFrom(), Known: s.Known, Draw: draw}
}

// documents are the names of the reviews in --json.
func documents(second bool) string {
	if second {
		return "the quote"
	}
	return "the prepared call"
}

// reviewOf is a review as --json prints it, in the form of `coffer verify`.
func (s *Session) reviewOf(x flow.Snapshot, second bool) check.Review {
	r := s.about(x, second, 0)
	if second {
		if r.Quote == nil {
			r.Call = nil
		}
		return check.Of(documents(second), r)
	}
	return check.Prepared(documents(second), r)
}

// reviewText is a review as rows, with the hashes of what gets signed. shown are the facts of its rows.
func (s *Session) reviewText(x flow.Snapshot, second bool, draw uint32) (text string, shown []string) {
	p, r := &page{}, s.about(x, second, draw)
	if second && r.Quote == nil || !second && r.Call == nil {
		p.Line("REFUSED: the answer of the service cannot be signed")
		rows, _ := cli.Rows(present.Findings(r))
		return p.String() + rows, nil
	}
	p.Line(strings.ToUpper(r.Title()))
	p.Row("network", present.Network(s.Network.Kind))
	d := consent.Demanded(s.Catalog, r.Review, r.Person)
	var rows, hashes string
	if second {
		p.Row("expires", cli.Clock(r.Quote.Expires))
		rows, shown = cli.Rows(present.Review2(r))
		hashes, _ = cli.Rows(present.Quoted(r).Hide(d))
	} else {
		rows, shown = cli.Rows(present.Review1(r))
		hashes, _ = cli.Rows(present.Operated(r).Hide(d))
	}
	return p.String() + rows + hashes, shown
}

// unlike is the text of a review without the lines that the review before it has, below its title.
func unlike(text, before string) string {
	if before == "" {
		return text
	}
	known := map[string]bool{}
	for line := range strings.Lines(before) {
		known[line] = true
	}
	title, rest, _ := strings.Cut(text, "\n")
	var b strings.Builder
	fmt.Fprintln(&b, title+", WHAT IS NOT AS BEFORE")
	for line := range strings.Lines(rest) {
		if !known[line] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// at writes a time, "" for an unknown one.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (s *Session) chainName(id string) string { return present.ChainName(s.Catalog, id) }

// baseWords writes base units of an asset of an intent.
func (s *Session) baseWords(asset, base string) string {
	symbol, n := unitOf(s.Catalog, asset)
	if n < 0 {
		return clean(base) + " base units of " + clean(asset)
	}
	return figureOf(base, symbol, n)
}

func (s *Session) assetWords(asset string) string {
	symbol, _ := unitOf(s.Catalog, asset)
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", cmp.Or(symbol, "an unknown asset"), clean(asset)))
}
