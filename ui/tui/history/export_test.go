package history

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"
	"pgregory.net/rapid"

	"coffer/api"
	"coffer/ui/tui/internal/tuitest"
	"coffer/ui/tui/screen"
	"coffer/ui/tui/theme"
)

// printer keeps exports in memory.
type printer struct {
	names []string
	data  [][]byte
	err   error
}

func (p *printer) write(name string, data []byte) (string, error) {
	p.names, p.data = append(p.names, name), append(p.data, data)
	return "/exports/" + name, p.err
}

func exporting(t testing.TB, p *printer, s Source) *Model {
	ctx := onLab(t)
	ctx.Export = p.write
	return openedWith(t, ctx, s, 80, 19)
}

func toasts(out []tea.Msg) (all []screen.ToastMsg) {
	for _, msg := range out {
		if t, ok := msg.(screen.ToastMsg); ok {
			all = append(all, t)
		}
	}
	return all
}

func TestExportWritesTheFilteredRecordsExactly(t *testing.T) {
	p := &printer{}
	m := exporting(t, p, records(40))
	pressed(m, "/")
	typed(m, "status:refunded")
	pressed(m, "enter", "x")
	golden.RequireEqual(t, tuitest.Text(t, m, 80, 19))
	told := toasts(pressed(m, "c"))
	if len(told) != 1 || told[0].Meaning != theme.Good ||
		!strings.Contains(told[0].Text, "6 records written to /exports/history.csv") {
		t.Errorf("told %+v", told)
	}
	if !bytes.Contains(p.data[0], []byte("\r\n")) {
		t.Error("lines do not end as RFC 4180 says")
	}
	table, err := csv.NewReader(bytes.NewReader(p.data[0])).ReadAll()
	if err != nil || len(table) != 7 || !slices.Equal(table[0], csvColumns()) {
		t.Fatalf("%d lines: %v", len(table), err)
	}
	cell := func(name string) string { return table[1][slices.Index(table[0], name)] }
	for name, want := range map[string]string{
		"quote_id": tuitest.QuoteID(2), "paid_base_units": "227980000", "paid_decimals": "6",
		"received_base_units": "227500000", "received_usd": "227.50", "status": "REFUNDED",
		"fail_reason": "SLIPPAGE", "time": "2026-11-21T06:16:00Z", "origin_chains": "eip155:10",
		"target_chains": "eip155:8453", "fees_usd": "", "paid_usd": "",
	} {
		if got := cell(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	pressed(m, "x", "j")
	var f exportFile
	if err := json.Unmarshal(p.data[1], &f); err != nil || len(f.Records) != 6 || f.Filter != "status:refunded" ||
		f.Records[0].Paid.BaseUnits != "227980000" || !f.Complete {
		t.Errorf("%+v: %v", f, err)
	}
}

func TestAnExportOfAPartOfHistorySaysSo(t *testing.T) {
	p := &printer{}
	m := exporting(t, p, records(240))
	pressed(m, "x", "q", "j")
	var f exportFile
	if err := json.Unmarshal(p.data[0], &f); err != nil || f.Complete || len(f.Records) != 50 {
		t.Errorf("complete %v with %d records: %v", f.Complete, len(f.Records), err)
	}
	p.err = errors.New("the disk is full")
	if told := toasts(pressed(m, "x", "c")); len(told) != 1 || told[0].Meaning != theme.Danger {
		t.Errorf("told %+v", told)
	}
	pressed(m, "x", "esc")
	if m.Capturing() {
		t.Error("the question is still open")
	}
}

// Whatever a service writes, no cell of the table runs as a formula, and every cell reads back unchanged.
func TestNoCellOfAnExportRunsAsAFormula(t *testing.T) {
	ctx := onLab(t)
	rapid.Check(t, func(rt *rapid.T) {
		r := tuitest.Record(0)
		evil := rapid.StringMatching(`[=+@'\-\t"\r\n,;|]{0,3}(cmd|HYPERLINK\("x"\)|1\+1|é|日)`)
		r.Type, r.Status, r.FailReason, r.QuoteID = evil.Draw(rt, "type"), evil.Draw(rt, "status"),
			evil.Draw(rt, "reason"), evil.Draw(rt, "id")
		r.OriginToken.Amount, r.DestinationToken.FiatValue, r.User = evil.Draw(rt, "amount"), evil.Draw(rt, "value"),
			evil.Draw(rt, "user")
		r.OriginChainOperations[0].Hash, r.OriginChainOperations[0].Chain = evil.Draw(rt, "hash"),
			evil.Draw(rt, "chain")
		b, err := exportCSV(newFormatter(ctx.Receipts()), readerOf(ctx).page([]api.HistoryRecord{r}))
		if err != nil {
			rt.Fatal(err)
		}
		table, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil || len(table) != 2 || len(table[1]) != len(csvColumns()) {
			rt.Fatalf("%q: %v", b, err)
		}
		for i, c := range table[1] {
			if c != "" && strings.ContainsRune("=+-@\t\r\n", rune(c[0])) {
				rt.Fatalf("%s is %q", csvColumns()[i], c)
			}
		}
	})
}

func TestReceiptTellsEverythingOfARecord(t *testing.T) {
	p := &printer{}
	s := records(3)
	s.records[0].DestinationChainOperations[0].ExplorerURL = "https://evil.example/" +
		s.records[0].DestinationChainOperations[0].Hash
	m := exporting(t, p, s)
	pressed(m, "p")
	if p.names[0] != "receipt-000000000000.txt" && !strings.HasPrefix(p.names[0], "receipt-") {
		t.Error(p.names[0])
	}
	golden.RequireEqual(t, p.data[0])
}

func TestNamesOfReceiptsAreThoseOfFiles(t *testing.T) {
	for id, want := range map[string]string{"0x00ABcdef123456789": "def123456789", "": "record", "../../etc": "etc",
		"日": "record"} {
		if got := fileID(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
}
