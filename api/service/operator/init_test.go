package operator

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/network"
	"coffer/api/networks"
)

// initialises runs Init with lines that a person types; no lines means that nobody is asked.
func initialises(t *testing.T, o InitOptions, lines ...string) (*networks.File, string, error) {
	t.Helper()
	var out bytes.Buffer
	if o.File == "" {
		o.File = filepath.Join(t.TempDir(), networks.Name)
	}
	o.Out = &out
	if len(lines) > 0 {
		o.Ask = func(_ context.Context, question string) (string, error) {
			out.WriteString(question + "\n")
			if len(lines) == 0 {
				return "", errors.New("asked more than expected: " + question)
			}
			answer := lines[0]
			lines = lines[1:]
			return answer, nil
		}
	}
	err := Init(t.Context(), o)
	if err != nil {
		return nil, out.String(), err
	}
	if len(lines) > 0 {
		t.Errorf("not asked: %v", lines)
	}
	f, err := networks.Load(o.File)
	return f, out.String(), err
}

func TestInitAsksForWhatAFileNeeds(t *testing.T) {
	f, out, err := initialises(t, InitOptions{}, "what", "REAL", "base, 1", "http://10.0.0.1", "https://one.example",
		"https://two.example/${vault:two}", "", "", "few", "", "", "soon", "30")
	if err != nil {
		t.Fatal(err, out)
	}
	base, ok := f.Chain(8453)
	if f.Kind != network.Real || !ok || len(f.Chains) != 1 || len(f.Idle) != 1 || base.Quorum != 2 ||
		len(base.RPC) != 2 || !base.Final.Counted || base.Final.Blocks != 30 ||
		len(base.Tokens) < 5 || len(base.Tokens) > 20 || len(base.Feeds) < 5 {
		t.Errorf("%+v", f)
	}
	says(t, out, "Which kind of network?", "base Base, 8453", "http://10.0.0.1: http is for this machine only",
		"When is a block of Base final?", "takes 20 to 30 minutes", "final = 30 takes about a minute, and trusts the",
		"next coffer network check")
}

func TestInitTakesFlagsAndAsksNothing(t *testing.T) {
	f, _, err := initialises(t, InitOptions{Kind: "lab", Chains: []string{"31337=http://127.0.0.1:8545",
		"8453=http://127.0.0.1:8546"}})
	if err != nil {
		t.Fatal(err)
	}
	own, _ := f.Chain(31337)
	base, _ := f.Chain(8453)
	if f.Kind != network.Lab || own.Name != "Chain 31337" || own.Coin.Symbol != "ETH" || own.Final.String() != "0" ||
		len(base.Tokens) != 0 || networks.Gwei(base.FeeCap) != "100" {
		t.Errorf("%+v", f)
	}
	f, out, err := initialises(t, InitOptions{Kind: "real", Chains: []string{"op=https://a.example",
		"10=https://b.example"}, Tokens: "all"})
	says(t, out, "final Optimism:", "takes 20 to 30 minutes here, and a payment is done only then.",
		"final = 30 takes about a minute")
	if err != nil || len(f.Chains) != 1 || len(f.Chains[0].RPC) != 2 ||
		len(f.Chains[0].Tokens) < 30 || f.Chains[0].Final.Counted {
		t.Errorf("%+v, %v", f, err)
	}
	for want, o := range map[string]InitOptions{
		"the kind of network is missing": {Chains: []string{"1"}},
		"no kind of network":             {Kind: "mainnet"},
		"no chain that this program":     {Kind: "real", Chains: []string{"nowhere"}},
		"looks like a key":               {Kind: "real", Chains: []string{"1=https://a.example/0123456789abcdef0123"}},
		"no choice of tokens":            {Kind: "real", Tokens: "some"},
		"is no address":                  {Kind: "lab", Owner: "0x70997970c51812dc3A010C7d01b50e0d17dc79C8"},
	} {
		var wrong *InputError
		if _, _, err := initialises(t, o); !errors.As(err, &wrong) || !strings.Contains(wrong.Problem, want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestInitWritesASolanaChainThatIsNamed(t *testing.T) {
	const devnetID, own = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "solana:11111111111111111111111111111111"
	for _, c := range []struct {
		o          InitOptions
		lines      []string
		id, tokens string
		rpc        int
	}{
		{InitOptions{Kind: "real", Chains: []string{"8453=https://a.example", "solana=https://b.example",
			"sol=https://c.example"}}, nil, "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "USDC", 2},
		{InitOptions{Kind: "test", Chains: []string{"8453=https://a.example", "Solana=https://b.example"}}, nil,
			devnetID, "", 1},
		{InitOptions{Kind: "lab", Chains: []string{"8453=https://a.example", own + "=http://127.0.0.1:8899"}}, nil,
			own, "", 1},
		{InitOptions{}, []string{"test", "base sol", "https://a.example", "", "https://b.example", "", "", "finalized"},
			devnetID, "", 1},
	} {
		f, out, err := initialises(t, c.o, c.lines...)
		if err != nil {
			t.Errorf("%s\n%s", err, out)
			continue
		}
		tokens := ""
		for _, m := range f.Solana.Mints {
			tokens += m.Symbol
		}
		if s := f.Solana; s.ID.String() != c.id || len(s.RPC) != c.rpc || s.Quorum != c.rpc || tokens != c.tokens ||
			s.Commitment() != "finalized" || s.FeeCap != networks.UsualLamports || len(f.Chains) != 1 {
			t.Errorf("%+v", s)
		}
	}
	for want, o := range map[string]InitOptions{
		"an id of its own":    {Kind: "lab", Chains: []string{"8453=https://a.example", "sol=http://127.0.0.1:8899"}},
		"has one Solana":      {Kind: "test", Chains: []string{"sol", own}},
		"chain that this pro": {Kind: "lab", Chains: []string{"solana:short"}},
	} {
		var wrong *InputError
		if _, _, err := initialises(t, o); !errors.As(err, &wrong) || !strings.Contains(wrong.Problem, want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	// Without nodes it is left out, and stays in the file.
	f, _, err := initialises(t, InitOptions{Kind: "real", Chains: []string{"8453=https://a.example", "sol"}})
	if err != nil || f.Solana != nil || f.IdleSolana == nil || len(f.IdleSolana.Mints) != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// An operator serves no account and has no attester before the file says so.
func TestInitAsksForAnOperator(t *testing.T) {
	const owner = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
	for i, o := range []InitOptions{{}, {Kind: "lab", Chains: []string{"8453=http://127.0.0.1:8546"}, Owner: owner}} {
		var lines []string
		if i == 0 {
			lines = []string{"lab", "base", "http://127.0.0.1:8546", "", "0x12", owner}
		}
		f, out, err := initialises(t, o, lines...)
		if err != nil {
			t.Fatal(err, out)
		}
		if op := f.Operator; op == nil || op.Owner.Hex() != owner || op.Threshold != 1 || len(op.Attesters) != 0 ||
			op.Anyone || len(op.Accounts) != 0 || op.SponsorPerDay.Int64() != 5e6 ||
			op.ExposureCap.Int64() != 10_000e6 {
			t.Errorf("%+v", op)
		}
		says(t, out, "next coffer serve --networks")
	}
}

// The file without chains has all that the program knows, each without an endpoint; a file that is there stays.
func TestInitNamesNoEndpointAndReplacesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), networks.Name)
	_, out, err := initialises(t, InitOptions{File: path, Kind: "real"})
	if err == nil || !strings.Contains(err.Error(), "no chain has an endpoint") {
		t.Error(err)
	}
	says(t, out, "name your nodes in it")
	raw, err := os.ReadFile(path)
	if err != nil || strings.Count(string(raw), "[[chains]]") != 8 || strings.Count(string(raw), "\nrpc = []\n") != 8 {
		t.Errorf("%v\n%s", err, raw)
	}
	if _, _, err = initialises(t, InitOptions{File: path, Kind: "lab"}); err == nil ||
		!strings.Contains(err.Error(), "is there already") {
		t.Error(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, raw) {
		t.Error("the file changed")
	}
}
