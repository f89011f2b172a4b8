package quotelab

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/ui/compose"
	"coffer/ui/present"
)

// Report is a comparison: the question, its variants with their answers, and the curve of one of them (Curved, an index
// of Variants).
type Report struct {
	Question string
	Network  string
	At       time.Time
	By       Measure
	Variants []Compared
	Total    int // variants without the bound
	Curved   int
	Points   []Point
}

// Compare asks for every variant of a plan, one after the other, and then for the curve of the best one, or of the
// first where none is. An error is that of the plan, of the end of the context, or that the service asks for fewer
// requests; the report then has what was answered before.
func (a Asker) Compare(ctx context.Context, p Planner, axes Axes, by Measure) (Report, error) {
	out := Report{Network: p.Draft.Network, At: a.Clock(), By: by}
	all, total, err := p.Plan(axes)
	if err != nil {
		return out, err
	}
	out.Total = total
	var held compose.Money
	if p.Held != nil {
		held = compose.ReadMoney(p.Rules.Catalog, *p.Held)
	}
	for _, v := range all {
		answer, err := a.Ask(ctx, v.Intent, held)
		if answer, err = a.settle(ctx, answer, err); err != nil {
			return out, err
		}
		out.Variants = append(out.Variants, Compared{v, answer})
	}
	out.Curved = max(0, Best(out.Variants, by))
	own := out.Variants[out.Curved]
	out.Points = Points(p.Rules, own.Intent, own.Answer)
	for i, point := range out.Points {
		if point.Asked {
			continue
		}
		answer, _, err := a.quote(ctx, point.Intent)
		if answer, err = a.settle(ctx, answer, err); err != nil {
			return out, err
		}
		out.Points[i].Answer, out.Points[i].Asked = answer, true
	}
	return out, nil
}

// settle makes an answer of an error that concerns one request alone.
func (a Asker) settle(ctx context.Context, got Answer, err error) (Answer, error) {
	var no *api.Error
	switch {
	case err == nil:
		return got, nil
	case ctx.Err() != nil, errors.As(err, &no) && no.Name == api.ErrTooManyRequests:
		return got, err
	}
	failed := Failed(a.Clock(), err)
	failed.Latency, failed.Prepared = got.Latency, got.Prepared
	return failed, nil
}

// Said is the rest of a report in lines: the best variant and by which measure, the route of the variant of the curve,
// and its points.
func (r Report) Said() (out []string) {
	if i := Best(r.Variants, r.By); i >= 0 {
		out = append(out, "", fmt.Sprintf("Best: %d, %s (%s).", i+1, r.Variants[i].Fund, r.By))
	}
	if r.Curved >= len(r.Variants) {
		return out
	}
	own := r.Variants[r.Curved].Answer
	if own.Prepared && own.Figures() {
		out = append(out, "", own.Basis())
	}
	for i, l := range Route(own) {
		if i == 0 {
			out = append(out, "", fmt.Sprintf("Route of %d:", r.Curved+1))
		}
		out = append(out, strings.TrimRight(fmt.Sprintf("  %-8s %-30s %28s %12s", l.Stage, l.Name,
			l.Text(), present.USD(l.Micro)), " "))
	}
	for i, p := range r.Points {
		if i == 0 {
			out = append(out, "", fmt.Sprintf("Cost over amount, of %d:", r.Curved+1))
		}
		cost := own.about("") + ShareText(p.Answer.share())
		if p.Asked && !p.Answer.Figures() {
			_, cost = p.Answer.Outcome()
		}
		out = append(out, fmt.Sprintf("  %24s  %s", p.Of.Figure()+" "+p.Of.Symbol, cost))
	}
	return out
}

type moneyJSON struct {
	Asset    string `json:"asset"`
	Symbol   string `json:"symbol,omitzero"`
	Chain    string `json:"chain,omitzero"`
	Decimals *int   `json:"decimals,omitzero"`
	Amount   string `json:"amount"`
	MicroUSD string `json:"microUsd,omitzero"`
}

type answerJSON struct {
	Outcome     string           `json:"outcome"`
	Problem     string           `json:"problem,omitzero"`
	Refusal     string           `json:"refusal,omitzero"`
	Estimate    bool             `json:"estimate,omitzero"`
	Basis       string           `json:"basis,omitzero"`
	At          string           `json:"at"`
	LatencyMS   int64            `json:"latencyMs"`
	Pays        []moneyJSON      `json:"pays,omitempty"`
	Missing     []moneyJSON      `json:"missing,omitempty"`
	Delivered   *moneyJSON       `json:"delivered,omitzero"`
	Minimum     *moneyJSON       `json:"minimum,omitzero"`
	PaysMicro   string           `json:"paysMicroUsd,omitzero"`
	FeesMicro   string           `json:"feesMicroUsd,omitzero"`
	CostMicro   string           `json:"costMicroUsd,omitzero"`
	CostPercent string           `json:"costPercent"`
	LifetimeMS  int64            `json:"lifetimeMs,omitzero"`
	CallType    string           `json:"callType,omitzero"`
	Signatures  int              `json:"signatures,omitzero"`
	Route       []laneJSON       `json:"route,omitempty"`
	Checks      map[string]int   `json:"checks"`
	Answers     []jsontext.Value `json:"answers,omitempty"`
}

type laneJSON struct {
	Stage    Stage  `json:"stage"`
	Name     string `json:"name,omitzero"`
	Text     string `json:"text,omitzero"`
	MicroUSD string `json:"microUsd,omitzero"`
}

type variantJSON struct {
	Question    string     `json:"question,omitzero"`
	PaysWith    string     `json:"paysWith"`
	SlippageBps int        `json:"slippageBps"`
	ArrivesOn   string     `json:"arrivesOn"`
	Accounts    string     `json:"accounts"`
	Answer      answerJSON `json:"answer"`
}

type bestJSON struct {
	By      string `json:"by"`
	Variant int    `json:"variant"`
}

type pointJSON struct {
	Amount moneyJSON  `json:"amount"`
	Answer answerJSON `json:"answer"`
}

type reportJSON struct {
	Question string        `json:"question,omitzero"`
	Network  string        `json:"network"`
	At       string        `json:"at"`
	Total    int           `json:"total"`
	Best     *bestJSON     `json:"best,omitzero"`
	Differs  []string      `json:"differs,omitempty"`
	Variants []variantJSON `json:"variants"`
	Curved   int           `json:"curveOf"`
	Curve    []pointJSON   `json:"curve,omitempty"`
}

// JSON writes the report; w writes the question of each variant. Amounts are base units and micro USD in decimal
// strings; a figure that is not known is left out, and costPercent is "?".
func (r Report) JSON(w *compose.World) ([]byte, error) {
	out := reportJSON{Question: r.Question, Network: r.Network, At: stamp(r.At), Total: r.Total, Curved: r.Curved,
		Variants: []variantJSON{}}
	if i := Best(r.Variants, r.By); i >= 0 {
		out.Best = &bestJSON{r.By.String(), i}
	}
	for _, f := range Facts(r.Variants) {
		if f.Differs {
			out.Differs = append(out.Differs, f.Name)
		}
	}
	for _, v := range r.Variants {
		question, _ := w.QuestionOf(v.Intent.Draft()) // "" for what a question cannot say
		out.Variants = append(out.Variants, variantJSON{question, v.Fund, v.Bps, v.Arrives, v.Accounts,
			v.Answer.json()})
	}
	for _, p := range r.Points {
		if p.Asked {
			out.Curve = append(out.Curve, pointJSON{p.Of.json(), p.Answer.json()})
		}
	}
	return json.Marshal(out, json.Deterministic(true))
}

func (a Answer) json() answerJSON {
	_, outcome := a.Outcome()
	out := answerJSON{Outcome: outcome, Problem: a.Problem, Refusal: a.Reason, Estimate: a.Estimate, At: stamp(a.At),
		LatencyMS: a.Latency.Milliseconds(), PaysMicro: digits(a.PayMicro), FeesMicro: digits(a.FeesMicro),
		CostMicro: digits(a.CostMicro), CostPercent: a.Share(), LifetimeMS: a.Lifetime.Milliseconds(),
		CallType: a.CallType, Signatures: a.Signs,
		Checks: map[string]int{"passed": a.Passed, "warnings": a.Warned, "gates": a.Gated, "refused": a.Refused,
			"notChecked": a.Unknown}}
	if a.Prepared && a.Figures() {
		out.Basis = a.Basis()
	}
	for _, m := range a.Pays {
		out.Pays = append(out.Pays, m.json())
	}
	for _, m := range a.Missing {
		out.Missing = append(out.Missing, m.json())
	}
	for to, m := range map[**moneyJSON]*Money{&out.Delivered: a.Delivered, &out.Minimum: a.Minimum} {
		if m != nil {
			j := m.json()
			*to = &j
		}
	}
	for _, l := range Route(a) {
		out.Route = append(out.Route, laneJSON{l.Stage, l.Name, l.Text(), digits(l.Micro)})
	}
	for _, doc := range a.Documents {
		out.Answers = append(out.Answers, jsontext.Value(doc))
	}
	return out
}

func (m Money) json() moneyJSON {
	j := moneyJSON{Asset: m.Asset, Symbol: m.Symbol, Chain: m.Chain, Amount: digits(m.Amount),
		MicroUSD: digits(m.Micro)}
	if m.Decimals >= 0 {
		j.Decimals = &m.Decimals
	}
	return j
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func digits(v *big.Int) string {
	if v == nil {
		return ""
	}
	return v.String()
}

// CSV writes a line of titles and a line for each variant, with the facts of Facts.
func (r Report) CSV() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	facts := Facts(r.Variants)
	row := []string{"variant"}
	for _, f := range facts {
		row = append(row, f.Name)
	}
	err := w.Write(row)
	for i := range r.Variants {
		row = []string{strconv.Itoa(i + 1)}
		for _, f := range facts {
			row = append(row, present.Inert(f.Values[i]))
		}
		err = errors.Join(err, w.Write(row))
	}
	w.Flush()
	return b.Bytes(), errors.Join(err, w.Error())
}
