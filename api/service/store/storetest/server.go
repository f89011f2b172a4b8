package storetest

import (
	"context"
	"errors"
	"flag"
	"os/exec"
	"strings"
	"testing"
)

// The step "replicas" of .ci/run gives the path.
var script = flag.String("server", "", "the `PATH` of a script that makes servers of PostgreSQL, kills and promotes "+
	"them, as .ci/replicas/database does")

// Server is a server of PostgreSQL that a test has to itself, with an empty database at its address.
type Server struct {
	Address string
	t       testing.TB
	dir     string
}

// NewServer makes a server, until the test ends: alone, or with a standby that is async or sync. Without a script the
// test is skipped.
func NewServer(t testing.TB, kind string) *Server {
	t.Helper()
	if *script == "" {
		t.Skip("needs -args -server PATH; .ci/run replicas gives one")
	}
	s := &Server{t: t}
	s.dir, s.Address, _ = strings.Cut(s.run("make", kind), " ")
	t.Cleanup(func() { s.Do("end") })
	return s
}

// Do has the script carry out a verb, such as kill, start, cut or promote.
func (s *Server) Do(verb string) {
	s.t.Helper()
	s.run(verb, s.dir)
}

func (s *Server) run(args ...string) string {
	s.t.Helper()
	//nolint:gosec // who runs the test names the script
	out, err := exec.CommandContext(context.WithoutCancel(s.t.Context()), *script, args...).Output()
	if err != nil {
		failed, is := errors.AsType[*exec.ExitError](err)
		if !is {
			failed = &exec.ExitError{}
		}
		s.t.Errorf("%v: %v\n%s", args, err, failed.Stderr) // also from another goroutine, where Fatal may not be called
	}
	return strings.TrimSpace(string(out))
}
