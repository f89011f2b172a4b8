package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	reSpan  = regexp.MustCompile("`([^`\n]+)`")
	reBlock = regexp.MustCompile(`\n\n|\n(?:\d+\. |- |\| )`)
	rePath  = regexp.MustCompile(
		`^(?:\.?[\w-]+/)*\.?[\w-]+\.(?:go|md|json|yml)$|^\.(?:ci/run|editorconfig)$|^Makefile$`)
	reDir  = regexp.MustCompile(`^(?:\./)?(?:api|ui|wallet|config|assets|docs|\.ci)(?:/[\w-]+)*$`)
	reName = regexp.MustCompile(`^(\w+)\.(\w+)$`)
	reTest = regexp.MustCompile(`^(?:Test|Fuzz)[A-Z]\w*$`)
	reStep = regexp.MustCompile(`^(?:make|(?:bash )?\.ci/run) ([a-z-]+)$`)
)

// TestTheWalksNameWhatExists: every file, function, method, test and step of continuous integration that
// CONTRIBUTING.md and the walks of docs/architecture.md name is there, a function or method in a file named beside it.
func TestTheWalksNameWhatExists(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/architecture.md")
	_, walks, begins := strings.Cut(page, "\n### A call, from the builder to the signature\n")
	walks, _, ends := strings.Cut(walks, "\n## ")
	if !begins || !ends {
		t.Fatal("docs/architecture.md has no walks")
	}
	known := known(t)
	texts := map[string]string{"docs/architecture.md": walks, "CONTRIBUTING.md": read(t, "CONTRIBUTING.md")}
	for name, text := range texts {
		found, wrong := known.check(text)
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
		if found < 40 {
			t.Errorf("%s: only %d names were found", name, found)
		}
	}
}

func TestAWrongNameInAWalkIsFound(t *testing.T) {
	t.Parallel()
	known := known(t)
	const right = "`Flow.Start` (`wallet/flow/flow.go`), `intent.Freeze` (`wallet/intent/intent.go`), " +
		"`judge.network` " +
		"(`wallet/verify/userop.go`), `Client.Status` (`wallet/flow/flow.go`), `TestAWrongNameInAWalkIsFound`, `make " +
		"lint`"
	if found, wrong := known.check(right); found != 10 || len(wrong) > 0 {
		t.Errorf("%d names, of which wrong: %q", found, wrong)
	}
	for _, text := range []string{
		"`wallet/flow/nothing.go`", "`Flow.Begin` in `wallet/flow/flow.go`",
		"`Journal.Begin` in `wallet/flow/execute.go`",
		"`flow.Freeze` in `wallet/flow/flow.go`", "`intent.Freeze`", "`intent.Freeze`\n\n`wallet/intent/intent.go`",
		"`TestNothingOfTheKind`", "`make nothing`", "`.ci/run nothing`", "`wallet/nothing`",
	} {
		if _, wrong := known.check(text); len(wrong) != 1 {
			t.Errorf("%s: %q", text, wrong)
		}
	}
}

// names are the tests of the repository and the steps of continuous integration.
type names struct{ tests, steps map[string]bool }

func known(t *testing.T) names {
	t.Helper()
	n := names{map[string]bool{}, map[string]bool{"help": true, "ci": true, "e2e": true, "slow": true}}
	steps := regexp.MustCompile(`(?m)^(?:step|slow)_([a-z-]+)\(\)`)
	for _, m := range steps.FindAllStringSubmatch(read(t, ".ci/run"), -1) {
		n.steps[m[1]] = true
	}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(file, "_test.go"):
			for _, m := range declared.FindAllStringSubmatch(read(t, strings.TrimPrefix(filepath.ToSlash(file), "../")),
				-1) {
				n.tests[m[1]] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// check reads what is between backquotes, one paragraph or item of a list at a time, and says what does not exist.
func (n names) check(text string) (found int, wrong []string) {
	for _, block := range reBlock.Split(text, -1) {
		declared := map[string]bool{} // by the Go files that the block names
		spans := reSpan.FindAllStringSubmatch(block, -1)
		for _, s := range spans {
			if strings.HasSuffix(s[1], ".go") && rePath.MatchString(s[1]) {
				declare(declared, s[1])
			}
		}
		for _, s := range spans {
			ok, known := n.exists(s[1], declared)
			if known {
				found++
			}
			if known && !ok {
				wrong = append(wrong, s[1]+" does not exist, or not in a file that is named beside it")
			}
		}
	}
	return found, wrong
}

// exists reports whether a text between backquotes names something of the repository, and whether that is there.
func (n names) exists(span string, declared map[string]bool) (ok, known bool) {
	if m := reStep.FindStringSubmatch(span); m != nil {
		return n.steps[m[1]], true
	}
	switch {
	case rePath.MatchString(span) || reDir.MatchString(span):
		_, err := os.Stat(filepath.Join("..", span))
		return err == nil, true
	case reTest.MatchString(span):
		return n.tests[span], true
	case reName.MatchString(span):
		return declared[span], true
	}
	return false, false
}

// declare notes what a file declares: package.Name for the top level, Type.Method for methods, those of interfaces too.
// A file that cannot be read declares nothing; that it is missing is said of its own name.
func declare(out map[string]bool, file string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", file), nil, parser.SkipObjectResolution)
	if err != nil {
		return
	}
	top := parsed.Name.Name + "."
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				out[top+d.Name.Name] = true
				continue
			}
			receiver := d.Recv.List[0].Type
			if star, is := receiver.(*ast.StarExpr); is {
				receiver = star.X
			}
			if id, is := receiver.(*ast.Ident); is {
				out[id.Name+"."+d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				declareSpec(out, top, spec)
			}
		}
	}
}

func declareSpec(out map[string]bool, top string, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, id := range spec.Names {
			out[top+id.Name] = true
		}
	case *ast.TypeSpec:
		out[top+spec.Name.Name] = true
		if methods, is := spec.Type.(*ast.InterfaceType); is {
			for _, m := range methods.Methods.List {
				for _, id := range m.Names {
					out[spec.Name.Name+"."+id.Name] = true
				}
			}
		}
	}
}

// read reads a file of the repository.
func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", file))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
