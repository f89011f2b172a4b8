// Package reviewtest has reviews of every kind for the tests of the front ends.
package reviewtest

import (
	"math/big"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/op/erc20"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// The addresses of the reviews.
const (
	Account = "0x21f6b1D4B4fA4bE12C4c4a60cE0C4C4A5D4f5A10"
	Payee   = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	USDC    = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	Escrow  = "0x0AD63E341d6cA640c84993e15051febf742E1feF"
	Kernel  = "0xd6CEDDe84be40893d153Be9d467CD6aD37875b28"
	Vault   = "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin"
	Payer   = "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
	Block   = "EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N"
)

// Begin is the time of the reviews.
func Begin() time.Time { return time.Date(2026, 11, 21, 12, 1, 3, 0, time.UTC) }

// Hash is 32 bytes that differ by their argument.
func Hash(b byte) string { return "0x" + strings.Repeat(string("0123456789abcdef"[b%16])+"e", 32) }

func chain(id uint64, name string) verify.ChainLabel {
	return verify.ChainLabel{ID: id, CAIP: caip.EVM(id).String(), Name: name, Short: strings.ToLower(name)}
}

func usdc(units int64, where string) verify.AmountView {
	return verify.AmountView{Asset: caip.ERC20(8453, common.HexToAddress(USDC)), Symbol: "USDC", Decimals: 6,
		Amount: big.NewInt(units), Micro: big.NewInt(units - units/5000), ChainName: where}
}

func eth(wei int64, where string) verify.AmountView {
	return verify.AmountView{Asset: caip.Native(8453), Symbol: "ETH", Decimals: 18, Amount: big.NewInt(wei),
		Micro: big.NewInt(3_400_000), ChainName: where}
}

func report(reasons ...verify.Reason) verify.Report {
	return verify.Report{Reasons: reasons, Passed: []verify.Check{{Code: "U1", Title: "check U1 holds"}}}
}

func findings() verify.Report {
	return report(
		verify.Reason{Code: "V4", Level: verify.Warn, Title: verify.FirstPayment, Got: Payee},
		verify.Reason{Code: "P6", Level: verify.Unknown, Title: "The balances are the service's word.",
			Path: "/balances"},
		verify.Reason{Code: "L4", Level: verify.Show, Title: "The answer has fields that are not used."},
		verify.Reason{Code: "T7", Level: verify.Gate, Open: true, Setting: verify.GateBlindSigning, Want: "a hash",
			Title: "The hash that would be signed cannot be computed here."})
}

// Call is review 1 of a transfer of 250.5 USDC on Base.
func Call() consent.Review {
	a := usdc(250_500_000, "Base")
	data := "0x" + common.Bytes2Hex(erc20.Transfer(common.HexToAddress(Payee), a.Amount))
	return consent.Review{
		Intent: intent.Draft{
			Version: intent.Version, Kind: intent.KindCall, Network: Hash(1), TargetChain: "eip155:8453",
			SlippageBps:    50,
			Accounts:       []api.Account{{Type: api.AccountKernelV31, SignerAddress: Payee, AccountAddress: Account}},
			Calls:          []intent.Call{{To: USDC, Data: data, Function: "transfer(address to, uint256 amount)"}},
			TokensRequired: []api.TokenRequirement{{AssetType: a.Asset.String(), Amount: "250500000"}},
		},
		Call: &verify.PreparedView{
			Network: Hash(1), AccountType: api.AccountKernelV31, Chain: chain(8453, "Base"), Sender: Account,
			Signer: Payee,
			Lines: []verify.CallView{{Index: 1, Asked: 1, Role: verify.RoleCall, To: USDC, ToName: "USDC",
				Value: new(big.Int), Function: "transfer(address to, uint256 amount)",
				Args: []verify.ArgView{{Name: "to", Type: "address", Value: Payee},
					{Name: "amount", Type: "uint256", Value: "250500000"}},
				Data: data, Decoded: true, AsAsked: true, Amount: &a, Recipient: Payee, FirstTime: true}},
			Outflow: []verify.AmountView{a}, Requires: []verify.AmountView{a}, Worst: []verify.AmountView{a},
			Window:   verify.Window{From: Begin(), Until: Begin().Add(10 * time.Minute)},
			CallType: api.CallCrossChain, CallTypeWords: "The same asset on other chains will pay for what is missing.",
			Deploys: true, Nonce: "1208925819614629174706176", OpHash: Hash(2), Digest: Hash(3), Fingerprint: Hash(4),
			Signatures: 1, Sources: []verify.AmountView{usdc(25_000_000, "Base")},
		},
		Report: findings(),
	}
}

// Payouts is review 1 of four payments on Base, of 10 USDC each but the third, which is of ETH; the last one goes where
// the first one goes.
func Payouts() consent.Review {
	r := Call()
	one, d := r.Call.Lines[0], &r.Intent
	d.Calls, r.Call.Lines, r.Call.Outflow = nil, nil, []verify.AmountView{usdc(30_000_000, "Base")}
	for i, to := range []string{Payee, Kernel, Escrow, Payee} {
		l, a := one, usdc(10_000_000, "Base")
		if i == 2 {
			a = eth(5_000_000_000_000_000, "Base")
			l = verify.CallView{Role: verify.RoleCall, To: to, Value: a.Amount, Decoded: true, AsAsked: true,
				FirstTime: true}
			r.Call.Outflow = append(r.Call.Outflow, a)
		} else {
			l.Data = "0x" + common.Bytes2Hex(erc20.Transfer(common.HexToAddress(to), a.Amount))
			l.Args = []verify.ArgView{{Name: "to", Type: "address", Value: to},
				{Name: "amount", Type: "uint256", Value: "10000000"}}
		}
		l.Index, l.Asked, l.Amount, l.Recipient = i+1, i+1, &a, to
		r.Call.Lines = append(r.Call.Lines, l)
		c := intent.Call{To: l.To, Data: l.Data, Function: l.Function, Note: "invoice " + string("6789"[i])}
		if i == 2 {
			c.Value = a.Amount.String()
		}
		d.Calls = append(d.Calls, c)
	}
	d.TokensRequired[0].Amount, r.Call.Requires = "30000000", []verify.AmountView{usdc(30_000_000, "Base")}
	return r
}

// leg is a payment of an account by a deposit in escrow.
func leg(id uint64, name string, units int64, nonce string, b byte) verify.LegView {
	return verify.LegView{Chain: chain(id, name), Pays: usdc(units, name), Nonce: nonce, OpHash: Hash(b),
		Escrow: Escrow, RefundAfter: Begin().Add(time.Hour), Until: Begin().Add(10 * time.Minute),
		AccountType: api.AccountKernelV31}
}

// Quote is review 2 of the same call: two payments.
func Quote() consent.Review {
	r := Call()
	pay := usdc(225_980_000, "")
	r.Quote = &verify.QuoteView{
		ID: Hash(5), Kind: intent.KindCall, CallType: api.CallCrossChain,
		CallTypeWords: "The same asset on other chains will pay for what is missing.",
		Expires:       Begin().Add(time.Minute),
		Legs: []verify.LegView{
			leg(10, "Optimism", 125_980_000, "11", 6), leg(42161, "Arbitrum", 100_000_000, "12", 7),
		},
		Promise: &verify.PromiseView{Minimums: []verify.AmountView{usdc(225_500_000, "Base")},
			FillBy:    Begin().Add(5 * time.Minute),
			Attesters: 3, Threshold: 2},
		Pay: []verify.AmountView{pay}, Worst: []verify.AmountView{usdc(476_480_000, "")},
		PayMicro: big.NewInt(225_934_804), DeliverMicro: big.NewInt(225_454_900), FeesMicro: big.NewInt(479_904),
		CostMicro: big.NewInt(479_904), CostBps: 22, MinimumCostMicro: big.NewInt(479_905), MinimumCostBps: 23,
		UnexplainedMicro: new(big.Int), Explained: true,
		Needs: []verify.NeedView{{Need: usdc(250_500_000, "Base"), Have: big.NewInt(25_000_000),
			Short: big.NewInt(225_500_000)}},
		Delivered: usdc(250_500_000, "Base"), Minimum: usdc(250_500_000, "Base"), Recipient: Account,
		RecipientOwn: true,
		Fees:         []verify.AmountView{usdc(480_000, "")}, FeeUSD: "0.48", SlippageBps: 50, Fingerprint: Hash(8),
	}
	r.Quote.Legs[1].Deploys = true
	return r
}

// Swap is the review of a swap of 100 USDC for ETH.
func Swap() consent.Review {
	r := Quote()
	q := r.Quote
	r.Call = nil
	r.Intent = intent.Draft{Version: intent.Version, Kind: intent.KindSwap, Network: Hash(1), SlippageBps: 50,
		Accounts: r.Intent.Accounts, Pay: &intent.Pay{Asset: "ob:usdc", Amount: "100000000"},
		Receive: &intent.Receive{Asset: "ob:eth", Minimum: "29000000000000000"}}
	q.Kind, q.Needs, q.Legs, q.CallType = intent.KindSwap, nil, q.Legs[:1], ""
	q.Legs[0].Pays = usdc(100_000_000, "Optimism")
	q.Pay, q.Worst = []verify.AmountView{q.Legs[0].Pays}, []verify.AmountView{q.Legs[0].Pays}
	q.PayMicro, q.DeliverMicro, q.CostMicro = big.NewInt(99_980_000), big.NewInt(99_500_000), big.NewInt(480_000)
	q.UnexplainedMicro, q.CostBps = big.NewInt(96), 48
	q.Delivered, q.Minimum = eth(29_260_000_000_000_000, "Optimism"), eth(29_113_700_000_000_000, "Optimism")
	q.Promise.Minimums = []verify.AmountView{q.Minimum}
	return r
}

// Case is a review with its name. Previous is the quote before it.
type Case struct {
	Name     string
	Review   consent.Review
	Previous *verify.QuoteView
}

// All are reviews of every kind, each made anew.
func All() []Case {
	var out []Case
	add := func(name string, r consent.Review, change func(r *consent.Review)) {
		if change != nil {
			change(&r)
		}
		out = append(out, Case{Name: name, Review: r})
	}
	delegation := func(id uint64, name string) *verify.DelegationView {
		return &verify.DelegationView{Chain: chain(id, name), Authority: Account, Contract: Kernel,
			ContractName: "Kernel v3.3 account", Nonce: 7}
	}
	add("call", Call(), nil)
	add("two calls, one of them cannot be decoded", Call(), func(r *consent.Review) {
		value := eth(1_000_000_000_000_000, "Base")
		r.Call.Lines = append(r.Call.Lines, verify.CallView{Index: 2, Asked: 2, Role: verify.RoleCall, To: Escrow,
			Value: value.Amount, Data: "0xdeadbeef", AsAsked: true, Amount: &value})
		r.Call.Outflow = append(r.Call.Outflow, value)
		r.Intent.Calls = append(r.Intent.Calls, intent.Call{To: Escrow, Value: value.Amount.String(),
			Data: "0xdeadbeef"})
		r.Call.Phrase = "this signature can move everything in the account"
	})
	add("payouts", Payouts(), nil)
	add("allowance", Call(), func(r *consent.Review) {
		approve := func(index int, role string, units int64) verify.CallView {
			a := usdc(units, "Base")
			return verify.CallView{Index: index, Role: role, To: USDC, ToName: "USDC", Value: new(big.Int),
				Decoded:  true,
				Function: "approve(address spender, uint256 amount)", AsAsked: true, Amount: &a, Recipient: Escrow,
				Data: "0x" + common.Bytes2Hex(erc20.Approve(common.HexToAddress(Escrow), a.Amount)),
				Args: []verify.ArgView{{Name: "spender", Type: "address", Value: Escrow},
					{Name: "amount", Type: "uint256", Value: a.Amount.String()}}}
		}
		r.Intent.Allowances = []api.AllowanceRequirement{{AssetType: usdc(0, "").Asset.String(), Amount: "250500000",
			Spender: Escrow}}
		r.Call.Lines = []verify.CallView{approve(1, verify.RoleApprove, 250_500_000), r.Call.Lines[0],
			approve(3, verify.RoleRevoke, 0)}
	})
	add("whole consent", Call(), func(r *consent.Review) { r.Call.WholeConsent, r.Call.Deploys = true, false })
	add("role-based", Call(), func(r *consent.Review) { r.Call.AccountType = api.AccountRoleBased })
	add("delegation", Call(), func(r *consent.Review) {
		r.Call.AccountType, r.Call.Signatures, r.Call.Delegation = api.AccountKernelV33, 2, delegation(8453, "Base")
	})
	add("assumed state", Call(), func(r *consent.Review) {
		r.Intent.Overrides = []api.StateOverride{{Address: Escrow, Balance: "0x1"}, {Address: Kernel, Code: "0x00"}}
	})
	add("quote", Quote(), nil)
	add("delegations of payments", Quote(), func(r *consent.Review) {
		r.Quote.Legs[0].Delegation, r.Quote.Legs[1].Delegation = delegation(10, "Optimism"),
			delegation(42161, "Arbitrum")
	})
	add("solana", Quote(), func(r *consent.Review) {
		r.Quote.Legs[1] = verify.LegView{
			Chain: verify.ChainLabel{CAIP: caip.SolanaMainnet().String(), Name: "Solana", Short: "sol"},
			Pays:  usdc(100_000_000, "Solana"), OpHash: Hash(7), Escrow: Vault, Until: Begin().Add(2 * time.Minute),
			AccountType: api.AccountSolana,
			Solana: &verify.SolanaView{FeePayer: Payer, BlockHash: Block, Memo: Hash(5),
				Instructions: []verify.InstructionView{
					{Program: "ComputeBudget111111111111111111111111111111", ProgramName: "ComputeBudget",
						Name: "setComputeUnitLimit",
						Args: []verify.ArgView{{Name: "units", Type: "u32", Value: "60000"}}},
					{Program: "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", ProgramName: "Token",
						Name: "transferChecked", Args: []verify.ArgView{
							{Name: "destination", Type: "address", Value: Vault}}},
				}},
		}
	})
	add("foreign target", Quote(), func(r *consent.Review) {
		r.Quote.Legs[0].Parts = []verify.PartView{
			{To: Escrow, Amount: usdc(1_000_000, ""), ShareBps: 79, Approval: true},
			{To: Payee, ToName: "router", Amount: usdc(124_980_000, ""), ShareBps: 9921}}
		r.Quote.Legs[0].RefundAfter, r.Quote.Phrase = time.Time{}, "part of this payment goes to another address"
	})
	add("same chain", Quote(), func(r *consent.Review) {
		q := r.Quote
		q.SameChainOnly, q.Legs, q.Promise, q.Pay, q.Needs, q.Fees = true, nil, nil, nil, nil, nil
		q.CallType = api.CallSameChainExcludeSolver
	})
	add("unknown figures", Quote(), func(r *consent.Review) {
		q := r.Quote
		q.PayMicro, q.DeliverMicro, q.CostMicro, q.FeesMicro, q.UnexplainedMicro, q.CostBps = nil, nil, nil, nil,
			nil, -1
		q.Delivered.Amount, q.Fees, q.Explained, q.RecipientOwn, q.Needs[0].Have = nil, nil, false, false, nil
		q.RecipientFirstTime = true
	})
	add("swap", Swap(), nil)
	add("transfer", Swap(), func(r *consent.Review) {
		r.Intent.Kind, r.Quote.Kind = intent.KindTransfer, intent.KindTransfer
		r.Intent.Receive = &intent.Receive{Asset: "ob:usdc", Account: "eip155:8453:" + Payee}
		q := r.Quote
		q.Delivered, q.Minimum = usdc(99_520_000, "Base"), usdc(99_500_000, "Base")
		q.Recipient, q.RecipientOwn, q.RecipientFirstTime = Payee, false, true
	})
	add("new quote", Quote(), nil)
	out[len(out)-1].Previous = Quote().Quote
	return out
}
