package pattern_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"coffer/api/pattern"
)

// texts finds the text of every pattern in the program's files.
func texts(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isNew(call) {
				all = append(all, text(t, path, call.Args[0]))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isNew(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || f.Sel.Name != "New" {
		return false
	}
	of, ok := f.X.(*ast.Ident)
	return ok && of.Name == "pattern"
}

// text is a string of the source, which may be a sum.
func text(t *testing.T, path string, e ast.Expr) string {
	t.Helper()
	switch e := e.(type) {
	case *ast.BinaryExpr:
		return text(t, path, e.X) + text(t, path, e.Y)
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return s
	}
	t.Errorf("%s: the text of a pattern is not written down there", path)
	return ""
}

func TestEveryPatternOfTheProgramCompiles(t *testing.T) {
	all := texts(t)
	if len(all) < 40 {
		t.Errorf("only %d patterns were found", len(all))
	}
	for _, s := range all {
		if _, err := regexp.Compile(s); err != nil {
			t.Error(err)
		}
	}
}

func TestAPatternIsTheExpressionOfItsText(t *testing.T) {
	p := pattern.New(`^0x([0-9a-f]+)$`)
	if !p.MatchString("0xab") || p.MatchString("0xAB") {
		t.Error("it matches something else")
	}
	if got := p.Regexp().FindStringSubmatch("0xab"); len(got) != 2 || got[1] != "ab" {
		t.Errorf("found %q", got)
	}
}
