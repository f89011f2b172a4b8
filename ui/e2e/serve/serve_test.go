//go:build unix

package serve

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"coffer/api"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/ui/cli"
	"coffer/ui/e2e/rig"
)

// reached is a client of a served line with a key.
func reached(t *testing.T, line, key string) *client.Client {
	t.Helper()
	at, roots := rig.Where(t, line)
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

// TestServePrintsOneLineAndStops: a second process finds everything it needs in the one line, reaches the service over
// TLS with the key and the authority of that line, and the service stops cleanly on a signal.
func TestServePrintsOneLineAndStops(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	cmd, out, line, logs := rig.Serve(t, env)
	var at rig.Serving
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(at.BaseURL, "/api") || !filepath.IsAbs(at.CAFile) || !filepath.IsAbs(at.NetworkFile) {
		t.Errorf("the line is %s", line)
	}
	raw, err := os.ReadFile(at.NetworkFile)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := network.Decode(raw); err != nil || d.Kind != network.Lab {
		t.Errorf("network file: %v, %v", d.Kind, err)
	}
	pem, err := os.ReadFile(at.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	c, err := client.New(client.Options{BaseURL: at.BaseURL, APIKey: secret.New([]byte(at.APIKey)), RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	if chains, err := c.Chains(t.Context()); err != nil || len(chains) != 8 {
		t.Errorf("%d chains, %v", len(chains), err)
	}
	wrong, err := client.New(client.Options{BaseURL: at.BaseURL, APIKey: secret.New([]byte("wrong")), RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	var refused *api.Error
	if _, err := wrong.Chains(t.Context()); !errors.As(err, &refused) || refused.Name != api.ErrUnauthorized ||
		refused.Timestamp == "" || refused.Path == "" {
		t.Errorf("a wrong key: %+v", err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || len(rest) > 0 {
		t.Errorf("stopping: %v, further output %q\n%s", err, rest, logs.String())
	}
	if strings.Contains(logs.String(), at.APIKey) {
		t.Error("the key is in the log")
	}
}

// TestServeEndsAtOnceOnASecondInterrupt: a request whose body never comes holds the orderly end up for seconds; who
// asks again does not wait for it.
func TestServeEndsAtOnceOnASecondInterrupt(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	cmd, _, line, _ := rig.Serve(t, env)
	holdOpen(t, line)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	again := time.NewTicker(100 * time.Millisecond) // the first one is the orderly end
	defer again.Stop()
	for {
		select {
		case <-again.C:
			_ = cmd.Process.Signal(os.Interrupt) // it may have ended by now
			continue
		case <-ended:
		}
		break
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %s, expected the second interrupt to end it", cmd.ProcessState)
	}
}

// holdOpen starts a request and returns when the service waits for the body, which never comes.
func holdOpen(t *testing.T, line string) {
	t.Helper()
	at, roots := rig.Where(t, line)
	u, err := url.Parse(at.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := (&tls.Dialer{Config: &tls.Config{RootCAs: roots, NextProtos: []string{"http/1.1"}}}).DialContext(
		t.Context(), "tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST %s/v3/quote/prepare-call-quote HTTP/1.1\r\nHost: %s\r\nx-api-key: "+
		"%s\r\nContent-Type: application/json\r\n"+
		"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n", u.Path, u.Host, at.APIKey); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(conn).ReadString('\n'); err != nil ||
		!strings.HasPrefix(answer, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", answer, err)
	}
}

// TestServeKeysAreManagedWhileTheServiceRuns: a key is made, replaced and revoked by other processes while the service
// runs, which knows each change at once; at its next start the stored keys rule the key of the process out. No key is
// in the log.
func TestServeKeysAreManagedWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := t.TempDir()
	cmd, _, line, logs := rig.Serve(t, env, "--data", data, "--log-format", "json")
	var given, next cli.GivenKey
	rig.KeysOf(t, env, &given, "add", "--data", data, "--company", "Ant Works", "--project", "wallet", "--limit", "50",
		"--expires", "24h")
	if !admitted(t, reached(t, line, given.Text)) || given.PerMinute != 50 ||
		time.Until(given.Expires) > 24*time.Hour || time.Until(given.Expires) < 23*time.Hour {
		t.Errorf("%+v", given.Key)
	}
	rig.KeysOf(t, env, &next, "rotate", given.ID, "--data", data)
	if admitted(t, reached(t, line, given.Text)) || !admitted(t, reached(t, line, next.Text)) || next.ID != given.ID {
		t.Error("rotating replaces the key at once")
	}
	var all []cli.Key
	if out := rig.KeysOf(t, env, &all, "list", "--data", data); len(all) != 1 || all[0].State != "live" ||
		all[0].Rotated.IsZero() || strings.Contains(out, next.Text[17:]) {
		t.Errorf("%s", out)
	}
	rig.Interrupt(t, cmd)

	again, _, line, later := rig.Serve(t, env, "--data", data)
	var at rig.Serving
	if err := json.Unmarshal([]byte(line), &at); err != nil || at.APIKey != "" ||
		!admitted(t, reached(t, line, next.Text)) {
		t.Errorf("with a stored key no other one is printed: %v %q", err, at.APIKey)
	}
	var ended cli.Key
	rig.KeysOf(t, env, &ended, "revoke", given.ID, "--data", data)
	if ended.State != "revoked" || admitted(t, reached(t, line, next.Text)) {
		t.Errorf("revoking: %+v", ended)
	}
	rig.Interrupt(t, again)
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

// TestServeKeysAreMadeBeforeTheFirstStart: the service that starts on the directory later has the key, and its network
// is one like any other.
func TestServeKeysAreMadeBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := t.TempDir()
	if _, errs, code := rig.Run(t, env, "serve", "keys", "list", "--data", data); code != 1 ||
		!strings.Contains(errs, "no database") {
		t.Errorf("code %d, %s", code, errs)
	}
	out, errs, code := rig.Run(t, env, "serve", "keys", "add", "--public-test", "--data", data)
	if code != 0 || !strings.Contains(errs, "once") {
		t.Fatalf("code %d, %s", code, errs)
	}
	_, key, found := strings.Cut(out, "\nkey  ")
	if !found {
		t.Fatalf("%s", out)
	}
	cmd, _, line, _ := rig.Serve(t, env, "--data", data, "--base-path", "/other/api")
	if !strings.Contains(line, "/other/api\"") || !admitted(t, reached(t, line, strings.TrimSpace(key))) {
		t.Errorf("%s", line)
	}
	rig.Interrupt(t, cmd)
}

// TestServeFaultsAreAnnouncedLoudly: in the line of JSON and in the log; an unknown one is an error of usage before
// anything is made.
func TestServeFaultsAreAnnouncedLoudly(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	data := t.TempDir()
	for _, args := range [][]string{{"--fault", "earthquake"}, {"--fault", "slow-fill=soon"},
		{"--metrics", "0.0.0.0:9464"}} {
		if _, errs, code := rig.Run(t, env, append([]string{"serve", "--data", data}, args...)...); code != 2 ||
			errs == "" {
			t.Errorf("%v: code %d, %s", args, code, errs)
		}
	}
	if files, err := os.ReadDir(data); err != nil || len(files) > 0 {
		t.Errorf("%v %v: something was made", files, err)
	}
	cmd, _, line, logs := rig.Serve(t, env, "--data", data, "--fault", "slow-fill=1ms", "--fault", "revert@0.5",
		"--log-level", "warn")
	rig.Interrupt(t, cmd)
	if !strings.Contains(line, `"faults":["slow-fill=1ms","revert@0.5"]`) ||
		!strings.Contains(logs.String(), "FAULTS ARE ON") {
		t.Errorf("%s\n%s", line, logs)
	}
	if strings.Contains(logs.String(), "INFO") {
		t.Errorf("the log level is not kept:\n%s", logs)
	}
	if out, _, code := rig.Run(t, env, "serve", "--help"); code != 0 || !strings.Contains(out, "slow-fill=") {
		t.Errorf("code %d: the help does not list the faults\n%s", code, out)
	}
}

// TestServeSaysWhatToDo: what cannot be done is told in one line that names the way out, and nothing is made of a wrong
// command line.
func TestServeSaysWhatToDo(t *testing.T) {
	t.Parallel()
	dir, env := rig.Home(t)
	data, open := t.TempDir(), t.TempDir()
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	cmd, _, line, _ := rig.Serve(t, env, "--data", data)
	var at rig.Serving
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatal(err)
	}
	taken := strings.TrimSuffix(strings.TrimPrefix(at.BaseURL, "https://"), "/api")
	for _, c := range []struct {
		args, says string
		code       int
	}{
		{"serve --listen 127.0.0.1", "--listen takes", 2},
		{"serve --data " + data, "--data", 1},
		{"serve --base-path /other --data " + data, "--data", 1},
		{"serve --data " + dir + "/another --listen " + taken, "--listen", 1},
		{"serve --data " + open, "chmod 700", 1},
		{"serve keys add --public-test --data " + open, "chmod 700", 1},
		{"serve keys list --data " + dir + "/none", "--data", 1},
		{"serve keys revoke nobody --data " + data, "keys list", 1},
		{"serve keys add --company a --project b --endpoint /v3/qoute/call-quote --data " + data,
			"--endpoint: expected", 2},
		{"serve keys add --company a --project b --endpoint /v4/ --data " + data, "--endpoint: expected", 2},
		{"serve keys add --company a --project b --limit -1 --data " + data, "--limit: expected", 2},
	} {
		out, errs, code := rig.Run(t, env, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(errs, c.says) || out != "" {
			t.Errorf("%s: code %d, said %q, printed %q; expected %d and %q", c.args, code, errs, out, c.code, c.says)
		}
	}
	if files, err := os.ReadDir(open); err != nil || len(files) > 0 {
		t.Errorf("%v %v: something was made where everybody may write", files, err)
	}
	var given cli.GivenKey
	rig.KeysOf(t, env, &given, "add", "--company", "a", "--project", "b", "--endpoint", "/v3/", "--endpoint",
		"/assets/list", "--data", data)
	if _, errs, code := rig.Run(t, env, "serve", "keys", "revoke", given.Text, "--data", data); code != 2 ||
		!strings.Contains(errs, given.ID) || strings.Contains(errs, given.Text[17:]) {
		t.Errorf("a key in place of an id: code %d, %s", code, errs)
	}
	rig.Interrupt(t, cmd)
}

// TestServeMetricsAreOnALoopbackListenerOfTheirOwn: what was asked over TLS is counted there, without the key, and the
// open port has no metrics.
func TestServeMetricsAreOnALoopbackListenerOfTheirOwn(t *testing.T) {
	t.Parallel()
	_, env := rig.Home(t)
	cmd, _, line, _ := rig.Serve(t, env, "--metrics", "127.0.0.1:0")
	var at struct {
		APIKey string `json:"apiKey"`
	}
	if err := json.Unmarshal([]byte(line), &at); err != nil {
		t.Fatalf("%v %s", err, line)
	}
	if !admitted(t, reached(t, line, at.APIKey)) || admitted(t, reached(t, line, "wrong")) {
		t.Error("the key")
	}
	text := rig.Scrape(t, line)
	for _, want := range []string{
		`coffer_requests_total{endpoint="/chains/supported-list",permission="read",status="200"} 1`,
		`coffer_requests_total{endpoint="/chains/supported-list",permission="read",status="401"} 1`,
		"coffer_open_sagas 0", "coffer_store_bytes ", "go_memstats_heap_alloc_bytes ", "process_start_time_seconds ",
	} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, at.APIKey) {
		t.Error("the key is a label")
	}
	rig.Interrupt(t, cmd)
}
