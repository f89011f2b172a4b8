// Package consent decides what a person must have seen and typed before anything is signed, and makes the Consent by
// which package flow signs.
//
// Promise: every front end asks for the same. Facts lists everything that a review states; each mandatory fact must
// have been shown, or Give refuses. A Consent is made here only, from the answers of a person (Give) or from warnings
// and sentences that a command names (ByPolicy). It is bound to the fingerprint of one review and to the value of every
// fact in it: flow compares it with the document that it holds itself, so that a review which was altered on its way to
// the screen is not signed.
//
// Units: micro USD, base units, basis points. There is no input, output or clock here. Sources: protocol §1; TH-V1–V4.
package consent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// Quiet is how long a question is on the screen before an answer to it counts: earlier input was meant for something
// else.
const Quiet = 500 * time.Millisecond

// Review is a document under confirmation. Call is review 1, nil for a swap or a transfer. Quote is nil while review 1
// is under confirmation. Report belongs to the document under confirmation, which came At that time.
type Review struct {
	Intent intent.Draft
	Call   *verify.PreparedView
	Quote  *verify.QuoteView
	Report verify.Report
	At     time.Time
}

// Fingerprint identifies the document and the intent under confirmation; "" without a document.
func (r Review) Fingerprint() string {
	switch {
	case r.Quote != nil:
		return r.Quote.Fingerprint
	case r.Call != nil:
		return r.Call.Fingerprint
	}
	return ""
}

// Phrase is the sentence to type because a gate stands open; "" when none does.
func (r Review) Phrase() string {
	switch {
	case r.Quote != nil:
		return r.Quote.Phrase
	case r.Call != nil:
		return r.Call.Phrase
	}
	return ""
}

// Whole reports whether confirming this review is the whole consent: nothing else is asked before the calls run.
func (r Review) Whole() bool { return r.Quote != nil || r.Call != nil && r.Call.WholeConsent }

// Consent is the permission to sign one review. The zero Consent permits nothing.
type Consent struct {
	confirmation string
	facts        [32]byte
}

// Permits reports whether the consent was given for exactly this review: its fingerprint, the sentence of its open
// gates, and the value of every fact.
func (c Consent) Permits(r Review) bool {
	return c.confirmation != "" && c.confirmation == confirmation(r) && c.facts == digest(Facts(r))
}

// Confirmation is the fingerprint of the review and, behind an open gate, a newline and the sentence that was typed:
// the journal's record of what was confirmed.
func (c Consent) Confirmation() string { return c.confirmation }

func confirmation(r Review) string {
	if p := r.Phrase(); p != "" {
		return r.Fingerprint() + "\n" + p
	}
	return r.Fingerprint()
}

// The reasons for which no Consent is made.
var (
	ErrNothing  = errors.New("there is no review to confirm")
	ErrUnlike   = errors.New("the operation is not what was asked for; it cannot be signed")
	ErrUnshown  = errors.New("not everything that this review states was shown")
	ErrTyped    = errors.New("what was typed is not what this review asks for")
	ErrWarnings = errors.New("there are warnings that were not accepted")
)

// Answers are what a person did to confirm a review. Shown holds the paths of the facts that were on the screen or
// printed. Phrase is the sentence as it was typed, Amount the beginning of the amount, Letters the characters of the
// address; each is "" where it is not asked for.
type Answers struct {
	Shown   []string
	Phrase  string
	Amount  string
	Letters string
}

// Give makes the consent of a person to a review. d is what confirming it takes, as Demanded says it of this review.
func Give(r Review, d Demand, a Answers) (Consent, error) {
	if err := signable(r); err != nil {
		return Consent{}, err
	}
	if missing := Unshown(r, a.Shown); len(missing) > 0 {
		return Consent{}, fmt.Errorf("%w: %s", ErrUnshown, strings.Join(missing, ", "))
	}
	if d.review != r.Fingerprint() || d.Phrase != r.Phrase() || a.Phrase != d.Phrase || !d.RightAmount(a.Amount) ||
		!d.RightLetters(a.Letters) {
		return Consent{}, ErrTyped
	}
	return made(r), nil
}

// ByPolicy makes a consent where no person looks: accepted are the codes of warnings that the command names, phrases
// the sentences. Every warning and an unknown cost must be named, and the sentence of every open gate given.
func ByPolicy(r Review, accepted, phrases []string) (Consent, error) {
	if err := signable(r); err != nil {
		return Consent{}, err
	}
	if len(Unaccepted(r.Report, accepted)) > 0 {
		return Consent{}, ErrWarnings
	}
	if p := r.Phrase(); p != "" && !slices.Contains(phrases, p) {
		return Consent{}, ErrTyped
	}
	return made(r), nil
}

// Unaccepted lists the findings at which ByPolicy stops: every warning, and a cost that is not known, because no person
// looks at it.
func Unaccepted(r verify.Report, accepted []string) []verify.Reason {
	var out []verify.Reason
	for _, x := range r.Reasons {
		stops := x.Level == verify.Warn || x.Level == verify.Unknown && x.Code == "Q11"
		if stops && !slices.Contains(accepted, x.Code) {
			out = append(out, x)
		}
	}
	return out
}

func made(r Review) Consent { return Consent{confirmation: confirmation(r), facts: digest(Facts(r))} }

// signable refuses a review that nothing can be signed for.
func signable(r Review) error {
	switch {
	case r.Fingerprint() == "":
		return ErrNothing
	case r.Report.Refused(), r.Quote == nil && !Faithful(r.Intent, r.Call, r.Report):
		return ErrUnlike
	}
	return nil
}
