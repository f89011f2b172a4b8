package service_test

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"coffer/api"
	"coffer/api/service/settle/settletest"
	"coffer/api/service/store/storetest"
)

// Bounds of one quote from its preparation to its end.
const (
	mostCommits    = 12
	mostStatements = 1000 // nearly all of them read one record
	mostOfAPage    = 12   // ways for a page of history
)

// TestAQuoteTakesFewCommitsAndNoScan counts what the server of the database is asked for one quote of each kind, from
// prepare to COMPLETED, with nothing else under way. Every statement that was made is explained: none reads the whole
// table.
func TestAQuoteTakesFewCommitsAndNoScan(t *testing.T) {
	address := storetest.Schema(t)
	watched := storetest.Watch(t, address)
	db := storetest.Open(t, watched.Address)
	s := open(t, options(db))
	all, _ := watched.Taken() // of the start, too
	for i, kind := range []struct {
		name string
		pays int // operations that pay, beside the call itself
		with string
		run  func(c *client) (signed *api.Document, id string)
	}{
		{"call on one chain", 1, "", func(c *client) (*api.Document, string) {
			signed, id, _ := c.call(c.transfer(10_000_000), "ob:usdc")
			return signed, id
		}},
		{"call paid from two chains", 1, "", func(c *client) (*api.Document, string) {
			signed, id, _ := c.call(c.transfer(150_000_000), "ob:usdc")
			return signed, id
		}},
		{"swap", 1, "", func(c *client) (*api.Document, string) {
			return c.exchange(c.swap(opUSDC, "20000000", "eip155:8453/slip44:60", ""))
		}},
		{"transfer", 1, "", func(c *client) (*api.Document, string) {
			return c.exchange(c.swap(opUSDC, "20000000", "eip155:8453/erc20:"+baseUSDC, "eip155:8453:"+recipient))
		}},
		{"swap from Solana", 1, settletest.WithSolana, func(c *client) (*api.Document, string) {
			return c.exchange(c.swap(solUSDC, "20000000", "eip155:8453/slip44:60", "eip155:8453:"+recipient))
		}},
	} {
		c := newClient(t, s, api.AccountKernelV31+kind.with, uint64(60+i))
		c.wealth() // it has its test funds
		for _, turn := range []string{"first", "second"} {
			before, _ := watched.Taken()
			signed, id := kind.run(c)
			got := c.finish(signed, id)
			if got.Status != api.StatusCompleted || len(got.OriginChainOperations) != kind.pays {
				t.Fatalf("%s paid by %d: %+v", kind.name, len(got.OriginChainOperations), got)
			}
			made, statements := few(t, watched, kind.name+", the "+turn+" time", mostCommits)
			if statements > mostStatements {
				t.Errorf("%s: %d statements, and %d are few", kind.name, statements, mostStatements)
			}
			c.ask("GET", c.statusPath()+"/get-tx-history?user="+c.user.Address.Hex(), "")
			history, ways := watched.Taken()
			t.Logf("a page of history: %d ways", ways)
			if ways > mostOfAPage {
				t.Errorf("%s: a page of history takes %d ways, and %d are few", kind.name, ways, mostOfAPage)
			}
			for _, more := range []map[string]int{before, made, history} {
				maps.Copy(all, more)
			}
		}
	}
	if err := errors.Join(s.Close(), db.Close()); err != nil { // then the server has counted all of it
		t.Fatal(err)
	}
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	for _, sql := range []string{"analyze coffer_record", "set plan_cache_mode = force_generic_plan"} {
		if _, err := c.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	explained := 0
	for _, text := range slices.Sorted(maps.Keys(all)) {
		if verb, _, _ := strings.Cut(text, " "); strings.Contains(text, "coffer_record") &&
			slices.Contains([]string{"select", "insert", "delete", "update"}, verb) {
			explain(t, c, text)
			explained++
		}
	}
	var scans int
	if err := c.QueryRow(t.Context(), `select seq_scan from pg_stat_user_tables
		where relid = 'coffer_record'::regclass`).Scan(&scans); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d statements on the table of records explained, it was scanned %d times", explained, scans)
	if explained < 4 || scans > 1 { // the server counts one when it makes the index
		t.Error("the table is scanned, or statements are missing")
	}
}

// few demands few commits since the last time, and returns how often each statement was made, and all of them.
func few(t *testing.T, watched *storetest.Watched, name string, commits int) (made map[string]int, statements int) {
	t.Helper()
	writing := watched.Writing()
	made, ways := watched.Taken()
	for _, n := range made {
		statements += n
	}
	t.Logf("%s: %d commits, %d statements, %d ways; writers had the lock for %s", name, made["commit"], statements,
		ways, writing)
	if made["commit"] == 0 || made["commit"] > commits {
		t.Errorf("%s: %d commits, and %d are few", name, made["commit"], commits)
	}
	return made, statements
}

// TestAQuoteOfAnOperatorTakesFewCommits: the same over nodes, to the last deposit's release, as one of several
// processes that serve: one each when the quote is prepared, offered and accepted, one for each transaction that is
// signed, in which a deposit of before is over, and one for each delivery or release that is over.
func TestAQuoteOfAnOperatorTakesFewCommits(t *testing.T) {
	watched := storetest.Watch(t, storetest.Schema(t))
	o := newOperatedIn(t, storetest.OpenShared(t, watched.Address), nil)
	s := o.open(nil)
	for n, usdc := range []int64{10e6, 30e6, 10e6, 30e6} {
		c := o.member(s, api.AccountKernelV31, uint64(340+n))
		watched.Taken()
		signed, id, _ := c.call(o.pay(c, paidTo(uint64(n)), usdc), "ob:usdc")
		c.done(c.waited(signed, id), api.RecordCall)
		o.settled(func() bool { return o.has(10, o.escrow) == 0 && o.has(42161, o.escrow) == 0 })
		if err := s.Idle(t.Context()); err != nil {
			t.Fatal(err)
		}
		chains := len(c.status(id).OriginChainOperations)
		few(t, watched, fmt.Sprintf("a call paid from %d chains", chains), mostCommits-3*(2-chains))
	}
}

// explain demands that a statement finds its records by an index, whatever its parameters are.
func explain(t *testing.T, c *pgx.Conn, text string) {
	t.Helper()
	var nulls []string
	for range slices.Compact(slices.Sorted(slices.Values(regexp.MustCompile(`\$\d`).FindAllString(text, -1)))) {
		nulls = append(nulls, "null")
	}
	ask := "explain execute asked"
	if len(nulls) > 0 {
		ask += "(" + strings.Join(nulls, ", ") + ")"
	}
	_, err := c.Exec(t.Context(), "prepare asked as "+text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	rows, err := c.Query(t.Context(), ask, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if _, end := c.Exec(t.Context(), "deallocate asked"); err != nil || end != nil {
		t.Fatalf("%s: %v, %v", text, err, end)
	}
	if whole := strings.Join(plan, "\n"); strings.Contains(whole, "Seq Scan on coffer_record") {
		t.Errorf("%s\n%s", text, whole)
	}
}
