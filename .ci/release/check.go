package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// check builds HEAD twice, each time from a clone in a directory of its own with caches of its own, and compares every
// file. The second clone lies deeper, and its modules are unpacked anew from the downloads of the first.
func check(ctx context.Context, root string, o options, log io.Writer) error {
	work, err := os.MkdirTemp("", "coffer-check")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	downloads, err := output(ctx, root, nil, "go", "env", "GOMODCACHE")
	if err != nil {
		return err
	}
	first, second := filepath.Join(work, "a"), filepath.Join(work, "another", "and deeper", "place")
	kept := o.out
	if kept == "" {
		kept = filepath.Join(work, "out-a")
	}
	outs := []string{kept, filepath.Join(work, "out-b")}
	for i, dir := range []string{first, second} {
		env := []string{"GOCACHE=" + filepath.Join(work, fmt.Sprintf("cache-%d", i))}
		if i == 1 {
			env = append(env, "GOMODCACHE="+filepath.Join(work, "modules"),
				"GOPROXY=file://"+filepath.ToSlash(downloads)+"/cache/download", "GOSUMDB=off",
				"HOME="+filepath.Join(work, "home"),
				"TZ=Pacific/Kiritimati", "LC_ALL=C")
		}
		if err := buildClone(ctx, root, dir, outs[i], env, o, log); err != nil {
			return fmt.Errorf("build %d: %w", i+1, err)
		}
		if i == 1 {
			// its files cannot be removed otherwise
			if _, err := output(ctx, dir, env, "go", "clean", "-modcache"); err != nil {
				return err
			}
		}
	}
	n, err := same(outs[0], outs[1])
	if err == nil {
		_, err = fmt.Fprintf(log, "%d files, the same bytes twice\n", n)
	}
	return err
}

// buildClone clones HEAD and has the clone build itself.
func buildClone(ctx context.Context, root, dir, out string, env []string, o options, log io.Writer) error {
	revision, err := output(ctx, root, nil, "git", "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	if _, err := output(ctx, "", nil, "git", "clone", "--quiet", "--no-local", "--no-checkout", root, dir); err != nil {
		return err
	}
	if _, err := output(ctx, dir, nil, "git", "checkout", "--quiet", "--detach", revision); err != nil {
		return err
	}
	absolute, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	args := []string{"run", "./.ci/release", "-out", absolute, "-targets", o.targets}
	if o.version != "" {
		args = append(args, "-version", o.version)
	}
	said, err := output(ctx, dir, env, "go", args...)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(log, "in %s\n%s\n", dir, said)
	return err
}

// same compares the files of two directories byte for byte and returns how many there are. Every difference is named.
func same(a, b string) (n int, err error) {
	sums := map[string][2]string{} // of either directory, "" where a file is not there
	for i, dir := range []string{a, b} {
		list, err := readAll(dir, "*", "")
		if err != nil {
			return 0, err
		}
		for _, e := range list {
			both := sums[e.name]
			both[i] = fmt.Sprintf("%x", sha256.Sum256(e.data))
			sums[e.name] = both
		}
	}
	var problems []string
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if both := sums[name]; both[0] != both[1] {
			problems = append(problems, fmt.Sprintf("%s: %s, and %s", name, both[0], both[1]))
		}
	}
	if len(sums) == 0 {
		return 0, errors.New("nothing was built")
	}
	if len(problems) > 0 {
		return len(sums), errors.New("the two builds differ:\n  " + strings.Join(problems, "\n  "))
	}
	return len(sums), nil
}
