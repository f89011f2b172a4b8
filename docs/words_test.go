package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// wordList is testdata/words.txt: what texts must not say, and where they may.
type wordList struct {
	any   *regexp.Regexp // all rules at once
	rules []wordRule
	// allowed are exceptions: a text that may stay, in a file. later are files whose texts are not repaired yet.
	allowed []allowance
	later   []string
}

type wordRule struct {
	re      *regexp.Regexp
	instead string
}

type allowance struct{ file, text, why string }

func readWords(t *testing.T) wordList {
	t.Helper()
	raw, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	var w wordList
	var patterns []string
	for n, line := range strings.Split(string(raw), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		left, right, ok := strings.Cut(line, "=>")
		left, right = strings.TrimSpace(left), strings.TrimSpace(right)
		file, text, exception := strings.Cut(left, ": ")
		switch {
		case !ok || right == "":
			t.Fatalf("words.txt:%d: no text behind =>", n+1)
		case right == "later":
			w.later = append(w.later, left)
		case exception:
			w.allowed = append(w.allowed, allowance{file, strings.TrimSpace(text), right})
		default:
			patterns = append(patterns, left)
			w.rules = append(w.rules, wordRule{wholeWords(left), right})
		}
	}
	w.any = wholeWords(strings.Join(patterns, "|"))
	return w
}

// wholeWords compiles a pattern for whole words, whose blanks are any white space.
func wholeWords(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(pattern, " ", `\s+`) + `)\b`)
}

// check lists what the list refuses in a text of a file, with the line where it begins; used notes the exceptions that
// were needed.
func (w wordList) check(file, text string, line int, used map[allowance]bool) (wrong []string) {
	for _, a := range w.allowed {
		if a.file == file && strings.Contains(text, a.text) {
			used[a] = true
			text = strings.ReplaceAll(text, a.text, strings.Repeat("`", len(a.text)))
		}
	}
	for _, at := range w.any.FindAllStringIndex(text, -1) {
		found := text[at[0]:at[1]]
		around := text[max(0, at[0]-80):min(len(text), at[1]+80)]
		for _, r := range w.rules {
			if r.re.FindString(found) == found {
				wrong = append(wrong, fmt.Sprintf("%s:%d: %q: say instead: %s\n\t…%s…", file,
					line+strings.Count(text[:at[0]], "\n"), found, r.instead, unwrap(around)))
				break
			}
		}
	}
	return wrong
}

var (
	reInline = regexp.MustCompile("`[^`\n]*`")
	reGraph  = regexp.MustCompile(`[^\n]`)
)

// prose is a page without its code. Its lines stay where they are.
func prose(page string) string {
	for _, code := range []*regexp.Regexp{reFence, reInline} {
		page = code.ReplaceAllStringFunc(page, func(text string) string { return reGraph.ReplaceAllString(text, "`") })
	}
	return page
}

// literal is a text in a Go file.
type literal struct {
	line int
	text string
}

// literals are the texts of a Go file that a person may see: string literals with a blank, joined where the source adds
// them up, with … for what is not known before the program runs.
func literals(file string, source []byte) (texts []literal, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var visit func(ast.Node) bool
	var joined func(ast.Expr) string
	joined = func(e ast.Expr) string {
		switch e := e.(type) {
		case *ast.BinaryExpr:
			if e.Op == token.ADD {
				return joined(e.X) + joined(e.Y)
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
				return text
			}
		}
		ast.Inspect(e, visit)
		return "…"
	}
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			n.Tag = nil
		case *ast.BinaryExpr, *ast.BasicLit:
			e := n.(ast.Expr)
			if b, ok := e.(*ast.BinaryExpr); ok && b.Op != token.ADD {
				return true
			}
			if b, ok := e.(*ast.BasicLit); ok && b.Kind != token.STRING {
				return false
			}
			if text := joined(e); strings.Contains(text, " ") {
				texts = append(texts, literal{set.Position(n.Pos()).Line, text})
			}
			return false
		}
		return true
	}
	ast.Inspect(f, visit)
	return texts, nil
}

// TestTheTextsUseTheAgreedWords: no page, and no text of the program, says what testdata/words.txt refuses.
func TestTheTextsUseTheAgreedWords(t *testing.T) {
	t.Parallel()
	w, used := readWords(t), map[allowance]bool{}
	read := 0
	walk := func(root string, judge func(file string, raw []byte) []string) {
		err := fs.WalkDir(os.DirFS(".."), root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || slices.Contains(w.later, file) {
				return err
			}
			raw, err := os.ReadFile(path.Join("..", file))
			if err != nil {
				return err
			}
			for _, wrong := range judge(file, raw) {
				t.Error(wrong)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs"} {
		walk(root, func(file string, raw []byte) []string {
			if path.Ext(file) != ".md" {
				return nil
			}
			read++
			return w.check(file, prose(string(raw)), 1, used)
		})
	}
	for _, root := range []string{"ui", "config", "wallet", "api/client"} {
		walk(root, func(file string, raw []byte) (wrong []string) {
			if path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "ui/e2e/") ||
				strings.HasPrefix(file, "ui/internal/") {
				return nil
			}
			texts, err := literals(file, raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range texts {
				read++
				wrong = append(wrong, w.check(file, l.text, l.line, used)...)
			}
			return wrong
		})
	}
	if read < 4000 {
		t.Errorf("only %d texts were read", read)
	}
	for _, file := range w.later {
		if _, err := os.Stat(path.Join("..", file)); err != nil {
			t.Errorf("words.txt leaves for later what is not there: %v", err)
		}
	}
	for _, a := range w.allowed {
		if !used[a] {
			t.Errorf("words.txt allows %q in %s, which does not say it", a.text, a.file)
		}
	}
}

// TestAWrongWordIsFound tries the rules of the check on texts of every kind.
func TestAWrongWordIsFound(t *testing.T) {
	t.Parallel()
	w := wordList{any: wholeWords("anew|is told"), rules: []wordRule{
		{wholeWords("anew"), "again"}, {wholeWords("is told"), "say who tells whom"}},
		allowed: []allowance{{"a.md", "asked anew", "why"}}}
	page := prose("Written anew.\n`anew`\n```sh\nanew\n```\nshe is\ntold so, asked anew, renewed")
	used := map[allowance]bool{}
	wrong := w.check("a.md", page, 1, used)
	if len(wrong) != 2 || !strings.HasPrefix(wrong[0], `a.md:1: "anew": say instead: again`) ||
		!strings.HasPrefix(wrong[1], `a.md:6: "is\ntold"`) || !used[w.allowed[0]] {
		t.Errorf("%q, %v", wrong, used)
	}
	texts, err := literals("a.go", []byte("package a\n\nimport _ \"is told/x\"\n\ntype t struct {\n"+
		"\tA int `json:\"is told\"`\n}\n// is told\n"+
		"var s = \"it is \" + f(\"done anew\", 1+2) +\n\t\"told\"\nvar word = \"anew\"\n"))
	if err != nil || !slices.Equal(texts, []literal{{9, "done anew"}, {9, "it is …told"}}) {
		t.Errorf("%v %v", texts, err)
	}
}

// TestEveryPageSaysWhereToGoNext: no page is a dead end, and README leads to each.
func TestEveryPageSaysWhereToGoNext(t *testing.T) {
	t.Parallel()
	pages, err := fs.Glob(os.DirFS("."), "*.md")
	readme, other := os.ReadFile("../README.md")
	if err != nil || other != nil || len(pages) < 18 {
		t.Fatal(len(pages), err, other)
	}
	next := regexp.MustCompile(`(?m)^Next: \[`)
	for _, page := range pages {
		raw, err := os.ReadFile(page)
		if err != nil || !next.Match(raw) {
			t.Errorf("%s has no line that begins with Next: %v", page, err)
		}
		if !strings.Contains(string(readme), "(docs/"+page) {
			t.Errorf("README.md does not lead to docs/%s", page)
		}
	}
}
