package liar

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

const (
	usdc = "eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
	who  = "0x00000000000000000000000000000000000000aa"
)

func of(v int64) Sums { return Sums{usdc: big.NewInt(v)} }

// base is a session in which everything is right: 50 USDC were confirmed in one operation, and left by it.
func base(t *testing.T) (*Session, Chains) {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	signature := journal.Signature{
		Role: verify.RolePrepared, Chain: "eip155:8453", ChainID: 8453, Sender: who, Nonce: "7", OpHash: "0x01",
		QuoteID: "0x02", ValidUntil: 1_000,
		Spend: []journal.Spend{{Asset: usdc, Amount: "50000000"}},
	}
	p := verify.DefaultPolicy(network.Descriptor{Kind: network.Lab}, c)
	p.Limits.MaxSpend, p.Limits.MaxSpendPerDay = dollars(60), dollars(60)
	s := &Session{
		names: []string{who}, policy: p, had: of(80_000_000), forgotten: map[string]bool{}, Embedded: true,
		confirmed: map[string]*agreed{"a": {worst: of(50_000_000),
			places: map[string]Sums{"eip155:8453 7": of(50_000_000)}}},
		watched: map[string]*track{"0x01": {signature: signature, operation: "a"}},
		operations: []journal.Operation{{ID: "a", State: journal.Done, Outcome: api.StatusCompleted, QuoteID: "0x02",
			Signatures: []journal.Signature{signature}}},
	}
	return s, Chains{
		Left: map[string]Sums{who: of(50_000_000)}, Have: map[string]Sums{who: of(30_000_000)},
		Ran: []Ran{{Chain: "eip155:8453", Hash: "0x01", Sender: who, Nonce: "7", Time: 100, Success: true}},
	}
}

// TestEveryClaimCanFail breaks one claim at a time.
func TestEveryClaimCanFail(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Session, c *Chains)
		codes  string
	}{
		"nothing is wrong": {func(*Session, *Chains) {}, ""},
		"more left":        {func(_ *Session, c *Chains) { c.Left[who] = of(50_000_001) }, "slot sum"},
		"another asset left": {func(_ *Session, c *Chains) { c.Left[who]["eip155:8453/slip44:60"] = big.NewInt(1) },
			"slot sum"},
		"two of one place": {func(s *Session, c *Chains) { c.Left[who] = of(90_000_000); again(s, c) },
			"cap loss slot"},
		"more than the day may": {func(s *Session, _ *Chains) { s.policy.Limits.MaxSpendPerDay = dollars(40) },
			"cap loss"},
		"more than one may": {func(s *Session, _ *Chains) { s.policy.Limits.MaxSpend = dollars(40) }, "cap loss"},
		"no longer listed": {func(s *Session, c *Chains) {
			s.watched["0x01"].gone, s.watched["0x01"].state = time.Unix(90, 0), api.StatusCompleted
		}, "told"},
		"told to be back, and it ran": {func(s *Session, _ *Chains) {
			s.watched["0x01"].gone, s.watched["0x01"].state = time.Unix(90, 0), api.StatusRefunded
		}, "told twice"},
		"no longer listed when it was over": {func(s *Session, _ *Chains) {
			s.watched["0x01"].gone = time.Unix(2_000, 0)
		}, ""},
		"no longer listed when its nonce was used": {func(s *Session, c *Chains) {
			s.watched["0x01"].gone = time.Unix(200, 0)
			c.Ran[0].Hash = "0x09"
			s.operations[0].State = journal.Abandoned
		}, ""},
		"told completed, and nothing ran": {func(_ *Session, c *Chains) { c.Ran = nil }, "fact"},
		"told not to have run, and it did": {func(s *Session,
			_ *Chains) {
			s.operations[0].State, s.operations[0].Outcome = journal.NotExecuted, ""
		}, "fact"},
		"told refunded, and the call ran": {func(s *Session,
			_ *Chains) {
			s.operations[0].Outcome = api.StatusRefunded
		}, "fact"},
	} {
		t.Run(name, func(t *testing.T) {
			s, chains := base(t)
			c.change(s, &chains)
			s.judge(chains)
			codes := map[string]bool{}
			for _, p := range s.Problems {
				code, _, _ := strings.Cut(p, ":")
				codes[code] = true
			}
			if got := strings.Join(slices.Sorted(maps.Keys(codes)), " "); got != c.codes {
				t.Errorf("%q instead of %q: %v", got, c.codes, s.Problems)
			}
		})
	}
}

// again is a second operation that was confirmed for the place of the first.
func again(s *Session, c *Chains) {
	s.confirmed["b"] = &agreed{worst: of(50_000_000), places: map[string]Sums{"eip155:8453 7": of(50_000_000)}}
	c.Have[who] = of(0)
	s.policy.Limits.MaxSpend = nil
}
