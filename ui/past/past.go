// Package past is what happened to the accounts of a profile: the records of the service, and beside them what the
// person's own nodes saw of a Solana account that came from others, in one list, newest first.
//
// Promise: an operation of the service is one row, also where the chain shows its transaction. What nodes saw is told
// apart by its id, type and status (present.StatusSeen), which no record of a service gets past. Nodes that are silent
// or differ make a row of words at the top of the page (present.StatusUnread), and the records of the service are there
// all the same; the next page asks the nodes again from the same place, so nothing is left out for good. Amounts are
// integers in base units.
package past

import (
	"context"
	"iter"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/ui/present"
	"coffer/wallet/chainview"
)

// Nodes are the person's own; *chainview.View is one.
type Nodes interface {
	Listed(ctx context.Context, w chainview.Whose, from chainview.Place, most int) (list []chainview.Moment, end bool,
		err error)
	Seen(ctx context.Context, w chainview.Whose, list []chainview.Moment) ([]chainview.Transaction, error)
}

// Chain is a Solana account as own nodes see it.
type Chain struct {
	Nodes   Nodes
	Whose   chainview.Whose
	Catalog *catalog.Catalog
	Kind    network.Kind
	// Own reports whether a transaction is that of a quote which the service has a record of.
	Own func(ctx context.Context, quoteID, signature string) (bool, error)
}

// mostSeen is how many transactions nodes are asked for at once.
const mostSeen = 25

// Row is what came in or went out of one asset in a transaction. Amount is nil where that is unknown, and zero where
// only a fee was paid.
type Row struct {
	Type      string // present.TypeReceived, TypeSent or TypeSeen
	Asset     caip.Asset
	Aggregate caip.AggregateID // of the asset, "" where the catalogue has none
	Amount    *big.Int
	Note      string // what else there is to say
	Of        chainview.Transaction
	id        string
}

// reQuote is a quote id.
var reQuote = regexp.MustCompile(`^0x[0-9a-f]{64}$`)

// Rows are what transactions did that are no operation of the service's, in their order. What moved nothing of the
// account and cost it nothing is left out.
func (c *Chain) Rows(ctx context.Context, list []chainview.Moment) ([]Row, error) {
	seen, err := c.Nodes.Seen(ctx, c.Whose, list)
	if err != nil {
		return nil, err
	}
	var out []Row
	for _, t := range seen {
		if reQuote.MatchString(t.Quote) {
			own, err := c.Own(ctx, t.Quote, t.Signature)
			if err != nil {
				return nil, err
			}
			if own {
				continue
			}
		}
		out = append(out, rows(t)...)
	}
	for i := range out {
		if e, known := c.Catalog.Entity(out[i].Asset); known {
			out[i].Aggregate = e.Aggregate
		}
	}
	return out, nil
}

// All are the rows of an account, newest first, read page by page as they are taken. An error is the last of them.
func (c *Chain) All(ctx context.Context, size int) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var at chainview.Place
		for end := false; !end; {
			var list []chainview.Moment
			var err error
			list, end, err = c.Nodes.Listed(ctx, c.Whose, at, size)
			var rows []Row
			if err == nil {
				rows, err = c.Rows(ctx, list)
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
			if len(list) > 0 {
				at = list[len(list)-1].After
			}
		}
	}
}

func rows(t chainview.Transaction) []Row {
	place := "slot " + strconv.FormatUint(t.Slot, 10)
	if t.Unknown != "" {
		return []Row{{Type: present.TypeSeen, Note: place + ": " + t.Unknown, Of: t,
			id: present.SeenID(t.Signature, 0)}}
	}
	moves := slices.Clone(t.Moves)
	pays := t.Fee.Sign() > 0
	if pays && !slices.ContainsFunc(moves, func(m chainview.Move) bool { return m.Amount.Sign() < 0 }) {
		moves = append(moves, chainview.Move{Asset: caip.SOL(), Amount: new(big.Int)})
	}
	var out []Row
	for i, m := range moves {
		r := Row{Type: present.TypeReceived, Asset: m.Asset, Amount: new(big.Int).Abs(m.Amount), Note: place, Of: t,
			id: present.SeenID(t.Signature, i)}
		if m.Amount.Sign() <= 0 {
			r.Type = present.TypeSent
			if pays {
				r.Note += ", fee " + present.SOL(t.Fee)
				pays = false
			}
		}
		if t.Failed {
			r.Note += "; it failed on the chain"
		}
		out = append(out, r)
	}
	return out
}

// Page is the address of a transaction in the explorer of the chain, "" where there is none.
func (c *Chain) Page(signature string) string {
	info := c.Catalog.Solana()
	if c.Kind != network.Real && c.Kind != network.Test || info.Explorer == "" {
		return ""
	}
	return strings.TrimSuffix(info.Explorer, "/") + "/tx/" + signature
}

// Record is a row in the form of a record.
func (c *Chain) Record(r Row) api.HistoryRecord {
	me := c.Whose.Account.String()
	out := api.HistoryRecord{QuoteID: r.id, Status: present.StatusSeen, User: me, Type: r.Type, FailReason: r.Note,
		OriginToken:      api.OriginToken{AssetType: []string{}, Amount: "0"},
		DestinationToken: api.DestinationToken{Amount: "0"}}
	if !r.Of.At.IsZero() {
		out.Timestamp = r.Of.At.UTC().Format(time.RFC3339)
	}
	ref := []api.OperationRef{{Hash: r.Of.Signature, Chain: caip.SolanaMainnet().String(),
		ExplorerURL: c.Page(r.Of.Signature)}}
	amount := ""
	if r.Amount != nil {
		amount = r.Amount.String()
	}
	switch r.Type {
	case present.TypeReceived:
		out.RecipientAccountID = caip.SolanaAccount(c.Whose.Account).Slash()
		out.DestinationChainOperations = ref
		out.DestinationToken.AssetType, out.DestinationToken.Amount = r.Asset.String(), amount
		out.DestinationToken.AggregatedAssetID = r.Aggregate.String()
	case present.TypeSent:
		out.OriginChainOperations = ref
		out.OriginToken.AssetType, out.OriginToken.Amount = []string{r.Asset.String()}, amount
	default:
		out.OriginChainOperations = ref
		out.OriginToken.Amount, out.DestinationToken.Amount = "", ""
	}
	return out
}

// Unread says that what others did could not be read, and why.
func Unread(err error) string {
	return "What others did on Solana is not known: " + strings.TrimSuffix(err.Error(), ".") + "."
}

// UnreadRecord is a row of such words in the form of a record.
func UnreadRecord(words string) api.HistoryRecord {
	return api.HistoryRecord{QuoteID: present.UnreadID, Status: present.StatusUnread, FailReason: words,
		OriginToken: api.OriginToken{AssetType: []string{}}}
}
