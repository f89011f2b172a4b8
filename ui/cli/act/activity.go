package act

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/ui/cli"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// Activity builds `coffer activity`.
func (c Commands) Activity(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "activity",
		Short: "Print what is unfinished and which signatures can still be used",
		Long: `Prints what the journal knows: the operations that have no end yet, and every signature that can still be used, with what it can move, until when, and what
the service says became of it. Nothing is asked and nothing is sent. Unless the service runs inside this program, its word ends no signature: each stays listed until
its time is over, or until you void one that no time ends.`,
		Example: "  coffer activity\n  coffer activity --json | jq -r '.open[].hash'",
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd, g, func(_ context.Context, s *Session) error { return c.activity(s, asJSON) })
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	addPassphrase(cmd)
	cmd.AddCommand(c.voidCommand(g), c.repairCommand(g), c.Adopt(g))
	return cmd
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
}

func (c Commands) activity(s *Session, asJSON bool) error {
	f := activityFact{Network: s.Network.ID, Kind: string(s.Network.Kind), Open: []openFact{},
		Unfinished: []operationFact{}}
	b, err := s.Read()
	if err != nil {
		return err
	}
	var open []journal.Outstanding
	if b != nil {
		defer func() { _ = b.Close() }()
		open = b.Outstanding(c.Clock())
		for _, o := range b.Operations() {
			if !o.State.Terminal() && (len(o.Signatures) > 0 || wasSent(&o)) {
				f.Unfinished = append(f.Unfinished, factOf(o))
			}
		}
	}
	for _, x := range open {
		f.Open = append(f.Open, openOf(x))
	}
	if asJSON {
		return c.write(encode(f))
	}
	p := &page{}
	p.line(plural(len(open), "open signature"))
	for i, x := range open {
		p.open(s, i+1, x, c.Clock())
	}
	p.line(plural(len(f.Unfinished), "unfinished operation"))
	for _, o := range f.Unfinished {
		p.row(o.ID, strings.ToLower(strings.ReplaceAll(o.State, "_", " "))+", begun "+o.Started)
		p.sub("quote id", o.QuoteID)
	}
	return c.write([]byte(p.b.String()))
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

// roleNames is what a signature is for.
func roleNames(role string) string {
	switch role {
	case verify.RolePrepared:
		return "the call"
	case verify.RoleFunding:
		return "a payment for a call"
	case verify.RoleSwap:
		return "the payment of a swap"
	case verify.RoleTransfer:
		return "the payment of a transfer"
	case journal.RoleDelegation:
		return "a delegation of your EOA"
	}
	return "a signature of an unknown kind"
}

// open writes a signature that can still be used.
func (p *page) open(s *Session, n int, x journal.Outstanding, now time.Time) {
	p.row(strconv.Itoa(n), roleNames(x.Role)+" on "+s.chainName(x.Chain))
	p.sub("operation", x.Op)
	p.sub("account", whole(x.Sender))
	switch seq, ok := x.Sequence(); {
	case x.Role == journal.RoleDelegation:
		p.sub("account nonce", whole(x.Nonce))
	case x.BlockHash != "":
		p.sub("block hash", whole(x.BlockHash))
	case ok:
		p.sub("lane, sequence", strconv.Itoa(int(x.Lane))+", "+strconv.FormatUint(seq, 10))
	}
	p.sub("can move", s.movesWords(x))
	until := "no time ends it"
	if end, ends := x.Ends(); ends {
		until = stamp(end) + ", in " + max(end.Sub(now), 0).Round(time.Second).String()
	}
	p.sub("can be used until", until)
	if !x.VoidedAt.IsZero() {
		p.sub("voided", stamp(x.VoidedAt)+" by you")
	}
	p.sub("what is known", orElse(x.Said.Words(), "The service has not said that it ended."))
	p.sub("hash", whole(x.OpHash))
}

// movesWords is what a signature can move.
func (s *Session) movesWords(x journal.Outstanding) string {
	if x.Role == journal.RoleDelegation {
		return "everything in this EOA, by the code that it names"
	}
	var out []string
	for _, v := range x.Spend {
		symbol, decimals := entityUnit(s.Catalog, v.Asset)
		out = append(out, figureOf(v.Amount, symbol, decimals))
	}
	return orElse(strings.Join(out, ", "), "nothing of a known value; the reviewed calls can run")
}

// voidCommand builds `coffer activity void`.
func (c Commands) voidCommand(g *cli.Global) *cobra.Command {
	var confirm string
	cmd := &cobra.Command{
		Use:   "void HASH…",
		Short: "Mark signatures that never expire as void",
		Long: `HASH is the hash of an open signature without an end, as "coffer activity" lists it. Void one only when you know that its nonce was used, or that nobody holds
it: whoever does can still use it. From then on it is in the way of no new signature; it stays listed, and counts for its day. On a terminal the last four characters
of the account's address are asked for; --confirm gives them in a script.`,
		Example: "  coffer activity void 0x5c1f0a9be2d477105c1f0a9be2d477105c1f0a9be2d477105c1f0a9be2d47710",
		Args: func(cmd *cobra.Command, args []string) error {
			odd := slices.ContainsFunc(args, func(a string) bool { return !reQuote.MatchString(a) })
			if len(args) == 0 || odd {
				return usage("`coffer activity` lists the hashes",
					"`coffer activity void` takes the hash of an open signature: 0x and 64 digits")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd, g, func(ctx context.Context, s *Session) error { return c.void(ctx, s, args, confirm) })
		},
	}
	cmd.Flags().StringVar(&confirm, "confirm", "", "the last four `CHARACTERS` of the account's address")
	addPassphrase(cmd)
	return cmd
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
		c.say("Voided: %s. It stays listed.", hash)
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
