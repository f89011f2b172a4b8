// Command release builds what is given to users: for each system an archive with the program, its manual, its
// completions and every licence, a bill of materials (CycloneDX, JSON), and SHA256SUMS over all of them.
//
//	go run ./.ci/release -out DIR                     every target, from the present checkout
//	go run ./.ci/release -out DIR -targets linux/amd64
//	go run ./.ci/release -check                       twice, from two clones of HEAD with caches of their own, and
//	                                                  compared byte for byte
//
// Promise: the same revision, built by the same version of Go, gives the same bytes wherever and whenever it is built.
// Nothing of the machine gets in: no path, no clock, no user, no order of a directory. A checkout with changes is
// refused, a module that docs/modules.tsv does not have in this version too, and one whose hash is not that of go.sum.
//
// Needs Go and git, and no network once the modules are there. docs/release.md tells the rest.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
)

type options struct {
	out, version, targets string
	check, modified       bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	if len(os.Args) > 1 && os.Args[1] == toolexecWord {
		//nolint:forbidigo // this is a main
		end(toolexec(ctx, os.Args[2:], os.Getenv(modulesEnv), os.Stdout, os.Stderr))
	}
	var o options
	flag.StringVar(&o.out, "out", "", "directory for the files; it must be empty or not there")
	flag.StringVar(&o.version, "version", "", "version to note in the program (default: that of git describe)")
	flag.StringVar(&o.targets, "targets", strings.Join(allTargets(), ","),
		"what to build, as GOOS/GOARCH with commas between")
	flag.BoolVar(&o.check, "check", false,
		"build from two clones with caches of their own and compare; -out then keeps the first")
	flag.BoolVar(&o.modified, "allow-modified", false,
		"build a checkout with changes, to try this program; the result says so")
	flag.Parse()
	err := run(ctx, o, os.Stdout) //nolint:forbidigo // this is a main
	stop()
	end(err)
}

// end ends the program, with what a tool said of its end where one failed.
func end(err error) {
	if err == nil {
		os.Exit(0)
	}
	fmt.Fprintln(os.Stderr, "release:", err) //nolint:forbidigo // this is a main
	code := 1
	var tool *exec.ExitError
	if errors.As(err, &tool) {
		code = max(code, tool.ExitCode())
	}
	os.Exit(code)
}

func run(ctx context.Context, o options, out io.Writer) error {
	targets, err := parseTargets(o.targets)
	if err != nil {
		return err
	}
	root, err := output(ctx, "", nil, "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	if o.check {
		return check(ctx, root, o, out)
	}
	if o.out == "" {
		return fmt.Errorf("-out names the directory for the files")
	}
	s, err := readSource(ctx, root, o)
	if err != nil {
		return err
	}
	return release(ctx, s, targets, o.out, out)
}
