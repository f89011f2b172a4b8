//go:build ignore

// Command modules compares the modules linked into the program with the reviewed list docs/modules.tsv (module,
// version, licence). A module that is missing there, has another version or no licence, or is listed but no longer
// linked, is printed and the command exits 1.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"sort"
	"strings"
)

const list = "docs/modules.tsv"

func main() {
	linked := map[string]string{}
	for _, goos := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}\t{{.Version}}{{end}}", ".")
		cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			fmt.Println("go list:", err)
			os.Exit(1)
		}
		for _, line := range strings.Fields(strings.ReplaceAll(string(out), "\t", "@")) {
			if path, version, _ := strings.Cut(line, "@"); path != "coffer" {
				linked[path] = version
			}
		}
	}
	f, err := os.Open(list)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer f.Close()
	var problems []string
	reviewed := map[string]bool{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") || sc.Text() == "" {
			continue
		}
		row := strings.Split(sc.Text(), "\t")
		if len(row) != 3 || row[2] == "" {
			problems = append(problems, "malformed row: "+sc.Text())
			continue
		}
		reviewed[row[0]] = true
		switch v, ok := linked[row[0]]; {
		case !ok:
			problems = append(problems, "listed but no longer linked: "+row[0])
		case v != row[1]:
			problems = append(problems, fmt.Sprintf("%s is linked at %s, reviewed at %s", row[0], v, row[1]))
		}
	}
	for path, version := range linked {
		if !reviewed[path] {
			problems = append(problems, fmt.Sprintf("not reviewed: %s %s", path, version))
		}
	}
	sort.Strings(problems)
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		fmt.Printf("%d problems: read the module's licence and correct %s\n", len(problems), list)
		os.Exit(1)
	}
	fmt.Printf("%d linked modules, all reviewed\n", len(linked))
}
