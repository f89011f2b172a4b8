package act

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/cli"
	"coffer/ui/present"
)

// historyOptions are the flags of `coffer history`.
type historyOptions struct {
	csv, json                   bool
	limit                       int
	status, kind, chain, assets []string
	since, until                string
}

// History builds `coffer history`.
func (c Commands) History(g *cli.Global) *cobra.Command {
	var o historyOptions
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Print what the accounts of the profile did, newest first",
		Long: `Reads every page of the history of every account of the profile and prints each record once, newest
first, as it arrives. When the service forgets the place of a reading, the reading begins again and repeats nothing.
--json prints one record to a line, as the service wrote it; --csv a table with base units. Filters of one kind widen,
filters of several kinds narrow.

On own nodes the list also has what your nodes saw of your Solana account that is no operation of the service: what
others sent to it, and what another program sent with its key. Such a row says "seen by your node"; with --json it is an
object with the one member "seen". When the nodes are silent or differ, a row says so in its place, and the rest is
there: with --json the member "unread".

Of an operation of this wallet the lines and the table also say who got what, and the fees as they were reviewed; of
the swaps and transfers of another device what was paid less what arrived, and of its calls no fees.`,
		Example: `  coffer history --limit 20
  coffer history --status COMPLETED --type CALL,SWAP --since 2026-01-01
  coffer history --csv > history.csv
  coffer history --json | jq -r .quoteId`,
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON object to a line")
	f.BoolVar(&o.csv, "csv", false, "print a table of comma-separated values")
	f.IntVar(&o.limit, "limit", 0, "stop after `N` records (default: all)")
	f.StringSliceVar(&o.status, "status", nil, "only these statuses, such as COMPLETED")
	f.StringSliceVar(&o.kind, "type", nil, "only these types: CALL, SWAP, TRANSFER; RECEIVED, SENT, SEEN "+
		"of what own nodes saw")
	f.StringSliceVar(&o.chain, "chain", nil, "only what touched these chains: name, CAIP-2 or number")
	f.StringSliceVar(&o.assets, "asset", nil, "only what moved these assets: symbol, ob: id or CAIP-19")
	f.StringVar(&o.since, "since", "", "not older than this: 2026-01-31 or RFC 3339")
	f.StringVar(&o.until, "until", "", "older than this: 2026-01-31 or RFC 3339")
	return c.chosen(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		return c.history(cmd.Context(), s, o)
	})
}

func (c Commands) history(ctx context.Context, s *Session, o historyOptions) error {
	keep, since, err := o.filter(s.Catalog)
	if err != nil {
		return err
	}
	size := pageSize
	if o.limit > 0 && o.limit < size && o.plain() {
		size = o.limit
	}
	from, done := c.receipts(s)
	defer done()
	out := c.printer(o, s, from)
	n := 0
	for e, err := range c.past(ctx, s, size, olderThan(since)) {
		if err != nil {
			_ = out.end() // the records read so far are printed; the error that matters is the one of reading
			c.unlisted(ctx, s)
			return err
		}
		if !keep(e) {
			continue
		}
		if err := out.put(e); err != nil {
			return err
		}
		if n++; n == o.limit {
			break
		}
	}
	return out.end()
}

// unlisted says what own nodes see of operations under way, for a list that the service did not give.
func (c Commands) unlisted(ctx context.Context, s *Session) {
	b, err := s.Read()
	if err != nil || b == nil {
		return
	}
	defer func() { _ = b.Close() }()
	for _, o := range underWay(b) {
		x := s.seen(ctx, o)
		for _, seen := range present.Became(x.Became, x.Status.Status) {
			c.say("%s, %s: %s", x.ID, present.Operation(s.Catalog, x), seen.Text)
		}
	}
}

// receipts opens the journal for the facts that the service's records lack; done closes it. Without a journal nothing
// is known.
func (c Commands) receipts(s *Session) (from present.Receipts, done func()) {
	from = present.Receipts{Catalog: s.Catalog, Accounts: s.Accounts, Names: s.nameOf}
	b, err := s.Read()
	if err != nil {
		c.say("The journal cannot be read, so payees and fees are not known: %s", err.Error())
	}
	if err != nil || b == nil {
		return from, func() {}
	}
	from.Terms = b.Terms
	return from, func() { _ = b.Close() }
}

func (o historyOptions) plain() bool {
	return len(o.status)+len(o.kind)+len(o.chain)+len(o.assets) == 0 && o.since == "" && o.until == ""
}

// olderThan stops reading after a page that is older than since as a whole.
func olderThan(since time.Time) func([]entry) bool {
	return func(page []entry) bool {
		return !since.IsZero() && len(page) > 0 && !slices.ContainsFunc(page,
			func(e entry) bool { return e.at.IsZero() || !e.at.Before(since) })
	}
}

// filter checks the flags and returns what they keep.
func (o historyOptions) filter(cat *catalog.Catalog) (keep func(*entry) bool, since time.Time, err error) {
	if o.csv && o.json {
		return nil, since, usage("", "--csv and --json are two forms: choose one")
	}
	if o.limit < 0 {
		return nil, since, usage("", "--limit takes a number of records, 1 or more")
	}
	statuses, err := oneOf("--status", o.status, api.StatusPending, api.StatusInProgress, api.StatusExecuted,
		api.StatusCompleted, api.StatusRefunded, api.StatusFailed)
	if err != nil {
		return nil, since, err
	}
	kinds, err := oneOf("--type", o.kind, api.RecordCall, api.RecordSwap, api.RecordTransfer, present.TypeReceived,
		present.TypeSent, present.TypeSeen)
	if err != nil {
		return nil, since, err
	}
	chains, err := chainIDs(cat, o.chain)
	if err != nil {
		return nil, since, err
	}
	var assets []string
	for _, name := range o.assets {
		id, err := assetNamed(cat, name)
		if err != nil {
			return nil, since, err
		}
		assets = append(assets, strings.ToLower(id))
	}
	since, err = moment("--since", o.since)
	if err != nil {
		return nil, since, err
	}
	until, err := moment("--until", o.until)
	return func(e *entry) bool {
		return e.unread != "" || (len(statuses) == 0 || slices.Contains(statuses, e.Status)) &&
			(len(kinds) == 0 || slices.Contains(kinds, typeOf(e))) &&
			(since.IsZero() || !e.at.Before(since)) && (until.IsZero() || e.at.Before(until)) &&
			(len(chains) == 0 || meets(chains, chainsOf(e))) && (len(assets) == 0 || meets(assets, assetsOf(e)))
	}, since, err
}

func oneOf(flag string, given []string, known ...string) ([]string, error) {
	var out []string
	for _, g := range given {
		g = strings.ToUpper(strings.TrimSpace(g))
		if !slices.Contains(known, g) {
			return nil, usage("", "%s takes %s", flag, strings.Join(known, ", "))
		}
		out = append(out, g)
	}
	return out, nil
}

func moment(flag, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(form, s); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usage("", "%s takes a day such as 2026-01-31 or a time such as 2026-01-31T12:00:00Z", flag)
}

// typeOf is the type of a record, and of what own nodes saw.
func typeOf(e *entry) string {
	if e.seen != nil {
		return e.seen.Type
	}
	return e.Type
}

func meets(wanted, found []string) bool {
	return slices.ContainsFunc(found, func(x string) bool { return slices.Contains(wanted, x) })
}

// chainsOf are the chains that a record touched.
func chainsOf(e *entry) []string {
	if e.seen != nil {
		return []string{caip.SolanaMainnet().String()}
	}
	var out []string
	add := func(asset string) {
		if a, err := caip.ParseAsset(asset); err == nil {
			out = append(out, a.Chain.String())
		}
	}
	for _, r := range slices.Concat(e.OriginChainOperations, e.DestinationChainOperations) {
		out = append(out, r.Chain)
	}
	for _, a := range e.OriginToken.AssetType {
		add(a)
	}
	add(e.DestinationToken.AssetType)
	return out
}

// assetsOf are the assets that a record moved, aggregated and single ones, in lower case.
func assetsOf(e *entry) []string {
	if e.seen != nil {
		return []string{strings.ToLower(e.seen.Asset.String()), strings.ToLower(e.seen.Aggregate.String())}
	}
	out := append([]string{e.OriginToken.AggregatedAssetID, e.DestinationToken.AggregatedAssetID,
		e.DestinationToken.AssetType}, e.OriginToken.AssetType...)
	for i, a := range out {
		out[i] = strings.ToLower(a)
	}
	return out
}
