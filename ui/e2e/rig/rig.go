//go:build unix

// Package rig is what the tests of the built program share: the program itself, a person at a terminal, a script, a
// team's wallet in front of a service in another process, and whatever stands between the two. It is a package of its
// own so that these tests can live in several packages, which `go test` runs side by side. Nothing of it is linked into
// Coffer.
//
// # The program
//
// Main builds the program into one place for all packages of a checkout, under a lock: the first package links it, and
// the others find it up to date, which takes them 0.7 s instead of 4 s. It is `go build` that decides, by the build ID
// in the file, so nothing stale is ever run. Each package runs a hard link of its own: a change of the sources while
// tests run leaves them the program that they began with. The file stays in the directory for temporary files for the
// next run. COFFER_BIN names a program to test in its place.
package rig

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// program is what Main found or built, and the files that it was built from.
var program struct {
	path    string
	sources []string
}

// atOnce is how many tests of a package run at the same time when the command line does not say: they wait for
// terminals and services far more than they compute.
const atOnce = 4

// Whole reports whether tests run at their whole length (docs/testing.md).
func Whole() bool { return os.Getenv("COFFER_TEST_WHOLE") != "" }

// Main runs the tests of a package on the program. Each package calls it in its TestMain.
func Main(m *testing.M) {
	os.Exit(func() int {
		const parallel = "test.parallel"
		flag.Parse()
		said := false
		flag.Visit(func(f *flag.Flag) { said = said || f.Name == parallel })
		if n := runtime.GOMAXPROCS(0); !said && n < atOnce {
			_ = flag.Set(parallel, strconv.Itoa(atOnce)) // it is a flag of every test
		}
		dir, err := os.MkdirTemp("", "coffer-test")
		if err == nil {
			defer func() { _ = os.RemoveAll(dir) }()
			err = provide(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// Program is the path of the program: the one that COFFER_BIN names, or one built for the tests. The first test that
// asks for it looks at every file that it was built from. For `go test` keeps the result of a package that passed until
// something changes that a test depends on; it cannot know of a program that is run, but it notes the files and the
// environment that a test looks at.
var Program = sync.OnceValue(func() string {
	for _, name := range append(program.sources, os.Getenv("COFFER_BIN")) {
		_, _ = os.Stat(name)
	}
	return program.path
})

// Root is the directory of the module.
var Root = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			err = fs.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	panic(fmt.Sprintf("the tests do not run inside the module: %v", err))
})

// provide finds the program to test, or builds it into dir.
func provide(dir string) error {
	if named := os.Getenv("COFFER_BIN"); named != "" {
		if !filepath.IsAbs(named) {
			named = filepath.Join(Root(), named)
		}
		program.path = named
		return nil
	}
	shared, err := place()
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(shared, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // which ends the lock
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	built := filepath.Join(shared, "coffer")
	if _, err := command("build", "-o", built, "coffer"); err != nil {
		return err
	}
	program.path = filepath.Join(dir, "coffer")
	if err := os.Link(built, program.path); err != nil {
		return err
	}
	program.sources, err = sources()
	return err
}

// place is the directory of this user in which the program of this checkout is built.
func place() (string, error) {
	sum := sha256.Sum256([]byte(Root()))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("coffer-e2e-%d-%x", os.Getuid(), sum[:6]))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if s, ok := info.Sys().(*syscall.Stat_t); !ok || int(s.Uid) != os.Getuid() || info.Mode() != fs.ModeDir|0o700 {
		return "", fmt.Errorf("%s is not a directory of this user alone (mode %v)", dir, info.Mode())
	}
	return dir, nil
}

// sources are the files of this module that the program is built from.
func sources() ([]string, error) {
	const files = `{{if and .Module .Module.Main}}{{$d := .Dir}}` +
		`{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`
	list, err := command("list", "-deps", "-f", files, "coffer")
	if err != nil {
		return nil, err
	}
	names := []string{filepath.Join(Root(), "go.mod"), filepath.Join(Root(), "go.sum")}
	for name := range strings.Lines(list) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names, nil
}

// command runs the go command for the program as it is released, without cgo.
func command(args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Env, cmd.Dir = append(os.Environ(), "CGO_ENABLED=0"), Root()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// must ends the test with an error that is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
