package verify_test

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

const stranger = "0x000000000000000000000000000000000000dEaD"

// refused demands a refusal under the given row of docs/threats.md, with a place and words.
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

// prepareRefused changes a golden answer on the service's side, for every account type and interface, and demands a
// refusal.
func prepareRefused(t *testing.T, code string, change func(w *world, r *api.PrepareResponse)) {
	t.Helper()
	each(t, func(t *testing.T, w *world) {
		w.Freeze()
		r := w.PrepareResponse()
		change(w, &r)
		p, report := w.prepared(w.Document(r))
		refused(t, p != nil, report, code)
	})
}

// gated demands a gate that is closed under the given row, and nothing that refuses beside it.
func gated(t *testing.T, ok bool, r verify.Report, code, setting string) {
	t.Helper()
	if ok || !r.Has(code, verify.Gate) || !r.Refused() || r.Phrase() != "" {
		t.Fatalf("accepted %v; want the gate %s closed; report %+v", ok, code, r.Reasons)
	}
	for _, x := range r.Reasons {
		if x.Level == verify.Refuse || (x.Level == verify.Gate && (x.Setting != setting || x.Open)) {
			t.Fatalf("want the gate %s alone: %+v", setting, x)
		}
	}
}

// again makes the typed data fit a changed user operation, as a careful attacker would.
func (w *world) again(o *api.ChainOperation, chainID uint64) {
	u, err := op.FromWire(*o.UserOp)
	if err != nil {
		return
	}
	td := w.Domain(chainID).ApproveWire(op.CallDataAndNonceHash(u.Sender, u.CallData, u.Nonce))
	o.TypedDataToSign = &td
}

func (w *world) withCalls(r *api.PrepareResponse, calls ...op.Call) {
	r.ChainOperation = w.PreparedOperation(calls)
}

func nonceOf(n op.Nonce) string { return n.Big().String() }

func TestL3_NumbersHaveOnePlainForm(t *testing.T) {
	each(t, numbersHaveOnePlainForm)
}

func numbersHaveOnePlainForm(t *testing.T, w *world) {
	w.Freeze()
	base := w.Document(w.PrepareResponse())
	for _, bad := range []string{"1e9", "0x10", "-1", " 1", "01", "1 ", "+1", "1.0", "1_000", "",
		strings.Repeat("9", 79), "115792089237316195423570985008687907853269984665640564039457584007913129639936"} {
		for _, field := range []string{"nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas",
			"maxFeePerGas", "maxPriorityFeePerGas", "paymasterVerificationGasLimit", "paymasterPostOpGasLimit"} {
			p, r := w.prepared(replace(t, base, "/chainOperation/userOp/"+field, bad))
			refused(t, p != nil, r, "L3")
		}
	}
}

func TestL3_JSONFormsAreExact(t *testing.T) {
	for pointer, bad := range map[string]any{
		"/chainOperation/userOp/sender": 1, "/chainOperation/userOp/factory": nil, "/chainOperation/amount": []int{},
		"/callType": true,
		"/chainOperation/typedDataToSign/domain/chainId": "8453", "/accounts/0/type": map[string]int{},
	} {
		each(t, func(t *testing.T, w *world) {
			w.Deploy = strings.HasSuffix(pointer, "factory")
			p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), w.at(pointer), bad))
			refused(t, p != nil, r, "L3")
		})
	}
}

// TestL3_AnAnswerOfAnotherShapeIsRefused: every leaf has its form, but lists and objects have changed places.
func TestL3_AnAnswerOfAnotherShapeIsRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/sourceAssetBalances",
			map[string]any{"x": map[string]any{"balance": "1"}}))
		refused(t, p != nil, r, "L3")
		q, r := w.quote(w.signed(), replace(t, w.Document(w.CrossChain()), "/originToken/fiatValue",
			map[string]any{"x": map[string]any{"amount": "1"}}))
		refused(t, q != nil, r, "L3")
	})
}

func TestL4_UnknownMembersOfAnOperationAreRefused(t *testing.T) {
	for _, pointer := range []string{
		"/chainOperation/userOp/initCode", "/chainOperation/userOp/paymasterAndData", "/chainOperation/operation",
		"/chainOperation/userOp/to",
		"/chainOperation/typedDataToSign/domain/salt", "/chainOperation/typedDataToSign/message/extra",
		"/chainOperation/type",
		"/chainOperation/typedDataToSign/types/Permit", "/chainOperation/dataToSign", "/chainOperation/signature",
	} {
		each(t, func(t *testing.T, w *world) {
			p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), pointer, "0x00"))
			refused(t, p != nil, r, "L4")
		})
	}
}

func TestL4_UnknownMembersElsewhereAreCarriedAndCounted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/extra",
			map[string]any{"a": 1, "b": []int{1, 2}}))
		if p == nil || !r.Has("L4", verify.Show) {
			t.Fatalf("report %+v", r.Reasons)
		}
	})
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
	another := map[string]string{api.AccountKernelV31: api.AccountKernelV33, api.AccountKernelV33: api.AccountRoleBased,
		api.AccountRoleBased: api.AccountKernelV31}
	for name, change := range map[string]func(w *world, r *api.PrepareResponse){
		"other signer":  func(_ *world, r *api.PrepareResponse) { r.Accounts[0].SignerAddress = stranger },
		"other address": func(_ *world, r *api.PrepareResponse) { r.Accounts[0].AccountAddress = stranger },
		"other type":    func(w *world, r *api.PrepareResponse) { r.Accounts[0].Type = another[w.Kind] },
		"other session": func(_ *world, r *api.PrepareResponse) { r.Accounts[0].SessionAddress = stranger },
		"empty session": func(_ *world, r *api.PrepareResponse) {
			r.Accounts[0].SessionAddress =
				common.Address{}.Hex()
		},
		"other admin": func(_ *world, r *api.PrepareResponse) { r.Accounts[0].AdminAddress = stranger },
		"swapped keys": func(w *world, r *api.PrepareResponse) {
			a := &r.Accounts[0]
			a.SignerAddress, a.SessionAddress, a.AdminAddress = a.AdminAddress, a.AdminAddress, a.SessionAddress
			if w.Kind != api.AccountRoleBased {
				a.AdminAddress = w.Signer.Hex()
			}
		},
		"deployment": func(w *world, r *api.PrepareResponse) {
			a := &r.Accounts[0]
			if a.DeploymentType = api.DeploymentEIP7702; w.Kind == api.AccountKernelV33 {
				a.DeploymentType = api.DeploymentERC4337
			}
		},
	} {
		t.Run(name, func(t *testing.T) { prepareRefused(t, "P1", change) })
	}
	for name, change := range map[string]func(r *api.PrepareResponse){
		"dropped": func(r *api.PrepareResponse) { r.Accounts = nil },
		"added":   func(r *api.PrepareResponse) { r.Accounts = append(r.Accounts[:1:1], other) },
		"twice":   func(r *api.PrepareResponse) { r.Accounts = append(r.Accounts[:1:1], r.Accounts[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, v := range variants() {
				if v.v1 {
					continue // names one account
				}
				w := v.world(t)
				r := w.PrepareResponse()
				change(&r)
				p, report := w.prepared(w.Document(r))
				refused(t, p != nil, report, "P1")
			}
		})
	}
}

func TestP1_TheReasonNamesThePlaceInTheAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		answer := w.PrepareResponse()
		answer.Accounts[0].AccountAddress = stranger
		_, r := w.prepared(w.Document(answer))
		for _, x := range r.Reasons {
			if x.Code == "P1" && x.Path == w.at("/accounts/0") {
				return
			}
		}
		t.Fatalf("%+v", r.Reasons)
	})
}

func TestP1_TheDeploymentOfACounterfactualAccountMayBeLeftOut(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r := w.PrepareResponse()
		r.Accounts[0].DeploymentType = ""
		p, report := w.prepared(w.Document(r))
		if w.Kind == api.AccountKernelV33 {
			refused(t, p != nil, report, "P1")
		} else if p == nil {
			t.Fatalf("%+v", report.Reasons)
		}
	})
}

func TestP2_TheOperationIsAnEVMOperation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		base := w.Document(w.PrepareResponse())
		for _, gone := range []string{"/chainOperation/userOp", "/chainOperation/typedDataToSign"} {
			p, r := w.prepared(drop(t, base, gone))
			refused(t, p != nil, r, "P2")
		}
	})
}

func TestP3_TheIntegrityMarkIsCarriedButNeverTakenForHonesty(t *testing.T) {
	prepareRefused(t, "P3", func(_ *world, r *api.PrepareResponse) {
		r.TamperProofSignature = "0x" +
			strings.Repeat("ab", 1025)
	})
	for _, mark := range []string{"verified", "0x", strings.Repeat("ab", 65), "0X" + strings.Repeat("ab", 65), "0xabc",
		"0xzz"} {
		prepareRefused(t, "P3", func(_ *world, r *api.PrepareResponse) { r.TamperProofSignature = mark })
	}
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
	each(t, func(t *testing.T, w *world) {
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/sourceAssetBalances/0/fiatValue", -1))
		refused(t, p != nil, r, "L3")
	})
}

func TestP6_TheListOfBalancesHasAPlausibleLength(t *testing.T) {
	prepareRefused(t, "P6", func(_ *world, r *api.PrepareResponse) {
		for i := range 1_000 {
			r.SourceAssetBalances = append(r.SourceAssetBalances,
				api.SourceAssetBalance{AssetType: fmt.Sprintf("eip155:8453/erc20:0x%040x", i+1), Balance: "1",
					Decimals: 6, FiatValue: "1"})
		}
	})
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
	each(t, func(t *testing.T, w *world) {
		w.Account = common.HexToAddress(stranger)
		w.Draft.Accounts[0].AccountAddress = stranger // intent and answer agree on an account that our key does not own
		if w.Kind == api.AccountKernelV33 {
			w.Draft.Accounts[0].SignerAddress = w.Signer.Hex()
		}
		in, err := intent.Freeze(w.Draft, api.Rules{Catalog: w.Catalog, Now: w.Now})
		if err != nil {
			return // the rules of the interface do not let such an intent exist: an EIP-7702 account is its signer
		}
		p, r := verify.Prepared(in, w.Policy, verify.NoHistory{}, clock(), w.Document(w.tampered()))
		refused(t, p != nil, r, "U1")
	})
}

// tries reports whether a pair of bytes goes through the judgement: always when both bytes mean something in their
// place, for a kernel account also when one of them does, and with COFFER_TEST_WHOLE all 65 536 pairs.
func (w *world) tries(first, second bool) bool {
	if first && second {
		return true
	}
	return w.Kind == api.AccountKernelV31 && w.Draft.Interface == "" && !testing.Short() &&
		(first || second || os.Getenv(wholeMutations) != "")
}

// TestU2_OtherModesAndTypesOfTheNonceAreRefused sends pairs of mode and type through the whole judgement (see tries);
// those that Kernel gives a meaning to have typed data that fits.
func TestU2_OtherModesAndTypesOfTheNonceAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Freeze()
		answer := w.PrepareResponse()
		base, old := w.Document(answer), answer.ChainOperation.UserOp.Nonce
		for i := 1; i < 1<<16; i++ {
			n := w.Nonce(op.LanePrepared, 0)
			n.Mode, n.Type = byte(i>>8), byte(i)
			var doc *api.Document
			switch {
			case n.Mode <= 3 && n.Type <= 3:
				u := *answer.ChainOperation.UserOp
				u.Nonce = nonceOf(n)
				answer.ChainOperation.UserOp = &u
				w.again(&answer.ChainOperation, 8453)
				doc = w.Document(answer)
			case w.tries(n.Mode <= 3, n.Type <= 3):
				var err error
				if doc, err = api.ParseDocument([]byte(strings.Replace(string(base.Raw()), old, nonceOf(n), 1)),
					api.DefaultLimits()); err != nil {
					t.Fatal(err)
				}
			default:
				continue
			}
			if p, r := w.prepared(doc); p != nil || !r.Has("U2", verify.Refuse) {
				t.Fatalf("mode %02x type %02x accepted", n.Mode, n.Type)
			}
		}
	})
}

func TestU2_TheValidatorAndTheLaneOfTheNonceAreFixed(t *testing.T) {
	for name, change := range map[string]func(w *world, n *op.Nonce){
		"foreign validator": func(_ *world, n *op.Nonce) { n.Validator = common.HexToAddress(stranger) },
		"no validator":      func(_ *world, n *op.Nonce) { n.Validator = common.Address{} },
		"another type's": func(w *world, n *op.Nonce) {
			if n.Validator = w.Network.Pins.RoleBasedValidator; w.Kind == api.AccountRoleBased {
				n.Validator = w.Network.Pins.ECDSAValidator
			}
		},
		"funding lane": func(_ *world, n *op.Nonce) { n.Key = op.LaneFunding },
		"another lane": func(_ *world, n *op.Nonce) { n.Key = 0xffff },
	} {
		t.Run(name, func(t *testing.T) {
			prepareRefused(t, "U2", func(w *world, r *api.PrepareResponse) {
				n := w.Nonce(op.LanePrepared, 0)
				change(w, &n)
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
	paid  []string
	spent []verify.Spend
	auth  *uint64

	standing, sent []verify.Open
}

func (m memory) LiveNonces(common.Address, uint64, uint16, time.Time) []*big.Int { return m.live }
func (m memory) NextSequence(common.Address, uint64, uint16) (uint64, bool)      { return m.next, m.known }
func (m memory) SeenQuote(id string) bool                                        { return id == m.seen }
func (m memory) Recipients() []string                                            { return m.paid }
func (m memory) Spent(time.Time) []verify.Spend                                  { return m.spent }
func (m memory) Sent() []verify.Open                                             { return m.sent }
func (m memory) Open(time.Time) []verify.Open                                    { return m.standing }
func (m memory) NextAuthorization(common.Address, uint64) (uint64, bool) {
	if m.auth == nil {
		return 0, false
	}
	return *m.auth, true
}

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
		"new account, not at 0":   {sequence: 1, deploy: true, h: memory{next: 1, known: true}},
		"unknown, the first":      {sequence: 0, ok: true},
		"unknown but plausible":   {sequence: 40, ok: true},
		"unknown and implausible": {sequence: 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.Sequence, w.Deploy = c.sequence, c.deploy
				// a new EOA is delegated, which starts no nonce
				ok := c.ok || (name == "new account, not at 0" && w.Kind == api.AccountKernelV33)
				p, r := verify.Prepared(w.Intent(), w.Policy, c.h, clock(), w.Document(w.PrepareResponse()))
				if (p != nil) != ok || (!ok && !r.Has("U3", verify.Refuse)) {
					t.Fatalf("accepted %v, want %v: %+v", p != nil, ok, r.Reasons)
				}
				if r.Has("U3", verify.Unknown) != (name == "unknown but plausible") && ok {
					t.Fatalf("what could not be checked must be said, and nothing else: %+v", r.Reasons)
				}
			})
		})
	}
}

func TestU3_AnOpenSignatureForcesTheSameNonce(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Sequence = 3
		open := func(seq uint64) memory {
			return memory{live: []*big.Int{w.Nonce(op.LanePrepared, seq).Big()}, next: 2, known: true}
		}
		p, r := verify.Prepared(w.Intent(), w.Policy, open(2), clock(), w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "U3")
		if p, r := verify.Prepared(w.Intent(), w.Policy, open(3), clock(), w.Document(w.PrepareResponse())); p == nil {
			t.Fatalf("the same nonce replaces the open signature: %+v", r.Reasons)
		}
	})
}

func TestU4_DeploymentIsByteForByteOurOwn(t *testing.T) {
	for _, v := range variants() {
		if v.kind == api.AccountKernelV33 {
			continue // has no factory
		}
		w := v.world(t)
		w.Deploy = true
		w.Freeze()
		answer := w.PrepareResponse()
		if p, r := w.prepared(w.Document(answer)); p == nil || !p.View().Deploys {
			t.Fatalf("%s: %+v", v.name, r.Reasons)
		}
		data := common.FromHex(answer.ChainOperation.UserOp.FactoryData)
		for i := range data {
			forged := append([]byte{}, data...)
			forged[i] ^= 0x01
			u := *answer.ChainOperation.UserOp
			u.FactoryData = golden.HexOf(forged)
			bad := answer
			bad.ChainOperation.UserOp = &u
			if p, r := w.prepared(w.Document(bad)); p != nil || !r.Has("U4", verify.Refuse) {
				t.Fatalf("%s: byte %d of factoryData may be changed", v.name, i)
			}
		}
	}
}

func TestU4_TheFactoryIsThePinnedOne(t *testing.T) {
	for name, change := range map[string]func(w *world, u *api.UserOp){
		"foreign factory": func(_ *world, u *api.UserOp) { u.Factory = stranger },
		"bare factory":    func(w *world, u *api.UserOp) { u.Factory = w.Network.Pins.Factory.Hex() },
		"data only":       func(_ *world, u *api.UserOp) { u.Factory = "" },
		"factory only":    func(_ *world, u *api.UserOp) { u.FactoryData = "" },
		"of another type": func(w *world, u *api.UserOp) {
			init := op.InitDataECDSA(w.Network.Pins.ECDSAValidator, w.Signer)
			if w.Kind == api.AccountKernelV31 {
				init = op.InitDataRoleBased(w.Network.Pins.RoleBasedValidator, w.Signer,
					common.HexToAddress(golden.Admin), w.Network.Pins.CoSigner)
			}
			u.FactoryData = golden.HexOf(op.FactoryData(w.Network.Pins.Factory, init, new(big.Int)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			prepareRefused(t, "U4", func(w *world, r *api.PrepareResponse) {
				w.Deploy = true
				*r = w.PrepareResponse()
				if u := r.ChainOperation.UserOp; u.Factory == "" { // an EOA, which is never deployed
					u.Factory, u.FactoryData = w.Network.Pins.MetaFactory.Hex(),
						golden.HexOf(op.FactoryData(w.Network.Pins.Factory, nil, new(big.Int)))
				}
				change(w, r.ChainOperation.UserOp)
			})
		})
	}
	w := variant{kind: api.AccountKernelV33}.world(t)
	r := w.PrepareResponse()
	u := r.ChainOperation.UserOp
	u.Factory, u.FactoryData = w.Network.Pins.MetaFactory.Hex(),
		golden.HexOf(op.FactoryData(w.Network.Pins.Factory, nil, new(big.Int)))
	p, report := w.prepared(w.Document(r))
	refused(t, p != nil, report, "U4")
}

// forged puts other bytes at a place of the call data of a prepare answer, in every place at once and without encoding
// it again.
func forgedCallData(t testing.TB, base *api.Document, callData string, at int, b ...byte) *api.Document {
	t.Helper()
	forged := []byte(callData)
	for i, x := range b {
		copy(forged[2+2*(at+i):], fmt.Sprintf("%02x", x))
	}
	d, err := api.ParseDocument([]byte(strings.Replace(string(base.Raw()), callData, string(forged), 1)),
		api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestU5_OnlyThePlainBatchModeIsAccepted sends modes through the whole judgement: see tries.
func TestU5_OnlyThePlainBatchModeIsAccepted(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Freeze()
		answer := w.PrepareResponse()
		base, callData := w.Document(answer), answer.ChainOperation.UserOp.CallData
		for i := range 1 << 16 {
			callType, execType := byte(i>>8), byte(i)
			if !w.tries(callType <= 1 || callType >= 0xfe, execType <= 1 || execType >= 0xfe) {
				continue
			}
			p, r := w.prepared(forgedCallData(t, base, callData, 4, callType, execType))
			switch {
			case callType == 1 && execType == 0:
				if p == nil {
					t.Fatalf("the plain batch is refused: %+v", r.Reasons)
				}
			case p != nil || !r.Refused():
				t.Fatalf("mode %02x%02x accepted", callType, execType)
			// 0000 is one plain call, which these bytes do not encode
			case (callType != 0 || execType != 0) && !r.Has("U5", verify.Refuse):
				t.Fatalf("mode %02x%02x: %+v", callType, execType, r.Reasons)
			}
		}
		for at := 6; at < 36; at++ { // the rest of the mode
			p, r := w.prepared(forgedCallData(t, base, callData, at, 1))
			refused(t, p != nil, r, "U5")
		}
	})
}

func TestU5_NoOtherFunctionOfTheAccountIsAccepted(t *testing.T) {
	for name, prefix := range map[string]string{"executeUserOp": "8dd7712f", "executeUserOp twice": "8dd7712f8dd7712f",
		"another function": "deadbeef"} {
		t.Run(name, func(t *testing.T) {
			prepareRefused(t, "U5", func(w *world, r *api.PrepareResponse) {
				r.ChainOperation.UserOp.CallData = "0x" + prefix +
					strings.TrimPrefix(r.ChainOperation.UserOp.CallData, "0x")
				w.again(&r.ChainOperation, 8453)
			})
		})
	}
}

func TestU6_OnlyTheCanonicalEncodingIsAccepted(t *testing.T) {
	prepareRefused(t, "U6", func(w *world, r *api.PrepareResponse) {
		data := common.FromHex(r.ChainOperation.UserOp.CallData)
		r.ChainOperation.UserOp.CallData = golden.HexOf(append(data, make([]byte, 32)...))
		w.again(&r.ChainOperation, 8453)
	})
}

// TestU6_OneCallInSingleModeIsNotTheFormThatWasAsked: it says the same in other bytes.
func TestU6_OneCallInSingleModeIsNotTheFormThatWasAsked(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.Calls = w.Draft.Calls[:1]
		answer := w.PrepareResponse()
		call := w.Asked()[0]
		execution := append(append(call.To.Bytes(), make([]byte, 32)...), call.Data...)
		data := append(common.FromHex("e9ae5c53"), make([]byte, 32)...)
		data = append(data, common.LeftPadBytes([]byte{64}, 32)...)
		data = append(append(data, common.LeftPadBytes(big.NewInt(int64(len(execution))).Bytes(), 32)...),
			common.RightPadBytes(execution, (len(execution)+31)/32*32)...)
		if calls, err := op.DecodeExecute(data); err != nil || len(calls) != 1 {
			t.Fatal(err)
		}
		answer.ChainOperation.UserOp.CallData = golden.HexOf(data)
		w.again(&answer.ChainOperation, 8453)
		p, r := w.prepared(w.Document(answer))
		refused(t, p != nil, r, "U6")
	})
}

func TestU7_ASwapIsNotPrepared(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		doc := w.Document(w.PrepareResponse())
		s, quote := w.signed(), w.Document(w.CrossChain())
		w.Draft = intent.Draft{
			Version: 1, Kind: intent.KindSwap, Interface: w.Draft.Interface, Network: w.Draft.Network,
			Accounts: w.Draft.Accounts, SlippageBps: 50,
			Pay: &intent.Pay{Asset: "ob:usdc", Amount: "1000000"}, Receive: &intent.Receive{Asset: "ob:eth"},
		}
		p, r := w.prepared(doc)
		refused(t, p != nil, r, "U7")
		q, r := w.quote(s, quote)
		refused(t, q != nil, r, "Q14")
	})
}

func TestU7_CallsAreExactlyTheUsersInOrder(t *testing.T) {
	extra := op.Call{To: golden.TokenOf(baseUSDC), Value: new(big.Int),
		Data: erc20.Transfer(common.HexToAddress(stranger), big.NewInt(1))}
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
	return op.Call{To: golden.TokenOf(baseUSDC), Value: new(big.Int),
		Data: erc20.Approve(common.HexToAddress(spender), big.NewInt(v))}
}

func TestU8_DeclaredAllowancesAppearAsPairsOrNotAtAll(t *testing.T) {
	const declared = 1_000_000
	open, shut := approve(vault, declared), approve(vault, 0)
	for name, c := range map[string]struct {
		amount string
		calls  func(asked []op.Call) []op.Call
		ok     bool
	}{
		"pair": {"1000000", func(a []op.Call) []op.Call {
			return append(append([]op.Call{open}, a...), shut)
		}, true},
		"neither": {"1000000", func(a []op.Call) []op.Call { return a }, true},
		"never closed": {"1000000", func(a []op.Call) []op.Call { return append([]op.Call{open}, a...) },
			false},
		"only closed": {"1000000", func(a []op.Call) []op.Call { return append(a, shut) }, false},
		"twice": {"1000000", func(a []op.Call) []op.Call {
			return append(append([]op.Call{open, open}, a...), shut)
		}, false},
		"more than declared": {"1000000", func(a []op.Call) []op.Call {
			return append(append([]op.Call{approve(vault, declared+1)}, a...), shut)
		}, false},
		"less than declared": {"1000000", func(a []op.Call) []op.Call {
			return append(append([]op.Call{approve(vault, declared-1)}, a...), shut)
		}, false},
		"third party": {"1000000", func(a []op.Call) []op.Call {
			return append(append([]op.Call{approve(stranger, declared)}, a...), shut)
		}, false},
		"third party beside": {"1000000", func(a []op.Call) []op.Call {
			return append(append([]op.Call{open, approve(stranger, 1)}, a...), shut)
		}, false},
		"revoke before":   {"0", func(a []op.Call) []op.Call { return append([]op.Call{shut}, a...) }, true},
		"revoke after":    {"0", func(a []op.Call) []op.Call { return append(a, shut) }, true},
		"revoke left out": {"0", func(a []op.Call) []op.Call { return a }, false},
		"revoke turned to a gift": {"0", func(a []op.Call) []op.Call {
			return append([]op.Call{approve(vault, 1)}, a...)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
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
	each(t, func(t *testing.T, w *world) {
		all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
		withAllowance(w, all.String(), vault)
		r := w.PrepareResponse()
		open := op.Call{To: golden.TokenOf(baseUSDC), Value: new(big.Int),
			Data: erc20.Approve(common.HexToAddress(vault), all)}
		w.withCalls(&r, append(append([]op.Call{open}, w.Asked()...), approve(vault, 0))...)
		p, report := w.prepared(w.Document(r))
		refused(t, p != nil, report, "U8")
	})
}

func TestU9_NoCallMayReconfigureTheAccount(t *testing.T) {
	selectors := []string{"9517e29f", "a71763a8", "3659cfe6", "52141cd9", "9198bdf5", "b9b82941", "1f1b92e3",
		"98c867ca", "e9ae5c53"}
	each(t, func(t *testing.T, w *world) {
		pins := w.Network.Pins
		more := []common.Address{{0xa1}, {0xa2}, {0xa3}, {0xa4}} // the user's own pins control accounts as well
		w.Policy.Limits = verify.Limits{EntryPoints: more[:1], Validators: more[1:2], Factories: more[2:3],
			Delegates: more[3:]}
		targets := append(more, w.Account, pins.EntryPoint, pins.ECDSAValidator, pins.RoleBasedValidator, pins.Factory,
			pins.MetaFactory, pins.KernelV31, pins.KernelV33)
		own := op.Call{To: w.Account, Value: new(big.Int), Data: common.FromHex("e9ae5c53")}
		r := w.PrepareResponse()
		w.withCalls(&r, append(w.Asked(), own)...)
		p, report := w.prepared(w.Document(r))
		refused(t, p != nil, report, "U9")
		for _, s := range selectors {
			for _, to := range targets {
				if to == w.Account {
					continue // no intent can ask for it: the rules of requests refuse calls that change the account
				}
				// even when the intent itself asks for it
				w.Draft.Calls[1].To, w.Draft.Calls[1].Data, w.Draft.Calls[1].Value = to.Hex(), "0x"+s, "0"
				p, r := w.prepared(w.Document(w.PrepareResponse()))
				refused(t, p != nil, r, "U9")
			}
		}
	})
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
	each(t, func(t *testing.T, w *world) {
		caps := w.Policy.Caps
		base := w.Document(w.PrepareResponse())
		for field, limit := range map[string]uint64{
			"callGasLimit": caps.CallGas, "verificationGasLimit": caps.VerificationGas,
			"preVerificationGas": caps.PreVerificationGas, "maxFeePerGas": caps.MaxFeePerGas,
			"maxPriorityFeePerGas": caps.MaxFeePerGas, "paymasterVerificationGasLimit": caps.PaymasterVerificationGas,
			"paymasterPostOpGasLimit": caps.PaymasterPostOpGas,
		} {
			if p, r := w.prepared(replace(t, base, "/chainOperation/userOp/"+field, fmt.Sprint(limit))); p == nil {
				t.Fatalf("%s at its cap is refused: %+v", field, r.Reasons)
			}
			p, r := w.prepared(replace(t, base, "/chainOperation/userOp/"+field, fmt.Sprint(limit+1)))
			refused(t, p != nil, r, "U11")
		}
	})
}

func TestU11_ThePriorityFeeIsNotAboveTheFee(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Policy.Caps.MaxFeePerGas = 100
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/userOp/maxPriorityFeePerGas",
			"1"))
		refused(t, p != nil, r, "U11")
	})
}

// TestU11_AnApprovalCarriesNoFeesWhateverTheCapsSay: the signature of a session key does not cover fees, so another
// figure could be put in their place.
func TestU11_AnApprovalCarriesNoFeesWhateverTheCapsSay(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Policy.Caps.MaxFeePerGas = 100
		base := replace(t, w.Document(w.PrepareResponse()), "/chainOperation/userOp/maxFeePerGas", "100")
		both := replace(t, base, "/chainOperation/userOp/maxPriorityFeePerGas", "7")
		for _, doc := range []*api.Document{base, both} {
			p, r := w.prepared(doc)
			if w.Kind == api.AccountRoleBased {
				refused(t, p != nil, r, "U11")
			} else if p == nil {
				t.Fatalf("fees under the cap are refused: %+v", r.Reasons)
			}
		}
	})
}

func TestU12_ThePaymasterIsThePinnedOneWithAShortWindow(t *testing.T) {
	now := uint64(clock().Unix())
	data := func(from, until uint64) func(*world, *api.PrepareResponse) {
		return func(_ *world, r *api.PrepareResponse) {
			r.ChainOperation.UserOp.PaymasterData = golden.HexOf(
				op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: until, ValidAfter: from}, make([]byte, 65)))
		}
	}
	for name, change := range map[string]func(*world, *api.PrepareResponse){
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
	each(t, func(t *testing.T, w *world) {
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil || !r.Has("U12", verify.Show) || p.View().Window.Until.Unix() != now+600 ||
			p.View().Window.From.Unix() != now {
			t.Fatalf("the window must be shown: %+v", r.Reasons)
		}
		w.Draft.ValidUntil = fmt.Sprint(now + 120)
		p, r = w.prepared(w.Document(w.PrepareResponse())) // ends at now + 600
		refused(t, p != nil, r, "U12")
		w.Draft.ValidUntil, w.Draft.ValidAfter = "", fmt.Sprint(now+60)
		p, r = w.prepared(w.Document(w.PrepareResponse())) // begins now
		refused(t, p != nil, r, "U12")
	})
}

func TestU13_OperationsArriveUnsigned(t *testing.T) {
	prepareRefused(t, "U13", func(_ *world, r *api.PrepareResponse) {
		r.ChainOperation.UserOp.Signature = "0x" + strings.Repeat("11", 65)
	})
}

func TestU14_TheHashIsForThePinnedEntryPointAndTheIntentsChain(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, _ := w.prepared(w.Document(w.PrepareResponse()))
		u, err := op.FromWire(*w.PrepareResponse().ChainOperation.UserOp)
		if err != nil {
			t.Fatal(err)
		}
		want, err := u.Hash(w.Network.Pins.EntryPoint, big.NewInt(8453))
		if err != nil || p.Signing().Hash() != want.Hex() || p.View().OpHash != want.Hex() {
			t.Fatalf("hash %v, want %v (%v)", p.Signing().Hash(), want, err)
		}
		if a, ok := p.Signing().Approve(); ok != (w.Kind == api.AccountRoleBased) {
			t.Fatalf("approves %v", ok)
		} else if ok {
			digest := w.Domain(8453).ApproveDigest(op.CallDataAndNonceHash(w.Account, u.CallData, u.Nonce))
			if _, also := p.Signing().UserOp(); also || a.Digest() != digest || a.Signer() != w.Signer ||
				a.Network() != w.Network.ID || p.Signing().Digest() != digest.Hex() {
				t.Fatalf("digest %v, want %v", a.Digest(), digest)
			}
		} else if v := userOp(t, p.Signing()); v.OpHash() != want || v.Digest() != op.EIP191(want) ||
			v.ChainID() != 8453 || v.Signer() != w.Signer || v.Network() != w.Network.ID {
			t.Fatalf("digest %v", v.Digest())
		}
		w.Draft.Network = "0x" + strings.Repeat("0", 64)
		q, r := w.prepared(w.Document(w.PrepareResponse()))
		refused(t, q != nil, r, "U14")
	})
}

func TestV3_WhatCannotBeDecodedIsSaid(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.Calls[1].Data = "0xdeadbeef01"
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil || !r.Has("V3", verify.Warn) || p.View().Lines[1].Decoded ||
			p.View().Lines[1].Data != "0xdeadbeef01" {
			t.Fatalf("report %+v", r.Reasons)
		}
	})
}

func TestV4_FirstRecipientsAreMarkedAndKnownOnesAreNot(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		doc := w.Document(w.PrepareResponse())
		_, r := verify.Prepared(w.Intent(), w.Policy, memory{}, clock(), doc)
		if !r.Has("V4", verify.Warn) {
			t.Fatal("a first recipient is not marked")
		}
		known := memory{paid: []string{payee, vault}}
		p, r := verify.Prepared(w.Intent(), w.Policy, known, clock(), doc)
		if p == nil || r.Has("V4", verify.Warn) || p.View().Lines[0].FirstTime {
			t.Fatal("a known recipient is marked")
		}
	})
}

// TestV4_ALongListOfFirstRecipientsIsOneWarning: it counts them, each call is marked, and the warnings of the same
// report that are no matter of recipients have their place.
func TestV4_ALongListOfFirstRecipientsIsOneWarning(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for i := range 90 {
			data := erc20.Transfer(common.BigToAddress(big.NewInt(int64(i/2)+7777)), big.NewInt(1)) // each twice
			w.Draft.Calls = append(w.Draft.Calls, intent.Call{To: w.Draft.Calls[0].To, Value: "0",
				Data: "0x" + common.Bytes2Hex(data)})
		}
		answer := w.PrepareResponse()
		answer.SourceAssetBalances = []api.SourceAssetBalance{{AssetType: fmt.Sprintf("eip155:8453/erc20:0x%040x", 1),
			Balance: "1", Decimals: 6, FiatValue: "1"}}
		p, r := w.prepared(w.Document(answer))
		if p == nil || !r.Has("P5", verify.Warn) {
			t.Fatalf("%+v", r.Reasons)
		}
		lines, marked, found := p.View().Lines, make(map[string]bool), 0
		for _, l := range lines[len(lines)-90:] {
			if !l.FirstTime {
				t.Errorf("%s is not marked", l.Recipient)
			}
		}
		for _, l := range lines {
			if l.FirstTime {
				marked[l.Recipient] = true
			}
		}
		for _, x := range r.Reasons {
			if x.Code == "V4" {
				found++
				if x.Title != verify.FirstPayments ||
					!strings.HasSuffix(x.Got, fmt.Sprintf(" and %d more", len(marked)-3)) {
					t.Errorf("%+v", x)
				}
			}
		}
		if found != 1 || len(marked) < 45 {
			t.Errorf("%d warnings about first recipients", found)
		}
	})
}

// TestV3_AHundredCallsThatCannotBeReadAreOneWarning: it counts them and names the first, each call says so too, and a
// finding that comes later has its place.
func TestV3_AHundredCallsThatCannotBeReadAreOneWarning(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		most := 100 - len(w.Draft.Calls)
		for i := range most {
			w.Draft.Calls = append(w.Draft.Calls, intent.Call{To: w.Draft.Calls[0].To, Value: "0",
				Data: fmt.Sprintf("0xdeadbeef%064x", i)})
		}
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		var found []verify.Reason
		unread := 0
		for _, x := range r.Reasons {
			if x.Code == "V3" {
				found = append(found, x)
			}
		}
		for _, l := range p.View().Lines {
			if !l.Decoded {
				unread++
			}
		}
		if len(found) != 1 || unread != most ||
			!strings.HasPrefix(found[0].Title, fmt.Sprintf("%d calls could not be decoded", most)) ||
			!strings.HasSuffix(found[0].Got, fmt.Sprintf(" and %d more", most-2)) ||
			!strings.HasPrefix(found[0].Got, "call ") {
			t.Fatalf("%d calls of %d cannot be read: %+v", unread, most, found)
		}
		if !r.Has("V4", verify.Warn) || len(r.Reasons) > 20 {
			t.Errorf("the warning about a first payment was pushed out: %+v", r.Reasons)
		}
	})
}

func TestH1_LookalikesOfKnownRecipientsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := common.HexToAddress(payee)
		b[9] ^= 0xff // same first and last digits, other middle
		p, r := verify.Prepared(w.Intent(), w.Policy, memory{paid: []string{b.Hex()}}, clock(),
			w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "H1")
	})
}

func TestH1_OtherKnownRecipientsImitateNobody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		h := memory{paid: []string{stranger, "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"}}
		p, r := verify.Prepared(w.Intent(), w.Policy, h, clock(), w.Document(w.PrepareResponse()))
		if p == nil || !r.Has("V4", verify.Warn) || !p.View().Lines[0].FirstTime {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestU8U10_WhatIsLeftOutAndWhatIsMoreIsShown(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Draft.Calls = w.Draft.Calls[:1]
		_, r := w.prepared(w.Document(w.PrepareResponse()))
		if r.Has("U10", verify.Show) || r.Has("U8", verify.Show) {
			t.Fatalf("the required token is all that leaves: %+v", r.Reasons)
		}
		withAllowance(w, "5", vault)
		if _, r = w.prepared(w.Document(w.PrepareResponse())); !r.Has("U8", verify.Show) {
			t.Fatalf("an approval is left out: %+v", r.Reasons)
		}
		w.Draft.TokensRequired[0].Amount = "250499999"
		if _, r = w.prepared(w.Document(w.PrepareResponse())); !r.Has("U10", verify.Show) {
			t.Fatalf("more leaves than is required: %+v", r.Reasons)
		}
	})
}

func TestViewsSumWhatCanLeaveTheAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		withAllowance(w, "1000000", vault)
		r := w.PrepareResponse()
		w.withCalls(&r, append(append([]op.Call{approve(vault, 1_000_000)}, w.Asked()...), approve(vault, 0))...)
		p, report := w.prepared(w.Document(r))
		if p == nil {
			t.Fatalf("refused: %+v", report.Reasons)
		}
		v := p.View()
		if v.Outflow[0].Amount.String() != "251500000" || v.Lines[0].Role != verify.RoleApprove ||
			v.Lines[3].Role != verify.RoleRevoke || v.Lines[1].Asked != 1 {
			t.Fatalf("view %+v", v)
		}
		if !report.Has("U10", verify.Show) {
			t.Error("more can leave than is required, and nobody says so")
		}
	})
}

func TestNothingIsJudgedWithoutItsInputs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		blind := w.Policy
		blind.Catalog = nil
		p, r := verify.Prepared(w.Intent(), blind, verify.NoHistory{}, clock(), w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "U7")
		p, r = verify.Prepared(intent.Intent{}, w.Policy, verify.NoHistory{}, clock(), w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "U7")
		doc := w.Document(w.PrepareResponse())
		if p, r := verify.Prepared(w.Intent(), verify.Policy{}, verify.NoHistory{}, clock(), doc); p != nil ||
			!r.Refused() {
			t.Error("accepted without pins")
		}
		if p, r := verify.Prepared(w.Intent(), w.Policy, nil, clock(), doc); p != nil || !r.Refused() {
			t.Error("accepted without a history")
		}
		if p, r := verify.Prepared(w.Intent(), w.Policy, verify.NoHistory{}, clock(), nil); p != nil || !r.Refused() {
			t.Error("accepted nothing")
		}
		if q, r := w.quote(w.signed(), nil); q != nil || !r.Has("Q14", verify.Refuse) {
			t.Error("accepted no quote")
		}
		if q, r := verify.Quote(w.Intent(), w.Policy, verify.NoHistory{}, clock(), nil, doc); q != nil || !r.Refused() {
			t.Error("accepted a quote for nothing")
		}
	})
}

func TestFingerprintsDifferForDifferentAnswers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		base := w.Document(w.PrepareResponse())
		a, _ := w.prepared(base)
		b, _ := w.prepared(replace(t, base, "/tamperProofSignature", "0xabcd"))
		c, _ := w.prepared(base)
		if a.View().Fingerprint == b.View().Fingerprint || a.View().Fingerprint != c.View().Fingerprint ||
			len(a.View().Fingerprint) != 39 {
			t.Fatalf("%q %q %q", a.View().Fingerprint, b.View().Fingerprint, c.View().Fingerprint)
		}
	})
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
