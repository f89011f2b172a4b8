package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/wallet/intent"
	"coffer/wallet/internal/golden"
	"coffer/wallet/verify"
)

// recorded is one run through the real service, kept by the service's own tests (testdata/service): its intent, its two
// answers, and the judgements of this package on them. The clock of the recording is that of golden answers.
type recorded struct {
	name            string
	in              intent.Intent
	policy          verify.Policy
	prepared, quote *api.Document
}

// serviceKey is the label of the worthless key that owns the recorded account.
const serviceKey = "a key of this test"

func recordings(t testing.TB) []recorded {
	t.Helper()
	read := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", "service", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	document := func(name string) *api.Document {
		d, err := api.ParseDocument(read(name), api.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	n, err := network.Decode(read("network.json"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "service", "*.intent.json"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d recordings, %v", len(files), err)
	}
	var out []recorded
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".intent.json")
		in, err := intent.Parse(read(name+".intent.json"), api.Rules{Catalog: c, Now: clock()})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, recorded{name, in, verify.DefaultPolicy(n, c), document(name + ".prepared.json"),
			document(name + ".quote.json")})
	}
	return out
}

func (r recorded) judgePrepared(d *api.Document) (*verify.PreparedOp, verify.Report) {
	return verify.Prepared(r.in, r.policy, verify.NoHistory{}, clock(), d)
}

func (r recorded) signed(t testing.TB) *verify.SignedPrepared {
	t.Helper()
	p, report := r.judgePrepared(r.prepared)
	if p == nil {
		t.Fatalf("%s: %+v", r.name, report.Reasons)
	}
	return signedBy(t, p, serviceKey)
}

func TestAnswersOfTheRealServicePassUnderTheirCallType(t *testing.T) {
	for name, want := range map[string]struct {
		callType string
		legs     int
		deploys  bool
	}{
		"covered":          {api.CallSameChainExcludeSolver, 0, true},
		"cross-chain":      {api.CallCrossChain, 1, true},
		"several-chains":   {api.CallCrossChain, 2, true},
		"deployed":         {api.CallCrossChain, 1, false},
		"paid-in-eth":      {api.CallSameChainWithSolver, 1, true},
		"paid-in-dai":      {api.CallCrossChainSwaps, 1, true},
		"one-asset":        {api.CallCrossChain, 1, true},
		"allowances":       {api.CallSameChainExcludeSolver, 0, true},
		"nothing-required": {api.CallSameChainExcludeSolver, 0, true},
		"unlisted-token":   {api.CallCrossChain, 1, false},
		"coin-there":       {api.CallCrossChain, 1, false}, // a coin that is required and there is not swapped for
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range recordings(t) {
				if r.name != name {
					continue
				}
				p, report := r.judgePrepared(r.prepared)
				accepted(t, report)
				q, report := verify.Quote(r.in, r.policy, verify.NoHistory{}, clock(), r.signed(t), r.quote)
				accepted(t, report)
				v := q.View()
				if p.View().CallType != want.callType || v.CallType != want.callType || len(v.Legs) < want.legs ||
					(want.legs == 0) != q.SameChainOnly() || p.View().Deploys != want.deploys {
					t.Fatalf("announced %s, found %s with %d payments, deploys %v", p.View().CallType, v.CallType,
						len(v.Legs), p.View().Deploys)
				}
				if report.Has("P4", verify.Warn) || !v.Explained {
					t.Errorf("an honest answer raises %+v", report.Reasons)
				}
				return
			}
			t.Fatal("not recorded")
		})
	}
}

// serviceSubjects are the recordings as subjects of the mutator, with fewer random edits each: there are many.
func serviceSubjects(t testing.TB) []subject {
	var out []subject
	for _, r := range recordings(t) {
		s := r.signed(t)
		w := &world{World: &golden.World{T: t, Draft: r.in.Draft(), Network: r.policy.Network,
			Catalog: r.policy.Catalog}, Policy: r.policy}
		out = append(out, subject{"service prepare " + r.name, r.prepared, verify.PreparedLeaves(),
			func(d *api.Document) (bool, verify.Report) {
				p, report := r.judgePrepared(d)
				preparedViewIsWhatGetsSigned(t, w, p, d)
				return p != nil, report
			}, 3})
		table := verify.QuoteLeaves()
		if q, _ := verify.Quote(r.in, r.policy, verify.NoHistory{}, clock(), s, r.quote); q != nil &&
			q.SameChainOnly() {
			table = append([]verify.Leaf{{Pattern: "/id", Class: verify.Opaque, Code: "Q1"}}, table...)
		}
		out = append(out, subject{"service quote " + r.name, r.quote, table,
			func(d *api.Document) (bool, verify.Report) {
				q, report := verify.Quote(r.in, r.policy, verify.NoHistory{}, clock(), s, d)
				quoteViewIsWhatGetsSigned(t, w, q, d)
				return q != nil, report
			}, 3})
	}
	return out
}
