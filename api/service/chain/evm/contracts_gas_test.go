package evm_test

import (
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"coffer/api/op"
	"coffer/api/op/escrow"
	"coffer/api/service/chain"
)

// gasOf measures each transaction where the same was done before: balances are not zero and stay so, the account
// exists, its lane was used, and the filler's bucket is not new.
func gasOf(w *fillWorld) map[string]uint64 {
	user, to := key("user"), addressOf(key("recipient"))
	u := addressOf(user)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	w.allows(user, 100_000)
	w.give(a.at, 100_000, 100_000)
	w.give(to, 1, 1)
	gas := map[string]uint64{}
	count := func(what string, r chain.Receipt) {
		w.t.Helper()
		if !r.Success {
			w.t.Fatalf("%s: %s", what, w.decode(r.Revert))
		}
		gas[what] = r.GasUsed
	}
	for quote := uint32(1); quote <= 2; quote++ { // the second round counts
		terms := w.terms([]escrow.Minimum{minimum(w.token.at, a.at, 5)})
		d := escrow.Deposit{QuoteID: quoteID(quote), Token: w.token.at, Amount: big.NewInt(100),
			RefundDeadline: w.now + 900}
		count("deposit, tokens", w.tryDeposit(user, 0, d, terms))
		hash := w.heldBy(quote, u).terms
		count("release, tokens", w.tryRelease(key("thief"), quote, u,
			w.attest(w.at, quote, u, hash, w.attesters[:2]...)))
		d.QuoteID[31] = 1
		w.tryDeposit(user, 0, d, terms)
		count("refund, tokens", w.send(w.hot, w.filler, 0, "refund", w.escrow.at, d.QuoteID, u))
		d.QuoteID[31] = 2
		count("approval and deposit by an account", w.tryRun(w.hot, w.now, w.op(a, 1,
			w.call(w.token, 0, "approve", w.escrow.at, d.Amount),
			op.Call{To: w.escrow.at, Value: new(big.Int), Data: escrow.DepositCalldata(d, terms)})))
		count("one call of an account", w.tryRun(w.hot, w.now, w.op(a, 1, w.transfer(to, 1))))
		work := w.op(a, 1, w.transfer(to, 1))
		count("payment and one call of an account",
			w.fills(quote, w.terms([]escrow.Minimum{minimum(w.token.at, a.at, 5)}, work), work))
		count("payment", w.fills(quote+100, w.terms([]escrow.Minimum{minimum(w.token.at, to, 5)})))
	}
	return gas
}

// docs/benchmarks.md says what the contracts cost, behind what the first ones did.
func TestGasOfTheContractsIsWhatTheBenchmarksSay(t *testing.T) {
	docs, err := os.ReadFile("../../../../docs/benchmarks.md")
	if err != nil {
		t.Fatal(err)
	}
	for what, gas := range gasOf(newFillWorld(t)) {
		_, line, _ := strings.Cut(string(docs), "\n| "+what+" | ")
		line, _, _ = strings.Cut(line, "\n")
		if !strings.HasSuffix(line, fmt.Sprintf(" | %d |", gas)) {
			t.Errorf("%s takes %d gas, the page says %q", what, gas, line)
		}
	}
}
