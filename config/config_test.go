package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/api/network"
)

const full = `# Coffer
version = 1
default = "team"

[profiles.team]
kind = "lab"
base_url = "https://127.0.0.1:8443/api"
ca_file = "/tmp/ca.pem"
network_id = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
vault = "keyring"

[[profiles.team.accounts]]
type = "kernel-v3.1-ecdsa"
signer_address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
account_address = "0xB3729F7e1Ab0B4a50E7De5599Ecc321B8775d30d"
`

func TestConfigReadsProfiles(t *testing.T) {
	f, err := Parse("c.toml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Profile("")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "team" || p.Kind != network.Lab || p.Vault != VaultKeyring || len(p.Accounts) != 1 {
		t.Fatalf("got %+v", p)
	}
	if demo, err := f.Profile(DemoProfile); err != nil || !demo.Embedded() {
		t.Fatalf("the demo profile is gone: %+v, %v", demo, err)
	}
	if _, err := f.Profile("nobody"); err == nil || !strings.Contains(err.Error(), "demo, team") {
		t.Fatalf("the error does not list the profiles: %v", err)
	}
}

func TestConfigErrorsNameTheLine(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		line     int
		says     string
	}{
		"unknown setting": {`vault = "keyring"`, `volt = "keyring"`, 10, "no such setting"},
		"wrong type":      {`version = 1`, `version = "one"`, 2, ""},
		"syntax":          {`kind = "lab"`, `kind = lab`, 6, ""},
		"other version":   {`version = 1`, `version = 7`, 2, "version 1"},
		"unknown kind":    {`kind = "lab"`, `kind = "mainnet"`, 6, "embedded"},
		"unknown vault":   {`vault = "keyring"`, `vault = "cloud"`, 10, "keyring"},
		"plain http":      {`https://127`, `http://127`, 7, "https"},
		"user in address": {`https://127`, `https://me@127`, 7, "user name"},
		"network id":      {`0x0123456789abcdef0123`, `0x0123`, 9, "64 hex"},
		"bad checksum": {`0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266`, `0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266`,
			12, "letter case"},
		"missing default": {`default = "team"`, `default = "nobody"`, 3, "no profile"},
		"account type":    {`type = "kernel-v3.1-ecdsa"`, `type = "kernel"`, 12, "role-based"},
		"name of profile": {`[profiles.team]`, `[profiles.TEAM]`, 5, ""},
		"network unnamed": {`network_id = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"`, ``, 5,
			"name the network"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(full, c.from, c.to)
			if name == "name of profile" {
				text = strings.ReplaceAll(text, "profiles.team", "profiles.TEAM")
				text = strings.Replace(text, `default = "team"`, `default = "TEAM"`, 1)
			}
			_, err := Parse("c.toml", []byte(text))
			var ce *Error
			if !errors.As(err, &ce) {
				t.Fatalf("got %v", err)
			}
			if ce.Line != c.line || !strings.Contains(ce.Error(), c.says) {
				t.Fatalf("line %d, expected %d: %v", ce.Line, c.line, ce)
			}
		})
	}
}

func TestMissingConfigIsTheDemoProfile(t *testing.T) {
	f, err := Load(filepath.Join(t.TempDir(), "none.toml"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := f.Profile("")
	if err != nil || p.Name != DemoProfile || !p.Embedded() || p.Vault != VaultMemory {
		t.Fatalf("got %+v, %v", p, err)
	}
}

func TestConfigWritableByOthersIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o662); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Fatalf("got %v", err)
	}
}

func TestPathsFollowXDG(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want Paths
	}{
		"home": {map[string]string{"HOME": "/h"},
			Paths{"/h/.config/coffer/config.toml", "/h/.local/share/coffer", "/h/.local/state/coffer"}},
		"xdg": {map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d",
			"XDG_STATE_HOME": "/s"}, Paths{"/c/coffer/config.toml", "/d/coffer", "/s/coffer"}},
		"coffer": {map[string]string{"COFFER_CONFIG": "/x.toml", "COFFER_DATA": "/k"},
			Paths{"/x.toml", "/k/data", "/k/state"}},
		"relative is ignored": {map[string]string{"HOME": "/h", "XDG_DATA_HOME": "d"},
			Paths{"/h/.config/coffer/config.toml", "/h/.local/share/coffer", "/h/.local/state/coffer"}},
	} {
		got, err := PathsFrom(func(k string) string { return c.env[k] })
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
	if _, err := PathsFrom(func(string) string { return "" }); err == nil {
		t.Error("no home directory and no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("version = 1"))
	for _, s := range []string{"version = 1\nui.dust = 1.0", "[[profiles]]", "version = 1e999", "[ui.dust]\n",
		"ui.colors.dim = [1]", "profiles.a.accounts = [{type = 3}]", "ui.mouse = 1", "a = 1e999", "\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := Parse("c.toml", b)
		if err != nil {
			if word := speaksGo(err, b); word != "" {
				t.Fatalf("%q is no word of a person: %v", word, err)
			}
			return
		}
		if _, err := file.Profile(""); err != nil {
			t.Fatalf("accepted a file without a default profile: %v", err)
		}
	})
}

// TestL3_AnEmbeddedProfileAsksForMoreTimeToRead: the service of another operator decides by itself.
func TestL3_AnEmbeddedProfileAsksForMoreTimeToRead(t *testing.T) {
	file := func(kind, life string) string {
		return "version = 1\n[profiles.a]\nkind = \"" + kind + "\"\nvault = \"file\"\nquote_lifetime = \"" +
			life + "\"\n"
	}
	f, err := Parse("c.toml", []byte(file("embedded", "120s")))
	if err != nil || f.Profiles["a"].QuoteTime() != 2*time.Minute || demo().QuoteTime() != 0 {
		t.Errorf("%v %v", f.Profiles["a"].QuoteTime(), err)
	}
	for text, want := range map[string]string{
		file("embedded", "29s"): `from "30s" to "10m"`, file("embedded", "11m"): `from "30s" to "10m"`,
		file("embedded", "long"): `from "30s" to "10m"`, file("embedded", "-60s"): `from "30s" to "10m"`,
		file("lab", "120s"): "coffer serve --lifetime",
	} {
		if _, err := Parse("c.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "c.toml:5:") {
			t.Errorf("%s%v, not %q", text, err, want)
		}
	}
}

// The endpoints of an embedded profile are for this machine.
func TestAnEmbeddedProfileOpensEndpointsForThisMachine(t *testing.T) {
	file := func(kind, rpc string) string {
		return "version = 1\n[profiles.a]\nkind = \"" + kind + "\"\nvault = \"file\"\nrpc = \"" + rpc + "\"\n"
	}
	for _, at := range []string{"127.0.0.1:8545", "[::1]:1"} {
		if f, err := Parse("c.toml", []byte(file("embedded", at))); err != nil || f.Profiles["a"].RPC != at {
			t.Errorf("%v %v", f.Profiles["a"].RPC, err)
		}
	}
	for text, want := range map[string]string{
		file("embedded", "0.0.0.0:8545"): "loopback", file("embedded", "127.0.0.1:0"): "loopback",
		file("embedded", "8545"): "loopback", file("embedded", "192.0.2.1:8545"): "loopback",
		file("lab", "127.0.0.1:8545"): "coffer serve --rpc",
	} {
		if _, err := Parse("c.toml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "c.toml:5:") {
			t.Errorf("%s%v, not %q", text, err, want)
		}
	}
}

// A profile on own nodes has its service inside this program, keys of its own, and one network.
func TestAProfileOnOwnNodesNamesItsFileAndItsNetwork(t *testing.T) {
	const whole = `version = 1
[profiles.a]
kind = "test"
vault = "file"
network_id = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
networks = "/home/me/networks.toml"
quote_lifetime = "120s"
`
	for _, kind := range []network.Kind{network.Real, network.Test, network.Lab} {
		f, err := Parse("c.toml", []byte(strings.Replace(whole, "test", string(kind), 1)))
		if p := f.Profiles["a"]; err != nil || !p.OwnNodes() || !p.Local() || p.Embedded() || p.Kind != kind {
			t.Errorf("%s: %+v, %v", kind, p, err)
		}
	}
	for _, c := range []struct {
		from, to string
		line     int
		want     string
	}{
		{`kind = "test"`, `kind = "embedded"`, 3, `"real", "test" or "lab"`},
		{`vault = "file"`, `vault = "memory"`, 4, `"keyring" or "file"`},
		{`network_id = "0x0123`, `network_id = "0x`, 5, "64 hex digits"},
		{`"/home/me/`, `"`, 6, "absolute path"},
		{"networks =", "base_url = \"https://a.example\"\nnetworks =", 7, "no base_url"},
		{"networks =", "ca_file = \"/ca.pem\"\nnetworks =", 7, "no base_url"},
		{"networks =", "network_file = \"/network.json\"\nnetworks =", 7, "no base_url"},
		{`quote_lifetime = "120s"`, `rpc = "127.0.0.1:8545"`, 7, "only an embedded profile"},
	} {
		_, err := Parse("c.toml", []byte(strings.Replace(whole, c.from, c.to, 1)))
		var fault *Error
		if !errors.As(err, &fault) || fault.Line != c.line || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q in line %d", c.to, err, c.want, c.line)
		}
	}
}
