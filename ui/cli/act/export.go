package act

import (
	"bytes"
	"context"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/ui/cli"
	"coffer/wallet/journal"
)

// Export builds `coffer export`.
func (c Commands) Export(g *cli.Global) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Print balances, history and journal as one JSON document",
		Long: `Prints one JSON document: the profile and its network, the balances and every record of history as the
service wrote them, and the facts of the journal. It holds no key, no signature and no passphrase: the journal's
signatures are left out, because they are authorizations.`,
		Example: "  coffer export > wallet.json\n  coffer export --json | jq '.journal.operations[].state'",
	}
	cmd.Flags().Bool("json", true, "print JSON, which is the only form")
	return c.chosen(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		return c.export(cmd.Context(), s)
	})
}

// exportVersion is the version of the exported document.
const exportVersion = 1

// exportHead is the beginning of the document.
type exportHead struct {
	Version  int           `json:"version"`
	Made     string        `json:"made"`
	Program  string        `json:"program"`
	Profile  string        `json:"profile"`
	Network  string        `json:"network"`
	Kind     string        `json:"kind"`
	Accounts []api.Account `json:"accounts"`
}

func (c Commands) export(ctx context.Context, s *Session) error {
	balances, err := s.Service.BalancesDocument(ctx, s.Query)
	if err != nil {
		return err
	}
	book, err := c.bookFacts(s)
	if err != nil {
		return err
	}
	head := encode(exportHead{
		Version: exportVersion, Made: at(c.Clock()), Program: c.Build.Version, Profile: s.Profile,
		Network: s.Network.ID, Kind: string(s.Network.Kind), Accounts: s.Accounts,
	})
	w := &bytes.Buffer{} // printed as a whole or not at all
	for _, part := range [][]byte{bytes.TrimSuffix(head, []byte("}")), []byte(`,"balances":`), balances.Raw(),
		[]byte(`,"journal":`), encode(book), []byte(`,"history":[`)} {
		w.Write(part)
	}
	if err := c.exportHistory(ctx, s, w); err != nil {
		return err
	}
	w.WriteString("]}")
	return c.write(w.Bytes())
}

func (c Commands) exportHistory(ctx context.Context, s *Session, w *bytes.Buffer) error {
	comma := ""
	for e, err := range c.records(ctx, s, pageSize, func([]entry) bool { return false }) {
		if err != nil {
			return err
		}
		w.WriteString(comma)
		w.Write(e.raw)
		comma = ","
	}
	return nil
}

// bookFact is what the journal knows, without anything that authorizes.
type bookFact struct {
	Operations  []operationFact `json:"operations"`
	Outstanding []signatureFact `json:"outstanding"`
}

// operationFact is one operation. Intent is as it was recorded; Agreed are the confirmed words.
type operationFact struct {
	ID         string         `json:"id"`
	State      string         `json:"state"`
	Started    string         `json:"started"`
	Updated    string         `json:"updated"`
	IntentHash string         `json:"intentHash"`
	Intent     jsontext.Value `json:"intent,omitzero"`
	QuoteID    string         `json:"quoteId,omitzero"`
	Expires    int64          `json:"expires,omitzero"`
	BodyHash   string         `json:"bodyHash,omitzero"`
	Outcome    string         `json:"outcome,omitzero"`
	Note       string         `json:"note,omitzero"`
	Signatures int            `json:"signatures"`
	Recipients []string       `json:"recipients,omitempty"`
	Agreed     []string       `json:"agreed,omitempty"`
	Terms      *journal.Terms `json:"terms,omitzero"` // of QuoteID: who gets what, and the fees as reviewed
	Nodes      []becameFact   `json:"nodes,omitempty"`
}

// signatureFact is a signature that can still be used: what it is for and what ends it, but not the signature.
type signatureFact struct {
	Operation  string          `json:"operation"`
	Role       string          `json:"role"`
	Chain      string          `json:"chain"`
	Sender     string          `json:"sender"`
	Nonce      string          `json:"nonce,omitzero"`
	OpHash     string          `json:"opHash"`
	QuoteID    string          `json:"quoteId,omitzero"`
	ValidUntil string          `json:"validUntil,omitzero"`
	Sent       bool            `json:"sent"`
	Ends       string          `json:"ends"`
	Spend      []journal.Spend `json:"spend,omitempty"`
	// what the service reports about it where that proves nothing: ran, nothing; doubted after a repair
	Said string `json:"said,omitzero"`
}

func (c Commands) bookFacts(s *Session) (bookFact, error) {
	out := bookFact{Operations: []operationFact{}, Outstanding: []signatureFact{}}
	b, err := s.Read()
	if err != nil || b == nil {
		return out, err
	}
	defer func() { _ = b.Close() }()
	for _, o := range b.Operations() {
		f := factOf(o)
		if t, ok := b.Terms(o.QuoteID); ok {
			f.Terms = &t
		}
		out.Operations = append(out.Operations, f)
	}
	for _, x := range b.Outstanding(c.Clock()) {
		out.Outstanding = append(out.Outstanding, signatureOf(x))
	}
	return out, nil
}

func factOf(o journal.Operation) operationFact {
	f := operationFact{
		ID: o.ID, State: string(o.State), Started: at(o.Started), Updated: at(o.Updated), IntentHash: o.IntentHash,
		QuoteID: o.QuoteID, Expires: o.Expires,
		BodyHash: o.BodyHash, Outcome: o.Outcome, Note: clean(o.Note), Signatures: len(o.Signatures),
		Recipients: o.Recipients,
	}
	if v := jsontext.Value(o.Intent); v.IsValid() {
		f.Intent = v
	}
	for _, a := range o.Agreed {
		for _, line := range a.Summary {
			f.Agreed = append(f.Agreed, clean(line))
		}
	}
	return f
}

func signatureOf(x journal.Outstanding) signatureFact {
	f := signatureFact{
		Operation: x.Op, Role: x.Role, Chain: x.Chain, Sender: x.Sender, Nonce: x.Nonce, OpHash: x.OpHash,
		QuoteID: x.QuoteID, Sent: x.Sent, Ends: clean(x.Void), Spend: x.Spend,
		Said: string(x.Said),
	}
	if _, ends := x.Ends(); ends {
		f.ValidUntil = at(time.Unix(x.ValidUntil, 0))
	}
	return f
}
