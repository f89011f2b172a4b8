package config

import (
	"slices"
	"strings"
)

// RemoveAccount removes the account at index at from a profile in the configuration file at path. Comments and
// everything else stay as they are; a file that does not give the account a table of its own stays unchanged.
func RemoveAccount(path, profile string, at int) error {
	data, err := readToEdit(path)
	if err != nil {
		return err
	}
	want, err := Parse(path, data)
	if err != nil {
		return err
	}
	// A profile that is not in the file has no accounts.
	p := want.Profiles[profile]
	if at < 0 || at >= len(p.Accounts) {
		return &Error{Path: path, Key: "profiles." + profile,
			Problem: "there is no such account in the file; nothing was written"}
	}
	p.Accounts = slices.Delete(slices.Clone(p.Accounts), at, at+1)
	want.Profiles[profile] = p
	data = []byte(withoutTable(string(data), "profiles."+profile+".accounts[]", at))
	if got, err := Parse(path, data); err != nil || !sameFile(got, want) {
		return &Error{Path: path, Problem: "this file is written in a form that is not changed by the program; " +
			"change it by hand, nothing was written"}
	}
	return write(path, data)
}

// withoutTable drops the nth table of a name: its header and the lines below it up to the last one with a key. Blank
// lines and comments before the next table stay with that table.
func withoutTable(text, name string, nth int) string {
	lines := strings.Split(text, "\n")
	from, to := -1, len(lines)
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
	if from < 0 {
		return text
	}
	for to > from+1 && (strings.TrimSpace(lines[to-1]) == "" ||
		strings.HasPrefix(strings.TrimSpace(lines[to-1]), "#")) {
		to--
	}
	if from > 0 && strings.TrimSpace(lines[from-1]) == "" {
		from--
	}
	return strings.Join(slices.Delete(lines, from, to), "\n")
}
