//go:build ignore

// Command report reads a report of gremlins, prints every mutant that is not killed as "file:line:column kind status"
// and one line of counts, and exits 1 when less than -threshold per cent of the mutants that were tried are killed.
// Usage: report [-threshold 90] [-dir wallet/sign] FILE
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
)

type mutant struct {
	Type, Status string
	Line, Column int
}

type file struct {
	Name      string   `json:"file_name"`
	Mutations []mutant `json:"mutations"`
}

type document struct {
	Files []file `json:"files"`
}

// quiet are the states that need no look; the others are printed.
var quiet = []string{"KILLED", "NOT VIABLE"}

func main() {
	threshold := flag.Float64("threshold", 90, "per cent that has to be killed")
	dir := flag.String("dir", "", "the package's directory, for the names of files")
	flag.Parse()
	raw, err := os.ReadFile(flag.Arg(0))
	if err != nil {
		fmt.Println("mutation report:", err)
		os.Exit(1)
	}
	var d document
	if err := json.Unmarshal(raw, &d); err != nil {
		fmt.Println("mutation report:", err)
		os.Exit(1)
	}
	count := map[string]int{}
	slices.SortFunc(d.Files, func(a, b file) int { return cmp.Compare(a.Name, b.Name) })
	for _, f := range d.Files {
		slices.SortFunc(f.Mutations, func(a, b mutant) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
		for _, m := range f.Mutations {
			count[m.Status]++
			if !slices.Contains(quiet, m.Status) {
				fmt.Printf("%s:%d:%d %s %s\n", path.Join(*dir, f.Name), m.Line, m.Column, m.Type, m.Status)
			}
		}
	}
	killed, tried := count["KILLED"], count["KILLED"]+count["LIVED"]
	if tried == 0 {
		fmt.Printf("%s: no mutant was tried\n", *dir)
		os.Exit(1)
	}
	efficacy := 100 * float64(killed) / float64(tried)
	fmt.Printf("%s: %.1f %% killed (%d of %d), %d timed out, %d not built here, %d did not compile\n",
		*dir, efficacy, killed, tried, count["TIMED OUT"], count["NOT COVERED"], count["NOT VIABLE"])
	if efficacy < *threshold {
		fmt.Printf("%s: below %g %%\n", *dir, *threshold)
		os.Exit(1)
	}
}
