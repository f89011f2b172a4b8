//go:build unix

package commands

import (
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// TestTH_V7_YesRefusesACallToAnAddressWithoutCode: the real program asks its service, names the code, and signs with
// --accept. A call to a contract that no list names passes.
func TestTH_V7_YesRefusesACallToAnAddressWithoutCode(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	s := rig.Script{T: t, Env: env}
	call := func(to string, more ...string) []string {
		return append([]string{"call", "--chain", "base", "--to", to, "--data", "0xd0e30db0", "--value", "0.001 ETH",
			"--yes"}, more...)
	}
	const nowhere = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
	_, errs := s.Runs(4, call(nowhere, "--accept", "V3,V4,Q10,Q11,U3")...)
	if !strings.Contains(errs, "--accept V7") || !strings.Contains(errs,
		"V7 The service says that there is no code where a call goes") || !strings.Contains(errs, nowhere) {
		t.Error(errs)
	}
	s.Runs(0, call(nowhere, "--accept", "V3,V4,Q10,Q11,U3,V7")...)
	// the deployer of CREATE2 contracts is on every chain and in no list: it makes an empty contract
	_, errs = s.Runs(0, "call", "--chain", "base", "--to", "0x4e59b44847b379578588920cA78FbF26c0B4956C", "--data",
		"0x"+strings.Repeat("0", 66), "--yes", "--accept", "V3,V4,Q10,Q11,U3,J4")
	if strings.Contains(errs, "no code") || strings.Contains(errs, "not known.") {
		t.Error(errs)
	}
}
