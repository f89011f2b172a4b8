package balances

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
)

const (
	snapEvery = 10 * time.Minute
	day       = 24 * time.Hour
	month     = 30 * day
	longest   = 2 * 365 * day

	maxSeries     = 8
	maxParts      = 48 // assets and chains of one snapshot: those with the largest values
	maxPartSeries = 4 * maxParts
	maxPoints     = 4000 // of one series; thinning keeps about 1 600, of an asset or a chain about 340
)

// pace says how long snapshots are kept: at most one per each; all of the last day, the first of each span of a month,
// the first of each far span of two years.
type pace struct{ each, span, far time.Duration }

func totalPace() pace { return pace{snapEvery, time.Hour, day} }

func partPace() pace { return pace{30 * time.Minute, 6 * time.Hour, 4 * day} }

// point is a total at a moment. Two totals compare when they leave out the same: without is the unpriced of holdings.
type point struct {
	at      int64 // Unix seconds
	micro   *big.Int
	without string
}

// series is a document of series, the most recently written first: of totals, or of assets and chains.
type series struct {
	Version int         `json:"version"`
	Series  []oneSeries `json:"series"`
}

type oneSeries struct {
	Network  string      `json:"network"`
	Accounts []string    `json:"accounts"`
	Of       string      `json:"of,omitzero"` // an aggregated asset or a chain; "": the total
	Points   []keptPoint `json:"points"`
}

type keptPoint struct {
	At      int64  `json:"at"`
	Micro   string `json:"micro"`
	Without string `json:"without,omitzero"`
}

func seriesLimits() api.Limits {
	return api.Limits{Bytes: 4 << 20, Depth: 8, Elements: maxPoints, Values: 400_000}
}

// parseSeries reads the snapshots of all networks and accounts, at most so many series: times increase, values are
// integers that are not negative.
func parseSeries(raw []byte, most int) (series, error) {
	var s series
	if err := strict(raw, seriesLimits(), &s); err != nil {
		return series{}, fmt.Errorf("snapshots: %w", err)
	}
	if len(s.Series) > most {
		return series{}, errors.New("snapshots: too many series")
	}
	for _, one := range s.Series {
		last := int64(0)
		for _, p := range one.Points {
			_, err := amount.ParseBase(p.Micro)
			without, odd := hex.DecodeString(p.Without)
			if err != nil || odd != nil || len(without) > 8 || p.At <= last || p.At > 1<<40 {
				return series{}, errors.New("snapshots: a point makes no sense")
			}
			last = p.At
		}
	}
	return s, nil
}

// of returns the points of one identity by what they are of; "" is the total.
func (s series) of(id identity) map[string][]point {
	all := map[string][]point{}
	for _, one := range s.Series {
		if !id.is(one.Network, one.Accounts) || all[one.Of] != nil {
			continue
		}
		out := make([]point, 0, len(one.Points))
		for _, p := range one.Points {
			v, err := amount.ParseBase(p.Micro)
			if err != nil {
				continue // parseSeries lets none pass
			}
			out = append(out, point{at: p.At, micro: v, without: p.Without})
		}
		all[one.Of] = out
	}
	return all
}

// with puts the points of one identity first, and drops the series that were written longest ago when there are more
// than most.
func (s series) with(id identity, points map[string][]point, most int) series {
	out := series{Version: keepVersion}
	for _, of := range slices.Sorted(maps.Keys(points)) {
		mine := oneSeries{Network: id.Network, Accounts: id.Accounts, Of: of, Points: []keptPoint{}}
		for _, p := range points[of] {
			mine.Points = append(mine.Points, keptPoint{At: p.at, Micro: p.micro.String(), Without: p.without})
		}
		out.Series = append(out.Series, mine)
	}
	for _, one := range s.Series {
		if !id.is(one.Network, one.Accounts) {
			out.Series = append(out.Series, one)
		}
	}
	out.Series = out.Series[:min(most, len(out.Series))]
	return out
}

// due reports whether a snapshot may be taken at a moment.
func (p pace) due(points []point, at time.Time) bool {
	return len(points) == 0 || at.Sub(time.Unix(points[len(points)-1].at, 0)) >= p.each
}

// thin drops the points that the rule no longer keeps, and those that a wrong clock put into the future.
func (p pace) thin(points []point, now time.Time) []point {
	var out []point
	var lastSpan, lastBucket int64
	for _, x := range points {
		age := now.Sub(time.Unix(x.at, 0))
		var span int64
		switch {
		case age < 0 || age > longest:
			continue
		case age > month:
			span = int64(p.far / time.Second)
		case age > day:
			span = int64(p.span / time.Second)
		}
		if span > 0 {
			if span == lastSpan && x.at/span == lastBucket {
				continue
			}
			lastBucket = x.at / span
		}
		lastSpan = span
		out = append(out, x)
	}
	return out
}

// addPoints adds a snapshot to the series in a document, which another start may have changed, and returns the series
// of the identity. It writes nothing when no snapshot is due.
func addPoints(keep screen.Keep, name string, most int, of identity, fresh map[string]point, p pace,
	now time.Time) (map[string][]point, error) {
	raw, err := keep.Load(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all series
	if raw != nil {
		if all, err = parseSeries(raw, most); errors.Is(err, errNewer) {
			return nil, err
		} // a document that cannot be read starts anew
	}
	points, due := all.of(of), false
	for key, list := range points {
		if points[key] = p.thin(list, now); len(points[key]) == 0 {
			delete(points, key)
		}
	}
	for key, x := range fresh {
		if p.due(points[key], now) {
			points[key], due = append(points[key], x), true
		}
	}
	if !due {
		return points, nil
	}
	raw, err = json.Marshal(all.with(of, points, most))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := keep.Save(name, raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return points, nil
}

// partsOf are the values of each asset and each chain as points, by the asset's or the chain's id. What leaves out a
// holding without a price has none: it would not compare.
func partsOf(h *present.Holdings, at time.Time) map[string]point {
	values, partly := map[string]*big.Int{}, map[string]bool{}
	add := func(id string, v *big.Int, zero bool) {
		switch {
		case zero || id == "":
		case v == nil:
			partly[id] = true
		default:
			values[id] = present.Plus(values[id], v)
		}
	}
	for _, a := range h.Assets {
		add(a.ID, a.Micro, present.IsZero(a.Amount, a.Micro))
		for _, p := range a.Parts {
			add(p.Chain.String(), p.Micro, present.IsZero(p.Amount, p.Micro))
			partly[a.ID] = partly[a.ID] || p.Micro == nil && !present.IsZero(p.Amount, p.Micro)
		}
	}
	maps.DeleteFunc(values, func(id string, v *big.Int) bool {
		return h.Refused || partly[id] || v.Sign() <= 0 || len(v.String()) > 77
	})
	ids := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(values[b].Cmp(values[a]), cmp.Compare(a, b))
	})
	out := map[string]point{}
	for _, id := range ids[:min(maxParts, len(ids))] {
		out[id] = point{at: at.Unix(), micro: values[id]}
	}
	return out
}

// snapshot is the total as a point; nil when it cannot be compared: nothing has a price, or a figure was refused.
func snapshotOf(h *present.Holdings, at time.Time) *point {
	if h.Total == nil || h.Refused || len(h.Total.String()) > 77 {
		return nil
	}
	return &point{at: at.Unix(), micro: h.Total, without: h.Without}
}

// comparable lists the points that leave out the same as the present total.
func comparable(points []point, without string) []point {
	return slices.DeleteFunc(slices.Clone(points), func(p point) bool { return p.without != without })
}
