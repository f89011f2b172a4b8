package op_test

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"coffer/api"
	"coffer/api/op"
	"coffer/assets"
)

func artifact(tb testing.TB, name string) abi.ABI {
	tb.Helper()
	a, err := assets.Contract(name)
	if err != nil {
		tb.Fatal(err)
	}
	parsed, err := abi.JSON(bytes.NewReader(a.ABI))
	if err != nil {
		tb.Fatal(err)
	}
	return parsed
}

func adminMessages(nonce *big.Int) map[string]op.AdminMessage {
	at, session := common.Address{1, 2, 3}, common.Address{9, 8}
	return map[string]op.AdminMessage{
		"rotateSession": {Action: api.AdminRotateSession, Account: at, NewSession: session, Nonce: nonce},
		"announceExit":  {Action: api.AdminAnnounceExit, Account: at, Nonce: nonce},
		"cancelExit":    {Action: api.AdminCancelExit, Account: at, Nonce: nonce},
	}
}

func TestAdminCallsAreWhatTheContractDecodes(t *testing.T) {
	validator := artifact(t, "RoleBasedECDSAValidator")
	sig := bytes.Repeat([]byte{0xab}, op.SignatureLength)
	for _, nonce := range []*big.Int{new(big.Int), big.NewInt(7),
		new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))} {
		for method, m := range adminMessages(nonce) {
			args := []any{m.Account, nonce, sig}
			if method == "rotateSession" {
				args = []any{m.Account, m.NewSession, nonce, sig}
			}
			want, err := validator.Pack(method, args...)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := m.Call(sig); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %x, %v", method, got, err)
			}
		}
	}
	at := common.Address{5}
	for method, got := range map[string][]byte{"signers": op.SignersCall(at), "adminNonce": op.AdminNonceCall(at),
		"exitAvailableAt": op.ExitAvailableAtCall(at)} {
		if want, err := validator.Pack(method, at); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, %v", method, got, err)
		}
	}
}

// The digests equal those of go-ethereum's own EIP-712.
func TestAdminDigestsEqualAnIndependentEIP712(t *testing.T) {
	verifying := common.Address{0x77}
	address, number := apitypes.Type{Name: "account", Type: "address"}, apitypes.Type{Name: "nonce", Type: "uint256"}
	types := map[string][]apitypes.Type{
		"rotateSession": {address, {Name: "newSession", Type: "address"}, number}, "announceExit": {address, number},
		"cancelExit": {address, number},
	}
	names := map[string]string{"rotateSession": "RotateSession", "announceExit": "AnnounceExit",
		"cancelExit": "CancelExit"}
	for method, m := range adminMessages(big.NewInt(41)) {
		doc := apitypes.TypedData{
			Types: apitypes.Types{
				"EIP712Domain": {{Name: "name", Type: "string"}, {Name: "version", Type: "string"},
					{Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"}},
				names[method]: types[method],
			},
			PrimaryType: names[method],
			Domain: apitypes.TypedDataDomain{Name: "RoleBasedECDSAValidator", Version: "1.4.3",
				ChainId: (*math.HexOrDecimal256)(big.NewInt(10)), VerifyingContract: verifying.Hex()},
			Message: apitypes.TypedDataMessage{"account": m.Account.Hex(), "nonce": "41"},
		}
		if method == "rotateSession" {
			doc.Message["newSession"] = m.NewSession.Hex()
		}
		want, _, err := apitypes.TypedDataAndHash(doc)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Digest(op.RoleBasedDomain(10, verifying)); err != nil || !bytes.Equal(got[:], want) {
			t.Errorf("%s: %s, %v, want %x", method, got, err, want)
		}
	}
}

func TestAdminMessageRefusesWhatTheContractHasNoFormFor(t *testing.T) {
	at, session, one := common.Address{1}, common.Address{2}, big.NewInt(1)
	sig := make([]byte, op.SignatureLength)
	for name, c := range map[string]struct {
		m    op.AdminMessage
		code string
	}{
		"unknown action":         {op.AdminMessage{Action: api.AdminOperate, Account: at, Nonce: one}, "T6"},
		"no account":             {op.AdminMessage{Action: api.AdminCancelExit, Nonce: one}, "U1"},
		"rotate without session": {op.AdminMessage{Action: api.AdminRotateSession, Account: at, Nonce: one}, "T6"},
		"cancel with session": {op.AdminMessage{Action: api.AdminCancelExit, Account: at, NewSession: session,
			Nonce: one}, "T6"},
		"no nonce":       {op.AdminMessage{Action: api.AdminCancelExit, Account: at}, "L3"},
		"negative nonce": {op.AdminMessage{Action: api.AdminCancelExit, Account: at, Nonce: big.NewInt(-1)}, "L3"},
		"too large a nonce": {op.AdminMessage{Action: api.AdminCancelExit, Account: at,
			Nonce: new(big.Int).Lsh(one, 256)}, "L3"},
	} {
		_, err := c.m.Digest(op.RoleBasedDomain(1, at))
		wantCode(t, name, err, c.code)
		_, err = c.m.Call(sig)
		wantCode(t, name, err, c.code)
	}
	_, err := op.AdminMessage{Action: api.AdminCancelExit, Account: at, Nonce: one}.Call(sig[:64])
	wantCode(t, "short signature", err, "U15")
}

func TestHandleOpsCallIsWhatTheEntryPointDecodes(t *testing.T) {
	point := artifact(t, "EntryPoint")
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) []byte {
		b := make([]byte, random.IntN(n))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return b
	}
	beneficiary := common.Address{4}
	for count := range 4 {
		var ops []op.UserOp
		var packed []op.PackedUserOp
		for range count {
			factory, paymaster := common.Address{7}, common.Address{8}
			o := op.UserOp{
				Sender: common.Address{byte(random.Uint32())}, Nonce: new(big.Int).SetBytes(some(33)),
				CallData:     some(200),
				CallGasLimit: big.NewInt(1), VerificationGasLimit: big.NewInt(2), PreVerificationGas: big.NewInt(3),
				MaxFeePerGas: big.NewInt(4), MaxPriorityFeePerGas: big.NewInt(5),
				Factory: &factory, FactoryData: some(100), Paymaster: &paymaster,
				PaymasterVerificationGasLimit: big.NewInt(6), PaymasterPostOpGasLimit: big.NewInt(7),
				PaymasterData: some(100), Signature: some(140),
			}
			p, err := o.Pack()
			if err != nil {
				t.Fatal(err)
			}
			ops, packed = append(ops, o), append(packed, p)
		}
		want, err := point.Pack("handleOps", packed, beneficiary)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := op.HandleOpsCall(beneficiary, ops...); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d operations: %x, %v", count, got, err)
		}
	}
	if _, err := op.HandleOpsCall(common.Address{}); err == nil {
		t.Error("fees for the zero address")
	}
	if _, err := op.HandleOpsCall(beneficiary, op.UserOp{}); err == nil {
		t.Error("an operation without numbers was encoded")
	}
}

func TestRoleViewsRefuseOtherAnswers(t *testing.T) {
	words := func(n int) []byte { return make([]byte, 32*n) }
	if _, _, _, err := op.DecodeSigners(words(2)); err == nil {
		t.Error("two words are no signers")
	}
	if _, _, _, err := op.DecodeSigners(append(words(3), 0)); err == nil {
		t.Error("a byte too many")
	}
	dirty := words(3)
	dirty[0] = 1
	if _, _, _, err := op.DecodeSigners(dirty); err == nil {
		t.Error("an address with something in front of it")
	}
	if _, err := op.DecodeAdminNonce(nil); err == nil {
		t.Error("no answer is no nonce")
	}
	late := words(1)
	late[25] = 1 // 2^48
	var bad *op.Error
	if _, err := op.DecodeExitAvailableAt(late); !errors.As(err, &bad) {
		t.Error("a time above 2^48")
	}
	late[25], late[26] = 0, 0x80
	if at, err := op.DecodeExitAvailableAt(late); err != nil || at != 1<<47 {
		t.Errorf("%d, %v", at, err)
	}
}

func FuzzRoleViews(f *testing.F) {
	f.Add(make([]byte, 32))
	f.Add(make([]byte, 96))
	f.Add(append(make([]byte, 12), bytes.Repeat([]byte{1}, 20)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, a, c, err := op.DecodeSigners(b); err == nil {
			var again []byte
			for _, x := range []common.Address{s, a, c} {
				again = append(again, common.LeftPadBytes(x[:], 32)...)
			}
			if !bytes.Equal(again, b) {
				t.Errorf("signers of %x read as %s %s %s", b, s, a, c)
			}
		}
		if n, err := op.DecodeAdminNonce(b); err == nil && !bytes.Equal(n.FillBytes(make([]byte, 32)), b) {
			t.Errorf("nonce of %x read as %s", b, n)
		}
		if at, err := op.DecodeExitAvailableAt(b); err == nil &&
			(at >= 1<<48 || new(big.Int).SetUint64(at).Cmp(new(big.Int).SetBytes(b)) != 0) {
			t.Errorf("time of %x read as %d", b, at)
		}
	})
}

// A digest is of one message only: each member counts.
func TestAdminDigestsDiffer(t *testing.T) {
	seen := map[common.Hash]bool{}
	for _, chain := range []uint64{1, 10} {
		for _, nonce := range []int64{0, 1} {
			for _, m := range adminMessages(big.NewInt(nonce)) {
				h, err := m.Digest(op.RoleBasedDomain(chain, common.Address{1}))
				if err != nil || seen[h] {
					t.Fatalf("%+v on %d: %s, %v", m, chain, h, err)
				}
				seen[h] = true
			}
		}
	}
	if seen[(common.Hash{})] || seen[crypto.Keccak256Hash(nil)] {
		t.Error("an empty digest")
	}
}
