package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

var _ verify.History = (*journal.Journal)(nil)

const networkID = "0xaa"

func now() time.Time { return time.Unix(1_760_000_000, 0) }

// counter is a repeatable source of ids.
type counter byte

func (c *counter) Read(p []byte) (int, error) {
	*c++
	for i := range p {
		p[i] = byte(*c)
	}
	return len(p), nil
}

func options() journal.Options {
	return journal.Options{Network: networkID, Kind: network.Embedded, Clock: now, Random: new(counter),
		Holder: "a test"}
}

func dirOf(t testing.TB) string { return filepath.Join(t.TempDir(), "wallet") }

func open(t testing.TB, dir string, o journal.Options) *journal.Journal {
	t.Helper()
	j, err := journal.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

var account = common.HexToAddress("0x00000000000000000000000000000000000000a1")

func signature(role string, lane uint16, seq uint64, until int64) journal.Signature {
	n := op.Nonce{Validator: common.Address{9}, Key: lane, Sequence: seq}
	return journal.Signature{
		Role: role, Chain: "eip155:8453", ChainID: 8453, Sender: account.Hex(), Lane: lane, Nonce: n.Big().String(),
		OpHash: fmt.Sprintf("0x%s%d", role, seq),
		Digest: "0x02", Signature: "0x03", ValidUntil: until,
		Spend: []journal.Spend{{Asset: "eip155:8453/slip44:60", Amount: "1"}},
	}
}

// step is one record of a full run.
type step struct {
	state journal.State
	entry journal.Entry
}

func fullRun() []step {
	until := now().Unix() + 600
	return []step{
		{journal.Prepared, journal.Entry{Document: []byte(`{"p":1}`)}},
		{journal.Signed, journal.Entry{Signatures: []journal.Signature{signature("prepared", 0, 4, until)},
			Recipients: []string{"0x00000000000000000000000000000000000000b2"}}},
		{journal.Quoted, journal.Entry{Document: []byte(`{"q":1}`), QuoteID: "0xAB", Expires: now().Unix() + 30}},
		{journal.QuoteSigned, journal.Entry{QuoteID: "0xAB",
			Signatures: []journal.Signature{signature("funding", 1, 7, until)}}},
		{journal.Executing, journal.Entry{QuoteID: "0xAB", BodyHash: "00ff"}},
		{journal.Acked, journal.Entry{QuoteID: "0xAB"}},
		{journal.Done, journal.Entry{QuoteID: "0xAB", Outcome: "COMPLETED",
			Used: []string{"0xprepared4", "0xfunding7"}}},
	}
}

// withQuote puts another quote id into the records.
func withQuote(id string, steps []step) []step {
	for i := range steps {
		if steps[i].entry.QuoteID != "" {
			steps[i].entry.QuoteID = id
		}
	}
	return steps
}

func run(t testing.TB, j *journal.Journal, steps []step) string {
	t.Helper()
	id, err := j.Begin([]byte(`{"version":1}`), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if err := j.Append(id, s.state, s.entry); err != nil {
			t.Fatalf("%s: %v", s.state, err)
		}
	}
	return id
}

func TestJ1_EveryStateSurvivesAReopening(t *testing.T) {
	for n := range len(fullRun()) + 1 {
		dir := dirOf(t)
		j := open(t, dir, options())
		id := run(t, j, fullRun()[:n])
		want := j.Operations()
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		k := open(t, dir, options())
		got := k.Operations()
		if len(got) != 1 || fmt.Sprint(got) != fmt.Sprint(want) || got[0].ID != id {
			t.Fatalf("after %d records: %+v, want %+v", n, got, want)
		}
	}
}

func TestJ1_FilesArePrivate(t *testing.T) {
	dir := dirOf(t)
	open(t, dir, options())
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "journal"): 0o600,
		filepath.Join(dir, "journal.lock"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode().Perm(), err)
		}
	}
	loose := filepath.Join(t.TempDir(), "loose")
	if err := os.Mkdir(loose, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(loose, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(loose, options()); err == nil {
		t.Error("a directory that others may write to was accepted")
	}
}

func TestJ1_ASecondWriterIsNamedTheFirstAndMayRead(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	run(t, j, fullRun()[:2])
	o := options()
	o.Patience = time.Millisecond
	k := open(t, dir, o)
	release, err := j.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = k.Begin(nil, [32]byte{})
	if !errors.Is(err, journal.ErrLocked) || !strings.Contains(err.Error(),
		fmt.Sprintf("a test, process %d", os.Getpid())) {
		t.Fatal(err)
	}
	r, err := journal.OpenReadOnly(dir, options())
	if err != nil || len(r.Operations()) != 1 {
		t.Fatal(err)
	}
	if _, err := r.Begin(nil, [32]byte{}); !errors.Is(err, journal.ErrReadOnly) {
		t.Error("a reader may write:", err)
	}
	r.Close()
	release()
	run(t, k, fullRun()[:1])
	if n := len(j.Operations()); n != 2 {
		t.Errorf("%d operations are seen by the first process", n)
	}
}

func TestJ1_ASecondProcessIsKeptOutAndADeadOneIsNot(t *testing.T) {
	dir := dirOf(t)
	if os.Getenv("JOURNAL_CHILD") != "" {
		j, err := journal.Open(os.Getenv("JOURNAL_CHILD"), options())
		if err != nil {
			os.Exit(3)
		}
		run(t, j, fullRun()[:3])
		if _, err := j.Hold(t.Context()); err != nil {
			os.Exit(3)
		}
		os.Stdout.WriteString("ready\n")
		var b [1]byte
		os.Stdin.Read(b[:]) // holds the lock until killed
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=TestJ1_ASecondProcessIsKeptOutAndADeadOneIsNot")
	cmd.Env = append(os.Environ(), "JOURNAL_CHILD="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 6)
	if _, err := out.Read(line); err != nil || string(line) != "ready\n" {
		t.Fatalf("%q %v", line, err)
	}
	o := options()
	o.Patience = time.Millisecond
	if _, err := journal.Open(dir, o); !errors.Is(err, journal.ErrLocked) ||
		!strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Error(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	j := open(t, dir, options())
	if ops := j.Operations(); len(ops) != 1 || ops[0].State != journal.Quoted {
		t.Errorf("%+v", ops)
	}
}

func TestJ1_AJournalBelongsToOneNetworkAndVersion(t *testing.T) {
	dir := dirOf(t)
	open(t, dir, options()).Close()
	o := options()
	o.Network = "0xbb"
	if _, err := journal.Open(dir, o); err == nil {
		t.Error("another network's journal was opened")
	}
	path := filepath.Join(dir, "journal")
	if err := os.WriteFile(path, []byte("PK\x03\x04 something else entirely, long enough for a header"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Open(dir, options()); err == nil {
		t.Error("a foreign file was opened")
	}
}

func TestJ2_RecordsComeInOrderOrNotAtAll(t *testing.T) {
	j := open(t, dirOf(t), options())
	id := run(t, j, nil)
	for _, s := range []journal.State{journal.Signed, journal.QuoteSigned, journal.Executing, journal.Acked,
		journal.Done, journal.NotExecuted, journal.Intent, "NONSENSE"} {
		if err := j.Append(id, s, journal.Entry{}); err == nil {
			t.Errorf("%s after INTENT was recorded", s)
		}
	}
	if err := j.Append("nobody", journal.Prepared, journal.Entry{}); err == nil {
		t.Error("an unknown operation was recorded")
	}
	if err := j.Append(id, journal.Prepared, journal.Entry{}); err != nil {
		t.Fatal(err)
	}
	if err := j.Append(id, journal.Signed, journal.Entry{Signatures: []journal.Signature{{Nonce: "x"}}}); err == nil {
		t.Error("a signature without nonce was recorded")
	}
	done := run(t, j, fullRun())
	for _, s := range []journal.State{journal.Prepared, journal.Abandoned, journal.Executing, journal.Done} {
		if err := j.Append(done, s, journal.Entry{}); err == nil {
			t.Errorf("%s after the end was recorded", s)
		}
	}
	sent := run(t, j, withQuote("0xAD", fullRun()[:5]))
	if err := j.Append(sent, journal.Abandoned, journal.Entry{}); err == nil {
		t.Error("what was sent was abandoned")
	}
}

func TestJ4_OutstandingSignaturesAreListedUntilUsedOrOver(t *testing.T) {
	j := open(t, dirOf(t), options())
	run(t, j, fullRun()[:4])
	list := j.Outstanding(now())
	if len(list) != 2 || list[0].Role != "prepared" || !strings.Contains(list[0].Void, list[0].Nonce) ||
		list[0].Spend[0].Amount != "1" {
		t.Fatalf("%+v", list)
	}
	if n := len(j.Outstanding(now().Add(661 * time.Second))); n != 0 {
		t.Errorf("%d left after the window", n)
	}
	if n := len(j.Outstanding(now().Add(659 * time.Second))); n != 2 {
		t.Errorf("%d left within the margin of the window", n)
	}
	live := j.LiveNonces(account, 8453, 1, now())
	if len(live) != 1 || live[0].Cmp(op.Nonce{Validator: common.Address{9}, Key: 1, Sequence: 7}.Big()) != 0 {
		t.Errorf("live %v", live)
	}
	if len(j.LiveNonces(common.Address{1}, 8453, 1, now()))+len(j.LiveNonces(account, 1, 1, now()))+
		len(j.LiveNonces(account, 8453, 2, now())) != 0 {
		t.Error("another account, chain or lane is affected")
	}
	if seq, ok := j.NextSequence(account, 8453, 0); !ok || seq != 4 {
		t.Errorf("next %d %v", seq, ok)
	}
}

func TestJ4_AUsedNonceEndsEverySignatureForIt(t *testing.T) {
	j := open(t, dirOf(t), options())
	run(t, j, fullRun()[:2]) // abandoned in spirit: same nonce as the run below
	run(t, j, fullRun())
	if list := j.Outstanding(now()); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	if seq, ok := j.NextSequence(account, 8453, 0); !ok || seq != 5 {
		t.Errorf("next %d %v", seq, ok)
	}
	if _, ok := j.NextSequence(account, 10, 0); ok {
		t.Error("something is known about another chain")
	}
	if !j.SeenQuote("0xab") || j.SeenQuote("0xac") {
		t.Error("quote ids are not remembered")
	}
	if r := j.Recipients(); len(r) != 1 || r[0] != "0x00000000000000000000000000000000000000b2" {
		t.Errorf("recipients %v", r)
	}
}

func TestNoSecretFieldsInTheFile(t *testing.T) {
	dir := dirOf(t)
	j := open(t, dir, options())
	run(t, j, fullRun())
	b, err := os.ReadFile(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"privateKey", "seed", "apiKey", "mnemonic"} {
		if bytes.Contains(b, []byte(word)) {
			t.Errorf("%q is in the journal", word)
		}
	}
}

// failing is a file whose writes, syncs or truncations fail after a while.
type failing struct {
	journal.File
	writes, syncs, truncates int // how many still succeed; negative: all
	partial                  int
	err                      error
}

func (f *failing) Write(b []byte) (int, error) {
	if f.writes == 0 {
		n, _ := f.File.Write(b[:min(f.partial, len(b))])
		return n, f.err
	}
	f.writes--
	return f.File.Write(b)
}

func (f *failing) Sync() error {
	if f.syncs == 0 {
		return f.err
	}
	f.syncs--
	return f.File.Sync()
}

func (f *failing) Truncate(n int64) error {
	if f.truncates == 0 {
		return f.err
	}
	f.truncates--
	return f.File.Truncate(n)
}

func withFault(f *failing) journal.Options {
	o := options()
	o.OpenFile = func(path string, flag int, perm fs.FileMode) (journal.File, error) {
		real, err := os.OpenFile(path, flag, perm)
		f.File = real
		return f, err
	}
	return o
}

func TestJ5_AFullDiskRefusesAndLeavesNothingBehind(t *testing.T) {
	for _, partial := range []int{0, 1, 5, 40, 1 << 20} {
		dir := dirOf(t)
		f := &failing{writes: 3, syncs: -1, truncates: -1, partial: partial, err: syscall.ENOSPC}
		j := open(t, dir, withFault(f))
		id := run(t, j, fullRun()[:1]) // header, INTENT, PREPARED
		if err := j.Append(id, journal.Signed, fullRun()[1].entry); !errors.Is(err, syscall.ENOSPC) ||
			!errors.Is(err, journal.ErrReadOnly) {
			t.Fatal(err)
		}
		if len(j.Outstanding(now())) != 0 || j.Operations()[0].State != journal.Prepared {
			t.Error("what was not recorded counts as recorded")
		}
		f.writes = -1 // space again
		if err := j.Append(id, journal.Signed, fullRun()[1].entry); err != nil {
			t.Errorf("after the disk has space again: %v", err)
		}
		j.Close()
		if k := open(t, dir, options()); k.Operations()[0].State != journal.Signed || k.Repaired() != 0 {
			t.Errorf("%+v", k.Operations())
		}
	}
}

func TestJ5_AFailedSyncOrUndoEndsWriting(t *testing.T) {
	for name, f := range map[string]*failing{
		"sync":         {writes: -1, syncs: 2, truncates: -1, err: syscall.EIO},
		"undo":         {writes: 2, syncs: -1, truncates: 0, partial: 7, err: syscall.EROFS},
		"sync of undo": {writes: 2, syncs: 2, truncates: -1, partial: 7, err: syscall.EIO},
	} {
		t.Run(name, func(t *testing.T) {
			dir := dirOf(t)
			j := open(t, dir, withFault(f))
			id := run(t, j, nil)
			if err := j.Append(id, journal.Prepared, journal.Entry{}); !errors.Is(err, journal.ErrReadOnly) {
				t.Fatal(err)
			}
			f.writes, f.syncs, f.truncates = -1, -1, -1
			if err := j.Append(id, journal.Prepared, journal.Entry{}); !errors.Is(err, journal.ErrReadOnly) ||
				j.ReadOnly() == nil {
				t.Errorf("writing goes on although nobody knows what is on disk: %v", err)
			}
			j.Close()
			k := open(t, dir, options())
			if k.ReadOnly() != nil || len(k.Operations()) != 1 {
				t.Errorf("%v %+v", k.ReadOnly(), k.Operations())
			}
		})
	}
}

func TestJ5_AFileThatCannotBeMadeIsAnError(t *testing.T) {
	o := options()
	o.OpenFile = func(string, int, fs.FileMode) (journal.File, error) { return nil, syscall.EROFS }
	if _, err := journal.Open(dirOf(t), o); !errors.Is(err, syscall.EROFS) {
		t.Error(err)
	}
	if _, err := journal.OpenReadOnly(dirOf(t), options()); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := journal.Open(dirOf(t), withFault(&failing{err: syscall.ENOSPC})); !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
}

// image returns the bytes of a journal with all records and where each ends.
func image(t testing.TB) ([]byte, []int) {
	t.Helper()
	dir := dirOf(t)
	j := open(t, dir, options())
	path := filepath.Join(dir, "journal")
	size := func() int {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Size())
	}
	ends := []int{size()}
	id, err := j.Begin([]byte(`{}`), [32]byte{1})
	if err != nil {
		t.Fatal(err)
	}
	ends = append(ends, size())
	for _, s := range fullRun() {
		if err := j.Append(id, s.state, s.entry); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, size())
	}
	j.Close()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, ends
}

func place(t testing.TB, b []byte) string {
	t.Helper()
	dir := dirOf(t)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "journal"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestJ5_ATornTailIsRemovedAtEveryByte(t *testing.T) {
	b, ends := image(t)
	dir := place(t, b)
	path := filepath.Join(dir, "journal")
	for cut := len(b); cut >= 0; cut-- {
		if err := os.WriteFile(path, b[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		whole, records := 0, -1
		for _, e := range ends {
			if e <= cut {
				whole, records = e, records+1
			}
		}
		j, err := journal.Open(dir, options())
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		state := journal.State("")
		if ops := j.Operations(); len(ops) > 0 {
			state = ops[0].State
		}
		want := append([]journal.State{"", journal.Intent}, states(fullRun())...)[max(records, 0)]
		if state != want || j.ReadOnly() != nil || j.Repaired() != cut-whole {
			t.Fatalf("cut at %d: state %q, want %q; repaired %d; %v", cut, state, want, j.Repaired(), j.ReadOnly())
		}
		if err := j.Append("x", journal.Prepared, journal.Entry{}); err == nil {
			t.Fatal("nonsense was recorded")
		}
		j.Close()
		info, err := os.Stat(path)
		if err != nil || int(info.Size()) != max(whole, ends[0]) {
			t.Fatalf("cut at %d: %d bytes remain, want %d (%v)", cut, info.Size(), max(whole, ends[0]), err)
		}
	}
}

func states(steps []step) []journal.State {
	var out []journal.State
	for _, s := range steps {
		out = append(out, s.state)
	}
	return out
}

func TestJ5_AnAllZeroTailIsTorn(t *testing.T) {
	b, ends := image(t)
	j := open(t, place(t, append(b[:ends[4]:ends[4]], make([]byte, 100)...)), options())
	if j.ReadOnly() != nil || j.Repaired() != 100 || j.Operations()[0].State != journal.Quoted {
		t.Fatalf("%v %d", j.ReadOnly(), j.Repaired())
	}
}

func TestJ5_DamageAnywhereElseMakesTheJournalReadOnly(t *testing.T) {
	b, ends := image(t)
	dir := place(t, b)
	path := filepath.Join(dir, "journal")
	for at := range b {
		if at < 8 || (at > 60 && at%3 != 0) {
			continue // the magic: then it is no journal at all
		}
		bad := bytes.Clone(b)
		bad[at] ^= 0x20
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(dir, options())
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		if j.ReadOnly() == nil {
			t.Fatalf("byte %d is damaged and the journal may be written", at)
		}
		if _, err := j.Begin([]byte(`{}`), [32]byte{}); !errors.Is(err, journal.ErrReadOnly) {
			t.Fatal(err)
		}
		sound := 0
		for _, e := range ends[1:] {
			if e <= at {
				sound = 1
			}
		}
		if len(j.Operations()) < sound {
			t.Fatalf("byte %d: the sound part is lost", at)
		}
		j.Close()
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(after, bad) {
			t.Fatal("a damaged journal was changed")
		}
	}
}

func TestJ5_RecordsThatContradictEachOtherAreDamage(t *testing.T) {
	b, ends := image(t)
	swapped := append(bytes.Clone(b[:ends[1]]), b[ends[2]:ends[3]]...) // SIGNED without PREPARED
	j := open(t, place(t, swapped), options())
	if j.ReadOnly() == nil {
		t.Fatal("accepted")
	}
	r, err := journal.OpenReadOnly(place(t, swapped), options())
	if err != nil || r.ReadOnly() == nil {
		t.Fatal(err)
	}
	r.Close()
}

func TestAClosedJournalRefuses(t *testing.T) {
	j := open(t, dirOf(t), options())
	j.Close()
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if _, err := j.Begin(nil, [32]byte{}); !errors.Is(err, journal.ErrClosed) {
		t.Error(err)
	}
	o := options()
	o.Random = nil
	if _, err := open(t, dirOf(t), o).Begin(nil, [32]byte{}); err == nil {
		t.Error("an id without randomness")
	}
}

func FuzzOpen(f *testing.F) {
	b, ends := image(f)
	f.Add(b)
	f.Add(b[:ends[3]+7])
	f.Add([]byte("COFFERJL"))
	f.Add(kindsImage(f))
	dir := dirOf(f)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, "journal")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		o := options()
		if len(raw)%2 == 0 {
			o.Kind = network.Lab
		}
		j, err := journal.Open(dir, o)
		if err != nil {
			return
		}
		defer j.Close()
		for _, o := range j.Operations() {
			if o.ID == "" || o.State == "" {
				t.Fatalf("%+v", o)
			}
		}
		for _, s := range j.Outstanding(now()) {
			if s.Void == "" {
				t.Fatalf("%+v", s)
			}
		}
		for _, s := range j.Spent(time.Time{}) {
			if s.Amount.Sign() < 0 {
				t.Fatalf("%+v", s)
			}
		}
		j.Recipients()
		j.NextSequence(account, 8453, 0)
		j.NextAuthorization(account, 8453)
		j.LiveNonces(account, 8453, 0, now())
		j.Open(now())
		j.Lanes(now())
		if j.ReadOnly() != nil {
			return
		}
		if _, err := j.Begin([]byte(`{}`), [32]byte{}); err != nil {
			t.Logf("begin: %v", err)
			return
		}
		j.Close()
		k, err := journal.Open(dir, options())
		if err != nil || k.ReadOnly() != nil || k.Repaired() != 0 {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		k.Close()
	})
}
