package op_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"pgregory.net/rapid"

	"coffer/api/op"
)

// wantCode fails unless err is an *op.Error with the given code.
func wantCode(t testing.TB, name string, err error, code string) {
	t.Helper()
	var refused *op.Error
	if !errors.As(err, &refused) {
		t.Errorf("%s: got %v, want a refusal %s", name, err, code)
		return
	}
	if refused.Code != code || refused.Field == "" || refused.Want == "" {
		t.Errorf("%s: got %v, want code %s", name, err, code)
	}
}

// typedData reads a vector's document for go-ethereum's general EIP-712 code, adding
// the EIP712Domain entry that the documents leave out.
func typedData(t *testing.T, raw json.RawMessage) apitypes.TypedData {
	t.Helper()
	var td apitypes.TypedData
	if err := json.Unmarshal(raw, &td); err != nil {
		t.Fatal(err)
	}
	var fields []apitypes.Type
	for _, f := range []struct {
		present    bool
		name, kind string
	}{
		{td.Domain.Name != "", "name", "string"}, {td.Domain.Version != "", "version", "string"},
		{td.Domain.ChainId != nil, "chainId", "uint256"},
		{td.Domain.VerifyingContract != "", "verifyingContract", "address"}, {td.Domain.Salt != "", "salt", "bytes32"},
	} {
		if f.present {
			fields = append(fields, apitypes.Type{Name: f.name, Type: f.kind})
		}
	}
	td.Types["EIP712Domain"] = fields
	return td
}

// The general documents are outside what CheckTypedData accepts: they are well-formed typed data,
// as go-ethereum's general code shows, and none of them gets through.
func TestGeneralDocumentsAreHashedByTheReferenceAndRefusedByUs(t *testing.T) {
	var f struct {
		SignerKey string
		Cases     []struct {
			Name, Signature string
			TypedData       json.RawMessage
			Digest          common.Hash
		}
	}
	load(t, "eip712-general.json", &f)
	count(t, len(f.Cases), 4)
	k := key(t, f.SignerKey)
	for _, c := range f.Cases {
		h, _, err := apitypes.TypedDataAndHash(typedData(t, c.TypedData))
		if err != nil || common.Hash(h) != c.Digest {
			t.Errorf("%s: reference gives %x, %v", c.Name, h, err)
		}
		wantSignature(t, c.Name, c.Digest, k, c.Signature)
		if td, err := strictTypedData(c.TypedData); err == nil {
			if _, _, err := op.CheckTypedData(td); err == nil {
				t.Errorf("%s: accepted as an Approve document", c.Name)
			}
		}
	}
}

// The hashes that viem makes too are compared with its own in seeded_test.go; the paymaster's is ours alone.
func TestPaymasterHashEqualsTheABIDefinitionAndTheWireFormRoundTrips(t *testing.T) {
	typ := func(s string) abi.Argument {
		at, err := abi.NewType(s, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		return abi.Argument{Type: at}
	}
	sponsor := abi.Arguments{typ("address"), typ("uint256"), typ("bytes32"), typ("bytes32"), typ("bytes32"),
		typ("uint256"), typ("uint256"), typ("bytes32"), typ("uint256"), typ("address"), typ("uint48"), typ("uint48")}
	pack := func(args abi.Arguments, values ...any) common.Hash {
		b, err := args.Pack(values...)
		if err != nil {
			t.Fatal(err)
		}
		return crypto.Keccak256Hash(b)
	}
	rapid.Check(t, func(rt *rapid.T) {
		u := userOp(rt)
		chain := new(big.Int).SetUint64(rapid.Uint64Range(1, 1<<62).Draw(rt, "chain"))
		p, err := u.Pack()
		if err != nil {
			rt.Fatal(err)
		}
		w := op.PaymasterWindow{ValidUntil: rapid.Uint64Range(0, 1<<48-1).Draw(rt, "until"),
			ValidAfter: rapid.Uint64Range(0, 1<<48-1).Draw(rt, "after")}
		gas := new(big.Int)
		if u.Paymaster != nil {
			gas.SetBytes(p.PaymasterAndData[20:52])
		}
		pm := address(rt, "paymaster contract")
		want := pack(sponsor, p.Sender, p.Nonce, crypto.Keccak256Hash(p.InitCode), crypto.Keccak256Hash(p.CallData),
			p.AccountGasLimits, gas, p.PreVerificationGas, p.GasFees, chain, pm, new(big.Int).SetUint64(w.ValidUntil),
			new(big.Int).SetUint64(w.ValidAfter))
		if got := op.PaymasterHash(p, w, chain, pm); got != want {
			rt.Fatal("paymaster hash differs")
		}
		again, err := op.FromWire(u.Wire())
		if err != nil || again.Wire() != u.Wire() {
			rt.Fatalf("wire round trip: %v", err)
		}
	})
}

func TestDecodeExecuteUndoesEncodeExecuteAndAgreesWithTheABIPackage(t *testing.T) {
	type execution struct {
		Target   common.Address
		Value    *big.Int
		CallData []byte
	}
	list, err := abi.NewType("tuple[]", "", []abi.ArgumentMarshaling{{Name: "target", Type: "address"},
		{Name: "value", Type: "uint256"}, {Name: "callData", Type: "bytes"}})
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		var calls []op.Call
		var reference []execution
		for i := range rapid.IntRange(1, 6).Draw(rt, "n") {
			c := op.Call{To: address(rt, "to"), Value: number(rt, fmt.Sprint("value", i), 32),
				Data: rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(rt, "data")}
			calls, reference = append(calls, c), append(reference, execution{c.To, c.Value, c.Data})
		}
		data, err := op.EncodeExecute(calls)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := op.DecodeExecute(data)
		if err != nil || !sameCalls(got, calls) {
			rt.Fatalf("%v, %v", got, err)
		}
		want, err := (abi.Arguments{{Type: list}}).Pack(reference)
		if err != nil {
			rt.Fatal(err)
		}
		if inner := data[4+3*32 : 4+3*32+len(want)]; string(inner) != string(want) {
			rt.Fatal("the batch differs from the ABI package's")
		}
	})
}

func TestSetCodeTransactionsCarryOurAuthorizations(t *testing.T) {
	var f struct {
		Signer common.Address
		Cases  []struct {
			ChainID int64
			Raw     string
			Hash    common.Hash
		}
	}
	load(t, "eip7702-tx.json", &f)
	count(t, len(f.Cases), 2)
	for _, c := range f.Cases {
		var tx types.Transaction
		if err := tx.UnmarshalBinary(unhex(t, c.Raw)); err != nil {
			t.Fatal(err)
		}
		from, err := types.Sender(types.LatestSignerForChainID(big.NewInt(c.ChainID)), &tx)
		if err != nil || from != f.Signer || tx.Hash() != c.Hash {
			t.Errorf("transaction %s from %s, %v", tx.Hash(), from, err)
		}
		for _, a := range tx.SetCodeAuthorizations() {
			ours := op.SignedAuthorization{
				Authorization: op.Authorization{ChainID: a.ChainID.ToBig(), Address: a.Address, Nonce: a.Nonce},
				R:             a.R.Bytes32(), S: a.S.Bytes32(), YParity: a.V,
			}
			want, err := a.Authority()
			if err != nil {
				t.Fatal(err)
			}
			if got, err := ours.Authority(); err != nil || got != want {
				t.Errorf("authority %s, %v; want %s", got, err, want)
			}
		}
	}
}

func address(t *rapid.T, label string) common.Address {
	return common.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(t, label))
}

func number(t *rapid.T, label string, maxBytes int) *big.Int {
	return new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, maxBytes).Draw(t, label))
}

func userOp(t *rapid.T) op.UserOp {
	u := op.UserOp{
		Sender: address(t, "sender"), Nonce: number(t, "nonce", 32),
		CallData:     rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "callData"),
		CallGasLimit: number(t, "cgl", 16), VerificationGasLimit: number(t, "vgl", 16),
		PreVerificationGas: number(t, "pvg", 32),
		MaxFeePerGas:       number(t, "fee", 16), MaxPriorityFeePerGas: number(t, "priority", 16),
		Signature: rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(t, "sig"),
	}
	if rapid.Bool().Draw(t, "has factory") {
		f := address(t, "factory")
		u.Factory, u.FactoryData = &f, rapid.SliceOfN(rapid.Byte(), 0, 50).Draw(t, "factoryData")
	}
	if rapid.Bool().Draw(t, "has paymaster") {
		p := address(t, "paymaster")
		u.Paymaster, u.PaymasterData = &p, rapid.SliceOfN(rapid.Byte(), 0, 90).Draw(t, "paymasterData")
		u.PaymasterVerificationGasLimit, u.PaymasterPostOpGasLimit = number(t, "pvgl", 16), number(t, "ppgl", 16)
	}
	return u
}
