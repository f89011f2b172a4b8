//go:build unix

// Package renew_test makes networks of earlier programs anew. testdata/e349d2c5.tar.zst is the data directory of a
// service that revision e349d2c5 ran until five quotes stood where the table of fixture says.
package renew_test

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"
	"github.com/klauspost/compress/zstd"
	bolt "go.etcd.io/bbolt"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/service"
	"coffer/api/service/devnet"
	"coffer/api/service/quotestore"
	"coffer/api/service/renew"
	"coffer/api/service/store"
)

// state is a quote of the fixture: whose it is, where it stood and how it has to end.
type state struct{ id, account, solana, stood, ends string }

func fixture() map[string]state {
	return map[string]state{
		"completed": {"0xce9305e93612362481b97d352548ce109d5a42e3c4ab4a02b5af08d31a18668d",
			"0x58cc703e1aE6c4537ed70f8043B89EA4997E5638", "EnwVtDitKQo5LQ4DSxZeBpELm4eZa7KervsUvBQf2mYa",
			api.StatusCompleted, api.StatusCompleted},
		"nothing deposited": {"0xbde4b2957c2b26ce2595c5e6955f57c262c72ae94e1a8fe3d32604e5459b8267",
			"0x58A8Da9dF45513F601d4C176C6ad151Fb0ACF8a4", "2WimMZXQzDp8Uhsknh8bHk3ozD64darWAqVVEAZ6wh1o",
			api.StatusPending, api.StatusFailed},
		"deposited": {"0xa75041f658775c1e5633d30513981650514227d9a3dddfda67ee2d58ede309d1",
			"0x59E721A38e75A017a3ebD6cda7b4C1e6aD54D287", "9hNqf3EuA7Jeb6wacbC596sUdN44bjPLq7UxeR3bCume",
			api.StatusInProgress, api.StatusRefunded},
		"deposited on Solana": {"0xfb8ec66d338c6b1366b185e5bede4015c5da4abaa62d87c5f9ff4afcf53f0604",
			"0xBE9645A81B6F75F6aaB406D97335cEe310FE655b", "5JpSRiewYyvPfgrU2tZjXdCshKZq6PixeuUNFpkdsgD9",
			api.StatusInProgress, api.StatusRefunded},
		"delivered": {"0xde957527be6099334ce8f944e81236f8180e6a0d22444d06836962b35bae9d69",
			"0x969Aa637902ecbE527967883F3300d79527DEeBC", "4hxpB8y3igQMSXYjnoKaN8NKJR42bydnVBW9dLuEtydj",
			api.StatusExecuted, api.StatusCompleted},
	}
}

const fixtureID = "0x8f8c0679948b3c9f89aa26ef8635782368403478f90475a3210b2c62cf45ed87"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// unpack puts the fixture into a directory.
func unpack(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must(t, os.Chmod(dir, 0o700))
	f, err := os.Open("testdata/e349d2c5.tar.zst")
	must(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	must(t, err)
	defer z.Close()
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		must(t, err)
		data, err := io.ReadAll(in)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), data, 0o600))
	}
}

// clock is an hour after the fixture.
func clock() time.Time { return time.Unix(1_760_003_600, 0) }

func options(step func(string)) service.Options {
	return service.Options{Clock: clock, Random: rand.NewChaCha8([32]byte{7}), Fund: true, AfterStep: step}
}

// open opens the service of a directory until the test ends, or end is called.
func open(t testing.TB, dir string) (a *service.Attachment, end func()) {
	t.Helper()
	a, err := service.OpenOrAttach(t.Context(), dir, options(nil))
	must(t, err)
	closed := false
	end = func() {
		if !closed {
			closed = true
			must(t, a.Close())
		}
	}
	t.Cleanup(end)
	return a, end
}

// get is the service's answer.
func get(t testing.TB, a *service.Attachment, path string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.BaseURL+path, http.NoBody)
	must(t, err)
	req.Header.Set("x-api-key", a.APIKey)
	res, err := a.RoundTrip(req)
	must(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	must(t, err)
	if res.StatusCode != http.StatusOK {
		t.Errorf("%s: %d %s", path, res.StatusCode, b)
	}
	return b
}

func statusOf(t testing.TB, a *service.Attachment, id string) (s api.ExecutionStatus) {
	t.Helper()
	must(t, json.Unmarshal(get(t, a, "/v3/status/get-execution-status?quoteId="+id), &s))
	return s
}

// told is everything that the service tells about the quotes of the fixture.
func told(t testing.TB, a *service.Attachment) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, q := range fixture() {
		out[name] = string(get(t, a, "/v3/status/get-execution-status?quoteId="+q.id))
		for _, account := range []string{q.account, q.solana} {
			out[name+" of "+account] = string(get(t, a, "/v3/status/get-tx-history?user="+account))
		}
	}
	return out
}

// earlierBalances is what the accounts of the fixture have on the network of a store.
func earlierBalances(t testing.TB, dir string, d network.Descriptor, account string) map[string]string {
	t.Helper()
	all, err := service.EarlierBalances(dir, d, []string{account})
	must(t, err)
	out := map[string]string{}
	for _, b := range all {
		out[b.Asset.String()] = b.Value.String()
	}
	return out
}

func TestWhatWasOpenOnTheEarlierNetworkEndsOnItsChains(t *testing.T) {
	t.Parallel()
	dir := unpack(t)
	a, end := open(t, dir)
	if a.Network.ID == fixtureID || a.Network.Version != network.Version {
		t.Fatalf("network %s of version %d", a.Network.ID, a.Network.Version)
	}
	for name, q := range fixture() {
		s := statusOf(t, a, q.id)
		if s.Status != q.ends || (s.FailReason != "") != (q.ends == api.StatusRefunded || q.ends == api.StatusFailed) {
			t.Errorf("%s: %s %q, expected %s", name, s.Status, s.FailReason, q.ends)
		}
		if deposits := len(s.OriginChainOperations); q.ends == api.StatusRefunded && deposits < 2 {
			t.Errorf("%s: %d transactions, expected deposits and refunds", name, deposits)
		}
		for _, op := range append(s.OriginChainOperations, s.DestinationChainOperations...) {
			page := explorer(t, a, op)
			if !strings.Contains(page, "the one before (") || !strings.Contains(page, op.Hash) {
				t.Errorf("%s: the page of %s does not tell the network: %s", name, op.Hash, page)
			}
		}
	}
	all := renew.List(dir, service.NetworkFile, a.Network)
	if len(all) != 1 || all[0].Network.ID != fixtureID {
		t.Fatalf("earlier networks: %+v", all)
	}
	// What a refunded user had in escrow is there again; the fixture gave each the same, the second never paid.
	whole := earlierBalances(t, dir, a.Network, fixture()["nothing deposited"].account)
	if back := earlierBalances(t, dir, a.Network, fixture()["deposited"].account); !maps.Equal(whole, back) ||
		len(whole) == 0 {
		t.Errorf("the refunded user has %v, expected %v", back, whole)
	}
	onSolana := earlierBalances(t, dir, a.Network, fixture()["nothing deposited"].solana)
	if back := earlierBalances(t, dir, a.Network, fixture()["deposited on Solana"].solana); !maps.Equal(onSolana,
		back) || len(onSolana) == 0 {
		t.Errorf("the user who was refunded on Solana has %v, expected %v", back, onSolana)
	}
	end()
	kept := sum(t, filepath.Join(all[0].Dir, service.DatabaseFile))
	before := sum(t, filepath.Join(all[0].Dir, service.NetworkFile))
	a, _ = open(t, dir)
	_ = told(t, a)
	if sum(t, filepath.Join(all[0].Dir, service.DatabaseFile)) != kept ||
		sum(t, filepath.Join(all[0].Dir, service.NetworkFile)) != before {
		t.Error("the earlier network was written")
	}
	if got, left := service.Earlier(dir, a.Network); len(got) != 1 || len(left) != 0 {
		t.Errorf("%d earlier networks after another start, left behind: %v", len(got), left)
	}
}

func explorer(t testing.TB, a *service.Attachment, op api.OperationRef) string {
	t.Helper()
	_, path, found := strings.Cut(op.ExplorerURL, "/explorer/")
	if !found {
		t.Fatalf("no page: %+v", op)
	}
	return string(get(t, a, "/explorer/"+path))
}

func sum(t testing.TB, path string) [sha256.Size]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	must(t, err)
	return sha256.Sum256(raw)
}

// TestTheNewNetworkHasTheSameKeysAndNewTestFunds: the accounts keep their addresses, and what history says of an
// account of the network before does not keep test funds from it.
func TestTheNewNetworkHasTheSameKeysAndNewTestFunds(t *testing.T) {
	t.Parallel()
	dir := unpack(t)
	raw, err := os.ReadFile(filepath.Join(dir, service.NetworkFile))
	must(t, err)
	old, err := network.Decode(raw)
	must(t, err)
	a, _ := open(t, dir)
	if a.Network.Pins.Operator != old.Pins.Operator || a.Network.Pins.CoSigner != old.Pins.CoSigner ||
		a.Network.Pins.SolanaVault != old.Pins.SolanaVault {
		t.Errorf("other keys: %+v, they were %+v", a.Network.Pins, old.Pins)
	}
	var b api.AggregatedBalance
	must(t, json.Unmarshal(get(t, a, "/v3/balances/aggregated-balance?account=eip155:1:"+
		fixture()["completed"].account+"&aggregatedAssetId=ob:usdc"), &b))
	if len(b.BalanceByAggregatedAsset) != 1 || b.BalanceByAggregatedAsset[0].Balance == "0" {
		t.Errorf("no test funds: %+v", b)
	}
}

const (
	killDir  = "COFFER_RENEW_DIR"
	killStep = "COFFER_RENEW_STEP"
)

// TestKilledAfterAnyStepTheDirectoryHasTheOldNetworkOrTheNew: whatever the moment, what the next start tells of every
// quote is the same, and the earlier network is there whole.
func TestKilledAfterAnyStepTheDirectoryHasTheOldNetworkOrTheNew(t *testing.T) {
	if dir := os.Getenv(killDir); dir != "" {
		die(t, dir)
		return
	}
	t.Parallel()
	clean, _ := open(t, unpack(t))
	want := told(t, clean)
	begun, steps := false, 0
	for ; !begun; steps++ {
		dir := unpack(t)
		child := exec.Command(os.Args[0], "-test.run=^TestKilledAfterAnyStepTheDirectoryHasTheOldNetworkOrTheNew$")
		child.Env = append(os.Environ(), killDir+"="+dir, killStep+"="+strconv.Itoa(steps+1))
		out, err := child.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("step %d: not killed: %v\n%s", steps+1, err, out)
		}
		step := string(bytes.TrimSpace(out))
		begun = strings.HasSuffix(step, "begun")
		if err := asItIs(t, dir); begun != (err == nil) || !begun && !errors.Is(err, devnet.ErrVersion) {
			t.Errorf("killed after %q the directory has %v", step, err)
		}
		a, end := open(t, dir)
		if got := told(t, a); !maps.Equal(want, got) {
			t.Errorf("killed after %q: %v\nexpected %v", step, got, want)
		}
		if all, left := service.Earlier(dir, a.Network); len(all) != 1 || all[0].ID != fixtureID || len(left) != 0 {
			t.Errorf("killed after %q: earlier networks %v, left behind %v", step, all, left)
		}
		end()
		if left, _ := filepath.Glob(filepath.Join(dir, "*.new*")); len(left) > 0 {
			t.Errorf("killed after %q: left over: %v", step, left)
		}
	}
	if steps < 9 {
		t.Errorf("%d steps, expected one for every commit", steps)
	}
}

// asItIs opens the network of a directory and changes nothing.
func asItIs(t testing.TB, dir string) error {
	t.Helper()
	s, err := store.OpenReadOnly(filepath.Join(dir, service.DatabaseFile))
	must(t, err)
	_, err = devnet.Open(s, devnet.Options{Clock: clock, Kind: network.Embedded})
	must(t, s.Close())
	return err
}

// die renews a directory and kills its own process after a step.
func die(t testing.TB, dir string) {
	n := 0
	_, err := service.OpenOrAttach(context.Background(), dir, options(func(step string) {
		if n++; strconv.Itoa(n) == os.Getenv(killStep) {
			fmt.Println(step)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}))
	t.Fatalf("lived on after %d steps: %v", n, err)
}

func TestWithoutItsDescriptorTheDataIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"another network's": func(path string) error {
			raw, err := os.ReadFile("../../network/testdata/v1.json")
			return errors.Join(err, os.WriteFile(path, raw, 0o600))
		},
	} {
		dir := unpack(t)
		must(t, spoil(filepath.Join(dir, service.NetworkFile)))
		_, err := service.OpenOrAttach(t.Context(), dir, options(nil))
		if !errors.Is(err, devnet.ErrDescriptor) {
			t.Errorf("%s: %v, expected ErrDescriptor", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "earlier-*")); len(left) != 0 ||
			!errors.Is(asItIs(t, dir), devnet.ErrVersion) {
			t.Errorf("%s: something was moved: %v", name, left)
		}
	}
}

// TestTheEarlierDatabaseIsHeldUntilTheNewOneIsInPlace: an older program that came in between would write to what is
// only read from then on.
func TestTheEarlierDatabaseIsHeldUntilTheNewOneIsInPlace(t *testing.T) {
	t.Parallel()
	dir, held := unpack(t), errors.New("never begun")
	a, err := service.OpenOrAttach(t.Context(), dir, options(func(step string) {
		if step == "begun" {
			kept, _ := filepath.Glob(filepath.Join(dir, "earlier-*", service.DatabaseFile))
			_, held = store.OpenBolt(kept[0], store.BoltOptions{Wait: time.Millisecond})
		}
	}))
	must(t, err)
	must(t, a.Close())
	if !errors.Is(held, store.ErrInUse) {
		t.Errorf("%v, expected ErrInUse", held)
	}
}

// edit changes a quote in the database of a directory.
func edit(t testing.TB, path, id string, change func(*quotestore.Quote)) {
	t.Helper()
	s, err := store.OpenBolt(path, store.BoltOptions{})
	must(t, err)
	book, err := quotestore.Open(s, quotestore.Options{Clock: clock, Random: rand.NewChaCha8([32]byte{9})})
	must(t, err)
	q, err := book.Quote(t.Context(), id)
	must(t, err)
	next := q.Clone()
	change(next)
	must(t, book.Advance(t.Context(), q, next))
	must(t, s.Close())
}

// TestWhatCannotEndKeepsNothingElseFromIt: a deposit that the escrow does not know, and a chain that is not there. The
// directory opens, both are named in the log and to whoever is asked about the new network, and a copy of what is kept
// can be opened to try again.
func TestWhatCannotEndKeepsNothingElseFromIt(t *testing.T) {
	t.Parallel()
	dir, stranger := unpack(t), common.Address{0xee}
	owner, stuck, broken := common.Address{}, fixture()["deposited"].id, fixture()["nothing deposited"].id
	edit(t, filepath.Join(dir, service.DatabaseFile), stuck, func(q *quotestore.Quote) {
		owner, q.Owner = q.Owner, stranger
	})
	edit(t, filepath.Join(dir, service.DatabaseFile), broken, func(q *quotestore.Quote) { q.Legs[0].ChainID = 4242 })
	var log bytes.Buffer
	o := options(nil)
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	a, err := service.OpenOrAttach(t.Context(), dir, o)
	must(t, err)
	defer func() { must(t, a.Close()) }()
	for name, q := range fixture() {
		if q.id == stuck || q.id == broken {
			continue
		}
		if s := statusOf(t, a, q.id); s.Status != q.ends {
			t.Errorf("%s: %s, expected %s", name, s.Status, q.ends)
		}
	}
	all := renew.List(dir, service.NetworkFile, a.Network)
	_, left := service.Earlier(dir, a.Network)
	told := strings.Join(left, "\n")
	if len(all) != 1 || len(left) != 2 {
		t.Fatalf("left behind on %d networks:\n%s", len(all), told)
	}
	for _, id := range []string{stuck, broken} {
		if !strings.Contains(told, id) || !strings.Contains(log.String(), id+" is ") {
			t.Errorf("%s is not named:\n%s\n%s", id, told, &log)
		}
	}
	if !strings.Contains(told, "of quote "+stuck) || !strings.Contains(told, "broke down") {
		t.Errorf("not said why:\n%s", told)
	}
	again := t.TempDir()
	must(t, errors.Join(os.Chmod(again, 0o700), os.CopyFS(again, os.DirFS(all[0].Dir))))
	edit(t, filepath.Join(again, service.DatabaseFile), stuck, func(q *quotestore.Quote) { q.Owner = owner })
	b, _ := open(t, again)
	if s := statusOf(t, b, stuck); s.Status != api.StatusRefunded {
		t.Errorf("the second try: %+v", s)
	}
	if _, left := service.Earlier(again, b.Network); len(left) != 1 || !strings.Contains(left[0], broken) {
		t.Errorf("left behind after the second try: %v", left)
	}
}

// raw reads or changes the bytes of a quote's record behind the store's back.
func raw(t testing.TB, path, id string, change func([]byte)) (record []byte) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoFreelistSync: true})
	must(t, err)
	must(t, db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("book-quote"))
		record = bytes.Clone(b.Get([]byte(id)))
		change(record)
		return b.Put([]byte(id), record)
	}))
	must(t, db.Close())
	return record
}

// TestADamagedRecordIsNamedAndItsBytesStay: of a quote that was open nobody else would ever say a word.
func TestADamagedRecordIsNamedAndItsBytesStay(t *testing.T) {
	t.Parallel()
	dir, id := unpack(t), fixture()["deposited"].id
	path := filepath.Join(dir, service.DatabaseFile)
	edit(t, path, id, func(*quotestore.Quote) {}) // records get their checksums
	damaged := raw(t, path, id, func(b []byte) { b[0] ^= 1 })
	a, end := open(t, dir)
	all := renew.List(dir, service.NetworkFile, a.Network)
	if len(all) != 1 || len(all[0].Left) != 1 || !strings.Contains(all[0].Left[0], id) ||
		!strings.Contains(all[0].Left[0], "damaged") {
		t.Fatalf("earlier networks: %+v", all)
	}
	if s := statusOf(t, a, fixture()["deposited on Solana"].id); s.Status != api.StatusRefunded {
		t.Errorf("another quote: %+v", s)
	}
	end()
	if kept := raw(t, filepath.Join(all[0].Dir, service.DatabaseFile), id, func([]byte) {}); !bytes.Equal(kept,
		damaged) {
		t.Errorf("the record is %x, it was %x", kept, damaged)
	}
}

// TestANetworkOfAnyGenerationIsMadeAnew: one that this program's descriptor describes, too, and one after the other.
func TestANetworkOfAnyGenerationIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := unpack(t)
	path := filepath.Join(dir, service.DatabaseFile)
	now := devnet.Options{Clock: clock, Random: rand.NewChaCha8([32]byte{8}), Kind: network.Embedded}
	run := func(time uint64) network.Descriptor {
		t.Helper()
		o := now
		o.Time = time
		must(t, renew.Run(t.Context(), renew.Options{Dir: dir, Database: service.DatabaseFile,
			Descriptor: service.NetworkFile, Installation: o, Log: slog.New(slog.DiscardHandler)}))
		s, err := store.OpenBolt(path, store.BoltOptions{})
		must(t, err)
		in, err := devnet.Open(s, o)
		must(t, err)
		raw, err := in.Encode()
		must(t, errors.Join(err, s.Close(), os.WriteFile(filepath.Join(dir, service.NetworkFile), raw, 0o600)))
		return in.Descriptor
	}
	second := run(devnet.Time + 7)
	third := run(devnet.Time)
	if second.ID == third.ID || second.Installation != third.Installation {
		t.Errorf("generations %s and %s", second.ID, third.ID)
	}
	ids := map[string]bool{}
	for _, k := range renew.List(dir, service.NetworkFile, third) {
		ids[k.Network.ID] = true
	}
	if len(ids) != 2 || !ids[fixtureID] || !ids[second.ID] {
		t.Errorf("earlier networks %v", ids)
	}
	a, _ := open(t, dir)
	if s := statusOf(t, a, fixture()["deposited"].id); s.Status != api.StatusRefunded {
		t.Errorf("a record of two generations ago: %+v", s)
	}
}

// TestABackupThatIsMadeAnewOnceMoreReplacesNothing: an older copy of the database is put back and started.
func TestABackupThatIsMadeAnewOnceMoreReplacesNothing(t *testing.T) {
	t.Parallel()
	dir := unpack(t)
	backup, err := os.ReadFile(filepath.Join(dir, service.DatabaseFile))
	must(t, err)
	descriptor, err := os.ReadFile(filepath.Join(dir, service.NetworkFile))
	must(t, err)
	a, end := open(t, dir)
	first := renew.List(dir, service.NetworkFile, a.Network)
	end()
	kept := sum(t, filepath.Join(first[0].Dir, service.DatabaseFile))
	must(t, os.WriteFile(filepath.Join(dir, service.DatabaseFile), backup, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, service.NetworkFile), descriptor, 0o600))
	again, _ := open(t, dir)
	if again.Network.ID != a.Network.ID {
		t.Errorf("the network is %s now, it was %s", again.Network.ID, a.Network.ID)
	}
	user := fixture()["completed"].account
	once := earlierBalances(t, dir, a.Network, user)
	if twice, err := service.EarlierBalances(dir, a.Network, []string{user, user}); err != nil ||
		len(twice) != len(once) || len(once) == 0 {
		t.Errorf("%d balances of a network that was kept twice, it had %d (%v)", len(twice), len(once), err)
	}
	if all := renew.List(dir, service.NetworkFile, a.Network); len(all) != 2 ||
		sum(t, filepath.Join(first[0].Dir, service.DatabaseFile)) != kept {
		t.Errorf("what was kept first was replaced: %v", all)
	}
}

// TestANetworkOfAnotherInstallationIsNotAnEarlierOne: its descriptor may name the operator of this one, as no id of
// version 2 covers it.
func TestANetworkOfAnotherInstallationIsNotAnEarlierOne(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "looks like a [pattern")
	put := func(kind network.Kind, installation, genesis string) network.Descriptor {
		t.Helper()
		d, err := network.Descriptor{
			Version: 2, Kind: kind, Installation: installation, Chains: []string{"eip155:1"},
			Genesis: map[string]string{"eip155:1": genesis}, Pins: network.Pins{Operator: common.Address{7}},
			Deployments: []network.Deployment{{Attesters: []common.Address{{1}}, Threshold: 1}},
		}.WithID()
		must(t, err)
		raw, err := d.Encode()
		must(t, err)
		at := filepath.Join(dir, "earlier-"+d.ID[2:18])
		must(t, errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "network.json"), raw, 0o600)))
		return d
	}
	own, another := "0x"+strings.Repeat("ab", 32), "0x"+strings.Repeat("cd", 32)
	now, before := put(network.Embedded, own, "0x02"), put(network.Embedded, own, "0x01")
	put(network.Embedded, another, "0x01")
	put(network.Real, "", "0x01")
	if all := renew.List(dir, "network.json", now); len(all) != 1 || all[0].Network.ID != before.ID {
		t.Errorf("earlier networks: %+v", all)
	}
}

// TestWhatWasSentIsNotRefunded: on the network that ends something went out whose outcome nobody has written down.
func TestWhatWasSentIsNotRefunded(t *testing.T) {
	t.Parallel()
	dir, sent := unpack(t), fixture()["deposited"].id
	edit(t, filepath.Join(dir, service.DatabaseFile), sent, func(q *quotestore.Quote) { q.Sent = "target" })
	a, _ := open(t, dir)
	if _, left := service.Earlier(dir, a.Network); len(left) != 1 || !strings.Contains(left[0], sent) ||
		!strings.Contains(left[0], "target was sent") {
		t.Errorf("%q", left)
	}
}
