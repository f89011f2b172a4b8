package doctor

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

var (
	reEVM    = regexp.MustCompile(`0x[0-9a-fA-F]{40,}`)
	reBase58 = regexp.MustCompile(`\b[1-9A-HJ-NP-Za-km-z]{32,88}\b`)
	reIP     = regexp.MustCompile(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|\[[0-9a-fA-F:]{3,}\](:\d+)?`)
)

// Report writes the findings as text for somebody else: addresses, ids, the service's host, IP addresses and the home directory are left out.
func Report(found []Finding, d Deps) string {
	var b strings.Builder
	fmt.Fprintf(&b, "coffer doctor, %s, profile of kind %s, vault %s\n", d.Clock().UTC().Format(time.RFC3339), d.Profile.Kind, d.Profile.Vault)
	area := ""
	for _, f := range found {
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(&b, "\n%s\n", area)
		}
		fmt.Fprintf(&b, "  %-8s %s: %s\n", f.Level, f.Name, d.redact(f.Text))
		if f.Todo != "" {
			fmt.Fprintf(&b, "           %s\n", d.redact(f.Todo))
		}
	}
	return b.String()
}

func (d Deps) redact(s string) string {
	if u, err := url.Parse(d.Profile.BaseURL); err == nil && u.Host != "" {
		s = strings.ReplaceAll(s, u.Host, "[host]")
		s = strings.ReplaceAll(s, u.Hostname(), "[host]")
	}
	if len(d.Home) > 1 {
		s = strings.ReplaceAll(s, d.Home, "~")
	}
	if len(d.Profile.Name) > 2 {
		s = strings.ReplaceAll(s, "/"+d.Profile.Name, "/[profile]")
		s = strings.ReplaceAll(s, "--profile "+d.Profile.Name, "--profile [profile]")
	}
	s = reEVM.ReplaceAllString(s, "[address]")
	s = reIP.ReplaceAllString(s, "[ip]")
	return reBase58.ReplaceAllString(s, "[key]")
}
