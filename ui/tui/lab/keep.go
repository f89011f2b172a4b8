package lab

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/pattern"
	"coffer/ui/present"
	"coffer/ui/quotelab"
)

// document is the name of the saved results.
const document = "lab.json"

const (
	keptVersion = 1
	maxDocument = 2 << 20
	maxText     = 200
	maxPays     = 20
	maxBps      = 1_000_000
	longest     = 100 * time.Hour
)

// entry is a result of a variant.
type entry struct {
	Key    string
	Result quotelab.Answer
}

type keptFile struct {
	Version int         `json:"version"`
	Results []keptEntry `json:"results"`
}

type keptEntry struct {
	Key       string      `json:"key"`
	At        string      `json:"at"`
	LatencyMS int64       `json:"latencyMs"`
	Prepared  bool        `json:"prepared,omitzero"`
	Estimate  bool        `json:"estimate,omitzero"`
	Pays      []keptMoney `json:"pays,omitempty"`
	Delivered *keptMoney  `json:"delivered,omitzero"`
	Minimum   *keptMoney  `json:"minimum,omitzero"`
	PayMicro  string      `json:"payMicro,omitzero"`
	FeesMicro string      `json:"feesMicro,omitzero"`
	CostMicro string      `json:"costMicro,omitzero"`
	CostBps   int         `json:"costBps"`
	LifeMS    int64       `json:"lifetimeMs,omitzero"`
	CallType  string      `json:"callType,omitzero"`
	Words     string      `json:"words,omitzero"`
	Legs      int         `json:"legs,omitzero"`
	Counts    [5]int      `json:"counts"` // passed, warned, gated, refused, unknown
	Reason    string      `json:"reason,omitzero"`
	Problem   string      `json:"problem,omitzero"`
	Said      string      `json:"said,omitzero"`
	Why       string      `json:"why,omitzero"`
}

type keptMoney struct {
	Asset    string `json:"asset"`
	Symbol   string `json:"symbol,omitzero"`
	Chain    string `json:"chain,omitzero"`
	Decimals int    `json:"decimals"`
	Amount   string `json:"amount"`
	Micro    string `json:"micro,omitzero"`
}

var (
	errKept = errors.New("the kept results of the lab cannot be read")
	reKey   = pattern.New(`^[0-9a-f]{32}$`)
)

// encode writes the last MaxKept results.
func encode(all []entry) ([]byte, error) {
	f := keptFile{Version: keptVersion, Results: []keptEntry{}}
	for _, e := range all[max(0, len(all)-MaxKept):] {
		r := e.Result
		k := keptEntry{
			Key: e.Key, At: r.At.UTC().Format(time.RFC3339Nano), LatencyMS: span(r.Latency), Prepared: r.Prepared,
			Estimate: r.Estimate, Said: present.Clean(r.Said, maxText), Why: present.Clean(r.Why, maxText),
			Delivered: keepMoney(r.Delivered),
			Minimum:   keepMoney(r.Minimum), PayMicro: digits(r.PayMicro), FeesMicro: digits(r.FeesMicro),
			CostMicro: digits(r.CostMicro), CostBps: min(r.CostBps, maxBps),
			LifeMS: span(r.Lifetime), CallType: present.Clean(r.CallType, maxText),
			Words:  present.Clean(r.Words, maxText),
			Legs:   r.Signs,
			Counts: [5]int{r.Passed, r.Warned, r.Gated, r.Refused, r.Unknown}, Reason: present.Clean(r.Reason, maxText),
			Problem: present.Clean(r.Problem, maxText),
		}
		for i := range r.Pays[:min(len(r.Pays), maxPays)] {
			if m := keepMoney(&r.Pays[i]); m != nil {
				k.Pays = append(k.Pays, *m)
			}
		}
		f.Results = append(f.Results, k)
	}
	return json.Marshal(f, json.Deterministic(true))
}

// span is a duration in milliseconds, within its bounds.
func span(d time.Duration) int64 { return max(0, min(d, longest)).Milliseconds() }

func keepMoney(m *quotelab.Money) *keptMoney {
	if m == nil || m.Amount == nil {
		return nil
	}
	return &keptMoney{Asset: present.Clean(m.Asset, maxText), Symbol: present.Clean(m.Symbol, 40),
		Chain: present.Clean(m.Chain, 40), Decimals: m.Decimals, Amount: m.Amount.String(), Micro: digits(m.Micro)}
}

func digits(v *big.Int) string {
	if v == nil || v.Sign() < 0 {
		return ""
	}
	return v.String()
}

// decode reads what encode wrote, strictly. The error is errKept with the reason.
func decode(b []byte) ([]entry, error) {
	limits := api.DefaultLimits()
	limits.Bytes = maxDocument
	doc, err := api.ParseDocument(b, limits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKept, err)
	}
	var f keptFile
	if err := json.Unmarshal(doc.Raw(), &f, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", errKept, err)
	}
	if f.Version != keptVersion || len(f.Results) > MaxKept {
		return nil, fmt.Errorf("%w: version %d with %d results", errKept, f.Version, len(f.Results))
	}
	out := make([]entry, 0, len(f.Results))
	for _, k := range f.Results {
		r, err := k.result()
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errKept, err)
		}
		out = append(out, entry{k.Key, r})
	}
	return out, nil
}

func (k keptEntry) result() (quotelab.Answer, error) {
	at, err := time.Parse(time.RFC3339Nano, k.At)
	if err != nil || at.Year() < 2000 || at.Year() > 2199 || !reKey.MatchString(k.Key) || len(k.Pays) > maxPays ||
		k.LatencyMS < 0 || k.LatencyMS > longest.Milliseconds() || k.LifeMS < 0 ||
		k.LifeMS > longest.Milliseconds() || k.CostBps < -1 || k.CostBps > maxBps || k.Legs < 0 || k.Legs > 1000 {
		return quotelab.Answer{}, errors.New("a result is out of its bounds")
	}
	for _, n := range k.Counts {
		if n < 0 || n > 10_000 {
			return quotelab.Answer{}, errors.New("a count is out of its bounds")
		}
	}
	out := quotelab.Answer{
		At: at, Latency: time.Duration(k.LatencyMS) * time.Millisecond, Prepared: k.Prepared, CostBps: k.CostBps,
		Estimate: k.Estimate, Said: present.Clean(k.Said, maxText), Why: present.Clean(k.Why, maxText),
		Lifetime: time.Duration(k.LifeMS) * time.Millisecond,
		CallType: present.Clean(k.CallType, maxText), Words: present.Clean(k.Words, maxText), Signs: k.Legs,
		Passed: k.Counts[0],
		Warned: k.Counts[1], Gated: k.Counts[2],
		Refused: k.Counts[3], Unknown: k.Counts[4], Reason: present.Clean(k.Reason, maxText),
		Problem: present.Clean(k.Problem, maxText),
	}
	var bad error
	number := func(s string) *big.Int {
		if s == "" {
			return nil
		}
		v, err := amount.ParseBase(s)
		if err != nil {
			bad = err
		}
		return v
	}
	takeMoney := func(m *keptMoney) *quotelab.Money {
		if m == nil {
			return nil
		}
		v := number(m.Amount)
		if v == nil || m.Decimals < -1 || m.Decimals > amount.MaxDecimals {
			bad = errors.New("an amount is not complete")
			return nil
		}
		return &quotelab.Money{Asset: present.Clean(m.Asset, maxText), Symbol: present.Clean(m.Symbol, 40),
			Chain: present.Clean(m.Chain, 40), Decimals: m.Decimals, Amount: v, Micro: number(m.Micro)}
	}
	for i := range k.Pays {
		if m := takeMoney(&k.Pays[i]); m != nil {
			out.Pays = append(out.Pays, *m)
		}
	}
	out.Delivered, out.Minimum = takeMoney(k.Delivered), takeMoney(k.Minimum)
	out.PayMicro, out.FeesMicro, out.CostMicro = number(k.PayMicro), number(k.FeesMicro), number(k.CostMicro)
	return out, bad
}
