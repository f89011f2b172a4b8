package present

// Term is a word that cannot be said plainly, with its meaning in a sentence or two.
type Term struct{ Name, Text string }

// Terms are the words of screens, lines, commands and documents that need a word of explanation, in the order of the
// alphabet. docs/terms.md is made of them.
func Terms() []Term {
	return []Term{
		{"asset, aggregate",
			"An asset is a coin or a token on one chain. An aggregate is the same asset on all chains " +
				"together: ob:usdc is USDC on Base, on Optimism and on the others."},
		{"attester", "A party that signs that a delivery happened. The escrow releases a payment once enough " +
			"attesters have signed; review 2 says how many that are."},
		{"base units", "The smallest parts of an asset, in which chains count. USDC has 6 decimals, so 1 USDC is " +
			"1,000,000 base units."},
		{"chain",
			"A ledger with its own transactions and fees, such as Base or Solana. The same asset on two chains is " +
				"two balances."},
		{"delegation (EIP-7702)",
			"A signed permission with which an ordinary account, one key without code, acts as a " +
				"smart account on one chain. It stays until the account changes it."},
		{"EMBEDDED, LAB, TEST, REAL", "The kind of a network. EMBEDDED: chains inside this program. LAB: play " +
			"money on chains elsewhere. TEST: public test networks, whose coins are worth nothing. REAL: money."},
		{"escrow",
			"The contract that keeps a payment until the delivery is attested. Then it pays the solver; otherwise " +
				"it refunds you, and after the refund deadline anyone can trigger that. On Solana an account of the " +
				"service keeps payments."},
		{"gate",
			"A check that blocks a signature unless your policy file opens it. Behind an open gate you also type a " +
				"sentence."},
		{"network fingerprint",
			"A number computed from everything that describes a network: its chains, contracts and " +
				"addresses. Compare it with the operator's, by phone or on paper."},
		{"nonce",
			"A number that an operation of an account uses up. Of two signatures with the same nonce on a chain " +
				"only one can ever run."},
		{"order, operation, transaction",
			"An order is what you build: calls, a transfer or a swap. An operation is that " +
				"order from its first review to its result. A transaction is one entry on one chain."},
		{"passed, warning, blocked, not checked",
			"The results of a check. Passed: it found nothing wrong. Warning: read it " +
				"before you sign. Blocked: Coffer does not sign this. Not checked: Coffer could not tell, so take it " +
				"neither for right nor for wrong."},
		{"play money",
			"Money without value, on chains that exist only inside this program or inside a team's service."},
		{"quote", "The service's offer for an order: what you pay on which chain, what arrives and what it costs. It " +
			"expires, often within a minute."},
		{"review code",
			"A number computed from your order and from the exact bytes that you would sign. `coffer verify` on " +
				"another machine computes the same one, unless something was changed."},
		{"role-based account",
			"A smart account with a session key for every day, an admin key for emergencies and the " +
				"service's co-signer. With the admin key you can leave without the co-signer, after a day."},
		{"slippage",
			"How far the price may move before an order runs. It sets the minimum received; if less would arrive, " +
				"you are refunded."},
		{"smart account",
			"An account that is a contract and runs what your key signed. Its first operation on a chain " +
				"creates the contract there."},
		{"solver", "The party that advances what an order needs on its chain and receives your payment for it. With " +
			"`coffer serve` the operator is the solver."},
		{"U12, Q7 and the like", "The codes of checks. docs/threats.md says what each of them defends against."},
		{"vault", "Where a profile keeps its keys: the system's keyring or an encrypted file."},
	}
}
