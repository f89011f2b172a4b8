package flow_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/client"
	"coffer/api/op"
	"coffer/api/op/erc20"
	"coffer/assets"
	"coffer/wallet/flow"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// eyes are own nodes that see what the golden service says, unless change makes it otherwise.
type eyes struct {
	b        *bench
	change   func(s *verify.Sight)
	asked    int
	followed int
	runs     func(s verify.Simulation, step verify.SimulatedStep) verify.SimulatedRun
	judge    func(s *verify.Simulated)
	reach    func(r *verify.Reached)
	dear     func(chains []uint64) error
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

// Dear finds gas cheap unless the test says otherwise.
func (e *eyes) Dear(_ context.Context, chains []uint64) error {
	if e.dear == nil {
		return nil
	}
	return e.dear(chains)
}

// Simulate does nothing unless the test says what happens.
func (e *eyes) Simulate(_ context.Context, _ time.Time, simulations []verify.Simulation) (out []verify.Simulated) {
	if e.runs == nil {
		return nil
	}
	for _, s := range simulations {
		x := verify.Simulated{Simulation: s, Block: 7, At: e.b.now(), There: true}
		for _, step := range s.Steps {
			x.Runs = append(x.Runs, e.runs(s, step))
		}
		if e.judge != nil {
			e.judge(&x)
		}
		out = append(out, x)
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

// What a quote under way takes explains a difference by the journal and the nodes' nonces alone: the service's words
// about it can only make that less.
func TestTH_V8_WhatTheJournalHoldsExplainsADifference(t *testing.T) {
	const paid = 125_980_000 // on Arbitrum, as the wallet signed it
	for name, c := range map[string]struct {
		less   int64 // by which the service states less than the nodes see, in base units
		used   bool  // the nodes see the payment's nonce used
		change func(b *bench, o *flow.Operation)
		level  verify.Level
		words  string
	}{
		"pledged":                      {less: paid, level: verify.Show, words: "125.98 USDC of it is kept for what"},
		"a unit more":                  {less: paid + 1, level: verify.Warn},
		"a unit less":                  {less: paid - 1, level: verify.Warn},
		"twice":                        {less: 2 * paid, level: verify.Warn},
		"what the nodes do not see":    {less: -paid, level: verify.Warn},
		"taken, and pledged still":     {less: paid, used: true, level: verify.Show, words: "125.98 USDC of it"},
		"taken, and not seen yet":      {less: -paid, used: true, level: verify.Show, words: "USDC was just taken by"},
		"taken, and a unit is missing": {less: 1 - paid, used: true, level: verify.Warn},
		"its time is over": {less: paid, level: verify.Warn, change: func(b *bench, _ *flow.Operation) {
			b.clock.Add(20 * 60)
		}},
		"the service says that it is over": {less: paid, level: verify.Warn, change: func(b *bench, o *flow.Operation) {
			if s, err := o.Watch(b.t.Context(), nil); err != nil || s.State != flow.StateDone {
				b.t.Fatal(s.State, err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := onLab(t)
			b.policy.Limits.Gates = []string{verify.GateOpenRepeat}
			b.reopen()
			o := b.review2()
			if s, err := o.Execute(t.Context(), consent2(o), nil); err != nil || s.State != flow.StateAccepted {
				t.Fatal(s.State, err)
			}
			if c.change != nil {
				c.change(b, o)
				b.w.Now, b.w.Sequence, b.w.Deploy = b.now(), 1, false
			}
			looks(b, func(s *verify.Sight) {
				for i, a := range s.Assets {
					if a.String() == golden.ArbUSDC {
						s.Has[i] = new(big.Int).Add(s.Has[i], big.NewInt(c.less))
					}
				}
				for i, n := range s.Next {
					if c.used {
						s.Next[i] = new(big.Int).Add(n, big.NewInt(1<<40))
					}
				}
			})
			s, err := b.start().Prepare(t.Context())
			if err != nil {
				t.Fatalf("%v %+v", err, s.Report1.Reasons)
			}
			got := of(s.Report1, "V8")
			if len(got) != 1 || !strings.HasPrefix(got[0], "V8 "+string(c.level)+": ") ||
				!strings.Contains(got[0], c.words) {
				t.Errorf("%q", got)
			}
		})
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
	e.followed++
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

// While the service does not answer, own nodes are asked by themselves, four times a minute at most. What they see
// stands beside the silence and ends nothing.
func TestTH_V8_WhileTheServiceIsSilentOwnNodesAreAsked(t *testing.T) {
	b := newBench(t)
	e := looks(b, nil)
	o := b.review2()
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	silence := &client.Error{Op: "status", Kind: client.KindNetwork, Err: errors.New("no connection")}
	b.f.status = func(int, string) (api.ExecutionStatus, error) { return api.ExecutionStatus{}, silence }
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	began := b.clock.Load()
	s, _ := o.Watch(ctx, func(s flow.Snapshot) {
		if !errors.Is(s.Err, silence) || len(s.Became) < len(s.Review2.Legs) || s.State != flow.StateAccepted {
			t.Errorf("%s: %v, %+v", s.State, s.Err, s.Became)
		}
		if b.clock.Load() > began+120 {
			stop()
		}
	})
	if s.State != flow.StateAccepted || e.followed < 5 || e.followed > 9 || len(b.j.Outstanding(b.now())) == 0 {
		t.Errorf("%s after %d looks in two minutes", s.State, e.followed)
	}
	b.f.status = nil
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
		t.Error(s.State, err)
	}
}

// topic is an address or a number as a word.
func topic(v []byte) common.Hash { return common.BytesToHash(v) }

// event is one of a token: its first topic is that of a transfer or of an approval.
func event(token common.Address, name string, from, to common.Address, amount int64) verify.SimulatedLog {
	return verify.SimulatedLog{Address: token, Topics: []common.Hash{crypto.Keccak256Hash([]byte(name)), topic(from[:]),
		topic(to[:])}, Data: common.BigToHash(big.NewInt(amount)).Bytes()}
}

// What own nodes simulate agrees with the review, or is a warning of its own that names what differs. What has another
// form, or cannot be run, is not known.
func TestTH_V11_WhatOwnNodesSimulateIsComparedByName(t *testing.T) {
	const transfer, approval = "Transfer(address,address,uint256)", "Approval(address,address,uint256)"
	thief, token := common.Address{0xee}, common.Address{0x70}
	without := newBench(t).review1().Snapshot()
	for name, c := range map[string]struct {
		also func(account common.Address) []verify.SimulatedLog
		run  *verify.SimulatedRun
		want string
	}{
		"agreement": {want: "V11 pass"},
		"a token that comes in": {func(a common.Address) []verify.SimulatedLog {
			return []verify.SimulatedLog{event(token, transfer, thief, a, 5)}
		}, nil, "V11 pass"},
		"more leaves": {func(a common.Address) []verify.SimulatedLog {
			return []verify.SimulatedLog{event(token, transfer, a, thief, 5)}
		}, nil, "V11 warn: " + verify.SimDiffers + "5 base units of eip155:8453/erc20:" + token.Hex() +
			" leaves your account, not 0 base units"},
		"coins leave": {func(a common.Address) []verify.SimulatedLog {
			return []verify.SimulatedLog{event(verify.CoinLogs, transfer, a, thief, 5)}
		}, nil, "V11 warn: " + verify.SimDiffers + "0.000000000000000012 ETH leaves your account, not " +
			"0.000000000000000007 ETH"},
		"an approval stays": {func(a common.Address) []verify.SimulatedLog {
			return []verify.SimulatedLog{event(token, approval, a, thief, 9)}
		}, nil, "V11 warn: " + verify.SimDiffers + thief.Hex() + " may take 9 base units"},
		"an approval that is taken back": {func(a common.Address) []verify.SimulatedLog {
			return []verify.SimulatedLog{event(token, approval, a, thief, 9), event(token, approval, a, thief, 0)}
		}, nil, "V11 pass"},
		"a collection": {func(a common.Address) []verify.SimulatedLog {
			return []verify.SimulatedLog{event(token, "ApprovalForAll(address,address,bool)", a, thief, 1)}
		}, nil, "V11 warn: " + verify.SimDiffers + thief.Hex() + " may take everything that you have of " +
			token.Hex()},
		"a token of a collection": {func(a common.Address) []verify.SimulatedLog {
			l := event(token, transfer, a, thief, 0)
			return []verify.SimulatedLog{{Address: token, Topics: append(l.Topics, topic([]byte{7}))}}
		}, nil, "V11 warn: " + verify.SimDiffers + "token 7 of " + token.Hex() + " goes to " + thief.Hex()},
		"it fails": {run: &verify.SimulatedRun{Revert: append(common.FromHex("08c379a0"+
			"0000000000000000000000000000000000000000000000000000000000000020"+
			"0000000000000000000000000000000000000000000000000000000000000003"),
			common.RightPadBytes([]byte("no!"), 32)...)},
			want: "V11 warn: " + verify.SimFails + `"no!", on Base.`},
		"it fails with an error of its own": {run: &verify.SimulatedRun{Revert: []byte{1, 2, 3, 4, 5}},
			want: "V11 warn: " + verify.SimFails + "error 0x01020304, on Base."},
		"nothing arrives": {run: &verify.SimulatedRun{OK: true}, want: "V11 warn: " + verify.SimDiffers + "0x"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			e := looks(b, nil)
			e.runs = func(s verify.Simulation, step verify.SimulatedStep) verify.SimulatedRun {
				if step.Op == (common.Hash{}) {
					return verify.SimulatedRun{OK: true}
				}
				if c.run != nil {
					return *c.run
				}
				run := verify.SimulatedRun{OK: true, Logs: asStated(t, s, step)}
				if c.also != nil {
					run.Logs = append(run.Logs, c.also(s.Account)...)
				}
				return run
			}
			s := b.review1().Snapshot()
			got := of(s.Report1, "V11")
			for _, x := range s.Report1.Passed {
				if x.Code == "V11" {
					got = append(got, "V11 pass")
				}
			}
			if len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if s.Review1.OpHash != without.Review1.OpHash || s.Review1.Fingerprint != without.Review1.Fingerprint {
				t.Error("what is signed changed")
			}
		})
	}
}

// asStated are the events of an operation of which every call does what it says.
func asStated(t *testing.T, s verify.Simulation, step verify.SimulatedStep) (out []verify.SimulatedLog) {
	t.Helper()
	calls, err := op.DecodeExecute(step.Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range calls {
		if c.Value.Sign() > 0 {
			out = append(out, event(verify.CoinLogs, "Transfer(address,address,uint256)", s.Account, c.To,
				c.Value.Int64()))
		}
		if to, v, ok := erc20.DecodeTransfer(c.Data); ok {
			out = append(out, event(c.To, "Transfer(address,address,uint256)", s.Account, to, v.Int64()))
		}
		if to, v, ok := erc20.DecodeApprove(c.Data); ok {
			out = append(out, event(c.To, "Approval(address,address,uint256)", s.Account, to, v.Int64()))
		}
	}
	return out
}

// What was not run as it was to be, what is delivered before and cannot be, and an account that is not there.
func TestTH_V11_WhatCannotBeSimulatedIsNotKnown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *verify.Simulated)
		want   string
	}{
		"trouble": {func(s *verify.Simulated) {
			*s = verify.Simulated{Simulation: s.Simulation, Trouble: "it does not offer eth_simulateV1"}
		}, "V11 unknown: " + verify.SimNothing + "Base: it does not offer eth_simulateV1."},
		"another operation": {func(s *verify.Simulated) { s.Steps = nil }, ""},
		"too little":        {func(s *verify.Simulated) { s.Runs = nil }, "V11 unknown: " + verify.SimNothing},
		"no delivery": {func(s *verify.Simulated) { s.Runs[0].OK = s.Steps[0].Op != common.Hash{} },
			"V11 unknown: " + verify.SimNothing + "Base: what is to be delivered first cannot be: no reason is given."},
		"no account": {func(s *verify.Simulated) { s.There = false },
			"V11 warn: " + verify.SimAbsent},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			e := looks(b, nil)
			e.runs = func(s verify.Simulation, step verify.SimulatedStep) verify.SimulatedRun {
				if step.Op == (common.Hash{}) {
					return verify.SimulatedRun{OK: true}
				}
				return verify.SimulatedRun{OK: true, Logs: asStated(t, s, step)}
			}
			e.judge = c.change
			s := b.review1().Snapshot()
			got := of(s.Report1, "V11")
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if len(s.Review1.Simulated) > 0 {
				t.Errorf("%+v", s.Review1.Simulated)
			}
		})
	}
}

// Gas that costs more than the user's own cap is said right before the signature, and nothing is signed: the review
// stays, and is signed when gas is cheaper.
func TestNothingIsSignedThatOwnNodesCouldNotSend(t *testing.T) {
	b := newBench(t)
	e := looks(b, nil)
	words := errors.New("Base asks for 95 gwei")
	var asked [][]uint64
	e.dear = func(chains []uint64) error {
		asked = append(asked, chains)
		return words
	}
	o := b.review1()
	s, err := o.SignPrepared(t.Context(), consent1(o))
	if !errors.Is(err, flow.ErrDear) || !errors.Is(err, words) || s.State != flow.StateReview1 ||
		s.Problem != "Nothing was signed, as it could not be sent now: Base asks for 95 gwei" {
		t.Fatal(s.State, err, s.Problem)
	}
	if b.pen.count.Load() != 0 || len(b.j.Outstanding(b.now())) != 0 {
		t.Error("it was signed")
	}
	e.dear = nil
	if s, err = o.SignPrepared(t.Context(), consent1(o)); err != nil || s.State != flow.StateReview2 {
		t.Fatal(s.State, err)
	}
	signed := b.pen.count.Load()
	e.dear = func(chains []uint64) error {
		asked = append(asked, chains)
		return words
	}
	if s, err = o.Execute(t.Context(), consent2(o), nil); !errors.Is(err, flow.ErrDear) ||
		s.State != flow.StateReview2 || b.pen.count.Load() != signed {
		t.Fatal(s.State, err)
	}
	e.dear = nil
	if s, err = o.Execute(t.Context(), consent2(o), nil); err != nil || s.State != flow.StateAccepted {
		t.Fatal(s.State, err)
	}
	if len(asked) != 2 || !slices.Equal(asked[0], []uint64{8453}) || !slices.Equal(asked[1], []uint64{42161, 10}) {
		t.Errorf("asked about %v", asked)
	}
}
