package service

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A path is cut before it is logged, which can cut a key: what is left of it does not get into the log either.
func TestNoPartOfTheProcessKeyIsLogged(t *testing.T) {
	key := strings.Repeat("0123456789abcdef", 4)
	for name, c := range map[string]struct{ text, want string }{
		"whole":      {"/x/" + key + "/y", "/x/[redacted]/y"},
		"twice":      {key + key[:20], "[redacted][redacted]"},
		"cut":        {"/x/" + key[:56], "/x/[redacted]"},
		"shortest":   {key[:leastKey], "[redacted]"},
		"words":      {"/api/assets/list", "/api/assets/list"},
		"much less":  {key[:leastKey-1], key[:leastKey-1]},
		"other ends": {key[:30] + "zz", "[redacted]zz"},
	} {
		var out bytes.Buffer
		log := slog.New(redactedLog{slog.NewTextHandler(&out, nil), key})
		log.Info("request", "path", c.text)
		if !strings.Contains(out.String(), "path="+c.want+"\n") {
			t.Errorf("%s: %s", name, out.String())
		}
	}
}
