package linear

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
)

// review reads a review out once, and asks what to do about it.
func (c *reviewSession) review(ctx context.Context, st stage) error {
	if c.printed != c.fingerprint(st) {
		c.draw = consent.Draw(c.deps.Random)
		c.readOut(st)
	}
	over := c.expired(st)
	confirm, all := capital(c.verb(st))+": you hear the rest, then a question confirms it", "Read all of it"
	if c.heard.rest {
		confirm, all = capital(c.verb(st))+": the next question confirms it", "Read the review again"
	}
	anew := "Ask for a new quote"
	if st == stageReview1 {
		anew = "Prepare it again"
	}
	m := menu{title: c.left(st), brief: c.brief && !over, careful: true}
	c.brief = false
	look := func(fn func()) func() error { return func() error { fn(); c.brief = true; return nil } }
	if !over {
		m.add(confirm, func() error { return c.decide(ctx, st) })
	}
	m.add(anew, func() error { c.anew(ctx, st); return nil })
	m.add(all, look(func() { c.readAll(st) }))
	m.add("List arithmetic, routing and every check", look(func() { c.explain(st); c.checks() }))
	m.add("Bytes and hashes, for comparing", look(func() { c.inspect(st) }))
	m.add("Spell the addresses", look(func() { c.spell(st) }))
	m.add("Change what you ask for", func() error { c.edit(nil); return nil })
	leaving := "Leave; nothing is signed"
	if c.signed {
		leaving = "Leave"
	}
	m.add(leaving, func() error { return errBack })
	return c.offer(ctx, m)
}

// decide asks for the confirmation and does what it confirms. A late answer leads to new figures, never to a signature.
func (c *reviewSession) decide(ctx context.Context, st stage) error {
	given, err := c.agreed(ctx, st)
	switch {
	case errors.Is(err, errBack):
		c.out.say("Nothing was confirmed.")
		return nil
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case c.expired(st):
		c.out.say("Coffer asks for a new one; what you typed for the old one does not count.")
		c.anew(ctx, st)
	case given == consent.Consent{}:
	case st == stageReview1:
		c.sign(ctx, given)
	default:
		c.execute(ctx, given)
	}
	return nil
}

// anew repeats the request under review.
func (c *reviewSession) anew(ctx context.Context, st stage) {
	if st == stageReview1 {
		c.prepare(ctx)
		return
	}
	c.quote(ctx)
}

func (c *reviewSession) edit(failures []api.Failure) {
	c.change = &edit{draft: c.snap.Intent, failures: failures}
}

// refused says which checks refused, which values they compared, and what to do.
func (c *reviewSession) refused(ctx context.Context) error {
	r := present.Review{}
	r.Report = c.report()
	c.out.page(present.Rejected(r, c.snap.Problem, c.stillLive()))
	m := menu{title: "It cannot be signed."}
	m.add("Change what you ask for", func() error { c.edit(nil); return nil })
	m.add("Ask again", func() error { c.again(ctx); return nil })
	m.add("List every check", func() error { c.checks(); return nil })
	m.add("Leave", func() error { return errBack })
	return c.offer(ctx, m)
}

// problem says what went wrong, what it means and what can be done.
func (c *reviewSession) problem(ctx context.Context) error {
	words, rest := present.Problem(c.snap, c.failed, c.last == stepExecute && c.before())
	c.out.say("Not done: " + sentence(clean(words, 2000)))
	for _, f := range rest {
		c.out.note(sentence(clean(f.String(), 600)))
	}
	if a := present.Help(c.failed, present.Hands{
		Change: "Change", Fields: "Change it", Retry: "try again", Follow: "Activity follows it",
	}); a != "" {
		c.out.say(a)
	}
	if !c.submitted() { // Activity and History show how it ended
		if live := c.stillLive(); live != "" {
			c.out.say(live)
		} else {
			c.out.say("Nothing was signed.")
		}
	}
	var m menu
	if c.canRetry() {
		m.add("Try again", func() error { c.again(ctx); return nil })
	}
	if !c.submitted() {
		m.add("Change what you ask for", func() error { c.edit(present.Failures(c.failed)); return nil })
	}
	m.add("Leave", func() error { return errBack })
	return c.offer(ctx, m)
}

// canRetry reports whether asking again makes sense. An execute is never repeated: after one without effect, the person
// can ask for a new quote.
func (c *reviewSession) canRetry() bool {
	return !c.submitted() && (c.last != stepExecute || c.snap.State == flow.StateReview2 ||
		c.snap.State == flow.StateQuoting)
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// plural is present.Plural, for short.
func plural(n int, one, many string) string { return present.Plural(n, one, many) }

// spell prints every address of a review and of its bytes for listening, each once.
func (c *reviewSession) spell(st stage) {
	seen := map[string]bool{}
	for _, l := range append(c.text(st), present.Inspect(c.about(st))...).Hide(c.atStake(st)).Say(false) {
		for _, s := range l.Spans {
			a := present.Checksummed(s.Raw)
			if a == "" || seen[a] || !s.Whole && !common.IsHexAddress(a) {
				continue
			}
			seen[a] = true
			c.out.where(0, capital(cmp.Or(l.Label, "address")), address(a))
			for _, group := range spelled(a) {
				c.out.note(group)
			}
		}
	}
}
