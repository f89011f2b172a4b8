package check

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"coffer/api/catalog"
	"coffer/ui/cli"
	"coffer/ui/internal/reviewtest"
	"coffer/ui/present"
	"coffer/wallet/consent"
)

func aboutCase(t *testing.T, c reviewtest.Case) present.Review {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return present.Review{Review: c.Review, Catalog: cat, Person: consent.Person{From: consent.TypeFrom()},
		Clock: cli.Clock}
}

// The text of `coffer verify` has every fact of a review.
func TestTheTextHasEveryFact(t *testing.T) {
	reviewtest.Drift(t, func(c reviewtest.Case) (string, []string, string) {
		r := Of("review", aboutCase(t, c))
		p := &page{}
		return func() string { p.review(r); return p.String() }(), p.shown, ""
	})
}

// outside are the fields that JSON leaves out, with the reason.
func outside(name string) string {
	switch {
	case strings.HasSuffix(name, "hain.ID"), strings.HasSuffix(name, "hain.Short"),
		strings.HasSuffix(name, "Delegation.Chain.Name"):
		return "the CAIP-2 id of the chain is there"
	case strings.HasSuffix(name, ".ChainName"), name == "quote.Legs.Chain.CAIP":
		return "the asset names its chain"
	}
	return ""
}

// Every field of every view is in the JSON of a review of some kind, or named above.
func TestEveryFieldIsInTheJSON(t *testing.T) {
	encoded := func(c reviewtest.Case) string {
		r := Prepared("review", aboutCase(t, c))
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	there := map[string]bool{}
	for i, c := range reviewtest.All() {
		was := encoded(c)
		for _, x := range reviewtest.Changes(i) {
			there[x.Name] = there[x.Name] || encoded(x.Case) != was
		}
	}
	for name, ok := range there {
		if why := outside(name); ok == (why != "") {
			t.Errorf("%s is in the JSON: %v, %s", name, ok, why)
		}
	}
}
