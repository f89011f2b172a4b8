package access

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/service/store"
	"coffer/api/text"
)

// States of a key.
const (
	Live    = "live"
	Expired = "expired"
	Revoked = "revoked"
)

// MaxGrace is how long the text before a rotation can stay good.
const MaxGrace = 30 * 24 * time.Hour

// KeyInfo is what can be told of a key: everything but the key. Times are zero for what has not happened; PreviousUntil
// is when the text before the last rotation stops being good.
type KeyInfo struct {
	ID string `json:"id"`
	KeySpec
	Created       time.Time `json:"created"`
	Rotated       time.Time `json:"rotated,omitzero"`
	PreviousUntil time.Time `json:"previousUntil,omitzero"`
	Revoked       time.Time `json:"revoked,omitzero"`
}

// projectID is that of company and project, which are the same for two keys when both names are, letter by letter. A
// public test key is a project of its own.
func (i KeyInfo) projectID() string {
	if i.PublicTest {
		return projectOf("public", i.ID)
	}
	return projectOf("stored", i.Company, i.Project)
}

// State says whether the key is good at a moment: live, expired or revoked.
func (i KeyInfo) State(now time.Time) string {
	switch {
	case !i.Revoked.IsZero():
		return Revoked
	case !i.Expires.IsZero() && !now.Before(i.Expires):
		return Expired
	}
	return Live
}

// ended is the moment a key ended, zero while it is live.
func (i KeyInfo) ended(now time.Time) time.Time {
	switch i.State(now) {
	case Revoked:
		return i.Revoked
	case Expired:
		return i.Expires
	}
	return time.Time{}
}

// Add makes a key and returns its text, which is kept nowhere, and its information. A broken rule of the specification
// is a validation error. The key that ended first makes room when MaxKeys are stored; when all of them are live it
// fails.
func (k *Keys) Add(s KeySpec) (string, KeyInfo, error) {
	now := k.clock().UTC()
	s, err := s.settled(now)
	if err != nil {
		return "", KeyInfo{}, err
	}
	text := ""
	info, err := k.save("of a new project", func(stored store.Bucket) (r record, gone string, err error) {
		if gone, err = room(stored, now); err != nil {
			return r, "", err
		}
		r.KeyInfo = KeyInfo{KeySpec: s, Created: now}
		if r.ID, err = k.freshID(stored); err != nil {
			return r, "", err
		}
		var sum digest
		text, sum, err = newText(k.random, r.ID)
		r.Digest = hexOf(sum)
		return r, gone, err
	})
	if err != nil {
		return "", KeyInfo{}, err
	}
	return text, info, nil
}

// room names the key that has to go before another one is stored, "" when there is room.
func room(stored store.Bucket, now time.Time) (string, error) {
	n := 0
	stored.Ascend(nil, func(_, _ []byte) bool { n++; return true })
	if n < MaxKeys {
		return "", nil
	}
	var ended []KeyInfo
	stored.Ascend(nil, func(id, value []byte) bool {
		if one, err := parse(id, value); err == nil && one.State(now) != Live {
			ended = append(ended, one.KeyInfo)
		}
		return true
	})
	if len(ended) == 0 {
		return "", fmt.Errorf("there are %d live keys, and no more can be stored: revoke one", MaxKeys)
	}
	return slices.MinFunc(ended, func(a, b KeyInfo) int { return a.ended(now).Compare(b.ended(now)) }).ID, nil
}

func (k *Keys) freshID(stored store.Bucket) (string, error) {
	for range 100 {
		id, err := newID(k.random)
		if err != nil {
			return "", err
		}
		if stored.Get([]byte(id)) == nil {
			return id, nil
		}
	}
	return "", errors.New("the random source repeats itself: no id for a key was found")
}

// List returns what can be told of all keys, the oldest first.
func (k *Keys) List() []KeyInfo {
	k.mu.RLock()
	defer k.mu.RUnlock()
	out := make([]KeyInfo, 0, len(k.keys))
	for _, one := range k.keys {
		out = append(out, one.kept.KeyInfo)
	}
	slices.SortFunc(out, func(a, b KeyInfo) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Rotate gives a key a new text and returns it. The old text stays good for grace, at most MaxGrace; a text before that
// ends at once. Limits, window and expiry stay. An unknown id is NotFound; a key that has ended, or a grace out of
// bounds, is a validation error.
func (k *Keys) Rotate(id string, grace time.Duration) (string, KeyInfo, error) {
	now := k.clock().UTC()
	text := ""
	info, err := k.save(id, func(stored store.Bucket) (r record, _ string, err error) {
		if r, err = k.find(stored, id); err != nil {
			return r, "", err
		}
		var c checker
		if state := r.State(now); state != Live {
			c.fail("id", "a live key", "one that is "+state)
		}
		if grace < 0 || grace > MaxGrace {
			c.fail("grace", "a duration from 0 to "+MaxGrace.String(), grace.String())
		}
		if err := api.NewValidationError(c.failures); err != nil {
			return r, "", err
		}
		var sum digest
		if text, sum, err = newText(k.random, id); err != nil {
			return r, "", err
		}
		r.Previous, r.PreviousUntil = "", time.Time{}
		if grace > 0 {
			r.Previous, r.PreviousUntil = r.Digest, now.Add(grace)
		}
		r.Digest, r.Rotated = hexOf(sum), now
		return r, "", nil
	})
	if err != nil {
		return "", KeyInfo{}, err
	}
	return text, info, nil
}

// Revoke ends a key at once and forgets its digests. Revoking it again changes nothing. An unknown id is NotFound.
func (k *Keys) Revoke(id string) (KeyInfo, error) {
	now := k.clock().UTC()
	return k.save(id, func(stored store.Bucket) (r record, _ string, err error) {
		if r, err = k.find(stored, id); err == nil && r.Revoked.IsZero() {
			r.Digest, r.Previous, r.PreviousUntil, r.Revoked = "", "", time.Time{}, now
		}
		return r, "", err
	})
}

// find reads a key, which another process may have changed a moment ago. Where there is no other, a record that cannot
// be read any more is what memory has of it.
func (k *Keys) find(stored store.Bucket, id string) (record, error) {
	damaged := false
	raw := stored.Reporting(func(error) { damaged = true }).Get([]byte(id))
	if raw != nil {
		one, err := parse([]byte(id), raw)
		if err != nil {
			return record{}, err
		}
		return one.record, nil
	}
	k.mu.RLock()
	one := k.keys[id]
	k.mu.RUnlock()
	if damaged && one != nil && store.Process(k.store) == 0 {
		return one.kept.record, nil
	}
	if in, whole := IDOf(id); whole {
		return record{}, api.Invalid("id", "the id alone, "+in, "a whole key")
	}
	return record{}, api.NewError(api.ErrNotFound, "there is no key %q", text.Clean(id, 2*idLength))
}

// save stores the record that a function makes of what is stored, takes another one away, and then lets requests see
// both. What the function refuses is returned as it is.
func (k *Keys) save(id string, with func(stored store.Bucket) (r record, gone string, err error)) (KeyInfo, error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	var next *kept
	var gone string
	var refused error
	err := k.store.Update(func(tx store.Tx) error {
		b := tx.Bucket(bucketKeys)
		var r record
		if r, gone, refused = with(b.Reporting(func(error) {})); refused != nil {
			return refused
		}
		var err error
		if next, err = r.keep(); err != nil {
			return err
		}
		value, err := json.Marshal(r)
		if err == nil && gone != "" {
			err = b.Delete([]byte(gone))
		}
		return errors.Join(err, b.Put([]byte(r.ID), value))
	})
	switch {
	case refused != nil:
		return KeyInfo{}, refused
	case err != nil:
		if errors.Is(err, store.ErrNotWritten) {
			k.outdated() // it may be written all the same
		}
		return KeyInfo{}, fmt.Errorf("store key %s: %w", id, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, gone)
	if one := k.keys[next.ID]; one != nil {
		one.kept = next
	} else {
		k.keys[next.ID] = newKey(next)
	}
	return next.KeyInfo, nil
}

func hexOf(d digest) string { return hex.EncodeToString(d[:]) }
