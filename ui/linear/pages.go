package linear

import (
	"strings"

	"coffer/ui/present"
	"coffer/wallet/verify"
)

// about is what the pages of a review are made of.
func (c *reviewSession) about(st stage) present.Review {
	return present.Review{Review: c.under(st), Catalog: c.Catalog, Previous: c.snap.Previous,
		Signatures: c.snap.SignaturesTotal, Person: c.person(), Names: c.ctx.Names, Clock: c.clock,
		GasTank: present.GasTank(c.ctx.Network)}
}

// text is the page of a review.
func (c *reviewSession) text(st stage) present.Page {
	if st == stageReview2 {
		return present.Review2(c.about(st))
	}
	return present.Review1(c.about(st))
}

// hearing is how much of a review was said. Of the next review of the same stage only lines that differ are said:
// what is said in the same words is known.
type hearing struct {
	stage  stage
	rest   bool            // all of it was said, and not only what comes first
	lines  map[string]bool // of this review, said or known
	before map[string]bool // of the review before it
}

// binding is what binds of a review; explain prints the rest.
func (c *reviewSession) binding(st stage) present.Page { return c.text(st).Without(1).Shut(nil) }

// readOut says the headline, the warnings and the cost of a review, and of a new one after another what is not as
// before. readRest says everything else that binds, which has to be heard before the review can be confirmed.
func (c *reviewSession) readOut(st stage) {
	known := c.heard
	c.heard = hearing{stage: st, lines: map[string]bool{}}
	title := c.about(st).Title() + ". " + c.networkWords()
	if known.stage == st && len(known.lines) > 0 {
		c.heard.before, title = known.lines, c.about(st).Title()+". What is not as before:"
	}
	c.out.say(title)
	c.shown, c.printed = nil, c.fingerprint(st)
	c.hear(c.binding(st).First())
	if known.rest && c.heard.before != nil {
		c.readRest(st)
	}
}

func (c *reviewSession) readRest(st stage) {
	if !c.heard.rest {
		c.heard.rest = true
		c.hear(c.binding(st).Rest())
	}
}

// readAll says all that binds once more.
func (c *reviewSession) readAll(st stage) {
	c.out.say(c.about(st).Title() + ". " + c.networkWords())
	c.heard = hearing{stage: st, rest: true, lines: map[string]bool{}}
	c.shown = nil
	c.hear(c.binding(st))
}

// hear says the lines of a page that are not known.
func (c *reviewSession) hear(p present.Page) {
	var say []present.Line
	for _, l := range p.Say(false) {
		words := strings.Join([]string{l.Label, l.Word, l.Code, l.Text()}, " ")
		if !c.heard.before[words] {
			say = append(say, l)
		}
		c.heard.lines[words] = true
	}
	c.out.lines(say)
	c.shown = append(c.shown, p.Paths()...)
}

// explain prints what no consent depends on: the counts of the checks, the arithmetic, the routing, the fingerprint.
func (c *reviewSession) explain(st stage) { c.out.page(c.text(st).Without(1).Folds()) }

// report returns the findings on the last answer that was judged.
func (c *reviewSession) report() verify.Report {
	if c.snap.Report2.Refused() || c.snap.Review2 != nil {
		return c.snap.Report2
	}
	return c.snap.Report1
}

// checks prints every check: blocked, warnings, not checked, notes, passed.
func (c *reviewSession) checks() { c.out.page(present.Checks(c.report()).Hide(c.atStake(c.stage()))) }

// inspect prints bytes and hashes in groups of four, for comparing with a second machine.
func (c *reviewSession) inspect(st stage) {
	c.out.page(present.Inspect(c.about(st)).Without(0).Hide(c.atStake(st)))
}

// maxLevel bounds the indent of a nested argument, in steps of two cells.
const maxLevel = 9

// page prints a page, one sentence for each fact, and returns the facts that it has.
func (p *printer) page(page present.Page) (shown []string) {
	p.lines(page.Say(false))
	return page.Paths()
}

func (p *printer) lines(list []present.Line) {
	for _, l := range list {
		var out []span
		switch {
		case l.Label != "" && l.Level == 0:
			out = append(out, plain(capital(l.Label)+": "))
		case l.Label != "":
			out = append(out, plain(l.Label+": "))
		case l.Row:
			l.Level++
		case l.Level == 0 && len(l.Spans) > 0:
			l.Spans[0].Text = capital(l.Spans[0].Text)
		}
		address := false
		for _, s := range l.Spans {
			if s.Text != "" {
				out, address = append(out, span{Text: s.Text, Whole: s.Whole}), s.Raw != ""
			}
		}
		if n := len(out); n > 0 && !address { // nothing follows an address, which may be copied
			out[n-1].Text = ended(strings.TrimRight(out[n-1].Text, " "))
		}
		p.put(2*min(l.Level, maxLevel), out...)
	}
}

// ended ends a text with a full stop, where no other mark ends it.
func ended(text string) string {
	if strings.HasSuffix(text, ":") {
		return text
	}
	if end := sentence(text); len(end) > len(strings.TrimSpace(text)) {
		return text + "."
	}
	return text
}

// assetWords names an asset of an intent: its symbol, and its chain if it belongs to one.
func (s *session) assetWords(asset string) string {
	text := present.AssetName(s.Catalog, asset)
	if on := chainIn(asset); on != "" {
		text += " on " + present.ChainName(s.Catalog, on)
	}
	return text
}
