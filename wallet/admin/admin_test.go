package admin

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/api/secret"
	"coffer/assets"
	"coffer/wallet/vault"
)

const base = 8453

func key(name string) *ecdsa.PrivateKey {
	k, err := crypto.ToECDSA(crypto.Keccak256([]byte("admin tests " + name)))
	if err != nil {
		panic(err) // a hash outside the curve's order: never for the names used
	}
	return k
}

func addressOf(k *ecdsa.PrivateKey) common.Address { return crypto.PubkeyToAddress(k.PublicKey) }

func descriptor(t *testing.T) network.Descriptor {
	t.Helper()
	raw, err := assets.PinnedAddresses()
	if err != nil {
		t.Fatal(err)
	}
	at := common.HexToAddress
	return network.Descriptor{ID: "0xnet", Chains: []string{"eip155:8453", "eip155:10"}, Pins: network.Pins{
		EntryPoint: at(raw.EntryPoint), Factory: at(raw.Factory), MetaFactory: at(raw.MetaFactory),
		KernelV31:          at(raw.KernelV31Implementation),
		RoleBasedValidator: at(raw.RoleBasedValidator), CoSigner: addressOf(key("co-signer")),
	}}
}

// signer is a signer for the account of the test keys, whose admin key lies in a vault.
func signer(t *testing.T) (*Signer, Account, network.Descriptor) {
	t.Helper()
	n := descriptor(t)
	keys := vault.NewMemory(n.ID)
	if _, err := keys.Add(vault.EVM, secret.New(crypto.FromECDSA(key("admin")))); err != nil {
		t.Fatal(err)
	}
	session, owner := addressOf(key("session")), addressOf(key("admin"))
	p := n.Pins
	where := op.PredictAddress(p.Factory, p.KernelV31, op.InitDataRoleBased(p.RoleBasedValidator, session, owner,
		p.CoSigner), new(big.Int))
	a, err := Read(api.Account{SessionAddress: session.Hex(), AdminAddress: owner.Hex(), AccountAddress: where.Hex()})
	if err != nil {
		t.Fatal(err)
	}
	return New(keys, n, a), a, n
}

func artifact(t *testing.T, name string) abi.ABI {
	t.Helper()
	a, err := assets.Contract(name)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := abi.JSON(bytes.NewReader(a.ABI))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// The call that is given out says what the user said, as the contract's own interface reads it, and the admin signed
// exactly that.
func TestMessagesCarryTheUsersWordsOnly(t *testing.T) {
	s, a, n := signer(t)
	validator := artifact(t, "RoleBasedECDSAValidator")
	session := common.Address{0x22}
	for method, c := range map[string]struct {
		sign   func(nonce *big.Int) (Signed, error)
		action string
		extra  []any
	}{
		"rotateSession": {func(nonce *big.Int) (Signed,
			error) {
			return s.RotateSession(t.Context(), base, nonce, session)
		}, api.AdminRotateSession, []any{session}},
		"announceExit": {func(nonce *big.Int) (Signed, error) { return s.AnnounceExit(t.Context(), base, nonce) },
			api.AdminAnnounceExit, nil},
		"cancelExit": {func(nonce *big.Int) (Signed, error) { return s.CancelExit(t.Context(), base, nonce) },
			api.AdminCancelExit, nil},
	} {
		t.Run(method, func(t *testing.T) {
			out, err := c.sign(big.NewInt(3))
			if err != nil {
				t.Fatal(err)
			}
			args, err := validator.Methods[method].Inputs.Unpack(out.Data[4:])
			if err != nil || !bytes.Equal(out.Data[:4], validator.Methods[method].ID) ||
				out.To != n.Pins.RoleBasedValidator || out.Chain != base {
				t.Fatalf("%x to %s, %v", out.Data, out.To, err)
			}
			want := append(append([]any{a.Address}, c.extra...), big.NewInt(3))
			if fmt.Sprint(args[:len(args)-1]) != fmt.Sprint(want) {
				t.Errorf("%v, want %v", args[:len(args)-1], want)
			}
			m := op.AdminMessage{Action: c.action, Account: a.Address, Nonce: big.NewInt(3)}
			if c.extra != nil {
				m.NewSession = session
			}
			digest, err := m.Digest(op.RoleBasedDomain(base, n.Pins.RoleBasedValidator))
			if err != nil {
				t.Fatal(err)
			}
			sig := args[len(args)-1].([]byte)
			if by, err := op.Recover(digest, sig); err != nil || by != a.Admin {
				t.Errorf("signed by %s, %v", by, err)
			}
			r := out.Request
			if r.Action != c.action || r.Chain != "eip155:8453" || r.Nonce != "3" ||
				r.Signature != "0x"+hex.EncodeToString(sig) || r.Account != a.Wire || r.UserOp != nil ||
				(r.NewSession == "") != (c.extra == nil) || r.Account.Type != api.AccountRoleBased {
				t.Errorf("%+v", r)
			}
		})
	}
}

func nonce(n network.Descriptor, seq uint64) *big.Int {
	return op.Nonce{Validator: n.Pins.RoleBasedValidator, Sequence: seq}.Big()
}

func TestOperateSignsTheUsersCallsWithoutFees(t *testing.T) {
	s, a, n := signer(t)
	calls := []op.Call{{To: common.Address{1}, Value: big.NewInt(5)},
		{To: common.Address{2}, Value: new(big.Int), Data: []byte{1, 2, 3}}}
	out, err := s.Operate(t.Context(), base, nonce(n, 4), calls)
	if err != nil {
		t.Fatal(err)
	}
	o, err := op.FromWire(*out.Request.UserOp)
	if err != nil {
		t.Fatal(err)
	}
	got, err := op.DecodeExecute(o.CallData)
	if err != nil || len(got) != 2 || got[0].To != calls[0].To || got[0].Value.Int64() != 5 ||
		!bytes.Equal(got[1].Data, calls[1].Data) {
		t.Errorf("%v, %v", got, err)
	}
	if o.Sender != a.Address || o.Nonce.Cmp(nonce(n, 4)) != 0 || o.Factory != nil || o.Paymaster != nil ||
		o.MaxFeePerGas.Sign() != 0 || o.MaxPriorityFeePerGas.Sign() != 0 {
		t.Errorf("%+v", o)
	}
	hash, err := o.Hash(n.Pins.EntryPoint, big.NewInt(base))
	if err != nil {
		t.Fatal(err)
	}
	if by, err := op.Recover(op.EIP191(hash), o.Signature); err != nil || by != a.Admin {
		t.Errorf("signed by %s, %v", by, err)
	}
	point := artifact(t, "EntryPoint")
	args, err := point.Methods["handleOps"].Inputs.Unpack(out.Data[4:])
	if err != nil || out.To != n.Pins.EntryPoint || args[1] != a.Admin ||
		!strings.Contains(fmt.Sprintf("%x", out.Data), fmt.Sprintf("%x", o.Signature)) {
		t.Errorf("%v, %v", args, err)
	}
}

func TestOperateRefusesNoncesAndCallsThatAreNotForAnExit(t *testing.T) {
	s, a, n := signer(t)
	call := []op.Call{{To: common.Address{1}, Value: new(big.Int)}}
	v := n.Pins.RoleBasedValidator
	for name, bad := range map[string]*big.Int{
		"none": nil, "negative": big.NewInt(-1), "no validator": new(big.Int),
		"another validator": op.Nonce{Validator: common.Address{1}}.Big(),
		"enable mode":       op.Nonce{Mode: 1, Validator: v}.Big(),
		"another type":      op.Nonce{Type: 2, Validator: v}.Big(),
		"another lane":      op.Nonce{Validator: v, Key: 1}.Big(),
		"far ahead":         nonce(n, MaxNonce+1), "too large": new(big.Int).Lsh(big.NewInt(1), 256),
	} {
		if _, err := s.Operate(t.Context(), base, bad, call); !errors.Is(err, ErrNonce) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, bad := range map[string][]op.Call{
		"none": nil, "too many": make([]op.Call, MaxCalls+1), "the account": {{To: a.Address, Value: new(big.Int)}},
		"the validator":   {{To: v, Value: new(big.Int)}},
		"the entry point": {{To: n.Pins.EntryPoint, Value: new(big.Int)}}, "no value": {{To: common.Address{1}}},
	} {
		if out, err := s.Operate(t.Context(), base, nonce(n, 0), bad); err == nil {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestMessagesOfImpossibleNoncesChainsAndKeysAreNotSigned(t *testing.T) {
	s, a, n := signer(t)
	for _, bad := range []*big.Int{nil, big.NewInt(-1), big.NewInt(MaxNonce + 1), new(big.Int).Lsh(big.NewInt(1), 70)} {
		if _, err := s.CancelExit(t.Context(), base, bad); !errors.Is(err, ErrNonce) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := s.AnnounceExit(t.Context(), 5, new(big.Int)); err == nil {
		t.Error("signed for a chain that the network does not have")
	}
	if _, err := s.Operate(t.Context(), 5, nonce(n, 0),
		[]op.Call{{To: common.Address{1}, Value: new(big.Int)}}); err == nil {
		t.Error("an operation for a chain that the network does not have")
	}
	for _, bad := range []common.Address{{}, a.Admin, n.Pins.CoSigner} {
		if _, err := s.RotateSession(t.Context(), base, new(big.Int), bad); err == nil {
			t.Errorf("%s became the session key", bad)
		}
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.CancelExit(over, base, new(big.Int)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TH-U15: what another key or a fault made does not leave.
func TestSignatureOfAnotherKeyDoesNotLeave(t *testing.T) {
	s, _, _ := signer(t)
	s.sign = func(h common.Hash, _ *ecdsa.PrivateKey) ([]byte, error) { return op.Sign(h, key("thief")) }
	if out, err := s.CancelExit(t.Context(), base, new(big.Int)); !errors.Is(err, ErrFault) || out.Data != nil {
		t.Errorf("%+v, %v", out, err)
	}
	s.sign = func(h common.Hash, k *ecdsa.PrivateKey) ([]byte, error) {
		sig, err := op.Sign(h, k)
		sig[40] ^= 1
		return sig, err
	}
	if _, err := s.CancelExit(t.Context(), base, new(big.Int)); !errors.Is(err, ErrFault) {
		t.Errorf("%v", err)
	}
}

// A key belongs to one network (protocol §4.2), and what is not there cannot sign.
func TestKeyOfAnotherNetworkDoesNotSign(t *testing.T) {
	s, _, _ := signer(t)
	s.network.ID = "0xother"
	if _, err := s.CancelExit(t.Context(), base, new(big.Int)); !errors.Is(err, vault.ErrNetwork) {
		t.Errorf("%v", err)
	}
	s, a, n := signer(t)
	a.Admin = common.Address{5}
	s = New(s.keys, n, a)
	if _, err := s.CancelExit(t.Context(), base, new(big.Int)); !errors.Is(err, vault.ErrNoKey) {
		t.Errorf("%v", err)
	}
}

func TestReadTakesRoleBasedAccountsOnly(t *testing.T) {
	_, good, n := signer(t)
	for name, bad := range map[string]api.Account{
		"kernel":     {Type: api.AccountKernelV31, AccountAddress: good.Address.Hex(), AdminAddress: good.Admin.Hex()},
		"no admin":   {Type: api.AccountRoleBased, AccountAddress: good.Address.Hex()},
		"no address": {Type: api.AccountRoleBased, AdminAddress: good.Admin.Hex()},
	} {
		if a, err := Read(bad); err == nil {
			t.Errorf("%s: %+v", name, a)
		}
	}
	to, data, ok := good.Deployment(n.Pins)
	if !ok || to != n.Pins.MetaFactory || len(data) == 0 {
		t.Errorf("%s %x %t", to, data, ok)
	}
	good.Wire.SessionAddress = common.Address{8}.Hex()
	if _, _, ok := good.Deployment(n.Pins); ok {
		t.Error("other keys deploy the account")
	}
}
