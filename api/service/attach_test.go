package service_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/api/service"
	"coffer/api/service/store"
)

func attach(t testing.TB, dir string) *service.Attachment {
	t.Helper()
	o := options(nil)
	o.Store = nil
	a, err := service.OpenOrAttach(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func TestASecondProcessReachesTheFirstThroughThePrivateSocket(t *testing.T) {
	dir := t.TempDir()
	first, second := attach(t, dir), attach(t, dir)
	if first.Attached() || !second.Attached() || second.Service() != nil {
		t.Fatalf("attached: first %t, second %t", first.Attached(), second.Attached())
	}
	if first.Network.ID != second.Network.ID {
		t.Errorf("network ids %s and %s", first.Network.ID, second.Network.ID)
	}
	info, err := os.Stat(filepath.Join(dir, service.SocketFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v: the socket must have mode 0600", info, err)
	}
	_, one := get(t, first, first.BaseURL+balancesPath, first.APIKey)
	status, two := get(t, second, second.BaseURL+balancesPath, "a key that the first process does not know")
	if status != 200 || one != two {
		t.Errorf("%d: over the socket\n%s\nin process\n%s", status, two, one)
	}
}

func TestTheOpenPortDoesNotAnswerWithPins(t *testing.T) {
	a := attach(t, t.TempDir())
	if status, _ := get(t, a, a.BaseURL+"/network.json", a.APIKey); status != 404 {
		t.Errorf("in process network.json is answered with %d: pins must not come from an answer", status)
	}
}

func TestTheSecondTakesOverWhenTheFirstEnds(t *testing.T) {
	dir := t.TempDir()
	first, second := attach(t, dir), attach(t, dir)
	_, before := get(t, first, first.BaseURL+balancesPath, first.APIKey)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if status, after := get(t, second, second.BaseURL+balancesPath, second.APIKey); status != 200 ||
				after != before {
				t.Errorf("%d %s", status, after)
			}
		})
	}
	group.Wait()
	if second.Attached() {
		t.Error("the second process is still attached")
	}
	third := attach(t, dir)
	if status, _ := get(t, third, third.BaseURL+balancesPath, ""); !third.Attached() || status != 200 {
		t.Errorf("a third process: attached %t, %d", third.Attached(), status)
	}
}

func TestASocketThatADeadProcessLeftIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, service.SocketFile), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false) // as after kill -9
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	first, second := attach(t, dir), attach(t, dir)
	if first.Attached() || !second.Attached() {
		t.Errorf("attached: first %t, second %t", first.Attached(), second.Attached())
	}
}

func TestAHolderThatCannotBeReachedIsNamedWithinThreeSeconds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{Holder: "coffer serve"})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	began := time.Now()
	_, err = service.OpenOrAttach(context.Background(), dir, options(nil))
	if took := time.Since(began); took < 2*time.Second || took > 5*time.Second {
		t.Errorf("it took %s, expected about 3 s", took)
	}
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "coffer serve (process id ") {
		t.Errorf("%v, expected who holds the database", err)
	}
}

func TestTheWaitForAHolderEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	db, err := store.OpenBolt(filepath.Join(dir, service.DatabaseFile), store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := service.OpenOrAttach(ctx, dir, options(nil)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, expected the deadline", err)
	}
}

func TestAfterCloseNothingIsSent(t *testing.T) {
	dir := t.TempDir()
	a := attach(t, dir)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.RoundTrip(request(t, context.Background(), "GET", a.BaseURL+"/assets/list", "")); !errors.Is(err,
		store.ErrClosed) {
		t.Errorf("%v, expected ErrClosed", err)
	}
	if _, err := os.Stat(filepath.Join(dir, service.SocketFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v: the socket was left behind", err)
	}
}

// The process that holds the database has the endpoints; those that are attached to it have none.
func TestTheEndpointsGoToWhoeverHoldsTheDatabase(t *testing.T) {
	dir, at := t.TempDir(), freePort(t)
	open := func() *service.Attachment {
		o := options(nil)
		o.Store, o.Nodes = nil, &service.NodesOptions{Listen: at}
		a, err := service.OpenOrAttach(t.Context(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close() })
		return a
	}
	first, second := open(), open()
	list, err := first.Nodes()
	if err != nil || len(list) == 0 || list[0].HTTP != "http://"+at+"/1" {
		t.Fatalf("%v, %v", list, err)
	}
	if list, err := second.Nodes(); !errors.Is(err, service.ErrNoNodes) || list != nil {
		t.Errorf("attached: %v, %v", list, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if status, _ := get(t, second, second.BaseURL+balancesPath, second.APIKey); status != 200 || second.Attached() {
		t.Fatalf("%d, attached %t", status, second.Attached())
	}
	if list, err = second.Nodes(); err != nil || len(list) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	if got := rpc(t, list[0].HTTP, "eth_chainId"); !strings.Contains(got, `"result":"0x1"`) {
		t.Error(got)
	}
}

// A taken port keeps no wallet from its service.
func TestAServiceRunsWithoutItsEndpointsWhereThePortIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	o := options(nil)
	o.Store, o.Nodes = nil, &service.NodesOptions{Listen: l.Addr().String()}
	a, err := service.OpenOrAttach(t.Context(), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if list, err := a.Nodes(); err == nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
	if status, _ := get(t, a, a.BaseURL+balancesPath, a.APIKey); status != 200 {
		t.Errorf("%d", status)
	}
}

// freePort is a free address of this machine.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
