package verify_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// goldenCase is one run through the real service: what was asked, what was answered, and what was signed in between.
// The service's own tests write it:
//
//	go test ./api/service -run Golden -update
type goldenCase struct {
	Name       string
	Now        int64
	Intent     json.RawMessage
	Network    json.RawMessage
	Prepared   string
	Signatures *struct {
		Operation  string
		Delegation *api.DelegationSignature
	}
	Quote string
}

// specimen is one golden document with the judgement that it is given to.
type specimen struct {
	name     string // "v3-kernel-funded quote"
	kind     string // its row of the table
	v1       bool
	prepared bool
	call     bool
	policy   verify.Policy
	in       intent.Intent
	base     *api.Document
	table    []verify.Leaf
	found    map[string]foundLeaf // rows of the table that were looked up
	flat     map[string]string    // the original's leaves, once they were listed
	judge    func(*api.Document) judgement
}

type foundLeaf struct {
	leaf verify.Leaf
	ok   bool
}

// judgement is a verdict with what would be signed in short, "" when nothing would.
type judgement struct {
	accepted  bool
	signs     string
	delegates []string
	report    verify.Report
}

func goldenCases(t testing.TB) []goldenCase {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d golden cases, %v", len(files), err)
	}
	var out []goldenCase
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var c goldenCase
		if err := json.Unmarshal(raw, &c); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out = append(out, c)
	}
	return out
}

func parsed(t testing.TB, text string) *api.Document {
	t.Helper()
	d, err := api.ParseDocument([]byte(text), api.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// specimens are the documents of all cases: prepare answers and quotes. A case whose prepare answer is refused fails
// the test and gives no quote.
func specimens(t testing.TB) []*specimen {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var out []*specimen
	for _, g := range goldenCases(t) {
		out = append(out, g.specimens(t, c)...)
	}
	return out
}

func (g goldenCase) specimens(t testing.TB, c *catalog.Catalog) []*specimen {
	t.Helper()
	now := time.Unix(g.Now, 0)
	in, err := intent.Parse(g.Intent, api.Rules{Catalog: c, Now: now})
	if err != nil {
		t.Errorf("%s: %v", g.Name, err)
		return nil
	}
	n, err := network.Decode(g.Network)
	if err != nil {
		t.Fatalf("%s: %v", g.Name, err)
	}
	policy := verify.DefaultPolicy(n, c)
	shared := specimen{v1: in.V1(), policy: policy, in: in, call: in.Kind() == intent.KindCall}
	version := map[bool]string{true: "v1", false: "v3"}[shared.v1]
	quote := shared
	quote.name, quote.kind, quote.base, quote.table = g.Name+" quote", version+" "+in.Kind()+" quote",
		parsed(t, g.Quote), verify.QuoteLeaves()
	if shared.v1 {
		quote.table = verify.QuoteLeavesV1()
	}
	if !shared.call {
		quote.table = verify.ExchangeLeaves()
		if shared.v1 {
			quote.table = verify.ExchangeLeavesV1()
		}
		quote.judge = func(d *api.Document) judgement {
			return ofQuote(verify.Exchange(in, policy, verify.NoHistory{}, now, d))
		}
		return []*specimen{quote.ready()}
	}
	prepared := shared
	prepared.name, prepared.kind, prepared.prepared, prepared.base, prepared.table = g.Name+" prepare",
		version+" prepare", true, parsed(t, g.Prepared), verify.PreparedLeaves()
	if shared.v1 {
		prepared.table = verify.PreparedLeavesV1()
	}
	prepared.judge = func(d *api.Document) judgement {
		p, r := verify.Prepared(in, policy, verify.NoHistory{}, now, d)
		if p == nil {
			return judgement{report: r}
		}
		return judgement{true, signs(p.Signing()), delegates(p.Signing()), r}
	}
	signed, err := g.signed(in, policy, now, prepared.base)
	if err != nil {
		t.Errorf("%s: %v", g.Name, err)
		return []*specimen{prepared.ready()}
	}
	quote.judge = func(d *api.Document) judgement {
		return ofQuote(verify.Quote(in, policy, verify.NoHistory{}, now, signed, d))
	}
	if quote.sameChain() {
		// without a deposit nothing carries the quote id: it is only a name, which must be new
		quote.table = append([]verify.Leaf{{Pattern: "/id", Class: verify.Opaque, Code: "Q1"}},
			bound(quote.table, "/originChainsOperations/", "Q14")...)
	}
	return []*specimen{prepared.ready(), quote.ready()}
}

// bound declares every leaf below a prefix as bound: what repeats the prepared operation does so byte for byte.
func bound(table []verify.Leaf, prefix, code string) []verify.Leaf {
	out := slices.Clone(table)
	for i := range out {
		if strings.HasPrefix(out[i].Pattern, prefix) {
			out[i].Class, out[i].Code = verify.Bound, code
		}
	}
	return out
}

// sameChain reports whether the one operation of a quote is the prepared one.
func (s *specimen) sameChain() bool {
	nonce, _ := s.base.At("/originChainsOperations/0/userOp/nonce")
	n, err := op.ParseNonce(bigOf(strings.Trim(string(nonce), `"`)))
	return s.call && !s.prepared && err == nil && len(nonce) > 0 && n.Key == op.LanePrepared
}

func (s specimen) ready() *specimen {
	s.found = map[string]foundLeaf{}
	return &s
}

// signed joins the signatures of the case to its prepared operation.
func (g goldenCase) signed(in intent.Intent, policy verify.Policy, now time.Time,
	d *api.Document) (*verify.SignedPrepared, error) {
	p, report := verify.Prepared(in, policy, verify.NoHistory{}, now, d)
	if p == nil {
		return nil, fmt.Errorf("the prepare answer is refused: %v", refusals(report))
	}
	s := verify.Signatures{Operation: common.FromHex(g.Signatures.Operation)}
	if g.Signatures.Delegation != nil {
		a, err := op.AuthorizationFromWire(*g.Signatures.Delegation)
		if err != nil {
			return nil, err
		}
		s.Delegation = &a
	}
	return p.WithSignatures(s)
}

func ofQuote(q *verify.VerifiedQuote, r verify.Report) judgement {
	if q == nil {
		return judgement{report: r}
	}
	return judgement{true, signs(q.Operations()...), delegates(q.Operations()...), r}
}

// signs says which accounts would spend what: what no harmless change of a document may alter. The order is that of the
// text.
func signs(all ...verify.Signing) string {
	var lines []string
	for _, s := range all {
		v := s.Summary()
		line := fmt.Sprintf("%s %s %v %s %v", v.Role, v.Kind, v.Chain, v.Sender, v.Lane)
		for _, a := range v.Spend {
			line += fmt.Sprintf(" %s %s", a.Amount, a.Asset)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// delegates says whom the account would let act for it, and where.
func delegates(all ...verify.Signing) []string {
	var out []string
	for _, s := range all {
		if d, ok := s.Delegation(); ok {
			a := d.Authorization()
			out = append(out, fmt.Sprintf("%s on %s", a.Address, a.ChainID))
		}
	}
	return out
}

func refusals(r verify.Report) []verify.Reason {
	var out []verify.Reason
	for _, x := range r.Reasons {
		if x.Level == verify.Refuse || x.Level == verify.Gate {
			out = append(out, x)
		}
	}
	return out
}

// leaf is the row of the class table for a pointer, and false when there is none.
func (s *specimen) leaf(pointer string) (verify.Leaf, bool) {
	f, ok := s.found[pointer]
	if !ok {
		f.leaf, f.ok = verify.FindLeaf(s.table, pointer)
		s.found[pointer] = f
	}
	return f.leaf, f.ok
}

// strict reports whether a pointer lies inside an operation, where unknown members are refused (TH-L4).
func (s *specimen) strict(pointer string) bool {
	if s.prepared {
		return strings.HasPrefix(pointer, "/chainOperation/")
	}
	return strings.HasPrefix(pointer, "/originChainsOperations/") ||
		strings.HasPrefix(pointer, "/destinationChainOperation")
}

// leaves are the scalars and empty containers of a document.
func leaves(d *api.Document) map[string]string {
	out := map[string]string{}
	d.Leaves(func(pointer string, raw []byte) { out[pointer] = string(raw) })
	return out
}
