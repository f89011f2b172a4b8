package consent

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"coffer/api"
	"coffer/api/amount"
	"coffer/wallet/verify"
)

func TestACallWithoutARecipientIsConfirmedByItsContract(t *testing.T) {
	const usdc, payee = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	call := verify.CallView{Role: verify.RoleCall, To: usdc}
	paid := verify.CallView{Role: verify.RoleCall, To: usdc, Recipient: payee}
	for want, lines := range map[string][]verify.CallView{"": nil, usdc: {call}, payee: {call, paid}} {
		if got := receiver(Review{Call: &verify.PreparedView{Lines: lines}}); got != want {
			t.Errorf("%d lines: %q, want %q", len(lines), got, want)
		}
	}
}

// quoted is review 2 of a transfer of 250 USDC to payee: 25 of them are there, the rest is paid from another chain.
func quoted() Review {
	r := call(250)
	r.Call.WholeConsent, r.Call.Lines[0].FirstTime = false, true
	pay := dollars(225)
	pay.Amount, pay.Micro = big.NewInt(226_347_902), big.NewInt(226_302_632)
	r.Quote = &verify.QuoteView{Fingerprint: "bbbb 0001", Legs: []verify.LegView{{Pays: pay}},
		Worst: []verify.AmountView{dollars(476)}, CostBps: 22, Recipient: usdc, RecipientOwn: true,
		Needs: []verify.NeedView{{Need: dollars(250), Have: big.NewInt(25_000_000), Short: big.NewInt(225_000_000)}}}
	return r
}

func TestWhatIsTypedIsAllThatLeavesWithWhatIsThereAlready(t *testing.T) {
	for name, x := range map[string]struct {
		change func(r *Review)
		least  string
	}{
		"payments and what is there": {func(*Review) {}, "251"}, // of 251.347902
		"the balance is not known":   {func(r *Review) { r.Quote.Needs[0].Short = nil }, "476"},
		"the calls take more":        {func(r *Review) { r.Call.Outflow[0] = dollars(300) }, "301"},
		"the calls need more":        {func(r *Review) { r.Call.Outflow = nil }, "251"},
		"all is there":               {there, "250"},
		"agreed to in full before": {func(r *Review) {
			there(r)
			r.Call.WholeConsent = true
		}, ""},
		"by what the payments bring": {func(r *Review) {
			r.Quote.Needs[0].Short = nil
			r.Quote.Promise = &verify.PromiseView{Minimums: []verify.AmountView{dollars(200)}}
		}, "276"},
		"nothing is there":          {func(r *Review) { r.Quote.Needs[0].Short = big.NewInt(250_000_000) }, "226"},
		"a swap":                    {func(r *Review) { r.Call, r.Quote.Needs = nil, nil }, "226"},
		"a value that is not known": {func(r *Review) { r.Quote.Legs[0].Pays.Micro = nil }, "251"},
		"cheap, but not at the worst": {func(r *Review) {
			cheap(r)
			r.Quote.Worst = []verify.AmountView{dollars(100)}
		}, "2.5"},
		"cheap":            {cheap, ""},
		"cheap and costly": {func(r *Review) { cheap(r); r.Quote.CostBps = 1000 }, "2.5"},
	} {
		r := quoted()
		x.change(&r)
		if d := Demanded(catalogue(t), r, person()); d.Least != x.least || (d.Cause == None) != (x.least == "") {
			t.Errorf("%s: %q, %+v", name, d.Least, d)
		}
	}
}

// there makes the calls take what is on their chain.
func there(r *Review) {
	r.Quote.Legs, r.Quote.SameChainOnly, r.Quote.Needs[0].Short = nil, true, new(big.Int)
}

// cheap makes everything worth 2.50 USD.
func cheap(r *Review) {
	a := dollars(0)
	a.Amount, a.Micro = big.NewInt(2_500_000), big.NewInt(2_500_000)
	r.Call.Outflow, r.Quote.Legs, r.Quote.Needs, r.Quote.Worst = nil, []verify.LegView{{Pays: a}}, nil, nil
}

func TestAPayeeWhomNobodyKnowsCostsASecondAnswer(t *testing.T) {
	other := "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	for name, x := range map[string]struct {
		change func(r *Review, p *Person)
		want   string
	}{
		"new":         {func(*Review, *Person) {}, payee},
		"paid before": {func(r *Review, _ *Person) { r.Call.Lines[0].FirstTime = false }, ""},
		"a contact":   {func(_ *Review, p *Person) { p.Known = func(a string) bool { return a == payee } }, ""},
		"oneself": {func(r *Review, _ *Person) {
			r.Intent.Accounts = []api.Account{{AccountAddress: strings.ToLower(payee)}}
		}, ""},
		"below the threshold":  {func(r *Review, _ *Person) { cheap(r) }, ""},
		"below it, but costly": {func(r *Review, _ *Person) { cheap(r); r.Quote.CostBps = 1000 }, ""},
		// it is the user's own account
		"the payee of a swap":         {func(r *Review, _ *Person) { r.Call = nil }, ""},
		"a new payee of a transfer":   {func(r *Review, _ *Person) { r.Call = nil; to(r, other, true) }, other},
		"a payee of a transfer again": {func(r *Review, _ *Person) { r.Call = nil; to(r, other, false) }, ""},
		"the largest of several": {func(r *Review, _ *Person) {
			r.Call.Lines = append(r.Call.Lines, r.Call.Lines[0])
			a := dollars(1000)
			r.Call.Lines[1].Amount, r.Call.Lines[1].Recipient = &a, other
		}, other},
	} {
		r, p := quoted(), person()
		x.change(&r, &p)
		if d := Demanded(catalogue(t), r, p); d.Address != x.want || d.Payee != (x.want != "") {
			t.Errorf("%s: %q, want %q", name, d.Address, x.want)
		}
	}
}

func to(r *Review, recipient string, first bool) {
	r.Quote.Recipient, r.Quote.RecipientOwn, r.Quote.RecipientFirstTime = recipient, false, first
}

func TestWhereNoAmountCanBeTypedItIsCharactersOfTheAddress(t *testing.T) {
	unread := quoted()
	cheap(&unread)
	unread.Call.Lines[0].Decoded, unread.Call.Lines[0].FirstTime = false, false
	endless := quoted()
	endless.Call.Lines[0].FirstTime, endless.Call.Outflow[0].Amount = false, amount.MaxUint256()
	for want, r := range map[string]Review{usdc: unread, payee: endless} {
		d := Demanded(catalogue(t), r, person())
		if d.Address != want || d.Least != "" || d.Payee || !d.RightAmount("") || d.RightAmount("1") {
			t.Errorf("%+v", d)
		}
	}
}

// The first and the last characters, which an address that imitates another one has, are never asked for; each group
// between them is, and nothing without a draw.
func TestThePlaceInAnAddressIsDrawnAnewAndNeverAtItsEnds(t *testing.T) {
	for address, groups := range map[string]int{payee: 8, "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin": 9,
		"7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K": 9} {
		r := quoted()
		r.Call = nil
		to(&r, address, true)
		seen := map[int]bool{}
		rapid.Check(t, func(t *rapid.T) {
			d := Demanded(catalogue(t), r, Person{From: TypeFrom(), Draw: rapid.Uint32Min(1).Draw(t, "draw")})
			body := strings.TrimPrefix(address, "0x")
			seen[d.Place] = true
			right := body[d.Place-1 : d.Place+3]
			if d.Place < 5 || d.Place+3 > len(body) || d.Place > 4*((len(body)-1)/4) || !d.RightLetters(right) {
				t.Errorf("%s at %d", address, d.Place)
			}
			if lower := strings.ToLower(right); d.RightLetters(lower) != (body != address || lower == right) {
				t.Errorf("%s in lower case", right)
			}
			for _, text := range []string{"", right[:3], right + "0", body[:4], body[len(body)-4:]} {
				if text != right && d.RightLetters(text) {
					t.Errorf("%q is right at %d of %s", text, d.Place, address)
				}
			}
		})
		if len(seen) != groups {
			t.Errorf("%s: %d places, want %d", address, len(seen), groups)
		}
		d := Demanded(catalogue(t), r, Person{From: TypeFrom()})
		for _, text := range []string{"", address[:4], address[len(address)-4:]} {
			if d.Place != 0 || d.RightLetters(text) {
				t.Errorf("without a draw %q is right", text)
			}
		}
	}
	if Draw(strings.NewReader("\x00\x00\x00\x00")) != 1 || Draw(strings.NewReader("")) != 0 ||
		Draw(strings.NewReader("\x00\x00\x01\x02")) != 258 {
		t.Error("the draw is not what the source gives")
	}
}

// What has to be typed is one text, never nothing, and leaves less than 1 USD and less than 1 % to the imagination.
// More of the true digits is right as well; another digit, less, or another number is not.
func TestTheShortestTextIsUniqueAndLeavesALittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := verify.AmountView{Decimals: rapid.IntRange(-1, 18).Draw(t, "decimals"),
			Amount: new(big.Int).SetUint64(rapid.Uint64Min(1).Draw(t, "amount"))}
		if rapid.Bool().Draw(t, "priced") {
			a.Micro = new(big.Int).SetUint64(rapid.Uint64().Draw(t, "micro"))
		}
		exact := a
		a = Rounded(a, rapid.Bool().Draw(t, "up"))
		if a.Decimals < exact.Decimals && exact.Micro != nil {
			off := new(big.Int).Sub(amount.Scale(a.Amount, a.Decimals, exact.Decimals), exact.Amount)
			worth := new(big.Int).Mul(off.Abs(off), exact.Micro)
			if worth.Cmp(new(big.Int).Mul(exact.Amount, big.NewInt(2*cent))) > 0 {
				t.Fatalf("%s is rounded to %s", plain(exact), plain(a))
			}
		}
		all, short := plain(a), least(a)
		rest := new(big.Int).Sub(a.Amount, units(t, a, short))
		if !strings.HasPrefix(all, short) || units(t, a, short).Sign() <= 0 || strings.HasSuffix(short, ".") ||
			strings.Contains(short, ".") && strings.HasSuffix(short, "0") {
			t.Fatalf("%q of %q", short, all)
		}
		if new(big.Int).Mul(rest, big.NewInt(100)).Cmp(a.Amount) >= 0 {
			t.Fatalf("%q of %q leaves 1 %%", short, all)
		}
		if a.Micro != nil && new(big.Int).Div(new(big.Int).Mul(rest, a.Micro), a.Amount).Cmp(big.NewInt(1e6)) >= 0 {
			t.Fatalf("%q of %q, worth %s, leaves 1 USD", short, all, a.Micro)
		}
		d := Demand{Cause: Valuable, Amount: &a, Least: short}
		for n := range len(all) + 1 {
			text := all[:n]
			if right := n >= len(short) && !strings.HasSuffix(text, "."); d.RightAmount(text) != right {
				t.Fatalf("%q of %q is right: %v", text, all, !right)
			}
			if n >= len(short) && strings.Contains(text, ".") && len(all) > n && all[n] != '0' &&
				d.RightAmount(text+"0") &&
				amount.Trim(text+"0") != amount.Trim(text) {
				t.Fatalf("%q0 is right for %q", text, all)
			}
		}
		if whole, frac, point := strings.Cut(all, "."); !point || frac != "" {
			if text := amount.Group(short); !d.RightAmount(text) {
				t.Fatalf("%q of %q is wrong", text, whole)
			}
		}
		for i := range short {
			if short[i] == '.' {
				continue
			}
			other := short[:i] + string('0'+(short[i]-'0'+1)%10) + short[i+1:]
			if d.RightAmount(other) {
				t.Fatalf("%q is right for %q", other, all)
			}
		}
		for _, text := range []string{"", "0", "-" + short, "+" + short, " " + short, short + " ", "0" + short,
			short + ",",
			"1e3", "0x" + short} {
			if d.RightAmount(text) {
				t.Fatalf("%q is right for %q", text, all)
			}
		}
	})
}

// units reads a text as an amount.
func units(t *rapid.T, a verify.AmountView, text string) *big.Int {
	v, err := amount.ParseBase(text)
	if a.Decimals >= 0 {
		v, err = amount.Parse(text, a.Decimals)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWhatIsTypedForKnownAmounts(t *testing.T) {
	for _, x := range []struct {
		amount   string
		decimals int
		micro    int64 // 0: not known
		want     string
	}{
		{"651347902", 6, 651_217_632, "651"}, {"412300000000000000", 18, 1_242_030_000, "0.412"},
		{"225980000", 6, 0, "225"}, {"100000000", 6, 100_000_000, "100"}, {"1000000", 8, 974_300_000, "0.01"},
		{"12345678900000", 6, 12_345_678_900_000, "12345678"}, {"1230000000000000", 18, 0, "0.00123"},
		{"99999999", 6, 99_999_999, "100"}, {"1999999", 6, 1_999_999, "2"}, {"12345", -1, 0, "12345"},
		{"1001000", 6, 0, "1"}, {"1000000000000000001", 18, 3_000_000_000, "1"},
		{"650999999", 6, 650_999_999, "651"},
	} {
		v, _ := new(big.Int).SetString(x.amount, 10)
		a := verify.AmountView{Amount: v, Decimals: x.decimals}
		if x.micro > 0 {
			a.Micro = big.NewInt(x.micro)
		}
		got := least(Rounded(a, true))
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.amount, got, x.want)
		}
		d := Demand{Amount: &a, Least: got}
		for _, text := range []string{got, plain(a), plain(Rounded(a, true))} {
			if !d.RightAmount(text) {
				t.Errorf("%q is wrong for %s", text, plain(a))
			}
		}
	}
}

func TestAmountsWithOtherDecimalsAreAddedExactly(t *testing.T) {
	six := verify.AmountView{Decimals: 6, Amount: big.NewInt(125_980_000), Micro: big.NewInt(1)}
	many := verify.AmountView{Decimals: 18, Amount: big.NewInt(1), Micro: nil}
	for _, sum := range []verify.AmountView{plus(six, many), plus(many, six)} {
		if got := amount.Format(sum.Amount, sum.Decimals); got != "125.980000000000000001" || sum.Micro != nil {
			t.Errorf("%s, value %v", got, sum.Micro)
		}
	}
}
