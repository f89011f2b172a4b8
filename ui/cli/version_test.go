package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"runtime/debug"
	"strings"
	"testing"
	"testing/fstest"

	"coffer/api/openapi"
)

func TestVersionSaysEveryFactOfTheBuild(t *testing.T) {
	var b Build
	b.Version, b.Go = "v1.2.3", "go1.26.8 X:runtimesecret"
	b.settings([]debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-21T18:00:00Z"},
		{Key: "vcs.modified", Value: "true"}, {Key: "GOEXPERIMENT", Value: "runtimesecret"},
		{Key: "CGO_ENABLED", Value: "0"}, {Key: "GOAMD64", Value: "v3"}, {Key: "-trimpath", Value: "true"},
	})
	want := Build{Version: "v1.2.3", Revision: "abc", Time: "2026-11-21T18:00:00Z", Go: "go1.26.8", Modified: true,
		Experiment: "runtimesecret", Target: " v3"}
	if b != want {
		t.Errorf("%+v", b)
	}
	b.Target, b.Sum = "linux/amd64 v3", "h1:abc="
	var out bytes.Buffer
	p := Program{Out: &out, Err: &out, Build: b, Env: []string{}}
	if err := p.Run(t.Context(), []string{"version"}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"coffer v1.2.3\n", "revision abc of 2026-11-21T18:00:00Z, with local changes\n",
		"go1.26.8 with runtimesecret linux/amd64 v3\n", "module h1:abc=\n", "interface " + openapi.Version + ",",
		"shipped data sha256:",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%q is not in\n%s", part, &out)
		}
	}
	out.Reset()
	if err := p.Run(t.Context(), []string{"version", "--json"}); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(members()) || got["version"] != "v1.2.3" || got["modified"] != true ||
		got["cgo"] != false || got["target"] != "linux/amd64 v3" || got["interface"] != openapi.Version {
		t.Errorf("%s", &out)
	}
}

// Unknown facts are left out, never empty or made up.
func TestVersionLeavesOutWhatIsNotKnown(t *testing.T) {
	var out bytes.Buffer
	p := Program{Out: &out, Err: &out, Build: Build{Version: "unknown", Go: "go1.26.8", Target: "linux/amd64"},
		Env: []string{}}
	if err := p.Run(t.Context(), []string{"version", "--json"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"revision", "time", "goExperiment", "moduleSum"} {
		if strings.Contains(out.String(), `"`+name+`"`) {
			t.Errorf("%s: %s", name, &out)
		}
	}
	if b := ReadBuild(); b.Version == "" || !strings.HasPrefix(b.Go, "go1.") || !strings.Contains(b.Target, "/") {
		t.Errorf("%+v", b)
	}
}

func TestTheDigestOfTheShippedDataKnowsEveryByteAndName(t *testing.T) {
	digest := func(files fstest.MapFS) string {
		d, err := assetsDigest(files)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	base := fstest.MapFS{"a.json": {Data: []byte("1")}, "b/c.json": {Data: []byte("2")}}
	seen := map[string]bool{digest(base): true}
	for _, other := range []fstest.MapFS{
		{"a.json": {Data: []byte("1")}}, {"a.json": {Data: []byte("2")}, "b/c.json": {Data: []byte("2")}},
		{"A.json": {Data: []byte("1")}, "b/c.json": {Data: []byte("2")}},
	} {
		d := digest(other)
		if seen[d] {
			t.Errorf("%v has the digest of another", other)
		}
		seen[d] = true
	}
	// sha256sum of the two lines "6b86…  a.json" and "d473…  b/c.json"
	if got := digest(base); got != "sha256:21b8a84b04bb2f6a909ad994e30611a90be8a21f29b3d18623033ee78ddd65c1" {
		t.Error(got)
	}
}

func TestTheDocumentExplainsEveryFact(t *testing.T) {
	raw, err := os.ReadFile("../../docs/release.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range members() {
		if !strings.Contains(string(raw), "`"+name+"`") {
			t.Errorf("%s", name)
		}
	}
}

// members are the members of facts.
func members() (names []string) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[facts]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}
