package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
)

// component is a module that is linked into the program. Sum is its hash as go.sum has it (h1:…), dir where its source
// lies.
type component struct {
	path, version, sum, licence, dir string
}

// unlicensed begins the licence of a module that states none, which NOTICE explains.
const unlicensed = "none stated"

// components are the modules of a program, each with the licence that docs/modules.tsv gives it and a hash that go.sum
// confirms.
func (s source) components(ctx context.Context, info *debug.BuildInfo) ([]component, error) {
	reviewed, err := os.ReadFile(filepath.Join(s.root, "docs", "modules.tsv"))
	if err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(s.root, "go.sum"))
	if err != nil {
		return nil, err
	}
	parts, err := matched(info, string(reviewed), string(sums))
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, p := range parts {
		args = append(args, p.path)
	}
	listed, err := output(ctx, s.root, s.goEnv, "go", args...)
	if err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for line := range strings.Lines(listed) {
		path, dir, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		dirs[path] = dir
	}
	for i := range parts {
		parts[i].dir = dirs[parts[i].path]
	}
	return parts, nil
}

// matched compares what is linked with what was reviewed and with go.sum.
func matched(info *debug.BuildInfo, reviewed, sums string) ([]component, error) {
	licences := map[[2]string]string{}
	for line := range strings.Lines(reviewed) {
		if row := strings.Split(strings.TrimSpace(line), "\t"); len(row) == 3 && !strings.HasPrefix(line, "#") {
			licences[[2]string{row[0], row[1]}] = row[2]
		}
	}
	hashes := map[[2]string]string{}
	for line := range strings.Lines(sums) {
		if row := strings.Fields(line); len(row) == 3 {
			hashes[[2]string{row[0], row[1]}] = row[2]
		}
	}
	var out []component
	var problems []error
	for _, m := range info.Deps {
		key := [2]string{m.Path, m.Version}
		switch {
		case m.Replace != nil:
			problems = append(problems, fmt.Errorf("%s is replaced by %s: a release has no replacements", m.Path,
				m.Replace.Path))
		case licences[key] == "":
			problems = append(problems, fmt.Errorf("%s %s is not in docs/modules.tsv: read its licence first", m.Path,
				m.Version))
		case m.Sum == "" || m.Sum != hashes[key]:
			problems = append(problems, fmt.Errorf("%s %s: the program was built from %q, go.sum has %q", m.Path,
				m.Version, m.Sum, hashes[key]))
		}
		out = append(out, component{path: m.Path, version: m.Version, sum: m.Sum, licence: licences[key]})
	}
	slices.SortFunc(out, func(a, b component) int { return cmp.Compare(a.path, b.path) })
	return out, errors.Join(problems...)
}

var reLicence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|unlicense|patents|authors)([.-].*)?$`)

// licenceFiles are the licences of the modules, and that of Go itself, whose library is in every program.
func licenceFiles(parts []component) ([]entry, error) {
	var out []entry
	add := func(name string, data []byte) {
		out = append(out, entry{name: "licenses/modules/" + name, mode: 0o644, data: data})
	}
	for _, p := range parts {
		list, err := os.ReadDir(p.dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.path, err)
		}
		found := 0
		for _, f := range list {
			if f.IsDir() || strings.HasSuffix(f.Name(), ".go") || !reLicence.MatchString(f.Name()) {
				continue
			}
			b, err := os.ReadFile(filepath.Join(p.dir, f.Name()))
			if err != nil {
				return nil, err
			}
			found++
			add(p.path+"@"+p.version+"/"+f.Name(), b)
		}
		if found > 0 || strings.HasPrefix(p.licence, unlicensed) {
			continue
		}
		stated, err := statedIn(p.dir)
		if err != nil {
			return nil, fmt.Errorf("%s %s, %s: %w", p.path, p.version, p.licence, err)
		}
		add(p.path+"@"+p.version+"/STATED", stated)
	}
	add("README", []byte(
		"The licences of the Go modules that are linked into the program, copied from the source of each module.\n"+
			"Where a module has no licence file, STATED is the head of a source file that states the licence; the\n"+
			"text of the MIT License is in NOTICE. docs/modules.tsv names all modules.\n"))
	return out, nil
}

// statedIn is the comment at the head of the first source file that speaks of a licence.
func statedIn(dir string) ([]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if head, _, found := bytes.Cut(b, []byte("\npackage ")); found &&
			regexp.MustCompile(`(?i)licen[cs]e`).Match(head) {
			return append(bytes.TrimSpace(head), '\n'), nil
		}
	}
	return nil, errors.New("its source has no file of its licence and states none")
}

// The bill of materials is CycloneDX 1.6: https://cyclonedx.org/docs/1.6/json/. Only what is needed of it is here.
type (
	bom struct {
		Format       string         `json:"bomFormat"`
		Spec         string         `json:"specVersion"`
		Serial       string         `json:"serialNumber"`
		Version      int            `json:"version"`
		Metadata     bomMetadata    `json:"metadata"`
		Components   []bomComponent `json:"components"`
		Dependencies []bomDepends   `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp  string        `json:"timestamp"`
		Lifecycles []bomPhase    `json:"lifecycles"`
		Component  bomComponent  `json:"component"`
		Properties []bomProperty `json:"properties"`
	}
	bomPhase struct {
		Phase string `json:"phase"`
	}
	bomComponent struct {
		Type       string        `json:"type"`
		Ref        string        `json:"bom-ref"`
		Name       string        `json:"name"`
		Version    string        `json:"version"`
		Scope      string        `json:"scope,omitempty"`
		Hashes     []bomHash     `json:"hashes,omitempty"`
		Licences   []bomLicence  `json:"licenses,omitempty"`
		PURL       string        `json:"purl,omitempty"`
		Properties []bomProperty `json:"properties,omitempty"`
	}
	bomHash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	bomLicence struct {
		Licence    *bomNamed `json:"license,omitempty"`
		Expression string    `json:"expression,omitempty"`
	}
	bomNamed struct {
		ID   string `json:"id,omitempty"`
		Name string `json:"name,omitempty"`
	}
	bomProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	bomDepends struct {
		Ref     string   `json:"ref"`
		Depends []string `json:"dependsOn,omitempty"`
	}
)

// bill is the bill of materials of one program.
func (s source) bill(t target, program []byte, parts []component) ([]byte, error) {
	digest := sha256.Sum256(program)
	main := bomComponent{
		Type: "application", Ref: "coffer", Name: "coffer", Version: s.version, Licences: licencesOf("MIT"),
		Hashes: []bomHash{{"SHA-256", hex.EncodeToString(digest[:])}},
	}
	b := bom{
		Format: "CycloneDX", Spec: "1.6", Serial: serial(digest), Version: 1,
		Metadata: bomMetadata{
			Timestamp: s.time.Format("2006-01-02T15:04:05Z"), Lifecycles: []bomPhase{{"build"}}, Component: main,
			Properties: []bomProperty{{"coffer:revision", s.revision}, {"coffer:target", t.String()},
				{"coffer:go", s.goVersion}, {"coffer:ldflags", s.ldflags()}},
		},
	}
	standard := bomComponent{
		Type: "library", Ref: "pkg:golang/std@" + strings.TrimPrefix(s.goVersion, "go"), Name: "std",
		Version: s.goVersion, Scope: "required", Licences: licencesOf("BSD-3-Clause"),
		PURL: "pkg:golang/std@" + strings.TrimPrefix(s.goVersion, "go"),
	}
	b.Components = []bomComponent{standard}
	for _, p := range parts {
		c, err := p.listed()
		if err != nil {
			return nil, err
		}
		b.Components = append(b.Components, c)
	}
	all := bomDepends{Ref: main.Ref}
	for _, c := range b.Components {
		all.Depends = append(all.Depends, c.Ref)
	}
	b.Dependencies = []bomDepends{all}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(b)
	return out.Bytes(), err
}

// listed is a module as CycloneDX has it. The hash of go.sum is a SHA-256 over the names and digests of the module's
// files; it stands as both.
func (p component) listed() (bomComponent, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.sum, "h1:"))
	if err != nil || len(raw) != sha256.Size || !strings.HasPrefix(p.sum, "h1:") {
		return bomComponent{}, fmt.Errorf("%s: %q is no hash of a module", p.path, p.sum)
	}
	purl := "pkg:golang/" + escapedPath(p.path) + "@" + url.PathEscape(p.version)
	return bomComponent{
		Type: "library", Ref: purl, Name: p.path, Version: p.version, Scope: "required", PURL: purl,
		Hashes: []bomHash{{"SHA-256", hex.EncodeToString(raw)}}, Licences: licencesOf(p.licence),
		Properties: []bomProperty{{"go.sum", p.sum}},
	}, nil
}

func escapedPath(path string) string {
	parts := strings.Split(path, "/")
	for i, one := range parts {
		parts[i] = url.PathEscape(one)
	}
	return strings.Join(parts, "/")
}

// licencesOf is a licence by its SPDX id, an expression of several, or words where a module states none.
func licencesOf(s string) []bomLicence {
	switch {
	case strings.HasPrefix(s, unlicensed):
		return []bomLicence{{Licence: &bomNamed{Name: s}}}
	case strings.Contains(s, " "):
		return []bomLicence{{Expression: s}}
	}
	return []bomLicence{{Licence: &bomNamed{ID: s}}}
}

// serial is a UUID of version 8 (RFC 9562) that follows from the program, so that it is the same for the same program.
func serial(digest [sha256.Size]byte) string {
	u := digest[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
