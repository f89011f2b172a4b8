//go:build unix

package commands

import (
	"strings"
	"testing"

	"coffer/ui/e2e/rig"
)

// TestD10_AContactIsTypedInTheCommands names an address and pays it by that name, in all three commands.
func TestD10_AContactIsTypedInTheCommands(t *testing.T) {
	t.Parallel()
	env, _ := rig.Team(t)
	const someone = "0xfe52613d747E20F2f62e0A5cC36B0DFAe771C442"
	named := rig.Script{T: t, Env: env}
	named.Runs(0, "contacts", "add", "Anna K.", someone)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	for _, args := range [][]string{
		{"transfer", "--asset", "usdc", "--amount", "20", "--to", "anna k.", "--chain", "base"},
		{"swap", "--asset", "usdc", "--amount", "20", "--for", "eth@base", "--to", "Anna K."},
		{"call", "--chain", "base", "--to", "usdc", "--function", "transfer(address to, uint256 amount)", "--arg",
			"Anna K.", "--arg", "20 USDC"},
	} {
		if out, _ := s.Runs(0, append(args, "--dry-run")...); !strings.Contains(out, someone+", Anna K.") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
	named.Runs(0, "contacts", "remove", "Anna K.")
	s.Runs(2, "transfer", "--asset", "usdc", "--amount", "20", "--to", "anna k.", "--chain", "base", "--dry-run")
}

// TestAPaymentRequestIsPaidExactly gives one to the built program.
func TestAPaymentRequestIsPaidExactly(t *testing.T) {
	t.Parallel()
	env, _ := rig.Team(t)
	s := rig.Script{T: t, Env: env, Pass: rig.Passphrase}
	const usdc = "ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/"
	out, said := s.Runs(0, "transfer", usdc+"transfer?address="+rig.Payee(t)+"&uint256=25500000&gasLimit=1",
		"--dry-run")
	if !strings.Contains(out, "To                   "+rig.Payee(t)+", Demo payee") ||
		!strings.Contains(out, " 25.5 USDC\n") ||
		!strings.Contains(said, "not kept of the request: gasLimit") {
		t.Errorf("%s\n%s", said, out)
	}
	for _, wrong := range [][]string{{usdc + "approve?address=" + rig.Payee(t) + "&uint256=1"},
		{usdc + "transfer?address=" + rig.Payee(t)}, {usdc + "transfer?address=" + rig.Payee(t) + "&uint256=1",
			"--chain",
			"op"}, {"ethereum:" + rig.Payee(t) + "@5?value=1"}} {
		s.Runs(2, append(append([]string{"transfer"}, wrong...), "--dry-run")...)
	}
}
