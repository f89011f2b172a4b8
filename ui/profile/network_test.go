package profile

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/network"
	"coffer/assets"
)

// shipped is a network with this program's fixed addresses.
func shipped(t *testing.T) network.Descriptor {
	t.Helper()
	p, err := assets.PinnedAddresses()
	if err != nil {
		t.Fatal(err)
	}
	a := common.HexToAddress
	n, err := network.Descriptor{
		Version: 1, Kind: network.Lab, Chains: []string{"eip155:1"},
		Genesis: map[string]string{"eip155:1": "0xab"},
		Pins: network.Pins{
			EntryPoint: a(p.EntryPoint), Paymaster: a(p.Paymaster), Escrow: a(p.Escrow),
			KernelV31: a(p.KernelV31Implementation), KernelV33: a(p.KernelV33Delegate),
			Factory: a(p.Factory), MetaFactory: a(p.MetaFactory), ECDSAValidator: a(p.ECDSAValidator),
			RoleBasedValidator: a(p.RoleBasedValidator),
			CoSigner:           common.HexToAddress("0xf6112bd3da673b15926f16537d2b399844a9ed91"),
		},
	}.WithID()
	if err != nil {
		t.Fatal(err)
	}
	return n
}
