package service_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/access"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// private makes a service that shows a project its own alone.
func private(o service.Options) service.Options {
	o.Private = true
	return o
}

// projects are clients of one user with an account of their own keys: two keys of one project, and one of another
// project of the company.
func projects(t testing.TB, s *service.Service) (one, same, other *client) {
	t.Helper()
	of := func(project string) *client {
		c := newClient(t, s, api.AccountKernelV31, 1)
		c.key, _ = addKey(t, s, access.KeySpec{Company: "Ant Works", Project: project})
		return c
	}
	return of("wallet"), of("wallet"), of("robot")
}

// list is what history tells of the account, in the given order and by pages of one record.
func (c *client) list(sortBy string) (ids []string) {
	c.t.Helper()
	next := ""
	for {
		var page api.HistoryPage
		path := c.statusPath() + "/get-tx-history?limit=1&sortBy=" + sortBy + "&user=" + c.user.Account.AccountAddress
		if next != "" {
			path += "&continuation=" + next
		}
		if err := c.ask("GET", path, "").Decode(&page); err != nil {
			c.t.Fatal(err)
		}
		for _, r := range page.Transactions {
			ids = append(ids, r.QuoteID)
		}
		if next = page.Continuation; next == "" {
			return ids
		}
	}
}

// knows reports whether the status of a quote is told, in both versions alike.
func (c *client) knows(id string) bool {
	c.t.Helper()
	var told [2]bool
	for i, path := range []string{"/status", "/v3/status"} {
		body := c.ask("GET", path+"/get-execution-status?quoteId="+id, "").Raw()
		told[i] = string(body) != "{}"
	}
	if told[0] != told[1] {
		c.t.Errorf("v1 tells of %s: %t, v3: %t", id, told[0], told[1])
	}
	return told[0]
}

// refusedAs demands a refusal.
func (c *client) refusedAs(path, body, name, words string) {
	c.t.Helper()
	status, raw := c.send("POST", path, body)
	var e api.Error
	if json.Unmarshal(raw, &e) != nil || status < 400 || e.Name != name || !strings.Contains(e.Message, words) {
		c.t.Errorf("%s: %d %s, expected %s: %s", path, status, raw, name, words)
	}
}

// TestK13_APrivateServiceShowsAProjectItsOwn: two keys of one project share it; a key of another project of the same
// company, with the same account, finds nothing, executes nothing, and has records of its own.
func TestK13_APrivateServiceShowsAProjectItsOwn(t *testing.T) {
	s := open(t, private(options(storetest.New(t))))
	one, same, other := projects(t, s)

	signed, first := one.exchange(one.swap("ob:usdc", "20000000", "ob:eth", ""))
	other.refusedAs(other.executePath(), string(signed.Raw()), api.ErrNotFound, "No quote has the id "+first)
	if one.knows(first) {
		t.Error("an offer has a status")
	}
	same.finish(signed, first) // a key of the same project goes on with it
	other.refusedAs(other.executePath(), string(signed.Raw()), api.ErrNotFound, "No quote has the id "+first)
	same.refusedAs(same.executePath(), string(signed.Raw()), api.ErrAlreadyExecuted, first)

	_, second := other.finishOne(other.swap("ob:usdc", "30000000", "ob:eth", ""))
	_, third := one.finishOne(one.swap("ob:usdc", "10000000", "ob:eth", ""))
	for _, sortBy := range []string{"createdAt", "updatedAt"} {
		for _, c := range []*client{one, same} {
			if got := c.list(sortBy); !slices.Equal(got, []string{third, first}) {
				t.Errorf("by %s the project's history is %v", sortBy, got)
			}
		}
		if got := other.list(sortBy); !slices.Equal(got, []string{second}) {
			t.Errorf("by %s the other project's history is %v", sortBy, got)
		}
	}
	if !one.knows(first) || !same.knows(third) || one.knows(second) || other.knows(first) || !other.knows(second) {
		t.Error("a status is told to another project, or not to its own")
	}
	process := newClient(t, s, api.AccountKernelV31, 1) // the key of this process belongs to no company
	if got := process.list("createdAt"); len(got) != 0 || process.knows(first) {
		t.Errorf("the key of the process sees %v", got)
	}
}

// finishOne quotes and executes a swap.
func (c *client) finishOne(body string) (api.ExecutionStatus, string) {
	c.t.Helper()
	signed, id := c.exchange(body)
	got := c.finish(signed, id)
	if got.Status != api.StatusCompleted {
		c.t.Fatalf("%+v", got)
	}
	return got, id
}

// TestK13_APreparedOperationIsQuotedByItsProject: for another one it is unknown, and the same call prepared there is
// another operation.
func TestK13_APreparedOperationIsQuotedByItsProject(t *testing.T) {
	for _, v1 := range []bool{true, false} {
		s := open(t, private(options(storetest.New(t))))
		one, same, other := projects(t, s)
		one.v1, same.v1, other.v1 = v1, v1, v1
		prepared := one.sign(one.prepare(one.transfer(30_000_000)), "/chainOperation")
		other.refusedAs(other.callQuotePath(), other.callQuoteBody(prepared, "ob:usdc"), api.ErrPrepareAgain,
			"the operation is unknown or its time is over")
		offer, id := same.signAll(same.ask("POST", same.callQuotePath(), same.callQuoteBody(prepared, "ob:usdc")))
		theirs := other.sign(other.prepare(other.transfer(30_000_000)), "/chainOperation")
		if string(theirs.Raw()) == string(prepared.Raw()) {
			t.Error("two projects have one prepared operation")
		}
		one.refusedAs(one.callQuotePath(), one.callQuoteBody(theirs, "ob:usdc"), api.ErrPrepareAgain,
			"the operation is unknown or its time is over")
		other.ask("POST", other.callQuotePath(), other.callQuoteBody(theirs, "ob:usdc"))
		if got := one.finish(offer, id); got.Status != api.StatusCompleted {
			t.Errorf("%+v", got)
		}
	}
}

// TestK13_ACursorOfAPrivateServiceBelongsToItsProject.
func TestK13_ACursorOfAPrivateServiceBelongsToItsProject(t *testing.T) {
	s := open(t, private(options(storetest.New(t))))
	one, same, other := projects(t, s)
	one.finishOne(one.swap("ob:usdc", "20000000", "ob:eth", ""))
	one.finishOne(one.swap("ob:usdc", "10000000", "ob:eth", ""))
	path := "/v3/status/get-tx-history?limit=1&user=" + one.user.Account.AccountAddress
	var page api.HistoryPage
	if err := one.ask("GET", path, "").Decode(&page); err != nil || page.Continuation == "" {
		t.Fatalf("%v: %+v", err, page)
	}
	same.ask("GET", path+"&continuation="+page.Continuation, "")
	if status, body := other.send("GET", path+"&continuation="+page.Continuation, ""); status != 400 ||
		!strings.Contains(string(body), "another user, order or project") {
		t.Errorf("%d %s", status, body)
	}
}

// TestK13_TheExplorerOfAPrivateServiceAsksForAKey: and of another service it does not.
func TestK13_TheExplorerOfAPrivateServiceAsksForAKey(t *testing.T) {
	for _, hidden := range []bool{true, false} {
		o := options(storetest.New(t))
		o.Private = hidden
		s := open(t, o)
		one, _, other := projects(t, s)
		got, _ := one.finishOne(one.swap("ob:usdc", "20000000", "ob:eth", ""))
		page := strings.Replace(got.DestinationChainOperations[0].ExplorerURL, "https://coffer.internal",
			"https://x", 1)
		quoting, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "robot",
			Permissions: []string{access.Quote}})
		lists, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "robot",
			Endpoints: []string{"/assets/list"}})
		pages, _ := addKey(t, s, access.KeySpec{Company: "Ant Works", Project: "robot",
			Endpoints: []string{"/explorer"}})
		for k, want := range map[string]int{"": 401, "another": 401, quoting: 403, lists: 403, pages: 200, one.key: 200,
			other.key: 200, key: 200} {
			if !hidden {
				want = 200
			}
			r := request(t, context.Background(), http.MethodGet, page, "")
			r.Header.Set("x-api-key", k)
			res, err := service.RoundTripper(s.Handler()).RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != want {
				t.Errorf("private %t: %d, expected %d", hidden, res.StatusCode, want)
			}
			if cached := res.Header.Get("Cache-Control"); hidden && cached != "no-store" {
				t.Errorf("a page may be kept: %q", cached)
			}
		}
	}
}

// TestK13_WithoutTheSwitchEveryKeySeesTheRecordsOfAnAccount: as the interface has it.
func TestK13_WithoutTheSwitchEveryKeySeesTheRecordsOfAnAccount(t *testing.T) {
	s := open(t, options(storetest.New(t)))
	one, _, other := projects(t, s)
	prepared := one.sign(one.prepare(one.transfer(30_000_000)), "/chainOperation")
	signed, id := other.signAll(other.ask("POST", other.callQuotePath(), other.callQuoteBody(prepared, "ob:usdc")))
	one.finish(signed, id)
	if got := other.list("createdAt"); !slices.Equal(got, []string{id}) || !one.knows(id) ||
		!slices.Equal(one.list("updatedAt"), got) {
		t.Errorf("history is %v", got)
	}
	if again := other.prepare(other.transfer(30_000_001)); string(again.Raw()) !=
		string(one.prepare(one.transfer(30_000_001)).Raw()) {
		t.Error("the same call of two projects is not the same operation")
	}
}

// TestK13_OldRecordsOfNoProjectAreForTheLocalSocketAlone: a store of before the switch opens, what was made for a
// project by then is the project's, and what belongs to none is seen by who owns the data directory.
func TestK13_OldRecordsOfNoProjectAreForTheLocalSocketAlone(t *testing.T) {
	db := storetest.New(t)
	s := open(t, options(db))
	one, _, other := projects(t, s)
	_, old := one.finishOne(one.swap("ob:usdc", "20000000", "ob:eth", ""))
	forget(t, db)
	_, bound := one.finishOne(one.swap("ob:usdc", "10000000", "ob:eth", ""))

	s = open(t, private(options(db)))
	over := func(c *client, rt http.RoundTripper) *client {
		c = &client{t: t, s: s, rt: checked{t, rt}, user: c.user, key: c.key}
		return c
	}
	one, other = over(one, service.RoundTripper(s.Handler())), over(other, service.RoundTripper(s.Handler()))
	if got := one.list("createdAt"); !slices.Equal(got, []string{bound}) || one.knows(old) {
		t.Errorf("the project sees %v", got)
	}
	if got := other.list("createdAt"); len(got) != 0 || other.knows(old) {
		t.Errorf("another project sees %v", got)
	}
	process := over(one, service.RoundTripper(s.Handler()))
	process.key = key
	if got := process.list("createdAt"); len(got) != 0 || process.knows(old) {
		t.Errorf("the key of the process sees %v", got)
	}
	owner := over(one, service.RoundTripper(service.Trusted(s)))
	owner.key = ""
	if got := owner.list("createdAt"); !slices.Equal(got, []string{bound, old}) || !owner.knows(old) {
		t.Errorf("the owner sees %v", got)
	}
	s = open(t, options(db))
	if got := over(other, service.RoundTripper(s.Handler())).list("createdAt"); !slices.Equal(got,
		[]string{bound, old}) {
		t.Errorf("without the switch a key sees %v", got)
	}
}

// forget takes the project out of every quote, as an earlier release wrote them.
func forget(t testing.TB, db store.Store) {
	t.Helper()
	err := db.Update(func(tx store.Tx) error {
		b, found := tx.Bucket("book-quote"), map[string][]byte{}
		var err error
		b.Ascend(nil, func(k, v []byte) bool {
			var members map[string]json.RawMessage
			if err = json.Unmarshal(v, &members); err != nil || members["project"] == nil {
				t.Errorf("%s has no project: %v", k, err)
				return false
			}
			delete(members, "project")
			found[string(k)], err = json.Marshal(members)
			return err == nil
		})
		for k, v := range found {
			if err == nil {
				err = b.Put([]byte(k), v)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestK13_AGuestIsAProjectOfItsOwn: whatever the number of its visits.
func TestK13_AGuestIsAProjectOfItsOwn(t *testing.T) {
	s := open(t, private(options(storetest.New(t))))
	pass := func(name string) *client {
		t.Helper()
		c := newClient(t, s, api.AccountKernelV31, 1)
		var err error
		if c.key, _, err = s.Pass(name); err != nil {
			t.Fatal(err)
		}
		return c
	}
	one := pass("guest 1")
	_, id := one.finishOne(one.swap("ob:usdc", "20000000", "ob:eth", ""))
	if again := pass("guest 1"); !again.knows(id) || pass("guest 2").knows(id) {
		t.Error("a guest does not see its own record, or another one's")
	}
	public := func() *client {
		c := newClient(t, s, api.AccountKernelV31, 1)
		c.key, _ = addKey(t, s, access.KeySpec{PublicTest: true})
		return c
	}
	first, second := public(), public()
	if _, id := first.finishOne(first.swap("ob:usdc", "10000000", "ob:eth", "")); !first.knows(id) || second.knows(id) {
		t.Error("two public test keys are one project")
	}
}
