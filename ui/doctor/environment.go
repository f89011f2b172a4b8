package doctor

import (
	"strings"

	"coffer/api/text"
	"coffer/config"
)

// Environment examines the variables of the environment (as os.Environ gives it): those that look like an attempt to
// pass a secret, those that look like settings of the program but are not, and relative paths that are ignored. It
// never shows values.
func Environment(env []string) Finding {
	f := Finding{Area: AreaProgram, Name: "environment", Text: "no variable that is ignored"}
	list := func(names []string) string { return text.Clean(strings.Join(names, ", "), maxText) }
	if secret := config.SecretVariables(env); len(secret) > 0 {
		f.Level, f.Text = Warn, list(secret)+": ignored, no variable takes a secret"
		f.Todo = "remove it from the environment, where every program reads it; coffer keys api-key set and coffer " +
			"keys import keep secrets"
		return f
	}
	if relative := config.IgnoredXDG(config.Getenv(env)); len(relative) > 0 {
		f.is(Warn, list(relative)+": ignored, it is a relative path", "name an absolute path")
		return f
	}
	if unknown := config.UnknownVariables(env); len(unknown) > 0 {
		f.is(Warn, list(unknown)+": no setting of this program",
			"coffer config show prints the settings that hold")
	}
	return f
}
