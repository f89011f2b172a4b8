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
	return consent.Demanded(c.Catalog, c.under(st), c.deps.TypeFrom)
}

// under is a review as consent to it is given.
func (c *reviewSession) under(st stage) consent.Review { return c.snap.Under(st == stageReview2) }

func (c *reviewSession) fingerprint(st stage) string { return c.under(st).Fingerprint() }

// agreed asks for everything that confirming a review takes, one question each: the sentence of an open gate, then the
// amount or a word. It returns the consent if the person gave all of it before the deadline, and none otherwise.
func (c *reviewSession) agreed(ctx context.Context, st stage) (none consent.Consent, err error) {
	if words := c.obstacle(st); words != "" {
		c.out.say(words)
		return none, nil
	}
	if ok, err := c.unlock(ctx, st); !ok {
		return none, err
	}
	k, id, a := c.atStake(st), c.printed, consent.Answers{Shown: c.shown}
	if k.Phrase != "" {
		say := func() {
			c.out.say("A gate stands open. To " + c.verb(st) + " all the same, this sentence has to be typed exactly:")
			c.out.note(k.Phrase)
		}
		say()
		q := question{text: c.left(st) + " Type the sentence:", repeat: say}
		right := func(text string) bool { return text == k.Phrase }
		if a.Phrase, err = c.typed(ctx, st, q, right); a.Phrase == "" {
			return none, err
		}
	}
	q := question{text: c.left(st) + " To " + c.verb(st) + ", type "}
	switch because := ", because " + present.Because(k) + ":"; {
	case k.TypesTail():
		q.text += "the last " + itoa(consent.TailLetters) + " characters of the address above" + because
		q.repeat = func() { c.out.where(0, "The address", address(k.Tail)) }
		q.repeat()
		a.Typed, err = c.typed(ctx, st, q, k.Right)
	case k.Cause != consent.None:
		q.text += "the amount " + k.AmountText() + because
		a.Typed, err = c.typed(ctx, st, q, k.Right)
	case k.Phrase == "":
		q.text += "yes:"
		word := ""
		word, err = c.typed(ctx, st, q, func(text string) bool { return strings.EqualFold(text, "yes") })
		if word == "" {
			return none, err
		}
	}
	if err != nil || id != c.fingerprint(st) || c.obstacle(st) != "" || k.Cause != consent.None && a.Typed == "" {
		return none, err
	}
	given, err := consent.Give(c.under(st), k, a)
	if err != nil {
		c.out.say("Nothing was confirmed: " + why(err))
		return none, nil
	}
	return given, nil
}

// typed asks once for text to be typed by hand, and returns it. A wrong answer, or one after the deadline, confirms
// nothing and is returned as "".
func (c *reviewSession) typed(ctx context.Context, st stage, q question, right func(string) bool) (string, error) {
	text, err := c.confirm(ctx, q)
	switch {
	case err != nil:
		return "", err
	case c.obstacle(st) != "":
		c.out.say(c.obstacle(st))
		return "", nil
	case !right(text):
		c.out.say("That is not the same. Nothing was confirmed.")
		return "", nil
	}
	return text, nil
}

// obstacle says why a review cannot be confirmed now; "" when it can.
func (c *reviewSession) obstacle(st stage) string {
	switch {
	case c.printed == "" || c.printed != c.fingerprint(st):
		return "This review was not read out yet. Nothing was confirmed."
	case st == stageReview1 && c.expired(st):
		return "The time to sign this has ended, at " + c.clock(c.deadline(st)) + ". Nothing was confirmed."
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
		return "The time for this is over."
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
