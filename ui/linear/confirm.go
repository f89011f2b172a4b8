package linear

import (
	"context"
	"strings"
	"time"

	"coffer/ui/present"
	"coffer/wallet/consent"
)

// atStake judges a review the way the screens do.
func (c *reviewSession) atStake(st stage) consent.Demand {
	return consent.Demanded(c.Catalog, c.under(st), c.person())
}

// person is what decides beside the review what has to be typed.
func (c *reviewSession) person() consent.Person {
	return consent.Person{From: c.deps.TypeFrom, Known: c.deps.Known, Draw: c.draw}
}

// under is a review as consent to it is given.
func (c *reviewSession) under(st stage) consent.Review { return c.snap.Under(st == stageReview2) }

func (c *reviewSession) fingerprint(st stage) string { return c.under(st).Fingerprint() }

// agreed asks for everything that confirming a review takes, one question each: the sentence of an open gate, the
// amount, the characters of an address, or a word. It returns the consent if the person gave all of it before the
// deadline, and none otherwise.
func (c *reviewSession) agreed(ctx context.Context, st stage) (none consent.Consent, err error) {
	if words := c.obstacle(st); words != "" {
		c.out.say(words)
		return none, nil
	}
	if ok, err := c.unlock(ctx, st); !ok {
		return none, err
	}
	c.readRest(st)
	k, id, a := c.atStake(st), c.printed, consent.Answers{Shown: c.shown}
	if k.Phrase != "" {
		say := func() {
			c.out.say("A gate is open. To " + c.verb(st) + " all the same, type this sentence exactly:")
			c.out.note(k.Phrase)
		}
		say()
		q := question{text: c.left(st) + " Type the sentence:", repeat: say}
		right := func(text string) bool { return text == k.Phrase }
		if a.Phrase, err = c.typed(ctx, st, q, "the sentence", right); a.Phrase == "" {
			return none, err
		}
	}
	to := " To " + c.verb(st) + ", type "
	because := ", because " + present.Because(k) + ":"
	if k.Least != "" {
		a.Amount, err = c.typed(ctx, st, question{text: c.left(st) + to + "the amount " + k.Least + because},
			k.Least, k.RightAmount)
		if a.Amount == "" {
			return none, err
		}
		to, because = " Type ", ":"
	}
	switch {
	case k.Address != "":
		q := question{text: c.left(st) + to + present.Typed(k) + because,
			repeat: func() {
				c.out.page(present.Page{{Spans: []present.Span{{Text: present.Address(k.Address)}}}}.Hide(
					k))
			}}
		a.Letters, err = c.typed(ctx, st, q, "those characters of the address", k.RightLetters)
		if a.Letters == "" {
			return none, err
		}
	case k.Cause == consent.None && k.Phrase == "":
		word, err := c.typed(ctx, st, question{text: c.left(st) + to + "yes:"}, "yes",
			func(text string) bool { return strings.EqualFold(text, "yes") })
		if word == "" {
			return none, err
		}
	}
	if id != c.fingerprint(st) || c.obstacle(st) != "" {
		return none, nil
	}
	given, err := consent.Give(c.under(st), k, a)
	if err != nil {
		c.out.say("Nothing was confirmed: " + why(err))
		return none, nil
	}
	return given, nil
}

// typed asks for text to be typed by hand, and returns it. After a wrong answer it asks again; an answer after the
// deadline confirms nothing and is returned as "".
func (c *reviewSession) typed(ctx context.Context, st stage, q question, expected string,
	right func(string) bool) (string, error) {
	for {
		text, err := c.confirm(ctx, q)
		switch {
		case err != nil:
			return "", err
		case c.obstacle(st) != "":
			c.out.say(c.obstacle(st))
			return "", nil
		case right(text):
			return text, nil
		}
		c.out.say("You typed \"" + clean(text, 60) + "\", expected " + expected +
			". Nothing was signed. Try again, or press Enter to go back.")
	}
}

// obstacle says why a review cannot be confirmed now; "" when it can.
func (c *reviewSession) obstacle(st stage) string {
	switch {
	case c.printed == "" || c.printed != c.fingerprint(st):
		return "This review was not read out yet. Nothing was confirmed."
	case st == stageReview1 && c.expired(st):
		return "The time to sign this expired at " + c.clock(c.deadline(st)) + ". Nothing was confirmed."
	case c.expired(st):
		return "This quote has expired, at " + c.clock(c.deadline(st)) + ". Nothing was confirmed."
	// the intent is compared again, byte for byte, with the calls decoded from the bytes to sign
	case st == stageReview1 && !consent.Faithful(c.snap.Intent, c.snap.Review1, c.snap.Report1):
		return "The operation is not what you asked for. It cannot be signed."
	}
	return ""
}

func (c *reviewSession) expired(st stage) bool { return !c.now().Before(c.deadline(st)) }

// left says how much time remains.
func (c *reviewSession) left(st stage) string {
	until := c.deadline(st)
	if c.expired(st) {
		return "The time for this has expired."
	}
	what := "The quote expires in "
	if st == stageReview1 {
		what = "This closes in "
	}
	return what + spanWords(until.Sub(c.now())) + ", at " + c.clock(until) + "."
}

// deadline is the moment after which a review cannot be confirmed; zero: unknown, and then nothing can be confirmed
// either.
func (c *reviewSession) deadline(st stage) time.Time { return present.Deadline(c.snap, c.under(st)) }
