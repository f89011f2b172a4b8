//go:build ignore

// Command testreport reads `go test -json` on standard input, prints what failed or was skipped, and closes with one
// line of counts. It exits 1 when a test failed, when one was skipped that may not be, or when none ran. A test that
// another step runs may be skipped: it says `.ci/run STEP gives one` of what it lacks. Usage: go test -json ./... |
// go run .ci/testreport.go [-skips N]
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strings"
)

type event struct {
	Action, Package, Test, Output, ImportPath string
	Elapsed                                   float64
}

func main() {
	allowed := flag.Int("skips", 0, "how many skipped tests are accepted")
	slow := flag.Bool("slow", false, "list the slowest packages")
	flag.Parse()
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := map[string][]string{}
	passed, failed, skipped, later, packages := 0, 0, 0, 0, map[string]float64{}
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
				packages[e.Package] = e.Elapsed
				if e.Action == "fail" {
					failed++
					fmt.Printf("FAIL %s\n%s", e.Package, strings.Join(output[key], ""))
				}
				continue
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
		names := make([]string, 0, len(packages))
		for n := range packages {
			names = append(names, n)
		}
		sort.Slice(names, func(i, j int) bool { return packages[names[i]] > packages[names[j]] })
		for _, n := range names[:min(len(names), 8)] {
			fmt.Printf("%7.1f s  %s\n", packages[n], n)
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped, %d left to other steps\n", passed, failed, skipped, later)
	if failed > 0 || passed == 0 || skipped > *allowed {
		os.Exit(1)
	}
}
