package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"coffer/api/files"
)

// AddProfile appends a profile to the configuration file at path. It creates a missing file (0600, its directory 0700)
// and keeps what the file already contains, comments included. With makeDefault a new file names the profile as the
// default one; an existing file keeps its default, see AddDefaultProfile. AddProfile reads the result back before it
// writes, so a profile that breaks a rule gets the *Error that reading it would give.
func AddProfile(path string, p Profile, makeDefault bool) error {
	data, err := withProfile(path, p, makeDefault)
	if err != nil {
		return err
	}
	return write(path, data)
}

// AddDefaultProfile is AddProfile that also makes the profile the default one, in the same write, whatever the default
// was before. Of the existing content only the name of the default profile changes. A file in which that name alone
// cannot be changed gives an *Error.
func AddDefaultProfile(path string, p Profile) error {
	data, err := withProfile(path, p, false)
	if err != nil {
		return err
	}
	data, err = changed(path, data, defaultWish(p.Name), func(f *File) { f.Default = p.Name })
	if err != nil {
		return err
	}
	return write(path, data)
}

// CanAdd returns the error with which AddProfile would refuse the profile; it writes nothing.
func CanAdd(path string, p Profile) error {
	data, err := withProfile(path, p, false)
	if err == nil {
		_, err = Parse(path, data)
	}
	return err
}

// withProfile returns the content of the file with one more profile.
func withProfile(path string, p Profile, makeDefault bool) ([]byte, error) {
	data, err := readToEdit(path)
	if err != nil {
		return nil, err
	}
	f, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	if !reName.MatchString(p.Name) { // it has no place in the file yet
		return nil, &Error{Path: path, Problem: nameRule}
	}
	if _, there := f.Profiles[p.Name]; there {
		return nil, &Error{Path: path, Key: "profiles." + p.Name, Problem: "there is such a profile already"}
	}
	if makeDefault && bytes.Equal(data, newFile()) {
		data = append(data, fmt.Sprintf("default = %q\n", p.Name)...)
	}
	// Only the profile's own table: the file may already have the table around it, and TOML needs no header for that
	// one.
	return withTable(data, p.Name, p, "[profiles.", "profile")
}

// withTable appends what a profile of the name holds, as a table that begins with a header; what names it.
func withTable(data []byte, name string, holds any, header, what string) ([]byte, error) {
	block, err := toml.Marshal(map[string]map[string]any{"profiles": {name: holds}})
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	at := bytes.Index(block, []byte(header))
	if at < 0 {
		return nil, fmt.Errorf("write configuration: the %s has no table", what)
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	return append(append(bytes.Clone(data), '\n'), block[at:]...), nil
}

// SetDefault makes a profile the one that is used without --profile. The rest of the file stays as it is.
func SetDefault(path, profile string) error {
	return change(path, defaultWish(profile), func(f *File) { f.Default = profile })
}

func defaultWish(profile string) []wish {
	return []wish{keyWish("", "default", profile)}
}

// SetUI writes the choices about the screens into the table [ui] of the file, and makes the table when there is none.
// Comments, and lines that are right already, stay. A table in another form than lines below its header, such as
// ui = { … }, is refused with an *Error: only a person can change it.
func SetUI(path string, u UI) error {
	text, err := toml.Marshal(struct {
		UI UI `toml:"ui"`
	}{u})
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	all, err := wishes(text)
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	for _, table := range []string{"ui", "ui.keys", "ui.colors"} {
		if !slices.ContainsFunc(all, func(w wish) bool { return w.table == table }) {
			all = append(all, wish{table: table, whole: true})
		}
	}
	return change(path, all, func(f *File) { f.UI = u })
}

// change rewrites the file, and checks that the new file says what the old one said plus the intended change.
func change(path string, all []wish, meant func(*File)) error {
	data, err := readToEdit(path)
	if err != nil {
		return err
	}
	if data, err = changed(path, data, all, meant); err != nil {
		return err
	}
	return write(path, data)
}

// changed returns the content of a file with the intended change, and checks that nothing else in it changes its
// meaning.
func changed(path string, data []byte, all []wish, meant func(*File)) ([]byte, error) {
	want, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	meant(&want)
	data = rewrite(data, all)
	got, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	if !sameFile(got, want) {
		return nil, &Error{Path: path, Problem: "this file is written in a form that is not changed by the program; " +
			"change it by hand, nothing was written"}
	}
	return data, nil
}

// sameFile compares what two files say. An empty table equals an absent one.
func sameFile(a, b File) bool {
	x, errX := toml.Marshal(a)
	y, errY := toml.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// AddAccount appends an account to a profile of the configuration file at path.
func AddAccount(path, profile string, a Account) error {
	data, err := readToEdit(path)
	if err != nil {
		return err
	}
	var own struct {
		Profiles map[string]any `toml:"profiles"`
	}
	if err := toml.Unmarshal(unmarked(data), &own); err != nil {
		return tomlError(path, data, err)
	}
	if _, ok := own.Profiles[profile]; !ok {
		return &Error{Path: path, Key: "profiles." + profile,
			Problem: "there is no such profile in the file; add it first"}
	}
	// The file already has the tables above the account's.
	data, err = withTable(data, profile, map[string][]Account{"accounts": {a}}, "[[", "account")
	if err != nil {
		return err
	}
	return write(path, data)
}

func newFile() []byte { return fmt.Appendf(nil, "version = %d\n", SchemaVersion) }

func readToEdit(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newFile(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return data, CheckMode(path)
}

// write checks the new content and replaces the old file atomically. Where path is a symbolic link, it replaces the
// file that the link points to. Lines end as the first one does, unless that would change what the file says.
func write(path string, data []byte) error {
	f, err := Parse(path, data)
	if err != nil {
		return err
	}
	if line, _, _ := bytes.Cut(data, []byte("\n")); bytes.HasSuffix(line, []byte("\r")) {
		all := bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
		if g, err := Parse(path, all); err == nil && sameFile(f, g) {
			data = all
		}
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	if err := files.Replace(path, ".config-*", data); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}

// CheckUI checks choices about the screens: it joins an *Error for each key that is wrong, and returns nil when they
// can be written.
func CheckUI(u UI) (err error) {
	u.check(func(key []string, problem string) {
		err = errors.Join(err, &Error{Key: strings.Join(append([]string{"ui"}, key...), "."), Problem: problem})
	})
	return err
}
