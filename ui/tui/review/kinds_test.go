package review

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/secret"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

const (
	kernel    = "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28"
	solOwner  = "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
	solVault  = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
	solPayer  = "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
	solToken  = "3n5D1XCgLcFMRXTz1tWTZoxKLpyi6rA8pTeEUhtR1nQV"
	solMint   = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	solHash   = "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N"
	blindText = "this signature can move everything in the account"
)

func delegation(id uint64, name string) *verify.DelegationView {
	return &verify.DelegationView{Chain: chain(id, name), Authority: account, Contract: kernel,
		ContractName: "Kernel v3.3 account", Nonce: 7}
}

// delegated is review 1 of an EOA whose first operation on Base delegates it.
func delegated(v *verify.PreparedView) *verify.PreparedView {
	v.AccountType, v.Deploys, v.Signatures, v.Delegation = api.AccountKernelV33, false, 2, delegation(8453, "Base")
	return v
}

func solanaChain() verify.ChainLabel {
	return verify.ChainLabel{CAIP: caip.SolanaMainnet().String(), Name: "Solana", Short: "sol"}
}

// solanaQuote is review 2 of a call that Solana and Optimism pay for.
func solanaQuote(now time.Time) *verify.QuoteView {
	q := quote(now, time.Minute)
	q.Legs[1] = verify.LegView{
		Chain: solanaChain(), Pays: usdcOf(100_000_000, 99_980_000, "Solana"), OpHash: hash(7), Escrow: solVault,
		Until: now.Add(2 * time.Minute), AccountType: api.AccountSolana,
		Solana: &verify.SolanaView{
			FeePayer: solPayer, BlockHash: solHash, Memo: hash(5),
			Instructions: []verify.InstructionView{
				{Program: "ComputeBudget111111111111111111111111111111", ProgramName: "ComputeBudget",
					Name: "setComputeUnitLimit", Args: []verify.ArgView{{Name: "units", Type: "u32", Value: "60000"}}},
				{Program: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", ProgramName: "Token", Name: "transferChecked",
					Args: []verify.ArgView{
						{Name: "source", Type: "address", Value: solToken},
						{Name: "mint", Type: "address", Value: solMint},
						{Name: "destination", Type: "address", Value: solVault},
						{Name: "owner", Type: "address", Value: solOwner},
						{Name: "amount", Type: "u64", Value: "100000000 (100)"},
					}},
				{Program: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", ProgramName: "Memo", Name: "memo",
					Args: []verify.ArgView{{Name: "text", Type: "string", Value: hash(5)}}},
			},
		},
	}
	return q
}

func ethOf(wei string, micro int64, where string) verify.AmountView {
	v, _ := new(big.Int).SetString(wei, 10)
	return verify.AmountView{Asset: caip.Native(10), Symbol: "ETH", Decimals: 18, Amount: v, Micro: big.NewInt(micro),
		ChainName: where}
}

// swapQuote is the only review of a swap of 100 USDC for ETH.
func swapQuote(now time.Time) *verify.QuoteView {
	q := quote(now, time.Minute)
	q.Kind, q.Needs, q.Legs, q.CallType = "swap", nil, q.Legs[:1], ""
	q.CallTypeWords = "The payments below are signed now; another asset is delivered for them, no less than the " +
		"minimum; otherwise they should come back."
	q.DeliverMicro, q.CostMicro, q.CostBps, q.FeesMicro = big.NewInt(99_500_000), big.NewInt(480_000), 49,
		big.NewInt(479_904)
	q.UnexplainedMicro = big.NewInt(96)
	q.Legs[0].Pays = usdcOf(100_000_000, 99_980_000, "Optimism")
	q.Pay, q.PayMicro = []verify.AmountView{usdcOf(100_000_000, 99_980_000, "Optimism")}, big.NewInt(99_980_000)
	q.Worst = q.Pay
	q.Delivered, q.Minimum = ethOf("29260000000000000", 99_500_000, "Optimism"),
		ethOf("29113700000000000", 99_002_500, "Optimism")
	q.Recipient, q.RecipientOwn = account, true
	q.Promise.Minimums = []verify.AmountView{q.Minimum}
	return q
}

func aSwap(t testing.TB, now time.Time) intent.Intent {
	t.Helper()
	d := intent.Draft{
		Version: intent.Version, Kind: intent.KindSwap, Network: hash(1), SlippageBps: 50,
		Accounts: []api.Account{{Type: api.AccountKernelV31, SignerAddress: strings.ToLower(payee),
			AccountAddress: strings.ToLower(account), DeploymentType: api.DeploymentERC4337}},
		Pay:     &intent.Pay{Asset: "ob:usdc", Amount: "100000000"},
		Receive: &intent.Receive{Asset: "ob:eth", Minimum: "29000000000000000"},
	}
	in, err := intent.Freeze(d, api.Rules{Catalog: cat(t), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// blind is the reason of an approval whose hash cannot be computed.
func blind(open bool) verify.Reason {
	return verify.Reason{
		Code: "T7", Level: verify.Gate, Open: open, Setting: verify.GateBlindSigning,
		Path: "/chainOperation/typedDataToSign/message",
		Title: "The hash that would be signed cannot be computed here: the service could show one operation and have " +
			"another one signed.",
	}
}

// gated adds an open gate to review 1.
func (r *rig) gated() *rig {
	r.op.view1.AccountType, r.op.view1.Phrase = api.AccountRoleBased, blindText
	r.op.report1 = report(blind(true))
	return r
}

// fakeVault plays the vault; err is the error of opening it.
type fakeVault struct {
	locked bool
	err    error
	tries  []string
	given  []secret.Secret
}

func (v *fakeVault) unlock(_ context.Context, pass secret.Secret) error {
	v.tries = append(v.tries, string(pass.Reveal()))
	v.given = append(v.given, pass)
	if v.err == nil {
		v.locked = false
	}
	return v.err
}

func (r *rig) withVault(v *fakeVault) *rig {
	r.s.deps.Locked, r.s.deps.Unlock = func() bool { return v.locked }, v.unlock
	return r
}

// without begins the review without the passphrase, if that is asked for.
func (r *rig) without() *rig {
	if r.s.unlock.open {
		r.press("esc")
	}
	return r
}
