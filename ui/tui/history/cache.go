package history

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/ui/present"
)

// The cache keeps the newest records between starts, in one document per network and account. The document is a file
// and therefore foreign input: it is parsed strictly and within bounds, and every text in it passes the same gate as an
// answer of the service.
const (
	keptName    = "history.json"
	keptVersion = 1
	MaxKept     = 2_000   // records
	maxKeptSize = 4 << 20 // bytes
)

// cacheFile is the document. Its member names are short because they are written two thousand times.
type cacheFile struct {
	Version int            `json:"version"`
	Network string         `json:"network"`
	User    string         `json:"user"`
	At      int64          `json:"at"` // Unix seconds of the last reading
	Records []cachedRecord `json:"records"`
}

type cachedRecord struct {
	ID        string      `json:"id"`
	When      int64       `json:"t,omitzero"` // Unix milliseconds; 0: unreadable
	Kind      string      `json:"k,omitzero"`
	Status    string      `json:"s,omitzero"`
	Reason    string      `json:"why,omitzero"`
	User      string      `json:"u,omitzero"`
	Recipient string      `json:"r,omitzero"`
	PaidOf    string      `json:"po,omitzero"`
	PaidFrom  string      `json:"pf,omitzero"`
	Paid      string      `json:"p,omitzero"`
	PaidUSD   string      `json:"pv,omitzero"`
	GotOf     string      `json:"go,omitzero"`
	GotAs     string      `json:"ga,omitzero"`
	Got       string      `json:"g,omitzero"`
	GotUSD    string      `json:"gv,omitzero"`
	Minimum   string      `json:"m,omitzero"`
	Legs      []cachedLeg `json:"l,omitempty"`
	More      int         `json:"more,omitzero"`
}

type cachedLeg struct {
	Origin bool   `json:"o,omitzero"`
	Chain  string `json:"c"`
	Hash   string `json:"h"`
	Link   string `json:"e,omitzero"`
}

// owner identifies the records of a document.
type owner struct{ network, user string }

// errKept says that a document is malformed.
var errKept = errors.New("the kept history is damaged")

// errForeign says that the document belongs to another network or account: nothing is wrong, but nothing can be shown.
var errForeign = errors.New("the kept history is of another account")

// encodeCache writes records, newest first, as many as fit.
func encodeCache(o owner, at time.Time, rows []*record) ([]byte, error) {
	f := cacheFile{Version: keptVersion, Network: o.network, User: o.user, At: at.Unix(),
		Records: make([]cachedRecord, 0, min(len(rows), MaxKept))}
	for _, r := range rows[:min(len(rows), MaxKept)] {
		f.Records = append(f.Records, r.cached())
	}
	for {
		b, err := json.Marshal(f)
		if err != nil || len(b) <= maxKeptSize {
			return b, err
		}
		f.Records = f.Records[:len(f.Records)/2]
	}
}

func (r *record) cached() cachedRecord {
	k := cachedRecord{
		ID: r.id, Kind: r.kind.Value(), Status: r.status.Value(), Reason: r.reason.Value(), User: r.user.Value(),
		Recipient: r.recipient.Value(),
		PaidOf:    r.paidOf.Value(), PaidFrom: r.paidFrom.Value(), Paid: r.paid, PaidUSD: r.paidUSD,
		GotOf: r.gotOf.Value(), GotAs: r.gotAs.Value(),
		Got: r.got, GotUSD: r.gotUSD, Minimum: r.minimum, More: r.more,
	}
	if r.when != noTime {
		k.When = r.when
	}
	for _, l := range r.legs {
		k.Legs = append(k.Legs, cachedLeg{Origin: l.origin, Chain: l.chain.Value(), Hash: l.hash, Link: l.url()})
	}
	return k
}

// decodeCache reads a document. It refuses unknown or duplicate members, sizes beyond the bounds, a repeated quote id,
// and a time outside the calendar.
func decodeCache(b []byte, o owner, rd reader) (rows []*record, at time.Time, err error) {
	if len(b) > maxKeptSize {
		return nil, at, fmt.Errorf("%w: it has %d bytes, at most %d are read", errKept, len(b), maxKeptSize)
	}
	var f cacheFile
	if err := json.Unmarshal(b, &f, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false)); err != nil {
		return nil, at, fmt.Errorf("%w: %w", errKept, err)
	}
	switch {
	case f.Version != keptVersion:
		return nil, at, fmt.Errorf("%w: its version is %d, not %d", errKept, f.Version, keptVersion)
	case f.Network != o.network || !strings.EqualFold(f.User, o.user):
		return nil, at, errForeign
	case len(f.Records) > MaxKept || f.At < 0 || f.At > maxSeconds:
		return nil, at, fmt.Errorf("%w: it has too many records or no time", errKept)
	}
	seen := make(map[string]bool, len(f.Records))
	rows = make([]*record, 0, len(f.Records))
	for i := range f.Records {
		r, ok := rd.restored(&f.Records[i])
		if !ok || seen[r.id] {
			return nil, at, fmt.Errorf("%w: record %d", errKept, i)
		}
		seen[r.id] = true
		rows = append(rows, r)
	}
	return rows, time.Unix(f.At, 0), nil
}

// maxSeconds is the last second of the year 9999.
const maxSeconds = 253_402_300_799

func (rd reader) restored(k *cachedRecord) (*record, bool) {
	if k.ID == "" || len(k.Legs) > maxLegs || k.More < 0 || k.When < -maxSeconds*1000 || k.When > maxSeconds*1000 {
		return nil, false
	}
	r := &record{
		id: own(k.ID, maxID), when: k.When, kind: shared(k.Kind, 20), status: shared(k.Status, 40),
		reason: shared(k.Reason, 200),
		user:   shared(k.User, maxID), recipient: shared(k.Recipient, maxID), paidOf: shared(k.PaidOf, 80),
		paidFrom: assetList(strings.Fields(k.PaidFrom)),
		paid:     own(k.Paid, maxAmount), paidUSD: own(k.PaidUSD, maxAmount), gotOf: shared(k.GotOf, 80),
		gotAs: shared(k.GotAs, maxID),
		got:   own(k.Got, maxAmount), gotUSD: own(k.GotUSD, maxAmount), minimum: own(k.Minimum, maxAmount),
		more: k.More,
	}
	if k.When == 0 {
		r.when = noTime
	}
	for _, l := range k.Legs {
		r.legs = append(r.legs, rd.leg(api.OperationRef{Hash: l.Hash, Chain: l.Chain, ExplorerURL: l.Link}, l.Origin))
	}
	return r, true
}

// A view is a filter with a name.
type view struct {
	Name   string `json:"name"`
	Filter string `json:"filter"`
}

const (
	viewsName   = "views.json"
	maxViews    = 50
	maxViewsDoc = 64 << 10
	maxFilter   = 200 // characters
	maxName     = 40
)

type viewsFile struct {
	Version int    `json:"version"`
	Views   []view `json:"views"`
}

var errViews = errors.New("the saved views are damaged")

func encodeViews(list []view) ([]byte, error) {
	return json.Marshal(viewsFile{Version: 1, Views: list})
}

// decodeViews reads the saved views. It cleans names and filters, and refuses a name that is empty or repeated.
func decodeViews(b []byte) ([]view, error) {
	if len(b) > maxViewsDoc {
		return nil, fmt.Errorf("%w: they have %d bytes", errViews, len(b))
	}
	var f viewsFile
	if err := json.Unmarshal(b, &f, json.RejectUnknownMembers(true), jsontext.AllowDuplicateNames(false)); err != nil {
		return nil, fmt.Errorf("%w: %w", errViews, err)
	}
	if f.Version != 1 || len(f.Views) > maxViews {
		return nil, errViews
	}
	seen := map[string]bool{}
	for i, v := range f.Views {
		v.Name, v.Filter = present.Clean(v.Name, maxName), present.Clean(v.Filter, maxFilter)
		if strings.TrimSpace(v.Name) == "" || seen[v.Name] {
			return nil, fmt.Errorf("%w: view %d has no unique name", errViews, i)
		}
		seen[v.Name] = true
		f.Views[i] = v
	}
	return f.Views, nil
}
