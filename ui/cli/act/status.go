package act

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/pattern"
	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// The rhythm of status questions.
const (
	firstPoll   = 300 * time.Millisecond
	longestPoll = 5 * time.Second
)

// notSeenMargin is how long after the expiry of a quote an empty status means that it never ran (protocol §4.3).
const notSeenMargin = 30 * time.Second

var (
	reQuote     = pattern.New(`^0x[0-9a-fA-F]{64}$`)
	reOperation = pattern.New(`^[0-9a-f]{16}$`)
)

// Status builds `coffer status`.
func (c Commands) Status(g *cli.Global) *cobra.Command {
	var asJSON, watch bool
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "status ID",
		Short: "Print the state of a quote or an operation",
		Long: `ID is the id of a quote (0x...), or that of an operation of this wallet (16 digits). --watch asks until
it has ended, for as long as --wait says.

Exit codes: 0 COMPLETED, 1 REFUNDED or FAILED, 5 it never ran, 6 it has not ended or is not known.`,
		Example: "  coffer status 0x5c1f0a9be2d477105c1f0a9be2d477105c1f0a9be2d477105c1f0a9be2d47710 --watch\n  " +
			"coffer status 5c1f0a9be2d47710 --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !reQuote.MatchString(args[0]) && !reOperation.MatchString(args[0]) {
				return usage("see `coffer history` and `coffer export`",
					"`coffer status` takes one id: 0x and 64 digits of a quote, or 16 digits of an operation")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the service's answer as it is")
	cmd.Flags().BoolVar(&watch, "watch", false, "ask until it has finished")
	cmd.Flags().DurationVar(&wait, "wait", defaultWait, "how long to wait for an end, with --watch")
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, args []string) error {
		if wait <= 0 {
			return c.status(cmd.Context(), s, args[0], asJSON, false)
		}
		limited, end := context.WithTimeoutCause(cmd.Context(), wait, errWaited)
		defer end()
		err := c.status(limited, s, args[0], asJSON, watch)
		var known *OutcomeError
		if err == nil || !errors.Is(context.Cause(limited), errWaited) ||
			errors.As(err, &known) && known.code != cli.ExitUnknown {
			return err
		}
		return outcome(cli.ExitUnknown, err, "it has not finished after %s. Resume with: coffer status %s --watch",
			wait, args[0])
	})
}

func (c Commands) status(ctx context.Context, s *Session, id string, asJSON, watch bool) error {
	rec, err := s.find(id)
	if err != nil {
		return err
	}
	quote := id
	if rec != nil {
		quote = rec.QuoteID
	} else if !reQuote.MatchString(id) {
		return usage("`coffer export` lists the operations", "this wallet has no operation %s", id)
	}
	if quote == "" || rec != nil && !wasSent(rec) {
		return c.unsent(s, rec, asJSON)
	}
	if rec != nil && !rec.State.Terminal() {
		c.updateJournal(ctx, s, rec.ID, watch)
	} else if rec != nil {
		c.observeOf(ctx, s)
	}
	return c.poll(ctx, s, quote, rec, asJSON, watch)
}

// find looks an id up in the journal; nil: the journal does not have it.
func (s *Session) find(id string) (*journal.Operation, error) {
	b, err := s.Read()
	if err != nil || b == nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	list := b.Operations()
	for i := range list {
		if list[i].ID == id || list[i].QuoteID != "" && strings.EqualFold(list[i].QuoteID, id) {
			return &list[i], nil
		}
	}
	return nil, nil
}

// wasSent reports that the execute of the last quote may have left this machine.
func wasSent(rec *journal.Operation) bool {
	switch rec.State {
	case journal.Executing, journal.Acked, journal.Done, journal.NotExecuted:
		return true
	}
	return false
}

// unsent is the answer about an operation of which nothing was sent.
func (c Commands) unsent(s *Session, rec *journal.Operation, asJSON bool) error {
	x := present.Recorded(s.Catalog, *rec)
	var err error
	if asJSON {
		err = c.write([]byte("{}")) // what the service says about a quote that was never sent
	} else {
		err = c.write([]byte(s.summary(x, c.Clock()).String()))
	}
	if err != nil {
		return err
	}
	st := present.StateOf(x, present.Live{}, stamp, present.Keys{})
	return outcome(cli.ExitExpired, nil, "nothing of this operation was sent: %s", st.Word)
}

// updateJournal asks for the outcome of an operation of the journal, with watch until it has ended, so that the
// journal gets its end. Where another process holds the journal, that process does so.
func (c Commands) updateJournal(ctx context.Context, s *Session, id string, watch bool) {
	w, err := s.Work(nil)
	if err != nil {
		if watch {
			c.say("The journal is not updated here: %s", err.Error())
		}
		return
	}
	defer func() { _ = w.Close() }()
	if err := w.Reconcile(ctx); err != nil && ctx.Err() == nil {
		c.say("%s", err.Error())
	}
	if !watch {
		return
	}
	for _, op := range w.Unfinished() {
		if op.ID() == id {
			var x flow.Snapshot
			if err := follow(ctx, c, op, &x); err != nil && ctx.Err() == nil {
				c.say("%s", err.Error())
			}
		}
	}
}

// observeOf asks own nodes about the open signatures of an operation that has ended.
func (c Commands) observeOf(ctx context.Context, s *Session) {
	if b, err := s.Read(); err == nil && b != nil {
		c.observe(ctx, s, b)
		_ = b.Close()
	}
}

// poll asks for the status and prints it; with watch until it has ended.
func (c Commands) poll(ctx context.Context, s *Session, quote string, rec *journal.Operation, asJSON,
	watch bool) error {
	wait, last := firstPoll, ""
	for {
		answer, err := s.Service.StatusDocument(ctx, quote)
		if err != nil {
			return c.silent(ctx, s, rec, asJSON, err)
		}
		var x api.ExecutionStatus
		if err := answer.Decode(&x); err != nil {
			return err
		}
		if x.QuoteID != "" && !strings.EqualFold(x.QuoteID, quote) {
			return &cli.RefusedError{Problem: "the service answered about another quote"}
		}
		gone := x.Status == "" && c.neverRan(rec)
		if !watch || api.Terminal(x.Status) || gone {
			return c.printStatus(ctx, s, quote, rec, x, answer.Raw(), asJSON, gone)
		}
		if word := verify.Status(x.Status).Text; word != last {
			last = word
			c.say("%s %s", c.Clock().UTC().Format(time.TimeOnly), word)
		}
		if err := c.Sleep(ctx, wait); err != nil {
			return outcome(cli.ExitUnknown, err,
				"stopped; it has not finished: %s. Resume with: coffer status %s --watch",
				verify.Status(x.Status).Text, quote)
		}
		wait = min(2*wait, longestPoll)
	}
}

// silent prints what own nodes see of an operation of this wallet when the service gave no answer, whose error remains
// that of the command.
func (c Commands) silent(ctx context.Context, s *Session, rec *journal.Operation, asJSON bool, err error) error {
	if rec == nil {
		return err
	}
	x := s.seen(ctx, *rec)
	if len(x.Became) == 0 {
		return err
	}
	text := object(member{"nodes", encode(becameOf(x.Became))})
	if !asJSON {
		p := s.summary(x, c.Clock())
		p.Row("service", "gave no answer: "+clean(err.Error()))
		text = []byte(p.String())
	}
	if failed := c.write(text); failed != nil {
		return failed
	}
	return err
}

// seen is an operation as the journal has it, with what own nodes see of it if it was sent.
func (s *Session) seen(ctx context.Context, rec journal.Operation) flow.Snapshot {
	x := present.Recorded(s.Catalog, rec)
	if s.Follow != nil && wasSent(&rec) && ctx.Err() == nil {
		x.Became = s.Follow(ctx, rec, x.Status)
	}
	return x
}

// neverRan reports that the quote of an operation expired some time ago and was not accepted; an accepted one the
// service would know.
func (c Commands) neverRan(rec *journal.Operation) bool {
	return rec != nil && (rec.State == journal.NotExecuted || rec.State == journal.Executing && rec.Expires > 0 &&
		c.Clock().After(time.Unix(rec.Expires, 0).Add(notSeenMargin)))
}

func (c Commands) printStatus(ctx context.Context, s *Session, quote string, rec *journal.Operation,
	x api.ExecutionStatus, raw []byte, asJSON, gone bool) error {
	text := raw
	if !asJSON {
		from, done := c.receipts(s)
		known := s.known(rec, x, gone)
		if known != nil && s.Follow != nil && !gone {
			known.Became = s.Follow(ctx, *rec, x)
		}
		text = []byte(s.statusText(quote, x, known, c.Clock(), from))
		done()
	}
	if err := c.write(text); err != nil {
		return err
	}
	if gone {
		says := "it never ran: the service"
		if !s.believes() {
			says = "the service says that it never ran: it"
		}
		return outcome(cli.ExitExpired, nil, "%s does not know the quote after its expiry", says)
	}
	return byStatus(x.Status, x.FailReason, s.believes())
}

// known is an operation of this wallet with the status that the service gave just now; nil for another wallet's. gone
// says that it never ran.
func (s *Session) known(rec *journal.Operation, status api.ExecutionStatus, gone bool) *flow.Snapshot {
	if rec == nil {
		return nil
	}
	x := present.Recorded(s.Catalog, *rec)
	x.State, x.Status = flow.StateAccepted, status
	switch {
	case gone:
		x.State = flow.StateNotExecuted
	case status.Status == api.StatusCompleted:
		x.State = flow.StateDone
	case api.Terminal(status.Status):
		x.State = flow.StateFailed
	case status.Status == "":
		x.State = flow.StateUnknown
	}
	x.Said = x.State.Terminal() && !s.believes()
	return &x
}
