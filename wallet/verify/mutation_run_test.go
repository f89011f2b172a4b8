package verify_test

import (
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"coffer/api"
	"coffer/wallet/verify"
)

// wholeMutations set to anything runs every mutant; otherwise each leaf gets a few.
const wholeMutations = "COFFER_TEST_WHOLE"

var updateFigures = flag.Bool("update", false, "write the mutation figures into docs/security.md (with "+wholeMutations+
	"=1)")

// effort is how many mutants of each sort are made.
type effort struct{ hostile, near, edits, neighbours, structures, foreign, lies int }

func effortOfRun() effort {
	if os.Getenv(wholeMutations) != "" {
		return effort{hostile: 1000, near: 1000, edits: 16, neighbours: 16, structures: 300, foreign: 6, lies: 6}
	}
	if testing.Short() {
		return effort{near: 1, edits: 2, lies: 1}
	}
	return effort{hostile: 1, near: 1, edits: 2, neighbours: 1, structures: 1, lies: 1}
}

// mutants hands every mutant of a specimen to try: the pointer that is written at, and the raw value. Pool holds the
// documents whose values are borrowed.
func (s *specimen) mutants(e effort, rng *rand.Rand, pool []*specimen, try func(pointer, raw string)) {
	var values []string
	for _, raw := range leaves(s.base) {
		if !slices.Contains(values, raw) {
			values = append(values, raw)
		}
	}
	slices.Sort(values)
	s.base.Leaves(func(pointer string, raw []byte) {
		for _, all := range [][]string{
			some(hostile(), rng, e.hostile), some(near(string(raw), rng, e.edits), rng, e.near),
			some(values, rng, e.neighbours), s.borrowed(pool, pointer, e.foreign),
		} {
			for _, v := range all {
				if v != string(raw) {
					try(pointer, v)
				}
			}
		}
	})
	for _, p := range parts(s.base) {
		for _, v := range append(some(p.structures(), rng, e.structures), s.borrowed(pool, p.pointer, e.foreign)...) {
			try(p.pointer, v)
		}
	}
}

// borrowed are values that other documents have at the same place.
func (s *specimen) borrowed(pool []*specimen, pointer string, n int) []string {
	var out []string
	own, _ := s.base.At(pointer)
	for _, other := range pool {
		if len(out) >= n {
			break
		}
		if raw, there := other.base.At(pointer); other != s && there && string(raw) != string(own) &&
			!slices.Contains(out, string(raw)) {
			out = append(out, string(raw))
		}
	}
	return out
}

// figures count the fate of mutants.
type figures struct {
	documents, leaves, mutants, refused int
	bound                               int // of the refused: a bound value was changed, or the text was no document
	accepted                            map[verify.Class]int
}

func (f *figures) add(g figures) {
	f.documents, f.leaves, f.mutants = f.documents+g.documents, f.leaves+g.leaves, f.mutants+g.mutants
	f.refused, f.bound = f.refused+g.refused, f.bound+g.bound
	if f.accepted == nil {
		f.accepted = map[verify.Class]int{}
	}
	for c, n := range g.accepted {
		f.accepted[c] += n
	}
}

// ledger collects figures by kind of document, and which declared leaves were ever accepted with another value.
type ledger struct {
	mu        sync.Mutex
	rows      map[string]*figures
	present   map[string]verify.Class // patterns of not bound leaves in any document
	moved     map[string]bool         // of them: accepted with another value
	documents map[string]int          // of lies: how many documents were lied about
}

func newLedger() *ledger {
	return &ledger{rows: map[string]*figures{}, present: map[string]verify.Class{}, moved: map[string]bool{},
		documents: map[string]int{}}
}

func (l *ledger) enter(kind string, f figures, present map[string]verify.Class, moved map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows[kind] == nil {
		l.rows[kind] = &figures{}
	}
	l.rows[kind].add(f)
	maps.Copy(l.present, present)
	maps.Copy(l.moved, moved)
}

// TestMutationsAreRefusedExceptInDeclaredLeaves runs over every golden document: whatever is accepted differs from the
// original in leaves alone that the class table declares as bounded, opaque or display, or means the same, and signs
// the same. With COFFER_TEST_WHOLE every mutant is made, and each declared leaf must have been accepted with another
// value; -update then writes the figures into docs/security.md.
func TestMutationsAreRefusedExceptInDeclaredLeaves(t *testing.T) {
	pool, e := specimens(t), effortOfRun()
	book, told := newLedger(), newLedger()
	t.Run("documents", func(t *testing.T) {
		for _, s := range pool {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				s.run(t, e, pool, book)
				s.lies(t, e, told)
			})
		}
	})
	t.Logf("\n%s\n\n%s", book.table(), liesTable(told))
	if os.Getenv(wholeMutations) == "" || book.total().documents < len(pool) {
		return // some mutants, or some documents by -run
	}
	maps.Copy(book.moved, told.moved)
	book.judge(t)
	everyLieWasTold(t, told)
	if *updateFigures && !t.Failed() {
		writeFigures(t, book, told)
	}
}

func (s *specimen) run(t *testing.T, e effort, pool []*specimen, book *ledger) {
	honest := s.judge(s.base)
	if !honest.accepted {
		t.Fatalf("the golden document is refused: %+v", refusals(honest.report))
	}
	f := figures{documents: 1, accepted: map[verify.Class]int{}}
	present, moved := map[string]verify.Class{}, map[string]bool{}
	for pointer := range leaves(s.base) {
		f.leaves++
		l, ok := s.leaf(pointer)
		if !ok {
			t.Errorf("%s is in no class", pointer)
		} else if l.Class != verify.Bound {
			present[l.Pattern] = l.Class
		}
	}
	rng := rand.New(rand.NewSource(int64(crc32.ChecksumIEEE([]byte(s.name)))))
	s.mutants(e, rng, pool, func(pointer, raw string) {
		f.mutants++
		d, err := s.base.Splice(api.Edit{Pointer: pointer, Value: []byte(raw)})
		if err != nil { // the gate in front of every reader: no JSON, a name twice, names that differ in case
			f.refused, f.bound = f.refused+1, f.bound+1
			return
		}
		v := s.judge(d)
		s.reasons(t, pointer, v)
		class, touched := s.classify(d)
		if !v.accepted {
			f.refused++
			if class == verify.Bound {
				f.bound++
			}
			return
		}
		f.accepted[class]++
		switch {
		case class == verify.Bound:
			t.Errorf("accepted at %s with bound changes in %v: %.200s", pointer, touched, raw)
		case v.signs != honest.signs || slices.ContainsFunc(v.delegates,
			func(d string) bool { return !slices.Contains(honest.delegates, d) }):
			t.Errorf("accepted at %s and signs something else: %.200s\n%s %s\nnot\n%s %s", pointer, raw, v.signs,
				v.delegates, honest.signs, honest.delegates)
		}
		for _, p := range touched {
			moved[p] = true
		}
	})
	book.enter(s.kind, f, present, moved)
}

// reasons demands a verdict with a reason, and rows of docs/threats.md as codes.
func (s *specimen) reasons(t *testing.T, at string, v judgement) {
	t.Helper()
	if v.accepted == v.report.Refused() {
		t.Fatalf("%s: a value and a refusal, or neither", at)
	}
	for _, r := range v.report.Reasons {
		if !rowOfTheTable(r.Code) || r.Title == "" || r.Level == "" {
			t.Fatalf("%s: a reason of no row: %+v", at, r)
		}
	}
}

// rowOfTheTable reports whether a code is a row of docs/threats.md or of the policy.
func rowOfTheTable(code string) bool {
	last, ok := map[byte]int{'L': 6, 'P': 7, 'U': 15, 'T': 8, 'D': 6, 'Q': 15, 'S': 13, 'V': 6, 'X': 3, 'H': 4, 'B': 4,
		'Y': 8}[(code + " ")[0]]
	if !ok {
		return false
	}
	n := atoi(code[1:])
	return n >= 1 && n <= last && code[1:] == number(n)
}

// judge demands that every leaf which the table declares as not bound was accepted with another value at least once: a
// freedom that does not exist is an error of the table.
func (l *ledger) judge(t *testing.T) {
	t.Helper()
	for _, p := range slices.Sorted(maps.Keys(l.present)) {
		if !l.moved[p] {
			t.Errorf("%s is declared %s and was never accepted with another value", p, l.present[p])
		}
	}
	all := l.total()
	if all.documents < 12 || all.mutants < 100_000 {
		t.Errorf("%d mutants of %d documents", all.mutants, all.documents)
	}
}

func (l *ledger) total() figures {
	var all figures
	for _, f := range l.rows {
		all.add(*f)
	}
	return all
}

// table is what docs/security.md quotes.
func (l *ledger) table() string {
	out := []string{
		"| documents of | documents | leaves | mutants | refused | of them bound | accepted: same meaning | bounded " +
			"| opaque | display |",
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
	}
	line := func(name string, f figures) {
		out = append(out, fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d |", name, f.documents,
			f.leaves, f.mutants, f.refused, f.bound,
			f.accepted[kept], f.accepted[verify.Bounded], f.accepted[verify.Opaque], f.accepted[verify.Display]))
	}
	for _, k := range slices.Sorted(maps.Keys(l.rows)) {
		line(k, *l.rows[k])
	}
	line("**all**", l.total())
	return strings.Join(out, "\n")
}
