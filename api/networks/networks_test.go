package networks

import (
	"context"
	"errors"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
)

// sample is a file of testdata.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestAFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	if err := os.WriteFile(path, sample(t, "small.toml"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.Kind != network.Test || len(f.Chains) != 2 || len(f.Idle) != 1 || f.Idle[0].ID != 10 {
		t.Fatalf("%+v", f)
	}
	base, ok := f.Chain(8453)
	want := Chain{ID: 8453, Name: "Base", Short: "base", RPC: []string{"https://one.example",
		"https://two.example/v2/${vault:two}"}, Quorum: 2, Final: Finality{Counted: true, Blocks: 12},
		FinalWorst: time.Hour, FeeCap: big.NewInt(50_000_000), Explorer: "https://basescan.org", Line: 3,
		Coin: Token{Symbol: "ETH", Name: "Ether", Decimals: 18, Aggregate: "ob:eth", Line: 3},
		Tokens: []Token{{Address: common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), Symbol: "USDC",
			Name: "USD Coin", Decimals: 6, Aggregate: "ob:usdc", Powers: []string{"pause"}, Line: 9}},
		Feeds: []Feed{{Aggregate: "ob:eth", Address: common.HexToAddress("0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70"),
			Heartbeat: 20 * time.Minute, Decimals: 8, Line: 12}},
	}
	if !ok || !reflect.DeepEqual(base, want) {
		t.Errorf("got  %+v\nwant %+v", base, want)
	}
	own, _ := f.Chain(31337)
	if own.Short != "bench-1" || own.Quorum != 1 || own.Final.String() != "finalized" || own.Coin.Symbol != "TEST" ||
		own.Tokens[0].Name != "OWN" || own.Tokens[0].Line != 22 {
		t.Errorf("%+v", own)
	}
	if _, ok := f.Chain(10); ok {
		t.Error("a chain without an endpoint is one of the network")
	}
	if f.Where(22) != path+":22" {
		t.Error(f.Where(22))
	}
}

// An operation must not be sent to a chain that the file does not have, and no price is made up.
func TestTheCatalogueHasTheFilesChainsAndNoPrice(t *testing.T) {
	f, err := Parse("f", sample(t, "small.toml"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	if all := c.Chains(); len(all) != 2 || all[0].ID != 8453 || all[1].NativeSymbol != "TEST" {
		t.Errorf("%+v", all)
	}
	n := 0
	for e := range c.Entities() {
		n++
		if c.Price(e.Asset) != nil {
			t.Errorf("%s has a price", e.Asset)
		}
	}
	if e, ok := c.Entity(caip.ERC20(31337, common.HexToAddress("0xAA"))); n != 4 || !ok || e.Decimals != 4 {
		t.Errorf("%d entities, %+v", n, e)
	}
}

// Each faulty line has its own fault, all in one answer; none repeats a credential.
func TestEveryFaultIsSaidAtOnceWithItsLine(t *testing.T) {
	_, err := Parse("n.toml", sample(t, "faults.toml"))
	if err == nil {
		t.Fatal("accepted")
	}
	got := err.Error()
	for _, want := range []string{
		`n.toml:1:1: kind: expected "real", "test" or "lab"`,
		"n.toml:2:1: colour: there is no such key",
		"n.toml:5:8: chain 1: rpc[0]: https://node.example: this looks like a key or a password",
		"n.toml:5:68: chain 1: rpc[1]: http://10.0.0.1:8545: http is for this machine only",
		"n.toml:5:92: chain 1: rpc[2]: https://a.example: this looks like a key",
		"chain 1: rpc[3]: expected an address in quotes",
		"chain 1: rpc[4]: https://b.example: this looks like a key or a password",
		"n.toml:6:1: chain 1: quorum: 5 endpoints cannot give 9 equal answers",
		`n.toml:7:1: chain 1: final: expected "finalized"`,
		"n.toml:8:1: chain 1: fee_cap_gwei: expected what a unit of gas may cost",
		"n.toml:9:1: chain 1: explorer: expected an https address",
		"n.toml:11:22: chain 1: tokens[0].address: expected 0x and 40 hex digits, correct letter case",
		"n.toml:12:3: chain 1: tokens[1]: 0xdAC17F958D2ee523a2206206994597C13D831ec7 is ob:usdt with 6 decimals",
		"chain 1: tokens[1].powers[0]: expected one of blocklist, fee, pause, upgrade",
		"n.toml:13:5: chain 1: tokens[2].symbol: expected plain letters",
		"chain 1: tokens[2].decimals: expected a number from 0 to 18",
		`chain 1: tokens[2].aggregate: expected an asset such as "ob:usdc"`,
		"chain 1: tokens[2].colour: there is no such key",
		"n.toml:16:1: chain 1: id: this chain is in the file already",
		"n.toml:17:1: chain 1: rpc: expected the addresses of your nodes",
		"n.toml:19:3: chains[2]: id: this key is missing: the number of the chain",
		"n.toml:24:10: chains[2]: feeds[0].address: this key is missing",
		"n.toml:26:1: chains[2]: feeds[0].heartbeat: expected how old an answer may become",
		"n.toml:27:3: chain 77: name: this key is missing: the name of the chain",
		"n.toml:27:3: chain 77: coin: this key is missing",
		"n.toml:30:1: chain 77: fee_cap_gwei: expected",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not said: %s", want)
		}
	}
	if strings.Contains(got, "hunter2") || strings.Contains(got, "0123456789abcdef") {
		t.Error("a fault repeats a credential")
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestOtherFaults(t *testing.T) {
	base := `kind = "real"` + "\n[[chains]]\nid = 8453\nfee_cap_gwei = 1\nrpc = [\"https://a.example\"]\n"
	for _, c := range []struct{ text, want string }{
		{"kind = \"lab\"\nkind = \"lab\"", "f:2"},
		{"kind = [", "f:1"},
		{`kind = "lab"`, "f: no chain has an endpoint"},
		{"kind = \"lab\"\n[chains]\nid = 1", "f:2:2: chains: expected tables that begin with [[chains]]"},
		{base + "final = 0", "f:6:1: chain 8453: final: a block of a real chain is not final at once"},
		{base + "final = -1", "final: expected"},
		{base + "quorum = 0", "quorum: 1 endpoints cannot give 0 equal answers"},
		{base + "fee_cap_gwei = 2", "f:6"},
		{base + "[[chains]]\nid = 9\nname = \"Base\"\ncoin = \"ob:eth\"\nfee_cap_gwei = 1\nrpc = []",
			"another chain has this name"},
		{base + "[[chains.tokens]]\nsymbol = \"X\"\naddress = \"0x00000000000000000000000000000000000000AA\"\n" +
			"decimals = 18\naggregate = \"ob:eth\"",
			"another asset of this chain is ob:eth already"},
	} {
		_, err := Parse("f", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, expected %s", c.text, err, c.want)
		}
	}
	if _, err := Parse("f", []byte(base)); err != nil {
		t.Error(err)
	}
}

func TestAFileThatOthersMayChangeIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, Name)
	if _, err := Load(path); !Missing(err) {
		t.Error(err)
	}
	if err := os.WriteFile(path, sample(t, "small.toml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm() == 0o666 {
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "chmod") {
			t.Error(err)
		}
	}
	if _, err := Load(dir); err == nil {
		t.Error("a directory was read")
	}
}

// What program providers give out as keys is noticed; addresses of nodes without one are not.
func TestACredentialInTheClearIsNoticed(t *testing.T) {
	for _, bad := range []string{
		"https://eth-mainnet.g.alchemy.com/v2/AbCdEf0123456789-_AbCdEf01234567",
		"https://mainnet.infura.io/v3/9aa3d95b3bc440fa88ea12eaa4456161",
		"https://x.quiknode.pro/8a1b2c3d4e5f60718293a4b5c6d7e8f901234567/",
		"https://mainnet.gateway.tenderly.co/5HnR0dVzUqWcXyAbTt6mPq",
		"https://eth-mainnet.blastapi.io/6b1f3a2c-9d4e-4f5a-8b7c-0d1e2f3a4b5c",
		"https://lb.example/ogrpc?network=base&dkey=short",
		"https://key@node.example", "https://me:pass@node.example", "https://me:${vault:p}x@node.example",
	} {
		if err := CheckEndpoint(bad); err == nil || !strings.Contains(err.Error(), "vault") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "node.example", "ws://node.example", "ftp://node.example", "https://",
		"http://node.example", "https://${vault:host}.example", "https://a.example/${vault:A}", "https://a.example/#x",
		"https://a.example/${file:x}", "http://127.0.0.1.example:1"} {
		if CheckEndpoint(bad) == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	for _, good := range []string{
		"https://node.example", "https://node.example/ext/bc/C/rpc",
		"https://ethereum-mainnet-archive-node-2.example/eth/main",
		"https://base-mainnet-public-endpoint.example/rpc?network=base", "http://127.0.0.1:8545", "http://[::1]:8545",
		"http://localhost:8545/8453", "https://node.example/v2/${vault:alchemy}", "https://me:${vault:p}@node.example",
		"https://${vault:key}@node.example", "https://node.example?apikey=${vault:k}",
	} {
		if err := CheckEndpoint(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	f := &File{Path: "f", Chains: []Chain{
		{RPC: []string{"https://N.example/${vault:p}?key=${vault:q}", "https://n.example/other/${vault:p}"}},
		{RPC: []string{"https://n.example:1/${vault:p}", "https://n.example/"}, Line: 7},
	}}
	got, secrets, err := f.Expand(t.Context(), f.Chains[0], f.Chains[0].RPC[0],
		func(_ context.Context, name, host string) (string, error) {
			if host != "https://n.example" {
				t.Error(host)
			}
			return name + "/+&1", nil
		})
	if err != nil || got != "https://N.example/p%2F%2B%261?key=q%2F%2B%261" ||
		!slices.Equal(secrets, []string{"p/+&1", "q/+&1"}) {
		t.Error(got, secrets, err)
	}
	for _, odd := range []string{"a&b=c+d", "p@ss:w/rd?#", "100% ${x} ü"} {
		got, _, err := f.Expand(t.Context(), f.Chains[0], "https://me:${vault:p}@n.example/v2/${vault:q}?k=${vault:r}",
			func(context.Context, string, string) (string, error) { return odd, nil })
		u, errURL := url.Parse(got)
		if err := errors.Join(err, errURL); err != nil {
			t.Fatal(err)
		}
		if pass, _ := u.User.Password(); pass != odd || u.Path != "/v2/"+odd || u.Query().Get("k") != odd {
			t.Errorf("%q is sent as %q", odd, u)
		}
	}
	if all := f.Needs(); !slices.Equal(all, []Need{{"p", "https://n.example"}, {"q", "https://n.example"},
		{"p", "https://n.example:1"}}) {
		t.Error(all)
	}
	_, _, err = f.Expand(t.Context(), f.Chains[1], f.Chains[1].RPC[0], nil)
	if err == nil || !strings.Contains(err.Error(), "f:7") ||
		!strings.Contains(err.Error(), "https://n.example:1 needs") {
		t.Error(err)
	}
	wrong := errors.New("not found")
	got, secrets, err = f.Expand(t.Context(), f.Chains[0], f.Chains[0].RPC[0],
		func(_ context.Context, name, _ string) (string, error) {
			return "half", map[bool]error{true: wrong}[name == "q"]
		})
	if !errors.Is(err, wrong) || got != "" || secrets != nil {
		t.Error(got, secrets, err)
	}
	if Host("https://me:${vault:p}@n.example:1/secret") != "https://n.example:1" {
		t.Error(Host("https://me:${vault:p}@n.example:1/secret"))
	}
}

// The file that is written for a person has the chains of the catalogue with tokens and feeds, and no endpoint.
func TestTheShippedFileHasNoEndpoint(t *testing.T) {
	all, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	f := &File{Path: "f", Kind: network.Real, Idle: all}
	raw := f.Encode()
	for _, url := range regexp.MustCompile(`\w+://[^\s"]+`).FindAllString(string(raw), -1) {
		shown := slices.ContainsFunc(all, func(c Chain) bool { return c.Explorer == url })
		if !shown && !strings.Contains(url, ".example") {
			t.Errorf("it names %s", url)
		}
	}
	const none = "f: no chain has an endpoint: write yours into the line rpc of a chain"
	if _, err := Parse("f", raw); err == nil || err.Error() != none {
		t.Error(err)
	}
	ids, prices := []uint64{}, map[caip.AggregateID]bool{}
	for i := range all {
		ids = append(ids, all[i].ID)
		for _, e := range all[i].Feeds {
			prices[e.Aggregate] = true
			if e.Aggregate != all[i].Coin.Aggregate && !slices.ContainsFunc(all[i].Tokens, func(o Token) bool {
				return o.Aggregate == e.Aggregate
			}) {
				t.Errorf("chain %d has a feed for %s and no such asset", all[i].ID, e.Aggregate)
			}
		}
		if !slices.ContainsFunc(all[i].Feeds, func(e Feed) bool {
			return e.Aggregate == all[i].Coin.Aggregate || e.Aggregate == "ob:weth" && all[i].Coin.Aggregate == "ob:eth"
		}) {
			t.Errorf("chain %d has no feed for its coin", all[i].ID)
		}
		all[i].RPC = []string{"https://node.example/" + all[i].Short}
	}
	if !slices.Equal(ids, []uint64{1, 10, 56, 137, 8453, 42161, 43114, 59144}) || len(prices) < 20 {
		t.Errorf("%v, %d prices", ids, len(prices))
	}
	f = &File{Path: "f", Kind: network.Real, Chains: all}
	got, err := Parse("f", f.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if withoutLines(got); !reflect.DeepEqual(got, f) {
		t.Error("what was written reads otherwise")
	}
}

func withoutLines(f *File) *File {
	for _, s := range []*Solana{f.Solana, f.IdleSolana} {
		if s == nil {
			continue
		}
		s.Line, s.Coin.Line = 0, 0
		for i := range s.Mints {
			s.Mints[i].Line = 0
		}
	}
	for _, all := range [][]Chain{f.Chains, f.Idle} {
		for i := range all {
			c := &all[i]
			c.Line, c.Coin.Line = 0, 0
			for j := range c.Tokens {
				c.Tokens[j].Line = 0
			}
			for j := range c.Feeds {
				c.Feeds[j].Line = 0
			}
		}
	}
	return f
}

// Whatever a file has, it is read or refused, with every fault in its place; what is read can be written and is the
// same then.
func FuzzParse(f *testing.F) {
	f.Add(sample(f, "small.toml"))
	f.Add([]byte("kind = \"lab\"\n[[chains]]\nid = 1\nrpc = [\"http://[::1]\"]\nfee_cap_gwei = 1e3\n"))
	f.Add(sample(f, "solana.toml"))
	f.Add([]byte("[[chains]]\n[[chains.tokens]]\n[chains.tokens.x]\na.b = {c = [[1]]}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse("f", raw)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("a fault without its file: %s", err)
			}
			return
		}
		again, err := Parse("f", file.Encode())
		if err != nil {
			t.Fatalf("written anew: %s\n%s", err, file.Encode())
		}
		if !reflect.DeepEqual(withoutLines(again), withoutLines(file)) {
			t.Fatalf("written anew:\n%s", file.Encode())
		}
	})
}
