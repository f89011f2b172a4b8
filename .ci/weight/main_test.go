package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestASymbolNamesItsPackage(t *testing.T) {
	for symbol, want := range map[string]string{
		"main.run":                               "main",
		"coffer/ui/tui.(*Model).Update":          "coffer/ui/tui",
		"coffer/api/caip.init.func1":             "coffer/api/caip",
		"gopkg.in/yaml%2ev2.(*parser).peek":      "gopkg.in/yaml.v2",
		"github.com/a/b/v2.F[go.shape.int]":      "github.com/a/b/v2",
		"type:.eq.[7]coffer/ui/tui/setup.row":    "coffer/ui/tui/setup",
		"type:*coffer/api.Quote":                 "coffer/api",
		"go:itab.*os.File,io.Writer":             "os",
		"slices.SortFunc[go.shape.coffer/api.X]": "slices",
		"go:func.*":                              "go:func",
		"_cgo_init":                              "",
		"runtime/internal/nothing":               "",
	} {
		if got := packageOf(symbol); got != want {
			t.Errorf("%s: %q, expected %q", symbol, got, want)
		}
	}
}

func TestWhatOnlyAModuleBrings(t *testing.T) {
	edges := map[string][]string{own: {"a", "b"}, "a": {"c", "d"}, "b": {"d"}, "c": {"e", "a"}, "x": {"y"}}
	for module, want := range map[string]string{"a": "a c e", "b": "b", "c": "c e", "d": "d"} {
		got := alone(edges, module)
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s brings %v, expected %s", module, got, want)
		}
	}
}

func TestImportsAndRequirementsAreThoseOfModules(t *testing.T) {
	var p program
	p.packages("fmt -  os\nos - \n" +
		"coffer/api coffer  m/one fmt m/one/sub\nm/one m  m/one/sub n\nm/one/sub m  fmt\nn n \n")
	if p.module["fmt"] != standard || p.module["m/one/sub"] != "m" {
		t.Errorf("%v", p.module)
	}
	if !slices.Equal(p.linked[own], []string{"m"}) || !slices.Equal(p.linked["m"], []string{"n"}) ||
		len(p.linked) != 2 {
		t.Errorf("%v", p.linked)
	}
	graph := requirements("coffer m@v1\ncoffer n@v1\nm@v1 n@v2\n", []string{"m"})
	if !slices.Equal(graph[own], []string{"m"}) || !slices.Equal(graph["m"], []string{"n"}) {
		t.Errorf("%v", graph)
	}
}

func TestTheFastestStartCounts(t *testing.T) {
	least := map[string]initial{}
	fastest(least, "coffer 0.1.0\ninit a/b%2ec @1.2 ms, 0.5 ms clock, 100 bytes, 3 allocs\n")
	fastest(least,
		"init a/b%2ec @9 ms, 0.25 ms clock, 96 bytes, 3 allocs\ninit d @2 ms, 7 ms clock, 8 bytes, 1 allocs\n")
	fastest(least, "init d @2 ms, 8 ms clock, 8 bytes, 1 allocs\n")
	if len(least) != 2 || least["a/b.c"] != (initial{0.25, 96}) || least["d"] != (initial{7, 8}) {
		t.Errorf("%v", least)
	}
}

func TestAHeavyProgramIsRefused(t *testing.T) {
	const harmless = "main.main -> fmt.Println\ntext/template.exec <ReflectMethod> -> fmt.Println\n"
	if err := verdict(bound, harmless); err != nil {
		t.Error(err)
	}
	if verdict(bound+1, harmless) == nil {
		t.Error("a program beyond the bound passes")
	}
	if verdict(1, harmless+"a.B -> text/template.(*state).evalField <ReflectMethod>\n") == nil {
		t.Error("a look-up of methods by name passes")
	}
}

func TestTheTableOfAPageIsReplaced(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("# Page\n\n"+begin+"old\n"+end+"\n\nText.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := program{
		size:   map[string]int{own: 5 << 20, standard: 4 << 20, "m": 30 << 10, "n": 1 << 10, "o": 2 << 10},
		init:   map[string]initial{"o": {0.06, 2048}},
		linked: map[string][]string{own: {"m", "o"}, "m": {"n"}},
		graph:  map[string][]string{own: {"m", "o"}, "m": {"n", "z"}},
	}
	if err := replace(page, p.table(29<<20)); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, want := range []string{"# Page\n\n" + begin, end + "\n\nText.\n", " 29.0 MiB.",
		"| `m` | 30 | 31 | 2 | 3 | 0.00 | 0 |",
		"| `o` | 2 | 2 | 1 | 1 | 0.06 | 2 |", "| 1 smaller ones | 1 |", "| all | 9249 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "old") || replace(page+".none", "") == nil {
		t.Error("the old table stays, or a page that is not there is written")
	}
	if err := os.WriteFile(page, []byte("# Page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if replace(page, "x") == nil {
		t.Error("a page without a place for the table is written")
	}
}
