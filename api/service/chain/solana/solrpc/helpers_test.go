package solrpc_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
	"coffer/api/service/chain/solana/solrpc"
	"coffer/api/service/jsonrpc"
	"coffer/api/service/signers"
	"coffer/api/service/store"
)

const (
	genesisTime = 1_704_067_200
	version     = "4.3.0"
	rent        = 890_880
)

// world is a ledger with an endpoint: alice has 10 SOL and 1000 tokens, bob has nothing, the faucet has the rest.
type world struct {
	*solana.Ledger
	jsonrpc.Methods
	store              store.Store
	at                 atomic.Uint64
	faucet, alice, bob *signers.SolanaKey
	mint               solmsg.Key
}

func secret(n byte) *signers.SolanaKey {
	return signers.LocalSolana(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize)))
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldOn(t, store.NewMemory())
}

func newWorldOn(t testing.TB, s store.Store) *world {
	t.Helper()
	w := &world{store: s, faucet: secret(1), alice: secret(2), bob: secret(3),
		mint: solmsg.Key{7}}
	w.at.Store(genesisTime + 1_000)
	spec := solana.Spec{Time: genesisTime, Accounts: []solana.Allocation{
		{Key: w.faucet.Key(), Account: solana.SystemAccount(1e15)},
		{Key: w.alice.Key(), Account: solana.SystemAccount(10e9)},
		{Key: w.mint, Account: solana.MintAccount(1_000e6, 6)},
		{Key: ata(t, w.alice.Key(), w.mint), Account: solana.TokenAccount(w.alice.Key(), w.mint, 1_000e6)},
	}}
	var err error
	if w.Ledger, err = solana.Open(w.store, spec); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return time.Unix(int64(w.at.Load()), 0) }
	w.Methods = solrpc.Methods(w.Ledger, solrpc.Options{Clock: clock, Version: version,
		Airdrop: solrpc.AirdropFrom(w.Ledger, w.faucet, clock)})
	return w
}

func ata(t testing.TB, owner, mint solmsg.Key) solmsg.Key {
	t.Helper()
	k, err := solmsg.AssociatedTokenAccount(owner, mint, solmsg.TokenProgram())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ask calls a method with parameters in JSON, and returns the answer or the error as an endpoint writes them.
func (w *world) ask(ctx context.Context, t testing.TB, method, params string) string {
	t.Helper()
	var p jsonrpc.Params
	if err := json.Unmarshal([]byte(params), &p); err != nil {
		t.Fatal(err)
	}
	v, err := w.Methods[method](ctx, p)
	if err != nil {
		var e *jsonrpc.Error
		if !errors.As(err, &e) {
			t.Fatalf("%s %s: a fault: %v", method, params, err)
		}
		v = e
	}
	return marshal(t, v)
}

func marshal(t testing.TB, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// wire signs a message with a recent block hash; it is base64 as it is sent.
func (w *world) wire(t testing.TB, payer *signers.SolanaKey, builds ...solmsg.Build) string {
	t.Helper()
	hash, _ := w.RecentHash(w.at.Load())
	m, err := solmsg.Compose(payer.Key(), hash, builds...)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := solana.Sign(t.Context(), m, w.faucet, w.alice, w.bob)
	if err != nil {
		t.Fatal(err)
	}
	return encoded(tx)
}

func encoded(tx solana.Tx) string {
	raw := []byte{byte(len(tx.Signatures))}
	for _, s := range tx.Signatures {
		raw = append(raw, s[:]...)
	}
	return base64.StdEncoding.EncodeToString(append(raw, tx.Message...))
}

// send includes a transaction and returns its signature.
func (w *world) send(t testing.TB, payer *signers.SolanaKey, builds ...solmsg.Build) string {
	t.Helper()
	w.at.Add(1)
	text := w.ask(t.Context(), t, "sendTransaction", `["`+w.wire(t, payer, builds...)+`",{"encoding":"base64"}]`)
	var name string
	if err := json.Unmarshal([]byte(text), &name); err != nil {
		t.Fatal(text)
	}
	return name
}

// equal compares what methods answer.
func (w *world) equal(t *testing.T, cases [][3]string) {
	t.Helper()
	for _, c := range cases {
		if got := w.ask(t.Context(), t, c[0], c[1]); got != c[2] {
			t.Errorf("%s %s\n got %s\nwant %s", c[0], c[1], got, c[2])
		}
	}
}
