//go:build unix

package main

import (
	"crypto/x509"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/secret"
	"coffer/ui/cli"
)

// reached is a client of a served line with a key.
func reached(t *testing.T, line, key string) *client.Client {
	t.Helper()
	var at serving
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatal(err)
	}
	pem, err := os.ReadFile(at.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := client.New(client.Options{BaseURL: at.BaseURL, APIKey: secret.New([]byte(key)), RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// admitted reports whether a key is good; anything but a 401 ends the test.
func admitted(t *testing.T, c *client.Client) bool {
	t.Helper()
	_, err := c.Chains(t.Context())
	var e *api.Error
	if err != nil && (!errors.As(err, &e) || e.Name != api.ErrUnauthorized) {
		t.Fatal(err)
	}
	return err == nil
}

func interrupt(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := errors.Join(cmd.Process.Signal(os.Interrupt), cmd.Wait()); err != nil {
		t.Error(err)
	}
}

// keysOf runs `coffer serve keys` and decodes what it prints.
func keysOf(t *testing.T, env []string, into any, args ...string) (text string) {
	t.Helper()
	out, errs, code := runProgram(t, env, append([]string{"serve", "keys"}, append(args, "--json")...)...)
	if code != 0 {
		t.Fatalf("%v: code %d, %s", args, code, errs)
	}
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return out
}

// TestServeKeysAreManagedWhileTheServiceRuns: a key is made, replaced and revoked by other processes while the service runs, which knows each change at
// once; at its next start the stored keys rule the key of the process out. No key is in the log.
func TestServeKeysAreManagedWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	data := t.TempDir()
	cmd, _, line, logs := served(t, env, "--data", data, "--log-format", "json")
	var given, next cli.GivenKey
	keysOf(t, env, &given, "add", "--data", data, "--company", "Ant Works", "--project", "wallet", "--limit", "50", "--expires", "24h")
	if !admitted(t, reached(t, line, given.Text)) || given.PerMinute != 50 || time.Until(given.Expires) > 24*time.Hour || time.Until(given.Expires) < 23*time.Hour {
		t.Errorf("%+v", given.Key)
	}
	keysOf(t, env, &next, "rotate", given.ID, "--data", data)
	if admitted(t, reached(t, line, given.Text)) || !admitted(t, reached(t, line, next.Text)) || next.ID != given.ID {
		t.Error("rotating replaces the key at once")
	}
	var all []cli.Key
	if out := keysOf(t, env, &all, "list", "--data", data); len(all) != 1 || all[0].State != "live" || all[0].Rotated.IsZero() || strings.Contains(out, next.Text[17:]) {
		t.Errorf("%s", out)
	}
	interrupt(t, cmd)

	again, _, line, later := served(t, env, "--data", data)
	var at serving
	if err := json.Unmarshal([]byte(line), &at); err != nil || at.APIKey != "" || !admitted(t, reached(t, line, next.Text)) {
		t.Errorf("with a stored key no other one is printed: %v %q", err, at.APIKey)
	}
	var ended cli.Key
	keysOf(t, env, &ended, "revoke", given.ID, "--data", data)
	if ended.State != "revoked" || admitted(t, reached(t, line, next.Text)) {
		t.Errorf("revoking: %+v", ended)
	}
	interrupt(t, again)
	for _, k := range []string{given.Text, next.Text} {
		if secret := k[17:]; strings.Contains(logs.String()+later.String(), secret) {
			t.Error("a key is in the log")
		}
	}
	for _, l := range strings.Split(strings.TrimSpace(logs.String()), "\n") {
		var entry map[string]any
		if err := json.Unmarshal([]byte(l), &entry); err != nil || entry["msg"] == nil {
			t.Errorf("no line of JSON: %s", l)
		}
	}
}

// TestServeKeysAreMadeBeforeTheFirstStart: the service that starts on the directory later has the key, and its network is one like any other.
func TestServeKeysAreMadeBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	data := t.TempDir()
	if _, errs, code := runProgram(t, env, "serve", "keys", "list", "--data", data); code != 1 || !strings.Contains(errs, "no database") {
		t.Errorf("code %d, %s", code, errs)
	}
	out, errs, code := runProgram(t, env, "serve", "keys", "add", "--public-test", "--data", data)
	if code != 0 || !strings.Contains(errs, "once") {
		t.Fatalf("code %d, %s", code, errs)
	}
	_, key, found := strings.Cut(out, "\nkey  ")
	if !found {
		t.Fatalf("%s", out)
	}
	cmd, _, line, _ := served(t, env, "--data", data, "--base-path", "/other/api")
	if !strings.Contains(line, "/other/api\"") || !admitted(t, reached(t, line, strings.TrimSpace(key))) {
		t.Errorf("%s", line)
	}
	interrupt(t, cmd)
}

// TestServeFaultsAreAnnouncedLoudly: in the line of JSON and in the log; an unknown one is an error of usage before anything is made.
func TestServeFaultsAreAnnouncedLoudly(t *testing.T) {
	t.Parallel()
	_, env := home(t)
	data := t.TempDir()
	for _, args := range [][]string{{"--fault", "earthquake"}, {"--fault", "slow-fill=soon"}, {"--metrics", "0.0.0.0:9464"}} {
		if _, errs, code := runProgram(t, env, append([]string{"serve", "--data", data}, args...)...); code != 2 || errs == "" {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
	if files, err := os.ReadDir(data); err != nil || len(files) > 0 {
		t.Errorf("%v %v: something was made", files, err)
	}
	cmd, _, line, logs := served(t, env, "--data", data, "--fault", "slow-fill=1ms", "--fault", "revert@0.5", "--log-level", "warn")
	interrupt(t, cmd)
	if !strings.Contains(line, `"faults":["slow-fill=1ms","revert@0.5"]`) || !strings.Contains(logs.String(), "FAULTS ARE ON") {
		t.Errorf("%s\n%s", line, logs)
	}
	if strings.Contains(logs.String(), "INFO") {
		t.Errorf("the log level is not kept:\n%s", logs)
	}
	if out, _, code := runProgram(t, env, "serve", "--help"); code != 0 || !strings.Contains(out, "slow-fill=") {
		t.Errorf("code %d: the help does not list the faults\n%s", code, out)
	}
}
