package consent

import (
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// full is a quote in which every field has something.
func full() Review {
	r := Review{Quote: new(verify.QuoteView), At: time.Unix(1_800_000_000, 0)}
	filled(reflect.ValueOf(r.Quote).Elem())
	q := r.Quote
	usual := func(a *verify.AmountView) { *a = dollars(10) }
	usual(&q.Legs[0].Pays)
	usual(&q.Legs[0].Parts[0].Amount)
	for _, list := range [][]verify.AmountView{q.Promise.Minimums, q.Pay, q.Worst, q.Fees, {}} {
		for i := range list {
			usual(&list[i])
		}
	}
	usual(&q.Needs[0].Need)
	usual(&q.Seen[0].Has[0])
	usual(&q.Delivered)
	usual(&q.Minimum)
	for _, v := range []**big.Int{&q.PayMicro, &q.DeliverMicro, &q.FeesMicro, &q.CostMicro, &q.MinimumCostMicro,
		&q.UnexplainedMicro, &q.Needs[0].Have, &q.Needs[0].Short} {
		*v = big.NewInt(1_000_000)
	}
	for _, at := range []*time.Time{&q.Expires, &q.Legs[0].RefundAfter, &q.Legs[0].Until, &q.Promise.FillBy} {
		*at = r.At.Add(10 * time.Minute)
	}
	q.Legs[0].Solana.Instructions[0].Args[0].Type = "address"
	q.FeeUSD, q.RecipientFirstTime, q.Promise.Attesters, q.Promise.Threshold = "1.50", false, 3, 2
	return r
}

// direction says which changes of a field keep a person from confirming with what was typed before.
type direction int

const (
	anyChange direction = iota // it is another thing
	more                       // more is worse
	fewer                      // less is worse
	free                       // it is new in every quote, or follows from other fields
)

func directions() map[string]direction {
	return map[string]direction{
		"ID": free, "Kind": anyChange, "CallType": anyChange, "CallTypeWords": free, "Expires": free,
		"Legs.Chain.ID": free, "Legs.Chain.CAIP": anyChange, "Legs.Chain.Name": free, "Legs.Chain.Short": free,
		"Legs.Pays": more, "Legs.Deploys": anyChange, "Legs.Nonce": free, "Legs.OpHash": free, "Legs.Escrow": anyChange,
		"Legs.RefundAfter": more, "Legs.Until": more, "Legs.AccountType": anyChange,
		"Legs.Delegation.Chain.ID": free, "Legs.Delegation.Chain.CAIP": anyChange, "Legs.Delegation.Chain.Name": free,
		"Legs.Delegation.Chain.Short": free, "Legs.Delegation.Authority": anyChange,
		"Legs.Delegation.Contract": anyChange, "Legs.Delegation.ContractName": free, "Legs.Delegation.Nonce": anyChange,
		"Legs.Parts.To": anyChange, "Legs.Parts.ToName": free, "Legs.Parts.Amount": more, "Legs.Parts.ShareBps": free,
		"Legs.Parts.Approval":  anyChange,
		"Legs.Solana.FeePayer": anyChange, "Legs.Solana.BlockHash": free, "Legs.Solana.Memo": free,
		"Legs.Solana.Own.Fee": more, "Legs.Solana.Own.Rent": more,
		"Legs.Solana.Instructions.Program": anyChange, "Legs.Solana.Instructions.ProgramName": free,
		"Legs.Solana.Instructions.Name": anyChange, "Legs.Solana.Instructions.Args.Name": free,
		"Legs.Solana.Instructions.Args.Type": anyChange, "Legs.Solana.Instructions.Args.Value": anyChange,
		"Promise.Minimums": fewer, "Promise.FillBy": more, "Promise.Attesters": anyChange, "Promise.Threshold": fewer,
		"Pay": free, "Worst": more, "PayMicro": free, "DeliverMicro": free, "FeesMicro": more,
		"CostMicro": more, "CostBps": free,
		"MinimumCostMicro": more, "MinimumCostBps": free, "UnexplainedMicro": more, "Explained": fewer,
		"Needs.Need": anyChange, "Needs.Have": free, "Needs.Short": free, "Seen.Chain.ID": free,
		"Seen.Chain.CAIP": free, "Seen.Chain.Name": free, "Seen.Chain.Short": free, "Seen.Block": free,
		"Seen.Has": fewer, "Seen.As": free, "Delivered": fewer, "Minimum": fewer,
		"Simulated.Chain.ID": free, "Simulated.Chain.CAIP": free, "Simulated.Chain.Name": free,
		"Simulated.Chain.Short": free, "Simulated.Block": free, "Simulated.Out": free, "Simulated.In": free,
		"Simulated.As": free,
		"Recipient":    anyChange, "Fees": more, "FeeUSD": more, "SlippageBps": more, "SameChainOnly": anyChange,
		"Fingerprint": free, "Phrase": anyChange, "RecipientOwn": fewer, "RecipientFirstTime": more,
	}
}

// step changes a leaf by one step and returns whether there is such a step.
func step(v reflect.Value, upwards bool) bool {
	n := int64(-1)
	if upwards {
		n = 1
	}
	switch x := v.Interface().(type) {
	case verify.AmountView:
		x.Amount, x.Micro = new(big.Int).Add(x.Amount, big.NewInt(n)), new(big.Int).Add(x.Micro, big.NewInt(n))
		v.Set(reflect.ValueOf(x))
		return true
	case *big.Int:
		v.Set(reflect.ValueOf(new(big.Int).Add(x, big.NewInt(n))))
		return true
	case time.Time:
		v.Set(reflect.ValueOf(x.Add(time.Duration(n) * (jitter + time.Second))))
		return true
	}
	switch v.Kind() {
	case reflect.String:
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil {
			v.SetString(strconv.FormatFloat(f+float64(n), 'f', 2, 64))
		} else {
			v.SetString(v.String() + strconv.FormatBool(upwards))
		}
	case reflect.Int:
		v.SetInt(v.Int() + n)
	case reflect.Uint64:
		v.SetUint(v.Uint() + uint64(n+2))
	case reflect.Bool:
		if v.Bool() == upwards {
			return false
		}
		v.SetBool(upwards)
	default:
		panic(v.Kind())
	}
	return true
}

// leaves calls each with the place of every leaf of a view: a field that is compared as a whole.
func leaves(path string, v reflect.Value, each func(path string, v reflect.Value)) {
	switch v.Interface().(type) {
	case verify.AmountView, *big.Int, time.Time:
		each(path, v)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		leaves(path, v.Elem(), each)
	case reflect.Slice:
		for i := range v.Len() {
			leaves(path, v.Index(i), each)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			leaves(name, v.Field(i), each)
		}
	default:
		each(path, v)
	}
}

// careless has nothing to type, so that the comparison of what has to be typed hides nothing.
func careless() Person { return Person{From: big.NewInt(1 << 62)} }

func carried(t *testing.T, first, next Review) []Worse {
	return Carries(catalogue(t), careless(), first, next)
}

// Each field of a quote that is made worse, or another thing, is caught, and nothing that is better or new in every
// quote is. A field that verify adds fails here until it is decided what it is.
func TestD5_EachFieldOfARenewedQuoteThatIsWorseIsCaught(t *testing.T) {
	if worse := carried(t, full(), full()); len(worse) > 0 {
		t.Fatalf("the same quote: %v", worse)
	}
	rules := directions()
	met := map[string]bool{}
	var paths []string
	leaves("", reflect.ValueOf(full().Quote).Elem(), func(path string, _ reflect.Value) { paths = append(paths, path) })
	for _, want := range paths {
		way, ok := rules[want]
		if met[want] = true; !ok {
			t.Errorf("nobody decided about %s", want)
			continue
		}
		for _, upwards := range []bool{true, false} {
			next := full()
			there := false
			leaves("", reflect.ValueOf(next.Quote).Elem(), func(path string, v reflect.Value) {
				if path == want {
					there = step(v, upwards)
				}
			})
			caught := len(carried(t, full(), next)) > 0
			if must := way == anyChange || way == more && upwards || way == fewer && !upwards; there && caught != must {
				t.Errorf("%s, more %v: caught %v", want, upwards, caught)
			}
		}
	}
	for path := range rules {
		if !met[path] {
			t.Errorf("a rule for %s, which no quote has", path)
		}
	}
}

func TestD5_WhatBecomesUnknownNewOrAnotherAssetIsCaught(t *testing.T) {
	other := caip.ERC20(10, common.HexToAddress(payee))
	for name, change := range map[string]func(q *verify.QuoteView){
		"the asset of a payment":        func(q *verify.QuoteView) { q.Legs[0].Pays.Asset = other },
		"the asset of a part":           func(q *verify.QuoteView) { q.Legs[0].Parts[0].Amount.Asset = other },
		"the asset of the minimum":      func(q *verify.QuoteView) { q.Minimum.Asset = other },
		"the asset that arrives":        func(q *verify.QuoteView) { q.Delivered.Asset = other },
		"the asset of a promise":        func(q *verify.QuoteView) { q.Promise.Minimums[0].Asset = other },
		"the asset of a need":           func(q *verify.QuoteView) { q.Needs[0].Need.Asset = other },
		"a fee in another asset":        func(q *verify.QuoteView) { q.Fees[0].Asset = other },
		"a worst case in another asset": func(q *verify.QuoteView) { q.Worst[0].Asset = other },
		"a second fee":                  func(q *verify.QuoteView) { q.Fees = append(q.Fees, other2(other)) },
		"a second worst case":           func(q *verify.QuoteView) { q.Worst = append(q.Worst, other2(other)) },
		"a second payment":              func(q *verify.QuoteView) { q.Legs = append(q.Legs, q.Legs[0]) },
		"a payment less":                func(q *verify.QuoteView) { q.Legs = nil },
		"a second need":                 func(q *verify.QuoteView) { q.Needs = append(q.Needs, q.Needs[0]) },
		"a need less":                   func(q *verify.QuoteView) { q.Needs = nil },
		"a part less":                   func(q *verify.QuoteView) { q.Legs[0].Parts = nil },
		"no delegation":                 func(q *verify.QuoteView) { q.Legs[0].Delegation = nil },
		"no message":                    func(q *verify.QuoteView) { q.Legs[0].Solana = nil },
		"no terms":                      func(q *verify.QuoteView) { q.Promise = nil },
		"no promise":                    func(q *verify.QuoteView) { q.Promise.Minimums = nil },
		"no fees":                       func(q *verify.QuoteView) { q.Fees = nil },
		"no worst case":                 func(q *verify.QuoteView) { q.Worst = nil },
		"an unknown payment":            func(q *verify.QuoteView) { q.Legs[0].Pays.Amount = nil },
		"a payment of unknown value":    func(q *verify.QuoteView) { q.Legs[0].Pays.Micro = nil },
		"an unknown minimum":            func(q *verify.QuoteView) { q.Minimum.Amount = nil },
		"an unknown delivery":           func(q *verify.QuoteView) { q.Delivered.Amount = nil },
		"a delivery of unknown value":   func(q *verify.QuoteView) { q.Delivered.Micro = nil },
		"an unknown value of payments":  func(q *verify.QuoteView) { q.PayMicro = nil },
		"an unknown value delivered":    func(q *verify.QuoteView) { q.DeliverMicro = nil },
		"an unknown cost":               func(q *verify.QuoteView) { q.CostMicro = nil },
		"unknown fees":                  func(q *verify.QuoteView) { q.FeesMicro = nil },
		"an unknown unexplained part":   func(q *verify.QuoteView) { q.UnexplainedMicro = nil },
		"an unknown time of refund":     func(q *verify.QuoteView) { q.Legs[0].RefundAfter = time.Time{} },
		"an unknown end":                func(q *verify.QuoteView) { q.Legs[0].Until = time.Time{} },
		"an unknown delivery time":      func(q *verify.QuoteView) { q.Promise.FillBy = time.Time{} },
		"fees that are no number":       func(q *verify.QuoteView) { q.FeeUSD = "little" },
	} {
		next := full()
		change(next.Quote)
		if len(carried(t, full(), next)) == 0 {
			t.Errorf("%s is not caught", name)
		}
	}
	known := full()
	known.Quote.CostMicro, known.Quote.Legs[0].RefundAfter, known.Quote.Delivered.Amount = nil, time.Time{}, nil
	if worse := carried(t, known, full()); len(worse) > 0 {
		t.Errorf("what becomes known: %v", worse)
	}
}

func other2(asset caip.Asset) verify.AmountView {
	a := dollars(1)
	a.Asset = asset
	return a
}

func TestD5_ANewFindingIsCaughtAndAnOldOneIsNot(t *testing.T) {
	reason := func(code string, level verify.Level, title string) verify.Reason {
		return verify.Reason{Code: code, Level: level, Title: title, Got: "1"}
	}
	first := full()
	first.Report.Reasons = []verify.Reason{reason("V4", verify.Warn, "first time"),
		reason("Q11", verify.Unknown, "cost")}
	for name, x := range map[string]struct {
		add  verify.Reason
		want bool
	}{
		"a warning":     {reason("V4", verify.Warn, "another title"), true},
		"a second one":  {first.Report.Reasons[0], true},
		"a gate":        {reason("T7", verify.Gate, "first time"), true},
		"an unknown":    {reason("P6", verify.Unknown, "balances"), true},
		"another level": {reason("V4", verify.Unknown, "first time"), true},
		"a remark":      {reason("L4", verify.Show, "members"), false},
	} {
		next := full()
		next.Report.Reasons = append(slices.Clone(first.Report.Reasons), x.add)
		if got := len(carried(t, first, next)) > 0; got != x.want {
			t.Errorf("%s: caught %v", name, got)
		}
	}
	next := full()
	next.Report.Reasons = []verify.Reason{first.Report.Reasons[1]}
	next.Report.Reasons[0].Got = "2"
	if worse := carried(t, first, next); len(worse) > 0 {
		t.Errorf("a warning less: %v", worse)
	}
}

// Lifetimes are counted from when each quote came: the next quote ends later by the clock, and no later than that.
func TestD5_LifetimesAreCountedFromTheQuote(t *testing.T) {
	later := func(by, more time.Duration) Review {
		r := full()
		r.At = r.At.Add(by)
		for _, at := range []*time.Time{&r.Quote.Legs[0].RefundAfter, &r.Quote.Legs[0].Until, &r.Quote.Promise.FillBy} {
			*at = at.Add(by + more)
		}
		return r
	}
	if worse := carried(t, full(), later(time.Minute, 0)); len(worse) > 0 {
		t.Error(worse)
	}
	if worse := carried(t, full(), later(time.Minute, jitter+time.Second)); len(worse) != 3 {
		t.Error(worse)
	}
}

// What has to be typed must be the same, and the call that was signed, and there must be two quotes.
func TestD5_AnotherTextToTypeOrAnotherCallIsCaught(t *testing.T) {
	first, next := quoted(), quoted()
	if worse := Carries(catalogue(t), person(), first, next); len(worse) > 0 {
		t.Fatal(worse)
	}
	next.Quote.Legs[0].Pays = dollars(225) // of 250 instead of 251
	if worse := Carries(catalogue(t), person(), first, next); len(worse) != 1 || worse[0].New != "250" {
		t.Error(worse)
	}
	next = quoted()
	next.Call.Fingerprint = "aaaa 0002"
	if worse := Carries(catalogue(t), person(), first, next); len(worse) != 1 {
		t.Error(worse)
	}
	for _, r := range []Review{{}, {Intent: intent.Draft{}, Call: first.Call}} {
		if len(Carries(catalogue(t), person(), first, r)) == 0 || len(Carries(catalogue(t), person(), r, first)) == 0 {
			t.Error("without a quote it carries over")
		}
	}
}

// A quote that is worse in anything never carries over, however the others differ.
func FuzzCarries(f *testing.F) {
	f.Add(int64(1), int64(-1), int64(0), uint8(0))
	f.Fuzz(func(t *testing.T, pays, least, fee int64, which uint8) {
		first, next := full(), full()
		shift := func(a *verify.AmountView, by int64) { a.Amount = new(big.Int).Add(a.Amount, big.NewInt(by)) }
		shift(&next.Quote.Legs[0].Pays, pays)
		shift(&next.Quote.Minimum, least)
		shift(&next.Quote.Fees[0], fee)
		worse := pays > 0 || least < 0 || fee > 0
		if which%2 == 1 {
			first, next = next, first
			worse = pays < 0 || least > 0 || fee < 0
		}
		if got := len(carried(t, first, next)) > 0; got != worse {
			t.Fatalf("pays %d, least %d, fee %d: %v", pays, least, fee, got)
		}
	})
}
