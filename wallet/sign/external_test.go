package sign

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api/caip"
	"coffer/api/op"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

const helper = "external-signer-of-the-test"

// TestMain makes the test binary a signer command when it is started as one: with the helper's name, a way to behave
// and its argument.
// answer is what a command writes.
type answer struct {
	Signature string `json:"signature"`
}

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == helper {
		os.Exit(behave(os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

// behave is the command: honest, hostile or broken.
func behave(how, arg string) int {
	line, err := io.ReadAll(os.Stdin)
	if err != nil {
		return 4
	}
	if how == "recomputes" {
		sig, err := signAfterRecomputing(line, arg)
		if err != nil {
			fmt.Fprint(os.Stderr, err)
			return 1
		}
		out, _ := json.Marshal(answer{sig})
		fmt.Println(string(out))
		return 0
	}
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return 5
	}
	label := "owner"
	if how == "another key" {
		label = "other"
	}
	key, seed, _ := evmKey(label)
	var sig string
	if r.Kind == "solana" {
		m, _ := base64.StdEncoding.DecodeString(r.Message)
		sig = caip.FormatSolanaSignature([64]byte(ed25519.Sign(ed25519.NewKeyFromSeed(seed), m)))
	} else {
		raw, _ := op.Sign(common.HexToHash(r.Digest), key)
		if how == "high s" {
			new(big.Int).Sub(crypto.S256().Params().N, new(big.Int).SetBytes(raw[32:64])).FillBytes(raw[32:64])
			raw[64] ^= 7
		}
		sig = "0x" + hex.EncodeToString(raw)
	}
	switch how {
	case "hangs":
		time.Sleep(time.Hour) // until it is killed
	case "says nothing":
		return 0
	case "fails":
		fmt.Fprint(os.Stderr, arg)
		return 1
	case "keeps":
		if err := os.WriteFile(arg, append(line, []byte(strings.Join(os.Environ(), "\n"))...), 0o600); err != nil {
			return 6
		}
	case "answers":
		fmt.Print(arg)
		return 0
	case "talks":
		fmt.Print(`{"signature":"` + strings.Repeat("a", 5000) + `"}`)
		return 0
	case "floods":
		for range 100 {
			fmt.Print(strings.Repeat("x", 1<<16))
			fmt.Fprint(os.Stderr, strings.Repeat("y", 1<<16))
		}
		return 0
	case "of another kind":
		sig = "0x" + hex.EncodeToString(make([]byte, 64))
	}
	out, _ := json.Marshal(answer{sig})
	fmt.Println(string(out))
	return 0
}

func command(t *testing.T, how, arg string) External {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return External{Command: []string{self, helper, how, arg}, Network: network}
}

// values are one verified value of each kind, of the owner's keys.
type values struct {
	userOp     verify.VerifiedUserOp
	approve    verify.VerifiedApprove
	delegation verify.VerifiedDelegation
	message    verify.VerifiedMessage
	raw        []byte
	public     [32]byte
	address    common.Address
}

func verified(t *testing.T) values {
	t.Helper()
	_, seed, address := evmKey("owner")
	v := values{address: address, public: [32]byte(ed25519.NewKeyFromSeed(seed)[32:])}
	w := golden.New(t)
	u, err := op.FromWire(*w.PreparedOperation(w.Asked()).UserOp)
	if err != nil {
		t.Fatal(err)
	}
	v.userOp = forge[verify.VerifiedUserOp](map[string]any{"network": network, "userOp": u, "chainID": uint64(8453),
		"opHash": common.Hash{7}, "signer": address})
	domain := op.Domain{Name: "RoleBasedECDSAValidator", Version: "1.4.3", ChainID: 10,
		VerifyingContract: common.Address{9}}
	v.approve = forge[verify.VerifiedApprove](map[string]any{"network": network, "hash": common.Hash{8},
		"signer": address, "domain": domain})
	a := op.Authorization{ChainID: big.NewInt(10), Address: common.Address{5}, Nonce: 3}
	v.delegation = forge[verify.VerifiedDelegation](map[string]any{"network": network, "signer": address,
		"authorization": a})
	if v.raw, err = os.ReadFile("testdata/message.bin"); err != nil {
		t.Fatal(err)
	}
	v.message = forge[verify.VerifiedMessage](map[string]any{"network": network, "signer": v.public, "message": v.raw})
	return v
}

// all signs one value of each kind and returns the errors in the order of the verbs.
func (v values) all(ctx context.Context, e External) (errs [4]error, empty bool) {
	s1, e1 := e.SignUserOp(ctx, v.userOp)
	s2, e2 := e.SignApprove(ctx, v.approve)
	s3, e3 := e.SignDelegation(ctx, v.delegation)
	s4, e4 := e.SignSolana(ctx, v.message)
	return [4]error{e1, e2, e3, e4}, s1 == nil && s2 == nil && s3 == (op.SignedAuthorization{}) && s4 == nil
}

func TestTH_U15_AnExternalSignerSignsEveryKind(t *testing.T) {
	v, e, ctx := verified(t), command(t, "signs", ""), t.Context()
	sig, err := e.SignUserOp(ctx, v.userOp)
	if who, bad := op.Recover(v.userOp.Digest(), sig); err != nil || bad != nil || who != v.address {
		t.Errorf("user operation: %v %v", err, bad)
	}
	sig, err = e.SignApprove(ctx, v.approve)
	if who, bad := op.Recover(v.approve.Digest(), sig); err != nil || bad != nil || who != v.address {
		t.Errorf("approval: %v %v", err, bad)
	}
	signed, err := e.SignDelegation(ctx, v.delegation)
	if who, bad := signed.Authority(); err != nil || bad != nil || who != v.address {
		t.Errorf("delegation: %v %v", err, bad)
	}
	sig, err = e.SignSolana(ctx, v.message)
	if err != nil || !ed25519.Verify(v.public[:], v.raw, sig) {
		t.Errorf("message: %v", err)
	}
}

func TestTH_U15_NothingButTheAccountsSignatureLeavesAnExternalSigner(t *testing.T) {
	v := verified(t)
	for name, c := range map[string]struct {
		how, arg string
		want     [4]error // of the verbs; nil: either error
	}{
		"another key":     {"another key", "", [4]error{ErrFault, ErrFault, ErrFault, ErrFault}},
		"high s":          {"high s", "", [4]error{ErrFault, ErrFault, ErrFault, nil}},
		"of another kind": {"of another kind", "", [4]error{ErrFault, ErrFault, ErrFault, ErrExternal}},
		"nothing":         {"says nothing", "", [4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"garbage": {"answers", "\x00\xffgarbage",
			[4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"not hex": {"answers", `{"signature":"0xzz"}`,
			[4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"without 0x": {"answers", `{"signature":"` + strings.Repeat("11", 65) + `"}`,
			[4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"short": {"answers", `{"signature":"0x1122"}`, [4]error{ErrFault, ErrFault, ErrFault, ErrExternal}},
		"empty": {"answers", `{"signature":""}`,
			[4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"other members": {"answers", `{"signature":"0x11","sent":true}`,
			[4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"two answers": {"answers", `{"signature":"0x11"}{"signature":"0x22"}`,
			[4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"twice in one": {"answers", `{"signature":"0x11","signature":"0x22"}`,
			[4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"more than 4 KiB":  {"talks", "", [4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"an endless text":  {"floods", "", [4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"an exit status":   {"fails", "no device", [4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
		"a silent failure": {"fails", "", [4]error{ErrExternal, ErrExternal, ErrExternal, ErrExternal}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			errs, empty := v.all(t.Context(), command(t, c.how, c.arg))
			for i, err := range errs {
				if c.want[i] != nil && !errors.Is(err, c.want[i]) {
					t.Errorf("verb %d: %v, want %v", i, err, c.want[i])
				}
			}
			if !empty && c.how != "high s" { // s of an ed25519 signature is not touched
				t.Error("a signature left")
			}
		})
	}
}

func TestTH_R1_WhatASignerCommandComplainsAboutIsCleanAndShort(t *testing.T) {
	v := verified(t)
	_, err := command(t, "fails", "\x1b]0;owned\x07\u202e device "+strings.Repeat("x", 3000)).SignUserOp(t.Context(),
		v.userOp)
	if err == nil || strings.ContainsAny(err.Error(), "\x1b\x07\u202e") || !strings.Contains(err.Error(), "device") ||
		len(err.Error()) > 800 {
		t.Errorf("%q", err)
	}
}

func TestAnExternalSignerIsEndedWithItsTimeOrItsContext(t *testing.T) {
	v := verified(t)
	e := command(t, "hangs", "")
	e.Timeout = 100 * time.Millisecond
	if _, err := e.SignUserOp(t.Context(), v.userOp); !errors.Is(err, ErrExternal) ||
		!strings.Contains(err.Error(), "in time") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := time.AfterFunc(100*time.Millisecond, cancel)
	defer stop.Stop()
	if _, err := command(t, "hangs", "").SignSolana(ctx, v.message); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := command(t, "signs", "").SignApprove(ctx, v.approve); !errors.Is(err, context.Canceled) {
		t.Errorf("started although the context had ended: %v", err)
	}
}

func TestAnExternalSignerIsToldWhatItSignsAndNothingElse(t *testing.T) {
	v := verified(t)
	path := filepath.Join(t.TempDir(), "request")
	e := command(t, "keeps", path)
	e.Env = []string{"PATH=/bin", "HOME=/home/me", "COFFER_API_KEY=sentinel", "SSH_AUTH_SOCK=/run/agent",
		"GOTRACEBACK=crash", "nonsense"}
	ask := func(want, kind, chain, address string, sign func() error) Request {
		t.Helper()
		if err := sign(); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		line, env, _ := bytes.Cut(raw, []byte("\n"))
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Version != 2 || r.Network != network || r.Kind != kind || r.Chain != chain || r.Address != address ||
			r.Digest != want {
			t.Errorf("%s", line)
		}
		if got := string(env); got != "PATH=/bin\nHOME=/home/me" && got != "HOME=/home/me\nPATH=/bin" {
			t.Errorf("environment %q", got)
		}
		return r
	}
	r := ask(v.userOp.Digest().Hex(), "userOp", "eip155:8453", v.address.Hex(),
		func() error { _, err := e.SignUserOp(t.Context(), v.userOp); return err })
	u := r.Summary.UserOp
	if u == nil || u.Hash != v.userOp.OpHash().Hex() || len(u.Calls) != 2 || u.Calls[1].Value != "7" ||
		u.Nonce != u.Fields.Nonce || !strings.EqualFold(u.Sender, u.Fields.Sender) {
		t.Fatalf("%+v", u)
	}
	if again, err := op.FromWire(u.Fields); err != nil || !reflect.DeepEqual(again, v.userOp.UserOp()) {
		t.Errorf("the fields are not those of the operation: %v", err)
	}
	r = ask(v.approve.Digest().Hex(), "approve", "eip155:10", v.address.Hex(),
		func() error { _, err := e.SignApprove(t.Context(), v.approve); return err })
	if a := r.Summary.Approve; a == nil || a.Name != "RoleBasedECDSAValidator" || a.Version != "1.4.3" ||
		a.ChainID != 10 || a.CallDataAndNonceHash != v.approve.Hash().Hex() {
		t.Errorf("%+v", a)
	}
	r = ask(v.delegation.Authorization().Hash().Hex(), "delegation", "eip155:10", v.address.Hex(),
		func() error { _, err := e.SignDelegation(t.Context(), v.delegation); return err })
	if d := r.Summary.Delegation; d == nil || d.ChainID != "10" || d.Nonce != 3 ||
		common.HexToAddress(d.Contract) != (common.Address{5}) {
		t.Errorf("%+v", d)
	}
	r = ask(messageDigest(v.raw), "solana", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", caip.FormatSolanaKey(v.public),
		func() error { _, err := e.SignSolana(t.Context(), v.message); return err })
	if s := r.Summary.Solana; s == nil || len(s.Instructions) != 2 || s.BlockHash == "" || s.FeePayer == "" ||
		r.Message != base64.StdEncoding.EncodeToString(v.raw) {
		t.Errorf("%+v", s)
	}
}

func TestAnExternalSignerSignsVerifiedValuesOfItsNetworkOnly(t *testing.T) {
	v, e := verified(t), command(t, "signs", "")
	errs, empty := values{}.all(t.Context(), e)
	for i, err := range errs {
		if !errors.Is(err, ErrUnverified) || !empty {
			t.Errorf("verb %d: %v", i, err)
		}
	}
	e.Network = "0x00000000000000000000000000000000000000000000000000000000000000bb"
	errs, empty = v.all(t.Context(), e)
	for i, err := range errs {
		if err == nil || errors.Is(err, ErrExternal) || !empty {
			t.Errorf("verb %d on another network: %v", i, err)
		}
	}
	everywhere := op.Authorization{ChainID: new(big.Int), Address: common.Address{5}}
	e.Network = network
	if _, err := e.SignDelegation(t.Context(), forge[verify.VerifiedDelegation](map[string]any{"network": network,
		"signer": v.address, "authorization": everywhere})); err == nil {
		t.Error("signed a delegation for every chain")
	}
}

func TestAnExternalSignerIsNamedByAnAbsolutePathOrFoundInPath(t *testing.T) {
	v := verified(t)
	for name, argv := range map[string][]string{
		"none": nil, "empty": {""}, "relative": {"./signer"}, "parent": {"../signer"}, "not there": {"/nowhere/signer"},
		"not in PATH":     {"no-such-signer-of-anybody"},
		"a shell's words": {"true; echo"},
	} {
		e := External{Command: argv, Network: network}
		if sig, err := e.SignUserOp(t.Context(), v.userOp); sig != nil || !errors.Is(err, ErrExternal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(self))
	e := External{Command: []string{filepath.Base(self), helper, "signs", ""}, Network: network}
	if _, err := e.SignUserOp(t.Context(), v.userOp); err != nil {
		t.Errorf("a name in PATH: %v", err)
	}
}

func TestAnExternalSignerThatClosesItsInputIsNoReasonToWait(t *testing.T) {
	v := verified(t)
	e := External{Command: []string{"true"}, Network: network}
	if sig, err := e.SignUserOp(t.Context(), v.userOp); sig != nil || !errors.Is(err, ErrExternal) {
		t.Error(err)
	}
}

func FuzzSummaryOfMessage(f *testing.F) {
	raw, err := os.ReadFile("testdata/message.bin")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		if s := messageSummary(b); s.Solana != nil && (s.Solana.FeePayer == "" || s.Solana.BlockHash == "") {
			t.Fatalf("%+v", s.Solana)
		}
	})
}
