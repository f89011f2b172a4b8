package caip_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
)

const (
	usdcBase = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	usdcSPL  = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
	mainnet  = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
)

// wantRefusal fails unless err is a *caip.Error that names the input.
func wantRefusal(t *testing.T, input string, err error) {
	t.Helper()
	var refused *caip.Error
	if !errors.As(err, &refused) {
		t.Errorf("%q: got error %v, want *caip.Error", input, err)
		return
	}
	if refused.Input != input || refused.Want == "" {
		t.Errorf("%q: error carries %q / %q", input, refused.Input, refused.Want)
	}
}

func TestParseChainAcceptsOneSpellingOfAnID(t *testing.T) {
	for _, s := range []string{"eip155:1", "eip155:8453", "eip155:18446744073709551615", mainnet,
		"bip122:000000000019d6689c085ae165831e93"} {
		c, err := caip.ParseChain(s)
		if err != nil || c.String() != s {
			t.Errorf("%q: %v %v", s, c, err)
		}
	}
	for _, s := range []string{
		"", ":", "eip155", "eip155:", ":1", "eip155:0", "eip155:01", "eip155:+1", "eip155:0x1", "eip155: 1",
		"eip155:1 ", "EIP155:1",
		"eip155:18446744073709551616", "eip155:1:2", "ei:1", "verylongns:1", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvd",
		"solana:0eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "abc:" + strings.Repeat("a", 33), "eip155:1\n", "eip155:１",
	} {
		_, err := caip.ParseChain(s)
		wantRefusal(t, s, err)
	}
	if id, ok := caip.EVM(8453).EVMID(); !ok || id != 8453 {
		t.Error("EVM(8453) lost its id")
	}
	if _, ok := caip.SolanaMainnet().EVMID(); ok || !caip.SolanaMainnet().IsSolana() || caip.EVM(1).IsSolana() {
		t.Error("namespaces are mixed up")
	}
	if (caip.Chain{}).String() != "" {
		t.Error("the zero chain must print nothing")
	}
}

func TestAssetsCompareEVMAddressesWithoutCase(t *testing.T) {
	mixed, err := caip.ParseAsset("eip155:8453/erc20:" + usdcBase)
	if err != nil {
		t.Fatal(err)
	}
	low, err := caip.ParseAsset("eip155:8453/erc20:" + strings.ToLower(usdcBase))
	if err != nil || mixed != low || mixed != caip.ERC20(8453, common.HexToAddress(usdcBase)) {
		t.Fatalf("%v %v %v", mixed, low, err)
	}
	if mixed.String() != "eip155:8453/erc20:"+strings.ToLower(usdcBase) ||
		mixed.Display() != "eip155:8453/erc20:"+usdcBase {
		t.Errorf("printed %s and %s", mixed, mixed.Display())
	}
	if token, ok := mixed.Token(); !ok || token.Hex() != usdcBase || mixed.IsNative() {
		t.Error("token lost")
	}
}

func TestNativeCoinsHaveOneSpellingPerNamespace(t *testing.T) {
	for s, want := range map[string]caip.Asset{
		"eip155:137/slip44:60":   caip.Native(137),
		mainnet + "/slip44:501":  caip.SOL(),
		"eip155:43114/slip44:60": caip.Native(43114),
	} {
		a, err := caip.ParseAsset(s)
		if err != nil || a != want || !a.IsNative() || a.String() != s || a.Display() != s {
			t.Errorf("%s: %v %v", s, a, err)
		}
		if _, ok := a.Token(); ok {
			t.Errorf("%s has a token", s)
		}
	}
	for _, s := range []string{
		"eip155:137/slip44:966", mainnet + "/slip44:60", "eip155:1/slip44:060", "eip155:1/erc721:" + usdcBase,
		"eip155:1/erc20:0x12",
		"eip155:1/erc20:" + usdcBase + "/1", "eip155:1/token:" + usdcSPL, mainnet + "/token:" + usdcSPL + "1",
		mainnet + "/token:0O",
		"eip155:1", "eip155:1/", "eip155:1/erc20", "eip155:1/erc20:", "/erc20:" + usdcBase, "eip155:0/slip44:60",
		"eip155:1/ERC20:" + usdcBase,
		"eip155:1/erc20:0X833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "",
	} {
		_, err := caip.ParseAsset(s)
		wantRefusal(t, s, err)
	}
	spl, err := caip.ParseAsset(mainnet + "/token:" + usdcSPL)
	if err != nil {
		t.Fatal(err)
	}
	if mint, ok := spl.Mint(); !ok || caip.SPL(mint) != spl || caip.FormatSolanaKey(mint) != usdcSPL {
		t.Error("mint lost")
	}
}

func TestAccountsReadBothForms(t *testing.T) {
	a, err := caip.ParseAccount("eip155:1:" + usdcBase)
	if err != nil || a != caip.EVMAccount(1, common.HexToAddress(usdcBase)) {
		t.Fatal(a, err)
	}
	if a.Slash() != "eip155:1/"+strings.ToLower(usdcBase) || a.Display() != "eip155:1:"+usdcBase {
		t.Error(a.Slash(), a.Display())
	}
	if e, ok := a.EVM(); !ok || e.Hex() != usdcBase {
		t.Error("address lost")
	}
	back, err := caip.ParseSlashAccount(a.Slash())
	if err != nil || back != a {
		t.Error(back, err)
	}
	short, err := caip.ParseBalanceAccount("solana:" + usdcSPL)
	full, err2 := caip.ParseAccount(mainnet + ":" + usdcSPL)
	if err != nil || err2 != nil || short != full {
		t.Error(short, full, err, err2)
	}
	if k, ok := full.SolanaKey(); !ok || caip.SolanaAccount(k) != full {
		t.Error("key lost")
	}
	for _, s := range []string{"", "eip155:1", "eip155:1:0x12", "eip155:1/" + usdcBase, mainnet + ":0", "x:y:z",
		"eip155::" + usdcBase} {
		_, err := caip.ParseAccount(s)
		wantRefusal(t, s, err)
	}
	for _, s := range []string{"", "eip155:1:" + usdcBase, "eip155:1/0x", "eip155:1"} {
		_, err := caip.ParseSlashAccount(s)
		wantRefusal(t, s, err)
	}
	for _, s := range []string{"solana:", "solana:0x12", "evm:" + usdcBase, "eip155:" + usdcBase} {
		_, err := caip.ParseBalanceAccount(s)
		wantRefusal(t, s, err)
	}
}

func TestAggregateIDsAllowTheObservedPunctuation(t *testing.T) {
	for _, s := range []string{"ob:usdc", "ob:usdc.e", "ob:1inch", "ob:eth+", "ob:7007", "ob:single", "ob:w",
		"ob:usd0_x-y"} {
		id, err := caip.ParseAggregate(s)
		if err != nil || id.String() != s {
			t.Errorf("%q: %v %v", s, id, err)
		}
	}
	for _, s := range []string{"", "ob:", "ob:USDC", "usdc", "ob:.e", "ob:+", "ob:us dc", "OB:usdc", "ob:usdc\x00",
		"ob:" + strings.Repeat("a", 62), "ob:usdс"} {
		_, err := caip.ParseAggregate(s)
		wantRefusal(t, s, err)
	}
}

func TestCheckEIP55RefusesOneFlippedLetterCase(t *testing.T) {
	if err := caip.CheckEIP55(usdcBase); err != nil {
		t.Fatal(err)
	}
	if err := caip.CheckEIP55(strings.ToLower(usdcBase)); err != nil {
		t.Fatal(err)
	}
	flipped := 0
	for i := 2; i < len(usdcBase); i++ {
		b := []byte(usdcBase)
		if b[i] >= '0' && b[i] <= '9' {
			continue
		}
		b[i] ^= 0x20
		flipped++
		wantRefusal(t, string(b), caip.CheckEIP55(string(b)))
	}
	if flipped < 10 {
		t.Fatalf("only %d letters were flipped", flipped)
	}
	up := "0x" + strings.ToUpper(usdcBase[2:])
	wantRefusal(t, up, caip.CheckEIP55(up))
	for _, s := range []string{"", "0x", usdcBase[2:], usdcBase + "0", "0X" + usdcBase[2:], " " + usdcBase[1:]} {
		_, err := caip.ParseAddress(s)
		wantRefusal(t, s, err)
	}
}

func TestSolanaKeysHaveOneSpelling(t *testing.T) {
	var zero [32]byte
	if s := caip.FormatSolanaKey(zero); s != strings.Repeat("1", 32) {
		t.Errorf("the system program is %s", s)
	}
	k, err := caip.ParseSolanaKey(usdcSPL)
	if err != nil || caip.FormatSolanaKey(k) != usdcSPL {
		t.Fatal(err)
	}
	for _, s := range []string{"", "1", strings.Repeat("1", 31), strings.Repeat("1", 33), "1" + usdcSPL, usdcSPL + "1",
		strings.Repeat("z", 45), strings.Repeat("z", 44), usdcSPL[:43] + "0"} {
		_, err := caip.ParseSolanaKey(s)
		wantRefusal(t, s, err)
	}
	sig := [64]byte{0, 1, 2, 63: 9}
	back, err := caip.ParseSolanaSignature(caip.FormatSolanaSignature(sig))
	if err != nil || back != sig {
		t.Error(err)
	}
	_, err = caip.ParseSolanaSignature(usdcSPL)
	wantRefusal(t, usdcSPL, err)
}

func TestErrorsQuoteHostileInput(t *testing.T) {
	_, err := caip.ParseChain("\x1b[2J\u202e" + strings.Repeat("x", 500))
	if s := err.Error(); strings.ContainsAny(s, "\x1b\u202e") || len(s) > 300 {
		t.Errorf("unsafe message %q", s)
	}
}
