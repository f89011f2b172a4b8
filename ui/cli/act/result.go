package act

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/network"
	"coffer/ui/present"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// statusPatience bounds the one question for the status as a document.
const statusPatience = 10 * time.Second

// print writes the outcome of an operation: as lines, or as one JSON object with the unchanged answers of the service.
func (r *runner) print(ctx context.Context, err error) error {
	if !r.o.json {
		if r.o.dry {
			return nil // the review was the data
		}
		p := r.s.summary(r.x, r.c.Clock())
		if err != nil {
			p.Row("problem", clean(err.Error()))
		}
		return r.c.write([]byte(p.String()))
	}
	h := r.j.in.Hash()
	var members []member
	add := func(name string, value []byte) { members = append(members, member{name, value}) }
	add("operation", encode(r.op.ID()))
	add("intent", object(member{"id", encode(r.j.in.ID())}, member{"hash", encode("0x" + hex.EncodeToString(h[:]))},
		member{"kind", encode(r.j.in.Kind())}))
	if r.j.extra != nil {
		members = append(members, r.j.extra(r.x)...)
	}
	add("state", encode(string(r.x.State)))
	if r.x.QuoteID != "" {
		add("quoteId", encode(r.x.QuoteID))
	}
	add("prepared", r.prepared)
	if !r.x.Intent.Exchanges() && (r.x.Review1 != nil || judged(r.x.Report1)) {
		add("review1", encode(r.s.reviewOf(r.x, false)))
	}
	add("quote", r.quote)
	if r.x.Review2 != nil || judged(r.x.Report2) {
		add("review2", encode(r.s.reviewOf(r.x, true)))
	}
	add("status", r.statusDocument(ctx))
	if len(r.x.Became) > 0 {
		add("nodes", encode(becameOf(r.x.Became)))
	}
	if r.x.Said {
		open := []openFact{}
		still, _ := r.s.openOf(r.x.ID, r.c.Clock())
		for _, x := range still {
			open = append(open, openOf(x))
		}
		add("outstanding", encode(open))
	}
	if err != nil {
		add("problem", encode(clean(err.Error())))
	}
	return r.c.write(object(members...))
}

// becameFact is what the person's own nodes saw of a part of an operation, in a block or as of one.
type becameFact struct {
	Part    string `json:"part"`
	Chain   string `json:"chain"`
	Outcome string `json:"outcome"`
	Block   uint64 `json:"block,omitzero"`
	Trouble string `json:"trouble,omitzero"`
}

func becameOf(list []verify.Became) (out []becameFact) {
	for _, b := range list {
		out = append(out, becameFact{b.Part, b.Chain.CAIP, string(b.Outcome), b.Block, clean(b.Trouble)})
	}
	return out
}

func judged(r verify.Report) bool { return len(r.Passed)+len(r.Reasons) > 0 }

// record finds an operation in the journal.
func record(list []journal.Operation, id string) *journal.Operation {
	for i := range list {
		if list[i].ID == id {
			return &list[i]
		}
	}
	return nil
}

// statusDocument is the status as the service writes it, or the last one read when the service does not answer now.
func (r *runner) statusDocument(ctx context.Context) []byte {
	if r.x.Status.QuoteID == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, statusPatience)
	defer stop()
	answer, err := r.s.Service.StatusDocument(ctx, r.x.QuoteID)
	var now api.ExecutionStatus
	if err != nil || answer.Decode(&now) != nil || now.Status != r.x.Status.Status {
		return encode(r.x.Status)
	}
	return answer.Raw()
}

// summary describes an operation in rows.
func (s *Session) summary(x flow.Snapshot, now time.Time) *page {
	p := &page{}
	p.Line("operation " + x.ID)
	p.state(s, x, now)
	p.reason(x.Status.FailReason)
	p.Row("quote id", x.QuoteID)
	p.transactions(s, x.Status)
	p.became(x)
	return p
}

// became is what own nodes saw of an operation.
func (p *page) became(x flow.Snapshot) {
	for _, b := range present.Became(x.Became, x.Status.Status) {
		p.Row("node", b.Text)
	}
}

// transactions are the transactions of a status, in full.
func (p *page) transactions(s *Session, x api.ExecutionStatus) {
	for _, o := range x.OriginChainOperations {
		p.Row("deposit", whole(o.Hash)+" on "+s.chainName(o.Chain))
	}
	for _, o := range x.DestinationChainOperations {
		p.Row("ran", whole(o.Hash)+" on "+s.chainName(o.Chain))
	}
}

// believes reports whether the service's report ends a signature: only where service and wallet are one program.
func (s *Session) believes() bool { return s.Network.Kind == network.Embedded }

// openOf lists the signatures of an operation that can still be used, and those that own nodes closed.
func (s *Session) openOf(op string, now time.Time) ([]journal.Outstanding, []journal.Closed) {
	b, err := s.Read()
	if err != nil || b == nil {
		return nil, nil
	}
	defer func() { _ = b.Close() }()
	return slices.DeleteFunc(slices.Clone(b.Outstanding(now)), func(x journal.Outstanding) bool { return x.Op != op }),
		b.Closed(now)
}

// state writes what an operation has come to, by its snapshot and by the signatures that can still be used.
func (p *page) state(s *Session, x flow.Snapshot, now time.Time) {
	open, closed := s.openOf(x.ID, now)
	st := present.StateOf(x, present.LiveOf(present.Signatures(s.Catalog, open, 0),
		present.ClosedSignatures(s.Catalog, closed, 0), x.ID, now, true), stamp, present.Keys{})
	p.Row("state", st.Word)
	p.Row("", st.Sentence)
}

// reason writes why an operation did not run, in the service's term and in plain words.
func (p *page) reason(reason string) {
	p.Row("reason", clean(reason))
	p.Row("", present.FailReason(reason, present.Keys{}))
}

// statusText is a status in lines. known is the operation of this wallet, nil for a quote of another one.
func (s *Session) statusText(id string, x api.ExecutionStatus, known *flow.Snapshot, now time.Time,
	from present.Receipts) string {
	p := &page{}
	p.Line("quote " + whole(id))
	if known != nil {
		p.state(s, *known, now)
	} else {
		p.Row("state", verify.Status(x.Status).Text)
		p.Row("", present.Status(s.Network.Kind, x.Status))
	}
	p.reason(x.FailReason)
	p.Row("user", clean(x.User))
	p.Row("recipient", clean(x.RecipientAccountID))
	for _, r := range from.Rows(present.Record{QuoteID: id, Status: x.Status}) {
		p.Row(r.Label, strings.Join(strings.Fields(r.Name+" "+whole(r.Address)+" "+whole(r.Text)), " "))
	}
	p.transactions(s, x)
	if known != nil {
		p.became(*known)
	}
	return p.String()
}
