package access_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/service/access"
	"coffer/api/service/store"
	"coffer/api/service/store/storetest"
)

// deaf is the store of a process that word of others does not reach.
type deaf struct{ *storetest.Replica }

func (deaf) Watch([]string, func()) func() { return func() {} }

// process opens the keys of another process, until the test ends.
func process(t testing.TB, s store.Store, c *clock) *access.Keys {
	t.Helper()
	k := openKeys(t, s, c)
	t.Cleanup(k.Close)
	return k
}

// soon waits until something is so.
func soon(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func admits(k *access.Keys, text string) bool {
	_, err := ask(k, text, "/assets/list", access.Read)
	return err == nil
}

func TestWhatOneProcessDoesWithAKeyTheOthersFollow(t *testing.T) {
	db, c := storetest.NewDatabase(), newClock()
	a, b := process(t, db.Open(), c), process(t, db.Open(), c)
	text, info := add(t, a, team())
	soon(t, "an added key is unknown elsewhere", func() bool { return admits(b, text) })
	next, _, err := b.Rotate(info.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	soon(t, "a rotated key is what it was elsewhere", func() bool { return admits(a, next) && !admits(a, text) })
	if _, err := a.Revoke(info.ID); err != nil {
		t.Fatal(err)
	}
	soon(t, "a revoked key is good elsewhere", func() bool { return !admits(b, next) })
	if _, _, err := b.Rotate(info.ID, 0); err == nil {
		t.Error("a revoked key was rotated")
	}
}

// A window belongs to a process: so many times its limit does a key have, and following does not empty it.
func TestEachProcessCountsTheRequestsOfAKeyByItself(t *testing.T) {
	db, c := storetest.NewDatabase(), newClock()
	a, b := process(t, db.Open(), c), process(t, db.Open(), c)
	spec := team()
	spec.PerMinute = 1
	text, _ := add(t, a, spec)
	soon(t, "it is unknown", func() bool { return len(b.List()) == 1 })
	for _, k := range []*access.Keys{a, b} {
		if !admits(k, text) || admits(k, text) {
			t.Error("a process counts what another one admitted, or nothing")
		}
	}
	add(t, a, team())
	soon(t, "the second is unknown", func() bool { return len(b.List()) == 2 })
	if admits(b, text) {
		t.Error("a window was emptied")
	}
}

// A process whose memory is outdated changes what is stored, not what it remembers: a revoked key stays so, and a text
// that was rotated away does not come back.
func TestAChangeFromAnOutdatedMemoryRevivesNothing(t *testing.T) {
	db, c := storetest.NewDatabase(), newClock()
	a := process(t, db.Open(), c)
	gone, revoked := add(t, a, team())
	first, rotated := add(t, a, team())
	b := process(t, deaf{db.Open()}, c)
	if _, err := a.Revoke(revoked.ID); err != nil {
		t.Fatal(err)
	}
	second, _, err := a.Rotate(rotated.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !admits(b, gone) || !admits(b, first) {
		t.Fatal("its memory is not outdated")
	}
	if _, _, err := b.Rotate(revoked.ID, time.Hour); err == nil || !strings.Contains(err.Error(), "that is revoked") {
		t.Errorf("%v", err)
	}
	third, _, err := b.Rotate(rotated.ID, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if i, err := b.Revoke(revoked.ID); err != nil || !i.Revoked.Equal(c.Now()) {
		t.Errorf("%+v %v", i, err)
	}
	add(t, b, team())
	for name, k := range map[string]*access.Keys{"a": a, "b": b, "anew": process(t, db.Open(), c)} {
		soon(t, name+" has not followed", func() bool { return admits(k, third) })
		if admits(k, gone) || admits(k, first) || !admits(k, second) {
			t.Errorf("%s: revoked %t, first %t, second %t", name, admits(k, gone), admits(k, first), admits(k, second))
		}
	}
}

// Several processes fill the store to its bound and not above it, and the key that ended first makes room in each.
func TestProcessesTogetherStoreNoMoreThanTheBound(t *testing.T) {
	db, c := storetest.NewDatabase(), newClock()
	all := []*access.Keys{process(t, db.Open(), c), process(t, deaf{db.Open()}, c), process(t, db.Open(), c)}
	var added atomic.Int64
	var work sync.WaitGroup
	for _, k := range all {
		work.Go(func() {
			for range access.MaxKeys/len(all) + 10 {
				if _, _, err := k.Add(team()); err == nil {
					added.Add(1)
				}
			}
		})
	}
	work.Wait()
	anew := process(t, db.Open(), c)
	if n := len(anew.List()); added.Load() != access.MaxKeys || n != access.MaxKeys {
		t.Fatalf("%d were added, %d are stored", added.Load(), n)
	}
	ended := anew.List()[7].ID
	if _, err := anew.Revoke(ended); err != nil {
		t.Fatal(err)
	}
	add(t, all[1], team())
	soon(t, "the key that ended makes no room", func() bool {
		_, err := anew.Revoke(ended)
		var e *api.Error
		return errors.As(err, &e) && e.Name == api.ErrNotFound && len(anew.List()) == access.MaxKeys
	})
}

// Whatever processes do with the same keys at once, all agree in the end, and what was revoked is.
func TestProcessesThatChangeTheSameKeysAgreeInTheEnd(t *testing.T) {
	db, c := storetest.NewDatabase(), newClock()
	var all []*access.Keys
	for range 3 {
		all = append(all, process(t, db.Open(), c))
	}
	var ids []string
	for range 6 {
		_, info := add(t, all[0], team())
		ids = append(ids, info.ID)
	}
	var mu sync.Mutex
	texts, revoked := map[string][]string{}, map[string]bool{}
	var work sync.WaitGroup
	for p, k := range all {
		work.Go(func() {
			for n := range 60 {
				id := ids[(n*7+p*5)%len(ids)]
				if n%20 == 19 && p == 1 {
					if _, err := k.Revoke(id); err != nil {
						t.Error(err)
					}
					mu.Lock()
					revoked[id] = true
					mu.Unlock()
					continue
				}
				if text, _, err := k.Rotate(id, 0); err == nil {
					mu.Lock()
					texts[id] = append(texts[id], text)
					mu.Unlock()
				}
			}
		})
	}
	work.Wait()
	anew := process(t, db.Open(), c)
	for _, k := range all {
		soon(t, "a process does not agree", func() bool { return reflect.DeepEqual(k.List(), anew.List()) })
		soon(t, "a process admits another text than the last", func() bool { // the list does not tell of texts
			return !slices.ContainsFunc(ids, func(id string) bool {
				good := 0
				for _, text := range texts[id] {
					if admits(k, text) {
						good++
					}
				}
				return revoked[id] != (good == 0) || good > 1
			})
		})
	}
	if len(revoked) == 0 || len(revoked) == len(ids) {
		t.Errorf("%d were revoked", len(revoked))
	}
}

// faulty is a store of several processes whose reads fail, or whose commits happen and are said not to have.
type faulty struct {
	*storetest.Replica
	away, unsure atomic.Bool
	asked        atomic.Int64
}

func (f *faulty) View(fn func(store.Tx) error) error {
	if f.asked.Add(1); f.away.Load() {
		return store.ErrAway
	}
	return f.Replica.View(fn)
}

func (f *faulty) Update(fn func(store.Tx) error) error {
	err := f.Replica.Update(fn)
	if err == nil && f.unsure.Load() {
		err = fmt.Errorf("%w: %w", store.ErrNotWritten, store.ErrAway)
	}
	return err
}

func TestAProcessFollowsOnceTheDatabaseIsBack(t *testing.T) {
	db, c := storetest.NewDatabase(), newClock()
	a, f := process(t, db.Open(), c), &faulty{Replica: db.Open()}
	b := process(t, f, c)
	text, info := add(t, a, team())
	soon(t, "it is unknown", func() bool { return admits(b, text) })
	f.away.Store(true)
	asked := f.asked.Load()
	if _, err := a.Revoke(info.ID); err != nil {
		t.Fatal(err)
	}
	soon(t, "it was not asked", func() bool { return f.asked.Load() > asked })
	f.away.Store(false)
	soon(t, "a revoked key is good", func() bool { return !admits(b, text) })
}

func TestAChangeThatMayHaveHappenedIsReadAgain(t *testing.T) {
	db, c := storetest.NewDatabase(), newClock()
	f := &faulty{Replica: db.Open()}
	k := process(t, f, c)
	text, info := add(t, k, team())
	f.unsure.Store(true)
	if _, err := k.Revoke(info.ID); !errors.Is(err, store.ErrNotWritten) {
		t.Fatal(err)
	}
	soon(t, "a revoked key is good", func() bool { return !admits(k, text) })
}

// illegible is a store that cannot read one record any more.
type illegible struct {
	store.Store
	id *string
}

func (s illegible) Update(fn func(store.Tx) error) error {
	return s.Store.Update(func(tx store.Tx) error { return fn(illegibleTx{tx, *s.id}) })
}

type illegibleTx struct {
	store.Tx
	id string
}

func (t illegibleTx) Bucket(name string) store.Bucket {
	return illegibleBucket{t.Tx.Bucket(name), t.id, func(error) {}}
}

type illegibleBucket struct {
	store.Bucket
	id     string
	report func(error)
}

func (b illegibleBucket) Reporting(report func(error)) store.Bucket {
	return illegibleBucket{b.Bucket, b.id, report}
}

func (b illegibleBucket) Get(key []byte) []byte {
	if string(key) == b.id {
		b.report(store.ErrDamaged)
		return nil
	}
	return b.Bucket.Get(key)
}

func TestAKeyWhoseRecordWasDamagedSinceCanBeRevoked(t *testing.T) {
	c, id := newClock(), ""
	k := openKeys(t, illegible{store.NewMemory(), &id}, c)
	text, info := add(t, k, team())
	id = info.ID
	if _, err := k.Revoke(id); err != nil || admits(k, text) {
		t.Errorf("%v, admitted %t", err, admits(k, text))
	}
}
