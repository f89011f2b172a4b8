package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"coffer/api"
)

func TestServeFlags(t *testing.T) {
	p, _ := program(t)
	var got ServeOptions
	p.Serve = func(_ context.Context, o ServeOptions) error { got = o; return nil }
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", "/d", "--json", "--host", "a", "--host", "b",
		"--fund", "never", "--fund-limit", "9", "--private", "--fault", "slow-fill=2s", "--fault", "revert@0.25",
		"--lifetime", "45s", "--cursor-lifetime", "1m", "--metrics", "127.0.0.1:9464", "--log-format", "json",
		"--log-level", "warn", "--base-path", "/v", "--max-connections", "64"}
	if err := p.Run(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	want := ServeOptions{
		Listen: "127.0.0.1:0", Data: "/d", JSON: true, Hosts: []string{"a", "b"}, FundLimit: 9, Private: true,
		Faults: []string{"slow-fill=2s", "revert@0.25"}, Lifetime: 45 * time.Second,
		CursorLifetime: time.Minute, Metrics: "127.0.0.1:9464", BasePath: "/v", Connections: 64, LogJSON: true,
		LogLevel: 4, SSH: ServeSSH{Idle: 15 * time.Minute, Max: 8 * time.Hour, Sessions: 32},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, expected %+v", got, want)
	}
	if err := p.Run(t.Context(), []string{"serve"}); err != nil {
		t.Fatal(err)
	}
	want = ServeOptions{Listen: "127.0.0.1:8443", Fund: true, FundLimit: 100, Lifetime: time.Minute,
		CursorLifetime: 15 * time.Minute, BasePath: "/api", Connections: 1024, SSH: want.SSH}
	got.Hosts, got.Faults = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("defaults: got %+v, expected %+v", got, want)
	}
}

// copies notes what was asked of it.
type copies struct {
	StoreCommands
	asked []string
}

func (c *copies) Export(_ context.Context, data, address, file string) error {
	c.asked = append(c.asked, "export "+data+" "+address+" "+file)
	return nil
}

func (c *copies) Import(_ context.Context, file, address string) error {
	c.asked = append(c.asked, "import "+file+" "+address)
	return nil
}

func TestRecordsAreCopiedBetweenAFileAndADatabase(t *testing.T) {
	p, _ := program(t)
	c := &copies{}
	p.Store = c
	const at = "postgres://u@127.0.0.1/db"
	for _, args := range [][]string{{"export", "f", "--data", "/d"}, {"export", "f", "--store", at},
		{"import", "f", "--store", at}} {
		if err := p.Run(t.Context(), append([]string{"serve"}, args...)); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	want := []string{"export /d  f", "export  " + at + " f", "import f " + at}
	if !reflect.DeepEqual(c.asked, want) {
		t.Errorf("asked for %q, expected %q", c.asked, want)
	}
	for _, args := range [][]string{{"import", "f"}, {"import", "--store", at}, {"import", "f", "--store", ""},
		{"export", "f", "--data", "/d", "--store", at}, {"export"}, {"export", "f", "--store", ""}} {
		var wrong *UsageError
		if err := p.Run(t.Context(), append([]string{"serve"}, args...)); !errors.As(err, &wrong) {
			t.Errorf("%v: %v", args, err)
		}
	}
}

func TestServeRefusesWhatItCannotDo(t *testing.T) {
	p, _ := program(t)
	p.Serve = func(context.Context, ServeOptions) error { t.Error("it was served"); return nil }
	for _, args := range [][]string{
		{"--fund", "maybe"}, {"--fund-limit", "0"}, {"--fund-limit", "10001"}, {"--log-format", "xml"},
		{"--log-level", "loud"}, {"--lifetime", "0s"}, {"--lifetime", "11m"}, {"--cursor-lifetime", "25h"},
		{"--base-path", "api"}, {"--base-path", "/"}, {"--base-path", "/a/"}, {"--base-path", "/a b"},
		{"--lifetime", "long"}, {"now"},
		{"--base-path", "/a/../b"}, {"--base-path", "/ä"}, {"--base-path", "//a"}, {"--listen", "8443"},
		{"--listen", "127.0.0.1"}, {"--listen", "127.0.0.1:99999"}, {"--listen", "a:https"},
		{"--host", ""}, {"--host", "https://a"}, {"--host", "a:1"}, {"--host", "a..b"}, {"--data", ""},
		{"--metrics", ""}, {"--fault", ""}, {"--store", ""}, {"--store", "postgres://u@127.0.0.1/db", "--new"},
		{"--max-connections", "3"}, {"--max-connections", "65537"}, {"--profile", "demo"}, {"--replica"},
		{"--advertise", "https://10.0.0.1:8443"}, {"--store", "postgres://u@127.0.0.1/db", "--advertise", ""},
	} {
		if err := p.Run(t.Context(), append([]string{"serve"}, args...)); Code(err) != ExitUsage {
			t.Errorf("%v: code %d, %v", args, Code(err), err)
		}
	}
}

func TestServeHelpListsTheFaults(t *testing.T) {
	p, out := program(t)
	p.FaultHelp = []string{"slow-fill=<duration>  the fill waits"}
	if err := p.Run(t.Context(), []string{"serve", "--help"}); err != nil ||
		!strings.Contains(out.String(), p.FaultHelp[0]) {
		t.Errorf("%v\n%s", err, out)
	}
}

// keyring records its calls and answers with one key.
type keyring struct {
	asked string
	none  bool
	aged  bool // the key has a history
	err   error
}

var made = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (k *keyring) key() Key {
	one := Key{ID: "k7q2m9xw", State: "live", Company: "Ant\x1b Works", Project: "wallet",
		Permissions: []string{"read", "quote"}, PerMinute: 400, Created: made}
	if k.aged {
		one.Rotated, one.Expires, one.Revoked = made.Add(time.Hour), made.Add(1000*time.Hour), made.Add(2*time.Hour)
	}
	return one
}

func (k *keyring) Add(_ context.Context, data string, r KeyRequest) (GivenKey, error) {
	k.asked = fmt.Sprintf("add %s %+v", data, r)
	return GivenKey{Text: "coffer_k7q2m9xw_secret", Key: k.key()}, k.err
}

func (k *keyring) List(_ context.Context, data string) ([]Key, error) {
	k.asked = "list " + data
	if k.none {
		return nil, k.err
	}
	return []Key{k.key()}, k.err
}

func (k *keyring) Rotate(_ context.Context, data, id string, grace time.Duration) (GivenKey, error) {
	k.asked = fmt.Sprintf("rotate %s %s %s", data, id, grace)
	one := k.key()
	one.PreviousUntil = made
	return GivenKey{Text: "coffer_k7q2m9xw_another", Key: one}, k.err
}

func (k *keyring) Revoke(_ context.Context, data, id string) (Key, error) {
	k.asked = fmt.Sprintf("revoke %s %s", data, id)
	one := k.key()
	one.State = "revoked"
	return one, k.err
}

func TestKeysCommands(t *testing.T) {
	for name, c := range map[string]struct {
		args  string
		asked string
		says  []string
	}{
		"add": {"add --data /d --company Ant --project wallet --use-case pay --volume many --chain " +
			"eip155:1,eip155:10 --asset ob:usdc --permission read --endpoint /assets/list --limit 7 --concurrent 2 " +
			"--fund-limit 5 --expires 720h",
			"add /d {Company:Ant Project:wallet UseCase:pay Volume:many Chains:[eip155:1 eip155:10] Assets:[ob:usdc] " +
				"Permissions:[read] Endpoints:[/assets/list] PerMinute:7 Concurrent:2 FundLimit:5 Expires:0001-01-01 " +
				"00:00:00 +0000 UTC ExpiresIn:720h0m0s PublicTest:false}",
			[]string{"coffer_k7q2m9xw_secret", "shown this once"}},
		"public test": {"add --public-test --expires 2027-01-31",
			"Expires:2027-01-31 00:00:00 +0000 UTC ExpiresIn:0s PublicTest:true}", []string{"coffer_k7q2m9xw_secret"}},
		"list": {"list --data /d", "list /d", []string{"k7q2m9xw", "live", "read,quote", "400",
			"2026-01-02 03:04 UTC", "never", "all"}},
		"rotate": {"rotate k7q2m9xw --grace 1h", "rotate  k7q2m9xw 1h0m0s",
			[]string{"coffer_k7q2m9xw_another", "valid until 2026-01-02 03:04 UTC"}},
		"revoke": {"revoke k7q2m9xw", "revoke  k7q2m9xw", []string{"key k7q2m9xw is revoked"}},
	} {
		p, out := program(t)
		k := &keyring{}
		p.Keys = k
		if err := p.Run(t.Context(), append([]string{"serve", "keys"}, strings.Fields(c.args)...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(k.asked, c.asked) {
			t.Errorf("%s: asked %s, expected %s", name, k.asked, c.asked)
		}
		for _, s := range c.says {
			if !strings.Contains(out.String(), s) {
				t.Errorf("%s: %q is missing in\n%s", name, s, out)
			}
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: an escape is printed", name)
		}
	}
}

func TestKeysCommandsPrintJSON(t *testing.T) {
	for _, args := range []string{"add --public-test --json", "list --json", "rotate k7q2m9xw --json",
		"revoke k7q2m9xw --json"} {
		p, out := program(t)
		p.Err = new(strings.Builder)
		p.Keys = &keyring{}
		if err := p.Run(t.Context(), append([]string{"serve", "keys"}, strings.Fields(args)...)); err != nil {
			t.Fatal(err)
		}
		list, one := []map[string]any{}, map[string]any{}
		if err := errors.Join(json.Unmarshal(out.Bytes(), &one), json.Unmarshal(out.Bytes(), &list)); len(list) == 1 {
			one = list[0]
		} else if len(one) == 0 {
			t.Fatalf("%s: %v in %s", args, err, out)
		}
		if one["id"] != "k7q2m9xw" || one["perMinute"] != 400.0 {
			t.Errorf("%s: %s", args, out)
		}
		if _, given := one["key"]; given != (strings.HasPrefix(args, "add") || strings.HasPrefix(args, "rotate")) {
			t.Errorf("%s: the key is printed: %t", args, given)
		}
	}
}

func TestKeysCommandsExitCodes(t *testing.T) {
	refused := api.NewValidationError([]api.Failure{{Path: "permissions[0]", Expected: "read, quote or execute",
		Got: "admin"}})
	for name, c := range map[string]struct {
		args string
		err  error
		want int
	}{
		"no command": {"", nil, ExitUsage},
		"unknown":    {"forget", nil, ExitUsage},
		"no id":      {"revoke", nil, ExitUsage},
		"two ids":    {"rotate a b", nil, ExitUsage},
		"bad expiry": {"add --expires soon", nil, ExitUsage},
		"refused":    {"add --permission admin", refused, ExitUsage},
		"unknown id": {"revoke nobody", api.NewError(api.ErrNotFound, "there is no key"),
			ExitFailed},
		"every permission by an empty word": {"add --permission=", nil, ExitUsage},
		"every endpoint by an empty word":   {"add --endpoint=", nil, ExitUsage},
		"no end by an empty word":           {"add --expires=", nil, ExitUsage},
		"the default data by an empty word": {"list --data=", nil, ExitUsage},
		"no request":                        {"add --limit 0", nil, ExitUsage},
		"a profile":                         {"list --profile demo", nil, ExitUsage},
		"cannot be done":                    {"list", errors.New("the database is in use"), ExitFailed},
	} {
		p, out := program(t)
		p.Keys = &keyring{err: c.err}
		err := p.Run(t.Context(), append([]string{"serve", "keys"}, strings.Fields(c.args)...))
		if got := Code(err); got != c.want {
			t.Errorf("%s: %d, expected %d: %v", name, got, c.want, err)
		}
		if strings.Contains(out.String(), "coffer_") {
			t.Errorf("%s: a key is printed", name)
		}
	}
}

// The error names the flag that was typed, not the member of the request that it became.
func TestARefusedFlagIsNamedAsItWasTyped(t *testing.T) {
	for member, flag := range map[string]string{
		"permissions[0]": "--permission:", "endpoints[3]": "--endpoint:", "chains[0]": "--chain:",
		"assets[1]": "--asset:", "perMinute": "--limit:",
		"publicTest": "--public-test:", "useCase": "--use-case:", "company": "--company:", "grace": "--grace:",
		"id": "ID:",
	} {
		err := asUsage(api.NewValidationError([]api.Failure{{Path: member, Expected: "this", Got: "that\x1b"}}))
		if got := err.Error(); !strings.HasPrefix(got, flag+" expected this, got that") ||
			strings.Contains(got, "\x1b") {
			t.Errorf("%s: %q", member, got)
		}
	}
}

func TestAnEmptyListSaysSo(t *testing.T) {
	p, _ := program(t)
	said := new(strings.Builder)
	p.Err, p.Keys = said, &keyring{none: true}
	if err := p.Run(t.Context(), []string{"serve", "keys", "list"}); err != nil ||
		!strings.Contains(said.String(), "There are no keys") {
		t.Errorf("%v %q", err, said)
	}
}
