package act

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
)

// someHistory gives the service five records over three pages.
func someHistory(r *rig) {
	r.service.records = []string{
		recordJSON(5, "COMPLETED", "CALL", start()), recordJSON(4, "REFUNDED", "SWAP", start().Add(-time.Hour)),
		recordJSON(3, "COMPLETED", "CALL", start().Add(-2*time.Hour)),
		recordJSON(2, "WEIRD\u200b", "CALL", start().Add(-3*time.Hour)),
		recordJSON(1, "FAILED", "TRANSFER", start().Add(-4*time.Hour)),
	}
}

// numbers are the records that were printed, in order.
func numbers(out string) []int {
	var all []int
	for line := range strings.Lines(out) {
		for n := range 100 {
			if strings.Contains(line, `"quoteId":"`+quoteID(n)+`"`) {
				all = append(all, n)
			}
		}
	}
	return all
}

// TestHistoryStreamsEveryPageOnce: all pages through their continuations, also when the service forgets the place in
// between: then reading begins again and repeats nothing.
func TestHistoryStreamsEveryPageOnce(t *testing.T) {
	for losses, asks := range map[int]int{0: 3, 1: 5, 3: 9} {
		r := newRig(t)
		someHistory(r)
		r.service.expire = losses
		r.done(0, "history", "--json")
		if got := numbers(r.out.String()); !slices.Equal(got, []int{5, 4, 3, 2, 1}) {
			t.Errorf("after %d losses: %v", losses, got)
		}
		if len(r.service.queries) != asks && losses < 3 {
			t.Errorf("after %d losses %d pages were asked for, want %d", losses, len(r.service.queries), asks)
		}
	}
}

// TestHistoryGivesUpWhenThePlaceIsLostAgainAndAgain: reading ends with the error, and the records read so far are
// printed.
func TestHistoryGivesUpWhenThePlaceIsLostAgainAndAgain(t *testing.T) {
	r := newRig(t)
	someHistory(r)
	r.service.expire = 100
	r.done(1, "history", "--json")
	if got := numbers(r.out.String()); !slices.Equal(got, []int{5, 4}) {
		t.Error(got)
	}
}

// TestHistoryEndsWhenTheServiceRepeatsItself: a repeated continuation ends the reading with a message (TH-H3).
func TestHistoryEndsWhenTheServiceRepeatsItself(t *testing.T) {
	r := newRig(t)
	r.service.records = []string{recordJSON(2, "COMPLETED", "CALL", start()),
		recordJSON(1, "COMPLETED", "CALL", start())}
	r.s.Service = circular{r.service}
	r.done(0, "history", "--json")
	if got := numbers(r.out.String()); !slices.Equal(got, []int{2, 1}) {
		t.Error(got)
	}
	r.says("H3", "repeats itself")
}

// TestHistoryFilters: several filters of one kind widen, filters of different kinds narrow; the limit counts the
// records that pass.
func TestHistoryFilters(t *testing.T) {
	for args, want := range map[string][]int{
		"--limit 1":                      {5},
		"--limit 3":                      {5, 4, 3},
		"--status completed":             {5, 3},
		"--status COMPLETED,REFUNDED":    {5, 4, 3},
		"--status COMPLETED --limit 1":   {5},
		"--type CALL --status COMPLETED": {5, 3},
		"--type SWAP --type TRANSFER":    {4, 1},
		"--chain base":                   {5, 4, 3, 2, 1},
		"--chain arb":                    {},
		"--asset usdc":                   {5, 4, 3, 2, 1},
		"--asset usdc@op":                {5, 4, 3, 2, 1},
		"--asset eth":                    {},
		"--since 2026-01-31T10:00:00Z":   {5, 4, 3},
		"--until 2026-01-31T10:00:00Z":   {2, 1},
		"--since 2026-01-31 --until 2026-01-31T09:00:00Z": {1},
	} {
		r := newRig(t)
		someHistory(r)
		r.done(0, append([]string{"history", "--json"}, strings.Fields(args)...)...)
		if got := numbers(r.out.String()); !slices.Equal(got, want) && len(got)+len(want) > 0 {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
	}
}

// TestHistoryStopsBehindSince: the command requests no pages older than --since.
func TestHistoryStopsBehindSince(t *testing.T) {
	r := newRig(t)
	for n := range 50 {
		r.service.records = append(r.service.records, recordJSON(n+1, "COMPLETED", "CALL",
			start().Add(-time.Duration(n)*time.Hour)))
	}
	r.done(0, "history", "--json", "--since", start().Add(-3*time.Hour).Format(time.RFC3339))
	if n := len(r.service.queries); n != 3 {
		t.Errorf("%d pages were asked for", n)
	}
}

// TestHistoryOfSeveralAccountsIsOneList: newest first over all accounts, a record of two accounts once.
func TestHistoryOfSeveralAccountsIsOneList(t *testing.T) {
	r := newRig(t)
	r.s.Accounts = append(r.s.Accounts, api.Account{Type: api.AccountSolana,
		AccountAddress: "4Nd1mYvWzSxJYzW5cGsYpDKJf8vRmQ9bRe1M4Q3d9Z7K"})
	r.s.Service = perUser{r.service, map[string][]string{
		account: {recordJSON(9, "COMPLETED", "CALL", start()),
			recordJSON(7, "COMPLETED", "CALL", start().Add(-2*time.Hour))},
		r.s.Accounts[1].AccountAddress: {recordJSON(8, "COMPLETED", "CALL", start().Add(-time.Hour)),
			recordJSON(7, "COMPLETED", "CALL", start().Add(-2*time.Hour)),
			recordJSON(6, "COMPLETED", "CALL", start().Add(-3*time.Hour))},
	}}
	r.done(0, "history", "--json")
	if got := numbers(r.out.String()); !slices.Equal(got, []int{9, 8, 7, 6}) {
		t.Error(got)
	}
}

// TestHistoryPrintsRecordsOnOneLineEach: a record that the service wrote over several lines becomes one line,
// otherwise unchanged.
func TestHistoryPrintsRecordsOnOneLineEach(t *testing.T) {
	r := newRig(t)
	one := recordJSON(5, "COMPLETED", "CALL", start())
	r.service.records = []string{strings.Replace(one, `"status"`,
		"\n\r\n  \"more\": 1.50e0, \"text\":\"a\\u0062\",\n\"status\"", 1)}
	r.done(0, "history", "--json")
	if out := r.out.String(); strings.Count(out, "\n") != 1 ||
		!strings.Contains(out, `"more":1.50e0,"text":"a\u0062","status"`) {
		t.Error(out)
	}
}

// TestHistoryTableRunsNoFormula: a cell that a spreadsheet would run begins with an apostrophe, and cells hold only
// printable text.
func TestHistoryTableRunsNoFormula(t *testing.T) {
	r := newRig(t)
	r.service.records = []string{strings.Replace(recordJSON(5, "=1+1", "CALL", start()), `"user":"`,
		"\"failReason\":\"\\u001b]52;x\",\"user\":\"@", 1)}
	r.done(0, "history", "--csv")
	out := r.out.String()
	if !strings.Contains(out, ",'=1+1,") || !strings.Contains(out, ",'@0x") || strings.Contains(out, "\x1b") {
		t.Errorf("%q", out)
	}
	if lines := strings.Split(strings.TrimSpace(out), "\r\n"); len(lines) != 2 ||
		strings.Count(lines[0], ",") != strings.Count(lines[1], ",") {
		t.Errorf("%q", out)
	}
}

// TestFilterMistakesAreUsage: a meaningless filter ends with code 2 before the service is asked.
func TestFilterMistakesAreUsage(t *testing.T) {
	for _, args := range []string{"--csv --json", "--limit -1", "--status DONE", "--type X", "--chain nowhere",
		"--asset nothing", "--since yesterday", "--until 5", "extra"} {
		r := newRig(t)
		r.done(2, append([]string{"history"}, strings.Fields(args)...)...)
		if len(r.service.queries) != 0 {
			t.Errorf("%s: the service was asked", args)
		}
	}
}

// circular always answers with the same continuation.
type circular struct{ *fakeService }

// perUser has a history for each account.
type perUser struct {
	*fakeService
	of map[string][]string
}

// FuzzRecords: a page of any shape is an error or records whose bytes are those of the page, each valid by itself and
// printed on one line.
func FuzzRecords(f *testing.F) {
	f.Add(`{"transactions":[` + recordJSON(1, "COMPLETED", "CALL", start()) + `],"continuation":"2"}`)
	f.Add(`{"transactions":[{"quoteId":"a","timestamp":"x",
 "originToken":{"amount":1}}]}`)
	f.Add(`{"transactions":null}`)
	f.Fuzz(func(t *testing.T, page string) {
		a, err := answer(page, nil)
		if err != nil {
			return
		}
		list, _, err := records(a)
		if err != nil {
			return
		}
		for _, e := range list {
			if !strings.Contains(page, string(e.raw)) {
				t.Fatalf("%s is not in %s", e.raw, page)
			}
			line, err := oneLine(e.raw)
			if err != nil || strings.ContainsAny(string(line), "\r\n") || !jsontext.Value(line).IsValid() {
				t.Fatalf("%v: %q", err, line)
			}
		}
	})
}
