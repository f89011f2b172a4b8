// Package liar tests the wallet as a whole against a service whose owner lies. A House is a genuine service in process
// with all its keys. An Attacker sits between it and one wallet and answers what it likes. A Person uses the real flow,
// journal, verifier, policy and signer at random. What left the person's account is read from the chains by another
// program, .ci/liar/sums.
//
// The claims, one code each:
//
//	sum          what left the account is at most the worst case of the reviews that the person confirmed
//	slot         the same, where of the signatures of one nonce only the largest counts
//	cap          what left, every signature counted in full, is within the person's caps: of each operation and of the
//	             day
//	loss         what is lost, everything counted that arrived, is within them as well
//	told         a signature that could still run is on the wallet's list
//	twice        what left is at most what was confirmed, without the operations that ended by the wallet's word and
//	             that it lists no more
//	fact         what an honest embedded service's wallet says was done is on the chains
//	unconfirmed  no signature is made that no review was confirmed for
//	unknown      a figure that is unknown is never told as zero
//
// One seed makes one batch: a house and the sessions in it. Everything random comes from it, time is a clock that only
// moves when it is told to, and sessions run one after another, so a seed repeats its batch.
package liar
