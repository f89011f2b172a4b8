package assets

import (
	"crypto/ecdsa"
	"io/fs"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func checksummed(t *testing.T, what, s string) {
	t.Helper()
	if !common.IsHexAddress(s) || common.HexToAddress(s).Hex() != s {
		t.Errorf("%s: %s is not EIP-55, want %s", what, s, common.HexToAddress(s).Hex())
	}
}

func positive(t *testing.T, what, s string) {
	t.Helper()
	v, ok := new(big.Int).SetString(s, 10)
	if !ok || v.Sign() <= 0 || v.String() != s {
		t.Errorf("%s: %q is not a positive decimal integer", what, s)
	}
}

func TestReadJSONIsStrict(t *testing.T) {
	var v struct {
		A int `json:"a"`
	}
	if err := decodeStrict([]byte(`{"a":1}`), &v); err != nil || v.A != 1 {
		t.Fatal("a plain document must decode:", err)
	}
	for _, bad := range []string{`{"a":1,"b":2}`, `{"a":1}{}`, `{"a":1} x`, `{"a":"1"}`, `{`, ``} {
		if decodeStrict([]byte(bad), &v) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if ReadJSON("nothing.json", &v) == nil || ReadJSON("../go.mod", &v) == nil {
		t.Error("a file that is not embedded was read")
	}
	if err := ReadJSON("pins.json", &v); err == nil || !strings.Contains(err.Error(), "pins.json") {
		t.Error("the error does not name the file:", err)
	}
}

func TestReadersReturnValuesOfTheCaller(t *testing.T) {
	first := must[Catalog](t)(Catalogue())
	first.Chains[0].Name = "changed"
	if must[Catalog](t)(Catalogue()).Chains[0].Name == "changed" {
		t.Error("two calls share memory")
	}
}

const solana = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"

func TestChainsAreThoseOfTheService(t *testing.T) {
	chains := must[Catalog](t)(Catalogue()).Chains
	want := []string{"eip155:1", "eip155:10", "eip155:56", "eip155:137", "eip155:8453", "eip155:42161",
		"eip155:43114", "eip155:59144", solana}
	var got, shorts []string
	for _, c := range chains {
		got = append(got, c.Chain)
		shorts = append(shorts, c.Short)
		if c.Chain != solana {
			positive(t, c.Chain+" gasPriceWei", c.GasPriceWei)
		}
		if c.Name == "" || c.NativeSymbol == "" || !strings.HasPrefix(c.BlockExplorer, "https://") ||
			strings.HasSuffix(c.BlockExplorer, "/") {
			t.Errorf("%+v is incomplete", c)
		}
		if !regexp.MustCompile(`^[a-z]{2,8}$`).MatchString(c.Short) {
			t.Errorf("short name %q", c.Short)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("chains %v, want %v", got, want)
	}
	slices.Sort(shorts)
	if len(slices.Compact(shorts)) != len(chains) {
		t.Error("short names repeat")
	}
}

func TestTokensAreWellFormed(t *testing.T) {
	c := must[Catalog](t)(Catalogue())
	chains := map[string]Chain{}
	for _, c := range c.Chains {
		chains[c.Chain] = c
	}
	ids, assets := map[string]bool{}, map[string]bool{}
	var unpriced []string
	for _, token := range c.Tokens {
		if !regexp.MustCompile(`^ob:[a-z0-9.+]+$`).MatchString(token.AggregatedAssetID) ||
			ids[token.AggregatedAssetID] {
			t.Errorf("id %q is malformed or repeats", token.AggregatedAssetID)
		}
		ids[token.AggregatedAssetID] = true
		if token.PriceMicroUSD == "" {
			unpriced = append(unpriced, token.AggregatedAssetID[3:])
		} else {
			positive(t, token.AggregatedAssetID, token.PriceMicroUSD)
		}
		if token.Symbol == "" || token.Name == "" || *token.Decimals < 1 || *token.Decimals > 18 ||
			len(token.AggregatedEntities) == 0 {
			t.Errorf("%s is incomplete", token.AggregatedAssetID)
		}
		perChain := map[string]bool{}
		for _, e := range token.AggregatedEntities {
			chain, ref, _ := strings.Cut(e.AssetType, "/")
			if _, known := chains[chain]; !known || perChain[chain] || assets[e.AssetType] {
				t.Errorf("%s: %s is on an unknown chain, or repeats", token.AggregatedAssetID, e.AssetType)
			}
			perChain[chain], assets[e.AssetType] = true, true
			native := chains[chain].NativeSymbol == token.Symbol
			switch address, erc20 := strings.CutPrefix(ref, "erc20:"); {
			case chain == solana:
				if !regexp.MustCompile(`^token:[1-9A-HJ-NP-Za-km-z]{32,44}$`).MatchString(ref) &&
					(ref != "slip44:501" || !native) {
					t.Errorf("asset type %q", e.AssetType)
				}
			case erc20:
				checksummed(t, e.AssetType, address)
			case ref != "slip44:60" || !native:
				t.Errorf("%s: %s is no asset of this chain", token.AggregatedAssetID, e.AssetType)
			}
			if e.Symbol == "" || e.Name == "" || *e.Decimals < *token.Decimals || *e.Decimals > 18 {
				t.Errorf("%s: incomplete entity %+v", token.AggregatedAssetID, e)
			}
		}
	}
	for chain := range chains {
		if !assets[chain+"/slip44:60"] && !assets[chain+"/slip44:501"] {
			t.Errorf("the coin of %s is missing", chain)
		}
	}
	for _, id := range strings.Fields(
		"eth usdc usdt dai weth wbtc link uni arb op aave aero cbbtc pol avax usdc.e 1inch eth+ sol bnb wbnb") {
		if !ids["ob:"+id] {
			t.Errorf("ob:%s is missing", id)
		}
	}
	// Two stay unknown so that screens meet it; the others are worth less than the table can say.
	if got := strings.Join(unpriced, " "); got != "zero apepe pepe shib mog 7007 coq bonk floki btt nft" {
		t.Errorf("without a price: %s", got)
	}
}

// Screens show symbol and name side by side, and chains below them: a name that repeats the symbol says nothing, one of
// a chain says something wrong. Those listed have no other name, or none that is the same on all their chains.
func TestNamesSayMoreThanSymbolsAndAreNotThoseOfChains(t *testing.T) {
	c := must[Catalog](t)(Catalogue())
	taken := map[string]bool{}
	for _, c := range c.Chains {
		taken[c.Name] = true
	}
	var poor []string
	for _, token := range c.Tokens {
		if token.Name == token.Symbol || taken[token.Name] || strings.HasSuffix(token.Name, ")") {
			poor = append(poor, token.AggregatedAssetID[3:])
		}
		for _, e := range token.AggregatedEntities {
			if e.Name != token.Name || e.Symbol != token.Symbol {
				t.Errorf("%s is %s, %s; its aggregate is %s, %s", e.AssetType, e.Symbol, e.Name, token.Symbol,
					token.Name)
			}
		}
	}
	if got := strings.Join(poor, " "); got != "op avax sol bnb gmx woo ausd joe normie koge bonk floki" {
		t.Errorf("without a name of their own: %s", got)
	}
}

func TestPinsAreTheDocumentedAddresses(t *testing.T) {
	p := must[Pins](t)(PinnedAddresses())
	for what, a := range map[string]string{
		"entryPoint": p.EntryPoint, "deterministicDeployer": p.DeterministicDeployer,
		"kernelV31Implementation": p.KernelV31Implementation,
		"kernelV33Delegate":       p.KernelV33Delegate, "factory": p.Factory, "metaFactory": p.MetaFactory,
		"ecdsaValidator":     p.ECDSAValidator,
		"roleBasedValidator": p.RoleBasedValidator, "paymaster": p.Paymaster, "escrow": p.Escrow,
	} {
		checksummed(t, what, a)
	}
	if want := common.BytesToAddress(crypto.Keccak256([]byte("coffer escrow 1"))); common.HexToAddress(p.Escrow) !=
		want {
		t.Errorf("escrow %s, want %s", p.Escrow, want)
	}
	// Init code of an account (protocol §8.4).
	code := slices.Concat(hexutil.MustDecode("0x603d3d8160223d3973"), common.FromHex(p.KernelV31Implementation),
		hexutil.MustDecode("0x6009"),
		hexutil.MustDecode("0x5155f3363d3d373d3d363d7f360894a13ba1a3210667c828492db98dca3e2076"),
		hexutil.MustDecode("0xcc3735a920a3ca505d382bbc545af43d6000803e6038573d6000fd5b3d6000f3"))
	if got := crypto.Keccak256Hash(code).Hex(); len(code) != 95 || got != p.AccountInitCodeHash {
		t.Errorf("init code hash %s, want %s", got, p.AccountInitCodeHash)
	}
	if len(p.Formulas) != 3 {
		t.Fatalf("%d formulas", len(p.Formulas))
	}
	for _, f := range p.Formulas {
		want := map[string]string{"RoleBasedECDSAValidator": p.RoleBasedValidator,
			"ECDSAValidator": p.ECDSAValidator}[f.Name]
		if f.VerifyingContract != want || f.Version == "" ||
			f.Formula != "keccak256(abi.encode(sender,callData,nonce))" {
			t.Errorf("formula %+v", f)
		}
	}
}

func TestDemoKeyIsPublicAndWorthless(t *testing.T) {
	d := must[Demo](t)(DemoKey())
	raw := crypto.Keccak256([]byte(d.KeyText))
	if hexutil.Encode(raw) != d.PrivateKey {
		t.Error("the demo key is not the hash of its text")
	}
	key := must[*ecdsa.PrivateKey](t)(crypto.ToECDSA(raw))
	if signer := crypto.PubkeyToAddress(key.PublicKey).Hex(); signer != d.Signer {
		t.Errorf("signer %s, want %s", d.Signer, signer)
	}
	if !strings.Contains(d.Notice, "published on purpose") ||
		!strings.Contains(d.Notice, "never hold anything of value") {
		t.Error("the notice does not say that the key is public:", d.Notice)
	}
	for _, b := range d.AddressBook {
		checksummed(t, b.Name, b.Address)
		if want := common.BytesToAddress(crypto.Keccak256([]byte(b.AddressText))); common.HexToAddress(b.Address) !=
			want {
			t.Errorf("%s: %s is not derived from its text", b.Name, b.Address)
		}
	}
	if len(d.AddressBook) == 0 {
		t.Error("no address to try a transfer with")
	}
}

func TestEverythingEmbeddedIsRead(t *testing.T) {
	known := []string{"catalog.json", "networks.json", "pins.json", "code.json", "demo.json"}
	for _, name := range ContractNames() {
		known = append(known, "contracts/artifacts/"+name+".json")
	}
	err := fs.WalkDir(FS, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !slices.Contains(known, path) {
			t.Errorf("%s is embedded and nobody reads it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
