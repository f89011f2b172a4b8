package flow_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/wallet/consent"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// calling is a bench whose call takes data to two addresses that no list names.
func calling(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	for _, to := range []byte{0x51, 0x52} {
		b.w.Draft.Calls = append(b.w.Draft.Calls, intent.Call{To: common.Address{to, 19: to}.Hex(), Value: "9",
			Data: "0xdeadbeef"})
	}
	return b
}

// answers makes the service say what is at the addresses, in their order; "" leaves one out.
func answers(codes ...string) func([]string) (api.CodeResponse, error) {
	return func(accounts []string) (out api.CodeResponse, err error) {
		for i, a := range accounts {
			if codes[i] != "" {
				out.Accounts = append(out.Accounts, api.AccountCode{Account: a, Code: codes[i], Nonce: "0"})
			}
		}
		return out, nil
	}
}

// A call to an address without code is a warning with a code of its own: --yes refuses it unless the code is named, and
// a person types characters of that address. What the service does not answer is unknown, and never fine.
func TestTH_V7_ACallToAnAddressWithoutCodeIsAWarning(t *testing.T) {
	first, second := common.Address{0x51, 19: 0x51}.Hex(), common.Address{0x52, 19: 0x52}.Hex()
	for name, c := range map[string]struct {
		code                func([]string) (api.CodeResponse, error)
		warn, unknown, show string
	}{
		"no code":          {answers(api.CodeNone, api.CodeNone), first + ", " + second, "", ""},
		"code":             {answers(api.CodeContract, api.CodeDelegated), "", "", first + ", " + second},
		"one of each":      {answers(api.CodeContract, api.CodeNone), second, "", first},
		"one left out":     {answers(api.CodeContract, ""), "", second, first},
		"another word":     {answers("fine", api.CodeNone), second, first, ""},
		"no such endpoint": {nil, "", first + ", " + second, ""},
		"both ways": {func(a []string) (api.CodeResponse, error) {
			return answers(api.CodeContract, api.CodeNone)([]string{a[0], a[0]})
		}, first, second, ""},
		"of another address": {func([]string) (api.CodeResponse, error) {
			return answers(api.CodeContract)([]string{"eip155:1:" + first})
		}, "", first + ", " + second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := calling(t)
			b.f.code = c.code
			s := b.review1().Snapshot()
			for level, want := range map[verify.Level]string{verify.Warn: c.warn, verify.Unknown: c.unknown,
				verify.Show: c.show} {
				got := ""
				for _, x := range s.Report1.Reasons {
					if x.Code == "V7" && x.Level == level {
						got += x.Got
					}
				}
				if got != want {
					t.Errorf("%s: %q, want %q", level, got, want)
				}
			}
			for _, x := range s.Report1.Passed {
				if x.Code == "V7" {
					t.Errorf("passed: %s", x.Title)
				}
			}
			under := s.Under(false)
			stopped := slices.ContainsFunc(consent.Unaccepted(under.Report, []string{"V3", "V4"}),
				func(x verify.Reason) bool { return x.Code == "V7" })
			if stopped != (c.warn != "") {
				t.Errorf("--yes stops: %t", stopped)
			}
			if _, err := consent.ByPolicy(under, []string{"V3", "V4", "V7"}, nil); err != nil {
				t.Errorf("with --accept V7: %v", err)
			}
			under.Call.WholeConsent = true
			under.Call.Outflow = nil
			d := consent.Demanded(b.w.Catalog, under, consent.Person{From: consent.TypeFrom(), Draw: 1})
			if c.warn != "" && (d.Cause != consent.Codeless || !strings.HasPrefix(c.warn, d.Address)) ||
				c.warn == "" && d.Cause == consent.Codeless {
				t.Errorf("%+v", d)
			}
		})
	}
}

// A token of the catalogue and a payment without data need no answer: nothing is asked.
func TestTH_V7_OnlyCallsToUnlistedAddressesAreAskedFor(t *testing.T) {
	b := newBench(t)
	b.f.code = func(accounts []string) (api.CodeResponse, error) {
		t.Errorf("asked for %v", accounts)
		return api.CodeResponse{}, nil
	}
	if s := b.review1().Snapshot(); len(s.Intent.Calls) != 2 || slices.ContainsFunc(s.Report1.Reasons,
		func(x verify.Reason) bool { return x.Code == "V7" }) {
		t.Errorf("%+v", s.Report1.Reasons)
	}
}

// Of many addresses each level is one finding, and no more are asked for than the service takes; the others stay
// unknown.
func TestTH_V7_ManyAddressesAreOneFinding(t *testing.T) {
	b := newBench(t)
	for i := range 60 {
		to := common.Address{0x51, 19: byte(i)}.Hex()
		b.w.Draft.Calls = append(b.w.Draft.Calls, intent.Call{To: to, Data: "0x00"})
	}
	b.f.code = func(accounts []string) (api.CodeResponse, error) {
		if len(accounts) != 50 {
			t.Errorf("asked for %d", len(accounts))
		}
		return answers(slices.Repeat([]string{api.CodeNone}, len(accounts))...)(accounts)
	}
	var got []string
	for _, x := range b.review1().Snapshot().Report1.Reasons {
		if x.Code == "V7" {
			got = append(got, string(x.Level)+x.Got[strings.LastIndex(x.Got, " and "):])
		}
	}
	if want := []string{"warn and 47 more", "unknown and 7 more"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
