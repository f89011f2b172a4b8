package act

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/consent"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// runOptions are the flags of everything that signs.
type runOptions struct {
	json, yes, dry  bool
	wait            time.Duration
	confirm, accept []string
	maxCost         int64
}

// defaultWait is how long a command waits for the end of what it sent. Settlement takes seconds; for anything longer
// the user asks later.
const defaultWait = 10 * time.Minute

func (o *runOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print what happened as JSON")
	f.BoolVar(&o.yes, "yes", false,
		"sign without asking, if every check passes and no warning is left that --accept does not name")
	f.BoolVar(&o.dry, "dry-run", false, "ask the service, check and print; sign nothing, write nothing")
	f.DurationVar(&o.wait, "wait", defaultWait, "how long to wait for the end of what was sent; 0: not at all")
	f.StringArrayVar(&o.confirm, "confirm", nil, "with --yes: the `SENTENCE` of an open gate (may be repeated)")
	f.StringSliceVar(&o.accept, "accept", nil,
		"with --yes: the `CODES` of the warnings that you accept, such as V4,Q11")
	f.Int64Var(&o.maxCost, "max-cost-bps", 0, "the most that may be lost on the way, in basis points of what is "+
		"paid; raises the limit of this program, not that of your policy file")
}

// signs completes a command that signs. What cannot be signed in any case it refuses before anything is opened.
func (c Commands) signs(g *cli.Global, cmd *cobra.Command, o *runOptions,
	work func(cmd *cobra.Command, s *Session, args []string) error) *cobra.Command {
	o.flags(cmd)
	read := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := o.ready(c); err != nil || read == nil {
			return err
		}
		return read(cmd, args)
	}
	return c.chosen(g, cmd, work)
}

func (o *runOptions) ready(c Commands) error {
	switch {
	case o.wait < 0:
		return usage("0 does not wait", "--wait takes a length of time such as 2m")
	case o.dry && o.yes:
		return usage("", "--dry-run signs nothing, so it takes no --yes")
	case len(o.confirm) > 0 && !o.yes:
		return usage("", "--confirm belongs to --yes; without it you type the sentence")
	case len(o.accept) > 0 && !o.yes:
		return usage("", "--accept belongs to --yes; without it every warning is shown before the question")
	case o.maxCost < 0 || o.maxCost > 10_000:
		return usage("", "--max-cost-bps takes basis points from 1 to 10000 (100 are 1 %%)")
	case !o.dry && !o.yes && !c.Terminal:
		return usage("look first with --dry-run", "there is no terminal to confirm on: signing needs --yes")
	}
	return nil
}

// limits narrows and widens the limits of the policy by the command line, after the job did.
func (o *runOptions) limits(job Tighten) Tighten {
	return func(l verify.Limits) (verify.Limits, error) {
		if job != nil {
			var err error
			if l, err = job(l); err != nil {
				return l, err
			}
		}
		if bps := int(o.maxCost); bps > 0 {
			l.MaxCostBps, l.AllowCostBps = least(l.MaxCostBps, bps), bps
		}
		return l, nil
	}
}

// watched refuses a request that no key here can sign. A dry run continues and reports it.
func (r *runner) watched(ctx context.Context) error {
	words := r.s.WatchOnly(ctx)
	switch {
	case words == "":
		return nil
	case r.o.dry:
		r.c.say("Nothing could be signed: %s.", words)
		return nil
	}
	return &cli.AccessError{Problem: "nothing was asked, because nothing can be signed: " + words,
		Hint: "--dry-run still asks the service and shows the result"}
}

// job is what to run. limits narrows the policy, begin may continue an earlier operation (nil: start a new one),
// before is called once right before the first signature, compared adds lines to a review, and extra members to the
// JSON.
type job struct {
	in       intent.Intent
	limits   Tighten
	begin    func(w *Work) (Operation, error)
	before   func(id string) error
	compared func(x flow.Snapshot) string
	extra    func(x flow.Snapshot) []member
}

// runner takes one operation to its end.
type runner struct {
	c      Commands
	s      *Session
	o      runOptions
	j      job
	w      *Work
	op     Operation
	x      flow.Snapshot
	signed bool
	shown  []string  // the facts of the review that was printed last, or that are as in the one before
	told   [2]string // the whole text of the last review 1 and of the last quote
	draw   uint32    // where in an address characters are typed for that review
	// prepared and quote are the last answers that passed; the journal keeps them until the operation has ended.
	prepared, quote []byte
}

// operate runs a job and prints its outcome.
func (c Commands) operate(ctx context.Context, s *Session, o runOptions, j job) (err error) {
	open := s.Work
	if o.dry {
		open = s.Try
	}
	w, err := open(o.limits(j.limits))
	if err != nil {
		return err
	}
	if w.Remark != "" {
		c.say("%s", w.Remark)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if !o.dry {
		defer keepGoing()() // a reader that has left must not end the program between a signature and the journal
	}
	r := &runner{c: c, s: s, o: o, j: j, w: w}
	if !o.yes && !o.dry {
		held, end := c.Prompt.Hold(ctx)
		defer end()
		if ctx = held; s.Lock != nil {
			cli.OnSuspend(ctx, s.Lock)
		}
	}
	if err := w.Reconcile(ctx); err != nil {
		return stopped(err.Error(), err)
	}
	if j.begin != nil {
		if r.op, err = j.begin(w); err != nil {
			return err
		}
	}
	if r.op == nil {
		if err := r.watched(ctx); err != nil {
			return err
		}
		if r.op, err = w.Start(ctx, j.in); err != nil {
			if interrupted(err) {
				return stopped("", err)
			}
			return err
		}
	}
	r.x = r.op.Snapshot()
	r.signed = r.x.SignaturesDone > 0
	err = r.run(ctx)
	r.details(err)
	r.inTheWay(err)
	r.leave()
	if failed := r.print(ctx, err); failed != nil && err == nil {
		return unprinted(r.x, failed)
	}
	return err
}

// unprinted is the error of an operation that is done and whose result could not be printed: the exit code makes a
// script ask for the outcome, because "failed" could make it do the operation again. When nothing is done, as in a dry
// run, printing has failed.
func unprinted(x flow.Snapshot, err error) error {
	if x.State != flow.StateDone {
		return err
	}
	return outcome(cli.ExitUnknown, err,
		"it is done, but the result could not be printed (%s). Ask for it: coffer status %s", err.Error(), x.ID)
}

// details prints every failure that the service lists.
func (r *runner) details(err error) {
	var no *api.Error
	if errors.As(err, &no) {
		for _, f := range no.Details {
			r.c.say("  %s", clean(f.String()))
		}
	}
}

// inTheWay names what is open when an earlier signature is why nothing can be signed now (TH-U3).
func (r *runner) inTheWay(err error) {
	if err == nil || !errors.Is(err, journal.ErrConflict) && !r.x.Report1.Has("U3", verify.Refuse) &&
		!r.x.Report2.Has("U3", verify.Refuse) {
		return
	}
	list := r.w.Operations()
	for _, op := range r.w.Unfinished() {
		if rec := record(list, op.ID()); op.ID() != r.op.ID() && rec != nil {
			r.c.say("Operation %s of %s has not finished: coffer status %s --watch", op.ID(), cli.Clock(rec.Started),
				op.ID())
		}
	}
}

// run goes through the reviews.
func (r *runner) run(ctx context.Context) error {
	var err error
	switch {
	case r.x.State == flow.StateQuoting: // signed before, continues with a new quote
		r.x, err = r.op.Requote(ctx)
	case r.x.Intent.Exchanges():
		r.c.say("Asking for a quote. Nothing is signed.")
		r.x, err = r.op.Quote(ctx)
	default:
		if done, err := r.first(ctx); done || err != nil {
			return err
		}
	}
	if err != nil {
		r.show(true)
		return ended(r.x, err)
	}
	return r.second(ctx)
}

// first is the call up to its first signature and the quote; done: no further review.
func (r *runner) first(ctx context.Context) (done bool, err error) {
	for {
		r.c.say("Asking the service to prepare the operation. Nothing is signed.")
		if r.x, err = r.op.Prepare(ctx); err != nil {
			r.show(false)
			return true, ended(r.x, err)
		}
		r.show(false)
		if r.o.dry {
			return true, nil
		}
		given, err := r.agree(ctx, false)
		if err == nil {
			err = r.once()
		}
		if err != nil {
			return true, r.unconfirmed(err)
		}
		r.c.say("Signing the call and asking for a quote.")
		r.signed = true
		r.x, err = r.op.SignPrepared(ctx, given)
		if r.x.State == flow.StateReview1 {
			r.signed = false
		}
		switch {
		case errors.Is(err, flow.ErrExpired) && !r.o.yes:
			r.c.say("This review has expired. Coffer asks for a new one; what you typed does not count.")
			continue
		case r.x.State == flow.StateAccepted || r.x.State == flow.StateUnknown:
			return true, r.watch(ctx)
		case err != nil:
			r.show(true)
			return true, ended(r.x, err)
		}
		return false, nil
	}
}

// second reviews the quote, signs what it asks for, and sends it.
func (r *runner) second(ctx context.Context) error {
	for {
		r.show(true)
		if r.o.dry {
			return nil
		}
		given, err := r.agree(ctx, true)
		if err == nil {
			err = r.once()
		}
		if err != nil {
			return r.unconfirmed(err)
		}
		r.x, err = r.op.Execute(ctx, given, r.progress)
		r.signed = r.signed || r.x.SignaturesDone > 0
		switch {
		case r.x.State == flow.StateAccepted || r.x.State == flow.StateUnknown:
			return r.watch(ctx)
		case err != nil && over(err) && !r.o.yes:
			r.c.say("The quote has expired. Asking for a new one; what you typed does not count.")
			if r.x, err = r.op.Requote(ctx); err != nil {
				r.show(true)
				return ended(r.x, err)
			}
		case err != nil:
			return ended(r.x, err)
		}
	}
}

// over reports that time ran out before any effect.
func over(err error) bool {
	var no *api.Error
	return errors.Is(err, flow.ErrExpired) || errors.As(err, &no) && no.Name == api.ErrQuoteExpired
}

// once does what has to be on disk before the first signature.
func (r *runner) once() error {
	if r.j.before == nil {
		return nil
	}
	before := r.j.before
	r.j.before = nil
	return before(r.op.ID())
}

// unconfirmed is the end of an operation that was not confirmed.
func (r *runner) unconfirmed(err error) error {
	switch {
	case errors.Is(err, errNo):
		return outcome(cli.ExitExpired, err, "nothing was confirmed; nothing was sent")
	case interrupted(err):
		return stopped("", err)
	}
	return err
}

// progress prints each step of an execute.
func (r *runner) progress(e flow.Event) {
	switch e.Kind {
	case flow.EventSigned:
		what := r.s.chainName(e.Chain)
		if names := present.SignatureNames(r.x); e.Index >= 1 && e.Index <= len(names) {
			what = names[e.Index-1]
		}
		r.c.say("Signature %d of %d is given: %s.", e.Index, r.x.SignaturesTotal, what)
	case flow.EventJournaled:
		r.c.say("Written to the journal.")
	case flow.EventSent:
		r.c.say("Sent to the service, once.")
	case flow.EventAccepted:
		r.c.say("Accepted by the service.")
	}
}

// watch follows a sent operation for as long as --wait says, and prints how it ended or how to continue.
func (r *runner) watch(ctx context.Context) error {
	if r.o.wait == 0 {
		r.x = r.op.Snapshot()
		return unended(r.x, "it was sent and is not waited for", nil)
	}
	limited, end := context.WithTimeoutCause(ctx, r.o.wait, errWaited)
	defer end()
	err := follow(limited, r.c, r.op, &r.x)
	if errors.Is(context.Cause(limited), errWaited) &&
		(r.x.State == flow.StateAccepted || r.x.State == flow.StateUnknown) {
		return unended(r.x, "it has not finished after "+r.o.wait.String(), err)
	}
	return ended(r.x, err)
}

// errWaited is the cause of a wait that is over.
var errWaited = errors.New("the wait has expired")

// follow prints every change of a sent operation.
func follow(ctx context.Context, c Commands, op Operation, x *flow.Snapshot) error {
	last, seen := "", map[string]bool{}
	say := func(s flow.Snapshot) {
		st := present.StateOf(s, present.Live{}, stamp, present.Keys{})
		words := st.Word + ". " + st.Sentence
		if s.Problem != "" && !s.State.Terminal() {
			words += " " + s.Problem
		}
		if words != last {
			last = words
			c.say("%s %s", c.Clock().UTC().Format(time.TimeOnly), words)
		}
		for _, b := range present.Became(s.Became, s.Status.Status) {
			if !seen[b.Text] && s.Err != nil { // afterwards the result says it
				seen[b.Text] = true
				c.say("%s %s", c.Clock().UTC().Format(time.TimeOnly), b.Text)
			}
		}
	}
	if s := op.Snapshot(); s.State == flow.StateUnknown {
		say(s)
	}
	var err error
	*x, err = op.Watch(ctx, say)
	return err
}

// show prints a review where the user reads, or as the data of a dry run. Of a review that takes the place of another
// one it prints the lines that are not as before.
func (r *runner) show(second bool) {
	if rec := record(r.w.Operations(), r.op.ID()); rec != nil {
		r.prepared, r.quote = rec.Prepared, rec.Quote
	}
	if second && r.x.Review2 == nil && !judged(r.x.Report2) || !second && r.x.Review1 == nil && !judged(r.x.Report1) {
		return // no answer to review
	}
	r.draw = 0 // where no one types, addresses are shown whole
	if !r.o.dry && !r.o.yes {
		r.draw = consent.Draw(r.c.Random)
	}
	text, shown := r.s.reviewText(r.x, second, r.draw)
	r.shown = shown
	if r.j.compared != nil {
		text += r.j.compared(r.x)
	}
	if r.o.dry && !r.o.json {
		fmt.Fprint(r.c.Out, text)
		return
	}
	at := 0
	if second {
		at = 1
	}
	before := r.told[at]
	if r.told[at] = text; len(shown) == 0 { // refused
		before = ""
	}
	fmt.Fprint(r.c.Err, unlike(text, before))
}

// leave ends an operation of which nothing was signed, and reports what else is left behind.
func (r *runner) leave() {
	switch {
	case r.x.State.Terminal(), r.x.State == flow.StateAccepted, r.x.State == flow.StateUnknown,
		r.x.State == flow.StateExecuting:
	case r.signed:
		r.c.say("What was signed can still be used until it ends: see `coffer activity`. The service may have it.")
	default:
		if err := r.op.Abandon(); err != nil && !errors.Is(err, flow.ErrState) {
			r.c.say("The journal could not be written: %s", err.Error())
		}
		if !r.o.dry {
			r.c.say("Nothing was signed.")
		}
	}
}
