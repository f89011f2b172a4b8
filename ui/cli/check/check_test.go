package check_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"
	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/op"
	"coffer/ui/cli"
	"coffer/ui/cli/check"
	"coffer/wallet/intent"
	"coffer/wallet/verify"
)

// run runs a command line at a fixed present and returns its output and its exit code.
func run(t *testing.T, args ...string) (string, int, error) {
	t.Helper()
	var out bytes.Buffer
	c := check.Commands{Out: &out, Catalog: catalog.Load,
		Clock: func() time.Time { return time.Unix(1_800_000_000, 0) }}
	p := cli.Program{Out: &out, Err: &out, Extra: []func(*cli.Global) *cobra.Command{c.Verify, c.Intent}}
	err := p.Run(context.Background(), args)
	return out.String(), cli.Code(err), err
}

const goldenDir = "../../../wallet/verify/testdata/golden/"

// bundle is a golden document; its answers are texts.
type bundle struct {
	Name       string          `json:"name"`
	Now        int64           `json:"now"`
	Intent     json.RawMessage `json:"intent"`
	Network    json.RawMessage `json:"network"`
	Prepared   string          `json:"prepared,omitempty"`
	Signatures *struct {
		Operation  string                   `json:"operation"`
		Delegation *api.DelegationSignature `json:"delegation,omitempty"`
	} `json:"signatures,omitempty"`
	Quote string `json:"quote"`
}

func open(t *testing.T, name string) bundle {
	t.Helper()
	raw, err := os.ReadFile(goldenDir + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var b bundle
	if err := json.Unmarshal(raw, &b); err != nil {
		t.Fatal(err)
	}
	return b
}

// save writes documents into one directory and returns their paths.
func save(t *testing.T, docs map[string][]byte) map[string]string {
	t.Helper()
	dir, out := t.TempDir(), map[string]string{}
	for name, b := range docs {
		out[name] = filepath.Join(dir, name+".json")
		if err := os.WriteFile(out[name], b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// saveBundle writes a bundle and returns its path.
func saveBundle(t *testing.T, b bundle) string {
	t.Helper()
	raw, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return save(t, map[string][]byte{"bundle": raw})["bundle"]
}

// request is the signed request for a quote, as the wallet sends it.
func request(t *testing.T, b bundle) []byte {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Load()
	must(err)
	n, err := network.Decode(b.Network)
	must(err)
	now := time.Unix(b.Now, 0)
	in, err := intent.Parse(b.Intent, api.Rules{Catalog: c, Now: now})
	must(err)
	doc, err := api.ParseDocument([]byte(b.Prepared), api.DefaultLimits())
	must(err)
	p, r := verify.Prepared(in, verify.DefaultPolicy(n, c), verify.NoHistory{}, now, doc)
	if p == nil {
		t.Fatalf("%+v", r.Reasons)
	}
	var s verify.Signatures
	s.Operation, err = hex.DecodeString(strings.TrimPrefix(b.Signatures.Operation, "0x"))
	must(err)
	if d := b.Signatures.Delegation; d != nil {
		a, err := op.AuthorizationFromWire(*d)
		must(err)
		s.Delegation = &a
	}
	signed, err := p.WithSignatures(s)
	must(err)
	body, err := signed.CallQuoteBody()
	must(err)
	return body
}

// files are the documents of a bundle one by one.
func files(t *testing.T, b bundle) map[string]string {
	t.Helper()
	docs := map[string][]byte{"intent": b.Intent, "network": b.Network, "quote": []byte(b.Quote)}
	if b.Prepared != "" {
		docs["prepared"], docs["request"] = []byte(b.Prepared), request(t, b)
	}
	return save(t, docs)
}

const when = "2025-10-09T08:53:20Z" // of the golden documents

func result(t *testing.T, out string) check.Result {
	t.Helper()
	var r check.Result
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return r
}

// codes are all reasons of a level, with their codes.
func codes(r check.Result, level verify.Level) []string {
	var out []string
	add := func(list []check.Reason) {
		for _, x := range list {
			if x.Level == string(level) {
				out = append(out, x.Code)
			}
		}
	}
	add(r.Reasons)
	for _, v := range r.Reviews {
		add(v.Reasons)
	}
	return out
}

func TestTH_V5_EveryGoldenBundleIsAccepted(t *testing.T) {
	list, err := filepath.Glob(goldenDir + "*.json")
	if err != nil || len(list) < 12 {
		t.Fatalf("%d golden documents, %v", len(list), err)
	}
	for _, f := range list {
		out, code, err := run(t, "verify", f, "--now", "saved", "--json")
		if code != cli.ExitDone || err != nil {
			t.Errorf("%s: exit %d, %v\n%s", filepath.Base(f), code, err, out)
			continue
		}
		r := result(t, out)
		last := r.Reviews[len(r.Reviews)-1]
		if !r.Accepted || last.Quote == nil || last.Fingerprint == "" || r.Intent == nil ||
			r.Network.Kind != "embedded" {
			t.Errorf("%s: %s", filepath.Base(f), out)
		}
		if !slices.Contains(codes(r, verify.Unknown), "V5") || !slices.Contains(codes(r, verify.Unknown), "Q1") {
			t.Errorf("%s: what the journal knows passes for checked", filepath.Base(f))
		}
	}
}

func TestTH_V5_FilesAreKnownByTheirContentInAnyOrder(t *testing.T) {
	for _, name := range []string{"v3-kernel-funded", "v1-eip7702-funded", "v3-role-based-mixed", "v3-swap-from-solana",
		"v1-swap"} {
		b := open(t, name)
		want, code, err := run(t, "verify", goldenDir+name+".json", "--now", when, "--json")
		if code != 0 {
			t.Fatal(err)
		}
		f := files(t, b)
		var paths, flags []string
		for kind, p := range f {
			paths, flags = append(paths, p), append(flags, "--"+kind, p)
		}
		for _, args := range [][]string{paths, flags} {
			got, code, err := run(t, append([]string{"verify", "--now", "1760000000", "--json"}, args...)...)
			if code != 0 || got != want {
				t.Errorf("%s %v: exit %d, %v\n%s", name, args, code, err, got)
			}
		}
	}
}

func TestTH_V5_PartsOfAFlowAreJudgedAlone(t *testing.T) {
	f := files(t, open(t, "v3-eip7702-funded"))
	for name, c := range map[string]struct {
		docs    []string
		reviews int
		unknown string
	}{
		"prepared":                   {[]string{"intent", "network", "prepared"}, 1, "V5"},
		"prepared and signed":        {[]string{"intent", "network", "prepared", "request"}, 1, "V5"},
		"quote, not known if signed": {[]string{"intent", "network", "prepared", "quote"}, 2, "U15"},
	} {
		args := []string{"verify", "--now", when, "--json"}
		for _, d := range c.docs {
			args = append(args, f[d])
		}
		out, code, err := run(t, args...)
		if code != 0 {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		r := result(t, out)
		passed := slices.ContainsFunc(r.Reviews[0].Passed, func(p check.Passed) bool { return p.Code == "U15" })
		if len(r.Reviews) != c.reviews || !slices.Contains(codes(r, verify.Unknown), c.unknown) ||
			passed != slices.Contains(c.docs, "request") {
			t.Errorf("%s: %s", name, out)
		}
		if o := r.Reviews[0].Operations[0]; o.Delegation == "" || o.Hash == "" || o.Digest == o.Hash {
			t.Errorf("%s: digests %+v", name, o)
		}
	}
}

func TestTH_V5_WhatIsPrintedForAPerson(t *testing.T) {
	for _, name := range []string{"v3-eip7702-solana-funded", "v3-swap-role-based"} {
		t.Run(name, func(t *testing.T) {
			out, code, err := run(t, "verify", "testdata/"+name+".json", "--now", "saved")
			if code != 0 {
				t.Fatal(err)
			}
			golden.RequireEqual(t, rePassed.ReplaceAllString(out, ""))
		})
	}
}

// rePassed finds the lists of passed checks, which belong to the verifier and are tested there.
var rePassed = regexp.MustCompile(`(?m)^    [A-Z][0-9]+ +[a-z].*\n|^  passed .*\n|(?s: +"passed": \[.*?\],?\n)`)

func TestTH_V5_WhatIsPrintedForAProgram(t *testing.T) {
	for _, name := range []string{"v3-eip7702-solana-funded", "v1-role-based-same-chain"} {
		t.Run(name, func(t *testing.T) {
			out, code, err := run(t, "verify", "testdata/"+name+".json", "--now", "saved", "--json")
			if code != 0 {
				t.Fatal(err)
			}
			golden.RequireEqual(t, rePassed.ReplaceAllString(out, ""))
		})
	}
}
