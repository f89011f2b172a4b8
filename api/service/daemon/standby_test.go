package daemon

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api/service/access"
	"coffer/api/service/store/pg"
	"coffer/api/service/store/storetest"
)

// until waits for a word of a log.
func until(t *testing.T, log *logged, word string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(log.String(), word); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the log does not say %q:\n%s", word, log)
		}
	}
}

func descriptor(t *testing.T, r reach) string {
	t.Helper()
	raw, err := os.ReadFile(r.NetworkFile)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// said reads a line of JSON.
func said(t *testing.T, from *bufio.Reader) (r reach) {
	t.Helper()
	if err := json.Unmarshal([]byte(line(t, from)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// health is the status and the body of GET /healthz at the port of a process.
func health(t *testing.T, r reach) (int, string) {
	t.Helper()
	pem, err := os.ReadFile(r.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer c.CloseIdleConnections()
	res, err := c.Get(strings.TrimSuffix(r.BaseURL, "/api") + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// share copies the certificate authority of one data directory to another.
func share(t *testing.T, from, to string) {
	t.Helper()
	for _, name := range []string{"ca.pem", "ca-key.pem"} {
		raw, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestASpareServesWhenTheOtherEnds: until then it forwards, and says to whom; it has the same network, the same keys
// and the same address then. The first comes back and waits in its turn.
func TestASpareServesWhenTheOtherEnds(t *testing.T) {
	address, err := pg.ParseAddress(storetest.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	logs := []*logged{new(logged), new(logged)}
	spare := func(n int, dir string) Options {
		return Options{Dir: dir, Store: address, Replica: true, JSON: true, Log: logs[n]}
	}
	dirs := []string{t.TempDir(), t.TempDir()}
	out, stop := running(t, spare(0, dirs[0]))
	first := said(t, out)
	if first.Role != serving {
		t.Errorf("%+v", first)
	}
	share(t, dirs[0], dirs[1])
	_, made, err := Keys{Dir: dirs[0]}.Add(t.Context(), access.KeySpec{PublicTest: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 { // they take turns
		mine, other := n%2, (n+1)%2
		next, stopNext := running(t, spare(other, dirs[other]))
		until(t, logs[other], "standing by: another process serves from the database")
		if !strings.Contains(logs[other].String(), "coffer on ") {
			t.Errorf("it does not say who serves:\n%s", logs[other])
		}
		waits := said(t, next)
		if waits.Role != forwarding || waits.ForwardsTo != strings.TrimSuffix(first.BaseURL, "/api") {
			t.Errorf("turn %d: %+v", n, waits)
		}
		if status, body := health(t, waits); status != http.StatusOK {
			t.Errorf("turn %d: %d %s", n, status, body)
		}
		logs[mine], logs[other] = new(logged), new(logged)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		second := said(t, next)
		stop = stopNext
		keys, err := Keys{Dir: dirs[other]}.List(t.Context())
		if err != nil || len(keys) != 1 || keys[0].ID != made.ID {
			t.Errorf("turn %d: %+v, %v", n, keys, err)
		}
		if second.BaseURL != waits.BaseURL || second.Role != serving || descriptor(t, second) != descriptor(t, first) {
			t.Errorf("turn %d: another network, or another address: %+v", n, second)
		}
		first = second
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestASpareThatIsStoppedEndsInOrder: nothing was wrong.
func TestASpareThatIsStoppedEndsInOrder(t *testing.T) {
	schema := storetest.Schema(t)
	storetest.Open(t, schema)
	address, err := pg.ParseAddress(schema)
	if err != nil {
		t.Fatal(err)
	}
	log := new(logged)
	dir := t.TempDir()
	out, stop := running(t, Options{Dir: dir, Store: address, Replica: true, JSON: true, Log: log})
	until(t, log, "start it with this version, and with --advertise")
	if r := said(t, out); r.Role != forwarding || r.ForwardsTo != "" {
		t.Errorf("%+v", r)
	}
	_, _, err = Keys{Dir: dir}.Add(t.Context(), access.KeySpec{PublicTest: true})
	if _, busy := errors.AsType[*pg.BusyError](err); !busy { // it would begin a file that no service has
		t.Errorf("a key is made there: %v", err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestASpareWaitsForAServerThatIsAway, which is no reason to end.
func TestASpareWaitsForAServerThatIsAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	away := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	address, err := pg.ParseAddress("postgres://coffer@" + away + "/coffer?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	log := new(logged)
	out, stop := running(t, Options{Dir: t.TempDir(), Store: address, Replica: true, Log: log})
	until(t, log, "standing by: the database cannot be opened")
	for _, want := range []string{"waiting  https://127.0.0.1:", "forwards to no process yet"} {
		if got := line(t, out); !strings.Contains(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestASpareKnowsAtOnceThatItsPortIsTaken, and not when its turn comes.
func TestASpareKnowsAtOnceThatItsPortIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = Run(t.Context(), Options{Dir: t.TempDir(), Replica: true, Store: new(pg.Address),
		Listen: l.Addr().String(), Log: new(logged)})
	if err == nil || !strings.Contains(err.Error(), "another program listens on "+l.Addr().String()) {
		t.Errorf("%v", err)
	}
}

// TestASpareOfAnEarlierVersionOnlyForwards once the tables have become newer than it knows, and says so: it does not
// end, and does not serve.
func TestASpareOfAnEarlierVersionOnlyForwards(t *testing.T) {
	schema := storetest.Schema(t)
	address, err := pg.ParseAddress(schema)
	if err != nil {
		t.Fatal(err)
	}
	dirs := []string{t.TempDir(), t.TempDir()}
	newer, stopNewer := running(t, Options{Dir: dirs[0], Store: address, JSON: true, Log: io.Discard})
	said(t, newer)
	share(t, dirs[0], dirs[1])
	storetest.Exec(t, schema, "insert into coffer_schema (version) values (99)")
	log := new(logged)
	older, stop := running(t, Options{Dir: dirs[1], Store: address, Replica: true, JSON: true, Log: log})
	waits := said(t, older)
	if status, body := health(t, waits); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	if err := stopNewer(); err != nil {
		t.Fatal(err)
	}
	until(t, log, "this version cannot take over and only forwards")
	if status, _ := health(t, waits); status != http.StatusServiceUnavailable {
		t.Errorf("while no process serves: %d", status)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// TestASpareSaysWhereOthersReachItOrIsNotStarted.
func TestASpareSaysWhereOthersReachItOrIsNotStarted(t *testing.T) {
	for name, c := range map[string]struct{ listen, advertise, says string }{
		"every address":   {"0.0.0.0:0", "", "name the one by which other processes reach it"},
		"all of IPv6":     {"[::]:0", "", "name the one by which other processes reach it"},
		"no host":         {":0", "", "name the one by which other processes reach it"},
		"a password":      {":0", "https://a:b@h:1", "has a name or a password"},
		"a path":          {":0", "https://h:1/api", "ends after its port: https://h:1"},
		"a slash":         {":0", "https://h:1/", "ends after its port"},
		"a query":         {":0", "https://h:1?x", "ends after its port"},
		"plain HTTP":      {":0", "http://10.0.0.1:8443", "speaks TLS alone: https://10.0.0.1:8443"},
		"no URL":          {":0", "10.0.0.1:8443", "is no URL"},
		"another scheme":  {":0", "ftp://10.0.0.1:8443", "is no URL of HTTPS"},
		"no address":      {":0", "https://", "is no URL of HTTPS"},
		"every address 2": {":0", "https://0.0.0.0:1", "names every address"},
		"port 0":          {":0", "https://h:0", "a port from 1 to 65535"},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		err := Run(t.Context(), Options{Dir: dir, Replica: true, Store: new(pg.Address), Listen: c.listen,
			Advertise: c.advertise, Log: io.Discard})
		wrong, is := errors.AsType[*OptionError](err)
		if !is || !strings.Contains(wrong.Problem, c.says) || !strings.HasPrefix(wrong.Problem, "--advertise: ") ||
			strings.Contains(wrong.Problem, "a:b") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the directory was made", name)
		}
	}
}
