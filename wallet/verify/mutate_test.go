package verify_test

import (
	"encoding/json"
	"math/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"coffer/api"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// replace puts a value at a pointer without touching any other byte.
func replace(t testing.TB, d *api.Document, pointer string, val any) *api.Document {
	t.Helper()
	raw, err := json.Marshal(val)
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Splice(api.Edit{Pointer: pointer, Value: raw})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// drop removes a member or an array element without touching any other byte; golden documents have no spaces.
func drop(t testing.TB, d *api.Document, pointer string) *api.Document {
	t.Helper()
	at := strings.LastIndexByte(pointer, '/')
	parent, _ := d.At(pointer[:at])
	val, _ := d.At(pointer)
	text := string(val)
	if parent[0] == '{' {
		name := strings.ReplaceAll(strings.ReplaceAll(pointer[at+1:], "~1", "/"), "~0", "~")
		text = `"` + name + `":` + text
	}
	for _, part := range []string{text + ",", "," + text, text} {
		if strings.Contains(string(parent), part) {
			out, err := d.Splice(api.Edit{Pointer: pointer[:at],
				Value: []byte(strings.Replace(string(parent), part, "", 1))})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
	}
	t.Fatalf("cannot drop %s", pointer)
	return nil
}

// mutants returns the values that a leaf is replaced with: other types, hostile forms, and small edits of its text.
func mutants(raw string, rng *rand.Rand, edits int) []any {
	out := []any{
		nil, "", "0x", "0", "1", "-1", "1e9", " 1", "0x10", "00", true, json.Number("1"), json.Number("-1"),
		json.Number("1.5"), []any{}, map[string]any{},
		"0x000000000000000000000000000000000000dEaD",
		"115792089237316195423570985008687907853269984665640564039457584007913129639935",
		"eip155:1/slip44:60", "ob:eth", "COMPLETED", strings.Repeat("9", 79), "1\u202e",
		"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/slip44:501",
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) != nil {
		for _, d := range []string{"0", "1", "10", "42161", "18", "9007199254740993", "8453.0", "8.453e3"} {
			out = append(out, json.Number(d))
		}
		return out
	}
	const alphabet = "0123456789abcdefABF:/"
	for range edits {
		b := []byte(s)
		if len(b) == 0 {
			break
		}
		k := rng.Intn(len(b))
		switch rng.Intn(4) {
		case 0:
			b[k] = alphabet[rng.Intn(len(alphabet))]
		case 1:
			b = append(b[:k:k], b[k+1:]...)
		case 2:
			b = append(b[:k:k], append([]byte{alphabet[rng.Intn(len(alphabet))]}, b[k:]...)...)
		case 3:
			b = b[:k]
		}
		out = append(out, string(b))
	}
	return out
}

type subject struct {
	name  string
	base  *api.Document
	table []verify.Leaf
	judge func(*api.Document) (bool, verify.Report)
	edits int // random small edits of each text leaf
}

// subjects are golden documents of a kernel account, built here, and the recordings of the service; the figures over
// all kinds of accounts come from TestMutationsAreRefusedExceptInDeclaredLeaves.
func subjects(t testing.TB) []subject {
	var out []subject
	prepare := func(name string, change func(*world)) {
		w := newWorld(t)
		change(w)
		w.Freeze()
		out = append(out, subject{name, w.Document(w.PrepareResponse()), verify.PreparedLeaves(),
			func(d *api.Document) (bool, verify.Report) {
				p, r := w.prepared(d)
				preparedViewIsWhatGetsSigned(t, w, p, d)
				return p != nil, r
			}, 10})
	}
	prepare("prepare", func(*world) {})
	prepare("prepare new account", func(w *world) { w.Deploy = true })
	quote := func(name string, callType string, build func(w *world) api.Quote) {
		w := newWorld(t)
		w.CallType = callType
		if callType == api.CallCrossChainSwaps {
			w.Draft.FundWith = "ob:eth"
		}
		w.Freeze()
		s := w.signed()
		table := verify.QuoteLeaves()
		if callType == api.CallSameChainExcludeSolver {
			// without a deposit nothing carries the quote id: it is only a name, which must be new
			table = append([]verify.Leaf{{Pattern: "/id", Class: verify.Opaque, Code: "Q1"}}, table...)
		}
		out = append(out, subject{name, w.Document(build(w)), table, func(d *api.Document) (bool, verify.Report) {
			q, r := w.quote(s, d)
			quoteViewIsWhatGetsSigned(t, w, q, d)
			return q != nil, r
		}, 10})
	}
	quote("quote cross chain", api.CallCrossChain, (*world).CrossChain)
	quote("quote same chain", api.CallSameChainExcludeSolver, (*world).SameChain)
	quote("quote paid in ETH", api.CallCrossChainSwaps, (*world).nativeQuote)
	return append(out, serviceSubjects(t)...)
}

// nativeQuote pays with ETH of another chain for USDC: 0.0832 ETH at 3 012.45 are $250.64.
func (w *world) nativeQuote() api.Quote {
	return w.QuoteResponse("83200000000000000", map[string]string{arbETH: "60000000000000"},
		golden.Payment{Asset: arbETH, Amount: 83_200_000_000_000_000, Sequence: 2, Deploy: false})
}

// tally counts the fate of mutants over all subjects.
type tally struct {
	mu              sync.Mutex
	total, refusals int
	tolerated       map[string]int
}

func (c *tally) count(accepted bool, where string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	if accepted {
		c.tolerated[where]++
	} else {
		c.refusals++
	}
}

func TestEveryMutationOfABoundLeafIsRefusedWithAReason(t *testing.T) {
	all := &tally{tolerated: map[string]int{}}
	t.Run("subjects", func(t *testing.T) {
		for _, s := range subjects(t) {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				if ok, r := s.judge(s.base); !ok {
					t.Fatalf("golden document refused: %+v", r.Reasons)
				}
				rng := rand.New(rand.NewSource(7))
				s.base.Leaves(func(pointer string, raw []byte) { s.mutate(t, pointer, string(raw), rng, all) })
			})
		}
	})
	t.Logf("%d mutants, %d refused, %d accepted in %d declared leaves", all.total, all.refusals, all.total-all.refusals,
		len(all.tolerated))
	if least := 20_000 / thinning(); all.total < least {
		t.Errorf("only %d mutants", all.total)
	}
}

// mutate drops a leaf and replaces it with every mutant of it; only a leaf that is not bound may be accepted with
// another value.
func (s subject) mutate(t *testing.T, pointer, original string, rng *rand.Rand, all *tally) {
	row, ok := verify.FindLeaf(s.table, pointer)
	if !ok {
		t.Errorf("%s is in no class", pointer)
		return
	}
	for i, m := range append([]any{"dropped"}, mutants(original, rng, s.edits)...) {
		if i > 0 && rng.Intn(thinning()) > 0 {
			continue
		}
		var doc *api.Document
		if i == 0 {
			doc = drop(t, s.base, pointer)
		} else {
			doc = replace(t, s.base, pointer, m)
		}
		if sameValue(s.base, doc, pointer) {
			continue
		}
		accepted, r := s.judge(doc)
		all.count(accepted, s.name+" "+row.Pattern)
		switch {
		case accepted == r.Refused():
			t.Fatalf("%s: a value and a refusal, or neither", pointer)
		case accepted && row.Class == verify.Bound && !optionalBound(pointer, i == 0):
			t.Errorf("accepted a mutant of bound leaf %s: %v", pointer, m)
		}
		for _, x := range r.Reasons {
			if x.Code == "" || x.Title == "" {
				t.Fatalf("%s: a reason without name: %+v", pointer, x)
			}
		}
	}
}

// thinning says that one of so many mutants is tried: with COFFER_TEST_WHOLE all of them.
func thinning() int {
	switch {
	case os.Getenv(wholeMutations) != "":
		return 1
	case testing.Short():
		return 10
	}
	return 4
}

// sameValue reports whether a mutant only changes the letter case of a hex string or nothing at all.
func sameValue(a, b *api.Document, pointer string) bool {
	x, okX := a.At(pointer)
	y, okY := b.At(pointer)
	return okX && okY && strings.EqualFold(string(x), string(y))
}

// optionalBound lists bound leaves that may be absent: what is absent cannot mislead, and the view never shows it.
func optionalBound(pointer string, dropped bool) bool {
	if !dropped {
		return false
	}
	for _, suffix := range []string{"/destinationToken/decimals", "/destinationToken/symbol", "/deploymentType"} {
		if strings.HasSuffix(pointer, suffix) {
			return true
		}
	}
	return false
}
