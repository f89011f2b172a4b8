package networks

import (
	"reflect"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/api/network"
)

func TestAFileMayHaveASolanaChain(t *testing.T) {
	f, err := Parse("f", sample(t, "solana.toml"))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Solana
	want := &Solana{ID: caip.SolanaMainnet(), Name: "Solana", Short: "sol", RPC: []string{
		"https://sol.example/${vault:sol}", "https://other.example"}, Quorum: 2, Confirmed: true, FeeCap: 50_000,
		Explorer: "https://solscan.io", Line: 2,
		Coin: Token{Symbol: "SOL", Name: "Solana", Decimals: 9, Aggregate: "ob:sol", Line: 2}, Mints: s.Mints}
	if !reflect.DeepEqual(s, want) || len(f.Chains) != 1 || s.Commitment() != "confirmed" {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
	if m := s.Mints; len(m) != 2 || m[0].Name != "USD Coin" || m[0].Line != 8 || m[1].Name != "OWN" ||
		caip.FormatSolanaKey(m[1].Key) != "So11111111111111111111111111111111111111112" {
		t.Errorf("%+v", m)
	}
	if needs := f.Needs(); len(needs) != 1 || needs[0] != (Need{"sol", "https://sol.example"}) {
		t.Errorf("%v", needs)
	}
	c, err := f.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	usdc, _ := c.Aggregate("ob:usdc")
	coin, has := c.Entity(caip.SOL())
	if c.Solana().Name != "Solana" || !has || coin.Decimals != 9 || len(usdc.Entities) != 1 {
		t.Errorf("%+v, %+v, %+v", c.Solana(), coin, usdc)
	}
	address, secrets, err := f.ExpandSolana(t.Context(), s.RPC[0], nil)
	if err == nil || address != "" || secrets != nil || !strings.Contains(err.Error(), "f:2: https://sol.example") {
		t.Errorf("%q, %v", address, err)
	}
}

// A Solana chain without an endpoint is left out, and stays in the file.
func TestASolanaChainWithoutAnEndpointIsLeftOut(t *testing.T) {
	s, err := ShippedSolana()
	if err != nil || len(s.Mints) == 0 || s.Coin.Symbol != "SOL" {
		t.Fatalf("%+v, %v", s, err)
	}
	f, err := Parse("f", []byte(chainOnly+(&File{IdleSolana: s}).IdleSolana.encode()))
	if err != nil || f.Solana != nil || f.IdleSolana == nil || len(f.IdleSolana.Mints) != len(s.Mints) {
		t.Fatalf("%+v, %v", f, err)
	}
	if c, err := f.Catalog(); err != nil || c.Solana().Name != "" {
		t.Error("the network has a chain without an endpoint", err)
	}
}

const chainOnly = "kind = \"real\"\n[[chains]]\nid = 8453\nrpc = [\"https://a.example\"]\nfee_cap_gwei = 1\n"

func TestEveryFaultOfASolanaChainIsSaidAtOnce(t *testing.T) {
	text := strings.Replace(chainOnly, "real", string(network.Real), 1) + `[[chains]]
id = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
rpc = ["http://10.0.0.1", "https://node.example/v2/0123456789abcdef0123456789abcdef"]
final = "processed"
fee_cap_lamports = 4999
fee_cap_gwei = 1
explorer = "solscan.io"
short = "so l"
[[chains.tokens]]
symbol = "U S"
address = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
decimals = 30
aggregate = "ob:sol"
[[chains]]
id = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
rpc = ["https://node.example"]
[[chains]]
id = "eip155:8453"
rpc = []
[[chains]]
id = 1.5
rpc = []
`
	_, err := Parse("f", []byte(text))
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"f:7:1: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: id: a network of real money has Solana's main network",
		"f:8:8: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: rpc[0]: http://10.0.0.1: http is for this machine only",
		"rpc[1]: https://node.example: this looks like a key or a password",
		`f:9:1: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: final: expected "finalized" or "confirmed"`,
		"f:10:1: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: fee_cap_lamports: expected what a transaction may cost",
		"f:11:1: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: fee_cap_gwei: there is no such key",
		"f:12:1: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: explorer: expected an https address",
		"a short one without blanks",
		"f:15:1: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: tokens[0].symbol: expected plain letters",
		"f:16:1: solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1: tokens[0].address: expected the base58 address of a mint",
		"tokens[0].decimals: expected a number from 0 to 18",
		"tokens[0].aggregate: another asset of this chain is ob:sol already",
		"f:20:1: solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp: id: a network has one Solana chain, and one is in the ",
		"fee_cap_lamports: this key is missing",
		"eip155:8453: id: expected solana: and the first 32 characters",
		"chains[4]: id: expected the number of the chain, such as 8453, or the CAIP-2 id of a Solana chain",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not said: %s", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
	if strings.Contains(err.Error(), "0123456789abcdef") {
		t.Error("a fault repeats a credential")
	}
}

func TestASolanaChainFitsItsNetwork(t *testing.T) {
	sol := func(id string) string {
		return "[[chains]]\nid = \"" + id + "\"\nrpc = [\"https://b.example\"]\nfee_cap_lamports = 5000\n"
	}
	const main, devnet = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1"
	operator := "[operator]\nowner = \"0x70997970C51812dc3A010C7d01b50e0d17dc79C8\"\nattesters = []\n" +
		"sponsor_usd_per_day = 1\nexposure_cap_usd = 1\naccounts = []\n"
	for _, c := range []struct{ text, want string }{
		{chainOnly + sol(main), ""},
		{strings.Replace(chainOnly, "real", "test", 1) + sol(devnet), ""},
		{strings.Replace(chainOnly, "real", "lab", 1) + sol(devnet), ""},
		{strings.Replace(chainOnly, "real", "test", 1) + sol(main), "whose coins are worth something"},
		{"kind = \"real\"\n" + sol(main), "f: no EVM chain has an endpoint: a network needs one beside Solana"},
		{chainOnly + sol(main) + operator,
			"f:6:3: solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp: an operator serves EVM chains: Solana has no deposit " +
				"program yet, so leave it out"},
		{chainOnly + strings.Replace(sol(main), "rpc = [\"https://b.example\"]", "rpc = []", 1) + operator, ""},
		{chainOnly + sol(main) + "name = \"Base\"\n", "have the same name"},
		{chainOnly + sol(main) + "tokens = [{ symbol = \"USDC\", " +
			"address = \"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v\", decimals = 9, aggregate = \"ob:usdc\" }]",
			"is ob:usdc with 6 decimals"},
	} {
		_, err := Parse("f", []byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s\n%v, expected %q", c.text, err, c.want)
		}
	}
}
