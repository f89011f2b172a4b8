package act

import (
	"fmt"
	"strings"
	"time"

	"coffer/ui/cli"
	"coffer/ui/cli/check"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
)

// about is what the pages of a review are made of: of the quote, or of the prepared operation.
func (s *Session) about(x flow.Snapshot, second bool) present.Review {
	return present.Review{Review: x.Under(second), Catalog: s.Catalog, Signatures: x.SignaturesTotal,
		From: consent.TypeFrom(), Names: s.Names, Clock: cli.Clock}
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
	r := s.about(x, second)
	if second {
		if r.Quote == nil {
			r.Call = nil
		}
		return check.Of(documents(second), r)
	}
	return check.Prepared(documents(second), r)
}

// reviewText is a review as rows, with the hashes of what gets signed. shown are the facts of its rows.
func (s *Session) reviewText(x flow.Snapshot, second bool) (text string, shown []string) {
	p, r := &page{}, s.about(x, second)
	if second && r.Quote == nil || !second && r.Call == nil {
		p.line("REFUSED: the answer of the service cannot be signed")
		rows, _ := cli.Rows(present.Findings(r))
		return p.b.String() + rows, nil
	}
	title, about, _ := strings.Cut(r.Title(), ":")
	p.line(strings.ToUpper(title) + ":" + about)
	p.row("network", present.Network(s.Network.Kind))
	var rows, hashes string
	if second {
		p.row("expires", clock(r.Quote.Expires))
		rows, shown = cli.Rows(present.Review2(r))
		hashes, _ = cli.Rows(present.Quoted(r))
	} else {
		rows, shown = cli.Rows(present.Review1(r))
		hashes, _ = cli.Rows(present.Operated(r))
	}
	return p.b.String() + rows + hashes, shown
}

func isExchange(d intent.Draft) bool {
	return d.Kind == intent.KindSwap || d.Kind == intent.KindTransfer
}

func clock(t time.Time) string { return cli.Clock(t) }

// at writes a time, "" for an unknown one.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func (s *Session) chainName(id string) string {
	if k, err := chainNamed(s.Catalog, id); err == nil {
		if info, ok := s.Catalog.Chain(k); ok {
			return info.Name
		}
	}
	return clean(id)
}

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
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", orElse(symbol, "an unknown asset"), clean(asset)))
}
