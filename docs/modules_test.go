package docs

import (
	"os"
	"regexp"
	"testing"
)

// K15: modules that were years old or had known faults stay at the versions that were raised, and what was cut stays
// cut. go-shlex and zapdriver have no later version; charm.land/ssh and solana-go, which the program is built on, bring
// them.
func TestK15_RaisedModulesStayRaisedAndCutOnesStayCut(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for old, why := range map[string]string{
		`github\.com/StackExchange/wmi `:                            "is cut",
		`github\.com/klauspost/compress v1\.(1[0-7]\.|18\.[0-6]\b)`: "is below 1.18.7",
		`go\.mongodb\.org/mongo-driver v1\.(\d|1[0-6])\.`:           "is below 1.17",
		`(?m)^replace `: "replaces a module",
	} {
		if found := regexp.MustCompile(old).Find(raw); found != nil {
			t.Errorf("go.mod: %s %s", found, why)
		}
	}
}
