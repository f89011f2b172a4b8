package config

import (
	"path/filepath"
	"slices"
	"strings"
)

// Names of the environment variables that are settings of this program.
const (
	EnvConfig  = "COFFER_CONFIG"
	EnvData    = "COFFER_DATA"
	EnvProfile = "COFFER_PROFILE"
)

// Variable is an environment variable that the program reads, and what it does.
type Variable struct{ Name, What string }

// Variables lists the environment variables that the program reads. None of them takes a secret.
func Variables() []Variable {
	return []Variable{
		{EnvConfig,
			"The configuration file, as an absolute path, instead of coffer/config.toml below XDG_CONFIG_HOME."},
		{EnvData, "An absolute directory for everything else that is kept: its data goes to data below it and its " +
			"journals to state."},
		{EnvProfile, "The profile to use where --profile is not given."},
		{"XDG_CONFIG_HOME", "Where configurations are; ~/.config without it. A relative path is ignored."},
		{"XDG_DATA_HOME", "Where data is: chains, exports, encrypted files of keys; ~/.local/share without it. A " +
			"relative path is ignored."},
		{"XDG_STATE_HOME", "Where journals are; ~/.local/state without it. A relative path is ignored."},
		{"NO_COLOR", "When it is set to anything, the screens draw no colour."},
		{"TERM", "The terminal. With dumb only coffer --linear works."},
	}
}

// envPrefix is how the names of this program's own variables begin.
const envPrefix = "COFFER_"

// secretWords are parts of a variable's name that mark its value as a secret.
func secretWords() []string {
	return []string{
		"APIKEY", "AUTH", "CREDENTIAL", "CREDENTIALS", "KEY", "KEYS", "MNEMONIC", "PASS", "PASSPHRASE", "PASSWD",
		"PASSWORD", "PHRASE", "PIN", "PRIVATE", "PRIVKEY", "PW", "PWD",
		"SECRET", "SECRETS", "SEED", "TOKEN",
	}
}

// SecretVariables names the variables of an environment (as os.Environ gives it) that look like an attempt to pass a
// secret: COFFER_API_KEY, COFFER_PASSPHRASE and the like. The program ignores them. The names are sorted; the values
// are not read.
func SecretVariables(env []string) []string {
	var out []string
	for _, name := range ownVariables(env) {
		if words := strings.Split(strings.TrimPrefix(name, envPrefix), "_"); words[0] != "TEST" &&
			slices.ContainsFunc(words, isSecretWord) {
			out = append(out, name)
		}
	}
	return out
}

func isSecretWord(w string) bool { return slices.Contains(secretWords(), strings.ToUpper(w)) }

// UnknownVariables names the variables that look like settings of this program but are not. The names are sorted.
func UnknownVariables(env []string) []string {
	return slices.DeleteFunc(ownVariables(env), func(name string) bool {
		return slices.ContainsFunc(Variables(), func(v Variable) bool { return v.Name == name })
	})
}

// ownVariables are the names with this program's prefix.
func ownVariables(env []string) []string {
	var out []string
	for _, line := range env {
		if name, value, _ := strings.Cut(line, "="); value != "" && strings.HasPrefix(name, envPrefix) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IgnoredXDG names the XDG variables with a relative path, which the XDG rules say to ignore.
func IgnoredXDG(getenv func(string) string) []string {
	return slices.DeleteFunc([]string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"}, func(name string) bool {
		return getenv(name) == "" || filepath.IsAbs(getenv(name))
	})
}

// absolute refuses a variable of this program with a relative path: the journal in use must not depend on the working
// directory, because only one journal knows what was signed and sent.
func absolute(getenv func(string) string, names ...string) error {
	for _, name := range names {
		if v := getenv(name); v != "" && !filepath.IsAbs(v) {
			return &Error{Path: name,
				Problem: "expected an absolute path: with a relative one every directory would have its own journal"}
		}
	}
	return nil
}
