package sign

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math/big"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/wallet/verify"
)

const network = "0x00000000000000000000000000000000000000000000000000000000000000aa"

// keyring lends keys by address and remembers what it lent.
type keyring struct {
	keys map[string][]byte
	lent []secret.Secret
	uses int
}

var errNone = errors.New("no such key")

func (k *keyring) Use(_ context.Context, networkID, address string, fn func(secret.Secret) error) error {
	b, ok := k.keys[address]
	if !ok || networkID != network {
		return errNone
	}
	k.uses++
	s := secret.New(append([]byte{}, b...))
	defer s.Wipe()
	k.lent = append(k.lent, s)
	return fn(s)
}

func evmKey(label string) (*ecdsa.PrivateKey, []byte, common.Address) {
	raw := crypto.Keccak256([]byte(label))
	k, err := crypto.ToECDSA(raw)
	if err != nil {
		panic(err)
	}
	return k, raw, crypto.PubkeyToAddress(k.PublicKey)
}

func low(a common.Address) string { return strings.ToLower(a.Hex()) }

// forge fills a verified value of which only package verify can make a real one.
func forge[T any](fields map[string]any) T {
	var v T
	rv := reflect.ValueOf(&v).Elem()
	for name, x := range fields {
		f := rv.FieldByName(name)
		reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem().Set(reflect.ValueOf(x))
	}
	return v
}

func TestTH_U15_EveryVerbSignsItsOwnDigestAndChecksTheSigner(t *testing.T) {
	_, raw, address := evmKey("owner")
	seed := crypto.Keccak256([]byte("solana owner"))
	public := [32]byte(ed25519.NewKeyFromSeed(seed)[32:])
	ring := &keyring{keys: map[string][]byte{low(address): raw, caip.FormatSolanaKey(public): seed}}
	s := New(ring, network)
	ctx := context.Background()

	userOp := forge[verify.VerifiedUserOp](map[string]any{"network": network, "opHash": common.Hash{7},
		"signer": address})
	sig, err := s.SignUserOp(ctx, userOp)
	if err != nil || len(sig) != 65 {
		t.Fatal(err)
	}
	if who, err := op.Recover(op.EIP191(common.Hash{7}), sig); err != nil || who != address {
		t.Fatalf("user operation: signed by %v, %v", who, err)
	}

	domain := op.Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: 10,
		VerifyingContract: common.Address{9}}
	approve := forge[verify.VerifiedApprove](map[string]any{"network": network, "hash": common.Hash{8},
		"signer": address, "domain": domain})
	if sig, err = s.SignApprove(ctx, approve); err != nil {
		t.Fatal(err)
	}
	if who, err := op.Recover(domain.ApproveDigest(common.Hash{8}), sig); err != nil || who != address {
		t.Fatalf("approve: signed by %v, %v", who, err)
	}

	a := op.Authorization{ChainID: big.NewInt(10), Address: common.Address{5}, Nonce: 3}
	signed, err := s.SignDelegation(ctx, forge[verify.VerifiedDelegation](map[string]any{"network": network,
		"signer": address, "authorization": a}))
	if err != nil {
		t.Fatal(err)
	}
	if who, err := signed.Authority(); err != nil || who != address {
		t.Fatalf("delegation: signed by %v, %v", who, err)
	}

	message := []byte{0x80, 1, 2, 3}
	sig, err = s.SignSolana(ctx, forge[verify.VerifiedMessage](map[string]any{"network": network, "signer": public,
		"message": message}))
	if err != nil || !ed25519.Verify(public[:], message, sig) {
		t.Fatalf("solana: %v", err)
	}
	for i, l := range ring.lent {
		for _, b := range l.Reveal() {
			if b != 0 {
				t.Fatalf("key %d was not wiped", i)
			}
		}
	}
}

func TestTH_U15_AFaultySignatureNeverLeaves(t *testing.T) {
	_, raw, address := evmKey("owner")
	other, otherRaw, _ := evmKey("other")
	ctx := context.Background()
	userOp := forge[verify.VerifiedUserOp](map[string]any{"network": network, "opHash": common.Hash{7},
		"signer": address})
	good := func() *Signer { return New(&keyring{keys: map[string][]byte{low(address): raw}}, network) }
	flip := func(i int) func(common.Hash, *ecdsa.PrivateKey) ([]byte, error) {
		return func(d common.Hash, k *ecdsa.PrivateKey) ([]byte, error) {
			sig, err := op.Sign(d, k)
			if err == nil {
				sig[i] ^= 1
			}
			return sig, err
		}
	}
	highS := func(d common.Hash, k *ecdsa.PrivateKey) ([]byte, error) {
		sig, err := op.Sign(d, k)
		if err != nil {
			return nil, err
		}
		n := crypto.S256().Params().N
		new(big.Int).Sub(n, new(big.Int).SetBytes(sig[32:64])).FillBytes(sig[32:64])
		sig[64] ^= 7 // 27 becomes 28 and the other way round
		return sig, nil
	}
	for name, c := range map[string]struct {
		signer *Signer
		ecdsa  func(common.Hash, *ecdsa.PrivateKey) ([]byte, error)
	}{
		"wrong key in the vault": {New(&keyring{keys: map[string][]byte{low(address): otherRaw}}, network), op.Sign},
		"wrong key used": {good(), func(d common.Hash, _ *ecdsa.PrivateKey) ([]byte,
			error) {
			return op.Sign(d, other)
		}},
		"flipped bit in r": {good(), flip(3)},
		"flipped bit in s": {good(), flip(40)},
		"flipped parity":   {good(), flip(64)},
		"high s":           {good(), highS},
		"short": {good(), func(d common.Hash, k *ecdsa.PrivateKey) ([]byte,
			error) {
			s, err := op.Sign(d, k)
			return s[:64], err
		}},
		"empty": {good(), func(common.Hash, *ecdsa.PrivateKey) ([]byte, error) { return nil, nil }},
		"other digest": {good(), func(d common.Hash, k *ecdsa.PrivateKey) ([]byte,
			error) {
			d[0] ^= 1
			return op.Sign(d, k)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c.signer.ecdsa = c.ecdsa
			sig, err := c.signer.SignUserOp(ctx, userOp)
			if sig != nil || !errors.Is(err, ErrFault) {
				t.Fatalf("signature %x, error %v", sig, err)
			}
			a := op.Authorization{ChainID: big.NewInt(10), Address: common.Address{5}}
			if _, err := c.signer.SignDelegation(ctx,
				forge[verify.VerifiedDelegation](map[string]any{"network": network, "signer": address,
					"authorization": a})); err == nil {
				t.Fatal("the delegation left")
			}
		})
	}
}

func TestTH_S13_AFaultySolanaSignatureNeverLeaves(t *testing.T) {
	seed := crypto.Keccak256([]byte("solana owner"))
	public := [32]byte(ed25519.NewKeyFromSeed(seed)[32:])
	v := forge[verify.VerifiedMessage](map[string]any{"network": network, "signer": public, "message": []byte{0x80}})
	s := New(&keyring{keys: map[string][]byte{caip.FormatSolanaKey(public): seed}}, network)
	s.ed25519 = func(k ed25519.PrivateKey, m []byte) []byte { sig := ed25519.Sign(k, m); sig[5] ^= 1; return sig }
	if sig, err := s.SignSolana(context.Background(), v); sig != nil || !errors.Is(err, ErrFault) {
		t.Fatalf("signature %x, error %v", sig, err)
	}
	s = New(&keyring{keys: map[string][]byte{caip.FormatSolanaKey(public): seed[:31]}}, network)
	if _, err := s.SignSolana(context.Background(), v); err == nil {
		t.Fatal("signed with a short seed")
	}
}

func TestTH_U15_BytesThatAreNoKeyAreAFaultAndAreNotTold(t *testing.T) {
	_, _, address := evmKey("owner")
	userOp := forge[verify.VerifiedUserOp](map[string]any{"network": network, "opHash": common.Hash{7},
		"signer": address})
	order := crypto.S256().Params().N.Bytes()
	for name, raw := range map[string][]byte{
		"zero": make([]byte, 32), "the curve's order": order, "short": order[:31], "long": append([]byte{1}, order...),
		"nothing": {},
	} {
		s := New(&keyring{keys: map[string][]byte{low(address): raw}}, network)
		sig, err := s.SignUserOp(context.Background(), userOp)
		if sig != nil || !errors.Is(err, ErrFault) || strings.TrimPrefix(err.Error(), "sign: ") != ErrFault.Error() {
			t.Errorf("%s: signature %x, error %v", name, sig, err)
		}
	}
}

func TestOnlyVerifiedValuesOfThisNetworkAreSigned(t *testing.T) {
	_, raw, address := evmKey("owner")
	ring := &keyring{keys: map[string][]byte{low(address): raw}}
	s := New(ring, network)
	ctx := context.Background()
	_, e1 := s.SignUserOp(ctx, verify.VerifiedUserOp{})
	_, e2 := s.SignApprove(ctx, verify.VerifiedApprove{})
	_, e3 := s.SignDelegation(ctx, verify.VerifiedDelegation{})
	_, e4 := s.SignSolana(ctx, verify.VerifiedMessage{})
	for i, err := range []error{e1, e2, e3, e4} {
		if !errors.Is(err, ErrUnverified) {
			t.Errorf("verb %d: %v", i, err)
		}
	}
	elsewhere := "0x00000000000000000000000000000000000000000000000000000000000000bb"
	if _, err := s.SignUserOp(ctx, forge[verify.VerifiedUserOp](map[string]any{"network": elsewhere,
		"opHash": common.Hash{7}, "signer": address})); err == nil {
		t.Error("signed an operation of another network")
	}
	if _, err := s.SignSolana(ctx, forge[verify.VerifiedMessage](map[string]any{"network": elsewhere,
		"message": []byte{1}})); err == nil {
		t.Error("signed a message of another network")
	}
	zero := op.Authorization{ChainID: new(big.Int), Address: common.Address{5}}
	if _, err := s.SignDelegation(ctx, forge[verify.VerifiedDelegation](map[string]any{"network": network,
		"signer": address, "authorization": zero})); err == nil {
		t.Error("signed a delegation for every chain")
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.SignUserOp(stopped, forge[verify.VerifiedUserOp](map[string]any{"network": network,
		"opHash": common.Hash{7}, "signer": address})); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled signing: %v", err)
	}
	if _, err := s.SignUserOp(ctx, forge[verify.VerifiedUserOp](map[string]any{"network": network,
		"opHash": common.Hash{7}, "signer": common.Address{1}})); !errors.Is(err, errNone) {
		t.Errorf("an unknown key: %v", err)
	}
	if ring.uses != 0 {
		t.Errorf("the key was lent %d times", ring.uses)
	}
}

// TestNoExportedFunctionTakesRawBytesToSign reads the source of the packages that touch keys: here only the four verbs
// sign, each a value that the verifier made, and the vault, which has to take secrets as bytes, calls nothing that
// signs.
func TestNoExportedFunctionTakesRawBytesToSign(t *testing.T) {
	allowed := map[string]string{ // exported name -> parameter types
		"SignUserOp": "context.Context verify.VerifiedUserOp", "SignApprove": "context.Context verify.VerifiedApprove",
		"SignDelegation": "context.Context verify.VerifiedDelegation",
		"SignSolana":     "context.Context verify.VerifiedMessage",
	}
	verbs := map[string]bool{}
	for _, f := range sources(t, ".") {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			params := paramTypes(fn)
			if strings.HasPrefix(fn.Name.Name, "Sign") {
				verbs[fn.Name.Name] = true
				if allowed[fn.Name.Name] != params {
					t.Errorf("%s takes (%s)", fn.Name.Name, params)
				}
				continue
			}
			for _, raw := range []string{"[]byte", "[]uint8", "Hash", "[32]", "hash.", "TypedData", "json", "any",
				"[ ]"} {
				if strings.Contains(params, raw) {
					t.Errorf("%s takes (%s): raw material for a signature", fn.Name.Name, params)
				}
			}
		}
	}
	if len(verbs) != len(allowed) {
		t.Errorf("verbs %v", verbs)
	}
	for _, f := range sources(t, "../vault") {
		for _, name := range callsToSign(f) {
			t.Errorf("the vault calls %s", name)
		}
	}
	here := 0
	for _, f := range sources(t, ".") {
		here += len(callsToSign(f))
	}
	if here == 0 {
		t.Error("no call is found where there are some")
	}
}

// sources parses the Go files of dir and of the directories below it, whatever their build tags, without the tests.
func sources(t *testing.T, dir string) []*ast.File {
	t.Helper()
	var out []*ast.File
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		out = append(out, f)
		return err
	})
	if err != nil || len(out) == 0 {
		t.Fatalf("%d files in %s: %v", len(out), dir, err)
	}
	return out
}

// callsToSign lists the functions and methods that sign, by their names, which a file uses.
func callsToSign(f *ast.File) []string {
	signs := regexp.MustCompile(`^Sign($|[A-Z0-9])`)
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		if x, ok := n.(*ast.SelectorExpr); ok && signs.MatchString(x.Sel.Name) {
			out = append(out, x.Sel.Name)
		}
		return true
	})
	return out
}

func paramTypes(fn *ast.FuncDecl) string {
	var out []string
	for _, p := range fn.Type.Params.List {
		for range max(len(p.Names), 1) {
			out = append(out, typeName(p.Type))
		}
	}
	return strings.Join(out, " ")
}

func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return typeName(x.X) + "." + x.Sel.Name
	case *ast.StarExpr:
		return "*" + typeName(x.X)
	case *ast.ArrayType:
		if x.Len != nil {
			return "[32]" + typeName(x.Elt)
		}
		return "[]" + typeName(x.Elt)
	case *ast.InterfaceType:
		return "any"
	case *ast.FuncType:
		return "func"
	}
	return "[ ]"
}
