// Package presenttest lists what package present has to put into words, for the tests of present and of every front
// end. It reads the constants in the source, so that a new state, status or reason fails until it is presented.
package presenttest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"coffer/api"
	"coffer/wallet/flow"
)

// file parses a file of the repository.
func file(t testing.TB, path string) *ast.File {
	t.Helper()
	at, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := strings.TrimSpace(string(at))
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// constants are the values of the string constants of a file whose names begin with prefix.
func constants(t testing.TB, path, prefix string) []string {
	t.Helper()
	var out []string
	ast.Inspect(file(t, path), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		for _, v := range spec.Values {
			if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				out = append(out, text(t, lit))
			}
		}
		return true
	})
	if len(out) < 6 {
		t.Fatalf("%s has only %d constants that begin with %s", path, len(out), prefix)
	}
	return out
}

func text(t testing.TB, lit *ast.BasicLit) string {
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// States are the states of an operation.
func States(t testing.TB) []flow.State {
	var out []flow.State
	for _, s := range constants(t, "wallet/flow/types.go", "State") {
		out = append(out, flow.State(s))
	}
	return out
}

// Statuses are the statuses of the interface.
func Statuses(t testing.TB) []string { return constants(t, "api/types.go", "Status") }

// Snapshots are an operation in every state and with every status, that of the journal and that of the service's word.
func Snapshots(t testing.TB) []flow.Snapshot {
	var out []flow.Snapshot
	for _, state := range States(t) {
		for _, status := range append(Statuses(t), "") {
			x := flow.Snapshot{ID: "op1", State: state, QuoteID: "0x01", SignaturesDone: 1, SignaturesTotal: 1,
				Status: api.ExecutionStatus{QuoteID: "0x01", Status: status}}
			x.Intent.TargetChain = "eip155:8453"
			said := x
			said.Said = true
			out = append(out, x)
			if state == flow.StateDone || state == flow.StateFailed || state == flow.StateNotExecuted {
				out = append(out, said)
			}
		}
	}
	return out
}

// Reasons are the reasons that package present explains.
func Reasons(t testing.TB) []string {
	t.Helper()
	var out []string
	ast.Inspect(file(t, "ui/present/reasons.go"), func(n ast.Node) bool {
		if c, ok := n.(*ast.CaseClause); ok {
			for _, e := range c.List {
				if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					out = append(out, text(t, lit))
				}
			}
		}
		return true
	})
	if len(out) < 25 {
		t.Fatalf("only %d reasons are explained", len(out))
	}
	return out
}
