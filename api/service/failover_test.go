package service_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/settle"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

// TestAStandbyPromotedWithLostCommitsSendsNothingTwice: the server of the database dies, and a standby takes its place
// which has nothing of the last six payments.
func TestAStandbyPromotedWithLostCommitsSendsNothingTwice(t *testing.T) {
	t.Parallel()
	comesBackOlder(t, 1, "async", "cut", "kill", "promote")
}

// TestADumpThatIsRestoredSendsNothingTwice: the same of a dump that was made while the service ran, and that takes the
// place of its database.
func TestADumpThatIsRestoredSendsNothingTwice(t *testing.T) {
	t.Parallel()
	comesBackOlder(t, 1, "alone", "dump", "restore")
}

// TestADumpOfSeveralProcessesThatIsRestoredSendsNothingTwice: the dump brings along the list of the processes that ran
// when it was made, and none of them is there any more.
func TestADumpOfSeveralProcessesThatIsRestoredSendsNothingTwice(t *testing.T) {
	t.Parallel()
	comesBackOlder(t, 3, "alone", "dump", "restore")
}

// comesBackOlder has a server keep what there is at a moment, and come back with that. Of the last six payments one it
// knew was delivered since, one was only an offer, and others it never knew. The processes that ran write nothing more;
// the next one reads the chains. Whatever was delivered stays, whatever was not goes back.
func comesBackOlder(t *testing.T, processes int, kind, keep string, back ...string) {
	t.Helper()
	server := storetest.NewServer(t, kind)
	opens := func() *pg.Store { return storetest.Open(t, server.Address) }
	if processes > 1 {
		opens = func() *pg.Store { return storetest.OpenShared(t, server.Address) }
	}
	w := &watched{dir: t.TempDir(), held: map[string]settle.Moment{}, still: map[string]bool{},
		people: map[uint64]*client{}}
	db := opens()
	w.operated = newOperatedIn(t, db, nil)
	s := w.starts(w.db, w.dir)
	var beside []*pg.Store
	for range processes - 1 {
		beside = append(beside, opens())
	}
	kept, signed := w.quoted(s, 200)
	w.holds(kept.id, settle.AtFill)
	kept.execute(signed)
	w.reaches("deposits of the payment that the standby has", func() bool { return w.deposited(kept) })
	offered, late := w.quoted(s, 201)
	all := []payment{kept, offered}
	server.Do(keep)

	w.holds(offered.id, settle.AtRelease)
	offered.execute(late)
	w.holds(kept.id, settle.AtRelease)
	waits := map[uint64]settle.Moment{202: settle.AtFill, 203: settle.AtRelease}
	for n := uint64(202); n < 206; n++ {
		p, signed := w.quoted(s, n)
		w.holds(p.id, waits[n])
		p.execute(signed)
		all = append(all, p)
	}
	filled := func(p payment) bool { return waits[p.n] != settle.AtFill }
	fills := func() int { return len(w.logs(8453, w.filler, filler.FilledTopic())) }
	w.reaches("five deliveries", func() bool { return fills() == 5 })
	w.reaches("deposits that wait", func() bool {
		return !slices.ContainsFunc(all, func(p payment) bool { return !filled(p) && !w.deposited(p) })
	})
	w.reaches("releases of the others", func() bool {
		return len(w.logs(10, w.escrow, escrow.ReleasedTopic())) == 2 &&
			len(w.logs(42161, w.escrow, escrow.ReleasedTopic())) == 2
	})
	for _, verb := range back {
		server.Do(verb)
	}
	for _, db := range append(beside, db) {
		select {
		case <-db.Lost().Done():
		case <-time.After(time.Minute):
			t.Fatal("a process that ran does not see that it has another database")
		}
		if err := context.Cause(db.Lost()); !errors.Is(err, pg.ErrOlder) {
			t.Error(err)
		}
	}
	w.mu.Lock()
	clear(w.held)
	w.mu.Unlock()
	time.Sleep(time.Second) // in which it could do what it must not
	if err := errors.Join(s.Close(), db.Close()); err != nil {
		t.Log(err) // it cannot write how it ends
	}
	if strings.Contains(w.logged(), "STORE_BEHIND") || fills() != 5 {
		t.Errorf("%d deliveries before the next start:\n%s", fills(), w.logged())
	}

	w.db = opens()
	s = w.starts(w.db, w.dir)
	defer func() { _ = s.Close() }()
	if !strings.Contains(w.logged(), "STORE_BEHIND") ||
		!strings.Contains(w.logged(), "a standby was promoted, or a backup restored") {
		t.Errorf("nothing says that the store is behind:\n%s", w.logged())
	}
	w.reaches("lanes that are sure", func() bool { return !w.passes(s) })
	w.ends(all, filled)
	if now := fills(); now != 5 {
		t.Errorf("%d deliveries after the standby was promoted", now)
	}
	p, signed := w.quoted(s, 210)
	p.execute(signed)
	w.reaches("a payment after that", func() bool { return w.has(8453, p.to) == 30e6 })
	w.ends(append(all, p), filled)
	if strings.Contains(w.logged(), "LANE_STOPPED") {
		t.Errorf("a lane has stopped:\n%s", w.logged())
	}
}
