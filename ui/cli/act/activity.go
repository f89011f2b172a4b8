package act

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
)

// Activity builds `coffer activity`.
func (c Commands) Activity(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "activity",
		Short: "Print what is unfinished and which signatures can still be used",
		Long: `Prints what the journal knows: unfinished operations, and every signature that can still be used, with
what it can move, when it expires, and what the service says became of it. The command asks the service nothing and
sends nothing. Unless the service runs inside this program, its word ends no signature: each stays listed until it
expires, until your own node sees its nonce used in a final block, or until you void one that never expires. Nodes that
you named are asked, also what became of each unfinished operation.`,
		Example: "  coffer activity\n  coffer activity --json | jq -r '.open[].hash'",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.AddCommand(c.voidCommand(g), c.repairCommand(g), c.Adopt(g))
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		return c.activity(cmd.Context(), s, asJSON)
	})
}

// openFact is a signature that can still be used, with its state.
type openFact struct {
	signatureFact
	Kind     string `json:"kind,omitzero"`
	Lane     uint16 `json:"lane"`
	Sequence string `json:"sequence,omitzero"`
	Made     string `json:"made"`
	Until    string `json:"until,omitzero"` // when it certainly can no longer be used
	Voidable bool   `json:"voidable"`
	Voided   string `json:"voided,omitzero"`
}

// activityFact is what the journal knows of unfinished work.
type activityFact struct {
	Network    string          `json:"network"`
	Kind       string          `json:"kind"`
	Open       []openFact      `json:"open"`
	Unfinished []operationFact `json:"unfinished"`
	Closed     []closedFact    `json:"closed,omitempty"`
}

// closedFact is a signature that nothing can use any more although its time is not over, and how that is known.
type closedFact struct {
	signatureFact
	Closed string `json:"closed"` // when that was seen
}

// observe asks own nodes which open signatures are used, where some are named and something is open.
func (c Commands) observe(ctx context.Context, s *Session, b Book) {
	if s.Sees == nil || !s.Sees() || len(b.Outstanding(c.Clock())) == 0 {
		return
	}
	w, err := s.Work(nil)
	if err == nil {
		err = errors.Join(w.Observe(ctx), w.Close())
	}
	if err != nil && ctx.Err() == nil {
		c.say("What your nodes see is not noted: %s", err.Error())
	}
}

func (c Commands) activity(ctx context.Context, s *Session, asJSON bool) error {
	f := activityFact{Network: s.Network.ID, Kind: string(s.Network.Kind), Open: []openFact{},
		Unfinished: []operationFact{}}
	b, err := s.Read()
	if err != nil {
		return err
	}
	var open []journal.Outstanding
	var closed []present.Closed
	var unfinished []flow.Snapshot
	if b != nil {
		defer func() { _ = b.Close() }()
		c.observe(ctx, s, b)
		open = b.Outstanding(c.Clock())
		shut := b.Closed(c.Clock())
		closed = present.ClosedSignatures(s.Catalog, shut, 0)
		for i, x := range shut {
			f.Closed = append(f.Closed, closedFact{signatureOf(journal.Outstanding{Signature: x.Signature, Op: x.Op,
				Void: closed[i].Seen}), at(x.At)})
		}
		for _, o := range underWay(b) {
			x := s.seen(ctx, o)
			fact := factOf(o)
			fact.Nodes = becameOf(x.Became)
			f.Unfinished, unfinished = append(f.Unfinished, fact), append(unfinished, x)
		}
	}
	for _, x := range open {
		f.Open = append(f.Open, openOf(x))
	}
	if asJSON {
		return c.write(encode(f))
	}
	p := &page{}
	p.Line(present.Plural(len(open), "outstanding signature", "outstanding signatures"))
	signed := present.Signatures(s.Catalog, open, 0)
	for i, x := range signed {
		p.open(s, i+1, x, open[i], c.Clock())
	}
	if len(closed) > 0 {
		p.Line(present.Cannot)
	}
	for i, x := range closed {
		p.Row(strconv.Itoa(len(open)+i+1), x.Name(s.Catalog))
		p.Sub("closed", x.Seen)
		p.Sub("operation", x.Operation)
		p.Sub("hash", whole(x.Hash))
	}
	p.Line(present.Plural(len(f.Unfinished), "unfinished operation", "unfinished operations"))
	for _, x := range unfinished {
		st := present.StateOf(x, present.LiveOf(signed, closed, x.ID, c.Clock(), true), stamp, present.Keys{})
		p.Row(x.ID, present.Operation(s.Catalog, x)+", begun "+stamp(x.Started)+": "+st.Word)
		p.Sub("", st.Sentence)
		p.Sub("quote id", x.QuoteID)
		for _, seen := range present.Became(x.Became, x.Status.Status) {
			p.Sub("node", seen.Text)
		}
	}
	return c.write([]byte(p.String()))
}

// underWay are the operations without an end of which something was signed or sent.
func underWay(b Book) []journal.Operation {
	return slices.DeleteFunc(slices.Clone(b.Operations()), func(o journal.Operation) bool {
		return o.State.Terminal() || len(o.Signatures) == 0 && !wasSent(&o)
	})
}

func openOf(x journal.Outstanding) openFact {
	f := openFact{signatureFact: signatureOf(x), Kind: x.Kind, Lane: x.Lane, Made: at(x.Made), Voidable: x.Voidable()}
	if n, ok := x.Sequence(); ok {
		f.Sequence = strconv.FormatUint(n, 10)
	}
	if end, ends := x.Ends(); ends {
		f.Until = at(end)
	}
	if !x.VoidedAt.IsZero() {
		f.Voided = at(x.VoidedAt)
	}
	return f
}

// open writes a signature that can still be used; made is its entry of the journal.
func (p *page) open(s *Session, n int, x present.Signature, made journal.Outstanding, now time.Time) {
	p.Row(strconv.Itoa(n), x.Name(s.Catalog))
	p.Sub("lasts", x.Lasts(now, stamp, func(d time.Duration) string { return d.Round(time.Second).String() }))
	p.Sub("operation", x.Operation)
	for _, r := range x.Rows(s.Catalog, "") {
		var figures []string
		for _, a := range r.Amounts {
			figures = append(figures, present.Human(a))
		}
		text := cmp.Or(r.Text, strings.Join(figures, ", "))
		if r.Address != "" {
			text = strings.TrimSuffix(present.Checksummed(r.Address)+", "+text, ", ")
		}
		p.Sub(r.Label, text)
	}
	if seq, ok := made.Sequence(); ok && made.BlockHash == "" {
		p.Sub("lane, sequence", strconv.Itoa(int(made.Lane))+", "+strconv.FormatUint(seq, 10))
	}
	p.Sub("what is known", cmp.Or(made.Said.Words(), "The service has not said that it finished."))
	p.Sub("hash", whole(x.Hash))
}

// voidCommand builds `coffer activity void`.
func (c Commands) voidCommand(g *cli.Global) *cobra.Command {
	var confirm string
	cmd := &cobra.Command{
		Use:   "void HASH...",
		Short: "Mark signatures that never expire as void",
		Long: `HASH is the hash of an open signature that never expires, as "coffer activity" lists it. Void one only
when you know that its nonce was used, or that no one has it: anyone who has it can still use it. A void signature no
longer blocks a new one; it stays listed, and counts for its day. On a terminal you type the last four characters of
the account's address; a script gives them with --confirm.`,
		Example: "  coffer activity void 0x5c1f0a9be2d477105c1f0a9be2d477105c1f0a9be2d477105c1f0a9be2d47710",
		Args: func(cmd *cobra.Command, args []string) error {
			odd := slices.ContainsFunc(args, func(a string) bool { return !reQuote.MatchString(a) })
			if len(args) == 0 || odd {
				return usage("`coffer activity` lists the hashes",
					"`coffer activity void` takes the hash of an open signature: 0x and 64 digits")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&confirm, "confirm", "", "the last four `CHARACTERS` of the account's address")
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, args []string) error {
		return c.void(cmd.Context(), s, args, confirm)
	})
}

func (c Commands) void(ctx context.Context, s *Session, hashes []string, confirm string) error {
	w, err := s.Work(nil)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	for _, hash := range hashes {
		typed := confirm
		if typed == "" {
			c.say("Anyone who has the signature %s can still use it. Void it only if you know that its nonce was "+
				"used, or that no one has it.", hash)
			if typed, err = c.ending(ctx, "--confirm with the last four characters of the account's address"); err !=
				nil {
				return err
			}
		}
		if err := w.Void(hash, typed); err != nil {
			return unconfirmedBy(err)
		}
		c.say("Void: %s. It stays listed.", hash)
	}
	return nil
}

// ending asks the user for the end of the account's address; without a terminal, flag must give it.
func (c Commands) ending(ctx context.Context, flag string) (string, error) {
	if !c.Terminal {
		return "", usage("without a terminal give "+flag, "nothing was confirmed")
	}
	return c.Prompt.Line(ctx, "Type the last four characters of the account's address: ")
}
