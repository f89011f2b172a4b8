package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// wish is what a table of the file should hold. whole means that keys that are not in the wish are removed.
type wish struct {
	table string
	keys  []wishedKey
	whole bool
}

// wishedKey is one key with its line, such as `theme = 'dark'`.
type wishedKey struct {
	name  string
	value any
	text  string // the value, as TOML
	line  string
}

// wishes reads a text that go-toml wrote: headers, and keys of one line each.
func wishes(text []byte) ([]wish, error) {
	var out []wish
	for line := range strings.SplitSeq(string(text), "\n") {
		line = strings.TrimSpace(line)
		if table, ok := header(line); ok {
			out = append(out, wish{table: table, whole: true})
			continue
		}
		if line == "" || len(out) == 0 {
			continue
		}
		k, err := readKey(line)
		if err != nil {
			return nil, err
		}
		at := &out[len(out)-1]
		at.keys = append(at.keys, k)
	}
	return out, nil
}

// header returns the name of the table that a line opens; ok is false for any other line. Quotes and blanks around its
// parts do not count.
func header(line string) (table string, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "[") {
		return "", false
	}
	list := strings.HasPrefix(line, "[[")
	line = strings.TrimLeft(line, "[")
	end := strings.IndexByte(line, ']')
	if end < 0 {
		return "", false
	}
	parts := strings.Split(line[:end], ".")
	for i, p := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(p), `"'`)
	}
	if table = strings.Join(parts, "."); list {
		table += "[]"
	}
	return table, true
}

// readKey reads a line with one key.
func readKey(line string) (wishedKey, error) {
	var m map[string]any
	if err := toml.Unmarshal([]byte(line), &m); err != nil {
		return wishedKey{}, err
	}
	for name, value := range m {
		text := line[equals(line, name)+1:]
		return wishedKey{name: name, value: value, text: strings.TrimSpace(text[:len(text)-len(remark(line))]),
			line: line}, nil
	}
	return wishedKey{}, nil
}

// equals returns the position of the sign between key and value: the first one after the key, which may have one
// inside its quotes.
func equals(line, name string) int {
	from := max(0, strings.Index(line, name)) + len(name)
	if from > len(line) {
		from = 0
	}
	return from + max(0, strings.IndexByte(line[from:], '='))
}

// remark returns the comment at the end of a line with a key, "" when it has none.
func remark(line string) string {
	for i := range len(line) {
		if line[i] != '#' {
			continue
		}
		var m map[string]any
		if toml.Unmarshal([]byte(line[:i]), &m) == nil && len(m) == 1 {
			return line[i:]
		}
	}
	return ""
}

// rewrite puts wishes into a file. Lines that are right already, comments and everything in other tables stay as they
// are. The caller has to read the result and compare: rewrite does not handle a wished table in another form than
// lines below a header.
func rewrite(data []byte, all []wish) []byte {
	text := unmarked(data)
	lines := strings.Split(string(bytes.TrimRight(text, "\n")), "\n")
	for _, w := range all {
		lines = w.into(lines)
	}
	return append(bytes.Clone(data[:len(data)-len(text)]), strings.Join(lines, "\n")+"\n"...)
}

func (w wish) into(lines []string) []string {
	from, to, found := w.find(lines)
	if !found {
		if len(w.keys) == 0 {
			return lines
		}
		lines = append(lines, "", "["+w.table+"]")
		for _, k := range w.keys {
			lines = append(lines, k.line)
		}
		return lines
	}
	out := append([]string{}, lines[:from]...)
	last := len(out) // after the last line with a key
	done := map[string]bool{}
	for _, line := range lines[from:to] {
		kept, name := w.line(line)
		if name != "" {
			if done[name] || kept == "" {
				continue
			}
			done[name] = true
		}
		out = append(out, kept)
		if name != "" {
			last = len(out)
		}
	}
	var more []string
	for _, k := range w.keys {
		if !done[k.name] {
			more = append(more, k.line)
		}
	}
	out = append(out[:last:last], append(more, out[last:]...)...)
	return append(out, lines[to:]...)
}

// find gives the lines of the table: from below its header up to the next header. The root table begins with the file.
func (w wish) find(lines []string) (from, to int, found bool) {
	if w.table == "" {
		found = true
	}
	for i, line := range lines {
		table, ok := header(line)
		switch {
		case !ok:
		case found:
			return from, i, true
		case table == w.table:
			from, found = i+1, true
		}
	}
	return from, len(lines), found
}

// line returns what a line of the table becomes, and the name of its key; kept is "" for a key that is removed, name
// is "" for a line without a key. Only the value changes: blanks around it, a comment and the line ending stay.
func (w wish) line(line string) (kept, name string) {
	if t := strings.TrimSpace(line); t == "" || t[0] == '#' {
		return line, ""
	}
	text := strings.TrimSuffix(line, "\r")
	is, err := readKey(text)
	if err != nil {
		return line, ""
	}
	for _, k := range w.keys {
		if k.name != is.name {
			continue
		}
		if fmt.Sprint(k.value) == fmt.Sprint(is.value) {
			return line, is.name
		}
		sign := equals(text, is.name) + 1
		before := text[sign : len(text)-len(strings.TrimLeft(text[sign:], " \t"))]
		behind := line[sign+len(before)+len(is.text):]
		return text[:sign] + before + k.text + behind, is.name
	}
	if w.whole {
		return "", is.name
	}
	return line, is.name
}
