package act

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/verify"
)

// quiet is how long a question is on the screen before an answer counts: earlier input was typed for something else.
const quiet = 500 * time.Millisecond

// maxEarly bounds how many early answers one question takes before the input cannot come from a person.
const maxEarly = 20

// errNo means that the user did not confirm.
var errNo = errors.New("nothing was confirmed")

// agree gets everything that confirming a review takes: with --yes the accepted warnings and the sentence of an open
// gate from the command line, otherwise from the user. It returns the confirmation that the flow expects.
func (r *runner) agree(ctx context.Context, second bool) (string, error) {
	confirmed := ""
	if second {
		confirmed = r.x.Review2.Fingerprint
	} else if confirmed = r.x.Review1.Fingerprint; !faithful(r.x) {
		return "", &cli.RefusedError{Problem: "the operation is not what was asked for; it cannot be signed"}
	}
	k := r.s.demanded(r.x, second)
	if k.Phrase != "" {
		confirmed += "\n" + k.Phrase
	}
	if r.o.yes {
		if err := r.unaccepted(second); err != nil {
			return "", err
		}
		if k.Phrase != "" && !slices.Contains(r.o.confirm, k.Phrase) {
			return "", &cli.RefusedError{Problem: "a gate stands open; sign behind it only with --confirm \"" +
				k.Phrase + "\""}
		}
		return confirmed, r.unlock(ctx)
	}
	if err := r.unlock(ctx); err != nil {
		return "", err
	}
	if k.Phrase != "" {
		r.c.say("A gate stands open. To go on all the same, this sentence has to be typed exactly: %s", k.Phrase)
		if err := r.typed(ctx, "Type the sentence: ", func(s string) bool { return s == k.Phrase }); err != nil {
			return "", err
		}
	}
	switch {
	case k.TypesTail():
		r.c.say("The address is %s.", k.Tail)
		question := "To sign, type the last " + strconv.Itoa(consent.TailLetters) +
			" characters of that address, because " + present.Because(k) + ": "
		return confirmed, r.typed(ctx, question, k.Right)
	case k.Cause != consent.None:
		question := "To sign, type the amount " + k.AmountText() + ", because " + present.Because(k) + ": "
		return confirmed, r.typed(ctx, question, k.Right)
	case k.Phrase != "":
		return confirmed, nil
	}
	return confirmed, r.typed(ctx, "To sign, type yes: ", func(s string) bool { return strings.EqualFold(s, "yes") })
}

// unaccepted stops --yes at every warning that --accept does not name. An unknown cost counts as one, because no
// person looks at it.
func (r *runner) unaccepted(second bool) error {
	report := r.x.Report1
	if second {
		report = r.x.Report2
	}
	var codes, words []string
	for _, x := range report.Reasons {
		warns := x.Level == verify.Warn || x.Level == verify.Unknown && x.Code == "Q11"
		if !warns || slices.Contains(r.o.accept, x.Code) {
			continue
		}
		words = append(words, x.Code+" "+clean(x.Title))
		if !slices.Contains(codes, x.Code) {
			codes = append(codes, x.Code)
		}
	}
	if len(codes) == 0 {
		return nil
	}
	return &cli.RefusedError{
		Problem: "--yes stops at " + plural(len(words), "warning") + ": " + strings.Join(words, " ") +
			" To sign in spite of that, add --accept " + strings.Join(codes, ","),
	}
}

// typed asks until an answer was typed for this question; a wrong one confirms nothing.
func (r *runner) typed(ctx context.Context, question string, right func(string) bool) error {
	for range maxEarly {
		shown := r.c.Clock()
		answer, err := r.c.Prompt.Line(ctx, question)
		switch {
		case errors.Is(err, cli.ErrInterrupted):
			return errNo
		case err != nil:
			return err
		case r.c.Clock().Sub(shown) < quiet:
			r.c.say("That came before the question could be read and was dropped. Type it now.")
			continue
		case !right(answer):
			return errNo
		}
		return nil
	}
	return errNo
}

// unlock opens the keys, if the next signature needs them.
func (r *runner) unlock(ctx context.Context) error {
	if r.s.Locked == nil || !r.s.Locked() {
		return nil
	}
	r.c.say("The keys are locked; unlocking them signs nothing.")
	return r.s.Unlock(ctx)
}
