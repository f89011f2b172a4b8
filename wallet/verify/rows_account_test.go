package verify_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// roleBased runs a test for an account of session, admin and co-signer, with both interfaces.
func roleBased(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	for _, v := range variants() {
		if v.kind == api.AccountRoleBased {
			t.Run(v.name, func(t *testing.T) { test(t, v.world(t)) })
		}
	}
}

// follow puts the account where the given keys lead to.
func (w *world) follow(session, admin, coSigner common.Address) {
	init := op.InitDataRoleBased(w.Network.Pins.RoleBasedValidator, session, admin, coSigner)
	w.Account = op.PredictAddress(w.Network.Pins.Factory, w.Network.Pins.KernelV31, init, new(big.Int))
	w.Draft.Accounts[0].AccountAddress = w.Account.Hex()
}

func TestU1_ARoleBasedAccountFollowsFromThreeDifferentKeys(t *testing.T) {
	admin := common.HexToAddress(golden.Admin)
	for name, c := range map[string]struct {
		change func(w *world)
		ok     bool
	}{
		"as it is": {func(*world) {}, true},
		"another co-signer in the address": {func(w *world) {
			w.follow(w.Signer, admin,
				common.HexToAddress(stranger))
		}, false},
		"session and admin exchanged": {func(w *world) { w.follow(admin, w.Signer, w.Network.Pins.CoSigner) }, false},
		"the co-signer is the session": {func(w *world) {
			w.onNetwork(func(n *network.Descriptor) { n.Pins.CoSigner = w.Signer })
		}, false},
		"the co-signer is the admin": {func(w *world) {
			w.onNetwork(func(n *network.Descriptor) { n.Pins.CoSigner = admin })
		}, false},
		"no co-signer": {func(w *world) {
			w.onNetwork(func(n *network.Descriptor) { n.Pins.CoSigner = common.Address{} })
		}, false},
		"a kernel account's address": {func(w *world) {
			w.Account = op.PredictAddress(w.Network.Pins.Factory, w.Network.Pins.KernelV31,
				op.InitDataECDSA(w.Network.Pins.ECDSAValidator, w.Signer), new(big.Int))
			w.Draft.Accounts[0].AccountAddress = w.Account.Hex()
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			roleBased(t, func(t *testing.T, w *world) {
				c.change(w)
				p, r := w.prepared(w.Document(w.PrepareResponse()))
				if c.ok && p == nil {
					t.Fatalf("%+v", r.Reasons)
				} else if !c.ok {
					refused(t, p != nil, r, "U1")
				}
			})
		})
	}
}

// TestU1_AReplacedSessionKeyLeavesTheAddress: the address follows from the first session key for ever, the present one
// signs.
func TestU1_AReplacedSessionKeyLeavesTheAddress(t *testing.T) {
	roleBased(t, func(t *testing.T, w *world) {
		first := crypto.PubkeyToAddress(golden.KeyOf("the first session key").PublicKey)
		w.follow(first, common.HexToAddress(golden.Admin), w.Network.Pins.CoSigner)
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "U1")

		w.Policy.FirstSession = map[common.Address]common.Address{w.Account: first}
		if p, r = w.prepared(w.Document(w.PrepareResponse())); p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		if a, _ := p.Signing().Approve(); a.Signer() != w.Signer || p.View().Signer != w.Signer.Hex() {
			t.Fatal("another key than the present session key signs")
		}
		if _, err := p.WithSignatures(signatures(t, p.Signing(), "the first session key")); err == nil {
			t.Fatal("the replaced key's signature is taken")
		}
		funding := w.Document(w.QuoteResponse("225980000", map[string]string{arbUSDC: "480000"},
			golden.Payment{Asset: arbUSDC, Amount: 225_980_000, Sequence: 4}))
		q, r := w.quote(signedBy(t, p, w.Key), funding)
		if q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		w.Policy.FirstSession[w.Account] = common.HexToAddress(stranger)
		q, r = w.quote(signedBy(t, p, w.Key), funding)
		refused(t, q != nil, r, "U1")
		p, r = w.prepared(w.Document(w.PrepareResponse()))
		refused(t, p != nil, r, "U1")
	})
}

// TestU4_NothingIsDeployedWithAReplacedSessionKey: on a new chain the old key would rule again.
func TestU4_NothingIsDeployedWithAReplacedSessionKey(t *testing.T) {
	roleBased(t, func(t *testing.T, w *world) {
		first := crypto.PubkeyToAddress(golden.KeyOf("the first session key").PublicKey)
		admin := common.HexToAddress(golden.Admin)
		w.follow(first, admin, w.Network.Pins.CoSigner)
		w.Policy.FirstSession = map[common.Address]common.Address{w.Account: first}
		answer := w.PrepareResponse()
		u := answer.ChainOperation.UserOp
		init := op.InitDataRoleBased(w.Network.Pins.RoleBasedValidator, first, admin, w.Network.Pins.CoSigner)
		u.Factory, u.FactoryData = w.Network.Pins.MetaFactory.Hex(),
			golden.HexOf(op.FactoryData(w.Network.Pins.Factory, init, new(big.Int)))
		p, r := w.prepared(w.Document(answer))
		refused(t, p != nil, r, "U4")
		if len(r.Reasons) == 0 || r.Count(verify.Refuse) != 1 {
			t.Fatalf("the deployment is otherwise ours: %+v", r.Reasons)
		}
	})
	// a key that is named as the first and was never replaced changes nothing
	roleBased(t, func(t *testing.T, w *world) {
		w.Deploy = true
		w.Policy.FirstSession = map[common.Address]common.Address{w.Account: w.Signer}
		if p, r := w.prepared(w.Document(w.PrepareResponse())); p == nil {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestU1_AnAccountThatIsAskedForMustBeThere(t *testing.T) {
	w := newWorld(t)
	s := w.signed()
	in := w.Intent()
	if p, r := verify.Prepared(in, verify.Policy{Network: w.Network, Catalog: w.Catalog}, verify.NoHistory{}, clock(),
		w.Document(w.PrepareResponse())); p != nil || !r.Has("U14", verify.Refuse) {
		t.Fatal("a policy without pins judges")
	}
	if q, r := verify.Quote(in, w.Policy, nil, clock(), s, w.Document(w.CrossChain())); q != nil ||
		!r.Has("Q14", verify.Refuse) {
		t.Fatal("judged without a history")
	}
}

// TestAnApprovalNamesNoEnd: a session key's approval covers call data and nonce, so nothing but the nonce ends it
// (protocol §8.2).
func TestAnApprovalNamesNoEnd(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		p, _ := w.prepared(w.Document(w.PrepareResponse()))
		want := clock().Unix() + 600
		if w.Kind == api.AccountRoleBased {
			want = verify.NoEnd
		}
		if got := p.Signing().Summary().ValidUntil; got != want || p.View().Window.Until.Unix() != clock().Unix()+600 {
			t.Fatalf("ends at %d, want %d; the sponsor's window is shown to end at %s", got, want,
				p.View().Window.Until)
		}
		q, r := w.quote(signedBy(t, p, w.Key), w.Document(w.CrossChain()))
		if q == nil || q.Operations()[0].Summary().ValidUntil != want {
			t.Fatalf("%+v", r.Reasons)
		}
	})
}

func TestSummariesNameTheOperation(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.Sequence = 3
		p, _ := w.prepared(w.Document(w.PrepareResponse()))
		s := p.Signing().Summary()
		if s.Role != verify.RolePrepared || s.Kind != w.Kind || s.Chain != "eip155:8453" ||
			s.Sender != w.Account.Hex() || s.Lane != op.LanePrepared || s.BlockHash != "" ||
			s.Nonce != w.Nonce(op.LanePrepared, 3).Big().String() || len(s.Spend) != 2 ||
			s.Spend[0].Amount.Int64() != 250_500_000 {
			t.Fatalf("%+v", s)
		}
		q, r := w.quote(signedBy(t, p, w.Key), w.Document(w.CrossChain()))
		if q == nil {
			t.Fatalf("%+v", r.Reasons)
		}
		s = q.Operations()[0].Summary()
		if s.Role != verify.RoleFunding || s.Kind != w.Kind || s.Chain != "eip155:42161" || s.Lane != op.LaneFunding ||
			s.Spend[0].Amount.Int64() != paid || q.View().Legs[0].AccountType != w.Kind {
			t.Fatalf("%+v", s)
		}
	})
}

// TestU14_PinsOfTheUsersPolicyExtendThoseOfTheProgram replaces one address of the network at a time: refused, unless
// the policy names it in its role.
func TestU14_PinsOfTheUsersPolicyExtendThoseOfTheProgram(t *testing.T) {
	other := common.HexToAddress(stranger)
	for name, c := range map[string]struct {
		change func(p *network.Pins)
		allow  func(l *verify.Limits)
	}{
		"entry point": {func(p *network.Pins) { p.EntryPoint = other },
			func(l *verify.Limits) { l.EntryPoints = []common.Address{other} }},
		"paymaster": {func(p *network.Pins) { p.Paymaster = other },
			func(l *verify.Limits) { l.Paymasters = []common.Address{other} }},
		"escrow": {func(p *network.Pins) { p.Escrow = other },
			func(l *verify.Limits) { l.Escrows = []common.Address{other} }},
		"factory": {func(p *network.Pins) { p.Factory = other },
			func(l *verify.Limits) { l.Factories = []common.Address{other} }},
		"meta factory": {func(p *network.Pins) { p.MetaFactory = other },
			func(l *verify.Limits) { l.Factories = []common.Address{other} }},
		"delegate": {func(p *network.Pins) { p.KernelV33 = other },
			func(l *verify.Limits) { l.Delegates = []common.Address{other} }},
		"validator": {func(p *network.Pins) { p.ECDSAValidator = other },
			func(l *verify.Limits) { l.Validators = []common.Address{other} }},
		"role-based validator": {func(p *network.Pins) { p.RoleBasedValidator = other },
			func(l *verify.Limits) { l.Validators = []common.Address{other} }},
		"implementation": {func(p *network.Pins) { p.KernelV31 = other }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *world) {
				w.Deploy = true
				w.onNetwork(func(n *network.Descriptor) {
					c.change(&n.Pins)
					n.Formulas[0].VerifyingContract = n.Pins.RoleBasedValidator
				})
				answer := w.PrepareResponse()
				if name == "paymaster" { // a foreign sponsor's data is its own affair
					answer.ChainOperation.UserOp.PaymasterData = "0x00"
				}
				doc := w.Document(answer)
				p, r := w.prepared(doc)
				refused(t, p != nil, r, "U14")
				every := []common.Address{other}
				w.Policy.Limits = verify.Limits{EntryPoints: every, Paymasters: every, Escrows: every, Factories: every,
					Delegates: every, Validators: every}
				if c.allow == nil {
					p, r = w.prepared(doc)
					refused(t, p != nil, r, "U14")
					return
				}
				w.Policy.Limits = verify.Limits{}
				c.allow(&w.Policy.Limits)
				if p, r = w.prepared(doc); p == nil {
					t.Fatalf("refused although the policy pins it: %+v", r.Reasons)
				}
				zero := w.Policy
				c.change(&zero.Network.Pins)
				allowsZero(&zero.Limits)
				clearPin(&zero.Network.Pins, other)
				p, r = verify.Prepared(w.Intent(), zero, verify.NoHistory{}, clock(), doc)
				refused(t, p != nil, r, "U14")
			})
		})
	}
}

// allowsZero puts the zero address on every list of pins, as an empty entry of a file would.
func allowsZero(l *verify.Limits) {
	for _, list := range []*[]common.Address{&l.EntryPoints, &l.Validators, &l.Factories, &l.Delegates, &l.Paymasters,
		&l.Escrows} {
		*list = append(*list, common.Address{})
	}
}

// clearPin makes every pin of this address the zero address.
func clearPin(p *network.Pins, a common.Address) {
	for _, pin := range []*common.Address{
		&p.EntryPoint, &p.Paymaster, &p.Escrow, &p.Factory, &p.MetaFactory, &p.KernelV31, &p.KernelV33,
		&p.ECDSAValidator, &p.RoleBasedValidator,
	} {
		if *pin == a {
			*pin = common.Address{}
		}
	}
}

func TestQ13_TheDestinationOperationOfV1IsTheSignedOne(t *testing.T) {
	for _, v := range variants() {
		if !v.v1 {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			w := v.world(t)
			w.Deploy = true
			w.Freeze()
			s := w.signed()
			base := w.Document(w.CrossChain())
			q, r := w.quote(s, base)
			if q == nil || len(q.Operations()) != 2 {
				t.Fatalf("%+v", r.Reasons)
			}
			for _, o := range q.Operations() {
				if o.Hash() == s.Prepared().Signing().Hash() {
					t.Fatal("the prepared operation would be signed again")
				}
			}
			body, err := q.ExecuteBody(signAll(t, w, q))
			if err != nil {
				t.Fatal(err)
			}
			want, _ := base.At("/destinationChainOperation")
			if got, _ := body.At("/destinationChainOperation"); string(got) != string(want) {
				t.Fatal("the prepared operation is not carried as it came")
			}
			changes := map[string]any{
				"/userOp/callData": "0x" + strings.Repeat("00", 8), "/userOp/nonce": "1", "/userOp/sender": stranger,
				"/userOp/callGasLimit": "400001", "/amount": "1",
				"/typedDataToSign/domain/chainId": 1, "/assetType": arbUSDC,
			}
			for pointer, value := range changes {
				q, r := w.quote(s, replace(t, base, "/destinationChainOperation"+pointer, value))
				refused(t, q != nil, r, "Q13")
			}
			q, r = w.quote(s, replace(t, base, "/destinationChainOperation/userOp/signature",
				golden.HexOf(s.Signatures().Operation)))
			refused(t, q != nil, r, "U13")
			q, r = w.quote(s, replace(t, base, "/destinationChainOperation/userOp/initCode", "0x"))
			refused(t, q != nil, r, "L4")
			q, r = w.quote(s, replace(t, base, "/destinationChainOperation", map[string]any{}))
			refused(t, q != nil, r, "Q13")
			if q, r = w.quote(s, drop(t, base, "/destinationChainOperation")); q == nil {
				t.Fatalf("it may be left out: %+v", r.Reasons)
			}
			same := w.SameChain()
			w.Alone = false // the service shows the operation in both places
			q, r = w.quote(s, w.Document(same))
			refused(t, q != nil, r, "Q13")
		})
	}
}

func TestQ13_NoSecondPreparedOperationInV3(t *testing.T) {
	for _, v := range variants() {
		if v.v1 {
			continue
		}
		w := v.world(t)
		s := w.signed()
		for _, value := range []any{map[string]any{"userOp": map[string]any{"sender": stranger}},
			w.PreparedOperation(w.Asked()), nil, "0x", map[string]any{}} {
			q, r := w.quote(s, replace(t, w.Document(w.CrossChain()), "/destinationChainOperation", value))
			refused(t, q != nil, r, "Q13")
		}
	}
}

// TestAnAnswerOfTheOtherInterfaceIsRefused: which interface was asked is part of the intent.
func TestAnAnswerOfTheOtherInterfaceIsRefused(t *testing.T) {
	for i, v := range variants() {
		other := variants()[i^1]
		w, o := v.world(t), other.world(t)
		p, r := w.prepared(o.Document(o.PrepareResponse()))
		refused(t, p != nil, r, "P1")
		s := w.signed()
		q, r := w.quote(s, o.Document(o.CrossChain()))
		code := "Q2"
		if other.v1 {
			code = "Q13" // it shows the prepared operation again
		}
		refused(t, q != nil, r, code)
		q, r = o.quote(s, o.Document(o.CrossChain()))
		refused(t, q != nil, r, "Q14")
	}
}
