package act

import (
	"errors"
	"slices"

	"github.com/go-json-experiment/json"

	"coffer/ui/cli"
	"coffer/wallet/flow"
)

// appliedFile lists which operations were made from plans, beside the journal.
const appliedFile = "applied.json"

// application is one use of a plan.
type application struct {
	Intent    string `json:"intent"` // hash, 64 hex digits
	Plan      string `json:"plan"`   // hash, 0x hex
	Salt      string `json:"salt"`
	Operation string `json:"operation"`
	At        string `json:"at"`
}

// appliedBook is the content of appliedFile.
type appliedBook struct {
	Version int           `json:"version"`
	Applied []application `json:"applied"`
}

// loadApplied reads the list beside the journal and the one beside the anchor, and puts them together.
func loadApplied(s *Session) (*appliedBook, error) {
	book, err := readApplied(s.Plans)
	if err != nil {
		return nil, err
	}
	beside, err := readApplied(s.Keep)
	if err != nil {
		return nil, err
	}
	for _, a := range beside.Applied {
		if !slices.Contains(book.Applied, a) {
			book.Applied = append(book.Applied, a)
		}
	}
	return book, nil
}

func readApplied(from flow.Keep) (*appliedBook, error) {
	book := &appliedBook{Version: 1}
	b, err := from.Load(appliedFile)
	if err != nil || b == nil {
		return book, err
	}
	if err := json.Unmarshal(b, book, json.RejectUnknownMembers(true)); err != nil || book.Version != 1 {
		return nil, outcome(cli.ExitFailed, err, "the list of applied plans (%s) cannot be read; nothing was applied",
			appliedFile)
	}
	return book, nil
}

// add records a use in both places: one moves with the journal, the other stays when an older journal replaces it.
func (b *appliedBook) add(s *Session, a application) error {
	b.Applied = append(b.Applied, a)
	raw, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return errors.Join(s.Plans.Save(appliedFile, raw), s.Keep.Save(appliedFile, raw))
}
