package verify_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

const stranger = "0x000000000000000000000000000000000000dEaD"

// refused demands a refusal under the given row of the threat table, with a place and words.
func refused(t *testing.T, ok bool, r verify.Report, code string) {
	t.Helper()
	if ok {
		t.Fatalf("accepted; want a refusal %s; report %+v", code, r.Reasons)
	}
	if !r.Has(code, verify.Refuse) {
		t.Fatalf("want a refusal %s, got %+v", code, r.Reasons)
	}
	for _, x := range r.Reasons {
		if x.Title == "" || len([]rune(x.Got)) > 200 {
			t.Fatalf("a reason without plain words or with endless text: %+v", x)
		}
	}
}

// prepareRefused changes a golden answer on the service's side and demands a refusal.
func prepareRefused(t *testing.T, code string, change func(w *world, r *api.PrepareResponse)) {
	t.Helper()
	w := newWorld(t)
	r := w.PrepareResponse()
	change(w, &r)
	p, report := w.prepared(w.Document(r))
	refused(t, p != nil, report, code)
}

// again makes the typed data fit a changed user operation, as a careful attacker would.
func (w *world) again(o *api.ChainOperation, chainID uint64) {
	u, err := op.FromWire(*o.UserOp)
	if err != nil {
		return
	}
	d := op.Domain{Name: "ECDSAValidator", Version: "0.3.1", ChainID: chainID, VerifyingContract: w.Network.Pins.ECDSAValidator}
	td := d.ApproveWire(op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce))
	o.TypedDataToSign = &td
}

func (w *world) withCalls(r *api.PrepareResponse, calls ...op.Call) {
	r.ChainOperation = w.PreparedOperation(calls)
}

func nonceOf(n op.Nonce) string { return n.Big().String() }

func TestL3_NumbersHaveOnePlainForm(t *testing.T) {
	for _, bad := range []string{"1e9", "0x10", "-1", " 1", "01", "1 ", "+1", "1.0", "1_000", "", strings.Repeat("9", 79), "115792089237316195423570985008687907853269984665640564039457584007913129639936"} {
		for _, field := range []string{"nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas", "maxPriorityFeePerGas", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit"} {
			w := newWorld(t)
			doc := replace(t, w.Document(w.PrepareResponse()), "/chainOperation/userOp/"+field, bad)
			p, r := w.prepared(doc)
			refused(t, p != nil, r, "L3")
		}
	}
}

func TestL3_JSONFormsAreExact(t *testing.T) {
	for pointer, bad := range map[string]any{
		"/chainOperation/userOp/sender": 1, "/chainOperation/userOp/factory": nil, "/chainOperation/amount": []int{}, "/callType": true,
		"/chainOperation/typedDataToSign/domain/chainId": "8453", "/accounts/0/type": map[string]int{},
	} {
		w := newWorld(t)
		base := w.Document(w.PrepareResponse())
		w2 := newWorld(t)
		w2.Deploy = true
		if strings.HasSuffix(pointer, "factory") {
			base = w2.Document(w2.PrepareResponse())
		}
		p, r := w.prepared(replace(t, base, pointer, bad))
		refused(t, p != nil, r, "L3")
	}
}

func TestL4_UnknownMembersOfAnOperationAreRefused(t *testing.T) {
	for _, pointer := range []string{
		"/chainOperation/userOp/initCode", "/chainOperation/userOp/paymasterAndData", "/chainOperation/operation", "/chainOperation/userOp/to",
		"/chainOperation/typedDataToSign/domain/salt", "/chainOperation/typedDataToSign/message/extra", "/chainOperation/type",
		"/chainOperation/typedDataToSign/types/Permit", "/chainOperation/dataToSign",
	} {
		w := newWorld(t)
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), pointer, "0x00"))
		refused(t, p != nil, r, "L4")
	}
}

func TestL4_UnknownMembersElsewhereAreCarriedAndCounted(t *testing.T) {
	w := newWorld(t)
	p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/extra", map[string]any{"a": 1, "b": []int{1, 2}}))
	if p == nil || !r.Has("L4", verify.Show) {
		t.Fatalf("report %+v", r.Reasons)
	}
}

func TestL5_AddressesNeedACorrectChecksumOrNone(t *testing.T) {
	prepareRefused(t, "L5", func(w *world, r *api.PrepareResponse) {
		s := w.Account.Hex()
		flipped := strings.ToUpper(s[2:])
		r.ChainOperation.UserOp.Sender = "0x" + flipped
	})
	prepareRefused(t, "L5", func(w *world, r *api.PrepareResponse) {
		r.Accounts = []api.Account{r.Accounts[0]}
		r.Accounts[0].AccountAddress = "0x" + strings.ToUpper(w.Account.Hex()[2:])
	})
}

func TestP1_AccountsAreExactlyThoseThatWereSent(t *testing.T) {
	other := api.Account{Type: api.AccountSolana, AccountAddress: "EB8Hi4LoqUVCGUPJ2y9MsHbEsJQJvmpQRUWrLpjEZxC6"}
	for name, change := range map[string]func(w *world, r *api.PrepareResponse){
		"dropped":       func(_ *world, r *api.PrepareResponse) { r.Accounts = nil },
		"added":         func(_ *world, r *api.PrepareResponse) { r.Accounts = append(r.Accounts[:1:1], other) },
		"other signer":  func(_ *world, r *api.PrepareResponse) { r.Accounts[0].SignerAddress = stranger },
		"other address": func(_ *world, r *api.PrepareResponse) { r.Accounts[0].AccountAddress = stranger },
		"other type":    func(_ *world, r *api.PrepareResponse) { r.Accounts[0].Type = api.AccountKernelV33 },
		"swapped roles": func(w *world, r *api.PrepareResponse) {
			r.Accounts[0].SignerAddress, r.Accounts[0].AccountAddress = w.Account.Hex(), w.Signer.Hex()
		},
		"session added": func(_ *world, r *api.PrepareResponse) { r.Accounts[0].SessionAddress = stranger },
		"EIP7702":       func(_ *world, r *api.PrepareResponse) { r.Accounts[0].DeploymentType = api.DeploymentEIP7702 },
	} {
		t.Run(name, func(t *testing.T) { prepareRefused(t, "P1", change) })
	}
}

func TestP2_TheOperationIsAnEVMOperation(t *testing.T) {
	w := newWorld(t)
	base := w.Document(w.PrepareResponse())
	for _, gone := range []string{"/chainOperation/userOp", "/chainOperation/typedDataToSign"} {
		p, r := w.prepared(drop(t, base, gone))
		refused(t, p != nil, r, "P2")
	}
}

func TestP3_TheIntegrityMarkIsCarriedButNeverTakenForHonesty(t *testing.T) {
	prepareRefused(t, "P3", func(_ *world, r *api.PrepareResponse) { r.TamperProofSignature = "0x" + strings.Repeat("ab", 1025) })
	prepareRefused(t, "P3", func(_ *world, r *api.PrepareResponse) { r.TamperProofSignature = "verified" })
	w := newWorld(t)
	p, r := w.prepared(w.Document(w.PrepareResponse()))
	for _, c := range r.Passed {
		if strings.Contains(strings.ToLower(c.Title), "verified") {
			t.Errorf("a check claims that the mark was verified: %q", c.Title)
		}
	}
	if p == nil {
		t.Fatal("refused")
	}
}

func TestP4_TheWayOfPayingIsKnown(t *testing.T) {
	prepareRefused(t, "P4", func(_ *world, r *api.PrepareResponse) { r.CallType = "same_chain" })
}

func TestP5_DecimalsComeFromTheRegistry(t *testing.T) {
	prepareRefused(t, "P5", func(_ *world, r *api.PrepareResponse) { r.SourceAssetBalances[0].Decimals = 18 })
	w := newWorld(t)
	answer := w.PrepareResponse()
	answer.SourceAssetBalances[0].AssetType = "eip155:8453/erc20:0x000000000000000000000000000000000000dead"
	p, r := w.prepared(w.Document(answer))
	if p == nil || !r.Has("P5", verify.Warn) {
		t.Fatalf("an unlisted asset must be pointed out: %+v", r.Reasons)
	}
}

func TestP6_BalancesAreOnlyEverShown(t *testing.T) {
	prepareRefused(t, "P6", func(_ *world, r *api.PrepareResponse) { r.SourceAssetBalances[0].Balance = "-5" })
	w := newWorld(t)
	p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/sourceAssetBalances/0/fiatValue", -1))
	refused(t, p != nil, r, "L3")
}

func TestP7_TheOperationNamesTheRequiredTokenAndAmount(t *testing.T) {
	prepareRefused(t, "P7", func(_ *world, r *api.PrepareResponse) { r.ChainOperation.Amount = "250500001" })
	prepareRefused(t, "P7", func(_ *world, r *api.PrepareResponse) { r.ChainOperation.AssetType = arbUSDC })
}

func TestU1_TheSenderFollowsFromTheKey(t *testing.T) {
	prepareRefused(t, "U1", func(w *world, r *api.PrepareResponse) {
		w.Account = common.HexToAddress(stranger)
		r.ChainOperation = w.Operation(8453, op.LanePrepared, 0, false, w.Asked(), baseUSDC, "250500000")
	})
}

func TestU1_AnIntentWithAForeignAccountIsRefused(t *testing.T) {
	w := newWorld(t)
	w.Account = common.HexToAddress(stranger)
	w.Draft.Accounts[0].AccountAddress = stranger // intent and answer agree on an account that our key does not own
	p, r := w.prepared(w.Document(w.PrepareResponse()))
	refused(t, p != nil, r, "U1")
}

func TestU1_OtherAccountTypesAreNotSignedYet(t *testing.T) {
	w := newWorld(t)
	w.Draft.Accounts = []api.Account{{Type: api.AccountKernelV33, SignerAddress: w.Signer.Hex(), AccountAddress: w.Signer.Hex(), DeploymentType: api.DeploymentEIP7702}}
	w.Account = w.Signer
	p, r := w.prepared(w.Document(w.PrepareResponse()))
	refused(t, p != nil, r, "U1")
}

// TestU2_OtherModesAndTypesOfTheNonceAreRefused sends every mode, every type and a sample of both through the whole judgement, with typed data that fits.
func TestU2_OtherModesAndTypesOfTheNonceAreRefused(t *testing.T) {
	w := newWorld(t)
	w.Freeze()
	answer := w.PrepareResponse()
	for i := 1; i < 1<<16; i++ {
		n := op.Nonce{Mode: byte(i >> 8), Type: byte(i), Validator: w.Network.Pins.ECDSAValidator}
		if n.Mode != 0 && n.Type != 0 && i%61 != 0 {
			continue
		}
		u := *answer.ChainOperation.UserOp
		u.Nonce = nonceOf(n)
		answer.ChainOperation.UserOp = &u
		w.again(&answer.ChainOperation, 8453)
		if p, r := w.prepared(w.Document(answer)); p != nil || !r.Has("U2", verify.Refuse) {
			t.Fatalf("mode %02x type %02x accepted", n.Mode, n.Type)
		}
	}
}

func TestU2_TheValidatorAndTheLaneOfTheNonceAreFixed(t *testing.T) {
	for name, n := range map[string]op.Nonce{
		"foreign validator": {Validator: common.HexToAddress(stranger)},
		"role-based":        {Validator: newWorld(t).Network.Pins.RoleBasedValidator},
		"funding lane":      {Validator: newWorld(t).Network.Pins.ECDSAValidator, Key: op.LaneFunding},
		"another lane":      {Validator: newWorld(t).Network.Pins.ECDSAValidator, Key: 0xffff},
	} {
		t.Run(name, func(t *testing.T) {
			prepareRefused(t, "U2", func(w *world, r *api.PrepareResponse) {
				r.ChainOperation.UserOp.Nonce = nonceOf(n)
				w.again(&r.ChainOperation, 8453)
			})
		})
	}
}

// memory is a small History.
type memory struct {
	live  []*big.Int
	next  uint64
	known bool
	seen  string
	paid  []common.Address
}

func (m memory) LiveNonces(common.Address, uint64, uint16, time.Time) []*big.Int { return m.live }
func (m memory) NextSequence(common.Address, uint64, uint16) (uint64, bool)      { return m.next, m.known }
func (m memory) SeenQuote(id string) bool                                        { return id == m.seen }
func (m memory) Recipients() []common.Address                                    { return m.paid }

func TestU3_SequencesFollowWhatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		sequence uint64
		deploy   bool
		h        memory
		ok       bool
	}{
		"next":                    {sequence: 5, h: memory{next: 5, known: true}, ok: true},
		"gap within reach":        {sequence: 21, h: memory{next: 5, known: true}, ok: true},
		"gap too far":             {sequence: 22, h: memory{next: 5, known: true}},
		"used":                    {sequence: 4, h: memory{next: 5, known: true}},
		"new account":             {sequence: 0, deploy: true, ok: true},
		"new account, not at 0":   {sequence: 1, deploy: true},
		"unknown but plausible":   {sequence: 40, ok: true},
		"unknown and implausible": {sequence: 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Sequence, w.Deploy = c.sequence, c.deploy
			p, r := verify.Prepared(w.Intent(), w.Policy, c.h, clock(), w.Document(w.PrepareResponse()))
			if (p != nil) != c.ok || (!c.ok && !r.Has("U3", verify.Refuse)) {
				t.Fatalf("accepted %v, want %v: %+v", p != nil, c.ok, r.Reasons)
			}
			if name == "unknown but plausible" && !r.Has("U3", verify.Unknown) {
				t.Fatal("what could not be checked must be said")
			}
		})
	}
}

func TestU3_AnOpenSignatureForcesTheSameNonce(t *testing.T) {
	w := newWorld(t)
	w.Sequence = 3
	open := func(seq uint64) memory {
		return memory{live: []*big.Int{op.Nonce{Validator: w.Network.Pins.ECDSAValidator, Sequence: seq}.Big()}, next: 2, known: true}
	}
	p, r := verify.Prepared(w.Intent(), w.Policy, open(2), clock(), w.Document(w.PrepareResponse()))
	refused(t, p != nil, r, "U3")
	if p, r := verify.Prepared(w.Intent(), w.Policy, open(3), clock(), w.Document(w.PrepareResponse())); p == nil {
		t.Fatalf("the same nonce replaces the open signature: %+v", r.Reasons)
	}
}

func TestU4_DeploymentIsByteForByteOurOwn(t *testing.T) {
	w := newWorld(t)
	w.Deploy = true
	w.Freeze()
	answer := w.PrepareResponse()
	data := common.FromHex(answer.ChainOperation.UserOp.FactoryData)
	for i := range data {
		forged := append([]byte{}, data...)
		forged[i] ^= 0x01
		u := *answer.ChainOperation.UserOp
		u.FactoryData = golden.HexOf(forged)
		bad := answer
		bad.ChainOperation.UserOp = &u
		if p, r := w.prepared(w.Document(bad)); p != nil || !r.Has("U4", verify.Refuse) {
			t.Fatalf("byte %d of factoryData may be changed", i)
		}
	}
	for name, change := range map[string]func(u *api.UserOp){
		"foreign factory": func(u *api.UserOp) { u.Factory = stranger },
		"bare factory":    func(u *api.UserOp) { u.Factory = w.Network.Pins.Factory.Hex() },
		"data only":       func(u *api.UserOp) { u.Factory = "" },
		"factory only":    func(u *api.UserOp) { u.FactoryData = "" },
	} {
		t.Run(name, func(t *testing.T) {
			prepareRefused(t, "U4", func(w2 *world, r *api.PrepareResponse) {
				w2.Deploy = true
				*r = w2.PrepareResponse()
				change(r.ChainOperation.UserOp)
			})
		})
	}
}

func TestU5_OnlyThePlainBatchModeIsAccepted(t *testing.T) {
	w := newWorld(t)
	w.Freeze()
	answer := w.PrepareResponse()
	data := common.FromHex(answer.ChainOperation.UserOp.CallData)
	for callType := range 256 {
		for execType := range 256 {
			if callType == 1 && execType == 0 {
				continue
			}
			if testing.Short() && callType%17 != 0 && execType%17 != 0 {
				continue
			}
			forged := append([]byte{}, data...)
			forged[4], forged[5] = byte(callType), byte(execType)
			calls, err := op.DecodeExecute(forged)
			if err == nil && callType != 0 {
				t.Fatalf("mode %02x%02x decodes to %v", callType, execType, calls)
			}
		}
	}
	for name, mode := range map[string][2]byte{"delegate call": {0xff, 0}, "static call": {0xfe, 0}, "try": {1, 1}, "single": {0, 0}} {
		t.Run(name, func(t *testing.T) {
			forged := append([]byte{}, data...)
			forged[4], forged[5] = mode[0], mode[1]
			bad := answer
			u := *answer.ChainOperation.UserOp
			u.CallData = golden.HexOf(forged)
			bad.ChainOperation.UserOp = &u
			w.again(&bad.ChainOperation, 8453)
			p, r := w.prepared(w.Document(bad))
			if p != nil {
				t.Fatal("accepted")
			}
			if mode[0] != 0 && !r.Has("U5", verify.Refuse) {
				t.Fatalf("report %+v", r.Reasons)
			}
		})
	}
	prepareRefused(t, "U5", func(w *world, r *api.PrepareResponse) {
		r.ChainOperation.UserOp.CallData = "0x8dd7712f" + strings.TrimPrefix(r.ChainOperation.UserOp.CallData, "0x")
		w.again(&r.ChainOperation, 8453)
	})
}

func TestU6_OnlyTheCanonicalEncodingIsAccepted(t *testing.T) {
	prepareRefused(t, "U6", func(w *world, r *api.PrepareResponse) {
		data := common.FromHex(r.ChainOperation.UserOp.CallData)
		r.ChainOperation.UserOp.CallData = golden.HexOf(append(data, make([]byte, 32)...))
		w.again(&r.ChainOperation, 8453)
	})
}

func TestU7_CallsAreExactlyTheUsersInOrder(t *testing.T) {
	extra := op.Call{To: golden.TokenOf(baseUSDC), Value: new(big.Int), Data: erc20.Transfer(common.HexToAddress(stranger), big.NewInt(1))}
	for name, change := range map[string]func(calls []op.Call) []op.Call{
		"extra at the end":   func(c []op.Call) []op.Call { return append(c, extra) },
		"extra at the start": func(c []op.Call) []op.Call { return append([]op.Call{extra}, c...) },
		"repeated":           func(c []op.Call) []op.Call { return append(c, c[0]) },
		"left out":           func(c []op.Call) []op.Call { return c[:1] },
		"swapped":            func(c []op.Call) []op.Call { return []op.Call{c[1], c[0]} },
		"other recipient": func(c []op.Call) []op.Call {
			c[0].Data = erc20.Transfer(common.HexToAddress(stranger), big.NewInt(250_500_000))
			return c
		},
		"other amount": func(c []op.Call) []op.Call {
			c[0].Data = erc20.Transfer(common.HexToAddress(payee), big.NewInt(250_500_001))
			return c
		},
		"other target": func(c []op.Call) []op.Call { c[1].To = common.HexToAddress(stranger); return c },
		"data added":   func(c []op.Call) []op.Call { c[1].Data = []byte{1}; return c },
	} {
		t.Run(name, func(t *testing.T) {
			prepareRefused(t, "U7", func(w *world, r *api.PrepareResponse) { w.withCalls(r, change(w.Asked())...) })
		})
	}
}

func withAllowance(w *world, amount, spender string) {
	w.Draft.Allowances = []api.AllowanceRequirement{{AssetType: baseUSDC, Amount: amount, Spender: spender}}
}

func approve(spender string, v int64) op.Call {
	return op.Call{To: golden.TokenOf(baseUSDC), Value: new(big.Int), Data: erc20.Approve(common.HexToAddress(spender), big.NewInt(v))}
}

func TestU8_DeclaredAllowancesAppearAsPairsOrNotAtAll(t *testing.T) {
	const declared = 1_000_000
	open, shut := approve(vault, declared), approve(vault, 0)
	for name, c := range map[string]struct {
		amount string
		calls  func(asked []op.Call) []op.Call
		ok     bool
	}{
		"pair":                    {"1000000", func(a []op.Call) []op.Call { return append(append([]op.Call{open}, a...), shut) }, true},
		"neither":                 {"1000000", func(a []op.Call) []op.Call { return a }, true},
		"never closed":            {"1000000", func(a []op.Call) []op.Call { return append([]op.Call{open}, a...) }, false},
		"only closed":             {"1000000", func(a []op.Call) []op.Call { return append(a, shut) }, false},
		"twice":                   {"1000000", func(a []op.Call) []op.Call { return append(append([]op.Call{open, open}, a...), shut) }, false},
		"more than declared":      {"1000000", func(a []op.Call) []op.Call { return append(append([]op.Call{approve(vault, declared+1)}, a...), shut) }, false},
		"less than declared":      {"1000000", func(a []op.Call) []op.Call { return append(append([]op.Call{approve(vault, declared-1)}, a...), shut) }, false},
		"third party":             {"1000000", func(a []op.Call) []op.Call { return append(append([]op.Call{approve(stranger, declared)}, a...), shut) }, false},
		"third party beside":      {"1000000", func(a []op.Call) []op.Call { return append(append([]op.Call{open, approve(stranger, 1)}, a...), shut) }, false},
		"revoke before":           {"0", func(a []op.Call) []op.Call { return append([]op.Call{shut}, a...) }, true},
		"revoke after":            {"0", func(a []op.Call) []op.Call { return append(a, shut) }, true},
		"revoke left out":         {"0", func(a []op.Call) []op.Call { return a }, false},
		"revoke turned to a gift": {"0", func(a []op.Call) []op.Call { return append([]op.Call{approve(vault, 1)}, a...) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			withAllowance(w, c.amount, vault)
			r := w.PrepareResponse()
			w.withCalls(&r, c.calls(w.Asked())...)
			p, report := w.prepared(w.Document(r))
			if (p != nil) != c.ok {
				t.Fatalf("accepted %v, want %v: %+v", p != nil, c.ok, report.Reasons)
			}
			if !c.ok && !report.Has("U8", verify.Refuse) && !report.Has("U7", verify.Refuse) {
				t.Fatalf("report %+v", report.Reasons)
			}
		})
	}
}

func TestU8_UndeclaredRightsAreRefusedByName(t *testing.T) {
	for _, selector := range []string{"095ea7b3", "39509351", "a22cb465", "d505accf", "87517c45"} {
		prepareRefused(t, "U8", func(w *world, r *api.PrepareResponse) {
			data := append(common.FromHex(selector), make([]byte, 64)...)
			w.withCalls(r, append(w.Asked(), op.Call{To: golden.TokenOf(baseUSDC), Value: new(big.Int), Data: data})...)
		})
	}
}

func TestU8_UnlimitedAllowancesAreRefusedEvenIfDeclared(t *testing.T) {
	w := newWorld(t)
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	withAllowance(w, all.String(), vault)
	r := w.PrepareResponse()
	open := op.Call{To: golden.TokenOf(baseUSDC), Value: new(big.Int), Data: erc20.Approve(common.HexToAddress(vault), all)}
	w.withCalls(&r, append(append([]op.Call{open}, w.Asked()...), approve(vault, 0))...)
	p, report := w.prepared(w.Document(r))
	refused(t, p != nil, report, "U8")
}

func TestU9_NoCallMayReconfigureTheAccount(t *testing.T) {
	pins := newWorld(t).Network.Pins
	selectors := []string{"9517e29f", "a71763a8", "3659cfe6", "52141cd9", "9198bdf5", "b9b82941", "1f1b92e3", "98c867ca", "e9ae5c53"}
	targets := []common.Address{newWorld(t).Account, pins.EntryPoint, pins.ECDSAValidator, pins.RoleBasedValidator, pins.Factory, pins.MetaFactory, pins.KernelV31, pins.KernelV33}
	for _, s := range selectors {
		for _, to := range targets {
			w := newWorld(t)
			w.Draft.Calls[1].To, w.Draft.Calls[1].Data, w.Draft.Calls[1].Value = to.Hex(), "0x"+s, "0" // even when the intent itself asks for it
			p, r := w.prepared(w.Document(w.PrepareResponse()))
			refused(t, p != nil, r, "U9")
		}
	}
}

func TestU10_NativeValuesAreExact(t *testing.T) {
	for i := range 2 {
		prepareRefused(t, "U10", func(w *world, r *api.PrepareResponse) {
			calls := w.Asked()
			calls[i].Value = new(big.Int).Add(calls[i].Value, big.NewInt(1))
			w.withCalls(r, calls...)
		})
	}
}

func TestU11_GasFieldsHaveCaps(t *testing.T) {
	caps := newWorld(t).Policy.Caps
	for field, limit := range map[string]uint64{
		"callGasLimit": caps.CallGas, "verificationGasLimit": caps.VerificationGas, "preVerificationGas": caps.PreVerificationGas, "maxFeePerGas": caps.MaxFeePerGas,
		"maxPriorityFeePerGas": caps.MaxFeePerGas, "paymasterVerificationGasLimit": caps.PaymasterVerificationGas, "paymasterPostOpGasLimit": caps.PaymasterPostOpGas,
	} {
		w := newWorld(t)
		base := w.Document(w.PrepareResponse())
		if p, r := w.prepared(replace(t, base, "/chainOperation/userOp/"+field, fmt.Sprint(limit))); p == nil {
			t.Fatalf("%s at its cap is refused: %+v", field, r.Reasons)
		}
		p, r := w.prepared(replace(t, base, "/chainOperation/userOp/"+field, fmt.Sprint(limit+1)))
		refused(t, p != nil, r, "U11")
	}
}

func TestU11_ThePriorityFeeIsNotAboveTheFee(t *testing.T) {
	w := newWorld(t)
	w.Policy.Caps.MaxFeePerGas = 100
	p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/userOp/maxPriorityFeePerGas", "1"))
	refused(t, p != nil, r, "U11")
}

func TestU12_ThePaymasterIsThePinnedOneWithAShortWindow(t *testing.T) {
	now := uint64(clock().Unix())
	data := func(from, until uint64) func(*world, *api.PrepareResponse) {
		return func(_ *world, r *api.PrepareResponse) {
			r.ChainOperation.UserOp.PaymasterData = golden.HexOf(op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: until, ValidAfter: from}, make([]byte, 65)))
		}
	}
	for name, change := range map[string]func(*world, *api.PrepareResponse){
		"foreign": func(_ *world, r *api.PrepareResponse) { r.ChainOperation.UserOp.Paymaster = stranger },
		"none": func(_ *world, r *api.PrepareResponse) {
			u := r.ChainOperation.UserOp
			u.Paymaster, u.PaymasterData, u.PaymasterVerificationGasLimit, u.PaymasterPostOpGasLimit = "", "", "", ""
		},
		"in part":        func(_ *world, r *api.PrepareResponse) { r.ChainOperation.UserOp.PaymasterData = "" },
		"short data":     func(_ *world, r *api.PrepareResponse) { r.ChainOperation.UserOp.PaymasterData = "0x00" },
		"never ends":     data(now, 0),
		"ends late":      data(now, now+631),
		"over":           data(now-600, now),
		"begins late":    data(now+31, now+600),
		"upside down":    data(now+20, now+10),
		"beyond uint48":  data(now, 1<<48-1),
		"ends next year": data(now, now+31_536_000),
	} {
		t.Run(name, func(t *testing.T) { prepareRefused(t, "U12", change) })
	}
}

func TestU12_TheWindowStaysInsideTheOneAskedFor(t *testing.T) {
	now := clock().Unix()
	w := newWorld(t)
	w.Draft.ValidUntil = fmt.Sprint(now + 120)
	p, r := w.prepared(w.Document(w.PrepareResponse())) // ends at now + 600
	refused(t, p != nil, r, "U12")
	w = newWorld(t)
	w.Draft.ValidAfter = fmt.Sprint(now + 60)
	p, r = w.prepared(w.Document(w.PrepareResponse())) // begins now
	refused(t, p != nil, r, "U12")
	w = newWorld(t)
	p, r = w.prepared(w.Document(w.PrepareResponse()))
	if p == nil || !r.Has("U12", verify.Show) || p.View().Window.Until.Unix() != now+600 {
		t.Fatalf("the window must be shown: %+v", r.Reasons)
	}
}

func TestU13_OperationsArriveUnsigned(t *testing.T) {
	prepareRefused(t, "U13", func(_ *world, r *api.PrepareResponse) {
		r.ChainOperation.UserOp.Signature = "0x" + strings.Repeat("11", 65)
	})
}

func TestU14_TheHashIsForThePinnedEntryPointAndTheIntentsChain(t *testing.T) {
	w := newWorld(t)
	p, _ := w.prepared(w.Document(w.PrepareResponse()))
	u, err := op.FromWire(*w.PrepareResponse().ChainOperation.UserOp)
	if err != nil {
		t.Fatal(err)
	}
	want, err := u.Hash(w.Network.Pins.EntryPoint, big.NewInt(8453))
	if err != nil || p.UserOp().OpHash() != want || p.UserOp().Digest() != op.EIP191(want) || p.UserOp().ChainID() != 8453 || p.UserOp().Signer() != w.Signer {
		t.Fatalf("hash %v, want %v (%v)", p.UserOp().OpHash(), want, err)
	}
	other := newWorld(t)
	other.Draft.Network = "0x" + strings.Repeat("0", 64)
	q, r := other.prepared(other.Document(other.PrepareResponse()))
	refused(t, q != nil, r, "U14")
}

func TestT1ToT7_TheTypedDataIsTheOneOfThisOperation(t *testing.T) {
	for name, c := range map[string]struct {
		code, pointer string
		value         any
	}{
		"permit":           {"T1", "/domain/name", "USD Coin"},
		"permit2":          {"T1", "/domain/name", "Permit2"},
		"other version":    {"T1", "/domain/version", "0.3.3"},
		"other chain":      {"T2", "/domain/chainId", 1},
		"chain zero":       {"T2", "/domain/chainId", 0},
		"foreign contract": {"T3", "/domain/verifyingContract", stranger},
		"other member":     {"T5", "/types/Approve/0/name", "permitHash"},
		"other type":       {"T5", "/types/Approve/0/type", "uint256"},
		"other primary":    {"T6", "/primaryType", "Permit"},
		"short hash":       {"T6", "/message/callDataAndNonceHash", "0x00"},
		"other operation":  {"T7", "/message/callDataAndNonceHash", "0x" + strings.Repeat("ab", 32)},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/typedDataToSign"+c.pointer, c.value))
			refused(t, p != nil, r, c.code)
		})
	}
}

func TestT2_TheChainIDIsAPlainInteger(t *testing.T) {
	w := newWorld(t)
	base := w.Document(w.PrepareResponse())
	for _, raw := range []string{`8453.0`, `8.453e3`, `"8453"`, `-8453`, `84530e-1`} {
		doc, err := base.Splice(api.Edit{Pointer: "/chainOperation/typedDataToSign/domain/chainId", Value: []byte(raw)})
		if err != nil {
			t.Fatal(err)
		}
		p, r := w.prepared(doc)
		refused(t, p != nil, r, "L3")
	}
}

func TestT5_TheCanonicalDomainTypeMayBePresent(t *testing.T) {
	w := newWorld(t)
	domain := []map[string]string{{"name": "name", "type": "string"}, {"name": "version", "type": "string"}, {"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}}
	if p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/typedDataToSign/types/EIP712Domain", domain)); p == nil {
		t.Fatalf("refused: %+v", r.Reasons)
	}
	domain[2]["name"] = "salt"
	p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/typedDataToSign/types/EIP712Domain", domain))
	refused(t, p != nil, r, "T5")
}

func TestT8_TypedDataOfAKernelAccountIsNeverWhatGetsSigned(t *testing.T) {
	w := newWorld(t)
	answer := w.PrepareResponse()
	p, _ := w.prepared(w.Document(answer))
	td := answer.ChainOperation.TypedDataToSign
	d := op.Domain{Name: td.Domain.Name, Version: td.Domain.Version, ChainID: 8453, VerifyingContract: w.Network.Pins.ECDSAValidator}
	if p.UserOp().Digest() == d.ApproveDigest(common.HexToHash(td.Message.CallDataAndNonceHash)) {
		t.Fatal("the digest is the one of the typed data")
	}
}

func TestD1_NoDelegationForThisAccountType(t *testing.T) {
	w := newWorld(t)
	p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/delegation", map[string]any{"contractAddress": stranger, "nonce": 0}))
	refused(t, p != nil, r, "D1")
}

func TestV3_WhatCannotBeDecodedIsSaid(t *testing.T) {
	w := newWorld(t)
	w.Draft.Calls[1].Data = "0xdeadbeef01"
	p, r := w.prepared(w.Document(w.PrepareResponse()))
	if p == nil || !r.Has("V3", verify.Warn) || p.View().Lines[1].Decoded || p.View().Lines[1].Data != "0xdeadbeef01" {
		t.Fatalf("report %+v", r.Reasons)
	}
}

func TestV4_FirstRecipientsAreMarkedAndKnownOnesAreNot(t *testing.T) {
	w := newWorld(t)
	doc := w.Document(w.PrepareResponse())
	_, r := verify.Prepared(w.Intent(), w.Policy, memory{}, clock(), doc)
	if !r.Has("V4", verify.Warn) {
		t.Fatal("a first recipient is not marked")
	}
	known := memory{paid: []common.Address{common.HexToAddress(payee), common.HexToAddress(vault)}}
	p, r := verify.Prepared(w.Intent(), w.Policy, known, clock(), doc)
	if p == nil || r.Has("V4", verify.Warn) || p.View().Lines[0].FirstTime {
		t.Fatal("a known recipient is marked")
	}
}

func TestH1_LookalikesOfKnownRecipientsAreRefused(t *testing.T) {
	w := newWorld(t)
	b := common.HexToAddress(payee)
	b[9] ^= 0xff // same first and last digits, other middle
	p, r := verify.Prepared(w.Intent(), w.Policy, memory{paid: []common.Address{b}}, clock(), w.Document(w.PrepareResponse()))
	refused(t, p != nil, r, "H1")
}

func TestViewsSumWhatCanLeaveTheAccount(t *testing.T) {
	w := newWorld(t)
	withAllowance(w, "1000000", vault)
	r := w.PrepareResponse()
	w.withCalls(&r, append(append([]op.Call{approve(vault, 1_000_000)}, w.Asked()...), approve(vault, 0))...)
	p, report := w.prepared(w.Document(r))
	if p == nil {
		t.Fatalf("refused: %+v", report.Reasons)
	}
	v := p.View()
	if v.Outflow[0].Amount.String() != "251500000" || v.Lines[0].Role != verify.RoleApprove || v.Lines[3].Role != verify.RoleRevoke || v.Lines[1].Asked != 1 {
		t.Fatalf("view %+v", v)
	}
	if !report.Has("U10", verify.Show) {
		t.Error("more can leave than is required, and nobody says so")
	}
}

func TestNothingIsJudgedWithoutItsInputs(t *testing.T) {
	w := newWorld(t)
	doc := w.Document(w.PrepareResponse())
	if p, r := verify.Prepared(w.Intent(), verify.Policy{}, verify.NoHistory{}, clock(), doc); p != nil || !r.Refused() {
		t.Error("accepted without pins")
	}
	if p, r := verify.Prepared(w.Intent(), w.Policy, nil, clock(), doc); p != nil || !r.Refused() {
		t.Error("accepted without a history")
	}
	if p, r := verify.Prepared(w.Intent(), w.Policy, verify.NoHistory{}, clock(), nil); p != nil || !r.Refused() {
		t.Error("accepted nothing")
	}
	if q, r := verify.Quote(w.Intent(), w.Policy, verify.NoHistory{}, clock(), nil, doc); q != nil || !r.Refused() {
		t.Error("accepted a quote for nothing")
	}
}

func TestFingerprintsDifferForDifferentAnswers(t *testing.T) {
	w := newWorld(t)
	base := w.Document(w.PrepareResponse())
	a, _ := w.prepared(base)
	b, _ := w.prepared(replace(t, base, "/tamperProofSignature", "0xabcd"))
	c, _ := w.prepared(base)
	if a.Fingerprint() == b.Fingerprint() || a.Fingerprint() != c.Fingerprint() || len(a.Fingerprint()) != 39 {
		t.Fatalf("%q %q %q", a.Fingerprint(), b.Fingerprint(), c.Fingerprint())
	}
}

func TestU14_ANetworkWithForeignAddressesIsRefused(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"escrow":      func(w *world) { w.Network.Pins.Escrow = common.HexToAddress(stranger) },
		"entry point": func(w *world) { w.Network.Pins.EntryPoint = common.HexToAddress(stranger) },
		"validator":   func(w *world) { w.Network.Pins.ECDSAValidator = common.HexToAddress(stranger) },
		"paymaster":   func(w *world) { w.Network.Pins.Paymaster = common.Address{} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			change(w)
			if verify.CheckPins(w.Network) == nil {
				t.Fatal("the difference goes unnoticed")
			}
			w.Policy = verify.DefaultPolicy(w.Network, w.Catalog)
			p, r := w.prepared(w.Document(w.PrepareResponse()))
			refused(t, p != nil, r, "U14")
		})
	}
	if err := verify.CheckPins(newWorld(t).Network); err != nil {
		t.Fatal(err)
	}
}
