package flow_test

import (
	"context"
	"math/big"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/wallet/flow"
	"coffer/wallet/journal"
	"coffer/wallet/verify"
)

// folder is a Keep in memory.
type folder map[string][]byte

func (f folder) Load(name string) ([]byte, error) { return f[name], nil }
func (f folder) Save(name string, data []byte) error {
	f[name] = append([]byte(nil), data...)
	return nil
}

// states makes the service state a balance of the asset at an index of its list; "" leaves it out.
func states(i int, balance string) func(*api.PrepareResponse) error {
	return func(p *api.PrepareResponse) error {
		list := append([]api.SourceAssetBalance(nil), p.SourceAssetBalances...)
		if balance == "" {
			list = append(list[:i], list[i+1:]...)
		} else {
			list[i].Balance = balance
		}
		p.SourceAssetBalances = list
		return nil
	}
}

// K1: a service that drops a balance, or lowers one, contradicts what it said before; the warning has both figures,
// stays until the service agrees with itself, and survives a restart.
func TestK1_ABalanceThatContradictsAnEarlierOneIsAWarningWithBothFigures(t *testing.T) {
	for name, lie := range map[string]func(*api.PrepareResponse) error{"left out": states(1, ""),
		"lowered": states(1, "5")} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.keep = folder{}
			b.reopen()
			honest, err := b.start().Prepare(t.Context())
			if err != nil || honest.Report1.Has("P6", verify.Warn) {
				t.Fatalf("%v %+v", err, honest.Report1.Reasons)
			}
			before := honest.Review1.Sources[1]
			b.f.prepare = lie
			for range 2 {
				b.reopen()
				b.clock.Add(60)
				b.w.Now = b.now()
				s, err := b.start().Prepare(t.Context())
				if err != nil || !s.Report1.Has("P6", verify.Warn) {
					t.Fatalf("the contradiction is not told: %v %+v", err, s.Report1.Reasons)
				}
				for _, x := range s.Report1.Reasons {
					if x.Code == "P6" && (!strings.Contains(x.Want, before.Symbol+" on "+before.ChainName) ||
						!strings.Contains(x.Got, before.Symbol)) {
						t.Errorf("not both figures: %+v", x)
					}
				}
			}
			b.f.prepare = nil
			if s, err := b.start().Prepare(t.Context()); err != nil || s.Report1.Has("P6", verify.Warn) {
				t.Errorf("the same balance as before is a contradiction: %v %+v", err, s.Report1.Reasons)
			}
			b.f.prepare = lie
			b.clock.Add(int64(25 * time.Hour / time.Second))
			b.w.Now = b.now()
			if s, err := b.start().Prepare(t.Context()); err != nil || s.Report1.Has("P6", verify.Warn) {
				t.Errorf("after a day a statement is still compared: %v %+v", err, s.Report1.Reasons)
			}
		})
	}
}

// A service leaves out what is worth no more than its own fee. That is no balance of zero: it contradicts nothing that
// was stated, and nothing that own nodes see, which is shown. What is worth more, or what the call requires, may not be
// left out.
func TestTH_P6_WhatIsWorthLessThanItsFeeMayBeLeftOut(t *testing.T) {
	for _, c := range []struct {
		name, balance string // of USDC elsewhere
		warns         bool
	}{{"dust", "9000000", false}, {"more", "11000000", true}} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.keep = folder{}
			b.f.prepare = states(1, c.balance)
			looks(b, func(s *verify.Sight) {
				for i, a := range s.Assets {
					if a.String() == b.w.PrepareResponse().SourceAssetBalances[1].AssetType {
						s.Has[i], _ = new(big.Int).SetString(c.balance, 10)
					}
				}
			})
			s, err := b.start().Prepare(t.Context())
			if err != nil || s.Report1.Has("P6", verify.Warn) || s.Report1.Has("V8", verify.Warn) {
				t.Fatalf("%v %+v", err, s.Report1.Reasons)
			}
			b.f.prepare = states(1, "")
			for range 2 {
				b.clock.Add(60)
				b.w.Now = b.now()
				if s, err = b.start().Prepare(t.Context()); err != nil || s.Report1.Has("P6", verify.Warn) != c.warns ||
					s.Report1.Has("V8", verify.Warn) != c.warns {
					t.Errorf("%v %+v", err, s.Report1.Reasons)
				}
			}
			shown := false
			for _, seen := range s.Review1.Seen {
				for _, a := range seen.Has {
					shown = shown || a.Amount.String() == c.balance && !seen.As
				}
			}
			if !shown {
				t.Errorf("what is there is not shown: %+v", s.Review1.Seen)
			}
			for _, r := range s.Report1.Reasons {
				if (r.Code == "P6" || r.Code == "V8") && !strings.HasPrefix(r.Got, "unknown: ") {
					t.Errorf("what is left out is said to be %q", r.Got)
				}
			}
		})
	}
	b := newBench(t)
	b.keep = folder{}
	b.f.prepare = states(0, "2000000") // of USDC on Base, which the call requires
	if s, err := b.start().Prepare(t.Context()); err != nil || s.Report1.Has("P6", verify.Warn) {
		t.Fatalf("%v %+v", err, s.Report1.Reasons)
	}
	b.f.prepare = states(0, "")
	if s, err := b.start().Prepare(t.Context()); err != nil || !s.Report1.Has("P6", verify.Warn) {
		t.Errorf("a required asset is left out without a word: %v %+v", err, s.Report1.Reasons)
	}
}

// elsewhere is a journal whose payments another account of the wallet made.
type elsewhere struct{ *journal.Journal }

// Spent is part of flow.Journal.
func (e elsewhere) Spent(since time.Time) []verify.Spend {
	all := e.Journal.Spent(since)
	for i := range all {
		all[i].Account = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	}
	return all
}

// K1: what the account's own signatures can have taken explains a lower balance, and a higher one contradicts nothing.
func TestK1_OwnOperationsExplainALowerBalance(t *testing.T) {
	for name, mine := range map[string]bool{"own": true, "of another account": false} {
		t.Run(name, func(t *testing.T) { explainALowerBalance(t, mine) })
	}
}

func explainALowerBalance(t *testing.T, mine bool) {
	b := newBench(t)
	if !mine {
		b.flow = flow.New(flow.Deps{Client: b.f, Signer: b.pen, Journal: elsewhere{b.j}, Policy: b.policy,
			Clock: b.now, Sleep: func(ctx context.Context, d time.Duration) error {
				b.clock.Add(max(int64(d/time.Second), 1))
				return ctx.Err()
			}})
	}
	o := b.review2() // signs a call of 250.5 USDC on Base
	if _, err := o.Execute(t.Context(), consent2(o), nil); err != nil {
		t.Fatal(err)
	}
	if s, err := o.Watch(t.Context(), nil); err != nil || s.State != flow.StateDone {
		t.Fatal(s.State, err)
	}
	b.clock.Add(60)
	b.w.Now, b.w.Sequence, b.w.Deploy = b.now(), 1, false
	if was := o.Snapshot().Review1.Sources[0]; was.ChainName != "Base" || was.Amount.Cmp(big.NewInt(5_000_000)) <= 0 {
		t.Fatalf("the first balance is %s on %s", was.Amount, was.ChainName)
	}
	b.f.prepare = states(0, "5000000")
	if s, err := b.start().Prepare(t.Context()); err != nil || s.Report1.Has("P6", verify.Warn) == mine {
		t.Errorf("a payment that is own (%v) is judged otherwise: %v %+v", mine, err, s.Report1.Reasons)
	}
	b.f.prepare = states(0, "99999999999")
	if s, err := b.start().Prepare(t.Context()); err != nil || s.Report1.Has("P6", verify.Warn) {
		t.Errorf("more than before contradicts: %v %+v", err, s.Report1.Reasons)
	}
}

// K1: what a screen was told counts as well, and a file that is broken or of another network counts as none.
func TestK1_BalancesOfAScreenAreComparedAndABrokenFileIsNone(t *testing.T) {
	b := newBench(t)
	s, err := b.start().Prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := s.Review1.Sources[0]
	told := api.AggregatedBalance{BalanceByAggregatedAsset: []api.AggregateBalance{
		{IndividualAssetBalances: []api.AssetBalance{
			{AssetType: a.Asset.String(), Balance: "999999999999"}, {AssetType: "rubbish", Balance: "1"},
			{AssetType: a.Asset.String(), Balance: "-1"},
		}}}}
	b.flow.Stated(b.w.Intent().Draft().Accounts, told)
	if s, err = b.start().Prepare(t.Context()); err != nil || !s.Report1.Has("P6", verify.Warn) {
		t.Errorf("the balances of a screen are not compared: %v %+v", err, s.Report1.Reasons)
	}
	for name, file := range map[string]string{
		"no JSON": "{", "another version": `{"version":2,"network":"` + b.policy.Network.ID + `","balances":[]}`,
		"another network": `{"version":1,"network":"0x00","balances":[{"account":"` + s.Review1.Sender + `","asset":"` +
			a.Asset.String() + `","amount":"999999999999","at":"` + b.now().Format(time.RFC3339) + `"}]}`,
		"no amount": `{"version":1,"network":"` + b.policy.Network.ID + `","balances":[{"account":"x","asset":"` +
			a.Asset.String() + `","amount":"1e9","at":"` + b.now().Format(time.RFC3339) + `"}]}`,
	} {
		b.keep = folder{"stated.json": []byte(file)}
		b.reopen()
		if s, err := b.start().Prepare(t.Context()); err != nil || s.Report1.Has("P6", verify.Warn) {
			t.Errorf("%s: %v %+v", name, err, s.Report1.Reasons)
		}
	}
}
