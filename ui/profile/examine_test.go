package profile

import (
	"context"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/ui/doctor"
)

// report is what the doctor says of a profile that does not open.
func (b *bench) report(t *testing.T, name string) string {
	t.Helper()
	d, done := b.host.Examine(t.Context(), name, cli.Build{Version: "v1.0.0"}, doctor.Terminal{Name: "xterm"})
	defer done()
	return doctor.Text(doctor.Run(t.Context(), d), "", func(s string) string { return s })
}

// TestL5_TheDoctorReportsOnAProfileThatDoesNotOpen: each fault with what to do, and the other lines beside it.
func TestL5_TheDoctorReportsOnAProfileThatDoesNotOpen(t *testing.T) {
	for kind, c := range map[string]struct {
		spoil func(t *testing.T, b *bench)
		want  []string
	}{
		config.VaultFile: {func(_ *testing.T, b *bench) {
			b.host.Ask = func(context.Context, string) (secret.Secret, error) {
				return secret.New([]byte("another passphrase")), nil
			}
		}, []string{"wrong passphrase", "a forgotten one is only replaced by a backup"}},
		config.VaultKeyringOnly: {func(t *testing.T, b *bench) {
			path := b.dir + "/config/config.toml"
			raw, err := os.ReadFile(path)
			if err == nil {
				moved := strings.Replace(string(raw), "https://lab.invalid/api", "https://other.invalid/api", 1)
				err = os.WriteFile(path, []byte(moved), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"was stored for another service than https://other.invalid/api",
			"store the key again: coffer keys api-key set --profile team"}},
	} {
		b := newBench(t)
		if _, err := b.host.Make(t.Context(), b.plan(t, kind)); err != nil {
			t.Fatal(err)
		}
		if c.spoil(t, b); t.Failed() {
			return
		}
		got := b.report(t, "team")
		for _, want := range append(c.want, "bad      reached", "good     vault", "network file", "journal",
			"version") {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing:\n%s", kind, want, got)
			}
		}
	}
}

// TestL5_TheDoctorAsksTheServiceOfAProfileWithoutAccount: its answer, network and clock need none.
func TestL5_TheDoctorAsksTheServiceOfAProfileWithoutAccount(t *testing.T) {
	asked := make(chan string, 20)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
		if _, err := w.Write([]byte("[]")); err != nil {
			t.Error(err)
		}
	}))
	defer srv.Close()
	b := newBench(t)
	p := b.plan(t, config.VaultKeyringOnly)
	p.Profile.BaseURL, p.Profile.Accounts, p.Profile.CAFile = srv.URL+"/api", nil, filepath.Join(b.dir, "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(p.Profile.CAFile, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.host.Make(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	got := b.report(t, "team")
	for _, want := range []string{"good     reached: answered in", "API key: accepted", "bad      clock: 1h0m",
		"look     account: this profile has none", "coffer keys new, then coffer accounts add", " chains: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if len(asked) == 0 || strings.Contains(got, "balances:") {
		t.Errorf("%d requests\n%s", len(asked), got)
	}
}

// TestL5_TheDoctorReportsWithoutAConfigurationThatReads: no home directory, every fault of the file, an unknown name.
func TestL5_TheDoctorReportsWithoutAConfigurationThatReads(t *testing.T) {
	b := newBench(t)
	if got := b.report(t, "nobody"); !strings.Contains(got, `bad      profile: there is no profile "nobody"`) {
		t.Error(got)
	}
	broken := "version = 1\nfoo = 3\n[profiles.x]\nkind = \"moon\"\n"
	if err := errors.Join(os.MkdirAll(b.dir+"/config", 0o700),
		os.WriteFile(b.dir+"/config/config.toml", []byte(broken), 0o600)); err != nil {
		t.Fatal(err)
	}
	got := b.report(t, "")
	for _, want := range []string{"foo: there is no such setting", "profiles.x.kind: expected", "repair the file",
		"version"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	b.host.Getenv = func(string) string { return "" }
	if got := b.report(t, ""); !strings.Contains(got, "no home directory") || !strings.Contains(got, "set HOME") {
		t.Error(got)
	}
}
