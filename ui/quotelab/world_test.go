package quotelab_test

import (
	"math/big"
	"testing"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/ui/compose"
	"coffer/ui/sample"
	"coffer/wallet/intent"
)

const (
	usdcBase = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	ethBase  = "eip155:8453/slip44:60"
	account  = sample.Account
)

// world is the demo profile on the shipped catalogue.
func world(t testing.TB) *compose.World {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return &compose.World{Catalog: c, Network: sample.Network().ID, Clock: sample.Now,
		Accounts: []api.Account{{Type: api.AccountKernelV31, AccountAddress: account, SignerAddress: sample.Signer,
			DeploymentType: api.DeploymentERC4337}}}
}

// call sends 100 USDC on Base.
func call() intent.Draft {
	return intent.Draft{Version: intent.Version, TargetChain: caip.EVM(8453).String(), SlippageBps: 50,
		Calls: []intent.Call{{To: "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
			Data: "0xa9059cbb000000000000000000000000cd75e991a4986a4e96042bfb3f6a7ab26f7b5b72000000000000000000000000" +
				"0000000000000000000000000000000005f5e100"}},
		TokensRequired: []api.TokenRequirement{{AssetType: usdcBase, Amount: "100000000"}}}
}

// swap is ten USDC for ETH on Base.
func swap(t testing.TB) intent.Intent {
	in, err := world(t).Freeze(intent.Draft{Version: intent.Version, Kind: intent.KindSwap, SlippageBps: 50,
		Pay: &intent.Pay{Asset: "ob:usdc", Amount: "10000000"}, Receive: &intent.Receive{Asset: ethBase}})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// held is 25 USDC on Base.
func held(t testing.TB) compose.Money {
	asset, err := caip.ParseAsset(usdcBase)
	if err != nil {
		t.Fatal(err)
	}
	return compose.Money{Known: true, Held: map[caip.Asset]*big.Int{asset: big.NewInt(25_000_000)}}
}
