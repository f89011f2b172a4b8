package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// A screen with a name that is not built would be missing silently: the shell leaves out what it does not get.
func TestEveryScreenIsBuilt(t *testing.T) {
	built := map[string]bool{}
	ast.Inspect(parse(t, "screens.go"), func(n ast.Node) bool {
		var key ast.Expr
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key = n.Key
		case *ast.IndexExpr:
			key = n.Index
		}
		if name, ok := key.(*ast.SelectorExpr); ok {
			built[name.Sel.Name] = true
		}
		return true
	})
	named := 0
	ast.Inspect(parse(t, "../tui/screen/screen.go"), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "ID" {
			return true
		}
		named++
		if name := spec.Names[0].Name; !built[name] {
			t.Errorf("screen.%s has a name and is not built", name)
		}
		return true
	})
	if named < 9 {
		t.Errorf("only %d screens were found", named)
	}
}

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
