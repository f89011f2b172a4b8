package act

import (
	"context"
	"errors"
	"slices"
	"strings"

	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/consent"
)

// maxEarly bounds how many early answers one question takes before the input cannot come from a person.
const maxEarly = 20

// errNo means that the user did not confirm.
var errNo = errors.New("nothing was confirmed")

// agree gets everything that confirming a review takes: with --yes the accepted warnings and the sentence of an open
// gate from the command line, otherwise from the user.
func (r *runner) agree(ctx context.Context, second bool) (none consent.Consent, err error) {
	review := r.x.Under(second)
	k := consent.Demanded(r.s.Catalog, review, r.s.person(r.draw))
	if r.o.yes {
		given, err := consent.ByPolicy(review, r.o.accept, r.o.confirm)
		if err != nil {
			return none, &cli.RefusedError{Problem: r.stopped(err, review, k.Phrase)}
		}
		return given, r.unlock(ctx)
	}
	if err := r.unlock(ctx); err != nil {
		return none, err
	}
	a := consent.Answers{Shown: r.shown}
	if k.Phrase != "" {
		r.c.say("A gate is open. To go on all the same, type this sentence exactly: %s", k.Phrase)
		a.Phrase, err = r.typed(ctx, "Type the sentence: ", func(s string) bool { return s == k.Phrase })
		if err != nil {
			return none, err
		}
	}
	to, because := "To sign, type ", ", because "+present.Because(k)+": "
	if k.Least != "" {
		if a.Amount, err = r.typed(ctx, to+"the amount "+k.Least+because, k.RightAmount); err != nil {
			return none, err
		}
		to, because = "Type ", ": "
	}
	switch {
	case k.Address != "":
		a.Letters, err = r.typed(ctx, to+present.Typed(k)+because, k.RightLetters)
	case k.Cause == consent.None && k.Phrase == "":
		_, err = r.typed(ctx, to+"yes: ", func(s string) bool { return strings.EqualFold(s, "yes") })
	}
	if err != nil {
		return none, err
	}
	given, err := consent.Give(review, k, a)
	if err != nil {
		return none, &cli.RefusedError{Problem: err.Error()}
	}
	return given, nil
}

// stopped says why --yes did not consent, and what would.
func (r *runner) stopped(err error, review consent.Review, phrase string) string {
	switch {
	case errors.Is(err, consent.ErrTyped):
		return "a gate is open; sign behind it only with --confirm \"" + phrase + "\""
	case !errors.Is(err, consent.ErrWarnings):
		return err.Error()
	}
	var codes, words []string
	for _, x := range consent.Unaccepted(review.Report, r.o.accept) {
		words = append(words, x.Code+" "+clean(x.Title))
		if !slices.Contains(codes, x.Code) {
			codes = append(codes, x.Code)
		}
	}
	return "--yes stops at " + present.Plural(len(words), "warning", "warnings") + ": " + strings.Join(words, " ") +
		" To sign in spite of that, add --accept " + strings.Join(codes, ",")
}

// typed asks until an answer was typed for this question, and returns it; a wrong one confirms nothing.
func (r *runner) typed(ctx context.Context, question string, right func(string) bool) (string, error) {
	for range maxEarly {
		shown := r.c.Clock()
		answer, err := r.c.Prompt.Line(ctx, question)
		switch {
		case errors.Is(err, cli.ErrInterrupted):
			return "", errNo
		case err != nil:
			return "", err
		case r.c.Clock().Sub(shown) < consent.Quiet:
			r.c.say("That came before the question could be read and was dropped. Type it now.")
			continue
		case !right(answer):
			return "", errNo
		}
		return answer, nil
	}
	return "", errNo
}

// unlock opens the keys, if the next signature needs them.
func (r *runner) unlock(ctx context.Context) error {
	if !r.s.Locked() {
		return nil
	}
	r.c.say("The keys are locked; unlocking them signs nothing.")
	return r.s.Unlock(ctx)
}
