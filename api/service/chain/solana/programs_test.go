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

// without takes a right from one account of an instruction.
func without(b solmsg.Build, i int, right string) solmsg.Build {
	b.Accounts = slices.Clone(b.Accounts)
	switch right {
	case "signer":
		b.Accounts[i].Signer = false
	case "writable":
		b.Accounts[i].Writable = false
	}
	return b
}

// tokenBuild is an SPL Token instruction: the first account signs nothing and is written,
// the last one signs.
func tokenBuild(tag byte, data []byte, accounts ...solmsg.Key) solmsg.Build {
	b := solmsg.Build{Program: solmsg.TokenProgram(), Data: append([]byte{tag}, data...)}
	for i, k := range accounts {
		b.Accounts = append(b.Accounts, solmsg.Meta{Key: k, Writable: i == 0, Signer: i == len(accounts)-1})
	}
	return b
}

func u64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func TestUnwritableAccountsCannotChange(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	w.must(t, w.treasury, solmsg.CreateATAIdempotent(keyOf(w.treasury), keyOf(w.bob), w.mint))
	pay := solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.bob), 1e9)
	usdc := w.usdc(t, w.alice, keyOf(w.bob), 1e6)
	closing := tokenBuild(9, nil, ata(t, keyOf(w.bob), w.mint), keyOf(w.bob), keyOf(w.bob))
	for name, b := range map[string]solmsg.Build{
		"receiver of lamports": without(pay, 1, "writable"), "source of a token": without(usdc, 0, "writable"),
		"destination of a token": without(usdc, 2, "writable"),
		"account to be created": without(solmsg.CreateATAIdempotent(keyOf(w.alice), keyOf(secret(60)), w.mint), 1,
			"writable"),
		"a program of the runtime": solmsg.SystemTransfer(keyOf(w.alice), solmsg.SystemProgram(), 1e9),
		"account to be approved": without(tokenBuild(4, u64(5), ata(t, keyOf(w.alice), w.mint), keyOf(w.bob),
			keyOf(w.alice)), 0, "writable"),
	} {
		if r := w.fails(t, w.alice, 0, b); !strings.Contains(r.Error, "not writable") {
			t.Errorf("%s: %s", name, r.Error)
		}
	}
	if r := w.send(t, w.alice, []ed25519.PrivateKey{w.bob}, closing); r.Success ||
		!strings.Contains(r.Error, "not writable") {
		t.Errorf("closing into an unwritable account: %+v", r)
	}
	payer := solmsg.SystemTransfer(keyOf(w.bob), keyOf(w.alice), 1e9)
	if r := w.send(t, w.alice, []ed25519.PrivateKey{w.bob}, without(payer, 0, "writable")); r.Success ||
		!strings.Contains(r.Error, "not writable") {
		t.Errorf("sender of lamports: %+v", r)
	}
	w.checkSums(t)
}

func TestOnlyASignerCanSpend(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	victim := keyOf(w.alice)
	bobs := ata(t, keyOf(w.bob), w.mint)
	w.must(t, w.treasury, solmsg.CreateATAIdempotent(keyOf(w.treasury), keyOf(w.bob), w.mint))
	for name, b := range map[string]solmsg.Build{
		"lamports":           without(solmsg.SystemTransfer(victim, keyOf(w.bob), 1e9), 0, "signer"),
		"tokens":             without(w.usdc(t, w.alice, keyOf(w.bob), 1), 3, "signer"),
		"approval":           without(tokenBuild(4, u64(1), ata(t, victim, w.mint), keyOf(w.bob), victim), 2, "signer"),
		"revocation":         without(tokenBuild(5, nil, ata(t, victim, w.mint), victim), 1, "signer"),
		"rent of an account": without(solmsg.CreateATAIdempotent(victim, keyOf(secret(60)), w.mint), 0, "signer"),
		"memo":               without(solmsg.Memo("I am alice", victim), 0, "signer"),
	} {
		if r := w.fails(t, w.bob, 0, b); !strings.Contains(r.Error, "signature is missing") {
			t.Errorf("%s: %s", name, r.Error)
		}
	}
	if r := w.fails(t, w.bob, 0, solmsg.TokenTransferChecked(ata(t, victim, w.mint), w.mint, bobs, keyOf(w.bob), 1,
		decimals)); !strings.Contains(r.Error, "may not move") {
		t.Errorf("another's tokens with one's own signature: %s", r.Error)
	}
	if w.lamports(t, victim) != 10e9 || w.tokens(t, victim) != 1_000e6 {
		t.Error("alice lost something")
	}
}

func TestAnAccountEndsWithNothingOrItsRentMinimum(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(secret(70))
	w.fails(t, w.alice, -1, solmsg.SystemTransfer(a, b, rent-1))
	w.fails(t, w.alice, -1, solmsg.SystemTransfer(a, b, 1))
	if used, err := w.Used(b); used || err != nil {
		t.Errorf("a receiver of a failed transfer is used: %t, %v", used, err)
	}
	w.must(t, w.alice, solmsg.SystemTransfer(a, b, rent))
	w.must(t, w.alice, solmsg.SystemTransfer(a, b, 1))
	all := w.lamports(t, a)
	if r := w.fails(t, w.alice, -1, solmsg.SystemTransfer(a, b, all-5_000-rent+1)); !strings.Contains(r.Error,
		"rent minimum") {
		t.Errorf("%s", r.Error)
	}
	all = w.lamports(t, a)
	w.must(t, w.alice, solmsg.SystemTransfer(a, b, all-5_000-rent))
	if got := w.lamports(t, a); got != rent {
		t.Errorf("alice has %d lamports", got)
	}
	for size, want := range map[int]uint64{0: rent, 82: 1_461_600, 165: tokenRent} {
		if got := solana.RentMinimum(size); got != want {
			t.Errorf("%d bytes: %d lamports, want %d", size, got, want)
		}
	}
	// In between an account may be below: only the end counts.
	c := keyOf(secret(71))
	w.must(t, w.treasury, solmsg.SystemTransfer(keyOf(w.treasury), c, 1),
		solmsg.SystemTransfer(keyOf(w.treasury), c, rent-1))
}

func TestATransactionIsAllOrNothingAndAFailedOnePaysItsFee(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	before := w.contents(t)
	r := w.fails(t, w.alice, 3,
		solmsg.SystemTransfer(a, b, 1e9), solmsg.CreateATAIdempotent(a, b, w.mint), w.usdc(t, w.alice, b, 5e6),
		solmsg.SystemTransfer(a, b, 100e9), solmsg.Memo("never reached"))
	if w.lamports(t, b) != 10e9 || w.tokens(t, a) != 1_000e6 || w.lamports(t, a) != 10e9-5_000 {
		t.Error("a part of the failed transaction has happened")
	}
	if _, exists, err := w.Tokens(b, w.mint); exists || err != nil {
		t.Errorf("the token account was created: %v", err)
	}
	if len(r.Changes) != 1 || r.Changes[0].Account != a.String() ||
		r.Changes[0].Before.Uint64()-r.Changes[0].After.Uint64() != 5_000 {
		t.Errorf("changes %+v", r.Changes)
	}
	if strings.Contains(strings.Join(r.Logs, "\n"), "never") ||
		!strings.Contains(r.Error, "instruction 3: insufficient funds") {
		t.Errorf("%s: %v", r.Error, r.Logs)
	}
	changed := 0
	for k, v := range w.contents(t) {
		if before[k] != v && strings.HasPrefix(k, "solana/accounts/") {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d accounts changed, want the payer's alone", changed)
	}
	w.checkSums(t)
}

func TestAMemoWantsValidUTF8AndItsSigners(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	id := "0x" + strings.Repeat("ab", 32)
	r := w.send(t, w.alice, []ed25519.PrivateKey{w.bob}, solmsg.Memo(id, keyOf(w.bob)))
	if !r.Success || !slices.Contains(r.Logs, "Program log: "+id) {
		t.Errorf("%v", r.Logs)
	}
	w.must(t, w.alice, solmsg.Memo(""))
	for _, bad := range []string{"\xff", "a\xc3", "\xed\xa0\x80", "\xc0\x80"} {
		if r := w.fails(t, w.alice, 0, solmsg.Memo(bad)); !strings.Contains(r.Error, "UTF-8") {
			t.Errorf("%q: %s", bad, r.Error)
		}
	}
}

func TestTokenTransfersFollowTheProgram(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	from, to := ata(t, a, w.mint), ata(t, b, w.mint)
	good := w.usdc(t, w.alice, b, 5e6)
	if r := w.fails(t, w.alice, 0, good); !strings.Contains(r.Error, "no token account") {
		t.Errorf("to an account that does not exist: %s", r.Error)
	}
	w.must(t, w.alice, solmsg.CreateATAIdempotent(a, b, w.mint), good)
	w.must(t, w.alice, tokenTransfer(from, to, a, 2e6))
	if w.tokens(t, b) != 7e6 || w.tokens(t, a) != 993e6 {
		t.Errorf("alice has %d, bob %d", w.tokens(t, a), w.tokens(t, b))
	}
	for name, x := range map[string]solmsg.Build{
		"too much":              w.usdc(t, w.alice, b, 993e6+1),
		"all there is and more": w.usdc(t, w.alice, b, 1<<64-1),
		"other decimals":        solmsg.TokenTransferChecked(from, w.mint, to, a, 1, 9),
		"another mint":          solmsg.TokenTransferChecked(from, b, to, a, 1, decimals),
		"from a wallet":         solmsg.TokenTransferChecked(a, w.mint, to, a, 1, decimals),
		"to a wallet":           solmsg.TokenTransferChecked(from, w.mint, b, a, 1, decimals),
		"to the mint":           solmsg.TokenTransferChecked(from, w.mint, w.mint, a, 1, decimals),
		"accounts missing":      {Program: solmsg.TokenProgram(), Accounts: good.Accounts[:3], Data: good.Data},
		"data too short":        {Program: solmsg.TokenProgram(), Accounts: good.Accounts, Data: good.Data[:9]},
		"no data":               {Program: solmsg.TokenProgram(), Accounts: good.Accounts},
	} {
		if r := w.send(t, w.alice, none(), x); r.Success || r.Instruction != 0 {
			t.Errorf("%s: success %t", name, r.Success)
		}
	}
	w.must(t, w.alice, w.usdc(t, w.alice, a, 993e6)) // to itself
	w.must(t, w.alice, w.usdc(t, w.alice, b, 0))
	if w.tokens(t, b) != 7e6 || w.tokens(t, a) != 993e6 {
		t.Errorf("alice has %d, bob %d", w.tokens(t, a), w.tokens(t, b))
	}
	w.checkSums(t)
}

func tokenTransfer(from, to, authority solmsg.Key, amount uint64) solmsg.Build {
	b := tokenBuild(3, u64(amount), from, to, authority)
	b.Accounts[1].Writable = true
	return b
}

func TestADelegateMovesAtMostWhatWasApproved(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	from, to := ata(t, a, w.mint), ata(t, b, w.mint)
	w.must(t, w.alice, solmsg.CreateATAIdempotent(a, b, w.mint))
	spend := func(n uint64) solmsg.Build { return tokenTransfer(from, to, b, n) }
	w.fails(t, w.bob, 0, spend(1))
	approveChecked := tokenBuild(13, append(u64(10), decimals), from, w.mint, b, a)
	w.must(t, w.alice, approveChecked)
	w.fails(t, w.bob, 0, spend(11))
	w.must(t, w.bob, spend(4))
	w.fails(t, w.bob, 0, spend(7))
	w.must(t, w.bob, tokenTransfer(from, from, b, 6)) // to itself uses nothing up
	w.must(t, w.bob, spend(6))
	w.fails(t, w.bob, 0, spend(0), solmsg.Memo("an approval that was used up is gone"))
	if w.tokens(t, b) != 10 {
		t.Errorf("bob has %d", w.tokens(t, b))
	}
	w.must(t, w.alice, tokenBuild(4, u64(100), from, b, a))
	w.must(t, w.alice, tokenBuild(5, nil, from, a))
	w.fails(t, w.bob, 0, spend(1))
	wrong := tokenBuild(13, append(u64(10), 9), from, w.mint, b, a)
	w.fails(t, w.alice, 0, wrong)
	w.fails(t, w.bob, 0, tokenBuild(4, u64(1), from, b, b))
	w.fails(t, w.bob, 0, tokenBuild(5, nil, from, b))
	w.checkSums(t)
}

func closing(account, destination, authority solmsg.Key) solmsg.Build {
	b := tokenBuild(9, nil, account, destination, authority)
	b.Accounts[1].Writable = true
	return b
}

func TestClosingAnEmptyTokenAccountReturnsItsRent(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	account := ata(t, b, w.mint)
	w.must(t, w.alice, solmsg.CreateATAIdempotent(a, b, w.mint), w.usdc(t, w.alice, b, 7))
	w.fails(t, w.bob, 0, closing(account, b, b))
	w.must(t, w.bob, w.usdc(t, w.bob, a, 7))
	w.fails(t, w.alice, 0, closing(account, a, a))
	w.fails(t, w.bob, 0, closing(account, account, b))
	w.fails(t, w.bob, 0, closing(b, account, b))
	before := w.lamports(t, b)
	r := w.must(t, w.bob, closing(account, b, b))
	if got := w.lamports(t, b) - before; got != tokenRent-r.Fee {
		t.Errorf("bob got %d lamports", got)
	}
	if _, exists, err := w.Tokens(b, w.mint); exists || err != nil {
		t.Errorf("the account still exists: %v", err)
	}
	if acc, err := w.Account(account); err != nil || acc.Lamports != 0 || len(acc.Data) != 0 ||
		acc.Owner != solmsg.SystemProgram() {
		t.Errorf("left behind: %+v, %v", acc, err)
	}
	// Closed and created again within one transaction.
	w.must(t, w.bob, solmsg.CreateATAIdempotent(b, b, w.mint), closing(account, b, b),
		solmsg.CreateATAIdempotent(b, b, w.mint))
	if _, exists, err := w.Tokens(b, w.mint); !exists || err != nil {
		t.Errorf("the account does not exist again: %v", err)
	}
	w.checkSums(t)
}

func TestTheAssociatedAccountIsCreatedOnceAndOnlyInItsPlace(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	idempotent := solmsg.CreateATAIdempotent(a, b, w.mint)
	create := solmsg.Build{Program: idempotent.Program, Accounts: idempotent.Accounts}
	for name, spoil := range map[string]func(*solmsg.Build){
		"another place":       func(x *solmsg.Build) { x.Accounts[1].Key = keyOf(secret(80)) },
		"another owner":       func(x *solmsg.Build) { x.Accounts[2].Key = a },
		"no mint":             func(x *solmsg.Build) { *x = solmsg.CreateATAIdempotent(a, b, keyOf(secret(81))) },
		"no token program":    func(x *solmsg.Build) { x.Accounts[5].Key = solmsg.MemoProgram() },
		"another token":       func(x *solmsg.Build) { x.Accounts[5].Key = solmsg.Token2022Program() },
		"accounts missing":    func(x *solmsg.Build) { x.Accounts = x.Accounts[:5] },
		"RecoverNested":       func(x *solmsg.Build) { x.Data = []byte{2} },
		"unknown":             func(x *solmsg.Build) { x.Data = []byte{3} },
		"more than a tag":     func(x *solmsg.Build) { x.Data = []byte{1, 0} },
		"payer is an account": func(x *solmsg.Build) { x.Accounts[0].Key = w.mint; x.Accounts[0].Signer = false },
	} {
		x := idempotent
		x.Accounts = slices.Clone(x.Accounts)
		spoil(&x)
		if r := w.send(t, w.alice, none(), x); r.Success || r.Instruction != 0 {
			t.Errorf("%s: success %t", name, r.Success)
		}
	}
	before := w.lamports(t, a)
	r := w.must(t, w.alice, create)
	if got := before - w.lamports(t, a); got != tokenRent+r.Fee {
		t.Errorf("it cost %d lamports", got)
	}
	w.fails(t, w.alice, 0, create)
	r = w.must(t, w.alice, idempotent)
	if len(r.Changes) != 1 {
		t.Errorf("creating it again changed %+v", r.Changes)
	}
	// Somebody sent lamports to the place before: the payer adds what is missing.
	c := keyOf(secret(82))
	place := ata(t, c, w.mint)
	w.must(t, w.alice, solmsg.SystemTransfer(a, place, 1_000_000))
	before = w.lamports(t, a)
	r = w.must(t, w.alice, solmsg.CreateATAIdempotent(a, c, w.mint))
	if got := before - w.lamports(t, a); got != tokenRent-1_000_000+r.Fee || w.lamports(t, place) != tokenRent {
		t.Errorf("it cost %d lamports, the account has %d", got, w.lamports(t, place))
	}
	if used, err := w.Used(c); !used || err != nil {
		t.Errorf("the owner of a token account is not used: %v", err)
	}
	w.checkSums(t)
}

func TestInstructionsThatTheLedgerDoesNotOfferFail(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a := keyOf(w.alice)
	from := ata(t, a, w.mint)
	system := func(tag uint32, size int) solmsg.Build {
		b := solmsg.SystemTransfer(a, a, 0)
		b.Data = append(binary.LittleEndian.AppendUint32(nil, tag), make([]byte, size)...)
		return b
	}
	offered := map[byte]bool{3: true, 4: true, 5: true, 9: true, 12: true, 13: true}
	for tag := range 256 {
		if !offered[byte(tag)] {
			w.fails(t, w.alice, 0, tokenBuild(byte(tag), nil, from, w.mint, a))
		}
	}
	w.fails(t, w.alice, 0, tokenBuild(7, u64(1_000), w.mint, from, a)) // MintTo
	w.fails(t, w.alice, 0, tokenBuild(8, u64(1_000), from, w.mint, a)) // Burn
	for tag := range uint32(16) {
		if tag != 2 && tag != 8 {
			w.fails(t, w.alice, 0, system(tag, 8))
		}
	}
	w.fails(t, w.alice, 0, solmsg.Build{Program: keyOf(secret(90)), Data: []byte{1}})
	w.fails(t, w.alice, 0, solmsg.Build{Program: solmsg.Token2022Program(), Accounts: w.usdc(t, w.alice, a, 1).Accounts,
		Data: w.usdc(t, w.alice, a, 1).Data})
	w.fails(t, w.alice, 0, solmsg.Build{Program: solmsg.SystemProgram(), Data: solmsg.SystemTransfer(a, a, 1).Data})
	w.checkSums(t)
}

func TestLamportsLeaveSystemAccountsOnly(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	// No key signs for a token account; an unsigned simulation can try it.
	for _, from := range []solmsg.Key{ata(t, keyOf(w.alice), w.mint), w.mint} {
		hash, _ := w.Blockhash(w.at)
		m, err := solmsg.Compose(keyOf(w.alice), hash, solmsg.SystemTransfer(from, keyOf(w.bob), 1))
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.Simulate(w.at, true, solana.Tx{Message: m.Bytes()})
		if err != nil || out[0].Success || !strings.Contains(out[0].Error, "belongs to another program") {
			t.Errorf("%+v, %v", out, err)
		}
	}
	w.must(t, w.alice, solmsg.SystemTransfer(keyOf(w.alice), keyOf(w.alice), 9e9)) // to itself
	if got := w.lamports(t, keyOf(w.alice)); got != 10e9-5_000 {
		t.Errorf("alice has %d lamports", got)
	}
}

// Revoke looks at the account before it misses the owner, as the real program does: the fault is that of the account.
func TestARevokeWithoutAnOwnerNamesTheAccountFirst(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a := keyOf(w.alice)
	for _, c := range []struct {
		at   solmsg.Key
		want string
	}{{a, "InvalidAccountData"}, {ata(t, a, w.mint), "NotEnoughAccountKeys"}} {
		revoke := tokenBuild(5, nil, c.at)
		revoke.Accounts[0].Signer = false
		r := w.send(t, w.alice, none(), revoke)
		if r.Fault == nil || r.Fault.Instruction != c.want {
			t.Errorf("%+v, expected %s", r.Fault, c.want)
		}
	}
}

// The runtime looks at the accounts of a call before it looks for the program.
func TestACreationNamesTheReadOnlyAccountBeforeTheMissingProgram(t *testing.T) {
	w := newWorld(t, store.NewMemory())
	a, b := keyOf(w.alice), keyOf(w.bob)
	for want, writable := range map[string]bool{"PrivilegeEscalation": false, "MissingAccount": true} {
		x := solmsg.CreateATAIdempotent(a, b, w.mint)
		x.Accounts = slices.Clone(x.Accounts)
		x.Accounts[1].Writable, x.Accounts[4].Key = writable, solmsg.MemoProgram()
		if r := w.send(t, w.alice, none(), x); r.Fault == nil || r.Fault.Instruction != want {
			t.Errorf("%+v, expected %s", r.Fault, want)
		}
	}
}
