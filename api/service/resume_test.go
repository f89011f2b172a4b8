package service_test

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/service"
	"coffer/api/service/daemon"
	"coffer/api/service/netstatus"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

// TestAnOperatorsLaneGoesOnWhenTheOperatorSaysSo: it has stopped, an alert names the command, and after the decision
// the service pays. What is decided is what was shown.
func TestAnOperatorsLaneGoesOnWhenTheOperatorSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := newOperatedIn(t, db, nil)
	seed, err := store.Get(db, "own nodes", []byte("seed"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := signers.Derive(seed)
	if err != nil {
		t.Fatal(err)
	}
	key, why := keys.Operator.Address(), "two programs have the key"
	if err := db.Update(func(tx store.Tx) error {
		return tx.Bucket("lanes").Put(append(binary.BigEndian.AppendUint64(nil, 8453), key[:]...),
			[]byte(`{"first":0,"next":0,"stopped":"`+why+`"}`))
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	resume := func(chain string, confirm func(...string) error) (string, error) {
		return daemon.Resume(t.Context(), dir, chain, confirm)
	}
	if _, err := resume("base", nil); err == nil || !strings.Contains(err.Error(), "does not run") {
		t.Errorf("without a service: %v", err)
	}
	a, err := service.OpenOrAttach(t.Context(), dir, o.options(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	s := a.Service()
	o.priced(s)
	for chain, words := range map[string]string{"op": "has not stopped on Optimism", "atlantis": "has no chain"} {
		if _, err := resume(chain, nil); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", chain, err)
		}
	}
	now, err := s.Status(t.Context())
	if err != nil || !slices.ContainsFunc(now.Alerts, func(a netstatus.Alert) bool {
		return a.Code == netstatus.LaneStopped && strings.Contains(a.Text, "coffer network resume 8453")
	}) {
		t.Errorf("%+v, %v", now, err)
	}
	stopped := func() string {
		now, err := s.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return chainOf(t, now, 8453).Lane.Stopped
	}
	no := errors.New("no")
	var shown string
	if _, err := resume("8453", func(known ...string) error {
		shown = strings.Join(known, "\n")
		return no
	}); !errors.Is(err, no) || !strings.Contains(shown, why) || !strings.Contains(shown, key.Hex()) ||
		stopped() != why {
		t.Errorf("%v, shown was %s", err, shown)
	}
	other := service.Decision{Chain: 8453, Stopped: "something else"}
	if err := service.ResumeOperated(t.Context(), dir, other); err == nil || stopped() != why {
		t.Errorf("another decision was taken: %v", err)
	}
	if name, err := resume("base", func(...string) error { return nil }); err != nil || name != "Base" ||
		stopped() != "" {
		t.Errorf("%q %v", name, err)
	}
	c := o.member(s, api.AccountKernelV31, 97)
	doc, id, _ := c.call(o.pay(c, common.Address{0xbe, 0xef, 19: 51}, 10e6), "ob:usdc")
	c.ask("POST", c.executePath(), string(doc.Raw()))
	if got := c.ended(id); got.Status != api.StatusCompleted {
		t.Errorf("%+v", got)
	}
}
