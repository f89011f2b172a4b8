package solana_test

import (
	"crypto/ed25519"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/store"
)

// systemBuild is an instruction of the system program whose accounts all sign and are written.
func systemBuild(tag uint32, data []byte, accounts ...solmsg.Key) solmsg.Build {
	b := solmsg.Build{Program: solmsg.SystemProgram(), Data: append(binary.LittleEndian.AppendUint32(nil, tag),
		data...)}
	for _, k := range accounts {
		b.Accounts = append(b.Accounts, solmsg.Meta{Key: k, Signer: true, Writable: true})
	}
	return b
}

func createAccount(from, to solmsg.Key, lamports, space uint64, owner solmsg.Key) solmsg.Build {
	return systemBuild(0, slices.Concat(u64(lamports), u64(space), owner[:]), from, to)
}

func allocate(k solmsg.Key, space uint64) solmsg.Build { return systemBuild(8, u64(space), k) }

func TestLamportsReachAProgramThatTheTransactionDoesNotRun(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a := keyOf(w.alice)
	revoke := tokenBuild(5, nil, ata(t, a, w.mint), a)
	for _, to := range []solmsg.Key{solmsg.TokenProgram(), solmsg.ATAProgram(), solmsg.Token2022Program(),
		solmsg.Incinerator()} {
		w.must(t, w.alice, solmsg.SystemTransfer(a, to, 1))
		if got := w.lamports(t, to); got != 1 {
			t.Errorf("%s has %d lamports", to, got)
		}
	}
	w.fails(t, w.alice, 1, revoke, solmsg.SystemTransfer(a, solmsg.TokenProgram(), 1))
	for _, to := range []string{"11111111111111111111111111111111", "ComputeBudget111111111111111111111111111111",
		"SysvarC1ock11111111111111111111111111111111", "Config1111111111111111111111111111111111111"} {
		w.fails(t, w.alice, 0, solmsg.SystemTransfer(a, parseKey(t, to), 1e9))
	}
	w.checkSums(t)
}

func TestAnAccountIsCreatedWithBothSignaturesAndItsRent(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, fresh := keyOf(w.alice), secret(80)
	k, both := keyOf(fresh), []ed25519.PrivateKey{fresh, w.bob}
	least := solana.RentMinimum(165)
	good := createAccount(a, k, least, 165, solmsg.TokenProgram())
	for name, c := range map[string]struct {
		build solmsg.Build
		at    int
		want  string
	}{
		"too little for the rent": {createAccount(a, k, least-1, 165, solmsg.TokenProgram()), -1, "rent minimum"},
		"more than there is": {createAccount(a, k, 11e9, 0, solmsg.SystemProgram()), 0,
			"custom program error: 0x1"},
		"an account with lamports": {createAccount(a, keyOf(w.bob), least, 165, solmsg.TokenProgram()), 0,
			"custom program error: 0x0"},
		"more than 10 MiB": {createAccount(a, k, least, 10<<20+1, solmsg.TokenProgram()), 0,
			"custom program error: 0x3"},
		"the new account does not sign": {without(good, 1, "signer"), 0, "signature"},
		"the new account is read-only":  {without(good, 1, "writable"), 0, "not writable"},
	} {
		r := w.send(t, w.alice, both, c.build)
		if r.Success || r.Instruction != c.at || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := w.send(t, w.bob, both, without(good, 0, "signer")); r.Success || !strings.Contains(r.Error, "signature") {
		t.Errorf("the payer does not sign: %+v", r)
	}
	if r := w.send(t, w.alice, both, good); !r.Success {
		t.Fatal(r.Error)
	}
	got, err := w.Account(k)
	if err != nil || got.Lamports != least || got.Owner != solmsg.TokenProgram() || len(got.Data) != 165 {
		t.Errorf("%d lamports, %s, %d bytes, %v", got.Lamports, got.Owner, len(got.Data), err)
	}
	r := w.send(t, w.alice, both, solmsg.SystemTransfer(k, a, least))
	if r.Success || !strings.Contains(r.Error, "belongs to another program") {
		t.Errorf("lamports of a token account: %+v", r)
	}
	w.checkSums(t)
}

func TestAnAccountWithoutLamportsIsGoneWithItsDataAndOwner(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, fresh := keyOf(w.alice), secret(81)
	empty := w.tx(t, w.alice, []ed25519.PrivateKey{fresh}, createAccount(a, keyOf(fresh), 0, 500, solmsg.MemoProgram()))
	again := w.tx(t, w.alice, []ed25519.PrivateKey{fresh},
		createAccount(a, keyOf(fresh), 2e9, 7, solmsg.SystemProgram()))
	out, err := w.seal(empty, again) // one request, so that the second one reads what the first one left
	if err != nil || !out[0].Success || !out[1].Success {
		t.Fatalf("%+v, %v", out, err)
	}
	got, err := w.Account(keyOf(fresh))
	if err != nil || got.Lamports != 2e9 || got.Owner != solmsg.SystemProgram() || len(got.Data) != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	w.refused(t, solana.ErrPayer, w.tx(t, fresh, none(), solmsg.Memo("an account with data pays no fee")))
}

func TestATransactionAddsAtMost20MiB(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	var signers []ed25519.PrivateKey
	var builds []solmsg.Build
	for i := range 3 {
		signers = append(signers, secret(82+i))
		builds = append(builds, allocate(keyOf(signers[i]), 10<<20))
	}
	if r := w.send(t, w.alice, signers, builds[:2]...); !r.Success {
		t.Errorf("20 MiB: %s", r.Error)
	}
	if r := w.send(t, w.alice, signers, builds...); r.Success || r.Instruction != 2 {
		t.Errorf("30 MiB: %+v", r)
	}
}

func TestATransactionRunsAtMost64Instructions(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	memos := slices.Repeat([]solmsg.Build{{Program: solmsg.MemoProgram()}}, 65)
	w.must(t, w.alice, memos[:64]...)
	w.fails(t, w.alice, 64, memos...)
	// The associated account program calls four others.
	create := solmsg.CreateATAIdempotent(keyOf(w.alice), keyOf(w.bob), w.mint)
	w.fails(t, w.alice, 60, append(slices.Clone(memos[:60]), create)...)
	w.must(t, w.alice, append(slices.Clone(memos[:59]), create)...)
}
