// Package lab is the screen that compares the quotes of one order: it asks for the builder's draft, or for a question
// that was typed or pasted, under several variants, again and again, so that a person sees what a choice costs and how
// quotes drift.
//
// Promise: nothing is signed here, nothing is sent for execution, and nothing is written to the journal (package
// quotelab). Only the review signs a variant, and it asks anew.
//
// A round sends one request after the other, within the budget of quotelab. Watching repeats rounds with a pause. It
// stops by itself after MaxRounds, when the service asks for fewer requests, and when the person leaves the screen.
//
// The last MaxKept answers are saved between starts in "lab.json".
package lab

import (
	"context"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/quotelab"
	"coffer/wallet/intent"
)

// The bounds of the lab.
const (
	MaxRounds = 20
	MaxKept   = 200
	maxTyped  = 4096 // characters of a question that is typed; a pasted one may be longer
)

// Deps are the dependencies of the screen. Draft is the builder's present draft, called on the event loop; false: no
// draft. Quote asks for an intent and judges the answer, Balances reads the accounts' balances; both are called from
// commands. Balances nil: the lab tries only the draft's own funding.
type Deps struct {
	Draft    func() (intent.Draft, bool)
	Quote    func(ctx context.Context, in intent.Intent, held compose.Money) (quotelab.Answer, error)
	Balances func(ctx context.Context) (api.AggregatedBalance, error)
	Question string // to begin with, in place of the builder's draft; ""
}
