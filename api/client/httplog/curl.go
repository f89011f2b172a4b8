package httplog

import (
	"bytes"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Curl writes the request as a command for a POSIX shell, on one line. The API key is the shell's variable $API_KEY.
// base is the service's address; Curl takes scheme and host from it. When it is no https address, as for a service
// inside this program, the variable $COFFER_URL replaces them. Curl leaves out a body with a zero byte, because no
// command line can carry one.
func (e Exchange) Curl(base string) string {
	target := e.Path
	if e.Query != "" {
		target += "?" + e.Query
	}
	address := `"$COFFER_URL"` + Quote(target)
	if u, err := url.Parse(base); err == nil && u.Scheme == "https" && u.Host != "" &&
		!strings.HasSuffix(u.Hostname(), ".invalid") {
		address = Quote("https://" + u.Host + target)
	}
	parts := []string{"curl", "-sS", "-X", Quote(e.Method), address, "-H", `"x-api-key: $API_KEY"`}
	for _, name := range slices.Sorted(maps.Keys(e.RequestHeader)) {
		if name != "content-length" { // curl counts by itself
			parts = append(parts, "-H", Quote(name+": "+e.RequestHeader[name]))
		}
	}
	if len(e.Request) > 0 && !bytes.ContainsRune(e.Request, 0) {
		parts = append(parts, "--data-raw", Quote(string(e.Request)))
	}
	return strings.Join(parts, " ")
}

// Quote writes s as one word of a POSIX shell in which nothing is special. s must not hold a zero byte: no argument
// can.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
