package verify

import (
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/assets"
)

// CheckPins compares the addresses that are the same on every network with those that this program was built with
// (protocol §4.2); a descriptor that was tampered with fails here. The error names the first that differs.
func CheckPins(n network.Descriptor) error {
	shipped, err := shippedPins(n)
	if err != nil {
		return err
	}
	return comparePins(shipped, n.Pins, Limits{})
}

// shippedPins are the addresses that this program was built with. On nodes of others another contract validates. On own
// nodes there is no escrow, and Window sponsors; an operator has a filler of its own, which sponsors, and the escrow's
// address follows from the escrow's code, the filler, the attesters and the network's id.
func shippedPins(n network.Descriptor) (network.Pins, error) {
	p, err := assets.PinnedAddresses()
	if err != nil {
		return network.Pins{}, fmt.Errorf("pinned addresses: %w", err)
	}
	a := common.HexToAddress
	pins := network.Pins{
		EntryPoint: a(p.EntryPoint), Paymaster: a(p.Paymaster), Escrow: a(p.Escrow),
		KernelV31: a(p.KernelV31Implementation), KernelV33: a(p.KernelV33Delegate),
		Factory: a(p.Factory), MetaFactory: a(p.MetaFactory), ECDSAValidator: a(p.ECDSAValidator),
		RoleBasedValidator: a(p.RoleBasedValidator),
	}
	last := network.Deployment{}
	if len(n.Deployments) > 0 {
		last = n.Deployments[len(n.Deployments)-1]
	}
	switch {
	case n.OnOwnNodes():
		pins.Paymaster, pins.RoleBasedValidator = network.Window(), network.RoleBasedValidator()
		pins.Escrow = common.Address{}
	case n.OnNodes() && last.Filler != (common.Address{}) && last.Filler == n.Pins.Solver:
		pins.Paymaster, pins.RoleBasedValidator = last.Filler, network.RoleBasedValidator()
		pins.Escrow, err = n.EscrowAt(last)
	}
	return pins, err
}

// comparePins demands that a network's addresses are the shipped ones or, each in its role, among the additional pins
// of the user's policy. The zero address is one only where the shipped one is zero.
func comparePins(shipped, got network.Pins, l Limits) error {
	for _, p := range []struct {
		name      string
		want, got common.Address
		more      []common.Address
	}{
		{"entry point", shipped.EntryPoint, got.EntryPoint, l.EntryPoints},
		{"paymaster", shipped.Paymaster, got.Paymaster, l.Paymasters},
		{"escrow", shipped.Escrow, got.Escrow, l.Escrows},
		{"account implementation", shipped.KernelV31, got.KernelV31, nil},
		{"account delegate", shipped.KernelV33, got.KernelV33, l.Delegates},
		{"account factory", shipped.Factory, got.Factory, l.Factories},
		{"meta factory", shipped.MetaFactory, got.MetaFactory, l.Factories},
		{"validator", shipped.ECDSAValidator, got.ECDSAValidator, l.Validators},
		{"role-based validator", shipped.RoleBasedValidator, got.RoleBasedValidator, l.Validators},
	} {
		if p.got != p.want && (p.got == (common.Address{}) || !slices.Contains(p.more, p.got)) {
			return fmt.Errorf("the network's %s is %s, this program expects %s", p.name, p.got.Hex(), p.want.Hex())
		}
	}
	return nil
}

// sponsors reports whether a paymaster is pinned. own says that it is the one whose data this program reads; the data
// of others is opaque.
func (p Policy) sponsors(a common.Address) (own, pinned bool) {
	if a == p.shipped.Paymaster && a == p.Network.Pins.Paymaster {
		return true, true
	}
	return false, slices.Contains(p.Limits.Paymasters, a)
}

// controls reports whether an address is one that reconfigures accounts or runs their operations: the account itself
// and the pins of every role (TH-U9).
func (p Policy) controls(sender, a common.Address) bool {
	pins := p.Network.Pins
	l := p.Limits
	if slices.Contains([]common.Address{
		sender, pins.EntryPoint, pins.ECDSAValidator, pins.RoleBasedValidator, pins.Factory, pins.MetaFactory,
		pins.KernelV31, pins.KernelV33,
	}, a) {
		return true
	}
	for _, more := range [][]common.Address{l.EntryPoints, l.Validators, l.Factories, l.Delegates} {
		if slices.Contains(more, a) {
			return true
		}
	}
	return false
}
