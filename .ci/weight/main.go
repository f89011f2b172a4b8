// Command weight measures what every linked module costs: bytes of code and data in the program, modules that it brings
// and time before main.
//
// Usage: go run ./.ci/weight [-check] [-write docs/modules.md]
//
// It builds the program for Linux without cgo and prints a table. With -check it prints none and exits 1 when the
// stripped program is larger than its bound, or when something linked looks methods up by name, for which the linker
// keeps every exported method of every type. With -write it replaces the table in a page.
package main

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The bound of the stripped program, in bytes, and the starts of which the fastest counts for each package.
const (
	bound  = 41 << 20
	starts = 30
)

// Rows below both are added up in one.
const (
	leastKB = 20
	leastMs = 0.05
)

// What the figures of the program's own packages and of Go's library stand under.
const (
	own      = "coffer"
	standard = "Go's library"
)

func main() {
	check := flag.Bool("check", false, "print no table; exit 1 when the program is too large")
	write := flag.String("write", "", "the `page` whose table is replaced")
	flag.Parse()
	if err := run(*check, *write, os.Stdout); err != nil { //nolint:forbidigo // this is a main
		fmt.Fprintln(os.Stderr, "weight:", err) //nolint:forbidigo // this is a main
		os.Exit(1)
	}
}

func run(check bool, page string, out io.Writer) error {
	dir, err := os.MkdirTemp("", "coffer-weight")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	stripped, whole := filepath.Join(dir, "stripped"), filepath.Join(dir, "whole")
	dump, err := command("go", "build", "-trimpath", "-ldflags", "-s -w -buildid= -dumpdep", "-o", stripped, ".")
	if err != nil {
		return err
	}
	info, err := os.Stat(stripped)
	if err != nil {
		return err
	}
	if err := verdict(info.Size(), string(dump)); check || err != nil {
		fmt.Fprintf(out, "%.1f MiB, %d at most\n", float64(info.Size())/(1<<20), bound>>20)
		return err
	}
	if _, err := command("go", "build", "-trimpath", "-o", whole, "."); err != nil {
		return err
	}
	p, err := measure(whole)
	if err != nil {
		return err
	}
	table := p.table(info.Size())
	if page == "" {
		_, err = io.WriteString(out, table)
		return err
	}
	return replace(page, table)
}

// verdict says what is wrong with a stripped program of that size, whose linker wrote dump.
func verdict(size int64, dump string) error {
	for line := range strings.Lines(dump) {
		if _, to, _ := strings.Cut(line, " -> "); strings.Contains(to, "<ReflectMethod>") {
			return fmt.Errorf("methods are looked up by name, so none can be left out: %s", strings.TrimSpace(line))
		}
	}
	if size > bound {
		return fmt.Errorf("%d bytes, %d at most", size, bound)
	}
	return nil
}

// command runs one for Linux without cgo and returns everything that it wrote.
func command(name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...) //nolint:gosec,noctx // the arguments are this program's own
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return out, nil
}

// program is what is known of one: for each package its module and what was measured, and who imports whom.
type program struct {
	module map[string]string   // package → module
	linked map[string][]string // module → modules that its linked packages import
	graph  map[string][]string // module → modules that its go.mod names
	size   map[string]int      // module → bytes of symbols
	init   map[string]initial  // module → before main
}

// initial is the cost of package variables and init functions: milliseconds and bytes of the heap.
type initial struct {
	ms    float64
	bytes int
}

func measure(path string) (program, error) {
	p := program{size: map[string]int{}, init: map[string]initial{}}
	list, err := command("go", "list", "-deps", "-f",
		"{{.ImportPath}} {{with .Module}}{{.Path}}{{else}}-{{end}} {{range .Imports}} {{.}}{{end}}", ".")
	if err != nil {
		return p, err
	}
	p.packages(string(list))
	direct, err := command("go", "list", "-m", "-f", "{{if not .Indirect}}{{.Path}}{{end}}", "all")
	if err != nil {
		return p, err
	}
	graph, err := command("go", "mod", "graph")
	if err != nil {
		return p, err
	}
	p.graph = requirements(string(graph), strings.Fields(string(direct)))
	f, err := elf.Open(path)
	if err != nil {
		return p, err
	}
	symbols, err := f.Symbols()
	if err = errors.Join(err, f.Close()); err != nil {
		return p, err
	}
	for _, s := range symbols {
		// What is not in the file, such as zeroed memory, does not count.
		if int(s.Section) < len(f.Sections) && f.Sections[s.Section].Type == elf.SHT_PROGBITS {
			if m := p.module[packageOf(s.Name)]; m != "" {
				p.size[m] += int(s.Size)
			}
		}
	}
	least := map[string]initial{}
	for range starts {
		out, err := command("env", "GODEBUG=inittrace=1", path, "version")
		if err != nil {
			return p, err
		}
		fastest(least, string(out))
	}
	for pkg, i := range least {
		m := p.module[pkg]
		p.init[m] = initial{p.init[m].ms + i.ms, p.init[m].bytes + i.bytes}
	}
	return p, nil
}

// packages reads a line for each package: its path, its module or -, and what it imports.
func (p *program) packages(list string) {
	p.module, p.linked = map[string]string{"main": own}, map[string][]string{}
	imports := map[string][]string{}
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		p.module[f[0]], imports[f[0]] = f[1], f[2:]
		if f[1] == "-" {
			p.module[f[0]] = standard
		}
	}
	for pkg, list := range imports {
		from := p.module[pkg]
		for _, to := range list {
			if m := p.module[to]; m != "" && m != standard && m != from && !slices.Contains(p.linked[from], m) {
				p.linked[from] = append(p.linked[from], m)
			}
		}
	}
}

// requirements reads go mod graph. What the main module names only for others does not count as its own.
func requirements(graph string, direct []string) map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(graph) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		from, _, _ := strings.Cut(f[0], "@")
		to, _, _ := strings.Cut(f[1], "@")
		if from != own || slices.Contains(direct, to) {
			out[from] = append(out[from], to)
		}
	}
	return out
}

// alone lists what can be reached from the program only through a module, itself included.
func alone(edges map[string][]string, module string) []string {
	all, without := map[string]bool{}, map[string]bool{module: true}
	walk(edges, own, all)
	walk(edges, own, without)
	var out []string
	for m := range all {
		if !without[m] || m == module {
			out = append(out, m)
		}
	}
	return out
}

func walk(edges map[string][]string, from string, seen map[string]bool) {
	if seen[from] {
		return
	}
	seen[from] = true
	for _, to := range edges[from] {
		walk(edges, to, seen)
	}
}

var reBeforePackage = regexp.MustCompile(`^(type:(\.(eq|hash)\.)?|go:itab\.)?[*\[\]0-9]*`)

// packageOf is the import path in the name of a symbol, or "".
func packageOf(symbol string) string {
	s := symbol[len(reBeforePackage.FindString(symbol)):]
	if i := strings.IndexAny(s, "[(,"); i >= 0 {
		s = s[:i]
	}
	last := strings.LastIndexByte(s, '/') + 1
	name, _, found := strings.Cut(s[last:], ".")
	path, err := url.PathUnescape(s[:last] + name) // a dot in the last part is %2e
	if !found || err != nil {
		return ""
	}
	return path
}

var reInit = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock, (\d+) bytes`)

// fastest keeps of each package the least time that a trace of a start has.
func fastest(least map[string]initial, trace string) {
	for _, m := range reInit.FindAllStringSubmatch(trace, -1) {
		pkg, err := url.PathUnescape(m[1])
		ms, err2 := strconv.ParseFloat(m[2], 64)
		n, err3 := strconv.Atoi(m[3])
		if errors.Join(err, err2, err3) != nil {
			continue
		}
		if old, known := least[pkg]; !known || ms < old.ms {
			least[pkg] = initial{ms, n}
		}
	}
}

// table is the page's table, the largest first.
func (p program) table(file int64) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "The stripped program for linux/%s has %.1f MiB.\n\n", cmp.Or(os.Getenv("GOARCH"), "amd64"),
		float64(file)/(1<<20))
	b.WriteString("| module | KB | KB with what only it brings | modules linked for it | modules in the graph for it" +
		" | ms before main | KB of heap before main |\n|---|---|---|---|---|---|---|\n")
	all := 0
	for _, n := range p.size {
		all += n
	}
	before := initial{}
	for _, i := range p.init {
		before = initial{before.ms + i.ms, before.bytes + i.bytes}
	}
	row(&b, "all", all, "", "", "", before)
	rest, few, sum := 0, 0, initial{}
	names := slices.Collect(maps.Keys(p.size))
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.size[b], p.size[a]), cmp.Compare(a, b))
	})
	for _, m := range names {
		i := p.init[m]
		switch {
		case m == own || m == standard:
			row(&b, m, p.size[m], "", "", "", i)
		case p.size[m] < leastKB<<10 && i.ms < leastMs:
			rest, few, sum = rest+p.size[m], few+1, initial{sum.ms + i.ms, sum.bytes + i.bytes}
		default:
			brings, with := alone(p.linked, m), 0
			for _, other := range brings {
				with += p.size[other]
			}
			row(&b, "`"+m+"`", p.size[m], kb(with), strconv.Itoa(len(brings)),
				strconv.Itoa(len(alone(p.graph, m))), i)
		}
	}
	row(&b, strconv.Itoa(few)+" smaller ones", rest, "", "", "", sum)
	return b.String()
}

func row(b *bytes.Buffer, name string, size int, with, linked, graph string, i initial) {
	fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %.2f | %s |\n", name, kb(size), with, linked, graph, i.ms, kb(i.bytes))
}

func kb(n int) string { return strconv.Itoa((n + 512) >> 10) }

// The table in a page is between these lines.
const (
	begin = "<!-- weight: begin -->\n"
	end   = "<!-- weight: end -->"
)

// replace puts the table into a page, in place of the one before.
func replace(page, table string) error {
	raw, err := os.ReadFile(page) //nolint:gosec // the page that was named
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the table", page)
	}
	return os.WriteFile(page, []byte(before+begin+"\n"+table+"\n"+end+after), 0o644) //nolint:gosec // for everybody
}
