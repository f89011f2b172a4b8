package netstatus

import (
	"bytes"
	"errors"
	"log/slog"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/ethereum/go-ethereum/common"
)

func units(n int64, decimals int) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
}

// busy is a network on which much is wrong: a chain at work, one that is silent, and deposits.
func busy() *Status {
	at := time.Unix(1_790_000_000, 0).UTC()
	s := &Status{Source: FromService, At: at, Network: "0x01", Kind: "test", Filler: common.Address{0xf1},
		Key: &common.Address{0x4e},
		Chains: []Chain{
			{ID: 8453, Name: "Base", Block: new(uint64(41_000_000)), Quorum: Quorum{Need: 2, Agrees: true},
				Endpoints: []Endpoint{{Host: "https://node.example", State: "up"},
					{Host: "https://other.example", State: "resting", Fault: "silent for 10s", Disagreed: 3}},
				Gas: &Gas{Coin: "ETH", Has: units(3, 15), Operations: 12}, Hot: new(true), Paused: new(false),
				Lane: &Lane{Sent: 141, Used: new(uint64(140)), Open: []string{"fill 0xab"}},
				Inventory: []Holding{
					{Asset: "eip155:8453/slip44:60", Symbol: "ETH", Decimals: 18, Has: units(2, 18), Left: new(big.Int),
						Capacity: new(big.Int), Refill: new(big.Int), Promised: new(big.Int)},
					{Asset: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", Aggregate: "ob:usdc",
						Symbol: "USDC", Decimals: 6,
						Delivered: units(210, 6), Deposited: units(95, 6),
						Has: units(450, 6), Left: units(4200, 6), Capacity: units(5000, 6), Refill: big.NewInt(57870),
						Promised: units(30, 6)}}},
			{ID: 10, Name: "Optimism", Problem: "no endpoint answers",
				Quorum:    Quorum{Need: 1, Why: "no endpoint answers"},
				Endpoints: []Endpoint{{Host: "https://op.example", State: "resting", Fault: "HTTP 503"}},
				Lane: &Lane{Stopped: "the chain has 9 transactions of the key, 8 were sent", Sent: 8,
					Open: []string{}},
				Inventory: []Holding{{Asset: "eip155:10/slip44:60", Symbol: "ETH", Decimals: 18,
					Promised: new(big.Int)}}},
		},
		Deposits: &Deposits{Held: []Deposit{
			{Quote: "0xab", Chain: 10, ChainName: "Optimism", Asset: "eip155:10/slip44:60", Symbol: "ETH", Decimals: 18,
				Amount: units(1, 17), Deadline: at.Add(40 * time.Minute), Delivered: true},
			{Quote: "0xcd", Chain: 8453, ChainName: "Base", Asset: "eip155:8453/slip44:60", Symbol: "ETH", Decimals: 18,
				Amount: units(2, 17), Deadline: at.Add(170 * time.Minute)}}},
		Exposure:  &Exposure{Used: units(850, 6), Cap: units(1000, 6)},
		Sponsored: &Sponsored{Sum: units(3, 6), Most: units(2, 6), Accounts: 2, Cap: units(5, 6)},
		Attesters: &Attesters{Threshold: 2, Members: []Attester{
			{Address: common.HexToAddress("0xa1"), Here: true, Answers: true},
			{Address: common.HexToAddress("0xa2"), Answered: new(time.Unix(1_790_000_000, 0)),
				Fault: "it does not answer: connection refused"},
			{Address: common.HexToAddress("0xa3")}}},
		Prices: []Price{{Asset: "ob:eth", Symbol: "ETH", Micro: units(2000, 6)},
			{Asset: "ob:usdc", Symbol: "USDC", Problem: "its price is 3h old, and the feed has to give one every 1h"}},
	}
	s.Judge()
	return s
}

// bare is what the chains alone say.
func bare() *Status {
	s := busy()
	s.Source, s.Key, s.Deposits, s.Exposure, s.Sponsored, s.Prices = FromChains, nil, nil, nil, nil, nil
	s.Attesters = nil
	s.Chains = s.Chains[:1]
	s.Chains[0].Gas, s.Chains[0].Hot, s.Chains[0].Lane = nil, nil, nil
	for i := range s.Chains[0].Inventory {
		s.Chains[0].Inventory[i].Promised = nil
	}
	s.Chains[0].Inventory[1].Has = units(4500, 6)
	s.Judge()
	return s
}

func TestWhatIsPrinted(t *testing.T) {
	for name, s := range map[string]*Status{"busy": busy(), "bare": bare()} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := s.Print(&out); err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, out.Bytes())
		})
		t.Run(name+" json", func(t *testing.T) {
			line, err := s.Encode()
			if err != nil {
				t.Fatal(err)
			}
			golden.RequireEqual(t, append(line, '\n'))
			again, err := Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			var first, second bytes.Buffer
			err = errors.Join(s.Print(&first), again.Print(&second))
			if err != nil || first.String() != second.String() {
				t.Errorf("%v\n%s\n%s", err, &first, &second)
			}
		})
	}
}

// TestEachAlertIsLoggedWhenItBeginsAndWhenItEnds, once, and not while its figure is unknown.
func TestEachAlertIsLoggedWhenItBeginsAndWhenItEnds(t *testing.T) {
	var log bytes.Buffer
	var w Watch
	sees := func(s *Status, want ...string) {
		t.Helper()
		log.Reset()
		w.See(s, slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Count(log.String(), "\n"); got != len(want) {
			t.Errorf("%d lines, %d expected\n%s", got, len(want), &log)
		}
		for _, words := range want {
			found := false
			for line := range strings.Lines(log.String()) {
				has := true
				for part := range strings.FieldsSeq(words) {
					has = has && strings.Contains(line, part)
				}
				found = found || has
			}
			if !found {
				t.Errorf("no line has %q\n%s", words, &log)
			}
		}
	}
	first := []string{"code=GAS_LOW chain=8453", "code=INVENTORY_LOW about=eip155:8453/erc20",
		"code=QUORUM_LOST chain=10", "code=DEPOSIT_LATE chain=10 about=0xab", "code=EXPOSURE_HIGH",
		"code=FEED_STALE about=ob:usdc", "code=ATTESTERS_FEW", "code=ATTESTER_GONE 00A2", "code=ATTESTER_GONE 00A3"}
	sees(busy(), first...) // the lane has said itself that it stopped
	sees(busy())
	unknown := busy()
	unknown.Deposits, unknown.Exposure, unknown.Chains[0].Gas, unknown.Chains[1].Lane = nil, nil, nil, nil
	unknown.Chains[0].Inventory[1].Has, unknown.Attesters = nil, nil
	sees(unknown)
	well := busy()
	well.Deposits.Held, well.Exposure.Used, well.Prices[1].Micro = nil, new(big.Int), big.NewInt(1e6)
	well.Chains[0].Gas.Operations, well.Chains[0].Inventory[1].Has = 500, units(4000, 6)
	well.Attesters.Members[1].Answers, well.Attesters.Members[2].Answers = true, true
	well.Chains[1].Quorum.Agrees, well.Chains[1].Lane.Stopped = true, ""
	over := []string{"code=LANE_STOPPED over=true"}
	for _, f := range first {
		over = append(over, f+" over=true")
	}
	sees(well, over...)
	sees(well)
	sees(busy(), first...)
}

// The figures of a status are those that are shown: what is unknown has no series.
func TestTheFiguresAreThoseOfTheStatus(t *testing.T) {
	value := func(s *Status, name, label string) (float64, bool) {
		for _, f := range s.Series() {
			for _, one := range f.Samples {
				for _, l := range one.Labels {
					if f.Name == name && l.Value == label {
						return one.Value, true
					}
				}
				if f.Name == name && len(one.Labels) == 0 {
					return one.Value, true
				}
			}
		}
		return 0, false
	}
	s := busy()
	for name, want := range map[[2]string]float64{{"coffer_gas_operations", "8453"}: 12,
		{"coffer_inventory", "USDC"}: 450, {"coffer_cap_left", "USDC"}: 4200, {"coffer_quorum", "10"}: 0,
		{"coffer_lane_sends", "10"}: 0, {"coffer_lane_sends", "8453"}: 1, {"coffer_exposure_usd", ""}: 850,
		{"coffer_deposits", ""}: 2, {"coffer_deposit_seconds_left", ""}: 2400, {"coffer_sponsored_usd", ""}: 3,
		{"coffer_alerts", GasLow}: 1, {"coffer_alerts", LaneStopped}: 1, {"coffer_alerts", FillerPaused}: 0,
		{"coffer_price_known", "ob:usdc"}: 0, {"coffer_attesters_needed", ""}: 2,
		{"coffer_attester_answers", common.HexToAddress("0xa1").Hex()}: 1,
		{"coffer_attester_answers", common.HexToAddress("0xa2").Hex()}: 0,
		{"coffer_alerts", AttestersFew}:                                1, {"coffer_alerts", AttesterGone}: 2} {
		if got, known := value(s, name[0], name[1]); !known || got != want {
			t.Errorf("%v is %v (%v), not %v", name, got, known, want)
		}
	}
	for name, label := range map[string]string{"coffer_gas_coins": "10", "coffer_inventory": "10"} {
		if got, known := value(s, name, label); known {
			t.Errorf("%s of a silent chain is %v", name, got)
		}
	}
	for _, name := range []string{"coffer_deposits", "coffer_exposure_usd", "coffer_lane_sends",
		"coffer_sponsored_usd"} {
		if got, known := value(bare(), name, "8453"); known {
			t.Errorf("%s is %v where no database was read", name, got)
		}
	}
}
