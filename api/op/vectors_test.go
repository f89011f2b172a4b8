package op_test

import (
	"bytes"
	"crypto/ecdsa"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
)

// load reads a vector file; testdata/vectors/README.md says where they come from.
func load(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// unhex reads 0x hex of a vector.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	if s == "" || s[:2] != "0x" {
		t.Fatalf("vector without 0x: %q", s)
	}
	b, err := hex.DecodeString(s[2:])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func dec(t testing.TB, s string) *big.Int {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("vector is not a number: %q", s)
	}
	return v
}

func key(t testing.TB, s string) *ecdsa.PrivateKey {
	t.Helper()
	k, err := crypto.ToECDSA(unhex(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// count fails when a vector file lost cases.
func count(t *testing.T, got, want int) {
	t.Helper()
	if got != want {
		t.Fatalf("%d cases, want %d", got, want)
	}
}

// wantSignature signs, compares with the vector and recovers the signer.
func wantSignature(t *testing.T, name string, digest common.Hash, k *ecdsa.PrivateKey, want string) {
	t.Helper()
	sig, err := op.Sign(digest, k)
	if err != nil || !bytes.Equal(sig, unhex(t, want)) {
		t.Errorf("%s: signature %x, %v", name, sig, err)
		return
	}
	who, err := op.Recover(digest, sig)
	if err != nil || who != crypto.PubkeyToAddress(k.PublicKey) {
		t.Errorf("%s: recovered %s, %v", name, who, err)
	}
}

func TestUserOpHashesEqualTheVectors(t *testing.T) {
	var f struct {
		SignerKey string
		Cases     []struct {
			Name       string
			ChainID    uint64
			EntryPoint common.Address
			UserOp     api.UserOp
			Packed     struct{ InitCode, AccountGasLimits, GasFees, PaymasterAndData string }
			UserOpHash common.Hash
			EIP191     common.Hash
			Signature  string
		}
	}
	load(t, "userop-v07.json", &f)
	count(t, len(f.Cases), 14)
	k := key(t, f.SignerKey)
	for _, c := range f.Cases {
		c.UserOp.Signature = "0x"
		u, err := op.FromWire(c.UserOp)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		p, err := u.Pack()
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if !bytes.Equal(p.InitCode, unhex(t, c.Packed.InitCode)) ||
			!bytes.Equal(p.PaymasterAndData, unhex(t, c.Packed.PaymasterAndData)) ||
			!bytes.Equal(p.AccountGasLimits[:], unhex(t, c.Packed.AccountGasLimits)) ||
			!bytes.Equal(p.GasFees[:], unhex(t, c.Packed.GasFees)) {
			t.Errorf("%s: packed form differs", c.Name)
		}
		hash, err := u.Hash(c.EntryPoint, new(big.Int).SetUint64(c.ChainID))
		if err != nil || hash != c.UserOpHash || op.EIP191(hash) != c.EIP191 {
			t.Errorf("%s: hash %s, %v; want %s", c.Name, hash, err, c.UserOpHash)
		}
		wantSignature(t, c.Name, op.EIP191(hash), k, c.Signature)
		again, err := op.Unpack(p)
		if err != nil || again.Wire() != u.Wire() {
			t.Errorf("%s: unpacked to %+v, %v", c.Name, again.Wire(), err)
		}
	}
}

func TestApproveDocumentsEqualTheVectors(t *testing.T) {
	var f struct {
		SignerKey string
		Cases     []struct {
			Name, CallData, Nonce, Signature string
			Sender                           common.Address
			TypedData                        api.TypedData
			Digest                           common.Hash
		}
	}
	load(t, "eip712-approve.json", &f)
	count(t, len(f.Cases), 21)
	k := key(t, f.SignerKey)
	for _, c := range f.Cases {
		d, hash, err := op.CheckTypedData(c.TypedData)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if want := op.CallDataAndNonceHash(c.Sender, unhex(t, c.CallData), dec(t, c.Nonce)); hash != want {
			t.Errorf("%s: document carries %s, formula gives %s", c.Name, hash, want)
		}
		if got := d.ApproveDigest(hash); got != c.Digest {
			t.Errorf("%s: digest %s, want %s", c.Name, got, c.Digest)
		}
		wantSignature(t, c.Name, d.ApproveDigest(hash), k, c.Signature)
		back, backHash, err := op.CheckTypedData(d.ApproveWire(hash))
		if err != nil || back != d || backHash != hash {
			t.Errorf("%s: our own document reads as %+v, %v", c.Name, back, err)
		}
	}
}

func TestAuthorizationsEqualTheVectors(t *testing.T) {
	var f struct {
		SignerKey string
		Signer    common.Address
		Cases     []struct {
			Name            string
			ChainID, Nonce  uint64
			ContractAddress common.Address
			Hash            common.Hash
			R, S, V         string
			YParity         uint8
		}
	}
	load(t, "eip7702-authorization.json", &f)
	count(t, len(f.Cases), 48)
	k := key(t, f.SignerKey)
	refusedZero := 0
	for _, c := range f.Cases {
		a := op.Authorization{ChainID: new(big.Int).SetUint64(c.ChainID), Address: c.ContractAddress, Nonce: c.Nonce}
		if a.Hash() != c.Hash {
			t.Errorf("%s: hash %s, want %s", c.Name, a.Hash(), c.Hash)
		}
		want := op.SignedAuthorization{Authorization: a, R: [32]byte(unhex(t, c.R)), S: [32]byte(unhex(t, c.S)),
			YParity: c.YParity}
		if who, err := want.Authority(); err != nil || who != f.Signer {
			t.Errorf("%s: authority %s, %v", c.Name, who, err)
		}
		if v := dec(t, c.V).Uint64(); v != uint64(27+c.YParity) {
			t.Errorf("%s: v %d with parity %d", c.Name, v, c.YParity)
		}
		got, err := a.Sign(k)
		if c.ChainID == 0 {
			wantCode(t, c.Name, err, "D3")
			refusedZero++
			continue
		}
		if err != nil || got.R != want.R || got.S != want.S || got.YParity != want.YParity {
			t.Errorf("%s: signed %+v, %v", c.Name, got, err)
			continue
		}
		back, err := op.AuthorizationFromWire(got.Wire())
		if err != nil || back.Hash() != got.Hash() || back.R != got.R || back.S != got.S ||
			back.YParity != got.YParity {
			t.Errorf("%s: wire form reads as %+v, %v", c.Name, back, err)
		}
	}
	if refusedZero != 6 {
		t.Errorf("%d vectors with chain id 0 were refused for signing, want 6", refusedZero)
	}
}

func TestPersonalMessagesEqualTheVectors(t *testing.T) {
	var f struct {
		SignerKey string
		Cases     []struct {
			Message   *string
			Raw       string
			Hash      common.Hash
			Signature string
		}
	}
	load(t, "eip191.json", &f)
	count(t, len(f.Cases), 7)
	k := key(t, f.SignerKey)
	for i, c := range f.Cases {
		var message []byte
		if c.Message != nil {
			message = []byte(*c.Message)
		} else {
			message = unhex(t, c.Raw)
		}
		digest := op.EIP191Message(message)
		if digest != c.Hash {
			t.Errorf("case %d: %s, want %s", i, digest, c.Hash)
		}
		if len(message) == 32 && op.EIP191(common.Hash(message)) != c.Hash {
			t.Errorf("case %d: EIP191 of 32 bytes differs", i)
		}
		wantSignature(t, "personal message", digest, k, c.Signature)
	}
}

func TestExecuteEncodingsEqualTheVectors(t *testing.T) {
	var f struct {
		Cases []struct {
			Name, Mode, CallData string
			Calls                []struct {
				To          common.Address
				Value, Data string
			}
		}
	}
	load(t, "erc7579-execute.json", &f)
	count(t, len(f.Cases), 8)
	kinds := map[string]int{}
	for _, c := range f.Cases {
		var calls []op.Call
		for _, x := range c.Calls {
			calls = append(calls, op.Call{To: x.To, Value: dec(t, x.Value), Data: unhex(t, x.Data)})
		}
		data, mode := unhex(t, c.CallData), unhex(t, c.Mode)
		got, err := op.DecodeExecute(data)
		switch {
		case mode[1] != 0:
			kinds["try"]++
			wantCode(t, c.Name, err, "U5")
			// Without the try flag the same bytes are an ordinary batch.
			data[5] = 0
			got, err = op.DecodeExecute(data)
		case mode[0] == 1:
			kinds["batch"]++
			if enc, err := op.EncodeExecute(calls); err != nil || !bytes.Equal(enc, data) {
				t.Errorf("%s: encoded differently, %v", c.Name, err)
			}
		default:
			kinds["single"]++
		}
		if err != nil || !sameCalls(got, calls) {
			t.Errorf("%s: decoded %v, %v", c.Name, got, err)
		}
	}
	if kinds["try"] != 3 || kinds["batch"] != 3 || kinds["single"] != 2 {
		t.Errorf("kinds %v", kinds)
	}
}

func TestNoncesEqualTheVectors(t *testing.T) {
	var f struct {
		Cases []struct{ Mode, Type, Identifier, Key, Sequence, Key192, Nonce string }
	}
	load(t, "nonce-key.json", &f)
	count(t, len(f.Cases), 5)
	for i, c := range f.Cases {
		var id common.Address
		copy(id[:], unhex(t, c.Identifier)) // shorter ids stand on the left
		want := op.Nonce{
			Mode: unhex(t, c.Mode)[0], Type: unhex(t, c.Type)[0], Validator: id,
			Key: uint16(new(big.Int).SetBytes(unhex(t, c.Key)).Uint64()), Sequence: dec(t, c.Sequence).Uint64(),
		}
		got, err := op.ParseNonce(dec(t, c.Nonce))
		if err != nil || got != want {
			t.Errorf("case %d: %+v, %v", i, got, err)
		}
		if got.Big().String() != c.Nonce || got.Key192().Cmp(new(big.Int).SetBytes(unhex(t, c.Key192))) != 0 {
			t.Errorf("case %d: back to %s and %x", i, got.Big(), got.Key192())
		}
	}
}

func sameCalls(a, b []op.Call) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].To != b[i].To || a[i].Value.Cmp(b[i].Value) != 0 || !bytes.Equal(a[i].Data, b[i].Data) {
			return false
		}
	}
	return true
}
