package caip_test

import (
	"strings"
	"testing"

	"coffer/api/caip"
)

// printable is what parse → print → parse needs of a value.
type printable interface {
	comparable
	String() string
}

func roundTrip[T printable](t *testing.T, s string, parse func(string) (T, error)) {
	t.Helper()
	v, err := parse(s)
	if err != nil {
		var zero T
		if v != zero {
			t.Fatalf("%q was refused but gave %v", s, v)
		}
		return
	}
	printed := v.String()
	if !strings.EqualFold(printed, s) {
		t.Fatalf("%q printed as %q", s, printed)
	}
	again, err := parse(printed)
	if err != nil || again != v {
		t.Fatalf("%q → %q → %v, %v", s, printed, again, err)
	}
}

func FuzzParseChain(f *testing.F) {
	for _, s := range []string{"eip155:1", mainnet, "eip155:01", "bip122:ab", ":", "eip155:99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { roundTrip(t, s, caip.ParseChain) })
}

func FuzzParseAsset(f *testing.F) {
	for _, s := range []string{"eip155:8453/erc20:" + usdcBase, "eip155:1/slip44:60", mainnet + "/token:" + usdcSPL,
		mainnet + "/slip44:501", "abc:d/efg:h", "//::"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		roundTrip(t, s, caip.ParseAsset)
		if a, err := caip.ParseAsset(s); err == nil {
			if again, err := caip.ParseAsset(a.Display()); err != nil || again != a {
				t.Fatalf("%q displayed as %q: %v %v", s, a.Display(), again, err)
			}
		}
	})
}

func FuzzParseAccount(f *testing.F) {
	for _, s := range []string{"eip155:1:" + usdcBase, mainnet + ":" + usdcSPL, "abc:d:e", "solana:" + usdcSPL} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		roundTrip(t, s, caip.ParseAccount)
		if a, err := caip.ParseAccount(s); err == nil {
			if again, err := caip.ParseSlashAccount(a.Slash()); err != nil || again != a {
				t.Fatalf("%q as %q: %v %v", s, a.Slash(), again, err)
			}
		}
	})
}

func FuzzParseAggregate(f *testing.F) {
	for _, s := range []string{"ob:usdc", "ob:usdc.e", "ob:eth+", "ob:7007", "ob:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { roundTrip(t, s, caip.ParseAggregate) })
}

func FuzzParseSolanaKey(f *testing.F) {
	for _, s := range []string{usdcSPL, strings.Repeat("1", 32), "1" + usdcSPL, "zzz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := caip.ParseSolanaKey(s)
		if err == nil && caip.FormatSolanaKey(k) != s {
			t.Fatalf("%q printed as %q", s, caip.FormatSolanaKey(k))
		}
	})
}
