package flow

import (
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// On own nodes nothing pays from another chain than the call's, so that the answer says nothing of what is there; a
// service that has a solver lists all that could pay.
func TestTH_P6_OnOwnNodesAnAnswerIsSilentAboutOtherChains(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	own := network.Descriptor{Version: 2, Kind: network.Lab, Pins: network.Pins{Paymaster: network.Window()}}
	solver := own
	solver.Pins.Solver = common.Address{1}
	in, err := intent.Freeze(intent.Draft{Version: intent.Version, Network: "0x" + strings.Repeat("1", 64),
		TargetChain: "eip155:8453", FundWith: "ob:eth",
		Accounts: []api.Account{{Type: api.AccountKernelV31, DeploymentType: api.DeploymentERC4337,
			SignerAddress: common.Address{1}.Hex(), AccountAddress: common.Address{2}.Hex()}},
		Calls: []intent.Call{{To: common.Address{3}.Hex(), Value: "1"}}}, api.Rules{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]network.Descriptor{"own nodes": own, "with a solver": solver} {
		o := &Operation{in: in, f: New(Deps{Policy: verify.Policy{Network: n, Catalog: c}})}
		listed, left := o.comparable(nil)
		list := append(listed, left...)
		on := func(a verify.AmountView) bool { return a.Asset.Chain == caip.EVM(8453) }
		here := slices.ContainsFunc(list, on)
		elsewhere := slices.ContainsFunc(list, func(a verify.AmountView) bool { return !on(a) })
		if !here || elsewhere != (name != "own nodes") {
			t.Errorf("%s: %+v", name, list)
		}
	}
}
