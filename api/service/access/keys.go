package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/store"
)

// bucketKeys holds id → record. The only trace of a key in it is its SHA-256 digest.
const bucketKeys = "access-keys"

// Carry copies the stored keys into another database, which has none. report is told of each damaged one, which stays
// behind.
func Carry(from, to store.Store, report func(error)) error {
	return store.CopyBucket(from, to, bucketKeys, func(_, _ []byte) bool { return true }, report)
}

// KeysOptions configure Keys. Clock and Random are required; FundLimit is that of a key that names none, 0 means
// DefaultFundLimit.
type KeysOptions struct {
	Clock     func() time.Time
	Random    io.Reader // for ids and keys
	FundLimit int
}

// Keys are the stored keys of a service: made, rotated and revoked by the operator, and the Authenticator that admits
// who holds one. It is safe for concurrent use. Each change is made from what is stored, in the commit that stores it.
// What is in memory is what is stored; what another process of a shared store commits is there a moment later, or once
// the database is reached again.
//
// A request counts for exactly Span from the moment it was made. Every request of a known, live key that finds room
// counts, also one that is then forbidden; one that finds no room does not. Windows live in memory, of each process its
// own, and begin empty with it. They hold at most eight bytes for each request, and for each new account with test
// funds, that their limits admit, whatever is sent.
type Keys struct {
	store  store.Store
	clock  func() time.Time
	random io.Reader
	funds  int       // new accounts that a key which names no limit may bring test funds in a FundSpan
	start  time.Time // moments of windows are measured from here, by the monotonic clock where there is one

	writing sync.Mutex // one change at a time, from its first look to its last
	mu      sync.RWMutex
	keys    map[string]*key
	damaged []error // never changed

	stale chan struct{} // another process has changed a key
	end   func()
}

// key is one key at work. What kept points to never changes; the pointer does, under Keys.mu.
type key struct {
	kept *kept

	mu     sync.Mutex
	window window
	funded window // new accounts
	active int
}

func newKey(k *kept) *key { return &key{kept: k, funded: window{span: FundSpan}} }

// record is what the store has of a key. Digests are hex; Digest is "" once the key is revoked.
type record struct {
	KeyInfo
	Digest   string `json:"digest,omitzero"`
	Previous string `json:"previous,omitzero"` // good until PreviousUntil
}

// kept is a record and its digests as they are compared; one that is missing is zero, which no text has.
type kept struct {
	record
	current, previous digest
	quotes            bool // may use an endpoint that prepares or prices
	project           string
}

func (r record) keep() (*kept, error) {
	k := &kept{record: r, quotes: r.quotes(), project: r.projectID()}
	for text, sum := range map[string]*digest{r.Digest: &k.current, r.Previous: &k.previous} {
		if n, err := hex.Decode(sum[:], []byte(text)); text != "" && (err != nil || n != len(sum)) {
			return nil, fmt.Errorf("the digest of key %s is damaged", r.ID)
		}
	}
	return k, nil
}

// OpenKeys reads the keys of a store.
func OpenKeys(s store.Store, o KeysOptions) (*Keys, error) {
	if s == nil || o.Clock == nil || o.Random == nil {
		return nil, errors.New("keys need a store, a clock and a random source")
	}
	k := &Keys{store: s, clock: o.Clock, random: o.Random, funds: cmp.Or(o.FundLimit, DefaultFundLimit),
		start: o.Clock(), stale: make(chan struct{}, 1), end: func() {}}
	report := func(damage error) { k.damaged = append(k.damaged, damage) }
	if store.Process(s) != 0 {
		k.follow()
	}
	if err := k.load(report, true); err != nil {
		k.end()
		return nil, fmt.Errorf("open the keys: %w", err)
	}
	return k, nil
}

// Close ends what follows other processes; nothing else has to be.
func (k *Keys) Close() { k.end() }

// retryEvery is between two tries to read what another process has written.
const retryEvery = time.Second

// follow keeps memory what other processes make of the store.
func (k *Keys) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	stop := store.Watch(k.store, []string{bucketKeys}, k.outdated)
	var following sync.WaitGroup
	following.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-k.stale:
			}
			if k.load(func(error) {}, false) == nil {
				continue
			}
			select {
			case <-ctx.Done():
			case <-time.After(retryEvery):
				k.outdated()
			}
		}
	})
	k.end = func() { stop(); cancel(); following.Wait() }
}

// outdated has memory read again, in a store that is shared.
func (k *Keys) outdated() {
	select {
	case k.stale <- struct{}{}:
	default:
	}
}

// load makes memory what is stored. report is told of each record that the store cannot read: it opens nothing. One
// that means nothing is an error where all have to be whole, and opens nothing otherwise.
func (k *Keys) load(report func(error), whole bool) error {
	k.writing.Lock() // no change comes between reading and remembering
	defer k.writing.Unlock()
	stored := map[string]*kept{}
	err := k.store.View(func(tx store.Tx) (err error) {
		tx.Bucket(bucketKeys).Reporting(report).Ascend(nil, func(id, value []byte) bool {
			one, damage := parse(id, value)
			if damage == nil {
				stored[one.ID] = one
			} else if whole {
				err = damage
			}
			return err == nil
		})
		return err
	})
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	keys := make(map[string]*key, len(stored))
	for id, now := range stored {
		one := k.keys[id]
		if one == nil {
			one = newKey(now)
		}
		one.kept = now
		keys[id] = one
	}
	k.keys = keys
	return nil
}

// parse reads a record.
func parse(id, value []byte) (*kept, error) {
	var r record
	if json.Unmarshal(value, &r) != nil || r.ID != string(id) || !r.bounded() {
		return nil, fmt.Errorf("the record of key %q is damaged", id)
	}
	return r.keep()
}

// Damaged names the stored keys that cannot be read: they open nothing.
func (k *Keys) Damaged() []error { return k.damaged }

// Usable counts the keys that are neither revoked nor expired.
func (k *Keys) Usable() int {
	n, now := 0, k.clock()
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, one := range k.keys {
		if one.kept.State(now) == Live {
			n++
		}
	}
	return n
}

// Admit implements Authenticator. An unknown, revoked or expired key gets the one 401, a full window or too many
// requests at once 429, an endpoint that is not the key's 403.
func (k *Keys) Admit(_ context.Context, a Attempt) (Grant, error) {
	now := k.clock()
	one, r := k.holder(a.Key, now)
	if one == nil {
		return Grant{}, Unauthorized()
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	elapsed := now.Sub(k.start)
	ok, remaining, reset := one.window.take(elapsed, r.PerMinute)
	g := Grant{Caller: "key " + r.ID, Limit: r.PerMinute, Remaining: remaining, Reset: now.Add(reset - elapsed),
		Funds: k.funding(one, r, a.Permission), Project: r.project}
	switch {
	case !ok:
		return g, tooMany(reset-elapsed, "This key may make %d requests in 60 seconds", r.PerMinute)
	case !r.allows(a.Endpoint, a.Permission):
		return g, api.NewError(api.ErrForbidden, "This API key has no permission for this endpoint")
	case r.Concurrent > 0 && one.active >= r.Concurrent:
		return g, tooMany(time.Second, "This key may have %d requests under way at once", r.Concurrent)
	}
	one.active++
	g.Release = one.release()
	return g, nil
}

// funding says whether a request brings test funds to the accounts that it names: never to one that is only read by a
// key that may not quote, and to new ones within the key's budget.
func (k *Keys) funding(one *key, r *kept, permission string) func(bool) bool {
	if permission == Read && !r.quotes {
		return nil
	}
	elapsed := func() time.Duration { return k.clock().Sub(k.start) }
	return one.funded.budget(&one.mu, elapsed, cmp.Or(r.FundLimit, k.funds))
}

func tooMany(wait time.Duration, format string, n int) error {
	e := api.NewError(api.ErrTooManyRequests, format, n)
	e.RetryAfter = max(wait, time.Nanosecond)
	return e
}

// release returns what ends a request; only the first call counts.
func (k *key) release() func() {
	ended := false
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if !ended {
			ended = true
			k.active--
		}
	}
}

// holder returns the live key of a text. Who has no key is compared with digests of nothing, so that the time taken
// tells nothing of a digest.
func (k *Keys) holder(text string, now time.Time) (*key, *kept) {
	id, formed := IDOf(text)
	if !formed {
		text = "" // however long it was
	}
	nobody := kept{}
	r := &nobody
	k.mu.RLock()
	one := k.keys[id]
	if one != nil {
		r = one.kept
	}
	k.mu.RUnlock()
	sum := sha256.Sum256([]byte(text))
	current := subtle.ConstantTimeCompare(sum[:], r.current[:])
	earlier := subtle.ConstantTimeCompare(sum[:], r.previous[:])
	if !now.Before(r.PreviousUntil) {
		earlier = 0
	}
	if one == nil || current|earlier != 1 || r.State(now) != Live {
		return nil, nil
	}
	return one, r
}
