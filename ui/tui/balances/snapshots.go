package balances

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/amount"
	"coffer/ui/present"
	"coffer/ui/tui/screen"
)

// How long snapshots are kept: at most one per snapEvery; all of the last day, the first of each hour of a month, the
// first of each day of two years.
const (
	snapEvery = 10 * time.Minute
	day       = 24 * time.Hour
	month     = 30 * day
	longest   = 2 * 365 * day

	maxSeries = 8
	maxPoints = 4000 // of one series; thinning keeps about 1 600
)

// point is a total at a moment. Two totals compare when they leave out the same: without is the unpriced of holdings.
type point struct {
	at      int64 // Unix seconds
	micro   *big.Int
	without string
}

// series is the document of all series, the most recently written first.
type series struct {
	Version int         `json:"version"`
	Series  []oneSeries `json:"series"`
}

type oneSeries struct {
	Network  string      `json:"network"`
	Accounts []string    `json:"accounts"`
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

// parseSeries reads the snapshots of all networks and accounts: times increase, totals are integers that are not
// negative.
func parseSeries(raw []byte) (series, error) {
	var s series
	if err := strict(raw, seriesLimits(), &s); err != nil {
		return series{}, fmt.Errorf("snapshots: %w", err)
	}
	if len(s.Series) > maxSeries {
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

// of returns the points of one identity, nil without any.
func (s series) of(id identity) []point {
	for _, one := range s.Series {
		if !id.is(one.Network, one.Accounts) {
			continue
		}
		out := make([]point, 0, len(one.Points))
		for _, p := range one.Points {
			v, err := amount.ParseBase(p.Micro)
			if err != nil {
				return nil
			}
			out = append(out, point{at: p.At, micro: v, without: p.Without})
		}
		return out
	}
	return nil
}

// with puts the points of one identity first, and drops the series that was written longest ago when there are too
// many.
func (s series) with(id identity, points []point) series {
	mine := oneSeries{Network: id.Network, Accounts: id.Accounts, Points: make([]keptPoint, 0, len(points))}
	for _, p := range points {
		mine.Points = append(mine.Points, keptPoint{At: p.at, Micro: p.micro.String(), Without: p.without})
	}
	out := series{Version: keepVersion, Series: []oneSeries{mine}}
	for _, one := range s.Series {
		if !id.is(one.Network, one.Accounts) && len(out.Series) < maxSeries {
			out.Series = append(out.Series, one)
		}
	}
	return out
}

// due reports whether a snapshot may be taken at a moment.
func due(points []point, at time.Time) bool {
	return len(points) == 0 || at.Sub(time.Unix(points[len(points)-1].at, 0)) >= snapEvery
}

// thin drops the points that the rule no longer keeps, and those that a wrong clock put into the future.
func thin(points []point, now time.Time) []point {
	var out []point
	var lastSpan, lastBucket int64
	for _, p := range points {
		age := now.Sub(time.Unix(p.at, 0))
		var span int64
		switch {
		case age < 0 || age > longest:
			continue
		case age > month:
			span = int64(day / time.Second)
		case age > day:
			span = int64(time.Hour / time.Second)
		}
		if span > 0 {
			if span == lastSpan && p.at/span == lastBucket {
				continue
			}
			lastBucket = p.at / span
		}
		lastSpan = span
		out = append(out, p)
	}
	return out
}

// addPoint adds a snapshot to the series on disk, which another start may have changed, and returns the series. It
// writes nothing when no snapshot is due.
func addPoint(keep screen.Keep, of identity, p point, now time.Time) ([]point, error) {
	raw, err := keep.Load(seriesName)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", seriesName, err)
	}
	var all series
	if raw != nil {
		if all, err = parseSeries(raw); errors.Is(err, errNewer) {
			return nil, err
		} // a document that cannot be read starts anew
	}
	points := thin(all.of(of), now)
	if !due(points, now) {
		return points, nil
	}
	points = append(points, p)
	raw, err = json.Marshal(all.with(of, points))
	if err != nil {
		return nil, fmt.Errorf("snapshots: %w", err)
	}
	if err := keep.Save(seriesName, raw); err != nil {
		return nil, fmt.Errorf("%s: %w", seriesName, err)
	}
	return points, nil
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
