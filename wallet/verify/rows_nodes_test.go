package verify_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// ownNodes puts the world on a network that is only the person's own nodes.
func ownNodes(n *network.Descriptor) {
	n.Version, n.Kind = 2, network.Test
	n.Pins.Paymaster, n.Pins.RoleBasedValidator = network.Window(), network.RoleBasedValidator()
	n.Pins.Escrow, n.Pins.Solver = common.Address{}, common.Address{}
	n.Formulas = []network.Formula{{Name: "RoleBasedECDSAValidator", Version: "1.4.3",
		VerifyingContract: n.Pins.RoleBasedValidator, Formula: network.FormulaCallDataAndNonce}}
}

// eachOnOwnNodes runs a test for every variant on own nodes, where nothing is paid on other chains.
func eachOnOwnNodes(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	each(t, func(t *testing.T, w *world) {
		w.onNetwork(ownNodes)
		w.CallType = api.CallSameChainExcludeSolver
		test(t, w)
	})
}

func TestU14_OnOwnNodesTheAddressesAreThoseOfOwnNodes(t *testing.T) {
	eachOnOwnNodes(t, func(t *testing.T, w *world) {
		if err := verify.CheckPins(w.Network); err != nil {
			t.Fatal(err)
		}
		p, r := w.prepared(w.Document(w.PrepareResponse()))
		if accepted(t, r); p == nil {
			t.Fatal("an honest answer is refused")
		}
		v, r := w.quote(w.signed(), w.Document(w.SameChain()))
		if accepted(t, r); v == nil || !v.SameChainOnly() {
			t.Fatal("an honest quote is refused")
		}
	})
	for name, change := range map[string]func(n *network.Descriptor){
		"embedded":          func(n *network.Descriptor) { n.Kind = network.Embedded },
		"version 1":         func(n *network.Descriptor) { n.Version = 1 },
		"a solver":          func(n *network.Descriptor) { n.Pins.Solver = common.HexToAddress(stranger) },
		"an escrow":         func(n *network.Descriptor) { n.Pins.Escrow = common.HexToAddress(stranger) },
		"another paymaster": func(n *network.Descriptor) { n.Pins.Paymaster = common.HexToAddress(stranger) },
		"the documented validator": func(n *network.Descriptor) {
			n.Pins.RoleBasedValidator = newWorld(t).Network.Pins.RoleBasedValidator
		},
		"another account factory": func(n *network.Descriptor) { n.Pins.Factory = common.HexToAddress(stranger) },
		"no entry point":          func(n *network.Descriptor) { n.Pins.EntryPoint = common.Address{} },
		"a deployment and no escrow": func(n *network.Descriptor) {
			n.Deployments = []network.Deployment{{Attesters: []common.Address{{1}}, Threshold: 1}}
		},
	} {
		n := newWorld(t).Network
		ownNodes(&n)
		if change(&n); verify.CheckPins(n) == nil {
			t.Errorf("%s: the difference goes unnoticed", name)
		}
	}
}

// operated puts the world on chains of others with an operator.
func operated(t *testing.T) network.Descriptor {
	t.Helper()
	n := newWorld(t).Network
	n.Version, n.Kind = 2, network.Test
	n, err := n.WithID()
	if err != nil {
		t.Fatal(err)
	}
	d := network.Deployment{Filler: common.HexToAddress(payee), Attesters: []common.Address{{1}, {2}}, Threshold: 2}
	n.Pins.RoleBasedValidator, n.Pins.Paymaster, n.Pins.Solver = network.RoleBasedValidator(), d.Filler, d.Filler
	if d.Escrow, err = n.EscrowAt(d); err != nil {
		t.Fatal(err)
	}
	n.Pins.Escrow, n.Deployments = d.Escrow, []network.Deployment{d}
	return n
}

// What an escrow demands of a release shows in its address, so a descriptor cannot name another one.
func TestU14_AnOperatorsEscrowIsTheOneOfItsAttesters(t *testing.T) {
	if err := verify.CheckPins(operated(t)); err != nil {
		t.Fatal(err)
	}
	other := common.HexToAddress(stranger)
	for name, change := range map[string]func(n *network.Descriptor, d *network.Deployment){
		"another escrow": func(n *network.Descriptor, d *network.Deployment) {
			d.Escrow = other
			n.Pins.Escrow = d.Escrow
		},
		"fewer signatures":   func(_ *network.Descriptor, d *network.Deployment) { d.Threshold = 1 },
		"another attester":   func(_ *network.Descriptor, d *network.Deployment) { d.Attesters[0] = common.Address{9} },
		"another payee":      func(_ *network.Descriptor, d *network.Deployment) { d.Filler = other },
		"of another network": func(n *network.Descriptor, _ *network.Deployment) { n.ID = common.Hash{7}.Hex() },
		"another paymaster": func(n *network.Descriptor, _ *network.Deployment) {
			n.Pins.Paymaster = network.Window()
		},
		"another solver":      func(n *network.Descriptor, _ *network.Deployment) { n.Pins.Solver = other },
		"an embedded network": func(n *network.Descriptor, _ *network.Deployment) { n.Kind = network.Embedded },
		"no deployment":       func(n *network.Descriptor, _ *network.Deployment) { n.Deployments = nil },
		"another entry point": func(n *network.Descriptor, _ *network.Deployment) { n.Pins.EntryPoint = other },
		"nothing at all": func(n *network.Descriptor, d *network.Deployment) {
			*d, n.Pins.Paymaster, n.Pins.Solver = network.Deployment{}, common.Address{}, common.Address{}
			n.Pins.Escrow = common.Address{}
		},
	} {
		n := operated(t)
		if change(&n, &n.Deployments[0]); verify.CheckPins(n) == nil {
			t.Errorf("%s: the difference goes unnoticed", name)
		}
	}
}

// Own nodes without price feeds have no figures in dollars.
func TestP6_OnOwnNodesABalanceMayHaveNoPrice(t *testing.T) {
	eachOnOwnNodes(t, func(t *testing.T, w *world) {
		if p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/sourceAssetBalances/0/fiatValue",
			nil)); p == nil {
			accepted(t, r)
			t.Fatal("an honest answer is refused")
		}
	})
}

// What follows the window would be taken for a signature elsewhere, and the contract refuses it.
func TestU12_OnOwnNodesOnlyZerosFollowTheWindow(t *testing.T) {
	eachOnOwnNodes(t, func(t *testing.T, w *world) {
		now := uint64(clock().Unix())
		for at := range op.SignatureLength {
			signature := make([]byte, op.SignatureLength)
			signature[at] = 1
			data := op.EncodePaymasterData(op.PaymasterWindow{ValidUntil: now + 600, ValidAfter: now}, signature)
			p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/userOp/paymasterData",
				golden.HexOf(data)))
			refused(t, p != nil, r, "U12")
		}
	})
}

// The paymaster of own nodes refuses an operation with fees, and a policy that allows some must not make it signed.
func TestU11_OnOwnNodesAnOperationCarriesNoFees(t *testing.T) {
	eachOnOwnNodes(t, func(t *testing.T, w *world) {
		w.Policy.Caps.MaxFeePerGas = 100
		p, r := w.prepared(replace(t, w.Document(w.PrepareResponse()), "/chainOperation/userOp/maxFeePerGas", "1"))
		refused(t, p != nil, r, "U11")
	})
}

func TestP4_OnOwnNodesNoPaymentsAreAnnounced(t *testing.T) {
	for _, announced := range []string{api.CallCrossChain, api.CallCrossChainSwaps, api.CallSameChainWithSolver} {
		eachOnOwnNodes(t, func(t *testing.T, w *world) {
			w.CallType = announced
			p, r := w.prepared(w.Document(w.PrepareResponse()))
			refused(t, p != nil, r, "P4")
		})
	}
}

// There is no escrow: the zero address is no target of a payment, whatever the gates of a policy let pass.
func TestQ4_OnOwnNodesNothingIsPaid(t *testing.T) {
	eachOnOwnNodes(t, func(t *testing.T, w *world) {
		q, r := w.quote(w.signed(), w.Document(w.CrossChain()))
		refused(t, q != nil, r, "Q4")
	})
	w := newWorld(t)
	w.onNetwork(ownNodes)
	trade := w.Trade(intent.KindTransfer, baseUSDC, caip.EVMAccount(8453, common.HexToAddress(payee)), "99500000",
		"97510000")
	q, r := verify.Exchange(w.Intent(), w.Policy, verify.NoHistory{}, clock(), w.Document(trade))
	refused(t, q != nil, r, "Q4")
}
