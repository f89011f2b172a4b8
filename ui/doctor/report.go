package doctor

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"coffer/api/pattern"
)

var (
	reEVM    = pattern.New(`0x[0-9a-fA-F]{40,}`)
	reBase58 = regexp.MustCompile(`\b[1-9A-HJ-NP-Za-km-z]{32,88}\b`)
	reIssuer = pattern.New(`certificate by .*?, until`)
	reIP     = pattern.New(`\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b|\[[0-9a-fA-F:]{3,}\](:\d+)?`)
)

// Report writes the findings as text for other people, without addresses, ids, the service's host and its
// certificate's issuer, a proxy, IP addresses and directories.
func Report(found []Finding, d Deps) string {
	return fmt.Sprintf("coffer doctor, %s, profile of kind %s, vault %s\n", d.Clock().UTC().Format(time.RFC3339),
		d.Profile.Kind, d.Profile.Vault) + Text(found, "\n", d.redact)
}

// Text writes findings below their areas. before stands in front of each area, and words lets a text through.
func Text(found []Finding, before string, words func(string) string) string {
	var b strings.Builder
	area := ""
	for _, f := range found {
		if f.Area != area {
			area = f.Area
			fmt.Fprintf(&b, "%s%s\n", before, area)
		}
		fmt.Fprintf(&b, "  %-8s %s: %s\n", f.Level, f.Name, words(f.Text))
		if f.Todo != "" {
			fmt.Fprintf(&b, "           %s\n", words(f.Todo))
		}
	}
	return b.String()
}

// private are the directories outside the home directory that findings may name, the longest first. They reveal
// projects and machines.
func (d Deps) private() []string {
	var out []string
	for _, path := range []string{d.Paths.Config, d.Paths.Data + "/x", d.Paths.State + "/x", d.Profile.NetworkFile,
		d.Profile.CAFile, d.Profile.PolicyFile} {
		if dir := filepath.Dir(path); filepath.IsAbs(dir) && len(dir) > 1 &&
			(d.Home == "" || !strings.HasPrefix(dir, d.Home)) {
			out = append(out, dir)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

func (d Deps) redact(s string) string {
	if d.Service != nil && d.Service.Proxy() != "" {
		proxy := d.Service.Proxy()
		if u, err := url.Parse(proxy); err == nil && u.Hostname() != "" {
			s = strings.ReplaceAll(s, u.Hostname(), "[proxy]")
		}
		s = strings.ReplaceAll(s, proxy, "[proxy]")
	}
	if u, err := url.Parse(d.Profile.BaseURL); err == nil && u.Host != "" {
		s = strings.ReplaceAll(s, u.Host, "[host]")
		s = strings.ReplaceAll(s, u.Hostname(), "[host]")
	}
	if len(d.Home) > 1 {
		s = strings.ReplaceAll(s, d.Home, "~")
	}
	for _, path := range d.private() {
		s = strings.ReplaceAll(s, path, "[directory]")
	}
	s = reIssuer.Regexp().ReplaceAllString(s, "certificate by [issuer], until")
	if len(d.Profile.Name) > 2 {
		s = strings.ReplaceAll(s, "/"+d.Profile.Name, "/[profile]")
		s = strings.ReplaceAll(s, "--profile "+d.Profile.Name, "--profile [profile]")
	}
	s = reEVM.Regexp().ReplaceAllString(s, "[address]")
	s = reIP.Regexp().ReplaceAllString(s, "[ip]")
	return reBase58.ReplaceAllString(s, "[key]")
}
