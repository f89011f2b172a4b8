package solana_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"maps"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

const (
	genesisTime = 1_704_067_200
	totalSOL    = 1_000_000_000_000_000_000
	totalUSDC   = 1_000_000_000_000_000
	decimals    = 6
	rent        = 890_880
	tokenRent   = 2_039_280
)

// tb is what helpers need of a test, a benchmark or a rapid check.
type tb interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
	Errorf(string, ...any)
}

// secret is a key made from a number.
func secret(n int) ed25519.PrivateKey {
	seed := bytes.Repeat([]byte{7}, ed25519.SeedSize)
	binary.BigEndian.PutUint32(seed, uint32(n))
	return ed25519.NewKeyFromSeed(seed)
}

func keyOf(k ed25519.PrivateKey) solmsg.Key { return solmsg.Key(k.Public().(ed25519.PublicKey)) }

func ata(t tb, owner, mint solmsg.Key) solmsg.Key {
	t.Helper()
	k, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ledger is a Ledger whose clock never fails, asked without a context.
type ledger struct{ *solana.Ledger }

func open(s store.Store, sp solana.Spec) (ledger, error) {
	l, err := solana.Open(s, sp)
	return ledger{l}, err
}

func (l ledger) Blockhash(at uint64) (solmsg.Key, uint64) {
	hash, lastValid, err := l.Ledger.Blockhash(context.Background(), at)
	if err != nil {
		panic(err)
	}
	return hash, lastValid
}

func (l ledger) BlockhashValid(hash solmsg.Key, at uint64) bool {
	valid, err := l.Ledger.BlockhashValid(context.Background(), hash, at)
	return valid && err == nil
}

func (l ledger) Simulate(at uint64, unsigned bool, txs ...solana.Tx) ([]solana.Receipt, error) {
	return l.Ledger.Simulate(context.Background(), at, unsigned, txs...)
}

func (l ledger) Seal(req solana.SealRequest) ([]solana.Receipt, error) {
	return l.Ledger.Seal(context.Background(), req)
}

func (l ledger) Receipt(signature string) (solana.Receipt, bool, error) {
	return l.Ledger.Receipt(context.Background(), signature)
}

func (l ledger) Account(k solmsg.Key) (solana.Account, error) {
	st, err := l.State(context.Background())
	if err != nil {
		return solana.Account{}, err
	}
	defer st.Close()
	return st.Account(k)
}

func (l ledger) Lamports(k solmsg.Key) (uint64, error) {
	a, err := l.Account(k)
	return a.Lamports, err
}

func (l ledger) Tokens(owner, mint solmsg.Key) (amount uint64, exists bool, err error) {
	st, err := l.State(context.Background())
	if err != nil {
		return 0, false, err
	}
	defer st.Close()
	return st.Tokens(owner, mint)
}

// world is a ledger whose treasury has everything, and two users: alice with 10 SOL and
// 1000 USDC, and bob with 10 SOL and no token account.
type world struct {
	ledger
	store                store.Store
	treasury, alice, bob ed25519.PrivateKey
	mint                 solmsg.Key
	at                   uint64
}

func spec(t tb) (solana.Spec, ed25519.PrivateKey, solmsg.Key) {
	treasury, mint := secret(0), keyOf(secret(1_000))
	const left = totalSOL - tokenRent - 1_461_600
	return solana.Spec{Time: genesisTime, Accounts: []solana.Allocation{
		{Key: keyOf(treasury), Account: solana.SystemAccount(left)},
		{Key: mint, Account: solana.MintAccount(totalUSDC, decimals)},
		{Key: ata(t, keyOf(treasury), mint), Account: solana.TokenAccount(keyOf(treasury), mint, totalUSDC)},
	}}, treasury, mint
}

func newWorld(t tb, s store.Store) *world {
	t.Helper()
	sp, treasury, mint := spec(t)
	l, err := open(s, sp)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{ledger: l, store: s, treasury: treasury, alice: secret(1), bob: secret(2), mint: mint,
		at: genesisTime + 1_000_000}
	from := keyOf(treasury)
	w.must(t, treasury,
		solmsg.SystemTransfer(from, keyOf(w.alice), 10e9), solmsg.SystemTransfer(from, keyOf(w.bob), 10e9),
		solmsg.CreateATAIdempotent(from, keyOf(w.alice), mint),
		w.usdc(t, treasury, keyOf(w.alice), 1_000e6))
	return w
}

// usdc is a transfer between associated accounts.
func (w *world) usdc(t tb, from ed25519.PrivateKey, to solmsg.Key, amount uint64) solmsg.Build {
	t.Helper()
	return solmsg.TokenTransferChecked(ata(t, keyOf(from), w.mint), w.mint, ata(t, to, w.mint), keyOf(from), amount,
		decimals)
}

// tx composes and signs with the current block hash, one second later than the last one.
func (w *world) tx(t tb, payer ed25519.PrivateKey, others []ed25519.PrivateKey, builds ...solmsg.Build) solana.Tx {
	t.Helper()
	w.at++
	hash, _ := w.Blockhash(w.at)
	m, err := solmsg.Compose(keyOf(payer), hash, builds...)
	if err != nil {
		t.Fatal(err)
	}
	return signed(m, append(others, payer)...)
}

// signed is a message with the signatures of these keys.
func signed(m solmsg.Message, keys ...ed25519.PrivateKey) solana.Tx {
	var by []signers.Solana
	for _, k := range keys {
		by = append(by, signers.LocalSolana(k))
	}
	tx, err := solana.Sign(context.Background(), m, by...)
	if err != nil {
		panic(err)
	}
	return tx
}

func (w *world) seal(txs ...solana.Tx) ([]solana.Receipt, error) {
	return w.Seal(solana.SealRequest{Time: w.at, Txs: txs})
}

// send includes one transaction.
func (w *world) send(t tb, payer ed25519.PrivateKey, others []ed25519.PrivateKey,
	builds ...solmsg.Build) solana.Receipt {
	t.Helper()
	out, err := w.seal(w.tx(t, payer, others, builds...))
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

// must includes one transaction of the payer alone, which must succeed.
func (w *world) must(t tb, payer ed25519.PrivateKey, builds ...solmsg.Build) solana.Receipt {
	t.Helper()
	r := w.send(t, payer, nil, builds...)
	if !r.Success || r.Error != "" || r.Instruction != -1 {
		t.Fatalf("failed: %s %v", r.Error, r.Logs)
	}
	return r
}

// fails includes one transaction of the payer alone, which must fail at an instruction.
func (w *world) fails(t tb, payer ed25519.PrivateKey, instruction int, builds ...solmsg.Build) solana.Receipt {
	t.Helper()
	before := w.lamports(t, keyOf(payer))
	r := w.send(t, payer, nil, builds...)
	if r.Success || r.Error == "" || r.Instruction != instruction {
		t.Errorf("success %t at instruction %d, want a failure at %d: %s", r.Success, r.Instruction, instruction,
			r.Error)
	}
	if after := w.lamports(t, keyOf(payer)); after != before-r.Fee {
		t.Errorf("the payer went from %d to %d, the fee is %d", before, after, r.Fee)
	}
	return r
}

func (w *world) lamports(t tb, k solmsg.Key) uint64 {
	t.Helper()
	v, err := w.Lamports(k)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (w *world) tokens(t tb, owner solmsg.Key) uint64 {
	t.Helper()
	v, _, err := w.Tokens(owner, w.mint)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkSums compares with what genesis made.
func (w *world) checkSums(t tb) {
	t.Helper()
	sums, err := w.Sums()
	if err != nil {
		t.Fatal(err)
	}
	if sums.Lamports != totalSOL || len(sums.Tokens) != 1 || sums.Tokens[w.mint] != totalUSDC {
		t.Fatalf("sums are %+v", sums)
	}
	if got := w.Supply(); got != sums.Lamports-sums.Burned {
		t.Fatalf("the supply is %d, all accounts have %d", got, sums.Lamports-sums.Burned)
	}
}

// contents is everything in the ledger's buckets.
func (w *world) contents(t tb) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := w.store.View(func(tx store.Tx) error {
		for _, name := range solana.Buckets() {
			tx.Bucket(name).Ascend(nil, func(k, v []byte) bool {
				out[name+"/"+string(k)] = string(v)
				return true
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused seals and demands a refusal for a reason, after which nothing has changed.
func (w *world) refused(t tb, reason error, txs ...solana.Tx) *solana.TxError {
	t.Helper()
	before := w.contents(t)
	out, err := w.seal(txs...)
	var refusal *solana.TxError
	if !errors.As(err, &refusal) || !errors.Is(err, reason) || out != nil {
		t.Fatalf("%v, %v; want a refusal: %v", out, err, reason)
	}
	if !maps.Equal(before, w.contents(t)) {
		t.Fatalf("a refused transaction changed the store: %v", reason)
	}
	return refusal
}

func none() []ed25519.PrivateKey { return nil }
