package flow_test

import (
	"context"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/caip"
	"coffer/assets"
	"coffer/wallet/flow"
	"coffer/wallet/verify"
)

// eyes are own nodes that see what the golden service says, unless change makes it otherwise.
type eyes struct {
	b      *bench
	change func(s *verify.Sight)
	asked  int
}

func (e *eyes) Look(_ context.Context, questions []verify.Question) (out []verify.Sight) {
	e.asked++
	said := e.b.w.PrepareResponse().SourceAssetBalances
	for _, q := range questions {
		s := verify.Sight{Question: q, Block: 7, At: e.b.now()}
		for _, a := range q.Assets {
			has := new(big.Int)
			for _, x := range said {
				if asset, err := caip.ParseAsset(x.AssetType); err == nil && asset == a {
					has.SetString(x.Balance, 10)
				}
			}
			s.Has = append(s.Has, has)
		}
		for _, k := range q.Keys {
			s.Next = append(s.Next, new(big.Int).Lsh(k, 64))
		}
		known, err := assets.PinnedCode()
		if err != nil {
			e.b.t.Fatal(err)
		}
		for _, a := range q.Code {
			hash := common.HexToHash(known[a.Hex()])
			if hash == (common.Hash{}) {
				hash = common.Hash{1}
			}
			s.Hashes = append(s.Hashes, hash)
		}
		if e.change != nil {
			e.change(&s)
		}
		out = append(out, s)
	}
	return out
}

// looks is a bench with own nodes.
func looks(b *bench, change func(s *verify.Sight)) *eyes {
	e := &eyes{b: b, change: change}
	b.view = e
	b.reopen()
	return e
}

func of(r verify.Report, codes ...string) (out []string) {
	for _, x := range r.Reasons {
		if slices.Contains(codes, x.Code) {
			out = append(out, x.Code+" "+string(x.Level)+": "+x.Title+" | "+x.Want+" | "+x.Got)
		}
	}
	return out
}

// What own nodes see agrees, or is a warning with a code of its own. Nothing that is signed depends on it.
func TestTH_V9_WhatOwnNodesSeeIsComparedByName(t *testing.T) {
	blind := newBench(t)
	without := blind.review1().Snapshot()
	if got := of(without.Report1, "V8", "V9", "V10"); len(got) > 0 || len(without.Review1.Seen) > 0 {
		t.Fatalf("without nodes: %q", got)
	}
	target := uint64(0)
	if c, err := caip.ParseChain(without.Intent.TargetChain); err == nil {
		target, _ = c.EVMID()
	}
	for name, c := range map[string]struct {
		change func(s *verify.Sight)
		want   string
	}{
		"agreement": {nil, ""},
		"less": {func(s *verify.Sight) {
			for i := range s.Has {
				s.Has[i] = new(big.Int)
			}
		}, "V8 warn: " + verify.SeenOtherwise},
		"silence": {func(s *verify.Sight) { *s = verify.Sight{Question: s.Question, Trouble: "not answered"} },
			"V8 unknown: " + verify.SeenNothing},
		"a used nonce": {func(s *verify.Sight) {
			for i, n := range s.Next {
				s.Next[i] = new(big.Int).Add(n, big.NewInt(1<<40))
			}
		}, "V9 warn: " + verify.SeenUsed},
		"no entry point": {func(s *verify.Sight) { s.Next = make([]*big.Int, len(s.Keys)) },
			"V9 unknown: " + verify.SeenNothing},
		"no code": {func(s *verify.Sight) {
			if s.Chain == target {
				s.Hashes = make([]common.Hash, len(s.Code))
			}
		}, "V10 warn: " + verify.SeenNoCode + "entry point 0x0000000071727De22E5E9d8BAf0edAc6f37da032 on "},
		"other code": {func(s *verify.Sight) {
			if s.Chain == target {
				s.Hashes[0] = common.Hash{2}
			}
		}, "V10 warn: " + verify.SeenOtherCode + "entry point 0x0000000071727De22E5E9d8BAf0edAc6f37da032 on "},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			e := looks(b, c.change)
			s := b.review1().Snapshot()
			got := of(s.Report1, "V8", "V9", "V10")
			if c.want == "" && len(got) > 0 || c.want != "" && !slices.ContainsFunc(got, func(x string) bool {
				return strings.HasPrefix(x, c.want)
			}) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if s.Review1.OpHash != without.Review1.OpHash || s.Review1.Digest != without.Review1.Digest {
				t.Error("what is signed changed")
			}
			if e.asked != 1 {
				t.Errorf("asked %d times", e.asked)
			}
		})
	}
}

// A payment that own nodes see is not there is a warning of review 2.
func TestTH_V8_AQuoteIsComparedWithOwnNodes(t *testing.T) {
	b := newBench(t)
	var poor bool
	looks(b, func(s *verify.Sight) {
		if poor {
			s.Has = slices.Repeat([]*big.Int{big.NewInt(1)}, len(s.Assets))
		}
	})
	o := b.review1()
	poor = true
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if err != nil || s.State != flow.StateReview2 {
		t.Fatal(s.State, err)
	}
	got := of(s.Report2, "V8")
	if len(got) != len(s.Review2.Legs) || !strings.HasPrefix(got[0], "V8 warn: "+verify.SeenShort) ||
		!strings.Contains(got[0], "seen by your node at block 7: 0.000001 USDC") {
		t.Errorf("%q", got)
	}
}

// Own nodes go before the service's word about code where a call goes.
func TestTH_V7_OwnNodesGoBeforeTheServicesWord(t *testing.T) {
	first := common.Address{0x51, 19: 0x51}
	for name, c := range map[string]struct {
		hash common.Hash
		want string
	}{"no code": {common.Hash{}, verify.CodeNotSeen}, "code": {common.Hash{1}, verify.CodeSeen}} {
		b := calling(t)
		b.f.code = answers(api.CodeContract, api.CodeNone)
		looks(b, func(s *verify.Sight) {
			if i := slices.Index(s.Code, first); i >= 0 {
				s.Hashes[i] = c.hash
			}
		})
		s := b.review1().Snapshot()
		i := slices.IndexFunc(s.Report1.Reasons, func(x verify.Reason) bool { return x.Title == c.want })
		if i < 0 || !strings.Contains(s.Report1.Reasons[i].Got, first.Hex()) ||
			slices.Contains(s.Review1.Codeless, first.Hex()) != (c.hash == common.Hash{}) {
			t.Errorf("%s: %q, %v", name, of(s.Report1, "V7"), s.Review1.Codeless)
		}
	}
}

// Follow finds nothing of what was sent.
func (e *eyes) Follow(_ context.Context, traces []verify.Trace) (out []verify.Course) {
	for _, t := range traces {
		c := verify.Course{Trace: t, Block: 7}
		if t.Escrow != (common.Address{}) {
			c.Deposit = verify.Absent
		}
		out = append(out, c)
	}
	return out
}

// An end that only the service reports is shown beside what own nodes see, and closes no signature either way.
func TestTH_V8_AnEndIsComparedWithOwnNodes(t *testing.T) {
	b := newBench(t)
	looks(b, nil)
	o := b.review2()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	s, err := o.Watch(t.Context(), nil)
	if err != nil || s.State != flow.StateDone {
		t.Fatal(s.State, err)
	}
	parts := map[string]int{}
	for _, x := range s.Became {
		parts[x.Part]++
		if x.Outcome != verify.Absent || x.Block != 7 {
			t.Errorf("%+v", x)
		}
	}
	if parts[verify.PartDeposit] != len(s.Review2.Legs) || len(s.Became) < len(s.Review2.Legs) {
		t.Errorf("%+v", s.Became)
	}
}
