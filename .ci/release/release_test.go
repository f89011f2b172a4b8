package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

func at() time.Time { return time.Date(2026, 11, 21, 18, 30, 1, 999, time.UTC) }

func TestTheVersionFollowsFromTheTagsBefore(t *testing.T) {
	for described, want := range map[string]string{
		"v0.3.0": "v0.3.0", "v0.3.0-5-gabcdef123456": "v0.3.0-5.gabcdef123456", "v0.3.0-rc.1": "v0.3.0-rc.1",
		"v0.3.0-rc.1-5-gabcdef123456": "v0.3.0-rc.1.5.gabcdef123456",
		"":                            "v0.0.0-20261121183001-0123456789ab",
	} {
		got := versionOf(described, "0123456789abcdef0123", at())
		if got != want || !reVersion.MatchString(got) {
			t.Errorf("%q: %q", described, got)
		}
	}
	for _, bad := range []string{"1.2.3", "v1.2", "v01.2.3", "v1.2.3 -X main.x=y", "v1.2.3;rm", "latest"} {
		if reVersion.MatchString(bad) {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestTargetsAreThoseThatThereAre(t *testing.T) {
	all, err := parseTargets(strings.Join(allTargets(), ","))
	if err != nil || len(all) != 6 {
		t.Error(all, err)
	}
	for _, bad := range []string{"", "linux", "linux/386", "plan9/amd64", "linux/amd64,linux/amd64", "linux/amd64,"} {
		if _, err := parseTargets(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// What a person set for Go or git in a shell must not be in a release.
func TestTheSettingsOfAShellDoNotGetIn(t *testing.T) {
	got := cleanEnv([]string{"PATH=/bin", "GOFLAGS=-tags=x", "GOEXPERIMENT=runtimesecret", "CGO_CFLAGS=-g",
		"GOAMD64=v3", "COFFER_DATA=/x", "SOURCE_DATE_EPOCH=1", "GOCACHE=/c", "GIT_DIR=/x", "GODEBUG=x=1"})
	if !slices.Equal(got, []string{"PATH=/bin", "GOCACHE=/c"}) {
		t.Errorf("%q", got)
	}
}

func some() []entry {
	return []entry{
		{name: "coffer", mode: 0o755, data: []byte("program")}, {name: "README.md", mode: 0o644, data: []byte("words")},
		{name: "licenses/modules/" + strings.Repeat("long/", 30) + "LICENSE", mode: 0o644, data: nil},
	}
}

// The order in which files were found, the clock and the machine are not in an archive.
func TestArchivesAreTheSameForTheSameFiles(t *testing.T) {
	for name, pack := range map[string]func(string, time.Time, []entry) ([]byte, error){"tar": tarGz, "zip": zipped} {
		first, err := pack("coffer_1", at(), some())
		if err != nil {
			t.Fatal(err)
		}
		mixed := some()
		slices.Reverse(mixed)
		for _, when := range []time.Time{at(), at().Add(-998), at().In(time.FixedZone("x", 14*3600))} {
			again, err := pack("coffer_1", when, mixed)
			if err != nil || !bytes.Equal(first, again) {
				t.Errorf("%s: another archive at %s: %v", name, when, err)
			}
		}
		if later, err := pack("coffer_1", at().Add(2*time.Second), some()); err != nil || bytes.Equal(first, later) {
			t.Errorf("%s: the time of the commit is not in it: %v", name, err)
		}
		if _, err := pack("x", at(), append(some(), some()[0])); err == nil {
			t.Errorf("%s takes a name twice", name)
		}
	}
}

func TestAnArchiveOfTarHoldsWhatWasPutInAndNobodysName(t *testing.T) {
	b, err := tarGz("coffer_1", at(), some())
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil || !z.ModTime.IsZero() || z.Name != "" || z.OS != 255 {
		t.Fatalf("%v %+v", err, z.Header)
	}
	r := tar.NewReader(z)
	got := map[string]string{}
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !h.ModTime.Equal(at().Truncate(time.Second)) ||
			!strings.HasPrefix(h.Name, "coffer_1/") {
			t.Errorf("%+v", h)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[strings.TrimPrefix(h.Name, "coffer_1/")] = fmt.Sprintf("%o %s", h.Mode, data)
	}
	for _, e := range some() {
		if got[e.name] != fmt.Sprintf("%o %s", e.mode, e.data) {
			t.Errorf("%s: %q", e.name, got[e.name])
		}
	}
}

func TestAnArchiveOfZipHoldsWhatWasPutIn(t *testing.T) {
	b, err := zipped("coffer_1", at(), some())
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil || len(r.File) != len(some()) {
		t.Fatal(err)
	}
	for _, f := range r.File {
		i := slices.IndexFunc(some(), func(e entry) bool { return "coffer_1/"+e.name == f.Name })
		if i < 0 || f.Mode() != some()[i].mode || !f.Modified.Equal(at().Truncate(time.Second)) {
			t.Errorf("%s %v %v", f.Name, f.Mode(), f.Modified)
		}
	}
}

func TestTheSumsAreThoseThatSha256sumReads(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []string{"b.zip", "a.tar.gz", sumsName} {
		if err := os.WriteFile(filepath.Join(dir, n), []byte(n), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := sumFile(dir)
	if want := "0a67bba7da46793c9f1908a7eec3d06a11ba7bc00bf749c31bb134f4f45ebcad  " +
		"a.tar.gz\ncf41e189cdc819769f648a9719d25ddfb16e0583d1a9f9391c31378831eb4523  b.zip\n"; err != nil ||
		string(got) != want {
		t.Fatalf("%v %q", err, got)
	}
	if err := os.WriteFile(filepath.Join(dir, sumsName), got, 0o600); err != nil {
		t.Fatal(err)
	}
	if path, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.CommandContext(t.Context(), path, "-c", "--strict", sumsName)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
}

const sum = "h1:DMTTonx5m65Ic0GOoRY2c16WCbHxOOw6xxezuLaBpcU="

func linked() *debug.BuildInfo {
	return &debug.BuildInfo{Deps: []*debug.Module{{Path: "example.org/B", Version: "v2.0.0", Sum: sum},
		{Path: "example.org/a", Version: "v1.0.0+x", Sum: sum}}}
}

const (
	reviewedList = "# module, version, licence\nexample.org/B\tv2.0.0\tApache-2.0 AND " +
		"MIT\nexample.org/a\tv1.0.0+x\tMIT\n"
	sumList = "example.org/B v2.0.0 " + sum + "\nexample.org/B v2.0.0/go.mod h1:x\nexample.org/a v1.0.0+x " + sum +
		"\n"
)

// A module that nobody reviewed, in another version, with another hash or replaced is in no release.
func TestOnlyReviewedModulesWithTheirHashAreInARelease(t *testing.T) {
	parts, err := matched(linked(), reviewedList, sumList)
	if err != nil || len(parts) != 2 || parts[0].path != "example.org/B" || parts[1].licence != "MIT" {
		t.Fatal(parts, err)
	}
	other := linked()
	other.Deps[0].Version = "v2.0.1"
	replaced := linked()
	replaced.Deps[0].Replace = &debug.Module{Path: "../b"}
	forged := linked()
	forged.Deps[1].Sum = "h1:" + strings.Repeat("A", 43) + "="
	for part, c := range map[string]struct {
		info           *debug.BuildInfo
		reviewed, sums string
	}{
		"is not in docs/modules.tsv": {other, reviewedList, sumList}, "is replaced": {replaced, reviewedList, sumList},
		"go.sum has \"" + sum: {forged, reviewedList, sumList},
		"go.sum has \"\"":     {linked(), reviewedList, ""},
	} {
		if _, err := matched(c.info, c.reviewed, c.sums); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func aSource() source {
	return source{version: "v0.3.0", revision: strings.Repeat("ab", 20), time: at(), goVersion: "go1.26.8"}
}

func TestTheBillNamesEveryPartWithHashAndLicence(t *testing.T) {
	parts, err := matched(linked(), reviewedList, sumList)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := aSource().bill(target{"linux", "amd64"}, []byte("program"), parts)
	if err != nil {
		t.Fatal(err)
	}
	again, err := aSource().bill(target{"linux", "amd64"}, []byte("program"), parts)
	if err != nil || !bytes.Equal(raw, again) {
		t.Error("two bills of one program differ", err)
	}
	var b bom
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Spec != "1.6" || b.Metadata.Timestamp != "2026-11-21T18:30:01Z" ||
		len(b.Components) != 3 || b.Components[0].Name != "std" {
		t.Errorf("%s", raw)
	}
	if !regexp.MustCompile(
		`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(b.Serial) {
		t.Error(b.Serial)
	}
	// sha256sum of "program"
	if b.Metadata.Component.Hashes[0].Content != "1310ca2c8932dbd118668bd97442558a3e1f546b5e15c69699dfbd6024f548d8" {
		t.Error(b.Metadata.Component.Hashes)
	}
	c := b.Components[2]
	if c.PURL != "pkg:golang/example.org/a@v1.0.0+x" || c.Licences[0].Licence.ID != "MIT" ||
		c.Hashes[0].Alg != "SHA-256" ||
		c.Hashes[0].Content != "0cc4d3a27c799bae4873418ea11636735e9609b1f138ec3ac717b3b8b681a5c5" ||
		c.Properties[0].Value != sum {
		t.Errorf("%+v", c)
	}
	if b.Components[1].Licences[0].Expression != "Apache-2.0 AND MIT" || b.Components[1].Licences[0].Licence != nil {
		t.Errorf("%+v", b.Components[1])
	}
	refs := map[string]bool{}
	for _, c := range b.Components {
		if refs[c.Ref] || !slices.Contains(b.Dependencies[0].Depends, c.Ref) {
			t.Errorf("%s", c.Ref)
		}
		refs[c.Ref] = true
	}
	if _, err := (component{sum: "h1:x"}).listed(); err == nil {
		t.Error("a hash that is none is taken")
	}
}

// Every licence of the reviewed list can stand in a bill: an SPDX id, an expression of ids, or words for a module that
// states none.
func TestTheLicencesOfTheReviewedListAreSPDX(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "modules.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	known := []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "LGPL-3.0-or-later", "MIT", "MPL-2.0",
		"Unlicense", "0BSD", "CC0-1.0"}
	rows := 0
	for line := range strings.Lines(string(raw)) {
		row := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || len(row) != 3 {
			continue
		}
		rows++
		if strings.HasPrefix(row[2], unlicensed) {
			continue
		}
		for _, id := range regexp.MustCompile(` (AND|OR) `).Split(row[2], -1) {
			if !slices.Contains(known, strings.Trim(id, "()")) {
				t.Errorf("%s: %q", row[0], row[2])
			}
		}
	}
	if rows < 50 {
		t.Errorf("%d rows", rows)
	}
}

func TestAModuleWithoutItsLicenceIsNotShipped(t *testing.T) {
	dir := t.TempDir()
	write := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("the licence"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("readme.md")
	write("license_test.go")
	write("license.go")
	part := component{path: "example.org/a", version: "v1.0.0", licence: "MIT", dir: dir}
	if _, err := licenceFiles([]component{part}); err == nil {
		t.Error("it is")
	}
	write("LICENSE-MIT")
	write("NOTICE")
	got, err := licenceFiles([]component{part})
	if err != nil || len(got) != 3 || got[0].name != "licenses/modules/example.org/a@v1.0.0/LICENSE-MIT" {
		t.Errorf("%+v %v", got, err)
	}
	stated := component{path: "example.org/c", version: "v1.0.0", licence: "MIT", dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(stated.dir, "c.go"),
		[]byte("// Package c\n//\n// MIT license\n\npackage c\n\nvar x int\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := licenceFiles([]component{stated}); err != nil ||
		string(got[0].data) != "// Package c\n//\n// MIT license\n" || !strings.HasSuffix(got[0].name, "/STATED") {
		t.Errorf("%+v %v", got, err)
	}
	none := component{path: "example.org/b", version: "v1.0.0", licence: unlicensed + " (NOTICE)", dir: t.TempDir()}
	if _, err := licenceFiles([]component{none}); err != nil {
		t.Error(err)
	}
}

// The comparison sees a byte, a missing file and one too many; two empty directories prove nothing.
func TestTwoBuildsThatDifferAreTold(t *testing.T) {
	make2 := func(files ...string) string {
		t.Helper()
		dir := t.TempDir()
		for _, f := range files {
			name, data, _ := strings.Cut(f, "=")
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	if n, err := same(make2("a=1", "b=2"), make2("a=1", "b=2")); err != nil || n != 2 {
		t.Error(n, err)
	}
	for _, pair := range [][2]string{{make2("a=1"), make2("a=2")}, {make2("a=1"), make2("a=1", "b=1")},
		{make2("a=1", "b=1"), make2("a=1")}, {make2(), make2()}} {
		if _, err := same(pair[0], pair[1]); err == nil {
			t.Errorf("%v are the same", pair)
		}
	}
}

func TestTheDocumentNamesEveryFlagAndTarget(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "release.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`flag\.\w+Var\(&o\.\w+, "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(flags) != 5 {
		t.Fatalf("%d flags", len(flags))
	}
	for _, f := range flags {
		if !strings.Contains(string(raw), "| `-"+f[1]) {
			t.Errorf("-%s", f[1])
		}
	}
}

// An assembler file that another package's includes is not in the program by its place on this machine.
func TestTheAssemblerTakesTheModuleCacheOut(t *testing.T) {
	got := assemblerArgs("/go/pkg/tool/linux_amd64/asm", []string{"-p", "x", "-trimpath", "/m/x=>x@v1", "-o", "x.o"},
		"/home/me/go/pkg/mod")
	if want := []string{"-p", "x", "-trimpath", "/m/x=>x@v1;/home/me/go/pkg/mod=>", "-o", "x.o"}; !slices.Equal(got,
		want) {
		t.Errorf("%q", got)
	}
	args := []string{"-trimpath", "/m/x=>x@v1", "x.go"}
	if got := assemblerArgs("/go/pkg/tool/linux_amd64/compile", args, "/m"); !slices.Equal(got, args) {
		t.Errorf("the compiler's are changed: %q", got)
	}
	if got := assemblerArgs(`asm.exe`, []string{"-V=full"}, "/m"); !slices.Equal(got, []string{"-V=full"}) {
		t.Errorf("%q", got)
	}
}

// What the assembler makes here is not taken for what it makes elsewhere: its version differs, and only its.
func TestTheAssemblerSaysThatItIsAnother(t *testing.T) {
	for tool, marked := range map[string]bool{"asm": true, "compile": false} {
		path, err := exec.CommandContext(t.Context(), "go", "tool", "-n", tool).Output()
		if err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		err = toolexec(t.Context(), []string{strings.TrimSpace(string(path)), "-V=full"}, "/m", &out, &errs)
		if err != nil || !strings.HasPrefix(out.String(), tool+" version go1.") ||
			strings.HasSuffix(out.String(), " "+toolMark+"\n") != marked {
			t.Errorf("%v %q %q", err, &out, &errs)
		}
	}
	if err := toolexec(t.Context(), nil, "/m", io.Discard, io.Discard); err == nil {
		t.Error("no tool")
	}
}

func TestAPathOfThisMachineInTheProgramIsFound(t *testing.T) {
	program := []byte("\x00github.com/x/y.s\x00/home/me/go/pkg/mod/x/y.s\x00")
	if err := foreign(program, "/home/me/go/pkg/mod", "/home/me/coffer"); err == nil {
		t.Error("it is not")
	}
	if err := foreign(program, "/home/me/coffer", "/x", ""); err != nil {
		t.Error(err)
	}
}
