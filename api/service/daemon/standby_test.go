package daemon

import (
	"net"
	"os"
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

// TestASpareServesWhenTheOtherEnds: it says who serves, prints nothing before its turn, and has the same network and
// the same keys then. The first comes back and waits in its turn.
func TestASpareServesWhenTheOtherEnds(t *testing.T) {
	address, err := pg.ParseAddress(storetest.Schema(t))
	if err != nil {
		t.Fatal(err)
	}
	logs := []*logged{new(logged), new(logged)}
	spare := func(n int, dir string) Options {
		return Options{Dir: dir, Store: address, Standby: true, JSON: true, Log: logs[n]}
	}
	dirs := []string{t.TempDir(), t.TempDir()}
	out, stop := running(t, spare(0, dirs[0]))
	var first, second reach
	if err := json.Unmarshal([]byte(line(t, out)), &first); err != nil {
		t.Fatal(err)
	}
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
		logs[mine], logs[other] = new(logged), new(logged)
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line(t, next)), &second); err != nil {
			t.Fatal(err)
		}
		stop = stopNext
		keys, err := Keys{Dir: dirs[other]}.List(t.Context())
		if err != nil || len(keys) != 1 || keys[0].ID != made.ID {
			t.Errorf("turn %d: %+v, %v", n, keys, err)
		}
		if second.BaseURL == first.BaseURL || descriptor(t, second) != descriptor(t, first) {
			t.Errorf("turn %d: another network, or the same address: %+v", n, second)
		}
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
	_, stop := running(t, Options{Dir: t.TempDir(), Store: address, Standby: true, Log: log})
	until(t, log, "standing by")
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
	_, stop := running(t, Options{Dir: t.TempDir(), Store: address, Standby: true, Log: log})
	until(t, log, "standing by: the database cannot be reached")
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
	err = Run(t.Context(), Options{Dir: t.TempDir(), Standby: true, Listen: l.Addr().String(), Log: new(logged)})
	if err == nil || !strings.Contains(err.Error(), "another program listens on "+l.Addr().String()) {
		t.Errorf("%v", err)
	}
}
