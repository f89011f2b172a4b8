package solana_test

import (
	"crypto/ed25519"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

func TestReplayIsRefusedForEver(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	tx := w.tx(t, w.alice, none(), solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 1e9))
	if r := w.refused(t, solana.ErrProcessed, tx, tx); r.Index != 1 {
		t.Errorf("transaction %d was refused, want 1", r.Index)
	}
	if _, err := w.seal(tx); err != nil {
		t.Fatal(err)
	}
	w.refused(t, solana.ErrProcessed, tx)
	if _, err := w.Simulate(w.at, true, solana.Tx{Message: tx.Message}); !errors.Is(err, solana.ErrProcessed) {
		t.Errorf("the same message with other signatures: %v", err)
	}
	again, err := open(w.store, mustSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := again.Seal(solana.SealRequest{Time: w.at, Txs: []solana.Tx{tx}}); !errors.Is(err,
		solana.ErrProcessed) {
		t.Errorf("after a restart: %v", err)
	}
	w.at += 1_000
	w.refused(t, solana.ErrBlockhash, tx)
	if got := w.lamports(t, keyOf(w.bob)); got != 11e9 {
		t.Errorf("bob has %d lamports, want 11 SOL", got)
	}
}

func mustSpec(t tb) solana.Spec {
	sp, _, _ := spec(t)
	return sp
}

func TestAFailedTransactionCannotBeReplayedEither(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	tx := w.tx(t, w.alice, none(), solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 100e9))
	out, err := w.seal(tx)
	if err != nil || out[0].Success {
		t.Fatal(out, err)
	}
	w.refused(t, solana.ErrProcessed, tx)
}

func TestABlockHashIsValidFor150SlotsAndNeverBeforeItsSlot(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	for offset := range uint64(4) {
		at := w.at + 10_000*offset + offset
		hash, lastValid := w.Blockhash(at)
		if lastValid < at+60 || lastValid > at+61 {
			t.Errorf("valid until %d s after it was given out, want about 60", lastValid-at)
		}
		if !w.BlockhashValid(hash, at) || !w.BlockhashValid(hash, lastValid) || w.BlockhashValid(hash, lastValid+1) {
			t.Errorf("at %d: valid now %t, in the last second %t, after it %t", at, w.BlockhashValid(hash, at),
				w.BlockhashValid(hash, lastValid), w.BlockhashValid(hash, lastValid+1))
		}
	}
}

func TestAnOldOrUnknownBlockHashIsRefused(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	tx := w.tx(t, w.alice, none(), solmsg.Memo("old"))
	w.at += 61
	w.refused(t, solana.ErrBlockhash, tx)

	other, err := open(store.NewMemory(), solana.Spec{Time: genesisTime,
		Accounts: []solana.Allocation{{Key: keyOf(w.alice), Account: solana.SystemAccount(10e9)}}})
	if err != nil {
		t.Fatal(err)
	}
	future, err := open(store.NewMemory(), mustSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	foreign, _ := other.Blockhash(w.at)
	early, _ := future.Blockhash(w.at + 1)
	for name, hash := range map[string]solmsg.Key{"another network": foreign, "the next second": early, "nothing": {},
		"chance": {1, 2, 3}} {
		m, err := solmsg.Compose(keyOf(w.alice), hash, solmsg.Memo(name))
		if err != nil {
			t.Fatal(err)
		}
		w.refused(t, solana.ErrBlockhash, signed(m, w.alice))
	}
}

func TestSlotsFollowTheClockAndNeverGoBack(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	first := w.must(t, w.alice, solmsg.Memo("one"))
	if want := (w.at - genesisTime) * 5 / 2; first.Slot != want || first.Time != w.at {
		t.Errorf("slot %d at %d, want %d at %d", first.Slot, first.Time, want, w.at)
	}
	tx := w.tx(t, w.alice, none(), solmsg.Memo("two")) // its hash is of a later slot than the clock shows below
	w.at -= 500
	back, err := w.seal(tx)
	if err != nil {
		t.Fatalf("after the clock went back: %v", err)
	}
	if back[0].Slot < first.Slot || back[0].Time < first.Time {
		t.Errorf("slot %d and time %d after %d and %d", back[0].Slot, back[0].Time, first.Slot, first.Time)
	}
	again, err := open(w.store, mustSpec(t))
	if err != nil {
		t.Fatal(err)
	}
	hash, _ := again.Blockhash(w.at)
	if kept, _ := w.Blockhash(w.at); hash != kept {
		t.Error("a restart with the clock behind gave another slot")
	}
	if early, _ := again.Blockhash(0); !w.BlockhashValid(early, w.at) {
		t.Error("a clock before genesis gave a hash that is not valid")
	}
}

func TestEverySignatureMustBeThereAndRight(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	pay := solmsg.SystemTransfer(keyOf(w.bob), keyOf(w.alice), 1e9)
	full := w.tx(t, w.alice, []ed25519.PrivateKey{w.bob}, pay)
	if len(full.Signatures) != 2 {
		t.Fatalf("%d signatures", len(full.Signatures))
	}
	spoil := func(change func(*solana.Tx)) solana.Tx {
		tx := solana.Tx{Message: slices.Clone(full.Message), Signatures: slices.Clone(full.Signatures)}
		change(&tx)
		return tx
	}
	for name, tx := range map[string]solana.Tx{
		"the second is missing": spoil(func(tx *solana.Tx) { tx.Signatures[1] = [64]byte{} }),
		"the first is missing":  spoil(func(tx *solana.Tx) { tx.Signatures[0] = [64]byte{} }),
		"too few":               spoil(func(tx *solana.Tx) { tx.Signatures = tx.Signatures[:1] }),
		"none":                  spoil(func(tx *solana.Tx) { tx.Signatures = nil }),
		"too many":              spoil(func(tx *solana.Tx) { tx.Signatures = append(tx.Signatures, [64]byte{1}) }),
		"changed places":        spoil(func(tx *solana.Tx) { slices.Reverse(tx.Signatures) }),
		"one bit":               spoil(func(tx *solana.Tx) { tx.Signatures[1][5] ^= 1 }),
		"another message":       spoil(func(tx *solana.Tx) { tx.Message[len(tx.Message)-2] ^= 1 }),
	} {
		t.Run(name, func(t *testing.T) {
			w.refused(t, solana.ErrSignature, tx)
		})
	}
	if out, err := w.seal(full); err != nil || !out[0].Success {
		t.Fatalf("the whole transaction: %v, %v", out, err)
	}
}

func TestSetSignatureFindsThePlaceOfAKey(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	full := w.tx(t, w.alice, []ed25519.PrivateKey{w.bob}, solmsg.Memo("both", keyOf(w.bob)))
	parts := solana.Tx{Message: full.Message}
	for _, k := range []ed25519.PrivateKey{w.bob, w.alice} {
		if err := parts.SetSignature(keyOf(k), [64]byte(ed25519.Sign(k, full.Message))); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(parts.Signatures, full.Signatures) {
		t.Error("the signatures stand in other places")
	}
	if err := parts.SetSignature(keyOf(w.treasury), [64]byte{1}); !errors.Is(err, solana.ErrNotSigner) {
		t.Errorf("a key that does not sign: %v", err)
	}
	broken := solana.Tx{Message: full.Message[1:]}
	if err := broken.SetSignature(keyOf(w.alice), [64]byte{1}); !errors.Is(err, solana.ErrMessage) {
		t.Errorf("a broken message: %v", err)
	}
}

func TestMalformedMessagesAndLookupTablesAreRefused(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	good := w.tx(t, w.alice, none(), solmsg.Memo("x"))
	for name, message := range map[string][]byte{"nothing": nil, "cut off": good.Message[:40],
		"extended": append(slices.Clone(good.Message), 0)} {
		tx := solana.Tx{Message: message, Signatures: [][64]byte{[64]byte(ed25519.Sign(w.alice, message))}}
		if err := w.refused(t, solana.ErrMessage, tx); !strings.Contains(err.Error(), "transaction 0") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The lookup table at the end of the message: one table with one read-only entry.
	table := slices.Concat(good.Message[:len(good.Message)-1], []byte{1}, make([]byte, 32), []byte{0, 1, 0})
	w.refused(t, solana.ErrLookup, solana.Tx{Message: table,
		Signatures: [][64]byte{[64]byte(ed25519.Sign(w.alice, table))}})
}

func TestATransactionFitsIntoAPacketWithItsSignatures(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	for extra, fits := range map[int]bool{0: true, 1: false} {
		small := w.tx(t, w.alice, []ed25519.PrivateKey{w.bob}, solmsg.Memo("", keyOf(w.bob)))
		// A length of 128 and more takes a second byte.
		room := solmsg.MaxSize - 1 - 2*ed25519.SignatureSize - len(small.Message) - 1
		tx := w.tx(t, w.alice, []ed25519.PrivateKey{w.bob}, solmsg.Memo(strings.Repeat("m", room+extra), keyOf(w.bob)))
		if !fits {
			w.refused(t, solana.ErrMessage, tx)
		} else if _, err := w.seal(tx); err != nil {
			t.Error(err)
		}
	}
}

func TestLegacyMessagesAreExecuted(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	tx := w.tx(t, w.alice, none(), solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 1e9))
	legacy := tx.Message[1 : len(tx.Message)-1] // without version and lookup tables
	out, err := w.seal(solana.Tx{Message: legacy, Signatures: [][64]byte{[64]byte(ed25519.Sign(w.alice, legacy))}})
	if err != nil || !out[0].Success || w.lamports(t, keyOf(w.bob)) != 11e9 {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestTheFeePayerMustOwnTheFeeAndStayAlive(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	poor, exact, stranger := secret(50), secret(51), secret(52)
	w.must(t, w.alice, solmsg.SystemTransfer(keyOf(w.alice), keyOf(poor), rent+4_999),
		solmsg.SystemTransfer(keyOf(w.alice), keyOf(exact), rent+5_000))
	w.refused(t, solana.ErrPayer, w.tx(t, stranger, none(), solmsg.Memo("without an account")))
	w.refused(t, solana.ErrPayer, w.tx(t, poor, none(), solmsg.Memo("below the rent minimum afterwards")))
	w.must(t, exact, solmsg.Memo("exactly the rent minimum afterwards"))
	// A token account and a mint have lamports, but no key signs for them; with unsigned
	// simulations they can be tried.
	for _, k := range []solmsg.Key{ata(t, keyOf(w.alice), w.mint), w.mint, solmsg.SystemProgram()} {
		hash, _ := w.Blockhash(w.at)
		m, err := solmsg.Compose(k, hash, solmsg.Memo("not a system account"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Simulate(w.at, true, solana.Tx{Message: m.Bytes()}); !errors.Is(err, solana.ErrPayer) {
			t.Errorf("%s pays: %v", k, err)
		}
	}
	leaving := secret(53)
	w.must(t, w.alice, solmsg.SystemTransfer(keyOf(w.alice), keyOf(leaving), 2e9))
	w.must(t, leaving, solmsg.SystemTransfer(keyOf(leaving), keyOf(w.alice), 2e9-5_000))
	if used, err := w.Used(keyOf(leaving)); w.lamports(t, keyOf(leaving)) != 0 || !used || err != nil {
		t.Errorf("an account that ended: used %t, %v", used, err)
	}
}

func budget(tag byte, v uint64, size int) solmsg.Build {
	data := []byte{tag}
	for range size {
		data = append(data, byte(v))
		v >>= 8
	}
	return solmsg.Build{Program: solmsg.ComputeBudgetProgram(), Data: data}
}

func TestFeesAreFiveThousandASignatureAndThePriority(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	memo := solmsg.Memo("fee")
	for name, c := range map[string]struct {
		builds []solmsg.Build
		want   uint64
	}{
		"one signature":      {[]solmsg.Build{memo}, 5_000},
		"two signatures":     {[]solmsg.Build{solmsg.Memo("fee", keyOf(w.bob))}, 10_000},
		"price of the limit": {[]solmsg.Build{budget(2, 100_000, 4), budget(3, 20_000, 8), memo}, 5_000 + 2_000},
		"rounded up":         {[]solmsg.Build{budget(2, 1, 4), budget(3, 1, 8), memo}, 5_001},
		"default limit":      {[]solmsg.Build{budget(3, 1_000_000, 8), memo, memo}, 5_000 + 403_000},
		"default limit of builtin programs": {[]solmsg.Build{budget(3, 1_000, 8),
			solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.alice), 1)}, 5_006},
		"default limit at its end": {append([]solmsg.Build{budget(3, 1_000_000, 8)},
			slices.Repeat([]solmsg.Build{memo}, 8)...), 5_000 + 1_400_000},
		"bytes behind the number": {[]solmsg.Build{budget(3, 1_000, 10)}, 5_003},
		"limit of a transaction": {[]solmsg.Build{budget(2, 4_000_000_000, 4), budget(3, 1_000_000, 8)},
			5_000 + 1_400_000},
		"limit without price":      {[]solmsg.Build{budget(2, 100_000, 4), memo}, 5_000},
		"heap and loaded accounts": {[]solmsg.Build{budget(1, 64<<10, 4), budget(4, 1_000, 4), memo}, 5_000},
	} {
		before := w.lamports(t, keyOf(w.alice))
		burned, err := w.Sums()
		if err != nil {
			t.Fatal(err)
		}
		r := w.send(t, w.alice, []ed25519.PrivateKey{w.bob}, c.builds...)
		after, err := w.Sums()
		if err != nil {
			t.Fatal(err)
		}
		if !r.Success || r.Fee != c.want || before-w.lamports(t, keyOf(w.alice)) != c.want ||
			after.Burned-burned.Burned != c.want {
			t.Errorf("%s: fee %d, burned %d, want %d; %s", name, r.Fee, after.Burned-burned.Burned, c.want, r.Error)
		}
	}
	for name, builds := range map[string][]solmsg.Build{
		"twice": {budget(2, 1, 4), budget(2, 1, 4)}, "unknown": {budget(9, 1, 4)}, "too short": {budget(2, 1, 3)},
		"no data": {{Program: solmsg.ComputeBudgetProgram()}}, "uneven heap": {budget(1, 33_000, 4)},
		"no loaded accounts": {budget(4, 0, 4)},
	} {
		t.Run(name, func(t *testing.T) { w.refused(t, solana.ErrBudget, w.tx(t, w.alice, none(), builds...)) })
	}
	w.refused(t, solana.ErrPayer, w.tx(t, w.alice, none(), budget(3, 1<<64-1, 8), memo))
	w.refused(t, solana.ErrPayer, w.tx(t, w.alice, none(), budget(2, 1_000_000, 4), budget(3, 1<<64-1, 8), memo))
	w.checkSums(t)
}

func TestTheLedgerImportsNoHTTPAndNoSolanaLibrary(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		read++
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{`"net/http"`, "gagliardetto", "go-ethereum"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("%s imports %s", f.Name(), bad)
			}
		}
	}
	if read < 5 {
		t.Errorf("%d files were read", read)
	}
}
