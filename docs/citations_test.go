package docs

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// library is what a comment or a document can cite: the numbered headings of docs/protocol.md, those of
// docs/threats.md, and every heading of every document.
type library struct {
	root     fs.FS
	sections map[string]bool            // "3.5"
	threats  map[string]bool            // "U7"
	anchors  map[string]map[string]bool // "docs/interface.md" → "status"
}

var (
	reFence   = regexp.MustCompile("(?ms)^```.*?^```$")
	reHeading = regexp.MustCompile(`(?m)^(#{1,6}) (.+)$`)
	reSection = regexp.MustCompile(`^(\d+(?:\.\d+)?)\.? `)
	reThreat  = regexp.MustCompile(`^TH-([A-Z]{1,2}\d+) `)
	reSlug    = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

	// standard is the name of a published one.
	standard = `(?:RFC\s+|(?:EIP|ERC|CAIP|BIP)-)\d+`

	// goesOn is how a list or a range continues; a remark in brackets may come first.
	goesOn = `(?:\s*\([^()]*\))?(?:,\s*and\s+|,\s*|\s+and\s+|\s+or\s+|\s+to\s+|\s*…\s*|\s*[–-]\s*)`

	number         = `\d+(?:\.\d+)*`
	reCitedSection = regexp.MustCompile(`(` + standard + `|[^\s§(]+)\s+` + `(§\s*` + number +
		`(?:` + goesOn + `§\s*` + number + `)*)`)
	reStandard      = regexp.MustCompile(`^` + standard + `$`)
	reNumber        = regexp.MustCompile(number)
	reStray         = regexp.MustCompile(`§\s*[0-9A-Za-z]`)
	reCitedThreats  = regexp.MustCompile(`\bTH-[A-Z]{1,2}\d+\b(?:` + goesOn + `(?:TH-)?[A-Z]{1,2}\d+\b)*|\bTH-[A-Z]\w*`)
	reID            = regexp.MustCompile(`([A-Z]{1,2})(\d+)`)
	reRange         = regexp.MustCompile(`([A-Z]{1,2})(\d+)(?:\s+to\s+|\s*…\s*|\s*[–-]\s*)(?:TH-)?([A-Z]{1,2})(\d+)`)
	reCitedDocument = regexp.MustCompile(`\bdocs/([\w-]+\.md)(#[\w-]+)?`)
	reLink          = regexp.MustCompile(`\]\(([^)\s:]+)\)`)
	reWrap          = regexp.MustCompile(`\n[ \t]*(?:///?|#|\*)?[ \t]*`)

	reComment = regexp.MustCompile(`(?m)(?:^[ \t]*//.*\n)+`)
	reSources = regexp.MustCompile(`\bSources?: (.*?)\.(?:\s|$)`)
	reRemark  = regexp.MustCompile(`\s*\([^()]*\)`)
	reSource  = regexp.MustCompile(`^(?:protocol )?§[\d.]+(?:(?: to |–)§[\d.]+)?$|` +
		`^(?:TH-)?[A-Z]{1,2}\d+(?:(?: to | … |–|-)(?:TH-)?[A-Z]{1,2}\d+)?$|` +
		`^docs/[\w-]+\.md(?:#[\w-]+)?$|^` + standard + `(?: v[\d.]+)?$`)
)

// published are sources that are neither in this repository nor numbered standards.
var published = []string{"Solidity ABI specification", "Safe Transaction Builder file version 1.0",
	"Solana Pay specification"}

// newLibrary reads the documents below root.
func newLibrary(root fs.FS) (*library, error) {
	l := &library{
		root: root, sections: map[string]bool{}, threats: map[string]bool{}, anchors: map[string]map[string]bool{},
	}
	files, err := fs.Glob(root, "docs/*.md")
	if err != nil {
		return nil, err
	}
	for _, file := range append(files, "README.md") {
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return nil, err
		}
		l.anchors[file] = map[string]bool{}
		for _, h := range reHeading.FindAllStringSubmatch(reFence.ReplaceAllString(string(raw), ""), -1) {
			l.anchors[file][slug(h[2])] = true
			if m := reSection.FindStringSubmatch(h[2]); m != nil && file == "docs/protocol.md" {
				l.sections[m[1]] = true
			}
			if m := reThreat.FindStringSubmatch(h[2]); m != nil && file == "docs/threats.md" {
				if l.threats[m[1]] {
					return nil, fmt.Errorf("%s has TH-%s twice", file, m[1])
				}
				l.threats[m[1]] = true
			}
		}
	}
	return l, nil
}

// slug is the anchor of a heading.
func slug(heading string) string {
	return strings.ReplaceAll(reSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

// unwrap makes one line of a text that was broken into lines, comment signs included, with every byte in its place.
func unwrap(text string) string {
	return reWrap.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", len(s)) })
}

// check counts the citations of a file and lists those that lead nowhere.
func (l *library) check(file, text string) (found int, wrong []string) {
	fail := func(at int, format string, args ...any) {
		wrong = append(wrong, fmt.Sprintf("%s:%d: %s", file, 1+strings.Count(text[:at], "\n"),
			fmt.Sprintf(format, args...)))
	}
	flat, cited := "", [][]int{}
	if strings.Contains(text, "§") || strings.Contains(text, "TH-") {
		flat = unwrap(text)
	}
	for _, m := range find(reCitedSection, "§", flat) {
		cited = append(cited, m[4:6])
		name := strings.Trim(flat[m[2]:m[3]], "`")
		if name != "protocol" && name != "Protocol" {
			if !reStandard.MatchString(name) {
				fail(m[2], "%s §: there is no such document", name)
			}
			continue
		}
		for _, n := range reNumber.FindAllString(flat[m[4]:m[5]], -1) {
			if found++; !l.sections[n] {
				fail(m[2], "protocol §%s: docs/protocol.md has no such heading", n)
			}
		}
	}
	for _, m := range find(reStray, "§", flat) {
		if !slices.ContainsFunc(cited, func(c []int) bool { return c[0] <= m[0] && m[0] < c[1] }) {
			fail(m[0], "a § without the name of its document")
		}
	}
	for _, m := range find(reCitedThreats, "TH-", flat) {
		ids := threatsOf(flat[m[0]:m[1]])
		if len(ids) == 0 {
			fail(m[0], "%s is no threat", flat[m[0]:m[1]])
		}
		for _, id := range ids {
			if found++; !l.threats[id] {
				fail(m[0], "TH-%s: docs/threats.md has no such heading", id)
			}
		}
	}
	for _, m := range find(reCitedDocument, "docs/", text) {
		found++
		anchor := ""
		if m[4] >= 0 {
			anchor = text[m[4]+1 : m[5]]
		}
		if why := l.leads("docs/"+text[m[2]:m[3]], anchor); why != "" {
			fail(m[0], "%s", why)
		}
	}
	if strings.HasSuffix(file, ".md") {
		for _, m := range reLink.FindAllStringSubmatchIndex(text, -1) {
			to, anchor, _ := strings.Cut(text[m[2]:m[3]], "#")
			target := path.Join(path.Dir(file), to)
			if to == "" {
				target = file
			}
			if found++; anchor != "" || strings.HasSuffix(target, ".md") {
				if why := l.leads(target, anchor); why != "" {
					fail(m[0], "%s", why)
				}
			}
		}
	}
	if strings.HasSuffix(file, ".go") && strings.Contains(text, "Source") {
		for _, c := range reComment.FindAllStringIndex(text, -1) {
			for _, m := range reSources.FindAllStringSubmatch(unwrap("\n"+text[c[0]:c[1]]), -1) {
				for _, name := range l.foreign(m[1]) {
					fail(c[0], "source %q is neither in this repository nor published", name)
				}
			}
		}
	}
	return found, wrong
}

// find is what re finds in a text; without sign there is nothing, which is quick.
func find(re *regexp.Regexp, sign, text string) [][]int {
	if !strings.Contains(text, sign) {
		return nil
	}
	return re.FindAllStringSubmatchIndex(text, -1)
}

// leads says why a document or its heading is not there, "" when it is.
func (l *library) leads(file, anchor string) string {
	switch headings, ok := l.anchors[file]; {
	case !ok && l.there(file) && anchor == "":
		return ""
	case !ok:
		return file + " is not there"
	case anchor != "" && !headings[anchor]:
		return file + " has no heading #" + anchor
	}
	return ""
}

func (l *library) there(name string) bool {
	_, err := fs.Stat(l.root, name)
	return err == nil
}

// threatsOf expands a list such as "TH-K1, K4-K6 and R1".
func threatsOf(list string) (ids []string) {
	for _, m := range reRange.FindAllStringSubmatch(list, -1) {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[4])
		for n := from + 1; m[1] == m[3] && n < to; n++ {
			ids = append(ids, m[1]+strconv.Itoa(n))
		}
	}
	list = reRemark.ReplaceAllString(strings.ReplaceAll(list, "TH-", ""), "")
	return append(ids, reID.FindAllString(list, -1)...)
}

// foreign lists what of the sources of a comment is no citation, no path of this repository and nothing published.
func (l *library) foreign(sources string) (names []string) {
	for _, name := range regexp.MustCompile(`[;,]\s*|\s+and\s+`).Split(reRemark.ReplaceAllString(sources, ""), -1) {
		name = strings.Join(strings.Fields(name), " ")
		known := name == "" || reSource.MatchString(name) || slices.Contains(published, name)
		if !known && (!fs.ValidPath(name) || !l.there(name)) {
			names = append(names, name)
		}
	}
	return names
}

// TestEveryCitationLeadsSomewhere: what comments, scripts and documents cite by number or by name is a heading of
// docs/.
func TestEveryCitationLeadsSomewhere(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	l, err := newLibrary(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(l.sections) < 40 || len(l.threats) < 130 {
		t.Errorf("%d headings of the protocol and %d threats", len(l.sections), len(l.threats))
	}
	total := 0
	texts := []string{".go", ".sol", ".sh", ".mjs", ".md", ".yml", ".toml", ".txt", ".golden"}
	err = fs.WalkDir(root, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "node_modules" || strings.HasPrefix(name, ".") && file != "." && file != ".ci" {
				return fs.SkipDir
			}
			return nil
		}
		script := strings.HasPrefix(file, ".ci/") && path.Ext(name) == ""
		if !d.Type().IsRegular() || file == "docs/citations_test.go" ||
			!script && !slices.Contains(texts, path.Ext(name)) {
			return nil
		}
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return err
		}
		found, wrong := l.check(file, string(raw))
		total += found
		for _, w := range wrong {
			t.Error(w)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d citations", total)
	if total < 700 {
		t.Errorf("only %d citations were found", total)
	}
}

// TestAWrongCitationIsFound tries the rules of check on good and bad citations.
func TestAWrongCitationIsFound(t *testing.T) {
	t.Parallel()
	l, err := newLibrary(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for text, found := range map[string]int{
		"// leg checks one deposit (protocol §3.3).\n":                               1,
		"// Protocol §5.3: block time.\n":                                            1,
		"// window (protocol\n// §2.2).\n":                                           1,
		"// Sources: protocol §2.1, §4.3 and §7; TH-U1, TH-K4-K6.\n":                 7,
		"// Sources: protocol §3.5 and §3.8 (gas), §4.2 (pins), assets/contracts.\n": 3,
		"// rows TH-J1\n// … J5, and TH-S2 to S4\n":                                  8,
		"// as docs/interface.md#status says\n":                                      1,
		"// see ../../docs/policy.md\n":                                              1,
		"// RFC 9112 §5 and ERC-4337 §2.1 are published, §$ are letters\n":           0,
		"// Sources: RFC 8785, ERC-4337 v0.7.\n":                                     0,
	} {
		if n, wrong := l.check("some/file.go", text); n != found || len(wrong) != 0 {
			t.Errorf("%q: %d citations, want %d; %q", text, n, found, wrong)
		}
	}
	for text, why := range map[string]string{
		"\n// (protocol §3.9)\n":         "some/file.go:2: protocol §3.9: docs/protocol.md has no such heading",
		"// (protocol §2.1, §2.13)\n":    "some/file.go:1: protocol §2.13: docs/protocol.md has no such heading",
		"// (design §2.5)\n":             "some/file.go:1: design §: there is no such document",
		"// as in §2.5\n":                "some/file.go:1: in §: there is no such document",
		"// (§2.5)\n":                    "some/file.go:1: a § without the name of its document",
		"// (TH-U99)\n":                  "some/file.go:1: TH-U99: docs/threats.md has no such heading",
		"// (TH-U1, U99)\n":              "some/file.go:1: TH-U99: docs/threats.md has no such heading",
		"// (TH-S12 … S14)\n":            "some/file.go:1: TH-S14: docs/threats.md has no such heading",
		"// (TH-Y)\n":                    "some/file.go:1: TH-Y is no threat",
		"// docs/nowhere.md\n":           "some/file.go:1: docs/nowhere.md is not there",
		"// docs/interface.md#nowhere\n": "some/file.go:1: docs/interface.md has no heading #nowhere",
		"// x\n// Sources: a paper 3, TH-U1.\n": `some/file.go:1: ` +
			`source "a paper 3" is neither in this repository nor published`,
	} {
		if _, wrong := l.check("some/file.go", text); len(wrong) != 1 || wrong[0] != why {
			t.Errorf("%q: %q, want %q", text, wrong, why)
		}
	}
	for text, why := range map[string]string{
		"[statuses](interface.md#status) and [here](https://example.org/x#y)": "",
		"[statuses](interface.md#states)": "docs/some.md:1: " +
			"docs/interface.md has no heading #states",
		"[page](nowhere.md)": "docs/some.md:1: docs/nowhere.md is not there",
	} {
		if _, wrong := l.check("docs/some.md", text); strings.Join(wrong, "") != why {
			t.Errorf("%q: %q, want %q", text, wrong, why)
		}
	}
}

// TestTheThreatsAreThoseOfTheProgram: the code of a finding is a heading of docs/threats.md, and the tests that this
// page names are there.
func TestTheThreatsAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	l, err := newLibrary(root)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	for _, dir := range []string{"api", "api/op", "api/op/solmsg", "wallet/verify", "wallet/flow", "ui/cli/check"} {
		for name, text := range sources(t, root, dir, false) {
			for _, m := range regexp.MustCompile(`"([LPUTDQSVYXHBJN]\d{1,2})"`).FindAllStringSubmatch(text, -1) {
				if codes++; !l.threats[m[1]] {
					t.Errorf("%s: a finding has the code %s, which docs/threats.md has not", name, m[1])
				}
			}
		}
	}
	raw, err := fs.ReadFile(root, "docs/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	named, packages := 0, map[string]string{}
	for _, item := range regexp.MustCompile(`(?m)^- Tests: .*(?:\n  .*)*`).FindAllString(string(raw), -1) {
		for _, m := range regexp.MustCompile("`(\\w+)` \\(([^)]*)\\)").FindAllStringSubmatch(unwrap(item), -1) {
			for _, pkg := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[2], -1) {
				dir := pkg[1]
				if packages[dir] == "" {
					for _, text := range sources(t, root, dir, true) {
						packages[dir] += text
					}
				}
				if named++; !strings.Contains(packages[dir], "\nfunc "+m[1]) {
					t.Errorf("docs/threats.md names %s, which is not in %s", m[1], dir)
				}
			}
		}
	}
	if codes < 300 || named < 150 {
		t.Errorf("only %d codes and %d tests were found", codes, named)
	}
}

// sources reads the Go files of a directory: its tests, or all others.
func sources(t *testing.T, root fs.FS, dir string, tests bool) map[string]string {
	t.Helper()
	files, err := fs.Glob(root, path.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") != tests {
			continue
		}
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			t.Fatal(err)
		}
		out[file] = string(raw)
	}
	return out
}
