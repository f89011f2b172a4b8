package balances

import (
	"errors"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
)

// The documents of the cache.
const (
	lastName   = "balances.json"
	seriesName = "snapshots.json"
	partsName  = "parts.json" // snapshots of assets and chains; older versions know only those of the total

	keepVersion = 1
	keepEvery   = time.Minute // between two writes
)

// errNewer says that a newer version of this program wrote a document; it is neither read nor replaced.
var errNewer = errors.New("it was written by a newer version of this program")

// identity is the owner of the figures in a document: those of another network or of other accounts are never mixed in.
type identity struct {
	Network  string
	Accounts []string // sorted, in lower case where case has no meaning
}

// identityOf is empty when nothing can be cached.
func identityOf(c screen.Context) identity {
	id := identity{Network: c.Network.ID}
	for _, a := range c.Accounts {
		id.Accounts = append(id.Accounts, present.OwnerKey(a.AccountAddress, a.IsEVM()))
	}
	slices.Sort(id.Accounts)
	id.Accounts = slices.Compact(id.Accounts)
	return id
}

func (i identity) whole() bool { return i.Network != "" && len(i.Accounts) > 0 }

func (i identity) is(network string, accounts []string) bool {
	return i.Network == network && slices.Equal(i.Accounts, accounts)
}

// lastFile is the document of the last known balances. Its answer is as foreign as one from the network, and read by
// the same rules.
type lastFile struct {
	Version  int                   `json:"version"`
	Network  string                `json:"network"`
	Accounts []string              `json:"accounts"`
	At       string                `json:"at"` // RFC 3339
	Answer   api.AggregatedBalance `json:"answer"`
}

func lastLimits() api.Limits {
	return api.Limits{Bytes: 4 << 20, Depth: 8, Elements: 10_000, Values: 100_000}
}

// strict decodes one document: within the limits, no duplicate and no unknown member.
func strict(raw []byte, limits api.Limits, into any) error {
	doc, err := api.ParseDocument(raw, limits)
	if err != nil {
		return err
	}
	var head struct {
		Version int `json:"version"`
	}
	if err := doc.Decode(&head); err != nil {
		return err
	}
	switch {
	case head.Version > keepVersion:
		return errNewer
	case head.Version != keepVersion:
		return fmt.Errorf("version %d is not known", head.Version)
	}
	return json.Unmarshal(raw, into, json.RejectUnknownMembers(true))
}

// parseLast reads the last known balances; ok is false when they belong to somebody else. A time after now is an error:
// its age would be false.
func parseLast(raw []byte, of identity, now time.Time) (b api.AggregatedBalance, at time.Time, ok bool, err error) {
	var f lastFile
	if err = strict(raw, lastLimits(), &f); err != nil {
		return b, at, false, fmt.Errorf("last known balances: %w", err)
	}
	if at, err = time.Parse(time.RFC3339, f.At); err != nil || at.After(now.Add(time.Minute)) {
		return b, time.Time{}, false, errors.New("last known balances: their time makes no sense")
	}
	if !of.is(f.Network, f.Accounts) {
		return b, time.Time{}, false, nil
	}
	return f.Answer, at.In(now.Location()), true, nil
}

func encodeLast(b api.AggregatedBalance, of identity, at time.Time) ([]byte, error) {
	raw, err := json.Marshal(lastFile{Version: keepVersion, Network: of.Network, Accounts: of.Accounts,
		At: at.UTC().Format(time.RFC3339), Answer: b})
	if err != nil {
		return nil, fmt.Errorf("last known balances: %w", err)
	}
	if len(raw) > lastLimits().Bytes {
		return nil, errors.New("last known balances: too large to keep")
	}
	return raw, nil
}

// cachedMsg brings the cache. last is nil when it has nothing of these accounts.
type cachedMsg struct {
	last   *present.Holdings
	at     time.Time
	points []point
}

// savedMsg ends a write. points and parts are the series as they are on disk, nil when they were not touched.
type savedMsg struct {
	points []point
	parts  map[string][]point
	err    error
}

// LoadCache reads the cache; nil when this program keeps none. A document that cannot be read counts as missing.
func (m *Model) LoadCache() tea.Cmd {
	if m.ctx.Keep == nil || !m.identity.whole() {
		return nil
	}
	keep, of, now, r := m.ctx.Keep, m.identity, m.ctx.Clock(), m.reader
	return func() tea.Msg {
		var out cachedMsg
		if raw, err := keep.Load(lastName); err == nil && raw != nil {
			if b, at, ok, err := parseLast(raw, of, now); err == nil && ok {
				if h, err := r.Read(b); err == nil {
					out.last, out.at = h, at
				}
			}
		}
		if raw, err := keep.Load(seriesName); err == nil && raw != nil {
			if all, err := parseSeries(raw, maxSeries); err == nil {
				out.points = all.of(of)[""]
			}
		}
		return out
	}
}

// save keeps an answer, and snapshots of its total and its parts when they are due.
func (m *Model) save(b api.AggregatedBalance, at time.Time, p *point, parts map[string]point) tea.Cmd {
	keep, of := m.ctx.Keep, m.identity
	return func() tea.Msg {
		var out savedMsg
		raw, err := encodeLast(b, of, at)
		if err == nil {
			err = replace(keep, lastName, raw, lastLimits())
		}
		out.err = err
		if p != nil {
			all, err := addPoints(keep, seriesName, maxSeries, of, map[string]point{"": *p}, totalPace(), at)
			out.points, out.err = all[""], errors.Join(out.err, err)
		}
		if parts != nil {
			all, err := addPoints(keep, partsName, maxPartSeries, of, parts, partPace(), at)
			out.parts, out.err = all, errors.Join(out.err, err)
		}
		return out
	}
}

// replace writes a document, unless a newer program wrote the present one.
func replace(keep screen.Keep, name string, raw []byte, limits api.Limits) error {
	old, err := keep.Load(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if old != nil {
		var head any
		if errors.Is(strict(old, limits, &head), errNewer) {
			return fmt.Errorf("%s: %w", name, errNewer)
		}
	}
	if err := keep.Save(name, raw); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
