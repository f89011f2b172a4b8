package overview

import (
	"bytes"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/api"
	"coffer/api/network"
)

var update = flag.Bool("update", false, "write the golden files anew")

var at = time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)

func number(n uint64) *uint64 { return &n }

// busy is a network on which everything that an operator has to know happens at once.
func busy() Overview {
	const key = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	return Overview{Kind: network.Test, At: at, Open: 2, Exposure: "912.5", Cap: "1000", Chains: []Chain{
		{ID: 8453, Name: "Base", Quorum: 2, Key: key, Coin: "ETH", Gas: "1500000000000000000", Operations: number(160),
			Endpoints: []Endpoint{{Host: "https://one.example", State: "up", Head: 7},
				{Host: "https://two.example", State: "up", Head: 7, Disagreed: 3}},
			Lane: Lane{Waiting: 1, Known: true},
			Stock: []Stock{{Asset: "eip155:8453/slip44:60", Symbol: "ETH", Decimals: 18, Has: "2000000000000000000",
				Promised: "0", Free: "500000000000000000"},
				{Asset: "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", Symbol: "USDC", Decimals: 6,
					Has: "12500000000", Promised: "900000000", Free: "800000000"}}},
		{ID: 42161, Name: "Arbitrum One", Quorum: 2, Key: key, Problem: "no node answers",
			Endpoints: []Endpoint{{Host: "https://one.example", State: "resting", Fault: "it hangs"},
				{Host: "https://two.example", State: "up"}}},
		{ID: 10, Name: "Optimism", Quorum: 1, Key: key, Coin: "ETH", Gas: "100000000000000", Operations: number(3),
			Endpoints: []Endpoint{{Host: "https://one.example", State: "behind", Fault: "its newest block is old"}},
			Lane:      Lane{Known: true, Stopped: "the chain has seen 9 transactions of the key, the lane sent 7"},
			Paused:    true,
			Stock:     []Stock{{Asset: "eip155:10/slip44:60", Symbol: "ETH", Decimals: 18, Promised: "0"}}},
	}, Escrowed: []Deposit{
		{Quote: "0xaa", ChainID: 10, Asset: "eip155:10/slip44:60", Symbol: "ETH", Decimals: 18,
			Amount: "10000000000000000", Status: api.StatusInProgress, Deadline: at.Add(25 * time.Minute)},
		{Quote: "0xbb", ChainID: 8453, Asset: "eip155:8453/slip44:60", Symbol: "ETH", Decimals: 18,
			Amount: "300000000000000000", Status: api.StatusCompleted, Deadline: at.Add(3 * time.Hour)},
	}}
}

// quiet is one on which nothing is to be done.
func quiet() Overview {
	o := busy()
	o.Open, o.Exposure, o.Chains, o.Escrowed = 0, "0", o.Chains[:1], []Deposit{}
	o.Chains[0].Stock, o.Chains[0].Lane = o.Chains[0].Stock[:1], Lane{Known: true}
	return o
}

func TestWhatAnOperatorReads(t *testing.T) {
	own := quiet()
	own.Cap, own.Exposure, own.Chains[0].Stock = "", "", nil
	for name, o := range map[string]Overview{"busy": busy(), "quiet": quiet(), "own": own} {
		var text bytes.Buffer
		if err := o.Print(&text); err != nil {
			t.Fatal(err)
		}
		doc, err := api.Encode(o)
		if err != nil {
			t.Fatal(err)
		}
		golden := map[string]string{name + ".golden": text.String(), name + ".json.golden": string(doc.Raw()) + "\n"}
		for file, got := range golden {
			path := filepath.Join("testdata", file)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(path); err != nil || string(want) != got {
				t.Errorf("%s: %v, got\n%s", file, err, got)
			}
		}
	}
}

func TestAlertsNameWhatNeedsTheOperator(t *testing.T) {
	var codes []string
	for _, a := range busy().Alerts() {
		codes = append(codes, a.Code)
	}
	want := []string{CodeStock, CodeSilent, CodeQuorum, CodeLane, CodeGas, CodePaused, CodeDeposit, CodeExposure}
	if !slices.Equal(codes, want) {
		t.Errorf("%v", codes)
	}
	if all := quiet().Alerts(); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	o := quiet()
	if o.Exposure = ""; len(o.Alerts()) != 1 || o.Alerts()[0].Code != CodeUnpriced {
		t.Errorf("%+v", o.Alerts())
	}
}

// An alert is told when it begins and when it ends, and not in between.
func TestAnAlertIsToldOnceAndWhenItEnds(t *testing.T) {
	var told bytes.Buffer
	log := slog.New(slog.NewTextHandler(&told, nil))
	var w Watch
	count := func(words string) int { return strings.Count(told.String(), words) }
	for _, o := range []Overview{quiet(), busy(), busy(), quiet(), quiet()} {
		w.Saw(o, log)
	}
	if n := len(busy().Alerts()); count("needs the operator\"") != n || count("no more") != n ||
		count("code="+CodeLane) != 2 {
		t.Errorf("%d alerts:\n%s", n, told.String())
	}
}
