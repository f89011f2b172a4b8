package flow_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// recorded is one run through the real service, kept by the service's tests for those of the wallet
// (wallet/verify/testdata/golden): the answers to one intent. The service checked the signature of the prepared
// operation in it; what the wallet signs here is the same, because the keys are and no signature is random.
type recorded struct {
	name            string
	in              intent.Intent
	network         network.Descriptor
	prepared, quote *api.Document
}

// recordedNames lists the runs.
func recordedNames(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../verify/testdata/golden/*.json")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d runs, %v", len(files), err)
	}
	var out []string
	for _, f := range files {
		base := filepath.Base(f)
		out = append(out, base[:len(base)-len(".json")])
	}
	return out
}

func readRecorded(t testing.TB, name string) *recorded {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "verify", "testdata", "golden", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Now             int64
		Intent, Network json.RawMessage
		Prepared, Quote string
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		t.Fatal(err)
	}
	if f.Now != golden.Clock().Unix() {
		t.Fatalf("%s was recorded at %d", name, f.Now)
	}
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{name: name}
	if r.network, err = network.Decode(f.Network); err != nil {
		t.Fatal(err)
	}
	if r.in, err = intent.Parse(f.Intent, api.Rules{Catalog: c, Now: golden.Clock()}); err != nil {
		t.Fatal(err)
	}
	for text, d := range map[string]**api.Document{f.Prepared: &r.prepared, f.Quote: &r.quote} {
		if text == "" {
			continue
		}
		if *d, err = api.ParseDocument([]byte(text), api.DefaultLimits()); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// answer gives the recorded document if what was asked is what the intent asks; nil bodies are not compared.
func (r *recorded) answer(d *api.Document, body, want []byte) (client.Answer, error) {
	if !bytes.Equal(body, want) {
		return client.Answer{}, api.NewError(api.ErrValidation, "another body")
	}
	return client.Answer{Document: d, Received: golden.Clock(), ServerDate: golden.Clock()}, nil
}

// keys finds the keys of the recorded user: they are made from a number, which is the checksum of the run's name, or 1.
func (r *recorded) keys(t testing.TB) (evm, solana []byte) {
	t.Helper()
	for _, n := range []uint64{uint64(crc32.ChecksumIEEE([]byte(r.name))), 1} {
		key := crypto.Keccak256(binary.BigEndian.AppendUint64([]byte("settletest key"), n))
		seed := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("settletest solana key"), n))
		private, err := crypto.ToECDSA(key)
		if err != nil {
			t.Fatal(err)
		}
		signer := crypto.PubkeyToAddress(private.PublicKey).Hex()
		public := caip.FormatSolanaKey([32]byte(ed25519.NewKeyFromSeed(seed[:])[32:]))
		for _, a := range r.in.Draft().Accounts {
			switch {
			case a.SignerAddress == signer || a.SessionAddress == signer:
				evm = key
			case a.AccountAddress == public:
				solana = seed[:]
			}
		}
		if evm != nil || solana != nil {
			return evm, solana
		}
	}
	t.Fatalf("%s: its keys are not known", r.name)
	return nil, nil
}

// newRecorded makes a bench on which a recorded run is played again.
func newRecorded(t *testing.T, name string) *bench {
	t.Helper()
	r := readRecorded(t, name)
	w := golden.New(t)
	b := &bench{t: t, w: w, dir: filepath.Join(t.TempDir(), "wallet"),
		policy: verify.DefaultPolicy(r.network, w.Catalog)}
	b.f = &fake{w: w, recorded: r}
	b.useKeys(r.keys(t))
	b.reopen()
	return b
}

// toReview2 brings an operation of any kind to its second review, or to its end when that needs no second one.
func (b *bench) toReview2() *flow.Operation {
	b.t.Helper()
	o := b.start()
	if b.f.recorded.in.Kind() != intent.KindCall {
		if s, err := o.Quote(b.t.Context()); err != nil {
			b.t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
		}
		return o
	}
	if s, err := o.Prepare(b.t.Context()); err != nil {
		b.t.Fatalf("%v %v %+v", s.State, err, s.Report1.Reasons)
	}
	if s, err := o.SignPrepared(b.t.Context(), consent1(o)); err != nil {
		b.t.Fatalf("%v %v %+v", s.State, err, s.Report2.Reasons)
	}
	return o
}

// hexOfBase58 writes a Solana signature the way the journal keeps it; "" when the text is none.
func hexOfBase58(s string) string {
	b, err := caip.ParseSolanaSignature(s)
	if err != nil {
		return "not a signature"
	}
	return "0x" + hex.EncodeToString(b[:])
}
