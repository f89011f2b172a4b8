package builder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/caip"
	"coffer/ui/compose"
)

// openPayouts opens the dialog as a person does.
func openPayouts(r *rig) *rig { return r.press("o", "down", "enter") }

const twoPayouts = "Demo payee,25\r0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed,1.5\r"

func TestAPastedListOfPayoutsBecomesTheCalls(t *testing.T) {
	r := keepRig(t, &memory{})
	r.press("d") // what was there comes back
	before := r.frozen().Hash()
	openPayouts(r).paste(twoPayouts).press("enter")
	if r.s.prompt.open || !r.s.choice.IsOpen() || !strings.Contains(r.view(), "Which asset do they pay, and where") {
		t.Fatalf("nothing asks for the asset\n%s", r.view())
	}
	r.typeText("USDC on Opti").press("enter")
	d := r.frozen().Draft()
	if d.TargetChain != "eip155:10" || len(d.Calls) != 2 || d.TokensRequired[0].Amount != "26500000" ||
		!strings.Contains(d.Calls[0].Data, strings.ToLower(payee[2:])) {
		t.Errorf("%+v %+v", d.Calls, d.TokensRequired)
	}
	if want := "2 payments on Optimism: 26.5 USDC"; !strings.Contains(r.s.note.Text, want) {
		t.Errorf("%q", r.s.note.Text)
	}
	if r.press("U"); r.frozen().Hash() != before {
		t.Errorf("what was there is lost: %+v", r.frozen().Draft())
	}
}

func TestAListOfPayoutsIsReadFromAFile(t *testing.T) {
	r := keepRig(t, &memory{})
	path := filepath.Join(t.TempDir(), "wages.csv")
	if err := os.WriteFile(path, []byte(twoPayouts[:13]+",usdc@base,rent\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	openPayouts(r).typeText(path).press("enter")
	if d := r.frozen().Draft(); len(d.Calls) != 1 || d.Calls[0].Note != "rent" || r.s.b.Chain != caip.EVM(8453) {
		t.Errorf("%+v", d.Calls)
	}
	r.press("X", "o").typeText(path).press("enter") // typed into the list of what can be opened
	if d := r.frozen().Draft(); r.s.prompt.open || len(d.Calls) != 1 || d.Calls[0].Note != "rent" {
		t.Errorf("%+v\n%s", d.Calls, r.view())
	}
	r.press("o").typeText("document").press("enter")
	if !r.s.prompt.open || r.s.prompt.wrong != "" || r.s.prompt.field.Value() != "" {
		t.Errorf("%q\n%s", r.s.prompt.wrong, r.view())
	}
	r.press("esc")
	r.s.ctx.NoFiles = "a guest has no files"
	openPayouts(r).typeText(path).press("enter")
	if !r.s.prompt.open || r.s.prompt.wrong != "paste it: a guest has no files" {
		t.Errorf("%q", r.s.prompt.wrong)
	}
}

// TestEveryFaultOfAPastedListStandsInTheDialog: one a line, as far as there is room, and nothing is read. What is wrong
// with the asset alone comes back to the dialog with the list in it.
func TestEveryFaultOfAPastedListStandsInTheDialog(t *testing.T) {
	r := keepRig(t, &memory{})
	was := r.s.b
	openPayouts(r).paste("Demo payee,x,usdc@base\nnobody,1\n0x12,1\n").press("enter")
	for _, want := range []string{"line 1, amount: ", "line 2, recipient: \"nobody\"", "line 3, recipient: 2 of 40"} {
		if !strings.Contains(r.view(), want) {
			t.Errorf("%q is not there\n%s", want, r.view())
		}
	}
	r.press("esc")
	openPayouts(r).paste("Demo payee,0\n" + strings.Repeat("Demo payee,1,doge@base\n", 12)).press("enter")
	if !strings.Contains(r.view(), "and 5 more; coffer pay FILE --dry-run prints all") {
		t.Errorf("the rest is not counted\n%s", r.view())
	}
	r.press("esc")
	openPayouts(r).paste("Demo payee,0.0000001\n").press("enter")
	r.typeText("USDC on Base").press("enter")
	if !r.s.prompt.open || r.s.prompt.doc == "" || !strings.Contains(r.s.prompt.wrong, "at most 6 decimals") {
		t.Errorf("%q", r.s.prompt.wrong)
	}
	if r.s.b != was {
		t.Error("a list with faults was read")
	}
}

func TestARecipientThatIsPaidTwiceIsMarked(t *testing.T) {
	r := keepRig(t, &memory{})
	openPayouts(r).paste("Demo payee,25,usdc@base\nDemo payee,1,usdc\n").press("enter")
	if c := r.s.Cautions(r.s.b)[compose.IDArg(1, []int{0})]; c.Text != "call 1 pays the same address" {
		t.Errorf("%+v", c)
	}
}
