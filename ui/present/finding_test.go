package present

import (
	"strings"
	"testing"

	"coffer/wallet/verify"
)

// Every sentence of package verify about the policy has its own words here; "Not true: your policy allows" helps no
// user.
func TestPolicyRefusalsAreInPlainWords(t *testing.T) {
	for code, titles := range map[string][]string{
		"Y1": {"your policy allows the chain"},
		"Y2": {"everybody who receives something can be read", "your policy allows the recipient"},
		"Y3": {"your policy allows the contract"},
		"Y4": {"what the calls spend can be read", "what is spent has a known price",
			"what is spent is within your policy"},
		"Y5": {"what was spent within a day is known", "what is spent within a day has a known price",
			"what is spent within a day is within your policy"},
		"Y6": {"the cost is within your policy"},
		"Y7": {"your policy allows delegations"},
		"Y8": {"your slippage tolerance is within your policy"},
	} {
		seen := map[string]bool{}
		for _, title := range titles {
			x := verify.Reason{Code: code, Level: verify.Refuse, Title: "Not true: " + title + "."}
			got := Title(x)
			if strings.Contains(got, "Not true") || !strings.Contains(got, "our policy") &&
				!strings.Contains(got, "your policy") || seen[got] {
				t.Errorf("%s %s: %q", code, title, got)
			}
			seen[got] = true
			x.Level = verify.Unknown
			if Title(x) != x.Title {
				t.Errorf("%s: a check that could not be made is told as a refusal", code)
			}
		}
	}
	if x := (verify.Reason{Code: "Y9", Level: verify.Refuse, Title: "Not true: something new."}); Title(x) != x.Title {
		t.Error("an unknown row loses its title")
	}
}

func TestARefusalSaysWhoseFaultItIs(t *testing.T) {
	answer := verify.Reason{Code: "U7", Level: verify.Refuse}
	own := verify.Reason{Code: "Y1", Level: verify.Refuse}
	closed := verify.Reason{Code: "T7", Level: verify.Gate, Setting: "blind-signing"}
	open := verify.Reason{Code: "T7", Level: verify.Gate, Setting: "blind-signing", Open: true}
	for _, c := range []struct {
		reasons      []verify.Reason
		head, advice string
	}{
		{nil, "cannot be signed", "do not try again with this service"},
		{[]verify.Reason{open}, "The answer of the service cannot be signed", "do not try again"},
		{[]verify.Reason{own, own}, "Your own policy forbids this", "The service did nothing wrong"},
		{[]verify.Reason{closed}, "closed gate", "Leave the gate closed"},
		{[]verify.Reason{own, closed}, "and it is behind a closed gate", "The service did nothing wrong"},
		{[]verify.Reason{answer}, "fails 1 check.", "do not try again"},
		{[]verify.Reason{answer, own, open}, "fails 2 checks.", "do not try again"},
	} {
		r := verify.Report{Reasons: c.reasons}
		if got := Refused(r); !strings.Contains(got, c.head) {
			t.Errorf("%v: %q", c.reasons, got)
		}
		if got := Advice(r); !strings.Contains(got, c.advice) {
			t.Errorf("%v: %q", c.reasons, got)
		}
	}
}

func TestAFindingTellsWhatWasComparedAndNothingElse(t *testing.T) {
	x := verify.Reason{Code: "Q5", Level: verify.Refuse, Want: "5", Path: "ops[0]"}
	if got := Compared(x); len(got) != 2 || got[0] != (Fact{"wanted", "5"}) || got[1] != (Fact{"at", "ops[0]"}) {
		t.Error(got)
	}
	x = verify.Reason{Code: "Y4", Level: verify.Refuse, Want: "5", Got: "7"}
	if got := Compared(x); len(got) != 2 || got[0] != (Fact{"allowed", "5"}) || got[1] != (Fact{"this is", "7"}) {
		t.Error(got)
	}
}

func TestAGateNamesItsSetting(t *testing.T) {
	x := verify.Reason{Level: verify.Gate, Setting: "blind-signing"}
	if got := Gate(x); !strings.HasPrefix(got, "Closed gate.") || !strings.Contains(got, `"blind-signing"`) {
		t.Error(got)
	}
	x.Open = true
	if got := Gate(x); strings.Contains(got, "Closed") || !strings.Contains(got, `allows "blind-signing"`) {
		t.Error(got)
	}
	for _, none := range []verify.Reason{{Level: verify.Gate}, {Level: verify.Warn, Setting: "blind-signing"}} {
		if got := Gate(none); got != "" {
			t.Error(got)
		}
	}
}
