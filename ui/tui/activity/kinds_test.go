package activity

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/ui/present"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// liveKinds has a signature of every kind except a kernel account's own operation.
func liveKinds(now time.Time) []present.Signature {
	const eoa, sol = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
	pays := []verify.AmountView{{Asset: caip.ERC20(8453, common.HexToAddress(usdc)), Symbol: "USDC", Decimals: 6,
		Amount: big.NewInt(250_500_000)}}
	return []present.Signature{
		{
			Summary: verify.OpSummary{Role: journal.RoleDelegation, Kind: api.AccountKernelV33, Chain: "eip155:10",
				Sender: eoa, Nonce: "7"}, Code: "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28",
			Void: "It never expires: it ends when account nonce 7 of this EOA is used on eip155:10, which " +
				"any transaction of the EOA there does.",
		},
		{
			Summary: verify.OpSummary{Role: verify.RoleSwap, Kind: api.AccountSolana,
				Chain: caip.SolanaMainnet().String(), Sender: sol,
				BlockHash: "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N", Spend: pays},
			Until: now.Add(90 * time.Second),
			Void:  "It expires with its block hash, at 12:02:33 UTC at the latest.",
		},
		{
			Summary: verify.OpSummary{Role: verify.RolePrepared, Kind: api.AccountRoleBased, Chain: "eip155:8453",
				Sender: eoa, Nonce: "12", Spend: pays},
			Void: "It never expires: it ends when another operation of this account uses nonce 12 on " +
				"eip155:8453.",
		},
	}
}

// aSwap is a swap of USDC for ETH at some stage.
func aSwap(state flow.State, status string) flow.Snapshot {
	s := snapshot(state, status)
	s.Intent = intent.Draft{Kind: intent.KindSwap, Pay: &intent.Pay{Asset: "ob:usdc", Amount: "100000000"},
		Receive: &intent.Receive{Asset: "ob:eth"}}
	s.SignaturesDone, s.SignaturesTotal = 2, 2
	if status == "" {
		s.ID, s.SignaturesDone = "op2", 0
	}
	eth := verify.AmountView{Asset: caip.Native(10), Symbol: "ETH", Decimals: 18,
		Amount: big.NewInt(29_113_700_000_000_000), ChainName: "Optimism"}
	usd := s.Review2.Legs[0].Pays
	s.Review2.Kind, s.Review2.Pay, s.Review2.Minimum, s.Review2.Delivered = "swap", []verify.AmountView{usd}, eth, eth
	return s
}

func TestJ4EverySignatureSaysWhatEndsIt(t *testing.T) {
	r := newRig(t, Deps{Outstanding: liveKinds})
	r.w, r.h = 120, 60
	r.press("o")
	got := strings.Join(strings.Fields(r.view()), " ")
	for _, want := range []string{
		"a delegation of your EOA on Optimism never expires", "account nonce 7 of this EOA is used on Optimism",
		"another operation of this account uses this nonce on Base",
		"0xd6CE DDe8 4be4 0893 d153 Be9d 467C D6aD 3787 5b28",
		"control everything in this EOA there", "the payment of a swap, on Solana until 12:02:33, in 1:30",
		"with its block hash", "EkSn NWid 2cvw", "role-based",
		"the call itself, on Base never expires",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	r = newRig(t, Deps{Outstanding: func(time.Time) []present.Signature {
		return []present.Signature{{Summary: verify.OpSummary{Role: "new", Chain: "x"}}}
	}})
	if r.press("o"); !strings.Contains(r.view(), "take it to be usable for ever") {
		t.Errorf("a signature of an unknown kind:\n%s", r.view())
	}
}
