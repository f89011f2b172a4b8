package lane

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/service/store"
)

// What is read of a step is what could have been written, or an error: its bytes are those of its hashes, and writing
// it again changes nothing.
func FuzzStoredSteps(f *testing.F) {
	b := newLab(&testing.T{})
	for _, id := range []string{"a", "fail b"} {
		if _, err := b.l.Send(f.Context(), b.step(id)); err != nil {
			f.Fatal(err)
		}
	}
	add := func() {
		for _, id := range []string{"a", "fail b"} {
			raw, err := json.Marshal(b.stored(id))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	add()
	b.w.base.SetInt64(5 * gwei)
	b.turn()
	b.w.mine(stuckBlocks)
	b.clock.wait(2 * 3600e9)
	b.turn()
	add()
	b.w.mine(1)
	b.turn()
	add()
	b.w.mine(depth)
	b.turn()
	add()
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := decodeStep(raw)
		if err != nil {
			return
		}
		if err := s.verify(chainID); err != nil {
			return
		}
		for _, a := range s.Attempts {
			if s.Final == nil && (a.tx.Hash() != a.Hash || a.tx.Nonce() != s.Nonce || sender(a.tx) != s.From) {
				t.Errorf("other bytes than the record says: %s", raw)
			}
		}
		once, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodeStep(once)
		if err != nil {
			t.Fatalf("%v: %s", err, once)
		}
		if twice, err := json.Marshal(again); err != nil || string(twice) != string(once) {
			t.Errorf("%s\n%s", once, twice)
		}
	})
}

// A record that cannot be read now, as when the database goes away between two of them, is an error: the keeper goes
// on, and knows the lanes that were read before it alone.
func TestALaneThatCannotBeReadEndsNoKeeper(t *testing.T) {
	b := newLab(t)
	if _, err := b.l.Send(t.Context(), b.step("a")); err != nil {
		t.Fatal(err)
	}
	if err := b.l.Store.Update(func(tx store.Tx) error {
		return tx.Bucket(bucketLanes).Put(b.l.in(tx).laneKey(common.Address{1}), []byte("{"))
	}); err != nil {
		t.Fatal(err)
	}
	if all, err := b.l.lanes(); err == nil || all[common.Address{1}] != nil || slices.Contains(
		slices.Collect(maps.Values(all)), nil) {
		t.Errorf("%v, %v", all, err)
	}
	if err := errors.Join(b.l.push(t.Context()), b.l.look(t.Context())); err == nil {
		t.Error("nothing was said")
	}
}

// A record that was changed stops the start.
func TestAChangedRecordIsNoStart(t *testing.T) {
	b := newLab(t)
	b.send(b.step("a"))
	key := records{chain: chainID}.stepKey(b.key.Address(), 0)
	var raw string
	b.ok(b.kept.View(func(tx store.Tx) error {
		raw = string(tx.Bucket(bucketSteps).Get(key))
		return nil
	}))
	hash := b.stored("a").Attempts[0].Hash.Hex()
	for _, changed := range []string{
		strings.Replace(raw, hash, strings.Replace(hash, hash[2:4], "00", 1), 1),
		strings.Replace(raw, `"nonce":0`, `"nonce":1`, 1),
		strings.Replace(raw, strings.ToLower(b.key.Address().Hex()), strings.ToLower(local(1).Address().Hex()), 1),
		`{"attempts":[]}`, `{`,
	} {
		if changed == raw {
			t.Fatal("nothing was changed")
		}
		b.ok(b.kept.Update(func(tx store.Tx) error { return tx.Bucket(bucketSteps).Put(key, []byte(changed)) }))
		if _, err := open(b.options()); err == nil {
			t.Errorf("opened with %s", changed)
		}
	}
}
