package docs

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"coffer/ui/present"
)

var update = flag.Bool("update", false, "write docs/terms.md from the terms of the program")

// TestThePageOfTermsIsThatOfTheProgram: what `?` explains on screen is what docs/terms.md says, in order.
func TestThePageOfTermsIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	page := "# Terms\n\nWhat the words on screen mean. In the dashboard `?` and then `t` shows this list, " +
		"line by line `? terms`,\nin a shell `coffer help terms`. These texts come from `ui/present/terms.go`; " +
		"`go test ./docs -run Terms -update` writes this page.\n\n| term | meaning |\n|---|---|\n"
	terms := present.Terms()
	for _, term := range terms {
		page += "| " + term.Name + " | " + term.Text + " |\n"
	}
	page += "\nNext: [guide.md](guide.md) for the use of the program, [security.md](security.md) for who " +
		"is trusted with what.\n"
	if *update {
		if err := os.WriteFile("terms.md", []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("terms.md")
	if err != nil || string(got) != page {
		t.Errorf("terms.md is not what ui/present/terms.go says (-update writes it): %v", err)
	}
	if !slices.IsSortedFunc(terms, func(a, b present.Term) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	}) {
		t.Error("the terms are not in the order of the alphabet")
	}
}
