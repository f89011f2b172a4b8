package rpcpool_test

import (
	"errors"
	"testing"

	"coffer/api/rpcpool"
)

// A height that one node alone has reached is not that of the chain, and one node that is behind does not hold it back.
func TestANumberIsReachedWhenAQuorumHasReachedIt(t *testing.T) {
	at := func(height any) *node { return newSolanaNode(1000).set("getBlockHeight", height) }
	for want, nodes := range map[uint64][]*node{
		100: {at(100), at(90), at(1 << 40)},
		90:  {at(90), at(90), at(90)},
		80:  {at(80), at(95), at("far")},
	} {
		p := solanaPool(t, 2, nodes[0], nodes[1], nodes[2])
		if n, err := p.Reached(t.Context(), "getBlockHeight"); n != want || err != nil {
			t.Errorf("%d, not %d: %v", n, want, err)
		}
	}
	p := solanaPool(t, 2, at(80), at(nodeError{-32005, "Node is behind by 42 slots", nil}))
	if n, err := p.Reached(t.Context(), "getBlockHeight"); err == nil {
		t.Errorf("one node says %d", n)
	}
}

// A transaction of Solana goes to every node, and one that takes it is enough.
func TestATransactionOfSolanaGoesToEveryNode(t *testing.T) {
	const name = "5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW"
	takes := func() *node { return newSolanaNode(1000).set("sendTransaction", name) }
	refuses := func() *node {
		return newSolanaNode(1000).set("sendTransaction", nodeError{-32602, "base64 encoded too large", nil})
	}
	knows := newSolanaNode(1000).set("sendTransaction",
		nodeError{-32002, "Transaction simulation failed: This transaction has already been processed", nil})
	if err := solanaPool(t, 1, refuses(), takes()).BroadcastSolana(t.Context(), []byte{1}, name); err != nil {
		t.Error(err)
	}
	if err := solanaPool(t, 1, knows).BroadcastSolana(t.Context(), []byte{1}, name); err != nil {
		t.Error(err)
	}
	err := solanaPool(t, 1, refuses(), refuses()).BroadcastSolana(t.Context(), []byte{1}, name)
	if _, answered := errors.AsType[*rpcpool.Error](err); !answered {
		t.Errorf("both refuse: %v", err)
	}
	if err := solanaPool(t, 1, takes()).BroadcastSolana(t.Context(), []byte{1}, "other"); err == nil {
		t.Error("the signature of another transaction is an answer")
	}
}
