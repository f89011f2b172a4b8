package netstatus

import (
	"cmp"
	"fmt"
	"log/slog"
	"maps"
	"math/big"
	"slices"
	"sync"
	"time"

	"coffer/api/service/outbox/lane"
)

// The codes of alerts. Those of lanes are the lane's own.
const (
	LaneStopped   = lane.CodeStopped
	LaneHeld      = lane.CodeHeld
	QuorumLost    = "QUORUM_LOST"
	GasLow        = "GAS_LOW"
	InventoryLow  = "INVENTORY_LOW"
	DepositLate   = "DEPOSIT_LATE"
	ExposureHigh  = "EXPOSURE_HIGH"
	FeedStale     = "FEED_STALE"
	FillerPaused  = "FILLER_PAUSED"
	HotKeyUnknown = "HOT_KEY_UNKNOWN"
	AttestersFew  = "ATTESTERS_FEW"
	AttesterGone  = "ATTESTER_GONE"
)

// Codes are all of them.
func Codes() []string {
	return []string{LaneStopped, LaneHeld, QuorumLost, GasLow, InventoryLow, DepositLate, ExposureHigh, FeedStale,
		FillerPaused, HotKeyUnknown, AttestersFew, AttesterGone}
}

// When there is an alert.
const (
	lowGas     = 50        // operations
	lowStock   = 10        // percent of the cap's capacity
	near       = time.Hour // to the deadline of a deposit
	highExpose = 80        // percent of the cap
)

// Alert is something that an operator has to do something about. About is what it is about where a chain has several of
// its code: an asset, a quote.
type Alert struct {
	Code  string `json:"code"`
	Chain uint64 `json:"chain,omitzero"`
	About string `json:"about,omitzero"`
	Text  string `json:"text"`
	said  bool   // the log has it
}

// subject is what is judged: an alert, or what cannot be judged now.
type subject struct {
	code  string
	chain uint64
	about string
}

// judged are the alerts of a status by their subject; blind are those that cannot be judged, all of a code and chain
// where about is "".
type judged struct {
	alerts map[subject]Alert
	order  []subject
	blind  map[subject]bool
}

func (j *judged) say(code string, c Chain, about, format string, args ...any) {
	at := subject{code, c.ID, about}
	text := fmt.Sprintf(format, args...)
	if c.Name != "" {
		text = c.Name + ": " + text
	}
	j.alerts[at] = Alert{Code: code, Chain: c.ID, About: about, Text: text}
	j.order = append(j.order, at)
}

func (j *judged) unknown(code string, chain uint64, about string) {
	j.blind[subject{code, chain, about}] = true
}

func (j *judged) sees(s subject) bool {
	return !j.blind[s] && !j.blind[subject{s.code, s.chain, ""}] && !j.blind[subject{code: s.code}]
}

// Judge fills in the alerts.
func (s *Status) Judge() {
	j := s.judge()
	s.Alerts = []Alert{}
	for _, at := range j.order {
		s.Alerts = append(s.Alerts, j.alerts[at])
	}
}

func (s *Status) judge() *judged {
	j := &judged{alerts: map[subject]Alert{}, blind: map[subject]bool{}}
	for _, c := range s.Chains {
		if !c.Quorum.Agrees {
			j.say(QuorumLost, c, "", "%d of %d endpoints must agree: %s", c.Quorum.Need, len(c.Endpoints), c.Quorum.Why)
		}
		j.lane(c)
		j.filler(c)
		switch {
		case c.Gas == nil:
			j.unknown(GasLow, c.ID, "")
		case c.Gas.Operations < lowGas:
			j.say(GasLow, c, "", "%s for gas, for about %d operations", coins(c.Gas.Has, 18, c.Gas.Coin),
				c.Gas.Operations)
		}
		for _, h := range c.Inventory {
			j.stock(c, h)
		}
	}
	j.deposits(s)
	j.exposure(s.Exposure)
	j.attesters(s.Attesters)
	for _, p := range s.Prices {
		if p.Micro == nil {
			j.say(FeedStale, Chain{}, p.Asset, "%s has no price: %s", p.Symbol, p.Problem)
		}
	}
	return j
}

func (j *judged) lane(c Chain) {
	switch l := c.Lane; {
	case l == nil:
		j.unknown(LaneStopped, c.ID, "")
		j.unknown(LaneHeld, c.ID, "")
	case l.Stopped != "":
		j.say(LaneStopped, c, "", "nothing is sent until an operator decides (coffer network resume %d): %s", c.ID,
			l.Stopped)
		j.logged(LaneStopped, c.ID)
	case l.Held != "":
		j.say(LaneHeld, c, "", "nothing is sent until it is explained: %s", l.Held)
		if l.Alerted {
			j.logged(LaneHeld, c.ID)
		}
	}
}

// logged notes that the log has an alert.
func (j *judged) logged(code string, chain uint64) {
	at := subject{code: code, chain: chain}
	a := j.alerts[at]
	a.said = true
	j.alerts[at] = a
}

func (j *judged) filler(c Chain) {
	switch {
	case c.Paused == nil:
		j.unknown(FillerPaused, c.ID, "")
	case *c.Paused:
		j.say(FillerPaused, c, "", "its owner paused the filler: nothing is paid")
	}
	switch {
	case c.Hot == nil:
		j.unknown(HotKeyUnknown, c.ID, "")
	case !*c.Hot:
		j.say(HotKeyUnknown, c, "", "the filler does not know the service's key: its owner has to call setHot")
	}
}

func (j *judged) stock(c Chain, h Holding) {
	if h.Has == nil || h.Capacity == nil {
		j.unknown(InventoryLow, c.ID, h.Asset)
		return
	}
	if h.Capacity.Sign() > 0 && percent(h.Has, h.Capacity) < lowStock {
		j.say(InventoryLow, c, h.Asset, "the filler has %s, and %s may leave at once",
			coins(h.Has, h.Decimals, h.Symbol), coins(h.Capacity, h.Decimals, h.Symbol))
	}
}

func percent(part, whole *big.Int) int64 {
	n := new(big.Int).Mul(part, big.NewInt(100))
	if n.Quo(n, whole); n.IsInt64() {
		return n.Int64()
	}
	return 100
}

func (j *judged) deposits(s *Status) {
	if s.Deposits == nil {
		j.unknown(DepositLate, 0, "")
		return
	}
	for _, d := range s.Deposits.Held {
		if d.Deadline.Sub(s.At) < near {
			j.say(DepositLate, Chain{ID: d.Chain, Name: d.ChainName}, d.Quote, "%s of quote %s are in escrow, "+
				"time to the deadline: %s", coins(d.Amount, d.Decimals, d.Symbol), d.Quote, d.left(s.At))
		}
	}
}

func (j *judged) exposure(e *Exposure) {
	if e == nil || e.Used == nil {
		j.unknown(ExposureHigh, 0, "")
		return
	}
	if e.Used.Sign() > 0 && (e.Cap.Sign() == 0 || percent(e.Used, e.Cap) >= highExpose) {
		j.say(ExposureHigh, Chain{}, "", "%s are in escrow, at most %s may be", dollars(e.Used), dollars(e.Cap))
	}
}

func (j *judged) attesters(a *Attesters) {
	if a == nil {
		j.unknown(AttestersFew, 0, "")
		j.unknown(AttesterGone, 0, "")
		return
	}
	if n := a.answering(); n < a.Threshold {
		j.say(AttestersFew, Chain{}, "", "%d of %d attesters answer and %d must sign: nothing is quoted that pays "+
			"from another chain, and no deposit is released", n, len(a.Members), a.Threshold)
	}
	for _, m := range a.Members {
		if !m.Answers {
			j.say(AttesterGone, Chain{}, m.Address.Hex(), "the attester %s does not count: %s", m.Address.Hex(),
				cmp.Or(m.Fault, "it has not answered"))
		}
	}
}

// Watch logs alerts when they begin and when they end. It is safe for concurrent use.
type Watch struct {
	mu   sync.Mutex
	open map[subject]Alert
}

// See compares a status with those before.
func (w *Watch) See(s *Status, log *slog.Logger) {
	j := s.judge()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = map[subject]Alert{}
	}
	for _, at := range j.order {
		a := j.alerts[at]
		if _, known := w.open[at]; !known && !a.said {
			log.Error(a.Text, a.attributes()...)
		}
		w.open[at] = a
	}
	for _, at := range slices.Collect(maps.Keys(w.open)) {
		if _, lasts := j.alerts[at]; lasts || !j.sees(at) {
			continue
		}
		a := w.open[at]
		delete(w.open, at)
		log.Warn("over: "+a.Text, append(a.attributes(), "over", true)...)
	}
}

func (a Alert) attributes() []any {
	out := []any{"code", a.Code}
	if a.Chain != 0 {
		out = append(out, "chain", a.Chain)
	}
	if a.About != "" {
		out = append(out, "about", a.About)
	}
	return out
}
