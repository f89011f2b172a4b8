package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// What -trimpath leaves behind: an assembler file that includes another one from a directory beside its package's
// (github.com/consensys/gnark-crypto does) brings the place of the module cache into the program, because Go takes the
// directory of the package out and no other. So this program stands between Go and its tools (-toolexec) and gives the
// assembler the module cache to take out as well.
const (
	toolexecWord = "toolexec"       // first argument of the program when Go calls it
	modulesEnv   = "COFFER_MODULES" // the module cache, for it
	toolMark     = "modules-trimmed"
)

// toolexec runs a tool of Go. What the assembler makes is another thing than without this program, which its version
// says, so that nothing of another build is taken from the cache.
func toolexec(ctx context.Context, args []string, modules string, stdout, stderr io.Writer) error {
	if len(args) == 0 || modules == "" {
		return errors.New("toolexec is for go build -toolexec")
	}
	tool, rest := args[0], args[1:]
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, tool, assemblerArgs(tool, rest, modules)...) //nolint:gosec // go build asks for it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, &said, stderr
	if err := cmd.Run(); err != nil {
		_, _ = stdout.Write(said.Bytes())
		return err
	}
	if isAssembler(tool) && slices.Contains(rest, "-V=full") {
		line := strings.TrimSpace(said.String())
		if strings.Contains(line, " devel ") {
			return errors.New("a release is built by a released version of Go")
		}
		_, err := fmt.Fprintln(stdout, line, toolMark)
		return err
	}
	_, err := stdout.Write(said.Bytes())
	return err
}

func isAssembler(tool string) bool {
	return strings.TrimSuffix(filepath.Base(tool), ".exe") == "asm"
}

// assemblerArgs are the arguments of a tool, with the module cache among what the assembler takes out of paths. The
// first rule that fits holds, so it comes last.
func assemblerArgs(tool string, args []string, modules string) []string {
	out := slices.Clone(args)
	if i := slices.Index(out, "-trimpath"); isAssembler(tool) && i >= 0 && i+1 < len(out) {
		out[i+1] += ";" + modules + "=>"
	}
	return out
}

// foreign names a directory of this machine that got into the program all the same.
func foreign(program []byte, dirs ...string) error {
	const shortest = 6 // a shorter one may be there by chance
	for _, d := range dirs {
		for _, form := range []string{d, filepath.ToSlash(d)} {
			if len(form) >= shortest && bytes.Contains(program, []byte(form)) {
				return fmt.Errorf("%s is in the program, so another machine builds other bytes", form)
			}
		}
	}
	return nil
}

// self is this program, for -toolexec.
func self() (string, error) {
	path, err := os.Executable()
	if err == nil && strings.ContainsAny(path, " '\"") {
		err = fmt.Errorf("%q has a blank or a quote in it: build the release from another directory (go build -o)",
			path)
	}
	return path, err
}
