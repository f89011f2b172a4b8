package act

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/cli/act/plan"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Apply builds `coffer apply`.
func (c Commands) Apply(g *cli.Global) *cobra.Command {
	var o runOptions
	var p plan.Plan
	var again string
	cmd := &cobra.Command{
		Use:   "apply FILE",
		Short: "Carry out a plan file, once",
		Long: `Reads the plan, has the service prepare it, shows the plan beside the operation that came back, and
signs and sends it. The limits of the plan apply beside those of your policy. Coffer does not send a plan
twice, whatever came of it: to repeat it, write it with a new salt (coffer plan FILE --fresh) and type that salt with
--again.
` + signingHelp,
		Example: `  coffer apply pay.toml --dry-run
  coffer apply pay.toml
  coffer apply pay.toml --yes --json --passphrase-fd 3 3< <(pass show coffer)
  coffer apply pay.toml --again 5c1f0a9be2d47710`,
		Args: cli.OneArg("plan file"),
		PreRunE: func(cmd *cobra.Command, args []string) error {
			b, err := c.readFile(cmd, args[0])
			if err != nil {
				return err
			}
			if p, err = plan.Parse(b); err != nil {
				return usage("review it, then write it again: coffer plan FILE --out FILE", "%s: %s", clean(args[0]),
					clean(err.Error()))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&again, "again", "", "apply a plan that was applied before: type the new `SALT` of the plan")
	return c.signs(g, cmd, &o, func(cmd *cobra.Command, s *Session, _ []string) error {
		return c.apply(cmd.Context(), s, o, p, again)
	})
}

func (c Commands) apply(ctx context.Context, s *Session, o runOptions, p plan.Plan, again string) error {
	in, err := c.frozen(s, p.Intent)
	if err != nil {
		return err
	}
	limits, err := p.Limits.Verify()
	if err != nil {
		return usage("", "%s", clean(err.Error()))
	}
	hash, err := p.Hash()
	if err != nil {
		return err
	}
	var kept *appliedBook
	var work *Work
	me := application{Intent: hashOf(in), Plan: hash, Salt: p.Salt}
	return c.operate(ctx, s, o, job{
		in:     in,
		limits: func(base verify.Limits) (verify.Limits, error) { return narrow(base, limits) },
		begin: func(w *Work) (Operation, error) {
			var err error
			if kept, err = loadApplied(s); err != nil {
				return nil, err
			}
			work = w
			if err := s.notTwice(w, kept, me, again); err != nil {
				return nil, err
			}
			op, over := c.goOn(s, w, me.Intent)
			if over != nil {
				return nil, kept.already(*over)
			}
			return op, nil
		},
		before: func(id string) error {
			me.Operation, me.At = id, at(c.Clock())
			return c.claim(ctx, s, work, me, again)
		},
		compared: func(x flow.Snapshot) string { return differencesText(hash, s.differences(p, x, s.inCoins)) },
		extra: func(x flow.Snapshot) []member {
			return []member{{"plan", object(member{"hash", encode(hash)}, member{"salt", encode(p.Salt)},
				member{"differences", encode(s.differences(p, x, inWei))})}}
		},
	})
}

func hashOf(in intent.Intent) string {
	h := in.Hash()
	return hex.EncodeToString(h[:])
}

// claim checks, right before the first signature, that no other process carries out the same plan, and records the
// plan as applied.
func (c Commands) claim(ctx context.Context, s *Session, w *Work, me application, again string) error {
	release, err := w.Hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	kept, err := loadApplied(s)
	if err != nil {
		return err
	}
	if err := s.notTwice(w, kept, me, again); err != nil {
		return err
	}
	for _, rec := range w.Operations() {
		if rec.ID != me.Operation && rec.IntentHash == me.Intent && !rec.State.Terminal() && len(rec.Signatures) > 0 &&
			!wasSent(&rec) {
			return &cli.RefusedError{
				Problem: "another process of this wallet signed this plan meanwhile, as operation " + rec.ID +
					"; look at it first: coffer status " + rec.ID}
		}
	}
	if err := w.Yield(me.Operation, me.Intent); err != nil {
		return err
	}
	return kept.add(s, me)
}

// notTwice refuses a plan whose intent was sent before, unless its salt is new and was typed. A plan that the list has
// and the journal lacks was signed before an older journal was adopted; it counts as sent.
func (s *Session) notTwice(w *Work, kept *appliedBook, me application, again string) error {
	if again != "" && again != me.Salt {
		return usage("", "--again takes the salt of the plan, as the file has it")
	}
	var sent []journal.Operation
	for _, rec := range w.Operations() {
		if rec.IntentHash == me.Intent && (wasSent(&rec) || s.refusedAfterSending(&rec)) {
			sent = append(sent, rec)
		}
	}
	lost := kept.lost(w, me.Intent)
	switch {
	case len(sent)+len(lost) == 0:
		return nil
	case again == "" && len(sent) > 0:
		return kept.already(sent[len(sent)-1])
	case again == "":
		x := lost[len(lost)-1]
		return &cli.RefusedError{Problem: "this plan was applied on " + clean(x.At) + " as operation " +
			clean(x.Operation) + ", which this journal does not know: it is an older one " +
			"that was adopted. What became of the operation is not known here, so it counts as sent; to repeat the " +
			"plan, give it a new salt (coffer plan FILE --fresh) and type that with --again"}
	}
	sameSalt := func(x application) bool { return x.Salt == me.Salt }
	if slices.ContainsFunc(lost, sameSalt) {
		return errSalt()
	}
	for _, rec := range sent {
		if slices.ContainsFunc(kept.Applied, func(x application) bool {
			return x.Operation == rec.ID &&
				x.Intent == me.Intent && x.Salt == me.Salt
		}) {
			return errSalt()
		}
	}
	return nil
}

func errSalt() error {
	return &cli.RefusedError{
		Problem: "the plan was applied with this very salt; give it a new one: coffer plan FILE --fresh --out FILE"}
}

// lost are the uses of an intent for which the journal has no operation.
func (b *appliedBook) lost(w *Work, intentHash string) []application {
	list := w.Operations()
	var out []application
	for _, x := range b.Applied {
		if x.Intent == intentHash && record(list, x.Operation) == nil {
			out = append(out, x)
		}
	}
	return out
}

// already reports the outcome of a plan that was sent before, after asking for it.
func (b *appliedBook) already(rec journal.Operation) error {
	when := cli.Clock(rec.Started)
	for _, x := range b.Applied {
		if t, err := time.Parse(time.RFC3339, x.At); err == nil && x.Operation == rec.ID {
			when = cli.Clock(t)
		}
	}
	became := ""
	switch rec.State {
	case journal.Done:
		became = "it finished as " + clean(rec.Outcome) + ", as the service said"
	case journal.NotExecuted:
		became = "the service says that it never ran; what was signed for it can be live still"
	case journal.Abandoned:
		became = "it was sent, and only the service says that it did not take it"
	default:
		return outcome(cli.ExitUnknown, nil, "this plan was sent on %s and has no end that is known; it is not sent "+
			"again. Ask: coffer status %s --watch", when, rec.ID)
	}
	return &cli.RefusedError{Problem: "this plan was applied on " + when + " as operation " + rec.ID + ": " + became +
		". It is not applied twice; to repeat it, give it a new salt (coffer plan FILE --fresh) and type that with " +
		"--again"}
}

// leastLeft is how much of the window of a signed call must remain to continue with it.
const leastLeft = 2 * time.Minute

// goOn finds the operation of an intent that was signed and not sent, and abandons one that cannot continue. nil:
// none. over is one whose payments were sent and that only the service reports as refused: the plan counts as sent.
func (c Commands) goOn(s *Session, w *Work, hash string) (going Operation, over *journal.Operation) {
	list := w.Operations()
	for _, op := range w.Unfinished() {
		rec := record(list, op.ID())
		x := op.Snapshot()
		if rec == nil || rec.IntentHash != hash || x.State != flow.StateQuoting {
			continue
		}
		if x.Err == nil && (x.Intent.Exchanges() || c.Clock().Add(leastLeft).Before(x.Deadline)) {
			c.say("Going on with operation %s of %s, which was signed and not sent.", op.ID(), cli.Clock(rec.Started))
			return op, nil
		}
		if err := op.Abandon(); err != nil {
			c.say("Operation %s could not be abandoned: %s", op.ID(), err.Error())
		} else if rec.State = journal.Abandoned; s.refusedAfterSending(rec) {
			over = rec
		}
	}
	return nil, over
}

// refusedAfterSending reports that an abandoned operation had been sent, and that only the service says that it did
// not accept it.
func (s *Session) refusedAfterSending(rec *journal.Operation) bool {
	return !s.believes() && rec.State == journal.Abandoned && rec.BodyHash != ""
}

// narrow intersects the limits of a plan with those of the policy: what both allow is allowed.
func narrow(base, more verify.Limits) (verify.Limits, error) {
	out := base
	var none []string
	out.Chains = both(base.Chains, more.Chains, "chains", &none)
	out.Recipients = both(base.Recipients, more.Recipients, "recipients", &none)
	out.Contracts = both(base.Contracts, more.Contracts, "contracts", &none)
	if more.MaxSpend != nil && (base.MaxSpend == nil || more.MaxSpend.Cmp(base.MaxSpend) < 0) {
		out.MaxSpend = more.MaxSpend
	}
	out.MaxCostBps = least(base.MaxCostBps, more.MaxCostBps)
	out.MaxSlippageBps = least(base.MaxSlippageBps, more.MaxSlippageBps)
	out.NeverDelegate = base.NeverDelegate || more.NeverDelegate
	if len(none) > 0 {
		return out, &cli.RefusedError{Problem: "your policy and the plan have no " + strings.Join(none, " and no ") +
			" in common"}
	}
	return out, nil
}

// both is the intersection of two lists; an empty list allows everything, an empty intersection nothing.
func both[T comparable](a, b []T, what string, none *[]string) []T {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	var out []T
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		*none = append(*none, what)
	}
	return out
}

// least is the smaller of two bounds, where 0 means none.
func least(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
