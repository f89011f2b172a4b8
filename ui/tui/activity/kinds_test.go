package activity

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/wallet/flow"
	"coffer/wallet/intent"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// liveKinds has a signature of every kind except a kernel account's own operation.
func liveKinds(now time.Time) []Outstanding {
	const eoa, sol = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0", "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
	pays := []verify.AmountView{{Asset: caip.ERC20(8453, common.HexToAddress(usdc)), Symbol: "USDC", Decimals: 6,
		Amount: big.NewInt(250_500_000)}}
	return []Outstanding{
		{
			Summary: verify.OpSummary{Role: journal.RoleDelegation, Kind: api.AccountKernelV33, Chain: "eip155:10",
				Sender: eoa, Nonce: "7"}, Code: "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28",
			Void: "It does not end by itself: it ends when account nonce 7 of this EOA is used on eip155:10, which " +
				"any transaction of the EOA there does.",
		},
		{
			Summary: verify.OpSummary{Role: verify.RoleSwap, Kind: api.AccountSolana,
				Chain: caip.SolanaMainnet().String(), Sender: sol,
				BlockHash: "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N", Spend: pays},
			Until: now.Add(90 * time.Second),
			Void:  "It ends by itself with its block hash, at 12:02:33 UTC at the latest.",
		},
		{
			Summary: verify.OpSummary{Role: verify.RolePrepared, Kind: api.AccountRoleBased, Chain: "eip155:8453",
				Sender: eoa, Nonce: "12", Spend: pays},
			Void: "It does not end by itself: it ends when another operation of this account uses nonce 12 on " +
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
		"a delegation of your EOA on Optimism no end of its own", "account nonce 7 of this EOA is used on Optimism",
		"another operation of this account uses this nonce on Base",
		"0xd6CE DDe8 4be4 0893 d153 Be9d 467C D6aD 3787 5b28",
		"control everything in this EOA there", "the payment of a swap, on Solana until 12:02:33, in 1:30",
		"with its block hash", "EkSn NWid 2cvw", "role-based",
		"the call itself, on Base no end of its own",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, r.view())
		}
	}
	r = newRig(t, Deps{Outstanding: func(time.Time) []Outstanding {
		return []Outstanding{{Summary: verify.OpSummary{Role: "new", Chain: "x"}}}
	}})
	if r.press("o"); !strings.Contains(r.view(), "take it to be usable for ever") {
		t.Errorf("a signature of an unknown kind:\n%s", r.view())
	}
}

// The journal's list is taken over whole: a signature without an end gets none here, and the journal says what ends it.
func TestJ4TheJournalSaysWhatEndsASignature(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	const code = "0xd6cedde84be40893d153be9d467cd6ad37875b28"
	got := FromJournal(c, []journal.Outstanding{
		{Op: "a", Void: "v", Signature: journal.Signature{Role: journal.RoleDelegation, Kind: api.AccountKernelV33,
			ValidUntil: begin().Unix(), Delegation: &journal.Delegation{Contract: code}}},
		{Op: "b", Void: "w", Signature: journal.Signature{Role: verify.RolePrepared, ValidUntil: verify.NoEnd,
			Delegation: &journal.Delegation{Contract: code}}},
		{Op: "c", Void: "x", Signature: journal.Signature{Role: verify.RoleFunding, BlockHash: "h",
			ValidUntil: begin().Unix()}},
	}, 0)
	if len(got) != 3 || got[0].Code != "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28" || !got[0].Until.IsZero() ||
		got[0].Void != "v" || got[0].Summary.Kind != api.AccountKernelV33 {
		t.Fatalf("%+v", got)
	}
	if !got[1].Until.IsZero() || got[1].Code != "" || got[2].Summary.BlockHash != "h" || !got[2].Until.Equal(begin()) {
		t.Fatalf("%+v", got)
	}
}

func TestSwapsAndTransfersHaveTheirOwnWords(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := aSwap(flow.StateReview2, "")
	if got := what(c, s); got != "swap USDC for ETH" {
		t.Error(got)
	}
	s.Intent.Kind, s.Intent.Receive = intent.KindTransfer,
		&intent.Receive{Asset: "ob:usdc", Account: "eip155:8453:0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"}
	if got := what(c, s); got != "transfer USDC to Base" {
		t.Error(got)
	}
	for _, state := range []flow.State{flow.StateQuoting, flow.StateReview2, flow.StateUnknown, flow.StateDone,
		flow.StateFailed} {
		for _, status := range []string{"", api.StatusPending, api.StatusInProgress, api.StatusExecuted,
			api.StatusCompleted, api.StatusRefunded, api.StatusFailed} {
			if x := stateOf(aSwap(state, status)); x.word == "" || strings.Contains(x.sentence, "call") {
				t.Errorf("%s %s: %+v", state, status, x)
			}
		}
	}
	unsigned, signed := aSwap(flow.StateQuoting, ""), aSwap(flow.StateQuoting, "")
	signed.SignaturesDone = 1
	if a, b := stateOf(unsigned), stateOf(signed); !strings.Contains(a.sentence, "Nothing is signed") ||
		strings.Contains(b.sentence, "Nothing is signed") {
		t.Errorf("%q and %q", a.sentence, b.sentence)
	}
}
