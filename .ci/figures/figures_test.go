package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestFiguresCountTokensByFolderAndLongLines(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	long := "var a = \"" + strings.Repeat("é", 112) + "\"\n" // 122 columns
	folders, n, err := weigh(fstest.MapFS{
		"main.go":          file("package main // a comment\n\nfunc main() {}\n"),
		"api/a.go":         file("package api\n\n" + long + "\tvar b = 1; var c = 2\n"),
		"api/op/word/w.go": file("package word\n"),
		"api/op/x.go": file("package op\n//" + strings.Repeat("x", 118) + "\n" +
			"\t//" + strings.Repeat("x", 115) + "\n"),
		"api/op/x_test.go":   file("package op\n" + long),
		"api/op/notes.txt":   file("package op\n" + long),
		".git/objects/a.go":  file("package op\n" + long),
		"api/.hidden/h.go":   file("package hidden\n"),
		"api/.hidden/h_test": file("package hidden\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{".": 8, "api": 2 + 4 + 4 + 1 + 4, "api/op": 4, "api/.hidden": 2}
	for folder, tokens := range want {
		if folders[folder] != tokens {
			t.Errorf("%s has %d tokens, want %d", folder, folders[folder], tokens)
		}
	}
	if len(folders) != len(want) || n != 3 {
		t.Errorf("%v, %d long lines", folders, n)
	}
}
