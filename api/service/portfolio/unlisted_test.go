package portfolio_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"coffer/api"
	"coffer/api/service/chain"
	"coffer/api/service/chain/evm"
	"coffer/api/service/devnet"
	"coffer/api/service/portfolio"
	"coffer/assets"
)

const onBase = 8453

// deploys puts a contract on Base, and returns it as an asset.
func deploys(t testing.TB, in *devnet.Installation, creation []byte) (at common.Address, asset string) {
	t.Helper()
	c := in.Chains[onBase]
	b, err := c.Seal(context.Background(), chain.SealRequest{Time: c.Head().Time, Txs: []chain.Tx{{From: in.Faucet,
		To: evm.DeterministicDeployer(), Data: append(make([]byte, 32), creation...)}}})
	if err != nil || !b.Receipts[0].Success {
		t.Fatal(err, b.Receipts)
	}
	at = crypto.CreateAddress2(evm.DeterministicDeployer(), common.Hash{}, crypto.Keccak256(creation))
	return at, fmt.Sprintf("eip155:%d/erc20:%s", onBase, strings.ToLower(at.Hex()))
}

// runs is the creation code of a contract with this code, at most 32 bytes in hex.
func runs(t testing.TB, code string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	n := byte(len(raw))
	return append(append([]byte{0x5f + n}, raw...), 0x60, 0, 0x52, 0x60, n, 0x60, 32-n, 0xf3)
}

// issues is the creation code of a token whose whole supply someone holds.
func issues(t testing.TB, symbol string, decimals uint8, supply int64) []byte {
	t.Helper()
	art, err := assets.Contract("Token")
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := abi.JSON(bytes.NewReader(art.ABI))
	if err != nil {
		t.Fatal(err)
	}
	args, err := parsed.Pack("", "A token", symbol, decimals, someone, big.NewInt(supply))
	if err != nil {
		t.Fatal(err)
	}
	return append(bytes.Clone(art.Bytecode), args...)
}

// TestATokenOutsideTheListTellsItsBalanceDecimalsAndSymbol: nothing about it is known but what its chain says.
func TestATokenOutsideTheListTellsItsBalanceDecimalsAndSymbol(t *testing.T) {
	in, p := world(t)
	_, asset := deploys(t, in, issues(t, "NEW\u202e", 9, 1_234_567))
	for _, as := range []string{asset, "eip155:8453/erc20:0x" + strings.ToUpper(strings.TrimPrefix(asset,
		"eip155:8453/erc20:0x"))} {
		out, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex(), "ob:usdc", as))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := api.Encode(out.BalanceBySpecificAsset)
		if err != nil {
			t.Fatal(err)
		}
		if want := `[{"assetType":"` + as + `","balance":"1234567","fiatValue":null,"decimals":9,"symbol":"NEW` +
			"\ufffd" +
			`"}]`; string(raw.Raw()) != want {
			t.Errorf("%s, expected %s", raw.Raw(), want)
		}
		if out.TotalBalance.FiatValue != out.BalanceByAggregatedAsset[0].FiatValue {
			t.Errorf("a total of %s with a token that has no price", out.TotalBalance.FiatValue)
		}
	}
	out, err := p.Balances(context.Background(), query(t, in, "solana:"+solanaAddress, "ob:usdc", asset))
	if err != nil || out.BalanceBySpecificAsset[0].Balance != "0" || *out.BalanceBySpecificAsset[0].Decimals != 9 {
		t.Errorf("without an EVM account: %+v, %v", out.BalanceBySpecificAsset, err)
	}
}

// TestWhatIsNoTokenIsRefusedAtItsPlace: also code that never ends, or that tells what no token tells.
func TestWhatIsNoTokenIsRefusedAtItsPlace(t *testing.T) {
	in, p := world(t)
	_, endless := deploys(t, in, runs(t, "5b600056"))
	_, large := deploys(t, in, runs(t, "7f"+strings.Repeat("ff", 30)))
	_, decimals := deploys(t, in, runs(t, "604e60005260206000f3")) // 78 to everything
	for name, asset := range map[string]string{
		"nobody":              "eip155:8453/erc20:0x1111111111111111111111111111111111111111",
		"endless":             endless,
		"no answer":           large,
		"78 decimals":         decimals,
		"a contract, no code": "eip155:8453/erc20:" + strings.ToLower(in.Pins.Escrow.Hex()),
		"no mint":             "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/token:" + solanaAddress,
	} {
		_, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex(), "",
			"eip155:1/slip44:60,"+asset))
		var e *api.Error
		if !errors.As(err, &e) || e.Name != api.ErrValidation || e.Details[0].Path != "assetId[1]" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestATokenThatWritesWhenItIsReadChangesNoAnswer: sstore in every call, and 32 bytes of symbol.
func TestATokenThatWritesWhenItIsReadChangesNoAnswer(t *testing.T) {
	in, p := world(t)
	// answers with what it counted in slot 0, which grows with each question: 0, 1, 2
	_, asset := deploys(t, in, runs(t, "600054806001016000556000526020"+"6000f3"))
	for range 2 {
		out, err := p.Balances(context.Background(), query(t, in, "eip155:1:"+someone.Hex(), "", asset))
		if err != nil {
			t.Fatal(err)
		}
		if got := out.BalanceBySpecificAsset[0]; got.Balance != "0" || *got.Decimals != 1 {
			t.Errorf("%+v: a question changed what the next request sees", got)
		}
	}
}

func TestTheNumberOfForeignTokensOfARequestIsBounded(t *testing.T) {
	in, _ := world(t)
	var list []string
	for i := range portfolio.MaxUnlisted + 1 {
		list = append(list, fmt.Sprintf("eip155:1/erc20:0x%040x", i+5000))
	}
	account := "eip155:1:" + someone.Hex()
	if _, failures := portfolio.ParseQuery(in.Catalog, account, "", strings.Join(list[1:], ",")); len(failures) > 0 {
		t.Errorf("%v", failures)
	}
	_, failures := portfolio.ParseQuery(in.Catalog, account, "", strings.Join(list, ","))
	if len(failures) != 1 || failures[0].Path != fmt.Sprintf("assetId[%d]", portfolio.MaxUnlisted) {
		t.Errorf("%v", failures)
	}
}

func TestSymbolsAreStringsOr32Bytes(t *testing.T) {
	for want, raw := range map[string]string{
		"MKR": "4d4b52" + strings.Repeat("00", 29),
		"ANT": fmt.Sprintf("%064x%064x", 32, 3) + "414e54" + strings.Repeat("00", 29),
		"":    fmt.Sprintf("%064x%064x", 32, 4_000_000_000) + "414e54",
	} {
		b, err := hex.DecodeString(raw)
		if err != nil || portfolio.Symbol(b) != want {
			t.Errorf("%s: %q, expected %q, %v", raw, portfolio.Symbol(b), want, err)
		}
	}
}

func FuzzSymbol(f *testing.F) {
	f.Add([]byte("MKR" + strings.Repeat("\x00", 29)))
	f.Add(append(make([]byte, 31), 32))
	f.Fuzz(func(t *testing.T, raw []byte) {
		said := portfolio.Symbol(raw)
		if n := utf8.RuneCountInString(said); n > 33 || !utf8.ValidString(said) ||
			strings.ContainsAny(said, "\x00\x1b\n") {
			t.Errorf("%q", said)
		}
	})
}
