package op_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/op"
)

func TestCheckTypedDataAcceptsOnlyApprove(t *testing.T) {
	good := func() api.TypedData {
		return op.Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: 8453,
			VerifyingContract: common.HexToAddress("0xA24bD06230f3F54e5bf266AE7A41750eE3b789FA")}.ApproveWire(
			common.Hash{1})
	}
	domainEntry := []api.TypedDataField{{Name: "name", Type: "string"}, {Name: "version", Type: "string"},
		{Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}}
	withDomain := good()
	withDomain.Types["EIP712Domain"] = domainEntry
	for _, td := range []api.TypedData{good(), withDomain} {
		if _, _, err := op.CheckTypedData(td); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name, code string
		spoil      func(*api.TypedData)
	}{
		{"no name", "T4", func(td *api.TypedData) { td.Domain.Name = "" }},
		{"no version", "T4", func(td *api.TypedData) { td.Domain.Version = "" }},
		{"hidden letter", "T4", func(td *api.TypedData) { td.Domain.Name += "\u200b" }},
		{"chain 0", "T2", func(td *api.TypedData) { td.Domain.ChainID = 0 }},
		{"contract checksum", "L5", func(td *api.TypedData) {
			td.Domain.VerifyingContract =
				"0xa24BD06230f3F54e5bf266AE7A41750eE3b789FA"
		}},
		{"no contract", "L5", func(td *api.TypedData) { td.Domain.VerifyingContract = "" }},
		{"primary type", "T6", func(td *api.TypedData) { td.PrimaryType = "Permit" }},
		{"short hash", "T6", func(td *api.TypedData) { td.Message.CallDataAndNonceHash = "0x01" }},
		{"long hash", "T6", func(td *api.TypedData) { td.Message.CallDataAndNonceHash += "00" }},
		{"no types", "T5", func(td *api.TypedData) { td.Types = nil }},
		{"extra type", "T5", func(td *api.TypedData) { td.Types["Permit"] = nil }},
		{"extra member", "T5", func(td *api.TypedData) {
			td.Types["Approve"] = append(td.Types["Approve"],
				td.Types["Approve"][0])
		}},
		{"other member", "T5", func(td *api.TypedData) { td.Types["Approve"][0].Type = "uint256" }},
		{"reordered domain", "T5", func(td *api.TypedData) {
			td.Types["EIP712Domain"] = []api.TypedDataField{domainEntry[1], domainEntry[0], domainEntry[2],
				domainEntry[3]}
		}},
		{"salted domain", "T5", func(td *api.TypedData) {
			td.Types["EIP712Domain"] = append(domainEntry[:4:4], api.TypedDataField{Name: "salt", Type: "bytes32"})
		}},
		{"empty domain entry", "T5", func(td *api.TypedData) { td.Types["EIP712Domain"] = nil }},
	} {
		td := good()
		c.spoil(&td)
		_, _, err := op.CheckTypedData(td)
		wantCode(t, c.name, err, c.code)
	}
}

func TestRecoverRefusesMalleableAndForeignSignatures(t *testing.T) {
	k, err := crypto.ToECDSA(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	digest := common.Hash{1}
	sig, err := op.Sign(digest, k)
	if err != nil {
		t.Fatal(err)
	}
	high := bytes.Clone(sig)
	order := crypto.S256().Params().N
	new(big.Int).Sub(order, new(big.Int).SetBytes(sig[32:64])).FillBytes(high[32:64])
	high[64] = 27 + 28 - sig[64]
	zero, raw, wide := bytes.Clone(sig), bytes.Clone(sig), append(bytes.Clone(sig), 0)
	copy(zero[:32], make([]byte, 32))
	raw[64] -= 27
	for name, s := range map[string][]byte{"high s": high, "zero r": zero, "v 0/1": raw, "66 bytes": wide,
		"64 bytes": sig[:64], "none": nil} {
		_, err := op.Recover(digest, s)
		wantCode(t, name, err, "U15")
	}
	if who, err := op.Recover(common.Hash{2}, sig); err == nil && who == crypto.PubkeyToAddress(k.PublicKey) {
		t.Error("a signature of another digest was accepted")
	}
	if _, err := op.Sign(digest, nil); err == nil {
		t.Error("signed without a key")
	}
}

func TestAuthorizationsThatMustNeverBeSigned(t *testing.T) {
	k, err := crypto.ToECDSA(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	good := op.Authorization{ChainID: big.NewInt(1), Address: common.Address{1}, Nonce: 1}
	signed, err := good.Sign(k)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, code string
		spoil      func(*op.Authorization)
	}{
		{"every chain", "D3", func(a *op.Authorization) { a.ChainID = new(big.Int) }},
		{"no chain", "D3", func(a *op.Authorization) { a.ChainID = nil }},
		{"no code", "D2", func(a *op.Authorization) { a.Address = common.Address{} }},
		{"far nonce", "D4", func(a *op.Authorization) { a.Nonce = 1 << 53 }},
	} {
		a := good
		c.spoil(&a)
		_, err := a.Sign(k)
		wantCode(t, c.name, err, c.code)
	}
	if (op.Authorization{}).Hash() != (common.Hash{}) {
		t.Error("an authorization without a chain has a hash")
	}
	_, err = op.SignedAuthorization{}.Authority()
	wantCode(t, "authority without chain", err, "D3")
	for _, c := range []struct {
		name, code string
		spoil      func(*api.DelegationSignature)
	}{
		{"unsigned", "D5", func(w *api.DelegationSignature) { w.Type = "Unsigned" }},
		{"v against parity", "D5", func(w *api.DelegationSignature) { w.YParity ^= 1 }},
		{"parity 2", "D5", func(w *api.DelegationSignature) { w.YParity, w.V = 2, "0x1d" }},
		{"short r", "D5", func(w *api.DelegationSignature) { w.R = "0x01" }},
		{"bad s", "D5", func(w *api.DelegationSignature) { w.S = "" }},
		{"address", "L5", func(w *api.DelegationSignature) { w.ContractAddress = "0x" }},
		{"chain 0", "D3", func(w *api.DelegationSignature) { w.ChainID = 0 }},
	} {
		w := signed.Wire()
		c.spoil(&w)
		_, err := op.AuthorizationFromWire(w)
		wantCode(t, c.name, err, c.code)
	}
}

func TestPaymasterDataHasOneLength(t *testing.T) {
	w := op.PaymasterWindow{ValidUntil: 1_700_000_600, ValidAfter: 1_700_000_000}
	sig := bytes.Repeat([]byte{9}, 65)
	data := op.EncodePaymasterData(w, sig)
	got, gotSig, err := op.DecodePaymasterData(data)
	if err != nil || got != w || !bytes.Equal(gotSig, sig) {
		t.Fatal(got, err)
	}
	for _, n := range []int{0, 12, 76} {
		_, _, err := op.DecodePaymasterData(data[:n])
		wantCode(t, "short", err, "U12")
	}
	_, _, err = op.DecodePaymasterData(append(data, 0))
	wantCode(t, "long", err, "U12")
	far, _, err := op.DecodePaymasterData(op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: 1 << 60}, sig))
	if err != nil || far.ValidUntil != 1<<48-1 {
		t.Error(far, err)
	}
}

func TestNoncesOutsideAWordAreRefused(t *testing.T) {
	for _, v := range []*big.Int{nil, big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 256)} {
		_, err := op.ParseNonce(v)
		wantCode(t, "nonce", err, "L3")
	}
}

func TestErrorsQuoteForeignText(t *testing.T) {
	w := sampleWire()
	w.Nonce = "\x1b]0;x\x07" + strings.Repeat("9", 500)
	_, err := op.FromWire(w)
	if s := err.Error(); strings.ContainsAny(s, "\x1b\x07") || len(s) > 400 {
		t.Errorf("unsafe message %q", s)
	}
}
