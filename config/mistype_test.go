package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// reGo are words of the decoder and of Go that mean nothing to a user who writes a file. Words that TOML also uses,
// such as "unterminated basic string", are not among them.
var reGo = regexp.MustCompile(
	`struct field|cannot decode|cannot store|strconv|reflect|interface|map\[|\[\]string|config\.[A-Z]|of ` +
		`type|\b(bool|int|int64|float64|struct|slice|nil)\b`)

// speaksGo returns the part of a message that a user cannot know; words of the file itself do not count.
func speaksGo(err error, data []byte) string {
	var ce *Error
	if !errors.As(err, &ce) {
		return ""
	}
	for _, word := range reGo.FindAllString(ce.Problem, -1) {
		if !strings.Contains(string(data), word) && !strings.Contains(string(data), `\`) {
			return word
		}
	}
	return ""
}

// settingLine is a file with one setting, and the line of that setting.
func settingLine(setting, value string) (text string, line int) {
	key := strings.ReplaceAll(strings.ReplaceAll(setting, "profiles.*", "profiles.p"), "ui.colors.*", "ui.colors.dim")
	key = strings.ReplaceAll(key, "ui.keys.*", `ui.keys."shell.quit"`)
	account, of, found := strings.Cut(key, ".accounts.")
	if found {
		return fmt.Sprintf("version = 1\n[[%s.accounts]]\n%s = %s\n", account, of, value), 3
	}
	return fmt.Sprintf("\n%s = %s\n", key, value), 2
}

// The message uses the words of the user's file: which line, which setting, what it takes with an example, and what
// the file has.
func TestASettingOfAnotherTypeIsToldWithAnExample(t *testing.T) {
	values := map[string]string{`"x"`: "text", "1": "number", "1.5": "", "true": "true or false", "2026-01-31": "",
		"07:30:00": "", "[]": "list of texts", "[1]": "", `["x", 1]`: "", "{ a = 1 }": ""}
	for _, s := range Settings() {
		for value, is := range values {
			if is == s.Type || s.Key == "ui.colors.*" && !strings.ContainsAny(value, "[{-:") {
				continue
			}
			text, line := settingLine(s.Key, value)
			_, err := Parse("c.toml", []byte(text))
			var ce *Error
			if !errors.As(err, &ce) {
				t.Errorf("%s: %v", text, err)
				continue
			}
			key := regexp.MustCompile(`\.p(\.|$)`).ReplaceAllString(ce.Key, ".*$1")
			key = strings.NewReplacer("ui.colors.dim", "ui.colors.*", "ui.keys.shell.quit", "ui.keys.*").Replace(key)
			if ce.Line != line || ce.Column < 1 || key != s.Key ||
				!regexp.MustCompile(`^expected .*(such as .+|true or false), got \S`).MatchString(ce.Problem) ||
				reGo.MatchString(ce.Problem) {
				t.Errorf("%s: %v", text, ce)
			}
		}
	}
}

func TestTheWordsOfAWrongType(t *testing.T) {
	for _, c := range [][2]string{
		{"version = 1\n[ui]\ndust = 1.0\n", `c.toml:3:8: ui.dust: expected text such as "1.00", got a float`},
		{"version = \"one\"\n", `c.toml:1:11: version: expected a number such as 1, got text`},
		{"version = 1.0\n", `c.toml:1:11: version: expected a number such as 1, got a float`},
		{"[ui]\nmouse = \"no\"\n", `c.toml:2:9: ui.mouse: expected true or false, got text`},
		{"[ui]\n[ui.dust]\nx = 1\n", `c.toml:2:2: ui.dust: expected text such as "1.00", got a table`},
		{"ui.dust.x = 1\n", `c.toml:1:9: ui.dust: expected text such as "1.00", got a table`},
		{"UI.Dust = 3\n", `c.toml:1:11: UI.Dust: expected text such as "1.00", got an integer`},
		{"ui = 3\n", `c.toml:1:6: ui: expected a table such as [ui], got an integer`},
		{"profiles = 3\n",
			`c.toml:1:12: profiles: expected tables with names, such as [profiles.team], got an integer`},
		{"[[ui]]\n", `c.toml:1:3: ui: expected a table such as [ui], got a list of tables`},
		{"[profiles.a]\nvault = true\n",
			`c.toml:2:9: profiles.a.vault: expected text such as "file", got true or false`},
		{"[profiles.a]\nsigner_command = \"signer\"\n",
			`c.toml:2:18: profiles.a.signer_command: expected a list of texts such as ` +
				`["/usr/local/bin/signer"], got text`},
		{"[profiles.a]\naccounts = 3\n",
			`c.toml:2:12: profiles.a.accounts: expected tables such as [[profiles.a.accounts]], each with lines ` +
				`such as type = "kernel-v3.1-ecdsa", got an integer`},
		{"[profiles.a]\naccounts = [{ type = 3 }]\n",
			`c.toml:2:22: profiles.a.accounts: expected tables such as [[profiles.a.accounts]], each with lines ` +
				`such as type = "kernel-v3.1-ecdsa", got an integer`},
		{"[ui.colors]\ndim = [1]\n",
			`c.toml:2:7: ui.colors.dim: expected text such as "#5fafff", or a number from 0 to 255, got a list`},
		{"[[profiles.a.accounts]]\nsigner_address = 0x5e\n",
			`c.toml:2:18: profiles.a.accounts.signer_address: expected text such as ` +
				`"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", got an integer`},
		{"version = 1\ndefault = 2026-01-31T07:30:00Z\n",
			`c.toml:2:11: default: expected text such as "demo", got a date or a time`},
		{"version = 99999999999999999999\n",
			`c.toml:1:11: version: decimal number is too large to fit in a 64-bit signed integer`},
		{"version = 1\n[ui.keys]\nshell.quit = \"Q\"\n",
			`c.toml:3:7: ui.keys.shell.quit: put the name of the action in quotes: "shell.quit"`},
		{"version = 1\n[ui]\nasci = true\n", `c.toml:3:1: ui.asci: there is no such setting`},
		{"version = 1\n[profiles.a]\nlock_after = [1e999, \"\"]",
			`c.toml:3:14: profiles.a.lock_after: expected text such as "5m", got a list`},
	} {
		text, want := c[0], c[1]
		_, err := Parse("c.toml", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
	if err := AddAccount(written(t, "version = 1\nprofiles = 3\n"), "a", Account{}); err == nil ||
		speaksGo(err, nil) != "" || !strings.Contains(err.Error(), "expected tables with names") {
		t.Errorf("%v", err)
	}
}
