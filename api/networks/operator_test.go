package networks

import (
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

const oneChain = "[[chains]]\nid = 8453\nfee_cap_gwei = 1\nrpc = [\"https://a.example\"]\nfinal_worst = \"25m\"\n"

var (
	cold   = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	first  = common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
	second = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
)

func TestAnOperatorIsReadAndWritten(t *testing.T) {
	for _, c := range []struct {
		text string
		want Operator
	}{
		{`owner = "` + cold.Hex() + `"
attesters = ["` + second.Hex() + `", "` + first.Hex() + `"]
k = 2
sponsor_usd_per_day = 0.5
exposure_cap_usd = 10000
accounts = ["` + cold.Hex() + `"]
`, Operator{Owner: cold, Attesters: []common.Address{first, second}, Threshold: 2,
			SponsorPerDay: big.NewInt(500_000), ExposureCap: big.NewInt(10_000_000_000),
			Accounts: []common.Address{cold}}},
		{`owner = "` + cold.Hex() + `"
attesters = []
sponsor_usd_per_day = 5
exposure_cap_usd = 1
accounts = "any"
`, Operator{Owner: cold, Threshold: 1, SponsorPerDay: big.NewInt(5_000_000), ExposureCap: big.NewInt(1_000_000),
			Anyone: true}},
	} {
		f, err := Parse("f", []byte("kind = \"lab\"\n[operator]\n"+c.text+oneChain))
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f", f.Encode())
		if err != nil {
			t.Fatal(err)
		}
		if f.Operator.Line != 2 || f.Chains[0].FinalWorst != 25*time.Minute {
			t.Errorf("line %d, %s", f.Operator.Line, f.Chains[0].FinalWorst)
		}
		f.Operator.Line, again.Operator.Line = 0, 0
		if !reflect.DeepEqual(*f.Operator, c.want) || !reflect.DeepEqual(again.Operator, f.Operator) ||
			again.Chains[0].FinalWorst != 25*time.Minute {
			t.Errorf("got  %+v\nwant %+v\nwritten as %+v", f.Operator, c.want, again.Operator)
		}
	}
}

// Who may take money, and how much, is never a guess.
func TestFaultsOfAnOperator(t *testing.T) {
	text := `kind = "lab"
[operator]
owner = "0x70997970c51812dc3A010C7d01b50e0d17dc79C8"
attesters = ["` + first.Hex() + `", "` + first.Hex() + `", 3]
k = 4
sponsor_usd_per_day = -1
exposure_cap_usd = "much"
accounts = "all"
colour = 1
` + strings.Replace(oneChain, "25m", "22h", 1)
	_, err := Parse("n.toml", []byte(text))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"n.toml:3:1: operator.owner: expected 0x and 40 hex digits, correct letter case",
		"n.toml:4:60: operator.attesters[1]: this attester is in the list already",
		"n.toml:4:106: operator.attesters[2]: expected 0x and 40 hex digits",
		"n.toml:5:1: operator.k: 3 attesters cannot give 4 signatures",
		"n.toml:6:1: operator.sponsor_usd_per_day: expected what an account may cost in gas in 24 hours",
		"n.toml:7:1: operator.exposure_cap_usd: expected what may be in the escrows at once",
		`n.toml:8:1: operator.accounts: expected a list of addresses, or "any"`,
		"n.toml:9:1: operator.colour: there is no such key",
		"chain 8453: final_worst: expected how long a block takes at worst",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not said: %s", want)
		}
	}
	_, err = Parse("n.toml", []byte("kind = \"lab\"\n[operator]\n"+oneChain))
	if err == nil || strings.Count(err.Error(), "this key is missing") != 5 {
		t.Errorf("an empty table: %v", err)
	}
	if t.Failed() {
		t.Log(err)
	}
}
