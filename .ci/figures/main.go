// Command figures prints what the repository weighs: the Go tokens outside tests, by folder, and how many Go lines are
// longer than 120 columns. It is a figure and no gate.
//
//	go run ./.ci/figures
//
// Tokens are those of go/scanner, without comments and the semicolons that it inserts by itself. A folder is named by
// its first two parts. A tab counts as four columns.
package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

const columns = 120

func main() {
	folders, long, err := weigh(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, err) //nolint:forbidigo // this is a main
		os.Exit(1)
	}
	total := 0
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		total += folders[folder]
		say("%8d %s\n", folders[folder], folder)
	}
	say("%8d Go tokens outside tests\n%8d Go lines longer than %d columns\n", total, long, columns)
}

// say writes to standard output.
func say(format string, values ...any) {
	fmt.Fprintf(os.Stdout, format, values...) //nolint:forbidigo // this is a main
}

// weigh reads all Go files below a directory, except those of git.
func weigh(root fs.FS) (folders map[string]int, long int, err error) {
	folders = map[string]int{}
	err = fs.WalkDir(root, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".go" {
			if err == nil && e.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		long += longLines(string(text))
		if !strings.HasSuffix(name, "_test.go") {
			parts := strings.Split(path.Dir(name), "/")
			folders[path.Join(parts[:min(len(parts), 2)]...)] += tokens(text)
		}
		return nil
	})
	return folders, long, err
}

func tokens(text []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for {
		switch _, kind, literal := s.Scan(); {
		case kind == token.EOF:
			return n
		case kind != token.SEMICOLON || literal != "\n":
			n++
		}
	}
}

func longLines(text string) (n int) {
	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
		if utf8.RuneCountInString(line) > columns {
			n++
		}
	}
	return n
}
