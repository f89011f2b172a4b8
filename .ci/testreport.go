//go:build ignore

// Command testreport reads `go test -json` on standard input, prints what failed or was skipped, and closes with one
// line of counts. It exits 1 when a test failed, when one was skipped that may not be, or when none ran. A test that
// another step runs may be skipped: it says `.ci/run STEP gives one` of what it lacks. Usage: go test -json ./... |
// go run .ci/testreport.go [-skips N] [-slow]
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

func main() {
	allowed := flag.Int("skips", 0, "how many skipped tests are accepted")
	slow := flag.Bool("slow", false, "list the slowest packages, or the slowest tests of the only one")
	flag.Parse()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := map[string][]string{}
	passed, failed, skipped, later := 0, 0, 0, 0
	packages, tests := map[string]float64{}, map[string]float64{}
	elsewhere := regexp.MustCompile(`\.ci/run [a-z-]+ gives one`)
	for {
		line, err := in.ReadString('\n')
		if line == "" && err != nil {
			break
		}
		var e event
		if json.Unmarshal([]byte(line), &e) != nil {
			fmt.Print(line)
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			output[key] = append(output[key], e.Output)
		case "build-fail":
			failed++
			fmt.Printf("BUILD FAILED %s\n%s", e.ImportPath, strings.Join(output[" "], ""))
		case "pass", "fail", "skip":
			if e.Test == "" {
				packages[e.Package] += e.Elapsed
				if e.Action == "fail" {
					failed++
					fmt.Printf("FAIL %s\n%s", e.Package, strings.Join(output[key], ""))
				}
				continue
			}
			if !strings.Contains(e.Test, "/") {
				tests[e.Test] = e.Elapsed
			}
			switch e.Action {
			case "pass":
				passed++
			case "fail":
				failed++
				fmt.Printf("FAIL %s\n%s", key, strings.Join(output[key], ""))
			case "skip":
				if elsewhere.MatchString(strings.Join(output[key], "")) {
					later++
					break
				}
				skipped++
				fmt.Printf("SKIP %s\n%s", key, strings.Join(output[key], ""))
			}
		}
		if e.Action != "output" {
			delete(output, key)
		}
	}
	if *slow {
		took := packages
		if len(packages) == 1 {
			took = tests
		}
		names := slices.SortedFunc(maps.Keys(took), func(a, b string) int { return cmp.Compare(took[b], took[a]) })
		for _, n := range names[:min(len(names), 16)] {
			fmt.Printf("%7.1f s  %s\n", took[n], n)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped, %d left to other steps\n", passed, failed, skipped, later)
	if failed > 0 || passed == 0 || skipped > *allowed {
		os.Exit(1)
	}
}
