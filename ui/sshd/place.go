package sshd

import (
	"fmt"
	"time"
)

// place counts a session in, or returns why it has no place. leave gives the place back.
func (s *Server) place(v *session) (leave func(), why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ending.Err() != nil:
		return nil, "the service is stopping; connect again later"
	case s.count[v.print] >= perKey:
		return nil, "your key has a dashboard, and another connection that asks for it; close one of them"
	case s.here >= s.o.Sessions && s.open[v.print] == nil:
		return nil, fmt.Sprintf("all %d places are taken; try again later", s.o.Sessions)
	}
	s.here++
	s.count[v.print]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.here--
		if s.count[v.print]--; s.count[v.print] == 0 {
			delete(s.count, v.print)
		}
	}, ""
}

// sole makes this session the one dashboard of its key, which has one journal. Where one is open already the guest may
// take it over: it may be the guest's own, behind a broken line. With a nil result, why holds the reason.
func (s *Server) sole(v *session) (mine *live, why string) {
	mine = &live{id: v.id, from: v.RemoteAddr().String(), since: v.begun, stop: v.stop, done: make(chan struct{})}
	for asked := false; ; asked = true {
		s.mu.Lock()
		other := s.open[v.print]
		if other == nil {
			s.open[v.print] = mine
			s.mu.Unlock()
			return mine, ""
		}
		s.mu.Unlock()
		if asked {
			return nil, "the other dashboard did not end; try again in a moment"
		}
		if !s.asked(v, other) {
			return nil, "the other dashboard goes on"
		}
		s.log.Info("ssh: dashboard taken over", "conn", v.id, "of", other.id, "key", v.print)
		other.stop(errTaken)
		select {
		case <-other.done:
		case <-time.After(4 * s.o.Limits.Ending):
		case <-v.ctx.Done():
		}
	}
}

// release lets the next dashboard of the key open.
func (s *Server) release(v *session, mine *live) {
	s.mu.Lock()
	if s.open[v.print] == mine {
		delete(s.open, v.print)
	}
	s.mu.Unlock()
	close(mine.done)
}

// asked asks on the terminal whether to take over, and waits for one key.
func (s *Server) asked(v *session, other *live) bool {
	_, err := fmt.Fprintf(v.term, "Your dashboard is open already, since %s UTC, from %s.\nIt has one journal, so it "+
		"is shown in one place.\n\n  t  show it here and close it there\n  any other key leaves\n",
		other.since.UTC().Format("15:04"), other.from)
	if err != nil {
		return false
	}
	late := time.AfterFunc(s.o.Limits.Asking, v.term.shut)
	defer late.Stop()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // the server stops meanwhile
		select {
		case <-v.ctx.Done():
			v.term.shut()
		case <-stop:
		}
	}()
	var key [1]byte
	n, err := v.term.Read(key[:])
	return err == nil && n == 1 && (key[0] == 't' || key[0] == 'T')
}
