package policy_test

import (
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api/caip"
	"coffer/api/network"
	"coffer/wallet/policy"
	"coffer/wallet/verify"
)

const (
	lab   = "0x2e6e7adf99a44c4bf2d50450af3503dcdf78e4606772affef602cfa5de1234b0"
	other = "0x1111111111111111111111111111111111111111111111111111111111111111"
	full  = `# what may be signed
version = 1
chains = ["eip155:8453", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"]
recipients = [
  "0x93dbd23b6b71b82e3a19ad8d51ddebbb13af7bc0",
  "HKRGrYCfcZPtvwAToxUGFRjzm196RRpHXeahWJuPMvBJ",
]
contracts = ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
max_spend_usd = "250.00"
max_spend_per_day_usd = "1000"
max_slippage_bps = 50
max_cost_bps = 300
never_delegate = true
allow = ["unknown-target"]

[pins."` + lab + `"]
entry_points = ["0x0000000071727De22E5E9d8BAf0edAc6f37da032"]
validators = ["0x845ADb2C711129d4f3966735eD98a9F09fC4cE57"]
factories = ["0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"]
delegates = ["0xd6CEDDe84be40893d153Be9d467CD6aD37875b28"]
paymasters = ["0xa784e6482bd5edbfe5991b18cbd545ebd46e1cc4"]
escrows = ["0x0ad63e341d6ca640c84993e15051febf742e1fef"]
solana_programs = ["6tymeastaHjs9APZuVep6Vq61LPn3wMuDyC7zgKFWpq4"]
`
)

func parse(t *testing.T, s string) policy.File {
	t.Helper()
	f, err := policy.Parse("policy.toml", []byte(s))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestK5_TheDailyCapIsSwitchedOffByName(t *testing.T) {
	l := parse(t, "version = 1\nmax_spend_per_day_usd = \"none\"\n").Limits(lab)
	if !l.NoDayCap || l.MaxSpendPerDay != nil {
		t.Fatalf("%+v", l)
	}
	for kind, want := range map[network.Kind]int64{network.Embedded: 0, network.Lab: 5_000_000_000,
		network.Test: 5_000_000_000,
		network.Real: 100_000_000, "": 100_000_000} {
		if l.OrDefault(kind).MaxSpendPerDay != nil {
			t.Errorf("%q has a daily cap although none is wanted", kind)
		}
		own := verify.Limits{MaxSpendPerDay: big.NewInt(7)}.OrDefault(kind)
		if own.MaxSpendPerDay.Int64() != 7 || own.DefaultDayCap {
			t.Errorf("%q: an own cap became %+v", kind, own)
		}
		d := verify.Limits{}.OrDefault(kind)
		if (d.MaxSpendPerDay == nil) != (want == 0) || d.MaxSpendPerDay != nil &&
			(d.MaxSpendPerDay.Int64() != want || !d.DefaultDayCap) {
			t.Errorf("%q: %+v", kind, d)
		}
	}
}

func TestEveryKeyOfAPolicyBecomesALimit(t *testing.T) {
	l := parse(t, full).Limits(lab)
	key := func(s string) [32]byte {
		k, err := caip.ParseSolanaKey(s)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	at := func(s string) []common.Address { return []common.Address{common.HexToAddress(s)} }
	want := verify.Limits{
		Chains: []caip.Chain{caip.EVM(8453), caip.SolanaMainnet()},
		Recipients: []string{"0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0",
			"HKRGrYCfcZPtvwAToxUGFRjzm196RRpHXeahWJuPMvBJ"},
		Contracts: at("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
		MaxSpend:  big.NewInt(250_000_000), MaxSpendPerDay: big.NewInt(1_000_000_000),
		MaxSlippageBps: 50, MaxCostBps: 300, AllowCostBps: 300, NeverDelegate: true, Gates: []string{verify.GateTarget},
		EntryPoints: at("0x0000000071727De22E5E9d8BAf0edAc6f37da032"),
		Validators:  at("0x845ADb2C711129d4f3966735eD98a9F09fC4cE57"),
		Factories:   at("0xaac5D4240AF87249B3f71BC8E4A2cae074A3E419"),
		Delegates:   at("0xd6CEDDe84be40893d153Be9d467CD6aD37875b28"),
		Paymasters:  at("0xa784e6482bd5edbfe5991b18cbd545ebd46e1cc4"),
		Escrows:     at("0x0ad63e341d6ca640c84993e15051febf742e1fef"),
	}
	want.Programs = append(want.Programs, key("6tymeastaHjs9APZuVep6Vq61LPn3wMuDyC7zgKFWpq4"))
	if !reflect.DeepEqual(l, want) {
		t.Fatalf("got  %+v\nwant %+v", l, want)
	}
}

func TestPinsHoldOnTheirNetworkOnly(t *testing.T) {
	f := parse(t, full)
	l := f.Limits(other)
	if l.EntryPoints != nil || l.Validators != nil || l.Factories != nil || l.Delegates != nil || l.Paymasters != nil ||
		l.Escrows != nil || l.Programs != nil {
		t.Fatalf("pins of another network: %+v", l)
	}
	if !l.NeverDelegate || len(l.Chains) != 2 || l.MaxSpend == nil {
		t.Fatalf("the limits themselves hold everywhere: %+v", l)
	}
	if l := f.Limits(lab); l.EntryPoints == nil || l.Programs == nil {
		t.Fatalf("pins of the network itself: %+v", l)
	}
}

func TestLimitsAreTheCallersOwnCopy(t *testing.T) {
	f := parse(t, full)
	l := f.Limits(lab)
	l.Chains[0], l.Recipients[0], l.Contracts[0], l.Gates[0], l.Escrows[0] = caip.Chain{}, "", common.Address{}, "",
		common.Address{}
	l.MaxSpend.SetInt64(1 << 60)
	l.MaxSpendPerDay.SetInt64(1 << 60)
	if !reflect.DeepEqual(f.Limits(lab), parse(t, full).Limits(lab)) {
		t.Fatal("a copy reaches inside")
	}
}

func TestAPolicyWithoutALineLimitsNothingAndAMissingOneIsAnError(t *testing.T) {
	for _, s := range []string{"", "\n\n", "# nothing but a comment\n"} {
		if l := parse(t, s).Limits(lab); !reflect.DeepEqual(l, verify.Limits{}) {
			t.Errorf("%q: %+v", s, l)
		}
	}
	none := filepath.Join(t.TempDir(), "none.toml")
	if _, err := policy.Read(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that was named is not there: %v", err)
	}
}

func TestAPolicyOfZeroDollarsIsALimit(t *testing.T) {
	l := parse(t, "version = 1\nmax_spend_usd = \"0\"\n").Limits(lab)
	if l.MaxSpend == nil || l.MaxSpend.Sign() != 0 || l.MaxSpendPerDay != nil {
		t.Fatalf("%v", l.MaxSpend)
	}
}

func TestPolicyErrorsNameLineAndColumn(t *testing.T) {
	for name, c := range map[string]struct {
		from, to     string
		line, column int
		key, says    string
	}{
		"unknown key":          {"never_delegate", "never_delegates", 13, 1, "never_delegates", "no such setting"},
		"unknown pin":          {"escrows =", "escrow =", 22, 1, "pins." + lab + ".escrow", "no such setting"},
		"syntax":               {"version = 1", "version = ", 2, 0, "", ""},
		"version missing":      {"version = 1", "", 0, 0, "", "version = 1"},
		"other version":        {"version = 1", "version = 2", 2, 1, "version", "version 1"},
		"version as text":      {"version = 1", `version = "1"`, 2, 11, "version", "the number 1"},
		"money as integer":     {`"250.00"`, `250`, 9, 17, "max_spend_usd", "as text"},
		"money as float":       {`"250.00"`, `250.0`, 9, 17, "max_spend_usd", "as text"},
		"money in exponents":   {`"250.00"`, `"2e2"`, 9, 1, "max_spend_usd", "six decimals"},
		"money below zero":     {`"1000"`, `"-1"`, 10, 1, "max_spend_per_day_usd", "six decimals"},
		"money too exact":      {`"1000"`, `"1.0000001"`, 10, 1, "max_spend_per_day_usd", "six decimals"},
		"money empty":          {`"1000"`, `""`, 10, 1, "max_spend_per_day_usd", "six decimals"},
		"no slippage":          {"= 50", "= 0", 11, 1, "max_slippage_bps", "1 to 10000"},
		"too much slippage":    {"= 50", "= 10001", 11, 1, "max_slippage_bps", "1 to 10000"},
		"share as float":       {"= 50", "= 0.5", 11, 20, "max_slippage_bps", "basis points"},
		"share beyond numbers": {"= 50", "= 99999999999999999999", 11, 20, "max_slippage_bps", ""},
		"cost below zero":      {"= 300", "= -1", 12, 1, "max_cost_bps", "1 to 10000"},
		"yes as text":          {"= true", `= "true"`, 13, 18, "never_delegate", "true or false"},
		"unknown gate": {"unknown-target", "everything", 14, 10, "allow[0]",
			"blind-signing, unknown-paymaster"},
		"empty list":           {`["unknown-target"]`, `[]`, 14, 1, "allow", "empty"},
		"list as text":         {`["unknown-target"]`, `"unknown-target"`, 14, 9, "allow", "a list"},
		"chain":                {"eip155:8453", "base", 3, 11, "chains[0]", "eip155:8453"},
		"chain of others":      {"eip155:8453", "cosmos:hub-4", 3, 11, "chains[0]", "eip155:8453"},
		"checksum":             {"0x833589fCD6", "0x833589fcD6", 8, 14, "contracts[0]", "checksum"},
		"recipient's checksum": {"0x93dbd23b6b71b82e", "0x93dbd23b6b71B82e", 5, 3, "recipients[0]", "checksum"},
		"recipient's key":      {"HKRG", "0KRG", 6, 3, "recipients[1]", "base58"},
		"zero address": {"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
			"0x0000000000000000000000000000000000000000", 8, 14, "contracts[0]", "zero address"},
		"pin":                  {"0x845ADb2C", "0x845ADb2", 18, 15, "pins." + lab + ".validators[0]", "40 hex"},
		"program":              {"6tymeasta", "6tymeastl", 23, 20, "pins." + lab + ".solana_programs[0]", "base58"},
		"network id":           {"[pins.\"0x2e", "[pins.\"0x2E", 16, 2, "", "network id"},
		"pins without network": {"[pins.\"" + lab + "\"]", "[pins]", 17, 0, "", ""},
		"doubled key":          {"never_delegate = true", "chains = [\"eip155:1\"]", 13, 1, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := strings.Replace(full, c.from, c.to, 1)
			if s == full {
				t.Fatal("not applied")
			}
			_, err := policy.Parse("policy.toml", []byte(s))
			var pe *policy.Error
			if !errors.As(err, &pe) {
				t.Fatalf("got %v", err)
			}
			if pe.Line != c.line || c.column > 0 && pe.Column != c.column || !strings.Contains(pe.Error(), c.says) ||
				c.key != "" && pe.Key != c.key {
				t.Fatalf("%+v, expected %+v", pe, c)
			}
			if c.line > 0 && !strings.HasPrefix(pe.Error(), "policy.toml:") {
				t.Fatal(pe)
			}
		})
	}
}

func TestForeignTextInAPolicyErrorIsCleaned(t *testing.T) {
	_, err := policy.Parse("policy.toml", []byte("version = 1\nchains = [\"\\u001b[31mred\"]\n"))
	if err == nil || strings.ContainsRune(err.Error(), '\x1b') {
		t.Fatalf("%q", err)
	}
}

func write(t *testing.T, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.toml")
	if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPolicyThatOthersMayWriteIsRefused(t *testing.T) {
	if f, err := policy.Read(write(t, 0o644)); err != nil || f.Limits(lab).MaxSpend == nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		_, err := policy.Read(write(t, mode))
		var pe *policy.Error
		if !errors.As(err, &pe) || !strings.Contains(pe.Problem, "chmod go-w") {
			t.Errorf("%o: %v", mode, err)
		}
	}
	path := write(t, 0o600)
	if err := os.Chmod(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := policy.Read(path); err == nil || !strings.Contains(err.Error(), "others may write") {
		t.Errorf("the directory: %v", err)
	}
}

func TestAPolicyThatCannotBeReadIsAnErrorNeverNoLimits(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.toml")
	if err := os.WriteFile(big, append([]byte(full), []byte(strings.Repeat("#", 1<<20))...), 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop.toml")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a directory": dir, "a file as directory": filepath.Join(big, "policy.toml"), "a device": os.DevNull,
		"too large": big, "a loop": loop,
	} {
		if _, err := policy.Read(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if os.Getuid() != 0 { // for root every file is readable
		if _, err := policy.Read(write(t, 0o000)); err == nil {
			t.Error("no permission: no error")
		}
	}
}

// FuzzParse: no input panics, and what is accepted never has an empty list in place of a limit.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("version = 1"))
	f.Add([]byte("version = 1\npins.\"" + lab +
		"\" = { escrows = [\"0x0ad63e341d6ca640c84993e15051febf742e1fef\"] }\n"))
	f.Add([]byte("version = 1\nchains = [\n]\n[[pins]]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := policy.Parse("p", b)
		if err != nil {
			var pe *policy.Error
			if !errors.As(err, &pe) {
				t.Fatalf("%T", err)
			}
			return
		}
		l := file.Limits(lab)
		if l.Chains != nil && len(l.Chains) == 0 || l.Recipients != nil && len(l.Recipients) == 0 ||
			l.Contracts != nil && len(l.Contracts) == 0 {
			t.Fatal("an empty list passed")
		}
		if l.MaxSlippageBps < 0 || l.MaxSlippageBps > 10_000 || l.MaxSpend != nil && l.MaxSpend.Sign() < 0 {
			t.Fatalf("%+v", l)
		}
	})
}
