package balances

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/present"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
	"coffer/wallet/verify"
)

// heldFile is the JSON form of an export. Amounts are base units; an unknown one is null.
type heldFile struct {
	Format    string    `json:"format"`
	Profile   string    `json:"profile"`
	Network   string    `json:"network"`
	Kind      string    `json:"kind"`
	ReadAt    string    `json:"readAt"`
	LastKnown bool      `json:"lastKnown"`
	TotalUSD  *string   `json:"totalUSD"`
	Without   bool      `json:"totalLeavesOutUnpriced"`
	Holdings  []heldRow `json:"holdings"`
}

// heldRow is one asset on one chain, or an asset for which the answer names no chain.
type heldRow struct {
	Account   *string  `json:"account"`
	Aggregate string   `json:"aggregate"`
	Asset     string   `json:"asset"`
	Chain     string   `json:"chain"`
	ChainName string   `json:"chainName"`
	Symbol    string   `json:"symbol"`
	Decimals  *int     `json:"decimals"`
	BaseUnits *string  `json:"baseUnits"`
	FiatUSD   *string  `json:"fiatUSD"`
	Checks    []string `json:"checks,omitempty"`
}

// exportedMsg ends an export.
type exportedMsg struct {
	held  int
	paths []string
	err   error
}

// export writes all holdings, whatever the filter, as CSV and as JSON. The figures are those of the answer, never
// scrambled ones.
func (m *Model) export() tea.Cmd {
	if k := m.exportKey(); k.Off != "" {
		return screen.Toast(theme.Warn, k.Off)
	}
	file := m.held()
	write := m.ctx.Export
	return func() tea.Msg {
		out := exportedMsg{held: len(file.Holdings)}
		asCSV, err := encodeCSV(file)
		if err != nil {
			return exportedMsg{err: err}
		}
		asJSON, err := json.MarshalIndent(file, "", "  ")
		if err != nil {
			return exportedMsg{err: fmt.Errorf("holdings: %w", err)}
		}
		for _, one := range []struct {
			name string
			data []byte
		}{{"holdings.csv", asCSV}, {"holdings.json", append(asJSON, '\n')}} {
			path, err := write(one.name, one.data)
			if err != nil {
				out.err = errors.Join(out.err, err)
				continue
			}
			out.paths = append(out.paths, path)
		}
		return out
	}
}

func (m *Model) exported(msg exportedMsg) tea.Cmd {
	if msg.err != nil {
		return screen.Toast(theme.Danger, "the export could not be written: "+present.Clean(msg.err.Error(), 300))
	}
	return screen.Toast(theme.Good, present.Plural(msg.held, "holding", "holdings")+" written to "+
		present.Clean(strings.Join(msg.paths, " and "), 600))
}

// held collects the holdings that are not known to be zero.
func (m *Model) held() heldFile {
	h := m.real
	out := heldFile{
		Format: "coffer holdings 1", Profile: m.ctx.Profile, Network: m.ctx.Network.ID,
		Kind:   string(m.ctx.Network.Kind),
		ReadAt: m.at.UTC().Format(time.RFC3339), LastKnown: m.last, Without: h.Without != "", Holdings: []heldRow{},
	}
	if h.Total != nil {
		out.TotalUSD = pointer(strings.NewReplacer("$", "", ",", "").Replace(exactUSD(h.Total)))
	}
	address := map[string]string{}
	for _, o := range h.Owners {
		address[o.Key] = o.Address
	}
	for _, a := range h.Assets {
		if len(a.Parts) == 0 && !present.IsZero(a.Amount, a.Micro) {
			out.Holdings = append(out.Holdings, heldRow{
				Aggregate: a.ID, Symbol: a.Symbol, Decimals: decimals(a.Decimals), BaseUnits: pointer(a.Given.Amount),
				FiatUSD: pointer(a.Given.Fiat), Checks: titlesOf(a.Reasons),
			})
		}
		for _, p := range a.Parts {
			if present.IsZero(p.Amount, p.Micro) {
				continue
			}
			one := heldRow{
				Account: pointer(address[p.Owner]), Aggregate: a.ID, Asset: p.ID, ChainName: p.ChainName,
				Symbol: p.Symbol, Decimals: decimals(p.Decimals),
				BaseUnits: pointer(p.Given.Amount), FiatUSD: pointer(p.Given.Fiat),
				Checks: titlesOf(append(p.Reasons[:len(p.Reasons):len(p.Reasons)], a.Reasons...)),
			}
			if p.Chain.Namespace != "" {
				one.Chain = p.Chain.String()
			}
			out.Holdings = append(out.Holdings, one)
		}
	}
	return out
}

func titlesOf(reasons []verify.Reason) (out []string) {
	for _, x := range reasons {
		out = append(out, x.Code+": "+x.Title)
	}
	return out
}

// pointer is nil for an unknown figure.
func pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func decimals(d int) *int {
	if d < 0 {
		return nil
	}
	return &d
}

// encodeCSV writes one line per holding; an unknown figure is an empty field.
func encodeCSV(f heldFile) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	lines := [][]string{{"read_at", "network", "account", "aggregate", "asset", "chain", "chain_name", "symbol",
		"decimals", "base_units", "fiat_usd", "checks"}}
	value := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	for _, h := range f.Holdings {
		places := ""
		if h.Decimals != nil {
			places = strconv.Itoa(*h.Decimals)
		}
		line := []string{
			f.ReadAt, f.Network, value(h.Account), h.Aggregate, h.Asset, h.Chain, h.ChainName, h.Symbol, places,
			value(h.BaseUnits), value(h.FiatUSD),
			strings.Join(h.Checks, " "),
		}
		for i := range line {
			line[i] = present.Inert(line[i])
		}
		lines = append(lines, line)
	}
	if err := w.WriteAll(lines); err != nil {
		return nil, fmt.Errorf("holdings: %w", err)
	}
	return b.Bytes(), nil
}
