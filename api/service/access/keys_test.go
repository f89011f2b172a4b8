package access_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/service/access"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// clock is driven by hand.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Unix(1_760_000_000, 0)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func openKeys(t testing.TB, s store.Store, c *clock) *access.Keys {
	t.Helper()
	k, err := access.OpenKeys(s, access.KeysOptions{Clock: c.Now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func team() access.KeySpec { return access.KeySpec{Company: "Ant Works", Project: "wallet"} }

func add(t testing.TB, k *access.Keys, s access.KeySpec) (string, access.KeyInfo) {
	t.Helper()
	text, info, err := k.Add(s)
	if err != nil {
		t.Fatal(err)
	}
	return text, info
}

// ask makes one request and ends it at once.
func ask(k access.Authenticator, text, endpoint, permission string) (access.Grant, error) {
	g, err := k.Admit(context.Background(), access.Attempt{Key: text, Endpoint: endpoint, Permission: permission})
	if g.Release != nil {
		g.Release()
	}
	return g, err
}

func wants(t testing.TB, err error, name string, status int) *api.Error {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Name != name || e.StatusCode != status {
		t.Fatalf("%v, expected %d %s", err, status, name)
	}
	return e
}

func TestAKeyIsGoodAfterItWasAddedAndAfterReopening(t *testing.T) {
	db, c := storetest.New(t), newClock()
	k := openKeys(t, db, c)
	text, info := add(t, k, team())
	if id, ok := access.IDOf(text); !ok || id != info.ID {
		t.Errorf("the text of key %s names %q", info.ID, id)
	}
	for _, keys := range []*access.Keys{k, openKeys(t, db, c)} {
		g, err := ask(keys, text, "/assets/list", access.Read)
		if err != nil || g.Caller != "key "+info.ID || g.Limit != access.DefaultPerMinute ||
			g.Remaining != access.DefaultPerMinute-1 {
			t.Errorf("%+v %v", g, err)
		}
		if got := keys.List(); len(got) != 1 || got[0].ID != info.ID || got[0].Company != "Ant Works" ||
			got[0].State(c.Now()) != access.Live {
			t.Errorf("%+v", got)
		}
	}
}

func TestOnlyTheDigestOfAKeyIsStored(t *testing.T) {
	db, c := storetest.New(t), newClock()
	k := openKeys(t, db, c)
	text, info := add(t, k, team())
	again, _, err := k.Rotate(info.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx store.Tx) error {
		n := 0
		tx.Bucket("access-keys").Ascend(nil, func(id, value []byte) bool {
			n++
			for _, key := range []string{text, again} {
				if secret := key[len(key)-52:]; strings.Contains(string(value)+string(id), secret) {
					t.Errorf("the store holds a key: %s", value)
				}
			}
			return true
		})
		if n != 1 {
			t.Errorf("%d records", n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := fmt.Sprintf("%+v %#v", k.List(), info); strings.Contains(all, text[len(text)-52:]) {
		t.Error("a list shows a key")
	}
}

func TestUnknownAndAlteredKeysAreUnauthorized(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	text, info := add(t, k, team())
	flipped := []byte(text)
	for i := range flipped {
		was := flipped[i]
		if flipped[i] = 'a'; was == 'a' {
			flipped[i] = 'b'
		}
		_, err := ask(k, string(flipped), "/assets/list", access.Read)
		wants(t, err, api.ErrUnauthorized, 401)
		flipped[i] = was
	}
	for _, wrong := range []string{"", info.ID, text + "x", text[:len(text)-1], " " + text, strings.ToUpper(text),
		strings.Repeat("a", 64), strings.Repeat("x", 1<<20)} {
		_, err := ask(k, wrong, "/assets/list", access.Read)
		if e := wants(t, err, api.ErrUnauthorized, 401); e.Message != "Invalid or missing API key" {
			t.Errorf("the text of a 401 is %q", e.Message)
		}
	}
}

func TestAKeyExpiresByTheClock(t *testing.T) {
	c := newClock()
	k := openKeys(t, storetest.New(t), c)
	spec := team()
	spec.Expires = c.Now().Add(time.Hour)
	text, info := add(t, k, spec)
	c.add(time.Hour - time.Nanosecond)
	if _, err := ask(k, text, "/assets/list", access.Read); err != nil {
		t.Fatal(err)
	}
	if k.Usable() != 1 {
		t.Errorf("%d usable keys", k.Usable())
	}
	c.add(time.Nanosecond)
	_, err := ask(k, text, "/assets/list", access.Read)
	wants(t, err, api.ErrUnauthorized, 401)
	if k.Usable() != 0 || k.List()[0].State(c.Now()) != access.Expired {
		t.Errorf("usable %d, %+v", k.Usable(), k.List())
	}
	_, _, err = k.Rotate(info.ID, 0)
	wants(t, err, api.ErrValidation, 400)
}

func TestARevokedKeyIsUnauthorizedAtOnceAndForGood(t *testing.T) {
	db, c := storetest.New(t), newClock()
	k := openKeys(t, db, c)
	text, info := add(t, k, team())
	got, err := k.Revoke(info.ID)
	if err != nil || !got.Revoked.Equal(c.Now()) {
		t.Fatalf("%+v %v", got, err)
	}
	c.add(time.Minute)
	if again, err := k.Revoke(info.ID); err != nil || !again.Revoked.Equal(got.Revoked) {
		t.Errorf("revoking twice: %+v %v", again, err)
	}
	for _, keys := range []*access.Keys{k, openKeys(t, db, c)} {
		_, err := ask(keys, text, "/assets/list", access.Read)
		wants(t, err, api.ErrUnauthorized, 401)
		_, _, err = keys.Rotate(info.ID, 0)
		wants(t, err, api.ErrValidation, 400)
	}
	_, err = k.Revoke("nobody23")
	wants(t, err, api.ErrNotFound, 404)
}

func TestRotateGivesANewKeyAndKeepsTheOldOneForItsGrace(t *testing.T) {
	c := newClock()
	k := openKeys(t, storetest.New(t), c)
	first, info := add(t, k, team())
	good := func(text string) bool {
		_, err := ask(k, text, "/assets/list", access.Read)
		return err == nil
	}
	second, after, err := k.Rotate(info.ID, 0)
	if err != nil || second == first || after.ID != info.ID || !after.Rotated.Equal(c.Now()) {
		t.Fatalf("%+v %v", after, err)
	}
	if good(first) || !good(second) {
		t.Error("without a grace the old key ends at once")
	}
	third, _, err := k.Rotate(info.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c.add(time.Hour - 1)
	if !good(second) || !good(third) {
		t.Error("both are good during the grace")
	}
	c.add(1)
	if good(second) || !good(third) {
		t.Error("the old one ends with its grace")
	}
	fourth, _, err := k.Rotate(info.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if fifth, _, err := k.Rotate(info.ID, time.Hour); err != nil || good(third) || !good(fourth) || !good(fifth) {
		t.Errorf("%v: only one earlier text lives on", err)
	}
	for _, grace := range []time.Duration{-1, access.MaxGrace + 1} {
		_, _, err = k.Rotate(info.ID, grace)
		wants(t, err, api.ErrValidation, 400)
	}
	_, _, err = k.Rotate(fourth, 0)
	if e := wants(t, err, api.ErrValidation, 400); strings.Contains(e.Error(), fourth[len(fourth)-52:]) ||
		!strings.Contains(e.Details[0].Expected, info.ID) {
		t.Errorf("a key that was given as an id: %s", e)
	}
}

func TestRotateKeepsTheWindow(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	spec := team()
	spec.PerMinute = 2
	text, info := add(t, k, spec)
	for range 2 {
		if _, err := ask(k, text, "/assets/list", access.Read); err != nil {
			t.Fatal(err)
		}
	}
	next, _, err := k.Rotate(info.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ask(k, next, "/assets/list", access.Read)
	wants(t, err, api.ErrTooManyRequests, 429)
}

func TestAKeyWithoutThePermissionIsForbidden(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	spec := team()
	spec.Permissions = []string{access.Read, access.Quote}
	text, _ := add(t, k, spec)
	for permission, allowed := range map[string]bool{access.Read: true, access.Quote: true, access.Execute: false,
		"": false, "admin": false} {
		g, err := ask(k, text, "/x", permission)
		if allowed {
			if err != nil {
				t.Errorf("%s: %v", permission, err)
			}
			continue
		}
		wants(t, err, api.ErrForbidden, 403)
		if g.Limit == 0 || g.Reset.IsZero() || g.Release != nil {
			t.Errorf("a 403 carries the window: %+v", g)
		}
	}
	all, _ := add(t, k, team())
	if _, err := ask(k, all, "/x", ""); err != nil {
		t.Errorf("a key with all permissions: %v", err)
	}
}

func TestAKeyForSomeEndpointsIsForbiddenElsewhere(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	spec := team()
	spec.Endpoints = []string{"/assets/list", "/v3/status/"}
	text, _ := add(t, k, spec)
	for endpoint, allowed := range map[string]bool{
		"/assets/list": true, "/v3/status/get-tx-history": true, "/assets/list/more": false, "/v3/status": false,
		"/v3/quote": false, "/assets": false,
	} {
		if _, err := ask(k, text, endpoint, access.Read); (err == nil) != allowed {
			t.Errorf("%s: %v", endpoint, err)
		} else if err != nil {
			wants(t, err, api.ErrForbidden, 403)
		}
	}
}

func TestThePublicTestKeyMakesSixtyRequestsAMinuteOnEveryEndpoint(t *testing.T) {
	c := newClock()
	k := openKeys(t, storetest.New(t), c)
	text, info := add(t, k, access.KeySpec{PublicTest: true})
	if info.PerMinute != 60 || len(info.Endpoints) != 0 || len(info.Permissions) != 3 {
		t.Errorf("%+v", info)
	}
	for i := range 60 {
		g, err := ask(k, text, "/v3/quote/execute-quote", access.Execute)
		if err != nil || g.Remaining != 59-i || g.Limit != 60 ||
			!g.Reset.Equal(c.Now().Add(time.Minute-time.Duration(i)*time.Second)) {
			t.Fatalf("request %d: %+v %v", i, g, err)
		}
		c.add(time.Second)
	}
	c.add(-500 * time.Millisecond) // 59.5 s after the first
	g, err := ask(k, text, "/assets/list", access.Read)
	e := wants(t, err, api.ErrTooManyRequests, 429)
	if e.RetryAfter != 500*time.Millisecond || g.Remaining != 0 || !g.Reset.Equal(c.Now().Add(e.RetryAfter)) {
		t.Errorf("%+v, retry after %s", g, e.RetryAfter)
	}
	c.add(500 * time.Millisecond)
	if _, err := ask(k, text, "/assets/list", access.Read); err != nil {
		t.Errorf("60 s after the first request there is room for one: %v", err)
	}
	if _, err := ask(k, text, "/assets/list", access.Read); err == nil {
		t.Error("and for one only")
	}
}

func TestRefusedRequestsTakeNoRoomInTheWindow(t *testing.T) {
	c := newClock()
	k := openKeys(t, storetest.New(t), c)
	spec := team()
	spec.PerMinute = 1
	text, _ := add(t, k, spec)
	for range 1000 {
		_, _ = ask(k, text, "/assets/list", access.Read)
	}
	c.add(time.Minute)
	if _, err := ask(k, text, "/assets/list", access.Read); err != nil {
		t.Error(err)
	}
}

func TestAClockThatIsSetBackShutsNobodyOut(t *testing.T) {
	c := newClock()
	k := openKeys(t, storetest.New(t), c)
	spec := team()
	spec.PerMinute = 2
	text, _ := add(t, k, spec)
	c.add(24 * time.Hour)
	for range 2 {
		if _, err := ask(k, text, "/x", access.Read); err != nil {
			t.Fatal(err)
		}
	}
	c.add(-24 * time.Hour)
	_, err := ask(k, text, "/x", access.Read)
	if e := wants(t, err, api.ErrTooManyRequests, 429); e.RetryAfter != time.Minute {
		t.Errorf("retry after %s", e.RetryAfter)
	}
	c.add(time.Minute)
	if _, err := ask(k, text, "/x", access.Read); err != nil {
		t.Error(err)
	}
}

func TestRequestsUnderWayAreBounded(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	spec := team()
	spec.Concurrent = 2
	text, _ := add(t, k, spec)
	admit := func() (access.Grant, error) {
		return k.Admit(context.Background(), access.Attempt{Key: text, Permission: access.Read})
	}
	var last access.Grant
	for range 2 {
		g, err := admit()
		if err != nil {
			t.Fatal(err)
		}
		last = g
	}
	_, err := admit()
	if e := wants(t, err, api.ErrTooManyRequests, 429); e.RetryAfter <= 0 {
		t.Errorf("retry after %s", e.RetryAfter)
	}
	last.Release()
	last.Release() // once counts
	if _, err := admit(); err != nil {
		t.Error(err)
	}
	if _, err := admit(); err == nil {
		t.Error("a release counted twice")
	}
}

func TestASpecificationListsEveryBrokenRule(t *testing.T) {
	c := newClock()
	k := openKeys(t, storetest.New(t), c)
	many := make([]string, 51)
	_, _, err := k.Add(access.KeySpec{
		Company: "\x1b[2J", UseCase: strings.Repeat("x", 201), Chains: []string{"base", "eip155:1", "eip155:1"},
		Assets:      []string{"usdc"},
		Permissions: []string{"admin"}, Endpoints: []string{"x", "/a?b"}, PerMinute: -1, Concurrent: 1001,
		FundLimit: 10_001, Expires: c.Now(), Volume: " ",
	})
	e := wants(t, err, api.ErrValidation, 400)
	got := map[string]bool{}
	for _, f := range e.Details {
		got[f.Path] = true
	}
	for _, path := range []string{"company", "project", "useCase", "volume", "chains[0]", "chains[2]", "assets[0]",
		"permissions[0]", "endpoints[0]", "endpoints[1]", "perMinute", "concurrent", "fundLimit", "expires"} {
		if !got[path] {
			t.Errorf("%s is not listed: %v", path, e.Details)
		}
	}
	_, _, err = k.Add(access.KeySpec{Company: "c", Project: "p", Assets: many})
	wants(t, err, api.ErrValidation, 400)
	_, _, err = k.Add(access.KeySpec{PublicTest: true, PerMinute: 1000})
	wants(t, err, api.ErrValidation, 400)
	if len(k.List()) != 0 {
		t.Error("a refused key was stored")
	}
	ok := access.KeySpec{
		Company: "c", Project: "p", UseCase: "payments", Volume: "1000 a day",
		Chains: []string{"eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"},
		Assets: []string{"ob:usdc", "eip155:1/slip44:60"}, Expires: c.Now().Add(1),
	}
	if _, _, err := k.Add(ok); err != nil {
		t.Error(err)
	}
}

func TestPreferencesInformAndDoNotRestrict(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	spec := team()
	spec.Chains, spec.Assets = []string{"eip155:1"}, []string{"ob:eth"}
	text, _ := add(t, k, spec)
	if _, err := ask(k, text, "/v3/quote/call-quote", access.Quote); err != nil {
		t.Error(err)
	}
}

func TestTheKeyThatEndedFirstMakesRoom(t *testing.T) {
	c := newClock()
	k := openKeys(t, storetest.New(t), c)
	var ids []string
	for range access.MaxKeys {
		_, info := add(t, k, team())
		ids = append(ids, info.ID)
	}
	if _, _, err := k.Add(team()); err == nil {
		t.Fatal("more keys than the bound")
	}
	for _, i := range []int{7, 3} {
		c.add(time.Second)
		if _, err := k.Revoke(ids[i]); err != nil {
			t.Fatal(err)
		}
	}
	add(t, k, team())
	_, err := k.Revoke(ids[7])
	wants(t, err, api.ErrNotFound, 404)
	if _, err := k.Revoke(ids[3]); err != nil || len(k.List()) != access.MaxKeys {
		t.Errorf("%v, %d keys", err, len(k.List()))
	}
}

func TestADamagedRecordIsNotTakenForAKey(t *testing.T) {
	for _, record := range []string{
		`{"id":"other","perMinute":1}`, `{"id":"abcdefgh"}`, `{"id":"abcdefgh","perMinute":0}`,
		`{"id":"abcdefgh","perMinute":-1}`,
		`{"id":"abcdefgh","perMinute":60001}`, `{"id":"abcdefgh","perMinute":1,"concurrent":-1}`,
		`{"id":"abcdefgh","perMinute":1,"fundLimit":10001}`, `{"id":"abcdefgh","perMinute":1,"digest":"00"}`, `{`,
	} {
		db := storetest.New(t)
		err := db.Update(func(tx store.Tx) error {
			return tx.Bucket("access-keys").Put([]byte("abcdefgh"),
				[]byte(record))
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := access.OpenKeys(db, access.KeysOptions{Clock: time.Now, Random: rand.Reader}); err == nil ||
			!strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: %v", record, err)
		}
	}
}

func TestAFailedWriteChangesNothing(t *testing.T) {
	db, err := store.OpenBolt(filepath.Join(t.TempDir(), "k.db"), store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k := openKeys(t, db, newClock())
	text, info := add(t, k, team())
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, addErr := k.Add(team())
	_, _, rotateErr := k.Rotate(info.ID, 0)
	_, revokeErr := k.Revoke(info.ID)
	for _, err := range []error{addErr, rotateErr, revokeErr} {
		if !errors.Is(err, store.ErrClosed) {
			t.Errorf("%v, expected that the database is closed", err)
		}
	}
	if _, err := ask(k, text, "/x", access.Read); err != nil || len(k.List()) != 1 {
		t.Errorf("%v, %d keys", err, len(k.List()))
	}
}

func TestEitherAdmitsWhatOneOfThemAdmits(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	spec := team()
	spec.Permissions = []string{access.Read}
	text, _ := add(t, k, spec)
	both := access.Either(access.NewOneKey("process"), k)
	for _, good := range []string{"process", text} {
		if _, err := ask(both, good, "/x", access.Read); err != nil {
			t.Errorf("%v", err)
		}
	}
	_, err := ask(both, "neither", "/x", access.Read)
	wants(t, err, api.ErrUnauthorized, 401)
	_, err = ask(both, text, "/x", access.Execute)
	wants(t, err, api.ErrForbidden, 403)
	_, err = ask(access.Either(), "x", "/x", access.Read)
	wants(t, err, api.ErrUnauthorized, 401)
}

// Concurrent requests and changes agree on who is admitted: never more than the limit in one window.
func TestConcurrentRequestsNeverExceedTheLimit(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	spec := team()
	spec.PerMinute = 100
	text, _ := add(t, k, spec)
	_, other := add(t, k, team())
	var group sync.WaitGroup
	var mu sync.Mutex
	admitted := 0
	for range 8 {
		group.Go(func() {
			for range 50 {
				if _, err := ask(k, text, "/x", access.Read); err == nil {
					mu.Lock()
					admitted++
					mu.Unlock()
				}
			}
		})
	}
	group.Go(func() {
		for range 20 {
			_, _, _ = k.Rotate(other.ID, time.Hour)
			_, _, _ = k.Add(team())
			_ = k.List()
		}
	})
	group.Wait()
	if admitted != 100 {
		t.Errorf("%d requests of 100 were admitted", admitted)
	}
}

// The window is compared with one that keeps every moment in a list.
func TestTheWindowAgreesWithANaiveModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, limit := newClock(), rapid.IntRange(1, 20).Draw(t, "limit")
		k, err := access.OpenKeys(store.NewMemory(), access.KeysOptions{Clock: c.Now, Random: rand.Reader})
		if err != nil {
			t.Fatal(err)
		}
		spec := team()
		spec.PerMinute = limit
		text, _, err := k.Add(spec)
		if err != nil {
			t.Fatal(err)
		}
		var made []time.Time
		for range rapid.IntRange(1, 200).Draw(t, "requests") {
			c.add(time.Duration(rapid.Int64Range(0, int64(40*time.Second)/int64(limit)).Draw(t, "pause")))
			now := c.Now()
			live := made[:0:0]
			for _, m := range made {
				if now.Sub(m) < time.Minute {
					live = append(live, m)
				}
			}
			want := len(live) < limit
			if want {
				live = append(live, now)
			}
			made = live
			g, err := ask(k, text, "/x", access.Read)
			if (err == nil) != want || g.Remaining != limit-len(live) || !g.Reset.Equal(live[0].Add(time.Minute)) {
				t.Fatalf("%+v %v, expected admitted %t, %d left, reset %s", g, err, want, limit-len(live),
					live[0].Add(time.Minute))
			}
		}
	})
}

func TestRedactTakesTheSecretPartOfEveryKeyOut(t *testing.T) {
	k := openKeys(t, storetest.New(t), newClock())
	text, info := add(t, k, team())
	secret := text[len(text)-52:]
	for in, want := range map[string]string{
		text:                          "coffer_" + info.ID + "_[redacted]",
		"/api/" + text + "/x?" + text: "/api/coffer_" + info.ID + "_[redacted]/x?coffer_" + info.ID + "_[redacted]",
		"coffer_coffer_" + text:       "coffer_coffer_coffer_" + info.ID + "_[redacted]",
		text[:30]:                     "coffer_" + info.ID + "_[redacted]",
		"coffer_requests_total":       "coffer_requests_total",
		"coffer_":                     "coffer_",
		"coffer_abc":                  "coffer_abc",
		"nothing":                     "nothing",
	} {
		if got := access.Redact(in); got != want || strings.Contains(got, secret) {
			t.Errorf("%q becomes %q, expected %q", in, got, want)
		}
	}
}

func FuzzIDOf(f *testing.F) {
	c := newClock()
	k := openKeys(f, storetest.New(f), c)
	text, _ := add(f, k, team())
	for _, s := range []string{text, "", "coffer_", "coffer_abcdefgh_", strings.Repeat("a", 64),
		strings.Replace(text, "_", "-", 2), "coffer_ABCDEFGH_" + text[16:]} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, ok := access.IDOf(s); ok {
			rest, found := strings.CutPrefix(s, "coffer_"+id+"_")
			if !found || len(id) != 8 || len(rest) != 52 ||
				strings.Trim(id+rest, "abcdefghijkmnpqrstuvwxyz23456789") != "" {
				t.Errorf("%q was read as key %q", s, id)
			}
		}
		c.add(time.Second)
		if strings.Contains(access.Redact(s), text[len(text)-52:]) && strings.Contains(s, text) {
			t.Errorf("%q keeps a key", access.Redact(s))
		}
		if _, err := ask(k, s, "/x", access.Read); (err == nil) != (s == text) {
			t.Errorf("%q: %v", s, err)
		}
	})
}

func BenchmarkAdmit(b *testing.B) {
	k := openKeys(b, storetest.New(b), newClock())
	for range 100 {
		add(b, k, team())
	}
	spec := team()
	spec.PerMinute = access.MaxPerMinute
	text, _ := add(b, k, spec)
	wrong := strings.ToUpper(text[:len(text)-1]) + "?"
	for name, key := range map[string]string{"known": text, "unknown": wrong} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = ask(k, key, "/assets/list", access.Read)
			}
		})
	}
}
