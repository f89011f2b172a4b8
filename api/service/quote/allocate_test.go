package quote

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/caip"
)

const rentOfAnAccount = 890_880

func solSource(lamports int64) source {
	return source{asset: caip.SOL(), decimals: 9, available: bigs(lamports), keep: bigs(rentOfAnAccount),
		own: bigs(3_000)}
}

// solOn is SOL on an EVM chain, as a catalogue may have it.
func solOn(chainID uint64, v int64) source {
	return source{asset: token(chainID, 7), chainID: chainID, decimals: 9, available: bigs(v), own: bigs(3_000)}
}

func solMarket() market {
	return market{aggregate: "ob:sol", symbol: "SOL", decimals: 9, price: bigs(150_000_000), targetChain: 8453,
		targetFee: bigs(20_000)}
}

// amounts are what the legs take, with the chain in front.
func amounts(legs []leg) string {
	var out []string
	for _, l := range legs {
		out = append(out, l.asset.Chain.Reference[:1]+":"+l.amount.String())
	}
	return strings.Join(out, " ")
}

// TestSolanaAccountIsEmptiedOrKeepsItsRent: an amount that would leave less than the rent minimum comes from other
// chains for the missing part, or the account is emptied and the others give less, or it is refused.
func TestSolanaAccountIsEmptiedOrKeepsItsRent(t *testing.T) {
	for name, c := range map[string]struct {
		give    int64
		sources []source
		want    string // "" for a refusal
	}{
		"everything":                {5e9, []source{solSource(5e9)}, "5:5000000000"},
		"all but the rent":          {5e9 - rentOfAnAccount, []source{solSource(5e9)}, "5:4999109120"},
		"one lamport more":          {5e9 - rentOfAnAccount + 1, []source{solSource(5e9)}, ""},
		"one lamport less than all": {5e9 - 1, []source{solSource(5e9)}, ""},
		"the rent minimum itself":   {rentOfAnAccount, []source{solSource(rentOfAnAccount)}, "5:890880"},
		"half of the rent minimum":  {rentOfAnAccount / 2, []source{solSource(rentOfAnAccount)}, ""},
		"a later chain has the missing part": {5e9 - 400_000, []source{solSource(5e9), solOn(10, 1e9)},
			"5:4999109120 1:490880"},
		"an earlier chain gives less": {15e9 - 400_000, []source{solOn(10, 10e9), solSource(5e9)},
			"1:9999600000 5:5000000000"},
		"no chain has enough of it": {5e9 - 1, []source{solSource(5e9), solOn(10, 100)}, ""},
		"everything of all":         {15e9, []source{solOn(10, 10e9), solSource(5e9)}, "1:10000000000 5:5000000000"},
	} {
		p, err := exact(solMarket(), bigs(c.give), 9, ethNeed(), c.sources)
		var refused *api.Error
		switch {
		case c.want == "" && (!errors.As(err, &refused) || refused.Name != api.ErrInsufficientBalance ||
			!strings.Contains(refused.Message, "0.00089088 SOL of rent or nothing")):
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err != nil || amounts(p.legs) != c.want):
			t.Errorf("%s: %s, %v; expected %s", name, amounts(p.legs), err, c.want)
		}
	}
}

// TestFundingOfACallNeverLeavesLessThanTheRent: exact output, where what is taken follows from what is needed.
func TestFundingOfACallNeverLeavesLessThanTheRent(t *testing.T) {
	n := usdcNeed(600e6, 0)
	all := []source{solSource(1e12)}
	p, err := route(solMarket(), []need{n}, all)
	if err != nil || len(p.legs) != 1 {
		t.Fatalf("%v, %d legs", err, len(p.legs))
	}
	cost := p.legs[0].amount.Int64() // of this call with one deposit
	for name, c := range map[string]struct {
		have  int64
		other []source
		want  int // legs, 0 for a refusal
	}{
		"exactly that much":         {cost, nil, 1},
		"the rent more":             {cost + rentOfAnAccount, nil, 1},
		"a little more":             {cost + 1, nil, 0},
		"nearly the rent more":      {cost + rentOfAnAccount - 1, nil, 0},
		"with another chain beside": {cost + 1, []source{solOn(10, 1e9)}, 2},
	} {
		p, err := route(solMarket(), []need{n}, append([]source{solSource(c.have)}, c.other...))
		var refused *api.Error
		if c.want == 0 {
			if !errors.As(err, &refused) || refused.Name != api.ErrInsufficientBalance ||
				!strings.Contains(refused.Message, "of rent or nothing") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(p.legs) != c.want {
			t.Fatalf("%s: %v, %s", name, err, amounts(p.legs))
		}
		if left := c.have - p.legs[0].amount.Int64(); left != 0 && left < rentOfAnAccount {
			t.Errorf("%s: %d stay", name, left)
		}
	}
}

// TestInsufficientBalanceGivesTheReasonThatIsTrue: rent with the amounts that are possible, pledges, dust; none of them
// where there is simply less.
func TestInsufficientBalanceGivesTheReasonThatIsTrue(t *testing.T) {
	pledged := solMarket()
	pledged.held = withheld{pledged: bigs(2e9), rent: bigs(rentOfAnAccount)}
	dust := solOn(1, 10_000)
	dust.own = bigs(2_500_000)
	for name, c := range map[string]struct {
		m       market
		sources []source
		give    int64
		words   string // after "needed … SOL, "
	}{
		"simply less": {solMarket(), []source{solSource(5e9)}, 6e9, "available 5 SOL"},
		"rent": {solMarket(), []source{solSource(5e9)}, 5e9 - 1,
			"available 5 SOL: an account on Solana keeps at least 0.00089088 SOL of rent or nothing, so at most " +
				"4.99910912 SOL or all 5 SOL can be taken from it"},
		"rent of an account at its minimum": {solMarket(), []source{solSource(rentOfAnAccount)}, 5e5,
			"available 0.00089088 SOL: an account on Solana keeps at least 0.00089088 SOL of rent or nothing, so " +
				"only all 0.00089088 SOL can be taken from it"},
		"pledges": {pledged, nil, 1e9,
			"available 0 SOL: 2 SOL is pledged to quotes in execution; 0.00089088 SOL stays for rent until they end"},
		"dust": {solMarket(), []source{dust}, 5_000,
			"available 0 SOL: 0.00001 SOL lies in amounts worth no more than their own fee"},
	} {
		_, err := exact(c.m, bigs(c.give), 9, ethNeed(), c.sources)
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Name != api.ErrInsufficientBalance ||
			!strings.HasSuffix(refused.Message, " SOL, "+c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := route(pledged, []need{usdcNeed(600e6, 0)}, nil)
	if err == nil || !strings.Contains(err.Error(), "available 0 SOL: 2 SOL is pledged") {
		t.Errorf("a call: %v", err)
	}
}

// TestACoarseGridLeavesTheRentMinimum: where lamports cannot all be expressed the rest of them would be less than the
// rent.
func TestACoarseGridLeavesTheRentMinimum(t *testing.T) {
	s := solSource(5_000_000_001)
	for want, left := range map[int64]int64{5_000_000: 891_001, 4_999_000: 1_000_001} {
		got := s.fit(bigs(want), 6)
		taken := new(big.Int).Mul(got, bigs(1_000))
		if stays := new(big.Int).Sub(s.available, taken).Int64(); stays != left {
			t.Errorf("of %d at most %s: %d stay", want, got, stays)
		}
	}
	if got := solSource(5e9).fit(bigs(5_000_000), 6); got.Int64() != 5_000_000 {
		t.Errorf("what can be expressed is taken whole, got %s", got)
	}
}
