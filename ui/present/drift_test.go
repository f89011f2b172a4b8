package present

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/api/catalog"
	"coffer/ui/internal/reviewtest"
	"coffer/wallet/consent"
)

// pageOf is the page of a review, and the text of the pages behind it.
func pageOf(t testing.TB, c reviewtest.Case) (p Page, behind string) {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := Review{Review: c.Review, Catalog: cat, Previous: c.Previous, Person: consent.Person{From: consent.TypeFrom()},
		Clock: func(at time.Time) string { return at.Format("15:04:05") }}
	if r.Quote != nil {
		p = Review2(r)
	} else {
		p = Review1(r)
	}
	return p, textOf(Inspect(r)) + textOf(Checks(r.Report))
}

func textOf(p Page) string {
	text := ""
	for _, l := range p.Say(false) {
		text += l.Label + " " + l.Text() + " " + l.Code + "\n"
	}
	return text
}

func TestAPageHasEveryFact(t *testing.T) {
	reviewtest.Drift(t, func(c reviewtest.Case) (string, []string, string) {
		p, behind := pageOf(t, c)
		return textOf(p), p.Paths(), behind
	})
}

// without are the pages that a page becomes when one of its blocks is left out, with the paths of that block.
func without(p Page, each func(left Page, paths []string)) {
	for i, b := range p {
		each(slices.Delete(slices.Clone(p), i, i+1), Page{b}.Paths())
		for k, pair := range b.Pairs {
			for j, x := range pair.Holds {
				less, pairs := slices.Clone(p), slices.Clone(b.Pairs)
				pairs[k].Holds = slices.Delete(slices.Clone(pair.Holds), j, j+1)
				less[i].Pairs = pairs
				each(less, x.Paths)
			}
			for j, x := range pair.Asked {
				less, pairs := slices.Clone(p), slices.Clone(b.Pairs)
				pairs[k].Asked = slices.Delete(slices.Clone(pair.Asked), j, j+1)
				less[i].Pairs = pairs
				each(less, x.Paths)
			}
		}
	}
}

// Every block with a mandatory fact is needed: without it nobody can consent.
func TestAPageWithoutABlockIsNoConsent(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range reviewtest.All() {
		page, _ := pageOf(t, c)
		d := consent.Demanded(cat, c.Review, consent.Person{From: consent.TypeFrom(), Draw: 1})
		a := consent.Answers{Shown: page.Paths(), Phrase: d.Phrase, Amount: d.Least}
		if d.Address != "" {
			a.Letters = strings.TrimPrefix(d.Address, "0x")[d.Place-1:][:consent.Letters]
		}
		if _, err := consent.Give(c.Review, d, a); err != nil {
			t.Errorf("%s: the whole page: %v", c.Name, err)
			continue
		}
		mandatory := map[string]bool{}
		for _, f := range consent.Facts(c.Review) {
			mandatory[f.Path] = f.Mandatory
		}
		cuts := 0
		without(page, func(left Page, paths []string) {
			if !slices.ContainsFunc(paths, func(path string) bool { return mandatory[path] }) {
				return
			}
			cuts++
			a.Shown = left.Paths()
			if _, err := consent.Give(c.Review, d, a); !errors.Is(err, consent.ErrUnshown) {
				t.Errorf("%s: consent without %v: %v", c.Name, paths, err)
			}
		})
		if cuts < 5 {
			t.Errorf("%s: only %d blocks have mandatory facts", c.Name, cuts)
		}
	}
}

// What has to be typed is the beginning of a figure of the headline.
func TestWhatIsTypedIsInTheHeadline(t *testing.T) {
	typed := 0
	for _, c := range reviewtest.All() {
		r := Review{Review: c.Review, Person: consent.Person{From: consent.TypeFrom()}}
		var err error
		if r.Catalog, err = catalog.Load(); err != nil {
			t.Fatal(err)
		}
		d := r.demand()
		if d.Least == "" {
			continue
		}
		typed++
		if words := r.Headline(); !strings.HasPrefix(words[1], d.Least) && !strings.Contains(words[1], " "+d.Least) {
			t.Errorf("%s: %s is not in %q", c.Name, d.Least, words)
		}
	}
	if typed < 5 {
		t.Errorf("only %d reviews take an amount", typed)
	}
}
