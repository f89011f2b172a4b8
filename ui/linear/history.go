package linear

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/present"
	"coffer/wallet/verify"
)

// Bounds of the history.
const (
	pageSize  = 10
	maxPages  = 2_000
	maxCursor = 4096 // bytes of a continuation (TH-H3)
	maxUnread = 400  // characters of what nodes saw
)

// pages is the history as read so far. next is the continuation of the page after the last; "" at the end.
type pages struct {
	list  [][]api.HistoryRecord
	next  string
	seen  map[string]bool // quote ids
	used  map[string]bool // continuations
	ended string          // why there are no more
}

// more reads one page. It skips records that were read before; a repeated continuation ends the list.
func (p *pages) more(ctx context.Context, read func(context.Context, int, string) (api.HistoryPage, error)) error {
	page, err := read(ctx, pageSize, p.next)
	if err != nil {
		return err
	}
	var fresh []api.HistoryRecord
	for _, r := range page.Transactions {
		if !p.seen[r.QuoteID] {
			p.seen[r.QuoteID] = true
			fresh = append(fresh, r)
		}
	}
	if len(fresh) > 0 || len(p.list) == 0 {
		p.list = append(p.list, fresh)
	}
	switch p.next = page.Continuation; {
	case p.next == "":
		p.ended = "This is the end of the history."
	case p.used[p.next], len(p.next) > maxCursor:
		p.next, p.ended = "", "The service does not say how to go on."
	case len(p.list) >= maxPages:
		p.next, p.ended = "", "No more is kept here."
	}
	p.used[p.next] = true
	return nil
}

// history reads the records page by page and opens one.
func (s *session) history(ctx context.Context) error {
	p, at := s.firstPage(ctx), 0
	brief := false
	for p != nil {
		if (len(p.list) == 0 || len(p.list[0]) == 0) && p.next == "" {
			s.out.say("No operation was ever made with this account.")
			return nil
		}
		m := menu{title: "Page " + itoa(at+1) + " of " + itoa(len(p.list)) + " read. " + p.ended, brief: brief}
		brief = false
		for _, r := range p.list[at] {
			m.items = append(m.items, s.recordLine(r))
		}
		if at+1 < len(p.list) || p.next != "" {
			m.words = append(m.words, word{"more", "the next page"})
		}
		m.words = append(m.words, word{"page", "go to a page that was read, such as page 1"},
			word{"again", "read from the top"})
		i, key, err := s.choose(ctx, m)
		switch {
		case err != nil:
			return err
		case i >= 0:
			s.record(p.list[at][i])
			brief = true
		case key == "again":
			p, at = s.firstPage(ctx), 0
		case strings.HasPrefix(key, "page"):
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(key, "page")))
			if err != nil || n < 1 || n > len(p.list) {
				s.out.say("Pages 1 to " + itoa(len(p.list)) + " were read.")
				continue
			}
			at = n - 1
		case at+1 < len(p.list):
			at++
		default:
			before := len(p.list)
			if err := p.more(ctx, s.deps.History); err != nil {
				s.out.say("The next page could not be read: " + present.ErrorText(err) +
					". Type more to try again, or again to read from the top.")
			} else if len(p.list) > before {
				at++
			} else {
				s.out.say("There is nothing new on the next page.")
			}
		}
	}
	return nil
}

func (s *session) firstPage(ctx context.Context) *pages {
	p := &pages{seen: map[string]bool{}, used: map[string]bool{}}
	if err := p.more(ctx, s.deps.History); err != nil {
		s.out.say("The history could not be read: " + present.ErrorText(err) + ". What is under way goes on without " +
			"this list: Activity has it.")
		return nil
	}
	return p
}

// recordLine describes one record in a phrase.
func (s *session) recordLine(r api.HistoryRecord) string {
	when := "time unknown"
	if t, err := time.Parse(time.RFC3339, r.Timestamp); err == nil {
		when = s.date(t)
	}
	if r.Status == present.StatusUnread {
		return clean(r.FailReason, maxUnread)
	}
	if words, seen := present.SeenStatus(r.Status); seen {
		paid, got := s.masked(s.paid(r.OriginToken)), s.masked(s.received(r))
		return when + ", " + present.Deed(r.Type, paid, got, "", "Solana", "to") + ", " + words
	}
	line := when + ", " + clean(strings.ToLower(r.Type), 20) + ", " + s.masked(s.received(r))
	if r.Status == "" {
		return line + ", status unknown"
	}
	return line + ", " + verify.Status(r.Status).Text
}

// record prints everything about one record; nothing is cut.
func (s *session) record(r api.HistoryRecord) {
	s.out.say(strings.TrimSuffix(capital(s.recordLine(r)), ".") + ".")
	s.out.say(present.Status(s.ctx.Network.Kind, r.Status))
	if _, seen := present.SeenStatus(r.Status); seen {
		s.seen(r)
		return
	}
	s.refused(r.FailReason)
	paid, got := present.AmountLabels(r.Type, r.Status)
	s.out.fact(0, capital(paid), s.masked(s.paid(r.OriginToken)))
	s.out.fact(0, capital(got), s.masked(s.received(r)))
	if a, err := caip.ParseSlashAccount(r.RecipientAccountID); err == nil {
		s.out.where(0, "To", address(a.Address))
	} else if r.RecipientAccountID != "" {
		s.out.fact(0, "To", clean(r.RecipientAccountID, 512))
	}
	s.whoGot(r)
	s.out.fact(0, "Quote", present.Groups(clean(r.QuoteID, 512)))
	for _, o := range r.OriginChainOperations {
		s.transaction("Origin chain "+present.ChainName(s.Catalog, o.Chain), o)
	}
	for _, o := range r.DestinationChainOperations {
		s.transaction("Target chain "+present.ChainName(s.Catalog, o.Chain), o)
	}
	if len(r.OriginChainOperations)+len(r.DestinationChainOperations) == 0 {
		s.out.say("There is no transaction yet.")
	}
}

// seen prints what own nodes saw of a transaction.
func (s *session) seen(r api.HistoryRecord) {
	if r.Status == present.StatusUnread {
		return
	}
	asset := r.DestinationToken.AssetType
	if r.Type == present.TypeSent {
		asset = strings.Join(r.OriginToken.AssetType, "")
	}
	if asset != "" {
		s.out.fact(0, "Asset", clean(asset, maxUnread))
	} else {
		s.out.say("What moved is unknown.")
	}
	s.out.say(capital(clean(r.FailReason, maxUnread)) + ".")
	for _, o := range slices.Concat(r.OriginChainOperations, r.DestinationChainOperations) {
		s.transaction(present.ChainName(s.Catalog, o.Chain), o)
	}
}

// whoGot prints the payees, their amounts and the costs, from the wallet's journal.
func (s *session) whoGot(r api.HistoryRecord) {
	from := present.Receipts{Catalog: s.Catalog, Accounts: s.Accounts, Terms: s.ctx.Terms, Names: s.ctx.Names}
	for _, row := range from.Rows(from.Of(r)) {
		row.Label = capital(row.Label)
		s.row(0, row)
	}
}

// paid is the payment of a record, in its aggregate or in the one asset that was asked for.
func (s *session) paid(o api.OriginToken) string {
	asset := o.AggregatedAssetID
	if _, known := s.Side(asset); !known && len(o.AssetType) == 1 {
		asset = o.AssetType[0]
	}
	return present.Figure(s.Catalog, asset, o.Amount)
}

func (s *session) received(r api.HistoryRecord) string {
	return present.Placed(s.Catalog, r.DestinationToken.AssetType, r.DestinationToken.Amount)
}
