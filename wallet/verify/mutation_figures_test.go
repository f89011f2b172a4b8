package verify_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"coffer/wallet/verify"
)

// everyLieWasTold demands that each lie found a document for which it was told, and that a lie which may be accepted
// was accepted once.
func everyLieWasTold(t *testing.T, told *ledger) {
	t.Helper()
	for _, l := range falsehoods() {
		f := told.rows[l.about+": "+l.what]
		switch {
		case f == nil:
			t.Errorf("%s (%s): no document has a place for this lie", l.what, l.about)
		case l.class != verify.Bound && f.accepted[l.class] == 0:
			t.Errorf("%s (%s): declared %s and never accepted", l.what, l.about, l.class)
		}
	}
}

// liesTable is the second table of docs/security.md: by what is lied about, and then the lies that are not always
// refused.
func liesTable(told *ledger) string {
	out := []string{"| a lie told in every place, about | lies | documents | mutants | refused | accepted |",
		"|---|---:|---:|---:|---:|---:|"}
	kinds, all := map[string]int{}, figures{}
	for _, l := range falsehoods() {
		kinds[l.about]++
	}
	lies := 0
	for _, about := range slices.Sorted(maps.Keys(kinds)) {
		f := told.rows[about]
		if f == nil {
			continue
		}
		out = append(out, fmt.Sprintf("| %s | %d | %d | %d | %d | %d |", about, kinds[about], told.documents[about],
			f.mutants, f.refused, f.mutants-f.refused))
		all.add(*f)
		lies += kinds[about]
	}
	out = append(out, fmt.Sprintf("| **all** | %d | | %d | %d | %d |", lies, all.mutants, all.refused,
		all.mutants-all.refused), "", "| accepted | class | told | accepted | because |", "|---|---|---:|---:|---|")
	for _, l := range falsehoods() {
		if f := told.rows[l.about+": "+l.what]; l.class != verify.Bound && f != nil {
			out = append(out, fmt.Sprintf("| %s (%s) | %s | %d | %d | %s |", l.what, l.about, l.class, f.mutants,
				f.accepted[l.class], l.why))
		}
	}
	return strings.Join(out, "\n")
}

// The figures stand between these lines of docs/security.md.
const (
	figuresBegin = "<!-- mutation figures: begin -->"
	figuresEnd   = "<!-- mutation figures: end -->"
)

// writeFigures puts the tables into docs/security.md, at its end when the lines are not there.
func writeFigures(t *testing.T, book, told *ledger) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "security.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	if !strings.Contains(text, figuresBegin) {
		text += "\n## Mutation figures\n\n" + figuresBegin + "\n" + figuresEnd + "\n"
	}
	before, rest, _ := strings.Cut(text, figuresBegin)
	_, after, found := strings.Cut(rest, figuresEnd)
	if !found {
		t.Fatalf("%s has no end of the figures", path)
	}
	if err := os.WriteFile(path, []byte(before+figuresBegin+"\n"+figuresText(book, told)+figuresEnd+after),
		0o644); err != nil {
		t.Fatal(err)
	}
}

func figuresText(book, told *ledger) string {
	return "\nMade by `" + wholeMutations +
		"=1 go test ./wallet/verify -run TestMutations -timeout 60m -update` from the answers of the real service in " +
		"`wallet/verify/testdata/golden`\n(`go test ./api/service -run Golden -update` makes those). A mutant that " +
		"changes a bound value is refused, always. What is accepted differs in leaves " +
		"alone that\n`wallet/verify/leaves.go` declares as bounded, opaque or display, or means the same, and signs " +
		"the same.\n\n" +
		book.table() + "\n\n" + liesTable(told) + "\n\n" + sameText() + "\n"
}

// sameText lists what has two spellings of one meaning.
func sameText() string {
	out := "The same meaning have: the letter case of hex digits, JSON's escapes, the order of an object's members, " +
		"and\n\n"
	row := func(kind string, f freedom) { out += fmt.Sprintf("- `%s` %s: %s\n", f.pattern, kind, f.why) }
	for _, f := range sets() {
		row("in another order", f)
	}
	for _, f := range optional() {
		row("left out", f)
	}
	for _, v := range slices.Sorted(maps.Keys(spelled())) {
		row("as `"+v+"`", spelled()[v])
	}
	return out
}
