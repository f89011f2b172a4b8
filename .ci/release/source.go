package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// source is what is built. Time is that of the commit; every file of the release bears it.
type source struct {
	root, revision, version string
	time                    time.Time
	goVersion               string
	modules, cache          string // the module cache and the cache of builds
	// where Go finds modules and keeps its cache, and nothing else that a person set with go env -w
	goEnv []string
}

// readSource asks git and Go. A checkout with changes is refused unless that is allowed, and so is one without its
// whole history: the version that Go notes hangs on the tags before it.
func readSource(ctx context.Context, root string, o options) (source, error) {
	s := source{root: root, version: o.version}
	git := func(args ...string) (string, error) { return output(ctx, root, nil, "git", args...) }
	changes, err := git("status", "--porcelain")
	if err != nil {
		return s, err
	}
	if changes != "" && !o.modified {
		return s, errors.New("the checkout has changes or new files; commit them, or try with -allow-modified")
	}
	if shallow, err := git("rev-parse", "--is-shallow-repository"); err != nil || shallow != "false" {
		return s, errors.Join(errors.New("the checkout is shallow: run git fetch --unshallow --tags"), err)
	}
	if s.revision, err = git("rev-parse", "HEAD"); err != nil {
		return s, err
	}
	seconds, err := git("show", "-s", "--format=%ct", "HEAD")
	if err != nil {
		return s, err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return s, fmt.Errorf("time of the commit: %w", err)
	}
	s.time = time.Unix(n, 0).UTC()
	if s.version == "" {
		// A fixed number of digits: git's own choice grows with the objects of the clone.
		described, err := git("describe", "--tags", "--match", "v[0-9]*", "--abbrev=12")
		if err != nil {
			described = ""
		}
		s.version = versionOf(described, s.revision, s.time)
	}
	if changes != "" {
		s.version += "+dirty"
	}
	if !reVersion.MatchString(s.version) {
		return s, fmt.Errorf("%q is no version such as v0.3.0 or v0.3.0-rc.1", s.version)
	}
	if s.goVersion, err = output(ctx, root, nil, "go", "env", "GOVERSION"); err != nil {
		return s, err
	}
	return s, s.settle(ctx)
}

// settle fixes the settings of Go but for where things are.
func (s *source) settle(ctx context.Context) error {
	s.goEnv = []string{"GOENV=off", "GOFLAGS=-mod=readonly", "GOWORK=off"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOPRIVATE", "GONOPROXY", "GOSUMDB", "GONOSUMDB",
		"GOTOOLCHAIN"} {
		value, err := output(ctx, s.root, nil, "go", "env", name)
		if err != nil {
			return err
		}
		s.goEnv = append(s.goEnv, name+"="+value)
		switch name {
		case "GOCACHE":
			s.cache = value
		case "GOMODCACHE":
			s.modules = value
		}
	}
	return nil
}

var reVersion = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// versionOf is a version by the rules of Semantic Versioning: the tag itself, what comes behind a tag, or a version
// before all tags.
func versionOf(described, revision string, at time.Time) string {
	if described == "" {
		return "v0.0.0-" + at.UTC().Format("20060102150405") + "-" + revision[:min(12, len(revision))]
	}
	m := regexp.MustCompile(`^(.+)-(\d+)-g([0-9a-f]+)$`).FindStringSubmatch(described)
	if m == nil {
		return described
	}
	sep := "-"
	if strings.Contains(m[1], "-") { // behind v0.3.0-rc.1
		sep = "."
	}
	return m[1] + sep + m[2] + ".g" + m[3]
}

// output runs a command in dir with more environment and returns what it printed, without the last line feed.
func output(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // go, git, and the program that was just built
	cmd.Dir, cmd.Env = dir, append(cleanEnv(os.Environ()), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(errs.Bytes()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// cleanEnv leaves out what would get into the files: the settings of a person's shell for Go, and those of git.
func cleanEnv(env []string) []string {
	drop := []string{
		"GOFLAGS", "GOEXPERIMENT", "GODEBUG", "GOFIPS140", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOWORK",
		"CGO_ENABLED", "SOURCE_DATE_EPOCH", "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
	}
	return slices.DeleteFunc(slices.Clone(env), func(line string) bool {
		name, _, _ := strings.Cut(line, "=")
		return slices.Contains(drop, name) || strings.HasPrefix(name, "COFFER_") || strings.HasPrefix(name, "CGO_")
	})
}
