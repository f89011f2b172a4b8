package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// target is a system that is built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

func allTargets() []string {
	return []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}
}

func parseTargets(s string) ([]target, error) {
	var out []target
	for one := range strings.SplitSeq(s, ",") {
		goos, arch, _ := strings.Cut(one, "/")
		if !slices.Contains(allTargets(), one) {
			return nil, fmt.Errorf("there is no target %q; there are %s", one, strings.Join(allTargets(), ", "))
		}
		if slices.Contains(out, target{goos, arch}) {
			return nil, fmt.Errorf("target %s is named twice", one)
		}
		out = append(out, target{goos, arch})
	}
	return out, nil
}

// executable is the name of the program on a system.
func (t target) executable() string {
	if t.os == "windows" {
		return "coffer.exe"
	}
	return "coffer"
}

// name is that of an archive without its ending, and of the directory in it.
func (s source) name(t target) string {
	return "coffer_" + strings.TrimPrefix(s.version, "v") + "_" + t.os + "_" + t.arch
}

// build makes the program for a target and returns what Go noted in it.
func (s source) build(ctx context.Context, t target, path string) (*debug.BuildInfo, error) {
	me, err := self()
	if err != nil {
		return nil, err
	}
	env := []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		modulesEnv + "=" + s.modules}
	_, err = output(ctx, s.root, append(env, s.goEnv...), "go", "build", "-trimpath", "-toolexec", me+" "+toolexecWord,
		"-buildvcs=true", "-ldflags", s.ldflags(), "-o", path, ".")
	if err != nil {
		return nil, err
	}
	return buildinfo.ReadFile(path)
}

// ldflags leave out what a debugger needs and the id that Go gives a build for its cache, and note the version.
func (s source) ldflags() string { return "-s -w -buildid= -X coffer/ui/cli.version=" + s.version }

// release builds the targets into out.
func release(ctx context.Context, s source, targets []target, out string, log io.Writer) error {
	if err := emptyDir(out); err != nil {
		return err
	}
	fmt.Fprintf(log, "coffer %s, revision %s of %s, %s\n", s.version, s.revision,
		s.time.Format("2006-01-02 15:04:05 UTC"), s.goVersion)
	work, err := os.MkdirTemp("", "coffer-release")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	common, err := s.common(ctx, work)
	if err != nil {
		return err
	}
	for _, t := range targets {
		if err := s.one(ctx, t, common, work, out); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		fmt.Fprintf(log, "  %s\n", t)
	}
	sums, err := sumFile(out)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, sumsName), sums, 0o644); err != nil { //nolint:gosec // for everybody
		return err
	}
	_, err = log.Write(sums)
	return err
}

// one makes the archive and the bill of materials of a target.
func (s source) one(ctx context.Context, t target, common []entry, work, out string) error {
	path := filepath.Join(work, t.os+"-"+t.arch, t.executable())
	info, err := s.build(ctx, t, path)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := foreign(program, s.modules, s.root, s.cache, work); err != nil {
		return err
	}
	parts, err := s.components(ctx, info)
	if err != nil {
		return err
	}
	licences, err := licenceFiles(parts)
	if err != nil {
		return err
	}
	entries := append([]entry{{name: t.executable(), mode: 0o755, data: program}}, slices.Concat(common, licences)...)
	pack, ending := tarGz, ".tar.gz"
	if t.os == "windows" {
		pack, ending = zipped, ".zip"
	}
	archive, err := pack(s.name(t), s.time, entries)
	if err != nil {
		return err
	}
	bill, err := s.bill(t, program, parts)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{s.name(t) + ending: archive, s.name(t) + ".cdx.json": bill} {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil { //nolint:gosec // for everybody
			return err
		}
	}
	return nil
}

// common are the files that every archive has: words, licences, the manual and the completions, which a program for
// this machine writes.
func (s source) common(ctx context.Context, work string) ([]entry, error) {
	host := filepath.Join(work, "host", target{os: runtime.GOOS}.executable())
	if _, err := s.build(ctx, target{runtime.GOOS, runtime.GOARCH}, host); err != nil {
		return nil, err
	}
	man := filepath.Join(work, "man")
	env := []string{"HOME=" + work, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", s.time.Unix())}
	if _, err := output(ctx, work, env, host, "man", man); err != nil {
		return nil, err
	}
	var out []entry
	for _, some := range []struct{ dir, pattern, below string }{
		{man, "*.1", "man/man1/"},
		{s.root, "*.md", ""}, {s.root, "LICENSE", ""}, {s.root, "NOTICE", ""},
		{filepath.Join(s.root, "docs"), "*", "docs/"},
		{filepath.Join(s.root, "assets", "licenses"), "*.txt", "licenses/"},
	} {
		more, err := readAll(some.dir, some.pattern, some.below)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	for shell, name := range map[string]string{"bash": "coffer.bash", "zsh": "_coffer", "fish": "coffer.fish",
		"powershell": "coffer.ps1"} {
		script, err := output(ctx, work, env, host, "completion", shell)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: "completions/" + name, mode: 0o644, data: []byte(script + "\n")})
	}
	return out, nil
}

// readAll reads the files of a directory whose names match.
func readAll(dir, pattern, below string) ([]entry, error) {
	names, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no %s", dir, pattern)
	}
	var out []entry
	for _, n := range names {
		if info, err := os.Stat(n); err != nil || info.IsDir() {
			continue
		}
		b, err := os.ReadFile(n)
		if err != nil {
			return nil, err
		}
		out = append(out, entry{name: below + filepath.Base(n), mode: 0o644, data: b})
	}
	return out, nil
}

// emptyDir makes a directory that must not hold anything yet.
func emptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // for everybody
		return err
	}
	there, err := os.ReadDir(dir)
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s is not empty", dir)
	}
	return err
}
