package solana_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"maps"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

func TestTransactionsOfARequestAreOneCommitWithTheRecord(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	one := w.tx(t, w.alice, none(), solmsg.SystemTransfer(a, b, 2e9))
	two := w.tx(t, w.bob, none(), solmsg.SystemTransfer(b, keyOf(secret(40)), 11e9)) // needs what the first one brings
	out, err := w.Seal(solana.SealRequest{
		Time: w.at, Txs: []solana.Tx{one, two}, Accept: solana.AllSucceed,
		Record: func(tx store.Tx, r []solana.Receipt) error {
			return tx.Bucket("mine").Put([]byte("k"), []byte(r[1].Signature))
		},
	})
	if err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	var kept []byte
	if err := w.store.View(func(tx store.Tx) error { kept = tx.Bucket("mine").Get([]byte("k")); return nil }); err !=
		nil {
		t.Fatal(err)
	}
	if string(kept) != out[1].Signature || w.lamports(t, keyOf(secret(40))) != 11e9 || w.Transactions() != 3 {
		t.Errorf("record %q, %d transactions", kept, w.Transactions())
	}
	w.checkSums(t)
}

var errMine = errors.New("mine")

// failing loses commits: before they happen, or the news of them.
type failing struct {
	store.Store
	before, after error
}

func (f *failing) Update(fn func(store.Tx) error) error {
	if f.before != nil {
		return f.Store.Update(func(tx store.Tx) error { return errors.Join(fn(tx), f.before) })
	}
	return errors.Join(f.Store.Update(fn), f.after)
}

func TestAnErrorLeavesEverythingAsItWas(t *testing.T) {
	s := &failing{Store: store.NewMemory()}
	w := newWorld(t, s)
	good := w.tx(t, w.alice, none(), solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 1e9))
	bad := w.tx(t, w.alice, none(), solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 100e9))
	unsigned := w.tx(t, w.alice, none(), solmsg.Memo("x"))
	unsigned.Signatures[0] = [64]byte{}
	before, count := w.contents(t), w.Transactions()
	for name, c := range map[string]struct {
		req  solana.SealRequest
		want error
		disk error
	}{
		"not accepted": {solana.SealRequest{Txs: []solana.Tx{good, bad}, Accept: solana.AllSucceed},
			solana.ErrNotAccepted, nil},
		"accept's reason": {solana.SealRequest{Txs: []solana.Tx{good},
			Accept: func([]solana.Receipt) error { return errMine }}, errMine, nil},
		"record": {solana.SealRequest{Txs: []solana.Tx{good}, Record: func(tx store.Tx, _ []solana.Receipt) error {
			return errors.Join(tx.Bucket("mine").Put([]byte("k"), nil), errMine)
		}}, errMine, nil},
		"the second":      {solana.SealRequest{Txs: []solana.Tx{good, unsigned}}, solana.ErrSignature, nil},
		"a fault on disk": {solana.SealRequest{Txs: []solana.Tx{good}}, errMine, errMine},
	} {
		s.before = c.disk
		c.req.Time = w.at
		out, err := w.Seal(c.req)
		s.before = nil
		if out != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		if !maps.Equal(before, w.contents(t)) {
			t.Errorf("%s: the store changed", name)
		}
	}
	if w.Transactions() != count {
		t.Errorf("%d transactions, want %d", w.Transactions(), count)
	}
	if out, err := w.seal(good); err != nil || !out[0].Success {
		t.Errorf("afterwards: %v, %v", out, err)
	}
}

func TestAnotherWriterBetweenBuildingAndCommittingIsAConflict(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	other, err := open(w.store, mustSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	tx, rival := w.tx(t, w.alice, none(), solmsg.Memo("first")), w.tx(t, w.bob, none(), solmsg.Memo("second"))
	_, err = w.Seal(solana.SealRequest{Time: w.at, Txs: []solana.Tx{tx}, Accept: func([]solana.Receipt) error {
		_, err := other.Seal(solana.SealRequest{Time: w.at, Txs: []solana.Tx{rival}})
		return err
	}})
	if !errors.Is(err, solana.ErrConflict) || w.Transactions() != 2 {
		t.Errorf("%v after %d transactions", err, w.Transactions())
	}
	if out, err := w.seal(tx); err != nil || !out[0].Success {
		t.Errorf("tried again: %v, %v", out, err)
	}
}

func TestACommitThatIsReportedAsFailedIsNoticed(t *testing.T) {
	s := &failing{Store: store.NewMemory()}
	w := newWorld(t, s)
	tx := w.tx(t, w.alice, none(), solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 1e9))
	s.after = errMine
	if _, err := w.seal(tx); !errors.Is(err, errMine) {
		t.Fatal(err)
	}
	s.after = nil
	if w.Transactions() != 2 {
		t.Errorf("%d transactions, want 2", w.Transactions())
	}
	w.refused(t, solana.ErrProcessed, tx)
	w.must(t, w.alice, solmsg.Memo("it goes on"))
}

func TestASimulationChangesNothingAndSaysWhatSealDoes(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	txs := []solana.Tx{
		w.tx(t, w.alice, none(), solmsg.CreateATAIdempotent(a, b, w.mint), w.usdc(t, w.alice, b, 5), solmsg.Memo("m")),
		w.tx(t, w.bob, none(), w.usdc(t, w.bob, a, 6)),
	}
	before := w.contents(t)
	simulated, err := w.Simulate(w.at, false, txs...)
	if err != nil {
		t.Fatal(err)
	}
	unsigned, err := w.Simulate(w.at, true, solana.Tx{Message: txs[0].Message}, solana.Tx{Message: txs[1].Message})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(before, w.contents(t)) {
		t.Error("a simulation changed the store")
	}
	sealed, err := w.seal(txs...)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(simulated, sealed) || !sealed[0].Success || sealed[1].Success {
		t.Errorf("simulated %+v\nsealed %+v", simulated, sealed)
	}
	for i := range unsigned {
		if unsigned[i].Success != sealed[i].Success || unsigned[i].Fee != sealed[i].Fee ||
			!reflect.DeepEqual(unsigned[i].Changes, sealed[i].Changes) {
			t.Errorf("unsigned %+v", unsigned[i])
		}
	}
	if _, err := w.Simulate(w.at, false, solana.Tx{Message: txs[0].Message}); !errors.Is(err, solana.ErrSignature) {
		t.Errorf("an unsigned transaction in a signed simulation: %v", err)
	}
}

func TestReceiptsSayWhoGainedAndLost(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	r := w.send(t, w.alice, none(), solmsg.CreateATAIdempotent(a, b, w.mint), w.usdc(t, w.alice, b, 5e6))
	got := map[string]string{}
	for _, c := range r.Changes {
		got[c.Account+"/"+c.Mint] = c.Owner + " " + c.Before.String() + " " + c.After.String()
	}
	from, to := ata(t, a, w.mint), ata(t, b, w.mint)
	want := map[string]string{
		a.String() + "/":                      a.String() + " 10000000000 9997955720",
		from.String() + "/" + w.mint.String(): a.String() + " 1000000000 995000000",
		to.String() + "/":                     b.String() + " 0 2039280",
		to.String() + "/" + w.mint.String():   b.String() + " 0 5000000",
	}
	if !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	found, ok, err := w.Receipt(r.Signature)
	if err != nil || !ok || !reflect.DeepEqual(found, r) {
		t.Errorf("read back: %t, %v\n%+v\n%+v", ok, err, found, r)
	}
	m, err := solmsg.Parse(found.Message)
	if err != nil || len(found.Signatures) != 1 {
		t.Fatal(err)
	}
	if sig, err := solmsg.ParseSignature(found.Signature); err != nil || !m.Verify(a, sig) {
		t.Errorf("the stored message does not carry the signature: %v", err)
	}
	for _, name := range []string{"", "x", r.Signature[2:], solmsg.FormatSignature([64]byte{1})} {
		if _, ok, err := w.Receipt(name); ok || err != nil {
			t.Errorf("%q: %t, %v", name, ok, err)
		}
	}
}

func TestUsedMeansThatAnAccountHeldOrDidAnything(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	used := func(k solmsg.Key) bool {
		t.Helper()
		u, err := w.Used(k)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	signer, owner, bystander := secret(60), secret(61), secret(62)
	for _, k := range []ed25519.PrivateKey{signer, owner, bystander} {
		if used(keyOf(k)) {
			t.Fatal("used before anything happened")
		}
	}
	w.send(t, w.alice, []ed25519.PrivateKey{signer}, solmsg.Memo("hello", keyOf(signer)))
	w.must(t, w.alice, solmsg.CreateATAIdempotent(keyOf(w.alice), keyOf(owner), w.mint))
	w.must(t, w.alice, solmsg.SystemTransfer(keyOf(w.alice), keyOf(bystander), 0))
	if !used(keyOf(signer)) || !used(keyOf(owner)) || used(keyOf(bystander)) || !used(solmsg.SystemProgram()) ||
		!used(w.mint) {
		t.Errorf("signer %t, owner %t, bystander %t", used(keyOf(signer)), used(keyOf(owner)), used(keyOf(bystander)))
	}
}

func TestAStateStaysWhatItWasWhenItWasOpened(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	st, err := w.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	tx := w.tx(t, w.alice, none(), solmsg.CreateATAIdempotent(keyOf(w.alice), keyOf(w.bob), w.mint),
		w.usdc(t, w.alice, keyOf(w.bob), 5))
	sealed := make(chan error)
	go func() {
		_, err := w.seal(tx)
		sealed <- err
	}()
	if err := <-sealed; err != nil {
		t.Fatal(err)
	}
	lamports, err := st.Lamports(keyOf(w.alice))
	if err != nil {
		t.Fatal(err)
	}
	_, exists, err := st.Tokens(keyOf(w.bob), w.mint)
	if err != nil {
		t.Fatal(err)
	}
	if lamports != 10e9 || exists || w.lamports(t, keyOf(w.alice)) == 10e9 || w.tokens(t, keyOf(w.bob)) != 5 {
		t.Errorf("the view shows %d lamports and the account %t", lamports, exists)
	}
}

func TestManyWritersAtOnceLoseNothing(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	const writers, each = 8, 12
	hash, _ := w.Blockhash(w.at)
	var group sync.WaitGroup
	for i := range writers {
		group.Go(func() {
			for j := range each {
				m, err := solmsg.Compose(keyOf(w.treasury), hash,
					solmsg.SystemTransfer(keyOf(w.treasury), keyOf(secret(100+i)), rent+uint64(j)),
					solmsg.Memo(string(rune('a'+j))))
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := w.Seal(solana.SealRequest{Time: w.at, Txs: []solana.Tx{signed(m, w.treasury)},
					Accept: solana.AllSucceed}); err != nil {
					t.Error(err)
				}
				if _, err := w.Lamports(keyOf(w.treasury)); err != nil || !w.BlockhashValid(hash, w.at) {
					t.Error("reading while others write:", err)
				}
			}
		})
	}
	group.Wait()
	for i := range writers {
		if got := w.lamports(t, keyOf(secret(100+i))); got != each*rent+each*(each-1)/2 {
			t.Errorf("receiver %d has %d lamports", i, got)
		}
	}
	if w.Transactions() != writers*each+1 {
		t.Errorf("%d transactions", w.Transactions())
	}
	w.checkSums(t)
}

func TestAReopenedFileIsTheSameLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	s, err := store.OpenBolt(path, store.BoltOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, s)
	r := w.must(t, w.alice, solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 1e9))
	before := w.contents(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = store.OpenBolt(path, store.BoltOptions{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if w.Ledger, err = solana.Open(s, mustSpec(t)); err != nil {
		t.Fatal(err)
	}
	w.store = s
	if !maps.Equal(before, w.contents(t)) || w.Transactions() != 2 {
		t.Error("opening changed the store")
	}
	if found, ok, err := w.Receipt(r.Signature); err != nil || !ok || !reflect.DeepEqual(found, r) {
		t.Errorf("%+v, %t, %v", found, ok, err)
	}
	w.must(t, w.bob, solmsg.SystemTransfer(keyOf(w.bob), keyOf(w.alice), 1e9))
	w.checkSums(t)
}

func TestAnotherGenesisIsRefusedAndLeftAlone(t *testing.T) {
	s := store.NewMemory()
	w := newWorld(t, s)
	before := w.contents(t)
	other := mustSpec(t)
	other.Time++
	_, err := solana.Open(s, other)
	var refused *solana.GenesisError
	if !errors.As(err, &refused) || refused.Stored != w.Genesis() || refused.Want == w.Genesis() {
		t.Errorf("%v", err)
	}
	if !maps.Equal(before, w.contents(t)) {
		t.Error("the store changed")
	}
	if found, err := solana.Exists(s); !found || err != nil {
		t.Error(found, err)
	}
	if found, err := solana.Exists(store.NewMemory()); found || err != nil {
		t.Error(found, err)
	}
}

func TestAnImpossibleGenesisIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*solana.Spec){
		"twice":              func(s *solana.Spec) { s.Accounts = append(s.Accounts, s.Accounts[0]) },
		"a program":          func(s *solana.Spec) { s.Accounts[0].Key = solmsg.TokenProgram() },
		"below the rent":     func(s *solana.Spec) { s.Accounts[0].Lamports = rent - 1 },
		"too many lamports":  func(s *solana.Spec) { s.Accounts[0].Lamports = 1<<64 - 1 },
		"supply nobody has":  func(s *solana.Spec) { s.Accounts = s.Accounts[:2] },
		"tokens of no mint":  func(s *solana.Spec) { s.Accounts = append(s.Accounts[:1], s.Accounts[2:]...) },
		"more than supplied": func(s *solana.Spec) { s.Accounts[1].Account = solana.MintAccount(1, 6) },
		"unknown data":       func(s *solana.Spec) { s.Accounts[0].Data, s.Accounts[0].Lamports = []byte{1}, 1e9 },
	} {
		s := mustSpec(t)
		spoil(&s)
		if _, err := solana.Open(store.NewMemory(), s); !errors.Is(err, solana.ErrSpec) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDamagedRecordsAreReportedAndNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		bucket string
		key    func(*world, solana.Receipt) []byte
		value  []byte
	}{
		"head": {"solana/ledger", func(*world, solana.Receipt) []byte { return []byte("head") }, []byte{1}},
		"account": {"solana/accounts", func(w *world, _ solana.Receipt) []byte { k := keyOf(w.alice); return k[:] },
			[]byte{1, 2, 3}},
		"genesis": {"solana/ledger", func(*world, solana.Receipt) []byte { return []byte("genesis") }, []byte{}},
		"receipt": {"solana/transactions", func(_ *world, r solana.Receipt) []byte {
			s, _ := solmsg.ParseSignature(r.Signature)
			return s[:]
		}, []byte{9}},
		"text": {"solana/transactions", func(_ *world, r solana.Receipt) []byte {
			s, _ := solmsg.ParseSignature(r.Signature)
			return s[:]
		}, []byte{1, '{'}},
	} {
		w := newWorld(t, store.NewMemory())
		r := w.must(t, w.alice, solmsg.Memo("x"))
		next := w.tx(t, w.alice, none(), solmsg.Memo("y"))
		err := w.store.Update(func(tx store.Tx) error { return tx.Bucket(c.bucket).Put(c.key(w, r), c.value) })
		if err != nil {
			t.Fatal(err)
		}
		_, openErr := solana.Open(w.store, mustSpec(t))
		_, readErr := w.Lamports(keyOf(w.alice))
		_, _, receiptErr := w.Receipt(r.Signature)
		_, sealErr := w.seal(next)
		var refusal *solana.TxError
		if all := errors.Join(openErr, readErr, receiptErr, sealErr); !errors.Is(all, solana.ErrDamaged) ||
			errors.As(all, &refusal) {
			t.Errorf("%s: %v", name, all)
		}
	}
}
