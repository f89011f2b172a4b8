package outsign_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"coffer/api/networks"
	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/op/filler"
	"coffer/api/service/outsign"
	"coffer/api/service/outsign/outsigntest"
	"coffer/api/service/signers"
)

// TestMain is a signer as well: a command that signs the digest of what it hashed itself.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "sign" {
		os.Exit(command(os.Args[2]))
	}
	os.Exit(m.Run())
}

const worthless = "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d"

func command(keyHex string) int {
	var r struct {
		Kind, Digest, Address string
		Content               struct{ Preimage hexutil.Bytes }
	}
	if json.NewDecoder(os.Stdin).Decode(&r) != nil {
		return 2
	}
	digest := crypto.Keccak256(r.Content.Preimage)
	if hexutil.Encode(digest) != r.Digest {
		fmt.Fprintln(os.Stderr, "the digest is of something else")
		return 3
	}
	fmt.Printf("{\"signature\":%q}\n", hexutil.Encode(outsigntest.Sign(keyHex, digest)))
	return 0
}

func same(b []byte) []byte { return b }

func attestation() escrow.Attestation {
	return escrow.Place{ChainID: 42161, Escrow: common.Address{5}, Salt: [32]byte{7}}.Attestation([32]byte{1},
		common.Address{2}, common.Hash{3})
}

// transactions are one of each type that lanes send.
func transactions() []*types.Transaction {
	to := common.Address{4}
	return []*types.Transaction{
		types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(8453), Nonce: 7, Gas: 90_000, To: &to,
			Value: big.NewInt(5), Data: filler.VoidCalldata(common.Hash{1}), GasTipCap: big.NewInt(1e9),
			GasFeeCap: big.NewInt(3e9)}),
		types.NewTx(&types.SetCodeTx{ChainID: uint256.NewInt(8453), Nonce: 8, Gas: 90_000, To: to,
			GasTipCap: uint256.NewInt(1e9), GasFeeCap: uint256.NewInt(3e9),
			AuthList: []types.SetCodeAuthorization{{ChainID: *uint256.NewInt(8453), Address: to, Nonce: 1, V: 1,
				R: *uint256.NewInt(2), S: *uint256.NewInt(3)}}}),
		types.NewTx(&types.LegacyTx{Nonce: 9, Gas: 21_000, To: &to, GasPrice: big.NewInt(1e9)}),
	}
}

// all are the kinds of signers with one key; at is its address.
func all(t *testing.T, keyHex string, spoil func([]byte) []byte) (map[string]*outsign.Key, common.Address) {
	t.Helper()
	key, err := crypto.HexToECDSA(worthless)
	if err != nil {
		t.Fatal(err)
	}
	at := crypto.PubkeyToAddress(key.PublicKey)
	start := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*outsign.Key{}
	for _, s := range []networks.Signer{
		{Kind: networks.Web3Signer, URL: start(outsigntest.Web3Signer(keyHex, spoil))},
		{Kind: networks.Clef, URL: start(outsigntest.Clef(keyHex, 8453, spoil))},
		{Kind: networks.Command, Command: []string{self, "sign", keyHex}},
	} {
		s.Address = at
		out[s.Kind] = outsign.New(outsign.Options{Signer: s, Network: "0xaa", Within: 20 * time.Second})
	}
	return out, at
}

func TestSignersOutsideSignWhatTheyAreGiven(t *testing.T) {
	keys, at := all(t, worthless, same)
	here, err := crypto.HexToECDSA(worthless)
	if err != nil {
		t.Fatal(err)
	}
	own := signers.Local(here)
	for name, k := range keys {
		if k.Address() != at {
			t.Errorf("%s is %s", name, k.Address())
		}
		for _, tx := range transactions() {
			want, err := own.SignTx(t.Context(), tx, big.NewInt(8453))
			if err != nil {
				t.Fatal(err)
			}
			got, err := k.SignTx(t.Context(), tx, big.NewInt(8453))
			if name == networks.Clef && tx.Type() != types.DynamicFeeTxType {
				if !errors.Is(err, outsign.ErrSigner) {
					t.Errorf("clef signed type %d: %v", tx.Type(), err)
				}
				continue
			}
			if err != nil || got.Hash() != want.Hash() {
				t.Errorf("%s, type %d: %v", name, tx.Type(), err)
			}
		}
		want, _ := own.SignMessage(t.Context(), common.Hash{9})
		if got, err := k.SignMessage(t.Context(), common.Hash{9}); err != nil || hex.EncodeToString(got) !=
			hex.EncodeToString(want) {
			t.Errorf("%s, a message: %x, %v", name, got, err)
		}
		want, _ = own.SignAttestation(t.Context(), attestation())
		if got, err := k.SignAttestation(t.Context(), attestation()); err != nil || hex.EncodeToString(got) !=
			hex.EncodeToString(want) {
			t.Errorf("%s, an attestation: %x, %v", name, got, err)
		}
	}
}

// A Clef signs for one chain, and only what it can decode: each chain has its own, and every call of an operator is
// named to it.
func TestEachChainHasItsClefAndEveryCallOfAnOperatorIsNamedToIt(t *testing.T) {
	key, err := crypto.HexToECDSA(worthless)
	if err != nil {
		t.Fatal(err)
	}
	at := crypto.PubkeyToAddress(key.PublicKey)
	urls := map[int64]string{}
	for _, chain := range []int64{10, 8453} {
		s := httptest.NewServer(outsigntest.Clef(worthless, chain, same))
		t.Cleanup(s.Close)
		urls[chain] = s.URL
	}
	k := outsign.New(outsign.Options{Signer: networks.Signer{Kind: networks.Clef, Address: at, URL: urls[10],
		Chains: map[uint64]string{8453: urls[8453]}}})
	id, who := common.Hash{1}, common.Address{2}
	terms := escrow.Terms{TargetChain: 10, FillDeadline: 5, Operations: [][32]byte{{7}},
		Minimums: []escrow.Minimum{{Token: escrow.Padded(common.Address{3}), To: escrow.Padded(who),
			Amount: big.NewInt(1)}}}
	pays, _ := filler.Pays(terms.Minimums)
	one := op.UserOp{Sender: who, Nonce: new(big.Int), CallData: []byte{1}, CallGasLimit: big.NewInt(1),
		VerificationGasLimit: big.NewInt(1), PreVerificationGas: new(big.Int), MaxFeePerGas: new(big.Int),
		MaxPriorityFeePerGas: new(big.Int), Signature: []byte{2}}
	fill, err := filler.FillCalldata(id, who, terms, pays, one)
	if err != nil {
		t.Fatal(err)
	}
	run, err := filler.RunCalldata(5, one)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"fill": fill, "run": run, "nothing": nil, "void": filler.VoidCalldata(id),
		"release": escrow.ReleaseCalldata(id, who, [][]byte{make([]byte, 65)}),
		"refund":  escrow.RefundCalldata(id, who), "refund of the filler": filler.RefundCalldata(who, id, who),
	} {
		for _, chain := range []int64{10, 8453, 1} {
			tx := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(chain), Gas: 90_000, To: &who, Data: data,
				GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(3e9)})
			if _, err := k.SignTx(t.Context(), tx, big.NewInt(chain)); (err == nil) != (chain != 1) {
				t.Errorf("%s on %d: %v", name, chain, err)
			}
		}
	}
	unknown := types.NewTx(&types.DynamicFeeTx{ChainID: big.NewInt(10), Gas: 90_000, To: &who,
		Data: []byte{0xde, 0xad, 0xbe, 0xef}, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(3e9)})
	if _, err := k.SignTx(t.Context(), unknown, big.NewInt(10)); !errors.Is(err, outsign.ErrSigner) {
		t.Errorf("it signs what cannot be decoded: %v", err)
	}
}

// The client asks what the interface of Web3Signer has, and nothing else: the list of keys once, then a document by the
// key that the list names, in each form that a public key has. The key is that of Web3Signer's own acceptance test.
func TestWeb3SignerIsAskedAsItsInterfaceSays(t *testing.T) {
	const secret = "8f2a55949038a9610f50fb23b5883af3b4ecb3c3bb792cbcefbd1542c692be63"
	const public = "09b02f8a5fddd222ade4ea4528faefc399623af3f736be3c44f03e2df22fb792" +
		"f3931a4d9573d333ca74343305762a753388c3422a86d98b713fc91c1ea04842"
	key, err := crypto.HexToECDSA(secret)
	if err != nil {
		t.Fatal(err)
	}
	at := crypto.PubkeyToAddress(key.PublicKey)
	for _, id := range []string{"0x" + public, public, "0x04" + public, strings.ToUpper(public),
		hexutil.Encode(crypto.CompressPubkey(&key.PublicKey))} {
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.URL.RequestURI())
			if r.Method == http.MethodGet {
				_ = json.NewEncoder(w).Encode([]string{id})
				return
			}
			r.URL.Path = "/api/v1/eth1/sign/" + public
			outsigntest.Web3Signer(secret, same).ServeHTTP(w, r)
		}))
		k := outsign.New(outsign.Options{
			Signer: networks.Signer{Kind: networks.Web3Signer, URL: s.URL + "/", Address: at}})
		for range 2 {
			if _, err := k.SignMessage(t.Context(), common.Hash{9}); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		sign := "POST /api/v1/eth1/sign/" + id
		if want := []string{"GET /api/v1/eth1/publicKeys", sign, sign}; !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
		s.Close()
	}
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound, http.StatusInternalServerError} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_ = json.NewEncoder(w).Encode([]string{public})
				return
			}
			w.WriteHeader(status)
		}))
		k := outsign.New(outsign.Options{Signer: networks.Signer{Kind: networks.Web3Signer, URL: s.URL, Address: at}})
		if _, err := k.SignMessage(t.Context(), common.Hash{9}); !errors.Is(err, outsign.ErrSigner) ||
			!strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("%d: %v", status, err)
		}
		s.Close()
	}
}

// A signer with another key, or one that changes a signature, gives none.
func TestASignatureOfAnotherKeyOrDocumentNeverLeaves(t *testing.T) {
	other := strings.Repeat("11", 32)
	flipped := func(b []byte) []byte { b[5] ^= 1; return b }
	for what, keys := range map[string]func() (map[string]*outsign.Key, common.Address){
		"another key":         func() (map[string]*outsign.Key, common.Address) { return all(t, other, same) },
		"a changed signature": func() (map[string]*outsign.Key, common.Address) { return all(t, worthless, flipped) },
	} {
		got, _ := keys()
		for name, k := range got {
			if what == "a changed signature" && name == networks.Command {
				continue // it has no hand on its answer
			}
			for verb, do := range map[string]func() error{
				"transaction": func() error {
					_, err := k.SignTx(t.Context(), transactions()[0], big.NewInt(8453))
					return err
				},
				"message":     func() error { _, err := k.SignMessage(t.Context(), common.Hash{9}); return err },
				"attestation": func() error { _, err := k.SignAttestation(t.Context(), attestation()); return err },
			} {
				if err := do(); !errors.Is(err, outsign.ErrSigner) {
					t.Errorf("%s of %s, a %s: %v", what, name, verb, err)
				}
			}
		}
	}
}

// What a signer answers that is no answer is an error without a panic, and one that hangs ends.
func TestASignerThatAnswersNonsenseOrNotAtAllIsAnError(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"nonsense": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"result":{"raw":"0x02"}}`)
		},
		"an error":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"elsewhere": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) },
		"too much":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100<<10)) },
		"silence": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
	} {
		s := httptest.NewServer(h)
		for _, kind := range []string{networks.Web3Signer, networks.Clef} {
			k := outsign.New(outsign.Options{Within: 300 * time.Millisecond,
				Signer: networks.Signer{Kind: kind, URL: s.URL, Address: common.Address{1}}})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if _, err := k.SignTx(ctx, transactions()[0], big.NewInt(8453)); !errors.Is(err, outsign.ErrSigner) {
				t.Errorf("%s of %s: %v", name, kind, err)
			}
			if _, err := k.SignAttestation(ctx, attestation()); !errors.Is(err, outsign.ErrSigner) {
				t.Errorf("%s of %s: %v", name, kind, err)
			}
			cancel()
		}
		s.Close()
	}
}

func FuzzAnswersOfSigners(f *testing.F) {
	f.Add([]byte(`["0x04aa"]`), []byte(`0x11`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"raw":"0x02c0"}}`), []byte(`{"result":"0x"}`))
	tx := transactions()[0]
	f.Fuzz(func(t *testing.T, first, second []byte) {
		turn := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if turn++; turn%2 == 1 {
				_, _ = w.Write(first)
				return
			}
			_, _ = w.Write(second)
		}))
		defer s.Close()
		for _, kind := range []string{networks.Web3Signer, networks.Clef} {
			k := outsign.New(outsign.Options{Within: time.Second,
				Signer: networks.Signer{Kind: kind, URL: s.URL, Address: common.Address{1}}})
			if _, err := k.SignTx(t.Context(), tx, big.NewInt(8453)); err == nil {
				t.Fatal("took a signature that no key made")
			}
			if _, err := k.SignMessage(t.Context(), common.Hash{1}); err == nil {
				t.Fatal("took a signature that no key made")
			}
		}
	})
}
