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
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// goldenKey names the key of golden worlds.
const goldenKey = "golden key"

// signed is one thing to sign which the real verifier accepted.
type signed struct {
	name, network string
	sign          func(context.Context, External) error
}

// everything is one value of every verb and account kind, of accounts that exist and of new ones, and an approval whose
// formula is unknown.
func everything(t *testing.T) []signed {
	t.Helper()
	var out []signed
	for _, kind := range []string{api.AccountKernelV31, api.AccountKernelV33, api.AccountRoleBased} {
		for name, fresh := range map[string]bool{"": false, ", new": true} {
			w := golden.NewOf(t, kind, false)
			w.Deploy = fresh
			out = append(out, ofSigning(kind+name, w.Network.ID, judged(t, w).Signing())...)
		}
	}
	w := golden.NewOf(t, api.AccountRoleBased, false)
	w.Network.Formulas = nil
	n, err := w.Network.WithID()
	if err != nil {
		t.Fatal(err)
	}
	w.Network, w.Draft.Network = n, n.ID
	out = append(out, ofSigning("role-based, formula unknown", n.ID, judged(t, w).Signing())...)
	v := verified(t)
	return append(out, signed{"solana", network, func(ctx context.Context,
		e External) error {
		_, err := e.SignSolana(ctx, v.message)
		return err
	}})
}

func judged(t *testing.T, w *golden.World) *verify.PreparedOp {
	t.Helper()
	policy := verify.DefaultPolicy(w.Network, w.Catalog)
	policy.Limits.Gates = []string{verify.GateBlindSigning}
	p, report := verify.Prepared(w.Intent(), policy, verify.NoHistory{}, golden.Clock(),
		w.Document(w.PrepareResponse()))
	if p == nil {
		t.Fatalf("refused: %+v", report.Reasons)
	}
	return p
}

func ofSigning(name, networkID string, s verify.Signing) []signed {
	var out []signed
	add := func(verb string, sign func(context.Context, External) error) {
		out = append(out, signed{name + ": " + verb, networkID, sign})
	}
	if v, ok := s.UserOp(); ok {
		add("userOp", func(ctx context.Context, e External) error { _, err := e.SignUserOp(ctx, v); return err })
	}
	if v, ok := s.Approve(); ok {
		add("approve", func(ctx context.Context, e External) error { _, err := e.SignApprove(ctx, v); return err })
	}
	if v, ok := s.Delegation(); ok {
		add("delegation", func(ctx context.Context, e External) error {
			_, err := e.SignDelegation(ctx,
				v)
			return err
		})
	}
	return out
}

// signAfterRecomputing is a signer that trusts nothing but its own arithmetic.
func signAfterRecomputing(line []byte, label string) (string, error) {
	toSign, kind, err := recompute(line)
	if err != nil {
		return "", err
	}
	key, _, _ := evmKey(label)
	if kind == "solana" {
		_, seed, _ := evmKey("owner")
		return caip.FormatSolanaSignature([64]byte(ed25519.Sign(ed25519.NewKeyFromSeed(seed), toSign))), nil
	}
	sig, err := crypto.Sign(toSign, key)
	if err != nil {
		return "", err
	}
	sig[64] += 27
	return "0x" + hex.EncodeToString(sig), nil
}

// TestK14_AnotherProgramComputesWhatItSignsForEveryVerbAndAccount: a program that signs only what it computed itself
// makes a signature that is accepted.
func TestK14_AnotherProgramComputesWhatItSignsForEveryVerbAndAccount(t *testing.T) {
	verbs := map[string]int{}
	for _, c := range everything(t) {
		e := command(t, "recomputes", goldenKey)
		e.Network = c.network
		if err := c.sign(t.Context(), e); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		_, verb, _ := strings.Cut(c.name, ": ")
		verbs[verb]++
	}
	if fmt.Sprint(verbs) != "map[:1 approve:3 delegation:1 userOp:4]" {
		t.Errorf("what was signed: %v", verbs)
	}
}

// TestK14_AnotherProgramRefusesContentOfAnotherDigest: the values say one thing and would have another one signed.
func TestK14_AnotherProgramRefusesContentOfAnotherDigest(t *testing.T) {
	w := golden.NewOf(t, api.AccountRoleBased, false)
	approve, _ := judged(t, w).Signing().Approve()
	about, known := approve.Approved()
	about.CallData[len(about.CallData)-1] ^= 1
	if again, _ := approve.Approved(); !known || bytes.Equal(again.CallData, about.CallData) {
		t.Fatal("what is approved is not a copy")
	}
	k := golden.NewOf(t, api.AccountKernelV31, false)
	userOp, _ := judged(t, k).Signing().UserOp()
	lies := map[string]func(e External) error{
		"another operation": func(e External) error {
			_, err := e.SignUserOp(t.Context(), forge[verify.VerifiedUserOp](map[string]any{
				"network": network, "kind": userOp.Kind(), "userOp": userOp.UserOp(), "chainID": userOp.ChainID(),
				"entryPoint": userOp.EntryPoint(),
				"signer":     userOp.Signer(), "opHash": common.Hash{7},
			}))
			return err
		},
		"another chain": func(e External) error {
			_, err := e.SignUserOp(t.Context(), forge[verify.VerifiedUserOp](map[string]any{
				"network": network, "kind": userOp.Kind(), "userOp": userOp.UserOp(), "chainID": userOp.ChainID() + 1,
				"entryPoint": userOp.EntryPoint(),
				"signer":     userOp.Signer(), "opHash": userOp.OpHash(),
			}))
			return err
		},
		"other calls than those approved": func(e External) error {
			_, err := e.SignApprove(t.Context(), forge[verify.VerifiedApprove](map[string]any{
				"network": network, "kind": approve.Kind(), "signer": approve.Signer(), "domain": approve.Domain(),
				"hash": approve.Hash(), "approved": &about,
			}))
			return err
		},
	}
	for name, sign := range lies {
		if err := sign(command(t, "recomputes", goldenKey)); !errors.Is(err, ErrExternal) ||
			!strings.Contains(err.Error(), ", not ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// requests are what the command was given for everything, by name.
func requests(t *testing.T) map[string][]byte {
	t.Helper()
	cases := map[string]signed{}
	for _, c := range everything(t) {
		cases[c.name] = c
	}
	return given(t, cases)
}

// given is the line that the command reads in each case.
func given(t *testing.T, cases map[string]signed) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, c := range cases {
		path := filepath.Join(t.TempDir(), "request")
		e := command(t, "keeps", path)
		e.Network, e.Env = c.network, []string{"PATH=/bin"}
		_ = c.sign(t.Context(), e) // the command's key is not the one of golden worlds
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		line, _, _ := bytes.Cut(raw, []byte("\n"))
		out[name] = line
	}
	return out
}

// leaves lists the paths of the texts and numbers in v.
func leaves(v any, path ...any) [][]any {
	var out [][]any
	switch x := v.(type) {
	case map[string]any:
		for name, member := range x {
			out = append(out, leaves(member, append(slices.Clone(path), name)...)...)
		}
	case []any:
		for i, item := range x {
			out = append(out, leaves(item, append(slices.Clone(path), i)...)...)
		}
	default:
		out = append(out, path)
	}
	return out
}

// lie writes the request with another value at a leaf of its content, or without it.
func lie(t *testing.T, line []byte, path []any, leaveOut bool) []byte {
	t.Helper()
	var whole map[string]any
	if err := json.Unmarshal(line, &whole); err != nil {
		t.Fatal(err)
	}
	at := whole["content"]
	for _, step := range path[:len(path)-1] {
		if i, ok := step.(int); ok {
			at = at.([]any)[i]
			continue
		}
		at = at.(map[string]any)[step.(string)]
	}
	holder, name := at.(map[string]any), path[len(path)-1].(string)
	switch v := holder[name].(type) {
	case float64:
		holder[name] = v + 1
	case string:
		last := "a"
		if strings.HasSuffix(strings.ToLower(v), "a") {
			last = "b"
		}
		holder[name] = v[:len(v)-1] + last
	}
	if leaveOut {
		delete(holder, name)
	}
	b, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// noticed is the refusal of a request; the program of the test does not look before it reads, so what is missing may
// end it.
func noticed(line []byte) (err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("ended: %v", what)
		}
	}()
	_, _, err = recompute(line)
	return err
}

// TestK14_EveryMemberOfTheContentIsBoundToTheDigest: whatever is changed in a content, or left out, a program that
// computes the digest notices.
func TestK14_EveryMemberOfTheContentIsBoundToTheDigest(t *testing.T) {
	for name, line := range requests(t) {
		if err := noticed(line); err != nil {
			t.Errorf("%s: the truth is refused: %v", name, err)
		}
		var r struct{ Content any }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		for _, path := range leaves(r.Content) {
			if noticed(lie(t, line, path, false)) == nil || noticed(lie(t, line, path, true)) == nil {
				t.Errorf("%s: nothing notices a lie at %v", name, path)
			}
		}
	}
}

// TestK14_AnOldSignerReadsWhatItAlwaysRead: but for the version, a request of version 1 is the beginning of one of
// version 2, byte for byte.
func TestK14_AnOldSignerReadsWhatItAlwaysRead(t *testing.T) {
	for name, line := range requests(t) {
		var r Request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		old, err := json.Marshal(struct {
			Version int     `json:"version"`
			Network string  `json:"network"`
			Kind    string  `json:"kind"`
			Address string  `json:"address"`
			Digest  string  `json:"digest"`
			Message string  `json:"message,omitempty"`
			Chain   string  `json:"chain"`
			Summary Summary `json:"summary"`
		}{2, r.Network, r.Kind, r.Address, r.Digest, r.Message, r.Chain, r.Summary})
		if err != nil {
			t.Fatal(err)
		}
		if rest, ok := bytes.CutPrefix(line, old[:len(old)-1]); !ok ||
			!bytes.HasPrefix(rest, []byte(`,"content":{"accountKind":`)) {
			t.Errorf("%s: %s\nwas %s", name, line, old)
		}
	}
}

// TestK14_NoSecretReachesTheCommand looks for keys, whole and in every spelling, in all that the command is given, and
// for members that no document names.
func TestK14_NoSecretReachesTheCommand(t *testing.T) {
	known := []string{
		"accountKind", "address", "approved", "authorization", "callData", "callDataAndNonceHash", "callGasLimit",
		"chainId", "domain", "entryPoint", "factory",
		"factoryData", "maxFeePerGas", "maxPriorityFeePerGas", "message", "name", "nonce", "paymaster", "paymasterData",
		"paymasterPostOpGasLimit",
		"paymasterVerificationGasLimit", "preVerificationGas", "primaryType", "scheme", "sender", "type", "typedData",
		"types", "userOp", "userOpHash",
		"verificationGasLimit", "verifyingContract", "version",
	}
	for name, line := range requests(t) {
		for _, label := range []string{"owner", goldenKey} {
			_, raw, _ := evmKey(label)
			whole := ed25519.NewKeyFromSeed(raw)
			for _, spelling := range []string{
				string(raw),
				hex.EncodeToString(raw), base64.StdEncoding.EncodeToString(raw),
				base64.RawURLEncoding.EncodeToString(raw), caip.FormatSolanaKey([32]byte(raw)),
				caip.FormatSolanaSignature([64]byte(whole)), base64.StdEncoding.EncodeToString(whole),
				new(big.Int).SetBytes(raw).String(),
			} {
				if bytes.Contains(bytes.ToLower(line), []byte(strings.ToLower(spelling))) {
					t.Errorf("%s: a key is in the request", name)
				}
			}
		}
		var r struct{ Content any }
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		for _, path := range leaves(r.Content) {
			for _, step := range path {
				if member, ok := step.(string); ok && !slices.Contains(known, member) && member != "Approve" &&
					member != "EIP712Domain" {
					t.Errorf("%s: the content has a member %s", name, member)
				}
			}
		}
	}
}
