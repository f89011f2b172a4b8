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

// gasTable measures each transaction where the same was done before: balances are not zero and stay so, the account
// exists, its lane was used, and the filler's bucket is not new.
func gasTable(w *fillWorld) string {
	const before, after = "before", "after"
	user, to, thief := key("user"), addressOf(key("recipient")), key("thief")
	u := addressOf(user)
	a := w.deployed(w.ecdsaAccount(key("owner")))
	w.allows(user, 100_000)
	w.send(user, w.token, 0, "approve", w.escrow.at, new(big.Int).Lsh(big.NewInt(1), 200))
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
	sponsored := func(lane uint16, calls ...op.Call) op.UserOp {
		u := w.unsigned(a, w.lane(a, lane), calls...)
		if w.paymaster == w.filler {
			return w.ready(a, u)
		}
		return a.signed(u)
	}
	bundle := func(u op.UserOp) chain.Receipt {
		p, err := u.Pack()
		w.check(err)
		return w.send(w.operator, w.entryPoint, 0, "handleOps", []op.PackedUserOp{p}, addressOf(w.operator))
	}
	for quote := uint32(1); quote <= 2; quote++ { // the second round counts
		id := quoteID(quote)
		// Old: the operator decides.
		w.paymaster = w.sponsor
		amount, deadline := big.NewInt(100), w.now+900
		count("deposit, tokens "+before, w.send(user, w.escrow, 0, "deposit", id, w.token.at, amount, deadline))
		count("release, tokens "+before, w.send(w.operator, w.escrow, 0, "release", id, u, addressOf(w.operator)))
		id[31] = 1
		w.send(user, w.escrow, 0, "deposit", id, w.token.at, amount, deadline)
		count("refund, tokens "+before, w.send(w.operator, w.escrow, 0, "refund", id, u))
		id[31] = 2
		count("approval and deposit by an account "+before, bundle(sponsored(0,
			w.call(w.token, 0, "approve", w.escrow.at, amount),
			w.call(w.escrow, 0, "deposit", id, w.token.at, amount, deadline))))
		count("one call of an account "+before, bundle(sponsored(0, w.transfer(to, 1))))
		pay := w.send(w.treasury, w.token, 0, "transfer", a.at, big.NewInt(5)).GasUsed
		count("payment and one call of an account "+before, bundle(sponsored(0, w.transfer(to, 1))))
		gas["payment and one call of an account "+before] += pay
		count("payment "+before, w.send(w.treasury, w.token, 0, "transfer", to, big.NewInt(5)))

		// New.
		w.paymaster = w.filler
		terms := w.terms([]escrow.Minimum{minimum(w.token.at, a.at, 5)})
		d := escrow.Deposit{QuoteID: quoteID(quote), Token: w.token.at, Amount: amount, RefundDeadline: w.now + 900}
		count("deposit, tokens "+after, w.tryDeposit(user, 0, d, terms))
		hash := w.heldBy(quote, u).terms
		count("release, tokens "+after, w.tryRelease(thief, quote, u,
			w.attest(w.at, quote, u, hash, w.attesters[:2]...)))
		d.QuoteID[31] = 1
		w.tryDeposit(user, 0, d, terms)
		count("refund, tokens "+after, w.send(w.hot, w.filler, 0, "refund", w.attested.at, d.QuoteID, u))
		d.QuoteID[31] = 2
		count("approval and deposit by an account "+after, w.tryRun(w.hot, w.now, sponsored(1,
			w.call(w.token, 0, "approve", w.attested.at, amount),
			op.Call{To: w.attested.at, Value: new(big.Int), Data: escrow.AttestedDepositCalldata(d, terms)})))
		count("one call of an account "+after, w.tryRun(w.hot, w.now, sponsored(1, w.transfer(to, 1))))
		work := sponsored(1, w.transfer(to, 1))
		count("payment and one call of an account "+after,
			w.fills(quote, w.terms([]escrow.Minimum{minimum(w.token.at, a.at, 5)}, work), work))
		count("payment "+after, w.fills(quote+100, w.terms([]escrow.Minimum{minimum(w.token.at, to, 5)})))
	}
	out := "| gas of a transaction | Escrow, Paymaster | AttestedEscrow, Filler |\n|---|---|---|\n"
	for _, what := range []string{"deposit, tokens", "release, tokens", "refund, tokens",
		"approval and deposit by an account", "one call of an account", "payment and one call of an account",
		"payment"} {
		out += fmt.Sprintf("| %s | %d | %d |\n", what, gas[what+" "+before], gas[what+" "+after])
	}
	return out
}

// docs/benchmarks.md says what the contracts cost.
func TestGasOfTheContractsIsWhatTheBenchmarksSay(t *testing.T) {
	table := gasTable(newFillWorld(t))
	docs, err := os.ReadFile("../../../../docs/benchmarks.md")
	if err != nil || !strings.Contains(string(docs), table) {
		t.Errorf("%v, now it is\n%s", err, table)
	}
}
