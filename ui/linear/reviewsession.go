package linear

import (
	"context"
	"errors"

	"coffer/api"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/vault"
)

// stage says what a review session waits for.
type stage = present.Stage

const (
	stageReview1 = present.StageReview1
	stageReview2 = present.StageReview2
	stageRefused = present.StageRefused
	stageProblem = present.StageProblem
	stageGone    = present.StageGone
)

// step names the last step.
type step int

const (
	stepNone step = iota
	stepPrepare
	stepQuote
	stepSign
	stepExecute
)

// edit asks the builder to continue with the draft; failures are its mistakes, by path.
type edit struct {
	draft    intent.Draft
	failures []api.Failure
}

// reviewSession is one operation on its way through the reviews.
type reviewSession struct {
	*session
	op      Operation
	snap    flow.Snapshot
	failed  error // of the last step
	last    step
	signed  bool     // something was signed
	printed string   // fingerprint of the last review that was read out
	shown   []string // the facts of that review that were said, or are as in the one before
	heard   hearing
	draw    uint32 // where in an address characters are typed, new for each review
	brief   bool   // the choices were just printed
	change  *edit  // set when the person wants to change the request
}

// operate takes an intent to its end. It returns the edit when the person wants to change the request.
func (s *session) operate(ctx context.Context, in intent.Intent) (*edit, error) {
	op, err := s.deps.Start(ctx, in)
	if err != nil {
		s.out.say("It cannot be begun: " + why(err) + " Nothing was signed.")
		return &edit{draft: in.Draft(), failures: present.Failures(err)}, nil
	}
	c := &reviewSession{session: s, op: op, snap: op.Snapshot()}
	c.snap.Intent = in.Draft()
	if c.exchange() {
		c.quote(ctx)
	} else {
		c.prepare(ctx)
	}
	err = c.run(ctx)
	return c.change, err
}

// reopen continues an operation that waits for a review.
func (s *session) reopen(ctx context.Context, op Operation) (*edit, error) {
	c := &reviewSession{session: s, op: op, snap: op.Snapshot()}
	c.note()
	switch {
	case c.snap.State == flow.StateQuoting && c.snap.Over:
		c.prepare(ctx)
	case c.snap.State == flow.StateQuoting:
		c.quote(ctx)
	}
	err := c.run(ctx)
	return c.change, err
}

// run leads the conversation until the operation is sent, left or changed.
func (c *reviewSession) run(ctx context.Context) error {
	for {
		var err error
		switch st := c.stage(); st {
		case stageReview1, stageReview2:
			err = c.review(ctx, st)
		case stageRefused:
			err = c.refused(ctx)
		case stageProblem:
			err = c.problem(ctx)
		case stageGone:
			return c.follow(ctx, c.op)
		}
		if err == nil && c.change == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err == nil && c.change == nil {
			continue
		}
		c.leave()
		if errors.Is(err, errBack) && !c.signed {
			c.edit(nil) // the step had no effect: the draft is still there
			return nil
		}
		return err
	}
}

// stage is the stage of the operation.
func (c *reviewSession) stage() stage {
	at := present.StageOf(c.snap)
	if c.failed != nil && at != stageRefused && at != stageGone && !c.lockedOut() {
		return stageProblem
	}
	return at
}

// lockedOut reports whether the last step needed a key of a locked vault: the review is unchanged then.
func (c *reviewSession) lockedOut() bool {
	return c.deps.Unlock != nil && errors.Is(c.failed, vault.ErrLocked)
}

// took records the outcome of a step.
func (c *reviewSession) took(at step, snap flow.Snapshot, err error) {
	c.snap, c.failed, c.last = snap, err, at
	c.note()
	if c.lockedOut() {
		c.out.say("The keys have locked themselves meanwhile. Nothing was signed; unlock them and confirm again.")
	}
}

func (c *reviewSession) prepare(ctx context.Context) {
	c.out.say("Asking the service to prepare the operation. Nothing is signed.")
	snap, err := c.op.Prepare(ctx)
	c.took(stepPrepare, snap, err)
}

// quote asks for a quote: the first one, or another one for the operation that is signed already.
func (c *reviewSession) quote(ctx context.Context) {
	c.out.say("Asking for a quote.")
	ask := c.op.Requote
	if c.exchange() {
		ask = c.op.Quote
	}
	snap, err := ask(ctx)
	c.took(stepQuote, snap, err)
}

// again repeats the failed step, or asks anew.
func (c *reviewSession) again(ctx context.Context) {
	var no *api.Error
	switch {
	case c.exchange():
		c.quote(ctx)
	case errors.As(c.failed, &no) && no.Name == api.ErrPrepareAgain, c.op.Snapshot().Over, c.stage() == stageReview1,
		c.last == stepPrepare, !c.signed:
		c.prepare(ctx)
	default:
		c.quote(ctx)
	}
}

// sign signs what was confirmed. The end of ctx does not cancel it: the journal records every signature that is made.
func (c *reviewSession) sign(ctx context.Context, given consent.Consent) {
	c.out.say("Signing.")
	before := c.signed
	c.signed = true
	snap, err := c.op.SignPrepared(context.WithoutCancel(ctx), given)
	if err != nil && snap.State == flow.StateReview1 {
		c.signed = before
	}
	c.took(stepSign, snap, err)
	if snap.SignaturesDone > 0 {
		c.out.say("Signature " + upTo(snap.SignaturesDone) + " of " + itoa(c.total()) + " is given.")
	}
}

// execute signs the payments and sends them; like sign it runs to its end.
func (c *reviewSession) execute(ctx context.Context, given consent.Consent) {
	c.out.say("Signing and sending.")
	snap, err := c.op.Execute(context.WithoutCancel(ctx), given, func(e flow.Event) {
		switch e.Kind {
		case flow.EventSigned:
			c.out.note("Signature " + itoa(e.Index) + " of " + itoa(c.total()) + " is given: " +
				c.signatureWords(e.Index) + ".")
		case flow.EventJournaled:
			c.out.note("Written to the journal.")
		case flow.EventSent:
			c.out.note("Sent to the service, once.")
		case flow.EventAccepted:
			c.out.note("Accepted by the service.")
		}
	})
	c.took(stepExecute, snap, err)
}

// note records what was signed or sent of the operation: nothing that is asked for next takes it back.
func (c *reviewSession) note() {
	id := c.snap.ID
	something, payment := present.WasSigned(c.snap)
	c.given[id] = c.given[id] || something
	c.paidFor[id] = c.paidFor[id] || payment
	c.signed = c.signed || c.given[id]
}

// before reports whether more was signed than review 1 asks for: payments of an earlier quote, or a quote that was sent
// and not accepted.
func (c *reviewSession) before() bool { return c.paidFor[c.snap.ID] || c.snap.BodyHash != "" }

// submitted reports whether the quote was sent before: nothing here may send a second one.
func (c *reviewSession) submitted() bool { return errors.Is(c.failed, flow.ErrSubmitted) }

// leave says what stays behind. It abandons an operation of which nothing was signed.
func (c *reviewSession) leave() {
	switch {
	case c.signed && (c.exchange() || c.before()):
		c.out.say("Left. What you signed before can still be used until it ends: see Activity.")
	case c.signed:
		c.out.say("Left. " + c.about(stageReview2).FirstLives() + ": see Activity.")
	default:
		if err := c.op.Abandon(); err != nil && !errors.Is(err, flow.ErrState) {
			c.out.say("The journal could not be written: " + why(err))
		}
		if c.change != nil {
			c.out.say("Nothing was signed. This is what you asked for:")
		} else {
			c.out.say("Left. Nothing was signed.")
		}
	}
}

func upTo(n int) string {
	if n == 1 {
		return "1"
	}
	return "1 to " + itoa(n)
}
