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
	k.writing.Lock()
	defer k.writing.Unlock()
	now := k.clock().UTC()
	s, err := s.settled(now)
	if err != nil {
		return "", KeyInfo{}, err
	}
	gone, err := k.room(now)
	if err != nil {
		return "", KeyInfo{}, err
	}
	id, err := k.freshID()
	if err != nil {
		return "", KeyInfo{}, err
	}
	text, sum, err := newText(k.random, id)
	if err != nil {
		return "", KeyInfo{}, err
	}
	r := record{KeyInfo: KeyInfo{ID: id, KeySpec: s, Created: now}, Digest: hexOf(sum)}
	if err := k.save(r, gone); err != nil {
		return "", KeyInfo{}, err
	}
	return text, r.KeyInfo, nil
}

// room names the key that has to go before another one is stored, "" when there is room.
func (k *Keys) room(now time.Time) (string, error) {
	all := k.List()
	if len(all) < MaxKeys {
		return "", nil
	}
	all = slices.DeleteFunc(all, func(i KeyInfo) bool { return i.State(now) == Live })
	if len(all) == 0 {
		return "", fmt.Errorf("there are %d live keys, and no more can be stored: revoke one", MaxKeys)
	}
	return slices.MinFunc(all, func(a, b KeyInfo) int { return a.ended(now).Compare(b.ended(now)) }).ID, nil
}

func (k *Keys) freshID() (string, error) {
	for range 100 {
		id, err := newID(k.random)
		if err != nil {
			return "", err
		}
		k.mu.RLock()
		_, taken := k.keys[id]
		k.mu.RUnlock()
		if !taken {
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
	k.writing.Lock()
	defer k.writing.Unlock()
	now := k.clock().UTC()
	r, err := k.get(id)
	if err != nil {
		return "", KeyInfo{}, err
	}
	var c checker
	if state := r.State(now); state != Live {
		c.fail("id", "a live key", "one that is "+state)
	}
	if grace < 0 || grace > MaxGrace {
		c.fail("grace", "a duration from 0 to "+MaxGrace.String(), grace.String())
	}
	if err := api.NewValidationError(c.failures); err != nil {
		return "", KeyInfo{}, err
	}
	text, sum, err := newText(k.random, id)
	if err != nil {
		return "", KeyInfo{}, err
	}
	r.Previous, r.PreviousUntil = "", time.Time{}
	if grace > 0 {
		r.Previous, r.PreviousUntil = r.Digest, now.Add(grace)
	}
	r.Digest, r.Rotated = hexOf(sum), now
	if err := k.save(r, ""); err != nil {
		return "", KeyInfo{}, err
	}
	return text, r.KeyInfo, nil
}

// Revoke ends a key at once and forgets its digests. Revoking it again changes nothing. An unknown id is NotFound.
func (k *Keys) Revoke(id string) (KeyInfo, error) {
	k.writing.Lock()
	defer k.writing.Unlock()
	r, err := k.get(id)
	if err != nil || !r.Revoked.IsZero() {
		return r.KeyInfo, err
	}
	r.Digest, r.Previous, r.PreviousUntil, r.Revoked = "", "", time.Time{}, k.clock().UTC()
	return r.KeyInfo, k.save(r, "")
}

func (k *Keys) get(id string) (record, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	one, ok := k.keys[id]
	if !ok {
		if in, whole := IDOf(id); whole {
			return record{}, api.Invalid("id", "the id alone, "+in, "a whole key")
		}
		return record{}, api.NewError(api.ErrNotFound, "there is no key %q", text.Clean(id, 2*idLength))
	}
	return one.kept.record, nil
}

// save stores a record, takes another one away, and then lets requests see both.
func (k *Keys) save(r record, gone string) error {
	next, err := r.keep()
	var value []byte
	if err == nil {
		value, err = json.Marshal(r)
	}
	if err == nil {
		err = k.store.Update(func(tx store.Tx) error {
			b := tx.Bucket(bucketKeys)
			if gone != "" {
				if err := b.Delete([]byte(gone)); err != nil {
					return err
				}
			}
			return b.Put([]byte(r.ID), value)
		})
	}
	if err != nil {
		return fmt.Errorf("store key %s: %w", r.ID, err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.keys, gone)
	if one := k.keys[r.ID]; one != nil {
		one.kept = next
	} else {
		k.keys[r.ID] = newKey(next)
	}
	return nil
}

func hexOf(d digest) string { return hex.EncodeToString(d[:]) }
