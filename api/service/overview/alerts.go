package overview

import (
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"time"

	"coffer/api"
	"coffer/api/amount"
)

// The codes of alerts. They do not change: scripts look for them in the log.
const (
	CodeSilent    = "CHAIN_SILENT"  // a chain does not tell what there is
	CodeQuorum    = "QUORUM_LOST"   // fewer nodes can be asked than must agree
	CodeLane      = "LANE_WAITS"    // a lane sends nothing
	CodeGas       = "GAS_LOW"       // the sending key can pay for few operations
	CodePaused    = "FILLER_PAUSED" // nothing leaves the filler
	CodeStock     = "STOCK_SHORT"   // less is there, or may leave, than was promised
	CodeDeposit   = "DEPOSIT_LATE"  // a deposit can soon be taken back, and is not released
	CodeExposure  = "EXPOSURE_HIGH" // nearly as much is in escrow as the operator lets
	CodeUnpriced  = "PRICE_MISSING" // what is in escrow has no price
	fewOperations = 20
	late          = time.Hour
	highPercent   = 90
)

// Alert is something that its operator has to do something about.
type Alert struct {
	Code  string
	Of    string // what it is about: a chain, or a deposit; with Code it names the alert
	Words string
}

// Alerts are those of an overview, in the order of its chains.
func (o Overview) Alerts() (out []Alert) {
	for _, c := range o.Chains {
		add := func(code, format string, args ...any) {
			out = append(out, Alert{code, c.Name, c.Name + ": " + fmt.Sprintf(format, args...)})
		}
		if c.Problem != "" {
			add(CodeSilent, "%s", c.Problem)
		}
		if up := c.Usable(); up < c.Quorum {
			add(CodeQuorum, "%d of %d nodes can be asked, and %d must agree", up, len(c.Endpoints), c.Quorum)
		}
		if c.Lane.Stopped != "" || c.Lane.Held != "" {
			add(CodeLane, "%s", c.Lane)
		}
		if c.Operations != nil && *c.Operations < fewOperations {
			add(CodeGas, "%s has %s %s, good for about %d operations", c.Key, figure(c.Gas, 18), c.Coin,
				*c.Operations)
		}
		if c.Paused {
			add(CodePaused, "the filler is paused")
		}
		for _, s := range c.Stock {
			if less(s.Has, s.Promised) || less(s.Free, s.Promised) {
				add(CodeStock, "%s %s is promised, %s is there and %s may leave", figure(s.Promised, s.Decimals),
					s.Symbol, figure(s.Has, s.Decimals), figure(s.Free, s.Decimals))
			}
		}
	}
	for _, d := range o.Escrowed {
		if left := d.Deadline.Sub(o.At); left < late {
			out = append(out, Alert{CodeDeposit, fmt.Sprintf("%s on %d", d.Quote, d.ChainID),
				fmt.Sprintf("%s: %s %s of quote %s is not released and can be taken back %s", o.name(d.ChainID),
					figure(d.Amount, d.Decimals), d.Symbol, d.Quote, until(left))})
		}
	}
	used, most := micro(o.Exposure), micro(o.Cap)
	switch {
	case most == nil:
	case used == nil:
		out = append(out, Alert{CodeUnpriced, "", "what is in escrow has no price, so no quote is given"})
	case new(big.Int).Mul(used, big.NewInt(100)).Cmp(new(big.Int).Mul(most, big.NewInt(highPercent))) >= 0:
		out = append(out, Alert{CodeExposure, "", fmt.Sprintf("%s is in escrow, of at most %s", dollars(o.Exposure),
			dollars(o.Cap))})
	}
	return out
}

// less reports whether a known amount is smaller.
func less(v, than Units) bool {
	a, b := v.number(), than.number()
	return a != nil && b != nil && a.Cmp(b) < 0
}

func micro(n api.Number) *big.Int {
	v, err := amount.Parse(string(n), 6)
	if err != nil {
		return nil
	}
	return v
}

// Watch tells a log of alerts: each once when it begins, and once when it has ended.
type Watch struct{ now map[string]Alert }

// Saw compares an overview with the one before.
func (w *Watch) Saw(o Overview, log *slog.Logger) {
	next := map[string]Alert{}
	for _, a := range o.Alerts() {
		key := a.Code + " " + a.Of
		next[key] = a
		if _, known := w.now[key]; !known {
			log.Warn("needs the operator", "code", a.Code, "what", a.Words)
		}
	}
	var over []string
	for key := range w.now {
		if _, still := next[key]; !still {
			over = append(over, key)
		}
	}
	slices.Sort(over)
	for _, key := range over {
		log.Info("needs the operator no more", "code", w.now[key].Code, "of", strings.TrimSpace(w.now[key].Of))
	}
	w.now = next
}
