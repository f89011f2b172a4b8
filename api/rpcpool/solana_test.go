package rpcpool_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"coffer/api/rpcpool"
	"coffer/api/rpcpool/faultproxy"
)

// genesis is that of Solana's main network; its first 32 characters are the reference of the CAIP-2 id.
const genesis = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d"

func newSolanaNode(slot uint64) *node {
	return (&node{answers: map[string]any{}}).set("getGenesisHash", genesis).set("getSlot", slot)
}

func solanaPool(t *testing.T, quorum int, nodes ...http.Handler) *rpcpool.Pool {
	t.Helper()
	o := rpcpool.Options{Solana: genesis[:32], Quorum: quorum}
	for i, n := range nodes {
		proxy := faultproxy.New(n, uint64(i)+1)
		t.Cleanup(proxy.Close)
		o.URLs = append(o.URLs, rpcpool.Endpoint{URL: proxy.URL})
	}
	p, err := rpcpool.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestAnEndpointOfSolanaIsAskedForItsFirstBlock(t *testing.T) {
	right := newSolanaNode(1000).set("getBalance", map[string]any{"value": 7})
	// EtWT… is Solana's devnet: an endpoint of it must not answer for the main network.
	wrong := newSolanaNode(1000).set("getGenesisHash", "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG").
		set("getBalance", map[string]any{"value": 8})
	var got struct{ Value uint64 }
	if err := solanaPool(t, 1, wrong, right).Call(t.Context(), &got, "getBalance", "k"); err != nil || got.Value != 7 {
		t.Errorf("%d, %v", got.Value, err)
	}
	alone := solanaPool(t, 1, wrong)
	err := alone.Call(t.Context(), &got, "getBalance", "k")
	if !errors.Is(err, rpcpool.ErrOtherChain) || !strings.Contains(err.Error(), "EtWTRABZaYq6iMfeYKouRu166VU2xqa1") {
		t.Errorf("%v", err)
	}
	for _, hash := range []any{"short", 5, strings.Repeat(" ", 40), nil} {
		odd := newSolanaNode(1000).set("getGenesisHash", hash)
		err := solanaPool(t, 1, odd).Call(t.Context(), &got, "getBalance", "k")
		if err == nil || !strings.Contains(err.Error(), "does not say which chain it serves") {
			t.Errorf("genesis %v: %v", hash, err)
		}
	}
	evm := newNode()
	if err := solanaPool(t, 1, evm).Call(t.Context(), &got, "getBalance", "k"); err == nil {
		t.Error("a node of another kind of chain answers for Solana")
	}
}

// A node that says that it is behind gives no answer: another one is asked, and it does not rest as one that limits.
func TestANodeOfSolanaThatIsBehindIsPassedOver(t *testing.T) {
	for _, late := range []nodeError{
		{-32005, "Node is behind by 42 slots", map[string]int{"numSlotsBehind": 42}},
		{-32005, "Node is unhealthy", nil},
		{-32016, "Minimum context slot has not been reached", map[string]int{"contextSlot": 9}},
		{-32002, "Transaction simulation failed: Blockhash not found", nil},
	} {
		behind := newSolanaNode(900).set("simulateTransaction", late)
		other := newSolanaNode(1000).set("simulateTransaction", 1)
		p := solanaPool(t, 1, behind, other)
		var got int
		if err := p.Call(t.Context(), &got, "simulateTransaction", "x"); err != nil || got != 1 {
			t.Errorf("%s: %d, %v", late.Message, got, err)
		}
		if h := p.Health()[0]; h.State == rpcpool.Resting {
			t.Errorf("%s: the endpoint rests: %s", late.Message, h.Fault)
		}
	}
	limits := newSolanaNode(1000).set("getSlot", nodeError{-32005, "rate limit exceeded", nil})
	p := solanaPool(t, 1, limits)
	if _, err := p.Probe(t.Context()); err == nil || p.Health()[0].State != rpcpool.Resting {
		t.Errorf("one that limits goes on: %+v", p.Health()[0])
	}
}

// What was read at other slots is the same answer: a result takes no context.
func TestAQuorumOfSolanaNeedsNoEqualSlots(t *testing.T) {
	at := func(slot, lamports int) *node {
		return newSolanaNode(uint64(slot)).set("getBalance",
			map[string]any{"context": map[string]int{"slot": slot}, "value": lamports})
	}
	var got struct{ Value uint64 }
	p := solanaPool(t, 1, at(1000, 5))
	if err := p.Agreed(t.Context(), &got, "getBalance", "k"); err != nil || got.Value != 5 {
		t.Errorf("%d, %v", got.Value, err)
	}
	if err := solanaPool(t, 2, at(1000, 5), at(1003, 5)).Agreed(t.Context(), &got, "getBalance", "k"); err != nil {
		t.Error(err)
	}
	err := solanaPool(t, 2, at(1000, 5), at(1000, 6)).Agreed(t.Context(), &got, "getBalance", "k")
	if _, apart := errors.AsType[*rpcpool.NoQuorumError](err); !apart {
		t.Errorf("nodes that say 5 and 6 agree: %v", err)
	}
}

func TestTheNewestSlotIsKnownOfEachEndpoint(t *testing.T) {
	p := solanaPool(t, 1, newSolanaNode(1000), newSolanaNode(970))
	health, err := p.Probe(t.Context())
	if err != nil || health[0].Head != 1000 || health[1].Behind != 30 || health[1].State != rpcpool.Behind {
		t.Errorf("%+v, %v", health, err)
	}
}
