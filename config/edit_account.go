package config

import (
	"fmt"
	"slices"
	"strings"
)

// RemoveAccount removes the account at index at from a profile in the configuration file at path. Comments and
// everything else stay as they are; a file that does not give the account a table of its own stays unchanged.
func RemoveAccount(path, profile string, at int) error {
	data, want, err := fileWithAccount(path, profile, at)
	if err != nil {
		return err
	}
	p := want.Profiles[profile]
	text := withoutTable(string(data), "profiles."+profile+".accounts[]", at)
	if name := p.Accounts[at].Name; name != "" && strings.EqualFold(name, p.DefaultAccount) {
		p.DefaultAccount = ""
		text = withoutKey(text, "profiles."+profile, "default_account")
	}
	p.Accounts = slices.Delete(slices.Clone(p.Accounts), at, at+1)
	want.Profiles[profile] = p
	return writeSame(path, []byte(text), want)
}

// fileWithAccount reads a file to edit that has an account at index at of a profile. A profile that is not in the file
// has no accounts.
func fileWithAccount(path, profile string, at int) (data []byte, file File, err error) {
	if data, err = readToEdit(path); err != nil {
		return nil, File{}, err
	}
	if file, err = Parse(path, data); err != nil {
		return nil, File{}, err
	}
	if at < 0 || at >= len(file.Profiles[profile].Accounts) {
		return nil, File{}, &Error{Path: path, Key: "profiles." + profile,
			Problem: "there is no such account in the file; nothing was written"}
	}
	return data, file, nil
}

// writeSame writes a text that says what want says; a text that does not is refused, and the file stays.
func writeSame(path string, data []byte, want File) error {
	if got, err := Parse(path, data); err != nil || !sameFile(got, want) {
		return &Error{Path: path, Problem: "this file is written in a form that is not changed by the program; " +
			"change it by hand, nothing was written"}
	}
	return write(path, data)
}

// NameAccount gives the account at index at of a profile a name, in place of an earlier one. A default account stays
// the default.
func NameAccount(path, profile string, at int, name string) error {
	if err := CheckAccountName(name); err != nil {
		return &Error{Path: path, Key: "profiles." + profile, Problem: err.Error()}
	}
	data, want, err := fileWithAccount(path, profile, at)
	if err != nil {
		return err
	}
	p := want.Profiles[profile]
	lines := strings.Split(string(data), "\n")
	from, to := nthTable(lines, "profiles."+profile+".accounts[]", at)
	if from >= 0 {
		lines = slices.Replace(lines, from+1, to, keyWish("", "name", name).into(lines[from+1:to])...)
	}
	if old := p.Accounts[at].Name; old != "" && strings.EqualFold(old, p.DefaultAccount) {
		p.DefaultAccount = name
		lines = keyWish("profiles."+profile, "default_account", name).into(lines)
	}
	p.Accounts = slices.Clone(p.Accounts)
	p.Accounts[at].Name = name
	want.Profiles[profile] = p
	if _, problem := wrongAccounts(p); problem != "" {
		return &Error{Path: path, Key: "profiles." + profile, Problem: problem}
	}
	return writeSame(path, []byte(strings.Join(lines, "\n")), want)
}

// wrongAccounts is the first rule that the accounts of a profile break.
func wrongAccounts(p Profile) (key, problem string) {
	p.checkAccounts(func(k, words string) {
		if problem == "" {
			key, problem = k, words
		}
	})
	return key, problem
}

// SetDefaultAccount makes the EVM account of a name the one that is used without --account.
func SetDefaultAccount(path, profile, name string) error {
	return change(path, []wish{keyWish("profiles."+profile, "default_account", name)}, func(f *File) {
		p := f.Profiles[profile]
		p.DefaultAccount = name
		f.Profiles[profile] = p
	})
}

// keyWish is one text in a table.
func keyWish(table, key, value string) wish {
	text := fmt.Sprintf("%q", value)
	return wish{table: table, keys: []wishedKey{{name: key, value: value, text: text, line: key + " = " + text}}}
}

// withoutKey drops a line with a key from a table.
func withoutKey(text, table, key string) string {
	lines := strings.Split(text, "\n")
	from, to, found := wish{table: table}.find(lines)
	if !found {
		return text
	}
	kept := slices.DeleteFunc(slices.Clone(lines[from:to]), func(line string) bool {
		k, err := readKey(strings.TrimSpace(line))
		return err == nil && k.name == key
	})
	return strings.Join(slices.Replace(lines, from, to, kept...), "\n")
}

// withoutTable drops the nth table of a name: its header and the lines below it up to the last one with a key. Blank
// lines and comments before the next table stay with that table.
func withoutTable(text, name string, nth int) string {
	lines := strings.Split(text, "\n")
	from, to := nthTable(lines, name, nth)
	if from < 0 {
		return text
	}
	if from > 0 && strings.TrimSpace(lines[from-1]) == "" {
		from--
	}
	return strings.Join(slices.Delete(lines, from, to), "\n")
}

// nthTable finds the nth table of a name: the line of its header, and the one behind its last key. Without one from is
// -1.
func nthTable(lines []string, name string, nth int) (from, to int) {
	from, to = -1, len(lines)
	for i, line := range lines {
		table, ok := header(line)
		switch {
		case !ok:
		case from >= 0:
			to = i
		case table == name && nth == 0:
			from = i
		case table == name:
			nth--
		}
		if to == i {
			break
		}
	}
	for from >= 0 && to > from+1 && (strings.TrimSpace(lines[to-1]) == "" ||
		strings.HasPrefix(strings.TrimSpace(lines[to-1]), "#")) {
		to--
	}
	return from, to
}
