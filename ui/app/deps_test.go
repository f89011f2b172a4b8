package app

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/profile"
)

// A guest's screens show and change its own choices and nothing of the operator: neither environment nor configuration
// nor profiles nor paths.
func TestAGuestsScreensTouchNothingOfTheOperator(t *testing.T) {
	dir := t.TempDir()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	o, err := profile.OpenGuest(profile.Guest{
		Catalog: cat, Name: "own", Title: "alice", Where: "here", Dir: dir,
		Network: network.Descriptor{ID: strings.Repeat("ab", 32), Kind: network.Lab},
		Service: client.Options{BaseURL: "https://service.invalid/api", APIKey: secret.New([]byte("k")),
			Transport: http.DefaultTransport},
		Host: profile.Host{Getenv: func(name string) string {
			t.Errorf("the operator's environment was read: %s", name)
			return ""
		}},
		Signer: secret.New(bytes.Repeat([]byte{7}, 32)),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = o.Close() }()
	if a := accountDeps(o, nil); a.Setup || len(a.Profiles) != 0 {
		t.Errorf("%+v", a)
	}
	s := settingsDeps(o, cli.Build{}, func(string) string { return "" })
	if s.Doctor != nil || s.Report != nil || len(s.Paths) != 0 || strings.Contains(s.Config, dir) {
		t.Errorf("%+v", s)
	}
	if err := s.Save(config.UI{Theme: config.ThemeLight}); err != nil {
		t.Fatal(err)
	}
	if got := o.UI().Theme; got != config.ThemeLight {
		t.Errorf("the theme is %q", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("nonsense ["), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := o.UI(); got.Theme != "" {
		t.Errorf("a broken file gave %+v", got)
	}
	if err := s.Save(config.UI{}); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("saving over a broken file: %v", err)
	}
}
