package consent

import (
	"math/big"
	"testing"

	"coffer/api/amount"
	"coffer/wallet/verify"
)

func TestACallWithoutARecipientIsConfirmedByItsContract(t *testing.T) {
	const usdc, payee = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	call := verify.CallView{Role: verify.RoleCall, To: usdc}
	paid := verify.CallView{Role: verify.RoleCall, To: usdc, Recipient: payee}
	for want, lines := range map[string][]verify.CallView{"": nil, usdc: {call}, payee: {call, paid}} {
		if got := receiver(&verify.PreparedView{Lines: lines}); got != want {
			t.Errorf("%d lines: %q, want %q", len(lines), got, want)
		}
	}
}

func TestAmountsWithOtherDecimalsAreAddedExactly(t *testing.T) {
	six := verify.AmountView{Decimals: 6, Amount: big.NewInt(125_980_000), Micro: big.NewInt(1)}
	many := verify.AmountView{Decimals: 18, Amount: big.NewInt(1), Micro: nil}
	for _, sum := range []verify.AmountView{plus(six, many), plus(many, six)} {
		if got := amount.Format(sum.Amount, sum.Decimals); got != "125.980000000000000001" || sum.Micro != nil {
			t.Errorf("%s, value %v", got, sum.Micro)
		}
	}
}
