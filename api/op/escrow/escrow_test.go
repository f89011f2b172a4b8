package escrow_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"pgregory.net/rapid"

	"coffer/api/op/escrow"
	"coffer/assets"
)

func contract(t testing.TB, name string) abi.ABI {
	t.Helper()
	a, err := assets.Contract(name)
	if err != nil {
		t.Fatal(err)
	}
	var parsed abi.ABI
	if err := json.Unmarshal(a.ABI, &parsed); err != nil {
		t.Fatal(err)
	}
	return parsed
}

func drawWord(rt *rapid.T, label string) [32]byte {
	return [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, label))
}

func drawAddress(rt *rapid.T, label string) common.Address {
	return common.Address(rapid.SliceOfN(rapid.Byte(), 20, 20).Draw(rt, label))
}

func drawNumber(rt *rapid.T, label string) *big.Int {
	return new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(rt, label))
}

func drawTerms(rt *rapid.T) escrow.Terms {
	t := escrow.Terms{TargetChain: rapid.Uint64().Draw(rt, "chain"), FillDeadline: rapid.Uint64().Draw(rt, "deadline")}
	for range rapid.IntRange(0, 4).Draw(rt, "minimums") {
		t.Minimums = append(t.Minimums, escrow.Minimum{Token: drawWord(rt, "token"), To: drawWord(rt, "to"),
			Amount: drawNumber(rt, "amount")})
	}
	for range rapid.IntRange(0, 4).Draw(rt, "operations") {
		t.Operations = append(t.Operations, drawWord(rt, "operation"))
	}
	return t
}

// abiTerms are terms as go-ethereum's encoder wants them.
type abiTerms struct {
	TargetChain  *big.Int
	FillDeadline uint64
	Minimums     []escrow.Minimum
	Operations   [][32]byte
}

func forABI(t escrow.Terms) abiTerms {
	return abiTerms{new(big.Int).SetUint64(t.TargetChain), t.FillDeadline, t.Minimums, t.Operations}
}

func TestCallsAreThoseOfTheContract(t *testing.T) {
	c := contract(t, "Escrow")
	for name, want := range map[string]string{"deposit": escrow.DepositSignature,
		"release": escrow.ReleaseSignature, "refund": escrow.RefundSignature} {
		if got := c.Methods[name].Sig; got != want {
			t.Errorf("the contract has %s, we call %s", got, want)
		}
	}
	word, err := abi.NewType("bytes32", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	payee, err := abi.NewType("address", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	hashed := abi.Arguments{{Type: payee}, {Type: word}, {Type: payee}, c.Methods["deposit"].Inputs[4]}
	rapid.Check(t, func(rt *rapid.T) {
		terms := drawTerms(rt)
		d := escrow.Deposit{QuoteID: drawWord(rt, "id"), Token: drawAddress(rt, "token"),
			Amount:         drawNumber(rt, "amount"),
			RefundDeadline: rapid.Uint64().Draw(rt, "refund deadline")}
		data := escrow.DepositCalldata(d, terms)
		want, err := c.Pack("deposit", d.QuoteID, d.Token, d.Amount, d.RefundDeadline, forABI(terms))
		if err != nil || !bytes.Equal(data, want) {
			rt.Fatalf("deposit %x, want %x, %v", data, want, err)
		}
		gotDeposit, gotTerms, ok := escrow.DecodeDeposit(data)
		again := escrow.DepositCalldata(gotDeposit, gotTerms)
		if !ok || !reflect.DeepEqual(gotTerms.Operations, terms.Operations) || !bytes.Equal(again, data) {
			rt.Fatalf("%+v %+v became %+v %+v", d, terms, gotDeposit, gotTerms)
		}
		filler, who := drawAddress(rt, "filler"), drawAddress(rt, "depositor")
		packed, err := hashed.Pack(filler, d.QuoteID, who, forABI(terms))
		if got := terms.Hash(filler, d.QuoteID, who); err != nil || got != crypto.Keccak256Hash(packed) {
			rt.Fatalf("hash %s, %v", got, err)
		}
		var signatures [][]byte
		for range rapid.IntRange(0, 3).Draw(rt, "signatures") {
			signatures = append(signatures, rapid.SliceOfN(rapid.Byte(), 0, 70).Draw(rt, "signature"))
		}
		if want, err := c.Pack("release", d.QuoteID, who, signatures); err != nil ||
			!bytes.Equal(escrow.ReleaseCalldata(d.QuoteID, who, signatures), want) {
			rt.Fatalf("release differs, %v", err)
		}
		if want, err := c.Pack("refund", d.QuoteID, who); err != nil ||
			!bytes.Equal(escrow.RefundCalldata(d.QuoteID, who), want) {
			rt.Fatalf("refund differs, %v", err)
		}
	})
}

func someTerms() escrow.Terms {
	return escrow.Terms{TargetChain: 8453, FillDeadline: 5, Operations: [][32]byte{{9}}, Minimums: []escrow.Minimum{
		{Token: escrow.Padded(common.Address{}), To: escrow.Padded(common.Address{2}), Amount: big.NewInt(3)},
		{Token: escrow.Padded(common.Address{1}), To: escrow.Padded(common.Address{2}), Amount: big.NewInt(3)},
	}}
}

func someDeposit() escrow.Deposit {
	return escrow.Deposit{QuoteID: [32]byte{1}, Token: common.Address{2}, Amount: big.NewInt(3), RefundDeadline: 6}
}

// TH-U6: another encoding of the same terms would be another text to one reader and the same call to another.
func TestDecodeDepositRefusesAnythingElse(t *testing.T) {
	data := escrow.DepositCalldata(someDeposit(), someTerms())
	for i := range data {
		if _, _, ok := escrow.DecodeDeposit(data[:i]); ok {
			t.Fatalf("%d bytes were accepted", i)
		}
	}
	const head, terms = 4, 4 + 5*32
	spoil := func(i int) []byte { b := bytes.Clone(data); b[i] ^= 1; return b }
	long := someTerms()
	long.Operations = make([][32]byte, escrow.MaxTerms+1)
	crowd := someTerms()
	for range escrow.MaxTerms {
		crowd.Minimums = append(crowd.Minimums, crowd.Minimums[0])
	}
	for name, d := range map[string][]byte{
		"selector": spoil(0), "dirty token": spoil(head + 32), "wide refund deadline": spoil(head + 96),
		"offset of the terms": spoil(terms - 1), "wide chain": spoil(terms), "wide fill deadline": spoil(terms + 32),
		"offset of the minimums": spoil(terms + 3*32 - 1), "offset of the operations": spoil(terms + 4*32 - 1),
		"number of minimums": spoil(terms + 5*32 - 1), "number of operations": spoil(len(data) - 33),
		"a trailing byte":    append(bytes.Clone(data), 0),
		"a trailing word":    append(bytes.Clone(data), make([]byte, 32)...),
		"many operations":    escrow.DepositCalldata(someDeposit(), long),
		"many minimums":      escrow.DepositCalldata(someDeposit(), crowd),
		"an earlier deposit": earlierDeposit(t, someDeposit()),
		"another encoding":   elsewhere(data),
	} {
		if gotDeposit, gotTerms, ok := escrow.DecodeDeposit(d); ok {
			t.Errorf("%s was read as %+v %+v", name, gotDeposit, gotTerms)
		}
	}
	inputs := contract(t, "Escrow").Methods["deposit"].Inputs
	same, err := inputs.Unpack(elsewhere(data)[4:])
	if want, err2 := inputs.Unpack(data[4:]); err != nil || err2 != nil || !reflect.DeepEqual(same, want) {
		t.Errorf("the other encoding says %v, want %v, %v %v", same, want, err, err2)
	}
	bad := someTerms()
	bad.Minimums[0].Amount = nil
	if escrow.DepositCalldata(someDeposit(), bad) != nil || bad.Encode() != nil {
		t.Error("an impossible minimum was encoded")
	}
	if d := someDeposit(); escrow.DepositCalldata(escrow.Deposit{QuoteID: d.QuoteID}, someTerms()) != nil {
		t.Error("an impossible amount was encoded")
	}
}

// elsewhere moves the operations before the minimums, which the contract reads as the same terms.
func elsewhere(data []byte) []byte {
	const terms = 4 + 5*32
	minimums, operations := bytes.Clone(data[terms+4*32:len(data)-64]), bytes.Clone(data[len(data)-64:])
	out := bytes.Clone(data[:terms+4*32])
	out[terms+3*32-1], out[terms+4*32-1] = 4*32+64, 4*32
	out[terms+3*32-2], out[terms+4*32-2] = 0, 0
	return append(append(out, operations...), minimums...)
}

func FuzzDecodeDeposit(f *testing.F) {
	f.Add(escrow.DepositCalldata(someDeposit(), someTerms()))
	f.Add(escrow.DepositCalldata(someDeposit(), escrow.Terms{}))
	f.Add(elsewhere(escrow.DepositCalldata(someDeposit(), someTerms())))
	c := contract(f, "Escrow").Methods["deposit"]
	f.Fuzz(func(t *testing.T, data []byte) {
		d, terms, ok := escrow.DecodeDeposit(data)
		if !ok {
			return
		}
		if !bytes.Equal(escrow.DepositCalldata(d, terms), data) {
			t.Fatalf("%x did not encode back", data)
		}
		v, err := c.Inputs.Unpack(data[4:])
		if err != nil {
			t.Fatal(err)
		}
		if want, err := c.Inputs.Pack(v...); err != nil || !bytes.Equal(want, data[4:]) {
			t.Fatalf("go-ethereum reads %v, %v", v, err)
		}
	})
}
