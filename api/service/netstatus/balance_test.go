package netstatus

import (
	"bytes"
	"fmt"
	"math/big"
	"strings"
	"testing"
)

// stocked is an operator with USDC on three chains, on one of them with 18 decimals.
func stocked(base, op, bnb int64) *Status {
	on := func(id uint64, name string, decimals int, has *big.Int) Chain {
		c := Chain{ID: id, Name: name, Inventory: []Holding{{Asset: name + "/usdc", Aggregate: "ob:usdc",
			Symbol:   "USDC",
			Decimals: decimals, Has: has, Promised: new(big.Int), Capacity: units(5, decimals),
			Delivered: units(70, decimals), Deposited: new(big.Int)},
			{Asset: name + "/none", Aggregate: "ob:none", Symbol: "NONE", Has: new(big.Int), Promised: new(big.Int)}}}
		c.Quorum.Agrees = true
		return c
	}
	return &Status{Chains: []Chain{on(8453, "Base", 6, units(base, 6)), on(10, "Optimism", 6, units(op, 6)),
		on(56, "BNB", 18, units(bnb, 18))}}
}

// TestAChainHasTooMuchOrTooLittleAgainstItsShare, whatever decimals an asset has there; what is promised is not free.
func TestAChainHasTooMuchOrTooLittleAgainstItsShare(t *testing.T) {
	over := func(s *Status, shares Shares, want ...int64) {
		t.Helper()
		all := s.Balance(shares)
		if len(all) != 1 || all[0].Symbol != "USDC" {
			t.Fatalf("%+v", all)
		}
		sum := new(big.Int)
		for i, p := range all[0].Places {
			if p.Over.Cmp(units(want[i], p.Decimals)) != 0 {
				t.Errorf("%s: %d over, %d expected", p.Name, p.Over, want[i])
			}
			sum.Add(sum, scaled(p.Target, 18-p.Decimals))
		}
		if sum.Cmp(all[0].Total) > 0 {
			t.Errorf("the targets are %d of %d", sum, all[0].Total)
		}
	}
	over(stocked(900, 0, 300), nil, 500, -400, -100)
	over(stocked(400, 400, 400), nil, 0, 0, 0)
	over(stocked(900, 0, 300), Shares{8453: 2, 56: 0}, 100, -400, 300)
	promised := stocked(900, 0, 300)
	promised.Chains[0].Inventory[0].Promised = units(600, 6)
	over(promised, nil, 100, -200, 100)
}

// TestWhatIsNotKnownHasNoTarget: an unknown figure is neither zero nor part of a sum.
func TestWhatIsNotKnownHasNoTarget(t *testing.T) {
	for name, forget := range map[string]func(*Holding){
		"inventory": func(h *Holding) { h.Has = nil }, "promises": func(h *Holding) { h.Promised = nil },
	} {
		s := stocked(900, 0, 300)
		forget(&s.Chains[1].Inventory[0])
		k := s.Balance(nil)[0]
		if k.Total != nil || k.Places[0].Target != nil || k.Places[0].Moves() {
			t.Errorf("%s: %+v", name, k)
		}
		var out bytes.Buffer
		if err := PrintBalance(&out, []Stock{k}, FlowDays); err != nil || strings.Count(out.String(), "unknown") < 5 {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}

// TestABalanceIsPrinted with what keeps a chain from working; little differences are left alone.
func TestABalanceIsPrinted(t *testing.T) {
	s := stocked(900, 0, 300)
	s.Chains[1].Lane = &Lane{Stopped: "two programs"}
	var out bytes.Buffer
	if err := PrintBalance(&out, s.Balance(nil), FlowDays); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"USDC", "in all 1,200 USDC", "too much: 500 USDC", "too little: 400 USDC",
		"Optimism (10): its lane has stopped", "delivered in 7 days"} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("no %q in\n%s", words, &out)
		}
	}
	out.Reset()
	if err := PrintBalance(&out, stocked(410, 395, 395).Balance(nil), FlowDays); err != nil ||
		strings.Count(out.String(), "as it should be") != 3 {
		t.Errorf("%v\n%s", err, &out)
	}
	out.Reset()
	if err := PrintBalance(&out, stocked(0, 0, 0).Balance(nil), FlowDays); err != nil ||
		out.String() != "the filler has nothing on any chain\n" {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestJSONOfABalance: what --json prints of an asset.
func TestJSONOfABalance(t *testing.T) {
	s := stocked(3, 1, 0)
	s.Chains = s.Chains[:2]
	s.Chains[1].Inventory[0].Promised = nil
	raw, err := EncodeJSON(s.Balance(nil))
	const place = `"asset":"%s/usdc","symbol":"USDC","decimals":6,"has":"%d000000","promised":`
	want := `[{"aggregate":"ob:usdc","symbol":"USDC","decimals":6,"total":null,"chains":[` +
		`{"chain":8453,"name":"Base",` + fmt.Sprintf(place, "Base", 3) +
		`"0","free":"3000000","target":null,"over":null,"capacity":"5000000","delivered":"70000000","deposited":"0"},` +
		`{"chain":10,"name":"Optimism",` + fmt.Sprintf(place, "Optimism", 1) +
		`null,"free":null,"target":null,"over":null,"capacity":"5000000","delivered":"70000000","deposited":"0"}]}]`
	if err != nil || string(raw) != want {
		t.Errorf("got\n%s, %v, want\n%s", raw, err, want)
	}
}
